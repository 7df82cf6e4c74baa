"""Figures whose marks and regions people are asked about, and the texts whose words a region may have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from pmo_assets.annotation.cases import CasePanel, FigureCase, ShownPanel, ShownRegions, figure_cases
from pmo_assets.pipeline.assembly.steps import panel_id
from pmo_assets.pipeline.regions.links import ELSEWHERE
from pmo_assets.pipeline.regions.shown_regions import LEAST_PROBABILITY, fragment
from pmo_assets.records.regions import Region, RegionPhrase
from pmo_assets.records.reviews import Purpose
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.regions import marks_of_row, phrases_of_row
from pmo_assets.tables.rows import record_of

_READ = ("marks", "region_phrases", "regions", "panel_summaries")

_Rows = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""Rows by table and panel_id."""


def region_cases(
    tables: Tables,
    current: Mapping[str, Sequence[int]],
    purpose: Purpose,
    articles: Iterable[int] | None = None,
    *,
    unsure: bool = False,
) -> Iterator[FigureCase]:
    """Yield the figures of which a panel has an image, article by article, with the marks and regions to be corrected.

    Args:
        tables: of the data root; batches that have no regions yet are left out.
        current: for every batch the articles that count.
        purpose: reason for asking people.
        articles: only these; all if None.
        unsure: only figures that go on and in which a panel that nobody decided has a phrase or a mark whose partner is
            not sure (`is_unsure`).
    """
    for batch, numbers in current.items():
        if not tables.exists("regions", batch):
            continue
        rows = _rows(tables, batch, numbers)
        for case in figure_cases(tables, {batch: numbers}, purpose, articles, reviewed=True):
            names = {panel.ordinal: _name(case, panel) for panel in case.panels}
            with_image = [panel for panel in case.panels if panel.images and names[panel.ordinal] in rows["marks"]]
            if not with_image:
                continue
            if unsure and not any(panel.wanted and is_unsure(rows, names[panel.ordinal]) for panel in with_image):
                continue
            yield replace(case, regions=_shown(rows, names, with_image))


def _name(case: FigureCase, panel: CasePanel) -> str:
    return panel_id(case.figure.article_id, case.figure.image_cluster_id, panel.ordinal)


def _rows(tables: Tables, batch: str, numbers: Iterable[int]) -> _Rows:
    chosen = pl.col("article_id").is_in(list(numbers))
    return {
        name: {row["panel_id"]: row for row in tables.read(name, batch).filter(chosen).iter_rows(named=True)}
        for name in _READ
        if tables.exists(name, batch)
    }


def is_unsure(rows: _Rows, name: str) -> bool:
    """Say whether what a panel's marks show is not sure, and nobody decided it.

    A phrase fits no mark or several, or a likely mark is named by none; a phrase about another panel is neither.

    Args:
        rows: by table and panel_id.
        name: panel_id.
    """
    row = rows["marks"][name]
    if row["machine_marks"] is not None:
        return False
    phrases = rows["region_phrases"].get(name, {"phrases": ()})["phrases"]
    if any(cell["undecided"] is not None and not cell["undecided"].startswith(ELSEWHERE) for cell in phrases):
        return True
    named = {mark for cell in phrases for mark in cell["marks"]}
    return any(
        cell["probability"] >= LEAST_PROBABILITY and number not in named for number, cell in enumerate(row["marks"])
    )


def _shown(rows: _Rows, names: Mapping[int, str], panels: Sequence[CasePanel]) -> ShownRegions:
    shown: list[ShownPanel] = []
    fragments: dict[str, None] = {}
    mentions: dict[str, None] = {}
    for panel in panels:
        name = names[panel.ordinal]
        marks = [mark for _, mark in marks_of_row(rows["marks"][name])]
        likely = [n for n, mark in enumerate(marks) if mark.probability >= LEAST_PROBABILITY]
        place = {n: k for k, n in enumerate(likely)}
        found = [record_of(Region, cell) for cell in rows["regions"].get(name, {"regions": ()})["regions"]]
        regions = [replace(region, marks=tuple(place[n] for n in region.marks if n in place)) for region in found]
        shown.append(ShownPanel(panel, tuple(marks[n] for n in likely), tuple(regions)))
        told = [cell["text"] for cell in rows["panel_summaries"].get(name, {"mentions": ()})["mentions"]]
        mentions |= dict.fromkeys(told)
        said = phrases_of_row(rows["region_phrases"][name]) if name in rows["region_phrases"] else []
        texts = [panel.subcaption or "", *told]
        fragments |= dict.fromkeys(text for phrase in said if (text := _fragment(phrase, texts)) is not None)
        fragments |= dict.fromkeys(region.text for region in regions if region.text is not None)
    return ShownRegions(tuple(shown), tuple(fragments), tuple(mentions))


def _fragment(phrase: RegionPhrase, texts: Sequence[str]) -> str | None:
    place = 0 if phrase.mention is None else phrase.mention + 1
    return fragment(phrase, texts[place]) if place < len(texts) else None


def region_words(
    tables: Tables, current: Mapping[str, Sequence[int]], names: Iterable[str]
) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the texts that a region's words may come from besides the caption: subcaptions and mentions of the panels.

    Args:
        tables: of the data root.
        current: for every batch the articles that count.
        names: of packages.

    Returns:
        The texts by the package's name and image_cluster_id.
    """
    wanted = list(names)
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for batch, numbers in current.items():
        articles = tables.read("articles", batch).filter(
            pl.col("package").is_in(wanted) & pl.col("article_id").is_in(list(numbers))
        )
        of_number = dict(articles.select("article_id", "package").iter_rows())
        if not of_number:
            continue
        chosen = pl.col("article_id").is_in(list(of_number))
        texts: dict[tuple[int, str], dict[str, None]] = {}
        if tables.exists("reviewed_panels", batch):
            columns = ["article_id", "image_cluster_id", "subcaption"]
            for number, cluster, text in tables.read("reviewed_panels", batch, columns).filter(chosen).iter_rows():
                texts.setdefault((number, cluster), {}).update({text: None} if text else {})
        if tables.exists("panel_summaries", batch):
            columns = ["article_id", "image_cluster_id", "mentions"]
            for number, cluster, cells in tables.read("panel_summaries", batch, columns).filter(chosen).iter_rows():
                texts.setdefault((number, cluster), {}).update(dict.fromkeys(cell["text"] for cell in cells))
        for (number, cluster), said in texts.items():
            found.setdefault(of_number[number], {})[cluster] = tuple(said)
    return found
