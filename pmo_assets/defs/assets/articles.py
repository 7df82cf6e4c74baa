"""Group `articles`: from a batch's manifest to the articles that go on and the figures their XML lists."""

from concurrent.futures import ThreadPoolExecutor

import dagster as dg
import polars as pl

from pmo_assets.defs import checks
from pmo_assets.defs.article_table import Stopwatch, batch_table, materialized
from pmo_assets.defs.io_manager import StageResult
from pmo_assets.defs.step_options import fetch_limits
from pmo_assets.pipeline.articles.fetching import fetch_package
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.articles.steps import read_article, read_package_figures
from pmo_assets.records.outcome import StepOutput
from pmo_assets.settings import Settings
from pmo_assets.sources.local import open_source
from pmo_assets.storage.objects import ContentStore
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.workers.pool import WorkerPool

GROUP = "articles"

FETCH_THREADS = 8
"""Packages fetched side by side: enough to hide a network's latency, few enough to be polite."""


def stage_result(outputs: list[StepOutput]) -> StageResult:
    """Return the outputs of all articles as one."""
    return StageResult(
        rows=[row for output in outputs for row in output.rows],
        rejections=[rejection for output in outputs for rejection in output.rejections],
    )


@batch_table("article_batch", group=GROUP, sources=["pipeline/articles/batches.py"])
def article_batch(
    context: dg.AssetExecutionContext, registry: dg.ResourceParam[BatchRegistry]
) -> dg.MaterializeResult[StageResult]:
    """Read the batch's manifest."""
    watch = Stopwatch()
    manifest = registry.manifest(context.partition_key)
    return materialized(
        StageResult(manifest.to_dicts()),
        watch,
        articles=manifest.height,
        megabytes=round(manifest["files"].explode(empty_as_null=False).struct.field("size").sum() / 2**20, 1),
        source=dg.MetadataValue.text(", ".join(manifest["source"].unique().sort())),
    )


@batch_table(
    "article_packages",
    group=GROUP,
    sources=[
        "pipeline/articles/fetching.py",
        "pipeline/articles/packages.py",
        "pipeline/articles/source_files.py",
        "resources/sources.py",
    ],
    checks=[checks.REJECTED_SHARE],
)
def article_packages(
    context: dg.AssetExecutionContext,
    article_batch: pl.DataFrame,
    objects: dg.ResourceParam[ContentStore],
    settings: dg.ResourceParam[Settings],
) -> dg.MaterializeResult[StageResult]:
    """Fetch the batch's packages from their source into the object store."""
    watch = Stopwatch()
    limits = fetch_limits(settings)
    sources = {uri: open_source(uri) for uri in article_batch["source"].unique()}
    with ThreadPoolExecutor(FETCH_THREADS) as pool:
        rows = article_batch.to_dicts()
        stage = stage_result(
            list(pool.map(lambda row: fetch_package(row, sources[row["source"]], objects, limits), rows))
        )
    share = checks.rejected_share(
        stage.rejections, article_batch.height, warn=settings.rejected_warn, fail=settings.rejected_fail
    )
    return materialized(stage, watch, checks=[share], articles=len(stage.rows))


@batch_table(
    "articles",
    group=GROUP,
    sources=["pipeline/articles", "pipeline/figures", "specialties"],
    checks=[checks.REJECTED_SHARE, checks.ROW_COUNT],
)
def articles(
    article_packages: pl.DataFrame,
    objects: dg.ResourceParam[ContentStore],
    settings: dg.ResourceParam[Settings],
    workers: dg.ResourceParam[WorkerPool],
) -> dg.MaterializeResult[StageResult]:
    """Read the JATS XML of every article and judge its relevance."""
    watch = Stopwatch()
    specialty = load_specialty(settings.specialty)
    tasks = [(row["article_id"], (row, objects, specialty)) for row in article_packages.to_dicts()]
    stage = stage_result(workers.map_articles("articles", read_article, tasks))
    found = pl.DataFrame(stage.rows, schema_overrides={"license_code": pl.String}, infer_schema_length=None)
    selected = {row["article_id"] for row in stage.rows if row["selected"]}
    lost = {item.article_id for item in stage.rejections} - {row["article_id"] for row in stage.rows}
    licences = found["license_code"].fill_null("none stated").value_counts(sort=True) if stage.rows else None
    return materialized(
        stage,
        watch,
        checks=[
            # An article whose XML is unreadable is recorded but goes on without it.
            checks.rejected_share(
                [item for item in stage.rejections if item.article_id not in selected],
                article_packages.height,
                warn=settings.rejected_warn,
                fail=settings.rejected_fail,
            ),
            checks.row_count(
                len(stage.rows) + len(lost) == article_packages.height,
                packages=article_packages.height,
                articles=len(stage.rows),
                lost=len(lost),
            ),
        ],
        relevant=sum(row["relevant"] for row in stage.rows),
        retracted=sum(row["is_retracted"] for row in stage.rows),
        selected=len(selected),
        specialty=specialty.name,
        licences=dg.MetadataValue.json(dict(licences.iter_rows()) if licences is not None else {}),
    )


@batch_table("package_figures", group=GROUP, sources=["pipeline/articles", "pipeline/figures/registration.py"])
def package_figures(
    articles: pl.DataFrame,
    article_packages: pl.DataFrame,
    objects: dg.ResourceParam[ContentStore],
    workers: dg.ResourceParam[WorkerPool],
) -> dg.MaterializeResult[StageResult]:
    """List the figures of the selected articles' XML with their package pictures."""
    watch = Stopwatch()
    files = dict(article_packages.select("article_id", "figure_files").iter_rows())
    selected = articles.filter(pl.col("selected") & pl.col("xml").is_not_null()).to_dicts()
    tasks = [(row["article_id"], (row, files[row["article_id"]], objects)) for row in selected]
    stage = stage_result(workers.map_articles("package_figures", read_package_figures, tasks))
    return materialized(
        stage,
        watch,
        articles=len(selected),
        figures=len(stage.rows),
        with_picture=sum(row["file"] is not None for row in stage.rows),
    )
