"""Steps of regions: a row for every panel, whatever was rejected before; phrases linked to what was seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from pmo_assets.pictures import png_bytes
from pmo_assets.pipeline.regions.steps import NOT_LOOKED_FOR, find_article_phrases, find_article_regions
from pmo_assets.records.memory_stores import MemoryPixels
from pmo_assets.records.panels import Panel, PanelImage
from pmo_assets.records.regions import Mark
from pmo_assets.records.stores import Picture
from pmo_assets.tables.regions import RegionPhrases, Regions, marks_row
from pmo_assets.tables.rows import row_of
from pmo_assets.tables.schemas import checked

KEY = {"article_id": 7, "image_cluster_id": "g1"}
FIGURE: dict[str, Any] = {**KEY, "pdf_figure_id": "p0-1"}
WHOLE = (0.0, 0.0, 1.0, 1.0)
CIRCLE = Mark("circle", "red", "#ff0000", (0.4, 0.4, 0.6, 0.6), None, None, None, "vector", 1.0, 0.97)


def panel(ordinal: int, subcaption: str) -> dict[str, Any]:
    image = PanelImage("i", WHOLE, 1.0, "CFP", 1.0, True, 1.0)
    return {**KEY, **row_of(Panel(ordinal, (), WHOLE, WHOLE, 1.0, "AB"[ordinal], subcaption, images=(image,)))}


PANELS = [panel(0, "Red circle: drusen."), panel(1, "Fundus photograph.")]
SUMMARIES = [
    {**KEY, "ordinal": n, "panel_id": f"p_7_g1_{n}", "mentions": [{"text": "Drusen were seen (red circle)."}]}
    for n in (0, 1)
]
MARKS = [marks_row({**KEY, "ordinal": n, "panel_id": f"p_7_g1_{n}"}, [(0, CIRCLE)] if n == 0 else []) for n in (0, 1)]


def pixels() -> MemoryPixels:
    store = MemoryPixels()
    picture = np.full((100, 100, 3), 90, np.uint8)
    store.write(7, [Picture("p0-1", 100, 100, png_bytes(picture))])
    return store


def regions(marks: list[dict[str, Any]], summaries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    phrases = find_article_phrases([FIGURE], PANELS, summaries, marks)
    output = find_article_regions(7, [FIGURE], PANELS, summaries, marks, phrases.rows, "terms", pixels())
    assert (phrases.rejections, output.rejections) == ([], [])
    rows: list[dict[str, Any]] = checked(Regions, output.rows).to_dicts()
    return rows


def test_phrases_of_subcaption_and_mentions_are_linked_to_the_panels_marks() -> None:
    output = find_article_phrases([FIGURE], PANELS, SUMMARIES, MARKS)
    first, second = checked(RegionPhrases, output.rows).to_dicts()
    assert [(cell["found_in"], cell["mark_text"], cell["marks"]) for cell in first["phrases"]] == [
        ("subcaption", "Red circle", [0]),
        ("mention", "red circle", [0]),
    ]
    assert [cell["undecided"] for cell in second["phrases"]] == ["no mark was seen"]


def test_a_region_for_each_phrase_that_names_a_mark() -> None:
    first, second = regions(MARKS, SUMMARIES)
    assert {cell["text"] for cell in first["regions"]} == {"drusen"}
    assert first["regions"][0]["box"] == [0.4, 0.4, 0.6, 0.6]
    assert second["regions"] == []


def test_a_figure_whose_summaries_were_rejected_keeps_what_its_subcaptions_say() -> None:
    first, _ = regions(MARKS, [])
    assert [cell["text"] for cell in first["regions"]] == ["drusen"]


def test_a_figure_whose_marks_were_rejected_has_rows_that_say_so() -> None:
    output = find_article_phrases([FIGURE], PANELS, SUMMARIES, [])
    assert {cell["undecided"] for row in output.rows for cell in row["phrases"]} == {NOT_LOOKED_FOR}
    assert [row["regions"] for row in regions([], SUMMARIES)] == [[], []]
