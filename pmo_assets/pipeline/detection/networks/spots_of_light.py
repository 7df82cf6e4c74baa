"""Spots of light on a picture, which the mark network takes for marks: small, bright, round and filled.

Reflexes of lamps, and in ultra-widefield pictures the optic disc. By the annotation guide no mark looks so: arrows and
heads are pointed, stars have rays, circles are outlines. Pictures that look marked are shown to the network again
without such spots: what it still sees then is something else.
"""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.networks.mark_input import SECOND_SIDE, scaled

BRIGHTER: Final = 50
"""Levels by which one channel of a spot exceeds the median of its surroundings, at least."""

LIGHT: Final = 150
"""Level of a spot's brightest channel, at least."""

AROUND: Final = 0.12
"""Side of the surroundings as a part of the picture's longer side: spots are less than half of it."""

COARSER: Final = 4
"""Factor by which the picture is reduced to find its surroundings' median."""

LARGEST: Final = 0.05
"""Sides of a spot as parts of the picture's longer side, at most."""

LEAST_SIZE: Final = 4
"""Pixels of a spot at least."""

LONGEST: Final = 1.9
"""Longer side of a spot, in shorter ones, at most."""

FILLED: Final = (0.62, 0.92)
"""Part of its box that a spot fills: a disc 0.79, a triangle 0.5, a star less, a square 1."""

SPECK: Final = 6
"""Shorter side in pixels up to which a square cannot be told from a disc."""

MOST: Final = 40
"""Bright pieces in a picture at most: more are its texture."""


def without_spots(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a (height, width, 3) uint8 RGB picture without spots of light, no larger than the network looks at it.

    Where there are none it is the picture itself.
    """
    small = scaled(picture, min(1.0, SECOND_SIDE / max(picture.shape[:2])))
    side = max(small.shape[:2])
    above = _highest(cv2.subtract(small, _surroundings(small)))
    bright = ((above >= BRIGHTER) & (_highest(small) >= LIGHT)).astype(np.uint8)
    count, labels, pieces, _ = cv2.connectedComponentsWithStats(bright, connectivity=8)
    if not 1 < count <= MOST + 1:
        return picture
    mask = np.zeros(small.shape[:2], np.uint8)
    for number in range(1, count):
        left, top, w, h, size = pieces[number].tolist()
        if _is_round(w, h, size, LARGEST * side):
            halo = max(2, round(0.5 * max(w, h)))
            part = slice(max(0, top - halo), top + h + halo), slice(max(0, left - halo), left + w + halo)
            mask[part] |= cv2.dilate(np.asarray(labels[part] == number, dtype=np.uint8), _disc(halo))
    if not mask.any():
        return picture
    return np.asarray(cv2.inpaint(np.ascontiguousarray(small), mask, 3, cv2.INPAINT_TELEA), dtype=np.uint8)


def _surroundings(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the median of each pixel's surroundings, found at a quarter of the size: it is smooth."""
    tall, wide = picture.shape[:2]
    size = (max(3, wide // COARSER), max(3, tall // COARSER))
    coarse = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    middle = cv2.medianBlur(coarse, max(3, round(AROUND * max(size))) | 1)
    return np.asarray(cv2.resize(middle, (wide, tall), interpolation=cv2.INTER_LINEAR), dtype=np.uint8)


def _highest(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    # NumPy's maximum over an axis of three takes ten times as long.
    red, green, blue = cv2.split(picture)
    return np.asarray(cv2.max(cv2.max(red, green), blue), dtype=np.uint8)


def _is_round(wide: int, tall: int, size: int, largest: float) -> bool:
    """Say whether a piece of this size fills its box as a disc does."""
    if size < LEAST_SIZE or max(wide, tall) > largest or max(wide, tall) > LONGEST * min(wide, tall):
        return False
    filled = size / (wide * tall)
    return filled >= FILLED[0] and (filled <= FILLED[1] or min(wide, tall) <= SPECK)


def _disc(radius: int) -> NDArray[np.uint8]:
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * radius + 1, 2 * radius + 1)), dtype=np.uint8)
