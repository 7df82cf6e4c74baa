"""A statement of a licence counts only if all of it is understood: real ones, and what takes their freedoms away."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pmo_assets.pipeline.articles.licence_reading import is_suspicious, read_statement
from pmo_assets.pipeline.articles.licences import freedoms, license_code, license_url
from pmo_assets_tests.examples import examples
from pmo_assets_tests.pipeline.articles.licence_attacks import BOUNDS, CASES, REFUSING, SHAPES, inserted, mixed
from pmo_assets_tests.pipeline.articles.licence_table import KnownStatement, known_statements

KNOWN = known_statements()
ALLOWED = [statement for statement in KNOWN if statement.code is not None]


def test_the_table_has_every_code_and_hundreds_of_forms() -> None:
    assert len(KNOWN) >= 400
    assert len({statement.text for statement in KNOWN}) == len(KNOWN)
    assert {statement.code for statement in KNOWN} == {
        None, "TDM", "CC0", "CC BY", "CC BY-SA", "CC BY-ND", "CC BY-NC", "CC BY-NC-SA", "CC BY-NC-ND"
    }  # fmt: skip


def test_every_known_statement_has_its_code() -> None:
    read = {statement.text: license_code(statement.text) for statement in KNOWN}

    assert read == {statement.text: statement.code for statement in KNOWN}


words = st.sampled_from(BOUNDS)
statements = st.sampled_from(ALLOWED)
shapes = st.sampled_from(SHAPES)
cases = st.sampled_from(CASES)


@given(statement=statements, bound=words, shape=shapes, case=cases, place=st.integers(0, 400))
@example(KnownStatement("CC BY", "", "CC BY"), ("not", None), "{}", str, 0)
@example(KnownStatement("CC BY", "", "CC BY 4.0"), ("ND", "CC BY-ND"), "{}", str, 9)
@example(KnownStatement("CC BY", "", "© 2020 Elsevier. CC BY"), ("nicht", None), "{}", str.title, 3)
@examples(300)
def test_no_word_put_in_anywhere_makes_a_statement_freer_than_the_word_allows(statement, bound, shape, case, place):  # type: ignore[no-untyped-def]
    word, freest = bound
    text = inserted(statement.text, shape.format(case(word)), place)

    found = freedoms(license_code(text))

    assert found <= freedoms(statement.code), text
    if statement.code in ("CC BY", "CC0") and not _explains(statement.text):
        assert found <= freedoms(freest), text


@given(statement=statements, bound=words, case=cases, kept=st.integers(0, 60), seed=st.integers(0, 2**32))
@examples(200)
def test_neither_order_nor_what_is_left_out_hides_a_word_that_restricts(statement, bound, case, kept, seed):  # type: ignore[no-untyped-def]
    word, freest = bound
    text = mixed(statement.text, case(word), kept, seed)

    if not _explains(statement.text):
        assert freedoms(license_code(text)) <= freedoms(freest), text


@given(statement=statements, seed=st.integers(0, 2**32))
@examples(200)
def test_the_words_of_a_statement_in_another_order_are_never_freer(statement, seed):  # type: ignore[no-untyped-def]
    shuffled = mixed(" ".join(statement.text.split()[:-1]), statement.text.split()[-1], 10_000, seed)

    assert freedoms(license_code(shuffled)) <= freedoms(statement.code), shuffled


@given(first=statements, second=statements, between=st.sampled_from([" ", " | ", ". ", "; ", " and ", "\n"]))
@examples(200)
def test_of_two_statements_the_conditions_of_both_hold(first, second, between):  # type: ignore[no-untyped-def]
    together = freedoms(license_code(first.text + between + second.text))

    if "CC0" not in (first.code, second.code) and "TDM" not in (first.code, second.code):
        assert together <= freedoms(first.code) & freedoms(second.code)


@given(statement=statements, other=st.sampled_from(KNOWN))
@example(
    KnownStatement("CC BY", "", "CC BY"), KnownStatement(None, "", "https://creativecommons.org/licenses/by/4.0/nd")
)
@examples(200)
def test_no_deed_is_freer_than_the_code(statement, other):  # type: ignore[no-untyped-def]
    deed = license_url(statement.code, statement.text, other.text)

    assert deed is None or freedoms(license_code(deed)) == freedoms(statement.code)


@given(st.text(max_size=200))
@examples(200)
def test_any_text_can_be_read(text: str) -> None:
    assert license_code(text) in {statement.code for statement in KNOWN}


@pytest.mark.parametrize("word", REFUSING[:40])
def test_what_is_not_understood_is_shown(word: str) -> None:
    reading = read_statement(f"CC BY {word}")

    assert reading.unread
    assert set(reading.unread) <= set(f"CC BY {word}".replace("-", " ").replace("'", " ").split()) | {
        word,
        "publisher's",
    }


@pytest.mark.parametrize(
    "word",
    [
        "not",
        "NICHT",
        "Sans",
        "prohibida",
        "não",
        "非",
        "保留所有权利禁",
        "reserved",
        "GFDL",
        "non-commercial",
        "noncommercially",
    ],
)
def test_words_that_are_known_to_restrict_are_named(word: str) -> None:
    assert is_suspicious(word)


@pytest.mark.parametrize("word", ["Solomon", "Barber", "Noten", "Nicholas", "Sand", "Partington", "Sanchez"])
def test_names_that_begin_like_them_are_not(word: str) -> None:
    assert not is_suspicious(word)
    assert license_code(f"Copyright © 2016 {word} et al. Creative Commons Attribution License") == "CC BY"


def _explains(text: str) -> bool:
    """Say whether a statement speaks itself of commercial use or of derivative works, which a word may complete."""
    return any(part in text.lower() for part in ("commercial", "deriv", "same", "alike", "credit line", "no use"))
