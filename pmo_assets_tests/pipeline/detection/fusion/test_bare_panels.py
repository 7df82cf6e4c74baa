"""Pictures without a caption: split by what is to be seen, where a caption that names nothing leaves one panel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from pmo_assets.pipeline.detection.detect import detect_panels
from pmo_assets.pipeline.detection.fusion.bare_panels import bare_panels
from pmo_assets.pipeline.detection.fusion.panel_fusion import EnsemblePanelDetector
from pmo_assets.pipeline.detection.protocols import NetworkBoxes
from pmo_assets.pipeline.detection.structure.gutters import canvas_of
from pmo_assets.pipeline.detection.structure.panels import structure_panels
from pmo_assets.records.detections import FigureView
from pmo_assets.records.geometry import Box, iou
from pmo_assets_tests.pipeline.detection.drawing import paper, paste, photograph, plot
from pmo_assets_tests.pipeline.detection.fusion.sources import LEFT, RIGHT, WHOLE, seen, two_pictures

BOTH = seen(panels=((LEFT, 0.9), (RIGHT, 0.8)))


def told(boxes: NetworkBoxes) -> EnsemblePanelDetector:
    """The pipeline's detector with a network that sees these boxes in every figure."""

    def network(views: Sequence[FigureView]) -> list[NetworkBoxes]:
        return [boxes] * len(views)

    return EnsemblePanelDetector(network)


def boxes_in(view: FigureView, boxes: NetworkBoxes) -> list[Box]:
    return [p.box for p in detect_panels(view, told(boxes)) if p.kind == "panel"]


def test_a_picture_without_a_caption_is_split_and_a_caption_without_names_leaves_one_panel() -> None:
    captioned = two_pictures()
    assert boxes_in(captioned, BOTH) == [WHOLE]
    left, right = boxes_in(replace(captioned, caption_known=False), BOTH)
    assert iou(left, LEFT) > 0.98
    assert iou(right, RIGHT) > 0.98


def test_what_clear_gutters_part_stands_where_the_network_is_sure_of_nothing() -> None:
    bare = replace(two_pictures(), caption_known=False)
    for boxes in (seen(), seen(panels=((WHOLE, 0.3),))):
        found = boxes_in(bare, boxes)
        assert [round(box[0], 2) for box in found] == [0.0, 0.55]


def test_a_single_picture_stays_one() -> None:
    figure = paper(300, 200)
    rect = paste(figure, photograph(280, 180), 10, 10)
    bare = FigureView(figure, caption_known=False)
    (nothing_seen,) = boxes_in(bare, seen())
    assert nothing_seen == WHOLE
    whole = (rect[0] / 300, rect[1] / 200, rect[2] / 300, rect[3] / 200)
    (found,) = boxes_in(bare, seen(panels=((whole, 0.9),)))
    assert iou(found, whole) > 0.99


def test_a_panel_that_the_network_misses_is_found_between_gutters() -> None:
    canvas = canvas_of(two_pictures().pixels)
    found = bare_panels(canvas, seen(panels=((LEFT, 0.9),)))
    assert sorted((round(p.box[0], 2), p.source) for p in found) == [(0.0, "network"), (0.55, "gutter")]


def test_print_beside_a_panel_is_no_panel() -> None:
    figure = paper(400, 200)
    paste(figure, photograph(150, 180), 40, 10)
    paste(figure, photograph(150, 180, seed=1), 240, 10)
    a, b, name = (0.1, 0.05, 0.475, 0.95), (0.6, 0.05, 0.975, 0.95), (0.02, 0.45, 0.08, 0.55)
    boxes = seen(panels=((a, 0.9), (b, 0.9), (name, 0.7)), labels=((name, 0.9),))
    assert sorted(p.box[0] for p in bare_panels(canvas_of(figure), boxes)) == pytest.approx([0.1, 0.6])


def test_of_panels_in_panels_those_count_that_add_up_to_more() -> None:
    parts = [(x, y, x + 0.45, y + 0.45) for x in (0.0, 0.55) for y in (0.0, 0.55)]
    canvas = canvas_of(paper(400, 400, 128))
    found = bare_panels(canvas, seen(panels=((WHOLE, 0.5), *((box, 0.9) for box in parts))))
    assert np.allclose(sorted(p.box for p in found), sorted(parts))
    found = bare_panels(canvas, seen(panels=((WHOLE, 0.9), *((box, 0.45) for box in parts))))
    assert [p.box for p in found] == [WHOLE]


@pytest.mark.parametrize(("rows", "columns"), [(1, 2), (2, 2), (3, 4)])
def test_structure_alone_splits_grids_and_keeps_plots_whole(rows: int, columns: int) -> None:
    figure = paper(60 + 320 * columns, 60 + 260 * rows)
    truth = []
    for row in range(rows):
        for column in range(columns):
            left, top = 30 + 320 * column, 30 + 260 * row
            rect = plot(figure, left, top, 290, 230) if column else paste(figure, photograph(290, 230), left, top)
            truth.append(tuple(np.divide(rect, (*figure.shape[1::-1], *figure.shape[1::-1])).tolist()))
    captioned = FigureView(figure)
    assert [p.box for p in structure_panels(captioned)] == [WHOLE]
    found = [p.box for p in structure_panels(replace(captioned, caption_known=False))]
    assert len(found) == rows * columns
    assert all(max(iou(box, other) for other in found) > 0.9 for box in truth)
