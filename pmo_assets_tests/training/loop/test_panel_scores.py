"""Scores of panels: F1 and average precision on cases that can be worked out by hand, and a detector on figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from pmo_assets.records.detections import FigureView, PanelDetection
from pmo_assets.records.geometry import Box
from pmo_assets.training.data.coco import write_coco
from pmo_assets.training.loop.panel_scores import figures_of, found_panels, panel_scores, wrong_panels
from pmo_assets.training.synthetic.placed_figure import PlacedPanel, SyntheticFigure

LEFT, RIGHT, MIDDLE = (0.0, 0.0, 0.5, 1.0), (0.5, 0.0, 1.0, 1.0), (0.3, 0.0, 0.7, 1.0)


def test_all_right_is_one() -> None:
    scores = panel_scores([("a", [(LEFT, 0.9), (RIGHT, 0.8)], [LEFT, RIGHT])], 0.25)
    assert (scores.mAP, scores.AP50, scores.F1, scores.perfect) == (1.0, 1.0, 1.0, 1.0)
    assert (scores.figures, scores.panels, scores.found) == (1, 2, 2)


def test_weak_panels_count_in_average_precision_but_not_in_f1() -> None:
    figures = [("a", [(LEFT, 0.9), (MIDDLE, 0.5), (RIGHT, 0.1)], [LEFT, RIGHT])]
    scores = panel_scores(figures, 0.25)
    assert (scores.precision, scores.recall) == (0.5, 0.5)
    assert scores.F1 == 0.5
    assert pytest.approx((51 + 50 * 2 / 3) / 101) == scores.AP50
    assert scores.best_F1 == pytest.approx(0.8)
    assert scores.best_threshold == 0.1
    assert scores.perfect == 0.0
    assert wrong_panels(figures[0], 0.25) == 2
    assert wrong_panels(figures[0], 0.0) == 1


def test_a_box_that_is_a_little_off_costs_at_high_overlaps_only() -> None:
    off: Box = (0.0, 0.0, 0.5, 0.8)
    scores = panel_scores([("a", [(off, 0.9)], [LEFT])], 0.25)
    assert (scores.AP50, scores.AP75, scores.F1) == (1.0, 1.0, 1.0)
    assert scores.mAP == pytest.approx(0.7)


def test_nothing_found_is_zero_and_nothing_to_find_is_an_error() -> None:
    scores = panel_scores([("a", [], [LEFT])], 0.25)
    assert (scores.mAP, scores.F1, scores.best_F1, scores.perfect) == (0.0, 0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="no figure has a panel"):
        panel_scores([("a", [(LEFT, 0.9)], [])], 0.25)


class Halves:
    """Finds the left half, and the right one where the caption names two panels."""

    def __call__(self, views: Sequence[FigureView]) -> list[list[PanelDetection]]:
        return [
            [PanelDetection("panel", box, 0.9, "x") for box in (LEFT, RIGHT)[: max(1, len(view.caption_identifiers))]]
            for view in views
        ]


def test_a_detector_sees_every_figure_with_its_names_where_the_caption_has_them(tmp_path: Path) -> None:
    label = (0.1, 0.1, 0.2, 0.2)
    panels = (PlacedPanel(LEFT, "a", label), PlacedPanel(RIGHT, "b", (0.6, 0.1, 0.7, 0.2)))
    figure = SyntheticFigure(np.full((60, 100, 3), 90, np.uint8), panels, ())
    write_coco(tmp_path, [(k, figure) for k in range(10)])
    told: list[int] = []
    plain = found_panels(figures_of(tmp_path), Halves(), least=0.05, named=False, tell=told.append)
    assert panel_scores(plain, 0.25).recall == 0.5
    assert told == [8, 10]
    named = found_panels(figures_of(tmp_path, 3), Halves(), least=0.05, named=True)
    assert len(named) == 3
    assert panel_scores(named, 0.25).F1 == 1.0
