"""The layout of a page: the role of each line and each graphic.

Running text, captions and tables are barriers; page furniture is nobody's; the other text, and the graphics joined to
atoms, may belong to figures.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.figures.caption_location.lines import CaptionLocation
from pmo_assets.pipeline.figures.caption_location.located_captions import LocatedCaptions
from pmo_assets.pipeline.figures.page import LineKey, PageContent
from pmo_assets.pipeline.figures.page_turns import turned_box, turned_page
from pmo_assets.pipeline.figures.regions.atoms import grids_of, page_atoms
from pmo_assets.pipeline.figures.regions.barriers import line_core
from pmo_assets.pipeline.figures.regions.furniture import furniture_graphics, furniture_lines, repeated_lines
from pmo_assets.pipeline.figures.regions.graphics import figure_graphics
from pmo_assets.pipeline.figures.regions.tables import IN_TABLE, table_areas
from pmo_assets.pipeline.figures.running_text import TextStyle, body_lines, document_style, heading_lines
from pmo_assets.records.geometry import Box, covered_fraction, height, union_box

ANCHOR_GAP = 2.0
"""Lines of a caption further apart than so many line heights stand in different columns."""


@dataclass(slots=True)
class PageCaption:
    """A caption on a page.

    Attributes:
        location: the caption.
        anchors: boxes of its lines on this page, one per column that it runs through; never empty.
        is_figure: it may claim graphics of this page: it is a figure's, and begins here.
    """

    location: CaptionLocation
    anchors: list[Box]
    is_figure: bool


@dataclass(slots=True)
class PageLayout:
    """A page in its reading direction, with everything classified; boxes are in points of the turned page.

    Attributes:
        page: the page, turned so that its captions are upright.
        turns: by how many quarter turns, see `turned_page`.
        original: the page before.
        captions: all captions with lines on the page, those of tables and unused ones besides.
        atoms: boxes of the graphics that touch, see `page_atoms`.
        grids: groups of atoms that stand in rows and columns.
        barriers: float64 (n, 4), what no figure crosses: running text, headings, captions, tables.
        texts: the other lines, which may belong to figures: key, box, font size.
        body_lines: number of lines of running text.
        body_size: font size of running text, points.
        column: usual width of a column, points.
        used: the atoms that figures have got so far.
        body, headings: positions in `page.lines` of running text, page furniture left out, and of headings.
    """

    page: PageContent
    turns: int
    original: PageContent
    captions: list[PageCaption]
    atoms: list[Box]
    grids: list[tuple[int, ...]]
    barriers: NDArray[np.float64]
    texts: list[tuple[LineKey, Box, float]]
    body_lines: int
    body_size: float
    column: float
    used: set[int] = field(default_factory=set)
    body: Set[int] = frozenset()
    headings: Set[int] = frozenset()

    def displayed(self, box: Box) -> Box:
        """Return a box in points of the page before it was turned."""
        w, h = self.page.width, self.page.height
        return turned_box(box, -self.turns, w, h)


def page_layouts(pages: Sequence[PageContent], located: LocatedCaptions) -> list[PageLayout]:
    """Classify everything on the pages of a document; one layout per page."""
    everything = [*located.captions, *located.others]
    caption_keys = {key for caption in everything for key in caption.lines}
    repeated = repeated_lines(pages) - caption_keys
    style = document_style(pages, caption_keys | repeated)
    furniture = furniture_lines(pages, repeated, style)
    places = furniture_graphics(pages, style)
    by_page: dict[int, list[CaptionLocation]] = defaultdict(list)
    for caption in everything:
        for box in caption.boxes:
            by_page[box.page].append(caption)
    return [_layout(page, by_page[page.index], style, furniture, places) for page in pages]


def _layout(
    original: PageContent,
    locations: Sequence[CaptionLocation],
    style: TextStyle,
    furniture: Set[LineKey],
    places: Set[tuple[float, ...]],
) -> PageLayout:
    """Classify everything on a page; it is turned so that the captions of most of its figures are upright."""
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
        captions.append(PageCaption(location, anchors, location.kind == "figure" and is_first))
    body = body_lines(page, style, caption_lines)
    headings = heading_lines(page, style, body, caption_lines)
    tables = table_areas(
        page, [(c.location.label or "", c.anchors) for c in captions if c.location.kind == "table"], body, caption_lines
    )

    def in_table(i: int) -> bool:
        return any(covered_fraction(page.lines[i].bbox, table) > IN_TABLE for table in tables)

    graphics = figure_graphics(page, original, body, caption_lines, tables, places, style)
    texts = []
    barriers = []
    for i, line in enumerate(page.lines):
        key = (page.index, i)
        if i in caption_lines | body | headings or in_table(i):
            barriers.append(line_core(line))
        elif key not in furniture:
            texts.append((key, line.bbox, line.size))
    barriers += tables
    atoms = page_atoms(graphics, page)
    walls = np.array(barriers, dtype=np.float64).reshape(-1, 4)
    return PageLayout(
        page=page,
        turns=turns,
        original=original,
        captions=captions,
        atoms=atoms,
        grids=grids_of(atoms, walls),
        barriers=walls,
        texts=texts,
        body_lines=len(body),
        body_size=style.size,
        column=style.column,
        body={i for i in body if (page.index, i) not in furniture and not in_table(i)},
        headings=headings,
    )


def _caption_anchors(boxes: Sequence[Box]) -> list[Box]:
    """Split a caption's lines where it runs over columns; return one box per connected run."""
    anchors: list[Box] = []
    for box in boxes:
        if anchors:
            last = anchors[-1]
            gap = max(box[1] - last[3], last[1] - box[3], box[0] - last[2], last[0] - box[2])
            if gap < ANCHOR_GAP * height(box):
                anchors[-1] = union_box([last, box])
                continue
        anchors.append(box)
    return anchors
