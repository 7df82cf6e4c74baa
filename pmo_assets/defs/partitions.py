"""Partitions: an article batch is a dynamic partition whose key names a manifest (`storage.batches`)."""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg

ARTICLE_BATCHES = dg.DynamicPartitionsDefinition(name="article_batch")
"""One partition per batch, about 200 articles each: never one per article (see `docs/own_articles.md`, "Batches")."""


def register_partitions(instance: dg.DagsterInstance, batches: Sequence[str]) -> None:
    """Make sure that every batch is a partition."""
    name = str(ARTICLE_BATCHES.name)
    missing = sorted(set(batches) - set(instance.get_dynamic_partitions(name)))
    if missing:
        instance.add_dynamic_partitions(name, missing)
