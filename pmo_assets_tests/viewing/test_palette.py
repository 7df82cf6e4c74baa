"""One colour per meaning, told apart by everybody."""

from itertools import combinations

import numpy as np
import pytest

from pmo_assets.records.context import ENTITY_GROUPS
from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.viewing.palette import (
    ENTITY_STYLES,
    IMAGE_TYPE_COLOURS,
    KIND_COLOURS,
    PANEL_COLOURS,
    UNDECIDED_COLOUR,
    contrast,
    image_type_colour,
    ink_on,
    mixed,
    panel_colour,
    rgb,
)

# Viénot, Brettel & Mollon (1999), "Digital video colourmaps for checking the legibility of displays by dichromats":
# what is left of linear RGB for the two common forms of red-green blindness.
DICHROMATS = {
    "protanopia": [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]],
    "deuteranopia": [[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]],
}


def seen(colour: str, matrix: list[list[float]]) -> np.ndarray:
    linear = (np.array(rgb(colour)) / 255) ** 2.2
    return np.clip(np.array(matrix) @ linear, 0, 1) ** (1 / 2.2) * 255


def test_every_image_type_of_the_paper_has_its_own_colour():
    colours = [image_type_colour(name) for name in IMAGE_TYPES]
    assert list(IMAGE_TYPE_COLOURS) == list(IMAGE_TYPES)
    assert len({*colours, image_type_colour(None), *KIND_COLOURS.values()}) == 7


@pytest.mark.parametrize("form", DICHROMATS)
def test_types_and_kinds_differ_for_red_green_blind_people(form):
    colours = [*IMAGE_TYPE_COLOURS.values(), *KIND_COLOURS.values(), UNDECIDED_COLOUR]
    for a, b in combinations(colours, 2):
        distance = np.abs(seen(a, DICHROMATS[form]) - seen(b, DICHROMATS[form])).sum()
        assert distance > 24, (a, b)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("form", [*DICHROMATS, "trichromacy"])
def test_kinds_of_entities_differ_in_line_or_colour(form, dark):
    matrix = DICHROMATS.get(form, np.eye(3).tolist())
    shown = {group: (mixed(colour, "#ffffff", 0.6) if dark else colour, line)
             for group, (colour, line) in ENTITY_STYLES.items()}  # fmt: skip
    assert list(shown) == list(ENTITY_GROUPS)
    for (a, (one, line)), (b, (other, as_well)) in combinations(shown.items(), 2):
        if line == as_well:
            assert np.abs(seen(one, matrix) - seen(other, matrix)).sum() > 48, (a, b)


def test_lines_and_words_of_entities_have_the_contrast_that_they_need():
    for page, text, share, tint in (("#ffffff", "#171b21", 1.0, 0.12), ("#181c21", "#e7eaee", 0.6, 0.18)):
        for colour, _ in ENTITY_STYLES.values():
            line = mixed(colour, "#ffffff", share)
            assert contrast(line, page) >= 3, (colour, page)
            assert contrast(text, mixed(line, page, tint)) >= 7, (colour, page)


def test_a_type_of_another_specialty_keeps_its_colour():
    assert image_type_colour("Slit lamp") == image_type_colour("Slit lamp")
    assert image_type_colour("Slit lamp") not in IMAGE_TYPE_COLOURS.values()
    assert image_type_colour("\ud800").startswith("#")


def test_panels_repeat_their_colours_only_after_all_are_used():
    first = [panel_colour(i) for i in range(len(PANEL_COLOURS))]
    assert len(set(first)) == len(first)
    assert panel_colour(len(PANEL_COLOURS)) == first[0]


def test_labels_are_readable_on_every_colour():
    for colour in (*PANEL_COLOURS, *IMAGE_TYPE_COLOURS.values(), *KIND_COLOURS.values(), UNDECIDED_COLOUR):
        assert contrast(colour, ink_on(colour)) >= 4.5, colour


def test_contrast_has_the_limits_of_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#777777") == 1


def test_mixing_is_linear_per_channel():
    assert mixed("#ff0000", "#ffffff", 1.0) == "#ff0000"
    assert mixed("#ff0000", "#ffffff", 0.0) == "#ffffff"
    assert mixed("#000000", "#ffffff", 0.2) == "#cccccc"
