"""Graphics that are no part of a figure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from pmo_assets.pipeline.figures.regions.graphics import count_inside, figure_graphics
from pmo_assets.records.geometry import Box
from pmo_assets_tests.pipeline.figures.regions.drawn_pages import STYLE, drawn_page
from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, agrees, caption_text
from pmo_assets_tests.pipeline.figures.whole import MODES, box_of, extraction_of


@MODES
def test_frame_around_figure_and_caption_is_not_the_figure(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 180))
    page.draw_rect((60, 200, 500, 470), color=(0, 0, 0), width=0.5)
    manuscript.picture(page, (100, 220, 400, 420))
    manuscript.caption(page, 70, 430, f"Figure 1. {caption_text(1)}", 400)
    manuscript.body(page, (50, 490, 545, 800))
    assert agrees(box_of(extraction_of(manuscript, with_xml, 1), 1), (100, 220, 400, 420), 0.999)


CAPTION = (100.0, 420.0, 500.0, 430.0)
BODY = [(60.0, 500.0 + 12 * k, 540.0, 510.0 + 12 * k) for k in range(6)]


def graphics(
    bitmaps: Sequence[Box] = (),
    drawings: Sequence[Box] = (),
    tables: Sequence[Box] = (),
    white: Sequence[bool] | None = None,
    places: Sequence[tuple[float, ...]] = (),
) -> list[tuple[float, ...]]:
    """What may belong to a figure on a page with a caption and six lines of running text below it."""
    page = drawn_page([CAPTION, *BODY], bitmaps, drawings, white)
    found = figure_graphics(page, page, set(range(1, 7)), {0}, tables, set(places), STYLE)
    return [tuple(box) for box in found.tolist()]


PICTURE = (100.0, 100.0, 500.0, 400.0)


def test_bitmaps_and_paths_are_graphics() -> None:
    assert graphics([PICTURE], [(110.0, 110.0, 130.0, 111.0)]) == [PICTURE, (110.0, 110.0, 130.0, 111.0)]
    assert graphics([], []) == []
    assert graphics([(100.0, 100.0, 500.0, 100.4), (100.0, 100.0, 100.4, 400.0)]) == []
    assert graphics([], [PICTURE, (110.0, 110.0, 130.0, 111.0)], white=[True, False]) == [(110.0, 110.0, 130.0, 111.0)]


def test_the_picture_of_a_scanned_page_is_no_figure() -> None:
    assert graphics([(0.0, 0.0, 600.0, 800.0)]) == []
    assert graphics([(0.0, 440.0, 600.0, 800.0)]) == [(0.0, 440.0, 600.0, 800.0)], "less than half of the page"
    assert graphics([(0.0, 0.0, 600.0, 415.0)]) == [(0.0, 0.0, 600.0, 415.0)], "no text in it"


@pytest.mark.parametrize(
    ("bitmap", "kept"),
    [
        ((100.0, 100.0, 500.0, 428.0), (100.0, 100.0, 500.0, 422.5)),  # its margin below reaches into the caption
        ((100.0, 423.0, 500.0, 490.0), (100.0, 427.5, 500.0, 490.0)),
        ((100.0, 300.0, 500.0, 490.0), None),  # the caption lies deep inside
        ((440.0, 100.0, 560.0, 428.0), (440.0, 100.0, 560.0, 428.0)),  # beside it
        ((60.0, 100.0, 160.0, 428.0), (60.0, 100.0, 160.0, 428.0)),
        ((510.0, 300.0, 560.0, 490.0), (510.0, 300.0, 560.0, 490.0)),
        ((40.0, 300.0, 90.0, 490.0), (40.0, 300.0, 90.0, 490.0)),
        ((100.0, 440.0, 500.0, 490.0), (100.0, 440.0, 500.0, 490.0)),
    ],
)
def test_a_bitmap_ends_at_the_caption(bitmap: Box, kept: Box | None) -> None:
    assert graphics([bitmap]) == ([kept] if kept is not None else [])


@pytest.mark.parametrize(
    ("box", "kept"),
    [
        ((90.0, 410.0, 510.0, 440.0), False),  # around the caption
        ((50.0, 495.0, 550.0, 525.0), False),  # around two lines of running text
        ((50.0, 495.0, 550.0, 511.0), True),  # one line may be a label
        ((299.0, 420.0, 310.0, 430.0), True),  # too small to be a box
        (PICTURE, True),
    ],
)
def test_boxes_behind_text_are_no_figure(box: Box, kept: bool) -> None:
    assert graphics([], [box]) == ([box] if kept else [])


def test_what_lies_in_a_table_belongs_to_it() -> None:
    table = (100.0, 200.0, 500.0, 400.0)
    inside = (99.0, 196.0, 501.0, 402.0)
    reaching = [(95.0, 210.0, 300.0, 211.0), (200.0, 190.0, 201.0, 300.0), (300.0, 210.0, 506.0, 211.0),
                (200.0, 300.0, 201.0, 406.0)]  # fmt: skip
    assert graphics([], [inside, *reaching], [table]) == reaching


def test_furniture_is_no_figure() -> None:
    logo, rule = (100.0, 20.0, 140.0, 40.0), (50.0, 790.0, 550.0, 791.0)
    assert graphics([logo], [rule]) == [logo, rule]
    assert graphics([logo], [rule], places=[logo, rule]) == []
    line = (100.0, 300.0, 300.0, 301.0)
    assert graphics([], [line], places=[line]) == [line], "among the text a path may lie where others do"


def frame(left: float, top: float, right: float, bottom: float) -> list[Box]:
    """Four lines."""
    return [
        (left, top, left + 1, bottom),
        (right - 1, top, right, bottom),
        (left, top, right, top + 1),
        (left, bottom - 1, right, bottom),
    ]


INNER = (100.0, 100.0, 490.0, 400.0)


def test_a_frame_around_figure_and_caption_is_no_part_of_it() -> None:
    around = frame(80, 80, 520, 440)
    corners = [(82.0, 82.0, 85.0, 85.0), (515.0, 82.0, 518.0, 85.0), (82.0, 434.0, 85.0, 438.0)]
    assert graphics([], [*around, *corners, INNER]) == [INNER]


@pytest.mark.parametrize(
    "beyond",
    [(60.0, 82.0, 85.0, 85.0), (82.0, 60.0, 85.0, 83.0), (515.0, 82.0, 540.0, 85.0), (82.0, 436.0, 85.0, 470.0)],
)
def test_what_reaches_out_of_a_frame_is_no_part_of_it(beyond: Box) -> None:
    assert graphics([], [*frame(80, 80, 520, 440), beyond]) == [beyond]


@pytest.mark.parametrize(
    "sides",
    [
        frame(80, 80, 520, 415),  # ends above the caption
        frame(80, 425, 520, 480),  # begins below its top
        frame(110, 80, 520, 440),  # the caption begins left of it
        frame(80, 80, 490, 440),  # and ends right of it
        [*frame(80, 80, 520, 440)[:1], *frame(80, 70, 520, 440)[1:2]],  # two lines that do not match
        [*frame(80, 80, 520, 440)[:1], *frame(80, 80, 520, 450)[1:2]],
        frame(80, 80, 520, 440)[2:],  # no uprights
    ],
)
def test_other_lines_are_no_frame(sides: list[Box]) -> None:
    assert graphics([], sides) == sides


def test_lines_are_counted_where_their_centre_lies() -> None:
    boxes = np.asarray([(0.0, 0.0, 10.0, 10.0)])
    assert count_inside(boxes, (4.0, 4.0, 6.0, 6.0)) == 1
    for outer in ((6.0, 0.0, 9.0, 10.0), (0.0, 0.0, 4.0, 10.0), (0.0, 6.0, 10.0, 9.0), (0.0, 0.0, 10.0, 4.0)):
        assert count_inside(boxes, outer) == 0
    assert count_inside(np.empty((0, 4)), (0.0, 0.0, 9.0, 9.0)) == 0
