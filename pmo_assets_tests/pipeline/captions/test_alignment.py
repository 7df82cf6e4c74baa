"""Offsets of a text that a language model took from a caption."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.captions.alignment import aligned
from pmo_assets.pipeline.captions.segments import join_segments
from pmo_assets.pipeline.captions.split import split_caption

CAPTION = (
    "Multimodal imaging of the right eye. (A) Colour fundus photograph, showing drusen; (B) OCT of the macula. "
    "Scale bar: 200 µm."
)


def parts(caption: str, text: str) -> list[str]:
    return [caption[start:end] for start, end in aligned(caption, text).segments]


def test_a_text_in_pieces_is_found_where_it_stands() -> None:
    text = "Multimodal imaging of the right eye. OCT of the macula. Scale bar: 200 µm."
    assert parts(CAPTION, text) == ["Multimodal imaging of the right eye.", "OCT of the macula. Scale bar: 200 µm."]


def test_common_words_are_not_taken_from_elsewhere() -> None:
    caption = "The course of the disease. (A) The left eye of the mother. (B) The right eye of the father."
    assert parts(caption, "The right eye of the father.") == ["The right eye of the father."]


def test_a_repeated_phrase_is_taken_next_to_its_neighbours() -> None:
    caption = "(A) OCT of the macula before surgery. (B) OCT of the macula after surgery."
    assert parts(caption, "OCT of the macula after surgery.") == ["OCT of the macula after surgery."]


def test_distributed_lists_are_taken_apart() -> None:
    caption = "H&E (a) and PAS (b) of the right and left eye, respectively."
    assert parts(caption, "PAS of the left eye.") == ["PAS", "of the", "left eye"]


@pytest.mark.parametrize(
    "text",
    [
        "Color fundus photograph showing drusen.",
        "COLOUR FUNDUS PHOTOGRAPH – SHOWING DRUSEN",
        "Colour fundus photograph, which shows drusen.",
    ],
)
def test_spelling_case_and_punctuation_make_no_difference(text: str) -> None:
    assert parts(CAPTION, text)[0].startswith("Colour fundus photograph, showing drusen")


def test_a_word_that_replaces_one_of_the_captions_is_foreign_but_does_not_cut_the_range() -> None:
    found = aligned(CAPTION, "Colour retinal photograph, showing drusen")
    assert found.foreign == ("retinal",)
    assert [CAPTION[start:end] for start, end in found.segments] == ["Colour fundus photograph, showing drusen"]


def test_units_in_other_code_points_are_the_same() -> None:
    assert aligned("Scale bar 200 μm", "Scale bar 200 um").foreign == ()
    assert aligned("Scale bar 200 µm", "Scale bar 200 μm").foreign == ()


def test_words_in_another_order_are_foreign() -> None:
    assert aligned("drusen in the macula of the left eye", "left eye macula drusen").foreign


def test_a_text_of_other_words_has_no_place() -> None:
    assert aligned(CAPTION, "Histology from liver").segments == ()


@pytest.mark.parametrize(("caption", "text"), [("", ""), ("", "text"), ("text", ""), ("…", "…"), ("(", ")")])
def test_nothing_comes_of_nothing(caption: str, text: str) -> None:
    found = aligned(caption, text)
    assert len(found.foreign) == found.words


@given(st.text(max_size=300), st.text(max_size=200))
def test_ranges_lie_in_the_caption_ascending_and_apart(caption: str, text: str) -> None:
    segments = aligned(caption, text).segments
    ends = [0]
    for start, end in segments:
        assert ends[-1] <= start < end <= len(caption)
        ends.append(end)


_TOKENS = ["eye", "the", "of", "OCT", "left", "(A)", "(B)", "and", ",", ".", ";", "drusen", "macula", "3"]


@given(st.lists(st.sampled_from(_TOKENS), max_size=60))
def test_a_caption_is_found_in_itself(words: list[str]) -> None:
    caption = " ".join(words)
    assert aligned(caption, caption).foreign == ()
    assert "".join(parts(caption, caption)).replace(" ", "").strip(".,;()") in caption.replace(" ", "")


_PIECES = st.sampled_from(
    ["Fundus photograph of the right eye", "OCT of the macula", "fluorescein angiogram, late phase", "B-scan (dashed)"]
)


@given(st.lists(_PIECES, min_size=2, max_size=5), st.booleans())
def test_what_the_grammar_wrote_is_found_where_the_grammar_took_it(pieces: list[str], shared: bool) -> None:
    labelled = " ".join(f"({'ABCDE'[number]}) {piece}." for number, piece in enumerate(pieces))
    caption = f"{'Imaging at baseline. ' if shared else ''}{labelled}"
    for sub in split_caption(caption).subcaptions:
        found = aligned(caption, sub.text)
        assert not found.foreign
        assert join_segments(caption, found.segments).lower() == sub.text.lower()
