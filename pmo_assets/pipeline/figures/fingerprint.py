"""Fingerprint of a figure's look, by which the one that people saw is compared with the one that is there now."""

from __future__ import annotations

import hashlib
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.records.reviews import Fingerprint

GRID: Final = 16
"""Cells on a side of the grid that keeps a figure's look."""

SAME_CELL: Final = 3
"""Levels (of 16) by which a cell may differ: another resolution or version of MuPDF moves edges by a pixel."""

SAME_LOOK: Final = 0.5
"""… and by which all cells may differ on average."""

SAME_ASPECT: Final = 0.02
"""Relative difference of the aspect ratios from which boxes would be shifted."""


def fingerprint(pixels: NDArray[np.uint8]) -> Fingerprint:
    """Return the fingerprint of a rendering, (height, width, 3) uint8 RGB."""
    tall, wide = pixels.shape[:2]
    digest = hashlib.sha256(f"{wide}x{tall}:".encode() + np.ascontiguousarray(pixels).tobytes()).hexdigest()
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    levels = cv2.resize(grey, (GRID, GRID), interpolation=cv2.INTER_AREA) // 16
    return Fingerprint(digest, "".join(f"{level:x}" for level in levels.ravel()), wide, tall)


def difference(seen: Fingerprint, present: Fingerprint) -> str | None:
    """Return how a figure differs from the one that people saw; None when it is the same but for its resolution.

    Args:
        seen: by people.
        present: now.
    """
    if seen.sha256 == present.sha256:
        return None
    if abs(seen.width * present.height / (seen.height * present.width) - 1) > SAME_ASPECT:
        return f"it had {seen.width} × {seen.height} pixels and has {present.width} × {present.height}"
    levels = [np.array([int(digit, 16) for digit in item.look], dtype=np.int64) for item in (seen, present)]
    if levels[0].shape != levels[1].shape:
        return "its fingerprint cannot be compared"
    apart = np.abs(levels[0] - levels[1])
    if apart.max(initial=0) > SAME_CELL or apart.mean() > SAME_LOOK:
        return "it looks different"
    return None
