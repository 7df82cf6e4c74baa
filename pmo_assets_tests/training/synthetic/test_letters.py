"""Printed text reports exactly the pixels it changed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.training.synthetic.letters import TYPEFACES, print_text
from pmo_assets_tests.examples import examples


@examples(40)
@given(
    st.sampled_from(["A", "(b)", "Wx 12", "i", "*"]), st.sampled_from(TYPEFACES), st.integers(8, 40),
    st.integers(0, 60), st.integers(0, 40), st.booleans(),
)  # fmt: skip
def test_the_box_of_a_text_holds_all_its_visible_ink(
    text: str, face: str, size: int, x: int, y: int, upright: bool
) -> None:
    canvas = np.full((160, 240, 3), 255, np.uint8)
    left, top, right, bottom = print_text(canvas, x, y, text, face, size, (0, 0, 0), upright=upright)
    outside = np.ones(canvas.shape[:2], bool)
    outside[top:bottom, left:right] = False
    assert canvas[outside].min() == 255
    inside = canvas[top:bottom, left:right].min(axis=2) < 230
    assert inside[0].any()
    assert inside[-1].any()
    assert inside[:, 0].any()
    assert inside[:, -1].any()


def test_what_does_not_fit_is_cut_off() -> None:
    canvas = np.full((20, 30, 3), 255, np.uint8)
    box = print_text(canvas, 25, 2, "WWW", "helv", 14, (0, 0, 0))
    assert box[2] == 30
    assert print_text(canvas, 40, 2, "W", "helv", 14, (0, 0, 0))[0] == 40


@pytest.mark.parametrize("text", ["", " "])
def test_nothing_visible_has_an_empty_box(text: str) -> None:
    canvas = np.full((20, 30, 3), 255, np.uint8)
    left, _, right, _ = print_text(canvas, 5, 5, text, "helv", 14, (0, 0, 0))
    assert left == right
