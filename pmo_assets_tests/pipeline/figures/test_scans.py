"""Scanned pages: recognised, and their figures found by text layer or package picture."""

from __future__ import annotations

import numpy as np
import pymupdf
import pytest

from pmo_assets.pipeline.figures.extraction import FigureOptions, extract_figures
from pmo_assets.pipeline.figures.page import page_content
from pmo_assets.pipeline.figures.scans import scan_of, without_backgrounds
from pmo_assets_tests.pipeline.figures.typesetting import (
    Manuscript,
    agrees,
    caption_text,
    jpeg,
    package_figure,
    photograph,
)

BOX = (90.0, 120.0, 390.0, 320.0)


def manuscript() -> Manuscript:
    """Return one page with running text, a photograph in `BOX` and its caption below."""
    paper = Manuscript()
    page = paper.page()
    paper.picture(page, BOX, photograph(600, 400, 3))
    paper.caption(page, 60, 330, f"Figure 1. {caption_text(1)}", 470)
    paper.body(page, (60, 380, 530, 780))
    return paper


def scanned(document: pymupdf.Document, *, with_text: bool, dpi: int = 150) -> bytes:
    """Return the document as a scan: one JPEG a page, with invisible text lying over it if wanted."""
    copy = pymupdf.open()
    for page in document:
        sheet = copy.new_page(width=page.rect.width, height=page.rect.height)
        sheet.insert_image(sheet.rect, stream=page.get_pixmap(dpi=dpi).tobytes("jpeg", jpg_quality=80))
        for block in page.get_text("dict")["blocks"] if with_text else ():
            for line in block.get("lines", ()):
                for span in line["spans"]:
                    sheet.insert_text(span["origin"], span["text"], fontsize=span["size"], render_mode=3)
    return bytes(copy.tobytes())


def test_a_page_that_is_one_picture_is_a_scan() -> None:
    page = page_content(pymupdf.open(stream=scanned(manuscript().document, with_text=False))[0])
    scan = scan_of(page)
    assert scan is not None
    assert scan.dpi == pytest.approx(150, rel=0.01)


def test_a_typeset_page_is_no_scan() -> None:
    assert scan_of(page_content(manuscript().document[0])) is None


def test_a_full_page_figure_with_a_label_is_no_scan() -> None:
    paper = Manuscript()
    page = paper.document.new_page(width=595, height=842)
    paper.picture(page, (5, 5, 590, 837), photograph())
    page.insert_text((20, 30), "A", fontsize=14)
    assert scan_of(page_content(page)) is None


def test_a_background_behind_pictures_is_no_scan() -> None:
    paper = Manuscript()
    page = paper.document.new_page(width=595, height=842)
    paper.picture(page, (0, 0, 595, 842), photograph())
    paper.picture(page, BOX, photograph(300, 200, 2))
    assert scan_of(page_content(page)) is None


def test_a_paper_colour_behind_every_page_is_left_out() -> None:
    paper = Manuscript()
    tint = np.full((140, 100, 3), (250, 248, 240), dtype=np.uint8)
    for number in (1, 2):
        page = paper.document.new_page(width=595, height=842)
        paper.picture(page, (0, 0, 595, 842), tint)
        paper.body(page, (60, 60, 530, 100))
        paper.picture(page, BOX, photograph(600, 400, number))
        paper.caption(page, 60, 330, f"Figure {number}. {caption_text(number)}", 470)
    found = extract_figures(paper.pdf(), [package_figure(1), package_figure(2)], FigureOptions(render=False))
    assert [figure.label for figure in found.figures] == ["Figure 1", "Figure 2"]
    assert all(agrees(figure.locations[0].bbox, BOX, 0.95) for figure in found.figures)


def test_full_page_figures_are_no_background() -> None:
    paper = Manuscript()
    sheets = []
    for number in (1, 2):
        page = paper.document.new_page(width=595, height=842)
        paper.picture(page, (5, 5, 590, 837), photograph(200 + 50 * number, 300, number))
        for k in range(4):
            page.insert_text((20, 30 + 20 * k), f"label {k}", fontsize=10)
        sheets.append(page_content(page))
    assert without_backgrounds(sheets) == sheets


def test_with_a_text_layer_the_figure_is_found_by_its_caption() -> None:
    found = extract_figures(scanned(manuscript().document, with_text=True), [package_figure(1)])
    assert [figure.label for figure in found.figures] == ["Figure 1"]
    figure = found.figures[0]
    assert agrees(figure.locations[0].bbox, BOX, 0.95)
    assert figure.dpi == pytest.approx(150, rel=0.01), "rendered at the scan's own resolution"
    assert figure.bitmaps == (), "the scan is no hint for panels"


def test_without_any_text_the_figure_is_found_by_its_package_picture() -> None:
    pdf = scanned(manuscript().document, with_text=False)
    images = {"fig-001": jpeg(photograph(600, 400, 3))}
    found = extract_figures(pdf, [package_figure(1)], package_image=images.get)
    assert [(figure.label, figure.located_by) for figure in found.figures] == [("Figure 1", "package_image")]
    figure = found.figures[0]
    assert agrees(figure.locations[0].bbox, BOX, 0.95)
    assert figure.caption == caption_text(1)
    assert figure.caption_locations == ()
    assert figure.picture_correlation is not None
    assert figure.picture_correlation > 0.96


def test_without_text_and_picture_the_figure_is_a_miss_that_says_what_was_looked_for() -> None:
    pdf = scanned(manuscript().document, with_text=False)
    alone = extract_figures(pdf, [package_figure(1)], FigureOptions(render=False))
    assert [miss.reason for miss in alone.misses] == [
        "its caption is not in the text of the PDF, and the package has no picture of all of it to look for"
    ]
    other = {"fig-001": jpeg(photograph(600, 400, 9))}
    wrong = extract_figures(pdf, [package_figure(1)], FigureOptions(render=False), package_image=other.get)
    assert [miss.reason for miss in wrong.misses] == [
        "its caption is not in the text of the PDF, and its package picture is on no page"
    ]
