"""Boxes: exact values, and laws that hold for every box."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.records import geometry as g

coordinates = st.floats(-1000, 1000, allow_nan=False)
boxes = st.tuples(coordinates, coordinates, coordinates, coordinates).map(g.as_box)
frames = boxes.filter(lambda box: g.width(box) > 1e-3 and g.height(box) > 1e-3)


def test_iou_of_half_overlapping_squares() -> None:
    assert g.iou((0, 0, 2, 2), (1, 0, 3, 2)) == pytest.approx(1 / 3)


def test_covered_fraction_is_relative_to_the_inner_box() -> None:
    assert g.covered_fraction((0, 0, 2, 2), (1, 0, 10, 10)) == 0.5
    assert g.covered_fraction((1, 0, 10, 10), (0, 0, 2, 2)) == pytest.approx(2 / 90)


def test_as_box_orders_edges_and_wants_four_values() -> None:
    assert g.as_box([3, 4, 1, 2]) == (1, 2, 3, 4)
    with pytest.raises(ValueError, match="unpack"):
        g.as_box([1, 2, 3])


def test_non_maximum_suppression_keeps_the_best_and_the_distant() -> None:
    kept = g.non_maximum_suppression([(0, 0, 10, 10), (1, 0, 11, 10), (50, 0, 60, 10)], [0.5, 0.9, 0.1])
    assert kept == [1, 2]


def test_union_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        g.union_box([])


def test_an_empty_frame_cannot_normalise() -> None:
    with pytest.raises(ValueError, match="empty frame"):
        g.normalise((0, 0, 1, 1), (2, 2, 2, 5))


@given(boxes, boxes)
def test_iou_is_symmetric_and_between_zero_and_one(a: g.Box, b: g.Box) -> None:
    assert g.iou(a, b) == g.iou(b, a)
    assert 0 <= g.iou(a, b) <= 1 + 1e-9


@given(frames)
def test_a_box_has_iou_one_with_itself(box: g.Box) -> None:
    assert g.iou(box, box) == pytest.approx(1)


@given(boxes, frames)
def test_denormalise_undoes_normalise(box: g.Box, frame: g.Box) -> None:
    back = g.denormalise(g.normalise(box, frame), frame)
    assert back == pytest.approx(box, abs=1e-6 * (1 + max(map(abs, (*box, *frame)))))


@given(boxes, frames)
def test_a_clipped_box_lies_in_the_frame(box: g.Box, frame: g.Box) -> None:
    assert g.contains(frame, g.clip(box, frame))


@given(st.lists(boxes, min_size=1, max_size=6))
def test_a_union_contains_its_parts(parts: list[g.Box]) -> None:
    union = g.union_box(parts)
    assert all(g.contains(union, part) for part in parts)


@given(st.lists(st.tuples(frames, st.floats(0, 1)), max_size=8))
def test_survivors_of_suppression_do_not_overlap_beyond_the_threshold(items: list[tuple[g.Box, float]]) -> None:
    kept = g.non_maximum_suppression([box for box, _ in items], [score for _, score in items], 0.3)
    for i, first in enumerate(kept):
        for second in kept[i + 1 :]:
            assert g.iou(items[first][0], items[second][0]) <= 0.3


def test_the_most_alike_boxes_are_matched_first_and_each_once() -> None:
    first: list[g.Box] = [(0, 0, 10, 10), (1, 0, 11, 10), (50, 50, 60, 60)]
    second: list[g.Box] = [(1, 0, 11, 10), (0, 1, 10, 11), (90, 90, 99, 99)]
    assert g.matched_boxes(first, second, 0.5) == {1: 0, 0: 1}
    assert g.matched_boxes(first, second, 0.99) == {1: 0}
    assert g.matched_boxes([], second, 0.5) == {}


@given(st.lists(boxes, max_size=5), st.lists(boxes, max_size=5), st.floats(0.1, 1))
def test_matches_are_one_to_one_and_alike_enough(first: list[g.Box], second: list[g.Box], least: float) -> None:
    found = g.matched_boxes(first, second, least)
    assert len(set(found.values())) == len(found)
    assert all(g.iou(first[i], second[k]) >= least for i, k in found.items())
    free = [(i, k) for i in range(len(first)) for k in range(len(second)) if i not in found and k not in found.values()]
    assert all(g.iou(first[i], second[k]) < least for i, k in free)


GRID = [(0.0, 0.0, 0.48, 0.48), (0.52, 0.0, 1.0, 0.48), (0.0, 0.52, 0.48, 1.0), (0.52, 0.52, 1.0, 1.0)]


def test_reading_order_is_by_rows_and_column_order_by_columns() -> None:
    assert g.reading_order(GRID) == [0, 1, 2, 3]
    assert g.column_order(GRID) == [0, 2, 1, 3]


def test_boxes_that_overlap_by_half_of_the_lower_one_share_a_row() -> None:
    assert g.reading_order([(0.5, 0.0, 0.9, 0.4), (0.0, 0.2, 0.4, 0.6)]) == [1, 0]
    assert g.reading_order([(0.5, 0.0, 0.9, 0.4), (0.0, 0.21, 0.4, 0.61)]) == [0, 1]


unit = st.floats(-0.2, 1.2)


@given(st.tuples(unit, unit, unit, unit), st.integers(1, 4000), st.integers(1, 4000))
def test_a_crop_lies_in_the_figure_and_is_never_empty(box: tuple[float, float, float, float], w: int, h: int) -> None:
    left, top, right, bottom = g.crop_box(box, w, h)
    assert 0 <= left < right <= w
    assert 0 <= top < bottom <= h


def test_the_edges_of_a_crop_are_rounded_so_that_an_edge_on_a_pixel_stays_there() -> None:
    assert all(g.crop_box((pixel / 100, pixel / 100, 1.0, 1.0), 100, 100)[:2] == (pixel, pixel) for pixel in range(100))
    assert g.crop_box((0.126, 0.124, 1.0, 1.0), 100, 100) == (13, 12, 100, 100)
