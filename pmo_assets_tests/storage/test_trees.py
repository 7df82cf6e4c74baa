"""Folders of files: listed, removed and exchanged; half an exchange is never taken for the whole."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pmo_assets.records.stores import StorageError
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.system import aside

OLD = {"SUMS": b"old sums", "README.md": b"old", "data/one.parquet": b"1", "data/two.parquet": b"2"}
NEW = {"SUMS": b"new sums", "README.md": b"new", "data/one.parquet": b"one", "data/deep/er/x": b"x"}


def put(root: DataRoot, prefix: str, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        root.write(f"{prefix}/{name}", content)


def held(root: DataRoot, prefix: str) -> dict[str, bytes]:
    return {name: root.read(f"{prefix}/{name}") for name in root.tree(prefix)}


def test_a_tree_lists_all_files_below_it_and_nothing_else(data_root: DataRoot) -> None:
    put(data_root, "release/hub", OLD)
    put(data_root, "release/hubris", NEW)
    assert data_root.tree("release/hub") == ["README.md", "SUMS", "data/one.parquet", "data/two.parquet"]
    assert data_root.tree("release/hub/data") == ["one.parquet", "two.parquet"]
    assert data_root.tree("release/hub/data/") == ["one.parquet", "two.parquet"], "however the prefix is written"
    assert data_root.tree("nowhere") == []


def test_half_written_files_are_in_no_tree(tmp_path: Path) -> None:
    root = DataRoot(str(tmp_path))
    put(root, "a", OLD)
    (tmp_path / "a" / "data" / ".three.parquet.12-host-1.part").write_bytes(b"half")
    assert held(root, "a") == OLD


def test_a_tree_is_deleted_with_everything_below_it_and_nothing_beside_it(data_root: DataRoot) -> None:
    put(data_root, "a", OLD)
    put(data_root, "ab", NEW)
    data_root.delete_tree("a")
    assert data_root.tree("a") == []
    assert held(data_root, "ab") == NEW
    data_root.delete_tree("a")
    data_root.delete_tree("never/was")


def test_a_file_takes_the_place_of_another_one(data_root: DataRoot) -> None:
    put(data_root, "a", {"new": b"new", "old": b"old"})
    data_root.replace("a/new", "a/old")
    assert held(data_root, "a") == {"old": b"new"}
    data_root.replace("a/old", "b/elsewhere")
    assert data_root.tree("") == ["b/elsewhere"]


@pytest.mark.slow  # gigabytes
def test_a_file_that_is_too_large_for_one_request_takes_the_place_of_another_one_in_a_bucket(
    s3_endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3 copies up to 5 GB in one request: here each request is refused as if the file were larger."""
    bucket = DataRoot(f"s3://bucket/{tmp_path.name}-large", s3_endpoint)
    content = bytes(range(256)) * (40 * 2**20 // 256)
    put(bucket, "a", {"new": content, "old": b"old"})

    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("the copy source is larger than the maximum allowable size")

    monkeypatch.setattr("moto.s3.models.S3Backend.copy_object", refused)
    bucket.replace("a/new", "a/old")
    assert held(bucket, "a") == {"old": content}


def test_replacing_by_a_file_that_is_not_there_says_so_and_keeps_the_old_one(data_root: DataRoot) -> None:
    put(data_root, "a", {"old": b"old"})
    with pytest.raises(StorageError, match="PMO_DATA_ROOT"):
        data_root.replace("a/new", "a/old")
    assert held(data_root, "a") == {"old": b"old"}


@pytest.mark.parametrize("before", [{}, OLD, {"SUMS": b"", "only/old": b""}], ids=["none", "other", "few"])
def test_a_tree_takes_the_place_of_another_one(data_root: DataRoot, before: Mapping[str, bytes]) -> None:
    put(data_root, "release/hub", before)
    put(data_root, "release/.making/hub", NEW)
    put(data_root, "release", {"beside": b"beside"})
    data_root.replace_tree("release/.making/hub", "release/hub", last="SUMS")
    assert held(data_root, "release/hub") == NEW, "no file of the old one is left"
    assert data_root.tree("release/.making") == []
    assert data_root.tree("release") == ["beside", *(f"hub/{name}" for name in sorted(NEW))]


def test_parts_take_the_place_of_others_together_and_what_is_beside_them_stays(data_root: DataRoot) -> None:
    put(data_root, "release", {"hub/SUMS": b"old", "hub/gone": b"", "file": b"old", "versions/1/rows": b"kept"})
    put(data_root, ".making/x", {"hub/SUMS": b"new", "hub/deep/new": b"", "file": b"new", "gallery/index": b"new"})
    data_root.replace_parts(".making/x", "release", ("hub", "file", "gallery"), last="hub/SUMS")
    assert held(data_root, "release") == {
        "hub/SUMS": b"new", "hub/deep/new": b"", "file": b"new", "gallery/index": b"new", "versions/1/rows": b"kept"
    }  # fmt: skip
    assert data_root.tree(".making") == []


class Stopped(BaseException):
    """The process is killed here."""


@pytest.mark.parametrize("error", [OSError("disk full"), Stopped()], ids=["failing", "killed"])
@pytest.mark.parametrize("step", [0, 1])
def test_a_folder_is_whole_whenever_its_exchange_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int, error: BaseException
) -> None:
    root = DataRoot(str(tmp_path))
    put(root, "release/hub", OLD)
    put(root, "release/.making/hub", NEW)
    monkeypatch.setattr(aside, "exchanged", lambda one, other: False)
    rename, calls = Path.rename, []

    def renamed(path: Path, target: Path) -> Path:
        calls.append(path)
        if len(calls) == step + 1:
            raise error
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", renamed)
    with pytest.raises((StorageError, Stopped)):
        root.replace_tree("release/.making/hub", "release/hub", last="SUMS")
    monkeypatch.undo()
    assert held(root, "release/hub") in (OLD, NEW)
    put(root, "release/.making/hub", NEW)
    root.replace_tree("release/.making/hub", "release/hub", last="SUMS")
    assert held(root, "release/hub") == NEW, "the next one is not disturbed by what was left"
    assert sorted(path.name for path in (tmp_path / "release").iterdir()) == [".making", "hub"]


