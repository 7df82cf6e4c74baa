"""What recognisers are told, and what of theirs is put right."""

from __future__ import annotations

import pytest

from pmo_assets.lexicon.terms import terms_within
from pmo_assets.pipeline.videos.vocabulary import COMMON, MOST_PROMPT_WORDS, corrected, prompt, sound
from pmo_assets.pipeline.videos.words import Word, words_within

USUAL = frozenset({"lesson", "treatment", "this", "shows", "the", "and", "sub"})


def heard(*texts: str, probability: float = 0.3) -> list[Word]:
    return [Word(text, float(k), k + 1.0, probability) for k, text in enumerate(texts)]


def put_right(*texts: str, probability: float = 0.3) -> list[str]:
    return [word.text for word in corrected(heard(*texts, probability=probability), lambda word: word in USUAL)]


@pytest.mark.parametrize("term", COMMON)
def test_terms_that_are_always_told_are_the_lexicons(term: str) -> None:
    assert terms_within(term)


def test_what_the_slide_shows_is_told_first() -> None:
    told = prompt(["Bullous retinoschisis", "Retina in practice"])
    assert told.index("retinoschisis") < told.index("fundus photograph")
    assert "practice" not in told
    assert len(told.split()) <= MOST_PROMPT_WORDS + 6


@pytest.mark.parametrize(
    ("misheard", "meant"),
    [
        ("drusin", "drusen"), ("Fundas", "Fundus"), ("papiledema,", "papilledema,"), ("retinopothy", "retinopathy"),
        ("choroydal", "choroidal"),
    ],
)  # fmt: skip
def test_a_misheard_word_that_sounds_alike_is_put_right(misheard: str, meant: str) -> None:
    (word,) = corrected(heard(misheard), lambda word: False)
    assert (word.text, word.original) == (meant, misheard)


@pytest.mark.parametrize("text", ["lesson", "treatment", "drusen", "macula", "Smith", "fever", "photobia", "120"])
def test_common_words_and_words_that_sound_otherwise_stay(text: str) -> None:
    assert put_right(text) == [text]


def test_a_word_that_was_surely_heard_stays() -> None:
    assert put_right("drusin", probability=0.95) == ["drusin"]


def test_a_word_heard_in_two_parts_is_one_with_both_times() -> None:
    words = corrected(heard("sub", "retinal.", "and"), lambda word: word in USUAL)
    assert [(word.text, word.start, word.end, word.original) for word in words] == [
        ("subretinal.", 0.0, 2.0, "sub retinal."),
        ("and", 2.0, 3.0, None),
    ]


def test_sounds() -> None:
    assert sound("oedema") == sound("edema")
    assert sound("phoria") == sound("foria")
    assert sound("fovea") != sound("phobia")


def test_words_belong_to_an_episode_and_three_seconds_around_it() -> None:
    words = [Word(str(k), k, k + 1, 1.0) for k in range(30)]
    assert [word.text for word in words_within(words, 10.0, 12.0)] == [str(k) for k in range(7, 15)]
