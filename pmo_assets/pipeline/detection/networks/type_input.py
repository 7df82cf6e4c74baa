"""Inputs of the image type network: a picture reduced and stretched to a square."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.reducing import reduced, resized

TYPE_SIDE = 160
"""Side of the input in pixels: a fifth of what ImageNet's networks compute at 224 is saved twice over, and thumbnails,
which have fewer pixels anyway, are the hard cases."""


LOOKED_AT = 320
"""Long side in pixels to which large pictures are reduced once, for network and measures alike: twice what either sees,
because reducing a scan of several megapixels takes longer than the network."""


def reduced_picture(crop: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a (height, width, 3) uint8 RGB picture reduced to `LOOKED_AT` pixels on its long side.

    Its short side keeps at least `TYPE_SIDE`; smaller pictures stay as they are.
    """
    if min(crop.shape[:2]) == 0:
        return crop
    scale = max(LOOKED_AT / max(crop.shape[:2]), TYPE_SIDE / min(crop.shape[:2]))
    if scale >= 1:
        return crop
    size = (max(1, round(crop.shape[1] * scale)), max(1, round(crop.shape[0] * scale)))
    return reduced(crop, size, quickly=True)


def type_input(crop: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a (height, width, 3) uint8 RGB picture stretched to (160, 160, 3).

    Stretched and not padded: of a scan three times as wide as high every row counts. The proportions are a measure of
    their own (`measures.FEATURES`).
    """
    return resized(crop, (TYPE_SIDE, TYPE_SIDE))
