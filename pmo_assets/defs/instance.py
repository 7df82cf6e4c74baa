"""The home of the Dagster instance: made and opened by one process at a time.

Dagster makes the databases of a new home without a lock. Two processes that open it at the same time can each stamp
the schema's revision, an older and the newest one, after which no process can open the home any more: hence the lock.
Databases that cannot be used all the same are not repaired, their schemas are Dagster's; the error says what to do.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import dagster as dg
import sqlalchemy
from alembic.util import CommandError
from filelock import FileLock, Timeout

from pmo_assets.configuration.home import home_left_behind, home_place, is_read_only
from pmo_assets.defs.event_log_files import write_events_quickly
from pmo_assets.records.stores import SystemicError
from pmo_assets.settings import Settings
from pmo_assets.system.aside import write_bytes

LOCK_NAME = ".opening.lock"
"""File in the home that is locked while a process makes or opens the databases."""

PATIENCE = 5.0
"""Seconds after which a waiting process says what it is waiting for: opening takes about one."""

LOCK_TIMEOUT = 300.0
"""Seconds after which a waiting process gives up; the lock of a process that died is free at once."""

DATABASES = ("history/runs.db", "history/runs/index.db", "schedules/schedules.db")
"""SQLite files of a home: runs, event log, schedules."""


def instance_config() -> Path:
    """Return the `dagster.yaml` that comes with the project.

    Raises:
        SystemicError: if it is missing from the installation.
    """
    return _project_file("dagster.yaml")


def workspace() -> Path:
    """Return the `workspace.yaml` that comes with the project: it alone can name the code location.

    With `-m`, Dagster names it after the module; and what was switched on under one name is off under another.

    Raises:
        SystemicError: if it is missing from the installation.
    """
    return _project_file("workspace.yaml")


def _project_file(name: str) -> Path:
    package = Path(str(resources.files("pmo_assets")))
    found = next((place for place in (package.parent / name, package / name) if place.is_file()), None)
    if found is None:
        raise SystemicError(f"{name} is missing from the installation: install pmo-assets again")
    return found


@contextlib.contextmanager
def open_instance(settings: Settings) -> Iterator[dg.DagsterInstance]:
    """Give the Dagster instance of the settings."""
    write_events_quickly()
    home = home_place(settings).path
    if not home.exists() and (old := home_left_behind(home)) is not None:
        print(
            f"runs are recorded in {home}, with their data root; if {old} is its from before, put it there "
            "in place of the new one (end every pmo and dagster process first)",
            file=sys.stderr,
        )
    with opened_home(home) as instance:
        yield instance


@contextlib.contextmanager
def open_instance_to_read(settings: Settings) -> Iterator[dg.DagsterInstance]:
    """Give the Dagster instance for a command that only reads: of a read-only disk, a copy."""
    with home_to_read(settings) as home, _opened(settings, home) as instance:
        yield instance


def _opened(settings: Settings, home: Path) -> contextlib.AbstractContextManager[dg.DagsterInstance]:
    return open_instance(settings) if home == home_place(settings).path else opened_home(home)


@contextlib.contextmanager
def home_to_show(settings: Settings) -> Iterator[Path]:
    """Give the home for the UI, with all of its databases if it is new; of a read-only disk, a copy with all runs."""
    with home_to_read(settings, with_runs=True) as home:
        with _opened(settings, home):
            pass
        yield home


@contextlib.contextmanager
def home_to_read(settings: Settings, *, with_runs: bool = False) -> Iterator[Path]:
    """Give the home, or a copy of it while the block runs if its disk is read-only: SQLite locks even to read.

    Args:
        settings: that say where the home is.
        with_runs: copy the logs of runs, too: for the UI.

    Raises:
        SystemicError: if it cannot be read or copied.
    """
    home = home_place(settings).path
    if not is_read_only(home):
        yield home
        return
    with contextlib.ExitStack() as stack:
        try:
            copy = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pmo-home-")))
            _copy_home(home, copy, with_runs)
        except OSError as error:
            raise SystemicError(f"{home} is on a read-only disk and cannot be copied to be read: {error}") from error
        yield copy


def last_changes(home: Path) -> tuple[int, ...]:
    """Return the time at which each file of the databases was written last, in nanoseconds; 0 for a missing one."""
    files = (home / f"{name}{end}" for name in DATABASES for end in ("", "-wal"))
    return tuple(file.stat().st_mtime_ns if file.is_file() else 0 for file in files)


def _copy_home(home: Path, copy: Path, with_runs: bool) -> None:
    """Copy configuration and databases with SQLite's files beside them."""
    databases = {name + end for name in DATABASES for end in ("", "-wal", "-shm")}
    for name in ("dagster.yaml", *sorted(databases)):
        if (home / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(home / name, copy / name)
    if with_runs:
        for path in (home / "history" / "runs").glob("*.db*"):
            shutil.copyfile(path, copy / "history" / "runs" / path.name)
        if (home / "storage").is_dir():
            (copy / "storage").symlink_to(home / "storage")  # what steps printed


@contextlib.contextmanager
def opened_home(home: Path) -> Iterator[dg.DagsterInstance]:
    """Give the Dagster instance of a home, which is made and configured if it is new.

    The home is locked until all of the instance's databases exist, not while the instance is used.

    Raises:
        SystemicError: if the home cannot be made, or its databases cannot be used; the message says what to do.
    """
    try:
        with _locked(home):
            _configured(home)
            instance = dg.DagsterInstance.from_config(str(home))
        with instance:
            yield instance
    except (sqlalchemy.exc.DatabaseError, sqlite3.DatabaseError, CommandError) as error:
        raise _explained(home, error) from error


@contextlib.contextmanager
def _locked(home: Path) -> Iterator[None]:
    if is_read_only(home):
        raise SystemicError(
            f"{home} is on a read-only disk: this command writes there; set PMO_DATA_ROOT or PMO_DAGSTER_HOME to a "
            "place that can be written"
        )
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SystemicError(f"cannot make {home}: {error} (PMO_DAGSTER_HOME or DAGSTER_HOME names it)") from error
    lock = FileLock(home / LOCK_NAME)
    try:
        try:
            lock.acquire(timeout=PATIENCE)
        except Timeout:
            print(f"another command is opening {home}: waiting for it", file=sys.stderr)
            lock.acquire(timeout=LOCK_TIMEOUT - PATIENCE)
    except Timeout as error:
        raise SystemicError(
            f"{home / LOCK_NAME} was locked by another process for {LOCK_TIMEOUT:.0f} s: if no other pmo or dagster "
            "command is running, delete that file and try again"
        ) from error
    except OSError as error:
        raise SystemicError(f"cannot lock {home / LOCK_NAME}: {error}; is {home} writable?") from error
    try:
        yield
    finally:
        lock.release()


def _configured(home: Path) -> None:
    """Put the project's `dagster.yaml` into a home that has none."""
    target = home / "dagster.yaml"
    if target.exists():
        return
    write_bytes(target, instance_config().read_bytes())


def _explained(home: Path, error: Exception) -> SystemicError:
    """Return the error with advice about databases that Dagster cannot open, read or write.

    One that is locked, read-only or on a full disk is not damaged; one with tables or revisions missing or too many is.
    """
    reason = " ".join(str(error).split())
    if not any((home / name).exists() for name in DATABASES):  # its storage is elsewhere: PostgreSQL
        return SystemicError(f"cannot use the Dagster instance of {home}: {reason}")
    if isinstance(error, sqlalchemy.exc.OperationalError | sqlite3.OperationalError) and "no such" not in reason:
        return SystemicError(
            f"cannot open {home}: {reason}; see that no other program holds it, that it may be written and that its "
            "disk is not full, then run again"
        )
    folders = f"{home / 'history'} and {home / 'schedules'}"
    return SystemicError(
        f"the Dagster databases in {home} cannot be used ({reason}). End every pmo and dagster process, delete "
        f"{folders} and run the command again. What is lost: the history of runs that the UI shows; batches are "
        "processed again. Registered batches, tables and releases stay below the data root"
    )
