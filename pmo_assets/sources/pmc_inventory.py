"""The daily inventory of PubMed Central's bucket as a Parquet file, and the differences between two of them.

S3 lists the metadata of every article version once a day: `manifest.json` names gzipped CSV files, some eight million
rows with key, date and ETag. The metadata holds the MD5 of each file of its version, so that a changed ETag means that
something in the version changed, and a missing row that the version was removed.

A row that is lost would look like a removed article: an inventory is taken whole, or the next older one is.
Memory is bounded however large an inventory is: rows are sorted in runs on disk, which are merged range by range.

What belongs here: inventories. What does not: requests to the bucket, and the choice of articles that are followed.
"""

from __future__ import annotations

import logging
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pyarrow.parquet

from pmo_assets.records.stores import StorageError
from pmo_assets.sources.pmc_inventory_files import (
    INVENTORY_FOLDER,
    INVENTORY_SCHEMA,
    Bucket,
    UnusableInventory,
    read_manifest,
    unpack_all,
    used_columns,
)
from pmo_assets.storage.data_root import DataRoot

_LOG = logging.getLogger(__name__)

CHANGES_SCHEMA = pl.Schema(
    {
        "article_id": pl.Int64(),
        "version": pl.Int64(),
        "change": pl.String(),
        "etag": pl.String(),
        "last_modified": pl.Datetime("ms", "UTC"),
    }
)
"""Columns of changes; `change` is `new`, `changed` or `removed`, ETag and date of a removed version its last."""

_STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}Z")

MAX_INVENTORIES = 31
"""So many are looked at, from the newest: the bucket keeps them for 30 days."""

