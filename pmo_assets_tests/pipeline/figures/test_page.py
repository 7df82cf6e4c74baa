"""Reading pages: displayed coordinates, sideways text, and the limits against hostile files."""

from __future__ import annotations

import numpy as np
import pymupdf
import pytest

from pmo_assets.pipeline.figures.page import (
    EncryptedPdf,
    PageLimit,
    PageLimits,
    UnreadablePdf,
    open_pdf,
    page_content,
)
from pmo_assets.pipeline.figures.page_turns import turned_page
from pmo_assets_tests.pipeline.figures.typesetting import Manuscript, photograph


def _one_page(rotation: int = 0) -> pymupdf.Page:
    manuscript = Manuscript(width=300, height=400)
    page = manuscript.document.new_page(width=300, height=400)
    page.insert_text((20, 30), "Hello", fontsize=11)
    manuscript.picture(page, (50, 60, 110, 100), photograph(120, 80))
    page.draw_rect((150, 200, 200, 260), color=(0, 0, 0), fill=(0.5, 0.5, 0.5), width=1)
    page.set_rotation(rotation)
    document = pymupdf.open(stream=manuscript.pdf())
    return document[0]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_boxes_are_where_the_displayed_page_shows_ink(rotation: int) -> None:
    page = _one_page(rotation)
    content = page_content(page)
    pixmap = page.get_pixmap(alpha=False)
    pixels = np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.width, 3)
    assert (content.width, content.height) == (pixmap.width, pixmap.height)
    boxes = [content.bitmaps[0].bbox, tuple(content.drawings[0])]
    for left, top, right, bottom in boxes:
        inside = pixels[round(top) + 2 : round(bottom) - 2, round(left) + 2 : round(right) - 2]
        assert inside.max() < 250
        assert (pixels[round(top) - 3, round(left) : round(right)] > 250).all()
        assert (pixels[round(top) : round(bottom), round(left) - 3] > 250).all()


@pytest.mark.parametrize(("rotation", "turns"), [(0, 0), (90, 1), (180, 2), (270, 3)])
def test_text_direction_follows_the_rotation(rotation: int, turns: int) -> None:
    content = page_content(_one_page(rotation))
    assert content.lines[0].quarter_turns == turns
    assert content.lines[0].text == "Hello"
    upright = turned_page(content, turns)
    assert upright.lines[0].quarter_turns == 0
    assert upright.lines[0].bbox == pytest.approx(page_content(_one_page()).lines[0].bbox, abs=0.01)


def test_bitmaps_carry_their_native_size_and_resolution() -> None:
    bitmap = page_content(_one_page()).bitmaps[0]
    assert (bitmap.native_width, bitmap.native_height) == (120, 80)
    assert bitmap.dpi == pytest.approx(144.0)


def test_truncated_file_without_pages_is_unreadable() -> None:
    manuscript = Manuscript()
    manuscript.page()
    with pytest.raises(UnreadablePdf):
        open_pdf(manuscript.pdf()[:60])


@pytest.mark.parametrize("data", [b"", b"<html>not found</html>", b"%PDF-1.7\n", b"%PDF-1.7\ntrailer<</Root 1 0 R>>"])
def test_what_is_no_pdf_is_unreadable(data: bytes) -> None:
    with pytest.raises(UnreadablePdf):
        open_pdf(data)


def test_password_is_reported() -> None:
    manuscript = Manuscript()
    manuscript.page()
    locked = manuscript.document.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="u", owner_pw="o")
    with pytest.raises(EncryptedPdf):
        open_pdf(locked)


def test_owner_password_alone_does_not_lock() -> None:
    manuscript = Manuscript()
    manuscript.page()
    data = manuscript.document.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="o")
    assert open_pdf(data).page_count == 1


def test_too_many_pages_are_refused() -> None:
    manuscript = Manuscript()
    for _ in range(4):
        manuscript.page()
    with pytest.raises(PageLimit):
        open_pdf(manuscript.pdf(), PageLimits(pages=3))


def test_too_many_drawings_are_refused() -> None:
    page = _one_page()
    with pytest.raises(PageLimit):
        page_content(page, PageLimits(drawings=0))


def test_huge_content_stream_is_refused_before_it_is_parsed() -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((50, 50), "x")
    document.update_stream(page.get_contents()[0], b"0 0 m " * 50_000, compress=True)
    bomb = pymupdf.open(stream=document.tobytes())
    with pytest.raises(PageLimit):
        page_content(bomb[0], PageLimits(content_bytes=100_000))


def test_truncated_file_that_lost_most_pages_is_unreadable() -> None:
    manuscript = Manuscript()
    for _ in range(6):
        manuscript.body(manuscript.page(), (50, 60, 545, 800))
    data = manuscript.document.tobytes(deflate=False, garbage=0)
    outcomes = set()
    for part in (0.1, 0.3, 0.5):
        try:
            outcomes.add(open_pdf(data[: int(part * len(data))]).page_count)
        except UnreadablePdf:
            outcomes.add(0)
    assert 0 in outcomes


def test_pages_too_large_to_be_read_are_lost_in_a_repaired_file() -> None:
    manuscript = Manuscript()
    for _ in range(6):
        manuscript.body(manuscript.page(), (50, 60, 545, 800))
    for number in range(4):
        manuscript.document.xref_set_key(manuscript.document[number].xref, "UserUnit", "5000")
    data = manuscript.document.tobytes()
    assert open_pdf(data).page_count == 6
    with pytest.raises(UnreadablePdf, match="4 of 6 pages"):
        open_pdf(data[: data.rindex(b"startxref")])


def test_paths_end_where_their_clip_path_ends() -> None:
    document = pymupdf.open()
    page = document.new_page(width=595, height=842)
    xref = document.get_new_xref()
    document.update_object(xref, "<<>>")
    document.update_stream(
        xref,
        b"q 100 600 200 100 re W n q 1 0 0 rg 50 550 400 400 re f Q 0 0 1 RG 120 0 m 120 800 l S 20 0 m 20 800 l S Q "
        b"0 1 0 rg 10 10 50 50 re f",
    )
    page.set_contents(xref)
    assert page_content(page).drawings.tolist() == [
        [100, 142, 300, 242],  # the filled square, cut on all sides
        [119.5, 142, 120.5, 242],  # the line inside; the one outside is gone
        [10, 782, 60, 832],  # what follows is not clipped any more
    ]


def test_bold_type_is_seen_and_only_that() -> None:
    with pymupdf.open() as document:
        page = document.new_page()
        for k, font in enumerate(("helv", "hebo", "tiit", "tibo")):
            page.insert_text((50, 50 + 20 * k), f"Text in {font}", fontname=font)
        lines = page_content(page).lines
    assert {line.text.split()[-1]: line.bold for line in lines} == {
        "helv": False, "hebo": True, "tiit": False, "tibo": True,
    }  # fmt: skip
