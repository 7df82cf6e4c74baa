"""Drawn stand-ins have the traits by which real pictures are told apart."""

from __future__ import annotations

import numpy as np
import pytest

from pmo_assets.samples.pictures import drawn_mark, drawn_picture


def picture(kind: str, width: int = 240, height: int = 200) -> np.ndarray:
    return drawn_picture(kind, np.random.default_rng(4), width, height).astype(int)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["cfp", "oct", "angiography", "autofluorescence", "histology"])
def test_pictures_have_the_wanted_size_and_depend_on_the_seed_alone(kind: str) -> None:
    assert picture(kind).shape == (200, 240, 3)
    assert np.array_equal(picture(kind), picture(kind))


def test_a_fundus_photograph_is_an_orange_disc_on_black() -> None:
    pixels = picture("cfp")
    assert pixels[:10, :10].max() < 20
    red, green, blue = pixels[60:140, 80:160].reshape(-1, 3).mean(axis=0)
    assert red > 1.5 * green > 1.5 * blue


@pytest.mark.parametrize("kind", ["oct", "angiography", "autofluorescence"])
def test_oct_and_angiograms_are_grey(kind: str) -> None:
    pixels = picture(kind)
    assert np.array_equal(pixels[..., 0], pixels[..., 1])
    assert np.array_equal(pixels[..., 0], pixels[..., 2])


def test_an_oct_scan_is_dark_above_and_banded_below() -> None:
    rows = picture("oct")[..., 0].mean(axis=1)
    assert rows[:30].mean() < 30
    assert rows[60:].max() > 100


def test_vessels_are_bright_in_angiograms_and_dark_in_autofluorescence() -> None:
    bright, dark = picture("angiography")[..., 0], picture("autofluorescence")[..., 0]
    assert np.percentile(bright, 97) - np.median(bright) > 60
    assert np.median(dark) - np.percentile(dark, 3) > 35


def test_histology_has_no_white_edge() -> None:
    pixels = picture("histology")
    edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    assert edge.min(axis=1).max() < 245


@pytest.mark.parametrize("mark", ["arrow", "arrowhead", "circle", "box", "asterisk"])
def test_marks_change_some_pixels_in_the_middle(mark: str) -> None:
    plain = drawn_picture("oct", np.random.default_rng(1), 240, 200)
    marked = drawn_mark(plain, mark, np.random.default_rng(1), (255, 255, 255))  # type: ignore[arg-type]
    changed = np.argwhere((plain != marked).any(axis=2))
    assert 15 < len(changed) < plain.shape[0] * plain.shape[1] / 10
    assert changed.min(axis=0).min() > 20
