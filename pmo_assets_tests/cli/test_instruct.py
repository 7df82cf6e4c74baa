"""`pmo instruct`: what is shown of a panel and of an article."""

from __future__ import annotations

from pathlib import Path

import pytest

from pmo_assets.cli.instruct import lines_of, panels_of_case, rows_of_case
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables
from pmo_assets.viewing.instruction_page import instruction_page
from pmo_assets_tests.release.finished import finish


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    made = Tables(DataRoot(str(tmp_path)))
    finish(made, "0001-a", {1: {"rows": 2}, 3: {}})
    finish(made, "0002-b", {1: {"rows": 1, "version": 2}})
    return made


@pytest.mark.parametrize("case", ["1", "PMC1", "pmc1"])
def test_an_article_is_found_in_its_newest_batch(tables: Tables, case: str) -> None:
    found = rows_of_case(tables, case)
    assert [row["panel_id"] for row in found["cues"]] == ["p_1_f1_0"]
    assert len(found["instructions"]) == len(found["verdicts"]) == 3


def test_a_panel_is_shown_with_cues_scores_questions_and_verdicts(tables: Tables) -> None:
    said = "\n".join(lines_of(rows_of_case(tables, "p_3_f1_0")))
    assert "p_3_f1_0" in said
    assert "scene    " in said
    assert "(history)" in said
    assert "quality 8, difficulty 5, relevance 4; kept" in said
    assert "A  Yes." in said
    assert said.count("kept by every check") == 2
    assert "discarded by checks, claim: the evidence gives another answer, or none" in said


def test_the_page_shows_pictures_and_marks_evidence_in_its_words(tables: Tables) -> None:
    panels = panels_of_case(tables, rows_of_case(tables, "PMC3"))
    assert [panel.panel_id for panel in panels] == ["p_3_f1_0"]
    assert panels[0].picture is not None
    page = instruction_page("Instructions of PMC3", panels)
    assert "data:image/png;base64," in page
    assert page.count("kept by every check") == 3, "two instructions, and the label of their number"
    assert "discarded by checks, claim: the evidence gives another answer, or none" in page
    assert '<mark class="evidence">' in page


def test_what_no_batch_has_is_empty(tables: Tables) -> None:
    assert rows_of_case(tables, "PMC99") == {"cues": [], "cue_scores": [], "instructions": [], "verdicts": []}
    assert list(lines_of(rows_of_case(tables, "p_9_f1_0"))) == []
