"""Group `captions`: one subcaption per panel that a caption names."""

import dagster as dg
import polars as pl

from pmo_assets import checks
from pmo_assets.assets.articles import stage_result
from pmo_assets.assets.declaration import Stopwatch, batch_table, materialized
from pmo_assets.assets.figures import rows_by_article
from pmo_assets.assets.previews import caption_preview
from pmo_assets.pipeline.article_steps import split_article_captions
from pmo_assets.resources.storage import StageResult
from pmo_assets.resources.workers import WorkerPool

GROUP = "captions"


@batch_table("subcaptions", group=GROUP, sources=["pipeline/captions"], checks=[checks.ROW_COUNT])
def subcaptions(figures: pl.DataFrame, workers: dg.ResourceParam[WorkerPool]) -> dg.MaterializeResult[StageResult]:
    """Split every caption into subcaptions."""
    watch = Stopwatch()
    tasks = [(key, (rows,)) for key, rows in rows_by_article(figures).items()]
    stage = stage_result(workers.map_articles("subcaptions", split_article_captions, tasks))
    split = {(row["article_id"], row["image_cluster_id"]) for row in stage.rows}
    failed = checks.rejected_rows(figures, stage.rejections)
    named = [row for row in stage.rows if row["identifier"] is not None]
    confidences = [row["confidence"] for row in stage.rows if row["ordinal"] == 0]
    return materialized(
        stage,
        watch,
        checks=[
            checks.row_count(
                len(split) + failed == figures.height, figures=figures.height, split=len(split), failed=failed
            )
        ],
        captions=len(split),
        multi_panel=len({(row["article_id"], row["image_cluster_id"]) for row in named}),
        mean_confidence=round(sum(confidences) / len(confidences), 3) if confidences else 0.0,
        preview=caption_preview(figures, stage.rows),
    )
