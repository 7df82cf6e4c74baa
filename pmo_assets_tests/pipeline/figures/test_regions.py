"""Regions: what is kept away from figures, and captions in odd places."""

from __future__ import annotations

import pymupdf
import pytest

from pmo_assets.pipeline.figures.caption_location import located_captions
from pmo_assets.pipeline.figures.page import page_content
from pmo_assets.pipeline.figures.regions import LocatedRegions, figure_regions
from pmo_assets.records.geometry import area, contains, intersection
from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, agrees, caption_text, package_figure, photograph


def _regions(manuscript: Manuscript, *numbers: int) -> LocatedRegions:
    pages = [page_content(page) for page in pymupdf.open(stream=manuscript.pdf())]
    return figure_regions(pages, located_captions(pages, [package_figure(number) for number in numbers]))


def test_column_rule_and_head_rule_are_no_figures() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    page.draw_line((50, 48), (545, 48), width=1)
    page.draw_line((297, 60), (297, 800), width=0.5)
    manuscript.body(page, (50, 60, 285, 500))
    manuscript.body(page, (310, 60, 545, 800))
    manuscript.caption(page, 50, 520, f"Figure 1. {caption_text(1)}", 230)
    assert _regions(manuscript, 1).regions == ()


def test_sideways_figure_with_sideways_caption() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.picture(page, (60, 60, 480, 780), photograph(420, 720))
    for k, line in enumerate(
        ["Figure 1. Photograph number 1 of the examined eye. The fundus of subject 1", "shows drusen."]
    ):
        page.insert_text((500 + 10 * k, 700), line, fontsize=8, rotate=90)
    for figures in ((1,), ()):
        found = _regions(manuscript, *figures)
        assert len(found.regions) == 1
        assert agrees(found.regions[0].boxes[0].bbox, (60, 60, 480, 780), 0.99)


def test_figure_between_two_captions_of_a_stack_goes_to_the_side_that_serves_both() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    for number, y in ((1, 60), (2, 300)):
        manuscript.caption(page, 50, y, f"Figure {number}. {caption_text(number)}", 490)
        manuscript.picture(page, (100, y + 30, 400, y + 200), photograph(seed=number))
    manuscript.body(page, (50, 520, 545, 800))
    found = _regions(manuscript, 1, 2)
    assert [region.side for region in found.regions] == ["below", "below"]
    assert agrees(found.regions[0].boxes[0].bbox, (100, 90, 400, 260), 0.99)
    assert agrees(found.regions[1].boxes[0].bbox, (100, 330, 400, 500), 0.99)


@pytest.mark.parametrize("gap", [8, 20, 40])
def test_panels_apart_are_one_figure(gap: float) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 150))
    for k in range(4):
        x, y = 100 + (k % 2) * (150 + gap), 170 + (k // 2) * (100 + gap)
        manuscript.picture(page, (x, y, x + 150, y + 100), photograph(seed=k))
    manuscript.caption(page, 50, 390 + gap, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 440 + gap, 545, 800))
    found = _regions(manuscript, 1)
    assert agrees(found.regions[0].boxes[0].bbox, (100, 170, 400 + gap, 370 + gap), 0.99)


def test_region_never_holds_caption_or_running_text() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 290, 400))
    manuscript.picture(page, (310, 60, 540, 250))
    caption = manuscript.caption(page, 305, 256, f"Figure 1. {caption_text(1)}", 235)
    manuscript.body(page, (305, 310, 545, 800))
    box = _regions(manuscript, 1).regions[0].boxes[0].bbox
    assert area(intersection(box, caption)) == 0
    assert contains((305, 55, 545, 256), box)


def test_all_captions_first_then_one_figure_a_page() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 400))
    for number in (1, 2, 3):
        manuscript.caption(page, 50, 420 + 60 * number, f"Figure {number}. {caption_text(number)}", 490)
    for number in (1, 2, 3):
        manuscript.picture(manuscript.page(), (100, 100, 400 + 20 * number, 500), photograph(seed=number))
    found = _regions(manuscript, 1, 2, 3)
    assert [region.boxes[0].page for region in found.regions] == [1, 2, 3]
    assert agrees(found.regions[2].boxes[0].bbox, (100, 100, 460, 500), 0.99)
