"""One refresh at a time below a data root: the second one says who is at work and ends.

What two refreshes write would be right all the same (batches are claimed, tables are replaced whole); they would only
do the same work twice.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from pmo_assets.records.stores import StorageError, SystemicError
from pmo_assets.storage.data_root import DataRoot

LOCK_KEY: Final = "pmc/refresh.lock"

LEASE: Final = 300.0
"""Seconds after which the lock of a refresh that no longer renews it is free, on S3, where none can be held open."""


_DAY: Final = 86_400.0
"""Clocks that differ by less are believed."""

_held: ContextVar[frozenset[str]] = ContextVar("held", default=frozenset())
"""Data roots whose lock a block further out holds: what `pmo refresh` calls asks for it again."""


class RefreshBusy(SystemicError):
    """Another refresh of this data root is at work."""


@contextlib.contextmanager
def sole_refresh(data_root: DataRoot) -> Iterator[None]:
    """Hold the lock of a data root's refresh while the block runs; the lock of a process that died is free.

    A block within such a block has the lock already.

    Raises:
        RefreshBusy: if another process holds it.
    """
    held = _held.get()
    if data_root.root in held:
        yield
        return
    with _local_lock(data_root) if data_root.is_local else _lease(data_root):
        token = _held.set(held | {data_root.root})
        try:
            yield
        finally:
            _held.reset(token)


def refresh_at_work(data_root: DataRoot) -> str | None:
    """Return who holds the lock of a data root's refresh; None if nobody does."""
    if not data_root.is_local:
        lease = _lease_of(data_root)
        return str(lease.get("holder")) if _is_held(lease.get("until")) else None
    place = _lock_file(data_root)
    note = _note(place)
    if not note.is_file():
        return None
    with contextlib.suppress(Timeout, OSError), FileLock(place, timeout=0):
        return None  # its process died
    return _noted(note)


def _holder() -> str:
    return f"process {os.getpid()} on {socket.gethostname()} since {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _busy(data_root: DataRoot, holder: str) -> RefreshBusy:
    return RefreshBusy(f"another refresh of {data_root.root} is at work ({holder}): wait until it has ended")


def _lock_file(data_root: DataRoot) -> Path:
    return Path(data_root.uri(LOCK_KEY))


def _note(lock: Path) -> Path:
    return lock.with_suffix(".holder")


def _noted(note: Path) -> str:
    try:
        return note.read_text("utf-8") or "holder unknown"
    except OSError:  # its holder is beginning, or ending
        return "holder unknown"


@contextlib.contextmanager
def _local_lock(data_root: DataRoot) -> Iterator[None]:
    place = _lock_file(data_root)
    note = _note(place)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(place)
        lock.acquire(timeout=0)
    except Timeout:
        raise _busy(data_root, _noted(note)) from None
    except OSError as error:
        raise StorageError(
            f"cannot write below the data root {data_root.root}: {error} (check the folder, its permissions and free "
            "space; PMO_DATA_ROOT names it)"
        ) from error
    try:
        note.write_text(_holder(), "utf-8")
        yield
    finally:
        note.unlink(missing_ok=True)
        lock.release()


@contextlib.contextmanager
def _lease(data_root: DataRoot) -> Iterator[None]:
    mark = uuid.uuid4().hex

    def content() -> bytes:
        return json.dumps({"mark": mark, "holder": _holder(), "until": time.time() + LEASE}).encode()

    if not data_root.create(LOCK_KEY, content()):
        held = _lease_of(data_root)
        if _is_held(held.get("until")):
            raise _busy(data_root, str(held.get("holder", "holder unknown")))
        data_root.delete(LOCK_KEY)
        if not data_root.create(LOCK_KEY, content()):
            raise _busy(data_root, "it began just now")
    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(LEASE / 3):
            with contextlib.suppress(StorageError):
                data_root.write(LOCK_KEY, content())

    thread = threading.Thread(target=renew, daemon=True, name="refresh lease")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        if _lease_of(data_root).get("mark") == mark:
            data_root.delete(LOCK_KEY)


def _is_held(until: object) -> bool:
    """Say whether a lease is still held; one that ends later than any lease can is a wrong clock's."""
    return isinstance(until, int | float) and time.time() < until < time.time() + _DAY


def _lease_of(data_root: DataRoot) -> dict[str, object]:
    try:
        found = json.loads(data_root.read(LOCK_KEY))
    except (StorageError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
