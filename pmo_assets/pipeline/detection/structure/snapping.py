"""Moving the edges of a network's box to those of the picture: its boxes are right, but a little off."""

from __future__ import annotations

import numpy as np

from pmo_assets.pipeline.detection.structure.gutters import Canvas, Rect, normalised_box, pixel_rect, projection, runs
from pmo_assets.records.geometry import Box

REACH = 0.03
"""Edges of the network's boxes are moved by at most this fraction of the figure's sides: its error on such boxes."""


def snapped_box(canvas: Canvas, box: Box) -> Box:
    """Return a normalised box with its edges moved; see `snapped`."""
    tall, wide = canvas.ink.shape
    return normalised_box(snapped(canvas, pixel_rect(box, wide, tall)), wide, tall)


def snapped(canvas: Canvas, rect: Rect) -> Rect:
    """Move each edge of a rectangle to the nearest edge of its content.

    Along each direction, the edge goes to the border of the widest empty strip within reach; without one, to the line
    where the picture changes most against its neighbour. Without a clear change it stays.
    """
    tall, wide = canvas.ink.shape
    edges = list(rect)
    for axis in (0, 1):
        size = edges[axis + 2] - edges[axis]
        reach = max(3, round(min(REACH * (wide if axis == 0 else tall), 0.2 * size)))
        limit = wide if axis == 0 else tall
        # The middle of the box along the other direction: corners may belong to neighbours.
        other = 1 - axis
        margin = (edges[other + 2] - edges[other]) // 10
        for side in (0, 2):
            start, stop = max(0, edges[axis + side] - reach), min(limit, edges[axis + side] + reach)
            if stop - start < 3:
                continue
            window = [0, 0, 0, 0]
            window[axis], window[axis + 2] = start, stop
            window[other], window[other + 2] = (
                edges[other] + margin,
                max(edges[other] + margin + 1, edges[other + 2] - margin),
            )
            moved = start + _edge(
                canvas, (window[0], window[1], window[2], window[3]), axis, side == 0, edges[axis + side] - start
            )
            # Where nothing ends between the guess and the figure's rim, the picture goes on to the rim.
            if moved == edges[axis + side] and (start == 0 if side == 0 else stop == limit):
                moved = 0 if side == 0 else limit
            edges[axis + side] = moved
    if edges[2] - edges[0] < 2 or edges[3] - edges[1] < 2:
        return rect
    return (edges[0], edges[1], edges[2], edges[3])


def _edge(canvas: Canvas, window: Rect, axis: int, first: bool, place: int) -> int:
    """Return where, from the window's start, a picture begins (`first`) or ends; `place` is the guess."""
    empty = projection(canvas.ink, window, axis) == 0
    # A strip at the outer end of the window counts; one that reaches the inner end would be inside the picture.
    strips = [(a, b) for a, b in runs(empty) if (b < len(empty) if first else a > 0)]
    if strips:
        a, b = max(strips, key=lambda s: (min(s[1] - s[0], 6), -abs((s[1] if first else s[0]) - place)))
        return b if first else a
    part = canvas.rgb[window[1] : window[3], window[0] : window[2]].astype(np.int16)
    if 0 in part.shape:
        return place
    lines = part.mean(axis=axis)
    change = np.abs(np.diff(lines, axis=0)).max(axis=1)
    # Far changes need to be stronger: the guess is rarely off by the whole reach.
    weight = 1 - 0.5 * np.abs(np.arange(1, len(lines)) - place) / len(lines)
    best = int(np.argmax(change * weight))
    # A border stands out from the texture around it.
    if change[best] >= max(12.0, 4 * float(np.median(change))):
        return best + 1
    return place
