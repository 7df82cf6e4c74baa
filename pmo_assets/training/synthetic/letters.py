"""Print on pixel canvases: words in the typefaces of journals, with the exact box of what was printed.

The typefaces are the base fonts inside PyMuPDF, so that nothing depends on the fonts of the machine.
"""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO

import numpy as np
import pymupdf
from numpy.typing import NDArray
from PIL import ImageFont

Pixels = NDArray[np.uint8]
Colour = tuple[int, int, int]
PixelBox = tuple[int, int, int, int]
"""(left, top, right, bottom) in pixels, right and bottom exclusive."""

TYPEFACES = ("helv", "hebo", "tiro", "tibo", "heit", "tiit", "cour")
"""PyMuPDF's names: Helvetica, its bold, Times, its bold, the two italics, Courier."""


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
