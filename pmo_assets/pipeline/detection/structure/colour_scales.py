"""Colour scales beside the panels: a bar that runs through colours, with its numbers, is no panel and part of none.

A bar is a narrow filled rectangle whose colour does not change across it and changes steadily along it.
"""

from __future__ import annotations

import numpy as np

from pmo_assets.pipeline.detection.structure.gutters import (
    Canvas,
    Rect,
    clear_gutters,
    is_text_only,
    split_rect,
    trimmed,
)

SLENDER, WIDEST, FILLED = 4.0, 0.06, 0.8
"""A bar is at least so many times as long as wide, at most this part of the figure's long side wide, and so far filled:
compression frays its edges."""

LEAST_SIDE = 5
"""Narrower bars, in pixels, are lines."""

ACROSS, STEP, RANGE = 16, 40, 100
"""Grey levels by which a bar's colour differs across it at most, between neighbouring twentieths at most (in the mean
of the channels), and between its ends and middle at least (in one channel)."""


def colour_bars(canvas: Canvas) -> list[Rect]:
    """Return the bars of colour scales, pixels."""
    side = max(canvas.ink.shape)
    found = []
    for number, (x, y, w, h) in enumerate(canvas.components.boxes.tolist()):
        short, long = min(w, h), max(w, h)
        if short < LEAST_SIDE or long < SLENDER * short or short > WIDEST * side:
            continue
        if canvas.components.size(number) < FILLED * w * h:
            continue
        if _is_ramp(canvas, (x, y, x + w, y + h)):
            found.append((x, y, x + w, y + h))
    return found


def _is_ramp(canvas: Canvas, rect: Rect) -> bool:
    """Say whether the colour changes along the longer side of a rectangle only, and steadily."""
    part = canvas.rgb[rect[1] : rect[3], rect[0] : rect[2]].astype(np.float64)
    if part.shape[0] < part.shape[1]:
        part = part.transpose(1, 0, 2)
    # Borders and their blur are no part of the ramp.
    margin, end = max(1, part.shape[1] // 5), max(1, part.shape[0] // 20)
    part = part[end:-end, margin:-margin]
    if part.shape[0] < 20 or part.shape[1] < 2:
        return False
    across = np.ptp(part, axis=1).max(axis=1)
    steps = np.stack([piece.mean(axis=(0, 1)) for piece in np.array_split(part, 20)])
    change = np.abs(np.diff(steps, axis=0)).mean(axis=1)
    return bool(
        np.median(across) <= ACROSS
        and change.max() <= STEP
        and np.ptp(steps, axis=0).max() >= RANGE
        and np.count_nonzero(change >= 1) >= 15
    )


def without_scales(canvas: Canvas, keep: tuple[Rect, ...] = ()) -> Rect:
    """Return the figure's rectangle without outer strips that hold nothing but a colour scale and its print.

    Args:
        canvas: the figure.
        keep: rectangles that no strip may hold (printed identifiers).
    """
    rect = trimmed(canvas.ink, canvas.rect) or canvas.rect
    for bar in colour_bars(canvas):
        axis = 0 if bar[2] - bar[0] < bar[3] - bar[1] else 1
        for cut in clear_gutters(canvas, rect, axis):
            before, after = split_rect(rect, [cut])
            strip, rest = (before, after) if bar[axis + 2] <= cut.start else (after, before)
            if bar[axis] < cut.stop and bar[axis + 2] > cut.start:
                continue
            # A scale with its numbers takes the smaller part of the figure.
            if strip[axis + 2] - strip[axis] > 0.25 * (rect[axis + 2] - rect[axis]):
                continue
            if any(_holds(strip, place) for place in keep) or not is_text_only(canvas, strip, but=bar):
                continue
            rect = trimmed(canvas.ink, rest) or rest
            break
    return rect


def _holds(rect: Rect, inner: Rect) -> bool:
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return rect[0] <= x <= rect[2] and rect[1] <= y <= rect[3]
