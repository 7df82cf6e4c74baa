"""Crops around printed identifiers, brought to one look: dark print on white, one height.

Engines are trained on lines of documents. A yellow letter on a photograph, or one of 8 pixels, is no such thing until
its ground has been taken away and it has been enlarged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.records.geometry import Box, crop_box

LINE_HEIGHT = 48
"""Height of crops in pixels: that of the engines' input lines."""

AIR = 0.03
"""White above and below the box, as a share of the height: the box has its own, and small print needs every pixel."""

STRETCH = 1.5
"""Crops are made so many times wider, so that letters do not run together: of the identifiers that an engine misreads
in their own proportions (small ones in brackets, "I", "ii", "f") it then reads a third, and misreads no others."""

WIDEST = 12
"""Crops are at most so many times as wide as high: words, not lines of text."""

LEAST_CONTRAST = 24
"""Grey levels between print and ground below which a crop shows nothing."""


def _surroundings(
    rgb: NDArray[np.uint8], box: Box, margin: float
) -> tuple[NDArray[np.uint8], tuple[int, int, int, int]]:
    """Return the pixels of a box and a margin (share of its shorter side) around it, and where the box lies in them."""
    left, top, right, bottom = crop_box(box, rgb.shape[1], rgb.shape[0])
    pad = max(2, round(margin * min(bottom - top, right - left)))
    x0, y0 = max(0, left - pad), max(0, top - pad)
    part = np.ascontiguousarray(rgb[y0 : bottom + pad, x0 : right + pad])
    return part, (left - x0, top - y0, right - x0, bottom - y0)


def _rim(part: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the outermost pixels of a picture, (n, channels)."""
    sides = (part[0], part[-1], part[:, 0], part[:, -1])
    return np.concatenate([side.reshape(-1, part.shape[-1]) for side in sides])


def away_from_ground(part: NDArray[np.uint8]) -> NDArray[np.uint8] | None:
    """Return how far each pixel is from the colour of the rim, as dark print on white; None without contrast.

    Args:
        part: (height, width, 3) uint8.
    """
    ground = np.median(_rim(part), axis=0).astype(np.uint8)
    away = cv2.absdiff(part, np.broadcast_to(ground, part.shape).copy()).max(axis=2)
    contrast = float(np.percentile(away, 98))
    if contrast < LEAST_CONTRAST:
        return None
    return np.asarray(255 - np.clip(away.astype(np.float32) * (255 / contrast), 0, 255), dtype=np.uint8)


def _grey(part: NDArray[np.uint8]) -> NDArray[np.uint8] | None:
    """Return grey values stretched to 0..255, the rim being the lighter side; None without contrast."""
    grey = np.asarray(cv2.cvtColor(part, cv2.COLOR_RGB2GRAY), dtype=np.uint8)
    low, high = (float(v) for v in np.percentile(grey, (1, 99)))
    if high - low < LEAST_CONTRAST:
        return None
    stretched = np.asarray(np.clip((grey - low) * (255 / (high - low)), 0, 255), dtype=np.uint8)
    return (
        np.asarray(255 - stretched, dtype=np.uint8) if float(np.median(_rim(stretched[..., None]))) < 128 else stretched
    )


def _ink(part: NDArray[np.uint8], inner: tuple[int, int, int, int]) -> NDArray[np.uint8] | None:
    """Return only the ink that lies mostly in the box, on white; None when there is none."""
    picture = away_from_ground(part)
    if picture is None:
        return None
    _, labels, stats, middles = cv2.connectedComponentsWithStats((picture < 128).astype(np.uint8), connectivity=8)
    tall, wide = picture.shape
    keep = np.zeros(len(stats), bool)
    slack_x, slack_y = 0.1 * (inner[2] - inner[0]), 0.1 * (inner[3] - inner[1])
    for k, ((x, y, w, h, size), (mx, my)) in enumerate(zip(stats.tolist(), middles.tolist(), strict=True)):
        inside = inner[0] - slack_x <= mx <= inner[2] + slack_x and inner[1] - slack_y <= my <= inner[3] + slack_y
        crosses = (x == 0) + (y == 0) + (x + w == wide) + (y + h == tall) >= 2
        keep[k] = k > 0 and inside and not crosses and size >= 0.002 * picture.size
    if not keep.any():
        return None
    # The print's soft edges belong to it: two pixels around its ink.
    mask = cv2.dilate(keep[labels].astype(np.uint8), np.ones((3, 3), np.uint8))
    left, top, wide, tall = cv2.boundingRect(mask)
    return np.asarray(np.where(mask > 0, picture, 255), dtype=np.uint8)[top : top + tall, left : left + wide]


def as_line(picture: NDArray[np.uint8], stretch: float = STRETCH) -> NDArray[np.uint8]:
    """Return a grey picture (dark on white) at `LINE_HEIGHT`, at least square, as (height, width, 3) uint8.

    Args:
        picture: (height, width) uint8.
        stretch: how many times wider it becomes.
    """
    tall, wide = picture.shape
    inner = round(LINE_HEIGHT * (1 - 2 * AIR))
    width = min(max(1, round(stretch * wide * inner / tall)), inner * WIDEST)
    method = cv2.INTER_AREA if inner < tall else cv2.INTER_CUBIC
    scaled = np.asarray(cv2.resize(picture, (width, inner), interpolation=method), dtype=np.uint8)
    above = (LINE_HEIGHT - inner) // 2
    beside = max(above, (LINE_HEIGHT - width) // 2)
    line = cv2.copyMakeBorder(
        scaled, above, LINE_HEIGHT - inner - above, beside, beside, cv2.BORDER_CONSTANT, value=255
    )
    return np.repeat(np.asarray(line, dtype=np.uint8)[..., None], 3, axis=2)


@dataclass(frozen=True, slots=True)
class CropStyle:
    """Style of a crop.

    Attributes:
        ground: "colour" for the distance from the ground's colour, "grey" for grey values, "ink" for only the ink
            that lies mostly in the box.
        margin: around the box, as a share of its shorter side.
        stretch: how many times wider the print becomes.
        turned: by so many quarter turns anticlockwise before it is read.
    """

    ground: Literal["colour", "grey", "ink"]
    margin: float
    stretch: float = STRETCH
    turned: int = 0


def identifier_crop(rgb: NDArray[np.uint8], box: Box, look: CropStyle) -> NDArray[np.uint8] | None:
    """Return one crop at an identifier's box, ready for an engine; None when nothing is seen there.

    Args:
        rgb: (height, width, 3) uint8, the figure.
        box: normalised to the figure.
        look: style of the crop.
    """
    part, inner = _surroundings(rgb, box, look.margin)
    if min(part.shape[:2]) < 5:
        return None
    if look.ground == "ink":
        picture = _ink(part, inner)
    else:
        picture = away_from_ground(part) if look.ground == "colour" else _grey(part)
    return None if picture is None else as_line(np.ascontiguousarray(np.rot90(picture, look.turned)), look.stretch)
