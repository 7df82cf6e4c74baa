"""Panels of articles with the evidence that the tables have of each.

Add here: how rows of several tables become cases. Keep out: what a case holds (`case`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pmo_assets.pipeline.assembly.steps import panel_key
from pmo_assets.pipeline.instructions.case import CuedCase, PanelCase, panel_case
from pmo_assets.records.step_output import Row
from pmo_assets.tables.instructions import cues_of_row
from pmo_assets.tables.panels import panels_by_figure

Rows = Sequence[Mapping[str, Any]]
"""Rows of a table."""

EVIDENCE: Final[tuple[str, ...]] = (
    "panel_summaries",
    "panel_entities",
    "panel_modality",
    "marks",
    "region_phrases",
    "regions",
)
"""Tables that say something of a panel."""

_PARTS: Final = {
    "panel_summaries": "summary", "panel_entities": "entities", "panel_modality": "modality", "marks": "marks",
    "region_phrases": "phrases", "regions": "regions",
}  # fmt: skip
"""What each table is to `panel_case`."""


class ArticleCases:
    """An article's panels with the evidence that its tables have of each."""

    def __init__(self, reviewed_panels: Rows, tables: Mapping[str, Rows]) -> None:
        """Take an article's rows of `reviewed_panels`, and of tables of `EVIDENCE` by name."""
        self._panels = panels_by_figure(reviewed_panels)
        self._tables = {_PARTS[name]: by_panel(rows) for name, rows in tables.items()}

    def of(self, figure: Mapping[str, Any]) -> list[tuple[Row, PanelCase]]:
        """Return the key and the evidence of each panel of a figure."""
        own = self._panels.get(figure["image_cluster_id"], [])
        ratio = figure["width"] / figure["height"] if figure["height"] else 1.0
        made = []
        for panel in own:
            key = panel_key(figure, panel)
            parts = {part: rows.get(key["panel_id"]) for part, rows in self._tables.items()}
            made.append((key, panel_case(panel, key, panels=len(own), ratio=ratio, **parts)))
        return made


def by_panel(rows: Rows) -> dict[str, Mapping[str, Any]]:
    """Return the rows of a table with one a panel by `panel_id`."""
    return {row["panel_id"]: row for row in rows}


def cases_of_articles(tables: Mapping[str, Rows]) -> dict[str, PanelCase]:
    """Return the panels of any number of articles with their evidence, by `panel_id`.

    Args:
        tables: rows by name: `figures`, `reviewed_panels`, and those of `EVIDENCE` that there are.
    """
    found: dict[str, PanelCase] = {}
    articles = {name: _by_article(tables[name]) for name in ("figures", "reviewed_panels", *EVIDENCE) if name in tables}
    for number, figures in articles["figures"].items():
        own = {name: articles[name].get(number, []) for name in EVIDENCE if name in articles}
        cases = ArticleCases(articles["reviewed_panels"].get(number, []), own)
        for figure in figures:
            found |= {key["panel_id"]: case for key, case in cases.of(figure)}
    return found


def cued_cases(tables: Mapping[str, Rows]) -> dict[str, CuedCase]:
    """Return the panels of any number of articles with evidence and cues, by `panel_id`; `tables` has `cues`, too."""
    cases = cases_of_articles(tables)
    return {
        row["panel_id"]: CuedCase(cases[row["panel_id"]], cues_of_row(row))
        for row in tables["cues"]
        if row["panel_id"] in cases
    }


def _by_article(rows: Rows) -> dict[int, list[Mapping[str, Any]]]:
    found: dict[int, list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["article_id"], []).append(row)
    return found
