"""Score of any detector's panels on COCO data, as the papers on compound figures report it: COCO's mAP, and F1.

A panel is right when it overlaps a true one, which no better scored one has taken, by the threshold. F1 is of IoU 0.5
and of the panels from a score on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.detect import panels_of_figures
from pmo_assets.pipeline.detection.protocols import PanelDetector
from pmo_assets.records.average_precision import GRID, coco_average_precision, precision_recall, ranked_boxes
from pmo_assets.records.detections import FigureView
from pmo_assets.records.geometry import Box
from pmo_assets.training.data.coco import figure_of_coco, read_coco, shards

F1_IOU = 0.5
"""Overlap from which a panel counts as found in F1."""

AT_ONCE = 8
"""Figures that a detector sees at once."""

ScoredBoxes = Sequence[tuple[Box, float]]
"""Normalised boxes with their scores."""

FigurePanels = tuple[Hashable, ScoredBoxes, Sequence[Box]]
"""A figure's key, the panels found in it, and the true ones."""


@dataclass(frozen=True, slots=True)
class PanelScores:
    """Score of a detector.

    Attributes:
        figures, panels, found: how many figures, true panels, and panels from `threshold` on there are.
        mAP: COCO's average precision, mean over IoU 0.5 to 0.95.
        AP50, AP75: at IoU 0.5 and 0.75.
        threshold: score from which panels count in precision, recall and F1, all of IoU 0.5.
        best_f1, best_threshold: the highest F1 of any threshold, and that threshold.
        perfect: share of figures with as many panels as there are, all right (IoU 0.5).
    """

    figures: int
    panels: int
    found: int
    mAP: float
    AP50: float
    AP75: float
    threshold: float
    precision: float
    recall: float
    F1: float
    best_F1: float
    best_threshold: float
    perfect: float


def panel_scores(figures: Sequence[FigurePanels], threshold: float) -> PanelScores:
    """Return the score of what was found in figures.

    Raises:
        ValueError: when no figure has a true panel.
    """
    ranking = ranked_boxes(figures)
    if not ranking.truths:
        raise ValueError("nothing to measure: no figure has a panel")
    grid = {iou: coco_average_precision(ranking, iou) or 0.0 for iou in GRID}
    curve = precision_recall(ranking, F1_IOU)
    values = [_f1(p, r) for p, r in zip(curve.precision, curve.recall, strict=True)]
    # Boxes of one score are all in or all out.
    ends = [k for k in range(len(values)) if k + 1 == len(values) or curve.scores[k + 1] < curve.scores[k]]
    best = max(ends, key=lambda k: values[k], default=None)
    count = sum(score >= threshold for score in curve.scores)
    precision = curve.precision[count - 1] if count else 0.0
    recall = curve.recall[count - 1] if count else 0.0
    return PanelScores(
        figures=len(figures), panels=ranking.truths, found=count, mAP=math.fsum(grid.values()) / len(grid),
        AP50=grid[0.5], AP75=grid[0.75], threshold=threshold, precision=precision, recall=recall,
        F1=_f1(precision, recall), best_F1=values[best] if best is not None else 0.0,
        best_threshold=curve.scores[best] if best is not None else 1.0,
        perfect=sum(wrong_panels(figure, threshold) == 0 for figure in figures) / len(figures),
    )  # fmt: skip


def wrong_panels(figure: FigurePanels, threshold: float) -> int:
    """Return how many panels of a figure are missed or false at IoU 0.5, of those from a score on."""
    key, found, truth = figure
    ranking = ranked_boxes([(key, [(box, score) for box, score in found if score >= threshold], truth)])
    right = round(precision_recall(ranking, F1_IOU).recall[-1] * len(truth)) if ranking.items and truth else 0
    return len(ranking.items) + len(truth) - 2 * right


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def figures_of(data: Path, count: int = 0) -> Iterable[tuple[Path, NDArray[np.uint8], tuple[str, ...], list[Box]]]:
    """Yield (file, pixels, printed identifiers, panels' boxes) of COCO data; the first `count` figures, 0 for all."""
    rows = (row for shard in shards(data) for row in read_coco(shard))
    for path, size, marked in islice(rows, count or None):
        figure = figure_of_coco(path, size, marked)
        names = tuple(p.identifier for p in figure.panels if p.identifier is not None)
        yield path, figure.pixels, names, [p.box for p in figure.panels]


def found_panels(
    figures: Iterable[tuple[Path, NDArray[np.uint8], tuple[str, ...], list[Box]]],
    detector: PanelDetector,
    *,
    least: float,
    named: bool,
    tell: Callable[[int], object] = lambda _: None,
) -> list[FigurePanels]:
    """Return what a detector finds in figures, by `detect_panels`.

    Args:
        figures: see `figures_of`.
        detector: of panels.
        least: weaker panels are dropped.
        named: a caption names the printed identifiers; else the pictures have no caption.
        tell: is told how many figures were seen.
    """
    result: list[FigurePanels] = []
    rest = iter(figures)
    while batch := list(islice(rest, AT_ONCE)):
        views = [
            FigureView(pixels, caption_identifiers=names if named else (), caption_known=named)
            for _, pixels, names, _ in batch
        ]
        found = panels_of_figures(views, detector, score_threshold=least)
        for (path, _, _, truth), panels in zip(batch, found, strict=True):
            result.append((path, [(p.box, p.score) for p in panels if p.kind == "panel"], truth))
        tell(len(result))
    return result
