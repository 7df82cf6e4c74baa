"""Other pages: figures that do not stand on the page of their caption, and pages on which a figure goes on."""

from __future__ import annotations

from collections.abc import Sequence

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


def assign_other_pages(
    layouts: Sequence[PageLayout], located: LocatedCaptions, parts: dict[int, list[FigurePart]]
) -> None:
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
        grown = with_texts(layout, {0: leftovers.pop(n)})[0]
        layout.used.update(range(len(layout.atoms)))
        parts[k].append(FigurePart(n, layout.displayed(grown), "page", PAGE_CONFIDENCE))

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
        if n not in bare or layouts[n].body_lines > MAX_BODY_LINES:
            continue
        for neighbour in (n - 1, n + 1):
            touching = [
                (k, part)
                for k, found in sorted(parts.items())
                for part in found
                if part.page == neighbour and height(part.box) > CONTINUED_HEIGHT * layouts[neighbour].original.height
            ]
            if len(touching) == 1:
                take(touching[0][0], n)
                break
