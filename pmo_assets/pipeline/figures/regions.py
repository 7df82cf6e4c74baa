"""Which part of each page is which figure: graphics and their text, assigned to captions for a whole page at once.

Three steps. (1) `page_layouts` says what each line and each graphic is: running text, caption, page furniture, table,
or possibly part of a figure; touching graphics become atoms. (2) For each caption and each side of it, the atoms are
collected that can be reached without crossing running text or a caption. (3) The sides of all captions of a page are
chosen together, so that every caption gets graphics, none is left over, and no two figures overlap.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from pmo_assets.pipeline.figures.caption_location import CaptionLocation, LineKey, LocatedCaptions, body_style
from pmo_assets.pipeline.figures.page import PageContent, TextLine, turned_box, turned_page
from pmo_assets.records.figure import PageBox
from pmo_assets.records.geometry import (
    Box,
    area,
    centre,
    contains,
    covered_fraction,
    expand,
    height,
    intersection,
    union_box,
    width,
)

TOUCH = 6.0
"""Graphics closer than this (points) are one atom: about half a line, less than any column gutter or caption gap."""

MAX_ATOMS = 150
"""Pages with more atoms (scattered symbols) are clustered with a larger gap."""

TABLE_GAP = 24.0
"""Largest vertical gap (points) between rows of one table: two lines."""

SMALL_ATOM = 15.0
"""An atom smaller than this (points) in both directions, such as an icon or a fraction bar, joins a figure only when
it is as close."""

NEIGHBOUR_GAP = 144.0
"""Atoms further than two inches from the rest of a figure are another thing, even with nothing in between: legends
and text rows inside a figure can leave over an inch without graphics."""

TEXT_REACH = 1.6
"""Text belongs to a figure up to so many font sizes away: a line that is set off by one empty half-line."""

LETTER_REACH = 2.2
"""Letters and numbers alone (identifiers, labels of arrows) belong to a figure from further away: no heading or
running text is that short."""

FRAME_BAND = 6.0
"""Lines and corners within so many points of a frame's edge are the frame."""

LEFTOVER_SHARE = 0.03
"""Graphics that cover less of a page are not looked at when a caption's figure is on the facing page."""

MIN_TEXT_FIGURE_LINES = 3
"""Lines of a block of text that may be a figure by itself."""

TEXT_FIGURE_GAP = 4.0
"""Such a block is at most so many font sizes away from its caption."""

SIDES = ("above", "below", "left", "right")
"""Where the figure lies seen from its caption."""

_SIDE_PRIOR = {"above": 0.30, "below": 0.15, "left": 0.1, "right": 0.1}
_MAX_COMBINATIONS = 4096

_IDENTIFIER = re.compile(r"^\W?[A-Za-z]\W?$")
"""A panel identifier at the top of a page comes back on other pages like a running head."""

ALIGNED = 1.0
"""Graphics whose edges agree within a point stand in one row or column of a grid."""

_GRID_BONUS = 0.25
"""What it is worth to leave the grids of a page whole: less than any figure, more than a few lines of distance."""


@dataclass(frozen=True, slots=True)
class FigureRegion:
    """Where a figure lies.

    Attributes:
        caption: its (first) caption.
        boxes: one per page, in page order, points as displayed; around placements, paths and text boxes, so ink may
            begin a little further inside.
        side: where the figure lies seen from its caption: one of `SIDES`, "page" for a neighbouring page, "text" for
            a figure that is nothing but text, or "picture" when its package picture says where it is.
        confidence: 0..1.
        lines: the text lines that belong to it.
    """

    caption: CaptionLocation
    boxes: tuple[PageBox, ...]
    side: str
    confidence: float
    lines: tuple[LineKey, ...]


@dataclass(frozen=True, slots=True)
class LocatedRegions:
    """Regions in the order of their captions, and the captions without any graphics."""

    regions: tuple[FigureRegion, ...]
    without_region: tuple[CaptionLocation, ...]


@dataclass(slots=True)
class _Caption:
    location: CaptionLocation
    anchors: list[Box]
    is_figure: bool


@dataclass(slots=True)
class _Layout:
    """A page in its reading direction, with everything classified; boxes are in the turned page."""

    page: PageContent
    turns: int
    original: PageContent
    captions: list[_Caption]
    atoms: list[Box]
    grids: list[tuple[int, ...]]
    barriers: NDArray[np.float64]
    texts: list[tuple[LineKey, Box, float]]
    body_lines: int
    body_size: float
    column: float
    used: set[int] = field(default_factory=set)

    def displayed(self, box: Box) -> Box:
        w, h = self.page.width, self.page.height
        return turned_box(box, -self.turns, w, h)


@dataclass(frozen=True, slots=True)
class _Style:
    """What running text looks like in this document."""

    size: float
    fonts: frozenset[tuple[float, str]]
    lefts: tuple[float, ...]
    column: float
    top: float
    bottom: float


def figure_regions(pages: Sequence[PageContent], located: LocatedCaptions) -> LocatedRegions:
    """Assign graphics to captions.

    Args:
        pages: all pages of the document, in order.
        located: their captions.
    """
    layouts = _layouts(pages, located)
    prior = dict(_SIDE_PRIOR)
    # The side that most figures of a document use decides its ambiguous pages.
    first = [_page_assignment(layout, prior) for layout in layouts]
    sides = Counter(side for page in first for side, _ in page.values())
    if sides:
        common, count = max(sides.items(), key=lambda item: (item[1], item[0]))
        if count >= 2:
            prior[common] += 0.5
            first = [_page_assignment(layout, prior) for layout in layouts]
    parts: dict[int, list[_Part]] = defaultdict(list)
    order = {id(caption): k for k, caption in enumerate(located.captions)}
    for layout, chosen in zip(layouts, first, strict=True):
        for k, part in _grown_parts(layout, chosen).items():
            location = layout.captions[k].location
            if id(location) in order:
                parts[order[id(location)]].append(part)
    _assign_other_pages(layouts, located, parts)
    _assign_text_figures(layouts, located, parts, prior)
    return _joined_regions(located, parts)


