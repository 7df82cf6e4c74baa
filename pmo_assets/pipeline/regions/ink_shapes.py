"""Kind and tip of a mark by the shape of its ink: what is read off a box of pixels where no network reads it.

The ink is what has the colour that differs most from the surroundings and hangs together. Rings have nothing in the
middle and touch all sides; arrows are long and one end is wider than the rest; heads narrow from end to end.
"""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.regions.mark_colours import ink_colour
from pmo_assets.records.geometry import Point
from pmo_assets.records.regions import MarkKind

SIDE: Final = 64
"""Pixels along the larger side of a box at most, to which it is reduced."""

SMALL: Final = 24
"""Pixels below which a box is enlarged, so that edges between pixels count."""

ALIKE: Final = 0.5
"""Part of the way from ink to ground, in the channel that differs most, up to which a pixel is ink."""

STEPS: Final = 12
"""Steps along the axis of a mark at which its width is measured."""

SLENDER: Final = 2.2
"""Ratio of the spreads along and across its axis from which ink is too long for a compact head."""

TRIANGLE: Final = 0.8
"""Part of the least triangle around ink that its hull must fill to be one."""

Mask = NDArray[np.bool_]


def shape_of_ink(pixels: NDArray[np.uint8]) -> tuple[MarkKind, Point | None]:
    """Return the kind of the mark that fills a box, and where it points as fractions of the box.

    Args:
        pixels: (height, width, 3) uint8 RGB of the box, one pixel at least.
    """
    mask = ink_mask(pixels)
    tall, wide = mask.shape
    if int(mask.sum()) < 6:
        return "other", None
    if _is_ring(mask):
        return ("box" if _has_corners(mask) else "circle"), None
    rows, columns = np.nonzero(mask)
    points = np.stack([columns + 0.5, rows + 0.5], axis=1)
    middle = points.mean(axis=0)
    _, spread, axes = np.linalg.svd(points - middle, full_matrices=False)
    along, across = (points - middle) @ axes[0], (points - middle) @ axes[1]
    widths = _widths(along, across)
    ends = np.asarray([widths[: STEPS // 3].max(), widths[-(STEPS // 3) :].max()])
    slender = float(spread[0]) >= 1.15 * float(spread[1])
    if spread[0] < SLENDER * spread[1]:
        tip = _corner(points)
        if tip is not None:
            return "arrowhead", _fraction(tip, wide, tall)
    head = int(np.argmax(ends))
    shaft = max(1.0, min(float(np.median(widths[1:-1])), float(ends[1 - head])))
    if slender and ends[head] >= 1.4 * shaft:
        # A head is widest behind its tip, a triangle at its base; the tip is the farthest ink at its end.
        profile = widths if head == 0 else widths[::-1]
        order = np.argsort(along) if head == 0 else np.argsort(-along)
        if int(np.argmax(profile)) <= 1 and _narrows(profile):
            return "arrowhead", _fraction(points[order[-3:]].mean(axis=0), wide, tall)
        return "arrow", _fraction(points[order[:3]].mean(axis=0), wide, tall)
    return ("asterisk" if spread[0] < 1.5 * spread[1] else "line"), None


def ink_mask(pixels: NDArray[np.uint8]) -> Mask:
    """Return the pixels of the largest piece of ink in a box, brought to 24 to 64 pixels along its larger side."""
    tall, wide = pixels.shape[:2]
    scale = min(1.0, SIDE / max(tall, wide)) if max(tall, wide) >= SMALL else SMALL / max(tall, wide)
    size = (max(3, round(wide * scale)), max(3, round(tall * scale)))
    method = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    small = np.asarray(cv2.resize(pixels, size, interpolation=method), dtype=np.uint8)
    ink = np.asarray(ink_colour(small, (0, 0, *size)), dtype=np.float32)
    ground = np.median(small.reshape(-1, 3), axis=0)
    channel = int(np.argmax(np.abs(ink - ground)))
    reach = max(40.0, ALIKE * float(abs(ink - ground)[channel]))
    close = (np.abs(small - ink).max(axis=2) <= reach).astype(np.uint8)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(close, connectivity=8)
    if count < 2:
        return np.zeros(close.shape, dtype=bool)
    # The pieces that reach far: dashes of a ring are many, a mark's own ink is large.
    extents = stats[1:, 2] * stats[1:, 3]
    large = 1 + int(np.argmax(extents))
    kept = labels == large
    if extents.max() < 0.35 * close.size:
        kept = close.astype(bool)
    return np.asarray(kept)


def _is_ring(mask: Mask) -> bool:
    """Say whether ink goes round: little of it in the middle, some at every side."""
    tall, wide = mask.shape
    inner = mask[round(0.3 * tall) : round(0.7 * tall), round(0.3 * wide) : round(0.7 * wide)]
    y, x = np.nonzero(mask)
    angles = np.arctan2((y + 0.5) / tall - 0.5, (x + 0.5) / wide - 0.5)
    sectors = np.unique(np.floor((angles + np.pi) / (2 * np.pi) * 12).clip(0, 11))
    return bool(inner.size and inner.mean() < 0.12 and len(sectors) >= 10)


def _has_corners(mask: Mask) -> bool:
    """Say whether a ring has ink in the corners of its box, where a circle has none."""
    tall, wide = mask.shape
    y, x = max(1, round(0.13 * tall)), max(1, round(0.13 * wide))
    corners = [mask[:y, :x], mask[:y, -x:], mask[-y:, :x], mask[-y:, -x:]]
    return sum(bool(corner.any()) for corner in corners) >= 3


def _widths(along: NDArray[np.float64], across: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the width of ink at steps along its axis."""
    steps = np.minimum(((along - along.min()) / max(float(np.ptp(along)), 1e-9) * STEPS).astype(int), STEPS - 1)
    return np.asarray([np.ptp(across[steps == k]) + 1 if (steps == k).any() else 0.0 for k in range(STEPS)])


def _narrows(profile: NDArray[np.float64]) -> bool:
    """Say whether widths fall steadily from the first step to the last, as those of a triangle do from its base."""
    steps = np.arange(len(profile))
    slope, start = np.polyfit(steps, profile, 1)
    rest = float(np.abs(profile - (start + slope * steps)).mean())
    return bool(slope < 0 and rest < 0.14 * profile.max() and profile[-1] < 0.45 * profile.max())


def _corner(points: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return the tip of a compact head: the sharpest of the three corners of its hull; None where it has not three."""
    hull = np.asarray(cv2.convexHull(points.astype(np.float32))).reshape(-1, 2)
    area, triangle = cv2.minEnclosingTriangle(hull.reshape(-1, 1, 2))
    if triangle is None or area <= 0:
        return None
    filled = float(cv2.contourArea(hull)) / float(area)
    if filled < TRIANGLE:
        return None
    corners = np.asarray(triangle).reshape(3, 2)
    sides = [float(np.hypot(*(corners[(k + 1) % 3] - corners[(k + 2) % 3]))) for k in range(3)]
    best = max(range(3), key=lambda k: min(sides[k - 1], sides[k - 2]) / max(sides[k - 1], sides[k - 2], 1e-9))
    ink = points[np.argmin(np.hypot(*(points - corners[best]).T))]
    return np.asarray(ink)


def _fraction(point: NDArray[np.float64], wide: int, tall: int) -> Point:
    return (float(point[0]) / wide, float(point[1]) / tall)
