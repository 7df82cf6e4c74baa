"""Sentences of a transcript: their ranges, their times, and whether each is heard as a whole and in its time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.videos.sentences import TRUSTED, spoken_sentences
from pmo_assets.pipeline.videos.words import Word, joined


def said(text: str, at: float = 10.0, **changed: float) -> list[Word]:
    """Return words of half a second each; of those that `changed` names, the probability."""
    return [
        Word(word, at + 0.5 * n, at + 0.5 * n + 0.4, changed.get(word.strip(".").lower(), 0.9))
        for n, word in enumerate(text.split())
    ]


def test_sentences_have_their_range_in_the_transcript_and_their_seconds() -> None:
    words = said("Drusen here. Fluid there.")
    first, second = spoken_sentences(words, 0.0, 60.0)
    assert (first.text, second.text) == ("Drusen here.", "Fluid there.")
    assert joined(words)[second.first : second.last] == "Fluid there."
    assert (second.start, second.end) == (11.0, 11.9)


@pytest.mark.parametrize(
    ("start", "end", "within"), [(10.0, 11.5, True), (10.3, 11.5, False), (10.0, 11.1, False), (10.2, 11.2, True)]
)
def test_a_sentence_is_within_if_it_begins_and_ends_while_the_picture_is_shown(
    start: float, end: float, within: bool
) -> None:
    (only,) = spoken_sentences(said("Some drusen here."), start, end)
    assert only.is_within is within


def test_one_doubtful_word_makes_the_sentence_doubtful_and_no_other() -> None:
    doubted, sure = spoken_sentences(said("There is no fluid. Drusen here.", no=TRUSTED - 0.01), 0.0, 60.0)
    assert (doubted.is_heard, sure.is_heard) == (False, True)


def test_a_word_put_right_is_a_guess_and_one_that_was_only_parted_is_none() -> None:
    guessed = [Word("Subretinal", 1.0, 1.5, 0.95, "Sub-rectional"), Word("fluid.", 1.5, 2.0, 0.9)]
    parted = [Word("Subretinal", 1.0, 1.5, 0.95, "Sub retinal"), Word("fluid.", 1.5, 2.0, 0.9)]
    assert [spoken_sentences(words, 0.0, 9.0)[0].is_heard for words in (guessed, parted)] == [False, True]


@given(
    st.lists(st.sampled_from(["Drusen", "fluid.", "There", "is", "none.", "e.g.", "OCT.", "2.5", " a "]), max_size=30)
)
def test_sentences_are_disjoint_ranges_of_the_transcript_in_its_order(parts: list[str]) -> None:
    words = [Word(part, float(n), n + 0.5, 1.0) for n, part in enumerate(parts)]
    text, last = joined(words), 0
    for sentence in spoken_sentences(words, 0.0, 99.0):
        assert text[sentence.first : sentence.last] == sentence.text
        assert last <= sentence.first < sentence.last <= len(text)
        last = sentence.last
