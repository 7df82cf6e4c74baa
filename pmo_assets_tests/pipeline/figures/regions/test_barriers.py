"""Barriers: what a rectangle crosses, and what it only touches."""

from __future__ import annotations

import numpy as np
import pytest

from pmo_assets.pipeline.figures.regions.barriers import core_box, distance, is_blocked
from pmo_assets.records.geometry import Box

LINE = np.array([[100.0, 200.0, 300.0, 210.0]])


@pytest.mark.parametrize(
    ("rectangle", "blocked"),
    [
        ((50, 150, 350, 250), True),
        ((50, 150, 350, 202), False),  # reaches into the line's upper edge only
        ((50, 150, 350, 204), True),
        ((50, 150, 111, 250), False),  # reaches into its first letters only
        ((50, 150, 113, 250), True),
        ((50, 100, 350, 190), False),
    ],
)
def test_a_rectangle_is_blocked_by_what_it_crosses(rectangle: Box, blocked: bool) -> None:
    assert is_blocked(LINE, rectangle) == blocked


def test_nothing_blocks_without_barriers() -> None:
    assert not is_blocked(np.zeros((0, 4)), (0.0, 0.0, 1000.0, 1000.0))


def test_distance_is_the_larger_gap() -> None:
    assert distance((0, 0, 10, 10), (13, 14, 20, 20)) == 4
    assert distance((13, 14, 20, 20), (0, 0, 10, 10)) == 4
    assert distance((0, 0, 10, 10), (5, 10, 20, 20)) == 0


def test_core_leaves_the_width() -> None:
    assert core_box((0.0, 0.0, 10.0, 8.0), 0.25) == (0.0, 2.0, 10.0, 6.0)
