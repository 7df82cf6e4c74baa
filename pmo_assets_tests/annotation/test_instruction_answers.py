"""Instructions out to people and back: what they say comes home, and what cannot be is named."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

from pmo_assets.annotation.annotations import InstructionAnswer, annotation_rows, article_of_row, read_annotations
from pmo_assets.annotation.answers import KnownFigures, take_answers
from pmo_assets.annotation.cases import FigureCase, ShownInstruction
from pmo_assets.annotation.files import write_answers
from pmo_assets.annotation.instruction_cases import (
    KnownInstruction,
    instruction_cases,
    instruction_sizes,
    instruction_stratum,
    known_instructions,
)
from pmo_assets.annotation.instruction_tasks import instruction_tasks
from pmo_assets.annotation.interfaces import configuration
from pmo_assets.pipeline.dataset.instruction_rows import instruction_id
from pmo_assets.tables.schemas import checked, schema_of
from pmo_assets_tests.annotation.answered_cases import PICTURE, SEEN, case, known, result_of, submitted
from pmo_assets_tests.pipeline.instructions.test_steps import tables_of

NAME = "p_7_f1_0_q00"


def shown() -> FigureCase:
    figure = case(purpose="audit")
    item = ShownInstruction(
        NAME, figure.panels[0], "where", 0.97, "template", (("user", "Where is the drusen?"), ("assistant", "Above.")),
        ("subcaption: \u27e6Drusen\u27e7 above.", "region: upper"), ((0.1, 0.1, 0.2, 0.3),),
    )  # fmt: skip
    return replace(figure, instructions=(item, replace(item, instruction_id="p_7_f1_0_q01", boxes=())))


def with_instructions(cluster: str = "f1") -> KnownFigures:
    found = KnownInstruction(NAME, cluster, "where", 0.97, "template")
    return replace(known(), instructions={"PMC7": {NAME: found}})


def said(verdict: str | None, reason: str | None = None, **further: Any) -> dict[str, Any]:
    """Return the first task as it is exported when somebody judged it."""
    task = submitted(next(instruction_tasks(shown(), PICTURE, SEEN)), **further)
    place = {"to_name": "figure", "original_width": 400, "original_height": 200, "image_rotation": 0}
    if verdict is not None:
        value = {"choices": [verdict]}
        result_of(task).append({**place, "id": "v", "from_name": "verdict", "type": "choices", "value": value})
    if reason is not None:
        value = {"text": [reason]}
        result_of(task).append({**place, "id": "r", "from_name": "reason", "type": "textarea", "value": value})
    return task


def judged(task: dict[str, Any]) -> InstructionAnswer:
    taken = take_answers([task], with_instructions())
    assert taken.problems == []
    assert (taken.figures, taken.regions) == ({}, {})
    (answer,) = taken.instructions["PMC7"]
    return answer


def test_people_see_the_panel_the_boxes_the_turns_and_what_they_rest_on() -> None:
    first, second = instruction_tasks(shown(), PICTURE, SEEN)
    data = first["data"]
    assert data["title"].endswith("panel a \u00b7 where")
    assert data["turns"] == "Q: Where is the drusen?\nA: Above."
    assert data["evidence"] == "subcaption: \u27e6Drusen\u27e7 above.\nregion: upper"
    labels = [entry["value"]["rectanglelabels"] for entry in first["predictions"][0]["result"]]
    assert labels == [["Panel"], ["Region"]]
    assert len(second["predictions"][0]["result"]) == 1
    names = {element.get("name") for element in ElementTree.fromstring(configuration("instructions")).iter()}
    assert {"turns", "verdict", "reason", "evidence", "boxes", "figure", "caption"} <= names


def test_a_verdict_comes_home_with_who_and_why() -> None:
    answer = judged(said("wrong", " It lies\n below. "))
    assert (answer.instruction_id, answer.verdict, answer.reason) == (NAME, "wrong", "It lies below.")
    assert (answer.kind, answer.confidence, answer.purpose) == ("where", 0.97, "audit")
    assert answer.review.fingerprint is not None
    assert answer.review.fingerprint.sha256 == SEEN.sha256
    assert judged(said("right")).reason is None


@pytest.mark.parametrize(
    ("task", "figures", "why"),
    [
        (said(None), with_instructions(), "no verdict"),
        (said("perhaps"), with_instructions(), "unknown one"),
        (said("wrong", "x" * 3000), with_instructions(), "3000 characters"),
        (said("right"), known(), "any more"),
        (said("right"), with_instructions("f2"), "any more"),
    ],
)
def test_what_cannot_be_is_named(task: dict[str, Any], figures: KnownFigures, why: str) -> None:
    taken = take_answers([task], figures)
    assert taken.instructions == {}
    assert why in taken.problems[0].reason


def test_a_second_answer_of_a_person_replaces_the_first_and_tables_hold_them_all(tmp_path: Path) -> None:
    rounds = [[said("wrong", "no"), said("right", person=2)], [said("right", at="2026-02-02T00:00:00Z")]]
    for tasks in rounds:
        figures = with_instructions()
        assert write_answers(tmp_path, take_answers(tasks, figures), figures)
    (article,) = read_annotations(sorted(tmp_path.glob("*.json"))).articles
    assert [answer.verdict for answer in article.instruction_answers] == ["right", "right"]
    assert article.is_answered
    assert not article.complete, "nothing is ground truth for that"
    (row,) = checked(schema_of("annotations"), annotation_rows([article])).to_dicts()
    assert article_of_row(row).instruction_answers == article.instruction_answers
    assert json.loads((tmp_path / "PMC7.json").read_text())["instruction_answers"][0]["reason"] is None


class Batch:
    """Tables of one batch, of which the checks keep all but one instruction; panel 1 is not in the dataset."""

    def __init__(self) -> None:
        rows = tables_of()
        rows["verdicts"][0]["is_kept"] = False
        rows["articles"] = [{"article_id": 7, "package": "PMC7", "pdf": None}]
        rows["dataset_rows"] = [{"panel_id": "p_7_g1_0"}]
        self.rows = rows

    def exists(self, asset: str, batch: str) -> bool:
        return batch == "b1" and asset in self.rows

    def read(self, asset: str, batch: str, columns: list[str] | None = None) -> pl.DataFrame:
        rows = self.rows[asset]
        if asset == "reviewed_panels":
            rows = [{**row, "wanted": row["ordinal"] == 0} for row in rows]
        table = checked(schema_of(asset), rows) if asset in ("instructions", "verdicts") else pl.DataFrame(rows)
        if asset == "panel_summaries":
            table = pl.DataFrame(schema={"panel_id": pl.String, "article_id": pl.Int64, "mentions": pl.List(pl.Null)})
        return table.select(columns) if columns else table


CURRENT = {"b0": [5], "b1": [7]}


def test_a_sample_is_of_what_is_kept_by_kind_and_confidence() -> None:
    batch: Any = Batch()
    kept = batch.rows["instructions"][1:]
    sizes = Counter(instruction_stratum(row["kind"], row["confidence"]) for row in kept)
    assert instruction_sizes(batch, CURRENT) == sizes
    (whole,) = instruction_cases(batch, CURRENT, 1000, seed=0)
    assert {item.instruction_id for item in whole.instructions} == {instruction_id(row) for row in kept}
    assert {item.panel.ordinal for item in whole.instructions} == {0}
    assert any("\u27e6" in line for item in whole.instructions for line in item.evidence)
    (some,) = instruction_cases(batch, CURRENT, len(sizes), seed=3)
    drawn = Counter(instruction_stratum(item.kind, item.confidence) for item in some.instructions)
    assert set(drawn.values()) == {1}, "as many of each stratum"
    assert [some] == list(instruction_cases(batch, CURRENT, len(sizes), seed=3))


def test_answers_are_checked_against_the_instructions_that_there_are() -> None:
    batch: Any = Batch()
    found = known_instructions(batch, {"b1": [7]}, ["PMC7", "PMC8"])
    assert set(found) == {"PMC7"}
    assert set(found["PMC7"]) == {instruction_id(row) for row in batch.rows["instructions"]}
    assert known_instructions(batch, {"b1": [7]}, ["PMC8"]) == {}
