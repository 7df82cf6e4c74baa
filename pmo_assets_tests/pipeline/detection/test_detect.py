"""Detection as the assets call it: thresholds, suppression, other detectors, words per panel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from pmo_assets.pipeline.detection.detect import detect_images, detect_panels, images_of_figures
from pmo_assets.records.detections import FigureView, ImageDetection, PanelDetection
from pmo_assets.records.figure import EmbeddedBitmap
from pmo_assets.records.geometry import Box
from pmo_assets_tests.pipeline.detection.drawing import as_fraction, fundus, oct_scan, paper, paste, photograph


class FixedDetector:
    """Returns what it was given: stands for a trained model."""

    def __init__(self, *found: PanelDetection) -> None:
        self.found = list(found)

    def __call__(self, views: Sequence[FigureView]) -> list[list[PanelDetection]]:
        return [self.found for _ in views]


def panel(box: Box, score: float, kind: str = "panel") -> PanelDetection:
    return PanelDetection(kind, box, score, "network")  # type: ignore[arg-type]


def test_weak_and_doubled_detections_are_dropped_class_by_class() -> None:
    strong, doubled = panel((0.0, 0.0, 0.5, 1.0), 0.9), panel((0.02, 0.0, 0.5, 1.0), 0.8)
    weak, label = panel((0.6, 0.0, 1.0, 1.0), 0.2), panel((0.0, 0.0, 0.5, 1.0), 0.5, "identifier")
    found = detect_panels(FigureView(paper(50, 50)), FixedDetector(weak, doubled, strong, label))
    assert [replace(item, probability=0.0) for item in found] == [strong, label]


def test_boxes_are_clipped_to_the_figure_and_empty_ones_dropped() -> None:
    found = detect_panels(
        FigureView(paper(50, 50)), FixedDetector(panel((-0.1, 0, 0.5, 1.2), 0.9), panel((1.1, 0, 1.3, 1), 0.9))
    )
    assert [p.box for p in found] == [(0.0, 0, 0.5, 1.0)]


def test_panels_come_in_reading_order() -> None:
    corners = [(x, y) for y in (0.0, 0.5) for x in (0.0, 0.5)]
    shuffled = [panel((x, y, x + 0.45, y + 0.45), 0.5 + 0.1 * k) for k, (x, y) in enumerate(corners)]
    found = detect_panels(FigureView(paper(50, 50)), FixedDetector(*shuffled[::-1]))
    assert [p.box[:2] for p in found] == corners


def test_each_image_gets_type_and_mark_from_its_own_panel() -> None:
    figure = paper(700, 260)
    rects = [paste(figure, fundus(240), 5, 10), paste(figure, oct_scan(400, 200), 290, 30)]
    bitmaps = tuple(EmbeddedBitmap(as_fraction(figure, r), 100, 100) for r in rects)
    view = FigureView(figure, bitmaps, caption_identifiers=("left", "right"))
    panels = detect_panels(view)
    assert len(panels) == 2
    images = detect_images(view, panels, words_of_panel={0: "Fundus photograph (arrow).", 1: "OCT of the same eye."})
    assert [i.image_type for i in images] == ["CFP", "OCT"]
    assert [i.marked for i in images] == [True, False]
    assert all(sum(i.type_scores.values()) == pytest.approx(1, abs=1e-4) for i in images)


def test_types_of_a_detector_that_classifies_are_kept() -> None:
    class Typed:
        def __call__(
            self, views: Sequence[FigureView], panels: Sequence[Sequence[PanelDetection]]
        ) -> list[list[ImageDetection]]:
            box = (0.1, 0.1, 0.9, 0.9)
            return [[ImageDetection(box, 0.7, "network", "OCT", 0.9, {"OCT": 0.9, "Other": 0.1})] for _ in views]

    view = FigureView(photograph(100, 100))
    (image,) = detect_images(view, detect_panels(view), Typed())
    assert image.image_type == "OCT"
    assert image.type_score == 0.9


def test_a_figure_without_pixels_has_nothing() -> None:
    view = FigureView(np.zeros((0, 5, 3), np.uint8))
    assert detect_panels(view) == ()
    assert detect_images(view, ()) == ()


def test_marks_are_asked_for_with_the_figure_that_each_image_is_of() -> None:
    asked: list[tuple[int, list[int]]] = []

    class Halves:
        def __call__(
            self, views: Sequence[FigureView], panels: Sequence[Sequence[PanelDetection]]
        ) -> list[list[ImageDetection]]:
            boxes: list[Box] = [(0.0, 0.0, 0.45, 1.0), (0.55, 0.0, 1.0, 1.0)]
            return [
                [ImageDetection(box, 0.9, "gutter", None, 0.0) for box in boxes[: 1 + k]] for k in range(len(views))
            ]

    def marks(
        crops: Sequence[np.ndarray], words: Sequence[str], drawn: Sequence[str] = (), figures: Sequence[int] = ()
    ) -> list[tuple[bool | None, float]]:
        asked.append((len(crops), list(figures)))
        return [(None, 0.3)] * len(crops)

    empty, shown = FigureView(np.zeros((0, 0, 3), np.uint8)), FigureView(np.full((60, 120, 3), 90, np.uint8))
    found = images_of_figures([empty, shown, shown], [()] * 3, Halves(), marks)
    assert [len(images) for images in found] == [0, 1, 2]
    assert asked == [(3, [1, 2, 2])]
