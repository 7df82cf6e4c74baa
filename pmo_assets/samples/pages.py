"""Content set in columns on pages: running text that flows around figures and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pymupdf

from pmo_assets.records.geometry import Box, union_box
from pmo_assets.samples import scene, type_metrics
from pmo_assets.samples.caption_text import caption_text
from pmo_assets.samples.content import (
    YEAR,
    Content,
    FigurePlace,
    Paragraph,
    TablePlace,
    caption_runs,
    printed_label,
)
from pmo_assets.samples.figure_layout import FigurePart, figure_parts
from pmo_assets.samples.scene import Item, Path, Text
from pmo_assets.samples.spec import ArticleSpec, FigureSpec, JournalStyle, TableSpec
from pmo_assets.samples.type_metrics import Line, Run, broken_lines, font_name, text_width, words_of

CAPTION_GAP = 8.0
"""White space between a figure and its caption, points."""
FLOAT_GAP = 12.0
"""White space between a float and the running text, points."""
MAX_FLOAT_SHARE = 0.62
"""A figure without its caption takes at most this share of the page's text height."""


@dataclass(frozen=True, slots=True)
class PageExtent:
    """A box on a page: 0-based page index, PDF points with the origin top left."""

    page: int
    box: Box


@dataclass(frozen=True, slots=True)
class PlacedFigure:
    """A figure on its pages.

    Attributes:
        index: of the figure in the specification.
        parts: in page order; the same order as `locations`.
        locations: extents of the parts.
        caption_locations: extents of the caption lines.
    """

    index: int
    parts: tuple[FigurePart, ...]
    locations: tuple[PageExtent, ...]
    caption_locations: tuple[PageExtent, ...]


@dataclass(frozen=True, slots=True)
class TypesetPages:
    """The PDF before any damage is done to it."""

    document: pymupdf.Document
    figures: tuple[PlacedFigure, ...]


@dataclass(frozen=True, slots=True)
class _Float:
    """A block that is set as a whole: a figure part with its caption, or a table; local coordinates."""

    items: tuple[Item, ...]
    height: float
    page_wide: bool
    figure: int | None = None
    part: FigurePart | None = None
    part_at: tuple[float, float] = (0.0, 0.0)
    caption_box: Box | None = None


@dataclass(slots=True)
class _Flow:
    """Pages under way, and the place of the next line. Frames are the columns of the current page: (x, top, bottom)."""

    journal: JournalStyle
    pages: list[list[Item]] = field(default_factory=list)
    frames: list[Box] = field(default_factory=list)
    frame: int = 0
    y: float = 0.0
    waiting: list[_Float] = field(default_factory=list)
    locations: dict[int, list[tuple[FigurePart, PageExtent]]] = field(default_factory=dict)
    captions: dict[int, list[PageExtent]] = field(default_factory=dict)


def column_width(journal: JournalStyle) -> float:
    """Return the width of a text column, points."""
    return (_text_width(journal) - (journal.columns - 1) * journal.column_gap) / journal.columns


def _text_width(journal: JournalStyle) -> float:
    return journal.page_width - journal.margin_left - journal.margin_right


def line_items(
    line: Line, x: float, baseline: float, size: float, space: float, justify_to: float | None
) -> list[Text]:
    """Return a line as live text, one item per stretch of one font; `justify_to` is the width to fill."""
    gaps = len(line.words) - 1
    extra = (justify_to - line.width) / gaps if justify_to is not None and gaps else 0.0
    extra = min(max(extra, 0.0), 0.6 * size)  # wider spaces would tear the line apart for text extraction
    stretches: list[tuple[str, str]] = []
    for n, word in enumerate(line.words):
        for k, (text, font) in enumerate(word.pieces):
            if n and k == 0:
                last_text, last_font = stretches[-1]
                stretches[-1] = (last_text + " ", last_font)
            if stretches and stretches[-1][1] == font:
                stretches[-1] = (stretches[-1][0] + text, font)
            else:
                stretches.append((text, font))
    items = []
    for text, font in stretches:
        items.append(Text(x, baseline, text, font, size, word_space=extra))
        blanks = text.count(" ")
        x += text_width(text.replace(" ", ""), font, size) + blanks * (space + extra)
    return items


def _set_lines(
    runs: Sequence[Run], family: str, size: float, *, x: float, top: float, width: float, leading: float, justify: bool
) -> tuple[list[Text], float]:
    """Set a block of text from `top` (the first line box's upper edge); return items and the lower edge."""
    space = text_width(" ", font_name(family), size)
    lines = broken_lines(words_of(runs, family, size), width=width, space=space)
    ascent = -type_metrics.line_box("x", font_name(family), size, 0, 0)[1]
    items: list[Text] = []
    for n, line in enumerate(lines):
        last = n == len(lines) - 1
        items += line_items(line, x, top + ascent + n * leading, size, space, width if justify and not last else None)
    bottom = max((_line_box(i)[3] for i in items), default=top)
    return items, bottom


