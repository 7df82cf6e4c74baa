"""Perceptual hash of a picture, 256 bits: the same picture, scaled, compressed or cut by a margin, has nearly the same.

The hash that tells the figures of one article apart (`matching`: imagehash's `phash`, 64 bits) is too short here, where
a million pictures are compared, many of them fundus photographs or B-scans. This one has the same idea, signs of the
lowest frequencies of the cosine transform, with two differences. It keeps 16 × 16 frequencies. And the picture fades
out towards its edges: how much margin a panel was cut with, or which letter stands in its corner, differs between two
articles that show the same picture, and without fading these change more bits than another picture would.
`benchmarks/near_duplicates.py` measures both.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

HASH_SIZE: Final = 16
"""Frequencies on a side."""

HASH_BYTES: Final = HASH_SIZE * HASH_SIZE // 8
"""Length of a hash."""

NO_STRUCTURE: Final = bytes(HASH_BYTES)
"""Hash of pictures that show nothing by which to know them. No other picture has it: half of a hash's bits are set."""

MIN_STRUCTURE: Final = 1.5
"""Least size of half of the frequencies, in grey levels (0-255) of an orthonormal transform; below, their signs are
noise. White paper, a gradient, a black and a white half: 0; a plain disc, noise and its JPEG: up to 0.8; the least of
620 real panels and retinal pictures: 2.6."""

_SIDE: Final = 4 * HASH_SIZE
"""Cells on a side to which a picture is reduced; as in imagehash, four per frequency."""


def perceptual_hash(pixels: NDArray[np.uint8]) -> bytes:
    """Return the perceptual hash of a picture: `HASH_BYTES` bytes, `NO_STRUCTURE` when it is blank or nearly so.

    Two hashes are compared by the number of bits in which they differ, which is even.

    Args:
        pixels: (height, width, 3) uint8 RGB, or (height, width) grey.

    Raises:
        ValueError: if there are no pixels.
    """
    if pixels.size == 0:
        raise ValueError(f"there are no pixels to hash: {pixels.shape}")
    cells = cv2.resize(np.ascontiguousarray(pixels), (_SIDE, _SIDE), interpolation=cv2.INTER_AREA)
    if cells.ndim == 3:
        cells = cv2.cvtColor(cells, cv2.COLOR_RGB2GRAY)
    fading = _fading()
    levels = cells.astype(np.float64)
    levels -= np.vdot(levels, fading) / fading.sum()
    # Imported here: `records.pairing` says why.
    from scipy.fft import dctn

    lowest = dctn(levels * fading, norm="ortho")[:HASH_SIZE, :HASH_SIZE]
    above = lowest - np.median(lowest)
    if float(np.median(np.abs(above))) < MIN_STRUCTURE:
        return NO_STRUCTURE
    return np.packbits(above.ravel() > 0).tobytes()


@cache
def _fading() -> NDArray[np.float64]:
    """Weight of each cell: 1 in the middle half, falling to 0 at the edges (twice a Hann window, capped)."""
    weights = np.minimum(1.0, 2.0 * np.hanning(_SIDE + 2)[1:-1])
    return np.outer(weights, weights)
