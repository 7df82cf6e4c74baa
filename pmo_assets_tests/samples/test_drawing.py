"""The drawing kit: print reports exactly the pixels it changed, noise and chance are what they say."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.samples.drawing import (
    BLACK,
    TYPEFACES,
    cloud,
    false_colours,
    grey_of,
    grey_picture,
    one_by_odds,
    one_of,
    paper,
    print_centred,
    print_text,
)
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


def test_centred_print_lies_around_its_place() -> None:
    canvas = paper(240, 60)
    left, top, right, _ = print_centred(canvas, 100, 20, "Group", "helv", 16, BLACK)
    assert top == 20
    assert abs((left + right) / 2 - 100) <= 1
    assert canvas[:, :left].min() == canvas[:, right:].min() == 255


def test_values_come_as_often_as_their_odds_say() -> None:
    rng = np.random.default_rng(0)
    drawn = [one_by_odds(rng, "abc", [3, 0, 1]) for _ in range(800)]
    assert "b" not in drawn
    assert 540 < drawn.count("a") < 660
    assert {one_of(rng, "abc") for _ in range(50)} == {"a", "b", "c"}


def test_a_cloud_has_as_many_blobs_as_asked_and_no_bias() -> None:
    fine, coarse = (cloud(np.random.default_rng(1), 320, 200, cells) for cells in (80, 8))
    assert fine.shape == (200, 320)
    assert abs(float(fine.mean())) < 0.1
    assert 0.6 < float(fine.std()) < 1.3
    changes = [int((np.diff(np.signbit(noise), axis=1)).sum()) for noise in (fine, coarse)]
    assert changes[0] > 5 * changes[1]


def test_planes_become_pictures() -> None:
    plane = np.array([[0, 128, 255]], np.uint8)
    assert grey_picture(plane).tolist() == [[[0, 0, 0], [128, 128, 128], [255, 255, 255]]]
    assert grey_of(grey_picture(plane)).tolist() == plane.tolist()
    assert false_colours(plane, cv2.COLORMAP_JET)[0].argmax(axis=1).tolist() == [2, 1, 0]
