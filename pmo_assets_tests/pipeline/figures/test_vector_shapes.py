"""Shapes over bitmaps are named by their geometry; what is no shape of a mark, and what is hostile, harms nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.figures.page import page_content
from pmo_assets.pipeline.figures.pointers import brace_ends, is_arrow
from pmo_assets.pipeline.figures.vector_shapes import (
    MAX_BESIDE,
    MAX_SHAPES,
    kind_of_path,
    ring_of_path,
    shapes_on_bitmaps,
)
from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, photograph
from pmo_assets_tests.pipeline.figures.whole import extraction_of

ARROW = [(0, 0), (30, 25), (30, 10), (100, 10), (100, -10), (30, -10), (30, -25)]
"""Tip first."""

LETTER_V = [(0, 0), (20, 0), (40, 60), (60, 0), (80, 0), (50, 90), (30, 90)]


def turned(points: Sequence[tuple[float, float]], degrees: float) -> list[tuple[float, float]]:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return [(200 + c * x - s * y, 200 + s * x + c * y) for x, y in points]


def lines(points: Sequence[tuple[float, float]]) -> list[tuple[Any, ...]]:
    return [("l", a, b) for a, b in pairwise(points)]


@pytest.mark.parametrize("degrees", [0, 17, 90, 200])
@pytest.mark.parametrize("start", [0, 3, 6])
def test_arrows_are_known_in_every_direction_wherever_their_path_begins(degrees: float, start: int) -> None:
    points = turned(ARROW[start:] + ARROW[:start], degrees)
    assert is_arrow(points)
    assert kind_of_path(lines([*points, points[0]]), filled=True) == "arrow"
    assert kind_of_path(lines(points), filled=True) == "arrow", "a filling closes its path"


def test_letters_and_other_polygons_are_no_arrows() -> None:
    assert kind_of_path(lines([*LETTER_V, LETTER_V[0]]), filled=True) == "patch"
    heptagon = [(math.cos(k * math.tau / 7), math.sin(k * math.tau / 7)) for k in range(7)]
    assert kind_of_path(lines([*heptagon, heptagon[0]]), filled=True) == "patch"


def test_shapes_are_named_by_their_geometry() -> None:
    def curve(a: tuple[float, float], b: tuple[float, float]) -> tuple[Any, ...]:
        return ("c", a, a, b, b)

    ring = [(10.0, 0.0), (0.0, 10.0), (-10.0, 0.0), (0.0, -10.0), (10.0, 0.0)]
    circle = [curve(a, b) for a, b in pairwise(ring)]
    box = [(0, 0), (40, 0), (40, 30), (0, 30), (0, 0)]
    assert kind_of_path(lines([(0, 0), (30, 4)]), filled=False) == "line"
    assert kind_of_path(lines([(0, 0), (30, 0), (30, 1), (0, 1)]), filled=True) == "line"
    assert kind_of_path(lines([(0, 0), (9, 4), (9, -4)]), filled=True) == "head"
    assert kind_of_path(lines([(9, 4), (0, 0), (9, -4)]), filled=False) == "head"
    assert kind_of_path(lines([(0, 0), (9, 1), (40, -4)]), filled=False) == "curve"
    assert kind_of_path(lines(box), filled=False) == "rectangle"
    assert kind_of_path(lines(turned(box, 30)), filled=False) == "rectangle"
    assert kind_of_path([("re", (0, 0, 30, 20), 1)], filled=False) == "rectangle"
    assert kind_of_path([("re", (0, 0, 30, 1), 1)], filled=True) == "line"
    assert kind_of_path([("re", (0, 0, 30, 9), 1)] * 2, filled=True) == "patch"
    assert kind_of_path(circle, filled=False) == "ellipse"
    assert kind_of_path(circle[:3], filled=False) == "curve"
    assert kind_of_path(lines([(k, k % 7) for k in range(100)]), filled=False) == "curve"


def round_about(sides: tuple[float, float], way: int) -> list[tuple[float, float]]:
    turns = [2 * math.pi * way * k / 8 for k in range(9)]
    return [(50 + sides[0] * math.cos(turn), 50 + sides[1] * math.sin(turn)) for turn in turns]


def curves(points: Sequence[tuple[float, float]]) -> list[tuple[Any, ...]]:
    return [("c", a, a, b, b) for a, b in pairwise(points)]


@pytest.mark.parametrize("sides", [(20.0, 20.0), (30.0, 12.0)])
def test_a_stroke_that_was_made_a_filling_is_an_outline(sides: tuple[float, float]) -> None:
    outer = round_about(sides, 1)
    inner = round_about((0.93 * sides[0], 0.93 * sides[1]), -1)
    ring = [*curves(outer), ("l", outer[-1], inner[0]), *curves(inner), ("l", inner[-1], outer[0])]
    assert ring_of_path(ring) == "ellipse"
    letter = round_about((0.6 * sides[0], 0.6 * sides[1]), -1)
    assert ring_of_path([*curves(outer), *curves(letter)]) is None, "an O is thicker"
    assert ring_of_path(curves(outer)) is None, "a disc"
    assert ring_of_path(curves(outer[:5]) + curves(inner[4:])) is None, "a part of one"
    assert ring_of_path([("re", (0, 0, 30, 20), 1), ("re", (1, 1, 29, 19), -1)]) == "rectangle"
    assert ring_of_path([("re", (0, 0, 30, 20), 1), ("re", (8, 5, 22, 15), -1)]) is None
    path = {"type": "f", "fill": (1.0, 0.0, 0.0), "items": ring}
    (shape,) = shapes_on_bitmaps([path], np.asarray([[30.0, 30.0, 70.0, 70.0]]), [(0, 0, 100, 100)])
    assert (shape.kind, shape.filled) == ("ellipse", False)


POINT = st.tuples(*[st.floats(allow_nan=True, allow_infinity=True, width=32)] * 2)


@given(
    st.lists(st.tuples(st.sampled_from(["l", "c"]), POINT, POINT, POINT, POINT), min_size=1, max_size=9), st.booleans()
)
def test_no_coordinates_are_a_fault(items: list[tuple[Any, ...]], filled: bool) -> None:
    path = [(i[0], i[1], i[2]) if i[0] == "l" else i for i in items]
    assert kind_of_path(path, filled=filled)
    assert ring_of_path(path) in {None, "ellipse"}


def test_only_what_lies_on_a_picture_is_kept_and_not_without_end() -> None:
    path = {"type": "f", "fill": (1.0, 0.0, 0.0), "items": lines([(0, 0), (9, 4), (9, -4)])}
    boxes = np.asarray([[10, 10, 20, 20], [500, 10, 510, 20], [math.nan] * 4, [5, 5, 5, 60]], dtype=np.float64)
    found = shapes_on_bitmaps([path] * 4, boxes, [(0, 0, 100, 100), (498, 8, 512, 22)])
    assert len(found) == 2
    first, last = found[0], found[-1]
    assert (first.kind, first.bbox, first.colour, first.filled) == ("head", (10, 10, 20, 20), "#ff0000", True)
    assert list(last.bbox) == [5, 5, 5, 60], "a line without width has an extent all the same"
    many = shapes_on_bitmaps([path] * 3 * MAX_SHAPES, np.repeat(boxes[:1], 3 * MAX_SHAPES, axis=0), [(0, 0, 100, 100)])
    assert len(many) == MAX_SHAPES
    nothing = {"type": "s", "color": None, "items": path["items"]}
    assert shapes_on_bitmaps([nothing], boxes[:1], [(0, 0, 100, 100)]) == ()


BRACE = [(4, 0), (2, 1), (2, 14), (0, 15), (2, 16), (2, 29), (4, 30)]
"""Opens to the right; its point is the fourth corner."""


@pytest.mark.parametrize("degrees", [0, 40, 90, 215])
def test_braces_and_square_brackets_have_a_point_and_an_opening(degrees: float) -> None:
    corners = turned(BRACE, degrees)
    ends = brace_ends(corners)
    assert ends is not None
    assert ends[0] == pytest.approx(turned([(0, 15)], degrees)[0])
    assert ends[1] == pytest.approx(turned([(4, 15)], degrees)[0])
    assert kind_of_path(curves(corners), filled=False) == "brace"
    assert kind_of_path(curves(corners), filled=True) == "patch"
    square = turned([(4, 0), (0, 0), (0, 30), (4, 30)], degrees)
    assert kind_of_path(lines(square), filled=False) == "brace"
    assert kind_of_path(lines(turned([(30, 0), (0, 0), (0, 30), (30, 30)], degrees)), filled=False) == "curve", "a box"
    assert kind_of_path(curves(corners[:3] + corners[4:]), filled=False) == "curve", "no point"
    lame = [*corners[:5], *turned([(2, 20), (4, 21)], degrees)]
    assert kind_of_path(curves(lame), filled=False) == "curve", "its halves differ"


def test_what_one_pen_draws_in_one_path_is_several_shapes() -> None:
    path = {"type": "s", "color": (0.0, 0.0, 0.0), "width": 1.0, "items": []}
    apart = [*lines([(10, 10), (60, 12)]), *curves([(20 + 2 * x, 40 + y) for x, y in BRACE])]
    boxes = np.asarray([[9.5, 9.5, 60.5, 70.5]])
    found = shapes_on_bitmaps([{**path, "items": apart}], boxes, [(0, 0, 100, 100)])
    assert [shape.kind for shape in found] == ["line", "brace"]
    assert found[0].bbox == pytest.approx((9.5, 9.5, 60.5, 12.5))
    crossing = [*lines([(10, 10), (20, 20)]), *lines([(20, 10), (10, 20)])]
    assert [s.kind for s in shapes_on_bitmaps([{**path, "items": crossing}], boxes, [(0, 0, 100, 100)])] == ["star"]
    dashes = [("l", (10 + 3 * k, 10), (11 + 3 * k, 10)) for k in range(16)]
    (line,) = shapes_on_bitmaps([{**path, "items": dashes}], boxes, [(0, 0, 100, 100)])
    assert (line.kind, line.tip, line.tail) == ("line", (56, 10), (10, 10))
    bent = [("l", (10 + 3 * k, 10 + k % 2), (11 + 3 * k, 12)) for k in range(16)]
    assert [s.kind for s in shapes_on_bitmaps([{**path, "items": bent}], boxes, [(0, 0, 100, 100)])] == ["curve"]


def test_arrows_and_braces_beside_a_picture_are_kept_and_axes_are_not() -> None:
    path = {"type": "s", "color": (0.0, 0.0, 0.0), "width": 1.0}
    ticks = [{**path, "items": lines([(104, 5 * k), (108, 5 * k)])} for k in range(MAX_BESIDE + 1)]
    boxes = np.asarray([[104, 0.5 * k, 108, 0.5 * k] for k in range(MAX_BESIDE + 1)], dtype=np.float64)
    picture = [(0.0, 0.0, 100.0, 100.0)]
    assert len(shapes_on_bitmaps(ticks[:3], boxes[:3], picture)) == 3
    assert shapes_on_bitmaps(ticks, boxes, picture) == (), "a chart's"
    curve = {**path, "items": curves([(104, 10), (120, 18), (130, 60)])}
    assert shapes_on_bitmaps([curve], np.asarray([[104.0, 10, 130, 60]]), picture) == ()
    assert shapes_on_bitmaps(ticks[:1], np.asarray([[200.0, 0, 204, 0]]), picture) == (), "far away"


def test_shapes_over_a_figures_picture_are_kept_with_it() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.picture(page, (60, 60, 280, 220), photograph(seed=1))
    page.draw_polyline([(100, 100), (112, 104), (112, 96)], color=None, fill=(1, 1, 0), closePath=True)
    page.draw_rect(pymupdf.Rect(150, 120, 190, 150), color=(0, 0, 1), width=1)
    manuscript.caption(page, 50, 245, "Figure 1. A photograph with an arrowhead and a box.", 490)
    manuscript.body(page, (50, 300, 545, 800))
    assert {shape.kind for shape in page_content(page).shapes} == {"head", "rectangle"}
    figure = extraction_of(manuscript, False, 1).figures[0]
    head, box = sorted(figure.shapes, key=lambda shape: shape.kind)
    assert (head.kind, head.colour, head.filled) == ("head", "#ffff00", True)
    assert head.box == pytest.approx((40 / 220, 36 / 160, 52 / 220, 44 / 160), abs=0.01)
    assert (box.kind, box.filled) == ("rectangle", False)
    assert box.box == pytest.approx((89.5 / 220, 59.5 / 160, 130.5 / 220, 90.5 / 160), abs=0.01)
