"""Heat maps laid over pictures (saliency, class activation, attention): what the picture under the map is.

The map is smooth and runs from blue over green to red; the picture's detail is fine and remains in what is left without
the smooth colours. That detail is shown to the image type network instead of the picture. Of a colour photograph the
detail differs between the channels (vessels are dark in green and hardly seen in red), of a grey picture it does not. A
map that lies over nothing has no detail: it is a plot of its own, and stays what it is.
"""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.networks.type_input import reduced_picture
from pmo_assets.pipeline.detection.reducing import reduced
from pmo_assets.records.image_types import IMAGE_TYPES, ImageType
from pmo_assets.records.modalities import MODALITIES, TYPE_OF_MODALITY

LEAST_SATURATION: Final = 64
"""Saturation (0..255, HSV) of the smooth colours from which they count as the map's."""

LEAST_SHARE: Final = 0.06
"""Part of a picture that the cold (blue, cyan) and the warm (red to yellow) end of a map cover at least, each."""

LEAST_COLOURED: Final = 0.3
"""Part of a picture that has the map's colours at least."""

COLD: Final = (85, 160)
"""Hues (OpenCV's 0..179) between which the cold end lies: blue over a red fundus is purple."""

WARM: Final = (35, 165)
"""Hues outside of which the warm end lies."""

HUES: Final = 12
"""Parts of the circle of hues; three neighbours are one hue."""

APART: Final = 0.05
"""Part of a picture with other hues than the most frequent one that speaks for a map."""

LEAST_DETAIL: Final = 0.27
"""Grey levels of fine detail in a picture: masks have none, maps over nothing hardly any (up to 0.25)."""

SMOOTH: Final = 14
"""Part of the shorter side (1 / SMOOTH) that the map is smoothed by: maps are upsampled from a dozen cells."""

LEAST_SIGMA: Final = 3.0
"""Standard deviation in pixels of the smoothing, at least."""

SURE: Final = 0.6
"""Share of a retinal type from which the detail says what lies under the map."""

UNEQUAL: Final = 1.3
"""Ratio between the channels' detail from which the picture under the map is in colour."""


def is_heat_map(picture: NDArray[np.uint8]) -> bool:
    """Say whether smooth colours from blue to red cover fine detail in a picture (height, width, 3) uint8 RGB."""
    small = reduced_picture(picture)
    hue, coloured = _smooth_hues(small)
    if float(coloured.mean()) < LEAST_COLOURED:
        return False
    cold = coloured & (hue >= COLD[0]) & (hue <= COLD[1])
    warm = coloured & ((hue <= WARM[0]) | (hue >= WARM[1]))
    enough = min(float(cold.mean()), float(warm.mean())) >= LEAST_SHARE
    return enough and _fine_detail(small) >= LEAST_DETAIL


def has_map_colours(picture: NDArray[np.uint8]) -> bool:
    """Say whether a picture's (height, width, 3) uint8 RGB smooth colours run through hues that lie apart.

    Photographs of a retina are red to yellow, and tinted pictures of one hue. A map's blue over a red fundus is purple,
    so that the hues need not be the map's own. Other pictures have several hues, too: something else must speak for a
    map.
    """
    hue, coloured = _smooth_hues(reduced_picture(picture))
    if float(coloured.mean()) < LEAST_COLOURED:
        return False
    counts = np.bincount(hue[coloured] // (180 // HUES), minlength=HUES)
    near = counts + np.roll(counts, 1) + np.roll(counts, -1)
    return float(counts.sum() - near.max()) >= APART * coloured.size


def _smooth_hues(small: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return the hues of a reduced picture's smooth colours, and where they are colours; nowhere in tiny ones."""
    if min(small.shape[:2]) < SMOOTH:
        return np.zeros((1, 1), np.uint8), np.zeros((1, 1), np.bool_)
    hue, saturation, value = cv2.split(np.asarray(cv2.cvtColor(_smooth(small), cv2.COLOR_RGB2HSV)))
    return hue, (saturation >= LEAST_SATURATION) & (value >= LEAST_SATURATION)


def _smooth(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a picture's smooth colours, reduced: what is smoothed that much has no detail left to lose."""
    sigma = _sigma(picture)
    times = int(sigma / LEAST_SIGMA)
    size = (max(1, picture.shape[1] // times), max(1, picture.shape[0] // times))
    return np.asarray(cv2.GaussianBlur(reduced(picture, size), (0, 0), sigma / times), dtype=np.uint8)


def _fine_detail(picture: NDArray[np.uint8]) -> float:
    """Return how far a pixel's grey level is from its surroundings', in the middle of all."""
    # Channel by channel: NumPy's mean over an axis of three takes ten times as long.
    red, green, blue = (picture[..., channel].astype(np.float32) for channel in range(3))
    grey = (red + green + blue) / 3
    return float(np.median(np.abs(grey - cv2.GaussianBlur(grey, (0, 0), 2))))


def _sigma(picture: NDArray[np.uint8]) -> float:
    return max(LEAST_SIGMA, float(min(picture.shape[:2])) / SMOOTH)


def _detail(picture: NDArray[np.uint8]) -> NDArray[np.float32]:
    values = picture.astype(np.float32)
    return np.asarray(values - cv2.GaussianBlur(values, (0, 0), _sigma(picture)), dtype=np.float32)


def detail_under(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return what remains of a picture without its smooth colours: grey, (height, width, 3) uint8, of one contrast."""
    rest = _detail(reduced_picture(picture)).mean(axis=2)
    grey = np.clip(118 + rest / max(float(rest.std()), 1e-3) * 42, 0, 255).astype(np.uint8)
    return np.repeat(grey[:, :, None], 3, axis=2)


def is_colour_under(picture: NDArray[np.uint8]) -> bool:
    """Say whether the detail under a map is of a colour photograph: unlike in the three channels."""
    rest = _detail(reduced_picture(picture)).reshape(-1, 3)
    spread = rest.std(axis=0)
    return bool(spread.max() >= UNEQUAL * max(float(spread.min()), 1e-3))


def shares_under(shares: NDArray[np.float32], *, colour: bool) -> NDArray[np.float32] | None:
    """Return the shares of modalities of the picture under a map; None where its detail does not tell.

    Args:
        shares: the network's for `detail_under`, (modalities,), order of `MODALITIES`.
        colour: whether the picture under the map is in colour: a grey fundus photograph is a retinal image then.
    """
    by_type: dict[ImageType, float] = {
        t: float(sum(s for m, s in zip(MODALITIES, shares, strict=True) if TYPE_OF_MODALITY[m] == t))
        for t in IMAGE_TYPES
    }
    fundus = by_type["CFP"] + by_type["Retinal Imaging"]
    if max(by_type["OCT"], fundus) < SURE:
        return None
    if by_type["OCT"] >= fundus or not colour:
        return shares
    moved = np.zeros_like(shares)
    moved[MODALITIES.index("fundus photograph")] = fundus
    for k, modality in enumerate(MODALITIES):
        if TYPE_OF_MODALITY[modality] in ("OCT", "Other"):
            moved[k] = shares[k]
    return moved
