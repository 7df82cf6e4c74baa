"""One refresh at a time: across processes and on S3, not against itself, not after a kill."""

from __future__ import annotations

import contextlib
import contextvars
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pmo_assets.refresh.lock import RefreshBusy, refresh_at_work, sole_refresh
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
        assert list((tmp_path / "leases" / "refresh").iterdir()), "it left its entry"
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
