"""Page furniture: running heads, page numbers, marginal notes, logos and rules that come back from page to page."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence, Set

from pmo_assets.pipeline.figures.page import LineKey, PageContent
from pmo_assets.pipeline.figures.running_text import TextStyle
from pmo_assets.records.geometry import centre, height

EDGE = 0.12
"""Part of the page's height, at top and bottom, in which text that repeats may be a running head or page number."""

SIDE_EDGE = 0.1
"""Part of the page's width, at left and right, in which sideways text that repeats may be a marginal note."""

PLACE = 4
"""Points within which a line's place is the same on another page."""

SHORT_DOCUMENT = 6
"""Pages of a document in which `LEAST_PAGES` equal places are enough; in longer ones it takes one more."""

LEAST_PAGES = 2
"""Pages that have the same text, or graphics, at the same place."""

FRAME_SLACK = 1.0
"""Points by which furniture may reach into the frame of running text: line boxes are higher than letters ..."""

GRAPHICS_SLACK = 2.0
"""... and rules below a running head may touch the first line's box."""

MAX_FURNITURE_HEIGHT = 0.1
"""Part of the page's height; what is higher in a margin is a picture."""

_SECOND_GRID = 100_000
"""Tells places of the second grid from those of the first."""

_IDENTIFIER = re.compile(r"^\W?[A-Za-z]\W?$")
"""A panel identifier at the top of a page comes back on other pages like a running head."""


def repeated_lines(pages: Sequence[PageContent]) -> set[LineKey]:
    """Return text near the page edge that repeats at its place from page to page (digits may change)."""
    seen: dict[tuple[str, int], set[int]] = defaultdict(set)
    keys: dict[tuple[str, int], list[LineKey]] = defaultdict(list)
    for page in pages:
        for i, line in enumerate(page.lines):
            y = centre(line.bbox)[1]
            outside = y < EDGE * page.height or y > (1 - EDGE) * page.height
            sideways = line.quarter_turns % 2 == 1 and not (
                SIDE_EDGE * page.width < line.bbox[0] < (1 - SIDE_EDGE) * page.width
            )
            if not (outside or sideways):
                continue
            pattern = re.sub(r"\d+", "#", line.text)
            # Two grids, so that no place is on the edge of both.
            for place in (round(y / PLACE), round(y / PLACE + 0.5) + _SECOND_GRID):
                seen[pattern, place].add(page.index)
                keys[pattern, place].append((page.index, i))
    least = LEAST_PAGES if len(pages) <= SHORT_DOCUMENT else LEAST_PAGES + 1
    return {key for entry, where in seen.items() if len(where) >= least for key in keys[entry]}


def furniture_lines(pages: Sequence[PageContent], repeated: Set[LineKey], style: TextStyle) -> set[LineKey]:
    """Return running heads, page numbers and marginal notes: repeated text outside the frame of the running text."""
    furniture = set()
    for p, i in sorted(repeated):
        line = pages[p].lines[i]
        if _IDENTIFIER.match(line.text):
            continue
        if (
            line.quarter_turns % 2 == 1
            or line.bbox[3] <= style.top + FRAME_SLACK
            or line.bbox[1] >= style.bottom - FRAME_SLACK
        ):
            furniture.add((p, i))
    return furniture


def furniture_graphics(pages: Sequence[PageContent], style: TextStyle) -> set[tuple[float, ...]]:
    """Return places (rounded boxes) of logos and rules in the head or foot of several pages."""
    places: dict[tuple[float, ...], set[int]] = defaultdict(set)
    for page in pages:
        boxes = [bitmap.bbox for bitmap in page.bitmaps]
        if len(page.drawings):
            margin = (page.drawings[:, 3] < style.top) | (page.drawings[:, 1] > style.bottom)
            boxes += [(a, b, c, d) for a, b, c, d in page.drawings[margin].tolist()]
        for box in boxes:
            outside = box[3] <= style.top + GRAPHICS_SLACK or box[1] >= style.bottom - GRAPHICS_SLACK
            if outside and height(box) < MAX_FURNITURE_HEIGHT * page.height:
                places[tuple(round(v) for v in box)].add(page.index)
    return {place for place, where in places.items() if len(where) >= LEAST_PAGES}
