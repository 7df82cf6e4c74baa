"""The drawing kit of sample articles and synthetic figures: chance, noise, colours, print on pixel canvases.

Add here: tools that both draw with. Keep out: the subjects of pictures. Pixels are (height, width, 3) uint8 RGB.
Print gives the exact box of its ink; the typefaces are the base fonts inside PyMuPDF, so that nothing depends on the
fonts of the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from io import BytesIO
from typing import TypeVar

import cv2
import numpy as np
import pymupdf
from numpy.typing import NDArray
from PIL import ImageFont

Rng = np.random.Generator
Pixels = NDArray[np.uint8]
Floats = NDArray[np.float32]
Colour = tuple[int, int, int]
PixelBox = tuple[int, int, int, int]
"""(left, top, right, bottom) in pixels, right and bottom exclusive."""

TYPEFACES = ("helv", "hebo", "tiro", "tibo", "heit", "tiit", "cour")
"""PyMuPDF's names: Helvetica, its bold, Times, its bold, the two italics, Courier."""


WHITE: Colour = (255, 255, 255)
BLACK: Colour = (0, 0, 0)

_Value = TypeVar("_Value")


def one_of(rng: Rng, values: Sequence[_Value]) -> _Value:
    """Return any of the values."""
    return values[int(rng.integers(len(values)))]


def one_by_odds(rng: Rng, values: Sequence[_Value], odds: Sequence[float]) -> _Value:
    """Return one of the values, each as often as its odds say, whatever their sum is."""
    shares = np.asarray(odds)
    return values[int(rng.choice(len(values), p=shares / shares.sum()))]


def paper(width: int, height: int, colour: Colour = WHITE) -> Pixels:
    """Return a canvas of one colour."""
    return np.full((height, width, 3), colour, np.uint8)


def cloud(rng: Rng, width: int, height: int, cells: float) -> Floats:
    """Return smooth noise of mean 0 and deviation about 1, shape (height, width), with `cells` blobs across."""
    columns = max(2, round(cells))
    rows = max(2, round(cells * height / max(1, width)))
    coarse = rng.standard_normal((min(rows, 400) + 2, columns + 2)).astype(np.float32)
    return np.asarray(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC), dtype=np.float32)


def grey_picture(plane: NDArray[np.uint8]) -> Pixels:
    """Return a plane (height, width) as a grey picture."""
    return np.repeat(plane[:, :, None], 3, axis=2)


def grey_of(pixels: Pixels) -> NDArray[np.uint8]:
    """Return a picture's brightness, (height, width)."""
    return np.asarray(cv2.cvtColor(np.ascontiguousarray(pixels), cv2.COLOR_RGB2GRAY))


def false_colours(plane: NDArray[np.uint8], colour_map: int) -> Pixels:
    """Return a plane (height, width) in the colours of one of OpenCV's maps."""
    return np.ascontiguousarray(np.asarray(cv2.applyColorMap(plane, colour_map))[:, :, ::-1])


@lru_cache(maxsize=512)
def typeface(name: str, size: int) -> ImageFont.FreeTypeFont:
    """Return a font of `TYPEFACES` at a size in pixels."""
    return ImageFont.truetype(BytesIO(pymupdf.Font(name).buffer), size)


@lru_cache(maxsize=4096)
def text_mask(text: str, name: str, size: int) -> NDArray[np.uint8]:
    """Return the coverage (0..255) of a printed text, cut to its ink; shape (0, 0) when nothing is visible."""
    mask, _ = typeface(name, max(5, size)).getmask2(text, mode="L")
    grey = np.asarray(mask, dtype=np.uint8).reshape(mask.size[1], mask.size[0])
    rows, columns = np.flatnonzero((grey > 40).any(axis=1)), np.flatnonzero((grey > 40).any(axis=0))
    if rows.size == 0:
        return np.zeros((0, 0), np.uint8)
    return grey[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def print_text(
    canvas: Pixels, x: int, y: int, text: str, name: str, size: int, colour: Colour, *, upright: bool = False
) -> PixelBox:
    """Print a text with the top left corner of its ink at (x, y), in place, and return the box of the visible ink.

    Args:
        canvas: (height, width, 3) uint8; what lies outside is cut off.
        x: pixels.
        y: pixels.
        text: one line.
        name: one of `TYPEFACES`.
        size: font size in pixels.
        colour: RGB.
        upright: turned by 90 degrees, read from below, as beside y axes.
    """
    mask = text_mask(text, name, size)
    if upright:
        mask = np.rot90(mask)
    tall, wide = canvas.shape[:2]
    left, top = max(0, x), max(0, y)
    right, bottom = min(wide, x + mask.shape[1]), min(tall, y + mask.shape[0])
    if right <= left or bottom <= top:
        return (left, top, left, top)
    share = mask[top - y : bottom - y, left - x : right - x, None].astype(np.float32) / 255
    part = canvas[top:bottom, left:right]
    part[:] = (part + share * (np.asarray(colour, dtype=np.float32) - part)).astype(np.uint8)
    return (left, top, right, bottom)


def print_centred(canvas: Pixels, x: int, y: int, text: str, name: str, size: int, colour: Colour) -> PixelBox:
    """Print a text with the middle of its ink's upper edge at (x, y); see `print_text`."""
    return print_text(canvas, x - text_mask(text, name, size).shape[1] // 2, y, text, name, size, colour)
