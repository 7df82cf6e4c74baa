"""Vector shapes over a picture: arrows, boxes and outlines are marks, frames, scale bars and letters are none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pmo_assets.pipeline.detection.structure.vector_marks import LONE, LONE_KINDS, MANY, vector_evidence
from pmo_assets.records.detections import FigureView
from pmo_assets.records.figure import EmbeddedBitmap, EmbeddedShape, EmbeddedText, ShapeKind
from pmo_assets.records.geometry import UNIT_BOX, Box

LEFT: Box = (0.0, 0.0, 0.5, 1.0)
RIGHT: Box = (0.5, 0.0, 1.0, 1.0)


def view(*shapes: EmbeddedShape, texts: tuple[EmbeddedText, ...] = (), bitmaps: bool = True) -> FigureView:
    placed = (EmbeddedBitmap(LEFT, 200, 200), EmbeddedBitmap(RIGHT, 200, 200)) if bitmaps else ()
    return FigureView(np.zeros((200, 400, 3), np.uint8), placed, texts, shapes=shapes)


def shape(kind: ShapeKind, box: Box, *, filled: bool = False) -> EmbeddedShape:
    return EmbeddedShape(kind, box, "#ffffff", filled)


@pytest.mark.parametrize(
    "mark",
    [
        shape("head", (0.2, 0.4, 0.21, 0.42), filled=True),
        shape("arrow", (0.2, 0.4, 0.25, 0.5), filled=True),
        shape("rectangle", (0.1, 0.3, 0.3, 0.6)),
        shape("ellipse", (0.1, 0.3, 0.2, 0.5)),
        shape("curve", (0.1, 0.3, 0.4, 0.5)),
    ],
)
def test_a_mark_belongs_to_the_image_that_it_lies_on(mark: EmbeddedShape) -> None:
    assert vector_evidence(view(mark), LEFT) == ("lone mark" if mark.kind in LONE_KINDS else "mark")
    assert vector_evidence(view(mark), RIGHT) == "none"
    assert vector_evidence(view(mark, bitmaps=False), LEFT) == "none", "a plot, not a picture"


@pytest.mark.parametrize(
    "drawn",
    [
        shape("rectangle", LEFT),
        shape("rectangle", (0.001, 0.001, 0.25, 0.999)),
        shape("rectangle", (0.3, 0.4, 0.4, 0.45), filled=True),
        shape("patch", (0.3, 0.4, 0.4, 0.45), filled=True),
        shape("head", (0.3, 0.4, 0.3005, 0.4005), filled=True),
        shape("line", (0.02, 0.95, 0.1, 0.95)),
        shape("line", (0.0, 0.5, 0.5, 0.5)),
    ],
)
def test_frames_patches_specks_and_scale_bars_are_none(drawn: EmbeddedShape) -> None:
    assert vector_evidence(view(drawn), LEFT) == "none"


@pytest.mark.parametrize("wide", [True, False])
def test_extents_are_relative_to_the_larger_side_of_wide_and_of_tall_pictures(wide: bool) -> None:
    """An arrow over half the short side of a scan, and a box over all of it, are small beside its long side."""
    pixels = np.zeros((100, 400, 3) if wide else (400, 100, 3), np.uint8)
    arrow: Box = (0.4, 0.2, 0.43, 0.7) if wide else (0.2, 0.4, 0.7, 0.43)
    around: Box = (0.4, 0.03, 0.6, 0.97) if wide else (0.03, 0.4, 0.97, 0.6)
    for mark in (shape("arrow", arrow, filled=True), shape("rectangle", around)):
        placed = (EmbeddedBitmap(UNIT_BOX, 400, 100),)
        assert vector_evidence(FigureView(pixels, placed, shapes=(mark,)), UNIT_BOX) in {"mark", "lone mark"}


def test_lines_are_weaker_evidence_and_none_beside_a_printed_length() -> None:
    leader, bar = shape("line", (0.2, 0.4, 0.3, 0.6)), shape("line", (0.2, 0.6, 0.3, 0.6))
    length = EmbeddedText("200 µm", (0.22, 0.52, 0.28, 0.58), 8.0, False)
    assert vector_evidence(view(leader), LEFT) == "line"
    assert vector_evidence(view(bar), LEFT) == "line"
    assert vector_evidence(view(bar, texts=(length,)), LEFT) == "none"


def test_letters_in_a_row_and_the_symbols_of_data_are_no_marks() -> None:
    letters = [shape("head", (0.1 + 0.02 * k, 0.4, 0.115 + 0.02 * k, 0.44), filled=True) for k in range(4)]
    assert vector_evidence(view(*letters), LEFT) == "none"
    assert vector_evidence(view(*letters, shape("head", (0.3, 0.8, 0.32, 0.84), filled=True)), LEFT) == "lone mark"
    # Arrows beside each other, each with its rim as a shape of its own, are no row of letters.
    arrows = [(0.1 + 0.03 * k, 0.4, 0.125 + 0.03 * k, 0.44) for k in range(3)]
    rimmed = [shape(kind, box, filled=True) for box in arrows for kind in ("arrow", "patch")]  # type: ignore[arg-type]
    assert vector_evidence(view(*rimmed), LEFT) == "lone mark"
    rng = np.random.default_rng(0)
    places = rng.uniform(0.05, 0.4, (MANY + 1, 2)).tolist()
    symbols = [shape("head", (x, y, x + 0.01, y + 0.01), filled=True) for x, y in places]
    assert vector_evidence(view(*symbols), LEFT) == "none"


def test_few_shapes_and_texts_stand_alone_and_a_drawing_does_not() -> None:
    arrow = shape("arrow", (0.2, 0.4, 0.25, 0.5), filled=True)
    bars = [shape("patch", (0.05 * k, 0.5, 0.05 * k + 0.02, 0.9), filled=True) for k in range(LONE[0])]
    assert vector_evidence(view(arrow, *bars[1:]), LEFT) == "lone mark"
    assert vector_evidence(view(arrow, *bars), LEFT) == "mark"
    texts = tuple(EmbeddedText("1", (0.1, 0.1 * k, 0.12, 0.1 * k + 0.05), 8.0, False) for k in range(LONE[1] + 1))
    assert vector_evidence(view(arrow, texts=texts[1:]), LEFT) == "lone mark"
    assert vector_evidence(view(arrow, texts=texts), LEFT) == "mark"


def test_shapes_lie_over_a_picture_that_is_several_bitmaps() -> None:
    tiles = [(0.0, 0.25 * k, 0.5, 0.25 * k + 0.25) for k in range(4)]
    arrow = shape("arrow", (0.2, 0.4, 0.25, 0.5), filled=True)
    tiled = FigureView(view().pixels, tuple(EmbeddedBitmap(box, 100, 50) for box in tiles), shapes=(arrow,))
    assert vector_evidence(tiled, LEFT) == "lone mark"
    assert vector_evidence(replace(tiled, bitmaps=tiled.bitmaps[:2]), LEFT) == "none"


def test_a_line_to_another_picture_calls_it_out_and_marks_nothing() -> None:
    leader = EmbeddedShape("line", (0.2, 0.4, 0.4, 0.6), "#ffffff", False, (0.4, 0.4), (0.2, 0.6))
    assert vector_evidence(view(leader), LEFT) == "line"
    joining = EmbeddedShape("line", (0.3, 0.4, 0.5, 0.6), "#ffffff", False, (0.5, 0.4), (0.3, 0.6))
    assert vector_evidence(view(joining), LEFT) == "none"


def test_a_patch_under_text_leads_nowhere() -> None:
    ground = shape("line", (0.2, 0.4, 0.3, 0.44), filled=True)
    assert vector_evidence(view(ground), LEFT) == "line"
    words = EmbeddedText("E: 49.8", (0.2, 0.405, 0.3, 0.435), 8.0, False)
    assert vector_evidence(view(ground, texts=(words,)), LEFT) == "none"


def test_an_image_without_extent_has_no_marks() -> None:
    assert vector_evidence(view(shape("head", UNIT_BOX)), (0.2, 0.2, 0.2, 0.2)) == "none"
