"""Flow charts and diagrams of methods: what is an image in them, and what only looks like one."""

from __future__ import annotations

from functools import partial

import cv2
import numpy as np
import pytest

from pmo_assets.pipeline.detection.fusion.drawings import has_edge_of_its_own, is_block, is_written, without_drawn_parts
from pmo_assets.pipeline.detection.structure.gutters import Canvas, Rect, canvas_of, normalised_box
from pmo_assets.records.detections import ImageDetection, PanelDetection
from pmo_assets.records.geometry import UNIT_BOX
from pmo_assets_tests.pipeline.detection.drawing import Picture, paper, paste, plot

WIDE, TALL = 900, 700
PANELS = (PanelDetection("panel", UNIT_BOX, 0.9, "figure"),)


def grainy(width: int, height: int, seed: int = 0) -> Picture:
    """A photograph: clouds with grain everywhere."""
    rng = np.random.default_rng(seed)
    coarse = cv2.resize(rng.uniform(60, 190, (5, 5, 3)).astype(np.float32), (width, height))
    return np.clip(coarse + rng.normal(0, 18, (height, width, 3)), 20, 225).astype(np.uint8)


def box_with_text(
    figure: Picture, rect: Rect, lines: tuple[str, ...], ground: tuple[int, int, int] = (255,) * 3
) -> Rect:
    """Draw a box of a flow chart."""
    left, top, right, bottom = rect
    cv2.rectangle(figure, (left, top), (right - 1, bottom - 1), ground, -1)
    cv2.rectangle(figure, (left, top), (right - 1, bottom - 1), (0, 0, 0), 2)
    ink = (0, 0, 0) if min(ground) > 120 else (255, 255, 255)
    for k, line in enumerate(lines):
        cv2.putText(figure, line, (left + 12, top + 30 + 28 * k), cv2.FONT_HERSHEY_SIMPLEX, 0.7, ink, 2, cv2.LINE_AA)
    return rect


def found(rect: Rect, source: str = "gutter", score: float = 0.8) -> ImageDetection:
    return ImageDetection(normalised_box(rect, WIDE, TALL), score, source, None, 0.0)


def canvas(figure: Picture) -> Canvas:
    return canvas_of(figure, (), None)


def chart() -> tuple[Picture, list[Rect]]:
    """A flow chart of four boxes."""
    figure = paper(WIDE, TALL)
    places = [(300, 20, 600, 120), (60, 250, 330, 350), (560, 250, 840, 350), (300, 500, 600, 600)]
    texts = [("Screened", "patients"), ("Group A", "9 sessions"), ("Group B", "control"), ("Follow-up", "at 6 months")]
    cv2.line(figure, (450, 120), (450, 500), (0, 0, 0), 2)
    cv2.line(figure, (190, 180), (700, 180), (0, 0, 0), 2)
    return figure, [box_with_text(figure, place, text) for place, text in zip(places, texts, strict=True)]


def test_a_flow_chart_is_one_image() -> None:
    figure, boxes = chart()
    (image,) = without_drawn_parts(lambda: canvas(figure), PANELS, [found(box, "network") for box in boxes])
    left, top, right, bottom = image.box
    assert left < 0.1
    assert top < 0.05
    assert right > 0.9
    assert bottom > 0.8


def test_steps_and_layers_beside_a_photograph_are_no_images_and_what_is_drawn_is() -> None:
    figure = paper(WIDE, TALL)
    photo = paste(figure, grainy(240, 200), 30, 30)
    steps = [
        box_with_text(figure, (300 + 190 * k, 60, 460 + 190 * k, 120), ("Grade",), (205, 225, 240)) for k in range(3)
    ]
    layer = box_with_text(figure, (330, 300, 380, 460), (), (230, 200, 210))
    curve = plot(figure, 60, 300, 220, 190)
    strip = paste(figure, grainy(200, 60, 4), 600, 300)
    seen = [found(photo), *(found(step) for step in (*steps, layer)), found(curve), found(strip)]
    assert without_drawn_parts(lambda: canvas(figure), PANELS, seen) == [seen[0], *seen[-2:]]
    assert is_block(canvas(figure), steps[0])
    assert is_block(canvas(figure), layer)
    assert not any(is_block(canvas(figure), rect) for rect in (photo, curve, strip))


