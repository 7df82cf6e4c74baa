"""Average precision of detections, as COCO defines it: all-point interpolation, each true box matched once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def iou_matrix(a: Floats, b: Floats) -> Floats:
    """Return the IoU of every pair of boxes (n, 4) and (m, 4), shape (n, m)."""
    low, high = np.maximum(a[:, None, :2], b[None, :, :2]), np.minimum(a[:, None, 2:], b[None, :, 2:])
    common = np.clip(high - low, 0, None).prod(axis=2)
    sizes = [np.clip(x[:, 2:] - x[:, :2], 0, None).prod(axis=1) for x in (a, b)]
    union = sizes[0][:, None] + sizes[1][None] - common
    return np.asarray(common / np.maximum(union, 1e-12), dtype=np.float64)


def average_precision(
    found: Sequence[tuple[Floats, Floats]], truths: Sequence[Floats], threshold: float = 0.5
) -> float | None:
    """Return the average precision of one class over many figures; None when there is no true box.

    Args:
        found: per figure boxes (n, 4) and scores (n,).
        truths: per figure boxes (m, 4).
        threshold: least IoU of a hit.
    """
    total = sum(len(t) for t in truths)
    if total == 0:
        return None
    scores: list[float] = []
    hits: list[bool] = []
    for (boxes, values), truth in zip(found, truths, strict=True):
        free = np.ones(len(truth), dtype=bool)
        overlaps = iou_matrix(np.reshape(boxes, (-1, 4)), np.reshape(truth, (-1, 4)))
        for k in np.argsort(-values, kind="stable"):
            row = np.where(free, overlaps[k], -1.0) if len(truth) else np.zeros(0)
            best = int(row.argmax()) if row.size else -1
            hit = best >= 0 and row[best] >= threshold
            if hit:
                free[best] = False
            scores.append(float(values[k]))
            hits.append(bool(hit))
    order = np.argsort(-np.asarray(scores), kind="stable")
    right = np.cumsum(np.asarray(hits, dtype=np.float64)[order])
    recall, precision = right / total, right / np.arange(1, len(right) + 1)
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    return float(np.sum(np.diff(np.concatenate([[0.0], recall])) * precision)) if len(right) else 0.0


def mean_average_precision(values: Mapping[str, float | None]) -> float:
    """Return the mean over the classes that occur; 0 when none does."""
    known = [v for v in values.values() if v is not None]
    return float(np.mean(known)) if known else 0.0
