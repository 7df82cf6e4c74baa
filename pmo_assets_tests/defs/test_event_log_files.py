"""The logs of runs are written without a wait for the disk; what decides something is as durable as Dagster has it."""

import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
import sqlalchemy
from sqlalchemy import event
from sqlalchemy.engine import Engine

from pmo_assets.defs import event_log_files
from pmo_assets.defs.event_log_files import write_events_quickly

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be removed")

FULL, NORMAL = 2, 1
"""SQLite's numbers of `PRAGMA synchronous`."""


@dg.op
def say(context: dg.OpExecutionContext) -> None:
    context.log.info("said")


@dg.job
def saying() -> None:
    say()


@pytest.fixture
def quickly() -> Iterator[None]:
    was = event.contains(Engine, "connect", event_log_files._connected)
    write_events_quickly()
    yield
    event_log_files._held.cache_clear()
    if not was:
        event.remove(Engine, "connect", event_log_files._connected)


def synchronous(path: Path) -> int:
    """Return how a connection that Dagster makes to a file waits for the disk."""
    engine = sqlalchemy.create_engine(f"sqlite:///{path}", poolclass=sqlalchemy.NullPool)
    with engine.connect() as connection:
        return int(connection.execute(sqlalchemy.text("PRAGMA synchronous")).scalar_one())


@pytest.mark.usefixtures("quickly")
def test_only_the_logs_of_single_runs_do_without_the_wait(tmp_path: Path) -> None:
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        run = saying.execute_in_process(instance=instance).run_id
    logs = tmp_path / "history" / "runs"
    assert synchronous(logs / f"{run}.db") == NORMAL
    assert synchronous(logs / "index.db") == FULL
    assert synchronous(tmp_path / "history" / "runs.db") == FULL
    assert synchronous(tmp_path / "schedules" / "schedules.db") == FULL
    (tmp_path / "other").mkdir()
    assert synchronous(tmp_path / "other" / "a.db") == FULL


@pytest.mark.usefixtures("quickly")
def test_all_is_there_for_another_process_though_it_is_not_written_back_yet(tmp_path: Path) -> None:
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        run = saying.execute_in_process(instance=instance).run_id
        path = tmp_path / "history" / "runs" / f"{run}.db"
        assert path.with_name(f"{run}.db-wal").stat().st_size, (
            "else each event was written back, which is what takes time"
        )
        with sqlite3.connect(path) as other:
            assert other.execute("SELECT count(*) FROM event_logs WHERE event LIKE '%said%'").fetchone() == (1,)


@pytest.mark.usefixtures("quickly")
def test_a_run_that_is_deleted_and_comes_again_has_its_own_file(tmp_path: Path) -> None:
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:
        run = saying.execute_in_process(instance=instance).run_id
        instance.delete_run(run)
        saying.execute_in_process(instance=instance, run_id=run)
        assert "said" in {entry.user_message for entry in instance.all_logs(run)}
