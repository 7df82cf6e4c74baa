"""Boxes of a figure as pixels of a panel's picture, and masks of them.

A panel's picture is a crop of its figure's rendering: `crop_box` of its content box, whole pixels. A box inside it is
rounded on the figure, by the same function, and then moved: a mask is exactly the crop of the figure's mask.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from pmo_assets.records.geometry import Box, crop_box

PixelBox = tuple[int, int, int, int]
"""(left, top, right, bottom) in whole pixels, right and bottom exclusive: `pixels[top:bottom, left:right]`."""


def box_in_crop(box: Box, crop: Box, figure_width: int, figure_height: int) -> PixelBox | None:
    """Return a box as pixels of a crop's picture, cut off at its borders; None where nothing of it lies in the crop.

    Args:
        box: normalised to the figure.
        crop: what the picture shows, normalised to the figure.
        figure_width: of the figure's rendering, in pixels.
        figure_height: of the figure's rendering, in pixels.
    """
    left, top, right, bottom = crop_box(crop, figure_width, figure_height)
    x0, y0, x1, y1 = crop_box(box, figure_width, figure_height)
    x0, y0, x1, y1 = max(x0, left) - left, max(y0, top) - top, min(x1, right) - left, min(y1, bottom) - top
    return (x0, y0, x1, y1) if x0 < x1 and y0 < y1 else None


def mask_of(boxes: Iterable[PixelBox], width: int, height: int) -> NDArray[np.bool_]:
    """Return (height, width) bool: True in every pixel that a box covers."""
    mask = np.zeros((height, width), dtype=np.bool_)
    for left, top, right, bottom in boxes:
        mask[top:bottom, left:right] = True
    return mask
