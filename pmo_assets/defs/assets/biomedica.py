"""Group `articles`, the part that is optional: labels that BIOMEDICA gives the figures (PMO_BIOMEDICA).

`biomedica_figures` comes before `articles`, whose relevance the labels concern; which figure of the article a row is
(`biomedica_matches`) is decided when the package's figures are known. Without the setting both tables are empty.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import dagster as dg
import polars as pl

from pmo_assets.defs.io_manager import StageResult
from pmo_assets.defs.made import Made
from pmo_assets.defs.run_leases import RunLeases
from pmo_assets.defs.stage_table import Stopwatch, batch_table, stage_table
from pmo_assets.pipeline.articles.stages import GROUP
from pmo_assets.records.biomedica import MalformedRow
from pmo_assets.records.rejections import Rejection
from pmo_assets.settings import Settings
from pmo_assets.sources.biomedica import open_biomedica
from pmo_assets.sources.biomedica_import import imported_figures
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.registry import BatchRegistry

POOL = "biomedica"
"""One batch at a time reads files of the dataset, for all registered articles; the next finds them read."""


def _registered(registry: BatchRegistry) -> set[int]:
    return {number for batch in registry.batches() for number in registry.manifest(batch)["article_id"]}


def _rejection(row: MalformedRow) -> Rejection:
    assert row.article_id is not None
    return Rejection("biomedica_figures", row.article_id, None, "MalformedRow", f"{row.row_id}: {row.message}")


@batch_table(
    "biomedica_figures",
    group=GROUP,
    makers=[open_biomedica, imported_figures],
    ins={"article_batch": dg.AssetIn()},
    pool=POOL,
)
def biomedica_figures(
    context: dg.AssetExecutionContext,
    article_batch: pl.DataFrame,
    settings: dg.ResourceParam[Settings],
    data_root: dg.ResourceParam[DataRoot],
    registry: dg.ResourceParam[BatchRegistry],
    run_leases: dg.ResourceParam[RunLeases],
) -> dg.MaterializeResult[StageResult]:
    """Take the batch's rows from what is imported; files that were not read for its articles are read first."""
    watch = Stopwatch()
    run_leases.begin(context)
    if settings.biomedica is None:
        return dg.MaterializeResult(value=StageResult([]), metadata={"seconds": watch.seconds, "figures": 0})
    articles = set(article_batch["article_id"])
    found = imported_figures(
        open_biomedica(settings.biomedica), data_root, articles, lambda: _registered(registry), context.log.info
    )
    metadata: dict[str, Any] = {
        "seconds": watch.seconds,
        "source": dg.MetadataValue.text(settings.biomedica),
        "figures": len(found.figures),
        "articles": len({row["article_id"] for row in found.figures}),
        "files": found.files,
        "files_read": found.read,
        "malformed_rows": len(found.malformed),
        "malformed_rows_without_article": found.lost,
    }
    if found.example:
        metadata["for_example"] = dg.MetadataValue.text(found.example)
    return dg.MaterializeResult(
        value=StageResult(found.figures, [_rejection(row) for row in found.malformed]), metadata=metadata
    )


def _match_summary(made: Made) -> Mapping[str, Any]:
    reasons = Counter(row["reason"] for row in made.rows if row["accepted"])
    return {
        "figures": len(made.rows),
        "matched": sum(row["accepted"] for row in made.rows),
        "in_doubt": sum(row["reason"].startswith("in doubt") for row in made.rows),
        "by_criteria": dg.MetadataValue.json(dict(reasons.most_common())),
    }


biomedica_matches = stage_table("biomedica_matches", summary=_match_summary)
