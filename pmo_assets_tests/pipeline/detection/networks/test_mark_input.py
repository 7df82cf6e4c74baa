"""What the mark network is shown: whole pictures, and the windows with the strongest votes at native resolution."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.detection.networks.mark_input import (
    GAIN,
    MARK_SIDE,
    SECOND_SIDE,
    WINDOW,
    second_look,
    second_scale,
    suspicious_windows,
)
from pmo_assets_tests.examples import examples


@examples(60)
@given(st.integers(12, 900), st.integers(12, 900), st.integers(0, 2**32 - 1))
def test_windows_lie_in_the_picture_and_the_first_holds_the_strongest_vote(tall: int, wide: int, seed: int) -> None:
    votes = np.random.default_rng(seed).normal(-3, 1, (14, 14)).astype(np.float32)
    windows = suspicious_windows(votes, tall, wide)
    assert 1 <= len(windows) <= 4
    assert len(set(windows)) == len(windows)
    for x, y in windows:
        assert 0 <= x <= max(0, wide - WINDOW)
        assert 0 <= y <= max(0, tall - WINDOW)


@pytest.mark.parametrize(("tall", "wide"), [(600, 400), (400, 600), (640, 640), (300, 90)])
def test_the_second_look_shows_a_suspicious_place_unscaled(tall: int, wide: int) -> None:
    picture = np.full((tall, wide, 3), 90, np.uint8)
    place = (tall * 3 // 4, wide // 3)
    picture[place] = (255, 0, 255)  # a single pixel: any scaling would wash it out
    votes = np.full((14, 14), -9.0, np.float32)
    step, longer = max(tall, wide) / 14, max(tall, wide)
    votes[int((place[0] + (longer - tall) / 2) / step), int((place[1] + (longer - wide) / 2) / step)] = 3
    look = second_look(picture, votes)
    assert look is not None
    assert look.shape == (MARK_SIDE, MARK_SIDE, 3)
    assert (look == (255, 0, 255)).all(axis=2).sum() >= 1


def test_small_pictures_are_not_looked_at_twice_and_large_ones_are_scaled() -> None:
    assert second_scale(200, 220) is None
    assert second_scale(int(GAIN * MARK_SIDE) + 1, 50) == 1.0
    assert second_scale(100, 2 * SECOND_SIDE) == 0.5
    assert second_look(np.zeros((200, 220, 3), np.uint8), np.zeros((14, 14), np.float32)) is None
