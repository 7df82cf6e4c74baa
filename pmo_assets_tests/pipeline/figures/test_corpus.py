"""Real articles: a floor below the measured quality. Skipped where the corpus is not at hand."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.pipeline.figures.extraction import FigureOptions, extract_figures
from pmo_assets.records.geometry import iou

SHARED = Path(os.environ.get("PMO_CORPUS", Path(__file__).resolve().parents[4] / "shared"))


@pytest.mark.corpus
@pytest.mark.parametrize("with_xml", [pytest.param(True, marks=pytest.mark.slow), False])
def test_annotated_figures_are_found(with_xml: bool) -> None:
    annotations = sorted((SHARED / "annotations").glob("*.json"))
    if not annotations:
        pytest.skip(f"no annotated articles in {SHARED}; set PMO_CORPUS")
    best, found = [], 0
    for path in annotations[::5]:  # every fifth article keeps the test short
        folder = SHARED / "corpus" / path.stem
        xml = folder / "article.xml"
        known = parse_jats(xml.read_bytes()).figures if with_xml and xml.exists() else ()
        extraction = extract_figures((folder / "article.pdf").read_bytes(), known, FigureOptions(render=False))
        found += len(extraction.figures)
        boxes = [box for figure in extraction.figures for box in figure.locations]
        for figure in json.loads(path.read_text())["figures"]:
            truth = figure["figure_locations"][0]
            overlaps = [iou(tuple(truth["bbox"]), box.bbox) for box in boxes if box.page == truth["page"]]
            best.append(max(overlaps, default=0.0))
    assert sum(value >= 0.5 for value in best) >= 0.98 * len(best)
    assert sum(value >= 0.9 for value in best) >= 0.95 * len(best)
    assert found <= len(best) / 0.97
