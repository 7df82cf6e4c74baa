"""Mistakes reported in the gallery become tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pmo_assets.annotation.reports import (
    ANSWERED_IN,
    SHOWN_REMARK,
    MistakeReport,
    ReportsUnreadable,
    not_there,
    read_reports,
    reported_cases,
)
from pmo_assets.annotation.tasks import ShownPage, captions_task, page_task
from pmo_assets.records.reports import MISTAKES, REPORTS_FORMAT
from pmo_assets_tests.annotation.answered_cases import LEFT, PICTURE, RIGHT, SEEN, figure_row, panel_row


def report(figure: str = "f1", mistake: str = "subcaption", article_id: int = 7, **further: Any) -> dict[str, Any]:
    """Return a report as the gallery writes it."""
    return {
        "article": f"PMC{article_id}", "article_id": article_id, "figure": figure, "label": "Figure 1",
        "panel_id": None, "panel": None, "mistake": mistake, "remark": "", "at": "2026-01-01T00:00:00.000Z",
    } | further  # fmt: skip


def written(folder: Path, *reports: object, **further: Any) -> Path:
    path = folder / "pmo_reports.json"
    path.write_text(json.dumps({"pmo_reports": REPORTS_FORMAT, "gallery": "G", "reports": reports} | further))
    return path


class Batch:
    """Tables of one batch with two figures of an article."""

    def exists(self, asset: str, batch: str) -> bool:
        return False

    def read(self, asset: str, batch: str) -> pl.DataFrame:
        panels = [panel_row(0, LEFT, "a"), panel_row(1, RIGHT, "b")]
        rows = {
            "articles": [{"article_id": 7, "package": "PMC7"}],
            "figures": [figure_row(), figure_row(image_cluster_id="f2", ordinal=1, label="Figure 2")],
            "panel_assembly": [*panels, *({**row, "image_cluster_id": "f2"} for row in panels)],
        }
        return pl.DataFrame(rows[asset])


TABLES: Any = Batch()
CURRENT = {"b1": [7]}


def test_every_mistake_that_the_gallery_offers_is_answered_somewhere() -> None:
    assert set(ANSWERED_IN) == set(MISTAKES)


def test_reports_of_several_files_are_read_each_once(tmp_path: Path) -> None:
    path = written(tmp_path, report(panel="B", remark="It is A's."), report(at="later"), report(at="again"))
    found = read_reports([path, path])
    assert [(item.figure, item.panel, item.remark) for item in found] == [("f1", "B", "It is A's."), ("f1", None, "")]
    assert found[0].words() == "panel B: the subcaption belongs to another panel (It is A's.)"


def test_a_long_remark_is_shortened_and_on_one_line() -> None:
    made = MistakeReport.model_validate(report(remark="a\nb " + "x" * 5000))
    assert "\n" not in made.words()
    assert len(made.words()) < SHOWN_REMARK + 100


@pytest.mark.parametrize(
    "content",
    [
        b"", b"[]", b"\xff", b'{"reports": []}', b'{"pmo_reports": 2, "reports": []}',
        json.dumps({"pmo_reports": 1, "reports": [report(mistake="rm -rf")]}).encode(),
        json.dumps({"pmo_reports": 1, "reports": [report(article_id=-1)]}).encode(),
        json.dumps({"pmo_reports": 1, "reports": [report(remark="x" * 20_000)]}).encode(),
    ],
)  # fmt: skip
def test_what_is_no_file_of_reports_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "reports.json"
    path.write_bytes(content)
    with pytest.raises(ReportsUnreadable, match=r"reports\.json"):
        read_reports([path])
    with pytest.raises(ReportsUnreadable, match="cannot be read"):
        read_reports([tmp_path / "none.json"])


def test_a_reported_figure_is_put_before_annotators_with_what_was_said(tmp_path: Path) -> None:
    reports = read_reports(
        [written(tmp_path, report(remark="It is A's."), report("f2", "type"), report("gone", "box"))]
    )
    (case,) = reported_cases(TABLES, CURRENT, reports, "captions")
    assert (case.figure.image_cluster_id, case.purpose) == ("f1", "resolve")
    task = captions_task(case, PICTURE, SEEN)
    assert task["data"]["title"] == ("PMC7 · Figure 1 · reported: the subcaption belongs to another panel (It is A's.)")
    assert task["data"]["pmo"]["figure"] == "f1"
    (case,) = reported_cases(TABLES, CURRENT, reports, "boxes")
    assert case.figure.image_cluster_id == "f2"
    assert list(reported_cases(TABLES, CURRENT, reports, "pages")) == []
    assert [item.figure for item in not_there(TABLES, CURRENT, reports)] == ["gone"]


def test_pages_show_all_figures_of_the_article_and_say_which_was_reported(tmp_path: Path) -> None:
    reports = read_reports([written(tmp_path, report("f2", "figure"))])
    cases = list(reported_cases(TABLES, CURRENT, reports, "pages"))
    assert [(case.figure.image_cluster_id, len(case.remarks)) for case in cases] == [("f1", 0), ("f2", 1)]
    frame = (0.0, 0.0, 600.0, 800.0)
    titles = [page_task(cases, "PMC7", ShownPage(n, frame, 2), PICTURE)["data"]["title"] for n in (0, 1)]
    assert titles == [
        "PMC7 · page 1",
        "PMC7 · page 2 · Figure 2, reported: this is no figure, or only a part of one",
    ]
