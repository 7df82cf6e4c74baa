"""Input of the networks: figures scaled to one of a few sizes of about equal area."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.reducing import resized

BUCKETS = ((384, 384), (320, 448), (448, 320), (256, 576), (576, 256), (192, 768), (768, 192))
"""Input sizes (height, width): about 147,000 pixels each, so that long figures keep their small print."""


def bucket_of(width: int, height: int, side: int = 0) -> tuple[int, int]:
    """Return the input size (height, width) whose proportions are nearest to a figure's.

    Args:
        width: of the figure, pixels.
        height: the same.
        side: of the square that a network with one input size has; 0 for `BUCKETS`.
    """
    if side:
        return (side, side)
    goal = math.log(max(1, width) / max(1, height))
    return min(BUCKETS, key=lambda b: abs(math.log(b[1] / b[0]) - goal))


def network_input(pixels: NDArray[np.uint8], bucket: tuple[int, int]) -> NDArray[np.uint8]:
    """Return a figure scaled to the input size, (height, width, 3) uint8; proportions change by up to a third."""
    return resized(pixels, (bucket[1], bucket[0]))
