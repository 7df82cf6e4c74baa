"""Stand-ins look as the physics of their modality says."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from pmo_assets.samples.pictures import fundus_photograph
from pmo_assets.training.synthetic.stand_in_modalities import (
    DRAWN,
    FROM_PHOTOGRAPHS,
    autofluorescence,
    fluorescein_angiography,
    montage,
    orange_disc,
    ultra_widefield,
)

Pixels = np.ndarray


def photograph() -> Pixels:
    """A drawn fundus photograph on black."""
    return fundus_photograph(np.random.default_rng(4), 300, 300)


def is_picture(pixels: Pixels) -> bool:
    return pixels.dtype == np.uint8 and pixels.ndim == 3 and pixels.shape[2] == 3 and float(pixels.std()) > 3


@pytest.mark.parametrize("modality", FROM_PHOTOGRAPHS)
def test_every_stand_in_follows_from_its_seed(modality: str) -> None:
    make = FROM_PHOTOGRAPHS[modality]  # type: ignore[index]
    first, again = (make(np.random.default_rng(1), photograph()) for _ in range(2))
    assert is_picture(first)
    assert (first == again).all()
    assert not np.array_equal(first, make(np.random.default_rng(2), photograph()))


@pytest.mark.parametrize("modality", DRAWN)
@pytest.mark.parametrize("size", [(24, 24), (300, 90), (90, 300)])
def test_drawn_stand_ins_have_the_size_asked_for(modality: str, size: tuple[int, int]) -> None:
    pixels = DRAWN[modality](np.random.default_rng(3), *size)  # type: ignore[index]
    assert is_picture(pixels)
    assert pixels.shape[:2] == (size[1], size[0])
    assert orange_disc(np.random.default_rng(3), *size).shape[:2] == (size[1], size[0])


@pytest.mark.parametrize("modality", ["infrared", "autofluorescence", "fluorescein angiography", "en-face OCT"])
def test_these_have_no_colour(modality: str) -> None:
    pixels = FROM_PHOTOGRAPHS[modality](np.random.default_rng(1), photograph())  # type: ignore[index]
    assert (np.ptp(pixels.astype(int), axis=2) <= 1).all()


def vessels_and_ground(pixels: Pixels) -> tuple[float, float]:
    """Mean level of the photograph's vessels in a stand-in of the same size, and of what lies around them."""
    green = photograph()[:, :, 1].astype(np.float32)
    inside = cv2.erode((photograph().max(axis=2) > 30).astype(np.uint8), np.ones((31, 31))) > 0
    darker = (cv2.GaussianBlur(green, (0, 0), 8) - green) > 18
    return float(pixels[inside & darker].mean()), float(pixels[inside & ~darker].mean())


@pytest.mark.slow  # many pictures
def test_vessels_are_dark_in_autofluorescence_and_bright_in_angiography() -> None:
    whole = [seed for seed in range(12) if autofluorescence(np.random.default_rng(seed), photograph()).shape[0] == 300]
    for seed in whole[:4]:
        vessels, ground = vessels_and_ground(autofluorescence(np.random.default_rng(seed), photograph()))
        assert vessels < ground
    whole = [s for s in range(12) if fluorescein_angiography(np.random.default_rng(s), photograph()).shape[0] == 300]
    for seed in whole[:4]:
        vessels, ground = vessels_and_ground(fluorescein_angiography(np.random.default_rng(seed), photograph()))
        assert vessels > ground + 20


def test_a_laser_without_blue_leaves_no_blue() -> None:
    pixels = ultra_widefield(np.random.default_rng(0), photograph()).astype(int)
    lit = pixels.max(axis=2) > 60
    assert float((pixels[:, :, 2] > 0.5 * pixels.max(axis=2))[lit].mean()) < 0.05


def test_a_montage_is_several_fields_on_black_or_paper() -> None:
    for seed in range(4):
        pixels = montage(np.random.default_rng(seed), photograph())
        corners = [pixels[0, 0], pixels[0, -1], pixels[-1, 0], pixels[-1, -1]]
        assert sum(int(c.max()) < 12 or int(c.min()) > 243 for c in corners) >= 2
