"""Odd panels: near-duplicates, and texts that stand beside another panel's picture."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pmo_assets.annotation.reports import read_reports
from pmo_assets.encoders.evaluation.embedding_files import EmbeddingTable
from pmo_assets.encoders.evaluation.embeddings import Embeddings
from pmo_assets.encoders.evaluation.pairs import Pair
from pmo_assets.encoders.search import odd
from pmo_assets.encoders.search.odd import far_reports, far_texts, near_duplicates, nearest_others, odd_lines
from pmo_assets.encoders.search.panels import panels_by_id
from pmo_assets.loading import load


def table_of(names: list[str], values: np.ndarray) -> EmbeddingTable:
    return EmbeddingTable(tuple(names), Embeddings(values))


def test_each_panel_has_its_nearest_other_one_and_two_are_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """In blocks as in one piece: 60 rows in blocks of 7 and 11."""
    values = np.random.default_rng(0).standard_normal((60, 6))
    values[[3, 50]] = values[[41, 2]]
    names = [f"p{row}" for row in range(60)]
    unit = values / np.linalg.norm(values, axis=1, keepdims=True)
    cosines = unit @ unit.T - 3 * np.eye(60)
    expected = {
        (min(row, int(other)), max(row, int(other)))
        for row, other in enumerate(cosines.argmax(axis=1))
        if cosines[row, other] >= 0.8
    }
    monkeypatch.setattr(odd, "_ROWS", 7)
    monkeypatch.setattr(odd, "_COLUMNS", 11)
    found = nearest_others(table_of(names, values), 0.8)
    assert {pair[:2] for pair in found} == expected
    assert [pair[:2] for pair in found[:2]] == [(2, 50), (3, 41)]
    assert [score for *_, score in found] == pytest.approx([cosines[pair[0], pair[1]] for pair in found], abs=1e-6)
    assert nearest_others(table_of(["only"], values[:1]), -1) == []


def _swapped() -> tuple[EmbeddingTable, EmbeddingTable, list[Pair]]:
    """Return 40 panels with texts like their pictures, but those of 5 and 6 stand beside each other's picture."""
    values = np.eye(40)
    order = list(range(40))
    order[5], order[6] = 6, 5
    images = table_of([f"p{row}" for row in range(40)], values)
    texts = table_of([f"t{row}" for row in range(40)], values[order])
    return images, texts, [Pair(f"p{row}", f"t{row}", f"text {row}", str(row), f"p{row}") for row in range(40)]


def test_exchanged_texts_are_told_and_no_others() -> None:
    images, texts, pairs = _swapped()
    found = far_texts(images, texts, pairs, 0.5)
    assert [(item.panel_id, item.rank, item.texts, item.share) for item in found] == [
        ("p5", 40, 40, 1.0),
        ("p6", 40, 40, 1.0),
    ]
    assert far_texts(images, texts, pairs[:5], 0) == []  # all of them stand first


def test_a_text_that_a_duplicate_has_is_no_far_one() -> None:
    images, texts, pairs = _swapped()
    looks = [
        *pairs[:5],
        *(Pair(pair.image_id, pair.text_id, pair.text, "5", "same") for pair in pairs[5:7]),
        *pairs[7:],
    ]
    assert far_texts(images, texts, looks, 0.5) == []


def test_lines_and_reports_name_panels_that_people_can_be_shown(pairs_release: Path, tmp_path: Path) -> None:
    release = load(pairs_release)
    open_ones = [panel for panel in release.panels if panel.subcaption is not None]
    withheld = next(panel for panel in release.panels if panel.subcaption is None)
    names = [open_ones[0].panel_id, withheld.panel_id, open_ones[-1].panel_id]
    panels = panels_by_id(release, names)
    duplicates = near_duplicates(table_of(names, np.eye(3)), [(0, 1, 0.99)], panels)
    far = [odd.FarText(names[2], 9, 10)]
    lines = [json.loads(line) for line in odd_lines(duplicates, far, panels).splitlines()]
    assert [line["kind"] for line in lines] == ["near_duplicate", "far_text"]
    assert (lines[0]["panel_id"], lines[0]["other_panel_id"], lines[0]["known"]) == (names[0], names[1], False)
    assert (lines[1]["rank"], lines[1]["share"], lines[1]["subcaption"]) == (9, 0.9, open_ones[-1].subcaption)
    file = tmp_path / "reports.json"
    file.write_text(far_reports(far, panels))
    (report,) = read_reports([file])
    assert (report.article_id, report.figure) == (open_ones[-1].article_id, open_ones[-1].image_cluster_id)
    assert (report.panel, report.mistake) == (open_ones[-1].panel_name, "subcaption")
    assert "text 9 of 10" in report.remark
