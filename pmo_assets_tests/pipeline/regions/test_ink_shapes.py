"""The ink of a box: what stands out, whatever its size; boxes have it in their corners, circles do not."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from pmo_assets.pipeline.regions.ink_shapes import has_corners, ink_mask

YELLOW = (255, 255, 0)


def ground(wide: int, tall: int) -> np.ndarray:
    return np.random.default_rng(2).integers(30, 70, (tall, wide, 3), dtype=np.uint8)


@pytest.mark.parametrize("factor", [0.3, 1, 4])
def test_boxes_have_ink_in_their_corners_and_circles_have_none(factor: float) -> None:
    wide, tall = round(60 * factor), round(50 * factor)
    line = max(1, round(2 * factor))
    pixels = ground(wide, tall)
    cv2.ellipse(pixels, (wide // 2, tall // 2), (wide // 2 - line, tall // 2 - line), 0, 0, 360, YELLOW, line)
    assert not has_corners(ink_mask(pixels))
    pixels = ground(wide, tall)
    cv2.rectangle(pixels, (1, 1), (wide - 2, tall - 2), YELLOW, line)
    assert has_corners(ink_mask(pixels))


def test_ink_is_what_stands_out_and_hangs_together() -> None:
    pixels = ground(60, 46)
    cv2.line(pixels, (4, 40), (56, 6), YELLOW, 3)
    pixels[2, 2] = YELLOW  # a speck
    mask = ink_mask(pixels)
    assert mask.shape == (46, 60)
    assert mask[23, 30]
    assert not mask[2, 2]
    assert not mask[:10, :20].any()


@pytest.mark.parametrize("size", [(1, 1, 3), (1, 40, 3), (3, 2, 3)])
def test_any_box_has_a_mask(size: tuple[int, int, int]) -> None:
    assert ink_mask(np.zeros(size, np.uint8)).ndim == 2
