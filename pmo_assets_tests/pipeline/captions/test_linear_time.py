"""Work grows with the caption's length and not faster: counted in calls, not in seconds."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.captions.split import split_caption
from pmo_assets_tests.calls import calls_of

UNITS = [
    "word ",
    "(",
    ")(",
    "((a), ",
    "(A, ",
    "A, ",
    "A. ",
    "A–",
    "(A) Text. (B) Text. ",
    "(a) x, (b) y; ",
    "X (A), Y (B) ",
    "(A) x y (B) z ",
    "(A) x (B). ; ",
    "(A-C) x (A) y (B). ",
    "In (A), x; in (B), y. ",
    "LV, x; RV, y. ",
    "(A) Text. (B) Text. LV: x. ",
    "(i) (ii) ",
    "(A1) (A2) ",
    "panel A ",
    "Left: a. Right: b. ",
    "(A: OD, B: OS) and ",
    "(A, x; B, y) ",
    "OCT of the right (A) and left eye (B), ",
    "X (A) (r = 1, p = 2) and Y (B) ",
    "(A) Text. (B) Text. In both eyes. ",
    "right and left (A and B, respectively), ",
    "the upper row shows x and the lower row shows y, ",
    "\U0001f600",
]


def calls_for(caption: str) -> int:
    """Python and built-in calls that splitting a caption takes."""
    return calls_of(lambda: split_caption(caption))


@pytest.mark.parametrize("unit", UNITS)
def test_eight_times_the_text_takes_about_eight_times_the_work(unit: str) -> None:
    repeats = 1000 // len(unit)
    assert calls_for(unit * repeats * 8) <= 8 * 1.3 * calls_for(unit * repeats)


def test_many_glossary_sentences_after_the_last_panel() -> None:
    head, tail = "(A) Text. (B) Text. ", "LV: left. "
    assert calls_for(head + tail * 1600) <= 8 * 1.3 * calls_for(head + tail * 200)


def test_a_megabyte_of_text_is_answered() -> None:
    caption = "(A) " + "drusen " * 80_000 + ". (B) " + "vessel " * 80_000
    assert len(caption) > 1_000_000
    assert split_caption(caption).identifiers == ("A", "B")
