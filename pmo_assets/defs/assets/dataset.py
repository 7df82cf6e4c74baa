"""Group `dataset`: rows with the published columns, the release, and the pages that show it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import dagster as dg
import polars as pl

from pmo_assets.defs import checks
from pmo_assets.defs.annotated import published_annotations
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
from pmo_assets.defs.statistics import (
    selection_of,
    split_options_of,
    statistics_metadata,
    statistics_of,
    summary_of,
)
from pmo_assets.defs.versions import code_version, same_settings
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.quality.annotation_quality import release_audits
from pmo_assets.records.stores import StorageError
from pmo_assets.records.videos import VIDEO_CUES, VIDEO_INSTRUCTIONS, VIDEO_PAIRS
from pmo_assets.release.computed_once import groups_once, selection_once
from pmo_assets.release.deidentification import identifying_parts, load_masker
from pmo_assets.release.gallery_pages import write_gallery
from pmo_assets.release.instruction_checks import instruction_faults
from pmo_assets.release.instruction_numbers import INSTRUCTION_HEADER, instruction_cells
from pmo_assets.release.keys import CARD_KEY, GALLERY_KEY, HUB, RELEASE_KEY, REPORT_KEY, RETRACTIONS_KEY, SPLITS_KEY
from pmo_assets.release.making import make_release
from pmo_assets.release.masking import people_masking
from pmo_assets.release.pair_checks import pair_faults
from pmo_assets.release.pair_numbers import PAIR_HEADER, PANEL2PATCH_HEADER, pair_cells, panel2patch_cells
from pmo_assets.release.panel_duplicates import PanelGroups, find_panel_duplicates
from pmo_assets.release.reports import release_summary
from pmo_assets.release.retractions import REMOVED, RETRACTED, write_retractions
from pmo_assets.release.selection import Selection
from pmo_assets.release.statistics.counting import release_statistics
from pmo_assets.release.statistics.views import not_accounted_for
from pmo_assets.release.versions import check_size, version_facts
from pmo_assets.release.writing import ReleaseOptions
from pmo_assets.settings import Settings
from pmo_assets.storage.candidates import seconds_on_the_way
from pmo_assets.storage.parquet import read_parquet
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.dataset import Retractions
from pmo_assets.tables.release import hub_table, joined_names
from pmo_assets.viewing.report import render_report

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


@dataclass(frozen=True)
class _ReleaseRun:
    """A run that holds the release's lease and makes one of its assets."""

    context: dg.AssetExecutionContext
    tables: Tables
    settings: Settings
    leases: RunLeases
    watch: Stopwatch = field(default_factory=Stopwatch)

    def check(self) -> None:
        """Make sure that all steps of the run, and the rows that there are, have the same settings."""
        same_settings(self.context)
        if not any(self.tables.batches(name) for name in ("dataset_rows", VIDEO_PAIRS)):
            raise StorageError(
                "no batch has rows yet: materialise dataset_rows for at least one article batch first, or video_pairs "
                "for a video batch"
            )
        check_made_with(self.tables, self.settings)

    def selection(self) -> Selection:
        """Return which articles the release takes."""
        return selection_of(self.settings, self.tables, self.context.log.info)

    def groups(self, selection: Selection) -> PanelGroups:
        """Return which panels look the same, and the splits."""
        settings, say = self.settings, self.context.log.info
        code, splits = code_version(find_panel_duplicates), split_options_of(settings)
        return groups_once(self.tables, selection, self.options, splits, code=code, say=say)

    @property
    def options(self) -> ReleaseOptions:
        """What the release takes."""
        return ReleaseOptions(
            noncommercial=self.settings.release_noncommercial,
            figure_pictures=self.settings.release_figure_pictures,
            mask_people=self.settings.mask_people == "release",
        )


def _release_asset(
    *,
    deps: Sequence[str],
    batches: Sequence[str],
    description: str | None,
    makers: Sequence[Callable[..., object]],
    kinds: set[str],
    work: str = "facts",
    pool: str | None = RELEASE_POOL,
    check_specs: Sequence[dg.AssetCheckSpec] = (),
    columns: dg.TableSchema | None = None,
) -> Callable[[Callable[[_ReleaseRun], dg.MaterializeResult[Any]]], dg.AssetsDefinition]:
    """Return the decorator of an asset that follows assets without partitions (`deps`) and all batches of others."""

    def declare(make: Callable[[_ReleaseRun], dg.MaterializeResult[Any]]) -> dg.AssetsDefinition:
        @dg.asset(
            name=make.__name__,
            group_name=GROUP,
            pool=pool,
            deps=[*deps, *(dg.AssetDep(name, partition_mapping=ALL_BATCHES) for name in batches)],
            description=description,
            owners=OWNERS,
            kinds=kinds,
            tags={"pmo/work": work},
            code_version=code_version(*makers),
            check_specs=check_specs,
            metadata={"dagster/column_schema": columns} if columns is not None else None,
        )
        def asset(
            context: dg.AssetExecutionContext,
            tables: dg.ResourceParam[Tables],
            settings: dg.ResourceParam[Settings],
            run_leases: dg.ResourceParam[RunLeases],
        ) -> dg.MaterializeResult:  # type: ignore[type-arg]
            run_leases.begin(context, RELEASE)
            return make(_ReleaseRun(context, tables, settings, run_leases))

        return asset

    return declare


