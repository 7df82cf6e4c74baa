"""The ink in a box of pixels: what has the colour that differs most from the surroundings, and hangs together."""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.regions.mark_colours import ink_colour

SIDE: Final = 64
"""Pixels along the larger side of a box at most, to which it is reduced."""

SMALL: Final = 24
"""Pixels below which a box is enlarged, so that edges between pixels count."""

ALIKE: Final = 0.5
"""Part of the way from ink to ground, in the channel that differs most, up to which a pixel is ink."""

CORNER: Final = 0.13
"""Part of the sides of a box that a corner takes: a circle has no ink in so small a one."""

Mask = NDArray[np.bool_]


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


def has_corners(mask: Mask) -> bool:
    """Say whether ink that goes round is also in three corners of its box at least, where a circle has none."""
    tall, wide = mask.shape
    y, x = max(1, round(CORNER * tall)), max(1, round(CORNER * wide))
    corners = [mask[:y, :x], mask[:y, -x:], mask[-y:, :x], mask[-y:, -x:]]
    return sum(bool(corner.any()) for corner in corners) >= 3