def test_blocks_of_the_size_of_a_picture_stay_with_it() -> None:
    figure = paper(WIDE, TALL)
    photographs = [paste(figure, grainy(200, 160, k), 30 + 220 * k, 30) for k in range(2)]
    mask = paste(figure, np.full((160, 200, 3), 120, np.uint8), 470, 30)
    seen = [*(found(p) for p in photographs), found(mask)]
    assert without_drawn_parts(lambda: canvas(figure), PANELS, seen) == seen


def test_pictures_of_a_diagram_remain_and_its_blocks_do_not() -> None:
    figure, boxes = chart()
    pictures = [paste(figure, grainy(170, 150, k), 40 + 620 * k, 520) for k in range(2)]
    mask = np.zeros((150, 170, 3), np.uint8)
    cv2.circle(mask, (85, 75), 40, (255, 255, 255), -1)
    pictures.append(paste(figure, mask, 40, 20))
    block = box_with_text(figure, (640, 40, 840, 110), ("Encoder",), (40, 80, 190))
    cv2.ellipse(figure, (400, 420), (60, 25), 20, 0, 360, (30, 140, 60), -1)
    drawn = (330, 385, 470, 455)
    seen = [*(found(p) for p in pictures), *(found(b, "network") for b in (*boxes, block, drawn))]
    assert without_drawn_parts(lambda: canvas(figure), PANELS, seen) == seen[: len(pictures)]


def test_plots_and_scatter_plots_are_not_writing() -> None:
    figure = paper(WIDE, TALL)
    places = [plot(figure, 40, 30, 380, 280), plot(figure, 480, 30, 380, 280)]
    rng = np.random.default_rng(1)
    scatter = (40, 380, 420, 680)
    cv2.rectangle(figure, (40, 380), (419, 679), (0, 0, 0), 2)
    for x, y in rng.uniform((60, 400), (400, 660), (60, 2)).astype(int).tolist():
        cv2.circle(figure, (x, y), 4, (0, 0, 200), -1)
    seen = [found(place) for place in (*places, scatter)]
    assert not is_written(canvas(figure), scatter)
    assert without_drawn_parts(lambda: canvas(figure), PANELS, seen) == seen


@pytest.mark.parametrize("source", ["bitmap", "gutter"])
def test_what_the_pdf_places_or_structure_frames_beside_photographs_remains(source: str) -> None:
    figure = paper(WIDE, TALL)
    pictures = [paste(figure, grainy(250, 250, k), 30 + 300 * k, 30) for k in range(2)]
    beside = plot(figure, 30, 380, 300, 280)
    seen = [*(found(p, "bitmap") for p in pictures), found(beside, source)]
    assert without_drawn_parts(lambda: canvas(figure), PANELS, seen) == seen


def test_other_panels_are_left_alone() -> None:
    figure, boxes = chart()
    panels = [PanelDetection("panel", normalised_box(box, WIDE, TALL), 0.9, "gutter") for box in boxes]
    seen = [found(box, "network") for box in boxes]
    assert without_drawn_parts(lambda: canvas(figure), panels, seen) == seen


def test_a_picture_has_an_edge_of_its_own_and_a_drawing_has_none() -> None:
    figure = paper(WIDE, TALL)
    edged = partial(has_edge_of_its_own, canvas_of(figure, (), None))
    assert not edged((0, 0, 100, 100))
    place = paste(figure, grainy(200, 200), 50, 50)
    assert has_edge_of_its_own(canvas(figure), place)
