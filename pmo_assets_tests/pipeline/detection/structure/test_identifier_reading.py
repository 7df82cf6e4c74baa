"""Names of boxes: reading what is printed where a network sees an identifier."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.detection.structure.gutters import Rect
from pmo_assets.pipeline.detection.structure.identifier_reading import (
    SURE,
    PrintedBox,
    in_rows,
    likeness,
    named_boxes,
    printed_sequence,
    reading,
)
from pmo_assets.samples.drawing import Colour
from pmo_assets.samples.drawing import print_text as printed
from pmo_assets_tests.examples import examples

CORNERS = ((10, 10), (210, 14), (410, 8), (12, 160), (214, 162), (408, 158))


def figure_with(
    names: Sequence[str], size: int = 22, ink: Colour = (0, 0, 0), ground: Colour = (255, 255, 255)
) -> tuple[np.ndarray, list[Rect]]:
    """A figure of 600 x 300 pixels with names printed row by row, and their boxes."""
    pixels = np.empty((300, 600, 3), np.uint8)
    pixels[:] = ground
    return pixels, [
        printed(pixels, x, y, name, "hebo", size, ink) for name, (x, y) in zip(names, CORNERS, strict=False)
    ]


def boxes(rects: Sequence[Rect], score: float = 0.6) -> list[PrintedBox]:
    return [PrintedBox(rect, score) for rect in rects]


@pytest.mark.parametrize("form", ["{}", "({})", "{})", "{}.", "[{}]"])
@pytest.mark.parametrize(("ink", "ground"), [((0, 0, 0), (255, 255, 255)), ((255, 255, 255), (20, 30, 20))])
def test_letters_are_read_in_any_order_form_and_colour(form: str, ink: Colour, ground: Colour) -> None:
    names = ["A", "B", "C", "D"]
    pixels, rects = figure_with([form.format(name) for name in names], ink=ink, ground=ground)
    order = [2, 0, 3, 1]
    found = named_boxes(pixels, boxes([rects[k] for k in order]), names)
    assert sorted(found) == [0, 1, 2, 3]
    for k, (box,) in found.items():
        assert np.abs(np.subtract(box.rect, rects[k])).max() <= 2
        assert box.score > 0.6


def test_names_follow_the_print_not_the_order_of_the_panels() -> None:
    pixels, rects = figure_with(["C", "A", "B"])
    found = named_boxes(pixels, boxes(rects), ["A", "B", "C"])
    assert {k: box[0].rect[0] // 200 for k, box in found.items()} == {0: 1, 1: 2, 2: 0}


def test_words_follow_the_order_of_the_panels() -> None:
    names = ["Horizontal", "Vertical", "Random"]
    pixels, rects = figure_with(names, size=16)
    found = named_boxes(pixels, boxes([rects[1], rects[2], rects[0]]), names)
    assert {k: box[0].rect[0] // 200 for k, box in found.items()} == {0: 0, 1: 1, 2: 2}


def test_words_that_can_be_read_go_to_their_names() -> None:
    names = ["Step 1", "Step 2", "Control"]
    pixels, rects = figure_with(["Control", "Step 2", "Step 1"], size=20)
    found = named_boxes(pixels, boxes(rects), names)
    assert {k: box[0].rect[0] // 200 for k, box in found.items()} == {0: 2, 1: 1, 2: 0}


def test_columns_before_rows_where_the_letters_say_so() -> None:
    pixels, rects = figure_with(["a", "c", "e", "b", "d", "f"])
    found = named_boxes(pixels, boxes(rects), list("abcdef"))
    assert [found[k][0].rect[:2] for k in range(6)] == [pytest.approx(rects[j][:2], abs=2) for j in (0, 3, 1, 4, 2, 5)]


@pytest.mark.parametrize("form", ["{}", "({})", "{})"])
def test_numbered_parts_of_a_panel_belong_to_its_letter(form: str) -> None:
    pixels, rects = figure_with([form.format(name) for name in ("a1", "a2", "a3", "b1", "b2", "b3")])
    found = named_boxes(pixels, boxes(rects), ["a", "b"])
    assert {k: len(own) for k, own in found.items()} == {0: 3, 1: 3}
    assert all(box.rect[1] < 100 for box in found[0])
    assert all(box.rect[1] > 100 for box in found[1])


def test_a_weak_box_of_something_else_gets_no_name() -> None:
    pixels, rects = figure_with(["A", "#"])
    found = named_boxes(pixels, boxes(rects, score=0.32), ["A", "B"])
    assert sorted(found) == [0]


def test_an_empty_box_cannot_be_read() -> None:
    pixels, _ = figure_with([])
    assert reading(pixels, (50, 50, 80, 80)) is None
    assert reading(pixels, (598, 298, 600, 300)) is None
    assert 0 < likeness(None, "A") < 1


@examples(40)
@given(st.integers(0, 10_000), st.lists(st.sampled_from(["A", "b", "ii", "C3", "left eye", "", "é", "("]), max_size=6))
def test_any_boxes_give_each_name_its_own(seed: int, names: list[str]) -> None:
    rng = np.random.default_rng(seed)
    pixels = rng.integers(0, 256, (60, 80, 3), dtype=np.uint8)
    corners = rng.integers(0, 70, (int(rng.integers(0, 7)), 2))
    given_boxes = [
        PrintedBox((int(x), int(y), int(x + rng.integers(1, 12)), int(y + rng.integers(1, 12))), float(rng.random()))
        for x, y in corners
    ]
    found = named_boxes(pixels, given_boxes, names)
    assert set(found) <= set(range(len(names)))
    assert sum(len(own) for own in found.values()) <= len(given_boxes)
    assert all(0 <= box.score <= 1 for own in found.values() for box in own)
    assert found == named_boxes(pixels, given_boxes, names)


def test_rows_are_told_apart_although_letters_are_not_level() -> None:
    _, rects = figure_with(list("abcdef"))
    assert in_rows([rects[k] for k in (5, 1, 3, 0, 2, 4)]) == [3, 1, 4, 2, 5, 0]


@pytest.mark.parametrize("names", [["A", "B", "C", "D"], ["a", "b", "c"], ["B", "A"]])
def test_a_sequence_of_letters_is_read_without_knowing_what_to_expect(names: list[str]) -> None:
    pixels, rects = figure_with(names)
    assert printed_sequence(pixels, boxes(rects)) == tuple(sorted(names))


def test_weaker_boxes_of_something_else_do_not_break_a_sequence() -> None:
    pixels, rects = figure_with(["A", "B", "50 um", "Control"], size=16)
    surest = [*boxes(rects[:2], score=0.9), *boxes(rects[2:], score=0.4)]
    assert printed_sequence(pixels, surest) == ("A", "B")


@pytest.mark.parametrize("names", [["A"], ["N", "T", "S"], ["B", "C"], ["A", "C"], ["A", "A"], ["OD", "OS"]])
def test_other_letters_are_no_sequence(names: list[str]) -> None:
    pixels, rects = figure_with(names)
    assert printed_sequence(pixels, boxes(rects)) == ()


def test_a_digit_of_a_number_is_no_letter() -> None:
    pixels, rects = figure_with(["400", "O", "(o)"])
    number, letter, bracketed = (likeness(read.letters, "O") for r in rects if (read := reading(pixels, r)) is not None)
    assert number < SURE <= letter
    assert bracketed >= SURE


def test_a_letter_in_the_corner_of_the_figure_is_read() -> None:
    pixels, rects = figure_with(["A", "B"])
    left, top, _, _ = rects[0]
    found = named_boxes(
        pixels[top:, left:], boxes([(r[0] - left, r[1] - top, r[2] - left, r[3] - top) for r in rects]), ["A"]
    )
    assert found[0][0].score > 0.9
    assert found[0][0].rect[:2] == (0, 0)
