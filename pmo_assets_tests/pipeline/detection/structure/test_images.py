"""Images: every picture and plot of a panel once, boxes tight, words and identifiers left outside."""

from __future__ import annotations

import numpy as np
import pytest

from pmo_assets.pipeline.detection.structure.images import structure_images
from pmo_assets.records.detections import FigureView, PanelDetection
from pmo_assets.records.figure import EmbeddedBitmap
from pmo_assets.records.geometry import UNIT_BOX, iou
from pmo_assets_tests.pipeline.detection.drawing import as_fraction, live_text, paper, paste, photograph, plot

WHOLE = (PanelDetection("panel", UNIT_BOX, 0.95, "figure"),)


def test_embedded_bitmaps_are_images_with_exact_boxes() -> None:
    figure = paper(830, 360)
    rects = [paste(figure, photograph(400, 300, k), 5 + k * 420, 10) for k in (0, 1)]
    text = live_text(figure, "(a)", 400, 325)
    bitmaps = tuple(EmbeddedBitmap(as_fraction(figure, r), 400, 300) for r in rects)
    found = structure_images(FigureView(figure, bitmaps, (text,)), WHOLE)
    assert [i.box for i in found] == [b.box for b in bitmaps]
    assert {i.source for i in found} == {"bitmap"}


def test_a_flat_grid_of_pictures_with_words_below_gives_the_pictures_alone() -> None:
    figure = paper(830, 700)
    rects = []
    for k in range(4):
        left, top = 5 + (k % 2) * 420, 5 + (k // 2) * 350
        rects.append(paste(figure, photograph(400, 300, k), left, top))
        live_text(figure, "Grade", left + 170, top + 310)
    found = structure_images(FigureView(figure), WHOLE)
    assert sorted(i.box for i in found) == [pytest.approx(as_fraction(figure, r)) for r in sorted(rects)]


def test_a_flat_bitmap_over_the_whole_figure_is_looked_into() -> None:
    figure = paper(830, 320)
    rects = [paste(figure, photograph(400, 300, k), 5 + k * 420, 10) for k in (0, 1)]
    found = structure_images(FigureView(figure, (EmbeddedBitmap(UNIT_BOX, 830, 320),)), WHOLE)
    assert [i.box for i in found] == [pytest.approx(as_fraction(figure, r)) for r in rects]


def test_plots_keep_their_tick_labels() -> None:
    figure = paper(900, 400)
    rects = [plot(figure, 20, 20, 400, 350), plot(figure, 480, 20, 400, 350)]
    found = structure_images(FigureView(figure), WHOLE)
    assert all(iou(i.box, as_fraction(figure, r)) > 0.97 for i, r in zip(found, rects, strict=True))


def test_a_picture_that_an_arrow_ties_to_a_word_keeps_its_own_box() -> None:
    figure = paper(800, 400)
    rect = paste(figure, photograph(350, 350), 20, 25)
    figure[198:202, 360:600] = 0
    live_text(figure, "Fovea", 605, 190)
    found = structure_images(FigureView(figure), WHOLE)
    assert len(found) == 1
    assert iou(found[0].box, as_fraction(figure, rect)) > 0.95


def test_the_identifier_beside_a_plot_does_not_stretch_it() -> None:
    figure = paper(500, 460)
    rect = plot(figure, 20, 20, 460, 380)
    text = live_text(figure, "(a)", 230, 425)
    identifiers = (*WHOLE, PanelDetection("identifier", text.box, 0.95, "text", "a"))
    found = structure_images(FigureView(figure, (), (text,)), identifiers)
    assert [i.box for i in found] == [pytest.approx(as_fraction(figure, rect))]


def test_an_empty_panel_has_no_image() -> None:
    assert structure_images(FigureView(paper(100, 100)), WHOLE) == []


def test_tiny_figures_do_not_fail() -> None:
    for shape in ((1, 1, 3), (1, 50, 3), (3, 2, 3)):
        structure_images(FigureView(np.zeros(shape, np.uint8)), WHOLE)
