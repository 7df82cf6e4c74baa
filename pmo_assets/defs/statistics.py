"""Selection and statistics of a release for assets and commands: as the settings say, and as metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import dagster as dg

from pmo_assets.defs.graph import batch_graph
from pmo_assets.defs.loading import group_assets
from pmo_assets.defs.versions import code_version
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.dataset.rows import Entry
from pmo_assets.pipeline.dataset.splits import SplitOptions
from pmo_assets.release.computed_once import selection_once
from pmo_assets.release.reports import release_summary, report_way
from pmo_assets.release.selection import Selection, select_articles
from pmo_assets.release.statistics.counting import ReleaseStatistics, release_statistics
from pmo_assets.release.statistics.views import compared_rows, counts_of, waterfall_rows
from pmo_assets.settings import Settings
from pmo_assets.storage.tables import Tables
from pmo_assets.viewing.overlays import data_uri
from pmo_assets.viewing.plots import waterfall_picture
from pmo_assets.viewing.report import ReportSummary


def selection_of(settings: Settings, tables: Tables, say: Callable[[str], None], *, keep: bool = True) -> Selection:
    """Return which articles a release takes; arguments as for `selection_once`."""
    trusted, code = settings.trusted_sources.split(), code_version(select_articles)
    return selection_once(tables, trusted, code=code, say=say, keep=keep)


def split_options_of(settings: Settings) -> SplitOptions:
    """Return by which shares, and from which year on, articles and lectures are split."""
    # 0.7, not 0.7000000000000001
    train = max(0.0, round(1 - settings.validation_share - settings.test_share, 12))
    return SplitOptions((train, settings.validation_share, settings.test_share), settings.test_from_year)


def statistics_of(
    settings: Settings,
    tables: Tables,
    selection: Selection,
    splits: Mapping[int, str] | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> ReleaseStatistics:
    """Count the release that the settings make of a selection; arguments as for `release_statistics`."""
    entry = Entry(load_specialty(settings.specialty).image_types, settings.min_assembly_confidence)
    return release_statistics(
        tables, selection, entry, noncommercial=settings.release_noncommercial, splits=splits, say=say
    )


def summary_of(
    settings: Settings, tables: Tables, selection: Selection, statistics: ReleaseStatistics
) -> ReportSummary:
    """Return what the report says of a release that the settings make."""
    return release_summary(
        tables,
        selection,
        statistics,
        stages=batch_graph(group_assets()).stages,
        specialty=load_specialty(settings.specialty),
        noncommercial=settings.release_noncommercial,
    )


def statistics_metadata(statistics: ReleaseStatistics) -> dict[str, Any]:
    """Return the statistics as metadata: numbers to plot, waterfalls as pictures and rows, the paper's numbers."""
    pictures = "\n\n".join(_picture(way.title, waterfall_picture(way.title, way.start, way.drops, way.end))
                           for way in map(report_way, statistics.waterfalls))  # fmt: skip
    return {
        **counts_of(statistics),
        "lost": dg.MetadataValue.md(pictures),
        "lost_in_rows": dg.MetadataValue.table([dg.TableRecord(row) for row in waterfall_rows(statistics)]),
        "beside_the_paper": dg.MetadataValue.table([dg.TableRecord(row) for row in compared_rows(statistics)]),
    }


def _picture(title: str, svg: str) -> str:
    return f"![{title}]({data_uri(svg.encode(), 'image/svg+xml')})"