_RANGE_ROWS = 500_000
"""Rows that are merged or compared at a time."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """An inventory that was written.

    Attributes:
        stamp: its name, the time at which S3 began it: `2026-01-08T01-00Z`.
        rows: article versions.
        notes: sentences for people: why newer ones were passed over, which rows were left out.
    """

    stamp: str
    rows: int
    notes: tuple[str, ...]


def inventory_stamps(bucket: Bucket) -> list[str]:
    """Return the names of the bucket's inventories, newest first, whether or not they are complete.

    The names are compared, no clock is asked.

    Raises:
        SourceError: if the bucket cannot be listed.
    """
    names = {folder.removesuffix("/").rpartition("/")[2] for folder in bucket.folders(INVENTORY_FOLDER)}
    return sorted((name for name in names if _STAMP.fullmatch(name)), reverse=True)


def write_inventory(bucket: Bucket, target: Path, *, newest: str | None = None) -> Inventory | None:
    """Write the newest inventory that is complete and readable as a Parquet file (`INVENTORY_SCHEMA`).

    The file appears whole or not at all, and the same inventory gives the same bytes. Data files are unpacked in the
    folder for temporary files: 0.1 GB for each million rows.

    Args:
        bucket: has the inventories.
        target: the Parquet file; one that is there is replaced.
        newest: stamp of the newest inventory to consider; None for all.

    Returns:
        Facts of the file written; None if there is no inventory, or none that can be used (the reasons are logged).

    Raises:
        SourceError: if the bucket cannot be read; that says nothing about an inventory, so no older one is taken.
        StorageError: if the disk is full or cannot be written.
    """
    passed_over: list[str] = []
    stamps = [stamp for stamp in inventory_stamps(bucket) if newest is None or stamp <= newest]
    for stamp in stamps[:MAX_INVENTORIES]:
        try:
            rows, left_out = _write(bucket, stamp, target)
        except UnusableInventory as reason:
            note = _printable(f"the inventory {stamp} of {bucket.name} is passed over: {reason}")
            _LOG.warning("%s", note)
            passed_over.append(note)
        else:
            return Inventory(stamp, rows, (*passed_over, *left_out))
    return None


def changed_versions(
    before: Path | pl.LazyFrame, after: Path | pl.LazyFrame, followed: pl.Series | None = None
) -> pl.DataFrame:
    """Return the article versions that are new, changed (another ETag) or removed, sorted (`CHANGES_SCHEMA`).

    Args:
        before: the older inventory, a Parquet file or a frame with columns as in `INVENTORY_SCHEMA`.
        after: the newer inventory.
        followed: numbers of the articles that are compared; None for all.
    """
    sources = [_scan(before), _scan(after)]
    wanted = None if followed is None else _distinct(followed)
    if wanted is not None:
        bounds = _bounds(wanted)
    else:
        bounds = _bounds(pl.concat([_article_ids(source) for source in sources]).sort())
    parts = []
    for low, high in bounds:
        inside = _between(low, high)
        if wanted is not None:
            part = wanted.to_frame().filter(_between(low, high)).to_series()
            inside &= pl.col("article_id").is_in(part.implode())
        parts.append(_compare(*(source.filter(inside).collect(engine="streaming") for source in sources)))
    return pl.concat([pl.DataFrame(schema=CHANGES_SCHEMA), *parts])


def versions_of(inventory: Path, articles: pl.Series) -> pl.DataFrame:
    """Return the rows of some articles, sorted by article and version.

    Args:
        inventory: a file that `write_inventory` wrote.
        articles: article numbers, in any order, also repeated or unknown to the inventory.
    """
    wanted = pl.col("article_id").is_in(_distinct(articles).implode())
    return _scan(inventory).filter(wanted).collect(engine="streaming").sort("article_id", "version")


def _printable(text: str) -> str:
    """Return text that every terminal and table can hold; keys and rows of the bucket may hold anything."""
    return "".join(character if character.isprintable() else "?" for character in text)


def _write(bucket: Bucket, stamp: str, target: Path) -> tuple[int, list[str]]:
    """Write one inventory; return its number of rows, and sentences about rows that were left out."""
    manifest = read_manifest(bucket, f"{INVENTORY_FOLDER}{stamp}/manifest.json")
    columns = used_columns(manifest)
    with _temporary_folder() as folder:
        unpacked = unpack_all(bucket, manifest.files, columns, folder)
        kept = unpacked.rows - unpacked.foreign - unpacked.outdated
        if not kept:
            raise UnusableInventory(f"none of its {unpacked.rows:,} rows is a metadata/PMC<n>.<v>.json")
        rows = _merge(unpacked.runs, target)
    left_out = {
        "no metadata/PMC<n>.<v>.json": unpacked.foreign,
        "earlier or deleted versions of an object": unpacked.outdated,
        "there more than once (the one modified last counts)": kept - rows,
    }
    reasons = "; ".join(f"{count:,} {reason}" for reason, count in left_out.items() if count)
    skipped = unpacked.rows - rows
    return rows, [f"{skipped:,} of {unpacked.rows:,} rows of {stamp} are left out: {reasons}"] if skipped else []


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    try:
        with tempfile.TemporaryDirectory(prefix="pmc_inventory_") as folder:
            yield Path(folder)
    except OSError as error:
        raise StorageError(
            f"cannot unpack the inventory in {tempfile.gettempdir()}: {error} (free space there, or set TMPDIR)"
        ) from error


def _merge(runs: list[Path], target: Path) -> int:
    """Write the rows of all runs, sorted and each once, as one Parquet file; return how many."""
    source = pl.scan_parquet(runs)
    count = 0
    schema = INVENTORY_SCHEMA.to_frame().to_arrow(compat_level=pl.CompatLevel.oldest()).schema
    with (
        DataRoot(str(target.parent)).writing(target.name) as stream,
        pyarrow.parquet.ParquetWriter(stream, schema, compression="zstd", use_dictionary=["version"]) as writer,
    ):
        for low, high in _bounds(_article_ids(source).sort()):
            rows = source.filter(_between(low, high)).collect().sort("article_id", "version", "last_modified", "etag")
            same_as_next = pl.all_horizontal(
                pl.col(name) == pl.col(name).shift(-1) for name in ("article_id", "version")
            )
            rows = rows.filter(~same_as_next.fill_null(False))
            writer.write_table(rows.to_arrow(compat_level=pl.CompatLevel.oldest()), row_group_size=2**17)
            count += rows.height
    return count


def _compare(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Return the new, removed and changed rows between two inventories, sorted."""
    key = ["article_id", "version"]
    both = before.with_columns(before=True).join(
        after.with_columns(after=True), on=key, how="full", coalesce=True, suffix="_after"
    )
    change = (
        pl.when(pl.col("before").is_null())
        .then(pl.lit("new"))
        .when(pl.col("after").is_null())
        .then(pl.lit("removed"))
        .when(pl.col("etag").ne_missing(pl.col("etag_after")))
        .then(pl.lit("changed"))
    )
    there = pl.col("after").is_not_null()
    return (
        both.with_columns(change=change)
        .filter(pl.col("change").is_not_null())
        .select(
            *key,
            "change",
            *(pl.when(there).then(f"{name}_after").otherwise(name).alias(name) for name in ("etag", "last_modified")),
        )
        .sort(key)
        .cast(CHANGES_SCHEMA)
    )


def _scan(inventory: Path | pl.LazyFrame) -> pl.LazyFrame:
    rows = pl.scan_parquet(inventory) if isinstance(inventory, Path) else inventory
    return rows.select(pl.col(name).cast(dtype) for name, dtype in INVENTORY_SCHEMA.items())


def _article_ids(rows: pl.LazyFrame) -> pl.Series:
    return rows.select("article_id").collect(engine="streaming").to_series()


def _distinct(articles: pl.Series) -> pl.Series:
    return articles.rename("article_id").cast(pl.Int64).drop_nulls().unique().sort()


def _between(low: int | None, high: int | None) -> pl.Expr:
    """Return the condition `low <= article_id < high`; None is no limit."""
    condition = pl.lit(True)
    if low is not None:
        condition &= pl.col("article_id") >= low
    if high is not None:
        condition &= pl.col("article_id") < high
    return condition


def _bounds(article_ids: pl.Series) -> list[tuple[int | None, int | None]]:
    """Return ranges of articles that together are all, each with about `_RANGE_ROWS` of the sorted numbers."""
    starts: list[int] = article_ids.gather_every(_RANGE_ROWS)[1:].unique().sort().to_list()
    return list(zip([None, *starts], [*starts, None], strict=True))
