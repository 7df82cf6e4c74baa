"""The perceptual hash: near for the same picture in another form, far for another picture, none for a blank one."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pmo_assets.pipeline.figures.perceptual_hash import HASH_BYTES, NO_STRUCTURE, perceptual_hash
from pmo_assets_tests.examples import examples

Pixels = NDArray[np.uint8]

NEAR = 32
"""Bits of 256 within which the same picture stays; pictures made of other noise differ in 128 ± 8."""


def scene(seed: int, height: int = 300, width: int = 400) -> Pixels:
    """Blobs of all sizes: a picture with structure at every frequency that is hashed, as photographs have."""
    generator = np.random.default_rng(seed)
    levels = np.zeros((height, width, 3))
    for cells in (4, 8, 16, 32):
        coarse = generator.normal(0, 1, (cells, cells, 3))
        levels += cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC) * 12
    return np.clip(levels + 128, 0, 255).astype(np.uint8)


def apart(first: Pixels, second: Pixels) -> int:
    hashes = [np.frombuffer(perceptual_hash(np.ascontiguousarray(each)), dtype=np.uint8) for each in (first, second)]
    return int(np.unpackbits(hashes[0] ^ hashes[1]).sum())


def scaled(pixels: Pixels, by: float, how: int = cv2.INTER_AREA) -> Pixels:
    return np.asarray(cv2.resize(pixels, None, fx=by, fy=by, interpolation=how), dtype=np.uint8)


def jpeg(pixels: Pixels, quality: int) -> Pixels:
    done, data = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, quality])
    assert done
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), dtype=np.uint8)


def lettered(pixels: Pixels) -> Pixels:
    result = pixels.copy()
    result[:40, :40] = 255
    cv2.putText(result, "B", (6, 34), cv2.FONT_HERSHEY_SIMPLEX, 1.2, (0, 0, 0), 3)
    return result


ALTERED = {
    "half as large": lambda pixels: scaled(pixels, 0.5),
    "half as large, bilinear": lambda pixels: scaled(pixels, 0.5, cv2.INTER_LINEAR),
    "twice as large": lambda pixels: scaled(pixels, 2.0, cv2.INTER_CUBIC),
    "JPEG 50": lambda pixels: jpeg(pixels, 50),
    "JPEG 95": lambda pixels: jpeg(pixels, 95),
    "cut by 1.5 %": lambda pixels: pixels[4:, 6:],
    "cut on all sides": lambda pixels: pixels[3:-2, 2:-4],
    "grey in three channels": lambda pixels: np.repeat(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)[..., None], 3, axis=2),
    "grey in one channel": lambda pixels: cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY),
    "brighter": lambda pixels: (255 * (pixels / 255.0) ** 0.8).astype(np.uint8),
    "a letter in its corner": lettered,
    "white margins": lambda pixels: np.pad(pixels, ((4, 2), (0, 5), (0, 0)), constant_values=255),
}


@pytest.mark.parametrize("how", ALTERED)
def test_same_picture_in_another_form_is_near(how: str) -> None:
    assert max(apart(scene(seed), ALTERED[how](scene(seed))) for seed in range(20)) <= NEAR


@given(st.integers(0, 10**6), st.integers(0, 10**6))
@examples(40)
def test_other_pictures_are_far(first: int, second: int) -> None:
    distance = apart(scene(first), scene(second))
    assert distance == 0 if first == second else distance > 2 * NEAR


def test_mirrored_and_turned_pictures_are_others() -> None:
    """A left and a right eye are two pictures."""
    pixels = scene(1)
    assert apart(pixels, pixels[:, ::-1]) > 2 * NEAR
    assert apart(pixels, pixels[::-1]) > 2 * NEAR


@given(st.integers(0, 10**6), st.integers(1, 90), st.integers(1, 90))
@examples(40)
def test_hash_is_a_function_of_the_pixels(seed: int, height: int, width: int) -> None:
    pixels = scene(seed, height, width)
    before = pixels.copy()
    found = perceptual_hash(pixels)
    assert len(found) == HASH_BYTES
    assert found == perceptual_hash(pixels.copy()) == perceptual_hash(np.asfortranarray(pixels))
    assert np.array_equal(pixels, before)


def test_half_of_the_bits_are_set() -> None:
    """So that `NO_STRUCTURE` is no picture's hash, and distances are even."""
    for seed in range(20):
        assert np.unpackbits(np.frombuffer(perceptual_hash(scene(seed)), dtype=np.uint8)).sum() == 128


def blank_pictures() -> dict[str, Pixels]:
    generator = np.random.default_rng(0)
    white = np.full((400, 500, 3), 255, dtype=np.uint8)
    halves, line, disc = white.copy(), white.copy(), np.zeros_like(white)
    halves[:, 250:] = 0
    line[200] = 0
    cv2.circle(disc, (250, 200), 180, (120, 60, 20), -1)
    noise = np.clip(128 + generator.normal(0, 10, white.shape), 0, 255).astype(np.uint8)
    gradient = np.repeat(np.tile(np.linspace(0, 255, 500), (400, 1))[..., None], 3, axis=2).astype(np.uint8)
    return {
        "white": white,
        "black": np.zeros_like(white),
        "one pixel": white[:1, :1],
        "halves": halves,
        "halves as JPEG": jpeg(halves, 75),
        "a line": line,
        "a disc": disc,
        "noise": noise,
        "noise as JPEG": jpeg(noise, 50),
        "gradient": gradient,
    }


@pytest.mark.parametrize("name", blank_pictures())
def test_what_shows_nothing_has_no_hash(name: str) -> None:
    assert perceptual_hash(blank_pictures()[name]) == NO_STRUCTURE


def test_no_pixels_are_an_error() -> None:
    with pytest.raises(ValueError, match="no pixels"):
        perceptual_hash(np.zeros((0, 5, 3), dtype=np.uint8))
