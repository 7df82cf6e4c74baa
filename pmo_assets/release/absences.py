"""Why a release lacks an article or a figure, as the tables below its data root say."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from pmo_assets.release.panel_matching import plain_name
from pmo_assets.storage.tables import Tables

NOT_REGISTERED: Final = "article in no batch"
_KEY: Final = ("article_id", "image_cluster_id")

_STAGES: Final = (
    "article_packages", "articles", "pdf_figures", "figures", "subcaptions", "panel_detections", "panel_captions",
    "image_detections", "panel_assembly", "reviewed_panels", "panels", "dataset_rows",
)  # fmt: skip
"""Assets that reject, in the order of the data's way."""


@dataclass
class DataRootAbsences:
    """Why articles and figures are not in the release (`comparison.Absences`); made by `absences_below`."""

    articles: dict[int, str] = field(default_factory=dict)
    figures: dict[tuple[int, str], str] = field(default_factory=dict)

    def article(self, article_id: int) -> str:
        """Return why the release has no row of an article."""
        return self.articles.get(article_id, NOT_REGISTERED)

    def figure(self, article_id: int, name: str) -> str:
        """Return why the release has no row of a figure of an article that it has."""
        return self.figures.get((article_id, plain_name(name)), "figure not found in the article")


def absences_below(tables: Tables, articles: Collection[int]) -> DataRootAbsences:
    """Return why a release lacks articles and their figures; what a later batch says of an article holds.

    Args:
        tables: below the data root.
        articles: numbers of the articles that are asked about.
    """
    found = DataRootAbsences()
    wanted = pl.Series(sorted(articles), dtype=pl.Int64).implode()
    for batch in tables.batches("article_batch"):
        _note_batch(tables, batch, wanted, found)
    return found


def _read(tables: Tables, asset: str, batch: str, columns: list[str], wanted: pl.Series) -> pl.DataFrame | None:
    """Return rows of the wanted articles; None where the batch has not come so far."""
    if not tables.exists(asset, batch):
        return None
    return tables.read(asset, batch, columns).filter(pl.col("article_id").is_in(wanted))


def _note_batch(tables: Tables, batch: str, wanted: pl.Series, found: DataRootAbsences) -> None:
    registered = _read(tables, "article_batch", batch, ["article_id"], wanted)
    if registered is None or registered.is_empty():
        return
    numbers = set(registered["article_id"])
    found.articles.update(dict.fromkeys(numbers, _NOT_PROCESSED))
    found.figures = {key: reason for key, reason in found.figures.items() if key[0] not in numbers}
    _note_articles(tables, batch, wanted, found)
    _note_figures(tables, batch, wanted, found)
    _note_rejections(tables, batch, wanted, found)


_NOT_PROCESSED: Final = "article not processed yet"
_NO_FIGURE: Final = "no figure found in the article"
_NO_PANEL: Final = "no panel of the article was finished"
_FIGURE_WITHOUT_PANEL: Final = "no panel of the figure was finished"
_UNWANTED: Final = "no image of a wanted type in the article"
_FIGURE_UNWANTED: Final = "no image of a wanted type in the figure"
_LEFT_OUT: Final = "panels left out: no subcaption, too little confidence, or no image of a wanted type"


def _note_articles(tables: Tables, batch: str, wanted: pl.Series, found: DataRootAbsences) -> None:
    columns = ["article_id", "is_retracted", "relevant", "has_pdf", "selected"]
    articles = _read(tables, "articles", batch, columns, wanted)
    if articles is None:
        return
    for number, retracted, relevant, has_pdf, selected in articles.iter_rows():
        if selected:
            found.articles[number] = _NO_FIGURE
        elif retracted:
            found.articles[number] = "article retracted"
        elif not relevant:
            found.articles[number] = "article not relevant"
        else:
            found.articles[number] = "article without a PDF" if not has_pdf else "article not selected"


def _note_figures(tables: Tables, batch: str, wanted: pl.Series, found: DataRootAbsences) -> None:
    """Note how far each figure came; an article came as far as the best of its figures did."""
    steps: tuple[tuple[str, pl.Expr, list[str], str, str], ...] = (
        ("figures", pl.lit(True), [], _NO_PANEL, _FIGURE_WITHOUT_PANEL),
        ("panel_assembly", ~pl.col("wanted"), ["wanted"], _UNWANTED, _FIGURE_UNWANTED),
        ("panels", pl.lit(True), [], _LEFT_OUT, _LEFT_OUT),
    )
    for asset, condition, columns, of_article, of_figure in steps:
        rows = _read(tables, asset, batch, [*_KEY, *columns], wanted)
        if rows is None:
            return
        for number, name in rows.filter(condition).select(_KEY).unique().iter_rows():
            found.articles[number] = of_article
            found.figures[number, plain_name(name)] = of_figure


def _note_rejections(tables: Tables, batch: str, wanted: pl.Series, found: DataRootAbsences) -> None:
    """Note which stage gave up; the first one is the reason, because what follows had no input."""
    rejections = tables.read_rejections(_STAGES, batch).filter(pl.col("article_id").is_in(wanted))
    for number, figure, stage, error in rejections.select(*_KEY, "stage", "error_class").iter_rows():
        if figure is not None:
            key = number, plain_name(figure)
            if found.figures.get(key, _FIGURE_WITHOUT_PANEL) == _FIGURE_WITHOUT_PANEL:
                found.figures[key] = f"figure rejected by {stage}: {error}"
        elif found.articles.get(number) in (_NOT_PROCESSED, _NO_FIGURE, _NO_PANEL):
            found.articles[number] = f"article rejected by {stage}: {error}"
