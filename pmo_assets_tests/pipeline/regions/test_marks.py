"""Marks of three sources: shaft and head are one arrow, characters count, the PDF beats the pixels, labels belong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.structure.vector_marks import vector_evidence
from pmo_assets.pipeline.regions.marks import fused, image_marks
from pmo_assets.pipeline.regions.marks_network import Calibration, SeenMark
from pmo_assets.records.detections import FigureView
from pmo_assets.records.figure import EmbeddedBitmap, EmbeddedShape, EmbeddedText, ShapeKind
from pmo_assets.records.geometry import UNIT_BOX, Box, Point, expand, union_box
from pmo_assets.records.regions import Mark
from pmo_assets_tests.examples import examples

WIDE, TALL = 400, 200


def picture() -> NDArray[np.uint8]:
    return np.random.default_rng(1).integers(60, 90, (TALL, WIDE, 3), dtype=np.uint8)


def view(*shapes: EmbeddedShape, texts: tuple[EmbeddedText, ...] = (), names: tuple[str, ...] = ()) -> FigureView:
    return FigureView(picture(), (EmbeddedBitmap(UNIT_BOX, 800, 400),), texts, names, shapes=shapes)


def shape(
    kind: ShapeKind, box: Box, tip: Point | None = None, tail: Point | None = None, colour: str = "#ffff00",
    filled: bool = False,
) -> EmbeddedShape:  # fmt: skip
    return EmbeddedShape(kind, box, colour, filled, tip, tail)


def line(start: Point, end: Point, colour: str = "#ffff00") -> EmbeddedShape:
    xs, ys = sorted((start[0], end[0])), sorted((start[1], end[1]))
    return shape("line", (xs[0], ys[0], xs[1], ys[1]), end, start, colour)


def head(tip: Point, tail: Point, kind: ShapeKind = "head", colour: str = "#ffff00") -> EmbeddedShape:
    half = max(math.dist(tip, tail) * 0.5, 0.005)
    box = union_box([(*tip, *tip), expand((*tail, *tail), half)])
    return shape(kind, box, tip, tail, colour, filled=True)


def test_an_arrow_keeps_its_tip_direction_and_colour() -> None:
    (mark,) = image_marks(view(shape("arrow", (0.4, 0.4, 0.5, 0.6), (0.5, 0.4), (0.4, 0.6))), UNIT_BOX)
    assert (mark.kind, mark.source, mark.colour, mark.rgb) == ("arrow", "vector", "yellow", "#ffff00")
    assert mark.tip == (0.5, 0.4)
    assert mark.direction == pytest.approx(45.0), "by the figure's pixels, which is twice as wide as tall"


@examples(50)
@given(st.floats(0, 2 * math.pi), st.booleans(), st.sampled_from(["head", "dart"]))
def test_a_line_and_a_head_are_one_arrow_whichever_end_it_has(angle: float, turned: bool, kind: ShapeKind) -> None:
    way = (math.cos(angle) / WIDE, math.sin(angle) / TALL)
    at = lambda pixels: (0.5 + pixels * way[0], 0.5 + pixels * way[1])  # noqa: E731
    ends = (at(40), at(12))
    shaft = line(*(ends[::-1] if turned else ends))
    (mark,) = image_marks(view(shaft, head(at(0), at(12), kind)), UNIT_BOX)
    assert mark.kind == "arrow"
    assert mark.tip == pytest.approx(at(0))
    assert mark.direction is not None
    assert math.cos(math.radians(mark.direction) - (math.pi - angle)) > 0.999


def test_a_triangle_of_equal_sides_points_where_its_shaft_comes_from() -> None:
    triangle = shape("head", (0.5, 0.45, 0.55, 0.55), filled=True)
    (mark,) = image_marks(view(line((0.3, 0.5), (0.51, 0.5)), triangle), UNIT_BOX)
    assert mark.kind == "arrow"
    assert mark.direction == pytest.approx(0.0)
    assert mark.tip == pytest.approx((0.55, 0.5))


def test_heads_at_both_ends_point_nowhere_and_other_colours_or_ways_do_not_join() -> None:
    shaft = line((0.3, 0.5), (0.6, 0.5))
    right, left = head((0.62, 0.5), (0.6, 0.5)), head((0.28, 0.5), (0.3, 0.5))
    (both,) = image_marks(view(shaft, right, left), UNIT_BOX)
    assert (both.kind, both.tip, both.direction) == ("arrow", None, None)
    apart = image_marks(view(shaft, head((0.62, 0.5), (0.6, 0.5), colour="#0000ff")), UNIT_BOX)
    assert {mark.kind for mark in apart} == {"arrowhead", "line"}
    inwards = image_marks(view(shaft, head((0.57, 0.5), (0.6, 0.5))), UNIT_BOX)
    assert {mark.kind for mark in inwards} == {"arrowhead", "line"}


def test_touching_lines_are_one_mark() -> None:
    calliper = [line((0.4, 0.3), (0.6, 0.7)), line((0.38, 0.32), (0.42, 0.28)), line((0.58, 0.72), (0.62, 0.68))]
    (mark,) = image_marks(view(*calliper), UNIT_BOX)
    assert mark.kind == "line"
    assert mark.box == pytest.approx((0.38, 0.28, 0.62, 0.72))
    corners = [(0.3, 0.3), (0.5, 0.3), (0.5, 0.7), (0.3, 0.7)]
    (box,) = image_marks(view(*(line(corners[k], corners[(k + 1) % 4]) for k in range(4))), UNIT_BOX)
    assert box.kind == "box"
    (cross,) = image_marks(view(line((0.4, 0.4), (0.5, 0.6)), line((0.4, 0.6), (0.5, 0.4))), UNIT_BOX)
    assert cross.kind == "asterisk"


def test_scale_bars_frames_and_plots_are_none() -> None:
    length = EmbeddedText("200 µm", (0.42, 0.52, 0.5, 0.58), 8.0, False)
    bars = [line((0.4, 0.6), (0.6, 0.6)), line((0.4, 0.58), (0.4, 0.62)), line((0.6, 0.58), (0.6, 0.62))]
    assert image_marks(view(*bars, texts=(length,)), UNIT_BOX) == ()
    assert image_marks(view(shape("rectangle", (0, 0, 1, 1))), UNIT_BOX) == ()
    arrow = shape("arrow", (0.4, 0.4, 0.5, 0.6), (0.5, 0.4), (0.4, 0.6))
    drawing = [shape("patch", (0.1 * k, 0.2, 0.1 * k + 0.05, 0.9), filled=True) for k in range(9)]
    paper = np.full((TALL, WIDE, 3), 255, np.uint8)
    assert image_marks(replace(view(arrow, *drawing), pixels=paper), UNIT_BOX) == ()


def test_on_a_picture_of_paper_shapes_are_marks_where_they_stand_alone() -> None:
    """Scans of activity are mostly white; a chart has axes and their numbers."""
    paper = np.full((TALL, WIDE, 3), 255, np.uint8)
    arrow = shape("arrow", (0.4, 0.4, 0.5, 0.6), (0.5, 0.4), (0.4, 0.6))
    assert [mark.kind for mark in image_marks(replace(view(arrow), pixels=paper), UNIT_BOX)] == ["arrow"]
    numbers = tuple(EmbeddedText(str(k), (0.1, 0.1 * k, 0.13, 0.1 * k + 0.04), 8.0, False) for k in range(9))
    assert image_marks(replace(view(arrow, texts=numbers), pixels=paper), UNIT_BOX) == ()


def test_an_arrow_beside_a_picture_is_one_mark_of_it_with_its_label() -> None:
    inside = (0.4, 0.1, 0.9, 0.9)
    figure = replace(view(), bitmaps=(EmbeddedBitmap(inside, 400, 300),))
    name = EmbeddedText("B", (0.25, 0.48, 0.27, 0.52), 8.0, False)
    shaft, tip = line((0.29, 0.5), (0.39, 0.5)), shape("head", (0.37, 0.48, 0.401, 0.52), filled=True)
    (mark,) = image_marks(replace(figure, shapes=(shaft, tip), texts=(name,)), inside)
    assert (mark.kind, mark.label) == ("arrow", "B")
    assert mark.tip == pytest.approx((0.401, 0.5), abs=1e-3)


def test_a_star_at_an_arrows_tail_is_its_label() -> None:
    arrow = shape("arrow", (0.45, 0.4, 0.5, 0.6), (0.475, 0.4), (0.475, 0.6))
    for sign in ("*", "**"):
        star = EmbeddedText(sign, (0.46, 0.61, 0.49, 0.66), 12.0, False)
        (mark,) = image_marks(view(arrow, texts=(star,)), UNIT_BOX)
        assert (mark.kind, mark.label) == ("arrow", sign)
    at_tip = EmbeddedText("*", (0.46, 0.33, 0.49, 0.38), 12.0, False)
    assert [m.label for m in image_marks(view(arrow, texts=(at_tip,)), UNIT_BOX) if m.kind == "arrow"] == [None]


def test_a_filled_mark_with_a_rim_has_the_colour_of_its_filling() -> None:
    box = (0.4, 0.4, 0.5, 0.6)
    filling = shape("arrow", box, (0.5, 0.4), (0.4, 0.6), "#000000", filled=True)
    rim = shape("arrow", (0.398, 0.398, 0.502, 0.602), (0.5, 0.4), (0.4, 0.6), "#ffffff")
    for shapes in ((filling, rim), (rim, filling)):
        (mark,) = image_marks(view(*shapes), UNIT_BOX)
        assert mark.colour == "black"


def test_a_shaft_that_is_hardly_longer_than_its_head_is_one_arrow_with_it() -> None:
    tip = shape("head", (0.48, 0.46, 0.52, 0.54), filled=True)
    (mark,) = image_marks(view(line((0.47, 0.5), (0.51, 0.5)), tip), UNIT_BOX)
    assert mark.kind == "arrow"
    assert mark.direction == pytest.approx(0.0, abs=1.0)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("ellipse", "circle"), ("rectangle", "box"), ("star", "asterisk"), ("dart", "arrowhead"), ("pointer", "arrow")],
)
def test_shapes_become_kinds_of_marks(kind: ShapeKind, expected: str) -> None:
    (mark,) = image_marks(view(shape(kind, (0.4, 0.4, 0.5, 0.6))), UNIT_BOX)
    assert mark.kind == expected


def test_what_the_decision_of_mark_status_does_not_know_leaves_it_as_it_is() -> None:
    dart = head((0.5, 0.5), (0.52, 0.5), "dart")
    assert vector_evidence(view(dart), UNIT_BOX) == "none"
    assert [mark.kind for mark in image_marks(view(dart), UNIT_BOX)] == ["arrowhead"]


def test_the_same_shape_drawn_twice_is_one_mark_in_the_colour_on_top() -> None:
    box = (0.4, 0.4, 0.5, 0.6)
    halo = shape("arrow", (0.395, 0.395, 0.505, 0.605), (0.5, 0.4), (0.4, 0.6), "#000000")
    (mark,) = image_marks(view(halo, shape("arrow", box, (0.5, 0.4), (0.4, 0.6), "#ff0000")), UNIT_BOX)
    assert mark.colour == "red"


def test_characters_over_a_picture_are_marks_of_their_ink() -> None:
    pixels = picture()
    pixels[90:100, 100:110] = (255, 255, 255)
    text = EmbeddedText("*", (0.24, 0.4, 0.29, 0.6), 12.0, False)
    (mark,) = image_marks(replace(view(texts=(text,)), pixels=pixels), UNIT_BOX)
    assert (mark.kind, mark.source, mark.colour) == ("asterisk", "text", "white")
    assert mark.box == pytest.approx((0.25, 0.45, 0.275, 0.5))
    arrow = replace(view(texts=(replace(text, text="↑"),)), pixels=pixels)
    assert image_marks(arrow, UNIT_BOX)[0].tip == pytest.approx((0.2625, 0.45))
    assert image_marks(replace(arrow, bitmaps=()), UNIT_BOX) == ()


def test_a_letter_beside_a_mark_is_its_label_but_not_the_panels_identifier() -> None:
    arrow = shape("arrow", (0.4, 0.4, 0.5, 0.6), (0.5, 0.4), (0.4, 0.6))
    other = shape("arrow", (0.1, 0.12, 0.2, 0.3), (0.2, 0.12), (0.1, 0.3))
    texts = (
        EmbeddedText("(b)", (0.37, 0.6, 0.395, 0.68), 9.0, False),
        EmbeddedText("Fovea", (0.41, 0.62, 0.5, 0.7), 9.0, False),
        EmbeddedText("A", (0.02, 0.02, 0.06, 0.12), 12.0, True),
    )
    found = image_marks(view(arrow, other, texts=texts, names=("A",)), UNIT_BOX)
    assert {mark.label for mark in found} == {"b", None}
    assert {mark.label for mark in image_marks(view(arrow, other, texts=texts), UNIT_BOX)} == {"b", "A"}


# pixels

ARROW = SeenMark("arrow", (0.4, 0.4, 0.5, 0.6), (0.5, 0.4), 0.9)


def seeing(*marks: SeenMark):
    def network(pictures: Sequence[NDArray[np.uint8]], least: float) -> list[list[SeenMark]]:
        return [list(marks) for _ in pictures]

    return network


def test_marks_in_pixels_lie_in_the_figure_and_have_the_colour_of_their_ink() -> None:
    pixels = picture()
    pixels[80:120, 160:180] = (255, 220, 0)
    image = (0.25, 0.0, 1.0, 1.0)
    seen = replace(ARROW, box=(0.2, 0.4, 0.26, 0.6), tip=(0.26, 0.4))
    (mark,) = image_marks(FigureView(pixels), image, seeing(seen))
    assert (mark.kind, mark.source, mark.rgb) == ("arrow", "pixels", "#ffdc00")
    assert mark.probability == pytest.approx(0.9)
    assert mark.box == pytest.approx((0.4, 0.4, 0.445, 0.6))
    assert mark.tip == pytest.approx((0.445, 0.4))


def test_scores_are_calibrated_and_held_against_the_threshold() -> None:
    strict = Calibration(1.0, 0.0, 0.0, -2.0, 0.6)
    assert image_marks(FigureView(picture()), UNIT_BOX, seeing(ARROW), strict) == ()
    (mark,) = image_marks(FigureView(picture()), UNIT_BOX, seeing(ARROW), replace(strict, threshold=0.5))
    assert mark.probability == pytest.approx(1 / (1 + math.exp(2) / 9))
    assert mark.score == 0.9


def test_pixels_are_held_against_the_status_of_their_image() -> None:
    calibration = Calibration(1.0, 0.5, 0.0, -2.0, 0.6)
    (mark,) = image_marks(FigureView(picture()), UNIT_BOX, seeing(ARROW), calibration, 0.95)
    assert mark.probability == pytest.approx(1 / (1 + math.exp(2) / 9 / 19**0.5))
    assert image_marks(FigureView(picture()), UNIT_BOX, seeing(ARROW), calibration, 0.5) == ()
    certain = Calibration(1.0, 0.0, 0.0, 9.0, 0.5)
    assert image_marks(FigureView(picture()), UNIT_BOX, seeing(ARROW), certain, 0.5) != ()
    assert image_marks(FigureView(picture()), UNIT_BOX, seeing(ARROW), certain, 0.4) == (), "likelier not marked"


def test_what_the_reader_takes_for_no_mark_is_believed_less() -> None:
    calibration = Calibration(1.0, 0.0, 1.0, -2.0, 0.5)
    sure, doubtful = replace(ARROW, none=0.1), replace(ARROW, none=0.8)
    (mark,) = image_marks(FigureView(picture()), UNIT_BOX, seeing(sure), calibration)
    assert mark.probability == pytest.approx(1 / (1 + math.exp(2) / 9 / 9))
    assert image_marks(FigureView(picture()), UNIT_BOX, seeing(doubtful), calibration) == ()


def test_specks_in_pixels_are_no_marks() -> None:
    """Nuclei, letters of a viewer, flow in colour: authors want their marks to be seen."""
    certain = Calibration(1.0, 0.0, 0.0, 9.0, 0.5)
    speck = replace(ARROW, box=(0.4, 0.4, 0.439, 0.47), tip=(0.43, 0.4))  # 15.6 and 14 of 400 pixels
    assert image_marks(FigureView(picture()), UNIT_BOX, seeing(speck), certain) == ()
    tall = replace(speck, box=(0.4, 0.4, 0.43, 0.485))  # 17 of 400
    assert len(image_marks(FigureView(picture()), UNIT_BOX, seeing(tall), certain)) == 1


def test_what_the_pdf_tells_beats_the_pixels_and_live_text_is_no_mark() -> None:
    drawn = shape("arrow", (0.39, 0.4, 0.51, 0.6), (0.51, 0.4), (0.39, 0.6))
    only_head = replace(ARROW, box=(0.46, 0.4, 0.5, 0.48))
    elsewhere = replace(ARROW, box=(0.7, 0.4, 0.8, 0.6))
    found = image_marks(view(drawn), UNIT_BOX, seeing(ARROW, only_head, elsewhere))
    assert [mark.source for mark in found] == ["vector", "pixels"]
    name = EmbeddedText("INL", (0.68, 0.38, 0.82, 0.62), 9.0, False)
    assert image_marks(view(texts=(name,)), UNIT_BOX, seeing(elsewhere)) == ()


def test_an_arrow_inside_of_a_circle_is_a_mark_of_its_own() -> None:
    def mark(kind, box: Box) -> Mark:
        return Mark(kind, "red", "#ff0000", box, None, None, None, "pixels", 0.9, 0.9)

    circle, arrow = mark("circle", (0.2, 0.2, 0.6, 0.6)), mark("arrow", (0.3, 0.3, 0.4, 0.4))
    assert fused([circle], [arrow]) == [circle, arrow]
    assert fused([arrow], [circle]) == [arrow, circle]
    assert fused([arrow], [mark("arrowhead", (0.3, 0.3, 0.34, 0.34))]) == [arrow]


def test_pictures_too_small_to_see_anything_are_not_looked_at() -> None:
    assert image_marks(FigureView(np.zeros((8, 300, 3), np.uint8)), UNIT_BOX, seeing(ARROW)) == ()
