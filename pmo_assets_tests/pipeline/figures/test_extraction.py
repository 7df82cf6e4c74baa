"""Whole extraction on typeset pages: every figure, exact boxes, nothing else."""

from __future__ import annotations

import contextlib

import numpy as np
import pymupdf
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from pmo_assets.pipeline.figures.extraction import FigureOptions, extract_figures
from pmo_assets.pipeline.figures.page import EncryptedPdf, PageLimit, PageLimits, UnreadablePdf
from pmo_assets.records.figure import PageSize
from pmo_assets.records.geometry import Box
from pmo_assets_tests.examples import examples
from pmo_assets_tests.pipeline.figures.typesetting import (
    Manuscript,
    agrees,
    caption_text,
    jpeg,
    package_figure,
    photograph,
)
from pmo_assets_tests.pipeline.figures.whole import BOXES_ONLY, MODES, box_of, extraction_of


@MODES
def test_caption_below(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 200))
    manuscript.picture(page, (100, 220, 400, 420))
    manuscript.caption(page, 50, 430, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 480, 545, 800))
    extraction = extraction_of(manuscript, with_xml, 1)
    assert agrees(box_of(extraction, 1), (100, 220, 400, 420), 0.999)
    assert extraction.misses == ()
    figure = extraction.figures[0]
    assert figure.image_cluster_id == ("fig-001" if with_xml else None)
    assert figure.located_by == ("xml_caption" if with_xml else "layout")
    assert figure.pdf_figure_id == "p0-1"
    assert figure.caption == caption_text(1)


@MODES
def test_caption_above(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 200))
    manuscript.caption(page, 50, 210, f"Figure 1. {caption_text(1)}", 490)
    manuscript.picture(page, (100, 240, 400, 420))
    manuscript.body(page, (50, 440, 545, 800))
    assert agrees(box_of(extraction_of(manuscript, with_xml, 1), 1), (100, 240, 400, 420), 0.999)


@MODES
@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_rotated_page(rotation: int, with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.picture(page, (100, 220, 400, 420))
    manuscript.caption(page, 100, 430, f"Figure 1. {caption_text(1)}", 390)
    manuscript.body(page, (50, 500, 545, 800))
    page.set_rotation(rotation)
    truth = tuple((pymupdf.Rect(100, 220, 400, 420) * page.rotation_matrix).normalize())
    extraction = extraction_of(manuscript, with_xml, 1, render=True)
    assert agrees(box_of(extraction, 1), truth, 0.999)  # type: ignore[arg-type]
    assert extraction.pixels["p0-1"].max() < 250
    (size,) = extraction.figures[0].page_sizes
    assert (size.page, size.width, size.height) == (0, page.rect.width, page.rect.height), "as displayed"


@MODES
def test_figure_over_two_pages_is_joined(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.picture(page, (60, 60, 535, 700), photograph(475, 640, seed=1))
    manuscript.caption(page, 50, 720, f"Figure 1. {caption_text(1)}", 490)
    manuscript.width, manuscript.height = 700.0, 900.0
    page = manuscript.page()
    manuscript.picture(page, (60, 60, 300, 300), photograph(240, 240, seed=2))
    manuscript.caption(page, 50, 320, "Figure 1. (continued)", 490)
    manuscript.body(page, (50, 360, 545, 800))
    extraction = extraction_of(manuscript, with_xml, 1, render=True)
    assert len(extraction.figures) == 1
    figure = extraction.figures[0]
    assert [at.page for at in figure.locations] == [0, 1]
    assert agrees(figure.locations[1].bbox, (60, 60, 300, 300), 0.999)
    assert figure.page_sizes == (PageSize(0, 595.0, 842.0), PageSize(1, 700.0, 900.0))
    assert (figure.width, figure.height) == (475, 640 + 13 + 240)  # gap: 2 % of 640
    pixels = extraction.pixels[figure.pdf_figure_id]
    assert pixels.shape == (893, 475, 3)
    assert (pixels[640:653] == 255).all()
    assert (pixels[653:, 240:] == 255).all()
    assert figure.bitmaps[1].box == pytest.approx((0, 653 / 893, 240 / 475, 1), abs=0.002)


def test_caption_without_graphics_is_a_miss_with_a_reason() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 200))
    manuscript.caption(page, 50, 210, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 260, 545, 800))
    extraction = extract_figures(manuscript.pdf(), [package_figure(1), package_figure(2)], BOXES_ONLY)
    assert extraction.figures == ()
    assert {(miss.image_cluster_id, miss.label) for miss in extraction.misses} == {
        ("fig-001", "Figure 1"),
        ("fig-002", "Figure 2"),
    }
    assert all(miss.reason for miss in extraction.misses)


@MODES
def test_what_a_clip_path_hides_is_not_part_of_the_figure(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 200))
    manuscript.caption(page, 50, 430, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 480, 545, 800))
    # The bitmap reaches over caption and text; only (100, 220, 400, 420) of it is shown.
    manuscript.picture(page, (60, 100, 460, 700), photograph(400, 600, 4))
    content = bytes(page.read_contents())
    start = content.rindex(b"q\n", 0, content.rindex(b" Do"))
    height = manuscript.height
    clip = b"q 100 %d 300 200 re W n\n" % (height - 420)
    page.clean_contents()
    xref = page.get_contents()[0]
    manuscript.document.update_stream(xref, content[:start] + clip + content[start:] + b"\nQ\n")
    found = extraction_of(manuscript, with_xml, 1)
    assert agrees(box_of(found, 1), (100, 220, 400, 420), 0.98)