@pytest.fixture
def bucket(s3_endpoint: str, tmp_path: Path) -> DataRoot:
    return DataRoot(f"s3://bucket/{tmp_path.name}-tree", s3_endpoint)


class Stopping:
    """A file system that ends the process, so to speak, at its nth change."""

    def __init__(self, filesystem: Any, after: int) -> None:
        self._filesystem, self._after, self.changes = filesystem, after, 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._filesystem, name)
        if name not in ("copy_file", "delete_file", "delete_dir", "move", "open_output_stream"):
            return found

        def change(*arguments: Any, **options: Any) -> Any:
            if self.changes == self._after:
                raise Stopped
            self.changes += 1
            return found(*arguments, **options)

        return change


@pytest.mark.slow  # many requests
def test_in_a_bucket_the_list_of_files_is_missing_until_the_exchange_is_whole(
    bucket: DataRoot, monkeypatch: pytest.MonkeyPatch
) -> None:
    filesystem = bucket._fs
    seen = []
    for after in range(20):
        bucket.delete_tree("hub")
        bucket.delete_tree("making")
        put(bucket, "hub", OLD)
        put(bucket, "making", NEW)
        with monkeypatch.context() as patched:
            patched.setattr(DataRoot, "_fs", Stopping(filesystem, after))
            try:
                bucket.replace_tree("making", "hub", last="SUMS")
                finished = True
            except Stopped:
                finished = False
        found = held(bucket, "hub")
        assert found in (OLD, NEW) or "SUMS" not in found, f"after {after} changes"
        seen.append("SUMS" in found)
        put(bucket, "making", NEW)
        bucket.replace_tree("making", "hub", last="SUMS")
        assert held(bucket, "hub") == NEW, f"the next one mends what was left after {after} changes"
        if finished:
            break
    assert finished
    assert (seen[0], seen[1], seen[-1]) == (True, False, True)


@pytest.mark.parametrize("half", [{}, {"README.md": b"new"}], ids=["nothing", "without the last file"])
def test_what_is_not_whole_does_not_take_the_place_of_what_is(data_root: DataRoot, half: Mapping[str, bytes]) -> None:
    put(data_root, "hub", OLD)
    put(data_root, "making", half)
    with pytest.raises(StorageError, match=r"making/SUMS.*PMO_DATA_ROOT"):
        data_root.replace_tree("making", "hub", last="SUMS")
    assert held(data_root, "hub") == OLD
    assert held(data_root, "making") == half


def test_an_exchange_that_was_killed_between_its_two_renamings_is_made_good_by_the_next(tmp_path: Path) -> None:
    root = DataRoot(str(tmp_path))
    put(root, ".hub.old", OLD)
    put(root, "making", {"README.md": b"new"})
    with pytest.raises(StorageError, match="SUMS"):
        root.replace_tree("making", "hub", last="SUMS")
    assert held(root, ".hub.old") == OLD, "the only copy is kept"
    put(root, "making", NEW)
    root.replace_tree("making", "hub", last="SUMS")
    assert held(root, "hub") == NEW
    assert [path.name for path in tmp_path.iterdir()] == ["hub"]
