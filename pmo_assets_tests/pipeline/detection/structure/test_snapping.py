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


@pytest.mark.parametrize("turned", [False, True])
def test_what_lies_at_the_corners_does_not_hold_an_edge(turned: bool) -> None:
    pixels = np.full((300, 400, 3), 255, np.uint8)
    pixels[60:240, 80:320] = 90
    for x, y in ((70, 62), (70, 230), (322, 62), (322, 230)):
        pixels[y : y + 8, x : x + 8] = 0  # neighbours that reach up to the picture
    guess = (84, 63, 316, 236)
    if turned:
        pixels = np.ascontiguousarray(pixels.transpose(1, 0, 2))
        guess = (63, 84, 236, 316)
    assert snapped(canvas_of(pixels), guess) == ((60, 80, 240, 320) if turned else (80, 60, 320, 240))


def test_a_picture_that_ends_nowhere_goes_on_to_the_rim() -> None:
    pixels = np.full((200, 300, 3), 120, np.uint8)
    assert snapped(canvas_of(pixels), (3, 2, 298, 197)) == (0, 0, 300, 200)
    assert snapped(canvas_of(pixels), (50, 50, 200, 150)) == (50, 50, 200, 150)


def test_edges_out_of_reach_stay() -> None:
    pixels = np.full((300, 400, 3), 255, np.uint8)
    pixels[60:240, 80:320] = 90
    assert snapped(canvas_of(pixels), (120, 100, 280, 200)) == (120, 100, 280, 200)
    assert snapped(canvas_of(pixels), (30, 20, 370, 280)) != (80, 60, 320, 240)


def test_the_change_nearest_to_the_guess_is_its_edge() -> None:
    pixels = np.full((200, 1000, 3), 60, np.uint8)
    pixels[:, 500:] = 150
    pixels[:, 524:] = 60
    left, _, right, _ = snapped(canvas_of(pixels), (300, 0, 503, 200))
    assert (left, right) == (300, 500)
    assert snapped(canvas_of(pixels), (300, 0, 521, 200))[2] == 524
    assert snapped(canvas_of(pixels), (502, 0, 900, 200))[0] == 500


@pytest.mark.parametrize("rect", [(100, 100, 101, 150), (100, 100, 150, 101), (5, 5, 5, 5), (395, 295, 400, 300)])
def test_tiny_boxes_stay_boxes(rect: tuple[int, int, int, int]) -> None:
    pixels = np.full((300, 400, 3), 255, np.uint8)
    pixels[90:160, 90:160] = 60
    left, top, right, bottom = snapped(canvas_of(pixels), rect)
    assert 0 <= left <= right <= 400
    assert 0 <= top <= bottom <= 300
