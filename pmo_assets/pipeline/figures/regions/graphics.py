"""Graphics: the bitmaps and paths of a page that may belong to a figure."""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.figures.page import PageContent
from pmo_assets.pipeline.figures.regions.barriers import line_core
from pmo_assets.pipeline.figures.regions.furniture import GRAPHICS_SLACK
from pmo_assets.pipeline.figures.running_text import TextStyle
from pmo_assets.records.geometry import Box, area, height, width

MIN_BITMAP = 0.5
"""Points; a bitmap that is smaller in one direction is a rule, or nothing."""

BACKGROUND_SHARE = 0.5
"""A bitmap that covers more of the page ..."""

BACKGROUND_LINES = 3
"""... and holds so many lines of running text is a background, or the picture of a scanned page."""

MIN_TEXT_BOX = 400.0
"""Square points, from which a path may be a box behind text."""

TEXT_BOX_LINES = 2
"""Lines of running text that make a path a box behind text; of a caption one is enough."""

TABLE_SLACK = (3.0, 6.0, 3.0, 3.0)
"""Points by which the graphics of a table may reach out of its area, per side: a rule stands above the first row."""

MAX_RULE = 3.0
"""Thickness (points) of a rule, at most."""

MIN_UPRIGHT = 40.0
"""Length (points) of a frame's upright edge, at least: a figure with its caption is higher."""

FRAME_ALIGNED = 2.0
"""Ends of a frame's two uprights agree within so many points: round corners are drawn apart."""

FRAME_BAND = 6.0
"""Lines and corners within so many points of a frame's edge are the frame."""

CAPTION_OVERLAP = 0.3
"""A bitmap that reaches under less of a caption's width stands beside it."""

CUT_MARGIN = 0.25
"""Part of a bitmap's height, at top and bottom, that may be white margin below a caption."""


def figure_graphics(
    page: PageContent,
    original: PageContent,
    body: Set[int],
    caption_lines: Set[int],
    tables: Sequence[Box],
    places: Set[tuple[float, ...]],
    style: TextStyle,
) -> NDArray[np.float64]:
    """Return the boxes (n, 4) of bitmaps and paths that may belong to a figure.

    Args:
        page: in its reading direction.
        original: the page as displayed.
        body: lines of running text.
        caption_lines: lines of all captions.
        tables: areas of tables.
        places: where furniture is, page as displayed, see `furniture_graphics`.
        style: of running text.
    """
    caption_boxes = np.array([line_core(page.lines[i]) for i in sorted(caption_lines)]).reshape(-1, 4)
    body_boxes = np.array([line_core(page.lines[i]) for i in sorted(body)]).reshape(-1, 4)
    kept: list[Box] = []
    for bitmap, placed in zip(page.bitmaps, original.bitmaps, strict=True):
        box = bitmap.bbox
        if tuple(round(v) for v in placed.bbox) in places or min(width(box), height(box)) < MIN_BITMAP:
            continue
        if area(box) > BACKGROUND_SHARE * page.width * page.height and (
            count_inside(body_boxes, box) >= BACKGROUND_LINES
        ):
            continue
        trimmed = _without_captions(box, caption_boxes)
        if trimmed is not None:
            kept.append(trimmed)
    visible = ~page.white & ~_frame_parts(page.drawings, caption_boxes)
    drawings = page.drawings[visible]
    placed_drawings = original.drawings[visible]
    if len(drawings):
        keep = np.ones(len(drawings), dtype=bool)
        for k in np.flatnonzero(
            (placed_drawings[:, 3] < style.top + GRAPHICS_SLACK)
            | (placed_drawings[:, 1] > style.bottom - GRAPHICS_SLACK)
        ).tolist():
            keep[k] = tuple(round(v) for v in placed_drawings[k].tolist()) not in places
        sizes = (drawings[:, 2] - drawings[:, 0]) * (drawings[:, 3] - drawings[:, 1])
        # Boxes behind text: they hold a caption, or lines of running text.
        for k in np.flatnonzero(keep & (sizes > MIN_TEXT_BOX)).tolist():
            box = (drawings[k, 0], drawings[k, 1], drawings[k, 2], drawings[k, 3])
            if count_inside(caption_boxes, box) >= 1 or count_inside(body_boxes, box) >= TEXT_BOX_LINES:
                keep[k] = False
        kept += [(a, b, c, d) for a, b, c, d in drawings[keep].tolist()]
    boxes = np.array(kept, dtype=np.float64).reshape(-1, 4)
    for table in tables:
        inside = (
            (boxes[:, 0] >= table[0] - TABLE_SLACK[0])
            & (boxes[:, 1] >= table[1] - TABLE_SLACK[1])
            & (boxes[:, 2] <= table[2] + TABLE_SLACK[2])
            & (boxes[:, 3] <= table[3] + TABLE_SLACK[3])
        )
        boxes = boxes[~inside]
    return boxes


