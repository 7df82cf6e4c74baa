"""Scanned pages: one picture for the whole page, at best with invisible text from an OCR programme.

Belongs here: telling a scan, and finding the graphics in its pixels, so that layout analysis sees a page like any
other. Does not belong here: reading text; a scan without a text layer has captions for nobody, its figures are found
by `registration` alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.figures.page import BitmapPlacement, PageContent
from pmo_assets.records.geometry import Box, area, expand, width

SCAN_SHARE = 0.85
"""Bitmaps that cover so much of a page, strips and layers together, are the page itself."""

SCAN_DPI = 72.0
"""Resolution at which the graphics of a scan are looked for: one pixel a point."""

MIN_TEXT_LINES = 3
"""Fewer lines over a picture of the page's size are labels of a full-page figure."""

MAX_DRAWINGS = 20
"""Scans have no vector drawings; a stamp or rules of the archive are no reason to take a page for a typeset one."""

MIN_BACKGROUNDS = 2
"""Pages that show the same picture in the page's size before it counts as background."""

_PAPER_STEP = 40
"""Gray levels below the paper at which something is ink: yellowed paper and show-through stay above."""

_JOIN = 7
"""Ink closer than this (points) is one graphic: about half a line, as `regions.atoms.TOUCH`."""

_MIN_GRAPHIC = 15.0
"""Specks, and letters that the OCR missed, are smaller (points) in one direction."""


def scan_of(page: PageContent) -> BitmapPlacement | None:
    """Return the bitmap that is the page itself, None for a typeset page.

    A scan in strips or layers gives the one of highest resolution.
    """
    wide = [bitmap for bitmap in page.bitmaps if width(bitmap.bbox) >= SCAN_SHARE * page.width]
    covering = sum({tuple(round(edge) for edge in bitmap.bbox): area(bitmap.bbox) for bitmap in wide}.values())
    if covering < SCAN_SHARE * page.width * page.height or int((~page.white).sum()) > MAX_DRAWINGS:
        return None
    if len(page.bitmaps) > len(wide):
        return None  # further pictures lie on it: it is a background
    if 0 < len(page.lines) < MIN_TEXT_LINES:
        return None
    return max(wide, key=lambda bitmap: bitmap.dpi)


def with_scan(page: PageContent, gray: Callable[[], NDArray[np.uint8]]) -> PageContent:
    """Return a scanned page with its graphics in place of the scan; other pages as they are.

    Args:
        page: as read.
        gray: renders the page at `SCAN_DPI`, uint8 (h, w); called for scans with text only.
    """
    scan = scan_of(page)
    if scan is None:
        return page
    found = scanned_graphics(gray(), [line.bbox for line in page.lines]) if page.lines else []
    boxes = np.array(found, dtype=np.float64).reshape(-1, 4)
    return replace(
        page,
        bitmaps=(),
        scan=scan,
        drawings=np.concatenate([page.drawings, boxes]),
        white=np.concatenate([page.white, np.zeros(len(boxes), dtype=bool)]),
    )


def without_backgrounds(pages: Sequence[PageContent]) -> list[PageContent]:
    """Leave out the picture of the page's size that lies behind text on several pages: paper colour, watermark.

    It is the same picture everywhere; full-page figures have sizes of their own and little else on their page.
    """

    def behind(page: PageContent) -> list[BitmapPlacement]:
        if page.scan is not None or len(page.lines) < MIN_TEXT_LINES:
            return []
        return [b for b in page.bitmaps if area(b.bbox) >= SCAN_SHARE * page.width * page.height]

    sizes = Counter((b.native_width, b.native_height) for page in pages for b in behind(page)[:1])
    common = {size for size, count in sizes.items() if count >= MIN_BACKGROUNDS}
    if not common:
        return list(pages)
    kept = []
    for page in pages:
        found = [b for b in behind(page) if (b.native_width, b.native_height) in common]
        kept.append(replace(page, bitmaps=tuple(b for b in page.bitmaps if b not in found)) if found else page)
    return kept


def scanned_graphics(gray: NDArray[np.uint8], lines: list[Box]) -> list[Box]:
    """Return boxes (points) around connected ink that is not text.

    Args:
        gray: uint8 (h, w), one pixel a point.
        lines: text lines (points).
    """
    paper = int(np.median(gray))
    ink = (gray < paper - _PAPER_STEP).astype(np.uint8)
    for box in lines:
        x0, y0, x1, y1 = (round(edge) for edge in expand(box, 1.0))
        ink[max(y0, 0) : max(y1, 0), max(x0, 0) : max(x1, 0)] = 0
    # Specks and the dark edge of a page that lay askew are not part of anything.
    edge = 6
    ink[:edge], ink[-edge:], ink[:, :edge], ink[:, -edge:] = 0, 0, 0, 0
    joined = cv2.morphologyEx(ink, cv2.MORPH_CLOSE, np.ones((_JOIN, _JOIN), dtype=np.uint8))
    _, _, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=8)
    return [
        (float(x), float(y), float(x + w), float(y + h))
        for x, y, w, h, _ in stats[1:].tolist()
        if max(w, h) >= _MIN_GRAPHIC and min(w, h) >= 3
    ]