# --- what is on the pages ---------------------------------------------------------------------------------------------


def _document_style(pages: Sequence[PageContent], ignored: set[LineKey]) -> _Style:
    """Learn the look of running text from long lines, leaving out captions and running heads (`ignored`)."""
    size, _ = body_style(pages)
    weights: Counter[tuple[float, str]] = Counter()
    lefts: Counter[float] = Counter()
    widths: list[float] = []
    tops: list[float] = []
    bottoms: list[float] = []
    for page in pages:
        long_lines = [
            line
            for i, line in enumerate(page.lines)
            if len(line.text) >= 30 and line.quarter_turns == 0 and (page.index, i) not in ignored
        ]
        for line in long_lines:
            weights[_font_key(line)] += len(line.text)
            if abs(line.size - size) <= 0.4:
                lefts[round(line.bbox[0])] += 1
                widths.append(width(line.bbox))
        running = [line for line in long_lines if abs(line.size - size) <= 0.4]
        if len(running) >= 5:
            tops.append(min(line.bbox[1] for line in running))
            bottoms.append(max(line.bbox[3] for line in running))
    total = sum(weights.values())
    fonts = frozenset(style for style, count in weights.items() if count >= 0.03 * total)
    common = tuple(sorted(x for x, count in lefts.items() if count >= 0.04 * len(widths)))
    column = float(np.median(widths)) if widths else 200.0
    # Many pages begin or end with a figure, so the extremes tell where the text frame is; the outermost tenth of the
    # pages is left out because of mastheads and licence notes.
    top = float(np.quantile(tops, 0.1, method="lower")) if tops else 0.0
    bottom = float(np.quantile(bottoms, 0.9, method="higher")) if bottoms else 1e9
    return _Style(size, fonts, common, column, top, bottom)


def _font_key(line: TextLine) -> tuple[float, str]:
    return (round(line.size * 2) / 2, line.font)


def _repeated_lines(pages: Sequence[PageContent]) -> set[LineKey]:
    """Return text near the page edge that repeats at its place from page to page (digits may change)."""
    seen: dict[tuple[str, int], set[int]] = defaultdict(set)
    keys: dict[tuple[str, int], list[LineKey]] = defaultdict(list)
    for page in pages:
        for i, line in enumerate(page.lines):
            y = centre(line.bbox)[1]
            outside = y < 0.12 * page.height or y > 0.88 * page.height
            sideways = line.quarter_turns % 2 == 1 and not 0.1 * page.width < line.bbox[0] < 0.9 * page.width
            if not (outside or sideways):
                continue
            pattern = re.sub(r"\d+", "#", line.text)
            for place in (round(y / 4), round(y / 4 + 0.5) + 100_000):  # two grids, so that no place is on an edge
                seen[pattern, place].add(page.index)
                keys[pattern, place].append((page.index, i))
    least = 2 if len(pages) <= 6 else 3
    return {key for entry, where in seen.items() if len(where) >= least for key in keys[entry]}


def _furniture_lines(pages: Sequence[PageContent], repeated: set[LineKey], style: _Style) -> set[LineKey]:
    """Return running heads, page numbers and marginal notes: repeated text outside the frame of the running text."""
    furniture = set()
    for p, i in sorted(repeated):
        line = pages[p].lines[i]
        if _IDENTIFIER.match(line.text):
            continue
        if line.quarter_turns % 2 == 1 or line.bbox[3] <= style.top + 1 or line.bbox[1] >= style.bottom - 1:
            furniture.add((p, i))
    return furniture


def _furniture_graphics(pages: Sequence[PageContent], style: _Style) -> set[tuple[float, ...]]:
    """Return places (rounded boxes) of logos and rules in the head or foot of several pages."""
    places: dict[tuple[float, ...], set[int]] = defaultdict(set)
    for page in pages:
        boxes = [bitmap.bbox for bitmap in page.bitmaps]
        if len(page.drawings):
            margin = (page.drawings[:, 3] < style.top) | (page.drawings[:, 1] > style.bottom)
            boxes += [(a, b, c, d) for a, b, c, d in page.drawings[margin].tolist()]
        for box in boxes:
            outside = box[3] <= style.top + 2 or box[1] >= style.bottom - 2
            if outside and height(box) < 0.1 * page.height:
                places[tuple(round(v) for v in box)].add(page.index)
    return {place for place, where in places.items() if len(where) >= 2}


def _layouts(pages: Sequence[PageContent], located: LocatedCaptions) -> list[_Layout]:
    everything = [*located.captions, *located.others]
    caption_keys = {key for caption in everything for key in caption.lines}
    repeated = _repeated_lines(pages) - caption_keys
    style = _document_style(pages, caption_keys | repeated)
    furniture = _furniture_lines(pages, repeated, style)
    places = _furniture_graphics(pages, style)
    by_page: dict[int, list[CaptionLocation]] = defaultdict(list)
    for caption in everything:
        for box in caption.boxes:
            by_page[box.page].append(caption)
    return [_layout(page, by_page[page.index], style, furniture, places) for page in pages]


