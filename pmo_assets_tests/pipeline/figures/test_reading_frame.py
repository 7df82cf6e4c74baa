"""Documents that are enlarged or turned as a whole give the same figures as their upright original."""

from __future__ import annotations

import pymupdf
import pytest

from pmo_assets.pipeline.figures.extraction import FigureOptions, extract_figures
from pmo_assets.pipeline.figures.page import page_content
from pmo_assets.pipeline.figures.reading_frame import (
    FRAME_SIZE,
    ReadingFrame,
    displayed_box,
    framed_page,
    reading_frame,
)
from pmo_assets.records.figure import PageBox
from pmo_assets.records.geometry import Box
from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, agrees, caption_text, package_figure, photograph

BOX = (90.0, 120.0, 390.0, 320.0)


def manuscript() -> Manuscript:
    """Return three pages with running head, text, a figure and its caption."""
    paper = Manuscript()
    for number in (1, 2, 3):
        page = paper.page()
        paper.body(page, (60, 60, 530, 110))
        paper.picture(page, BOX, photograph(600, 400, number))
        paper.caption(page, 60, 330, f"Figure {number}. {caption_text(number)}", 470)
        paper.body(page, (60, 380, 530, 780))
    return paper


def enlarged(document: pymupdf.Document, factor: float) -> pymupdf.Document:
    copy = pymupdf.open()
    for page in document:
        sheet = copy.new_page(width=page.rect.width * factor, height=page.rect.height * factor)
        sheet.show_pdf_page(sheet.rect, document, page.number)
    return copy


def turned(document: pymupdf.Document) -> pymupdf.Document:
    for page in document:
        page.set_rotation(90)
    return document


def test_an_ordinary_document_is_left_as_it_is() -> None:
    assert reading_frame([page_content(page) for page in manuscript().document]) == ReadingFrame()


def test_a_document_without_text_is_left_as_it_is() -> None:
    assert reading_frame([page_content(pymupdf.open().new_page())]) == ReadingFrame()


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_enlarged_text_is_brought_to_the_usual_size(factor: float) -> None:
    pages = [page_content(page) for page in enlarged(manuscript().document, factor)]
    frame = reading_frame(pages)
    assert frame.scale == pytest.approx(FRAME_SIZE / (10.0 * factor))
    sizes = {line.size for line in framed_page(pages[0], frame).lines if len(line.text) > 60}
    assert sizes == {FRAME_SIZE, 0.8 * FRAME_SIZE}, "running text and captions"


@pytest.mark.parametrize("frame", [ReadingFrame(1, 1.0), ReadingFrame(3, 0.5), ReadingFrame(2, 1.7)])
def test_boxes_come_back_to_where_the_page_shows_them(frame: ReadingFrame) -> None:
    pages = [page_content(page) for page in manuscript().document]
    framed = framed_page(pages[1], frame)
    for before, after in zip(pages[1].bitmaps, framed.bitmaps, strict=True):
        assert displayed_box(PageBox(1, after.bbox), pages, frame).bbox == pytest.approx(before.bbox)


def figures_of(document: pymupdf.Document) -> list[tuple[str | None, Box]]:
    listed = [package_figure(number) for number in (1, 2, 3)]
    found = extract_figures(bytes(document.tobytes()), listed, FigureOptions(render=False)).figures
    return [(figure.label, figure.locations[0].bbox) for figure in found]


@pytest.mark.parametrize("factor", [0.6, 2.5])
def test_figures_of_an_enlarged_document_are_found_at_their_place(factor: float) -> None:
    found = figures_of(enlarged(manuscript().document, factor))
    assert [label for label, _ in found] == ["Figure 1", "Figure 2", "Figure 3"]
    wanted = (BOX[0] * factor, BOX[1] * factor, BOX[2] * factor, BOX[3] * factor)
    assert all(agrees(box, wanted) for _, box in found)


def test_figures_of_a_document_that_is_displayed_sideways_are_found_at_their_place() -> None:
    paper = manuscript()
    found = figures_of(turned(paper.document))
    assert [label for label, _ in found] == ["Figure 1", "Figure 2", "Figure 3"]
    wanted = (paper.height - BOX[3], BOX[0], paper.height - BOX[1], BOX[2])
    assert all(agrees(box, wanted) for _, box in found)
