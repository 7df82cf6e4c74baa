"""What a source's statements say together: what it said before is nothing new when it is seen again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.articles.licences import LICENSE_CODES, freedoms, most_restrictive
from pmo_assets.release.statements import AT_PMC, Statement, narrowed, word_of

UNSTATED = "nothing"
UNREADABLE = "unreadable"


def statement(
    place: int,
    said: str | None = "CC BY",
    *,
    version: int = 1,
    retracted: bool = False,
    done: bool = True,
    **facts: Any,
) -> Statement:
    """Return a statement; `said` is the code of a licence, None for one that is not understood, or one of the above."""
    is_stated = said not in (UNSTATED, UNREADABLE)
    return Statement(
        speaker="s", place=place, batch=f"{place:04d}", name="n", rank=(True, True, version),
        code=said if is_stated else None, states_licence=is_stated, is_unreadable=said == UNREADABLE,
        is_retracted=retracted, is_done=done, **facts,
    )  # fmt: skip


def allowed(statements: Sequence[Statement], made_under: str | None = "CC BY") -> str | None:
    return narrowed(made_under, word_of(statements).licences)[0]


def said(*codes: str | None, done: bool = True) -> list[Statement]:
    return [statement(place, code, done=done or place == 0) for place, code in enumerate(codes)]


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        (["CC BY", "CC BY-NC-ND"], "CC BY-NC-ND"),
        (["CC BY", "CC BY-NC-ND", "CC BY"], "CC BY-NC-ND"),
        (["CC BY", "CC BY-NC-ND", "CC BY", "CC BY-NC-ND", "CC BY"], "CC BY-NC-ND"),
        (["CC BY", "CC BY-NC-ND", "CC BY-NC"], "CC BY-NC"),
        (["CC BY", "CC BY-NC-ND", "CC BY-NC", "CC BY-NC-ND"], "CC BY-NC-ND"),
        (["CC BY-NC-ND", "CC BY"], "CC BY"),
        (["CC BY", None], None),
        (["CC BY", None, "CC BY"], None),
        (["CC BY", UNREADABLE], None),
        (["CC BY", UNREADABLE, "CC BY"], None),
        (["CC BY", UNREADABLE, "CC BY-NC"], "CC BY-NC"),
        (["CC BY", UNSTATED], "CC BY"),
        (["CC BY", "CC BY-ND", UNSTATED], "CC BY-ND"),
        ([UNREADABLE, UNSTATED], "CC BY"),
    ],
)
def test_a_licence_is_widened_by_what_was_never_said_before(codes: list[str | None], expected: str | None) -> None:
    assert allowed(said(*codes)) == expected


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        (["CC BY", "CC BY-NC-ND"], "CC BY-NC-ND"),
        (["CC BY-NC-ND", "CC BY"], "CC BY-NC-ND"),
        (["CC BY", "CC BY-NC-ND", "CC BY-NC"], "CC BY-NC-ND"),
        (["CC BY", UNREADABLE], None),
        (["CC BY", UNSTATED], "CC BY"),
        (["CC BY", "CC BY"], "CC BY"),
    ],
)
def test_who_waits_for_processing_may_narrow_and_not_widen(codes: list[str | None], expected: str | None) -> None:
    assert allowed(said(*codes, done=False)) == expected


def test_a_retraction_is_taken_back_by_a_newer_version_alone_or_by_what_was_never_said() -> None:
    plain, gone, again = statement(0), statement(1, retracted=True), statement(2)
    assert word_of([plain, gone]).retraction == gone
    assert word_of([plain, gone, again]).retraction == gone, "it was said before"
    assert word_of([gone, again]).retraction is None, "it never was"
    assert word_of([plain, gone, statement(2, version=2)]).retraction is None
    assert word_of([plain, gone, statement(2, version=2, done=False)]).retraction == gone, "it waits for its batch"
    assert word_of([statement(0, version=2), statement(1, retracted=True)]).retraction is None, "of an older version"


def test_the_same_content_is_no_new_statement_whatever_is_read_of_it() -> None:
    before = statement(0, "CC BY", digest=1)
    gone = statement(1, "CC BY", digest=2, retracted=True)
    assert word_of([before, gone, statement(2, "CC BY-SA", digest=1)]).retraction == gone


def test_the_reason_names_who_says_it() -> None:
    waiting, done = statement(2, "CC BY-NC-ND", done=False), statement(2, None)
    assert waiting.of_licence() == "a newer manifest (batch 0002, not processed) says CC BY-NC-ND"
    assert done.of_licence() == "batch 0002 says no licence that is known"
    assert statement(2, UNREADABLE).of_licence().startswith("batch 0002 has metadata that cannot be read")
    at_pmc = Statement("s", 2, AT_PMC, "n", (True, True, 1), None, False, False, True, False)
    assert at_pmc.of_retraction() == "PubMed Central says that the article is retracted"


statements = st.lists(
    st.tuples(st.sampled_from([*LICENSE_CODES, None, UNREADABLE]), st.booleans(), st.booleans(), st.integers(1, 2)),
    min_size=1,
    max_size=7,
)


@given(statements)
def test_nothing_is_ever_freer_than_the_latest_statement_that_was_not_made_before(
    drawn: list[tuple[str | None, bool, bool, int]],
) -> None:
    made = [
        statement(place, code, retracted=retracted, done=done, version=version)
        for place, (code, retracted, done, version) in enumerate(drawn)
    ]
    newest: list[Statement] = []
    for item in made:
        is_older = bool(newest) and item.rank < max(other.rank for other in newest)
        if not is_older and item.rights not in [other.rights for other in newest]:
            newest.append(item)
    latest, word = newest[-1], word_of(made)
    code = narrowed("CC0", word.licences)[0]
    assert freedoms(code) <= freedoms(latest.allowed)
    assert word.retraction is not None or not latest.is_retracted
    waiting = [item for item in made if item.place > latest.place and item.rank >= latest.rank]
    assert freedoms(code) <= freedoms(most_restrictive([latest.allowed, *(item.allowed for item in waiting)]))