def _line_box(item: Text) -> Box:
    return type_metrics.line_box(item.text.rstrip(), item.font, item.size, item.x, item.baseline)


def _caption_box(items: Sequence[Text]) -> Box:
    """Return the box of all lines; a justified stretch is longer than its natural width by its spaces."""
    boxes = []
    for item in items:
        box = _line_box(item)
        boxes.append((box[0], box[1], box[2] + item.word_space * item.text.rstrip().count(" "), box[3]))
    return union_box(boxes)


def _figure_floats(spec: ArticleSpec, index: int) -> list[_Float]:
    """Lay out a figure with its caption: one float, or two for a figure over two pages."""
    figure, journal = spec.figures[index], spec.journal
    page_wide = journal.columns == 1 or figure.width == "page"
    frame = _text_width(journal) if page_wide else column_width(journal)
    width = frame * figure.width_share
    if figure.caption_place == "beside":
        width = min(width, 0.62 * frame)
    text_height = journal.page_height - journal.margin_top - journal.margin_bottom
    parts = figure_parts(
        figure, width=width, max_height=MAX_FLOAT_SHARE * text_height, topic=spec.topic, seed=[spec.seed, 2, index]
    )
    floats = []
    for n, part in enumerate(parts):
        text = caption_text(figure.caption) if n == len(parts) - 1 else "Continued."
        floats.append(_captioned(journal, figure, index, part, text, frame, page_wide))
    return floats


def _captioned(
    journal: JournalStyle, figure: FigureSpec, index: int, part: FigurePart, text: str, frame: float, page_wide: bool
) -> _Float:
    label = printed_label(figure, index + 1)
    head = [Run(label + figure.label.separator, bold=figure.label.bold), Run(" ")] if label else []
    runs = [*head, *caption_runs(text)]
    size = journal.caption_size
    family = journal.family
    leading = journal.leading * size
    if figure.caption_place == "beside":
        x = part.width + 1.5 * CAPTION_GAP
        caption, bottom = _set_lines(runs, family, size, x=x, top=0, width=frame - x, leading=leading, justify=False)
        part_at, height = (0.0, 0.0), max(part.height, bottom)
    elif figure.caption_place == "above":
        caption, bottom = _set_lines(runs, family, size, x=0, top=0, width=frame, leading=leading, justify=True)
        part_at = ((frame - part.width) / 2, bottom + CAPTION_GAP)
        height = part_at[1] + part.height
    else:
        part_at = ((frame - part.width) / 2, 0.0)
        caption, height = _set_lines(
            runs, family, size, x=0, top=part.height + CAPTION_GAP, width=frame, leading=leading, justify=True
        )
    items = [*(scene.shifted(i, *part_at) for i in part.items), *caption]
    return _Float(tuple(items), height, page_wide, index, part, part_at, _caption_box(caption))


def _table_float(journal: JournalStyle, table: TableSpec, number: int) -> _Float:
    width, size = column_width(journal), journal.caption_size
    runs = [Run(f"Table {number}:", bold=True), Run(" "), *caption_runs(table.caption)]
    head, y = _set_lines(runs, journal.family, size, x=0, top=0, width=width, leading=1.2 * size, justify=False)
    items: list[Item] = list(head)
    y += 4
    font = font_name(journal.family)
    for n, row in enumerate(table.rows):
        if n < 2:
            items.append(Path(((0.0, y), (width, y)), line_width=0.5))
        for column, cell in enumerate(row):
            items.append(Text(column * width / len(row) + 2, y + 1.15 * size, cell, font, size))
        y += 1.5 * size
    items.append(Path(((0.0, y), (width, y)), line_width=0.5))
    return _Float(tuple(items), y, False)


def _place(flow: _Flow, block: _Float, x: float, y: float) -> None:
    """Put a float on the current page and note where its figure and caption lie."""
    page = len(flow.pages) - 1
    flow.pages[page] += [scene.shifted(item, x, y) for item in block.items]
    if block.figure is None or block.part is None or block.caption_box is None:
        return
    left, top = x + block.part_at[0], y + block.part_at[1]
    box = (left, top, left + block.part.width, top + block.part.height)
    flow.locations.setdefault(block.figure, []).append((block.part, PageExtent(page, box)))
    caption = PageExtent(page, scene.shifted_box(block.caption_box, x, y))
    flow.captions.setdefault(block.figure, []).append(caption)


