"""Marks: drawn arrows are seen, the caption's words count, plots are left alone."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from pmo_assets.pipeline.detection.structure.marks import classify_mark, mark_shapes
from pmo_assets_tests.pipeline.detection.drawing import Picture, paper, photograph, plot


def with_arrow(colour: tuple[int, int, int], angle: float) -> Picture:
    """A picture with a block arrow turned by `angle` degrees."""
    picture = photograph(400, 400, low=60, high=180)
    outline = np.asarray([[-40, -6], [8, -6], [8, -18], [36, 0], [8, 18], [8, 6], [-40, 6]], dtype=np.float64)
    turn = np.deg2rad(angle)
    rotated = outline @ np.asarray([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]) + 200
    cv2.fillPoly(picture, [rotated.round().astype(np.int32)], colour)
    return picture


@pytest.mark.parametrize("colour", [(255, 255, 255), (0, 0, 0), (255, 255, 0), (255, 0, 0)])
@pytest.mark.parametrize("angle", [0, 35, 90, 200])
def test_a_block_arrow_is_seen_in_any_direction(colour: tuple[int, int, int], angle: float) -> None:
    assert classify_mark(with_arrow(colour, angle))[0] is True


@pytest.mark.parametrize("seed", range(5))
def test_a_picture_without_arrow_is_not_marked(seed: int) -> None:
    picture = photograph(400, 300, seed)
    assert mark_shapes(picture) == 0
    assert classify_mark(picture)[0] is False


def test_letters_and_scale_bars_are_no_marks() -> None:
    picture = photograph(400, 400, low=60, high=150)
    cv2.putText(picture, "LAD", (60, 90), cv2.FONT_HERSHEY_SIMPLEX, 1.2, (255, 255, 255), 3)
    cv2.rectangle(picture, (250, 350), (350, 356), (255, 255, 255), -1)
    assert classify_mark(picture)[0] is False


@pytest.mark.parametrize("words", ["Fluid (arrows).", "The lesion is circled.", "asterisk: cyst", "white arrowhead"])
def test_words_for_marks_count(words: str) -> None:
    marked, score = classify_mark(photograph(200, 200), words)
    assert marked is True
    assert score > classify_mark(photograph(200, 200))[1]


def test_the_asterisks_of_a_plot_mean_significance() -> None:
    figure = paper(420, 380)
    plot(figure, 10, 10, 400, 360)
    assert classify_mark(figure, "Asterisks: p < 0.05. Circles are controls.")[0] is False


def test_too_small_to_see_is_said() -> None:
    assert classify_mark(np.zeros((5, 5, 3), np.uint8))[0] is None


@pytest.mark.parametrize("colour", [(110, 0, 0), (255, 170, 170), (255, 120, 0)])
def test_dark_pale_and_orange_shapes_may_be_the_picture_itself(colour: tuple[int, int, int]) -> None:
    assert mark_shapes(with_arrow(colour, 0)) == 0


@pytest.mark.parametrize("colour", [(0, 255, 0), (0, 200, 255), (255, 0, 200)])
def test_the_other_colours_of_editors_are_seen(colour: tuple[int, int, int]) -> None:
    assert mark_shapes(with_arrow(colour, 0)) == 1
