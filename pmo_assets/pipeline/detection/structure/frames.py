"""Framed pictures: rows and grids of rectangles with a drawn border, whatever they show.

White pictures on white (receptive fields, segmentation masks, heat maps with empty cells) have no filled area that
would tell them from a drawing; their border does. A single frame may be a plot's axes or a text box of a flow diagram,
so only frames that stand side by side, alike and close together, count.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.structure.components import connected_components
from pmo_assets.pipeline.detection.structure.gutters import Canvas, Rect

SIDE_COVERED = 0.95
"""Share of each side of a frame that must be drawn: ticks and marks may interrupt it, an arc or a bar does not pass."""

COMPLETED_COVERED = 0.8
"""The same where a grid lets expect a frame: pale borders and heat maps with pale cells break off."""

ALIKE = 0.05
"""Frames of one grid differ less than this in width and height: they are drawn by one programme."""

CLOSE = 0.2
"""Gap between neighbours, as a share of their side: the boxes of a flow diagram leave room for arrows."""

LEAST_GROUP = 3
"""Two equal frames side by side may be two plots, whose axis text belongs to them."""


def drawn_frames(canvas: Canvas, rect: Rect, least_side: float) -> list[Rect]:
    """Return connected drawings whose four outer sides are straight lines, at least `least_side` pixels long."""
    left, top, right, bottom = rect
    ink = np.ascontiguousarray(canvas.ink[top:bottom, left:right])
    length = max(3, int(least_side)) | 1  # an even line would shift what it opens by half a pixel
    lines = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((1, length), np.uint8))
    lines |= cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((length, 1), np.uint8))
    found = []
    for x, y, w, h in connected_components(lines).boxes.tolist():
        if min(w, h) >= length and _is_framed(lines[y : y + h, x : x + w]):
            found.append((left + x, top + y, left + x + w, top + y + h))
    return found


def _is_framed(part: NDArray[np.uint8]) -> bool:
    """Say whether each side of a mask is covered, within two pixels of its rim (antialiasing, line joins)."""
    rims = (part[:2].max(axis=0), part[-2:].max(axis=0), part[:, :2].max(axis=1), part[:, -2:].max(axis=1))
    return all(float(rim.mean()) >= SIDE_COVERED for rim in rims)


def framed_grid(canvas: Canvas, rect: Rect, least_side: float) -> list[Rect]:
    """Return the frames that belong to rows or grids of at least `LEAST_GROUP`, in reading order; often none.

    Args:
        canvas: the figure.
        rect: where to look, pixels.
        least_side: smaller frames are symbols, pixels.
    """
    frames = drawn_frames(canvas, rect, least_side)
    group = list(range(len(frames)))
    for i, a in enumerate(frames):
        for j, b in enumerate(frames[:i]):
            if group[i] != group[j] and _are_neighbours(a, b):
                group = [group[j] if g == group[i] else g for g in group]
    kept = [frame for frame, g in zip(frames, group, strict=True) if group.count(g) >= LEAST_GROUP]
    return sorted(_completed(canvas, rect, kept), key=lambda frame: (frame[1], frame[0])) if kept else []


def _completed(canvas: Canvas, rect: Rect, frames: list[Rect]) -> list[Rect]:
    """Add to a grid the neighbours of its frames whose own border is pale, broken, or tied to something else."""
    left, top, right, bottom = rect
    ink = np.ascontiguousarray(canvas.ink[top:bottom, left:right])
    # A border may lie a pixel beside its place; which place is exact, the ink itself tells.
    wide, sharp = _LineSums(cv2.dilate(ink, np.ones((3, 3), np.uint8))), _LineSums(ink)
    found = list(frames)
    waiting = list(frames)
    while waiting:
        x0, y0, x1, y1 = waiting.pop()
        w, h = x1 - x0, y1 - y0
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            best: tuple[float, Rect] = (0.0, (0, 0, 0, 0))
            for gap in range(int(CLOSE * (w if dx else h)) + 1):
                for shift in (0, -1, 1):
                    x = x0 - left + dx * (w + gap) + (shift if dy else 0)
                    y = y0 - top + dy * (h + gap) + (shift if dx else 0)
                    place = (x, y, x + w, y + h)
                    covered = min(wide.sides(place))
                    value = covered + sum(sharp.sides(place))
                    if covered >= COMPLETED_COVERED and value > best[0]:
                        best = (value, (left + x, top + y, left + x + w, top + y + h))
            if best[0] and not any(_shared(best[1], other) for other in found):
                found.append(best[1])
                waiting.append(best[1])
    return found


class _LineSums:
    """Sums of a mask, uint8 (h, w), along its rows and columns: any line's coverage at once."""

    def __init__(self, mask: NDArray[np.uint8]) -> None:
        self.along = np.pad(np.cumsum(mask, axis=1, dtype=np.int32), ((0, 0), (1, 0)))
        self.down = np.pad(np.cumsum(mask, axis=0, dtype=np.int32), ((1, 0), (0, 0)))

    def sides(self, place: Rect) -> tuple[float, float, float, float]:
        """Return the covered share of top, bottom, left and right side; zeros when the place leaves the mask."""
        x0, y0, x1, y1 = place
        if x0 < 0 or y0 < 0 or x1 > self.down.shape[1] or y1 > self.along.shape[0]:
            return (0.0, 0.0, 0.0, 0.0)
        across, tall = x1 - x0, y1 - y0
        return (
            float(self.along[y0, x1] - self.along[y0, x0]) / across,
            float(self.along[y1 - 1, x1] - self.along[y1 - 1, x0]) / across,
            float(self.down[y1, x0] - self.down[y0, x0]) / tall,
            float(self.down[y1, x1 - 1] - self.down[y0, x1 - 1]) / tall,
        )


def _shared(a: Rect, b: Rect) -> bool:
    """Say whether two rectangles overlap by more than their borders."""
    across, down = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return across > 0.05 * (a[2] - a[0]) and down > 0.05 * (a[3] - a[1])


def _are_neighbours(a: Rect, b: Rect) -> bool:
    """Say whether two frames are of one size and stand side by side, close together."""
    sizes = [(a[2] - a[0], b[2] - b[0]), (a[3] - a[1], b[3] - b[1])]
    if any(min(pair) < (1 - ALIKE) * max(pair) for pair in sizes):
        return False
    for axis in (0, 1):
        along, across = axis, 1 - axis
        gap = max(a[along] - b[along + 2], b[along] - a[along + 2])
        shift = abs(a[across] - b[across])
        if 0 <= gap <= CLOSE * sizes[along][0] and shift <= ALIKE * sizes[across][0]:
            return True
    return False