def _new_page(flow: _Flow, name: str) -> None:
    """Start a page: running head, the first waiting page-wide float, columns below it."""
    journal = flow.journal
    number = len(flow.pages) + 1
    flow.pages.append([])
    font, size = font_name(journal.family), 8.5
    right = journal.page_width - journal.margin_right
    furniture: list[Item] = []
    if number > 1:
        page_number = str(number)
        furniture.append(Text(right - text_width(page_number, font, size), 44, page_number, font, size))
        furniture.append(Text(journal.margin_left, 44, journal.name if number % 2 else name, font, size))
    flow.pages[-1] += furniture
    top = journal.margin_top
    bottom = journal.page_height - journal.margin_bottom
    if flow.waiting and flow.waiting[0].page_wide and number > 1:
        wide = flow.waiting.pop(0)
        _place(flow, wide, journal.margin_left, top)
        top += wide.height + 1.5 * FLOAT_GAP
    _open_frames(flow, top, bottom)


def _open_frames(flow: _Flow, top: float, bottom: float) -> None:
    journal, width = flow.journal, column_width(flow.journal)
    lefts = [journal.margin_left + i * (width + journal.column_gap) for i in range(journal.columns)]
    flow.frames = [(left, top, left + width, bottom) for left in lefts]
    flow.frame, flow.y = 0, top
    _place_column_floats(flow)


def _place_column_floats(flow: _Flow) -> None:
    """Put waiting column floats at the top of the current column while they fit."""
    while flow.waiting and not flow.waiting[0].page_wide:
        block = flow.waiting[0]
        whole_column = flow.y <= flow.journal.margin_top  # a block higher than a whole column is set all the same
        if flow.y + block.height > flow.frames[flow.frame][3] and not whole_column:
            break
        flow.waiting.pop(0)
        _place(flow, block, flow.frames[flow.frame][0], flow.y)
        flow.y += block.height + FLOAT_GAP


def _next_frame(flow: _Flow, name: str) -> None:
    if flow.frame + 1 < len(flow.frames):
        flow.frame += 1
        flow.y = flow.frames[flow.frame][1]
        _place_column_floats(flow)
    else:
        _new_page(flow, name)


def _room(flow: _Flow) -> float:
    return flow.frames[flow.frame][3] - flow.y


def _add_float(flow: _Flow, block: _Float) -> None:
    """Set a column-wide block here if it fits and nothing waits before it; else let it wait."""
    if not block.page_wide or flow.journal.columns == 1:
        continued = any(f.figure == block.figure and f.figure is not None for f in flow.waiting)
        started = block.figure in flow.locations  # the second part of a figure starts a page
        needed = block.height + 2 * FLOAT_GAP
        if not flow.waiting and not continued and not started and needed <= _room(flow):
            flow.y += FLOAT_GAP
            _place(flow, block, flow.frames[flow.frame][0], flow.y)
            flow.y += block.height + FLOAT_GAP
            return
    flow.waiting.append(block)


def _add_text(
    flow: _Flow,
    runs: Sequence[Run],
    name: str,
    *,
    size: float,
    indent: float = 0.0,
    hang: float = 0.0,
    justify: bool = True,
) -> None:
    """Let a paragraph flow through the columns; `hang` indents all lines but the first."""
    journal = flow.journal
    space = text_width(" ", font_name(journal.family), size)
    width = column_width(journal) - hang
    lines = broken_lines(words_of(runs, journal.family, size), width=width, space=space, first_indent=indent - hang)
    leading = journal.leading * size
    for n, line in enumerate(lines):
        if leading > _room(flow):
            _next_frame(flow, name)
        offset = indent if n == 0 else hang
        last = n == len(lines) - 1
        x = flow.frames[flow.frame][0] + offset
        to = None if last or not justify else column_width(journal) - offset
        flow.pages[-1] += line_items(line, x, flow.y + 0.8 * leading, size, space, to)
        flow.y += leading


def _add_heading(flow: _Flow, text: str, name: str) -> None:
    size = flow.journal.body_size + 1.5
    if _room(flow) < 5 * size:
        _next_frame(flow, name)
    if flow.y > flow.frames[flow.frame][1]:
        flow.y += 0.8 * size
    _add_text(flow, [Run(text, bold=True)], name, size=size, justify=False)
    flow.y += 0.3 * size


