"""Regions that marks point at: sized by what the picture shows there, not by a constant.

An arrow touches what it shows with its tip: before the tip the place and size are looked for at which the picture
differs most from its surroundings. A circle or box holds what it shows; an asterisk lies on it or beside it. Add here:
how a mark of a kind shows its region. Keep out: marks (`marks`), words (`phrases`), several boxes at once (`fusion`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.reducing import reduced
from pmo_assets.records.geometry import Box, clip, crop_box, denormalise, normalise
from pmo_assets.records.regions import Mark

SIDE: Final = 256
"""Pixels of the image's longer side at which structures are looked for: one of 2 % is then 5 pixels wide."""

SIZES: Final = tuple(0.012 * 1.3**k for k in range(9))
"""Half sides of a region as parts of the image's longer side: 1.2 to 10 %, in steps of scale space."""

GAPS: Final = (0.9, 1.2, 1.6)
"""Distance from tip to centre in half sides: the tip touches the structure, or ends a little before it."""

RING: Final = 1.6
"""Half side of the surroundings that a structure is compared with, in its own."""

UNSEEN: Final = 0.04
"""Half side of a region where nothing differs from its surroundings, as part of the longer side."""

LEAST_CONTRAST: Final = 6.0
"""Grey levels (of CIE L*a*b*, 0..255 each, added) by which a structure differs at least."""

MARGIN: Final = 1.25
"""Half side of the region in that of the structure: a region shows the edge of what it is about."""

LINE_MARGIN: Final = 0.02
"""Margin round a line, a bracket or a calliper, as part of the image's longer side."""


def pointed_region(mark: Mark, pixels: NDArray[np.uint8], image: Box) -> Box:
    """Return the box of what a mark shows: normalised [l, t, r, b] in the figure, within the image.

    Args:
        mark: on the image.
        pixels: (height, width, 3) uint8 RGB of the figure.
        image: its box in the figure.
    """
    if mark.kind in ("circle", "box"):
        return clip(mark.box, image)
    left, top, right, bottom = crop_box(image, pixels.shape[1], pixels.shape[0])
    crop = pixels[top:bottom, left:right]
    if min(crop.shape[:2]) < 2:
        return clip(mark.box, image)
    longer = max(crop.shape[:2])
    if mark.kind in ("line", "other"):
        return clip(_grown(mark.box, LINE_MARGIN * longer, pixels.shape[1], pixels.shape[0]), image)
    scale = min(1.0, SIDE / longer)
    size = max(2, round(crop.shape[1] * scale)), max(2, round(crop.shape[0] * scale))
    lab = np.asarray(cv2.cvtColor(reduced(crop, size), cv2.COLOR_RGB2LAB))
    own = _in_pixels(normalise(mark.box, image), size)
    contrast = _Contrast(lab, own)
    best, found = LEAST_CONTRAST, None
    for x, y, half in _places(mark, own, image, size):
        seen = contrast.at(x, y, half)
        if seen > best:
            best, found = seen, (x, y, half)
    if found is None:
        found = _default_place(mark, own, image, size)
    x, y, half = found
    half *= MARGIN
    box = ((x - half) / size[0], (y - half) / size[1], (x + half) / size[0], (y + half) / size[1])
    return clip(denormalise(box, image), image)


class _Contrast:
    """Differences between squares of a picture and their surroundings, without the pixels of the mark itself."""

    def __init__(self, lab: NDArray[np.uint8], mark: Box) -> None:
        """Sum the picture up once.

        Args:
            lab: (height, width, 3) uint8.
            mark: box in pixels, which is left out.
        """
        self.tall, self.wide = lab.shape[:2]
        seen = np.ones((self.tall, self.wide), np.float64)
        left, top, right, bottom = (round(value) for value in mark)
        seen[max(0, top) : max(0, bottom), max(0, left) : max(0, right)] = 0
        if not seen.any():
            seen[:] = 1
        self.counts = np.asarray(cv2.integral(seen))
        self.sums = np.asarray(cv2.integral(lab.astype(np.float64) * seen[:, :, None]))

    def _summed(self, x: float, y: float, half: float) -> tuple[float, NDArray[np.float64]]:
        left, right = (min(max(0, round(v)), self.wide) for v in (x - half, x + half))
        top, bottom = (min(max(0, round(v)), self.tall) for v in (y - half, y + half))

        def of(sums: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.asarray(sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left])

        return float(of(self.counts)), of(self.sums)

    def at(self, x: float, y: float, half: float) -> float:
        """Return the difference at a place (pixels) of a square; 0 where either is not seen."""
        inside, colour = self._summed(x, y, half)
        whole, colours = self._summed(x, y, half * RING)
        if inside < 2 or whole - inside < 2:
            return 0.0
        return float(np.abs(colour / inside - (colours - colour) / (whole - inside)).sum())


def _places(mark: Mark, own: Box, image: Box, size: tuple[int, int]) -> Iterator[tuple[float, float, float]]:
    """Places (x, y, half side in pixels) that a mark may show."""
    halves = [part * max(size) for part in SIZES]
    if mark.tip is None or mark.direction is None:
        x, y = (own[0] + own[2]) / 2, (own[1] + own[3]) / 2
        least = max(own[2] - own[0], own[3] - own[1]) / 2
        for half in halves:
            if half > least:
                yield x, y, half
                yield from (
                    (x + dx * half, y + dy * half, half) for dx, dy in ((-0.7, 0), (0.7, 0), (0, -0.7), (0, 0.7))
                )
        return
    x, y = _tip(mark.tip, image, size)
    angle = math.radians(mark.direction)
    for half in halves:
        for gap in GAPS:
            yield x + gap * half * math.cos(angle), y - gap * half * math.sin(angle), half


def _default_place(mark: Mark, own: Box, image: Box, size: tuple[int, int]) -> tuple[float, float, float]:
    half = UNSEEN * max(size)
    if mark.tip is None or mark.direction is None:
        return (own[0] + own[2]) / 2, (own[1] + own[3]) / 2, max(half, max(own[2] - own[0], own[3] - own[1]) / 2)
    x, y = _tip(mark.tip, image, size)
    angle = math.radians(mark.direction)
    return x + half * math.cos(angle), y - half * math.sin(angle), half


def _tip(tip: tuple[float, float], image: Box, size: tuple[int, int]) -> tuple[float, float]:
    x, y, _, _ = _in_pixels(normalise((*tip, *tip), image), size)
    return x, y


def _in_pixels(box: Box, size: tuple[int, int]) -> Box:
    return box[0] * size[0], box[1] * size[1], box[2] * size[0], box[3] * size[1]


def _grown(box: Box, pixels: float, wide: int, tall: int) -> Box:
    return (box[0] - pixels / wide, box[1] - pixels / tall, box[2] + pixels / wide, box[3] + pixels / tall)
