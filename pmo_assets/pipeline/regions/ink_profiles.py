"""How wide the ink of a thin mark is along its length: where a head is, and whether there is one.

The reader (`marks_network`) sees arrows in most thin marks, and the tip where an arrow is widest. Both ends of a line,
of a calliper, of a bracket look alike; a wedge grows from its tip to its tail; the head of an arrow stands out from the
shaft behind it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.records.geometry import Box, Point, clip, denormalise, expand

SIDE: Final = 96
"""Pixels along the larger side to which a box is brought."""

AIR: Final = 0.12
"""Air around a box, relative to its larger side: its colour is the ground's."""

LEAST_CONTRAST: Final = 20.0
"""Distance of ink and ground in RGB, at least."""

BINS: Final = 16
"""Places along a mark at which its width is taken."""

LEAST_INK: Final = 20
"""Pixels of ink that have a profile, at least."""

ENDS: Final = 0.4
"""Part of a mark that is one of its ends."""

ALIKE: Final = 0.2
"""Difference of the logarithms of the largest widths of both ends, up to which they look alike."""

THIN: Final = 0.1
"""Middle width of a line, relative to its length, at most: Matplotlib's thick arrows have alike ends, too."""

EVEN: Final = 0.95
"""Correlation of place and width from which a shape grows evenly from one end to the other."""

SLENDER: Final = 0.35
"""Largest width of a wedge, relative to its length."""

POINTED: Final = 0.5
"""Width of a wedge's narrow end relative to the widest place, at most."""

EVEN_SHAFT: Final = 1.15
"""Width of a shaft behind its head relative to that a fifth of the length farther, at most: else it is a triangle."""

LEAST_HEAD: Final = 0.7
"""Width of a head relative to the widest place, at least: a flaring tail may be wider, a bump is narrower."""

STANDS_OUT: Final = 1.25
"""Width of a head relative to the narrowest place behind it, at least."""


@dataclass(frozen=True, slots=True)
class InkProfile:
    """Ink of a thin mark along its main axis.

    Attributes:
        widths: (16,) extent across the axis, relative to the length.
        ends: normalised (x, y) in the picture of the first and the last place.
    """

    widths: NDArray[np.float64]
    ends: tuple[Point, Point]


def ink_profile(pixels: NDArray[np.uint8], box: Box) -> InkProfile | None:
    """Return the profile of the ink in a box; None where no ink hangs together.

    Args:
        pixels: (height, width, 3) RGB.
        box: normalised.
    """
    tall, wide = pixels.shape[:2]
    frame = (0.0, 0.0, float(wide), float(tall))
    left, top, right, bottom = denormalise(box, frame)
    air = AIR * max(right - left, bottom - top) + 1
    left, top, right, bottom = (round(v) for v in clip(expand((left, top, right, bottom), air), frame))
    part = pixels[top:bottom, left:right]
    if min(part.shape[:2], default=0) < 4:
        return None
    scale = SIDE / max(part.shape[:2])
    size = (max(4, round(part.shape[1] * scale)), max(4, round(part.shape[0] * scale)))
    method = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    ink = _ink(
        np.asarray(cv2.resize(part, size, interpolation=method), dtype=np.float32), max(2, round(0.8 * air * scale))
    )
    if ink is None:
        return None
    rows, columns = np.nonzero(ink)
    points = np.stack([columns, rows], axis=1).astype(np.float64)
    middle = points.mean(axis=0)
    _, _, axes = np.linalg.svd(points - middle, full_matrices=False)
    along, across = (points - middle) @ axes[0], (points - middle) @ axes[1]
    length = float(np.ptp(along)) + 1
    if length < BINS:
        return None
    places = np.minimum(((along - along.min() + 0.5) / length * BINS).astype(int), BINS - 1)
    widths = np.asarray([np.ptp(across[places == k]) + 1 if (places == k).any() else 0.0 for k in range(BINS)])
    ends = []
    for k, reach in ((0, float(along.min())), (BINS - 1, float(along.max()))):
        at = middle + reach * axes[0] + float(np.median(across[places == k])) * axes[1] + 0.5
        x, y = at / (size[0] / part.shape[1], size[1] / part.shape[0]) + (left, top)
        ends.append((float(x) / wide, float(y) / tall))
    return InkProfile(widths / length, (ends[0], ends[1]))


def _ink(pixels: NDArray[np.float32], rim: int) -> NDArray[np.bool_] | None:
    """Return the piece of ink that reaches farthest; the ground is what lies within `rim` pixels of the edges."""
    inner = np.zeros(pixels.shape[:2], dtype=bool)
    inner[rim:-rim, rim:-rim] = True
    if not inner.any():
        return None
    ground = np.median(pixels[~inner], axis=0)
    apart = np.abs(pixels - ground).max(axis=2)
    strong = inner & (apart >= 0.7 * np.percentile(apart[inner], 97))
    way = np.median(pixels[strong], axis=0) - ground
    square = float(way @ way)
    if square < LEAST_CONTRAST**2:
        return None
    share = (pixels - ground) @ way / square
    beside = np.linalg.norm(pixels - ground - share[..., None] * way, axis=2)
    mask = (share > 0.5) & (beside < 0.5 * square**0.5)
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    if count < 2:
        return None
    reach = np.hypot(stats[1:, cv2.CC_STAT_WIDTH], stats[1:, cv2.CC_STAT_HEIGHT])
    kept = np.asarray(labels == 1 + int(np.argmax(reach)))
    return kept if kept.sum() >= LEAST_INK else None


def has_like_ends(profile: InkProfile) -> bool:
    """Say whether a thin mark's ends look alike: it has no head, or one at each end, or bars."""
    count = round(ENDS * BINS)
    first, last = float(profile.widths[:count].max()), float(profile.widths[-count:].max())
    return abs(np.log(first / last)) < ALIKE and float(np.median(profile.widths)) < THIN


def tip_of_profile(profile: InkProfile) -> Point | None:
    """Return where a slender mark points by its widths; None where they do not tell.

    That is the end with a head: a place that stands out from what is behind it. Of marks without one that grow evenly
    from one end to the other, wedges, it is the narrow end.
    """
    widths = profile.widths
    heads = [_has_head(widths), _has_head(widths[::-1])]
    if heads[0] != heads[1]:
        return profile.ends[0 if heads[0] else 1]
    growth = float(np.corrcoef(np.arange(BINS), widths)[0, 1]) if np.ptp(widths) > 0 else 0.0
    pointed = min(widths[0], widths[-1]) <= POINTED * widths.max()
    if not any(heads) and abs(growth) >= EVEN and widths.max() <= SLENDER and pointed:
        return profile.ends[0 if growth > 0 else 1]
    return None


def _has_head(widths: NDArray[np.float64]) -> bool:
    """Say whether the first end widens to a head and narrows right behind it to a shaft, which narrows no further."""
    top = int(np.argmax(widths[: BINS // 3]))
    shaft = top + 1 + int(np.argmin(widths[top + 1 : top + 4]))
    is_wide = widths[top] > widths[0] and widths[top] >= LEAST_HEAD * widths.max()
    stands_out = is_wide and widths[top] >= STANDS_OUT * widths[shaft] > 0
    return bool(stands_out and widths[shaft] <= EVEN_SHAFT * widths[shaft + 3])
