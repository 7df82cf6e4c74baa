"""The bucket's daily inventory below the data root: the newest one, and the one before to compare with."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import polars as pl

from pmo_assets.refresh.finding import Inventoried
from pmo_assets.sources.pmc_bucket import PmcBucket
from pmo_assets.sources.pmc_inventory import changed_versions, inventory_stamps, write_inventory
from pmo_assets.storage.data_root import DataRoot

INVENTORY_FOLDER: Final = "pmc/inventory"

KEPT: Final = 2
"""Inventories that are kept: the newest, and the one that it is compared with."""


@dataclass(frozen=True)
class InventoryRenewal:
    """Result of looking for a newer inventory.

    Attributes:
        stamp: of the newest one that is kept, e.g. `2026-01-08T01-00Z`; None if the bucket has none that can be read.
        rows: versions that it lists; None if it was there already.
        changes: versions of the followed articles that are new, changed or removed since the one before, by that word.
        notes: why a newer one was passed over.
    """

    stamp: str | None
    rows: int | None
    changes: dict[str, int]
    notes: tuple[str, ...]


def stamps(data_root: DataRoot) -> list[str]:
    """Return the stamps of the inventories that are kept, oldest first."""
    return [name.removesuffix(".parquet") for name in data_root.keys(INVENTORY_FOLDER, ".parquet")]


def made_at(stamp: str) -> datetime:
    """Return the time (UTC) that a stamp such as `2026-01-08T01-00Z` names."""
    return datetime.strptime(stamp, "%Y-%m-%dT%H-%MZ").replace(tzinfo=UTC)


@contextlib.contextmanager
def _local(data_root: DataRoot, stamp: str) -> Iterator[Path]:
    """Give an inventory as a local file, which polars scans piece by piece."""
    key = f"{INVENTORY_FOLDER}/{stamp}.parquet"
    if data_root.is_local:
        yield Path(data_root.uri(key))
        return
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "inventory.parquet"
        with data_root.open_random(key) as source, target.open("wb") as stream:
            shutil.copyfileobj(source, stream, 1 << 22)
        yield target


@contextlib.contextmanager
def newest_inventory(data_root: DataRoot) -> Iterator[Inventoried | None]:
    """Give the newest inventory that is kept; None if there is none."""
    kept = stamps(data_root)
    if not kept:
        yield None
        return
    with _local(data_root, kept[-1]) as file:
        yield Inventoried(file, made_at(kept[-1]))


@contextlib.contextmanager
def latest_inventory(data_root: DataRoot, bucket: PmcBucket) -> Iterator[Inventoried | None]:
    """Give the bucket's newest complete inventory without keeping it; the one that is kept if the bucket has no newer.

    Raises:
        SourceError: if the bucket cannot be read.
    """
    kept, offered = stamps(data_root), inventory_stamps(bucket)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "inventory.parquet"
        if offered and (not kept or max(offered) > kept[-1]):
            inventory = write_inventory(bucket, file)
            if inventory is not None and (not kept or inventory.stamp > kept[-1]):
                yield Inventoried(file, made_at(inventory.stamp))
                return
        with newest_inventory(data_root) as known:
            yield known


def renew_inventory(data_root: DataRoot, bucket: PmcBucket, followed: pl.Series) -> InventoryRenewal:
    """Fetch the bucket's newest complete inventory if it is newer than the one that is kept, and compare them.

    Args:
        data_root: where inventories are kept.
        bucket: where they are made.
        followed: article numbers of which changes are counted.

    Raises:
        SourceError: if the bucket cannot be read.
    """
    kept = stamps(data_root)
    offered = inventory_stamps(bucket)
    if kept and (not offered or max(offered) <= kept[-1]):
        notes = () if offered else ("the bucket has no inventory: the last one is used",)
        return InventoryRenewal(kept[-1], None, {}, notes)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "inventory.parquet"
        inventory = write_inventory(bucket, file)
        if inventory is None:
            note = "the bucket has no inventory that can be read"
            return InventoryRenewal(kept[-1] if kept else None, None, {}, (note,))
        if kept and inventory.stamp <= kept[-1]:
            return InventoryRenewal(kept[-1], None, {}, inventory.notes)
        changes: dict[str, int] = {}
        if kept:
            with _local(data_root, kept[-1]) as last:
                table = changed_versions(last, file, followed)
            changes = dict(table["change"].cast(pl.String).value_counts(sort=True).iter_rows())
        with file.open("rb") as source, data_root.writing(f"{INVENTORY_FOLDER}/{inventory.stamp}.parquet") as stream:
            shutil.copyfileobj(source, stream, 1 << 22)
    for stamp in stamps(data_root)[:-KEPT]:
        data_root.delete(f"{INVENTORY_FOLDER}/{stamp}.parquet")
    return InventoryRenewal(inventory.stamp, inventory.rows, changes, inventory.notes)
