"""Dagster's event log in SQLite, written with one wait for the disk an event at most, and none for a run's own log.

A run of a batch has some six hundred events. For each, Dagster opens the log, commits and closes it; SQLite then waits
for the disk, writes its log of changes (WAL) back into the file because nobody else has it open, and waits twice more.
Here one connection to each file stays open, so that SQLite writes back only now and then. A run's own log is also
committed without a wait: it stays whole when a process is killed, and a power cut takes its last lines at most. What
decides something stays as durable as Dagster has it: runs, ticks, and the index of assets with what was materialised.
"""

from __future__ import annotations

import functools
import sqlite3
import sys
from pathlib import Path
from typing import Any, Final

from sqlalchemy import event
from sqlalchemy.engine import Engine

_FOLDER: Final = ("history", "runs")
"""Folder of the home in which Dagster keeps a file for each run, and one for all assets."""

_INDEX: Final = "index.db"

_HELD: Final = 4
"""Files that stay open: a process works at one run or two, and at the index."""


def write_events_quickly() -> None:
    """Let this process write the event log as the module says; SQLite files of others are left alone."""
    if sys.platform != "win32" and not event.contains(Engine, "connect", _connected):  # there, open files stay
        event.listen(Engine, "connect", _connected)


def _connected(connection: Any, _record: object) -> None:
    if not isinstance(connection, sqlite3.Connection):
        return
    path = Path(connection.execute("PRAGMA database_list").fetchone()[2])
    if path.parts[-3:-1] != _FOLDER or connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        return
    if path.name != _INDEX:
        connection.execute("PRAGMA synchronous=NORMAL")
    _held(path, path.stat().st_ino)


@functools.lru_cache(maxsize=_HELD)
def _held(path: Path, _inode: int) -> sqlite3.Connection:
    """Return a connection that has the file open for as long as it is kept; another file at that path has its own."""
    connection = sqlite3.connect(path, check_same_thread=False)  # collected in any thread
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # SQLite opens a file when it first reads
    return connection
