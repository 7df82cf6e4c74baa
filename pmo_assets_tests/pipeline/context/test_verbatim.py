"""Sentences stand where rows say, or the checks name those that do not."""

from __future__ import annotations

from typing import Any

import pytest

from pmo_assets.pipeline.context.verbatim import misplaced_mentions, unfounded_summaries

TEXTS = {7: ["First. Second one.", "Third."]}


def mention(**changes: Any) -> dict[str, Any]:
    row = {"article_id": 7, "image_cluster_id": "f", "paragraph": 0, "start": 7, "end": 18, "sentence": "Second one."}
    return row | changes


def summary(text: str | None, *places: tuple[int, int, int]) -> dict[str, Any]:
    cells = [dict(zip(("paragraph", "start", "end"), place, strict=True)) for place in places]
    return {"article_id": 7, "panel_id": "p", "summary": text, "summary_places": cells}


def test_a_sentence_that_stands_where_its_row_says_is_no_finding() -> None:
    assert misplaced_mentions([mention()], TEXTS) == []


@pytest.mark.parametrize(
    "changes",
    [{"start": 6}, {"end": 17}, {"paragraph": 1}, {"paragraph": 2}, {"paragraph": -1}, {"article_id": 8},
     {"sentence": "Second One."}, {"sentence": "", "start": 7, "end": 7}],
)  # fmt: skip
def test_a_sentence_that_stands_elsewhere_is_named(changes: dict[str, Any]) -> None:
    (found,) = misplaced_mentions([mention(), mention(**changes)], TEXTS)
    assert "f: paragraph" in found


def test_a_summary_of_sentences_in_order_is_no_finding() -> None:
    rows = [summary("Second one. Third.", (0, 7, 18), (1, 0, 6)), summary(None)]
    assert unfounded_summaries(rows, TEXTS) == []


def test_a_part_of_a_sentence_is_no_finding() -> None:
    assert unfounded_summaries([summary("Second", (0, 7, 13))], TEXTS) == []


@pytest.mark.parametrize(
    "row",
    [
        summary("Second one! Third.", (0, 7, 18), (1, 0, 6)),
        summary("Third. Second one.", (1, 0, 6), (0, 7, 18)),
        summary("Third. Third.", (1, 0, 6), (1, 0, 6)),
        summary("Third."),
        summary(None, (1, 0, 6)),
        summary("", (5, 0, 6)),
        summary(None, (5, 0, 6)),
        summary("First. Second one.", (0, 0, 18)),
    ],
    ids=[
        "another word",
        "another order",
        "a sentence twice",
        "no place",
        "no words",
        "no paragraph",
        "neither",
        "two sentences",
    ],
)
def test_any_other_summary_is_named(row: dict[str, Any]) -> None:
    assert unfounded_summaries([row], TEXTS) == ["p"]
