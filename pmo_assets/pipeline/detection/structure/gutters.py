"""Gutters and the regions between them: the recursive X-Y cut of a figure's pixels.

An X-Y cut (Nagy & Seth 1984) splits a region at the empty rows or columns that cross it completely, and repeats inside
the parts. Here a crossing may be, from the surest to the weakest evidence: empty of ink ("clear"), one colour all along
("uniform": black or coloured backgrounds), almost empty ("sparse": an arrow leads from panel to panel), or a straight
edge across the whole region ("seam": pictures that touch). Rectangles are whole pixels (left, top, right, bottom),
right and bottom exclusive.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.reducing import reduced
from pmo_assets.pipeline.detection.structure.components import Components, connected_components
from pmo_assets.records.geometry import Box

Rect = tuple[int, int, int, int]

ANALYSIS_SIDE = 2000
"""Larger figures are shrunk to this long side: an edge is then known to 1/2000 of the figure."""

INK_CONTRAST = 24
"""Grey levels by which a channel differs from the background to be ink: above JPEG ringing, below pale plot grids."""

TEXT_SIDE = 0.035
"""Largest glyph (fraction of the figure's long side) when no live text tells the scale: 12 pt in a 350 pt column."""

QUALITY = {"clear": 1.0, "uniform": 0.75, "sparse": 0.6, "seam": 0.45}
"""Trust in a cut of each kind; becomes a factor of the region's score."""


@dataclass(frozen=True, eq=False)
class Canvas:
    """A figure prepared for analysis.

    Attributes:
        rgb: (height, width, 3) uint8, at most `ANALYSIS_SIDE` long.
        ink: (height, width) uint8, 1 where there is ink.
        glyph: largest glyph height to be expected, in pixels.
        erased_from: the canvas before identifiers were erased; None when nothing was.
    """

    rgb: NDArray[np.uint8]
    ink: NDArray[np.uint8]
    glyph: float
    erased_from: Canvas | None = None

    @cached_property
    def components(self) -> Components:
        """Connected pieces of the ink, erased identifiers too; found when they are asked for."""
        if self.erased_from is not None:
            return self.erased_from.components
        return connected_components(self.ink)

    @property
    def rect(self) -> Rect:
        """The whole canvas."""
        return (0, 0, self.ink.shape[1], self.ink.shape[0])


@dataclass(frozen=True, slots=True)
class Gutter:
    """A crossing of a region.

    Attributes:
        axis: 0 when it separates left from right, 1 when it separates top from bottom.
        start: first pixel column or row of the gutter.
        stop: first pixel column or row after it; a seam has stop == start.
        kind: a key of `QUALITY`.
    """

    axis: int
    start: int
    stop: int
    kind: str

    @property
    def width(self) -> int:
        """Its extent in pixels."""
        return self.stop - self.start


@dataclass(frozen=True, slots=True)
class Region:
    """A node of the cut tree.

    Attributes:
        rect: tight on ink.
        children: parts in reading order; empty for a leaf.
        gap: width in pixels of the narrowest gutter between the children; 0 for a leaf.
        axis: 0 when the children stand side by side, 1 when they are stacked.
        text_only: nothing in it is larger than a glyph.
        certain: known to be a picture, however small.
    """

    rect: Rect
    children: tuple[Region, ...] = ()
    gap: float = 0.0
    axis: int = 0
    text_only: bool = False
    certain: bool = False


def ink_mask(rgb: NDArray[np.uint8], background: tuple[int, int, int] = (255, 255, 255)) -> NDArray[np.uint8]:
    """Return (height, width) uint8 with 1 where any channel differs from `background` by more than `INK_CONTRAST`."""
    if background == (255, 255, 255):
        paper = cv2.inRange(rgb, (255 - INK_CONTRAST,) * 3, (255, 255, 255))
        return np.asarray(np.asarray(paper) == 0, dtype=np.uint8)
    far = cv2.absdiff(rgb, np.full_like(rgb, background))
    largest: NDArray[Any] = cv2.max(cv2.max(far[:, :, 0], far[:, :, 1]), far[:, :, 2])
    return np.asarray(largest > INK_CONTRAST, dtype=np.uint8)


def border_colour(rgb: NDArray[np.uint8]) -> tuple[int, int, int] | None:
    """Return the colour of the figure's rim when most of the rim has it (a coloured or black background), else None."""
    rim = np.concatenate([rgb[0], rgb[-1], rgb[:, 0], rgb[:, -1]]).astype(np.int16)
    colour = np.median(rim, axis=0)
    alike = (np.abs(rim - colour).max(axis=1) <= INK_CONTRAST).mean()
    # 0.7: panels may touch the rim, but a photograph's own edge hardly ever has one colour on 70 % of it.
    return (int(colour[0]), int(colour[1]), int(colour[2])) if alike >= 0.7 else None


def shrunk(pixels: NDArray[np.uint8], side: int = ANALYSIS_SIDE) -> NDArray[np.uint8]:
    """Return the picture with its long side at most `side` pixels (area averaging); unchanged when it is smaller."""
    scale = side / max(pixels.shape[:2])
    if scale >= 1:
        return pixels
    size = (max(1, round(pixels.shape[1] * scale)), max(1, round(pixels.shape[0] * scale)))
    return reduced(pixels, size, quickly=True)


def canvas_of(
    pixels: NDArray[np.uint8], solid: tuple[Box, ...] = (), glyph: float | None = None, dark: bool = False
) -> Canvas:
    """Prepare a figure for analysis.

    Args:
        pixels: (height, width, 3) uint8 RGB.
        solid: normalised boxes to be treated as ink all over (embedded bitmaps), so that no cut enters them.
        glyph: largest glyph as a fraction of the long side; None takes `TEXT_SIDE`.
        dark: take the rim's colour for background instead of white, when it has one.

    Raises:
        ValueError: if the picture is empty or not (height, width, 3).
    """
    if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.size == 0:
        raise ValueError(f"expected (height, width, 3) pixels, got {pixels.shape}")
    rgb = np.ascontiguousarray(shrunk(pixels))
    height, width = rgb.shape[:2]
    rim = border_colour(rgb) if dark else None
    # A rim that is nearly white is paper: keep the fixed threshold so that scans' off-white does not matter.
    ink = ink_mask(rgb, rim) if rim is not None and min(rim) < 255 - INK_CONTRAST else ink_mask(rgb)
    for box in solid:
        left, top, right, bottom = pixel_rect(box, width, height)
        ink[top:bottom, left:right] = 1
    size = (glyph if glyph is not None else TEXT_SIDE) * max(height, width)
    return Canvas(rgb, ink, max(6.0, size))


def pixel_rect(box: Box, width: int, height: int) -> Rect:
    """Return a normalised box as whole pixels inside a picture of the given size."""
    left, right = (min(max(round(v * width), 0), width) for v in (box[0], box[2]))
    top, bottom = (min(max(round(v * height), 0), height) for v in (box[1], box[3]))
    return (left, top, right, bottom)


def overlap(a: Rect, b: Rect) -> bool:
    """Say whether two rectangles share pixels."""
    return min(a[2], b[2]) > max(a[0], b[0]) and min(a[3], b[3]) > max(a[1], b[1])


def normalised_box(rect: Rect, width: int, height: int) -> Box:
    """Return a pixel rectangle as fractions of a picture of the given size."""
    return (rect[0] / width, rect[1] / height, rect[2] / width, rect[3] / height)


def projection(mask: NDArray[np.uint8], rect: Rect, axis: int) -> NDArray[np.int32]:
    """Return the number of ink pixels per column (axis 0) or per row (axis 1) of `rect`."""
    part = mask[rect[1] : rect[3], rect[0] : rect[2]]
    if part.size == 0:
        return np.zeros(part.shape[1 - axis], dtype=np.int32)
    return np.asarray(cv2.reduce(part, axis, cv2.REDUCE_SUM, dtype=cv2.CV_32S), dtype=np.int32).ravel()


def trimmed(mask: NDArray[np.uint8], rect: Rect) -> Rect | None:
    """Return `rect` shrunk to its ink; None when it holds none."""
    columns = np.flatnonzero(projection(mask, rect, 0))
    if columns.size == 0:
        return None
    left, right = rect[0] + int(columns[0]), rect[0] + int(columns[-1]) + 1
    rows = np.flatnonzero(projection(mask, (left, rect[1], right, rect[3]), 1))
    return (left, rect[1] + int(rows[0]), right, rect[1] + int(rows[-1]) + 1)


def runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return [start, stop) of every run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def interior_gutters(flags: NDArray[np.bool_], axis: int, origin: int, kind: str, least: float) -> list[Gutter]:
    """Return the runs of `flags` at least `least` pixels wide that do not touch an end."""
    return [
        Gutter(axis, origin + a, origin + b, kind)
        for a, b in runs(flags)
        if b - a >= least and a > 0 and b < len(flags)
    ]


def clear_gutters(canvas: Canvas, rect: Rect, axis: int, least: float = 2) -> list[Gutter]:
    """Return the crossings of `rect` without ink; see `Gutter` for `axis`."""
    return interior_gutters(projection(canvas.ink, rect, axis) == 0, axis, rect[axis], "clear", least)


def sparse_gutters(canvas: Canvas, rect: Rect, axis: int, least: float = 2, share: float = 0.03) -> list[Gutter]:
    """Return crossings on which at most `share` of the pixels are ink: connecting lines and arrows."""
    across = rect[3] - rect[1] if axis == 0 else rect[2] - rect[0]
    return interior_gutters(projection(canvas.ink, rect, axis) <= share * across, axis, rect[axis], "sparse", least)


def uniform_gutters(canvas: Canvas, rect: Rect, axis: int, least: float = 2) -> list[Gutter]:
    """Return crossings that have one colour from end to end (a black or coloured background)."""
    part = canvas.rgb[rect[1] : rect[3], rect[0] : rect[2]]
    if part.size == 0:
        return []
    if axis == 0:
        high, low = part.max(axis=0).T, part.min(axis=0).T
    else:  # along rows NumPy is fast where their values lie side by side
        planes = np.ascontiguousarray(part.transpose(2, 0, 1))
        high, low = planes.max(axis=2), planes.min(axis=2)
    spread = (high.astype(np.int16) - low).max(axis=0)
    return interior_gutters(spread <= INK_CONTRAST, axis, rect[axis], "uniform", least)


def seams(canvas: Canvas, rect: Rect, axis: int, share: float = 0.6) -> list[Gutter]:
    """Return straight edges that cross the region: borders between pictures that touch.

    A column (row) is a seam when grey changes by more than `INK_CONTRAST` / 2 against its neighbour on at least
    `share` of its length, and by at least twice as much of its length as on the typical column: noise and texture
    change everywhere, a seam only on one line.
    """
    part = canvas.rgb[rect[1] : rect[3], rect[0] : rect[2]]
    if min(part.shape[:2]) < 8:
        return []
    # Every n-th line along the seam is enough for a fraction.
    stride = max(1, part.shape[axis] // 500)
    part = part[::stride] if axis == 0 else part[:, ::stride]
    grey = np.asarray(cv2.cvtColor(np.ascontiguousarray(part), cv2.COLOR_RGB2GRAY), dtype=np.int16)
    step = np.abs(np.diff(grey, axis=1 - axis)) > INK_CONTRAST / 2
    fraction = step.mean(axis=axis)
    wanted = fraction >= max(share, 2 * float(np.median(fraction)))
    margin = max(4, len(fraction) // 20)
    found = []
    for a, b in runs(wanted):
        best = a + int(np.argmax(fraction[a:b])) + 1
        if margin <= best <= len(fraction) - margin and b - a <= 4:
            found.append(Gutter(axis, rect[axis] + best, rect[axis] + best, "seam"))
    return found


def is_text_only(canvas: Canvas, rect: Rect, but: Rect | None = None) -> bool:
    """Say whether every connected piece of ink that is centred in `rect` is at most glyph-sized.

    Args:
        canvas: the figure.
        rect: pixels.
        but: a piece that is not looked at.
    """
    boxes = canvas.components.boxes
    if but is not None:
        boxes = boxes[(boxes[:, :2] != but[:2]).any(axis=1)]
    x, y = boxes[:, 0] + boxes[:, 2] / 2, boxes[:, 1] + boxes[:, 3] / 2
    inside = (x >= rect[0]) & (x <= rect[2]) & (y >= rect[1]) & (y <= rect[3])
    # Two letters may touch in print; a ligature or an underlined word is wider than a glyph but never taller.
    sizes = np.sort(boxes[inside][:, 2:4], axis=1)
    return bool(inside.any()) and bool((sizes[:, 1] <= 2 * canvas.glyph).all() and (sizes[:, 0] <= canvas.glyph).all())


def split_rect(rect: Rect, cuts: list[Gutter]) -> list[Rect]:
    """Return the parts of `rect` between gutters of one axis, in order."""
    parts: list[Rect] = []
    start = rect[cuts[0].axis]
    for cut in [*sorted(cuts, key=lambda g: g.start), None]:
        stop = cut.start if cut is not None else rect[2 + cuts[0].axis]
        if stop > start:
            parts.append((start, rect[1], stop, rect[3]) if cuts[0].axis == 0 else (rect[0], start, rect[2], stop))
        if cut is not None:
            start = cut.stop
    return parts


def attach_text(regions: list[Region], axis: int) -> list[Region]:
    """Merge text-only regions (tick labels, headings, printed identifiers) into their neighbours.

    In a sequence that ends with text (and does not begin with it) text belongs to what precedes it; one that begins
    with text (and does not end with it) has its text before the content; otherwise the nearer neighbour gets it.
    """
    content = [i for i, region in enumerate(regions) if not region.text_only]
    if not content or len(content) == len(regions):
        return regions
    members: dict[int, list[Region]] = {i: [regions[i]] for i in content}
    first_text, last_text = regions[0].text_only, regions[-1].text_only
    for i, region in enumerate(regions):
        if not region.text_only:
            continue
        before = max((k for k in content if k < i), default=None)
        after = min((k for k in content if k > i), default=None)
        if before is None or after is None:
            host = after if before is None else before
        elif first_text != last_text:
            host = before if last_text else after
        else:
            nearer = (
                region.rect[axis] - regions[before].rect[axis + 2] <= regions[after].rect[axis] - region.rect[axis + 2]
            )
            host = before if nearer else after
        if host is not None:
            members[host].append(region)
    merged = []
    for i in content:
        rects = [region.rect for region in members[i]]
        hull = (min(r[0] for r in rects), min(r[1] for r in rects), max(r[2] for r in rects), max(r[3] for r in rects))
        own = members[i][0]
        merged.append(
            Region(hull, own.children if len(rects) == 1 else (), own.gap if len(rects) == 1 else 0.0, own.axis)
        )
    return merged


def cut_tree(
    canvas: Canvas, rect: Rect | None = None, least: float | None = None, depth: int = 8, attach: bool = True
) -> Region | None:
    """Return the X-Y cut tree of a region; None when it is empty.

    Args:
        canvas: the prepared figure.
        rect: part to cut; None for the whole canvas.
        least: narrowest gutter in pixels; None for 1/5 of a glyph (words stay together, thin gutters still count).
        depth: levels of cutting; 8 levels suffice for a grid in a grid in a grid.
        attach: merge text-only parts into their neighbours.
    """
    least = least if least is not None else max(3.0, canvas.glyph / 5)
    tight = trimmed(canvas.ink, rect or canvas.rect)
    if tight is None:
        return None
    if depth <= 0 or is_text_only(canvas, tight):
        return Region(tight, text_only=is_text_only(canvas, tight))
    choices = [clear_gutters(canvas, tight, axis, least) for axis in (0, 1)]
    widest = [max((g.width for g in gutters), default=0) for gutters in choices]
    if not any(widest):
        inner = inside_frame(canvas, tight)
        inside = cut_tree(canvas, inner, least, depth - 1, attach) if inner is not None else None
        if inside is not None and inside.children:
            return Region(tight, inside.children, inside.gap, inside.axis)
        return Region(tight)
    axis = 0 if widest[0] >= widest[1] else 1
    # Gutters of one grid differ by trimming; half of the widest keeps them together and tick labels apart.
    chosen = [g for g in choices[axis] if g.width >= widest[axis] / 2]
    parts = [cut_tree(canvas, part, least, depth - 1, attach) for part in split_rect(tight, chosen)]
    regions = [part for part in parts if part is not None]
    if attach:
        regions = attach_text(regions, axis)
    if len(regions) == 1:
        return Region(tight, regions[0].children, regions[0].gap, regions[0].axis)
    gaps = [b.rect[axis] - a.rect[axis + 2] for a, b in pairwise(regions)]
    return Region(tight, tuple(regions), float(max(0, min(gaps))), axis)


def inside_frame(canvas: Canvas, rect: Rect) -> Rect | None:
    """Return the inside of a thin frame that encloses all of `rect`; None when there is no such frame."""
    limit = max(3, round(canvas.glyph / 3))
    edges = []
    for axis in (0, 1):
        across = rect[3] - rect[1] if axis == 0 else rect[2] - rect[0]
        full = projection(canvas.ink, rect, axis) >= 0.95 * across
        for flags in (full, full[::-1]):
            thickness = int(np.argmin(flags)) if not flags.all() else len(flags)
            if not 0 < thickness <= limit:
                return None
            edges.append(thickness)
    left, right, top, bottom = edges
    inner = (rect[0] + left + 1, rect[1] + top + 1, rect[2] - right - 1, rect[3] - bottom - 1)
    return inner if inner[2] - inner[0] > 2 * limit and inner[3] - inner[1] > 2 * limit else None


def leaves(region: Region) -> list[Region]:
    """Return the regions of a tree that are not cut further, in reading order."""
    return [leaf for child in region.children for leaf in leaves(child)] if region.children else [region]


def ink_share(canvas: Canvas, rect: Rect) -> float:
    """Return which fraction of `rect` is ink: near 1 in photographs, low in plots and drawings."""
    part = canvas.ink[rect[1] : rect[3], rect[0] : rect[2]]
    return float(cv2.countNonZero(np.ascontiguousarray(part))) / part.size if part.size else 0.0
