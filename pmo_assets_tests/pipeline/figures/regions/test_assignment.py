"""Assignment: captions of a page share its graphics."""

from __future__ import annotations

from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, agrees, caption_text, photograph
from pmo_assets_tests.pipeline.figures.whole import MODES, box_of, extraction_of, regions_of


def test_figure_between_two_captions_of_a_stack_goes_to_the_side_that_serves_both() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    for number, y in ((1, 60), (2, 300)):
        manuscript.caption(page, 50, y, f"Figure {number}. {caption_text(number)}", 490)
        manuscript.picture(page, (100, y + 30, 400, y + 200), photograph(seed=number))
    manuscript.body(page, (50, 520, 545, 800))
    found = regions_of(manuscript, 1, 2)
    assert [region.side for region in found.regions] == ["below", "below"]
    assert agrees(found.regions[0].boxes[0].bbox, (100, 90, 400, 260), 0.99)
    assert agrees(found.regions[1].boxes[0].bbox, (100, 330, 400, 500), 0.99)


@MODES
def test_two_columns_with_a_figure_each(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    boxes = {1: (60.0, 60.0, 280.0, 220.0), 2: (315.0, 60.0, 535.0, 220.0)}
    for number, box in boxes.items():
        manuscript.picture(page, box, photograph(seed=number))
        manuscript.caption(page, box[0] - 10, 228, f"Figure {number}. {caption_text(number)}", 235)
        manuscript.body(page, (box[0] - 10, 290, box[2] + 10, 800))
    extraction = extraction_of(manuscript, with_xml, 1, 2)
    for number, box in boxes.items():
        assert agrees(box_of(extraction, number), box, 0.999)


@MODES
def test_figures_below_each_other_keep_their_own_captions(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    boxes = {1: (100.0, 60.0, 450.0, 250.0), 2: (150.0, 310.0, 400.0, 500.0), 3: (100.0, 560.0, 450.0, 760.0)}
    for number, box in boxes.items():
        manuscript.picture(page, box, photograph(seed=number))
        manuscript.caption(page, 50, box[3] + 8, f"Figure {number}. {caption_text(number)}", 490)
    extraction = extraction_of(manuscript, with_xml, 1, 2, 3)
    for number, box in boxes.items():
        assert agrees(box_of(extraction, number), box, 0.999)
