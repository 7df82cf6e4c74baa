"""Records of figures: hints in fractions of the figure."""

from __future__ import annotations

import pytest

from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, caption_text, photograph
from pmo_assets_tests.pipeline.figures.whole import MODES, box_of, extraction_of


@MODES
def test_identifiers_are_inside_and_become_hints(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.picture(page, (60, 60, 280, 220), photograph(seed=1))
    manuscript.picture(page, (310, 60, 530, 220), photograph(seed=2))
    page.insert_text((165, 233), "(a)", fontsize=8)
    page.insert_text((415, 233), "(b)", fontsize=8)
    manuscript.caption(page, 50, 245, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 300, 545, 800))
    extraction = extraction_of(manuscript, with_xml, 1)
    box = box_of(extraction, 1)
    assert box[:3] == pytest.approx((60, 60, 530), abs=0.6)
    assert 231 < box[3] < 236
    figure = extraction.figures[0]
    assert [text.text for text in figure.texts] == ["(a)", "(b)"]
    assert len(figure.bitmaps) == 2
    first = figure.bitmaps[0]
    assert first.box[0] == pytest.approx(0, abs=0.005)
    assert first.box[2] == pytest.approx(220 / 470, abs=0.005)
    assert (first.native_width, first.native_height) == (200, 150)
