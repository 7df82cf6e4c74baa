"""Texts of panels from a copy's paragraphs: each is believed by its own hash, and what stays null is said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pmo_assets.records.context import RunningParagraph
from pmo_assets.release.filling.context import (
    DIFFERENT,
    NEEDS,
    UNKNOWN,
    WRITTEN_BY_A_MODEL,
    WantedTexts,
    article_words,
    restored_texts,
)
from pmo_assets.release.writing import value_digest
from pmo_assets.tables.context import MENTION_FIELDS, PanelSummaries
from pmo_assets.tables.rows import row_of

SENTENCE = "Optical coherence tomography (OCT) shows no subretinal fluid (Fig. 1A)."
TEXT = f"Before it. {SENTENCE} After it."
WORDS = article_words(
    {
        "paragraphs": [
            row_of(RunningParagraph("results", "Results", "First.")),
            row_of(RunningParagraph("case", None, TEXT)),
        ]
    }
)
SUBCAPTION = "OCT of the right eye"
PLACE: dict[str, Any] = {
    "identifier": "A", "paragraph": 1, "start": 11, "end": 11 + len(SENTENCE), "section": "case",
    "kind": "names panel", "source": "xref",
}  # fmt: skip
MENTION = {**PLACE, "text": SENTENCE, "section_title": None}
VALUES: dict[str, Any] = {
    "mentions": [MENTION],
    "summary": SENTENCE,
    "abbreviations": [{"short": "OCT", "long": "Optical coherence tomography"}],
}
WANTED = WantedTexts(
    {name: value_digest(value) for name, value in VALUES.items()},
    [PLACE],
    [{name: PLACE[name] for name in ("paragraph", "start", "end")}],
)


def test_sentences_are_cut_where_the_row_says_and_the_rest_is_made_of_them() -> None:
    made = restored_texts(WANTED, WORDS, SUBCAPTION, f"(A) {SUBCAPTION}.")
    assert made.values == VALUES
    assert made.left == {}
    assert set(MENTION) == set(MENTION_FIELDS), "a mention has the fields of the column"


def test_places_have_all_fields_of_a_mention_but_words() -> None:
    columns = PanelSummaries.columns()
    names = [field.name for field in columns["mention_places"].dtype.inner.fields]  # type: ignore[attr-defined]
    assert {*names, "text", "section_title"} == set(MENTION_FIELDS)


def test_what_was_null_in_the_release_is_not_made() -> None:
    made = restored_texts(replace(WANTED, sha256={}), WORDS, SUBCAPTION, "")
    assert made.values == {}
    assert made.left == {}


@pytest.mark.parametrize(
    "place", [{"paragraph": 7}, {"paragraph": None}, {"start": 12}, {"paragraph": -9}, {"end": "x"}]
)
def test_places_that_lie_elsewhere_restore_nothing(place: dict[str, Any]) -> None:
    made = restored_texts(replace(WANTED, mention_places=[{**PLACE, **place}]), WORDS, SUBCAPTION, "")
    assert "mentions" not in made.values
    assert made.left == {"mentions": DIFFERENT, "abbreviations": NEEDS}, "which are of the mentions' words, too"


def test_places_without_end_do_not_fill_the_memory() -> None:
    long = article_words({"paragraphs": [row_of(RunningParagraph("results", None, "x" * 100_000))]})
    places = [{**PLACE, "paragraph": 0, "start": 0, "end": 100_000}] * 1_000_000
    made = restored_texts(replace(WANTED, mention_places=places), long, SUBCAPTION, "")
    assert made.left["mentions"] == DIFFERENT


def test_a_text_made_of_one_that_is_not_restored_stays_null_too() -> None:
    wanted = replace(WANTED, sha256={**WANTED.sha256, "summary": "0" * 64, "entities": "0" * 64})
    made = restored_texts(wanted, WORDS, SUBCAPTION, "")
    assert made.left == {"summary": DIFFERENT, "abbreviations": NEEDS, "entities": NEEDS}


def test_what_a_model_wrote_and_what_other_groups_made_stays_null_and_is_said() -> None:
    """The column `opening` of the tests' own group holds words of the article, too."""
    wanted = replace(WANTED, sha256={"generated_summary": "0" * 64, "opening": "1" * 64})
    made = restored_texts(wanted, WORDS, SUBCAPTION, "")
    assert made.values == {}
    assert made.left == {"generated_summary": WRITTEN_BY_A_MODEL, "opening": UNKNOWN}