def _frame_parts(drawings: NDArray[np.float64], caption_boxes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mark the lines and corners of frames drawn around a figure together with its caption; returns (n,) bool."""
    parts = np.zeros(len(drawings), dtype=bool)
    if not len(drawings) or not len(caption_boxes):
        return parts
    w, h = drawings[:, 2] - drawings[:, 0], drawings[:, 3] - drawings[:, 1]
    uprights = drawings[(w <= MAX_RULE) & (h > MIN_UPRIGHT)]
    for caption in caption_boxes:
        spans = uprights[(uprights[:, 1] < caption[1]) & (uprights[:, 3] > caption[3])]
        lefts, rights = spans[spans[:, 2] <= caption[0]], spans[spans[:, 0] >= caption[2]]
        for left in lefts:
            for right in rights:
                if max(abs(left[1] - right[1]), abs(left[3] - right[3])) > FRAME_ALIGNED:
                    continue
                frame = (left[0] - 1, left[1] - FRAME_BAND, right[2] + 1, left[3] + FRAME_BAND)
                inside = (
                    (drawings[:, 0] >= frame[0])
                    & (drawings[:, 1] >= frame[1])
                    & (drawings[:, 2] <= frame[2])
                    & (drawings[:, 3] <= frame[3])
                )
                in_band = (
                    (drawings[:, 2] <= frame[0] + FRAME_BAND)
                    | (drawings[:, 0] >= frame[2] - FRAME_BAND)
                    | (drawings[:, 3] <= frame[1] + 2 * FRAME_BAND)
                    | (drawings[:, 1] >= frame[3] - 2 * FRAME_BAND)
                )
                parts |= inside & in_band
    return parts


def count_inside(boxes: NDArray[np.float64], outer: Box) -> int:
    """Count boxes whose centre lies in `outer`."""
    if not len(boxes):
        return 0
    x = (boxes[:, 0] + boxes[:, 2]) / 2
    y = (boxes[:, 1] + boxes[:, 3]) / 2
    return int(((x > outer[0]) & (x < outer[2]) & (y > outer[1]) & (y < outer[3])).sum())


def _without_captions(box: Box, caption_boxes: NDArray[np.float64]) -> Box | None:
    """Cut a bitmap whose (white) margin reaches into a caption; None if the caption lies deep inside it."""
    x0, y0, x1, y1 = box
    for left, top, right, bottom in caption_boxes.tolist():
        if right <= x0 or left >= x1 or bottom <= y0 or top >= y1:
            continue
        if min(right, x1) - max(left, x0) < CAPTION_OVERLAP * (right - left):
            continue
        if top > y0 + (1 - CUT_MARGIN) * (y1 - y0):
            y1 = top
        elif bottom < y0 + CUT_MARGIN * (y1 - y0):
            y0 = bottom
        else:
            return None
    return (x0, y0, x1, y1)
