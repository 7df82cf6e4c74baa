"""Parquet files of others: the same rows as pyarrow reads, and no file fills the memory."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.records.stores import StorageError
from pmo_assets.storage.foreign_parquet import ForeignLimits, ForeignParquet, TooLarge
from pmo_assets.tables.release import arrow_schema, release_tables

texts = st.none() | st.sampled_from(["", "a", "b", "Ä\0x", "long " * 40])
rows = st.fixed_dictionaries(
    {
        "text": texts,
        "number": st.none() | st.integers(-5, 5),
        "list": st.none() | st.lists(texts, max_size=3),
        "deep": st.none() | st.lists(st.none() | st.lists(st.integers(0, 3), max_size=2), max_size=2),
        "struct": st.none() | st.fixed_dictionaries({"bytes": st.none() | st.binary(max_size=3), "path": texts}),
        "boxes": st.none()
        | st.lists(st.none() | st.fixed_dictionaries({"kind": texts, "box": st.lists(st.floats(0, 1))}), max_size=2),
    }
)
SCHEMA = pa.schema(
    {
        "text": pa.string(),
        "number": pa.int64(),
        "list": pa.list_(pa.string()),
        "deep": pa.list_(pa.list_(pa.int64())),
        "struct": pa.struct({"bytes": pa.binary(), "path": pa.string()}),
        "boxes": pa.list_(pa.struct({"kind": pa.string(), "box": pa.list_(pa.float64())})),
    }
)


def written(table: pa.Table, **options: Any) -> io.BytesIO:
    stream = io.BytesIO()
    pq.write_table(table, stream, store_schema=False, **options)
    return stream


@given(st.lists(rows, max_size=12), st.integers(1, 5), st.integers(1, 5), st.booleans())
def test_the_rows_are_those_that_pyarrow_reads(
    given_rows: list[dict[str, Any]], group: int, batch: int, dictionary: bool
) -> None:
    stream = written(pa.Table.from_pylist(given_rows, SCHEMA), row_group_size=group, use_dictionary=dictionary)
    expected = pq.read_table(stream)
    with ForeignParquet(stream, "it") as file:
        assert file.schema_arrow.equals(expected.schema)
        assert file.read().equals(expected)
        parts = list(file.iter_batches(batch))
        assert pa.Table.from_batches(parts, expected.schema).to_pylist() == given_rows
        for number in range(file.num_row_groups):
            chosen = file.read_row_group(number, ["struct.path", "list"])
            assert (
                chosen.to_pylist() == pq.ParquetFile(stream).read_row_group(number, ["struct.path", "list"]).to_pylist()
            )


@given(st.lists(rows, min_size=1, max_size=12))
def test_what_is_too_much_at_once_comes_in_parts(given_rows: list[dict[str, Any]]) -> None:
    stream = written(pa.Table.from_pylist(given_rows, SCHEMA))
    with ForeignParquet(stream, "it", limits=ForeignLimits(batch=500)) as file:
        parts = list(file.iter_batches(100))
    assert [row for part in parts for row in part.to_pylist()] == given_rows


@pytest.mark.parametrize("config", sorted(release_tables()))
def test_a_release_has_its_own_types(config: str) -> None:
    empty = arrow_schema(release_tables()[config]).empty_table()
    with ForeignParquet(written(empty), "it") as file:
        assert file.read().schema.equals(pq.read_table(written(empty)).schema)


def repeated(count: int, text: str = "x" * 1_000_000) -> pa.Table:
    numbers = pa.array([0] * count, pa.int32())
    return pa.table({"text": pa.DictionaryArray.from_arrays(numbers, pa.array([text]))})


def in_lists(table: pa.Table) -> pa.Table:
    column = table["text"].chunk(0)
    return pa.table({"text": pa.ListArray.from_arrays(pa.array([0, len(column)], pa.int32()), column)})


SMALL = ForeignLimits(decoded=128 << 20)

BOMBS: dict[str, tuple[Callable[[], io.BytesIO], str]] = {
    "a text a million times": (lambda: written(repeated(8_000), compression="zstd"), "what is read at once"),
    "a list of them": (lambda: written(in_lists(repeated(8_000)), compression="zstd"), "a row takes 8,001"),
    "many columns": (lambda: written(pa.table({f"c{n}": [1] for n in range(5_000)})), "5,000 columns"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_what_asks_for_too_much_is_refused_by_name(name: str) -> None:
    make, words = BOMBS[name]
    stream = make()
    assert stream.getbuffer().nbytes < 2_000_000
    with pytest.raises(TooLarge, match=words) as refused, ForeignParquet(stream, "a.parquet", limits=SMALL) as file:
        file.read()
    assert str(refused.value).startswith("a.parquet is refused: ")
    assert isinstance(refused.value, StorageError)


@pytest.mark.parametrize("limit", ["row_groups", "rows", "chunk_values", "chunk_bytes"])
def test_what_the_footer_states_is_checked_before_anything_is_decoded(limit: str) -> None:
    stream = written(pa.table({"n": range(1_000)}), row_group_size=100)
    with ForeignParquet(stream, "it") as file:
        assert file.read().num_rows == 1_000
    with (
        pytest.raises(TooLarge, match="it is refused"),
        ForeignParquet(stream, "it", limits=ForeignLimits(**{limit: 9})) as file,
    ):
        next(file.iter_batches(1, columns=["n"]))


def test_a_dictionary_that_was_given_up_midway_is_read() -> None:
    lists = [[f"{number} {'x' * 500}"] * 2 for number in range(3_000)]
    stream = written(pa.table({"l": lists, "n": range(3_000)}), dictionary_pagesize_limit=100_000)
    with ForeignParquet(stream, "it") as file:
        assert file.read().to_pylist() == pq.read_table(stream).to_pylist()
        assert sum(batch.num_rows for batch in file.iter_batches(700)) == 3_000


def test_a_long_footer_is_refused_before_it_is_read(tmp_path: Path) -> None:
    stream = written(pa.table({"n": [1]}))
    whole = stream.getvalue()
    lying = whole[:-8] + (1 << 31).to_bytes(4, "little") + b"PAR1"
    with pytest.raises(TooLarge, match="its footer takes 2,147,483,648 bytes"):
        ForeignParquet(io.BytesIO(lying), "it")
    with pytest.raises(TooLarge, match="its footer"):
        ForeignParquet(stream, "it", limits=ForeignLimits(footer=20))


@given(st.integers(0, 400), st.integers(1, 255))
def test_a_damaged_file_is_refused_or_read_within_the_limits(place: int, flipped: int) -> None:
    content = bytearray(written(pa.table({"n": ["a", "b"] * 9, "l": [[1.0]] * 18})).getvalue())
    content[place % len(content)] ^= flipped
    try:
        with ForeignParquet(io.BytesIO(bytes(content)), "it") as file:
            assert sum(batch.num_rows for batch in file.iter_batches(5)) < 1_000_000
    except (pa.ArrowException, OSError, TooLarge, UnicodeDecodeError):
        pass


READ = """
import re, sys
from pathlib import Path
from pmo_assets.storage.foreign_parquet import ForeignParquet
with ForeignParquet(sys.argv[1]) as file:
    rows = sum(batch.num_rows for batch in file.iter_batches(2_000))
print(rows, int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) // 1024)
"""


@pytest.mark.slow  # much memory
@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the peak")
def test_memory_stays_small_however_often_a_text_is_repeated(tmp_path: Path) -> None:
    """The file has 22 kB; all its rows at once would be 8 GB."""
    (tmp_path / "a.parquet").write_bytes(written(repeated(8_000), compression="zstd").getvalue())
    told = subprocess.run(
        [sys.executable, "-c", READ, str(tmp_path / "a.parquet")], capture_output=True, text=True, check=True
    ).stdout.split()
    assert int(told[0]) == 8_000
    assert int(told[1]) < 1_500, "MiB"
