"""Reflexes fade out and leave the rest as it was; numbers can be read; thin outlines are thin and can be seen."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from pmo_assets.training.synthetic.device_print import draw_reflexes, draw_times
from pmo_assets.training.synthetic.drawn_marks import MARK_KINDS, draw_marks
from pmo_assets.training.synthetic.mark_examples import OUTLINES
from pmo_assets_tests.examples import examples

SEEDS = st.integers(0, 2**32 - 1)


@examples(30)
@given(SEEDS, st.integers(0, 160))
def test_a_reflex_only_brightens_or_tints_and_covers_little(seed: int, level: int) -> None:
    picture = np.full((160, 200, 3), level, np.uint8)
    draw_reflexes(np.random.default_rng(seed), picture)
    change = picture.astype(int) - level
    assert change.max() >= 20
    # The green channel gains in every tint.
    assert change[..., 1].min() >= 0
    assert (change.max(axis=2) > 20).mean() < 0.4


@examples(30)
@given(SEEDS, st.sampled_from([0, 90, 128, 255]))
def test_numbers_stand_out_from_their_ground(seed: int, level: int) -> None:
    picture = np.full((160, 200, 3), level, np.uint8)
    draw_times(np.random.default_rng(seed), picture)
    # The smallest print, "0.8" upon middle grey, has six such pixels.
    assert (np.abs(picture.astype(int) - level).max(axis=2) >= 60).sum() >= 4


@examples(30)
@given(SEEDS, st.sampled_from([10, 128, 250]))
@example(752, 128)  # drawn anew, larger, since the first attempt can hardly be seen
def test_thin_marks_are_outlines_of_a_pixel_or_two(seed: int, level: int) -> None:
    picture = np.full((200, 240, 3), level, np.uint8)
    marks = draw_marks(np.random.default_rng(seed), picture, odds=OUTLINES, thin=True)
    assert marks
    assert {mark.kind for mark in marks} <= {"circle", "box"}
    seen = (np.abs(picture.astype(int) - level).max(axis=2) >= 40).sum()
    around = sum(2 * (m.box[2] - m.box[0] + m.box[3] - m.box[1]) for m in marks)
    assert 8 <= seen <= 5 * around


def test_outlines_are_the_kinds_that_surround() -> None:
    assert [name for (name, _, _), odds in zip(MARK_KINDS, OUTLINES, strict=True) if odds] == [
        "circle", "box", "outline",
    ]  # fmt: skip