def _layout(
    original: PageContent,
    locations: Sequence[CaptionLocation],
    style: _Style,
    furniture: set[LineKey],
    places: set[tuple[float, ...]],
) -> _Layout:
    directions = Counter(c.quarter_turns for c in locations if c.kind == "figure")
    turns = max(directions.items(), key=lambda item: (item[1], -item[0]))[0] if directions else 0
    page = turned_page(original, turns)
    caption_lines: set[int] = set()
    captions = []
    for location in locations:
        mine = [i for p, i in location.lines if p == page.index]
        caption_lines.update(mine)
        anchors = _caption_anchors([page.lines[i].bbox for i in mine])
        # A caption's continuation on a second page has its figure on the first.
        is_first = location.boxes[0].page == page.index
        captions.append(_Caption(location, anchors, location.kind == "figure" and is_first))
    body = _body_lines(page, style, caption_lines)
    headings = _headings(page, style, body, caption_lines)
    tables = _table_areas(page, [c for c in captions if c.location.kind == "table"], body, caption_lines)
    graphics = _graphics(page, original, body, caption_lines, tables, places, style)
    texts = []
    barriers = []
    for i, line in enumerate(page.lines):
        key = (page.index, i)
        if i in caption_lines | body | headings or any(covered_fraction(line.bbox, table) > 0.5 for table in tables):
            barriers.append(_core(line))
        elif key not in furniture and line.text.strip():
            texts.append((key, line.bbox, line.size))
    barriers += tables
    atoms = _atoms(graphics, page)
    walls = np.array(barriers, dtype=np.float64).reshape(-1, 4)
    return _Layout(
        page=page,
        turns=turns,
        original=original,
        captions=captions,
        atoms=atoms,
        grids=_grids(atoms, walls),
        barriers=walls,
        texts=texts,
        body_lines=len(body),
        body_size=style.size,
        column=style.column,
    )


def _core(line: TextLine) -> Box:
    """Return the middle of a line's box: line boxes reach into their neighbours, the letters' bodies do not."""
    x0, y0, x1, y1 = line.bbox
    trim = 0.25 * (y1 - y0)
    return (x0, y0 + trim, x1, y1 - trim)


def _caption_anchors(boxes: Sequence[Box]) -> list[Box]:
    """Split a caption's lines where it runs over columns; return one box per connected run."""
    anchors: list[Box] = []
    for box in boxes:
        if anchors:
            last = anchors[-1]
            gap = max(box[1] - last[3], last[1] - box[3], box[0] - last[2], last[0] - box[2])
            if gap < 2 * height(box):
                anchors[-1] = union_box([last, box])
                continue
        anchors.append(box)
    return anchors


def _body_lines(page: PageContent, style: _Style, caption_lines: set[int]) -> set[int]:
    """Return the lines of running text: a body font, in paragraphs about as wide as a column."""
    body: set[int] = set()
    blocks: dict[int, list[int]] = defaultdict(list)
    for i, line in enumerate(page.lines):
        if i not in caption_lines:
            blocks[line.block].append(i)
    for members in blocks.values():
        wide = {
            _font_key(page.lines[i])
            for i in members
            if len(page.lines[i].text) >= 30
            and width(page.lines[i].bbox) >= 0.6 * style.column
            and _font_key(page.lines[i]) in style.fonts
        }
        for i in members:
            line = page.lines[i]
            font = _font_key(line)
            at_margin = any(abs(line.bbox[0] - x) <= 1.5 for x in style.lefts)
            short_end = font in style.fonts and at_margin and len(line.text) >= 12 and abs(line.size - style.size) < 0.4
            if (wide and (font in wide or (abs(line.size - style.size) < 0.4 and at_margin))) or short_end:
                body.add(i)
    return body


def _headings(page: PageContent, style: _Style, body: set[int], caption_lines: set[int]) -> set[int]:
    """Return the lines that stand directly above running text, at its left edge and in another style."""
    headings: set[int] = set()
    first_lines = [page.lines[i].bbox for i in body]
    # From the bottom up, so that a heading of several lines, or one above another, is followed to its top.
    for i in sorted(range(len(page.lines)), key=lambda i: -page.lines[i].bbox[3]):
        line = page.lines[i]
        if i in body or i in caption_lines or line.quarter_turns:
            continue
        is_styled = line.bold or line.size > style.size + 0.4 or _font_key(line) not in style.fonts
        if not is_styled or line.size < style.size - 0.4 or sum(c.isalpha() for c in line.text) < 4:
            continue
        for box in first_lines:
            gap = box[1] - line.bbox[3]
            is_aligned = abs(box[0] - line.bbox[0]) <= 1.5
            if is_aligned and -0.5 * line.size <= gap <= line.size and box[1] > line.bbox[1] + 0.5 * line.size:
                headings.add(i)
                first_lines.append(line.bbox)
                break
    return headings


def _table_areas(page: PageContent, captions: Sequence[_Caption], body: set[int], caption_lines: set[int]) -> list[Box]:
    """Return the areas of tables: from the table's caption down to its last rule.

    Rows follow each other closely; running text, another caption or a bitmap ends the table.
    """
    areas = []
    for caption in captions:
        start = caption.anchors[0]
        if not re.match(r"\W*tab", caption.location.label or "", re.IGNORECASE):
            continue
        items: list[tuple[Box, str]] = []
        for i, line in enumerate(page.lines):
            if i not in caption_lines:
                items.append((line.bbox, "body" if i in body else "row"))
            elif not any(covered_fraction(line.bbox, anchor) > 0.5 for anchor in caption.anchors):
                items.append((line.bbox, "stop"))
        items += [(b.bbox, "stop") for b in page.bitmaps if min(width(b.bbox), height(b.bbox)) > 40]
        items += [((a, b, c, d), "rule") for a, b, c, d in page.drawings.tolist()]
        items = [item for item in items if item[0][1] >= start[1] - 2]
        items.sort(key=lambda item: (item[0][1], item[0][0]))
        around = start
        closed: Box | None = None
        for box, kind in items:
            if min(box[2], around[2]) - max(box[0], around[0]) <= 0:
                continue
            if kind in ("stop", "body") and box[3] > start[3]:
                break
            if box[1] - around[3] > TABLE_GAP:
                break
            around = union_box([around, box])
            if kind == "rule" and width(box) > 0.4 * width(around):
                closed = around
        if closed is not None:
            closed = _with_notes(closed, [box for box, kind in items if kind == "row"])
            areas.append((closed[0], start[3] + 0.5, closed[2], closed[3] + 0.5))
    return [box for box in areas if height(box) > 0]


