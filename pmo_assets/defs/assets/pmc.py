"""Group `pmc`: the inventory of PubMed Central, the articles of it that a specialty follows, and their batches.

Without PMO_ENTREZ_EMAIL nothing is asked and nothing changes: what there is counts as made and says why, so that a
graph that is fed from folders stays green and never needs the network. (Steps that are skipped would not do: a backfill
counts what it did not see made as failed.)
"""

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
import polars as pl

from pmo_assets.defs.assets.articles import PMC_POOL
from pmo_assets.defs.partitions import register_partitions
from pmo_assets.defs.stage_table import OWNERS, Stopwatch, column_schema
from pmo_assets.defs.versions import code_version
from pmo_assets.pipeline.articles.relevance import entrez_query
from pmo_assets.records.candidates import CandidateState, Event
from pmo_assets.refresh.finding import Found, find
from pmo_assets.refresh.inventory import renew_inventory
from pmo_assets.refresh.lock import sole_refresh
from pmo_assets.refresh.registering import register_candidates
from pmo_assets.refresh.searching import NO_EMAIL, pmc_options, search_pmc
from pmo_assets.settings import Settings
from pmo_assets.sources.entrez import pmc_query
from pmo_assets.sources.pmc_bucket import PmcBucket
from pmo_assets.sources.pmc_cloud import PmcCloud
from pmo_assets.storage.candidates import (
    CANDIDATES_KEY,
    Candidates,
    read_candidates,
    waiting,
    without_pdf,
    write_candidates,
)
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.objects import ContentStore
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.tables.pmc import PmcCandidates, PmcInventory
from pmo_assets.workers.pool import Progress

GROUP = "pmc"

NOT_ASKED = "not_asked"
"""Key of the metadata of assets made without asking PMC: the reason."""


def _unchanged(context: dg.AssetExecutionContext, settings: Settings) -> dg.MaterializeResult | None:  # type: ignore[type-arg]
    """Return the result that says why nothing is asked, if that is so."""
    if settings.entrez_email is not None:
        return None
    context.log.warning(f"PMC is not asked: {NO_EMAIL}")
    return dg.MaterializeResult(metadata={NOT_ASKED: NO_EMAIL})


