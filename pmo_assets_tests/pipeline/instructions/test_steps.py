"""Steps of the group: rows in, rows out, each table in its schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from pmo_assets.pictures import png_bytes
from pmo_assets.pipeline.context.steps import find_article_entities
from pmo_assets.pipeline.instructions.stages import OF_PANELS
from pmo_assets.records.geometry import UNIT_BOX
from pmo_assets.records.memory_stores import MemoryPixels
from pmo_assets.records.panels import Panel
from pmo_assets.records.stages import Stage
from pmo_assets.records.step_output import Row
from pmo_assets.records.stores import Picture
from pmo_assets.tables.instructions import (
    cues_of_row,
    instruction_of_row,
    instruction_row,
    verdicts_of_row,
)
from pmo_assets.tables.rows import row_of
from pmo_assets.tables.schemas import checked, schema_of

KEY: Row = {"article_id": 7, "image_cluster_id": "g1"}
FIGURES: list[Row] = [
    {
        **KEY, "pdf_figure_id": "p0-1", "width": 300, "height": 200, "ordinal": 0, "label": "Figure 1", "caption": "",
        "matched": True, "locations": [{"page": 0, "bbox": [0.0, 0.0, 300.0, 200.0]}], "caption_locations": [],
    }
]  # fmt: skip
PANELS: list[Row] = [
    {**KEY, **row_of(Panel(number, (), UNIT_BOX, UNIT_BOX, 1.0, "AB"[number], words, confidence=0.9))}
    for number, words in enumerate(
        ("OCT of the right eye shows a hemorrhage in the macula, but no drusen.", "Plot of drusen.")
    )
]
MODALITIES: list[Row] = [
    {
        **KEY, "ordinal": number, "panel_id": f"p_7_g1_{number}", "modality": name, "medical": medical,
        "probability": 0.97, "agrees": True, "pixel_modality": name, "word_modality": name,
    }
    for number, (name, medical) in enumerate((("OCT", True), ("plot", False)))
]  # fmt: skip


PIXELS = np.full((200, 300, 3), 255, np.uint8)
PIXELS[10:190, 10:140] = 90
PIXELS[10:190, 160:290] = (80, 40, 200)


def inputs_of(stage: Stage, tables: Mapping[str, Any], pixels: np.ndarray = PIXELS) -> dict[str, Any]:
    """Return what a step gets: rows of the article's tables, its number, its pictures, and what people said, if any."""
    pictures = MemoryPixels()
    pictures.write(7, [Picture("p0-1", 300, 200, png_bytes(pixels))])
    given = {"article_id": 7, "annotations": [], "figure_pixels": pictures, **tables}
    return {name: given[name] for name in stage.parameters}


def tables_of(**other: list[Row]) -> dict[str, list[Row]]:
    """Return the tables of an article with two panels, the group's among them; `other` replaces what they read."""
    tables: dict[str, list[Row]] = {
        "figures": FIGURES, "reviewed_panels": PANELS, "panel_summaries": [], "panel_modality": MODALITIES, "marks": [],
        "region_phrases": [], "regions": [],
    }  # fmt: skip
    tables["panel_entities"] = find_article_entities(FIGURES, PANELS, []).rows
    tables |= other
    for stage in OF_PANELS:
        output = stage.step(**inputs_of(stage, tables))
        assert output.rejections == []
        tables[stage.name] = checked(schema_of(stage.name), output.rows).to_dicts()
    return tables


def asked(tables: dict[str, list[Row]]) -> set[tuple[str, str]]:
    return {(row["messages"][0]["content"], row["messages"][-1]["content"]) for row in tables["instructions"]}


def test_every_panel_has_cues_and_scores_and_every_instruction_a_verdict() -> None:
    tables = tables_of()
    assert [row["panel_id"] for row in tables["cues"]] == ["p_7_g1_0", "p_7_g1_1"]
    assert [row["panel_id"] for row in tables["cue_scores"]] == ["p_7_g1_0", "p_7_g1_1"]
    assert {row["panel_id"] for row in tables["instructions"]} == {"p_7_g1_0"}  # nobody asks about a plot
    assert {row["kind"] for row in tables["instructions"]} >= {"yes_no", "what", "where", "conversation"}
    key = [(row["panel_id"], row["number"]) for row in tables["instructions"]]
    assert [(row["panel_id"], row["number"]) for row in tables["verdicts"]] == key
    assert all(row["is_kept"] for row in tables["verdicts"])


def test_rows_give_the_records_back() -> None:
    tables = tables_of()
    for row in tables["instructions"]:
        again: dict[str, Any] = instruction_row(row, row["number"], instruction_of_row(row))
        assert again == {name: row[name] for name in again}
    (first, _) = tables["cues"]
    assert cues_of_row(first).scenes[0].text.startswith("OCT of the right eye shows")
    assert {said.verdict for said in verdicts_of_row(tables["verdicts"][0])} == {"keep"}


def test_a_lie_in_the_table_is_discarded_with_its_reason() -> None:
    tables = tables_of()
    rows = [row for row in tables["instructions"] if row["asked"] == "drusen" and row["kind"] == "yes_no"]
    lie = {**rows[0], "messages": [rows[0]["messages"][0], {"role": "assistant", "content": "Yes."}]}
    verdicts = OF_PANELS[-1].step(**inputs_of(OF_PANELS[-1], {**tables, "instructions": [lie]})).rows
    assert [row["is_kept"] for row in verdicts] == [False]
    last = verdicts[0]["verdicts"][-1]
    assert (last["who"], last["criterion"], last["reason"]) == ("checks", "claim", "the evidence says the contrary")


def test_what_was_rejected_before_takes_only_its_own_evidence_away() -> None:
    without = tables_of(panel_modality=[])
    assert without["instructions"] == []  # nothing says that it is a picture
    assert len(without["cues"]) == 2
    without = tables_of(panel_entities=[])
    assert {row["topic"] for row in without["instructions"]} <= {"imaging"}


@pytest.mark.parametrize(
    ("words", "modality", "asked_for"),
    [
        ("PET scan shows a hemorrhage in the macula.", "CT or MR", False),
        ("Digital subtraction angiography shows a hemorrhage in the macula.", "radiograph", False),
        ("Coronary angiogram shows a hemorrhage in the macula.", "radiograph", False),
        ("Chest radiograph shows a hemorrhage in the macula.", "radiograph", True),
        ("CT angiography shows a hemorrhage in the macula.", "CT or MR", True),
    ],
)
def test_a_technique_without_a_name_is_not_called_by_another_ones(words: str, modality: str, asked_for: bool) -> None:
    panels = [{**PANELS[0], "subcaption": words}]
    seen = [{**MODALITIES[0], "modality": modality, "pixel_modality": modality, "word_modality": modality}]
    tables = tables_of(
        reviewed_panels=panels, panel_modality=seen, panel_entities=find_article_entities(FIGURES, panels, []).rows
    )
    assert ("imaging" in {row["topic"] for row in tables["instructions"]}) is asked_for
    assert "finding" in {row["topic"] for row in tables["instructions"]}, "what is seen is asked about all the same"


def test_the_same_rows_give_the_same_questions() -> None:
    assert asked(tables_of()) == asked(tables_of())
