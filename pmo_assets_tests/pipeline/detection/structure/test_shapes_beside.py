"""Arrows and braces beside an image belong to it; arrows between pictures, axes and what points elsewhere do not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.detection.structure.shapes_beside import MEETING, shapes_beside
from pmo_assets.pipeline.detection.structure.vector_marks import vector_evidence
from pmo_assets.records.detections import FigureView
from pmo_assets.records.figure import EmbeddedBitmap, EmbeddedShape, EmbeddedText
from pmo_assets.records.geometry import Box, Point

IMAGE: Box = (0.4, 0.2, 0.8, 0.8)
OTHER: Box = (0.0, 0.2, 0.2, 0.8)


def name(at: Point) -> EmbeddedText:
    return EmbeddedText("A", (at[0] - 0.02, at[1] - 0.02, at[0], at[1] + 0.02), 8.0, False)


def view(*shapes: EmbeddedShape, texts: tuple[EmbeddedText, ...] = (), others: bool = False) -> FigureView:
    bitmaps = (EmbeddedBitmap(IMAGE, 200, 200), *((EmbeddedBitmap(OTHER, 200, 200),) if others else ()))
    return FigureView(np.zeros((400, 400, 3), np.uint8), bitmaps, texts, shapes=shapes)


def line(tail: Point, tip: Point) -> EmbeddedShape:
    xs, ys = sorted((tail[0], tip[0])), sorted((tail[1], tip[1]))
    return EmbeddedShape("line", (xs[0], ys[0], xs[1], ys[1]), "#000000", False, tip, tail)


def head(tip: Point) -> EmbeddedShape:
    return EmbeddedShape("head", (tip[0] - 0.02, tip[1] - 0.015, tip[0], tip[1] + 0.015), "#000000", True)


def arrow(tail: Point, tip: Point) -> EmbeddedShape:
    return EmbeddedShape("arrow", (tail[0], tail[1] - 0.01, tip[0], tip[1] + 0.01), "#000000", True, tip, tail)


def roles(figure: FigureView) -> list[tuple[str, str]]:
    return [(shape.kind, role) for shape, role in shapes_beside(figure, IMAGE, (), ())]


def test_a_shaft_with_its_head_and_a_name_points_at_the_edge() -> None:
    parts = (line((0.3, 0.5), (0.39, 0.5)), head((0.4, 0.5)))
    assert roles(view(*parts, texts=(name((0.29, 0.5)),))) == [("line", "line"), ("head", "mark")]
    assert roles(view(*parts)) == [], "nothing is named"
    assert roles(view(parts[0], texts=(name((0.29, 0.5)),))) == [], "a tick of an axis"


@given(st.floats(0.0, 0.12), st.floats(0.25, 0.75))
def test_tips_meet_the_edge_or_lie_within(gap: float, y: float) -> None:
    scale = 0.6  # the image's taller side
    figure = view(arrow((0.25, y), (0.4 - gap, y)), texts=(name((0.24, y)),))
    assert roles(figure) == ([("arrow", "mark")] if gap <= MEETING * scale else [])


def test_arrows_from_picture_to_picture_and_away_from_it_show_an_order() -> None:
    between = arrow((0.19, 0.5), (0.4, 0.5))
    named = (name((0.19, 0.5)),)
    assert roles(view(between, texts=named)) == [("arrow", "mark")]
    assert roles(view(between, texts=named, others=True)) == [], "its tail lies on another picture"
    assert roles(view(arrow((0.4, 0.5), (0.25, 0.5)), texts=(name((0.4, 0.5)),))) == []
    assert roles(view(arrow((0.05, 0.5), (0.4, 0.5)), texts=(name((0.05, 0.5)),))) == [], "too long"


@pytest.mark.parametrize(("opening", "point", "count"), [(0.39, 0.35, 1), (0.35, 0.39, 0), (0.3, 0.26, 0)])
def test_braces_open_towards_the_edge(opening: float, point: float, count: int) -> None:
    box = (min(opening, point), 0.3, max(opening, point), 0.6)
    brace = EmbeddedShape("brace", box, "#000000", False, (point, 0.45), (opening, 0.45))
    figure = view(brace, texts=(name((point - 0.005, 0.45)),))
    assert len(roles(figure)) == count
    assert vector_evidence(figure, IMAGE) == ("mark" if count else "none")
