"""Whole extraction on typeset pages: every figure, exact boxes, nothing else."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np
import pymupdf
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pmo_assets.pipeline.figures.extraction import Extraction, FigureOptions, extract_figures
from pmo_assets.pipeline.figures.page import EncryptedPdf, PageLimit, PageLimits, UnreadablePdf
from pmo_assets.records.geometry import Box
from pmo_assets_tests.pipeline.figures.typesetting import (
    Manuscript,
    agrees,
    caption_text,
    jpeg,
    package_figure,
    photograph,
)

BOXES_ONLY = FigureOptions(render=False)
MODES = pytest.mark.parametrize("with_xml", [True, False])


def _extraction(manuscript: Manuscript, with_xml: bool, *numbers: int, render: bool = False) -> Extraction:
    figures = [package_figure(number) for number in numbers] if with_xml else []
    return extract_figures(manuscript.pdf(), figures, FigureOptions(render=render))


def _box(extraction: Extraction, number: int) -> Box:
    found = [figure for figure in extraction.figures if figure.label in (f"Figure {number}", f"Fig. {number}")]
    assert len(found) == 1, [figure.label for figure in extraction.figures]
    return found[0].locations[0].bbox


@MODES
def test_caption_below(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 200))
    manuscript.picture(page, (100, 220, 400, 420))
    manuscript.caption(page, 50, 430, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 480, 545, 800))
    extraction = _extraction(manuscript, with_xml, 1)
    assert agrees(_box(extraction, 1), (100, 220, 400, 420), 0.999)
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
    assert agrees(_box(_extraction(manuscript, with_xml, 1), 1), (100, 240, 400, 420), 0.999)


@MODES
def test_caption_beside(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 200))
    manuscript.picture(page, (50, 220, 350, 420))
    manuscript.caption(page, 370, 240, f"Figure 1. {caption_text(1)}", 170)
    manuscript.body(page, (50, 440, 545, 800))
    assert agrees(_box(_extraction(manuscript, with_xml, 1), 1), (50, 220, 350, 420), 0.999)


@MODES
def test_two_columns_with_a_figure_each(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    boxes = {1: (60.0, 60.0, 280.0, 220.0), 2: (315.0, 60.0, 535.0, 220.0)}
    for number, box in boxes.items():
        manuscript.picture(page, box, photograph(seed=number))
        manuscript.caption(page, box[0] - 10, 228, f"Figure {number}. {caption_text(number)}", 235)
        manuscript.body(page, (box[0] - 10, 290, box[2] + 10, 800))
    extraction = _extraction(manuscript, with_xml, 1, 2)
    for number, box in boxes.items():
        assert agrees(_box(extraction, number), box, 0.999)


@MODES
def test_figures_below_each_other_keep_their_own_captions(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    boxes = {1: (100.0, 60.0, 450.0, 250.0), 2: (150.0, 310.0, 400.0, 500.0), 3: (100.0, 560.0, 450.0, 760.0)}
    for number, box in boxes.items():
        manuscript.picture(page, box, photograph(seed=number))
        manuscript.caption(page, 50, box[3] + 8, f"Figure {number}. {caption_text(number)}", 490)
    extraction = _extraction(manuscript, with_xml, 1, 2, 3)
    for number, box in boxes.items():
        assert agrees(_box(extraction, number), box, 0.999)


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
    extraction = _extraction(manuscript, with_xml, 1, render=True)
    assert agrees(_box(extraction, 1), truth, 0.999)  # type: ignore[arg-type]
    assert extraction.pixels["p0-1"].max() < 250


@MODES
def test_vector_figure_with_its_axis_text(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 200))
    page.draw_line((120, 230), (120, 400), width=1)
    page.draw_line((120, 400), (420, 400), width=1)
    page.draw_polyline([(120, 390), (200, 300), (300, 340), (420, 240)], color=(0.8, 0, 0))
    for k in range(5):
        page.insert_text((118 + 70 * k, 412), str(k), fontsize=7)
    page.insert_text((230, 424), "Time (weeks)", fontsize=7)
    page.insert_text((112, 350), "Acuity", fontsize=7, rotate=90)
    manuscript.caption(page, 50, 436, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 480, 545, 800))
    extraction = _extraction(manuscript, with_xml, 1, render=True)
    left, top, right, bottom = _box(extraction, 1)
    assert 100 < left < 113
    assert top == pytest.approx(229.5, abs=1.5)
    assert right == pytest.approx(420.5, abs=2)
    assert 423 < bottom < 428
    figure = extraction.figures[0]
    assert figure.dpi == 300
    assert {"Acuity", "Time (weeks)"} <= {text.text for text in figure.texts}
    assert figure.bitmaps == ()


@MODES
def test_identifiers_are_inside_and_become_hints(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.picture(page, (60, 60, 280, 220), photograph(seed=1))
    manuscript.picture(page, (310, 60, 530, 220), photograph(seed=2))
    page.insert_text((165, 233), "(a)", fontsize=8)
    page.insert_text((415, 233), "(b)", fontsize=8)
    manuscript.caption(page, 50, 245, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 300, 545, 800))
    extraction = _extraction(manuscript, with_xml, 1)
    box = _box(extraction, 1)
    assert box[:3] == pytest.approx((60, 60, 530), abs=0.6)
    assert 231 < box[3] < 236
    figure = extraction.figures[0]
    assert [text.text for text in figure.texts] == ["(a)", "(b)"]
    assert len(figure.bitmaps) == 2
    first = figure.bitmaps[0]
    assert first.box[0] == pytest.approx(0, abs=0.005)
    assert first.box[2] == pytest.approx(220 / 470, abs=0.005)
    assert (first.native_width, first.native_height) == (200, 150)


@MODES
def test_table_next_to_a_figure_is_left_out(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.caption(page, 50, 60, "Table 1. Characteristics of the subjects.", 490)
    for y in (80, 95, 170):
        page.draw_line((50, y), (545, y), width=0.7)
    for row in range(5):
        for column in range(4):
            page.insert_text((55 + 120 * column, 91 + 15 * row), f"{row}.{column} mm", fontsize=8)
    manuscript.picture(page, (100, 190, 400, 380))
    manuscript.caption(page, 50, 390, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 440, 545, 800))
    extraction = _extraction(manuscript, with_xml, 1)
    assert len(extraction.figures) == 1
    assert agrees(_box(extraction, 1), (100, 190, 400, 380), 0.999)


@MODES
def test_frame_around_figure_and_caption_is_not_the_figure(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 180))
    page.draw_rect((60, 200, 500, 470), color=(0, 0, 0), width=0.5)
    manuscript.picture(page, (100, 220, 400, 420))
    manuscript.caption(page, 70, 430, f"Figure 1. {caption_text(1)}", 400)
    manuscript.body(page, (50, 490, 545, 800))
    assert agrees(_box(_extraction(manuscript, with_xml, 1), 1), (100, 220, 400, 420), 0.999)


@MODES
def test_repeated_logo_is_not_part_of_a_figure(with_xml: bool) -> None:
    manuscript = Manuscript()
    for number in (1, 2, 3):
        page = manuscript.page()
        manuscript.picture(page, (250, 20, 320, 45), photograph(70, 25, seed=9))
        if number == 2:
            manuscript.picture(page, (100, 60, 400, 250))
            manuscript.caption(page, 50, 260, f"Figure 1. {caption_text(1)}", 490)
            manuscript.body(page, (50, 310, 545, 800))
        else:
            manuscript.body(page, (50, 60, 545, 800))
    extraction = _extraction(manuscript, with_xml, 1)
    assert agrees(_box(extraction, 1), (100, 60, 400, 250), 0.999)


@MODES
def test_white_margin_of_a_bitmap_is_cut(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    pixels = np.full((300, 400, 3), 255, dtype=np.uint8)
    pixels[30:270, 40:360] = photograph(320, 240)
    manuscript.picture(page, (100, 100, 500, 400), pixels)
    manuscript.caption(page, 50, 410, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 460, 545, 800))
    assert agrees(_box(_extraction(manuscript, with_xml, 1), 1), (140, 130, 460, 370), 0.995)


def test_single_bitmap_is_rendered_pixel_by_pixel() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    pixels = photograph(640, 480)
    manuscript.picture(page, (100.3, 100.7, 340.3, 280.7), pixels)
    manuscript.caption(page, 50, 300, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 360, 545, 800))
    extraction = _extraction(manuscript, True, 1, render=True)
    rendered = extraction.pixels["p0-1"]
    assert rendered.shape == pixels.shape
    assert np.abs(rendered.astype(int) - pixels).max() <= 1
    figure = extraction.figures[0]
    assert (figure.width, figure.height) == (640, 480)
    assert figure.dpi == pytest.approx(192, abs=0.5)


@MODES
def test_figure_over_two_pages_is_joined(with_xml: bool) -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.picture(page, (60, 60, 535, 700), photograph(475, 640, seed=1))
    manuscript.caption(page, 50, 720, f"Figure 1. {caption_text(1)}", 490)
    page = manuscript.page()
    manuscript.picture(page, (60, 60, 300, 300), photograph(240, 240, seed=2))
    manuscript.caption(page, 50, 320, "Figure 1. (continued)", 490)
    manuscript.body(page, (50, 360, 545, 800))
    extraction = _extraction(manuscript, with_xml, 1, render=True)
    assert len(extraction.figures) == 1
    figure = extraction.figures[0]
    assert [at.page for at in figure.locations] == [0, 1]
    assert agrees(figure.locations[1].bbox, (60, 60, 300, 300), 0.999)
    assert (figure.width, figure.height) == (475, 640 + 13 + 240)  # gap: 2 % of 640
    pixels = extraction.pixels[figure.pdf_figure_id]
    assert pixels.shape == (893, 475, 3)
    assert (pixels[640:653] == 255).all()
    assert (pixels[653:, 240:] == 255).all()
    assert figure.bitmaps[1].box == pytest.approx((0, 653 / 893, 240 / 475, 1), abs=0.002)


@MODES
def test_figure_on_the_facing_page(with_xml: bool) -> None:
    manuscript = Manuscript()
    manuscript.body(manuscript.page(), (50, 60, 545, 800))
    page = manuscript.page()
    manuscript.picture(page, (60, 60, 535, 780))
    page = manuscript.page()
    manuscript.caption(page, 50, 60, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 110, 545, 800))
    extraction = _extraction(manuscript, with_xml, 1)
    assert [at.page for at in extraction.figures[0].locations] == [1]
    assert agrees(_box(extraction, 1), (60, 60, 535, 780), 0.999)


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


def test_figure_that_is_nothing_but_text_is_found_when_the_xml_lists_it() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 200))
    steps = ("1. Dilate the pupil.", "2. Take three photographs.", "3. Grade them twice.", "4. Adjudicate.")
    for k, step in enumerate(steps):
        page.insert_text((200, 240 + 16 * k), step, fontsize=9, fontname="cour")
    manuscript.caption(page, 50, 310, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 360, 545, 800))
    found = extract_figures(manuscript.pdf(), [package_figure(1)], BOXES_ONLY)
    assert [figure.label for figure in found.figures] == ["Figure 1"]
    box = found.figures[0].locations[0].bbox
    assert 198 < box[0] < 204
    assert 228 < box[1] < 240
    assert 285 < box[3] < 296
    assert extract_figures(manuscript.pdf(), [], BOXES_ONLY).figures == (), "without the XML it may be anything"


def test_framed_running_text_is_a_figure_when_the_xml_lists_it() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 200))
    frame = (80.0, 230.0, 515.0, 330.0)
    page.draw_rect(pymupdf.Rect(frame), color=(0, 0, 0), width=1)
    manuscript.body(page, (95, 240, 500, 322))
    manuscript.caption(page, 50, 345, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 400, 545, 800))
    found = extract_figures(manuscript.pdf(), [package_figure(1)], BOXES_ONLY)
    assert agrees(_box(found, 1), (79.5, 229.5, 515.5, 330.5), 0.98)


def test_package_picture_corrects_a_region_that_holds_too_much() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.body(page, (50, 60, 545, 200))
    wanted = photograph(600, 300, 4)
    manuscript.picture(page, (100, 220, 400, 370), wanted)
    manuscript.picture(page, (405, 220, 545, 370), photograph(200, 200, 8))  # a portrait beside it
    manuscript.caption(page, 50, 380, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 430, 545, 800))
    figures = [package_figure(1)]
    alone = extract_figures(manuscript.pdf(), figures)
    assert agrees(_box(alone, 1), (100, 220, 545, 370)), "layout alone takes both"
    images = {"fig-001": jpeg(wanted)}
    told = extract_figures(manuscript.pdf(), figures, package_image=images.get)
    assert agrees(_box(told, 1), (100, 220, 400, 370), 0.98)
    assert told.figures[0].located_by == "package_image"
    assert told.figures[0].caption_locations, "its caption is still known"


def test_package_picture_that_agrees_makes_certain() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.picture(page, (100, 220, 400, 420), photograph(600, 400, 4))
    manuscript.caption(page, 50, 430, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 480, 545, 800))
    figures = [package_figure(1)]
    images = {"fig-001": jpeg(photograph(600, 400, 4))}
    alone, told = (extract_figures(manuscript.pdf(), figures, package_image=source) for source in (None, images.get))
    assert alone.figures[0].picture_correlation is None
    assert (told.figures[0].picture_correlation or 0) > 0.96
    assert told.figures[0].confidence > alone.figures[0].confidence
    assert told.figures[0].locations == alone.figures[0].locations


def test_package_picture_of_one_part_does_not_cut_the_figure() -> None:
    manuscript = Manuscript()
    page = manuscript.page()
    manuscript.picture(page, (100, 220, 300, 370), photograph(400, 300, 4))
    manuscript.picture(page, (305, 220, 505, 370), photograph(400, 300, 8))
    manuscript.caption(page, 50, 380, f"Figure 1. {caption_text(1)}", 490)
    manuscript.body(page, (50, 430, 545, 800))
    listed = replace(package_figure(1), graphics=("fig-001a", "fig-001b"))
    images = {"fig-001": jpeg(photograph(400, 300, 4))}
    found = extract_figures(manuscript.pdf(), [listed], package_image=images.get)
    assert agrees(_box(found, 1), (100, 220, 505, 370))


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
    found = _extraction(manuscript, with_xml, 1)
    assert agrees(_box(found, 1), (100, 220, 400, 420), 0.98)


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
@settings(max_examples=30, deadline=None)
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
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_every_figure_of_a_random_layout_is_found_exactly(
    layout: tuple[Manuscript, dict[int, Box]], with_xml: bool
) -> None:
    manuscript, boxes = layout
    extraction = _extraction(manuscript, with_xml, *boxes)
    assert len(extraction.figures) == len(boxes)
    for number, box in boxes.items():
        assert agrees(_box(extraction, number), box, 0.98)


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
