"""Group `panels`: what belongs to which panel, and the panels' pictures."""

from collections import Counter

import dagster as dg
import polars as pl

from pmo_assets.defs import checks
from pmo_assets.defs.article_table import Stopwatch, batch_table, materialized
from pmo_assets.defs.assets.articles import stage_result
from pmo_assets.defs.assets.figures import rows_by_article
from pmo_assets.defs.io_manager import StageResult
from pmo_assets.defs.previews import panel_sheet
from pmo_assets.pipeline.article import rows_by_figure
from pmo_assets.pipeline.assembly.steps import assemble_article, crop_article_panels
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.workers.pool import WorkerPool

GROUP = "panels"


@batch_table("panel_assembly", group=GROUP, sources=["pipeline/assembly"], checks=[checks.BOXES_INSIDE])
def panel_assembly(
    figures: pl.DataFrame,
    panel_detections: pl.DataFrame,
    image_detections: pl.DataFrame,
    subcaptions: pl.DataFrame,
    workers: dg.ResourceParam[WorkerPool],
) -> dg.MaterializeResult[StageResult]:
    """Put images, identifiers and subcaptions on their panels."""
    watch = Stopwatch()
    panels, images, captions = map(rows_by_article, (panel_detections, image_detections, subcaptions))
    tasks = [
        (key, (rows, *(rows_by_figure(part.get(key, [])) for part in (panels, images, captions))))
        for key, rows in rows_by_article(figures).items()
    ]
    stage = stage_result(workers.map_articles("panel_assembly", assemble_article, tasks))
    methods = Counter(row["method"] or "none" for row in stage.rows)
    reasons = Counter(row["reason"] for row in stage.rows if row["method"] is None)
    return materialized(
        stage,
        watch,
        checks=[checks.boxes_inside(row["content_box"] for row in stage.rows)],
        panels=len(stage.rows),
        with_subcaption=sum(row["subcaption"] is not None for row in stage.rows),
        methods=dg.MetadataValue.json(dict(methods.most_common())),
        undecided=dg.MetadataValue.json(dict(reasons.most_common(10))),
    )


@batch_table(
    "panels",
    group=GROUP,
    work="pixels",
    sources=["pipeline/assembly", "pipeline/figures/rendering.py", "pipeline/dataset/rows.py"],
    checks=[checks.UNIQUE_IDS, checks.ROW_COUNT],
)
def panels(
    context: dg.AssetExecutionContext,
    panel_assembly: pl.DataFrame,
    figures: pl.DataFrame,
    data_root: dg.ResourceParam[DataRoot],
    workers: dg.ResourceParam[WorkerPool],
) -> dg.MaterializeResult[StageResult]:
    """Cut the panels out of their figures."""
    watch = Stopwatch()
    figure_pixels = ParquetPixels(data_root, "figures", context.partition_key)
    panel_pixels = ParquetPixels(data_root, "panels", context.partition_key)
    assembled = rows_by_article(panel_assembly)
    tasks = [
        (key, (key, rows, rows_by_figure(assembled.get(key, [])), figure_pixels, panel_pixels))
        for key, rows in rows_by_article(figures).items()
    ]
    stage = stage_result(workers.map_articles("panels", crop_article_panels, tasks))
    rejected = checks.rejected_rows(panel_assembly, stage.rejections)
    return materialized(
        stage,
        watch,
        checks=[
            checks.unique_ids(pl.Series([row["panel_id"] for row in stage.rows], dtype=pl.String)),
            checks.row_count(
                len(stage.rows) + rejected == panel_assembly.height,
                assembled=panel_assembly.height,
                cut=len(stage.rows),
                rejected=rejected,
            ),
        ],
        panels=len(stage.rows),
        megapixels=round(sum(row["width"] * row["height"] for row in stage.rows) / 1e6, 1),
        preview=panel_sheet(stage.rows, panel_pixels),
    )
