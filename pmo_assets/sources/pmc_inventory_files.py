"""The files of an inventory of PubMed Central's bucket: a manifest, and gzipped CSV that is read into sorted runs.

An inventory is a folder named by its time with `manifest.json`, which names columns and data files with their MD5. The
rows are parsed in blocks, and never become Python objects.

What belongs here: the format of S3 Inventory, and its limits. What does not: the choice of an inventory
(`sources.pmc_inventory`).
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Protocol

import polars as pl
import pyarrow as pa
import pyarrow.csv
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pmo_assets.records.packages import FileMissing, FileTooLarge

INVENTORY_FOLDER = "inventory-reports/pmc-oa-opendata/metadata/"
"""Folder in which the bucket keeps its inventories: one for each day, named by its time, and one with the data."""

INVENTORY_SCHEMA = pl.Schema(
    {
        "article_id": pl.Int64(),
        "version": pl.Int64(),
        "etag": pl.String(),
        "last_modified": pl.Datetime("ms", "UTC"),
    }
)
"""Columns of an inventory; one row for each article version, sorted by article and version."""

_STATED_BY_DEFAULT = "Bucket, Key, LastModifiedDate, ETag"
_USED_COLUMNS = ("Key", "ETag", "LastModifiedDate", "IsLatest", "IsDeleteMarker")
_ARTICLE_KEY = r"^metadata/PMC([1-9][0-9]{0,10})\.([1-9][0-9]{0,5})\.json$"
"""No leading zeros, so that a number has one key."""

MAX_MANIFEST_BYTES = 16 * 2**20
"""Larger manifests are not read; one has some kilobytes."""

MAX_FILES = 10_000
"""Data files of an inventory; real ones have some ten."""

MAX_CSV_BYTES = 16 * 2**30
"""Data files of an inventory, unpacked; eight million rows have 0.9 GB."""

MAX_ETAG_BYTES = 128
"""An ETag is an MD5 in hexadecimal, perhaps with the number of parts; rows that are sorted in memory are short."""

_BLOCK_BYTES = 8 * 2**20
"""CSV that is parsed at a time; a row must fit."""

_RUN_ROWS = 500_000
"""Rows that are sorted in memory, by each of `_READERS`."""

_READERS = 2
"""Data files that are unpacked at the same time; one file can use but one core."""


class Bucket(Protocol):
    """The bucket, as far as an inventory needs it."""

    @property
    def name(self) -> str:
        """The bucket's name, for messages."""
        ...

    def folders(self, prefix: str) -> list[str]:
        """Return the common prefixes directly below a prefix, whole (`a/b/`).

        Raises:
            SourceError: if the bucket cannot be listed.
        """
        ...

    def read(self, key: str, max_bytes: int | None = None) -> bytes:
        """Return an object's bytes.

        Raises:
            FileMissing: if there is no such object.
            FileTooLarge: if it has more than `max_bytes`.
            SourceError: if the bucket cannot be read.
        """
        ...

    def download(self, key: str, target: Path, max_bytes: int | None = None) -> None:
        """Copy an object into a local file.

        Raises:
            FileMissing: if there is no such object.
            FileTooLarge: if it has more than `max_bytes`.
            SourceError: if the bucket cannot be read.
        """
        ...


class UnusableInventory(Exception):
    """An inventory is not complete or not readable; the message goes on after "…: "."""


class DataFile(BaseModel):
    """A data file as the manifest states it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    key: Annotated[str, Field(min_length=1, max_length=1024)]
    size: Annotated[int, Field(ge=0)] | None = None
    md5: Annotated[str | None, Field(alias="MD5checksum")] = None


class Manifest(BaseModel):
    """The fields of `manifest.json` that are used; `columns` are their names, with commas."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    format: Annotated[str, Field(alias="fileFormat")] = "CSV"
    columns: Annotated[str, Field(alias="fileSchema")] = _STATED_BY_DEFAULT
    files: Annotated[list[DataFile], Field(min_length=1, max_length=MAX_FILES)]


@dataclass(frozen=True, slots=True)
class Columns:
    """Number of the data files' columns, and the names of the used ones by place (`_USED_COLUMNS`)."""

    count: int
    used: dict[int, str]


@dataclass
class Unpacked:
    """Yield of one inventory's data files so far, by all threads together."""

    runs: list[Path] = field(default_factory=list)
    csv_bytes: int = 0
    rows: int = 0
    foreign: int = 0
    outdated: int = 0
    abandoned: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add_bytes(self, count: int) -> None:
        """Count unpacked bytes.

        Raises:
            UnusableInventory: if they are too many, or another data file cannot be used, so that going on is in vain.
        """
        with self.lock:
            self.csv_bytes += count
            if self.csv_bytes > MAX_CSV_BYTES:
                raise UnusableInventory(f"its data files hold more than {MAX_CSV_BYTES / 2**30:.0f} GiB unpacked")
            if self.abandoned:
                raise UnusableInventory("another data file cannot be used")

    def add_rows(self, rows: int, foreign: int, outdated: int) -> None:
        """Count rows that were read, and those of them that are left out."""
        with self.lock:
            self.rows += rows
            self.foreign += foreign
            self.outdated += outdated


