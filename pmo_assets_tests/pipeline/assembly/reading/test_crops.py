"""Crops look alike, whatever the figure looks like."""

from __future__ import annotations

import numpy as np
import pytest

from pmo_assets.pipeline.assembly.reading.crops import LINE_HEIGHT, CropStyle, identifier_crop
from pmo_assets_tests.pipeline.assembly.reading.printed import printed_figure

COLOURS = [
    ((255, 255, 255), (0, 0, 0)),
    ((0, 0, 0), (255, 255, 255)),
    ((120, 30, 10), (255, 255, 0)),
    ((200, 200, 200), (160, 160, 160)),
]


@pytest.mark.parametrize(("ground", "colour"), COLOURS)
@pytest.mark.parametrize("kind", ["colour", "grey", "ink"])
@pytest.mark.parametrize("size", [9, 28, 80])
def test_print_is_dark_on_white_at_one_height(kind, ground, colour, size) -> None:
    figure, (box,) = printed_figure(["B"], size=size, ground=ground, colour=colour)
    crop = identifier_crop(figure, box, CropStyle(kind, 0.2))
    assert crop is not None
    assert crop.shape[0] == LINE_HEIGHT
    assert crop.shape[1] >= LINE_HEIGHT
    assert crop[0].min() >= 225, "the rim is ground"
    assert crop.min() < 60, "print is dark"


def test_two_colours_of_one_brightness_differ() -> None:
    figure, (box,) = printed_figure(["B"], ground=(0, 150, 0), colour=(255, 21, 0))
    crop = identifier_crop(figure, box, CropStyle("colour", 0.1))
    assert crop is not None
    assert crop.min() < 60


def test_nothing_is_seen_where_nothing_is() -> None:
    figure = np.full((100, 100, 3), 90, np.uint8)
    for kind in ("colour", "grey", "ink"):
        assert identifier_crop(figure, (0.4, 0.4, 0.6, 0.6), CropStyle(kind, 0.1)) is None
    assert identifier_crop(figure, (0.99, 0.99, 1.0, 1.0), CropStyle("colour", 0.1)) is None


def test_ink_leaves_out_what_lies_beside_the_box() -> None:
    figure, boxes = printed_figure(["B"])
    clean = identifier_crop(figure, boxes[0], CropStyle("ink", 0.4))
    figure[:, 40:60] = 0
    assert identifier_crop(figure, boxes[0], CropStyle("ink", 0.4)) == pytest.approx(clean, abs=8)


def test_a_quarter_turn_puts_print_upright() -> None:
    lying, (box,) = printed_figure(["A1"], upright=True)
    upright, (other,) = printed_figure(["A1"])
    turned = identifier_crop(lying, box, CropStyle("colour", 0.1, turned=3))
    straight = identifier_crop(upright, other, CropStyle("colour", 0.1))
    assert turned is not None
    assert straight is not None
    assert np.abs(turned.astype(int) - straight).mean() < 12
