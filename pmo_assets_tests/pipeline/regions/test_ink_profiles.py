"""Widths along thin marks tell heads from bars and tips from tails, however the mark is turned and coloured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pmo_assets.pipeline.regions.ink_profiles import has_like_ends, ink_profile, tip_of_profile
from pmo_assets.records.geometry import Box
from pmo_assets_tests.examples import examples

Outline = Sequence[tuple[float, float]]

LENGTH = 100.0
HEAD: Final[Outline] = [(0, 0), (22, 10), (22, 2), (100, 2), (100, -2), (22, -2), (22, -10)]
FANCY: Final[Outline] = [
    (0, 0),
    (18, 9),
    (16, 4),
    (60, 6),
    (100, 10),
    (97, 0),
    (100, -10),
    (60, -6),
    (16, -4),
    (18, -9),
]
WEDGE: Final[Outline] = [(0, 0), (100, 8), (100, -8)]
PLAIN: Final[Outline] = [(0, 1.5), (100, 1.5), (100, -1.5), (0, -1.5)]
CALLIPER: Final[Outline] = [
    (0, 9), (3, 9), (3, 1.5), (97, 1.5), (97, 9), (100, 9), (100, -9), (97, -9), (97, -1.5), (3, -1.5), (3, -9),
    (0, -9),
]  # fmt: skip
"""Outlines whose tip, where they have one, is the origin."""


def drawn(
    outline: Outline, degrees: float, ink: tuple[int, int, int] = (255, 255, 0)
) -> tuple[NDArray[np.uint8], Box, tuple[float, float]]:
    """A picture with a mark, the mark's box and its tip, normalised."""
    pixels = np.random.default_rng(3).integers(60, 90, (180, 240, 3), dtype=np.uint8)
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    points = np.asarray([(c * (x - 50) - s * y + 120, s * (x - 50) + c * y + 90) for x, y in outline])
    cv2.fillPoly(pixels, [np.round(points * 8).astype(np.int32)], ink, cv2.LINE_AA, 3)
    (left, top), (right, bottom) = points.min(axis=0), points.max(axis=0)
    tip = (points[0][0] / 240, points[0][1] / 180)
    return pixels, (left / 240, top / 180, right / 240, bottom / 180), tip


ASLANT = st.builds(lambda quarter, turned: 90 * quarter + turned, st.integers(0, 3), st.floats(3, 87))
"""Degrees at which a thin line has no long steps of pixels, as one that is nearly level or upright has."""


@examples(30)
@given(ASLANT, st.sampled_from([(255, 255, 0), (0, 0, 0), (255, 255, 255), (0, 160, 240)]))
def test_lines_and_callipers_have_like_ends_and_arrows_have_not(degrees: float, ink: tuple[int, int, int]) -> None:
    for outline, alike in ((PLAIN, True), (CALLIPER, True), (HEAD, False), (WEDGE, False)):
        pixels, box, _ = drawn(outline, degrees, ink)
        profile = ink_profile(pixels, box)
        assert profile is not None
        assert has_like_ends(profile) == alike


@examples(30)
@given(st.floats(0, 360), st.sampled_from([HEAD, FANCY, WEDGE]))
def test_heads_and_the_narrow_ends_of_wedges_are_tips(degrees: float, outline: Outline) -> None:
    pixels, box, tip = drawn(outline, degrees)
    profile = ink_profile(pixels, box)
    assert profile is not None
    found = tip_of_profile(profile)
    assert found is not None
    assert math.hypot((found[0] - tip[0]) * 240, (found[1] - tip[1]) * 180) <= 0.06 * LENGTH


def test_what_has_no_head_tells_no_tip() -> None:
    for outline in (PLAIN, CALLIPER):
        pixels, box, _ = drawn(outline, 20)
        profile = ink_profile(pixels, box)
        assert profile is not None
        assert tip_of_profile(profile) is None


@pytest.mark.parametrize("box", [(0.4, 0.4, 0.6, 0.6), (0.5, 0.5, 0.5, 0.5), (0.0, 0.0, 1.0, 1.0)])
def test_a_flat_place_has_no_profile(box: Box) -> None:
    assert ink_profile(np.full((50, 80, 3), 99, np.uint8), box) is None
    assert ink_profile(np.zeros((1, 1, 3), np.uint8), box) is None
