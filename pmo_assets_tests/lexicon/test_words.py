"""Words of a text: one key for all spellings of a word, offsets that are exact."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.lexicon.terms import form_of
from pmo_assets.lexicon.words import words_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("haemorrhage", "hemorrhages"),
        ("macular oedema", "Macular Edema"),
        ("tumour", "tumors"),
        ("colour fundus", "color fundus"),
        ("nerve fibre", "nerve fiber"),
        ("grey", "gray"),
        ("optic disk", "optic discs"),
        ("neovascularisation", "neovascularization"),
        ("age-related", "age related"),
        ("age‐related", "age–related"),
        ("non-proliferative", "nonproliferative"),
        ("sub retinal fluid", "subretinal fluid"),
        ("Stargardt's disease", "Stargardt disease"),
        ("Coats’ disease", "Coats disease"),
        ("Behçet", "Behcet"),
        ("emboli", "embolus"),
        ("synechiae", "synechia"),
        ("staphylomata", "staphyloma"),
        ("epithelia", "epithelium"),
        ("arteries", "artery"),
        ("interferon-α", "interferon alpha"),
        ("angiographic", "angiography"),
        ("PEDs", "PED"),
        ("ﬂuorescein", "fluorescein"),
        ("SF₆", "SF6"),
        ("exopthalmos", "exophthalmos"),
    ],
)
def test_spellings_of_a_word_have_one_key(one: str, other: str) -> None:
    assert form_of(one) == form_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("iris", "irids"), ("retina", "retinitis"), ("OS", "os"), ("ME", "me"), ("uvea", "uveitis"), ("lens", "lentis")],
)
def test_other_words_have_other_keys(one: str, other: str) -> None:
    assert form_of(one) != form_of(other)


def test_roman_numerals_are_read_as_numbers_too() -> None:
    words = words_of("grade II and stage iii")
    assert [words.number(index) for index in range(len(words))] == [None, "2", None, None, "3"]


@given(st.text(max_size=200))
def test_words_stand_in_the_text_in_its_order(text: str) -> None:
    words = words_of(text)
    ranges = list(zip(words.starts, words.ends, strict=True))
    assert all(0 <= start < end <= len(text) for start, end in ranges)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(ranges))
    assert all(words.keys)
