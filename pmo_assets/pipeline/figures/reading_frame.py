"""The frame in which layout analysis works: text upright and of the usual size, whatever the file shows.

Distances in layout analysis are points of an ordinary journal page. A document that is enlarged as a whole (slides,
posters, A3 prints), or displayed sideways as a whole, is brought into that frame first, and what is found is brought
back. Single sideways pages of an upright document are the business of `regions`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pmo_assets.pipeline.figures.caption_location.lines import CaptionLocation
from pmo_assets.pipeline.figures.page import PageContent
from pmo_assets.pipeline.figures.page_turns import turned_box, turned_page
from pmo_assets.pipeline.figures.regions.figure_regions import FigureRegion
from pmo_assets.pipeline.figures.running_text import body_style
from pmo_assets.records.figure import PageBox
from pmo_assets.records.geometry import Box

USUAL_SIZES = (6.5, 13.0)
"""Running text (points) from a dense two-column journal to a double-spaced manuscript: nothing is scaled."""

FRAME_SIZE = 10.0
"""Size (points) to which other running text is scaled."""

LONG_LINE = 20
"""Characters of a line that tells the reading direction: axis titles and labels are shorter."""


@dataclass(frozen=True, slots=True)
class ReadingFrame:
    """Turn and scale that make displayed pages upright pages of usual size.

    Attributes:
        turns: quarter turns counter-clockwise, see `turned_page`.
        scale: factor.
    """

    turns: int = 0
    scale: float = 1.0


def reading_frame(pages: Sequence[PageContent]) -> ReadingFrame:
    """Return the frame in which most of a document's text is upright and of usual size."""
    directions: Counter[int] = Counter()
    for page in pages:
        for line in page.lines:
            if len(line.text) >= LONG_LINE:
                directions[line.quarter_turns] += len(line.text)
    turns = max(directions, key=lambda turn: (directions[turn], -turn), default=0)
    if 2 * directions[turns] <= directions.total():
        turns = 0
    size, _ = body_style([turned_page(page, turns) for page in pages] if turns else pages)
    usual = not size or USUAL_SIZES[0] <= size <= USUAL_SIZES[1]
    return ReadingFrame(turns, 1.0 if usual else FRAME_SIZE / size)


def framed_page(page: PageContent, frame: ReadingFrame) -> PageContent:
    """Return a page as the frame shows it."""
    page = turned_page(page, frame.turns)
    k = frame.scale
    if k == 1.0:
        return page

    def scaled(box: Box) -> Box:
        return (box[0] * k, box[1] * k, box[2] * k, box[3] * k)

    return replace(
        page,
        width=page.width * k,
        height=page.height * k,
        lines=tuple(
            replace(
                line,
                bbox=scaled(line.bbox),
                size=round(line.size * k, 2),
                spans=tuple(replace(s, bbox=scaled(s.bbox), size=round(s.size * k, 2)) for s in line.spans),
            )
            for line in page.lines
        ),
        bitmaps=tuple(
            replace(b, bbox=scaled(b.bbox), dpi=b.dpi / k, placed=scaled(b.placed) if b.placed else None)
            for b in page.bitmaps
        ),
        drawings=page.drawings * k,
    )


def displayed_box(box: PageBox, pages: Sequence[PageContent], frame: ReadingFrame) -> PageBox:
    """Return a box of the frame in points of the page as displayed; `pages` as displayed."""
    page = pages[box.page]
    k = frame.scale
    x0, y0, x1, y1 = (value / k for value in box.bbox)
    w, h = (page.height, page.width) if frame.turns % 2 else (page.width, page.height)
    return PageBox(box.page, turned_box((x0, y0, x1, y1), -frame.turns, w, h))


def displayed_caption(caption: CaptionLocation, pages: Sequence[PageContent], frame: ReadingFrame) -> CaptionLocation:
    """Return a caption with its boxes as displayed."""
    if frame == ReadingFrame():
        return caption
    return replace(caption, boxes=tuple(displayed_box(box, pages, frame) for box in caption.boxes))


def displayed_region(region: FigureRegion, pages: Sequence[PageContent], frame: ReadingFrame) -> FigureRegion:
    """Return a region with its boxes, and those of its caption, as displayed."""
    if frame == ReadingFrame():
        return region
    boxes = tuple(displayed_box(box, pages, frame) for box in region.boxes)
    return replace(region, caption=displayed_caption(region.caption, pages, frame), boxes=boxes)