@dg.asset(
    name="pmc_inventory",
    group_name=GROUP,
    description=PmcInventory.__doc__,
    owners=OWNERS,
    kinds={"s3", "parquet"},
    tags={"pmo/work": "facts"},
    code_version=code_version(PmcInventory, renew_inventory),
    metadata={"dagster/column_schema": column_schema("pmc_inventory")},
    pool=PMC_POOL,
)
def pmc_inventory(
    context: dg.AssetExecutionContext, settings: dg.ResourceParam[Settings], data_root: dg.ResourceParam[DataRoot]
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Fetch the bucket's newest daily inventory, and count what changed of the followed articles."""
    if (unchanged := _unchanged(context, settings)) is not None:
        return unchanged
    watch = Stopwatch()
    with sole_refresh(data_root):
        renewal = renew_inventory(data_root, PmcBucket(pmc_options(settings)), read_candidates(data_root).numbers())
    for note in renewal.notes:
        context.log.warning(note)
    metadata: dict[str, Any] = {"seconds": watch.seconds, "inventory": renewal.stamp or "none"}
    if renewal.rows is not None:
        metadata |= {"dagster/row_count": renewal.rows}
    metadata |= {f"followed_{name}": renewal.changes.get(name, 0) for name in ("new", "changed", "removed")}
    return dg.MaterializeResult(metadata=metadata | _notes(renewal.notes))


def _notes(notes: Sequence[str]) -> dict[str, Any]:
    return {"notes": dg.MetadataValue.md("\n".join(f"* {note}" for note in notes))} if notes else {}


def _state_counts(candidates: Candidates) -> dict[str, int]:
    counts = dict(candidates.table["state"].cast(pl.String).value_counts().iter_rows())
    return {f"now_{state.value}": int(counts.get(state.value, 0)) for state in CandidateState}


def _happened(found: Found) -> dict[str, Any]:
    """Return the last things that happened, as a table."""
    recent = found.candidates.table.filter(pl.col("event").is_not_null()).sort(
        "event_at", "article_id", descending=True
    )
    rows = [
        dg.TableRecord(
            {
                "article": row["name"] or f"PMC{row['article_id']}",
                "event": row["event"],
                "noticed": f"{row['event_at']:%Y-%m-%d %H:%M}",
                "title": (row["title"] or "")[:120],
            }
        )
        for row in recent.head(50).iter_rows(named=True)
    ]
    return {"latest_events": dg.MetadataValue.table(rows)} if rows else {}


def found_metadata(found: Found, registered: Mapping[tuple[int, int], str]) -> dict[str, Any]:
    """Return the counts and notes of a search as metadata, which the UI shows and plots over time."""
    return {
        "dagster/row_count": found.candidates.table.height,
        "searched_since": found.since.isoformat() if found.since is not None else "the beginning",
        "search_returned": found.searched,
        "found": found.added,
        **{event.value: int(found.events.get(event.value, 0)) for event in Event},
        "looked_at": len(found.looked_at),
        "waiting_to_be_registered": waiting(found.candidates, registered).height,
        **_state_counts(found.candidates),
        "now_without_pdf": without_pdf(found.candidates),
        **_happened(found),
        "query": found.candidates.query,
        **_notes(found.notes),
    }


@dg.asset(
    name="pmc_candidates",
    group_name=GROUP,
    deps=["pmc_inventory"],
    description=PmcCandidates.__doc__,
    owners=OWNERS,
    kinds={"polars", "parquet"},
    tags={"pmo/work": "facts"},
    code_version=code_version(PmcCandidates, entrez_query, pmc_query, find),
    metadata={"dagster/column_schema": column_schema("pmc_candidates")},
    pool=PMC_POOL,
)
def pmc_candidates(
    context: dg.AssetExecutionContext,
    settings: dg.ResourceParam[Settings],
    data_root: dg.ResourceParam[DataRoot],
    registry: dg.ResourceParam[BatchRegistry],
    objects: dg.ResourceParam[ContentStore],
    search_progress: dg.ResourceParam[Progress],
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Search PMC for the specialty's articles, and look at what is new, changed, retracted or removed."""
    if (unchanged := _unchanged(context, settings)) is not None:
        return unchanged
    watch = Stopwatch()
    with sole_refresh(data_root):
        registered = registry.registered(PmcCloud.uri_of(settings.pmc_bucket))
        before = read_candidates(data_root)
        found = search_pmc(settings, data_root, before, registered, objects, search_progress)
        write_candidates(data_root, found.candidates)
    for note in found.notes:
        context.log.warning(note)
    return dg.MaterializeResult(
        metadata={
            "seconds": watch.seconds,
            **found_metadata(found, registered),
            "path": dg.MetadataValue.path(data_root.uri(CANDIDATES_KEY)),
        }
    )


@dg.asset(
    name="pmc_batches",
    group_name=GROUP,
    deps=["pmc_candidates"],
    description="Batches of the candidates that are new or have changed: each becomes a partition.",
    owners=OWNERS,
    kinds={"parquet"},
    tags={"pmo/work": "facts"},
    code_version=code_version(register_candidates),
)
def pmc_batches(
    context: dg.AssetExecutionContext,
    settings: dg.ResourceParam[Settings],
    data_root: dg.ResourceParam[DataRoot],
    registry: dg.ResourceParam[BatchRegistry],
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Register candidates as batches, as many as a refresh may take in."""
    if (unchanged := _unchanged(context, settings)) is not None:
        return unchanged
    watch = Stopwatch()
    with sole_refresh(data_root):
        added = register_candidates(
            registry,
            read_candidates(data_root),
            PmcCloud.uri_of(settings.pmc_bucket),
            size=settings.batch_size,
            limit=settings.refresh_max_articles,
        )
    register_partitions(context.instance, registry.batches())
    metadata: dict[str, Any] = {
        "seconds": watch.seconds,
        "batches": len(added),
        "articles": sum(count for _, count in added),
    }
    if added:
        metadata["added"] = dg.MetadataValue.table(
            [dg.TableRecord({"batch": key, "articles": count}) for key, count in added]
        )
    return dg.MaterializeResult(metadata=metadata)
