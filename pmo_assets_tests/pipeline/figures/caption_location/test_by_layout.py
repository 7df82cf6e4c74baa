"""Captions by layout alone."""

from __future__ import annotations

import pytest

from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, caption_text
from pmo_assets_tests.pipeline.figures.whole import captions_of


@pytest.mark.parametrize("label", ["Figure 1.", "Fig. 1:", "FIGURE 1.", "Fig 1 |", "Figure 1:"])
def test_label_patterns_without_xml(label: str) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 300))
    manuscript.caption(page, 50, 500, f"{label} {caption_text(1)}", 300)
    manuscript.body(page, (50, 560, 545, 800))
    located = captions_of(manuscript)
    assert [caption.number for caption in located.captions] == ["1"]
    assert located.captions[0].caption == caption_text(1)
