"""Inputs of the mark classifier: a picture as a whole, and a second look at its most suspicious places.

Both are squares of 224 pixels. As a whole a picture is scaled to that, so that an arrow of 2 % is 4 pixels: enough to
suspect one, not to tell it from print. The second look shows four places side by side, at the picture's own resolution;
the network's votes for the whole picture say which.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.reducing import reduced, resized

MARK_SIDE = 224
"""Pictures as a whole are scaled to 224 pixels on the long side: a mark of 4 % is then 9 pixels."""

WINDOW = MARK_SIDE // 2
"""Pixels along each side of a place of the second look; four of them fill the network's input."""

SECOND_SIDE = 640
"""Long side in pixels to which larger pictures are scaled for the second look: a mark of 1 % is then 6 pixels, and four
windows show an eighth of the picture or more."""

GAIN = 1.25
"""The second look must show things larger than the first by this factor to be worth its time."""

MARGIN = 128
"""Grey value around pictures that do not fill the square."""


def mark_input(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a (height, width, 3) picture scaled and centred in a (224, 224, 3) square."""
    tall, wide = pixels.shape[:2]
    scale = MARK_SIDE / max(tall, wide)
    size = (max(1, round(wide * scale)), max(1, round(tall * scale)))
    square = np.full((MARK_SIDE, MARK_SIDE, 3), MARGIN, np.uint8)
    left, top = (MARK_SIDE - size[0]) // 2, (MARK_SIDE - size[1]) // 2
    square[top : top + size[1], left : left + size[0]] = resized(pixels, size)
    return square


def second_scale(tall: int, wide: int) -> float | None:
    """Return the scale of the second look at a picture; None when the first one shows as much."""
    scale = min(1.0, SECOND_SIDE / max(tall, wide))
    return scale if scale * max(tall, wide) >= GAIN * MARK_SIDE else None


def scaled(pixels: NDArray[np.uint8], scale: float) -> NDArray[np.uint8]:
    """Return a picture at the second look's scale."""
    if scale >= 1.0:
        return pixels
    size = (max(1, round(pixels.shape[1] * scale)), max(1, round(pixels.shape[0] * scale)))
    return reduced(pixels, size, quickly=True)


def windows_in_square(pixels: NDArray[np.uint8], corners: Sequence[tuple[int, int]]) -> NDArray[np.uint8]:
    """Return up to four windows of a picture, by their left upper corners (x, y), side by side as (224, 224, 3)."""
    square = np.full((MARK_SIDE, MARK_SIDE, *pixels.shape[2:]), MARGIN, np.uint8)
    for number, (left, top) in enumerate(corners[:4]):
        window = pixels[top : top + WINDOW, left : left + WINDOW]
        x, y = WINDOW * (number % 2), WINDOW * (number // 2)
        square[y : y + window.shape[0], x : x + window.shape[1]] = window
    return square


def suspicious_windows(votes: NDArray[np.float32], tall: int, wide: int) -> list[tuple[int, int]]:
    """Return the left upper corners (x, y) of the four windows that hold the strongest votes, strongest first.

    Args:
        votes: (n, n) logits of the places of `mark_input`'s square, of the whole picture.
        tall: pixels of the picture at the second look's scale.
        wide: pixels of it.
    """
    places = votes.shape[0]
    # Pixels of the second look per place; what the square's margins are is no part of the picture.
    step = max(tall, wide) / places
    across = (np.arange(places) + 0.5) * step - (max(tall, wide) - wide) / 2
    down = (np.arange(places) + 0.5) * step - (max(tall, wide) - tall) / 2
    left = np.array(votes, dtype=np.float64)
    left[:, (across < -step / 2) | (across > wide + step / 2)] = -np.inf
    left[(down < -step / 2) | (down > tall + step / 2)] = -np.inf
    across, down = np.clip(across, 0, wide), np.clip(down, 0, tall)
    corners: list[tuple[int, int]] = []
    while len(corners) < 4 and np.isfinite(left).any():
        row, column = np.unravel_index(int(np.argmax(left)), left.shape)
        x = round(min(max(0.0, float(across[column]) - WINDOW / 2), max(0.0, wide - WINDOW)))
        y = round(min(max(0.0, float(down[row]) - WINDOW / 2), max(0.0, tall - WINDOW)))
        corners.append((x, y))
        seen_across = (across >= x) & (across <= x + WINDOW)
        seen_down = (down >= y) & (down <= y + WINDOW)
        left[np.ix_(seen_down, seen_across)] = -np.inf
        left[row, column] = -np.inf
    return corners


def second_look(pixels: NDArray[np.uint8], votes: NDArray[np.float32]) -> NDArray[np.uint8] | None:
    """Return the second look (224, 224, 3) at a picture, None where the first one shows as much.

    Args:
        pixels: (height, width, 3) uint8 RGB.
        votes: (n, n) logits of the first look's places.
    """
    scale = second_scale(*pixels.shape[:2])
    if scale is None:
        return None
    larger = scaled(pixels, scale)
    return windows_in_square(larger, suspicious_windows(votes, *larger.shape[:2]))
