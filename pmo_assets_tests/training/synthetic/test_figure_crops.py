"""Pictures as figures show them: any size and shape comes through, and what must not change does not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.records.modalities import MODALITIES, Modality
from pmo_assets.training.synthetic.figure_crops import figure_crop
from pmo_assets_tests.examples import examples


@examples(60)
@given(st.integers(0, 10**6), st.integers(8, 500), st.integers(8, 500), st.sampled_from([*MODALITIES, None]))
def test_every_picture_gives_a_picture(seed: int, height: int, width: int, modality: Modality | None) -> None:
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    before = pixels.copy()
    crop = figure_crop(np.random.default_rng(seed), pixels, modality)
    assert crop.dtype == np.uint8
    assert crop.ndim == 3
    assert min(crop.shape[:2]) >= 8
    assert (pixels == before).all(), "what was given stays as it was"
    assert (figure_crop(np.random.default_rng(seed), pixels, modality) == crop).all(), "a seed gives one picture"


@pytest.mark.parametrize("modality", ["plot", "diagram", "text"])
def test_paper_is_never_turned(modality: Modality) -> None:
    pixels = np.full((120, 120, 3), 255, np.uint8)
    pixels[:30] = 0
    dark_on_top = 0
    for seed in range(40):
        crop = figure_crop(np.random.default_rng(seed), pixels, modality).mean(axis=2)
        dark_on_top += crop[: len(crop) // 2].mean() <= crop[len(crop) // 2 :].mean() + 25
    assert dark_on_top >= 36