def read_manifest(bucket: Bucket, key: str) -> Manifest:
    """Return an inventory's manifest.

    Raises:
        UnusableInventory: if it is missing, half-written or no manifest.
        SourceError: if the bucket cannot be read.
    """
    try:
        return Manifest.model_validate_json(bucket.read(key, MAX_MANIFEST_BYTES))
    except FileMissing:
        raise UnusableInventory("it has no manifest.json (yet)") from None
    except FileTooLarge:
        raise UnusableInventory(f"its manifest.json has more than {MAX_MANIFEST_BYTES:,} bytes") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        what = f"{place}: {first['msg']}" if place else first["msg"]
        raise UnusableInventory(f"its manifest.json is half-written or no manifest: {what[:200]}") from None


def used_columns(manifest: Manifest) -> Columns:
    """Return where the columns stand that are used.

    Raises:
        UnusableInventory: if there are no keys or ETags, a column is there twice, or the
            data is in another format than CSV.
    """
    if manifest.format.upper() != "CSV":
        raise UnusableInventory(f"its data is in the format {manifest.format[:40]!r}; only CSV is read")
    stated = [name.strip() for name in manifest.columns.split(",")]
    for name in _USED_COLUMNS:
        count = stated.count(name)
        if count > 1 or (not count and name in ("Key", "ETag")):
            raise UnusableInventory(f"its columns ({manifest.columns[:200]}) have {count} named {name} instead of one")
    return Columns(len(stated), {stated.index(name): name for name in _USED_COLUMNS if name in stated})


def unpack_all(bucket: Bucket, files: Sequence[DataFile], columns: Columns, folder: Path) -> Unpacked:
    """Read all data files into sorted runs (Parquet files below a folder), some at the same time.

    Raises:
        UnusableInventory: if a data file is missing, not what the manifest says, or cannot be read.
        SourceError: if the bucket cannot be read.
    """
    if sum(file.size or 0 for file in files) > MAX_CSV_BYTES:
        raise UnusableInventory(f"its data files are said to have more than {MAX_CSV_BYTES / 2**30:.0f} GiB")
    unpacked = Unpacked()

    def unpack(number: int) -> None:
        if not unpacked.abandoned:
            _unpack(bucket, files[number], columns, folder / f"{number:05d}", unpacked)

    with ThreadPoolExecutor(_READERS, thread_name_prefix="inventory") as threads:
        futures = [threads.submit(unpack, number) for number in range(len(files))]
        try:
            for future in futures:
                future.result()
        except BaseException:
            unpacked.abandoned = True
            raise
    unpacked.runs.sort()
    return unpacked


def _unpack(bucket: Bucket, file: DataFile, columns: Columns, place: Path, unpacked: Unpacked) -> None:
    """Read one data file into sorted runs (`PLACE.0000.parquet`, …)."""
    packed = place.with_suffix(".csv.gz")
    _download(bucket, file, packed)
    pending: list[pl.DataFrame] = []
    runs = 0

    def write_run() -> None:
        nonlocal runs
        run = place.with_suffix(f".{runs:04d}.parquet")
        # Small groups with statistics, so that a range of the merge reads little more than itself.
        pl.concat(pending).sort("article_id").write_parquet(run, compression="uncompressed", row_group_size=2**15)
        pending.clear()
        runs += 1
        with unpacked.lock:
            unpacked.runs.append(run)

    for rows in _article_rows(file.key, packed, columns, unpacked):
        if rows.height:
            pending.append(rows)
        if sum(part.height for part in pending) >= _RUN_ROWS:
            write_run()
    if pending:
        write_run()
    packed.unlink()


def _download(bucket: Bucket, file: DataFile, packed: Path) -> None:
    """Download a data file.

    Raises:
        UnusableInventory: if it is missing, or not what the manifest says.
    """
    try:
        bucket.download(file.key, packed, MAX_CSV_BYTES if file.size is None else file.size)
    except FileMissing:
        raise UnusableInventory(f"its data file {file.key} is missing") from None
    except FileTooLarge:
        raise UnusableInventory(f"its data file {file.key} is larger than the manifest says") from None
    size = packed.stat().st_size
    if not size:
        raise UnusableInventory(f"its data file {file.key} is empty")
    if file.size is not None and size != file.size:
        raise UnusableInventory(f"its data file {file.key} has {size:,} bytes, the manifest says {file.size:,}")
    if file.md5 is not None:
        with packed.open("rb") as stream:
            md5 = hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
        if md5 != file.md5.lower():
            raise UnusableInventory(f"its data file {file.key} has the MD5 {md5}, the manifest says {file.md5[:40]}")


