"""Graphics that are no part of a figure."""

from __future__ import annotations

from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, agrees, caption_text
from pmo_assets_tests.pipeline.figures.whole import MODES, box_of, extraction_of


@MODES
def test_frame_around_figure_and_caption_is_not_the_figure(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 180))
    page.draw_rect((60, 200, 500, 470), color=(0, 0, 0), width=0.5)
    manuscript.picture(page, (100, 220, 400, 420))
    manuscript.caption(page, 70, 430, f"Figure 1. {caption_text(1)}", 400)
    manuscript.body(page, (50, 490, 545, 800))
    assert agrees(box_of(extraction_of(manuscript, with_xml, 1), 1), (100, 220, 400, 420), 0.999)
