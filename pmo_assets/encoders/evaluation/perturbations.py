"""Perturbations of test pictures, as OPEN-PMC-18M names them: brightness, shift, rotation, horizontal flip, zoom.

The paper gives no strengths; these are three steps each that leave a picture readable for people. A picture keeps its
size; what a shift or rotation uncovers is mirrored from inside, so that no black border gives the perturbation away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
Perturbation = Callable[[Pixels], Pixels]


def brightened(pixels: Pixels, factor: float) -> Pixels:
    """Return the picture with every value multiplied, and cut off at 255."""
    _size(pixels)
    return np.clip(np.rint(pixels.astype(np.float64) * factor), 0, 255).astype(np.uint8)


def shifted(pixels: Pixels, right: float, down: float) -> Pixels:
    """Return the picture moved by fractions of its width and height, in whole pixels."""
    height, width = _size(pixels)
    return _warped(pixels, np.array([[1, 0, round(right * width)], [0, 1, round(down * height)]], np.float64))


def rotated(pixels: Pixels, degrees: float) -> Pixels:
    """Return the picture turned about its centre, anticlockwise."""
    height, width = _size(pixels)
    return _warped(pixels, cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), degrees, 1))


def flipped(pixels: Pixels) -> Pixels:
    """Return the picture with left and right exchanged."""
    _size(pixels)
    return np.ascontiguousarray(pixels[:, ::-1])


def zoomed(pixels: Pixels, factor: float) -> Pixels:
    """Return the picture enlarged about its centre (factor above 1) or made smaller, in a frame of the same size."""
    height, width = _size(pixels)
    return _warped(pixels, cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), 0, factor))


def _size(pixels: Pixels) -> tuple[int, int]:
    if pixels.dtype != np.uint8 or pixels.ndim not in (2, 3) or 0 in pixels.shape:
        raise ValueError(
            f"a picture is (height, width) or (height, width, channels) of uint8, not {pixels.shape} of {pixels.dtype}"
        )
    return pixels.shape[0], pixels.shape[1]


def _warped(pixels: Pixels, matrix: NDArray[np.float64]) -> Pixels:
    height, width = _size(pixels)
    warped = cv2.warpAffine(pixels, matrix, (width, height), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101)
    return np.asarray(warped, dtype=np.uint8).reshape(pixels.shape)


PERTURBATIONS: Final[Mapping[str, Perturbation]] = MappingProxyType(
    {
        **{f"brightness-{factor}": partial(brightened, factor=factor) for factor in (0.6, 0.8, 1.2, 1.4)},
        **{f"shift-{part}": partial(shifted, right=part, down=part) for part in (0.05, 0.1, 0.2)},
        **{f"rotation-{degrees}": partial(rotated, degrees=degrees) for degrees in (5, 10, 20)},
        "flip": flipped,
        **{f"zoom-{factor}": partial(zoomed, factor=factor) for factor in (0.8, 1.1, 1.25)},
    }
)
"""Perturbations by name and strength."""
