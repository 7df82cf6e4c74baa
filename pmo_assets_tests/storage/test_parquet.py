"""Parquet files: columns of many at once; written row group by row group, whole or not at all."""

from __future__ import annotations

import gc
import hashlib
import io
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pmo_assets.records.stores import StorageError
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import ParquetStream, WrittenFile, parquet_bytes, read_columns

SCHEMA = pa.schema(
    [
        ("name", pa.string()),
        ("picture", pa.struct([("bytes", pa.binary()), ("path", pa.string())])),
        ("words", pa.list_(pa.string())),
        ("boxes", pa.list_(pa.struct([("at", pa.list_(pa.float64())), ("page", pa.int64())]))),
        ("number", pa.int64()),
    ]
)
METADATA = {b"whose": b"ours"}


def rows(first: int, count: int) -> pa.Table:
    """Return rows that repeat themselves, so that every encoding pays."""
    return pa.Table.from_pylist(
        [
            {
                "name": f"row {number // 4}",
                "picture": {"bytes": b"\x89PNG" + bytes([number % 3]) * 200, "path": f"{number}.png"}
                if number % 5
                else None,
                "words": [f"word {number % 7}", "again"] if number % 3 else [],
                "boxes": [{"at": [0.5, float(number)], "page": number % 2}],
                "number": None if number == 2 else number,
            }
            for number in range(first, first + count)
        ],
        SCHEMA,
    )


def stream_below(root: DataRoot, key: str = "a/b.parquet", pictures: str | None = "picture") -> ParquetStream:
    return ParquetStream(root, key, SCHEMA, METADATA, pictures)


def written(root: DataRoot, *groups: pa.Table, key: str = "a/b.parquet") -> WrittenFile:
    stream = stream_below(root, key)
    for group in groups:
        stream.write(group)
    return stream.finish()


def test_what_is_written_is_read_row_group_by_row_group(data_root: DataRoot) -> None:
    groups = [rows(0, 3), rows(3, 40), rows(43, 1)]
    written(data_root, *groups)
    file = pq.ParquetFile(io.BytesIO(data_root.read("a/b.parquet")))
    assert file.num_row_groups == 3
    for number, group in enumerate(groups):
        read = file.read_row_group(number)
        assert read.equals(group)
        assert read.schema.metadata == METADATA


def test_it_is_said_what_was_written(data_root: DataRoot) -> None:
    groups = [rows(0, 5), rows(5, 7)]
    said = written(data_root, *groups)
    content = data_root.read("a/b.parquet")
    assert said == WrittenFile(
        key="a/b.parquet",
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        rows=12,
        arrow_bytes=groups[0].nbytes + groups[1].nbytes,
    )


def test_a_table_of_a_slice_counts_only_its_own_rows(data_root: DataRoot) -> None:
    whole = rows(0, 100)
    assert written(data_root, whole.slice(40, 3)).arrow_bytes < whole.nbytes / 10


def test_a_file_without_rows_has_its_columns(data_root: DataRoot) -> None:
    assert written(data_root).rows == 0
    assert pq.read_table(io.BytesIO(data_root.read("a/b.parquet"))).schema.equals(SCHEMA)


def test_pictures_are_stored_as_they_are_and_facts_are_compressed(data_root: DataRoot) -> None:
    written(data_root, rows(0, 40))
    content = data_root.read("a/b.parquet")
    columns = {
        column.path_in_schema: column
        for column in map(pq.ParquetFile(io.BytesIO(content)).metadata.row_group(0).column, range(7))
    }
    picture = columns.pop("picture.bytes")
    assert picture.compression == "UNCOMPRESSED"
    assert not picture.is_stats_set
    assert not picture.has_dictionary_page
    assert b"\x89PNG" + bytes([1]) * 200 in content, "who cuts files into chunks by content finds it again"
    assert set(columns) == {
        "name", "picture.path", "words.list.element", "boxes.list.element.at.list.element", "boxes.list.element.page",
        "number",
    }  # fmt: skip
    for path, column in columns.items():
        assert column.compression == "ZSTD", path
        assert column.has_dictionary_page, path
        assert column.is_stats_set, path


