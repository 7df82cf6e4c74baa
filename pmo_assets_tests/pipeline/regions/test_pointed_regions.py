"""Regions that marks point at: before the tip, as large as what is seen there, within the image."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pmo_assets.pipeline.regions.pointed_regions import pointed_region
from pmo_assets.records.geometry import Box, centre, contains, height, width
from pmo_assets.records.regions import Mark, MarkKind

WHOLE: Box = (0.0, 0.0, 1.0, 1.0)
SIDE = 300


def picture(place: tuple[float, float], radius: float, level: int = 200) -> NDArray[np.uint8]:
    """A grey picture with a disc; place and radius as parts of its side."""
    rows, columns = np.mgrid[:SIDE, :SIDE] / SIDE
    inside = (columns - place[0]) ** 2 + (rows - place[1]) ** 2 <= radius**2
    return np.where(inside[..., None], level, 90).astype(np.uint8).repeat(3, axis=2)


def mark(kind: MarkKind, box: Box, tip: tuple[float, float] | None = None, direction: float | None = None) -> Mark:
    return Mark(kind, "white", "#ffffff", box, tip, direction, None, "vector", 1.0, 1.0)


def arrow_at(place: tuple[float, float], radius: float, direction: float) -> Mark:
    """An arrow whose tip touches a disc, pointing into it; direction in degrees, 0 right, 90 up."""
    angle = math.radians(direction)
    away = (-math.cos(angle), math.sin(angle))
    tip = (place[0] + away[0] * radius, place[1] + away[1] * radius)
    tail = (tip[0] + away[0] * 0.1, tip[1] + away[1] * 0.1)
    box = (min(tip[0], tail[0]), min(tip[1], tail[1]), max(tip[0], tail[0]), max(tip[1], tail[1]))
    return mark("arrow", box, tip, direction)


@pytest.mark.parametrize("radius", [0.02, 0.04, 0.07])
@pytest.mark.parametrize("direction", [0, 45, 90, 200, 300])
def test_an_arrow_shows_what_lies_before_its_tip_in_its_size(radius: float, direction: float) -> None:
    place = (0.5, 0.5)
    box = pointed_region(arrow_at(place, radius, direction), picture(place, radius), WHOLE)
    assert centre(box) == pytest.approx(place, abs=radius * 0.8)
    assert 0.5 < width(box) / (2 * radius) < 2.5


def test_of_two_findings_the_one_that_it_points_at() -> None:
    pixels = np.maximum(picture((0.3, 0.5), 0.04), picture((0.7, 0.5), 0.04))
    box = pointed_region(arrow_at((0.7, 0.5), 0.04, 180), pixels, WHOLE)
    assert centre(box)[0] == pytest.approx(0.7, abs=0.04)


def test_circles_and_boxes_hold_what_they_show() -> None:
    around = (0.2, 0.3, 0.4, 0.5)
    for kind in ("circle", "box"):
        assert pointed_region(mark(kind, around), picture((0.3, 0.4), 0.05), WHOLE) == around


def test_an_asterisk_shows_what_it_lies_on() -> None:
    box = pointed_region(mark("asterisk", (0.49, 0.49, 0.51, 0.51)), picture((0.5, 0.5), 0.06), WHOLE)
    assert contains(box, (0.46, 0.46, 0.54, 0.54))


def test_where_nothing_is_seen_a_small_place_before_the_tip() -> None:
    pixels = np.full((SIDE, SIDE, 3), 90, np.uint8)
    box = pointed_region(arrow_at((0.5, 0.5), 0.05, 0), pixels, WHOLE)
    assert centre(box)[0] > 0.45
    assert 0 < width(box) < 0.2


@given(
    kind=st.sampled_from(["arrow", "arrowhead", "circle", "box", "asterisk", "line", "other"]),
    corner=st.tuples(*[st.floats(0, 0.9)] * 2),
    size=st.tuples(*[st.floats(0.001, 0.3)] * 2),
    direction=st.none() | st.floats(-180, 180),
    shape=st.tuples(st.integers(1, 40), st.integers(1, 40)),
)
def test_every_region_lies_in_the_image(
    kind: MarkKind, corner: tuple[float, float], size: tuple[float, float], direction: float | None,
    shape: tuple[int, int],
) -> None:  # fmt: skip
    image = (0.1, 0.1, 0.9, 0.9)
    own = (*corner, corner[0] + size[0], corner[1] + size[1])
    tip = None if direction is None else corner
    pixels = np.random.default_rng(0).integers(0, 255, (*shape, 3), np.uint8)
    box = pointed_region(mark(kind, own, tip, direction), pixels, image)
    assert contains(image, box, 1e-9)
    assert min(width(box), height(box)) >= 0
