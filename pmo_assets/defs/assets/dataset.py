"""Group `dataset`: rows with the published columns, the release, and the pages that show it."""

from collections import Counter
from typing import Any

import dagster as dg
import polars as pl

from pmo_assets.defs import checks
from pmo_assets.defs.article_table import OWNERS, Stopwatch, batch_table, column_schema, materialized
from pmo_assets.defs.io_manager import StageResult
from pmo_assets.defs.versions import source_version
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.dataset.rows import dataset_rows as rows_and_left_out
from pmo_assets.records.stores import StorageError
from pmo_assets.release.losses import batch_losses
from pmo_assets.release.releases import Release, select_articles, write_release
from pmo_assets.release.reports import REPORT_KEY, write_gallery, write_report
from pmo_assets.settings import Settings
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables

GROUP = "dataset"

STAGES = (
    "article_batch",
    "article_packages",
    "articles",
    "package_figures",
    "pdf_figures",
    "figure_matches",
    "figures",
    "panel_detections",
    "subcaptions",
    "image_detections",
    "panel_assembly",
    "panels",
    "dataset_rows",
)
"""The assets of a batch in the order of the data's way."""

ALL_BATCHES = dg.AllPartitionMapping()


@batch_table(
    "dataset_rows",
    group=GROUP,
    sources=[
        "pipeline/dataset",
        "pipeline/articles/licences.py",
        "pipeline/articles/credit.py",
        "pipeline/articles/dois.py",
        "specialties",
    ],
    checks=[checks.UNIQUE_IDS, checks.ROW_COUNT],
)
def dataset_rows(
    panels: pl.DataFrame,
    figures: pl.DataFrame,
    articles: pl.DataFrame,
    settings: dg.ResourceParam[Settings],
    data_root: dg.ResourceParam[DataRoot],
) -> dg.MaterializeResult[StageResult]:
    """Build the dataset's rows: panels with a subcaption and an image of a wanted type."""
    watch = Stopwatch()
    rows, left_out = rows_and_left_out(
        panels.to_dicts(),
        {(row["article_id"], row["image_cluster_id"]): row for row in figures.iter_rows(named=True)},
        {row["article_id"]: row for row in articles.iter_rows(named=True)},
        image_types=load_specialty(settings.specialty).image_types,
        min_caption_confidence=settings.min_caption_confidence,
    )
    reasons = Counter(item.reason for item in left_out)
    return materialized(
        StageResult(rows),
        watch,
        checks=[
            checks.unique_ids(pl.Series([row["panel_id"] for row in rows], dtype=pl.String)),
            checks.row_count(
                len(rows) + len(left_out) == panels.height, panels=panels.height, rows=len(rows), left_out=len(left_out)
            ),
        ],
        panels=panels.height,
        left_out=dg.MetadataValue.json(dict(reasons.most_common())),
        articles=len({row["article_id"] for row in rows}),
        report=dg.MetadataValue.path(data_root.uri(REPORT_KEY)),
    )


@batch_table(
    "rejections",
    group="quality",
    sources=["pipeline/rejections.py", "losses.py"],
    deps=["dataset_rows"],
    checks=[checks.SURVIVORS],
)
def rejections(
    context: dg.AssetExecutionContext, tables: dg.ResourceParam[Tables], settings: dg.ResourceParam[Settings]
) -> dg.MaterializeResult[StageResult]:
    """Collect what every step of the batch could not process."""
    watch = Stopwatch()
    collected = tables.read_rejections(STAGES, context.partition_key)
    by_class = Counter(collected["error_class"].to_list())
    shown = collected.head(25)
    records = [
        dg.TableRecord(
            {
                "stage": row["stage"],
                "article": str(row["article_id"]),
                "figure": row["image_cluster_id"] or "",
                "error": row["error_class"],
                "message": row["message"][:200],
            }
        )
        for row in shown.iter_rows(named=True)
    ]
    metadata: dict[str, Any] = {
        "by_error": dg.MetadataValue.json(dict(by_class.most_common())),
        "report": dg.MetadataValue.path(tables.data_root.uri(REPORT_KEY)),
    }
    if records:
        metadata["first"] = dg.MetadataValue.table(records)
    losses = batch_losses(tables, context.partition_key)
    return materialized(
        StageResult(collected.to_dicts()),
        watch,
        checks=[checks.survivors(losses, fail=settings.rejected_fail)],
        **metadata,
    )


