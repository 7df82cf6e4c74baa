"""Group `dataset`: rows with the published columns, the release, and the pages that show it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import dagster as dg
import polars as pl

from pmo_assets.defs import checks
from pmo_assets.defs.annotated import published_annotations
from pmo_assets.defs.graph import batch_graph
from pmo_assets.defs.loading import group_assets
from pmo_assets.defs.made import Made
from pmo_assets.defs.page_links import page_link
from pmo_assets.defs.partitions import ALL_BATCHES
from pmo_assets.defs.previews import preview
from pmo_assets.defs.release_origin import EVEN_SO_TAG, release_origin
from pmo_assets.defs.release_previews import duplicates_sheet, release_sheet
from pmo_assets.defs.release_state import WITHDRAWN, withdrawn_digest
from pmo_assets.defs.run_leases import RELEASE, RunLeases
from pmo_assets.defs.stage_table import OWNERS, Stopwatch, column_schema, stage_table, table_schema
from pmo_assets.defs.staleness import check_made_with
from pmo_assets.defs.statistics import statistics_metadata, statistics_of
from pmo_assets.defs.versions import code_version, same_settings
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.dataset.splits import SplitOptions
from pmo_assets.records.stores import StorageError
from pmo_assets.release.gallery_pages import write_gallery
from pmo_assets.release.keys import CARD_KEY, GALLERY_KEY, HUB, RELEASE_KEY, REPORT_KEY, RETRACTIONS_KEY, SPLITS_KEY
from pmo_assets.release.making import make_release
from pmo_assets.release.panel_duplicates import find_panel_duplicates
from pmo_assets.release.reports import write_report
from pmo_assets.release.retractions import REMOVED, RETRACTED, write_retractions
from pmo_assets.release.selection import select_articles
from pmo_assets.release.statistics.counting import release_statistics
from pmo_assets.release.statistics.views import not_accounted_for
from pmo_assets.release.versions import check_size, version_facts
from pmo_assets.release.writing import ReleaseOptions
from pmo_assets.settings import Settings
from pmo_assets.storage.candidates import seconds_on_the_way
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import read_parquet
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.dataset import Retractions
from pmo_assets.tables.release import hub_table, joined_names

GROUP = "dataset"

RELEASE_POOL = "release"
"""Two runs that write a release at the same time would take each other's files away."""


def _accounted(made: Made) -> Mapping[str, int]:
    panels = made.tables["panels"]
    rejected = checks.rejected_rows(panels, made.rejections)
    return {"panels": panels.height, "rows": len(made.rows), "left_out": made.tally.total(), "rejected": rejected}


def _way_from_pmc(made: Made) -> Mapping[str, Any]:
    """Return how many seconds lie between the finding of articles at PMC and their rows.

    Nothing for articles from elsewhere, and when rows are made again: that is no way from PMC.
    """
    if made.context.resources.tables.exists("dataset_rows", made.context.partition_key):
        return {}
    articles = {row["article_id"] for row in made.rows}
    way = seconds_on_the_way(made.context.resources.data_root, articles, datetime.now(UTC)).sort("seconds")
    if way.is_empty():
        return {}
    slowest = [
        dg.TableRecord(
            {"article": name, "found": f"{found:%Y-%m-%d %H:%M:%S}", "seconds to its rows": round(seconds, 1)}
        )
        for name, found, seconds in way.select("name", "found_at", "seconds").tail(20).reverse().iter_rows()
    ]
    return {
        "seconds_from_found_to_row": round(float(way["seconds"].median() or 0), 1),  # type: ignore[arg-type]
        "seconds_from_found_to_row_at_most": round(float(way["seconds"].max() or 0), 1),  # type: ignore[arg-type]
        "way_from_pmc": dg.MetadataValue.table(slowest),
    }


