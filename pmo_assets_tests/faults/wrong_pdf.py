"""PDFs of another article than the XML beside them."""

from __future__ import annotations

from collections.abc import Callable

import pymupdf


def as_it_is(mine: bytes, other: bytes) -> bytes:
    """Return the other article's PDF."""
    return other


def behind_the_right_first_page(mine: bytes, other: bytes) -> bytes:
    """Return the other article behind the first page of the right one, as behind a cover sheet.

    An article of one page would stand there whole: then it is the other one as it is.
    """
    with pymupdf.open(stream=mine) as right, pymupdf.open(stream=other) as wrong:
        if right.page_count == 1:
            return other
        joined = pymupdf.open()
        joined.insert_pdf(right, to_page=0)
        joined.insert_pdf(wrong)
        return bytes(joined.tobytes())


def right_pages(mine: bytes, disguise: Callable[[bytes, bytes], bytes]) -> int:
    """Return how many pages at the beginning of a disguised PDF are the right article's own, with their figures."""
    with pymupdf.open(stream=mine) as right:
        return int(disguise is behind_the_right_first_page and right.page_count > 1)


def with_the_right_metadata(mine: bytes, other: bytes) -> bytes:
    """Return the other article's PDF with the document information and XMP of the right one."""
    with pymupdf.open(stream=mine) as right, pymupdf.open(stream=other) as wrong:
        wrong.set_metadata(right.metadata or {})
        wrong.set_xml_metadata(right.get_xml_metadata() or "")
        return bytes(wrong.tobytes())


def scanned(mine: bytes, other: bytes) -> bytes:
    """Return the other article's PDF as a scan without text."""
    return without_text(other)


def without_text(pdf: bytes) -> bytes:
    """Return a PDF as pictures of its pages."""
    with pymupdf.open(stream=pdf) as document:
        copy = pymupdf.open()
        for page in document:
            sheet = copy.new_page(width=page.rect.width, height=page.rect.height)
            sheet.insert_image(sheet.rect, stream=page.get_pixmap(dpi=100).tobytes("jpeg", jpg_quality=80))
        return bytes(copy.tobytes())


DISGUISES: tuple[Callable[[bytes, bytes], bytes], ...] = (
    as_it_is, behind_the_right_first_page, with_the_right_metadata, scanned
)  # fmt: skip
