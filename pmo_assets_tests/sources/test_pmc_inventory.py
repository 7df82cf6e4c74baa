"""The inventory is taken whole or the next older one is; what differs between two is found, whatever their order."""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pmo_assets.records.packages import FileMissing, FileTooLarge, SourceError
from pmo_assets.records.stores import StorageError
from pmo_assets.sources import pmc_inventory, pmc_inventory_files
from pmo_assets.sources.pmc_inventory import changed_versions, inventory_stamps, versions_of, write_inventory
from pmo_assets.sources.pmc_inventory_files import INVENTORY_FOLDER, INVENTORY_SCHEMA

OLD, NEW = "2026-01-08T01-00Z", "2026-01-09T01-00Z"


@dataclass
class MemoryBucket:
    """A bucket of objects in memory, which can break."""

    objects: dict[str, bytes] = field(default_factory=dict)
    broken: str = "nothing"
    name: str = "pmc-oa-opendata"
    asked: list[str] = field(default_factory=list)

    def folders(self, prefix: str) -> list[str]:
        below = {key.removeprefix(prefix).partition("/") for key in self.objects if key.startswith(prefix)}
        return sorted({f"{prefix}{name}/" for name, slash, _ in below if slash})

    def read(self, key: str, max_bytes: int | None = None) -> bytes:
        self.asked.append(key)
        if self.broken in key:
            raise SourceError("the network is down")
        if key not in self.objects:
            raise FileMissing(f"{key} is not there")
        if max_bytes is not None and len(self.objects[key]) > max_bytes:
            raise FileTooLarge(f"{key} is too large")
        return self.objects[key]

    def download(self, key: str, target: Path, max_bytes: int | None = None) -> None:
        target.write_bytes(self.read(key))


def row(key: str, etag: str, modified: str = "2026-01-08T11:47:59.000Z") -> str:
    return f'"pmc-oa-opendata","{key}","{modified}","{etag}"\n'


def versions(*numbers: int, etag: str = "aa") -> list[str]:
    return [row(f"metadata/PMC{number}.1.json", etag) for number in numbers]


def put(bucket: MemoryBucket, stamp: str, *files: Sequence[str] | bytes, **manifest: Any) -> dict[str, Any]:
    """Put an inventory into a bucket as S3 does; files are rows, or packed bytes."""
    entries = []
    for number, content in enumerate(files):
        packed = content if isinstance(content, bytes) else gzip.compress("".join(content).encode("latin-1"))
        key = f"{INVENTORY_FOLDER}data/{stamp}-{number}.csv.gz"
        bucket.objects[key] = packed
        entries.append({"key": key, "size": len(packed), "MD5checksum": hashlib.md5(packed).hexdigest()})
    stated = {
        "sourceBucket": "pmc-oa-opendata",
        "version": "2016-11-30",
        "fileFormat": "CSV",
        "fileSchema": "Bucket, Key, LastModifiedDate, ETag",
        "files": entries,
    } | manifest
    bucket.objects[f"{INVENTORY_FOLDER}{stamp}/manifest.json"] = json.dumps(
        {name: value for name, value in stated.items() if value is not None}
    ).encode()
    return stated


@pytest.fixture
def bucket() -> MemoryBucket:
    return MemoryBucket()


def keys(inventory: Path) -> list[tuple[int, int, str]]:
    return pl.read_parquet(inventory).select("article_id", "version", "etag").rows()