_TO_ASCII = bytes(range(128)) + b"?" * 128


class _CsvStream:
    """An unpacked data file for pyarrow: counts its bytes, and puts `?` for what is not ASCII.

    S3 writes keys URL-encoded; a byte that is no UTF-8 makes pyarrow refuse all of a file.
    """

    def __init__(self, packed: Path, unpacked: Unpacked) -> None:
        self.closed = False
        self.failure: Exception | None = None
        self.empty = True
        self._file = pa.OSFile(str(packed))
        self._stream = pa.CompressedInputStream(self._file, "gzip")
        self._unpacked = unpacked

    def read(self, size: int) -> bytes:
        """Return the next bytes, at most `size`; none at the end."""
        try:
            block: bytes = self._stream.read(size)
            self._unpacked.add_bytes(len(block))
        except Exception as error:
            self.failure = error  # pyarrow may raise another one, from its own thread
            raise
        self.empty = self.empty and not block
        return block if block.isascii() else block.translate(_TO_ASCII)

    def close(self) -> None:
        """Close the file."""
        self.closed = True
        self._stream.close()
        self._file.close()


def _article_rows(key: str, packed: Path, columns: Columns, unpacked: Unpacked) -> Iterator[pl.DataFrame]:
    """Yield a data file's rows about article versions, block by block.

    Raises:
        UnusableInventory: if the file is no gzip or ends too early, a row has another number of columns, or no ETag
            or a long one.
    """
    names = [str(place) for place in range(columns.count)]  # those of the manifest may be there twice
    used = {str(place): name for place, name in columns.used.items()}
    stream = _CsvStream(packed, unpacked)
    try:
        batches = pyarrow.csv.open_csv(
            pa.PythonFile(stream, mode="r"),
            read_options=pyarrow.csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES, column_names=names),
            convert_options=pyarrow.csv.ConvertOptions(
                include_columns=list(used), column_types=dict.fromkeys(used, pa.string())
            ),
        )
        for batch in batches:
            frame = pl.DataFrame(pl.from_arrow(batch)).rename(used)
            yield _rows(key, frame, unpacked)
    except (pa.ArrowException, OSError) as error:
        cause = stream.failure or error
        if stream.empty and cause is error and isinstance(error, pa.ArrowInvalid):
            return  # pyarrow calls a file without rows an error
        if isinstance(cause, UnusableInventory | MemoryError) or (
            isinstance(cause, OSError) and cause.errno is not None
        ):
            raise cause from None  # decided, or the machine's and not the file's
        raise UnusableInventory(f"its data file {key} cannot be read: {' '.join(str(cause).split())[:200]}") from None
    finally:
        stream.close()


def _rows(key: str, frame: pl.DataFrame, unpacked: Unpacked) -> pl.DataFrame:
    """Return the rows about article versions, in the columns of an inventory."""
    current = pl.lit(True)
    if "IsLatest" in frame.columns:
        current &= pl.col("IsLatest").str.to_lowercase() != "false"
    if "IsDeleteMarker" in frame.columns:
        current &= pl.col("IsDeleteMarker").str.to_lowercase() != "true"
    modified: Any = pl.lit(None, pl.Datetime("ms", "UTC"))
    if "LastModifiedDate" in frame.columns:
        modified = pl.col("LastModifiedDate").str.to_datetime(
            "%Y-%m-%dT%H:%M:%S%.fZ", time_unit="ms", time_zone="UTC", strict=False
        )
    kept = frame.filter(current)
    numbers = kept["Key"].str.extract_groups(_ARTICLE_KEY).struct
    rows = kept.select(
        numbers[0].cast(pl.Int64).alias("article_id"),
        numbers[1].cast(pl.Int64).alias("version"),
        pl.col("ETag").alias("etag"),
        modified.alias("last_modified"),
    ).filter(pl.col("article_id").is_not_null())
    unpacked.add_rows(frame.height, kept.height - rows.height, frame.height - kept.height)
    wrong = rows.filter(~pl.col("etag").str.len_bytes().is_between(1, MAX_ETAG_BYTES))
    if wrong.height:
        article, version, etag, _ = wrong.row(0)
        what = f"an ETag of {len(etag):,} bytes" if etag else "no ETag"
        raise UnusableInventory(f"its data file {key} has {what} for metadata/PMC{article}.{version}.json")
    return rows