def _with_notes(table: Box, rows: Sequence[Box]) -> Box:
    """Extend a table by the notes below its last rule: lines that begin at its left edge and follow closely."""
    for box in rows:
        gap = box[1] - table[3]
        if -0.5 * height(box) <= gap <= 0.8 * height(box) and table[0] - 2 <= box[0] <= table[0] + 2 * height(box):
            table = union_box([table, box])
    return table


def _graphics(
    page: PageContent,
    original: PageContent,
    body: set[int],
    caption_lines: set[int],
    tables: Sequence[Box],
    places: set[tuple[float, ...]],
    style: _Style,
) -> NDArray[np.float64]:
    """Return the boxes (n, 4) of bitmaps and paths that may belong to a figure."""
    caption_boxes = np.array([_core(page.lines[i]) for i in sorted(caption_lines)]).reshape(-1, 4)
    body_boxes = np.array([_core(page.lines[i]) for i in sorted(body)]).reshape(-1, 4)
    kept: list[Box] = []
    for bitmap, placed in zip(page.bitmaps, original.bitmaps, strict=True):
        box = bitmap.bbox
        if tuple(round(v) for v in placed.bbox) in places or min(width(box), height(box)) < 0.5:
            continue
        if area(box) > 0.5 * page.width * page.height and _count_inside(body_boxes, box) >= 3:
            continue  # the picture of a scanned page, or a background
        trimmed = _without_captions(box, caption_boxes)
        if trimmed is not None:
            kept.append(trimmed)
    visible = ~page.white & ~_frame_parts(page.drawings, caption_boxes)
    drawings = page.drawings[visible]
    placed_drawings = original.drawings[visible]
    if len(drawings):
        keep = np.ones(len(drawings), dtype=bool)
        for k in np.flatnonzero(
            (placed_drawings[:, 3] < style.top + 2) | (placed_drawings[:, 1] > style.bottom - 2)
        ).tolist():
            keep[k] = tuple(round(v) for v in placed_drawings[k].tolist()) not in places
        sizes = (drawings[:, 2] - drawings[:, 0]) * (drawings[:, 3] - drawings[:, 1])
        # Boxes behind text: they hold a caption, or lines of running text.
        for k in np.flatnonzero(keep & (sizes > 400)).tolist():
            box = (drawings[k, 0], drawings[k, 1], drawings[k, 2], drawings[k, 3])
            if _count_inside(caption_boxes, box) >= 1 or _count_inside(body_boxes, box) >= 2:
                keep[k] = False
        kept += [(a, b, c, d) for a, b, c, d in drawings[keep].tolist()]
    boxes = np.array(kept, dtype=np.float64).reshape(-1, 4)
    for table in tables:
        inside = (
            (boxes[:, 0] >= table[0] - 3)
            & (boxes[:, 1] >= table[1] - 6)
            & (boxes[:, 2] <= table[2] + 3)
            & (boxes[:, 3] <= table[3] + 3)
        )
        boxes = boxes[~inside]
    return boxes