def test_readers_find_the_pages_without_reading_them(data_root: DataRoot) -> None:
    written(data_root, rows(0, 40))
    group = pq.ParquetFile(io.BytesIO(data_root.read("a/b.parquet"))).metadata.row_group(0)
    assert all(group.column(number).has_offset_index for number in range(group.num_columns))
    assert group.column(0).has_column_index


def test_the_same_rows_give_the_same_bytes(data_root: DataRoot) -> None:
    first, second = (written(data_root, rows(0, 20), rows(20, 5), key=key) for key in ("one", "two"))
    assert first.sha256 == second.sha256
    assert data_root.read("one") == data_root.read("two")
    together = written(data_root, pa.concat_tables([rows(0, 12), rows(12, 8)]), rows(20, 5), key="three")
    assert together.sha256 == first.sha256, "also when they come in other pieces of memory"


def test_other_columns_than_the_files_are_refused(data_root: DataRoot) -> None:
    stream = stream_below(data_root)
    with pytest.raises((pa.ArrowInvalid, ValueError)):
        stream.write(rows(0, 1).drop(["number"]))
    stream.abandon()
    assert not data_root.exists("a/b.parquet")


def _forgets(stream: ParquetStream) -> None:
    stream.abandon()


def _abandons_twice(stream: ParquetStream) -> None:
    stream.abandon()
    stream.abandon()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("end", [_forgets, _abandons_twice])
@pytest.mark.parametrize("before", [{}, {"a/b.parquet": b"the old file"}], ids=["new", "replacing"])
def test_what_is_abandoned_leaves_no_trace(
    data_root: DataRoot, before: Mapping[str, bytes], end: Callable[[ParquetStream], None]
) -> None:
    for key, content in before.items():
        data_root.write(key, content)
    stream = stream_below(data_root)
    stream.write(rows(0, 500))
    assert data_root.tree("") == sorted(before), "nothing is to be seen while it is written"
    end(stream)
    del stream
    gc.collect()
    assert {key: data_root.read(key) for key in data_root.tree("")} == before


def test_abandoning_what_is_finished_keeps_it(data_root: DataRoot) -> None:
    stream = stream_below(data_root)
    stream.write(rows(0, 5))
    said = stream.finish()
    stream.abandon()
    assert hashlib.sha256(data_root.read("a/b.parquet")).hexdigest() == said.sha256


def test_a_local_file_that_is_abandoned_leaves_no_half_file(tmp_path: Any) -> None:
    stream = stream_below(DataRoot(str(tmp_path)))
    stream.write(rows(0, 500))
    assert len(list((tmp_path / "a").iterdir())) == 1, "the half file under its temporary name"
    stream.abandon()
    assert list((tmp_path / "a").iterdir()) == []


def test_columns_of_many_files_are_one_table_that_says_what_is_from_where(data_root: DataRoot) -> None:
    for name, numbers in {"first": (3, 1), "empty": (), "last": (2,)}.items():
        table = pl.DataFrame(
            {"number": numbers, "other": [name] * len(numbers)}, {"number": pl.Int64, "other": pl.String}
        )
        data_root.write(f"a/{name}.parquet", parquet_bytes(table))
    files = {name: f"a/{name}.parquet" for name in ("last", "empty", "first")}
    read = read_columns(data_root, files, ["number"])
    assert read.rows() == [("last", 2), ("first", 3), ("first", 1)]
    counted = read_columns(data_root, files, []).group_by("file").len().sort("file")
    assert counted.rows() == [("last", 1), ("first", 2)]


@pytest.mark.parametrize("key", ["a/other.parquet", "a/damaged.parquet", "a/missing.parquet"])
def test_a_file_of_which_columns_cannot_be_read_is_an_error(data_root: DataRoot, key: str) -> None:
    data_root.write("a/sound.parquet", parquet_bytes(pl.DataFrame({"number": [1]})))
    data_root.write("a/other.parquet", parquet_bytes(pl.DataFrame({"another": [1]})))
    data_root.write("a/damaged.parquet", b"PAR1 but no more")
    with pytest.raises(StorageError, match="cannot read number"):
        read_columns(data_root, {"sound": "a/sound.parquet", "bad": key}, ["number"])
