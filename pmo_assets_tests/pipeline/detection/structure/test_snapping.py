"""Edges of boxes that are a little off move to those of the picture."""

from __future__ import annotations

import numpy as np
import pytest

from pmo_assets.pipeline.detection.structure.gutters import canvas_of
from pmo_assets.pipeline.detection.structure.snapping import snapped, snapped_box


@pytest.mark.parametrize("shift", [(-4, -3, 5, 4), (5, 4, -4, -3), (0, 0, 0, 0), (4, -4, 4, -4)])
def test_edges_move_to_the_pictures_edges(shift: tuple[int, int, int, int]) -> None:
    pixels = np.full((300, 400, 3), 255, np.uint8)
    pixels[60:240, 80:320] = np.random.default_rng(1).integers(0, 220, (180, 240, 3), dtype=np.uint8)
    rect = (80, 60, 320, 240)
    guess = (rect[0] + shift[0], rect[1] + shift[1], rect[2] + shift[2], rect[3] + shift[3])
    assert snapped(canvas_of(pixels), guess) == rect


def test_edges_between_touching_pictures_move_to_the_seam() -> None:
    pixels = np.full((200, 400, 3), 60, np.uint8)
    pixels[:, 200:] = 180
    left, _top, right, _bottom = snapped(canvas_of(pixels), (0, 0, 205, 200))
    assert (left, right) == (0, 200)


def test_a_normalised_box_moves_like_its_pixels() -> None:
    pixels = np.full((300, 400, 3), 255, np.uint8)
    pixels[60:240, 80:320] = 90
    assert snapped_box(canvas_of(pixels), (0.19, 0.21, 0.81, 0.79)) == pytest.approx((0.2, 0.2, 0.8, 0.8))
