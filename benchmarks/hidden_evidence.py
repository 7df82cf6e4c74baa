"""Article packages from which a source of evidence was taken away, as articles come that never had it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal, get_args

import pymupdf
from figure_registration import scan

from pmo_assets.annotation.annotations import AnnotatedArticle

Hidden = Literal["xml", "pictures", "live-figures", "text", "scan"]
"""What is taken away: the XML; the package's pictures; bitmaps, strokes and live text of figures, which become flat
JPEGs; the text layer, of pages as sharp as a PDF made from paper can be; the same of pages as scanners leave them."""

HIDDEN: tuple[Hidden, ...] = get_args(Hidden)
SHARP_DPI, SCAN_DPI, FLAT_DPI = 300, 150, 200
FLAT_QUALITY = 80


def flat_figures(pdf: bytes, article: AnnotatedArticle) -> bytes:
    """Return the document with one JPEG in place of each figure."""
    with pymupdf.open(stream=pdf) as document:
        for page in document:
            frames = [
                pymupdf.Rect(place.bbox)
                for figure in article.figures
                for place in figure.figure_locations
                if place.page == page.number
            ]
            pictures = [page.get_pixmap(dpi=FLAT_DPI, clip=frame).tobytes("jpeg", FLAT_QUALITY) for frame in frames]
            for frame in frames:
                page.add_redact_annot(frame)
            if frames:
                page.apply_redactions(
                    images=pymupdf.PDF_REDACT_IMAGE_REMOVE, graphics=pymupdf.PDF_REDACT_LINE_ART_REMOVE_IF_COVERED
                )
            for frame, picture in zip(frames, pictures, strict=True):
                page.insert_image(frame, stream=picture, keep_proportion=False)
        return bytes(document.tobytes(garbage=3, deflate=True))


def package_without(folder: Path, hidden: frozenset[Hidden], article: AnnotatedArticle, target: Path) -> Path:
    """Copy a package into a folder without what is hidden, and return the copy."""
    copy = target / folder.name
    shutil.copytree(folder, copy)
    if "xml" in hidden:
        (copy / "article.xml").unlink(missing_ok=True)
    if "pictures" in hidden:
        shutil.rmtree(copy / "figures", ignore_errors=True)
    pdf = copy / "article.pdf"
    if not hidden & {"live-figures", "text", "scan"}:
        return copy
    content = pdf.read_bytes()
    if "live-figures" in hidden:
        content = flat_figures(content, article)
    if hidden & {"text", "scan"}:
        content = scan(content, with_text=False, dpi=SCAN_DPI if "scan" in hidden else SHARP_DPI)
    pdf.write_bytes(content)
    return copy