def _summary(made: Made) -> Mapping[str, Any]:
    return {
        **_way_from_pmc(made),
        "panels": made.tables["panels"].height,
        "left_out": dg.MetadataValue.json(dict(made.tally.most_common())),
        "articles": len({row["article_id"] for row in made.rows}),
        "report": page_link(made.settings, REPORT_KEY),
    }


dataset_rows = stage_table(
    "dataset_rows",
    checks=[checks.unique_ids("panel_id"), checks.row_count(_accounted)],
    summary=_summary,
    resources=["tables"],
)


@dg.asset(
    name="retractions",
    group_name=GROUP,
    pool=RELEASE_POOL,
    # Not of `pmc_candidates`, which it reads: a search that fails keeps no release back.
    deps=[dg.AssetDep("dataset_rows", partition_mapping=ALL_BATCHES)],
    description=Retractions.__doc__,
    owners=OWNERS,
    kinds={"polars", "parquet"},
    tags={"pmo/work": "facts"},
    code_version=code_version(Retractions, select_articles, write_retractions),
    metadata={"dagster/column_schema": column_schema("retractions")},
)
def retractions(
    context: dg.AssetExecutionContext,
    tables: dg.ResourceParam[Tables],
    settings: dg.ResourceParam[Settings],
    run_leases: dg.ResourceParam[RunLeases],
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Note which articles are out of the dataset, and which rows of the present release go with them."""
    watch = Stopwatch()
    run_leases.begin(context, RELEASE)
    selection = select_articles(tables, settings.trusted_sources.split())
    table = write_retractions(tables, selection, datetime.now(UTC).date())
    latest = table.sort("noticed_on", "article_id", descending=True).head(50)
    return dg.MaterializeResult(
        metadata={
            "seconds": watch.seconds,
            "dagster/row_count": table.height,
            **{reason: table.filter(pl.col("reason") == reason).height for reason in (RETRACTED, REMOVED)},
            "panels": int(table["panels"].list.len().sum()),
            "path": dg.MetadataValue.path(tables.data_root.uri(RETRACTIONS_KEY)),
            "latest": dg.MetadataValue.table(
                [
                    dg.TableRecord(
                        {
                            "article": row["name"],
                            "reason": row["reason"],
                            "noticed": row["noticed_on"].isoformat(),
                            "panels": len(row["panels"]),
                            "why": row["why"] or "",
                        }
                    )
                    for row in latest.iter_rows(named=True)
                ],
                schema=dg.TableSchema(
                    columns=[dg.TableColumn(name) for name in ("article", "reason", "noticed", "panels", "why")]
                ),
            ),
        }
    )


def _release_options(settings: Settings) -> ReleaseOptions:
    return ReleaseOptions(
        noncommercial=settings.release_noncommercial, figure_pictures=settings.release_figure_pictures
    )


def _split_options(settings: Settings) -> SplitOptions:
    train = max(0.0, round(1 - settings.validation_share - settings.test_share, 12))  # 0.7, not 0.7000000000000001
    return SplitOptions((train, settings.validation_share, settings.test_share), settings.test_from_year)


def _check_rows(tables: Tables) -> None:
    if not tables.batches("dataset_rows"):
        raise StorageError(
            "no batch has dataset rows yet: materialise dataset_rows for at least one article batch first"
        )


@dg.asset(
    name="panel_duplicates",
    group_name=GROUP,
    deps=["retractions", dg.AssetDep("dataset_rows", partition_mapping=ALL_BATCHES)],
    description="Panels that look the same, over all batches, and the split (train, validation, test) of every "
    "article: articles that share a picture are in one split.",
    owners=OWNERS,
    kinds={"polars", "parquet"},
    tags={"pmo/work": "facts"},
    code_version=code_version(select_articles, find_panel_duplicates),
    check_specs=[
        dg.AssetCheckSpec(
            checks.SPLITS, asset="panel_duplicates", description="No picture is in several splits.", blocking=True
        ),
    ],
)
def panel_duplicates(
    context: dg.AssetExecutionContext,
    tables: dg.ResourceParam[Tables],
    settings: dg.ResourceParam[Settings],
    run_leases: dg.ResourceParam[RunLeases],
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Find panels that look the same, and split the articles."""
    watch = Stopwatch()
    same_settings(context)
    run_leases.begin(context, RELEASE)
    _check_rows(tables)
    check_made_with(tables, settings)
    selection = select_articles(tables, settings.trusted_sources.split())
    groups = find_panel_duplicates(tables, selection, _release_options(settings), _split_options(settings))
    facts = groups.facts
    return dg.MaterializeResult(
        metadata={
            "seconds": watch.seconds,
            "panels": groups.panels,
            "groups": facts.groups,
            "grouped_panels": facts.grouped_panels,
            "groups_across_articles": facts.groups_across_articles,
            "articles_moved": facts.moved,
            "preview": preview(
                context,
                "panels of the largest groups that look the same, a group in a row",
                lambda: duplicates_sheet(tables.data_root, selection, groups),
            ),
            "splits": dg.MetadataValue.table(
                [
                    dg.TableRecord({"split": split, "articles": facts.articles[split], "panels": facts.panels[split]})
                    for split in facts.articles
                ]
            ),
            "largest_groups": dg.MetadataValue.table(
                [
                    dg.TableRecord({"group": group, "panels": panels, "articles": articles})
                    for group, panels, articles in groups.largest(10)
                ],
                schema=dg.TableSchema(columns=[dg.TableColumn(name) for name in ("group", "panels", "articles")]),
            ),
        },
        check_results=[checks.splits_result(facts.groups_across_splits, facts.groups)],
    )


@dg.asset(
    name="pubmed_ophtha",
    group_name=GROUP,
    pool=RELEASE_POOL,
    deps=[
        "retractions",
        "panel_duplicates",
        "annotations",
        dg.AssetDep("dataset_rows", partition_mapping=ALL_BATCHES),
        dg.AssetDep("panels", partition_mapping=ALL_BATCHES),
        dg.AssetDep("figures", partition_mapping=ALL_BATCHES),
        dg.AssetDep("articles", partition_mapping=ALL_BATCHES),
        dg.AssetDep("article_packages", partition_mapping=ALL_BATCHES),
        *(dg.AssetDep(name, partition_mapping=ALL_BATCHES) for name in joined_names()),
    ],
    description="The release: one row per panel over all batches, each article once and in its newest version, "
    "licences applied; as the published file, as a folder for the Hugging Face Hub and as a gallery, with its version.",
    owners=OWNERS,
    kinds={"parquet", "huggingface"},
    tags={"pmo/work": "pixels"},
    code_version=code_version(select_articles, find_panel_duplicates, release_statistics, make_release, write_gallery),
    check_specs=[
        dg.AssetCheckSpec(
            checks.UNIQUE_IDS, asset="pubmed_ophtha", description="No panel id occurs twice.", blocking=True
        ),
        dg.AssetCheckSpec(checks.ROW_COUNT, asset="pubmed_ophtha", description="Every current row is in the release."),
    ],
    metadata={"dagster/column_schema": table_schema(hub_table("panels"))},
)
def pubmed_ophtha(
    context: dg.AssetExecutionContext,
    data_root: dg.ResourceParam[DataRoot],
    tables: dg.ResourceParam[Tables],
    settings: dg.ResourceParam[Settings],
    run_leases: dg.ResourceParam[RunLeases],
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Write both forms of the release and note its version."""
    watch = Stopwatch()
    same_settings(context)
    run_leases.begin(context, RELEASE)
    _check_rows(tables)
    check_made_with(tables, settings)
    withdrawn = withdrawn_digest(data_root)
    selection, options = select_articles(tables, settings.trusted_sources.split()), _release_options(settings)
    # Found anew rather than read from `panel_duplicates`: a batch may have been finished since.
    groups = find_panel_duplicates(tables, selection, options, _split_options(settings))
    splits = dict(groups.splits.select("article_id", "split").iter_rows())
    if context.run.tags.get(EVEN_SO_TAG) != "true":
        check_size(data_root, groups.panels)
    specialty = load_specialty(settings.specialty)
    release = make_release(
        data_root,
        tables,
        selection,
        groups=groups,
        specialty=specialty,
        options=options,
        origin=release_origin(settings),
        statistics=statistics_of(settings, tables, selection, splits),
        annotations=published_annotations(settings, data_root),
        say=context.log.info,
        gallery=lambda folder, version: write_gallery(
            data_root,
            tables,
            selection,
            options,
            splits,
            specialty=specialty,
            folder=folder,
            facts=version_facts(data_root, version),
        ),
        fence=lambda: run_leases.fence(RELEASE),
    )
    facts, manifest = release.facts, release.manifest
    return dg.MaterializeResult(
        metadata={
            "seconds": watch.seconds,
            "dagster/row_count": facts.panels,
            "version": manifest.version,
            "articles": facts.articles,
            "figures": facts.figures,
            "batches": len(manifest.batches),
            "withheld": facts.withheld,
            "duplicate_articles": facts.duplicate_articles,
            "new": sum(release.changes.new.values()),
            "changed": release.changes.changed_panels,
            "gone": sum(release.changes.gone.values()),
            "path": dg.MetadataValue.path(data_root.uri(RELEASE_KEY)),
            "hub": dg.MetadataValue.path(data_root.uri(HUB)),
            "card": page_link(settings, CARD_KEY),
            "preview": preview(
                context, "panels of the release with subcaption and licence", lambda: release_sheet(data_root)
            ),
            WITHDRAWN: withdrawn,
        },
        data_version=dg.DataVersion(manifest.digest[:16]),
        check_results=[
            checks.unique_ids_result(release.panel_ids),
            checks.row_count_result(facts.panels == release.expected, rows=facts.panels, expected=release.expected),
        ],
    )


@dg.asset(
    name="dataset_report",
    group_name=GROUP,
    pool=RELEASE_POOL,
    deps=["pubmed_ophtha", dg.AssetDep("rejections", partition_mapping=ALL_BATCHES)],
    description="The report: what was lost where, and numbers beside the paper's.",
    owners=OWNERS,
    kinds={"html"},
    tags={"pmo/work": "pixels"},
    code_version=code_version(select_articles, release_statistics, write_report),
    check_specs=[
        dg.AssetCheckSpec(checks.ACCOUNTED, asset="dataset_report", description=checks.ACCOUNTED_WORDS, blocking=True),
    ],
)
def dataset_report(
    context: dg.AssetExecutionContext,
    data_root: dg.ResourceParam[DataRoot],
    tables: dg.ResourceParam[Tables],
    settings: dg.ResourceParam[Settings],
    run_leases: dg.ResourceParam[RunLeases],
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Write the HTML report; the gallery came with the release."""
    watch = Stopwatch()
    same_settings(context)
    run_leases.begin(context, RELEASE)
    selection = select_articles(tables, settings.trusted_sources.split())
    specialty = load_specialty(settings.specialty)
    splits = {}
    if data_root.exists(SPLITS_KEY):
        splits = dict(read_parquet(data_root, SPLITS_KEY, ["article_id", "split"]).iter_rows())
    statistics = statistics_of(settings, tables, selection, splits)
    stages = batch_graph(group_assets()).stages
    report = write_report(
        data_root,
        tables,
        selection,
        statistics,
        stages=stages,
        specialty=specialty,
        noncommercial=settings.release_noncommercial,
    )
    return dg.MaterializeResult(
        metadata={
            "seconds": watch.seconds,
            "gallery": page_link(settings, GALLERY_KEY),
            "report": page_link(settings, report),
            "path": dg.MetadataValue.path(data_root.uri("release")),
            **statistics_metadata(statistics),
        },
        check_results=[checks.accounted_result(not_accounted_for(statistics))],
    )
