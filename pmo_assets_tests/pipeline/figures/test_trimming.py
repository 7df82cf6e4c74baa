"""Trimming: exact pixels, tight on ink."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pmo_assets.pipeline.figures import trimming
from pmo_assets.pipeline.figures.rendering import rendered_frame
from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, agrees, caption_text, photograph
from pmo_assets_tests.pipeline.figures.whole import MODES, box_of, extraction_of


@MODES
def test_white_margin_of_a_bitmap_is_cut(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    pixels = np.full((300, 400, 3), 255, dtype=np.uint8)
    pixels[30:270, 40:360] = photograph(320, 240)
    manuscript.picture(page, (100, 100, 500, 400), pixels)
    manuscript.caption(page, 50, 410, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 460, 545, 800))
    assert agrees(box_of(extraction_of(manuscript, with_xml, 1), 1), (140, 130, 460, 370), 0.995)


def test_single_bitmap_is_rendered_pixel_by_pixel() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    pixels = photograph(640, 480)
    manuscript.picture(page, (100.3, 100.7, 340.3, 280.7), pixels)
    manuscript.caption(page, 50, 300, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 360, 545, 800))
    extraction = extraction_of(manuscript, True, 1, render=True)
    rendered = extraction.pixels["p0-1"]
    assert rendered.shape == pixels.shape
    assert np.abs(rendered.astype(int) - pixels).max() <= 1
    figure = extraction.figures[0]
    assert (figure.width, figure.height) == (640, 480)
    assert figure.dpi == pytest.approx(192, abs=0.5)


@pytest.mark.parametrize("render", [False, True])
def test_ink_is_looked_for_in_few_pixels_unless_they_are_wanted(render: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.picture(page, (100, 100, 340, 280), photograph(1200, 900))  # 360 dpi
    manuscript.caption(page, 50, 300, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 360, 545, 800))
    scales = []

    def rendered(page: Any, grid: Any, *rest: Any, **options: Any) -> Any:
        scales.append(72 * grid.scale_x)
        return rendered_frame(page, grid, *rest, **options)

    monkeypatch.setattr(trimming, "rendered_frame", rendered)
    extraction = extraction_of(manuscript, True, 1, render=render)
    assert scales == [pytest.approx(360, abs=1) if render else pytest.approx(trimming.PROBE_DPI, rel=0.05)]
    assert agrees(box_of(extraction, 1), (100, 100, 340, 280), 0.999)
    figure = extraction.figures[0]
    assert (figure.width, figure.height) == (1200, 900), "said exactly all the same"