def _frame_parts(drawings: NDArray[np.float64], caption_boxes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mark the lines and corners of frames drawn around a figure together with its caption; returns (n,) bool."""
    parts = np.zeros(len(drawings), dtype=bool)
    if not len(drawings) or not len(caption_boxes):
        return parts
    w, h = drawings[:, 2] - drawings[:, 0], drawings[:, 3] - drawings[:, 1]
    uprights = drawings[(w <= 3.0) & (h > 40.0)]
    for caption in caption_boxes:
        spans = uprights[(uprights[:, 1] < caption[1]) & (uprights[:, 3] > caption[3])]
        lefts, rights = spans[spans[:, 2] <= caption[0]], spans[spans[:, 0] >= caption[2]]
        for left in lefts:
            for right in rights:
                if abs(left[1] - right[1]) > 2 or abs(left[3] - right[3]) > 2:
                    continue
                frame = (left[0] - 1, left[1] - FRAME_BAND, right[2] + 1, left[3] + FRAME_BAND)
                inside = (
                    (drawings[:, 0] >= frame[0])
                    & (drawings[:, 1] >= frame[1])
                    & (drawings[:, 2] <= frame[2])
                    & (drawings[:, 3] <= frame[3])
                )
                in_band = (
                    (drawings[:, 2] <= frame[0] + FRAME_BAND)
                    | (drawings[:, 0] >= frame[2] - FRAME_BAND)
                    | (drawings[:, 3] <= frame[1] + 2 * FRAME_BAND)
                    | (drawings[:, 1] >= frame[3] - 2 * FRAME_BAND)
                )
                parts |= inside & in_band
    return parts


def _count_inside(boxes: NDArray[np.float64], outer: Box) -> int:
    """Count boxes whose centre lies in `outer`."""
    if not len(boxes):
        return 0
    x = (boxes[:, 0] + boxes[:, 2]) / 2
    y = (boxes[:, 1] + boxes[:, 3]) / 2
    return int(((x > outer[0]) & (x < outer[2]) & (y > outer[1]) & (y < outer[3])).sum())


def _without_captions(box: Box, caption_boxes: NDArray[np.float64]) -> Box | None:
    """Cut a bitmap whose (white) margin reaches into a caption; None if the caption lies deep inside it."""
    x0, y0, x1, y1 = box
    for left, top, right, bottom in caption_boxes.tolist():
        if right <= x0 or left >= x1 or bottom <= y0 or top >= y1:
            continue
        if min(right, x1) - max(left, x0) < 0.3 * (right - left):
            continue
        if top > y0 + 0.75 * (y1 - y0):
            y1 = top
        elif bottom < y0 + 0.25 * (y1 - y0):
            y0 = bottom
        else:
            return None
    return (x0, y0, x1, y1)


def _atoms(boxes: NDArray[np.float64], page: PageContent) -> list[Box]:
    """Cluster graphics that (almost) touch; clusters of nothing but parallel rules are separators and are dropped."""
    if not len(boxes):
        return []
    for touch in (TOUCH, 2 * TOUCH, 4 * TOUCH):
        labels = _touching(boxes, page, touch)
        count = int(labels.max()) + 1
        if count <= MAX_ATOMS:
            break
    low = np.full((count, 2), np.inf)
    high = np.full((count, 2), -np.inf)
    np.minimum.at(low, labels, boxes[:, :2])
    np.maximum.at(high, labels, boxes[:, 2:])
    w, h = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    flat = (h <= 3.0) & (w > 8 * h)
    upright = (w <= 3.0) & (h > 8 * w)
    not_flat = np.zeros(count, dtype=bool)
    not_upright = np.zeros(count, dtype=bool)
    not_flat[labels[~flat]] = True
    not_upright[labels[~upright]] = True
    atoms = []
    for k in range(count):
        if not_flat[k] and not_upright[k]:
            atoms.append((float(low[k, 0]), float(low[k, 1]), float(high[k, 0]), float(high[k, 1])))
    return atoms


def _grids(atoms: Sequence[Box], barriers: NDArray[np.float64]) -> list[tuple[int, ...]]:
    """Return the groups of atoms that stand in common rows and columns with no text between them."""
    group = list(range(len(atoms)))
    large = [k for k, atom in enumerate(atoms) if min(width(atom), height(atom)) >= SMALL_ATOM]
    for i, j in itertools.combinations(large, 2):
        if group[i] == group[j]:
            continue
        a, b = atoms[i], atoms[j]
        in_column = max(abs(a[0] - b[0]), abs(a[2] - b[2])) <= ALIGNED
        in_row = min(abs(a[1] - b[1]), abs(a[3] - b[3])) <= ALIGNED
        near = _distance(a, b) <= min(max(width(a), height(a)), NEIGHBOUR_GAP)
        if (in_column or in_row) and near and not _blocked(barriers, union_box([a, b])):
            group = [group[i] if g == group[j] else g for g in group]
    members: dict[int, list[int]] = defaultdict(list)
    for k, g in enumerate(group):
        members[g].append(k)
    return [tuple(found) for found in members.values() if len(found) > 1]


def _touching(boxes: NDArray[np.float64], page: PageContent, touch: float) -> NDArray[np.intp]:
    """Label boxes that come closer than `touch` points, on a grid of one point; returns (n,) labels from 0."""
    columns, rows = int(page.width) + 3, int(page.height) + 3
    x0 = np.clip(np.floor(boxes[:, 0] - touch / 2), 0, columns - 2).astype(np.intp)
    y0 = np.clip(np.floor(boxes[:, 1] - touch / 2), 0, rows - 2).astype(np.intp)
    x1 = np.clip(np.ceil(boxes[:, 2] + touch / 2), x0 + 1, columns - 1).astype(np.intp)
    y1 = np.clip(np.ceil(boxes[:, 3] + touch / 2), y0 + 1, rows - 1).astype(np.intp)
    # Filled rectangles by differences: each box costs four cells, whatever its size.
    change = np.zeros((rows, columns), dtype=np.int32)
    np.add.at(change, (y0, x0), 1)
    np.add.at(change, (y0, x1), -1)
    np.add.at(change, (y1, x0), -1)
    np.add.at(change, (y1, x1), 1)
    np.cumsum(change, axis=0, out=change)
    np.cumsum(change, axis=1, out=change)
    covered = change > 0
    labelled, _ = ndimage.label(covered)
    found: NDArray[np.intp] = np.unique(labelled[y0, x0], return_inverse=True)[1].astype(np.intp)
    return found


# --- which side of the caption ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Option:
    """The atoms that a caption can reach on one side, with the distance of each."""

    side: str
    anchor: Box
    distances: dict[int, float]
    gap: float


def _blocked(barriers: NDArray[np.float64], rectangle: Box) -> bool:
    """Say whether running text or a caption lies in the rectangle (more than a fifth of a line's box)."""
    if not len(barriers):
        return False
    w = np.minimum(barriers[:, 2], rectangle[2]) - np.maximum(barriers[:, 0], rectangle[0])
    h = np.minimum(barriers[:, 3], rectangle[3]) - np.maximum(barriers[:, 1], rectangle[1])
    line_w = barriers[:, 2] - barriers[:, 0]
    line_h = np.minimum(barriers[:, 3] - barriers[:, 1], 20.0)
    return bool(((w > np.minimum(0.1 * line_w, 12.0)) & (h > 0.3 * line_h)).any())


def _distance(a: Box, b: Box) -> float:
    """Return the larger of the horizontal and the vertical gap between two boxes; 0 when they touch."""
    return max(0.0, b[0] - a[2], a[0] - b[2], b[1] - a[3], a[1] - b[3])


def _on_side(anchor: Box, atom: Box, side: str, slack: float) -> float | None:
    """Return the gap from caption to atom on that side, None if the atom is not there."""
    match side:
        case "above":
            gap = anchor[1] - atom[3]
        case "below":
            gap = atom[1] - anchor[3]
        case "left":
            gap = anchor[0] - atom[2]
        case _:
            gap = atom[0] - anchor[2]
    return max(gap, 0.0) if gap >= -slack else None


def _faces(anchor: Box, atom: Box, side: str) -> bool:
    """Say whether caption and atom lie over each other (or beside each other), not diagonally."""
    low, high = (0, 2) if side in ("above", "below") else (1, 3)
    overlap = min(anchor[high], atom[high]) - max(anchor[low], atom[low])
    return overlap > 0.2 * min(anchor[high] - anchor[low], atom[high] - atom[low])


def _is_over_or_under(layout: _Layout, anchor: Box, atom: Box, side: str) -> bool:
    """Say whether an atom beside a caption's line may be its figure all the same.

    A caption of a few words starts at the left edge of the column, its figure may stand in the middle.
    """
    is_short = height(anchor) < 2 * layout.body_size and width(anchor) < 0.5 * layout.column
    gap = anchor[1] - atom[3] if side == "above" else atom[1] - anchor[3]
    return is_short and side in ("above", "below") and gap < 4 * layout.body_size and atom[0] >= anchor[0] - 1


def _caption_edge(anchor: Box, side: str) -> Box:
    """Return the edge of the caption that faces the figure, as a flat box."""
    x0, y0, x1, y1 = anchor
    match side:
        case "above":
            return (x0, y0, x1, y0)
        case "below":
            return (x0, y1, x1, y1)
        case "left":
            return (x0, y0, x0, y1)
        case _:
            return (x1, y0, x1, y1)


def _option(layout: _Layout, anchor: Box, side: str) -> _Option | None:
    """Collect the atoms on one side of a caption that text does not cut off."""
    slack = 0.5 * layout.body_size
    edge = _caption_edge(anchor, side)
    gaps = {}
    for k, atom in enumerate(layout.atoms):
        gap = _on_side(anchor, atom, side, slack)
        if gap is not None:
            gaps[k] = gap
    region: Box | None = None
    distances: dict[int, float] = {}
    nearest = 0.0
    for k in sorted(gaps, key=lambda k: (gaps[k], k)):
        atom = layout.atoms[k]
        faces = _faces(anchor, atom, side) or _is_over_or_under(layout, anchor, atom, side)
        if faces and not _blocked(layout.barriers, union_box([atom, _narrow(edge, atom)])):
            region, nearest = atom, gaps.pop(k)
            distances[k] = nearest + _aside(anchor, atom, side)
            break
    while region is not None:
        # The nearest to the region first: the next row of a figure is closer than the figure in the next column. What
        # text cuts off from the region stays cut off when that grows.
        near = [(_distance(region, layout.atoms[k]), gap, k) for k, gap in gaps.items()]
        near = [entry for entry in near if entry[0] <= _reach(layout.atoms[entry[2]])]
        if not near:
            break
        _, gap, k = min(near)
        del gaps[k]
        atom = layout.atoms[k]
        grown = union_box([region, atom])
        if not _blocked(layout.barriers, grown):
            region = grown
            distances[k] = gap + _aside(anchor, atom, side)
    return _Option(side, anchor, distances, nearest) if distances else None


def _reach(atom: Box) -> float:
    """Return how far from the rest of a figure an atom may lie."""
    return SMALL_ATOM if max(width(atom), height(atom)) < SMALL_ATOM else NEIGHBOUR_GAP


def _narrow(edge: Box, atom: Box) -> Box:
    """Cut the caption's edge to the atom's extent: text beside a narrow atom does not separate them."""
    if edge[1] == edge[3]:
        return (max(edge[0], min(atom[0], edge[2])), edge[1], min(edge[2], max(atom[2], edge[0])), edge[3])
    return (edge[0], max(edge[1], min(atom[1], edge[3])), edge[2], min(edge[3], max(atom[3], edge[1])))


def _aside(anchor: Box, atom: Box, side: str) -> float:
    """Return how far an atom lies to the side of its caption: much outside its column, a little for off centre."""
    low, high = (0, 2) if side in ("above", "below") else (1, 3)
    outside = max(0.0, atom[low] - anchor[high], anchor[low] - atom[high])
    off = abs((atom[low] + atom[high]) - (anchor[low] + anchor[high])) / 2
    return 8 * outside + 0.2 * off


def _page_assignment(layout: _Layout, prior: dict[str, float]) -> dict[int, tuple[str, tuple[int, ...]]]:
    """Choose the sides of all captions of a page together.

    Returns:
        For each caption (index in `layout.captions`) with graphics: its side and its atoms.
    """
    claimants = [k for k, caption in enumerate(layout.captions) if caption.is_figure]
    if not claimants or not layout.atoms:
        return {}
    options: list[list[_Option | None]] = []
    for k in claimants:
        found: list[_Option | None] = []
        for anchor in layout.captions[k].anchors:
            for side in SIDES:
                option = _option(layout, anchor, side)
                if option is not None and not _is_tiny(layout, option):
                    found.append(option)
        found.append(None)
        options.append(found)
    total = sum(area(atom) for atom in layout.atoms) or 1.0
    # Many captions on one page: keep each caption's best few options, so that the product stays small.
    for keep in (5, 4, 3, 2):
        if np.prod([float(len(o)) for o in options]) <= _MAX_COMBINATIONS:
            break
        options = [
            [*sorted((x for x in o if x), key=lambda x: x.gap - 100 * prior[x.side])[: keep - 1], None] for o in options
        ]
    best: tuple[float, dict[int, tuple[str, tuple[int, ...]]]] = (-np.inf, {})
    for choice in itertools.islice(itertools.product(*options), _MAX_COMBINATIONS):
        score, result = _choice_score(layout, claimants, choice, prior, total)
        if score > best[0] + 1e-9:
            best = (score, result)
    return best[1]


def _is_tiny(layout: _Layout, option: _Option) -> bool:
    """Say whether all that an option has is smaller than a figure can be (an icon, a fraction bar)."""
    box = union_box(layout.atoms[k] for k in option.distances)
    return height(box) < 2 * layout.body_size or width(box) < 2 * layout.body_size


def _choice_score(
    layout: _Layout,
    claimants: Sequence[int],
    choice: Sequence[_Option | None],
    prior: dict[str, float],
    total: float,
) -> tuple[float, dict[int, tuple[str, tuple[int, ...]]]]:
    """Return how good a choice of sides is, and which atoms each caption gets.

    An atom goes to the nearest caption; where that divides a grid, leaving it whole is tried as well.
    """
    owners: dict[int, tuple[float, int]] = {}
    for k, option in zip(claimants, choice, strict=True):
        if option is None:
            continue
        for atom, distance in option.distances.items():
            if atom not in owners or distance < owners[atom][0]:
                owners[atom] = (distance, k)
    nearest = {atom: owner for atom, (_, owner) in owners.items()}
    best = _ownership_score(layout, claimants, choice, nearest, prior, total)
    divided = [grid for grid in layout.grids if len({nearest.get(atom) for atom in grid}) > 1]
    if divided:
        whole = dict(nearest)
        for grid in divided:
            reaching = [
                (min(option.distances[atom] for atom in grid), k)
                for k, option in zip(claimants, choice, strict=True)
                if option is not None and all(atom in option.distances for atom in grid)
            ]
            if reaching:
                whole.update(dict.fromkeys(grid, min(reaching)[1]))
        if whole != nearest:
            score, result = _ownership_score(layout, claimants, choice, whole, prior, total)
            best = max(best, (score + _GRID_BONUS, result), key=lambda item: item[0])
    return best


def _ownership_score(
    layout: _Layout,
    claimants: Sequence[int],
    choice: Sequence[_Option | None],
    owners: dict[int, int],
    prior: dict[str, float],
    total: float,
) -> tuple[float, dict[int, tuple[str, tuple[int, ...]]]]:
    """Return how good it is that each atom belongs to its owner.

    Three points for each caption that gets graphics, two for using all graphics of the page, less than one for the
    usual side; a point less per 200 points of distance; overlapping figures cost as much as a lost one.
    """
    score = 2.0 * sum(area(layout.atoms[atom]) for atom in owners) / total
    result: dict[int, tuple[str, tuple[int, ...]]] = {}
    boxes: list[Box] = []
    for k, option in zip(claimants, choice, strict=True):
        if option is None:
            continue
        mine = tuple(sorted(atom for atom, owner in owners.items() if owner == k))
        if not mine:
            continue
        box = union_box(layout.atoms[atom] for atom in mine)
        result[k] = (option.side, mine)
        gap = _distance(option.anchor, box)
        score += 3.0 + prior[option.side] - gap / 200.0 - _aside(option.anchor, box, option.side) / 1000.0
        if min(height(box), width(box)) < 3 * layout.body_size:
            score -= 2.0
        for other in boxes:
            if area(intersection(box, other)) > 0.05 * min(area(box), area(other)):
                score -= 3.0
        boxes.append(box)
    return score, result


# --- from atoms to figures --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Part:
    page: int
    box: Box
    side: str
    confidence: float
    lines: tuple[LineKey, ...]


def _grown_parts(layout: _Layout, chosen: dict[int, tuple[str, tuple[int, ...]]]) -> dict[int, _Part]:
    """Add to each figure the text that belongs to it: identifiers, axis labels, legends."""
    parts = {}
    regions = {k: union_box(layout.atoms[a] for a in atoms) for k, (_, atoms) in chosen.items()}
    for _, atoms in chosen.values():
        layout.used.update(atoms)
    grown = _with_texts(layout, regions)
    for k, (side, _) in chosen.items():
        box, lines = grown[k]
        caption = layout.captions[k].location
        confidence = (0.9 if side == "above" else 0.8) * (0.7 + 0.3 * min(1.0, caption.similarity))
        parts[k] = _Part(layout.page.index, layout.displayed(box), side, confidence, lines)
    return parts


def _with_texts(layout: _Layout, regions: dict[int, Box]) -> dict[int, tuple[Box, tuple[LineKey, ...]]]:
    """Grow regions by close text lines, nearest first, as long as no caption or running text comes inside."""
    lines: dict[int, list[LineKey]] = {k: [] for k in regions}
    boxes = dict(regions)
    waiting = list(layout.texts)
    growing = True
    while growing and waiting:
        growing = False
        left_over = []
        for key, box, size in waiting:
            text = layout.page.lines[key[1]].text
            reach = (LETTER_REACH if len(text) <= 3 else TEXT_REACH) * max(size, 0.8 * layout.body_size)
            near = sorted((_distance(boxes[k], box), k) for k in boxes)
            owner = None
            if near and near[0][0] <= reach:
                k = near[0][1]
                tight = _core_box(box)
                new = union_box([boxes[k], tight])
                others = [boxes[other] for other in boxes if other != k]
                if contains(expand(boxes[k], 1.0), tight) or not (
                    _blocked(layout.barriers, new) or any(area(intersection(new, other)) > 0 for other in others)
                ):
                    owner = k
                    boxes[k] = union_box([boxes[k], box])
                    lines[k].append(key)
                    growing = True
            if owner is None:
                left_over.append((key, box, size))
        waiting = left_over
    return {k: (boxes[k], tuple(sorted(lines[k]))) for k in regions}


def _core_box(box: Box) -> Box:
    trim = 0.2 * height(box)
    return (box[0], box[1] + trim, box[2], box[3] - trim)


def _leftover(layout: _Layout) -> Box | None:
    """Return the box around a page's large unused graphics, None if there are none."""
    size = layout.page.width * layout.page.height
    boxes = [atom for k, atom in enumerate(layout.atoms) if k not in layout.used]
    boxes = [box for box in boxes if min(width(box), height(box)) >= SMALL_ATOM]
    if not boxes or sum(area(box) for box in boxes) < LEFTOVER_SHARE * size:
        return None
    box = union_box(boxes)
    return None if _blocked(layout.barriers, box) else box


def _assign_other_pages(layouts: Sequence[_Layout], located: LocatedCaptions, parts: dict[int, list[_Part]]) -> None:
    """Give captions without graphics those of another page, and join graphics-only pages to the figure they continue.

    A caption may stand on the facing page; in manuscripts all captions come first and the figures follow, one a page,
    often under their bare label.
    """
    leftovers: dict[int, Box] = {}
    for n, layout in enumerate(layouts):
        box = _leftover(layout) if n > 0 or len(layouts) == 1 else None
        if box is not None:
            leftovers[n] = box
    missing = [k for k in range(len(located.captions)) if not parts.get(k)]

    def take(k: int, n: int) -> None:
        layout = layouts[n]
        grown, lines = _with_texts(layout, {0: leftovers.pop(n)})[0]
        layout.used.update(range(len(layout.atoms)))
        box = layout.displayed(grown)
        parts[k].append(_Part(n, box, "page", 0.6, lines))

    for k in list(missing):
        number = located.captions[k].number
        named = [c for c in located.others if c.kind == "figure" and c.number == number != ""]
        for other in named:
            n = other.boxes[0].page
            if n in leftovers:
                take(k, n)
                missing.remove(k)
                break
    bare = [n for n in sorted(leftovers) if not any(c.is_figure for c in layouts[n].captions)]
    if missing and len(missing) == len(bare) == len(located.captions):
        for k, n in zip(missing, bare, strict=True):
            take(k, n)
        return
    for k in missing:
        home = located.captions[k].boxes[0].page
        for n in (home - 1, home + 1, located.captions[k].boxes[-1].page + 1):
            if n in leftovers and n in bare:
                take(k, n)
                break
    for n in sorted(leftovers):
        if n not in leftovers or n not in bare or layouts[n].body_lines > 2:
            continue
        for neighbour in (n - 1, n + 1):
            touching = [
                (k, part)
                for k, found in sorted(parts.items())
                for part in found
                if part.page == neighbour and height(part.box) > 0.5 * layouts[neighbour].original.height
            ]
            if len(touching) == 1:
                take(touching[0][0], n)
                break


def _assign_text_figures(
    layouts: Sequence[_Layout], located: LocatedCaptions, parts: dict[int, list[_Part]], prior: dict[str, float]
) -> None:
    """Give captions of the XML that found no graphics a figure that is all text: boxed text, formulas, a listing.

    Without the XML a caption-like line may be anything, and text near it proves nothing.
    """
    missing = {
        id(caption): k
        for k, caption in enumerate(located.captions)
        if not parts.get(k) and caption.image_cluster_id is not None and not caption.is_continuation
    }
    for layout in layouts:
        wanted = [
            replace(caption, is_figure=caption.is_figure and id(caption.location) in missing)
            for caption in layout.captions
        ]
        if not any(caption.is_figure for caption in wanted):
            continue
        taken = [part.box for found in parts.values() for part in found if part.page == layout.page.index]
        atoms, framed = _text_atoms(layout, taken)
        if not atoms:
            continue
        outside = [
            wall for wall in layout.barriers.tolist() if not any(covered_fraction(tuple(wall), f) > 0.9 for f in framed)
        ]
        walls = np.array(outside, dtype=np.float64).reshape(-1, 4)
        text_layout = replace(layout, captions=wanted, atoms=atoms, grids=[], barriers=walls, used=set())
        chosen = _page_assignment(text_layout, prior)
        near = {
            k: option
            for k, option in chosen.items()
            if min(_distance(anchor, text_layout.atoms[atom]) for anchor in wanted[k].anchors for atom in option[1])
            <= TEXT_FIGURE_GAP * layout.body_size
        }
        for k, part in _grown_parts(text_layout, near).items():
            parts[missing[id(wanted[k].location)]].append(replace(part, side="text", confidence=0.5 * part.confidence))


def _text_atoms(layout: _Layout, taken: Sequence[Box]) -> tuple[list[Box], list[Box]]:
    """Return blocks of text that may be figures, and those of them that are frames drawn around running text.

    Args:
        layout: a page.
        taken: boxes of its figures, page as displayed.
    """
    page = layout.page
    captions = np.array([anchor for caption in layout.captions for anchor in caption.anchors]).reshape(-1, 4)
    frames = []
    for box in page.drawings[~page.white].tolist():
        frame = (box[0], box[1], box[2], box[3])
        inside = sum(covered_fraction(line.bbox, frame) > 0.9 for line in page.lines)
        if inside >= 2 and not _count_inside(captions, frame) and area(frame) < 0.8 * page.width * page.height:
            frames.append(frame)
    lines = [
        box
        for _, box, _ in layout.texts
        if not any(covered_fraction(layout.displayed(box), other) > 0.5 for other in taken)
    ]
    blocks = []
    if lines:
        labels = _touching(np.array(lines, dtype=np.float64), page, 1.2 * layout.body_size)
        for label in range(int(labels.max()) + 1):
            members = [box for box, mine in zip(lines, labels.tolist(), strict=True) if mine == label]
            if len(members) >= MIN_TEXT_FIGURE_LINES:
                blocks.append(union_box(members))
    blocks = [box for box in blocks if not any(covered_fraction(box, frame) > 0.5 for frame in frames)]
    return frames + blocks, frames


def _joined_regions(located: LocatedCaptions, parts: dict[int, list[_Part]]) -> LocatedRegions:
    """Join the parts of each figure, continuations to the figure with their number; one box per page."""
    home = {c.number: k for k, c in reversed(list(enumerate(located.captions))) if not c.is_continuation}
    joined: dict[int, list[_Part]] = defaultdict(list)
    captions = list(located.captions)
    extra: dict[int, list[CaptionLocation]] = defaultdict(list)
    for k, caption in enumerate(located.captions):
        target = home.get(caption.number, k) if caption.is_continuation else k
        joined[target] += parts.get(k, [])
        if target != k:
            extra[target].append(caption)
    regions = []
    without = []
    for k, caption in enumerate(captions):
        if k in joined and (joined[k] or not caption.is_continuation):
            if extra[k]:
                boxes = _one_box_per_page([*caption.boxes, *(box for other in extra[k] for box in other.boxes)])
                caption = replace(caption, boxes=boxes)
            if not joined[k]:
                without.append(caption)
                continue
            boxes = _one_box_per_page(PageBox(part.page, part.box) for part in joined[k])
            found = sorted(joined[k], key=lambda part: part.page)
            lines = tuple(sorted({key for part in found for key in part.lines}))
            regions.append(FigureRegion(caption, boxes, found[0].side, min(p.confidence for p in found), lines))
    return LocatedRegions(tuple(regions), tuple(without))


def _one_box_per_page(boxes: Iterable[PageBox]) -> tuple[PageBox, ...]:
    by_page: dict[int, list[Box]] = defaultdict(list)
    for box in boxes:
        by_page[box.page].append(box.bbox)
    return tuple(PageBox(page, union_box(by_page[page])) for page in sorted(by_page))
