"""Registering: new and changed candidates become article batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from pmo_assets.records.packages import REGISTRATION_STAGE
from pmo_assets.records.rejections import Rejection
from pmo_assets.storage.candidates import Candidates, candidates_of, waiting
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.tables import Tables


def chosen_rows(candidates: Candidates, registered: Mapping[tuple[int, int], str], limit: int) -> pl.DataFrame:
    """Return the rows that are registered now: all that a batch holds in another state, of the others the newest.

    Args:
        candidates: state of the candidates.
        registered: digest by (article number, version).
        limit: number of articles that no batch holds.
    """
    rows = waiting(candidates, registered)
    fresh = rows.filter(~pl.col("held")).sort("article_id", descending=True).head(limit)
    return pl.concat([rows.filter("held"), fresh]).drop("held", "registered_digest").sort("article_id")


def register_candidates(
    registry: BatchRegistry, candidates: Candidates, source: str, *, size: int, limit: int
) -> list[tuple[str, int]]:
    """Make batches of the candidates that no batch holds as they are now; return (key, number of articles) of each.

    Batches appear one by one, whole. Whoever is killed and begins again registers what is not registered yet.

    Args:
        registry: the batches there are.
        candidates: state of PMC's candidates.
        source: the URI of PMC's bucket.
        size: articles per batch.
        limit: articles that are registered for the first time.
    """
    Tables(registry.data_root).write_registration_rejections(source, rejections(candidates))
    rows = chosen_rows(candidates, registry.registered(source), limit)
    listings = [item.listing for item in candidates_of(rows) if item.listing is not None]
    return registry.add_listings(source, listings, size) if listings else []


def rejections(candidates: Candidates) -> Sequence[Rejection]:
    """Return the problems of candidates: of `unusable` ones, and of those that are used as they were before."""
    table = candidates.table.filter(pl.col("problem").is_not_null() & pl.col("state").is_in(["unusable", "available"]))
    return [
        Rejection(REGISTRATION_STAGE, article_id, None, "UnreadableMetadata", f"PMC{article_id}: {problem}")
        for article_id, problem in table.select("article_id", "problem").iter_rows()
    ]
