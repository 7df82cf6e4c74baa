"""Batches become partitions that the UI lets people materialise without a warning."""

from __future__ import annotations

import dagster as dg

from pmo_assets.defs.annotated import ANNOTATIONS
from pmo_assets.defs.partitions import register_partitions


def materialisations(instance: dg.DagsterInstance) -> int:
    return len(instance.fetch_materializations(dg.AssetKey(ANNOTATIONS), limit=5).records)


def test_batches_are_added_once() -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        register_partitions(instance, ["0001-aa"])
        register_partitions(instance, ["0001-aa", "0002-bb"])
        assert instance.get_dynamic_partitions("article_batch") == ["0001-aa", "0002-bb"]


def test_absent_annotations_are_no_missing_upstream() -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        register_partitions(instance, ["0001-aa"])
        register_partitions(instance, ["0002-bb"])
        assert materialisations(instance) == 1


def test_annotations_that_were_read_stay_what_is_known() -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        instance.report_runless_asset_event(dg.AssetMaterialization(ANNOTATIONS, metadata={"files": 3}))
        register_partitions(instance, ["0001-aa"])
        assert materialisations(instance) == 1
