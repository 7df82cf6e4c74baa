"""Partitions: an article batch is a dynamic partition whose key names a manifest (`storage.batches`)."""

from __future__ import annotations

import dagster as dg

ARTICLE_BATCHES = dg.DynamicPartitionsDefinition(name="article_batch")
"""One partition per batch, about 200 articles each: never one per article (see `docs/own_articles.md`, "Batches")."""
