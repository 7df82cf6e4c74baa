"""A full disk, whoever meets it: which one it is, how much is free, how to mend it."""

from __future__ import annotations

import errno
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from pmo_assets.records.faults import full_disk_advice, is_full_disk, raise_fault
from pmo_assets.records.rejections import ArticleError
from pmo_assets.records.stores import StorageError, SystemicError
from pmo_assets.system.disks import disk_room, fullest
from pmo_assets_tests.disks import on_small_disk, skip_without_mounts


def caused(error: BaseException) -> StorageError:
    outer = StorageError("cannot write it")
    outer.__cause__ = error
    return outer


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device", "/tmp/x"),
        OSError(errno.ENOSPC, "No space left on device"),
        caused(OSError(errno.EDQUOT, "Disk quota exceeded")),
        sqlite3.OperationalError("database or disk is full"),
        RuntimeError("writing the checkpoint: No space left on device (os error 28)"),
    ],
)
def test_whatever_says_that_a_disk_is_full_is_followed_by_what_to_do(error: BaseException, tmp_path: Path) -> None:
    assert is_full_disk(error)
    advice = full_disk_advice(error, [tmp_path])
    for words in ("pmo clean --yes", "PMO_DATA_ROOT", "run again"):
        assert words in advice
    assert ("quota is used up" in advice) is ("cannot" in str(error))
    assert ("free" in advice) is isinstance(getattr(error, "filename", None), str), "no disk is named that has room"
    assert full_disk_advice(SystemicError(f"{error}{advice}")) == "", "it is said once"


@pytest.mark.parametrize(
    "error", [OSError(errno.EACCES, "Permission denied"), ValueError("x"), ArticleError("No space left on device")]
)
def test_nothing_else_is(error: BaseException) -> None:
    assert full_disk_advice(error) == ""


def test_a_full_disk_is_no_fault_of_an_article() -> None:
    with pytest.raises(SystemicError, match="pmo clean --yes"):
        raise_fault(OSError(errno.ENOSPC, "No space left on device"))


def test_the_disk_with_the_least_room_is_named(tmp_path: Path) -> None:
    room = disk_room(tmp_path / "not" / "there" / "yet")
    assert room is not None
    assert room.mount in (tmp_path, *tmp_path.parents)
    assert room.free > 0
    assert fullest([]) is None
    assert fullest([tmp_path]) in (None, room)


WRITE = """
import sys
from pmo_assets.records.stores import StorageError
from pmo_assets.storage.data_root import DataRoot
root = DataRoot(sys.argv[1])
root.write("objects/small", b"x")
for write in (root.write, root.create):
    try:
        write("objects/large", bytes(1_000_000))
    except StorageError as error:
        print(error)
print(root.keys("objects"), len(list(root.files(""))))
"""


def test_a_full_disk_of_the_data_root_is_told_and_leaves_nothing_half(tmp_path: Path) -> None:
    skip_without_mounts()
    disk = tmp_path / "disk"
    disk.mkdir()
    command = on_small_disk(disk, "300k", [sys.executable, "-c", WRITE, str(disk / "data")])
    # the folder is the second word of the shell's, and goes on to the command
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    *said, left = done.stdout.splitlines()
    assert len(said) == 2
    for line in said:
        assert f"cannot write {disk}/data/objects/large" in line
        assert "No space left on device" in line
        assert f"the disk at {disk} has" in line
        assert "`pmo clean --yes` deletes what nobody needs" in line
    assert left == "['small'] 1"
