"""Growth: figures take in the text that belongs to them (identifiers, axis labels, legends)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pmo_assets.pipeline.figures.regions.assignment import Assignment
from pmo_assets.pipeline.figures.regions.barriers import LABEL_TRIM, core_box, distance, is_blocked
from pmo_assets.pipeline.figures.regions.page_layout import PageLayout
from pmo_assets.records.geometry import Box, area, contains, expand, intersection, union_box

TEXT_REACH = 1.6
"""Text belongs to a figure up to so many font sizes away: a line that is set off by one empty half-line."""

LETTER_REACH = 2.2
"""Letters and numbers alone (identifiers, labels of arrows) belong to a figure from further away: no heading or
running text is that short."""

LETTERS = 3
"""Characters of such a line, at most."""

MIN_TEXT_SIZE = 0.8
"""Smaller text is as far away as text of this part of the body's size: leading does not shrink with an index."""

ABOVE_CONFIDENCE = 0.9
"""Confidence in a figure above its caption, where most stand ..."""

SIDE_CONFIDENCE = 0.8
"""... and on another side. Both set by hand."""

CAPTION_WEIGHT = 0.3
"""Part of the confidence that hangs on the caption's similarity. Set by hand."""


@dataclass(frozen=True, slots=True)
class FigurePart:
    """A figure on one page.

    Attributes:
        page: 0-based page index.
        box: points, page as given to `figure_regions`.
        side: see `FigureRegion.side`.
        confidence: 0..1.
    """

    page: int
    box: Box
    side: str
    confidence: float


def grown_parts(layout: PageLayout, chosen: Assignment) -> dict[int, FigurePart]:
    """Add to each figure the text that belongs to it: identifiers, axis labels, legends."""
    parts = {}
    regions = {k: union_box(layout.atoms[a] for a in atoms) for k, (_, atoms) in chosen.items()}
    for _, atoms in chosen.values():
        layout.used.update(atoms)
    grown = with_texts(layout, regions)
    for k, (side, _) in chosen.items():
        caption = layout.captions[k].location
        confidence = ABOVE_CONFIDENCE if side == "above" else SIDE_CONFIDENCE
        confidence *= 1 - CAPTION_WEIGHT + CAPTION_WEIGHT * min(1.0, caption.similarity)
        parts[k] = FigurePart(layout.page.index, layout.displayed(grown[k]), side, confidence)
    return parts


def with_texts(layout: PageLayout, regions: Mapping[int, Box]) -> dict[int, Box]:
    """Return regions grown by close text lines, as long as no caption, running text or other region comes inside.

    A line belongs to the nearest region.
    """
    boxes = dict(regions)
    waiting = list(layout.texts)
    growing = True
    while growing and waiting:
        growing = False
        left_over = []
        for key, box, size in waiting:
            text = layout.page.lines[key[1]].text
            reach = (LETTER_REACH if len(text) <= LETTERS else TEXT_REACH) * max(size, MIN_TEXT_SIZE * layout.body_size)
            near = sorted((distance(boxes[k], box), k) for k in boxes)
            is_taken = False
            if near and near[0][0] <= reach:
                k = near[0][1]
                tight = core_box(box, LABEL_TRIM)
                new = union_box([boxes[k], tight])
                others = [boxes[other] for other in boxes if other != k]
                if contains(expand(boxes[k], 1.0), tight) or not (
                    is_blocked(layout.barriers, new) or any(area(intersection(new, other)) > 0 for other in others)
                ):
                    boxes[k] = union_box([boxes[k], box])
                    is_taken = growing = True
            if not is_taken:
                left_over.append((key, box, size))
        waiting = left_over
    return boxes
