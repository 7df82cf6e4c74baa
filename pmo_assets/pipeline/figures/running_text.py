"""Running text: its look in a document, learnt from long lines, and the lines of a page that are running text.

Belongs here: what body text and its headings are. Does not belong here: text that repeats from page to page (see
`regions.furniture`) and captions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

import numpy as np

from pmo_assets.pipeline.figures.page import LineKey, PageContent, TextLine
from pmo_assets.records.geometry import width

SAME_SIZE = 0.4
"""Font sizes that differ by less (points) are one: styles of a journal differ by half a point and more."""

LONG_LINE = 30
"""Characters of a line that may be running text: labels, cells of tables and headings are mostly shorter."""

BODY_FONT_SHARE = 0.03
"""A font with this share of the long lines' characters is one of running text (roman, italic, bold, references)."""

COMMON_LEFT_SHARE = 0.04
"""An x at which this share of the body's long lines begins is a left edge of running text."""

USUAL_COLUMN = 200.0
"""Width (points) of a column, in a document without any running text: that of a page in two columns."""

MIN_FRAME_LINES = 5
"""Lines of running text on a page that shows where the text frame is."""

OUTER_PAGES = 0.1
"""Part of the pages whose text may begin above, or end below the text frame: mastheads and licence notes."""

NO_BOTTOM = 1e9
"""Foot of the text frame (points) where none is known: below every page."""

MIN_BODY_WIDTH = 0.6
"""Part of the column's width that a paragraph's widest line has: fewer are labels, cells or a list."""

ALIGNED_LEFT = 1.5
"""Left edges within so many points are aligned: side bearings of letters differ by about one."""

SHORT_END_LETTERS = 12
"""Characters of a paragraph's last line, when it is a block by itself; fewer may be a label."""

HEADING_LETTERS = 4
"""Letters of a heading; fewer are an identifier or a number."""

HEADING_OVERLAP = 0.5
"""Font sizes by which the box of a heading may reach into the line below it."""


@dataclass(frozen=True, slots=True)
class TextStyle:
    """Typography and place of a document's running text.

    Attributes:
        size: font size of most of it, points.
        fonts: its fonts, see `font_key`.
        lefts: x at which its lines begin, rounded to points, ascending.
        column: usual width of its lines, points.
        top: y at which the text frame begins, points.
        bottom: y at which the text frame ends, points.
    """

    size: float
    fonts: frozenset[tuple[float, str]]
    lefts: tuple[float, ...]
    column: float
    top: float
    bottom: float


def font_key(line: TextLine) -> tuple[float, str]:
    """Return size (to half a point) and name of the font of most of a line."""
    return (round(line.size * 2) / 2, line.font)


def body_style(pages: Iterable[PageContent]) -> tuple[float, str]:
    """Return font size (points) and font of the running text: those of most characters; (10, "") without text."""
    weights: Counter[tuple[float, str]] = Counter()
    for page in pages:
        for line in page.lines:
            weights[font_key(line)] += len(line.text)
    return max(weights, key=lambda style: weights[style]) if weights else (10.0, "")


def document_style(pages: Sequence[PageContent], ignored: Set[LineKey]) -> TextStyle:
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
            if len(line.text) >= LONG_LINE and line.quarter_turns == 0 and (page.index, i) not in ignored
        ]
        for line in long_lines:
            weights[font_key(line)] += len(line.text)
            if abs(line.size - size) <= SAME_SIZE:
                lefts[round(line.bbox[0])] += 1
                widths.append(width(line.bbox))
        running = [line for line in long_lines if abs(line.size - size) <= SAME_SIZE]
        if len(running) >= MIN_FRAME_LINES:
            tops.append(min(line.bbox[1] for line in running))
            bottoms.append(max(line.bbox[3] for line in running))
    total = sum(weights.values())
    fonts = frozenset(style for style, count in weights.items() if count >= BODY_FONT_SHARE * total)
    common = tuple(sorted(x for x, count in lefts.items() if count >= COMMON_LEFT_SHARE * len(widths)))
    column = float(np.median(widths)) if widths else USUAL_COLUMN
    # Many pages begin or end with a figure, so the extremes tell where the text frame is.
    top = float(np.quantile(tops, OUTER_PAGES, method="lower")) if tops else 0.0
    bottom = float(np.quantile(bottoms, 1 - OUTER_PAGES, method="higher")) if bottoms else NO_BOTTOM
    return TextStyle(size, fonts, common, column, top, bottom)


def body_lines(page: PageContent, style: TextStyle, caption_lines: Set[int]) -> set[int]:
    """Return the lines of running text: a body font, in paragraphs about as wide as a column."""
    body: set[int] = set()
    blocks: dict[int, list[int]] = defaultdict(list)
    for i, line in enumerate(page.lines):
        if i not in caption_lines:
            blocks[line.block].append(i)
    for members in blocks.values():
        wide = {
            font_key(page.lines[i])
            for i in members
            if len(page.lines[i].text) >= LONG_LINE
            and width(page.lines[i].bbox) >= MIN_BODY_WIDTH * style.column
            and font_key(page.lines[i]) in style.fonts
        }
        for i in members:
            line = page.lines[i]
            font = font_key(line)
            at_margin = any(abs(line.bbox[0] - x) <= ALIGNED_LEFT for x in style.lefts)
            is_body_size = abs(line.size - style.size) < SAME_SIZE
            short_end = font in style.fonts and at_margin and len(line.text) >= SHORT_END_LETTERS and is_body_size
            if (wide and (font in wide or (is_body_size and at_margin))) or short_end:
                body.add(i)
    return body


def heading_lines(page: PageContent, style: TextStyle, body: Set[int], caption_lines: Set[int]) -> set[int]:
    """Return the lines that stand directly above running text, at its left edge and in another style."""
    headings: set[int] = set()
    first_lines = [page.lines[i].bbox for i in body]
    # From the bottom up, so that a heading of several lines, or one above another, is followed to its top.
    for i in sorted(range(len(page.lines)), key=lambda i: -page.lines[i].bbox[3]):
        line = page.lines[i]
        if i in body or i in caption_lines or line.quarter_turns:
            continue
        is_styled = line.bold or line.size > style.size + SAME_SIZE or font_key(line) not in style.fonts
        if not is_styled or line.size < style.size - SAME_SIZE or sum(c.isalpha() for c in line.text) < HEADING_LETTERS:
            continue
        for box in first_lines:
            gap = box[1] - line.bbox[3]
            is_aligned = abs(box[0] - line.bbox[0]) <= ALIGNED_LEFT
            if (
                is_aligned
                and -HEADING_OVERLAP * line.size <= gap <= line.size
                and box[1] > line.bbox[1] + 0.5 * line.size
            ):
                headings.add(i)
                first_lines.append(line.bbox)
                break
    return headings