def test_rows_become_article_versions(bucket: MemoryBucket, tmp_path: Path) -> None:
    put(
        bucket,
        NEW,
        [row("metadata/PMC10000002.1.json", "f25d9c"), row("metadata/PMC7.12.json", "ab-3")],
        ["pmc-oa-opendata,metadata/PMC99999999999.1.json,2025-12-31T23:59:59.125Z,cd\n"],
    )
    made = write_inventory(bucket, tmp_path / "inventory.parquet")
    assert made == pmc_inventory.Inventory(NEW, 3, ())
    table = pl.read_parquet(tmp_path / "inventory.parquet")
    assert table.schema == INVENTORY_SCHEMA
    assert table.rows() == [
        (7, 12, "ab-3", datetime(2026, 1, 8, 11, 47, 59, tzinfo=UTC)),
        (10000002, 1, "f25d9c", datetime(2026, 1, 8, 11, 47, 59, tzinfo=UTC)),
        (99999999999, 1, "cd", datetime(2025, 12, 31, 23, 59, 59, 125000, tzinfo=UTC)),
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["inventory.parquet"]


@pytest.mark.parametrize("small", [False, True])
def test_order_of_rows_and_files_does_not_matter(
    bucket: MemoryBucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: bool
) -> None:
    if small:  # many runs, ranges and blocks
        monkeypatch.setattr(pmc_inventory_files, "_RUN_ROWS", 50)
        monkeypatch.setattr(pmc_inventory, "_RANGE_ROWS", 70)
        monkeypatch.setattr(pmc_inventory_files, "_BLOCK_BYTES", 2000)
    rows = [row(f"metadata/PMC{n}.{v}.json", f"{n:x}{v}") for n in range(1, 400) for v in range(1, 1 + n % 4)]
    shuffled = random.Random(3).sample(rows, len(rows))
    put(bucket, OLD, rows)
    put(bucket, NEW, shuffled[:100], shuffled[100:450], shuffled[450:])
    made = [
        write_inventory(bucket, tmp_path / "in order", newest=OLD),
        write_inventory(bucket, tmp_path / "out of order"),
    ]
    assert [inventory and (inventory.rows, inventory.notes) for inventory in made] == [(len(rows), ())] * 2
    assert keys(tmp_path / "in order") == [(n, v, f"{n:x}{v}") for n in range(1, 400) for v in range(1, 1 + n % 4)]
    assert (tmp_path / "in order").read_bytes() == (tmp_path / "out of order").read_bytes()


def test_of_rows_that_are_doubled_the_last_modified_counts(
    bucket: MemoryBucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pmc_inventory, "_RANGE_ROWS", 1)
    key = "metadata/PMC5.1.json"
    dates = ["2026-01-03T00:00:00.000Z", "2026-01-05T00:00:00.000Z", "2026-01-04T00:00:00.000Z", "no date"]
    put(bucket, NEW, [row(key, f"e{n}", date) for n, date in enumerate(dates)], versions(4, 4, 6))
    made = write_inventory(bucket, tmp_path / "inventory")
    assert keys(tmp_path / "inventory") == [(4, 1, "aa"), (5, 1, "e1"), (6, 1, "aa")]
    assert made is not None
    assert made.notes == (f"4 of 7 rows of {NEW} are left out: 4 there more than once (the one modified last counts)",)


def test_keys_that_are_no_article_version_are_counted(bucket: MemoryBucket, tmp_path: Path) -> None:
    foreign = [
        "PMC1.1/PMC1.1.xml",
        "metadata/PMC1.json",
        "metadata/PMC01.1.json",
        "metadata/PMC0.1.json",
        "metadata/PMC1.0.json",
        "metadata/PMC123456789012.1.json",
        "metadata/PMC1.1234567.json",
        "metadata/PMC1.1.json.bak",
        "x/metadata/PMC1.1.json",
        "metadata/PMC%201.1.json",
        "metadata/PMC 1.1.json",
        "metadata/PMC\xb2.1.json",  # a byte that is no UTF-8, a digit in Latin-1
        "metadata/PMC1.1.json\x00",
        "",
    ]
    put(bucket, NEW, [row(key, "") for key in foreign] + versions(9))
    made = write_inventory(bucket, tmp_path / "inventory")
    assert keys(tmp_path / "inventory") == [(9, 1, "aa")]
    assert made is not None
    assert made.notes == (f"14 of 15 rows of {NEW} are left out: 14 no metadata/PMC<n>.<v>.json",)


def test_the_columns_are_those_of_the_manifest(bucket: MemoryBucket, tmp_path: Path) -> None:
    put(
        bucket,
        NEW,
        [
            'x,"ee","7",true,b,metadata/PMC3.1.json,false,x\n',
            'x,"old","7",false,b,metadata/PMC3.1.json,false,x\n',
            'x,,"7",true,b,metadata/PMC4.1.json,true,x\n',
        ],
        fileSchema="Tier, ETag, Size, IsLatest, Bucket,Key, IsDeleteMarker, Tier",
    )
    made = write_inventory(bucket, tmp_path / "inventory")
    assert pl.read_parquet(tmp_path / "inventory").rows() == [(3, 1, "ee", None)]
    assert made is not None
    assert made.notes == (f"2 of 3 rows of {NEW} are left out: 2 earlier or deleted versions of an object",)


def test_a_manifest_without_columns_has_the_usual_ones(bucket: MemoryBucket, tmp_path: Path) -> None:
    put(bucket, NEW, versions(1), fileSchema=None)
    write_inventory(bucket, tmp_path / "inventory")
    assert keys(tmp_path / "inventory") == [(1, 1, "aa")]


def manifest_key(stamp: str = NEW) -> str:
    return f"{INVENTORY_FOLDER}{stamp}/manifest.json"


def data_key(number: int = 0) -> str:
    return f"{INVENTORY_FOLDER}data/{NEW}-{number}.csv.gz"


def no_manifest(bucket: MemoryBucket) -> None:
    bucket.objects[f"{INVENTORY_FOLDER}{NEW}/manifest.checksum"] = bucket.objects.pop(manifest_key())


def half_a_manifest(bucket: MemoryBucket) -> None:
    bucket.objects[manifest_key()] = bucket.objects[manifest_key()][:-40]


def manifest_is_html(bucket: MemoryBucket) -> None:
    bucket.objects[manifest_key()] = b"<html>\xff</html>"


def manifest_is_a_list(bucket: MemoryBucket) -> None:
    bucket.objects[manifest_key()] = b"[" * 100_000


def manifest_is_large(bucket: MemoryBucket) -> None:
    bucket.objects[manifest_key()] += b" " * pmc_inventory_files.MAX_MANIFEST_BYTES


def no_file(bucket: MemoryBucket) -> None:
    put(bucket, NEW)


def file_without_key(bucket: MemoryBucket) -> None:
    put(bucket, NEW, files=[{"size": 3}])


def file_missing(bucket: MemoryBucket) -> None:
    del bucket.objects[data_key(1)]


def file_changed(bucket: MemoryBucket) -> None:
    size = len(bucket.objects[data_key(1)])
    bucket.objects[data_key(1)] = gzip.compress("".join(versions(8)).encode())[:size].ljust(size, b"\0")


def file_cut(bucket: MemoryBucket) -> None:
    bucket.objects[data_key(1)] = bucket.objects[data_key(1)][:-9]


def truncated_gzip(bucket: MemoryBucket) -> None:
    put(bucket, NEW, versions(1), gzip.compress("".join(versions(*range(2, 99))).encode())[:-9])


def truncated_without_checksum(bucket: MemoryBucket) -> None:
    put(bucket, NEW, gzip.compress("".join(versions(*range(2, 99))).encode())[:-9], files=[{"key": data_key()}])


def no_gzip(bucket: MemoryBucket) -> None:
    put(bucket, NEW, "".join(versions(1)).encode())


def nothing_in_file(bucket: MemoryBucket) -> None:
    put(bucket, NEW, versions(1), b"")


def no_row(bucket: MemoryBucket) -> None:
    put(bucket, NEW, [])


def only_foreign_rows(bucket: MemoryBucket) -> None:
    put(bucket, NEW, [row("PMC1.1/PMC1.1.xml", "aa")])


def no_etag(bucket: MemoryBucket) -> None:
    put(bucket, NEW, [*versions(1), row("metadata/PMC8.2.json", "")])


def long_etag(bucket: MemoryBucket) -> None:
    put(bucket, NEW, [*versions(1), row("metadata/PMC8.2.json", "e" * 129)])


def row_cut(bucket: MemoryBucket) -> None:
    put(bucket, NEW, [*versions(1, 2), '"pmc-oa-opendata","metadata/PMC3.1.'])


def column_too_many(bucket: MemoryBucket) -> None:
    put(bucket, NEW, [*versions(1, 2), "a,b,c,d,\x1b[31m\n"])


def no_key_column(bucket: MemoryBucket) -> None:
    put(bucket, NEW, versions(1), fileSchema="Bucket, Name, LastModifiedDate, ETag")


def no_etag_column(bucket: MemoryBucket) -> None:
    put(bucket, NEW, versions(1), fileSchema="Bucket, Key, LastModifiedDate, Size")


def two_key_columns(bucket: MemoryBucket) -> None:
    put(bucket, NEW, versions(1), fileSchema="Key, Key, LastModifiedDate, ETag")


def other_format(bucket: MemoryBucket) -> None:
    put(bucket, NEW, versions(1), fileFormat="ORC")


def bomb(bucket: MemoryBucket) -> None:
    put(bucket, NEW, ["\n" * 300_000])


def bomb_by_several(bucket: MemoryBucket) -> None:
    put(bucket, NEW, *(versions(*range(1, 1000)) for _ in range(3)))


def endless_row(bucket: MemoryBucket) -> None:
    put(bucket, NEW, ["a" * 199_000])


def said_to_be_large(bucket: MemoryBucket) -> None:
    put(bucket, NEW, versions(1), files=[{"key": data_key(), "size": 10**15}])


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (no_manifest, "it has no manifest.json (yet)"),
        (half_a_manifest, "its manifest.json is half-written or no manifest: Invalid JSON"),
        (manifest_is_html, "its manifest.json is half-written or no manifest: Invalid JSON"),
        (manifest_is_a_list, "its manifest.json is half-written or no manifest: Invalid JSON"),
        (manifest_is_large, "its manifest.json has more than 16,777,216 bytes"),
        (no_file, "no manifest: files: List should have at least 1 item"),
        (file_without_key, "no manifest: files.0.key: Field required"),
        (file_missing, f"its data file {data_key(1)} is missing"),
        (file_changed, f"its data file {data_key(1)} has the MD5 "),
        (file_cut, f"its data file {data_key(1)} has "),
        (truncated_gzip, f"its data file {data_key(1)} cannot be read: Truncated compressed stream"),
        (truncated_without_checksum, f"its data file {data_key()} cannot be read: Truncated compressed stream"),
        (no_gzip, f"its data file {data_key()} cannot be read: zlib inflate failed"),
        (nothing_in_file, f"its data file {data_key(1)} is empty"),
        (no_row, "none of its 0 rows is a metadata/PMC<n>.<v>.json"),
        (only_foreign_rows, "none of its 1 rows is a metadata/PMC<n>.<v>.json"),
        (no_etag, f"its data file {data_key()} has no ETag for metadata/PMC8.2.json"),
        (long_etag, f"its data file {data_key()} has an ETag of 129 bytes for metadata/PMC8.2.json"),
        (row_cut, f"its data file {data_key()} cannot be read: CSV parse error: Row #3: Expected 4 columns"),
        (column_too_many, "Expected 4 columns, got 5"),
        (no_key_column, "its columns (Bucket, Name, LastModifiedDate, ETag) have 0 named Key instead of one"),
        (no_etag_column, "have 0 named ETag instead of one"),
        (two_key_columns, "have 2 named Key instead of one"),
        (other_format, "its data is in the format 'ORC'; only CSV is read"),
        (bomb, "its data files hold more than"),
        (bomb_by_several, "its data files hold more than"),
        (endless_row, f"its data file {data_key()} cannot be read: straddling object straddles two block boundaries"),
        (said_to_be_large, "its data files are said to have more than"),
    ],
)
def test_instead_of_a_bad_inventory_the_next_older_one_is_used(
    bucket: MemoryBucket,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    damage: Callable[[MemoryBucket], None],
    words: str,
) -> None:
    monkeypatch.setattr(pmc_inventory_files, "MAX_CSV_BYTES", 200_000)
    monkeypatch.setattr(pmc_inventory_files, "_BLOCK_BYTES", 20_000)
    put(bucket, OLD, versions(1, 2))
    put(bucket, NEW, versions(1, 2, 3), versions(*range(4, 9)))
    damage(bucket)
    made = write_inventory(bucket, tmp_path / "inventory")
    assert made is not None
    assert (made.stamp, made.rows) == (OLD, 2)
    assert keys(tmp_path / "inventory") == [(1, 1, "aa"), (2, 1, "aa")]
    [note] = made.notes
    assert note.startswith(f"the inventory {NEW} of pmc-oa-opendata is passed over: ")
    assert words in note
    assert note.isprintable()
    assert [path.name for path in tmp_path.iterdir()] == ["inventory"]


