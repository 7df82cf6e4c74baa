"""Other pages: figures away from their caption."""

from __future__ import annotations

from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, agrees, caption_text, photograph
from pmo_assets_tests.pipeline.figures.whole import MODES, box_of, extraction_of, regions_of


def test_all_captions_first_then_one_figure_a_page() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 400))
    for number in (1, 2, 3):
        manuscript.caption(page, 50, 420 + 60 * number, f"Figure {number}. {caption_text(number)}", 490)
    for number in (1, 2, 3):
        manuscript.picture(manuscript.page(), (100, 100, 400 + 20 * number, 500), photograph(seed=number))
    found = regions_of(manuscript, 1, 2, 3)
    assert [region.boxes[0].page for region in found.regions] == [1, 2, 3]
    assert agrees(found.regions[2].boxes[0].bbox, (100, 100, 460, 500), 0.99)


@MODES
def test_figure_on_the_facing_page(with_xml: bool) -> None:
    manuscript = Manuscript()
    manuscript.body(manuscript.page(), (50, 60, 545, 800))
    page = manuscript.page()
    manuscript.picture(page, (60, 60, 535, 780))
    page = manuscript.page()
    manuscript.caption(page, 50, 60, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 110, 545, 800))
    extraction = extraction_of(manuscript, with_xml, 1)
    assert [at.page for at in extraction.figures[0].locations] == [1]
    assert agrees(box_of(extraction, 1), (60, 60, 535, 780), 0.999)
