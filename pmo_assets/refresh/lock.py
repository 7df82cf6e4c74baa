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


class RefreshBusy(SystemicError):
    """Another refresh of this data root is at work."""


@contextlib.contextmanager
def sole_refresh(data_root: DataRoot) -> Iterator[None]:
    """Hold the lock of a data root's refresh while the block runs; the lock of a process that died is free.

    Raises:
        RefreshBusy: if another process holds it.
    """
    with _local_lock(data_root) if data_root.is_local else _lease(data_root):
        yield


def _holder() -> str:
    return f"process {os.getpid()} on {socket.gethostname()} since {datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _busy(data_root: DataRoot, holder: str) -> RefreshBusy:
    return RefreshBusy(f"another refresh of {data_root.root} is at work ({holder}): wait until it has ended")


@contextlib.contextmanager
def _local_lock(data_root: DataRoot) -> Iterator[None]:
    place = Path(data_root.uri(LOCK_KEY))
    place.parent.mkdir(parents=True, exist_ok=True)
    note = place.with_suffix(".holder")
    lock = FileLock(place)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        holder = note.read_text("utf-8") if note.is_file() else "holder unknown"
        raise _busy(data_root, holder) from None
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
