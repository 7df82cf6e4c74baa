"""Perturbations do to pixels what their names say, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pmo_assets.encoders.evaluation.perturbations import PERTURBATIONS, brightened, flipped, rotated, shifted, zoomed

PICTURES = hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=12).flatmap(
    lambda shape: st.sampled_from([shape, (*shape, 1), (*shape, 3)]).flatmap(lambda full: hnp.arrays(np.uint8, full))
)


@settings(max_examples=30)
@given(PICTURES, st.sampled_from(sorted(PERTURBATIONS)))
def test_size_and_type_stay_and_the_original_is_untouched(pixels, name) -> None:
    before = pixels.copy()
    found = PERTURBATIONS[name](pixels)
    assert found.shape == pixels.shape
    assert found.dtype == np.uint8
    assert (pixels == before).all()


@given(PICTURES)
def test_doing_nothing_changes_nothing(pixels) -> None:
    for same in (
        brightened(pixels, 1),
        shifted(pixels, 0, 0),
        rotated(pixels, 0),
        zoomed(pixels, 1),
        flipped(flipped(pixels)),
    ):
        assert (same == pixels).all()


def test_brightness_is_cut_off_at_white() -> None:
    assert brightened(np.array([[0, 100, 200]], np.uint8), 1.4).tolist() == [[0, 140, 255]]


def test_a_shift_mirrors_what_it_uncovers() -> None:
    row = np.array([[10, 20, 30, 40, 50]], np.uint8)
    assert shifted(row, 0.4, 0).tolist() == [[30, 20, 10, 20, 30]]
    assert shifted(row.T, 0, 0.4).T.tolist() == [[30, 20, 10, 20, 30]]


def test_rotation_is_about_the_centre_and_anticlockwise() -> None:
    pixels = np.arange(25, dtype=np.uint8).reshape(5, 5)
    assert (rotated(pixels, 90) == np.rot90(pixels)).all()


def test_zoom_enlarges_the_middle() -> None:
    pixels = np.zeros((9, 9), np.uint8)
    pixels[3:6, 3:6] = 200
    assert (zoomed(pixels, 3) == 200).sum() > 40
    assert (zoomed(pixels, 1 / 3)[4] > 100).sum() < 4
    assert zoomed(pixels, 3)[4, 4] == 200


def test_what_is_no_picture_is_refused() -> None:
    wrong: Any
    for wrong in (np.zeros((3, 3)), np.zeros((0, 3), np.uint8), np.zeros(3, np.uint8)):
        with pytest.raises(ValueError, match="a picture is"):
            rotated(wrong, 10)
