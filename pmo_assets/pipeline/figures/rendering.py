"""Figures as pixels: rendering at native resolution, finding their ink, joining pages.

The pixel grid is laid on the largest embedded bitmap of the figure, so that its pixels come out as they are stored.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pymupdf
from numpy.typing import NDArray

from pmo_assets.pipeline.figures.page import BitmapPlacement, PageContent
from pmo_assets.records.defaults import MAX_DPI, MAX_PIXELS
from pmo_assets.records.faults import raise_fault
from pmo_assets.records.geometry import Box, area, covered_fraction, height, width

VECTOR_DPI = 300.0
"""Resolution of figures without any bitmap."""

MIN_DPI = 72.0
"""Less is a bitmap stretched over the page; text beside it must stay legible (one pixel a point)."""

GAP_FRACTION = 0.02
"""Pages of one figure are joined with a gap of 2 % of the larger side (paper, Methods, "Figure extraction") ..."""

GAP_PIXELS = 10
"""... but at least so many pixels."""

INK_LEVEL = 240
"""A pixel is ink when its darkest channel is below this: JPEG noise in white margins stays above."""

NATIVE_SHARE = 0.01
"""Bitmaps that cover less of the figure (icons, symbols) do not decide its resolution."""

BITMAP_INSIDE = 0.5
"""Part of a bitmap that lies in the figure whose resolution it may decide."""

SAME_DPI = 0.01
"""Relative difference of resolutions that are one: placements are rounded."""

SQUARE_PIXELS = 0.02
"""Relative difference of a bitmap's scales in x and y; where they differ more, the grid is not laid on its pixels."""

EXACT_PIXEL = 0.02
"""Part of a pixel within which a border counts as exact."""

PixelFrame = tuple[int, int, int, int]
"""Whole pixels (l, t, r, b)."""


@dataclass(frozen=True, slots=True)
class PixelGrid:
    """Mapping of page points to pixels: pixel = (point - origin) * scale.

    Attributes:
        scale_x: pixels per point.
        scale_y: pixels per point; differs from `scale_x` by less than 2 %.
        origin_x: points; lies on a pixel border of the largest bitmap.
        origin_y: points.
    """

    scale_x: float
    scale_y: float
    origin_x: float
    origin_y: float

    def pixel_frame(self, box: Box) -> PixelFrame:
        """Return the whole pixels (l, t, r, b) that cover a box; borders within 1/50 pixel count as exact."""
        left = math.floor((box[0] - self.origin_x) * self.scale_x + EXACT_PIXEL)
        top = math.floor((box[1] - self.origin_y) * self.scale_y + EXACT_PIXEL)
        right = math.ceil((box[2] - self.origin_x) * self.scale_x - EXACT_PIXEL)
        bottom = math.ceil((box[3] - self.origin_y) * self.scale_y - EXACT_PIXEL)
        return left, top, max(right, left + 1), max(bottom, top + 1)

    def points(self, frame: PixelFrame) -> Box:
        """Return the box (points) that whole pixels cover."""
        return (
            frame[0] / self.scale_x + self.origin_x,
            frame[1] / self.scale_y + self.origin_y,
            frame[2] / self.scale_x + self.origin_x,
            frame[3] / self.scale_y + self.origin_y,
        )


def native_dpi(boxes: Sequence[tuple[PageContent, Box]], max_dpi: float = MAX_DPI) -> float:
    """Return the largest resolution among the figure's bitmaps or scanned pages, at most `max_dpi`.

    Without any it is `VECTOR_DPI`.
    """
    best = max((page.scan.dpi for page, _ in boxes if page.scan is not None), default=0.0)
    total = sum(area(box) for _, box in boxes)
    for page, box in boxes:
        for bitmap in _bitmaps_inside(page, box):
            if area(bitmap.bbox) >= NATIVE_SHARE * total:
                best = max(best, bitmap.dpi)
    return min(max(best, MIN_DPI) if best else VECTOR_DPI, max_dpi)


def _bitmaps_inside(page: PageContent, box: Box) -> list[BitmapPlacement]:
    return [bitmap for bitmap in page.bitmaps if covered_fraction(bitmap.bbox, box) > BITMAP_INSIDE]


def pixel_grid(page: PageContent, box: Box, dpi: float) -> PixelGrid:
    """Return the grid for a figure's box at about `dpi`, laid on its largest bitmap of that resolution."""
    scale = dpi / 72.0
    around = [page.scan] if page.scan is not None else _bitmaps_inside(page, box)
    aligned = [b for b in around if abs(b.dpi - dpi) <= SAME_DPI * dpi]
    if not aligned:
        return PixelGrid(scale, scale, box[0], box[1])
    bitmap = max(aligned, key=lambda b: (area(b.bbox), -b.bbox[1], -b.bbox[0]))
    across, down = bitmap.native_width, bitmap.native_height
    whole = bitmap.placed or bitmap.bbox
    if (width(whole) > height(whole)) != (across > down) and abs(across - down) > SQUARE_PIXELS * across:
        across, down = down, across  # placed with a quarter turn
    sx, sy = across / width(whole), down / height(whole)
    if abs(sx - sy) > SQUARE_PIXELS * max(sx, sy) or abs(max(sx, sy) - scale) > SQUARE_PIXELS * scale:
        return PixelGrid(scale, scale, whole[0], whole[1])
    return PixelGrid(sx, sy, whole[0], whole[1])


@contextmanager
def plain_colours() -> Iterator[None]:
    """Leave out ICC colour management while looking for ink.

    Converting colours takes most of the time of a small rendering (setting up one profile costs as much as decoding a
    photograph), and white stays white without it. MuPDF keeps images as they were first loaded, so a document that was
    rendered inside must not give the final pixels.
    """
    pymupdf.TOOLS.set_icc(False)
    try:
        yield
    finally:
        pymupdf.TOOLS.set_icc(True)


