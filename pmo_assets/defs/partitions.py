"""Partitions: an article batch is a dynamic partition whose key names a manifest (`storage.batches`)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

import dagster as dg

from pmo_assets.defs.annotated import ANNOTATIONS
from pmo_assets.records.units import ARTICLE, Unit


@functools.cache
def batches_of(unit: Unit) -> dg.DynamicPartitionsDefinition:
    """Return the partitions of a unit's batches."""
    return dg.DynamicPartitionsDefinition(name=unit.batch)


ARTICLE_BATCHES: Final = batches_of(ARTICLE)
"""One partition per batch, about 200 articles each: never one per article (see `docs/own_articles.md`, "Batches")."""


ALL_BATCHES: Final = dg.AllPartitionMapping()
"""Partition mapping of an asset that is not partitioned and reads a table of all batches."""


def register_partitions(instance: dg.DagsterInstance, batches: Sequence[str], unit: Unit = ARTICLE) -> None:
    """Make sure that every batch is a partition, and that the UI lets it be materialised without a warning."""
    name = str(batches_of(unit).name)
    missing = sorted(set(batches) - set(instance.get_dynamic_partitions(name)))
    if missing:
        instance.add_dynamic_partitions(name, missing)
    _note_absent_annotations(instance)


def _note_absent_annotations(instance: dg.DagsterInstance) -> None:
    """Note that nothing is annotated, where nothing has been.

    `reviewed_panels`, `marks` and `regions` follow from `annotations`, which most people never have; before each click
    on *Materialize all* the UI would warn that an asset upstream is missing.
    """
    if not instance.fetch_materializations(dg.AssetKey(ANNOTATIONS), limit=1).records:
        note = dg.AssetMaterialization(ANNOTATIONS, description="Nothing has been annotated yet (PMO_ANNOTATIONS).")
        instance.report_runless_asset_event(note)
