"""Series of letters that no caption names are read from the picture; other print is none."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.detection.structure.gutters import canvas_of
from pmo_assets.pipeline.detection.structure.letter_series import letter_glyphs, letter_series
from pmo_assets.samples.drawing import print_text
from pmo_assets_tests.pipeline.detection.drawing import Picture, paper, paste, photograph

BLACK, WHITE = (0, 0, 0), (255, 255, 255)


def row_of_pictures(letters: str, *, form: str = "{}", size: int = 20) -> Picture:
    """Photographs in a row on white paper with a letter under each; "" for none, "?" for a speck."""
    figure = paper(260 * len(letters), 300)
    for k, letter in enumerate(letters):
        paste(figure, photograph(230, 230, seed=k), 260 * k, 0)
        if letter == "?":
            figure[250:264, 260 * k + 110 : 260 * k + 124] = 0
        elif letter != " ":
            print_text(figure, 260 * k + 110, 250, form.format(letter), "hebo", size, BLACK)
    return figure


def longest(figure: Picture) -> tuple[str, list[int]]:
    """The first series: its letters, and per letter the picture that it stands under; -1 where it was not read."""
    canvas = canvas_of(figure)
    for names, places in letter_series(canvas, letter_glyphs(canvas)):
        return "".join(names), [own[0].rect[0] // 260 if own else -1 for own in places]
    return "", []


@pytest.mark.parametrize("form", ["{}", "({})", "{}.", "{})"])
@pytest.mark.parametrize("letters", ["ABC", "abcd"])
def test_letters_in_one_style_that_follow_each_other_are_a_series(letters: str, form: str) -> None:
    assert longest(row_of_pictures(letters, form=form)) == (letters, list(range(len(letters))))


def test_a_letter_that_cannot_be_read_has_no_place() -> None:
    assert longest(row_of_pictures("A?CD")) == ("ABCD", [0, -1, 2, 3])


@pytest.mark.parametrize("letters", ["A   ", "A??D??", "QRST", "    ", "ZYXW"])
def test_too_few_letters_and_letters_that_begin_elsewhere_are_none(letters: str) -> None:
    names, places = longest(row_of_pictures(letters))
    assert sum(place >= 0 for place in places) * 2 >= len(names)
    assert letters in {"A??D??"} or not names


def test_a_series_goes_on_as_far_as_it_is_printed() -> None:
    canvas = canvas_of(row_of_pictures("ABCD"))
    every = ["".join(names) for names, _ in letter_series(canvas, letter_glyphs(canvas))]
    assert every == ["ABCD"]