def rendered_frame(
    page: pymupdf.DisplayList, grid: PixelGrid, frame: PixelFrame, *, gray: bool = False
) -> NDArray[np.uint8]:
    """Render whole pixels of a page on white; returns uint8 (h, w, 3), or (h, w) if `gray`.

    Parts outside the page are white.
    """
    left, top, right, bottom = frame
    matrix = pymupdf.Matrix(
        grid.scale_x, 0, 0, grid.scale_y, -grid.origin_x * grid.scale_x - left, -grid.origin_y * grid.scale_y - top
    )
    space = pymupdf.csGRAY if gray else pymupdf.csRGB
    # Clip in page points, a quarter pixel inside, so that rounding outwards gives exactly the wanted pixels.
    x0, y0, x1, y1 = grid.points(frame)
    dx, dy = 0.25 / grid.scale_x, 0.25 / grid.scale_y
    pixmap = page.get_pixmap(
        matrix=matrix, colorspace=space, alpha=False, clip=pymupdf.Rect(x0 + dx, y0 + dy, x1 - dx, y1 - dy)
    )
    shape = (pixmap.height, pixmap.width) if gray else (pixmap.height, pixmap.width, 3)
    row = np.frombuffer(pixmap.samples_mv, dtype=np.uint8).reshape(pixmap.height, pixmap.stride)
    pixels = row[:, : pixmap.width * pixmap.n].reshape(shape)
    wanted = (bottom - top, right - left)
    if pixels.shape[:2] == wanted and pixmap.x == 0 and pixmap.y == 0:
        return pixels.copy()
    full = np.full(wanted + shape[2:], 255, dtype=np.uint8)
    x, y = max(pixmap.x, 0), max(pixmap.y, 0)
    part = pixels[max(-pixmap.y, 0) :, max(-pixmap.x, 0) :][: wanted[0] - y, : wanted[1] - x]
    full[y : y + part.shape[0], x : x + part.shape[1]] = part
    return full


def gray_page(page: pymupdf.Page, scale: float) -> NDArray[np.uint8]:
    """Render a whole page as displayed, uint8 (h, w), `scale` pixels a point; white where it cannot be rendered."""
    try:
        pixmap = page.get_pixmap(
            matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csGRAY, alpha=False, annots=False
        )
    except Exception as error:  # one broken page does not lose the others; MuPDF's error classes are not documented
        raise_fault(error)
        size = (max(1, round(page.rect.height * scale)), max(1, round(page.rect.width * scale)))
        return np.full(size, 255, dtype=np.uint8)
    rows = np.frombuffer(pixmap.samples_mv, dtype=np.uint8).reshape(pixmap.height, pixmap.stride)
    return rows[:, : pixmap.width].copy()  # the pixmap's memory goes with it


def ink_frame(
    pixels: NDArray[np.uint8], ignored: Sequence[PixelFrame] = (), level: int = INK_LEVEL
) -> PixelFrame | None:
    """Return the pixels (l, t, r, b) that hold all ink, None for a white picture.

    Args:
        pixels: uint8 (h, w) or (h, w, 3).
        ignored: pixel frames that do not count (caption lines).
        level: a pixel is ink when its darkest channel is below this.
    """
    if ignored:
        pixels = pixels.copy()
        for left, top, right, bottom in ignored:
            pixels[max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)] = 255
    # One axis at a time: NumPy needs fifty times as long for the minimum over two.
    rows = np.flatnonzero(pixels.reshape(len(pixels), -1).min(axis=1) < level)
    columns = np.flatnonzero(pixels.min(axis=0).reshape(pixels.shape[1], -1).min(axis=1) < level)
    if not len(rows) or not len(columns):
        return None
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def capped_dpi(boxes: Sequence[Box], dpi: float, max_pixels: int = MAX_PIXELS) -> float:
    """Return `dpi`, lowered until the joined boxes (points) have at most `max_pixels` pixels."""
    if not boxes:
        return dpi
    across = max(width(box) for box in boxes)
    down = sum(height(box) for box in boxes)
    down += GAP_FRACTION * max(across, down) * (len(boxes) - 1)
    inches = max(across * down / 72.0**2, 1e-9)
    return min(dpi, math.sqrt(max_pixels / inches))


def joined_offsets(sizes: Sequence[tuple[int, int]]) -> tuple[list[int], tuple[int, int]]:
    """Lay out the pages of a figure below each other, left aligned.

    Args:
        sizes: (width, height) in pixels per page.

    Returns:
        The top of each page's part and the size (width, height) of the whole, in pixels.
    """
    largest = max((max(size) for size in sizes), default=0)
    gap = max(round(GAP_FRACTION * largest), GAP_PIXELS)
    tops = []
    y = 0
    for k, (_, h) in enumerate(sizes):
        y += gap if k else 0
        tops.append(y)
        y += h
    return tops, (max((w for w, _ in sizes), default=0), y)


def joined_pixels(parts: Sequence[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """Join the pages of a figure (uint8 (h, w, 3) each) on white, below each other, left aligned.

    Raises:
        ValueError: without any part.
    """
    if not parts:
        raise ValueError("a figure needs at least one part")
    if len(parts) == 1:
        return parts[0]
    tops, (across, down) = joined_offsets([(part.shape[1], part.shape[0]) for part in parts])
    joined = np.full((down, across, 3), 255, dtype=np.uint8)
    for top, part in zip(tops, parts, strict=True):
        joined[top : top + part.shape[0], : part.shape[1]] = part
    return joined
