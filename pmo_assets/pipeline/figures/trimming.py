"""Trimming: a region is cut to its ink on each page, and rendered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pymupdf
from numpy.typing import NDArray

from pmo_assets.pipeline.figures.caption_location.lines import CaptionLocation
from pmo_assets.pipeline.figures.page import PageContent, loaded_page
from pmo_assets.pipeline.figures.regions.figure_regions import FigureRegion
from pmo_assets.pipeline.figures.rendering import (
    PixelFrame,
    PixelGrid,
    capped_dpi,
    ink_frame,
    native_dpi,
    pixel_grid,
    rendered_frame,
)
from pmo_assets.records.geometry import Box, covered_fraction, expand, height, intersection, width

PROBE_DPI = 144.0
"""Resolution at which ink is looked for when figures are not rendered: two pixels a point."""

STROKE_MARGIN = 0.5
"""Points around a region in which ink still counts: rendering rounds strokes outwards."""

MIN_EXTENT = 1.0
"""Points; what is less wide or high on a page is no part of a figure."""

SNAP = 1.01
"""Pixels within which an edge is a bitmap's edge: one, and rounding."""

SNAP_INSIDE = 0.99
"""Part of a bitmap that lies in the box whose edges may be its own: all, but for rounding."""


@dataclass(frozen=True, slots=True)
class TrimmedPart:
    """A figure on one page, tight on ink.

    Attributes:
        page: the page as displayed.
        bbox: points.
        grid: how points map to pixels.
        frame: its whole pixels on that grid.
        pixels: uint8 (h, w, 3) RGB; None when figures are not rendered.
    """

    page: PageContent
    bbox: Box
    grid: PixelGrid
    frame: PixelFrame
    pixels: NDArray[np.uint8] | None


def caption_masks(pages: Sequence[PageContent], captions: Sequence[CaptionLocation]) -> dict[int, list[Box]]:
    """Return the caption lines per page: their ink is not the figures'."""
    masks: dict[int, list[Box]] = defaultdict(list)
    for caption in captions:
        for page, index in caption.lines:
            masks[page].append(pages[page].lines[index].bbox)
    return masks


def trimmed_parts(
    document: pymupdf.Document,
    pages: Sequence[PageContent],
    region: FigureRegion,
    masks: Mapping[int, list[Box]],
    lists: dict[int, pymupdf.DisplayList],
    *,
    render: bool,
    max_dpi: float,
    max_pixels: int,
) -> tuple[list[TrimmedPart], float]:
    """Trim a region to its ink on each page and render it.

    Args:
        document: open PDF.
        pages: its pages as displayed.
        region: the region, as displayed.
        masks: the caption lines per page, see `caption_masks`.
        lists: keeps the display lists of the pages that are still needed; regions come in the order of their pages.
        render: give pixels; without, ink is looked for at `PROBE_DPI`.
        max_dpi: cap of the resolution.
        max_pixels: cap of the joined picture.

    Returns:
        Its parts, and the resolution (dpi). No parts where there is no ink.
    """
    rough = []
    for box in region.boxes:
        page = pages[box.page]
        bbox = intersection(expand(box.bbox, STROKE_MARGIN), page.frame)
        if min(width(bbox), height(bbox)) > MIN_EXTENT:
            rough.append((page, bbox))
    native = native_dpi(rough, max_dpi)
    dpi = capped_dpi([bbox for _, bbox in rough], native, max_pixels)
    parts = []
    for index in [index for index in lists if index < region.boxes[0].page]:
        del lists[index]
    for page, bbox in rough:
        if page.index not in lists:
            lists[page.index] = loaded_page(document, page.index).get_displaylist(annots=0)
        grid = pixel_grid(page, bbox, dpi)
        probe = grid if render else pixel_grid(page, bbox, min(dpi, PROBE_DPI))
        frame = probe.pixel_frame(bbox)
        pixels = rendered_frame(lists[page.index], probe, frame, gray=not render)
        ignored = []
        for mask in masks.get(page.index, ()):
            common = intersection(mask, bbox)
            if width(common) > 0 and height(common) > 0:
                a, b, c, d = probe.pixel_frame(common)
                ignored.append((a - frame[0], b - frame[1], c - frame[0], d - frame[1]))
        ink = ink_frame(pixels, ignored)
        if ink is None:
            continue
        tight = (ink[0] + frame[0], ink[1] + frame[1], ink[2] + frame[0], ink[3] + frame[1])
        exact = intersection(_snapped(probe.points(tight), page, 1.0 / probe.scale_x), page.frame)
        final = grid.pixel_frame(exact)
        cut = None
        if render:
            final = _inside(final, frame)
            cut = pixels
            if final != frame:
                left, top = final[0] - frame[0], final[1] - frame[1]
                cut = pixels[top : top + final[3] - final[1], left : left + final[2] - final[0]].copy()
        parts.append(TrimmedPart(page, exact, grid, final, cut))
    return parts, dpi


def _inside(frame: PixelFrame, outer: PixelFrame) -> PixelFrame:
    """Return the common pixels of two frames."""
    return (max(frame[0], outer[0]), max(frame[1], outer[1]), min(frame[2], outer[2]), min(frame[3], outer[3]))


def _snapped(box: Box, page: PageContent, pixel: float) -> Box:
    """Move each edge that ends within a pixel of a bitmap's edge onto it: the PDF knows it exactly."""
    edges = list(box)
    for side in range(4):
        near = [b.bbox[side] for b in page.bitmaps if covered_fraction(b.bbox, expand(box, pixel)) > SNAP_INSIDE]
        near = [edge for edge in near if abs(edge - edges[side]) <= pixel * SNAP]
        if near:
            edges[side] = min(near, key=lambda edge: (abs(edge - box[side]), edge))
    return (edges[0], edges[1], edges[2], edges[3])
