"""Colours have the names that captions give them, and are read off what is drawn, however thin it is."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.regions.mark_colours import Rgb, hex_of, ink_colour, mark_colour, rgb_of
from pmo_assets.records.regions import MARK_COLOURS, MarkColour

NAMED: dict[MarkColour, tuple[str, ...]] = {
    "white": ("#ffffff", "#e6e6e6", "#fffff0"),
    "black": ("#000000", "#1e1e1e", "#0a0505"),
    "grey": ("#808080", "#c0c0c0", "#606468"),
    "red": ("#ff0000", "#c00000", "#ed1c24", "#800000", "#dc143c"),
    "orange": ("#ffa500", "#ed7d31", "#f7941e", "#ff4500"),
    "yellow": ("#ffff00", "#fff200", "#ffc000", "#ffff99"),
    "green": ("#00ff00", "#00b050", "#008000", "#92d050", "#70ad47"),
    "cyan": ("#00ffff", "#00aeef", "#00b0f0", "#40e0d0"),
    "blue": ("#0000ff", "#0070c0", "#4472c4", "#002060", "#add8e6", "#5b9bd5"),
    "purple": ("#7030a0", "#800080", "#9400d3", "#662d91"),
    "pink": ("#ff00ff", "#ffc0cb", "#ff69b4", "#ec008c"),
    "brown": ("#8b4513", "#a52a2a", "#964b00"),
}
"""Colours of the palettes of PowerPoint, Illustrator, CSS and ImageJ by the name that people give them."""


@pytest.mark.parametrize("name", MARK_COLOURS)
def test_palettes_have_peoples_names(name: MarkColour) -> None:
    assert {value: mark_colour(rgb_of(value)) for value in NAMED[name]} == dict.fromkeys(NAMED[name], name)


@given(st.tuples(*[st.integers(0, 255)] * 3))
def test_every_colour_has_a_name_and_a_number(rgb: Rgb) -> None:
    assert mark_colour(rgb) in MARK_COLOURS
    assert rgb_of(hex_of(rgb)) == rgb


@pytest.mark.parametrize("thickness", [1, 2, 5, -1])
@pytest.mark.parametrize("value", ["#ffff00", "#ffffff", "#ff0000"])
def test_the_colour_of_what_is_drawn_is_read(value: str, thickness: int) -> None:
    pixels = np.full((80, 90, 3), 70, np.uint8)
    pixels[:, :40] = 40
    cv2.circle(pixels, (45, 40), 14, rgb_of(value), thickness, cv2.LINE_AA)
    assert mark_colour(ink_colour(pixels, (30, 25, 61, 56))) == mark_colour(rgb_of(value))


@pytest.mark.parametrize("ground", [0, 110, 255])
def test_a_mark_within_a_rim_has_the_colour_of_its_surface(ground: int) -> None:
    pixels = np.full((60, 60, 3), ground, np.uint8)
    inside, rim = ((255, 255, 255), (0, 0, 0)) if ground == 0 else ((0, 0, 0), (255, 255, 255))
    pixels[18:42, 13:47] = rim
    pixels[20:40, 15:45] = inside
    assert mark_colour(ink_colour(pixels, (13, 18, 47, 42))) == ("white" if ground == 0 else "black")
