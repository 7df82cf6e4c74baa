"""Pictures in another size: areas are averaged, in whichever steps."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.detection.reducing import reduced, resized
from pmo_assets_tests.examples import examples


def smooth(width: int, height: int) -> np.ndarray:
    """Return (height, width, 3) uint8 that rises to the right and downwards."""
    x, y = np.meshgrid(np.linspace(0, 120, width), np.linspace(0, 120, height))
    return np.dstack([x + y, 255 - x - y, x]).astype(np.uint8)


@examples(60)
@given(st.integers(1, 700), st.integers(1, 700), st.integers(1, 90), st.integers(1, 90), st.booleans())
def test_it_says_what_averaging_in_one_step_says(wide: int, tall: int, w: int, h: int, quickly: bool) -> None:
    size = (min(w, wide), min(h, tall))
    pixels = smooth(wide, tall)
    at_once = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    found = reduced(pixels, size, quickly=quickly)
    assert found.shape == at_once.shape
    assert found.dtype == np.uint8
    # A row left out, and a rounding per halving: as much as neighbouring pixels of the result differ, and 3 levels.
    step = 240 // min(size) + 3 if min(size) > 1 else 240
    assert np.abs(found.astype(int) - at_once).max() <= step


@pytest.mark.parametrize("quickly", [False, True])
def test_fine_lines_become_grey_and_do_not_vanish(quickly: bool) -> None:
    pixels = np.full((800, 1200, 3), 255, np.uint8)
    pixels[:, ::4] = 0
    found = reduced(pixels, (300, 200), quickly=quickly)
    assert np.abs(found.astype(int) - 191).max() <= 2


def test_part_of_a_picture_is_reduced_without_a_copy_of_it() -> None:
    pixels = smooth(640, 480)
    part = pixels[10:410, 20:420]
    assert (reduced(part, (100, 100)) == reduced(np.ascontiguousarray(part), (100, 100))).all()
    assert (reduced(part, (400, 400)) == part).all()


def test_pictures_with_fewer_pixels_than_asked_for_are_interpolated() -> None:
    pixels = np.asarray([[0, 100]], np.uint8)
    assert resized(pixels, (4, 1)).tolist() == [[0, 25, 75, 100]]
    assert resized(smooth(100, 100), (10, 10)).shape == (10, 10, 3)
