"""What a text that was read says about the names a caption knows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.assembly.reading.identifier_text import bare, likelihood, name_shares, reading_of

NAMES = st.lists(st.text("ABCDEFGHabcdefghiIvx123 ", min_size=1, max_size=4), min_size=1, max_size=8)
TEXTS = st.lists(st.tuples(st.text(max_size=6), st.floats(0, 0.25)), max_size=4)


def likeliest(text: str, names: list[str]) -> str | None:
    return reading_of(name_shares([(text, 1.0)], names), text, "test").best


@given(TEXTS, NAMES)
def test_shares_are_probabilities_whatever_is_read(texts: list[tuple[str, float]], names: list[str]) -> None:
    shares = name_shares(texts, names)
    assert set(shares) == {name for name in names if bare(name)}
    assert all(0 <= share <= 1 for share in shares.values())
    assert sum(shares.values()) <= 1 + 1e-9


@given(
    st.sampled_from("ABCDEFGHKMNPRTUVWXYZ2346789"),
    st.sampled_from(["{}", "({})", "{})", "[{}]", "{}.", " {} ", "|{}|"]),
)
def test_brackets_and_dots_mean_nothing(letter: str, printed: str) -> None:
    names = [letter, *(other for other in "ABCDE" if other != letter)]
    assert likeliest(printed.format(letter), names) == letter


@given(st.text(max_size=60))
def test_hostile_texts_are_texts(text: str) -> None:
    assert 0 <= likelihood(text, "A") <= 1
    assert likeliest(text, []) is None


@pytest.mark.parametrize(
    ("text", "names", "name"),
    [
        ("11", ["i", "ii", "iii", "iv"], "ii"),
        ("(lI)", ["i", "ii", "iii", "iv"], "ii"),
        ("ⅱ", ["i", "ii", "iii"], "ii"),
        ("iil", ["i", "ii", "iii"], "iii"),
        ("1v", ["i", "ii", "iii", "iv"], "iv"),
        ("l", ["A", "I"], "I"),
        ("1", ["1", "2", "3"], "1"),
        ("|", ["h", "i", "j"], "i"),
        ("1", ["h", "i", "k", "l"], "l"),
        ("0", ["M", "N", "O", "P"], "O"),
        ("O", ["8", "9", "10", "0"], "0"),
        ("5", ["R", "S", "T"], "S"),
        ("8", ["A", "B", "C"], "B"),
        ("C", ["a", "b", "c", "d"], "c"),
        ("b", ["A", "B", "C"], "B"),
        ("lb)", ["a", "b"], "b"),
        ("(A1)", ["A1", "A2", "B1"], "A1"),
        ("AI", ["A1", "A2", "B1"], "A1"),
        ("a2", ["a", "b", "c"], "a"),
        ("Contro1", ["Control", "Treated"], "Control"),
        ("C", ["C", "c"], "C"),
        ("a", ["A", "a"], "a"),
    ],
)
def test_confusions_are_settled_by_what_the_caption_names(text: str, names: list[str], name: str) -> None:
    assert likeliest(text, names) == name


@pytest.mark.parametrize("text", ["K", "200 µm", "OU", "Day 3", "figure", "2021"])
def test_what_the_caption_does_not_name_is_something_else(text: str) -> None:
    assert likeliest(text, ["A", "B", "C", "D"]) is None


def test_readings_that_exclude_each_other_share_the_probability() -> None:
    shares = name_shares([("E", 0.6), ("F", 0.4)], ["E", "F"])
    assert shares["E"] > shares["F"] > 0.2


def test_nothing_read_says_nothing() -> None:
    assert name_shares([("", 1.0)], ["A", "B", "C"]) == pytest.approx({"A": 0.25, "B": 0.25, "C": 0.25})
