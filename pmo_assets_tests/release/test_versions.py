"""Versions of a release: which number comes next, what is kept of each, in which order they stand."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from pmo_assets.records.stores import StorageError
from pmo_assets.release.differences import Changes
from pmo_assets.release.versions import (
    BatchOfRelease,
    FileOfRelease,
    Manifest,
    check_size,
    data_digest,
    next_version,
    read_history,
    read_manifest,
    read_version_table,
    released_versions,
    schema_digest,
    version_key,
    write_version,
)
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import parquet_bytes
from pmo_assets.tables.release import arrow_schema


@pytest.fixture
def root(tmp_path: Path) -> DataRoot:
    return DataRoot(str(tmp_path))


def manifest(version: str = "1.2.3", digest: str = "d", previous: str | None = None) -> Manifest:
    return Manifest(
        version=version, previous=previous, digest=digest, schema_digest="s", software="0.1", specialty="ophthalmology",
        options={"noncommercial": True, "split_shares": [0.8, 0.1, 0.1]}, settings={"panels": "ab"},
        code_versions={"panels": "cd"}, models={"x.onnx": "ef"}, batches=[BatchOfRelease(batch="0001-ä", articles=2)],
        counts={"panels": 3}, files=[FileOfRelease(path="hub/README.md", sha256="00", size=1)],
    )  # fmt: skip


NOTHING = Changes("1.2.3", 5, 5)
NEW = Changes("1.2.3", 5, 6, new={"why": 1})
GONE = Changes("1.2.3", 5, 4, gone={"why": 1})
CHANGED = Changes("1.2.3", 5, 5, changed={"text": 1}, changed_panels=1)
COLUMNS = Changes("1.2.3", 5, 6, new={"why": 1}, columns=True)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (COLUMNS, "2.0.0"),
        (Changes("1.2.3", 5, 5, columns=True), "2.0.0"),
        (NEW, "1.3.0"),
        (GONE, "1.3.0"),
        (Changes("1.2.3", 5, 5, new={"why": 1}, changed={"text": 2}, gone={"why": 1}), "1.3.0"),
        (CHANGED, "1.2.4"),
        (NOTHING, "1.2.4"),  # other files changed: splits, duplicates
    ],
)
def test_the_number_says_how_much_changed(changes: Changes, expected: str) -> None:
    assert next_version(manifest(), "other", changes) == expected


@pytest.mark.parametrize("changes", [NOTHING, NEW, CHANGED])
def test_the_same_data_have_the_same_version(changes: Changes) -> None:
    assert next_version(manifest(), "d", changes) == "1.2.3"


def test_the_first_version_is_one() -> None:
    assert next_version(None, "d", Changes(None, 0, 5)) == "1.0.0"


def test_numbers_are_counted_not_spelled() -> None:
    assert next_version(manifest("1.9.9"), "other", NEW) == "1.10.0"
    assert next_version(manifest("1.9.9"), "other", CHANGED) == "1.9.10"
    assert next_version(manifest("9.0.0"), "other", COLUMNS) == "10.0.0"


def test_versions_stand_in_the_order_of_their_numbers(root: DataRoot) -> None:
    for version in ("1.10.0", "1.9.0", "1.0.10", "2.0.0", "1.0.9", "10.0.0"):
        write_version(root, manifest(version), {}, Changes(None, 0, 1))
    expected = ["1.0.9", "1.0.10", "1.9.0", "1.10.0", "2.0.0", "10.0.0"]
    assert released_versions(root) == expected
    assert [version for version, _ in read_history(root)] == expected[::-1]


@pytest.mark.parametrize("text", ["1.2", "1.2.3.4", "v1.2.3", "1.2.x", "", "1..3", "1.2.-3", "1.2.³", "1.2.3\n"])
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="three numbers"):
        version_key(text)


def test_what_is_kept_of_a_version_is_read_back(root: DataRoot) -> None:
    rows = pl.DataFrame({"panel_id": ["p"], "text": [7]})
    said = manifest(previous="1.2.2")
    write_version(root, said, {"rows": parquet_bytes(rows)}, CHANGED)
    assert read_manifest(root, "1.2.3") == said
    assert read_version_table(root, "1.2.3", "rows").equals(rows)
    assert read_history(root) == [("1.2.3", CHANGED)]
    assert root.tree("release/versions") == ["1.2.3/changes.json", "1.2.3/manifest.json", "1.2.3/rows.parquet"]


def test_what_else_lies_beside_the_versions_is_none(root: DataRoot) -> None:
    write_version(root, manifest("1.0.0"), {}, Changes(None, 0, 1))
    root.write("release/versions/1.0.0 (copy)/manifest.json", manifest("1.0.0").as_bytes())
    assert released_versions(root) == ["1.0.0"]


def test_a_version_that_was_not_kept_to_the_end_is_none(root: DataRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    write_version(root, manifest("1.0.0"), {}, Changes(None, 0, 1))
    write = DataRoot.write

    def killed_before_the_manifest(self: DataRoot, key: str, content: bytes) -> None:
        if key.endswith("manifest.json"):
            raise KeyboardInterrupt
        write(self, key, content)

    monkeypatch.setattr(DataRoot, "write", killed_before_the_manifest)
    with pytest.raises(KeyboardInterrupt):
        write_version(root, manifest("1.1.0"), {"rows": parquet_bytes(pl.DataFrame())}, CHANGED)
    assert released_versions(root) == ["1.0.0"]
    assert [version for version, _ in read_history(root)] == ["1.0.0"]


def test_a_version_that_is_not_there_is_named_with_those_that_are(root: DataRoot) -> None:
    with pytest.raises(StorageError, match=r"no release 1\.2\.3.*released are none"):
        read_manifest(root, "1.2.3")
    for version in ("1.10.0", "1.9.0"):
        write_version(root, manifest(version), {}, Changes(None, 0, 1))
    with pytest.raises(StorageError, match=r"released are 1\.9\.0, 1\.10\.0"):
        read_manifest(root, "1.2.3")
    with pytest.raises(StorageError, match=r"released are 1\.9\.0, 1\.10\.0"):
        read_version_table(root, "1.2.3", "rows")


@pytest.mark.parametrize("name", ["../../tables/panels", "1.2.3/../1.2.3", "..", ""])
def test_a_name_is_no_way_out_of_the_folder(root: DataRoot, name: str) -> None:
    write_version(root, manifest(), {}, Changes(None, 0, 1))
    root.write("tables/panels/manifest.json", manifest().as_bytes())
    with pytest.raises((StorageError, ValueError)):
        read_manifest(root, name)


def test_the_same_manifest_gives_the_same_bytes() -> None:
    assert manifest().as_bytes() == manifest().as_bytes()
    assert "0001-ä" in manifest().as_bytes().decode(), "readable by people"


def test_the_digest_of_the_data_is_of_names_and_contents_in_any_order() -> None:
    def file(path: str, sha256: str, size: int = 1, rows: int | None = None) -> FileOfRelease:
        return FileOfRelease(path=path, sha256=sha256, size=size, rows=rows)

    one, two = file("a", "1"), file("b", "2")
    assert data_digest([one, two]) == data_digest([two, one])
    others = [[one], [one, file("b", "3")], [one, file("c", "2")], [file("a", "2"), file("b", "1")], []]
    assert len({data_digest(files) for files in ([one, two], *others)}) == len(others) + 1


def test_the_digest_of_columns_changes_with_a_name_and_a_type(monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow as pa

    from pmo_assets.release import versions

    usual = schema_digest()
    assert schema_digest() == usual
    of = arrow_schema
    for change in (
        lambda schema: schema.set(0, pa.field("other", schema.field(0).type)),
        lambda schema: schema.set(0, schema.field(0).with_type(pa.large_string())),
        lambda schema: schema.append(pa.field("more", pa.int64())),
        lambda schema: pa.schema([schema.field(1), schema.field(0), *list(schema)[2:]]),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(versions, "arrow_schema", lambda table, change=change: change(of(table)))
            assert schema_digest() != usual


# a release that lacks much


@pytest.mark.parametrize(("before", "panels", "is_made"), [
    (1000, 1000, True), (1000, 900, True), (1000, 899, False), (1000, 0, False), (99, 0, True), (1000, 5000, True),
])  # fmt: skip
def test_a_release_that_loses_more_than_a_tenth_is_not_made_unasked(
    root: DataRoot, before: int, panels: int, is_made: bool
) -> None:
    check_size(root, 0)  # the first one
    last = manifest("1.0.0").model_copy(update={"counts": {"panels": before}})
    root.write("release/versions/1.0.0/manifest.json", last.as_bytes())
    if is_made:
        check_size(root, panels)
    else:
        with pytest.raises(StorageError, match=rf"would have {panels:,} panels, 1\.0\.0 has {before:,}: nothing"):
            check_size(root, panels)
