"""The layout of pages that are turned."""

from __future__ import annotations

from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, agrees, photograph
from pmo_assets_tests.pipeline.figures.whole import regions_of


def test_sideways_figure_with_sideways_caption() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.picture(page, (60, 60, 480, 780), photograph(420, 720))
    for k, line in enumerate(
        ["Figure 1. Photograph number 1 of the examined eye. The fundus of subject 1", "shows drusen."]
    ):
        page.insert_text((500 + 10 * k, 700), line, fontsize=8, rotate=90)
    for figures in ((1,), ()):
        found = regions_of(manuscript, *figures)
        assert len(found.regions) == 1
        assert agrees(found.regions[0].boxes[0].bbox, (60, 60, 480, 780), 0.99)
