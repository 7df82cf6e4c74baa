"""Spots of light are taken out of a picture; marks and textures stay as they are."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
import pytest

from pmo_assets.pipeline.detection.networks.spots_of_light import without_spots
from pmo_assets.samples.drawing import Pixels, print_text

Draw = Callable[[Pixels], None]


def ground() -> Pixels:
    return np.full((240, 300, 3), (150, 80, 40), np.uint8)


def _disc(pixels: Pixels) -> None:
    cv2.circle(pixels, (90, 70), 5, (255, 255, 250), -1, cv2.LINE_AA)


def _soft_spot(pixels: Pixels) -> None:
    y, x = np.mgrid[0:240, 0:300]
    share = np.exp(-((x - 200) ** 2 + (y - 130) ** 2) / 30)[:, :, None]
    pixels[:] = (pixels + share * (np.asarray([225, 235, 120]) - pixels)).astype(np.uint8)


def _arrow(pixels: Pixels) -> None:
    cv2.arrowedLine(pixels, (60, 60), (90, 90), (255, 255, 255), 2, cv2.LINE_AA, tipLength=0.4)


def _head(pixels: Pixels) -> None:
    cv2.fillPoly(pixels, [np.asarray([(80, 80), (94, 84), (84, 94)])], (255, 255, 0), cv2.LINE_AA)


def _asterisk(pixels: Pixels) -> None:
    print_text(pixels, 100, 100, "*", "hebo", 34, (255, 255, 255))


def _ring(pixels: Pixels) -> None:
    cv2.circle(pixels, (120, 120), 6, (255, 255, 255), 1, cv2.LINE_AA)


def _box(pixels: Pixels) -> None:
    cv2.rectangle(pixels, (100, 90), (112, 102), (0, 255, 255), 1)


def _letter(pixels: Pixels) -> None:
    print_text(pixels, 20, 20, "A", "hebo", 18, (255, 255, 255))


def _grain(pixels: Pixels) -> None:
    rng = np.random.default_rng(3)
    for x, y in rng.integers(5, 235, (120, 2)).tolist():
        cv2.circle(pixels, (x, y), 2, (255, 255, 255), -1)


@pytest.mark.parametrize("draw", [_disc, _soft_spot])
def test_a_small_bright_round_spot_goes(draw: Draw) -> None:
    pixels = ground()
    draw(pixels)
    clean = without_spots(pixels)
    assert int(pixels.max()) >= 220
    assert int(np.abs(clean.astype(int) - ground()).max()) < 60
    assert clean.shape == pixels.shape


@pytest.mark.parametrize("draw", [_arrow, _head, _asterisk, _ring, _box, _letter, _grain])
def test_what_is_pointed_has_rays_or_is_hollow_stays(draw: Draw) -> None:
    pixels = ground()
    draw(pixels)
    assert without_spots(pixels) is pixels


def test_a_large_picture_comes_back_as_large_as_it_is_looked_at() -> None:
    pixels = np.full((1000, 1600, 3), 60, np.uint8)
    assert without_spots(pixels) is pixels
    cv2.circle(pixels, (800, 500), 20, (255, 255, 255), -1, cv2.LINE_AA)
    assert without_spots(pixels).shape == (400, 640, 3)
    assert without_spots(np.full((12, 12, 3), 9, np.uint8)).shape == (12, 12, 3)
