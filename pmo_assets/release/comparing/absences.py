"""Why a release lacks an article or a figure that a published file has, as the tables below its data root say.

What the reasons are is decided in `release.statistics.outcomes`; here they are only looked up by number and name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from pmo_assets.pipeline.dataset.rows import Entry
from pmo_assets.records.defaults import TRUSTED_SOURCES
from pmo_assets.release.comparing.panel_matching import plain_name
from pmo_assets.release.selection import current_rows, select_articles
from pmo_assets.release.statistics.outcomes import SUPERSEDED, batch_outcomes, outcomes_of_packages
from pmo_assets.release.statistics.waterfall import IN_THE_RELEASE, Outcome
from pmo_assets.release.writing import is_noncommercial
from pmo_assets.storage.manifests import in_sequence
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.tables import Tables

NOT_REGISTERED: Final = "article in no batch"
UNKNOWN_FIGURE: Final = "the article has no such figure"
NOT_IN_THE_FILE: Final = "in the tables, not in the file: the release is older or newer than they are"
_ROW_COLUMNS: Final = ("article_id", "image_cluster_id", "panel_ordinal", "license")


def _words(outcome: Outcome) -> str:
    if outcome == IN_THE_RELEASE:
        return NOT_IN_THE_FILE
    return f"{outcome.step}: {outcome.reason}" if outcome.reason else outcome.step


@dataclass
class DataRootAbsences:
    """Why articles and figures are not in the release (`comparison.Absences`); made by `absences_below`."""

    articles: dict[int, Outcome] = field(default_factory=dict)
    figures: dict[tuple[int, str], Outcome] = field(default_factory=dict)

    def article(self, article_id: int) -> str:
        """Return why the release has no row of an article."""
        outcome = self.articles.get(article_id)
        return NOT_REGISTERED if outcome is None else _words(outcome)

    def figure(self, article_id: int, name: str) -> str:
        """Return why the release has no row of a figure of an article that it has."""
        outcome = self.figures.get((article_id, plain_name(name)))
        return UNKNOWN_FIGURE if outcome is None else _words(outcome)


def absences_below(
    tables: Tables,
    articles: Collection[int],
    entry: Entry,
    *,
    noncommercial: bool = True,
    trusted: Collection[str] = TRUSTED_SOURCES,
    say: Callable[[str], None] = lambda _: None,
) -> DataRootAbsences:
    """Return why a release lacks articles and their figures.

    Args:
        tables: below the data root.
        articles: numbers of the articles that are asked about.
        entry: conditions under which panels enter the dataset.
        noncommercial: the release keeps rows whose licence forbids commercial use.
        trusted: see `select_articles`.
        say: told of progress, batch by batch.
    """
    found, wanted = DataRootAbsences(), set(articles)
    selection, registry = select_articles(tables, trusted), BatchRegistry(tables.data_root)
    manifests, retracted = set(registry.batches()), set[int]()
    for batch in in_sequence(manifests.union(selection.current)):
        registered = registry.manifest(batch)["article_id"].to_list() if batch in manifests else []
        taken = [number for number in selection.current.get(batch, ()) if number in wanted]
        outcomes: dict[int, Outcome] = {}
        if taken:
            say(batch)
            current = current_rows(tables, selection, batch, _ROW_COLUMNS)
            current = current.filter(pl.col("article_id").is_in(taken))
            rows = current if noncommercial else current.filter(~is_noncommercial())
            counted, outcomes = batch_outcomes(tables, batch, taken, rows, current, entry)
            found.figures |= {
                (number, plain_name(name)): outcome for (number, name), outcome in counted.of_figures.items()
            }
        packages = outcomes_of_packages(tables, batch, registered, selection, outcomes, retracted)
        for number, outcome in packages.items():
            # what became of the version that counts says more than that there is another one
            if number in wanted and (number not in found.articles or outcome.step != SUPERSEDED):
                found.articles[number] = outcome
    return found
