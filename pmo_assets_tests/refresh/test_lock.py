"""One refresh at a time: across processes and on S3, not against itself, not after a kill."""

from __future__ import annotations

import contextlib
import contextvars
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pmo_assets.refresh import lock
from pmo_assets.refresh.lock import LOCK_KEY, RefreshBusy, refresh_at_work, sole_refresh
from pmo_assets.storage.data_root import DataRoot
from pmo_assets_tests.storage.conftest import data_root, s3_endpoint

__all__ = ["data_root", "s3_endpoint"]

HOLD = """
import sys
from pmo_assets.refresh.lock import sole_refresh
from pmo_assets.storage.data_root import DataRoot
with sole_refresh(DataRoot(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def refused(root: DataRoot) -> str:
    """Return what somebody else is told."""

    def ask() -> str:
        with pytest.raises(RefreshBusy) as told, sole_refresh(root):
            pass
        return str(told.value)

    return contextvars.Context().run(ask)


def test_a_second_refresh_is_told_who_is_at_work(data_root: DataRoot) -> None:
    assert refresh_at_work(data_root) is None
    with sole_refresh(data_root):
        assert f"process {os.getpid()} on" in str(refresh_at_work(data_root))
        assert f"(process {os.getpid()} on" in refused(data_root)
    assert refresh_at_work(data_root) is None
    with sole_refresh(data_root):
        pass


def test_what_a_refresh_calls_may_ask_for_the_lock_again(data_root: DataRoot) -> None:
    with sole_refresh(data_root):
        with contextlib.suppress(ZeroDivisionError), sole_refresh(data_root):
            raise ZeroDivisionError
        assert refresh_at_work(data_root) is not None, "the outer block still has it"
        assert "another refresh of" in refused(data_root)
    assert refresh_at_work(data_root) is None


@contextlib.contextmanager
def other_process(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        try:
            yield process
        finally:
            process.kill()


def test_the_lock_of_a_process_that_was_killed_is_free(tmp_path: Path) -> None:
    root = DataRoot(str(tmp_path))
    with other_process(tmp_path) as process:
        assert f"process {process.pid} on" in str(refresh_at_work(root))
        assert f"process {process.pid} on" in refused(root)
        process.kill()
        process.wait()
        assert (tmp_path / LOCK_KEY).with_suffix(".holder").is_file(), "it left its note"
        assert refresh_at_work(root) is None
        with sole_refresh(root):
            assert f"process {os.getpid()} on" in str(refresh_at_work(root))


def test_after_the_end_it_is_free_also_after_an_error(data_root: DataRoot) -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="wrong"), sole_refresh(data_root):
            raise ValueError("wrong")
    with sole_refresh(data_root):
        pass


def test_other_data_roots_have_locks_of_their_own(tmp_path: Path) -> None:
    with sole_refresh(DataRoot(str(tmp_path / "a"))), sole_refresh(DataRoot(str(tmp_path / "b"))):
        pass


# on S3, where no lock can be held open


@pytest.fixture
def bucket(s3_endpoint: str, tmp_path: Path) -> DataRoot:
    return DataRoot(f"s3://bucket/{tmp_path.name}", s3_endpoint)


def test_a_lease_that_is_not_renewed_ends(bucket: DataRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    killed = {"mark": "x", "holder": "process 7", "until": time.time() + lock.LEASE}
    bucket.write(LOCK_KEY, json.dumps(killed).encode())
    assert "process 7" in refused(bucket)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + lock.LEASE + 1)
    with sole_refresh(bucket):
        pass
    assert not bucket.exists(LOCK_KEY)


def test_a_lease_is_renewed_as_long_as_its_holder_works(bucket: DataRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    # Long enough that a busy machine does not starve what renews it.
    monkeypatch.setattr(lock, "LEASE", 2.0)
    with sole_refresh(bucket):
        time.sleep(3.5)
        assert "another refresh of" in refused(bucket)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"until": "soon"}', b'{"until": null}', b'{"until": 1e300}', b'{"until": NaN}', b"\xff"],
)
def test_a_damaged_lease_holds_nobody_up(bucket: DataRoot, content: bytes) -> None:
    bucket.write(LOCK_KEY, content)
    with sole_refresh(bucket):
        pass


def test_of_many_that_find_an_ended_lease_few_work_and_the_place_is_clean_afterwards(bucket: DataRoot) -> None:
    bucket.write(LOCK_KEY, json.dumps({"mark": "x", "holder": "dead", "until": time.time() - 1}).encode())
    working: list[int] = []

    def work() -> None:
        with contextlib.suppress(RefreshBusy), sole_refresh(bucket):
            working.append(1)
            time.sleep(0.3)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert working, "somebody works"
    assert not bucket.exists(LOCK_KEY)


def test_whose_lease_another_one_took_leaves_it_to_that_one(bucket: DataRoot) -> None:
    other = json.dumps({"mark": "other", "holder": "other", "until": time.time() + 60}).encode()
    with sole_refresh(bucket):
        bucket.write(LOCK_KEY, other)
    assert bucket.read(LOCK_KEY) == other
