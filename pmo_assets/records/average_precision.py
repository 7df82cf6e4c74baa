"""Average precision: how well ranked boxes find annotated ones, over any number of figures.

It is the area under the precision-recall curve made monotone (all-point interpolation, as PASCAL VOC has it since
2010), each annotated box matched once. COCO reads the same curve at 101 points instead (`coco_average_precision`);
pycocotools does so, too, and counts ignored regions and areas in pixels besides, of which our data has none; a test
holds both against each other where it is installed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from pmo_assets.records.geometry import Box, iou

GRID: Final = tuple(round(0.5 + 0.05 * step, 2) for step in range(10))
"""IoU thresholds of COCO's mean average precision."""

RECALLS: Final = tuple(0.01 * step for step in range(101))
"""Places at which COCO reads the precision."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Found boxes of a class in all figures, with what they overlap.

    Attributes:
        items: (score, IoU with each annotated box of its figure and class, figure) per found box.
        truths: annotated boxes of the class.
    """

    items: tuple[tuple[float, tuple[float, ...], Hashable], ...]
    truths: int


@dataclass(frozen=True, slots=True)
class Curve:
    """Precision against recall at one IoU threshold; `scores` falls, recall rises along it."""

    recall: tuple[float, ...]
    precision: tuple[float, ...]
    scores: tuple[float, ...]


def ranked_boxes(figures: Sequence[tuple[Hashable, Sequence[tuple[Box, float]], Sequence[Box]]]) -> Ranked:
    """Return the found boxes of a class with their overlaps.

    Args:
        figures: per figure a key of its own, the (box, score) that were found in it, and the annotated boxes, in the
            same coordinates.
    """
    items = tuple(
        (score, tuple(iou(box, other) for other in truth), key) for key, found, truth in figures for box, score in found
    )
    return Ranked(items, sum(len(truth) for _, _, truth in figures))


def right_boxes(ranking: Ranked, threshold: float) -> tuple[bool, ...]:
    """Return true for each found box that is right, in their order.

    A box is right when the best annotated box of its figure that no better scored one has taken (of equal scores: no
    earlier one) overlaps it by the threshold.
    """
    used: set[tuple[Hashable, int]] = set()
    right = [False] * len(ranking.items)
    for place in _by_score(ranking):
        _, overlaps, key = ranking.items[place]
        best, index = max(((v, k) for k, v in enumerate(overlaps) if (key, k) not in used), default=(0.0, -1))
        if index >= 0 and best >= threshold:
            used.add((key, index))
            right[place] = True
    return tuple(right)


def _by_score(ranking: Ranked) -> list[int]:
    return sorted(range(len(ranking.items)), key=lambda place: -ranking.items[place][0])


def precision_recall(ranking: Ranked, threshold: float) -> Curve:
    """Return precision and recall after each found box, best score first (equal scores in their order)."""
    flags = right_boxes(ranking, threshold)
    right = 0
    recall, precision, scores = [], [], []
    for count, place in enumerate(_by_score(ranking), start=1):
        right += flags[place]
        recall.append(right / ranking.truths if ranking.truths else 0.0)
        precision.append(right / count)
        scores.append(ranking.items[place][0])
    return Curve(tuple(recall), tuple(precision), tuple(scores))


def average_precision(ranking: Ranked, threshold: float) -> float | None:
    """Return the area under the monotone precision-recall curve, 0..1; None when nothing is annotated."""
    if not ranking.truths:
        return None
    curve = precision_recall(ranking, threshold)
    area = highest = 0.0
    for k in range(len(curve.recall) - 1, -1, -1):
        highest = max(highest, curve.precision[k])
        area += highest * (curve.recall[k] - (curve.recall[k - 1] if k else 0.0))
    return area


def coco_average_precision(ranking: Ranked, threshold: float) -> float | None:
    """Return COCO's average precision, 0..1: the monotone curve's mean at `RECALLS`; None when nothing is annotated."""
    if not ranking.truths:
        return None
    curve = precision_recall(ranking, threshold)
    highest = [*accumulate(reversed(curve.precision), max)][::-1]
    places = [bisect_left(curve.recall, recall) for recall in RECALLS]
    return sum(highest[place] for place in places if place < len(highest)) / len(RECALLS)