def _release_metadata(data_root: DataRoot, release: Release) -> dict[str, Any]:
    return {
        "dagster/row_count": release.rows,
        "articles": release.articles,
        "batches": release.batches,
        "without_pixels": release.withheld,
        "duplicates_left_out": release.duplicates,
        "duplicates": dg.MetadataValue.path(data_root.uri(release.duplicates_key)),
        "path": dg.MetadataValue.path(data_root.uri(release.key)),
        "card": dg.MetadataValue.path(data_root.uri(release.card_key)),
    }


@dg.asset(
    name="pubmed_ophtha",
    group_name=GROUP,
    deps=[
        dg.AssetDep("dataset_rows", partition_mapping=ALL_BATCHES),
        dg.AssetDep("panels", partition_mapping=ALL_BATCHES),
        dg.AssetDep("articles", partition_mapping=ALL_BATCHES),
        dg.AssetDep("article_packages", partition_mapping=ALL_BATCHES),
    ],
    description="The release: one row per panel over all batches, each article once and in its newest version, "
    "licences applied.",
    owners=OWNERS,
    kinds={"parquet", "huggingface"},
    tags={"pmo/work": "pixels"},
    code_version=source_version(
        "pipeline/dataset",
        "pipeline/articles/licences.py",
        "pipeline/articles/credit.py",
        "pipeline/articles/dois.py",
        "releases.py",
    ),
    check_specs=[
        dg.AssetCheckSpec(
            checks.UNIQUE_IDS, asset="pubmed_ophtha", description="No panel id occurs twice.", blocking=True
        ),
        dg.AssetCheckSpec(checks.ROW_COUNT, asset="pubmed_ophtha", description="Every current row is in the release."),
    ],
    metadata={"dagster/column_schema": column_schema("pubmed_ophtha")},
)
def pubmed_ophtha(
    context: dg.AssetExecutionContext,
    data_root: dg.ResourceParam[DataRoot],
    tables: dg.ResourceParam[Tables],
    settings: dg.ResourceParam[Settings],
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Write `pubmed_ophtha.parquet` and the dataset card."""
    watch = Stopwatch()
    if not tables.batches("dataset_rows"):
        raise StorageError(
            "no batch has dataset rows yet: materialise dataset_rows for at least one article batch first"
        )
    release = write_release(
        data_root, tables, select_articles(tables), specialty=load_specialty(settings.specialty), say=context.log.info
    )
    return dg.MaterializeResult(
        metadata={"seconds": watch.seconds, **_release_metadata(data_root, release)},
        data_version=dg.DataVersion(release.digest),
        check_results=[
            checks.unique_ids(release.panel_ids),
            checks.row_count(release.rows == release.expected, rows=release.rows, expected=release.expected),
        ],
    )


@dg.asset(
    name="dataset_report",
    group_name=GROUP,
    deps=["pubmed_ophtha", dg.AssetDep("rejections", partition_mapping=ALL_BATCHES)],
    description="Gallery and report of the release, as self-contained HTML pages.",
    owners=OWNERS,
    kinds={"html"},
    tags={"pmo/work": "pixels"},
    code_version=source_version("viewing", "pipeline/dataset", "reports.py", "releases.py"),
)
def dataset_report(
    data_root: dg.ResourceParam[DataRoot], tables: dg.ResourceParam[Tables], settings: dg.ResourceParam[Settings]
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Write the HTML gallery and the HTML report."""
    watch = Stopwatch()
    selection = select_articles(tables)
    specialty = load_specialty(settings.specialty)
    gallery = write_gallery(
        data_root, tables, selection.current, specialty=specialty, max_panels=settings.gallery_panels
    )
    report = write_report(data_root, tables, selection, stages=STAGES, specialty=specialty)
    return dg.MaterializeResult(
        metadata={
            "seconds": watch.seconds,
            "gallery": dg.MetadataValue.path(data_root.uri(gallery)),
            "report": dg.MetadataValue.path(data_root.uri(report)),
        }
    )


BATCH_ASSETS = [*STAGES, "rejections"]
"""Everything that is made for a batch."""
