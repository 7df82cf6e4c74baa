"""Tables are no figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pmo_assets.pipeline.figures.regions.tables import table_areas
from pmo_assets.records.geometry import Box
from pmo_assets_tests.pipeline.figures.regions.drawn_pages import drawn_page
from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, agrees, caption_text
from pmo_assets_tests.pipeline.figures.whole import MODES, box_of, extraction_of


@MODES
def test_table_next_to_a_figure_is_left_out(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.caption(page, 50, 60, "Table 1. Characteristics of the subjects.", 490)
    for y in (80, 95, 170):
        page.draw_line((50, y), (545, y), width=0.7)
    for row in range(5):
        for column in range(4):
            page.insert_text((55 + 120 * column, 91 + 15 * row), f"{row}.{column} mm", fontsize=8)
    manuscript.picture(page, (100, 190, 400, 380))
    manuscript.caption(page, 50, 390, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 440, 545, 800))
    extraction = extraction_of(manuscript, with_xml, 1)
    assert len(extraction.figures) == 1
    assert agrees(box_of(extraction, 1), (100, 190, 400, 380), 0.999)


CAPTION = (50.0, 100.0, 550.0, 110.0)
RULES = [(50.0, y, 550.0, y + 0.5) for y in (115.0, 130.0, 180.0)]
ROWS = [(60.0, y, 500.0, y + 10.0) for y in (118.0, 135.0, 150.0, 165.0)]


def area(
    lines: Sequence[Box] = (),
    body: Sequence[int] = (),
    label: str = "Table 1",
    captions: Sequence[Box] = (),
    **page: Any,
) -> Box | None:
    """The area of the table of four rows and three rules, on a page with more lines."""
    drawings = [*RULES, *page.pop("drawings", ())]
    drawn = drawn_page([CAPTION, *ROWS, *lines], drawings=drawings, **page)
    first = len(ROWS) + 1
    own = {0, *(k for k, line in enumerate(drawn.lines) if line.bbox in captions)}
    found = table_areas(drawn, [(label, [CAPTION])], {first + k for k in body}, own)
    assert len(found) <= 1
    return found[0] if found else None


WHOLE = (50.0, 110.5, 550.0, 181.0)


def test_a_table_reaches_from_its_caption_to_its_last_rule() -> None:
    assert area() == WHOLE
    assert area(label="TAB. II") == WHOLE
    assert area(label="Figure 1") is None
    assert area(label="Box 1") is None


@pytest.mark.parametrize(
    ("note", "belongs"),
    [
        ((50.0, 183.0, 300.0, 193.0), True),
        ((50.0, 177.0, 300.0, 187.0), True),  # line boxes reach over the rule
        ((50.0, 172.0, 300.0, 180.0), False),
        ((50.0, 195.0, 300.0, 205.0), False),
        ((49.0, 183.0, 300.0, 193.0), True),
        ((68.0, 183.0, 300.0, 193.0), True),
        ((75.0, 183.0, 300.0, 193.0), False),
        ((45.0, 183.0, 300.0, 193.0), False),
    ],
)
def test_notes_begin_at_the_left_edge_closely_below_the_last_rule(note: Box, belongs: bool) -> None:
    found = area([note])
    assert found is not None
    assert found[3] == (note[3] if belongs else 180.5) + 0.5


def test_notes_follow_each_other() -> None:
    found = area([(50.0, 183.0, 300.0, 193.0), (50.0, 195.0, 300.0, 205.0)])
    assert found == (50.0, 110.5, 550.0, 205.5)


@pytest.mark.parametrize(
    ("page", "bottom"),
    [
        ({"drawings": [(50.0, 200.0, 550.0, 200.5)]}, 201.0),
        ({"drawings": [(50.0, 210.0, 550.0, 210.5)]}, 181.0),  # too far
        ({"drawings": [(50.0, 200.0, 240.0, 200.5)]}, 181.0),  # too short
        ({"drawings": [(560.0, 200.0, 590.0, 200.5)]}, 181.0),  # beside
        ({"drawings": [(50.0, 200.0, 550.0, 200.5)], "lines": [(60.0, 185.0, 500.0, 195.0)], "body": [0]}, 181.0),
        ({"drawings": [(50.0, 200.0, 550.0, 200.5)], "bitmaps": [(60.0, 185.0, 160.0, 285.0)]}, 181.0),
        ({"drawings": [(50.0, 200.0, 550.0, 200.5)], "bitmaps": [(60.0, 185.0, 90.0, 285.0)]}, 201.0),  # an icon
        ({"drawings": [(50.0, 90.0, 550.0, 90.5)]}, 181.0),  # above the caption
    ],
)
def test_a_table_ends_at_text_pictures_and_gaps(page: dict[str, Any], bottom: float) -> None:
    found = area(**page)
    assert found is not None
    assert found[3] == bottom
    assert found[1] == 110.5


def test_another_caption_ends_a_table() -> None:
    line = (60.0, 185.0, 500.0, 195.0)
    assert area([line], drawings=[(50.0, 200.0, 550.0, 200.5)], captions=[line]) == WHOLE


def test_a_caption_without_rules_below_is_no_table() -> None:
    page = drawn_page([CAPTION, *ROWS])
    assert table_areas(page, [("Table 1", [CAPTION])], set(), {0}) == []