def _listed(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> dg.TableMetadataValue:
    """Return rows as a table of metadata, whose columns are shown also where there are no rows."""
    records = [dg.TableRecord(dict(zip(columns, row, strict=True))) for row in rows]
    return dg.MetadataValue.table(records, dg.TableSchema(columns=[dg.TableColumn(name) for name in columns]))


@_release_asset(
    deps=[],
    # Not of `pmc_candidates`, which it reads: a search that fails keeps no release back.
    batches=["dataset_rows"],
    description=Retractions.__doc__,
    makers=[Retractions, selection_once, write_retractions],
    kinds={"polars", "parquet"},
    columns=column_schema("retractions"),
)
def retractions(run: _ReleaseRun) -> dg.MaterializeResult[Any]:
    """Note which articles are out of the dataset, and which rows of the present release go with them."""
    table = write_retractions(run.tables, run.selection(), datetime.now(UTC).date())
    latest = table.sort("noticed_on", "article_id", descending=True).head(50)
    shown = [
        (row["name"], row["reason"], row["noticed_on"].isoformat(), len(row["panels"]), row["why"] or "")
        for row in latest.iter_rows(named=True)
    ]
    return dg.MaterializeResult(
        metadata={
            "seconds": run.watch.seconds,
            "dagster/row_count": table.height,
            **{reason: table.filter(pl.col("reason") == reason).height for reason in (RETRACTED, REMOVED)},
            "panels": int(table["panels"].list.len().sum()),
            "path": dg.MetadataValue.path(run.tables.data_root.uri(RETRACTIONS_KEY)),
            "latest": _listed(("article", "reason", "noticed", "panels", "why"), shown),
        }
    )


@_release_asset(
    deps=["retractions"],
    batches=["dataset_rows"],
    description="Panels that look the same, over all batches, and the split (train, validation, test) of every "
    "article: articles that share a picture are in one split.",
    makers=[selection_once, groups_once],
    kinds={"polars", "parquet"},
    pool=None,
    check_specs=[
        dg.AssetCheckSpec(
            checks.SPLITS, asset="panel_duplicates", description="No picture is in several splits.", blocking=True
        ),
    ],
)
def panel_duplicates(run: _ReleaseRun) -> dg.MaterializeResult[Any]:
    """Find panels that look the same, and split the articles."""
    run.check()
    selection = run.selection()
    groups = run.groups(selection)
    facts = groups.facts
    splits = [(split, articles, facts.panels[split]) for split, articles in facts.articles.items()]
    return dg.MaterializeResult(
        metadata={
            "seconds": run.watch.seconds,
            "panels": groups.panels,
            "groups": facts.groups,
            "grouped_panels": facts.grouped_panels,
            "groups_across_articles": facts.groups_across_articles,
            "articles_moved": facts.moved,
            "preview": preview(
                run.context,
                "panels of the largest groups that look the same, a group in a row",
                lambda: duplicates_sheet(run.tables.data_root, selection, groups),
            ),
            "splits": _listed(("split", "articles", "panels"), splits),
            "largest_groups": _listed(("group", "panels", "articles"), groups.largest(10)),
        },
        check_results=[checks.splits_result(facts.groups_across_splits, facts.groups)],
    )


_RELEASED = (
    "dataset_rows", "panels", "figures", "articles", "article_packages", "region_phrases", "cues", "instructions",
    "verdicts",
)  # fmt: skip
"""Tables that a release is made of, besides those whose columns its own tables carry."""


@_release_asset(
    deps=["retractions", "panel_duplicates", "annotations"],
    batches=[*_RELEASED, *joined_names(), VIDEO_PAIRS, VIDEO_CUES, VIDEO_INSTRUCTIONS],
    description="The release: one row per panel over all batches, each article once and in its newest version, "
    "licences applied; as the published file, as a folder for the Hugging Face Hub and as a gallery, with its version.",
    makers=[selection_once, groups_once, release_statistics, make_release, write_gallery, people_masking],
    kinds={"parquet", "huggingface"},
    work="pixels",
    check_specs=[
        dg.AssetCheckSpec(
            checks.UNIQUE_IDS, asset="pubmed_ophtha", description="No panel id occurs twice.", blocking=True
        ),
        dg.AssetCheckSpec(checks.ROW_COUNT, asset="pubmed_ophtha", description="Every current row is in the release."),
        dg.AssetCheckSpec(
            checks.PAIRS,
            asset="pubmed_ophtha",
            description="Every pair has a text, a picture that may be passed on, and a box in it.",
            blocking=True,
        ),
        dg.AssetCheckSpec(
            checks.INSTRUCTIONS,
            asset="pubmed_ophtha",
            description="Every instruction has messages and a picture that may be passed on; yes and no are balanced.",
            blocking=True,
        ),
    ],
    columns=table_schema(hub_table("panels")),
)
def pubmed_ophtha(run: _ReleaseRun) -> dg.MaterializeResult[Any]:
    """Write both forms of the release and note its version."""
    run.check()
    context, tables, settings, data_root = run.context, run.tables, run.settings, run.tables.data_root
    withdrawn = withdrawn_digest(data_root)
    selection = run.selection()
    groups = run.groups(selection)
    splits = dict(groups.splits.select("article_id", "split").iter_rows())
    if context.run.tags.get(EVEN_SO_TAG) != "true":
        check_size(data_root, groups.panels)
    specialty = load_specialty(settings.specialty)
    masking = None
    if run.options.mask_people:
        masking = people_masking(data_root, load_masker(), code_version(load_masker, identifying_parts))
    release = make_release(
        data_root,
        tables,
        selection,
        groups=groups,
        specialty=specialty,
        options=run.options,
        origin=release_origin(settings),
        statistics=statistics_of(settings, tables, selection, splits),
        annotations=published_annotations(settings, data_root),
        say=context.log.info,
        gallery=lambda folder, version: write_gallery(
            data_root,
            tables,
            selection,
            run.options,
            splits,
            specialty=specialty,
            folder=folder,
            facts=version_facts(data_root, version),
            masked={} if masking is None else masking.figures,
            split_options=groups.split_options,
        ),
        masking=masking,
        audits=release_audits(tables),
        fence=lambda: run.leases.fence(RELEASE),
    )
    facts, manifest = release.facts, release.manifest
    return dg.MaterializeResult(
        metadata={
            "seconds": run.watch.seconds,
            "dagster/row_count": facts.panels,
            "version": manifest.version,
            "articles": facts.articles,
            "figures": facts.figures,
            "batches": len(manifest.batches),
            "withheld": facts.withheld,
            "pairs": sum(facts.pairs.pairs.values()),
            "pairs_by_kind": _listed(PAIR_HEADER, pair_cells(facts.pairs)),
            "pairs_beside_panel2patch": _listed(PANEL2PATCH_HEADER, panel2patch_cells(facts.pairs, facts.articles)),
            "instructions": sum(facts.instructions.kinds.values()),
            "video_pairs": manifest.counts["videos"],
            "masked_pictures": 0 if masking is None else len(masking.rows),
            "instructions_by_kind": _listed(INSTRUCTION_HEADER, instruction_cells(facts.instructions)),
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
            checks.pairs_result(pair_faults(data_root, HUB, withhold=run.options.withhold)),
            checks.instructions_result(instruction_faults(data_root, HUB, withhold=run.options.withhold)),
        ],
    )


@_release_asset(
    deps=["pubmed_ophtha"],
    batches=["rejections"],
    description="The report: what was lost where, and numbers beside the paper's.",
    makers=[selection_once, release_statistics, release_summary, render_report],
    kinds={"html"},
    work="pixels",
    check_specs=[
        dg.AssetCheckSpec(checks.ACCOUNTED, asset="dataset_report", description=checks.ACCOUNTED_WORDS, blocking=True),
    ],
)
def dataset_report(run: _ReleaseRun) -> dg.MaterializeResult[Any]:
    """Write the HTML report; the gallery came with the release."""
    same_settings(run.context)
    tables, settings, data_root, selection = run.tables, run.settings, run.tables.data_root, run.selection()
    has_splits = data_root.exists(SPLITS_KEY)
    splits = dict(read_parquet(data_root, SPLITS_KEY, ["article_id", "split"]).iter_rows()) if has_splits else {}
    statistics = statistics_of(settings, tables, selection, splits)
    data_root.write(REPORT_KEY, render_report(summary_of(settings, tables, selection, statistics)).encode())
    return dg.MaterializeResult(
        metadata={
            "seconds": run.watch.seconds,
            "gallery": page_link(settings, GALLERY_KEY),
            "report": page_link(settings, REPORT_KEY),
            "path": dg.MetadataValue.path(data_root.uri("release")),
            **statistics_metadata(statistics),
        },
        check_results=[checks.accounted_result(not_accounted_for(statistics))],
    )
