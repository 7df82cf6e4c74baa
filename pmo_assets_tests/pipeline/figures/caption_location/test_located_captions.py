"""All captions of a document, by XML and by layout."""

from __future__ import annotations

import pytest

from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, agrees, caption_text, package_figure
from pmo_assets_tests.pipeline.figures.whole import captions_of


def test_body_sentence_that_begins_with_the_label_is_no_caption() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 200))
    page.insert_text((50, 230), "Figure 1 shows that the treatment had an effect on the eyes", fontsize=10)
    manuscript.body(page, (50, 234, 545, 300))
    box = manuscript.caption(page, 50, 500, f"Figure 1. {caption_text(1)}", 400)
    for figures in ((package_figure(1),), ()):
        located = captions_of(manuscript, *figures)
        assert len(located.captions) == 1
        assert agrees(located.captions[0].boxes[0].bbox, box, 0.85)


def test_two_columns_of_captions_do_not_mix() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    boxes = [manuscript.caption(page, x, 400, f"Figure {n}. {caption_text(n)}", 230) for x, n in ((50, 1), (305, 2))]
    manuscript.body(page, (50, 460, 290, 800))
    manuscript.body(page, (305, 460, 545, 800))
    for figures in ((package_figure(1), package_figure(2)), ()):
        located = captions_of(manuscript, *figures)
        assert len(located.captions) == 2
        for caption, box in zip(located.captions, boxes, strict=True):
            assert agrees(caption.boxes[0].bbox, box, 0.85)


@pytest.mark.parametrize(
    ("line", "is_continuation"),
    [
        ("Figure 1: Continued.", True),
        ("Figure 1. Continued", True),
        ("Figure 1 (continued). Panels D to F.", True),
        ("Fig. 1 (cont.)", True),
        ("Figure 1. Continued expression of the receptor in the retina.", False),
    ],
)
def test_continuation_is_told_from_a_sentence(line: str, is_continuation: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 300))
    manuscript.caption(page, 50, 400, line, 490)
    found = captions_of(manuscript).captions
    assert [caption.is_continuation for caption in found] == [is_continuation]
