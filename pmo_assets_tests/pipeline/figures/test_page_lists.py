"""Every list of a page is bounded: links, notes, form fields, bitmaps, drawings, fonts, text; each with 10^5 entries.

What takes longer than `SECONDS` on a slow machine would be a limit that is none: without limits links alone take
minutes (PyMuPDF looks each one up in the list of all), form fields a gigabyte.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable

import pymupdf
import pytest

from pmo_assets.pipeline.articles.front_page import read_front_matter
from pmo_assets.pipeline.figures.page import (
    MAX_ANNOTATIONS_PER_PAGE,
    MAX_BITMAPS_PER_PAGE,
    PageLimit,
    PageLimits,
    link_targets,
    loaded_page,
    open_pdf,
    page_content,
)

MANY = 100_000
SECONDS = 60.0
"""Generous: each takes a second or two; what was not bounded took three minutes and more."""

URI = "/A<</S/URI/URI(https://doi.org/10.1000/1)>>"


def _new() -> tuple[pymupdf.Document, pymupdf.Page]:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 72), "Figure 1. Fundus of the left eye.")
    return document, page


def annotated(subtype: str, extra: str, count: int, *, indirect: bool) -> bytes:
    """A page with annotations, each written where it is listed or as an object of its own."""
    document, page = _new()
    text = f"<</Type/Annot/Subtype/{subtype}/Rect[10 10 20 20]{extra}>>"
    entries = []
    for _ in range(count):
        if indirect:
            number = document.get_new_xref()
            document.update_object(number, text)
            entries.append(f"{number} 0 R")
        else:
            entries.append(text)
    listed = document.get_new_xref()
    document.update_object(listed, f"[{' '.join(entries)}]")
    document.xref_set_key(page.xref, "Annots", f"{listed} 0 R")
    return bytes(document.tobytes())


def drawn(instructions: str, count: int, resources: Callable[[pymupdf.Document], str] | None = None) -> bytes:
    """A page whose content ends with the same instructions many times."""
    document, page = _new()
    number = document.get_new_xref()
    document.update_object(number, "<<>>")
    document.update_stream(number, (instructions * count).encode(), new=True)
    before = document.xref_get_key(page.xref, "Contents")[1].strip("[]")
    document.xref_set_key(page.xref, "Contents", f"[{before} {number} 0 R]")
    if resources is not None:
        document.xref_set_key(page.xref, "Resources", resources(document))
    return bytes(document.tobytes())


def _bitmap(document: pymupdf.Document) -> str:
    number = document.get_new_xref()
    document.update_object(
        number, "<</Type/XObject/Subtype/Image/Width 2/Height 2/ColorSpace/DeviceGray/BitsPerComponent 8>>"
    )
    document.update_stream(number, b"\0\1\2\3", new=True)
    return f"<</XObject<</I {number} 0 R>>>>"


def _fonts(document: pymupdf.Document) -> str:
    fonts = " ".join(f"/F{k} <</Type/Font/Subtype/Type1/BaseFont/Helvetica>>" for k in range(MANY))
    return f"<</Font<<{fonts}>>>>"


PAGES: dict[str, Callable[[], bytes]] = {
    "links": functools.partial(annotated, "Link", URI, MANY, indirect=False),
    "links of their own": functools.partial(annotated, "Link", URI, 20_000, indirect=True),
    "links just allowed": functools.partial(annotated, "Link", URI, MAX_ANNOTATIONS_PER_PAGE, indirect=True),
    "named destinations": functools.partial(annotated, "Link", "/A<</S/GoTo/D(x)>>", 20_000, indirect=True),
    "notes": functools.partial(annotated, "Text", "/Contents(x)", MANY, indirect=False),
    "form fields": functools.partial(annotated, "Widget", "/FT/Tx/T(a)", MANY, indirect=False),
    "drawings": functools.partial(drawn, "1 1 5 5 re f ", MANY),
    "clip paths": functools.partial(drawn, "q 1 1 50 50 re W n 1 1 5 5 re f Q ", MANY),
    "nested clip paths": functools.partial(drawn, "q 1 1 50 50 re W n ", MANY),
    "text": functools.partial(drawn, "BT /helv 5 Tf 10 10 Td (abc) Tj ET ", MANY),
    "fonts": functools.partial(drawn, "BT /F9 5 Tf 10 10 Td (abc) Tj ET ", 1, _fonts),
    "bitmaps": functools.partial(drawn, "q 10 0 0 10 50 50 cm /I Do Q ", MANY, _bitmap),
    "bitmaps just allowed": functools.partial(drawn, "q 10 0 0 10 50 50 cm /I Do Q ", MAX_BITMAPS_PER_PAGE, _bitmap),
}


@pytest.mark.faults
@pytest.mark.parametrize("kind", PAGES)
def test_a_page_with_a_hundred_thousand_of_anything_takes_seconds(kind: str) -> None:
    pdf = PAGES[kind]()
    started = time.monotonic()
    read_front_matter(pdf)
    document = open_pdf(pdf)
    try:
        content = page_content(loaded_page(document, 0))
        # MuPDF gives up a page whose clip paths lie in one another by the thousand
        assert kind == "nested clip paths" or content.lines[0].text == "Figure 1. Fundus of the left eye."
    except PageLimit:
        assert kind == "bitmaps"
    assert time.monotonic() - started < SECONDS


def test_a_page_with_too_many_annotations_is_read_without_them() -> None:
    document = open_pdf(annotated("Link", URI, MAX_ANNOTATIONS_PER_PAGE + 1, indirect=False))
    page = loaded_page(document, 0)
    assert link_targets(page, 10) == []
    assert page_content(page).lines[0].text == "Figure 1. Fundus of the left eye."


def test_links_lead_where_they_say() -> None:
    document, page = _new()
    document.new_page()
    page = document[0]
    place = pymupdf.Rect(10, 10, 20, 20)
    page.insert_link({"kind": pymupdf.LINK_URI, "from": place, "uri": "https://doi.org/10.1000/1"})
    page.insert_link({"kind": pymupdf.LINK_GOTO, "from": place, "page": 1})
    page.insert_link({"kind": pymupdf.LINK_LAUNCH, "from": place, "file": "/etc/passwd"})
    page.insert_link({"kind": pymupdf.LINK_URI, "from": place, "uri": "mailto:author@example.org"})
    loaded = loaded_page(open_pdf(document.tobytes()), 0)
    assert link_targets(loaded, 10) == ["https://doi.org/10.1000/1", "mailto:author@example.org"]
    assert link_targets(loaded, 1) == ["https://doi.org/10.1000/1"]


def test_a_page_with_too_many_bitmaps_is_refused() -> None:
    document = open_pdf(drawn("q 10 0 0 10 50 50 cm /I Do Q ", 11, _bitmap))
    with pytest.raises(PageLimit, match="page 1 has 11 bitmaps, more than 10"):
        page_content(loaded_page(document, 0), PageLimits(bitmaps=10))
