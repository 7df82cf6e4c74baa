"""Parts of a picture that nobody describes: what clear gutters part, where no caption says how many panels it has.

The cut tree is followed downwards as long as the parts of a node are of one kind: each as large as a panel, and alike
in one of their sides at least. Legends, headings and tick labels belong to their neighbours (`gutters.attach_text`).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from pmo_assets.pipeline.detection.structure.colour_scales import without_scales
from pmo_assets.pipeline.detection.structure.gutters import Canvas, Region, cut_tree, normalised_box
from pmo_assets.records.geometry import Box

LEAST_SIDE: Final = 0.06
"""Part of the figure's side that both sides of a panel have at least: figures have a dozen in a row at most."""

UNLIKE: Final = 0.6
"""Parts whose widths and whose heights both vary by more than this (largest part less the smallest one, by the largest)
are no panels of one row: a curve and its legend, a picture and its scale."""


def bare_parts(canvas: Canvas) -> list[Box]:
    """Return the normalised boxes of the parts between clear gutters; the whole ink as one where nothing parts it."""
    tree = cut_tree(canvas, without_scales(canvas))
    if tree is None:
        return []
    tall, wide = canvas.ink.shape
    return [normalised_box(part.rect, wide, tall) for part in _followed(canvas, tree)]


def _followed(canvas: Canvas, region: Region) -> list[Region]:
    parts = list(region.children)
    if len(parts) < 2 or any(part.text_only for part in parts) or not _are_panels(canvas, parts):
        return [region]
    return [leaf for part in parts for leaf in _followed(canvas, part)]


def _are_panels(canvas: Canvas, parts: list[Region]) -> bool:
    tall, wide = canvas.ink.shape
    widths = sorted(part.rect[2] - part.rect[0] for part in parts)
    heights = sorted(part.rect[3] - part.rect[1] for part in parts)
    if widths[0] < LEAST_SIDE * wide or heights[0] < LEAST_SIDE * tall:
        return False
    spreads = [1 - sides[0] / sides[-1] for sides in (widths, heights)]
    return min(spreads) <= UNLIKE and all(a.rect != b.rect for a, b in pairwise(parts))
