"""Row groups and shards: where they end, and that every row is in exactly one of them."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.release import shards
from pmo_assets.release.shards import ROW_BYTES, Pictures, ShardWriter
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import WrittenFile
from pmo_assets_tests.examples import examples

SCHEMA = pa.schema([("number", pa.int64()), ("picture", pa.binary())])
ROWS = 4
BYTES = 4 * ROW_BYTES + 1000


@pytest.fixture(autouse=True, scope="module")
def small() -> Iterator[None]:
    """Row groups of four rows, or of 1,000 bytes of pictures beside the facts of four rows."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(shards, "GROUP_ROWS", ROWS)
        patched.setattr(shards, "GROUP_BYTES", BYTES)
        yield


@pytest.fixture
def root(tmp_path: Path) -> DataRoot:
    return DataRoot(str(tmp_path))


def numbers(first: int, count: int) -> pa.Table:
    return pa.table({"number": pa.array(range(first, first + count), pa.int64())})


def pictures(encoded: Sequence[bytes | None], sizes: Sequence[int] | None = None) -> Pictures:
    sizes = [len(picture or b"") for picture in encoded] if sizes is None else sizes
    return Pictures([f"p_{number}" for number in range(len(encoded))], encoded, sizes)


def write(
    root: DataRoot, parts: Sequence[Sequence[int]], shard_bytes: int | None = None, *, withheld: bool = False
) -> list[WrittenFile]:
    """Write rows whose pictures have these sizes, one part after another."""
    name = "rows.parquet" if shard_bytes is None else "train-{}.parquet"
    writer = ShardWriter(root, name, SCHEMA, {}, pictures="picture", shard_bytes=shard_bytes)
    first = 0
    for sizes in parts:
        encoded = [None if withheld else bytes(size) for size in sizes]
        writer.add(numbers(first, len(sizes)), pictures(encoded, sizes))
        first += len(sizes)
    return writer.finish()


def groups(root: DataRoot, files: Sequence[WrittenFile]) -> list[list[list[int]]]:
    """Return the rows of each row group, file by file."""
    opened = [pq.ParquetFile(io.BytesIO(root.read(file.key))) for file in files]
    return [
        [file.read_row_group(number)["number"].to_pylist() for number in range(file.num_row_groups)] for file in opened
    ]


@pytest.mark.parametrize("parts", [[9], [3, 6], [1] * 9, [4, 0, 5], [8, 1]])
def test_a_group_ends_with_its_last_row_whichever_part_that_comes_in(root: DataRoot, parts: list[int]) -> None:
    files = write(root, [[0] * count for count in parts])
    assert groups(root, files) == [[[0, 1, 2, 3], [4, 5, 6, 7], [8]]]


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([1000, 0, 0, 0], [[0, 1, 2, 3]]),
        ([BYTES, 0], [[0], [1]]),
        ([BYTES - ROW_BYTES, 0], [[0], [1]]),
        ([BYTES - ROW_BYTES - 1, 0, 0], [[0, 1], [2]]),
        ([0, 0, BYTES, BYTES, 0], [[0, 1, 2], [3], [4]]),
    ],
)
def test_a_group_ends_with_the_picture_that_fills_it(
    root: DataRoot, sizes: list[int], expected: list[list[int]]
) -> None:
    assert groups(root, write(root, [sizes])) == [expected]


GROUP = ROWS * ROW_BYTES
"""What a group of four rows without pictures counts."""


@pytest.mark.parametrize(
    ("rows", "shard_bytes", "expected"),
    [
        (4, GROUP, [1]),
        (8, GROUP, [1, 1]),
        (8, 2 * GROUP, [2]),
        (12, 2 * GROUP, [2, 1]),
        (12, 2 * GROUP - 1, [1, 1, 1]),
        (9, 10 * GROUP, [3]),
        (8, 1, [1, 1]),
    ],
)
def test_a_shard_ends_before_the_group_that_it_has_no_room_for(
    root: DataRoot, rows: int, shard_bytes: int, expected: list[int]
) -> None:
    files = write(root, [[0] * rows], shard_bytes)
    assert [len(shard) for shard in groups(root, files)] == expected
    assert [file.key for file in files] == [f"train-{number:05d}.parquet" for number in range(len(expected))]
    assert root.tree("") == [file.key for file in files]


def test_withheld_rows_move_no_boundary(root: DataRoot) -> None:
    parts = [[10, 6000, 6000], [0, 0, 12_000, 5], [BYTES], [1, 2, 3]]
    given = write(root, parts, 2 * BYTES)
    boundaries = groups(root, given)
    assert len(boundaries) > 1
    for file in given:
        root.delete(file.key)
    assert groups(root, write(root, parts, 2 * BYTES, withheld=True)) == boundaries


def test_without_rows_there_is_no_shard_but_the_one_file_where_there_is_to_be_one(root: DataRoot) -> None:
    assert write(root, [], GROUP) == []
    assert root.tree("") == []
    (file,) = write(root, [], None)
    assert (file.key, file.rows) == ("rows.parquet", 0)


def test_one_file_is_one_file_however_large(root: DataRoot) -> None:
    (file,) = write(root, [[BYTES] * 9], None)
    assert file.rows == 9
    assert root.tree("") == ["rows.parquet"]


def test_what_is_abandoned_is_undone_and_the_shards_before_it_stay_to_whoever_deletes_them(root: DataRoot) -> None:
    writer = ShardWriter(root, "train-{}.parquet", SCHEMA, {}, pictures="picture", shard_bytes=GROUP)
    writer.add(numbers(0, 9), pictures([b""] * 9))
    assert root.tree("") == ["train-00000.parquet"], "the second one is being written"
    writer.abandon()
    writer.abandon()
    assert root.tree("") == ["train-00000.parquet"]


