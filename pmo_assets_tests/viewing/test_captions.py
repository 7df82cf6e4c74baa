"""Captions coloured by panel."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.viewing.captions import CaptionRun, caption_picture, caption_runs
from pmo_assets.viewing.palette import PANEL_COLOURS, SHARED_COLOUR, rgb
from pmo_assets_tests.examples import examples

CAPTION = "OCT. (A) Before. (B, C) After & later. (C) Fellow eye."


def part(text: str) -> tuple[int, int]:
    start = CAPTION.index(text)
    return (start, start + len(text))


SPLIT = [
    ("A", [part("OCT."), part("Before.")]),
    ("B", [part("OCT."), part("After & later.")]),
    ("C", [part("OCT."), part("After & later."), part("Fellow eye.")]),
]


def test_runs_say_who_owns_each_character():
    owners = {CAPTION[run.start : run.end]: run.owners for run in caption_runs(CAPTION, SPLIT)}
    assert owners == {
        "OCT.": (0, 1, 2),
        " (A) ": (),
        "Before.": (0,),
        " (B, C) ": (),
        "After & later.": (1, 2),
        " (C) ": (),
        "Fellow eye.": (2,),
    }


def test_white_space_at_the_edge_of_a_segment_is_not_coloured():
    assert caption_runs("a  b", [("A", [(0, 3)]), ("B", [(2, 4)])]) == (
        CaptionRun(0, 1, (0,)),
        CaptionRun(1, 3, ()),
        CaptionRun(3, 4, (1,)),
    )


segments = st.lists(st.tuples(st.integers(-5, 40), st.integers(-5, 40)), max_size=4)
splits = st.lists(st.tuples(st.none() | st.text(max_size=3), segments), max_size=4)


@given(st.text(max_size=30), splits)
def test_runs_cover_the_caption_once_and_agree_with_the_segments(caption, split):
    runs = caption_runs(caption, split)
    assert "".join(caption[run.start : run.end] for run in runs) == caption
    assert all(a.end == b.start and a.owners != b.owners for a, b in pairwise(runs))
    for run in runs:
        for i in range(run.start, run.end):
            if not caption[i].isspace():
                owners = [k for k, (_, ranges) in enumerate(split) if any(a <= i < b for a, b in ranges)]
                assert list(run.owners) == owners


def test_the_picture_shows_every_panel_and_is_as_high_as_needed():
    picture = caption_picture(CAPTION, SPLIT, width=400)
    assert picture.shape[1] == 400
    for colour in (*PANEL_COLOURS[:3], SHARED_COLOUR):
        assert (picture == rgb(colour)).all(axis=2).any(), colour
    assert (picture < 60).all(axis=2).any(), "the text itself"
    longer = caption_picture(CAPTION * 4, SPLIT, width=400)
    assert longer.shape[0] > picture.shape[0]
    assert np.array_equal(picture, caption_picture(CAPTION, SPLIT, width=400))


def test_nothing_is_drawn_on_the_margins_of_the_picture():
    picture = caption_picture("W" * 300 + " " + CAPTION, SPLIT, width=320, font_size=16)
    assert (picture[:, :15] == 255).all()
    assert (picture[:, -14:] == 255).all()
    assert (picture[-4:] == 255).all()


@examples(40)
@given(st.text(max_size=60), splits)
def test_any_text_becomes_a_picture(caption, split):
    assert caption_picture(caption, split, width=200, font_size=10).shape[1:] == (200, 3)


def test_a_picture_without_room_is_refused():
    with pytest.raises(ValueError, match="no room"):
        caption_picture(CAPTION, SPLIT, width=50)
