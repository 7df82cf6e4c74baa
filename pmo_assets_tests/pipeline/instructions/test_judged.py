"""People's verdicts: one that discards counts, on the figure they saw; none that keeps overrules a check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from pmo_assets.pipeline.assembly.steps import NOT_APPLIED
from pmo_assets.pipeline.dataset.instruction_rows import instruction_id
from pmo_assets.pipeline.figures.fingerprint import fingerprint
from pmo_assets.pipeline.instructions.checks import discarded_by
from pmo_assets.pipeline.instructions.stages import OF_PANELS
from pmo_assets.records.step_output import Row, StepOutput
from pmo_assets.tables.instructions import verdicts_of_row
from pmo_assets_tests.pipeline.instructions.test_steps import FIGURES, PIXELS, inputs_of, tables_of

JUDGES = OF_PANELS[-1]


def answer_on(row: Mapping[str, Any], verdict: str, reason: str | None = None, person: str = "a1", **other: Any) -> Row:
    """Return what a person says of a row of `instructions`, as a cell of `annotations` has it."""
    return {
        "label": "Figure 1", "image_cluster_id": "g1", "figure_locations": FIGURES[0]["locations"],
        "instruction_id": instruction_id(row), "kind": row["kind"], "confidence": row["confidence"],
        "maker": row["maker"], "verdict": verdict, "reason": reason,
        "review": {"purpose": "audit", "decided": [], "interface": "instructions", "annotator": person,
                   "at": "2026-01-02T03:04:05", "fingerprint": asdict(fingerprint(PIXELS))},
    } | other  # fmt: skip


def judged(*cells: Row) -> Row:
    return {"article_id": 7, "instruction_answers": list(cells)}


def applied(tables: dict[str, list[Row]], *cells: Row, pixels: np.ndarray = PIXELS) -> StepOutput:
    return JUDGES.step(**inputs_of(JUDGES, {**tables, "annotations": [judged(*cells)]}, pixels))


@pytest.fixture(scope="module")
def tables() -> dict[str, list[Row]]:
    return tables_of()


def verdict_on(output: StepOutput, row: Row) -> Row:
    return next(item for item in output.rows if (item["panel_id"], item["number"]) == (row["panel_id"], row["number"]))


@pytest.mark.parametrize(("word", "kept"), [("right", True), ("wrong", False), ("unclear", False)])
def test_a_persons_verdict_stands_behind_the_checks(tables: dict[str, list[Row]], word: str, kept: bool) -> None:
    row, *others = tables["instructions"]
    output = applied(tables, answer_on(row, word, "I see none."))
    mine = verdict_on(output, row)
    last = mine["verdicts"][-1]
    assert mine["is_kept"] is kept
    assert (last["who"], last["criterion"], last["verdict"], last["reason"]) == (
        "person a1", "audit", "keep" if kept else "discard", "I see none."
    )  # fmt: skip
    assert all(verdict_on(output, item)["is_kept"] for item in others), "the others stay"
    assert not output.tally
    assert discarded_by(map(verdicts_of_row, output.rows))["audit"] == (0 if kept else 1)


def test_of_two_people_one_who_calls_it_wrong_is_enough(tables: dict[str, list[Row]]) -> None:
    row = tables["instructions"][0]
    output = applied(tables, answer_on(row, "wrong", person="a1"), answer_on(row, "right", person="b2"))
    mine = verdict_on(output, row)
    assert not mine["is_kept"]
    assert [item["who"] for item in mine["verdicts"][-2:]] == ["person a1", "person b2"]
    assert mine["verdicts"][-2]["reason"] == "a person calls it wrong"


def test_right_overrules_no_check(tables: dict[str, list[Row]]) -> None:
    row = next(r for r in tables["instructions"] if r["asked"] == "drusen" and r["kind"] == "yes_no")
    lie = {**row, "messages": [row["messages"][0], {"role": "assistant", "content": "Yes."}]}
    output = applied({**tables, "instructions": [lie]}, answer_on(lie, "right"))
    assert [item["is_kept"] for item in output.rows] == [False]
    (note,) = output.tally
    assert note.startswith(f"{NOT_APPLIED}verdict on {instruction_id(lie)}: no such instruction")


def test_what_is_about_another_answer_or_another_figure_is_not_applied(tables: dict[str, list[Row]]) -> None:
    row = tables["instructions"][0]
    other = {**row, "messages": [{"role": "user", "content": "Is it?"}, {"role": "assistant", "content": "Yes."}]}
    gone = applied(tables, answer_on(other, "wrong"))
    turned = applied(tables, answer_on(row, "wrong"), pixels=np.ascontiguousarray(PIXELS[::-1, ::-1]))
    place = [{"page": 5, "bbox": [0.0, 0.0, 9.0, 9.0]}]
    nowhere = applied(tables, answer_on(row, "wrong", image_cluster_id="g9", figure_locations=place))
    for output, why in ((gone, "no such instruction"), (turned, "changed under"), (nowhere, "no such figure")):
        assert all(item["is_kept"] for item in output.rows)
        (note,) = output.tally
        assert why in note
