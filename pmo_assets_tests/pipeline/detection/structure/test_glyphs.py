"""Letters are found where they were printed, and nothing else is a letter."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.structure.glyphs import (
    SMALL_SIDE,
    find_glyphs,
    is_bracket,
    isolated_glyphs,
    letter_of,
    unit_vector,
)
from pmo_assets.pipeline.detection.structure.gutters import Rect
from pmo_assets.samples.drawing import print_text
from pmo_assets_tests.pipeline.detection.drawing import paper, paste, photograph

BLACK, WHITE = (0, 0, 0), (255, 255, 255)
FORMS = {"{}": "plain", "{})": "bracket", "({})": "brackets", "[{}]": "brackets", "{}.": "dot"}
BLANK = np.zeros((40, 60), np.uint8)


@pytest.mark.parametrize("side", [300, SMALL_SIDE + 20])
@pytest.mark.parametrize(("ground", "ink", "polarity"), [(255, BLACK, "dark"), (10, WHITE, "light")])
def test_glyphs_are_found_with_place_form_and_colour(
    side: int, ground: int, ink: tuple[int, int, int], polarity: str
) -> None:
    figure = paper(side, 160, ground)
    letters = ("A", "b", "R", "k", "i")
    boxes = [
        print_text(figure, 10 + 55 * k, 30, form.format(name), "hebo", 24, ink)
        for k, (form, name) in enumerate(zip(FORMS, letters, strict=True))
    ]
    found = {glyph.name: glyph for glyph in reversed(find_glyphs(figure, letters, 10, 40))}
    for form, name, box in zip(FORMS, letters, boxes, strict=True):
        glyph = found[name]
        assert np.abs(np.subtract(glyph.rect, box)).max() <= 2
        assert (glyph.style, glyph.polarity) == (FORMS[form], polarity)
        assert glyph.score > 0.8


def test_letters_of_words_are_not_isolated() -> None:
    figure = paper(300, 120)
    print_text(figure, 20, 40, "ABBA BAR", "hebo", 24, BLACK)
    assert find_glyphs(figure, ("A", "B"), 10, 40) == []


def test_only_wanted_letters_of_the_wanted_height_are_found() -> None:
    figure = paper(300, 120)
    print_text(figure, 20, 40, "A", "hebo", 24, BLACK)
    assert [g.name for g in find_glyphs(figure, ("A",), 10, 40)] == ["A"]
    assert find_glyphs(figure, ("B",), 10, 40) == []
    assert find_glyphs(figure, ("A",), 22, 40) == []
    assert find_glyphs(figure, ("A",), 5, 12) == []
    assert find_glyphs(figure, ("AB", "é"), 10, 40) == []


def test_a_letter_is_read_as_the_one_it_resembles_most() -> None:
    figure = paper(300, 120)
    print_text(figure, 20, 40, "E", "hebo", 24, BLACK)
    assert find_glyphs(figure, ("F", "L"), 10, 40) == [], "an E is no F, however much it looks like one"
    assert [g.name for g in find_glyphs(figure, ("E", "F"), 10, 40)] == ["E"]


def test_squeezed_letters_are_other_letters() -> None:
    figure = paper(300, 120)
    left, top, right, bottom = print_text(figure, 20, 40, "H", "hebo", 24, BLACK)
    letter = figure[top:bottom, left:right].copy()
    for k, share in enumerate((1.0, 0.5, 2.0)):
        wide = cv2.resize(letter, (round(share * (right - left)), bottom - top), interpolation=cv2.INTER_AREA)
        alone = paper(300, 120)
        paste(alone, wide, 20, 40)
        assert bool(find_glyphs(alone, ("H",), 10, 40)) is (k == 0)


@pytest.mark.parametrize("closing", [False, True])
def test_brackets_bulge_outwards(closing: bool) -> None:
    figure = paper(100, 60)
    left, top, right, bottom = print_text(figure, 20, 10, ")" if closing else "(", "helv", 30, BLACK)
    ink = 255 - figure[:, :, 0]
    assert is_bracket(ink, (left, top, right, bottom), closing)
    assert not is_bracket(ink, (left, top, right, bottom), not closing)


@pytest.mark.parametrize("text", ["l", "|", "C", "o"])
def test_bars_and_wide_letters_are_no_brackets(text: str) -> None:
    figure = paper(100, 60)
    rect = print_text(figure, 20, 10, text, "helv", 30, BLACK)
    assert not is_bracket(255 - figure[:, :, 0], rect, closing=False)


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([(0, 0, 10, 20)], ("plain", (0, 0, 10, 20))),
        ([(0, 0, 10, 20), (12, 16, 15, 20)], ("dot", (0, 0, 10, 20))),
        ([(0, 0, 10, 20), (12, 0, 15, 4)], None),  # an apostrophe
        ([(0, 0, 10, 20), (12, 8, 15, 20)], None),  # too high for a dot: a second letter
        ([(0, 0, 10, 20), (12, 0, 22, 20)], None),
        ([(0, 6, 4, 20), (0, 0, 4, 3)], ("plain", (0, 0, 4, 20))),  # i
        ([(0, 0, 10, 20), (12, 0, 22, 20), (24, 0, 30, 20)], None),
    ],
)
def test_a_glyph_is_a_letter_with_or_without_dot(pieces: list[Rect], expected: tuple[str, Rect] | None) -> None:
    assert letter_of(BLANK, tuple(pieces)) == expected


def test_an_opening_bracket_alone_is_no_glyph() -> None:
    figure = paper(100, 60)
    bracket = print_text(figure, 10, 10, "(", "helv", 30, BLACK)
    x = bracket[2] + 4
    pieces = (bracket, (x, 15, x + 4, 35), (x, 10, x + 4, 13))
    assert letter_of(255 - figure[:, :, 0], pieces) is None


def ring() -> NDArray[np.uint8]:
    """A mask (100, 100) with the outline of a square of 20 pixels at (40, 40)."""
    mask = np.zeros((100, 100), np.uint8)
    mask[40:60, 40:60] = 1
    mask[41:59, 41:59] = 0
    return mask


STRIPS = {
    "left": (slice(35, 65), slice(35, 40)),
    "right": (slice(35, 65), slice(60, 65)),
    "above": (slice(35, 40), slice(35, 65)),
    "below": (slice(60, 65), slice(35, 65)),
}


@pytest.mark.parametrize("side", STRIPS)
def test_a_glyph_stands_on_paper_or_is_pure(side: str) -> None:
    mask = ring()
    quiet = mask.copy()
    assert isolated_glyphs(mask, 0 * mask, quiet, 10, 30) == [((40, 40, 60, 60),)]
    quiet[STRIPS[side]] = 1
    assert isolated_glyphs(mask, 0 * mask, quiet, 10, 30) == [], "texture around it"
    assert isolated_glyphs(mask, mask, quiet, 10, 30) == [((40, 40, 60, 60),)], "black in a photograph"


@pytest.mark.parametrize("side", STRIPS)
def test_a_glyph_has_free_space_on_every_side(side: str) -> None:
    mask = ring()
    rows, columns = STRIPS[side]
    mask[rows, columns] = 1
    assert isolated_glyphs(mask, mask, 0 * mask, 10, 22) == []


@pytest.mark.parametrize(
    ("height", "width", "found"), [(20, 20, True), (9, 9, False), (31, 20, False), (20, 34, False)]
)
def test_glyphs_have_a_letters_size_and_shape(height: int, width: int, found: bool) -> None:
    mask = np.zeros((120, 120), np.uint8)
    mask[40 : 40 + height, 40 : 40 + width] = 1
    assert bool(isolated_glyphs(mask, mask, mask, 10, 30)) is found


def test_only_the_best_isolated_glyphs_of_texture_are_looked_at() -> None:
    mask = np.zeros((100, 200), np.uint8)
    mask[20:40, 20:40] = 1
    mask[20:40, 100:120] = 1
    mask[45:48, 100:120] = 1  # something near the second one
    assert isolated_glyphs(mask, mask, mask, 10, 30, most=1) == [((20, 20, 40, 40),)]


def test_pieces_of_one_glyph_belong_together() -> None:
    mask = np.zeros((100, 100), np.uint8)
    rects = [(30, 40, 34, 64), (38, 44, 50, 60), (54, 40, 58, 64)]
    for x0, y0, x1, y1 in rects:
        mask[y0:y1, x0:x1] = 1
    assert isolated_glyphs(mask, mask, mask, 10, 30) == [tuple(rects)]


def test_five_pieces_are_a_word() -> None:
    mask = np.zeros((100, 100), np.uint8)
    for k in range(5):
        mask[40:60, 30 + 6 * k : 34 + 6 * k] = 1
    assert isolated_glyphs(mask, mask, mask, 10, 30) == []


def test_likeness_does_not_depend_on_brightness_or_size() -> None:
    patch = np.asarray(photograph(40, 40)[:, :, 0])
    vector = unit_vector(patch)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert vector.mean() == pytest.approx(0, abs=1e-6)
    assert vector @ unit_vector(patch // 2) > 0.999
    assert vector @ unit_vector(np.kron(patch, np.ones((2, 2), np.uint8))) > 0.999
    assert not unit_vector(np.full((5, 9), 7, np.uint8)).any()


LINES = {
    "left": (slice(20, 80), slice(36, 37)),
    "right": (slice(20, 80), slice(63, 64)),
    "above": (slice(36, 37), slice(20, 80)),
    "below": (slice(63, 64), slice(20, 80)),
}


@pytest.mark.parametrize("side", LINES)
def test_a_line_beside_a_letter_takes_its_free_space(side: str) -> None:
    mask = ring()
    mask[LINES[side]] = 1
    assert isolated_glyphs(mask, mask, 0 * mask, 10, 22) == []
    apart = np.zeros((140, 140), np.uint8)
    apart[20:120, 20:120] = ring()
    rows, columns = LINES[side]
    shift = {"left": (20, 14), "right": (20, 26), "above": (14, 20), "below": (26, 20)}[side]
    apart[rows.start + shift[0] : rows.stop + shift[0], columns.start + shift[1] : columns.stop + shift[1]] = 1
    assert isolated_glyphs(apart, apart, 0 * apart, 10, 22) == [((60, 60, 80, 80),)]


@pytest.mark.parametrize("columns", [slice(80, 90), slice(20, 30)])
def test_a_letter_in_a_crowd_is_none(columns: slice) -> None:
    mask = np.zeros((110, 110), np.uint8)
    mask[5:105, 5:105] = ring()
    mask[45:65, columns] = 1
    letter = ((45, 45, 65, 65),)
    assert letter in isolated_glyphs(mask, mask, 0 * mask, 10, 22), "some is allowed"
    mask[35:75, columns] = 1
    assert letter not in isolated_glyphs(mask, mask, 0 * mask, 10, 22)
