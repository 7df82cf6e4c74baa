"""Running text: its look, and what on a page is body or heading."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.figures.running_text import USUAL_COLUMN, body_lines, body_style, document_style, heading_lines
from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, caption_text
from pmo_assets_tests.pipeline.figures.whole import contents_of


def _manuscript() -> Manuscript:
    manuscript = Manuscript()
    for _ in range(2):
        page = manuscript.page()
        page.insert_text((50, 70), "Materials and methods", fontsize=12, fontname="hebo")
        manuscript.body(page, (50, 75, 545, 400))
        manuscript.caption(page, 70, 500, f"Figure 1. {caption_text(1)}", 300)
    return manuscript


def test_the_look_is_that_of_most_long_lines() -> None:
    pages = contents_of(_manuscript())
    style = document_style(pages, set())
    assert (style.size, body_style(pages)) == (10.0, (10.0, "Helvetica"))
    assert 50.0 in style.lefts
    assert 400 < style.column < 495
    assert 70 < style.top < 80


def test_a_document_without_text_has_the_usual_look() -> None:
    manuscript = Manuscript()
    manuscript.document.new_page()
    pages = contents_of(manuscript)
    style = document_style(pages, set())
    assert (style.size, style.column, style.top) == (10.0, USUAL_COLUMN, 0.0)
    assert style.bottom > 5_000


@pytest.mark.parametrize("index", [0, 1])
def test_body_and_headings_are_told_from_captions_and_running_heads(index: int) -> None:
    pages = contents_of(_manuscript())
    page = pages[index]
    captions = {i for i, line in enumerate(page.lines) if line.size == 8.0}
    style = document_style(pages, {(p, i) for p in (0, 1) for i in captions})
    body = body_lines(page, style, captions)
    assert body == {i for i, line in enumerate(page.lines) if line.size == 10.0}
    headings = heading_lines(page, style, body, captions)
    assert [page.lines[i].text for i in headings] == ["Materials and methods"]
