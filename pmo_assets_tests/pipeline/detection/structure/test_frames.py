"""Frames: grids of drawn borders are pictures, single frames, tables and flow diagrams are not."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.detection.structure.frames import _are_neighbours, _shared, drawn_frames, framed_grid
from pmo_assets.pipeline.detection.structure.gutters import Rect, canvas_of
from pmo_assets.pipeline.detection.structure.images import structure_images
from pmo_assets.records.detections import FigureView, PanelDetection
from pmo_assets.records.geometry import UNIT_BOX
from pmo_assets_tests.examples import examples
from pmo_assets_tests.pipeline.detection.drawing import Picture, as_fraction, fundus, paper, paste

WHOLE = (PanelDetection("panel", UNIT_BOX, 0.95, "figure"),)


def grid(figure: Picture, columns: int, rows: int, width: int, height: int, gap: int, colour: int = 0) -> list[Rect]:
    rects = []
    for row in range(rows):
        for column in range(columns):
            left, top = 20 + column * (width + gap), 20 + row * (height + gap)
            figure[top : top + height, left : left + width] = colour
            figure[top + 2 : top + height - 2, left + 2 : left + width - 2] = 255
            rects.append((left, top, left + width, top + height))
    return rects


@examples(25)
@given(
    columns=st.integers(2, 4),
    rows=st.integers(2, 3),
    width=st.integers(80, 150),
    height=st.integers(80, 150),
    gap=st.integers(3, 14),
)
def test_a_grid_of_white_framed_pictures_is_found_exactly(
    columns: int, rows: int, width: int, height: int, gap: int
) -> None:
    figure = paper(760, 560)
    rects = grid(figure, columns, rows, width, height, gap)
    assert framed_grid(canvas_of(figure), (0, 0, 760, 560), 60) == sorted(rects, key=lambda r: (r[1], r[0]))


def test_a_pale_border_in_a_grid_is_found_by_its_neighbours() -> None:
    figure = paper(760, 300)
    rects = grid(figure, 5, 2, 120, 120, 8)
    left, top, right, _ = rects[2]
    figure[top : top + 12, left : left + 2] = 255  # a tenth of one side is missing
    figure[top : top + 2, right - 12 : right] = 255
    assert framed_grid(canvas_of(figure), (0, 0, 760, 300), 60) == rects


def test_two_frames_are_two_plots_whose_text_belongs_to_them() -> None:
    figure = paper(760, 300)
    grid(figure, 2, 1, 200, 200, 20)
    assert framed_grid(canvas_of(figure), (0, 0, 760, 300), 60) == []


def test_boxes_of_a_flow_diagram_stand_too_far_apart() -> None:
    figure = paper(1000, 300)
    grid(figure, 5, 1, 120, 120, 60)
    assert framed_grid(canvas_of(figure), (0, 0, 1000, 300), 60) == []


def test_a_bar_chart_has_no_frames() -> None:
    figure = paper(760, 400)
    for k, top in enumerate((80, 140, 60, 200, 120)):
        figure[top:380, 60 + 130 * k : 160 + 130 * k] = (30, 90, 200)
    assert framed_grid(canvas_of(figure), (0, 0, 760, 400), 60) == []


def test_framed_pictures_are_images_each_and_photographs_beside_them_too() -> None:
    figure = paper(900, 480)
    rects = grid(figure, 4, 2, 130, 130, 8)
    rng = np.random.default_rng(0)
    for left, top, *_ in rects:
        for x, y in rng.integers(20, 100, size=(6, 2)).tolist():
            figure[top + y : top + y + 8, left + x : left + x + 8] = 90
    photograph = paste(figure, fundus(240), 630, 30)
    found = structure_images(FigureView(figure), WHOLE)
    wanted = [as_fraction(figure, rect) for rect in (*rects, photograph)]
    assert len(found) == len(wanted)
    assert all(any(max(abs(a - b) for a, b in zip(i.box, box, strict=True)) < 0.005 for i in found) for box in wanted)


def test_small_photographs_in_a_diagram_are_images_when_there_are_several() -> None:
    figure = paper(1600, 700)
    rng = np.random.default_rng(1)
    photographs = []
    for k in range(3):
        picture = fundus(90).astype(np.int16) + rng.integers(-6, 7, (90, 90, 1))
        photographs.append(paste(figure, picture.clip(0, 255).astype(np.uint8), 60 + 400 * k, 300))
        figure[340:344, 150 + 400 * k : 400 + 400 * k] = 0  # a line leads on
    found = structure_images(FigureView(figure), WHOLE)
    assert len(found) == 3
    for rect, image in zip(photographs, sorted(found, key=lambda i: i.box[0]), strict=True):
        assert max(abs(a - b) for a, b in zip(image.box, as_fraction(figure, rect), strict=True)) < 0.02


def test_evenly_painted_icons_of_one_size_are_no_photographs() -> None:
    figure = paper(1600, 700)
    for k in range(3):
        left = 60 + 400 * k
        figure[300:390, left : left + 90] = (200, 40, 40)
        cv2.fillPoly(figure, [np.array([[left, 390], [left + 90, 300], [left + 90, 390]])], (60, 90, 180))
        figure[340:344, left + 90 : left + 340] = 0
    cv2.rectangle(figure, (1250, 250), (1500, 450), (40, 60, 160), 4)
    assert len(structure_images(FigureView(figure), WHOLE)) == 1, "one drawing"


def frame(figure: Picture, rect: Rect, missing: str = "") -> None:
    """Draw a border two pixels thick, without some of its sides."""
    left, top, right, bottom = rect
    sides = {
        "top": (left, top, right, top + 2),
        "bottom": (left, bottom - 2, right, bottom),
        "left": (left, top, left + 2, bottom),
        "right": (right - 2, top, right, bottom),
    }
    for name, (x0, y0, x1, y1) in sides.items():
        if name != missing:
            figure[y0:y1, x0:x1] = 0


@pytest.mark.parametrize("missing", ["", "top", "bottom", "left", "right"])
def test_a_frame_has_four_sides(missing: str) -> None:
    figure = paper(300, 260)
    frame(figure, (20, 30, 220, 180), missing)
    found = drawn_frames(canvas_of(figure), (10, 10, 290, 250), 60)
    assert found == ([] if missing else [(20, 30, 220, 180)])


@pytest.mark.parametrize(("second", "found"), [
    ((130, 20, 230, 120), True),
    ((130, 24, 230, 124), True),
    ((130, 30, 230, 130), False),  # shifted
    ((150, 20, 250, 120), False),  # far
    ((130, 20, 222, 120), False),  # narrower
    ((130, 20, 230, 112), False),  # lower
])  # fmt: skip
@pytest.mark.parametrize("turned", [False, True])
def test_neighbours_are_alike_and_close(second: Rect, found: bool, turned: bool) -> None:
    first: Rect = (20, 20, 120, 120)
    if turned:
        second = (second[1], second[0], second[3], second[2])
    assert _are_neighbours(first, second) is found
    assert _are_neighbours(second, first) is found


@pytest.mark.parametrize("missing", ["top", "bottom", "left", "right"])
@pytest.mark.parametrize("at", [0, 4, 8])
def test_a_place_in_a_grid_needs_every_side_but_not_every_pixel(missing: str, at: int) -> None:
    figure = paper(400, 400)
    rects = [(20 + 120 * (k % 3), 20 + 120 * (k // 3), 130 + 120 * (k % 3), 130 + 120 * (k // 3)) for k in range(9)]
    for k, rect in enumerate(rects):
        frame(figure, rect, missing if k == at else "")
    canvas = canvas_of(figure)
    assert framed_grid(canvas, canvas.rect, 60) == [rect for k, rect in enumerate(rects) if k != at]
    left, top = rects[at][:2]
    frame(figure, rects[at])
    figure[top : top + 2, left + 40 : left + 55] = 255  # a gap in its border
    canvas = canvas_of(figure)
    assert framed_grid(canvas, canvas.rect, 60) == rects


def test_rectangles_share_more_than_their_borders() -> None:
    assert _shared((0, 0, 100, 100), (50, 50, 150, 150))
    assert not _shared((0, 0, 100, 100), (97, 0, 197, 100))
    assert not _shared((0, 0, 100, 100), (0, 97, 100, 197))
    assert not _shared((300, 300, 400, 400), (397, 300, 497, 400))
    assert _shared((300, 300, 400, 400), (390, 390, 490, 490))
    assert not _shared((300, 300, 400, 400), (100, 300, 200, 400))


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("at", [0, 4])
def test_a_broken_border_is_found_from_either_end_of_a_row(at: int, turned: bool) -> None:
    figure = paper(760, 260)
    rects = [(40 + 120 * k, 60, 150 + 120 * k, 170) for k in range(5)]
    for rect in rects:
        frame(figure, rect)
    figure[60:62, rects[at][0] + 40 : rects[at][0] + 55] = 255
    where: Rect = (20, 30, 740, 240)
    if turned:
        figure = np.ascontiguousarray(figure.transpose(1, 0, 2))
        rects = [(y0, x0, y1, x1) for x0, y0, x1, y1 in rects]
        where = (30, 20, 240, 740)
    assert framed_grid(canvas_of(figure), where, 60) == rects
