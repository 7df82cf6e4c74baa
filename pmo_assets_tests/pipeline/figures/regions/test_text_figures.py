"""Figures that are nothing but text."""

from __future__ import annotations

import pymupdf

from pmo_assets.pipeline.figures.extraction import extract_figures
from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, agrees, caption_text, package_figure
from pmo_assets_tests.pipeline.figures.whole import BOXES_ONLY, box_of


def test_figure_that_is_nothing_but_text_is_found_when_the_xml_lists_it() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 200))
    steps = ("1. Dilate the pupil.", "2. Take three photographs.", "3. Grade them twice.", "4. Adjudicate.")
    for k, step in enumerate(steps):
        page.insert_text((200, 240 + 16 * k), step, fontsize=9, fontname="cour")
    manuscript.caption(page, 50, 310, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 360, 545, 800))
    found = extract_figures(manuscript.pdf(), [package_figure(1)], BOXES_ONLY)
    assert [figure.label for figure in found.figures] == ["Figure 1"]
    box = found.figures[0].locations[0].bbox
    assert 198 < box[0] < 204
    assert 228 < box[1] < 240
    assert 285 < box[3] < 296
    assert extract_figures(manuscript.pdf(), [], BOXES_ONLY).figures == (), "without the XML it may be anything"


def test_framed_running_text_is_a_figure_when_the_xml_lists_it() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 200))
    frame = (80.0, 230.0, 515.0, 330.0)
    page.draw_rect(pymupdf.Rect(frame), color=(0, 0, 0), width=1)
    manuscript.body(page, (95, 240, 500, 322))
    manuscript.caption(page, 50, 345, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 400, 545, 800))
    found = extract_figures(manuscript.pdf(), [package_figure(1)], BOXES_ONLY)
    assert agrees(box_of(found, 1), (79.5, 229.5, 515.5, 330.5), 0.98)
