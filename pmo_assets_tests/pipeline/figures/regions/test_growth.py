"""Growth: text that belongs to a figure."""

from __future__ import annotations

import pytest

from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, caption_text
from pmo_assets_tests.pipeline.figures.whole import MODES, box_of, extraction_of


@MODES
def test_vector_figure_with_its_axis_text(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 200))
    page.draw_line((120, 230), (120, 400), width=1)
    page.draw_line((120, 400), (420, 400), width=1)
    page.draw_polyline([(120, 390), (200, 300), (300, 340), (420, 240)], color=(0.8, 0, 0))
    for k in range(5):
        page.insert_text((118 + 70 * k, 412), str(k), fontsize=7)
    page.insert_text((230, 424), "Time (weeks)", fontsize=7)
    page.insert_text((112, 350), "Acuity", fontsize=7, rotate=90)
    manuscript.caption(page, 50, 436, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 480, 545, 800))
    extraction = extraction_of(manuscript, with_xml, 1, render=True)
    left, top, right, bottom = box_of(extraction, 1)
    assert 100 < left < 113
    assert top == pytest.approx(229.5, abs=1.5)
    assert right == pytest.approx(420.5, abs=2)
    assert 423 < bottom < 428
    figure = extraction.figures[0]
    assert figure.dpi == 300
    assert {"Acuity", "Time (weeks)"} <= {text.text for text in figure.texts}
    assert figure.bitmaps == ()
