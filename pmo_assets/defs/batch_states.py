"""States of batches: the assets of each that are not up to date, the steps that lost too much, the rows of its tables.

All batches are looked at together: the instance answers a few queries per asset, folders of the data root are listed,
and columns read, for all of them. So `pmo batches list` answers at once with a thousand batches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import dagster as dg
import polars as pl

from pmo_assets.defs.graph import BatchGraph, batch_graph
from pmo_assets.defs.package_cache import of_this_code
from pmo_assets.defs.staleness import Stages, Stale, made_of_batches, out_of_date, reasons, stages_of_location
from pmo_assets.records.units import ARTICLE, Unit
from pmo_assets.release.statistics.losses import StageLoss, batch_losses, excessive, may_have_lost_much
from pmo_assets.settings import Settings
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.tables import Tables

COUNTED: Final = ("dataset_rows", "rejections")
"""The tables whose rows are counted."""


@dataclass(frozen=True)
class BatchState:
    """State of a batch.

    Attributes:
        batch: its key.
        articles: number of its articles.
        stale: its assets that are not up to date, in the order of the graph.
        lost: steps that lost too much for it to count as done; empty unless it is up to date.
        rows: number of rows of each table of `COUNTED` that is up to date, by table.
        why: the reason for which the first stale asset is not up to date, in words; "" if none is.
    """

    batch: str
    articles: int
    stale: Sequence[str]
    lost: Sequence[StageLoss]
    rows: Mapping[str, int]
    why: str = ""


def batch_states(
    stages: Stages, settings: Settings, instance: dg.DagsterInstance, registry: BatchRegistry
) -> list[BatchState]:
    """Return the states of all registered batches, in order.

    Raises:
        StorageError: if a table that is up to date cannot be read.
    """
    tables, sizes = Tables(registry.data_root), registry.sizes()
    found = _stale_batches(stages, instance, tables, list(sizes))
    stale = found.assets
    fresh = {name: [batch for batch in sizes if name not in stale[batch]] for name in COUNTED}
    rows = tables.read_batches("dataset_rows", fresh["dataset_rows"], ["article_id"])
    done = [batch for batch in sizes if not stale[batch]]
    rejections = tables.read_batches("rejections", fresh["rejections"], ["stage", "article_id", "image_cluster_id"])
    counts = {"dataset_rows": _counts(rows), "rejections": _counts(rejections)}
    suspected = may_have_lost_much(rows, rejections, settings.rejected_fail, stages.losing)
    lost = {
        batch: excessive(batch_losses(tables, batch, stages.losing), settings.rejected_fail)
        for batch in done
        if batch in suspected
    }
    return [
        BatchState(
            batch,
            articles,
            stale[batch],
            lost.get(batch, ()),
            {name: counts[name].get(batch, 0) for name in COUNTED if name not in stale[batch]},
            _why_next(instance, stages, found, tables, batch, settings),
        )
        for batch, articles in sizes.items()
    ]


def _why_next(
    instance: dg.DagsterInstance, stages: Stages, found: Stale, tables: Tables, batch: str, settings: Settings
) -> str:
    """Return why the first of a batch's stale assets is stale: never made, its table lost, or what changed."""
    if not found.assets[batch]:
        return ""
    asset, made = found.assets[batch][0], found.made.get(batch, {})
    if asset not in made:
        return "not made yet"
    if not tables.is_complete(asset, batch):
        return "its table is not there"
    alone = Stale({batch: made}, {batch: found.assets[batch]}, {batch: found.decided[batch]})
    return "changed: " + "; ".join(reasons(instance, stages, alone, asset, settings))


def _counts(table: pl.DataFrame) -> dict[str, int]:
    return dict(table.group_by("batch").len().iter_rows())


def stale_assets(
    defs: dg.Definitions, instance: dg.DagsterInstance, tables: Tables, batch: str, unit: Unit = ARTICLE
) -> list[str]:
    """Return the assets of a batch that are not up to date, in the order of the data's way.

    What the instance remembers does not count when the table, or what its step rejected, is not there: the data root
    was emptied, restored or is another one.
    """
    stages = stages_of_location(defs, tables.data_root, unit)
    made = made_of_batches(instance, stages, batch).get(batch, {})
    return out_of_date(stages, made, stages.decisions([batch])[batch], lambda name: tables.is_complete(name, batch))


def stale_of_all(
    stages: Stages, instance: dg.DagsterInstance, tables: Tables, batches: Sequence[str]
) -> dict[str, Sequence[str]]:
    """Return the answer of `stale_assets` for every batch."""
    return dict(_stale_batches(stages, instance, tables, batches).assets)


def _stale_batches(stages: Stages, instance: dg.DagsterInstance, tables: Tables, batches: Sequence[str]) -> Stale:
    """Return the stale assets of batches, also of those that were not begun and those that are up to date."""
    made = made_of_batches(instance, stages)
    decided = stages.decisions(batches)
    there = {name: set(tables.complete_batches(name)) for name in stages.parents}

    def stale(batch: str) -> list[str]:
        return out_of_date(stages, made.get(batch, {}), decided[batch], lambda name: batch in there[name])

    return Stale(made, {batch: stale(batch) for batch in batches}, decided)


def graph_of_this_code() -> BatchGraph:
    """Return the graph of the project's assets as it was kept when this code was loaded before.

    For who asks nothing else of the code location: loading all of it takes longer than that.
    """
    return BatchGraph(**of_this_code("graph of a batch", _read_off))


def _read_off() -> dict[str, Any]:
    from pmo_assets.defs.loading import all_assets

    return asdict(batch_graph(all_assets()))
