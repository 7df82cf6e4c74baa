"""Regions: what is kept away from figures."""

from __future__ import annotations

from pmo_assets.records.geometry import area, contains, intersection
from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, caption_text
from pmo_assets_tests.pipeline.figures.whole import regions_of


def test_region_never_holds_caption_or_running_text() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 290, 400))
    manuscript.picture(page, (310, 60, 540, 250))
    caption = manuscript.caption(page, 305, 256, f"Figure 1. {caption_text(1)}", 235)
    manuscript.body(page, (305, 310, 545, 800))
    box = regions_of(manuscript, 1).regions[0].boxes[0].bbox
    assert area(intersection(box, caption)) == 0
    assert contains((305, 55, 545, 256), box)
