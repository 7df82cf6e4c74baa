"""Atoms: rules that separate are none."""

from __future__ import annotations

from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, caption_text
from pmo_assets_tests.pipeline.figures.whole import regions_of


def test_column_rule_and_head_rule_are_no_figures() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    page.draw_line((50, 48), (545, 48), width=1)
    page.draw_line((297, 60), (297, 800), width=0.5)
    manuscript.body(page, (50, 60, 285, 500))
    manuscript.body(page, (310, 60, 545, 800))
    manuscript.caption(page, 50, 520, f"Figure 1. {caption_text(1)}", 230)
    assert regions_of(manuscript, 1).regions == ()
