"""Sides: what a caption reaches."""

from __future__ import annotations

import pytest

from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, agrees, caption_text, photograph
from pmo_assets_tests.pipeline.figures.whole import MODES, box_of, extraction_of, regions_of


@pytest.mark.parametrize("gap", [8, 20, 40])
def test_panels_apart_are_one_figure(gap: float) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 150))
    for k in range(4):
        x, y = 100 + (k % 2) * (150 + gap), 170 + (k // 2) * (100 + gap)
        manuscript.picture(page, (x, y, x + 150, y + 100), photograph(seed=k))
    manuscript.caption(page, 50, 390 + gap, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 440 + gap, 545, 800))
    found = regions_of(manuscript, 1)
    assert agrees(found.regions[0].boxes[0].bbox, (100, 170, 400 + gap, 370 + gap), 0.99)


@MODES
def test_caption_beside(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 200))
    manuscript.picture(page, (50, 220, 350, 420))
    manuscript.caption(page, 370, 240, f"Figure 1. {caption_text(1)}", 170)
    manuscript.body(page, (50, 440, 545, 800))
    assert agrees(box_of(extraction_of(manuscript, with_xml, 1), 1), (50, 220, 350, 420), 0.999)
