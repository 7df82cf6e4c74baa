"""Regions of a panel from several boxes: those that marks show, and those that a vision-language model names.

The order is Panel2Patch's (section 3.1.2 and supplement 6.4): boxes of the model far from every mark go, then union,
clipping, limits of area and aspect, suppression, and merging of boxes that overlap and whose texts agree. Marks without
such a box nearby, which the paper expands about their centre by a factor, were sized before by what the picture shows
at them (`pointed_regions`): no factor betters that. The paper leaves its limits out; `benchmarks/score_regions.py`
draws the curves that ours were read from. Add here: rules about several boxes. Keep out: the box of one mark.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pmo_assets.pipeline.regions.text_similarity import TextSimilarity, term_similarity
from pmo_assets.records.geometry import (
    Box,
    area,
    centre,
    clip,
    height,
    intersection,
    iou,
    non_maximum_suppression,
    union_box,
    width,
)
from pmo_assets.records.regions import Region

TAU: Final = 0.1
"""Distance of a model's box from the nearest mark's region at most, between centres, in the panel's diagonal: all
boxes at a marked finding are nearer, 8 % of those anywhere."""

LEAST_AREA, MOST_AREA = 0.0002, 0.5
"""Area of a region as part of its panel: specks of 1 %, and what is the panel itself, are no regions. 99 % of rough
boxes round a panel have more than the upper one, no drawn finding has."""

MOST_ASPECT: Final = 12.0
"""Longer side of a region in its shorter one at most: a layer across a scan passes, a line of print does not. No drawn
finding is longer than 2, so that no curve speaks for it."""

NMS_IOU: Final = 0.7
"""Overlap from which the surer of two regions stays (Panel2Patch 6.4)."""

ALIKE: Final = 0.9
"""Similarity of two texts from which their regions, if they overlap, are one (Panel2Patch 6.4)."""

OVERLAP: Final = 0.3
"""Overlap of regions that are merged where their texts agree: 59 % of two rough boxes of one finding have it, 19 % of
those of two that touch."""


def fused_regions(
    shown: Sequence[Region],
    named: Sequence[Region],
    panel: Box,
    *,
    similarity: TextSimilarity = term_similarity,
    tau: float = TAU,
    ratio: float = 1.0,
) -> tuple[Region, ...]:
    """Return the regions of a panel, the surest first where they overlap, in reading order of their boxes.

    Args:
        shown: by marks; all stay, but those that others cover.
        named: by a model; empty when none was asked.
        panel: box of the panel.
        similarity: of two texts, 0..1.
        tau: distance of a model's box from the nearest mark.
        ratio: width of the figure in its height, in pixels: distances and aspects are those that people see.
    """
    nearest = [_nearest(region, shown, panel, ratio) for region in named]
    near = [(region, mark) for region, mark in zip(named, nearest, strict=True) if mark is not None and mark[0] <= tau]
    boxes = [*shown, *(_at(shown[mark[1]], region) for region, mark in near if mark is not None)]
    kept = [
        region
        for region in (replace(item, box=clip(item.box, panel)) for item in boxes)
        if _is_sized(region, panel, ratio)
    ]
    merged = _merged(_suppressed(kept, similarity), similarity)
    return tuple(sorted(merged, key=lambda item: (item.box[1], item.box[0], item.marks)))


def _nearest(region: Region, shown: Sequence[Region], panel: Box, ratio: float) -> tuple[float, int] | None:
    """Distance to the nearest region that marks show, in the panel's diagonal, and its position."""
    x, y = centre(region.box)
    diagonal = math.hypot(ratio * width(panel), height(panel)) or 1.0
    return min(
        (
            (math.hypot(ratio * (x - other[0]), y - other[1]) / diagonal, n)
            for n, other in enumerate(centre(item.box) for item in shown)
        ),
        default=None,
    )


def _at(mark: Region, named: Region) -> Region:
    """A model's box with the mark beside it; it is no surer than that mark."""
    return replace(named, marks=mark.marks, confidence=min(named.confidence, mark.confidence))


def _suppressed(regions: Sequence[Region], similarity: TextSimilarity) -> list[Region]:
    """The surest of regions at one place, the surest first.

    What is suppressed leaves its words to the one that stays, where that has none or they agree: a mark that no phrase
    names gets those of the model, and a mark with words the model's description. Different phrases of the authors
    stay both, with a region each: boxes are suppressed, not words.
    """
    order = non_maximum_suppression([item.box for item in regions], [item.confidence for item in regions], NMS_IOU)
    kept, told = [regions[n] for n in order], []
    for region in (regions[n] for n in range(len(regions)) if n not in order):
        k = next(k for k, other in enumerate(kept) if iou(other.box, region.box) > NMS_IOU)
        stays = kept[k]
        if stays.text is None or _agree(stays, region, similarity):
            kept[k] = replace(_joined(stays, region), box=stays.box)
        elif None not in (region.phrase, stays.phrase) and region.phrase != stays.phrase:
            told.append(region)
    return kept + told


def _joined(first: Region, second: Region) -> Region:
    """Two regions as one: both marks, the phrase of a mark before words that a model chose, the box round both."""
    words = second if first.text is None or (first.phrase is None and second.phrase is not None) else first
    return replace(
        first,
        box=union_box([first.box, second.box]),
        marks=tuple(sorted({*first.marks, *second.marks})),
        phrase=words.phrase,
        text=words.text,
        description=first.description or second.description,
        source=first.source if first.source == second.source else "marks and model",
    )


def _agree(first: Region, second: Region, similarity: TextSimilarity) -> bool:
    return first.text is not None and second.text is not None and similarity(first.text, second.text) >= ALIKE


def _is_sized(region: Region, panel: Box, ratio: float) -> bool:
    wide, tall = ratio * width(region.box), height(region.box)
    if min(wide, tall) <= 0 or area(panel) <= 0:
        return False
    share = area(region.box) / area(panel)
    return LEAST_AREA <= share <= MOST_AREA and max(wide, tall) / min(wide, tall) <= MOST_ASPECT


def _merged(regions: Sequence[Region], similarity: TextSimilarity) -> list[Region]:
    """Regions of which those that overlap and say the same are one, with the box round both."""
    found: list[Region] = []
    for region in regions:
        for n, other in enumerate(found):
            if _is_same(region, other, similarity):
                found[n] = _joined(other, region)
                break
        else:
            found.append(region)
    return found


def _is_same(first: Region, second: Region, similarity: TextSimilarity) -> bool:
    return overlap(first.box, second.box) >= OVERLAP and _agree(first, second, similarity)


def overlap(first: Box, second: Box) -> float:
    """Return how far two boxes are one place, 0..1: their IoU, or the part of the smaller one in the other."""
    smaller = min(area(first), area(second))
    return max(iou(first, second), area(intersection(first, second)) / smaller) if smaller > 0 else 0.0
