"""From the raw output of the compact detector to boxes: thresholds, non-maximum suppression, normalisation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.protocols import Floats, NetworkBoxes
from pmo_assets.records.image_types import IMAGE_TYPES

OUTPUTS = ("panel_scores", "panel_boxes", "label_scores", "label_boxes", "image_scores", "image_boxes")
"""Names of the network's outputs: scores (n, places, classes) 0..1 and boxes (n, places, 4) in input pixels.

The scores of the classes of one group add up to the score of the box."""

MOST_PLACES = 1500
"""Places of a group that take part in the suppression: up to nine stand for one picture, and grids have a hundred."""


def suppressed(boxes: Floats, scores: Floats, iou: float) -> NDArray[np.int64]:
    """Return the indices kept by non-maximum suppression, best first; boxes (n, 4), scores (n,) above 0."""
    if not len(boxes):
        return np.zeros(0, np.int64)
    corners = boxes.astype(np.float64)
    corners[:, 2:] -= corners[:, :2]
    suppress: Any = cv2.dnn.NMSBoxes  # takes arrays, whatever its types say
    return np.asarray(suppress(corners, scores.astype(np.float32), 0.0, iou), dtype=np.int64).ravel()


def network_boxes(
    outputs: Sequence[Floats], size: tuple[int, int], least: float = 0.05, iou: float = 0.5, most: int = MOST_PLACES
) -> list[NetworkBoxes]:
    """Return the boxes of every figure of a batch.

    Args:
        outputs: arrays in the order of `OUTPUTS`.
        size: (height, width) of the network's input.
        least: weaker boxes are dropped.
        iou: of two boxes of one group that overlap more, the weaker one is dropped; image types are one group.
        most: boxes per group that take part in the suppression.
    """
    scale = np.asarray([size[1], size[0], size[1], size[0]], dtype=np.float32)
    result = []
    for k in range(outputs[0].shape[0]):
        found: tuple[dict[str, Floats], dict[str, Floats], dict[str, Floats]] = ({}, {}, {})
        for group, classes, boxes in zip(("panel", "label", "image"), outputs[::2], outputs[1::2], strict=True):
            # Shares of a sure score may add up to a rounding error above 1.
            best = np.minimum(classes[k].sum(axis=1), 1)
            chosen = np.flatnonzero((best >= least) & np.isfinite(boxes[k]).all(axis=1))
            chosen = chosen[np.argsort(-best[chosen], kind="stable")][:most]
            normal = np.clip(boxes[k][chosen] / scale, 0, 1).astype(np.float32)
            kept = suppressed(normal, best[chosen], iou)
            found[0][group], found[1][group] = normal[kept], best[chosen][kept]
            found[2][group] = classes[k][chosen][kept]
        result.append(NetworkBoxes(*found))
    return result


CLASSES: dict[str, tuple[str, ...]] = {"panel": ("Panel",), "label": ("Label",), "image": IMAGE_TYPES}
"""Classes of every group, in the order of their scores."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassBoxes:
    """A RetinaNet's detections in a picture, best first: normalised boxes (k, 4), scores (k,), classes (k,)."""

    boxes: Floats
    scores: Floats
    classes: NDArray[np.int64]


ClassNetwork = Callable[[Sequence[NDArray[np.uint8]]], list[ClassBoxes]]
"""A network that finds boxes of classes in (height, width, 3) uint8 RGB pictures."""
