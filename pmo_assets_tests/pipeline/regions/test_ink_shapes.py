"""The shape of ink tells rings, boxes, heads, arrows and lines apart, and where they point."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from pmo_assets.pipeline.regions.ink_shapes import shape_of_ink

YELLOW = (255, 255, 0)


def ground(wide: int, tall: int) -> np.ndarray:
    return np.random.default_rng(2).integers(30, 70, (tall, wide, 3), dtype=np.uint8)


def test_rings_and_boxes_go_round() -> None:
    pixels = ground(60, 50)
    cv2.ellipse(pixels, (30, 25), (28, 23), 0, 0, 360, YELLOW, 2, cv2.LINE_AA)
    assert shape_of_ink(pixels) == ("circle", None)
    pixels = ground(60, 50)
    cv2.rectangle(pixels, (1, 1), (58, 48), YELLOW, 2)
    assert shape_of_ink(pixels) == ("box", None)


@pytest.mark.parametrize(("start", "tip"), [((4, 4), (56, 40)), ((56, 40), (4, 4)), ((4, 40), (56, 10))])
def test_an_arrow_points_with_its_wide_end(start: tuple[int, int], tip: tuple[int, int]) -> None:
    pixels = ground(60, 46)
    cv2.arrowedLine(pixels, start, tip, YELLOW, 2, cv2.LINE_AA, tipLength=0.25)
    kind, point = shape_of_ink(pixels)
    assert kind == "arrow"
    assert point is not None
    assert np.hypot(point[0] * 60 - tip[0], point[1] * 46 - tip[1]) < 6


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_triangle_points_with_its_sharpest_corner(mirrored: bool) -> None:
    pixels = ground(50, 40)
    cv2.fillPoly(pixels, [np.asarray([(2, 20), (46, 4), (46, 36)], np.int32)], YELLOW, cv2.LINE_AA)
    kind, point = shape_of_ink(np.ascontiguousarray(pixels[:, ::-1]) if mirrored else pixels)
    assert kind == "arrowhead"
    assert point is not None
    assert np.hypot(point[0] * 50 - (47 if mirrored else 2), point[1] * 40 - 20) < 6


def test_a_line_is_a_line_and_nothing_is_nothing() -> None:
    pixels = ground(60, 40)
    cv2.line(pixels, (2, 4), (57, 36), YELLOW, 2, cv2.LINE_AA)
    assert shape_of_ink(pixels) == ("line", None)
    for size in ((1, 1, 3), (3, 40, 3), (90, 2, 3)):
        assert shape_of_ink(np.zeros(size, np.uint8))[0]
