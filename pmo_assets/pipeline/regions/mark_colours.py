"""Colours of marks: the name that captions give an RGB value, and the RGB value of what is drawn in a place.

Names go by hue, saturation and lightness. The borders between hues lie where captions change the word; the palettes of
editors fall inside.
"""

from __future__ import annotations

import colorsys
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.records.regions import MarkColour

GREY_CHROMA: Final = 0.16
"""Difference of the largest and smallest channel, 0..1, up to which a colour is white, grey or black."""

BLACK, WHITE = 0.25, 0.78
"""Lightness below which a colour without hue is black, and from which it is white."""

DARK: Final = 0.16
"""Value below which every colour is black."""

HUES: Final[tuple[tuple[float, MarkColour], ...]] = (
    (14, "red"), (41, "orange"), (70, "yellow"), (163, "green"), (198, "cyan"), (256, "blue"), (289, "purple"),
    (337, "pink"), (360, "red"),
)  # fmt: skip
"""Degrees at which a name ends. Magenta (300) is pink when it is bright, purple when it is dark."""

BROWN_VALUE, BROWN_HUES = 0.68, (8.0, 41.0)
"""Value below which red-orange and orange are brown, and the hues of which that holds."""

PURPLE_VALUE, PURPLE_HUES = 0.72, (289.0, 325.0)
"""The same of dark magenta, which is purple."""

PALE_BLUE: Final = 185.0
"""Hue from which light cyan is "light blue"."""

INK: Final = 40
"""Levels by which a pixel must differ from its surroundings, in one channel, to be ink."""

FEW: Final = 0.2
"""Part of the ink that differs most and is taken as a mark's colour: rims are mixed with the ground."""

FAINT: Final = 0.35
"""Part of the largest difference from the surroundings from which a pixel may belong to a mark's surface."""

EVEN: Final = 22.0
"""Levels by which a surface's pixels differ from their middle value on average, at most: else it is the picture."""

SURFACE, DEEP = (0.1, 0.08), 0.5
"""A surface has this part of a mark's pixels, and of its box; its core is half as deep as its middle. Chosen on drawn
marks of the validation part (`docs/measurements.md`, marks)."""

Rgb = tuple[int, int, int]


def mark_colour(rgb: Rgb) -> MarkColour:
    """Return the name of a colour, red, green and blue 0..255."""
    red, green, blue = (min(max(v, 0), 255) / 255 for v in rgb)
    low, high = min(red, green, blue), max(red, green, blue)
    lightness = (low + high) / 2
    if high < DARK:
        return "black"
    # Of light and dark colours the same chroma is more to see: half of it is enough.
    if high - low <= GREY_CHROMA * (0.5 + min(1.0, 2 * min(lightness, 1 - lightness))) / 1.5:
        return "white" if lightness >= WHITE else "black" if lightness < BLACK else "grey"
    hue = 360 * colorsys.rgb_to_hsv(red, green, blue)[0]
    saturation = (high - low) / high
    if BROWN_HUES[0] <= hue < BROWN_HUES[1] and high < BROWN_VALUE:
        return "brown"
    if (hue < BROWN_HUES[0] or hue >= 345) and high < BROWN_VALUE and saturation < 0.8:
        return "brown"
    if (hue < BROWN_HUES[0] or hue >= HUES[-2][0]) and lightness > 0.72:
        return "pink"
    if PALE_BLUE <= hue <= HUES[4][0] and lightness > 0.72:
        return "blue"
    if PURPLE_HUES[0] <= hue < PURPLE_HUES[1] and high < PURPLE_VALUE:
        return "purple"
    return next(name for end, name in HUES if hue <= end)


def hex_of(rgb: Rgb) -> str:
    """Return a colour as "#rrggbb"."""
    return "#" + "".join(f"{min(max(v, 0), 255):02x}" for v in rgb)


def rgb_of(name: str) -> Rgb:
    """Return the colour of "#rrggbb"."""
    return (int(name[1:3], 16), int(name[3:5], 16), int(name[5:7], 16))


def ink_colour(pixels: NDArray[np.uint8], box: tuple[int, int, int, int]) -> Rgb:
    """Return the colour of what is drawn in a box of pixels: of its surface, else of what differs most from the ground.

    An arrow that is black within a white rim is black; of thin lines no pixel is away from the rim.

    Args:
        pixels: (height, width, 3) uint8 RGB.
        box: left, top, right, bottom; not empty.
    """
    left, top, right, bottom = box
    air = max(2, (right - left + bottom - top) // 8)
    tall, wide = pixels.shape[:2]
    around = pixels[max(0, top - air) : min(tall, bottom + air), max(0, left - air) : min(wide, right + air)]
    inside = pixels[top:bottom, left:right].reshape(-1, 3).astype(np.float32)
    ground = np.median(around.reshape(-1, 3), axis=0)
    apart = np.abs(inside - ground).max(axis=1)
    surface = _surface(apart.reshape(bottom - top, right - left)).ravel()
    if surface.any():
        middle = np.median(inside[surface], axis=0)
        if np.abs(inside[surface] - middle).max(axis=1).mean() <= EVEN:
            red, green, blue = np.round(middle).astype(int).tolist()
            return (red, green, blue)
    ink = apart >= max(INK, float(apart.max()) * 0.6)
    if not ink.any():
        ink = np.ones(len(inside), dtype=bool)
    # Of a mark with a thin line few pixels show its colour.
    order = np.argsort(-apart[ink], kind="stable")[: max(3, round(int(ink.sum()) * FEW))]
    red, green, blue = np.round(np.median(inside[ink][order], axis=0)).astype(int).tolist()
    return (red, green, blue)


def _surface(apart: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return the pixels in the core of what differs from the ground; none where that is thin.

    Args:
        apart: (height, width), levels by which each pixel differs.
    """
    drawn = apart >= max(INK, float(apart.max()) * FAINT)
    away = cv2.distanceTransform(np.pad(drawn.astype(np.uint8), 1), cv2.DIST_C, 3)[1:-1, 1:-1]
    core = away >= max(2.0, DEEP * float(away.max()))
    enough = (away >= 2).sum() >= SURFACE[0] * drawn.sum() and core.sum() >= SURFACE[1] * apart.size
    return core if enough else np.zeros_like(core)
