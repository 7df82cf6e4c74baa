"""Input of the mark classifier: a picture scaled to a square with grey margins."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

MARK_SIDE = 224
"""Pictures are scaled to 224 pixels on the long side: a mark of 4 % is then 9 pixels."""


def mark_input(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a (height, width, 3) picture scaled and centred in a (224, 224, 3) square."""
    tall, wide = pixels.shape[:2]
    scale = MARK_SIDE / max(tall, wide)
    size = (max(1, round(wide * scale)), max(1, round(tall * scale)))
    method = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    square = np.full((MARK_SIDE, MARK_SIDE, 3), 128, np.uint8)
    left, top = (MARK_SIDE - size[0]) // 2, (MARK_SIDE - size[1]) // 2
    square[top : top + size[1], left : left + size[0]] = cv2.resize(
        np.ascontiguousarray(pixels), size, interpolation=method
    )
    return square
