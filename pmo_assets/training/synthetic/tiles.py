"""Parts of a figure under way, and how pictures get into them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pmo_assets.records.image_types import ImageType
from pmo_assets.samples.drawing import Colour, PixelBox, Pixels, Rng
from pmo_assets.training.synthetic.device_print import draw_device_print
from pmo_assets.training.synthetic.drawn_marks import draw_marks
from pmo_assets.training.synthetic.figure_styles import Style
from pmo_assets.training.synthetic.placed_figure import PlacedImage
from pmo_assets.training.synthetic.pools import PicturePool


@dataclass(slots=True)
class Tile:
    """A part of a figure under way: pixels on the figure's ground and the images in it (pixel boxes)."""

    pixels: Pixels
    images: list[PlacedImage] = field(default_factory=list)


def blank_canvas(style: Style, width: int, height: int) -> Pixels:
    """Return (height, width, 3) pixels of the figure's ground."""
    canvas = np.empty((height, width, 3), np.uint8)
    canvas[:] = style.ground
    return canvas


def paste(canvas: Pixels, x: int, y: int, tile: Pixels) -> PixelBox:
    """Paste what fits at (x, y) and return its box."""
    right, bottom = min(canvas.shape[1], x + tile.shape[1]), min(canvas.shape[0], y + tile.shape[0])
    canvas[y:bottom, x:right] = tile[: bottom - y, : right - x]
    return (x, y, right, bottom)


def pool_picture(
    rng: Rng, pool: PicturePool, style: Style, kind: ImageType, width: int, height: int
) -> tuple[Pixels, bool | None]:
    """Return a picture of a type that fills its frame, and whether it is marked."""
    pixels = np.ascontiguousarray(pool.picture(rng, kind, width, height))
    if rng.random() < style.print_share * 0.6 and min(width, height) > 40:
        draw_device_print(rng, pixels)
    marked = bool(rng.random() < style.mark_share and min(width, height) > 40)
    if marked:
        draw_marks(rng, pixels)
    return pixels, marked


def ink_of(style: Style) -> Colour:
    """Return black, or white on a dark ground."""
    return (0, 0, 0) if sum(style.ground) > 380 else (255, 255, 255)
