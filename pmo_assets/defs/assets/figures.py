"""Group `figures`: figures found in the PDF, matched to the package's."""

import dagster as dg
import polars as pl

from pmo_assets.defs import checks
from pmo_assets.defs.article_table import Stopwatch, batch_table, materialized
from pmo_assets.defs.assets.articles import stage_result
from pmo_assets.defs.io_manager import StageResult
from pmo_assets.defs.previews import figure_sheet
from pmo_assets.defs.step_options import figure_options
from pmo_assets.pipeline.figures.matched import matched_figures
from pmo_assets.pipeline.figures.registration import SAME_PICTURE
from pmo_assets.pipeline.figures.steps import locate_pdf_figures, match_article_figures
from pmo_assets.settings import Settings
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.objects import ContentStore
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.workers.pool import WorkerPool

GROUP = "figures"


def rows_by_article(table: pl.DataFrame) -> dict[int, list[dict[str, object]]]:
    """Return a table's rows by article, articles in order."""
    grouped: dict[int, list[dict[str, object]]] = {}
    for row in table.iter_rows(named=True):
        grouped.setdefault(row["article_id"], []).append(row)
    return grouped


@batch_table(
    "pdf_figures",
    group=GROUP,
    work="pixels",
    sources=["pipeline/figures"],
    kinds=["pdf"],
    checks=[checks.REJECTED_SHARE],
)
def pdf_figures(
    context: dg.AssetExecutionContext,
    articles: pl.DataFrame,
    package_figures: pl.DataFrame,
    data_root: dg.ResourceParam[DataRoot],
    objects: dg.ResourceParam[ContentStore],
    settings: dg.ResourceParam[Settings],
    workers: dg.ResourceParam[WorkerPool],
) -> dg.MaterializeResult[StageResult]:
    """Find every figure of the selected articles in its PDF and render it at native resolution."""
    watch = Stopwatch()
    pixels = ParquetPixels(data_root, "figures", context.partition_key)
    options = figure_options(settings)
    listed = rows_by_article(package_figures)
    selected = articles.filter("selected").to_dicts()
    tasks = [
        (row["article_id"], (row, listed.get(row["article_id"], []), objects, pixels, options)) for row in selected
    ]
    stage = stage_result(workers.map_articles("pdf_figures", locate_pdf_figures, tasks))
    share = checks.rejected_share(
        stage.rejections, len(selected), warn=settings.rejected_warn, fail=settings.rejected_fail
    )
    compared = [row["picture_correlation"] for row in stage.rows if row["picture_correlation"] is not None]
    return materialized(
        stage,
        watch,
        checks=[share],
        articles=len(selected),
        figures=len(stage.rows),
        listed_in_xml=package_figures.height,
        compared_with_package_picture=len(compared),
        agree_with_package_picture=sum(value >= SAME_PICTURE for value in compared),
        found_by_package_picture=sum(row["located_by"] == "package_image" for row in stage.rows),
        not_located=sum(item.error_class == "FigureNotLocated" for item in stage.rejections),
    )


@batch_table("figure_matches", group=GROUP, work="pixels", sources=["pipeline/figures"])
def figure_matches(
    context: dg.AssetExecutionContext,
    pdf_figures: pl.DataFrame,
    package_figures: pl.DataFrame,
    data_root: dg.ResourceParam[DataRoot],
    objects: dg.ResourceParam[ContentStore],
    workers: dg.ResourceParam[WorkerPool],
) -> dg.MaterializeResult[StageResult]:
    """Match PDF figures to package figures on four criteria."""
    watch = Stopwatch()
    pixels = ParquetPixels(data_root, "figures", context.partition_key)
    located, listed = rows_by_article(pdf_figures), rows_by_article(package_figures)
    both = [article_id for article_id in located if article_id in listed]
    tasks = [(key, (key, located[key], listed[key], objects, pixels)) for key in both]
    stage = stage_result(workers.map_articles("figure_matches", match_article_figures, tasks))
    return materialized(stage, watch, pairs=len(stage.rows), accepted=sum(row["accepted"] for row in stage.rows))


@batch_table("figures", group=GROUP, work="pixels", sources=["pipeline/figures"], checks=[checks.ROW_COUNT])
def figures(
    context: dg.AssetExecutionContext,
    pdf_figures: pl.DataFrame,
    figure_matches: pl.DataFrame,
    package_figures: pl.DataFrame,
    data_root: dg.ResourceParam[DataRoot],
) -> dg.MaterializeResult[StageResult]:
    """Join the figures of the PDF with the package figures they were matched to."""
    watch = Stopwatch()
    rows = matched_figures(pdf_figures.to_dicts(), figure_matches.to_dicts(), package_figures.to_dicts())
    return materialized(
        StageResult(rows),
        watch,
        checks=[checks.row_count(len(rows) == pdf_figures.height, located=pdf_figures.height, figures=len(rows))],
        matched=sum(row["matched"] for row in rows),
        multi_page=sum(row["is_multi_page"] for row in rows),
        preview=figure_sheet(rows, ParquetPixels(data_root, "figures", context.partition_key)),
    )
