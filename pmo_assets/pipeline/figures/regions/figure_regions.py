"""Regions of figures: graphics and their text, assigned to captions for a whole page at once.

Three steps. (1) `page_layouts` says what each line and each graphic is: running text, caption, page furniture, table,
or possibly part of a figure; touching graphics become atoms. (2) For each caption and each side of it, the atoms are
collected that can be reached without crossing running text or a caption (`sides`). (3) The sides of all captions of a
page are chosen together (`assignment`). What is found then takes in its text (`growth`); captions that got nothing
look at other pages (`other_pages`), and for a figure that is nothing but text (`text_figures`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pmo_assets.pipeline.figures.caption_location.lines import CaptionLocation, one_box_per_page
from pmo_assets.pipeline.figures.caption_location.located_captions import LocatedCaptions
from pmo_assets.pipeline.figures.page import PageContent
from pmo_assets.pipeline.figures.printed_paragraphs import PrintedText
from pmo_assets.pipeline.figures.regions.assignment import SIDE_PRIOR, page_assignment
from pmo_assets.pipeline.figures.regions.growth import FigurePart, grown_parts
from pmo_assets.pipeline.figures.regions.other_pages import assign_other_pages
from pmo_assets.pipeline.figures.regions.page_layout import page_layouts
from pmo_assets.pipeline.figures.regions.text_figures import assign_text_figures
from pmo_assets.records.figure import PageBox

COMMON_SIDE_SCORE = 0.5
"""Added to the prior of the side that most figures of a document use: it decides ambiguous pages, and still counts
less than a figure or the page's graphics (see `assignment`)."""

COMMON_SIDE_FIGURES = 2
"""Figures on one side before it counts as the document's."""


@dataclass(frozen=True, slots=True)
class FigureRegion:
    """A figure's place in the PDF.

    Attributes:
        caption: its (first) caption.
        boxes: one per page, in page order, points as displayed; around placements, paths and text boxes, so ink may
            begin a little further inside.
        side: the figure's side seen from its caption: one of `sides.SIDES`, "page" for another page, "text" for a
            figure that is nothing but text, or "picture" when its package picture says where it is.
        confidence: 0..1.
    """

    caption: CaptionLocation
    boxes: tuple[PageBox, ...]
    side: str
    confidence: float


@dataclass(frozen=True, slots=True)
class LocatedRegions:
    """Regions in the order of their captions, the captions without any graphics, and each page's running text."""

    regions: tuple[FigureRegion, ...]
    without_region: tuple[CaptionLocation, ...]
    texts: tuple[PrintedText, ...] = ()


def figure_regions(pages: Sequence[PageContent], located: LocatedCaptions) -> LocatedRegions:
    """Assign graphics to captions.

    Args:
        pages: all pages of the document, in order.
        located: their captions.
    """
    layouts = page_layouts(pages, located)
    prior = dict(SIDE_PRIOR)
    first = [page_assignment(layout, prior) for layout in layouts]
    sides = Counter(side for page in first for side, _ in page.values())
    if sides:
        common, count = max(sides.items(), key=lambda item: (item[1], item[0]))
        if count >= COMMON_SIDE_FIGURES:
            prior[common] += COMMON_SIDE_SCORE
            first = [page_assignment(layout, prior) for layout in layouts]
    parts: dict[int, list[FigurePart]] = defaultdict(list)
    order = {id(caption): k for k, caption in enumerate(located.captions)}
    for layout, chosen in zip(layouts, first, strict=True):
        for k, part in grown_parts(layout, chosen).items():
            location = layout.captions[k].location
            if id(location) in order:
                parts[order[id(location)]].append(part)
    assign_other_pages(layouts, located, parts)
    assign_text_figures(layouts, located, parts, prior)
    texts = tuple(PrintedText(layout.page.lines, layout.body, layout.headings) for layout in layouts)
    return replace(_joined_regions(located, parts), texts=texts)


def _joined_regions(located: LocatedCaptions, parts: dict[int, list[FigurePart]]) -> LocatedRegions:
    """Join the parts of each figure, continuations to the figure with their number; one box per page."""
    home = {c.number: k for k, c in reversed(list(enumerate(located.captions))) if not c.is_continuation}
    joined: dict[int, list[FigurePart]] = defaultdict(list)
    extra: dict[int, list[CaptionLocation]] = defaultdict(list)
    for k, caption in enumerate(located.captions):
        target = home.get(caption.number, k) if caption.is_continuation else k
        joined[target] += parts.get(k, [])
        if target != k:
            extra[target].append(caption)
    regions = []
    without = []
    for k, caption in enumerate(located.captions):
        if k in joined and (joined[k] or not caption.is_continuation):
            if extra[k]:
                boxes = one_box_per_page([*caption.boxes, *(box for other in extra[k] for box in other.boxes)])
                caption = replace(caption, boxes=boxes)
            if not joined[k]:
                without.append(caption)
                continue
            boxes = one_box_per_page(PageBox(part.page, part.box) for part in joined[k])
            found = sorted(joined[k], key=lambda part: part.page)
            regions.append(FigureRegion(caption, boxes, found[0].side, min(p.confidence for p in found)))
    return LocatedRegions(tuple(regions), tuple(without))
