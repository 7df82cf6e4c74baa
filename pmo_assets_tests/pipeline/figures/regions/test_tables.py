"""Tables are no figures."""

from __future__ import annotations

from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, agrees, caption_text
from pmo_assets_tests.pipeline.figures.whole import MODES, box_of, extraction_of


@MODES
def test_table_next_to_a_figure_is_left_out(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.caption(page, 50, 60, "Table 1. Characteristics of the subjects.", 490)
    for y in (80, 95, 170):
        page.draw_line((50, y), (545, y), width=0.7)
    for row in range(5):
        for column in range(4):
            page.insert_text((55 + 120 * column, 91 + 15 * row), f"{row}.{column} mm", fontsize=8)
    manuscript.picture(page, (100, 190, 400, 380))
    manuscript.caption(page, 50, 390, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 440, 545, 800))
    extraction = extraction_of(manuscript, with_xml, 1)
    assert len(extraction.figures) == 1
    assert agrees(box_of(extraction, 1), (100, 190, 400, 380), 0.999)
