"""Furniture: what repeats from page to page."""

from __future__ import annotations

from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, agrees, caption_text, photograph
from pmo_assets_tests.pipeline.figures.whole import MODES, box_of, extraction_of


@MODES
def test_repeated_logo_is_not_part_of_a_figure(with_xml: bool) -> None:
    manuscript = Manuscript()
    for number in (1, 2, 3):
        page = manuscript.page()
        manuscript.picture(page, (250, 20, 320, 45), photograph(70, 25, seed=9))
        if number == 2:
            manuscript.picture(page, (100, 60, 400, 250))
            manuscript.caption(page, 50, 260, f"Figure 1. {caption_text(1)}", 490)
            manuscript.body(page, (50, 310, 545, 800))
        else:
            manuscript.body(page, (50, 60, 545, 800))
    extraction = extraction_of(manuscript, with_xml, 1)
    assert agrees(box_of(extraction, 1), (100, 60, 400, 250), 0.999)
