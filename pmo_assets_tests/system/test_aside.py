"""What is written aside appears whole or not at all, whoever else writes it, and leaves nothing behind."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from pmo_assets.system import aside
from pmo_assets.system.aside import (
    DAY,
    create,
    exchanged,
    folder_aside,
    path_aside,
    place_aside,
    publish,
    replace_folder,
    replace_parts,
    restore_folder,
    stream_aside,
    text_aside,
    write_bytes,
    write_text,
)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("way", [path_aside, stream_aside, text_aside, folder_aside])
def test_nothing_appears_before_the_end_and_nothing_after_an_error(
    tmp_path: Path, way: Callable[[Path], AbstractContextManager[object]]
) -> None:
    target = tmp_path / "new" / "folder" / "x"
    with pytest.raises(KeyboardInterrupt), way(target):
        raise KeyboardInterrupt
    assert names(target.parent) == []
    with way(target) as given:
        assert not target.exists()
        if way is path_aside:
            assert isinstance(given, Path)
            given.write_bytes(b"")
    assert names(target.parent) == ["x"]


def test_what_was_there_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "x"
    write_text(target, "old\n")
    with pytest.raises(UnicodeEncodeError), text_aside(target) as stream:
        stream.write("new, half of\ud800")
    assert target.read_bytes() == b"old\n"
    with text_aside(target) as stream:
        stream.write("néw\n")
    assert target.read_bytes() == "néw\n".encode()


def test_of_many_who_write_one_file_at_once_each_writes_a_whole_one(tmp_path: Path) -> None:
    """With one name for all, one took away what another was about to rename."""
    target, begin = tmp_path / "x", threading.Barrier(20)
    contents = [bytes([n]) * 100_000 for n in range(20)]
    failures: list[BaseException] = []

    def write(content: bytes) -> None:
        begin.wait()
        try:
            with stream_aside(target, durable=False) as stream:
                stream.write(content[:50_000])
                time.sleep(0.01)
                stream.write(content[50_000:])
        except OSError as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert target.read_bytes() in contents
    assert names(tmp_path) == ["x"]


def test_before_the_renaming_the_disk_has_the_file_and_after_it_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    fsync, replace = os.fsync, os.replace

    def noted_fsync(handle: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    def noted_replace(source: Path, target: Path) -> None:
        done.append("renamed")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(os, "replace", noted_replace)
    write_bytes(tmp_path / "x", b"content")
    assert done == ["file", "renamed", "folder"]
    done.clear()
    assert create(tmp_path / "y", b"content")
    assert done == ["file", "folder"]
    done.clear()
    with folder_aside(tmp_path / "z") as folder:
        (folder / "a").write_bytes(b"content")
    assert done == ["file", "folder", "folder"], "what is in it, the folder itself, and the folder that it appears in"
    done.clear()
    write_bytes(tmp_path / "x", b"content", durable=False)
    assert done == ["renamed"]


def test_permissions_are_those_of_open(tmp_path: Path) -> None:
    target = tmp_path / "x"
    before = os.umask(0o027)
    try:
        write_bytes(target, b"")
        assert stat.S_IMODE(target.stat().st_mode) == 0o640
        target.chmod(0o600)
        write_bytes(target, b"a secret")
        assert stat.S_IMODE(target.stat().st_mode) == 0o600, "as the file had that it replaces"
    finally:
        os.umask(before)


def test_what_is_no_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_text(pipe, "for whom it may concern")
    reader.join()
    assert read == [b"for whom it may concern"]
    assert names(tmp_path) == ["pipe"]


def test_long_names_are_written_too(tmp_path: Path) -> None:
    for name in ("x" * 255, "ö" * 127):
        write_bytes(tmp_path / name, b"content")
    assert names(tmp_path) == ["x" * 255, "ö" * 127]


KILLED = """
import os, signal, sys
from pathlib import Path
from pmo_assets.system.aside import folder_aside, stream_aside
way, target = {"file": stream_aside, "folder": folder_aside}[sys.argv[1]], Path(sys.argv[2])
with way(target) as given:
    if sys.argv[1] == "folder":
        (given / "half").write_bytes(b"content")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_a_killed_process_left_goes_with_the_next_writing_and_what_others_write_stays(
    tmp_path: Path, kind: str
) -> None:
    target = tmp_path / "x"
    killed = subprocess.run([sys.executable, "-c", KILLED, kind, str(target)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(names(tmp_path)) == 1
    with place_aside(tmp_path / "x.y") as of_another_file, place_aside(target) as ours:
        for partial in (of_another_file, ours):
            partial.write_bytes(b"being written")
        write_bytes(target, b"content")
        assert set(names(tmp_path)) == {"x", ours.name, of_another_file.name}
    assert names(tmp_path) == ["x"]


def test_of_writers_that_cannot_be_asked_only_what_is_old_goes(tmp_path: Path) -> None:
    """Another machine's, another container's, or of a version of before."""
    old, young = tmp_path / ".x.part", tmp_path / ".x.7-1-00000000-other-1-0123456789abcdef.part"
    for left in (old, young):
        left.write_bytes(b"")
    os.utime(old, (time.time() - 2 * DAY,) * 2)
    write_bytes(tmp_path / "x", b"")
    assert set(names(tmp_path)) == {"x", young.name}


def test_exactly_one_creates_a_file(tmp_path: Path) -> None:
    results = [create(tmp_path / "x", content) for content in (b"first", b"second")]
    assert results == [True, False]
    assert (tmp_path / "x").read_bytes() == b"first"
    assert names(tmp_path) == ["x"]


def test_a_folder_never_replaces_another_unasked(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "somebody's").write_bytes(b"")
    with pytest.raises(OSError, match="not empty"), folder_aside(tmp_path / "x"):
        pass
    assert names(tmp_path / "x") == ["somebody's"]
    assert names(tmp_path) == ["x"]


@pytest.fixture
def two_folders(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).write_bytes(b"")
    return tmp_path / "new", tmp_path / "old"


def test_a_folder_is_put_in_the_place_of_another(two_folders: tuple[Path, Path]) -> None:
    new, old = two_folders
    replace_folder(new, old)
    assert names(old) == ["new"]
    assert names(old.parent) == ["old"]


def test_whoever_is_killed_between_two_renamings_is_mended(two_folders: tuple[Path, Path]) -> None:
    new, old = two_folders
    old.rename(old.with_name(".old.old"))
    restore_folder(old)
    assert names(old) == ["old"]
    replace_folder(new, old)
    assert names(old) == ["new"]


@pytest.mark.slow  # a race
def test_readers_never_miss_a_folder_that_is_replaced(tmp_path: Path) -> None:
    if not exchanged(*(made(tmp_path / name) for name in ("one", "other"))):
        pytest.skip("this system or disk cannot exchange folders")
    target, seen, end = made(tmp_path / "target", "0"), set[str](), threading.Event()

    def read() -> None:
        while not end.is_set():
            seen.add((target / "content").read_text())

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(200):
        replace_folder(made(tmp_path / "new", str(number)), target)
    end.set()
    reader.join()
    assert seen <= set(map(str, range(200)))
    assert (target / "content").read_text() == "199"


def made(folder: Path, content: str = "") -> Path:
    folder.mkdir()
    (folder / "content").write_text(content)
    return folder


PARTS = ("hub", "file.parquet")


def parts_of(folder: Path, content: str) -> Path:
    folder.mkdir()
    made(folder / "hub", content)
    (folder / "file.parquet").write_text(content)
    return folder


@pytest.mark.parametrize("way", ["exchange", "two renamings", "linked elsewhere", "a disk of its own"])
def test_parts_are_replaced_together_and_the_rest_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    target = parts_of(tmp_path / "release", "old")
    made(target / "versions", "kept")
    (target / "report.html").write_text("kept")
    (target / "hub" / "gone").write_text("gone")
    (target / ".half.part").write_text("half")
    if way == "two renamings":
        monkeypatch.setattr(aside, "exchanged", lambda one, other: False)
    elif way == "linked elsewhere":
        target.rename(tmp_path / "elsewhere")
        target.symlink_to("elsewhere")
    elif way == "a disk of its own":

        def busy(one: Path, other: Path) -> bool:
            if other == target:
                raise OSError(errno.EBUSY, "Device or resource busy")
            return False

        monkeypatch.setattr(aside, "exchanged", busy)
    new = parts_of(tmp_path / "new", "new")
    (new / "not a part").write_text("")
    replace_parts(new, target, PARTS)
    assert {str(path.relative_to(target)): path.read_text() for path in target.rglob("[!.]*") if path.is_file()} == {
        "hub/content": "new", "file.parquet": "new", "versions/content": "kept", "report.html": "kept"
    }  # fmt: skip
    assert not (tmp_path / "new").exists()


def test_a_renaming_that_fails_leaves_the_old_folder(
    two_folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    new, old = two_folders
    monkeypatch.setattr(aside, "exchanged", lambda one, other: False)
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if self == new:
            raise OSError("the disk has gone")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="the disk has gone"):
        replace_folder(new, old)
    assert names(old) == ["old"]


def test_a_disk_that_cannot_synchronise_folders_is_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsync = os.fsync

    def refuses_folders(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(22, "Invalid argument")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", refuses_folders)
    write_bytes(tmp_path / "x", b"content")
    publish(tmp_path / "x", tmp_path / "y")
    assert names(tmp_path) == ["y"]
