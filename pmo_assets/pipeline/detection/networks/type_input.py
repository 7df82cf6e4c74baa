"""What the image type network sees of a picture."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

TYPE_SIDE = 160
"""Side of the input in pixels: a fifth of what ImageNet's networks compute at 224 is saved twice over, and thumbnails,
which have fewer pixels anyway, are the hard cases."""


def type_input(crop: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a (height, width, 3) uint8 RGB picture stretched to (160, 160, 3).

    Stretched and not padded: of a scan three times as wide as high every row counts. The proportions are a measure of
    their own (`measures.FEATURES`).
    """
    smaller = crop.shape[0] * crop.shape[1] > TYPE_SIDE * TYPE_SIDE
    method = cv2.INTER_AREA if smaller else cv2.INTER_LINEAR
    resized = cv2.resize(np.ascontiguousarray(crop), (TYPE_SIDE, TYPE_SIDE), interpolation=method)
    return np.asarray(resized, dtype=np.uint8)
