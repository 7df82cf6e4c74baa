"""Detection of one figure: runs the detectors, applies the paper's thresholds, adds image type and mark status."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.detections import SCORE_THRESHOLD, FigureView, ImageDetection, PanelDetection
from pmo_assets.pipeline.detection.image_type import classify_image_type
from pmo_assets.pipeline.detection.images import StructureImageDetector
from pmo_assets.pipeline.detection.marks import StructureMarkClassifier
from pmo_assets.pipeline.detection.panels import StructurePanelDetector
from pmo_assets.pipeline.detection.protocols import ImageDetector, MarkClassifier, PanelDetector
from pmo_assets.pipeline.geometry import UNIT_BOX, Box, clip, covered_fraction, height, non_maximum_suppression, width

NMS_IOU = 0.3
"""Overlap above which the weaker of two detections of one class is dropped (paper, Methods)."""


def detect_panels(
    view: FigureView,
    detector: PanelDetector | None = None,
    *,
    score_threshold: float = SCORE_THRESHOLD,
    nms_iou: float = NMS_IOU,
) -> tuple[PanelDetection, ...]:
    """Return panels (reading order), then identifiers, of one figure.

    Args:
        view: the figure; empty pixels give no detections.
        detector: None for the structural detector.
        score_threshold: weaker detections are dropped.
        nms_iou: see `NMS_IOU`; applied to panels and identifiers apart.
    """
    if view.pixels.ndim != 3 or view.pixels.size == 0:
        return ()
    found = (detector or StructurePanelDetector())([view])[0]
    result: list[PanelDetection] = []
    for kind in ("panel", "identifier"):
        group = [replace(p, box=clip(p.box, UNIT_BOX)) for p in found if p.kind == kind and p.score >= score_threshold]
        group = [p for p in group if width(p.box) > 0 and height(p.box) > 0]
        kept = non_maximum_suppression([p.box for p in group], [p.score for p in group], nms_iou)
        result += in_reading_order([group[i] for i in kept])
    return tuple(result)


def in_reading_order(panels: list[PanelDetection]) -> list[PanelDetection]:
    """Return detections row by row, left to right; boxes whose vertical extents overlap by half share a row."""
    rows: list[list[PanelDetection]] = []
    for panel in sorted(panels, key=lambda p: (p.box[1] + p.box[3], p.box[0])):
        for row in rows:
            common = min(panel.box[3], row[0].box[3]) - max(panel.box[1], row[0].box[1])
            if common > 0.5 * min(height(panel.box), height(row[0].box)):
                row.append(panel)
                break
        else:
            rows.append([panel])
    return [panel for row in rows for panel in sorted(row, key=lambda p: (p.box[0], p.box[1]))]


def detect_images(
    view: FigureView,
    panels: tuple[PanelDetection, ...],
    detector: ImageDetector | None = None,
    mark_classifier: MarkClassifier | None = None,
    *,
    words_of_panel: Mapping[int, str] | None = None,
    score_threshold: float = SCORE_THRESHOLD,
    nms_iou: float = NMS_IOU,
) -> tuple[ImageDetection, ...]:
    """Return the images of one figure with type and mark status.

    Args:
        view: the figure.
        panels: what `detect_panels` returned.
        detector: None for the structural detector.
        mark_classifier: None for the structural classifier.
        words_of_panel: what the caption says about the i-th panel (identifiers not counted), where known.
        score_threshold: weaker detections are dropped.
        nms_iou: see `NMS_IOU`.
    """
    if view.pixels.ndim != 3 or view.pixels.size == 0:
        return ()
    found = (detector or StructureImageDetector())([view], [list(panels)])[0]
    found = [replace(i, box=clip(i.box, UNIT_BOX)) for i in found if i.score >= score_threshold]
    found = [i for i in found if width(i.box) > 0 and height(i.box) > 0]
    kept = sorted(non_maximum_suppression([i.box for i in found], [i.score for i in found], nms_iou))
    images = [found[i] for i in kept]
    words = [words_of_image(image.box, panels, words_of_panel or {}) for image in images]
    crops = [crop(view.pixels, image.box) for image in images]
    marks = (mark_classifier or StructureMarkClassifier())(crops, words) if images else []
    result = []
    for image, picture, text, (marked, mark_score) in zip(images, crops, words, marks, strict=True):
        if not image.type_scores:
            decision = classify_image_type(picture, text)
            image = replace(
                image,
                image_type=decision.image_type,
                type_score=decision.score,
                type_scores=decision.scores,
                type_reason=decision.reason,
            )
        result.append(replace(image, marked=marked, mark_score=mark_score))
    return tuple(result)


def words_of_image(box: Box, panels: tuple[PanelDetection, ...], words: Mapping[int, str]) -> str:
    """Return what the caption says about the panel that covers most of an image; "" when unknown."""
    boxes = [p.box for p in panels if p.kind == "panel"]
    best = max(range(len(boxes)), key=lambda i: covered_fraction(box, boxes[i]), default=None)
    return words.get(best, "") if best is not None and covered_fraction(box, boxes[best]) > 0 else ""


def crop(pixels: NDArray[np.uint8], box: Box) -> NDArray[np.uint8]:
    """Return the pixels in a normalised box, at least one pixel."""
    tall, wide = pixels.shape[:2]
    left, top = min(int(box[0] * wide), wide - 1), min(int(box[1] * tall), tall - 1)
    right, bottom = max(left + 1, round(box[2] * wide)), max(top + 1, round(box[3] * tall))
    return pixels[top:bottom, left:right]
