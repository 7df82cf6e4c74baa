"""A figure's picture in the two sizes of the gallery.

Every picture is encoded anew, so nothing of a file from outside but its pixels gets into the gallery.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from pmo_assets.pictures import own_png
from pmo_assets.pipeline.detection.reducing import reduced
from pmo_assets.viewing.overlays import MAX_THUMBNAIL_PIXELS, picture_mime

LARGE_SIDE: Final = 720
"""Longer side in the figure view, pixels: letters in figures can be read."""

SMALL_SIDE: Final = 256
"""Longer side in the grid."""

LARGE_QUALITY: Final = 72
SMALL_QUALITY: Final = 66

EFFORT: Final = 2
"""Effort of WebP's encoder, 0..6: 4, the usual one, takes twice as long for 5 % fewer bytes."""


@dataclass(frozen=True, slots=True)
class FigurePictures:
    """WebP bytes for grid and figure view."""

    small: bytes
    large: bytes


def _webp(pixels: NDArray[np.uint8], quality: int) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "WEBP", quality=quality, method=EFFORT)
    return buffer.getvalue()


def _fitted(pixels: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    tall, wide = pixels.shape[:2]
    factor = min(1.0, side / max(tall, wide))
    size = max(1, round(wide * factor)), max(1, round(tall * factor))
    # Averaged areas take a fifth of the time of Pillow's resampling by a window.
    return pixels if size == (wide, tall) else reduced(pixels, size)


def figure_pictures(image: bytes) -> FigurePictures | None:
    """Return a figure's picture in both sizes, transparency on white; None when the bytes are no picture.

    Args:
        image: PNG, JPEG or WebP; untrusted.
    """
    if picture_mime(image) is None:
        return None
    try:
        pixels = own_png(image)  # nearly all figures are pictures that this package encoded
        if pixels is None:
            pixels = _pixels(image)
        if pixels is None:
            return None
        large = _fitted(pixels, LARGE_SIDE)
        return FigurePictures(_webp(_fitted(large, SMALL_SIDE), SMALL_QUALITY), _webp(large, LARGE_QUALITY))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):  # what Pillow raises on damaged files
        return None


def _pixels(image: bytes) -> NDArray[np.uint8] | None:
    """Return any picture as uint8 (h, w, 3) RGB, or None if it is too large."""
    with Image.open(io.BytesIO(image), formats=("PNG", "JPEG", "WEBP")) as opened:
        if opened.width * opened.height > MAX_THUMBNAIL_PIXELS:
            return None
        opened.draft("RGB", (2 * LARGE_SIDE, 2 * LARGE_SIDE))
        if opened.mode in ("RGBA", "LA", "PA") or "transparency" in opened.info:
            layered = opened.convert("RGBA")
            picture = Image.new("RGB", layered.size, "white")
            picture.paste(layered, mask=layered.getchannel("A"))
            return np.asarray(picture)
        return np.asarray(opened.convert("RGB"))
