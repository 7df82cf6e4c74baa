"""Words with the shape of an identifier, and lists of them."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.captions.identifier_lists import is_ascending, is_identifier, parsed_list
from pmo_assets.pipeline.captions.tokens import tokenized


@pytest.mark.parametrize("text", ["A", "a", "A1", "b12", "Aa", "Aii", "iv", "XII", "3"])
def test_shapes_of_identifiers(text: str) -> None:
    assert is_identifier(text)


@pytest.mark.parametrize("text", ["OD", "OS", "OCT", "2A", "H2B", "AMD", "the", "é", "٣"])
def test_other_words(text: str) -> None:
    assert not is_identifier(text)


@pytest.mark.parametrize(
    ("text", "items", "end"),
    [
        ("A, B and D x", [("A", ""), ("B", ""), ("D", "")], 5),
        ("a–c: x", [("a", "c")], 3),
        ("A to C x", [("A", "C")], 3),
        ("(a), (b) x", [("a", ""), ("b", "")], 7),
        ("A-band", [], 0),
        ("A – 1 x", [("A", "")], 1),
        ("OCT", [], 0),
    ],
)
def test_a_list_ends_where_no_identifier_follows(text: str, items: list[tuple[str, str]], end: int) -> None:
    tokens = tokenized(text)
    assert parsed_list(tokens, 0, len(tokens.texts)) == (items, end)


def test_identifiers_ascend_in_letters_or_numerals() -> None:
    assert is_ascending("A", "B")
    assert is_ascending("viii", "ix")
    assert not is_ascending("H", "E")
    assert not is_ascending("A", "b")
