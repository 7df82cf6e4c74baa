"""Pictures of marks and regions: where a tip, an outline and a number are drawn, on dark, bright and white ground."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.records.regions import MARK_KINDS, PanelRegions
from pmo_assets.viewing.overlays import Pixels
from pmo_assets.viewing.palette import ink_on, rgb
from pmo_assets.viewing.region_overlays import (
    READABLE_SIDE,
    MarkedPanel,
    draw_region_words,
    draw_regions,
    figure_numbers,
    numbers_text,
    region_picture,
)
from pmo_assets_tests.examples import examples
from pmo_assets_tests.viewing.marked_panels import CIRCLE, MARKED, RED, TEXT, WHITE, mark, phrase, region

SIDE = 600
GROUNDS = {"dark scan": (8, 8, 8), "bright fundus": (220, 120, 60), "white plot": (255, 255, 255)}


def ground(colour: tuple[int, int, int] = (128, 128, 128), side: int = SIDE) -> Pixels:
    return np.full((side, side, 3), colour, np.uint8)


def drawn(*panels: PanelRegions, on: tuple[int, int, int] = (128, 128, 128), **options: Any) -> Pixels:
    return draw_regions(ground(on), panels, least_side=0, **options)


def is_colour(picture: Pixels, colour: str) -> Any:
    return (picture == rgb(colour)).all(axis=2)


@pytest.mark.parametrize("on", GROUNDS.values(), ids=GROUNDS)
@pytest.mark.parametrize("colour", ["#ffffff", "#000000", "#ff0000"])
def test_the_tip_is_a_dot_in_the_marks_colour_within_a_casing_that_is_seen_on_any_ground(
    on: tuple[int, int, int], colour: str
) -> None:
    picture = drawn(PanelRegions((mark(rgb=colour, direction=None),)), on=on)
    assert tuple(picture[300, 300]) == rgb(colour)
    assert tuple(picture[300, 303]) == rgb(colour)
    assert tuple(picture[304, 300]) == rgb(ink_on(colour)), "the casing"
    assert tuple(picture[320, 320]) == on, "what it points at stays visible"


def test_two_strokes_tell_the_direction() -> None:
    def ends(direction: float) -> Pixels:
        without, pointed = (drawn(PanelRegions((mark(direction=at, box=(0, 0, 0, 0)),))) for at in (None, direction))
        rows, columns = np.nonzero((without != pointed).any(axis=2))
        return np.array([rows.mean() - 300, columns.mean() - 300])

    for direction, (down, right) in {0: (0, -1), 90: (1, 0), 180: (0, 1), -90: (-1, 0)}.items():
        found = ends(direction)
        back = found @ np.array([down, right])
        beside = found @ np.array([right, down])
        assert back > 4, f"they come back from {direction} degrees"
        assert abs(beside) < 1.5


def test_a_mark_stays_visible_within_its_outline() -> None:
    for kind in MARK_KINDS:
        picture = drawn(PanelRegions((mark(kind=kind, tip=None, direction=None),)))
        assert (picture[215:265, 215:265] == 128).all(), kind
        assert is_colour(picture, WHITE).any(), kind


def test_outlines_follow_the_kind() -> None:
    outlines = {
        kind: is_colour(drawn(PanelRegions((mark(kind=kind, tip=None),))), WHITE)
        for kind in ("box", "circle", "asterisk")
    }
    corner, side = (slice(176, 182), slice(176, 182)), (slice(174, 184), slice(239, 242))
    assert outlines["box"][corner].any()
    assert not outlines["circle"][corner].any()
    assert outlines["circle"][side].any()
    assert not outlines["asterisk"][corner].any()
    assert outlines["asterisk"][140:170, 235:245].any(), "its upper corner"


def test_a_region_has_a_dashed_frame_in_its_marks_colour() -> None:
    shown = PanelRegions((mark(tip=None, box=(0, 0, 0, 0)),), (), (region((0.5, 0.5, 0.75, 0.75), (0,), None, None),))
    picture = drawn(shown)
    edge = is_colour(picture, WHITE)[300, 300:450]
    assert 0.3 < edge.mean() < 0.7
    assert (picture[304:446, 304:446] == 128).all()


def test_a_number_stands_beside_its_region_and_covers_neither_marks_nor_regions() -> None:
    with_number, without = (drawn(PanelRegions(MARKED.marks, (), regions)) for regions in (MARKED.regions, ()))
    changed = (with_number != without).any(axis=2)
    for box in [*(item.box for item in MARKED.marks), *(item.box for item in MARKED.regions)]:
        left, top, right, bottom = (round(SIDE * at) for at in box)
        inside = changed[top + 6 : bottom - 6, left + 6 : right - 6]
        # Of another region's frame that crosses it there may be a line, never a label.
        assert inside.mean() < 0.1, box


def test_numbers_count_through_the_figure_and_one_box_has_one() -> None:
    twice = (region((0, 0, 0.1, 0.1), (0,), 0, "a"), region((0, 0, 0.1, 0.1), (0,), 1, "b"))
    panels = [PanelRegions((), (), (*twice, region((0.5, 0, 0.6, 0.1), (1,), None, None))), PanelRegions(), MARKED]
    assert figure_numbers(panels) == [(1, 1, 2), (), (3, 4)]


def test_a_part_of_the_figure_shows_what_lies_in_it() -> None:
    part = drawn(MARKED, frame=(0.5, 0.5, 1.0, 1.0))
    assert part.shape == (SIDE // 2, SIDE // 2, 3)
    assert tuple(part[0, 0]) == rgb(WHITE), "the tip is its corner"
    assert is_colour(part, RED).any()
    with pytest.raises(ValueError, match="lies in the figure"):
        drawn(MARKED, frame=(1.2, 0, 1.5, 1))


def test_small_pictures_are_enlarged_and_large_ones_made_smaller() -> None:
    assert draw_regions(ground(side=100), [MARKED]).shape == (400, 400, 3)
    assert draw_regions(ground(side=2000), [MARKED], max_side=700).shape == (700, 700, 3)


def test_phrases_stand_on_the_colour_of_their_mark_with_the_number_of_its_region() -> None:
    words = draw_region_words([MarkedPanel(MARKED, "A", (TEXT,))])
    assert words is not None
    plain = draw_region_words([MarkedPanel(PanelRegions(MARKED.marks, MARKED.phrases), "A", (TEXT,))])
    assert plain is not None
    assert is_colour(words, RED).sum() > 1000, "a ground of letters, not a line"
    assert is_colour(words, RED).sum() > is_colour(plain, RED).sum(), "the number stands there, too"


def test_a_phrase_without_a_mark_has_no_colour() -> None:
    alone = MarkedPanel(PanelRegions((), (phrase("fluid (red circle)", "fluid", ()),)), None, (TEXT,))
    words = draw_region_words([alone])
    assert words is not None
    assert (np.ptp(words.astype(int), axis=2) < 20).all(), "greys only"


def test_a_text_stands_with_the_panel_that_has_the_mark() -> None:
    alone = [MarkedPanel(MARKED, "A", (TEXT,))]
    other = MarkedPanel(PanelRegions((), (phrase("fluid (red circle)", "fluid", ()),)), "B", (TEXT,))
    one, both = draw_region_words(alone), draw_region_words([*alone, other])
    assert one is not None
    assert both is not None
    assert np.array_equal(one, both)


def test_phrases_of_mentions_stand_in_their_sentence() -> None:
    sentence = "In Fig. 1 the red circle marks fluid."
    told = phrase("the red circle marks fluid", "fluid", (0,), sentence, found_in="mention", mention=0)
    words = draw_region_words([MarkedPanel(PanelRegions((CIRCLE,), (told,)), None, ("Scan.", sentence))])
    assert words is not None
    assert is_colour(words, RED).any()


def test_numbers_are_told_in_runs() -> None:
    assert numbers_text([3, 1, 2, 7, 5, 5]) == "1–3, 5, 7"
    assert numbers_text([]) == ""


def test_a_figure_without_marks_has_no_picture() -> None:
    assert region_picture(ground(), [MarkedPanel(PanelRegions(), "A", (TEXT,))]) is None
    shown = region_picture(ground(), [MarkedPanel(MARKED, "A", (TEXT,))])
    assert shown is not None
    assert shown.shape[0] > READABLE_SIDE, "words stand below"


odd = st.floats(width=32) | st.sampled_from([float("nan"), float("inf"), -1e30, 0.0, 1.0])
odd_box = st.tuples(odd, odd, odd, odd)


@examples(60)
@given(
    odd_box, st.none() | st.tuples(odd, odd), st.none() | odd, st.sampled_from(MARK_KINDS), odd_box, st.integers(1, 40)
)
def test_odd_places_never_fail(box: Any, tip: Any, direction: Any, kind: Any, other: Any, side: int) -> None:
    found = PanelRegions(
        (mark(kind=kind, box=box, tip=tip, direction=direction),),
        (phrase("drusen (white arrow)", "drusen", (0, 9)),),
        (region(other, (0, 7), 0, None),),
    )
    pixels = np.zeros((side, side, 3), np.uint8)
    assert draw_regions(pixels, [found], least_side=0).shape == pixels.shape
    assert draw_region_words([MarkedPanel(found, "A\u202e", (TEXT,))]) is not None