def test_figure_that_the_xml_lacks_is_found_by_layout() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    for number, y in ((1, 60), (2, 320)):
        manuscript.picture(page, (100, y, 400, y + 180), photograph(seed=number))
        manuscript.caption(page, 50, y + 190, f"Figure {number}. {caption_text(number)}", 490)
    manuscript.body(page, (50, 570, 545, 800))
    extraction = extract_figures(manuscript.pdf(), [package_figure(1)], BOXES_ONLY)
    assert [(f.image_cluster_id, f.located_by) for f in extraction.figures] == [
        ("fig-001", "xml_caption"),
        (None, "layout"),
    ]


def test_bad_files_are_refused_with_their_reason() -> None:
    manuscript = Manuscript()
    manuscript.page()
    manuscript.page()
    with pytest.raises(PageLimit):
        extract_figures(manuscript.pdf(), (), FigureOptions(limits=PageLimits(pages=1)))
    with pytest.raises(UnreadablePdf):
        extract_figures(b"GIF89a")
    locked = manuscript.document.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="u", owner_pw="o")
    with pytest.raises(EncryptedPdf):
        extract_figures(locked)


def test_same_file_gives_same_result() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.picture(page, (100, 60, 400, 250))
    manuscript.caption(page, 50, 260, f"Figure 1. {caption_text(1)}", 490)
    pdf = manuscript.pdf()
    first, second = extract_figures(pdf), extract_figures(pdf)
    assert first.figures == second.figures
    assert np.array_equal(first.pixels["p0-1"], second.pixels["p0-1"])


@given(data=st.binary(max_size=400))
@examples(30)
def test_garbage_is_unreadable_or_empty(data: bytes) -> None:
    with contextlib.suppress(UnreadablePdf):
        assert extract_figures(b"%PDF-1.4\n" + data).figures == ()


@st.composite
def _layouts(draw: st.DrawFn) -> tuple[Manuscript, dict[int, Box]]:
    """Return a page of stacked figures between running text, captions all below or all above."""
    manuscript = Manuscript()
    page = manuscript.page()
    boxes: dict[int, Box] = {}
    above = draw(st.booleans())
    two_columns = draw(st.booleans())
    number = 0
    for left, right in ((50.0, 290.0), (305.0, 545.0)) if two_columns else ((50.0, 545.0),):
        y = 60.0
        while y < 560:
            if draw(st.booleans()):
                bottom = y + draw(st.integers(50, 120))
                manuscript.body(page, (left, y, right, bottom), start=int(y))
                y = bottom + 12
                continue
            number += 1
            across = draw(st.floats(100, right - left))
            down = draw(st.floats(60, 160))
            shift = draw(st.floats(0, 1)) * (right - left - across)
            text = f"Figure {number}. {caption_text(number)}"
            if above:
                y = manuscript.caption(page, left, y, text, right - left)[3] + 8
            box = (left + shift, y, left + shift + across, y + down)
            manuscript.picture(page, box, photograph(seed=number))
            boxes[number] = box
            y += down + 8
            if not above:
                y = manuscript.caption(page, left, y, text, right - left)[3]
            y += 18
        manuscript.body(page, (left, max(y, 620), right, 800))
    return manuscript, boxes


@given(layout=_layouts(), with_xml=st.booleans())
@examples(12, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_every_figure_of_a_random_layout_is_found_exactly(
    layout: tuple[Manuscript, dict[int, Box]], with_xml: bool
) -> None:
    manuscript, boxes = layout
    extraction = extraction_of(manuscript, with_xml, *boxes)
    assert len(extraction.figures) == len(boxes)
    for number, box in boxes.items():
        assert agrees(box_of(extraction, number), box, 0.98)


def test_figures_can_be_received_one_by_one() -> None:
    manuscript = Manuscript()
    for number in (1, 2):
        page = manuscript.page()
        manuscript.picture(page, (100, 220, 400, 420), photograph(seed=number))
        manuscript.caption(page, 50, 430, f"Figure {number}. {caption_text(number)}", 490)
    kept = extract_figures(manuscript.pdf())
    received: dict[str, np.ndarray] = {}
    streamed = extract_figures(
        manuscript.pdf(), receive=lambda figure, pixels: received.update({figure.pdf_figure_id: pixels})
    )
    assert streamed.pixels == {}
    assert streamed.figures == kept.figures
    assert list(received) == list(kept.pixels) == ["p0-1", "p1-1"]
    assert all(np.array_equal(received[name], kept.pixels[name]) for name in received)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("UserUnit", "0"),
        ("UserUnit", "0.0001"),
        ("UserUnit", "1000000"),
        ("MediaBox", "[0 0 10000000 1]"),
        ("MediaBox", "[0 0 14400 14400]"),
        ("MediaBox", "[0 0 600 0.001]"),
        ("CropBox", "[0 0 0.001 800]"),
    ],
)
def test_a_page_that_no_paper_can_hold_does_not_lose_the_others(key: str, value: str) -> None:
    manuscript = Manuscript()
    manuscript.picture(manuscript.page(), (100, 100, 400, 300), photograph(seed=2))
    page = manuscript.page()
    manuscript.picture(page, (100, 100, 400, 300), photograph(seed=1))
    manuscript.caption(page, 100, 310, f"Figure 1. {caption_text(1)}", 300)
    manuscript.document.xref_set_key(manuscript.document[0].xref, key, value)
    known = [package_figure(1), package_figure(7)]  # the second is looked for on all pages
    extraction = extract_figures(manuscript.pdf(), known, package_image=lambda _: jpeg(photograph(seed=1)))
    assert extraction.page_count == 2
    assert [figure.locations[0].page for figure in extraction.figures] == [1]
