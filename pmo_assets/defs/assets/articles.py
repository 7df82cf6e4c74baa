"""Group `articles`: from a batch's manifest to the articles that go on and the figures their XML lists."""

from collections.abc import Mapping
from typing import Any

import dagster as dg
import polars as pl

from pmo_assets.defs import checks
from pmo_assets.defs.io_manager import StageResult
from pmo_assets.defs.made import Made
from pmo_assets.defs.previews import package_sheet, preview
from pmo_assets.defs.run_leases import RunLeases
from pmo_assets.defs.stage_table import Stopwatch, batch_table, stage_table
from pmo_assets.pipeline.articles.stages import GROUP
from pmo_assets.records.rejections import Rejection
from pmo_assets.storage.batches import manifest_rows
from pmo_assets.storage.registry import BatchRegistry

PMC_POOL = "pmc"
"""Concurrency pool of steps that talk to PMC: one at a time over all runs, each with PMO_PMC_CONCURRENCY requests."""


@batch_table("article_batch", group=GROUP, makers=[manifest_rows])
def article_batch(
    context: dg.AssetExecutionContext,
    registry: dg.ResourceParam[BatchRegistry],
    run_leases: dg.ResourceParam[RunLeases],
) -> dg.MaterializeResult[StageResult]:
    """Read the batch's manifest."""
    watch = Stopwatch()
    run_leases.begin(context)
    manifest = registry.manifest(context.partition_key)
    size = manifest["files"].explode(empty_as_null=False).struct.field("size").sum()
    return dg.MaterializeResult(
        value=StageResult(manifest.to_dicts()),
        metadata={
            "seconds": watch.seconds,
            "articles": manifest.height,
            "megabytes": round(float(size) / 2**20, 1),
            "source": dg.MetadataValue.text(", ".join(manifest["source"].unique().sort())),
        },
    )


article_packages = stage_table(
    "article_packages",
    threads="pmc_concurrency",
    pool=PMC_POOL,
    checks=[checks.rejected_share()],
    summary=lambda made: {"articles": len(made.rows)},
)


def _selected(made: Made) -> set[int]:
    return {row["article_id"] for row in made.rows if row["selected"]}


def _not_going_on(made: Made) -> list[Rejection]:
    """Return the rejections that count: an article whose XML is unreadable is recorded but goes on without it."""
    selected = _selected(made)
    return [item for item in made.rejections if item.unit_id not in selected]


def _accounted(made: Made) -> Mapping[str, int]:
    lost = {item.unit_id for item in made.rejections} - {row["article_id"] for row in made.rows}
    return {"packages": made.units, "articles": len(made.rows), "lost": len(lost)}


def _article_summary(made: Made) -> Mapping[str, Any]:
    licences = pl.Series([row["license_code"] or "none stated" for row in made.rows], dtype=pl.String)
    return {
        "articles": len(made.rows),
        "relevant": sum(row["relevant"] for row in made.rows),
        "retracted": sum(row["is_retracted"] for row in made.rows),
        "selected": len(_selected(made)),
        "specialty": made.input("specialty").name,
        "licences": dg.MetadataValue.json(dict(licences.value_counts(sort=True).iter_rows())),
    }


articles = stage_table(
    "articles",
    checks=[checks.rejected_share(_not_going_on), checks.row_count(_accounted)],
    summary=_article_summary,
)

package_figures = stage_table(
    "package_figures",
    pixels=True,
    summary=lambda made: {
        "figures": len(made.rows),
        "with_picture": sum(row["file"] is not None for row in made.rows),
        "preview": preview(
            made.context, "pictures of the packages", lambda: package_sheet(made.rows, made.input("objects"))
        ),
    },
)
