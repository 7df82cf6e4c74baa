"""Pictures of what is annotated beside what was found."""

from __future__ import annotations

import numpy as np
import pytest

from pmo_assets.viewing.comparisons import (
    caption_comparison,
    case,
    detection_comparison,
    page_comparison,
    stacked,
    text_comparison,
)
from pmo_assets.viewing.overlays import Pixels
from pmo_assets.viewing.palette import FOUND_COLOUR, TRUTH_COLOUR, mixed, rgb


def white(height: int, width: int) -> Pixels:
    return np.full((height, width, 3), 255, np.uint8)


def has(pixels: Pixels, colour: str) -> bool:
    return bool((pixels == np.array(rgb(colour), np.uint8)).all(axis=2).any())


def test_on_the_page_both_boxes_show_also_where_they_agree() -> None:
    box = (120.0, 120.0, 180.0, 160.0)
    drawn = page_comparison(white(200, 400), (100, 100, 200, 200), truth=[box], found=[box])[:200]
    assert has(drawn, TRUTH_COLOUR)
    assert has(drawn, FOUND_COLOUR)
    # (120..180, 120..160) of the page is (80..320, 40..120) of the picture; its inside stays untouched
    assert (drawn[42:118, 84:316] == 255).all()


def test_a_missed_figure_shows_only_what_is_annotated() -> None:
    drawn = page_comparison(white(200, 400), (100, 100, 200, 200), truth=[(120, 120, 180, 160)])
    assert has(drawn, TRUTH_COLOUR)
    assert not has(drawn, FOUND_COLOUR)


def test_detections_stand_side_by_side() -> None:
    box = (0.0, 0.0, 1.0, 1.0)
    drawn = detection_comparison(white(60, 100), ([(box, "a")], [], [(box, "OCT", True)]), ([], [], []), width=600)
    assert abs(drawn.shape[1] - 600) <= 2
    left, right = drawn[40:, :290], drawn[40:, 310:]
    assert (left != 255).any()
    assert (right == 255).all()


def test_words_that_the_other_text_lacks_are_marked() -> None:
    same = text_comparison("An OCT scan.", "An OCT scan.")
    other = text_comparison("An OCT scan.", "An OCT scan of the eye.")
    assert not has(same, mixed(FOUND_COLOUR, "#ffffff", 0.28))
    assert has(other, mixed(FOUND_COLOUR, "#ffffff", 0.28))
    assert not has(other, mixed(TRUTH_COLOUR, "#ffffff", 0.28))


@pytest.mark.parametrize("text", [None, "", "a" * 5000, "word " * 3000, "\x00\u202e<b>", "眼底 " * 50])
def test_any_text_can_be_shown(text: str | None) -> None:
    drawn = text_comparison(text, "An OCT scan.", width=600, title="panel b")
    assert drawn.shape[1] == 600
    assert drawn.shape[0] < 400


def test_captions_stand_side_by_side() -> None:
    drawn = caption_comparison("(a) Left, (b) right.", [("a", [(4, 8)]), ("b", [(14, 19)])], [(None, [(0, 20)])])
    assert drawn.shape[1] == 900


def test_a_case_has_its_reasons_above_its_picture() -> None:
    body = white(50, 600)
    assert case("title", [], body).shape[0] < case("title", ["one", "two"], body).shape[0]
    assert case("title", ["x"] * 30, body).shape[0] < 300


def test_stacking_nothing_gives_a_picture() -> None:
    assert stacked([]).shape == (1, 1, 3)
    assert stacked([white(5, 9), white(7, 3)], gap=2).shape == (14, 9, 3)