def test_a_data_file_without_rows_may_be_one_of_several(bucket: MemoryBucket, tmp_path: Path) -> None:
    put(bucket, NEW, [], versions(1))
    made = write_inventory(bucket, tmp_path / "inventory")
    assert made is not None
    assert (made.stamp, made.rows, made.notes) == (NEW, 1, ())


def test_without_an_inventory_nothing_is_written(
    bucket: MemoryBucket, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert write_inventory(bucket, tmp_path / "inventory") is None
    put(bucket, NEW, versions(1))
    file_missing_alone = data_key()
    del bucket.objects[file_missing_alone]
    (tmp_path / "inventory").write_text("of yesterday")
    assert write_inventory(bucket, tmp_path / "inventory") is None
    assert (tmp_path / "inventory").read_text() == "of yesterday"
    assert f"its data file {file_missing_alone} is missing" in caplog.text


@pytest.mark.parametrize("broken", ["manifest.json", "-1.csv.gz"])
def test_a_network_fault_is_no_half_written_inventory(bucket: MemoryBucket, tmp_path: Path, broken: str) -> None:
    put(bucket, OLD, versions(1))
    put(bucket, NEW, versions(1), versions(2))
    bucket.broken = broken
    with pytest.raises(SourceError, match="network is down"):
        write_inventory(bucket, tmp_path / "inventory")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_no_half_written_inventory(
    bucket: MemoryBucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(bucket, OLD, versions(1))
    put(bucket, NEW, versions(1))

    def full(*arguments: Any, **options: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    with pytest.raises(StorageError, match=r"No space left on device.*TMPDIR"):
        write_inventory(bucket, tmp_path / "inventory")


def test_a_kill_while_writing_leaves_the_file_that_was_there(
    bucket: MemoryBucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(bucket, OLD, versions(1))
    write_inventory(bucket, tmp_path / "inventory")
    put(bucket, NEW, versions(1, 2, 3))
    monkeypatch.setattr(pmc_inventory, "_RANGE_ROWS", 1)
    whole = pmc_inventory._between

    def killed(low: int | None, high: int | None) -> pl.Expr:
        if low == 3:
            raise KeyboardInterrupt
        return whole(low, high)

    monkeypatch.setattr(pmc_inventory, "_between", killed)
    with pytest.raises(KeyboardInterrupt):
        write_inventory(bucket, tmp_path / "inventory")
    assert keys(tmp_path / "inventory") == [(1, 1, "aa")]


def test_stamps_are_compared_as_they_are_named(bucket: MemoryBucket, tmp_path: Path) -> None:
    for number, stamp in enumerate(
        ["2031-01-01T01-00Z", "1999-12-31T23-59Z", "2026-10-01T01-00Z", "2026-09-30T01-00Z"]
    ):
        put(bucket, stamp, versions(number + 1))
    for other in ("hive/dt=2032-01-01-01-00/symlink.txt", "2033-01-01/manifest.json", "x2034-01-01T01-00Z/m", "readme"):
        bucket.objects[INVENTORY_FOLDER + other] = b""
    stamps = ["2031-01-01T01-00Z", "2026-10-01T01-00Z", "2026-09-30T01-00Z", "1999-12-31T23-59Z"]
    assert inventory_stamps(bucket) == stamps
    for newest, stamp in [(None, stamps[0]), ("2030-12-31T23-59Z", stamps[1]), (stamps[2], stamps[2])]:
        made = write_inventory(bucket, tmp_path / "inventory", newest=newest)
        assert made is not None
        assert made.stamp == stamp
    assert write_inventory(bucket, tmp_path / "inventory", newest="1999-01-01T00-00Z") is None


def test_a_bucket_full_of_bad_inventories_is_not_searched_for_ever(bucket: MemoryBucket, tmp_path: Path) -> None:
    for year in range(1900, 2000):
        bucket.objects[f"{INVENTORY_FOLDER}{year}-01-01T00-00Z/x"] = b""
    assert write_inventory(bucket, tmp_path / "inventory") is None
    assert len(bucket.asked) == pmc_inventory.MAX_INVENTORIES


def inventory_frame(rows: dict[tuple[int, int], str], day: int) -> pl.DataFrame:
    date = datetime(2026, 1, day, tzinfo=UTC)
    return pl.DataFrame(
        [(article, version, etag, date) for (article, version), etag in rows.items()],
        schema=INVENTORY_SCHEMA,
        orient="row",
    )


@pytest.mark.slow
@pytest.mark.parametrize("range_rows", [1, 37, 10**6])
@pytest.mark.parametrize("follow", [True, False])
def test_changes_are_those_that_a_comparison_by_hand_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, range_rows: int, follow: bool
) -> None:
    monkeypatch.setattr(pmc_inventory, "_RANGE_ROWS", range_rows)
    chance = random.Random(5)
    before = {(chance.randint(1, 150), chance.randint(1, 3)): chance.choice("abc") for _ in range(200)}
    after = {(chance.randint(1, 170), chance.randint(1, 3)): chance.choice("abc") for _ in range(200)}
    followed = set(chance.sample(range(1, 300), 90)) if follow else set(range(1, 300))
    expected = [
        (*key, "new" if key not in before else "changed" if key in after else "removed")
        for key in sorted(before.keys() | after.keys())
        if key[0] in followed and before.get(key) != after.get(key)
    ]
    frames = [inventory_frame(before, 8), inventory_frame(after, 9)]
    for frame, name in zip(frames, ("before", "after"), strict=True):
        frame.sort("article_id", "version").write_parquet(tmp_path / name, row_group_size=16)
    series = pl.Series(sorted(followed, reverse=True) * 2) if follow else None
    found = changed_versions(tmp_path / "before", tmp_path / "after", series)
    assert {change for *_, change in expected} == {"new", "changed", "removed"}
    assert found.schema == pmc_inventory.CHANGES_SCHEMA
    assert found.select("article_id", "version", "change").rows() == expected
    for article, version, change, etag, modified in found.rows():
        state, day = (before, 8) if change == "removed" else (after, 9)
        assert (etag, modified.day) == (state[article, version], day)
    assert changed_versions(frames[0].lazy(), frames[1].lazy(), series).equals(found)


def test_a_changed_date_alone_is_no_change() -> None:
    rows = {(1, 1): "a"}
    assert changed_versions(inventory_frame(rows, 8).lazy(), inventory_frame(rows, 9).lazy(), None).is_empty()


def test_before_the_first_inventory_all_is_new() -> None:
    nothing, something = inventory_frame({}, 8).lazy(), inventory_frame({(4, 1): "a"}, 9).lazy()
    assert changed_versions(nothing, something, None)["change"].to_list() == ["new"]
    assert changed_versions(something, nothing, None)["change"].to_list() == ["removed"]
    assert changed_versions(nothing, nothing, None).schema == pmc_inventory.CHANGES_SCHEMA
    assert changed_versions(nothing, something, pl.Series([], dtype=pl.Int64)).is_empty()


def test_versions_of_some_articles(bucket: MemoryBucket, tmp_path: Path) -> None:
    put(bucket, NEW, versions(3, 2, 1), [row("metadata/PMC2.2.json", "bb")])
    write_inventory(bucket, tmp_path / "inventory")
    found = versions_of(tmp_path / "inventory", pl.Series("pmc", [2, 99, 2, None, 1], dtype=pl.UInt32))
    assert found.schema == INVENTORY_SCHEMA
    assert found.select("article_id", "version", "etag").rows() == [(1, 1, "aa"), (2, 1, "aa"), (2, 2, "bb")]
    assert versions_of(tmp_path / "inventory", pl.Series([], dtype=pl.Int64)).schema == INVENTORY_SCHEMA