def _title_block(flow: _Flow, spec: ArticleSpec, content: Content) -> float:
    """Set title, authors, abstract over the page's width on the first page; return where the columns start."""
    journal = flow.journal
    page = flow.pages[0]
    left, width, family = journal.margin_left, _text_width(journal), journal.family
    y = 40.0
    if journal.logo:
        mark = (0.10, 0.30, 0.52)
        page.append(scene.circle(left + 11, y + 6, 11, stroke=None, fill=mark, line_width=0))
        page.append(scene.circle(left + 11, y + 6, 5, stroke=(1, 1, 1), fill=None, line_width=1.5))
        page.append(Text(left + 28, y + 10, journal.name, font_name("Helvetica", bold=True), 11, mark))
        y += 24
    for line in ("" if journal.logo else journal.name, content.citation, f"doi: {content.doi}"):
        if line:
            page.append(Text(left, y + 4, line, font_name(family), 8.5))
            y += 11
    y += 14

    def block(runs: Sequence[Run], size: float, gap: float, inset: float = 0.0) -> None:
        nonlocal y
        items, bottom = _set_lines(
            runs, family, size, x=left + inset, top=y, width=width - 2 * inset, leading=1.25 * size, justify=size < 12
        )
        page.extend(items)
        y = bottom + gap

    kind = {"retraction": "Retraction", "case-report": "Case Report"}.get(spec.article_type, "Research Article")
    block([Run(kind, italic=True)], 10, 2)
    block([Run(spec.title, bold=True)], 17, 8)
    block([Run(", ".join(f"{g} {s}" for g, s in content.authors), bold=True)], 10.5, 2)
    block([Run(content.affiliation, italic=True)], 9, 6)
    if spec.retracted:
        block([Run(f"This article has been retracted: doi {content.doi}.r", bold=True)], 9, 6)
    block(
        [Run(f"Copyright © {YEAR} {content.authors[0][0]} {content.authors[0][1]} et al. {content.license_text}")], 8, 8
    )
    block([Run("Abstract. ", bold=True), *content.abstract.runs], 9, 4, 18)
    if spec.keywords:
        block([Run("Keywords: ", bold=True), Run(", ".join(spec.keywords))], 9, 4, 18)
    return y + 10


def _add_sections(flow: _Flow, spec: ArticleSpec, content: Content, short: str) -> None:
    size = spec.journal.body_size
    if not content.sections:
        _add_text(flow, content.abstract.runs, short, size=size)
    for section in content.sections:
        _add_heading(flow, section.title, short)
        for n, block in enumerate(section.blocks):
            if isinstance(block, Paragraph):
                _add_text(flow, block.runs, short, size=size, indent=12.0 if n else 0.0)
            elif isinstance(block, FigurePlace):
                for part in _figure_floats(spec, block.index):
                    _add_float(flow, part)
            elif isinstance(block, TablePlace):
                _add_float(flow, _table_float(spec.journal, spec.tables[block.index], block.index + 1))


def _add_references(flow: _Flow, spec: ArticleSpec, content: Content, short: str) -> None:
    if content.references:
        _add_heading(flow, "References", short)
    for number, ref in enumerate(content.references, start=1):
        names = ", ".join(f"{g[0]}. {s}" for g, s in ref.authors)
        runs = [
            Run(f"[{number}] {names}, “{ref.title},” "),
            Run(ref.source, italic=True),
            Run(f", vol. {ref.volume}, pp. {ref.first_page}–{ref.last_page}, {ref.year}."),
        ]
        _add_text(flow, runs, short, size=spec.journal.body_size - 1.5, hang=16.0, justify=False)


def typeset_pages(spec: ArticleSpec, content: Content) -> TypesetPages:
    """Set the article.

    Raises:
        UnicodeEncodeError: if a text has a character outside Windows code page 1252.
    """
    flow = _Flow(spec.journal)
    short = f"{content.authors[0][1]} et al." if content.authors else spec.title
    _new_page(flow, short)
    start = _title_block(flow, spec, content)
    _open_frames(flow, start, spec.journal.page_height - spec.journal.margin_bottom)
    _add_sections(flow, spec, content, short)
    _add_references(flow, spec, content, short)
    while flow.waiting:
        _next_frame(flow, short)
    document = pymupdf.open()
    resources = scene.add_fonts(document)
    for page in flow.pages:
        scene.add_page(document, resources, spec.journal.page_width, spec.journal.page_height, page)
    date = f"D:{YEAR}0301120000Z"
    document.set_metadata(
        {
            "title": spec.title,
            "author": ", ".join(s for _, s in content.authors),
            "producer": "pmo-assets sample typesetter",
            "creator": "pmo-assets",
            "creationDate": date,
            "modDate": date,
        }
    )
    figures = []
    for index in sorted(flow.locations):
        placed = flow.locations[index]
        figures.append(
            PlacedFigure(
                index,
                tuple(part for part, _ in placed),
                tuple(extent for _, extent in placed),
                tuple(flow.captions[index]),
            )
        )
    return TypesetPages(document, tuple(figures))
