"""Tokens keep their offsets, brackets know their partners, sentences begin where a reader sees them begin."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.captions.tokens import tokenized


@given(st.text())
def test_tokens_are_the_visible_characters_in_order(caption: str) -> None:
    tokens = tokenized(caption)
    assert [caption[start:end] for start, end in zip(tokens.starts, tokens.ends, strict=True)] == tokens.texts
    assert "".join(tokens.texts) == "".join(caption.split())


@given(st.text("()[]a "))
def test_partners_are_mutual_and_of_one_kind(caption: str) -> None:
    tokens = tokenized(caption)
    for index, partner in enumerate(tokens.partners):
        if partner >= 0:
            assert tokens.partners[partner] == index
            assert tokens.texts[min(index, partner)] + tokens.texts[max(index, partner)] in {"()", "[]"}


def test_unbalanced_brackets_have_no_partner() -> None:
    assert tokenized("a) (b) (c").partners == [-1, -1, 4, -1, 2, -1, -1]


@pytest.mark.parametrize(
    ("caption", "openers"),
    [
        ("One. Two.", ["One", "Two"]),
        ("One.(A) Two.", ["One", "("]),
        ("Fig. 2 shows C. albicans vs. controls, i.e. 0.5 mm.", ["Fig"]),
        ("A. First. B. Second.", ["A", "B"]),
        ("Growth in vitro. mRNA levels. b Text", ["Growth", "mRNA", "b"]),
        ("", []),
    ],
)
def test_sentences_begin_here(caption: str, openers: list[str]) -> None:
    tokens = tokenized(caption)
    assert [tokens.texts[index] for index in tokens.sentence_starts] == openers
