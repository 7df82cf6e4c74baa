"""Types of pictures in a grid: a doubtful one takes the type of those in its row or column that look as it does.

Rows and columns of a grid show one thing each: photographs, scans of one device, results of one method. Where a
picture's own type is not sure, its neighbours of the same size and colours are better evidence than none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.fusion.image_grids import image_grids
from pmo_assets.records.detections import ImageDetection
from pmo_assets.records.image_types import IMAGE_TYPES

DOUBTFUL: Final = 0.8
"""Score of the own type below which a picture's neighbours are asked."""

AGREED: Final = 0.7
"""Mean score of a type among the neighbours from which it is taken."""

LEAST_NEIGHBOURS: Final = 2
"""Neighbours that look alike, at least."""

ALIKE: Final = 0.5
"""Distance (Bhattacharyya's, 0..1) of colours up to which pictures look alike."""

_BINS: Final = (8, 4, 4)


def _colours(picture: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return the histogram of hue, saturation and value, (8, 4, 4) float32, summing to 1."""
    hsv = cv2.cvtColor(np.ascontiguousarray(picture), cv2.COLOR_RGB2HSV)
    counts = cv2.calcHist([hsv], [0, 1, 2], None, list(_BINS), [0, 180, 0, 256, 0, 256])
    return np.asarray(counts / max(float(counts.sum()), 1.0), dtype=np.float32)


def types_in_grids(images: Sequence[ImageDetection], pictures: Sequence[NDArray[np.uint8]]) -> list[ImageDetection]:
    """Return the images of one figure with the types that their grids tell.

    Args:
        images: with types and scores.
        pictures: (height, width, 3) uint8 RGB of each.
    """
    result = list(images)
    doubtful = [k for k, image in enumerate(images) if image.image_type is None or image.type_score < DOUBTFUL]
    if not doubtful:
        return result
    place_of = {id(image): k for k, image in enumerate(images)}
    for grid in image_grids(images):
        places = {place: place_of[id(image)] for place, image in grid.places.items() if id(image) in place_of}
        for (row, column), k in places.items():
            if k not in doubtful:
                continue
            beside = [j for (r, c), j in places.items() if j != k and (r == row or c == column)]
            own = _colours(pictures[k])
            near = [
                j for j in beside if cv2.compareHist(own, _colours(pictures[j]), cv2.HISTCMP_BHATTACHARYYA) <= ALIKE
            ]
            result[k] = _agreed(images[k], [images[j] for j in near])
    return result


def _agreed(image: ImageDetection, neighbours: Sequence[ImageDetection]) -> ImageDetection:
    """Return an image with the type that its neighbours agree on; as it was if they do not, or it has that type."""
    if len(neighbours) < LEAST_NEIGHBOURS:
        return image
    means = {t: float(np.mean([n.type_scores.get(t, 0.0) for n in neighbours])) for t in IMAGE_TYPES}
    agreed = max(IMAGE_TYPES, key=lambda t: means[t])
    if means[agreed] < AGREED or agreed == image.image_type:
        return image
    best = max((n for n in neighbours if n.image_type == agreed), key=lambda n: n.type_score, default=None)
    if best is None:
        return image  # undecided all, for reasons that scores do not tell
    return replace(
        image,
        image_type=agreed,
        type_score=round(means[agreed], 6),
        type_scores={t: round(value, 6) for t, value in means.items()},
        type_reason=f"as {len(neighbours)} alike in its grid; {image.type_reason}",
        modality=best.modality,
        modality_score=best.modality_score,
    )