def greedy(sizes: Sequence[int], shard_bytes: int | None) -> list[list[list[int]]]:
    """Return the rows of each group of each shard, by the rule as the documents state it."""
    found: list[tuple[list[int], int]] = []
    waiting: list[int] = []
    for number in range(len(sizes)):
        waiting.append(number)
        weight = sum(sizes[row] + ROW_BYTES for row in waiting)
        if len(waiting) == ROWS or weight >= BYTES or number == len(sizes) - 1:
            found.append((waiting, weight))
            waiting = []
    made: list[list[list[int]]] = []
    filled = 0
    for rows, weight in found:
        if not made or (shard_bytes is not None and filled + weight > shard_bytes):
            made.append([])
            filled = 0
        made[-1].append(rows)
        filled += weight
    return made


SIZES = st.lists(
    st.lists(st.sampled_from([0, 1, 999, 5000, BYTES - ROW_BYTES, BYTES, 3 * BYTES]), max_size=9), max_size=8
)


@examples(40)
@given(SIZES, st.sampled_from([1, GROUP, 2 * BYTES, 5 * BYTES, 10**9]))
def test_rows_come_out_as_they_went_in_and_boundaries_follow_from_sizes_alone(
    parts: list[list[int]], shard_bytes: int
) -> None:
    sizes = [size for part in parts for size in part]
    with tempfile.TemporaryDirectory() as folder:
        root = DataRoot(folder)
        files = write(root, parts, shard_bytes)
        found = groups(root, files)
        assert [row for shard in found for group in shard for row in group] == list(range(len(sizes)))
        assert found == greedy(sizes, shard_bytes)
        assert [file.rows for file in files] == [sum(map(len, shard)) for shard in found]
        read = pa.concat_tables(
            [pq.read_table(io.BytesIO(root.read(file.key))) for file in files] or [SCHEMA.empty_table()]
        )
        assert [len(picture) for picture in read["picture"].to_pylist()] == sizes


# pictures

STRUCT = pa.schema(
    [("name", pa.string()), ("image", pa.struct([("bytes", pa.binary()), ("path", pa.string())])), ("n", pa.int64())]
)


def written(
    root: DataRoot, schema: pa.Schema, parts: Sequence[tuple[pa.Table, Pictures | None]], column: str | None = "image"
) -> pa.Table:
    writer = ShardWriter(root, "rows.parquet", schema, {}, pictures=column, shard_bytes=None)
    try:
        for facts, shown in parts:
            writer.add(facts, shown)
        (file,) = writer.finish()
    finally:
        writer.abandon()
    return pq.read_table(io.BytesIO(root.read(file.key)))


def test_pictures_stand_where_the_schema_has_them_and_are_named_by_their_kind(root: DataRoot) -> None:
    facts = pa.table({"n": [1, 2, 3], "name": ["a", "b", "c"]})
    encoded = [b"\x89PNG rest", None, b"RIFF....WEBPrest"]
    made = written(root, STRUCT, [(facts, Pictures(["p_1", "p_2", "p_3"], encoded, [9, 9, 9]))])
    assert made.schema.equals(STRUCT)
    assert made["image"].to_pylist() == [
        {"bytes": encoded[0], "path": "p_1.png"},
        None,
        {"bytes": encoded[2], "path": "p_3.webp"},
    ]
    assert made["n"].to_pylist() == [1, 2, 3]
    assert made["name"].to_pylist() == ["a", "b", "c"]


def test_each_row_keeps_its_picture_over_parts_and_groups(root: DataRoot) -> None:
    parts = [
        (
            pa.table({"n": list(range(first, first + count)), "name": ["x"] * count}),
            Pictures(
                [f"p_{n}" for n in range(first, first + count)],
                [None if n % 3 == 0 else b"%d" % n for n in range(first, first + count)],
                [1] * count,
            ),
        )
        for first, count in ((0, 3), (3, 0), (3, 6), (9, 2))
    ]
    made = written(root, STRUCT, parts).to_pylist()
    assert [(row["n"], row["image"]) for row in made] == [
        (n, None if n % 3 == 0 else {"bytes": b"%d" % n, "path": f"p_{n}.webp"}) for n in range(11)
    ]


def test_a_plain_picture_column_holds_the_bytes(root: DataRoot) -> None:
    schema = pa.schema([("image", pa.binary()), ("n", pa.int64())])
    made = written(root, schema, [(pa.table({"n": [1, 2]}), Pictures(["p", "q"], [None, b"x"], [5, 1]))])
    assert made.schema.equals(schema)
    assert made["image"].to_pylist() == [None, b"x"]


def test_a_table_without_pictures_needs_none(root: DataRoot) -> None:
    schema = pa.schema([("b", pa.string()), ("n", pa.int64())])
    made = written(root, schema, [(pa.table({"n": [1, 2], "b": ["x", "y"]}), None)], column=None)
    assert made.to_pydict() == {"b": ["x", "y"], "n": [1, 2]}


def test_as_many_pictures_as_rows(root: DataRoot) -> None:
    facts = pa.table({"n": [1], "name": ["a"]})
    for shown in (Pictures([], [], [1]), Pictures(["a"], [], [1])):
        with pytest.raises((ValueError, pa.ArrowInvalid)):
            written(root, STRUCT, [(facts, shown)])
