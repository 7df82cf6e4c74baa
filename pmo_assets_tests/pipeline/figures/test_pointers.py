"""Arrows, heads and strokes point where they were drawn to point, however turned, large and ordered they are."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.figures.pointers import (
    arrow_ends,
    crossing_strokes,
    dart_ends,
    is_star,
    stroked_arrow_ends,
    triangle_ends,
    without_straight_corners,
)
from pmo_assets.pipeline.figures.vector_shapes import shape_of_path
from pmo_assets.records.geometry import Point
from pmo_assets_tests.examples import examples

ANGLES = st.floats(0, 360)
SIZES = st.floats(2, 200)


def moved(points: Sequence[Point], degrees: float, size: float) -> list[Point]:
    c, s = math.cos(math.radians(degrees)) * size, math.sin(math.radians(degrees)) * size
    return [(300 + c * x - s * y, 300 + s * x + c * y) for x, y in points]


def near(found: Point, true: Point, size: float) -> bool:
    return math.dist(found, true) <= 0.02 * size


@examples(60)
@given(ANGLES, SIZES, st.floats(0.2, 0.6), st.integers(0, 2))
def test_a_triangle_points_with_the_corner_between_its_equal_sides(
    degrees: float, size: float, half: float, first: int
) -> None:
    if abs(math.hypot(1, half) - 2 * half) < 0.15:
        half = 0.3  # nearly equilateral
    tip, *back = moved([(0, 0), (1, half), (1, -half)], degrees, size)
    corners = [tip, *back]
    ends = triangle_ends(corners[first:] + corners[:first])
    assert ends is not None
    assert near(ends[0], tip, size)
    assert near(ends[1], moved([(1, 0)], degrees, size)[0], size)


def test_a_triangle_of_equal_sides_points_nowhere_and_one_of_different_sides_neither() -> None:
    assert triangle_ends([(0, 0), (1, 0), (0.5, 0.75**0.5)]) is None
    assert triangle_ends([(0, 0), (4, 0), (1.2, 1.6)]) is None


@examples(60)
@given(ANGLES, SIZES, st.floats(0.25, 0.6), st.floats(0.45, 0.85), st.integers(0, 3))
def test_a_dart_points_away_from_its_notch(degrees: float, size: float, half: float, notch: float, first: int) -> None:
    corners = moved([(0, 0), (1, half), (notch, 0), (1, -half)], degrees, size)
    ends = dart_ends(corners[first:] + corners[:first])
    assert ends is not None
    assert near(ends[0], corners[0], size)
    assert near(ends[1], corners[2], size)


def test_a_kite_and_a_rectangle_are_no_darts() -> None:
    assert dart_ends([(0, 0), (1, 0.5), (1.5, 0), (1, -0.5)]) is None
    assert dart_ends([(0, 0), (2, 0), (2, 1), (0, 1)]) is None


@examples(60)
@given(ANGLES, SIZES, st.integers(0, 6), st.booleans())
def test_a_polygon_points_from_its_shafts_end_to_its_tip(degrees: float, size: float, first: int, back: bool) -> None:
    upper = [(0.3, 0.25), (0.3, 0.1), (1.0, 0.1)]
    corners = moved([(0, 0), *upper, *((x, -y) for x, y in upper[::-1])], degrees, size)
    order = corners[first:] + corners[:first]
    ends = arrow_ends(order[::-1] if back else order)
    assert ends is not None
    assert near(ends[0], corners[0], size)
    assert near(ends[1], moved([(1, 0)], degrees, size)[0], size)


@examples(60)
@given(ANGLES, SIZES, st.floats(0.3, 0.9), st.permutations(range(3)), st.lists(st.booleans(), min_size=3, max_size=3))
def test_strokes_point_to_where_shaft_and_wings_meet(
    degrees: float, size: float, half: float, order: list[int], turned: list[bool]
) -> None:
    tail, tip, one, other = moved([(1, 0), (0, 0), (0.3, 0.3 * half), (0.3, -0.3 * half)], degrees, size)
    strokes = [(tail, tip), (tip, one), (tip, other)]
    ends = stroked_arrow_ends([strokes[k][::-1] if turned[k] else strokes[k] for k in order])
    assert ends is not None
    assert near(ends[0], tip, size)
    assert near(ends[1], tail, size)


def test_a_shaft_at_the_base_of_a_triangle_and_a_bent_one_point_as_well() -> None:
    tail, base, tip, one, other = (5.0, 0.0), (1.0, 0.0), (0.0, 0.0), (1.0, 0.4), (1.0, -0.4)
    assert stroked_arrow_ends([(tail, base), (one, tip), (tip, other), (other, one)]) == (tip, tail)
    knee = (3.0, 0.0)
    assert stroked_arrow_ends([((4.0, 2.0), knee), (knee, tip), (one, tip), (tip, other)]) == (tip, (4.0, 2.0))


@pytest.mark.parametrize(
    "strokes",
    [
        [((0, 0), (1, 0)), ((0, 0), (-0.5, 0.8)), ((0, 0), (-0.5, -0.8))],  # wings that lean forwards
        [((0, 0), (1, 0)), ((0, 0), (0.3, 0.2)), ((0, 0), (0.3, 0.25))],  # both on one side
        [((0, 0), (1, 0)), ((1, 0), (1, 1)), ((1, 1), (0, 1)), ((0, 1), (0, 0))],
        [((0, 0), (0, 0))] * 3,
    ],
)
def test_other_strokes_are_no_arrows(strokes: list[tuple[Point, Point]]) -> None:
    assert stroked_arrow_ends(strokes) is None


def test_stars_and_crosses_are_known_and_circles_of_many_corners_are_not() -> None:
    ring = [(math.cos(k * math.pi / 5), math.sin(k * math.pi / 5)) for k in range(10)]
    assert is_star([(x * (1 - 0.55 * (k % 2)), y * (1 - 0.55 * (k % 2))) for k, (x, y) in enumerate(ring)])
    assert not is_star(ring)
    assert crossing_strokes([((-1, 0), (1, 0)), ((0, -1), (0, 1))])
    assert not crossing_strokes([((-1, 0), (1, 0)), ((1, -1), (1, 1))])


def test_corners_on_straight_sides_do_not_count() -> None:
    assert without_straight_corners([(0, 0), (1, 0), (2, 0), (2, 2), (0, 2), (0, 0)]) == [
        (0, 0),
        (2, 0),
        (2, 2),
        (0, 2),
    ]


def test_lines_and_open_curves_know_their_ends_and_closed_ones_have_none() -> None:
    assert shape_of_path([("l", (1, 2), (9, 4))], filled=False) == ("line", ((9, 4), (1, 2)))
    assert shape_of_path([("re", (0, 0, 30, 1), 1)], filled=True)[1] in (((30, 0.5), (0, 0.5)), ((0, 0.5), (30, 0.5)))
    wave = [("c", (k, 0), (k, 1), (k + 1, 1), (k + 1, 0)) for k in range(3)]
    assert shape_of_path(wave, filled=False) == ("curve", ((3, 0), (0, 0)))
    assert shape_of_path([*wave, ("l", (3, 0), (0, 0))], filled=False)[1] is None


POINT = st.tuples(*[st.floats(allow_nan=False, width=32)] * 2)


@examples(80)
@given(st.lists(st.tuples(POINT, POINT), max_size=12))
def test_no_strokes_are_a_fault(strokes: list[tuple[Point, Point]]) -> None:
    stroked_arrow_ends(strokes)
    crossing_strokes(strokes)
    is_star([a for a, _ in strokes] or [(0.0, 0.0)])
