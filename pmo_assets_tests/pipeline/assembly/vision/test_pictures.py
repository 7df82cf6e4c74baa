"""The picture that a model is shown: bounded, plain or with boxes."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

from pmo_assets.pipeline.assembly.vision.pictures import scaled_down, shown_figure, with_boxes
from pmo_assets.records.chat import ChatPicture
from pmo_assets_tests.pipeline.assembly.vision.figures import (
    BOTTOM_LEFT,
    TOP_LEFT,
    TOP_RIGHT,
    Figure,
    label,
    panel,
    pixels,
)

Pixels = np.ndarray[Any, np.dtype[np.uint8]]


def shown(picture: ChatPicture) -> Pixels:
    decoded = cv2.imdecode(np.frombuffer(picture.png, dtype=np.uint8), cv2.IMREAD_COLOR)
    assert decoded is not None
    return np.asarray(decoded[:, :, ::-1], dtype=np.uint8)


def figure() -> Figure:
    panels = [panel(0, TOP_LEFT, "A", 0.97), panel(1, TOP_RIGHT), panel(2, BOTTOM_LEFT)]
    return Figure(["A", "B", "C"], panels, [label(0, [0.6, 0.1, 0.64, 0.16], "B")])


def test_a_plain_picture_is_the_figure_pixel_by_pixel() -> None:
    figure_pixels = pixels()
    assert (shown(shown_figure(figure_pixels, figure().question(), "json", 10**6)) == figure_pixels).all()


@pytest.mark.parametrize("most", [10_000, 54_321, 119_999])
def test_a_large_picture_is_scaled_down_to_the_bound_and_keeps_its_shape(most: int) -> None:
    scaled = scaled_down(pixels(300, 400), most)
    height, width = scaled.shape[:2]
    assert 0.95 * most < height * width <= most
    assert abs(width / height - 4 / 3) < 0.02


def test_a_picture_within_the_bound_is_not_scaled() -> None:
    assert scaled_down(pixels(300, 400), 120_000).shape == (300, 400, 3)


def test_a_very_long_picture_keeps_a_pixel() -> None:
    assert scaled_down(np.zeros((1, 50_000, 3), dtype=np.uint8), 10_000).shape[0] == 1


def changed(question_pixels: Pixels, drawn: Pixels) -> Any:
    return (question_pixels != drawn).any(axis=2)


def test_boxes_and_their_numbers_are_drawn_where_they_belong_and_nowhere_else() -> None:
    before = np.full((600, 800, 3), 255, dtype=np.uint8)
    drawn = with_boxes(before, figure().question())
    assert (before == 255).all(), "the figure itself is not drawn on"
    strokes = changed(before, drawn)
    # the edges of the undecided panel P2 (TOP_RIGHT) and of the final panel P1, in different colours
    assert strokes[0:294, 408].all()
    assert strokes[0, 410:798].all()
    assert tuple(drawn[100, 408]) != tuple(drawn[100, 0])
    # the label's box, and its tag below it
    assert strokes[60, 482:510].all()
    assert strokes[98:115, 505:540].any()
    # tags at the lower right of the panels; nothing at the upper left, where identifiers stand
    assert strokes[265:290, 760:795].any()
    assert not strokes[5:60, 415:475].any()
    # BOTTOM_RIGHT holds nothing
    assert not strokes[320:, 420:].any()


def test_a_positional_figure_shows_images_instead_of_undecided_panels() -> None:
    white = np.full((600, 800, 3), 255, dtype=np.uint8)
    panels = [panel(0, TOP_LEFT, "left", 0.97), panel(1, [0.5, 0.0, 1.0, 1.0])]
    panels[1]["images"][0]["box"] = [0.6, 0.2, 0.9, 0.8]
    images = [dict(Figure([], panels).images[0]), {**Figure([], panels).images[1], "box": [0.6, 0.2, 0.9, 0.8]}]
    strokes = changed(white, with_boxes(white, Figure(["left", "right"], panels, images=images).question()))
    assert strokes[120:478, 480].all()
    assert not strokes[:, 400].any(), "the edge of the undecided panel"
    assert strokes[0:290, 0].all(), "the final panel"


def test_drawn_boxes_fit_the_scaled_picture() -> None:
    picture = shown(shown_figure(np.full((1200, 1600, 3), 255, dtype=np.uint8), figure().question(), "drawn", 120_000))
    assert picture.shape == (300, 400, 3)
    assert (picture[20:120, 204] != 255).any(axis=1).all()


@pytest.mark.parametrize("size", [(1, 1), (3, 900), (900, 3), (20, 20)])
def test_any_size_can_be_drawn_on(size: tuple[int, int]) -> None:
    made = with_boxes(np.zeros((*size, 3), dtype=np.uint8), figure().question())
    assert made.shape == (*size, 3)
