"""Group `detections`: panels, identifiers and images of each figure."""

import dagster as dg
import polars as pl

from pmo_assets.defs import checks
from pmo_assets.defs.article_table import Stopwatch, batch_table, materialized
from pmo_assets.defs.assets.articles import stage_result
from pmo_assets.defs.assets.figures import rows_by_article
from pmo_assets.defs.io_manager import StageResult
from pmo_assets.defs.previews import detection_sheet
from pmo_assets.defs.step_options import detection_options
from pmo_assets.pipeline.article import rows_by_figure
from pmo_assets.pipeline.detection.steps import detect_article_images, detect_article_panels
from pmo_assets.settings import Settings
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.workers.pool import WorkerPool

GROUP = "detections"
GPU_POOL = "gpu"
"""Detection may use an accelerator; the pool's limit (`dagster.yaml`) says how many steps may at once."""

_SOURCES = ["pipeline/detection", "pipeline/captions", "weights"]


@batch_table(
    "panel_detections", group=GROUP, work="pixels", sources=_SOURCES, checks=[checks.BOXES_INSIDE], pool=GPU_POOL
)
def panel_detections(
    context: dg.AssetExecutionContext,
    figures: pl.DataFrame,
    data_root: dg.ResourceParam[DataRoot],
    settings: dg.ResourceParam[Settings],
    detector_workers: dg.ResourceParam[WorkerPool],
) -> dg.MaterializeResult[StageResult]:
    """Find panels and panel identifiers."""
    watch = Stopwatch()
    pixels, options = ParquetPixels(data_root, "figures", context.partition_key), detection_options(settings)
    tasks = [(key, (key, rows, pixels, options)) for key, rows in rows_by_article(figures).items()]
    stage = stage_result(
        detector_workers.map_articles("panel_detections", detect_article_panels, tasks, options.load_for_panels)
    )
    kinds = [row["kind"] for row in stage.rows]
    return materialized(
        stage,
        watch,
        checks=[checks.boxes_inside(row["box"] for row in stage.rows)],
        figures=figures.height,
        panels=kinds.count("panel"),
        identifiers=kinds.count("identifier"),
    )


@batch_table(
    "image_detections",
    group=GROUP,
    work="pixels",
    sources=[*_SOURCES, "pipeline/assembly"],
    checks=[checks.BOXES_INSIDE],
    pool=GPU_POOL,
)
def image_detections(
    context: dg.AssetExecutionContext,
    figures: pl.DataFrame,
    panel_detections: pl.DataFrame,
    subcaptions: pl.DataFrame,
    data_root: dg.ResourceParam[DataRoot],
    settings: dg.ResourceParam[Settings],
    detector_workers: dg.ResourceParam[WorkerPool],
) -> dg.MaterializeResult[StageResult]:
    """Find images, their imaging type and whether they are marked."""
    watch = Stopwatch()
    pixels, options = ParquetPixels(data_root, "figures", context.partition_key), detection_options(settings)
    panels, captions = rows_by_article(panel_detections), rows_by_article(subcaptions)
    tasks = [
        (
            key,
            (
                key,
                rows,
                rows_by_figure(panels.get(key, [])),
                rows_by_figure(captions.get(key, [])),
                pixels,
                options,
            ),
        )
        for key, rows in rows_by_article(figures).items()
    ]
    stage = stage_result(
        detector_workers.map_articles("image_detections", detect_article_images, tasks, options.load_for_images)
    )
    types = [row["image_type"] or "undecided" for row in stage.rows]
    return materialized(
        stage,
        watch,
        checks=[checks.boxes_inside(row["box"] for row in stage.rows)],
        images=len(types),
        types=dg.MetadataValue.json({kind: types.count(kind) for kind in sorted(set(types))}),
        marked=sum(row["marked"] is True for row in stage.rows),
        preview=detection_sheet(figures, panel_detections.to_dicts(), stage.rows, pixels),
    )
