"""Types of pictures under maps, told by the picture itself: it stands beside them without its map.

Figures of saliency, attention or activation show a picture, and then the same picture under a map, mostly in a row or
column. The map is smooth; the fine detail under it is that of the picture. Where the detail of a picture in a map's
colours agrees with that of another picture of the same shape, whose type is sure, it has that type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.image_types.heat_overlays import has_map_colours
from pmo_assets.records.detections import ImageDetection
from pmo_assets.records.geometry import height, width

SURE: Final = 0.8
"""Score from which the type of the picture without a map is sure."""

ALIKE: Final = 0.06
"""Part by which widths and heights of the two differ at most."""

SAME: Final = 0.3
"""Correlation of the fine detail from which two pictures are one: under maps of a share of 0.35 to 0.55 it is 0.62 and
more, of other eyes 0.10 at most."""

SIDE: Final = 128
"""Pixels of the square in which detail is compared."""

SMOOTH: Final = 2.0
"""Standard deviation, in its pixels, of what is smooth."""

SHIFT: Final = 2
"""Pixels by which the boxes of the two may be off."""

RIM: Final = 10
"""Pixels at the rim of the square that are not compared: frames and cut edges are alike everywhere."""

LEAST_DETAIL: Final = 1.5
"""Standard deviation of the detail in grey levels: an even picture agrees with none."""


def types_of_same_pictures(
    images: Sequence[ImageDetection], pictures: Sequence[NDArray[np.uint8]]
) -> list[ImageDetection]:
    """Return the images of one figure, those under maps with the type of the same picture without one.

    Args:
        images: with types and scores.
        pictures: (height, width, 3) uint8 RGB of each, as the figure shows it.
    """
    result = list(images)
    sure = [k for k, image in enumerate(images) if image.image_type is not None and image.type_score >= SURE]
    if len(images) < 2 or not sure:
        return result
    maps = [k for k, picture in enumerate(pictures) if has_map_colours(picture)]
    plain = [k for k in sure if k not in maps]
    details: dict[int, NDArray[np.float32] | None] = {}

    def detail(k: int) -> NDArray[np.float32] | None:
        if k not in details:
            details[k] = fine_detail(pictures[k])
        return details[k]

    for k in maps:
        others = [j for j in plain if _same_shape(images[k], images[j])]
        own = detail(k) if others else None
        if own is None:
            continue
        agreed = {j: agreement(own, other) for j in others if (other := detail(j)) is not None}
        best = max(agreed, key=lambda j: agreed[j], default=None)
        if best is not None and agreed[best] >= SAME and images[k].image_type != images[best].image_type:
            result[k] = _as_the_same(images[k], images[best])
    return result


def _same_shape(image: ImageDetection, other: ImageDetection) -> bool:
    pairs = ((width(image.box), width(other.box)), (height(image.box), height(other.box)))
    return all(min(pair) >= (1 - ALIKE) * max(pair) for pair in pairs)


def fine_detail(picture: NDArray[np.uint8]) -> NDArray[np.float32] | None:
    """Return how a picture's grey levels differ from their surroundings, (SIDE, SIDE); None where they hardly do."""
    square = cv2.resize(np.ascontiguousarray(picture), (SIDE, SIDE), interpolation=cv2.INTER_AREA).astype(np.float32)
    # Green shows vessels best, in colour photographs and in maps of red to blue alike.
    grey = square[..., 1]
    rest = np.asarray(grey - cv2.GaussianBlur(grey, (0, 0), SMOOTH), dtype=np.float32)
    return rest if float(rest[RIM:-RIM, RIM:-RIM].std()) >= LEAST_DETAIL else None


def agreement(detail: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """Return the largest correlation of two pictures' details, boxes being off by some pixels, -1..1."""
    inner = RIM + SHIFT
    template = np.ascontiguousarray(detail[inner:-inner, inner:-inner])
    return float(
        cv2.matchTemplate(np.ascontiguousarray(other[RIM:-RIM, RIM:-RIM]), template, cv2.TM_CCOEFF_NORMED).max()
    )


def _as_the_same(image: ImageDetection, same: ImageDetection) -> ImageDetection:
    return replace(
        image,
        image_type=same.image_type,
        type_score=same.type_score,
        type_scores=same.type_scores,
        type_reason=f"a map over the picture beside it; {image.type_reason}",
        modality=same.modality,
        modality_score=same.modality_score,
    )
