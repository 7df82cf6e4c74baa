"""Other pages: figures that do not stand on the page of their caption, and pages on which a figure goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pmo_assets.pipeline.figures.caption_location.located_captions import LocatedCaptions
from pmo_assets.pipeline.figures.regions.atoms import SMALL_ATOM
from pmo_assets.pipeline.figures.regions.barriers import is_blocked
from pmo_assets.pipeline.figures.regions.growth import FigurePart, with_texts
from pmo_assets.pipeline.figures.regions.page_layout import PageLayout
from pmo_assets.records.geometry import Box, area, height, union_box, width

LEFTOVER_SHARE = 0.03
"""Graphics that cover less of a page are not looked at when a caption's figure is on the facing page."""

PAGE_CONFIDENCE = 0.6
"""Confidence in a figure on another page than its caption: nothing but the pages' order speaks for it. Set by hand."""

MAX_BODY_LINES = 2
"""Lines of running text on a page that does nothing but continue a figure: what looks like it may be a label."""

CONTINUED_HEIGHT = 0.5
"""A figure that goes on overleaf takes more than this part of its page's height."""


def _leftover(layout: PageLayout) -> Box | None:
    """Return the box around a page's large unused graphics, None if there are none."""
    size = layout.page.width * layout.page.height
    boxes = [atom for k, atom in enumerate(layout.atoms) if k not in layout.used]
    boxes = [box for box in boxes if min(width(box), height(box)) >= SMALL_ATOM]
    if not boxes or sum(area(box) for box in boxes) < LEFTOVER_SHARE * size:
        return None
    box = union_box(boxes)
    return None if is_blocked(layout.barriers, box) else box


@dataclass
class _Pages:
    """Pages with graphics that no caption has taken, and the figures that take them.

    Attributes:
        layouts: of all pages.
        leftovers: the box around a page's unused graphics, by page.
        parts: parts of the figures, by caption.
    """

    layouts: Sequence[PageLayout]
    leftovers: dict[int, Box]
    parts: dict[int, list[FigurePart]]

    def take(self, k: int, n: int) -> None:
        """Give the unused graphics of page `n` to caption `k`."""
        layout = self.layouts[n]
        grown = with_texts(layout, {0: self.leftovers.pop(n)})[0]
        layout.used.update(range(len(layout.atoms)))
        self.parts[k].append(FigurePart(n, layout.displayed(grown), "page", PAGE_CONFIDENCE))


def assign_other_pages(
    layouts: Sequence[PageLayout], located: LocatedCaptions, parts: dict[int, list[FigurePart]]
) -> None:
    """Give captions without graphics those of another page, and join graphics-only pages to the figure they continue.

    A caption may stand on the facing page; in manuscripts all captions come first and the figures follow, one a page,
    often under their bare label.
    """
    boxes = {n: _leftover(layout) for n, layout in enumerate(layouts) if n > 0 or len(layouts) == 1}
    pages = _Pages(layouts, {n: box for n, box in boxes.items() if box is not None}, parts)
    missing = [k for k in range(len(located.captions)) if not parts.get(k)]
    missing = [k for k in missing if not _took_labelled_page(pages, located, k)]
    bare = [n for n in sorted(pages.leftovers) if not any(c.is_figure for c in layouts[n].captions)]
    if missing and len(missing) == len(bare) == len(located.captions):
        for k, n in zip(missing, bare, strict=True):
            pages.take(k, n)
        return
    for k in missing:
        home = located.captions[k].boxes[0].page
        for n in (home - 1, home + 1, located.captions[k].boxes[-1].page + 1):
            if n in pages.leftovers and n in bare:
                pages.take(k, n)
                break
    _join_continuations(pages, bare)


def _took_labelled_page(pages: _Pages, located: LocatedCaptions, k: int) -> bool:
    """Give a caption the page on which its bare label stands; say whether there is one."""
    number = located.captions[k].number
    for other in located.others:
        if other.kind == "figure" and other.number == number != "" and other.boxes[0].page in pages.leftovers:
            pages.take(k, other.boxes[0].page)
            return True
    return False


def _join_continuations(pages: _Pages, bare: Sequence[int]) -> None:
    """Give pages of graphics only to the one large figure beside them."""
    for n in sorted(pages.leftovers):
        if n not in bare or pages.layouts[n].body_lines > MAX_BODY_LINES:
            continue
        for neighbour in (n - 1, n + 1):
            touching = [
                k
                for k, found in sorted(pages.parts.items())
                for part in found
                if part.page == neighbour
                and height(part.box) > CONTINUED_HEIGHT * pages.layouts[neighbour].original.height
            ]
            if len(touching) == 1:
                pages.take(touching[0], n)
                break
