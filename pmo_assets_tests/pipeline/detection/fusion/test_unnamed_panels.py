"""Panels that the caption does not name: what print names them, and what does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pmo_assets.pipeline.detection.fusion.unnamed_panels import (
    MOST_BEYOND,
    is_mostly_confirmed,
    named_by_print,
    own_labels,
    separate,
    stand_alike,
    with_further,
)
from pmo_assets.pipeline.detection.structure.gutters import Rect, canvas_of
from pmo_assets.pipeline.detection.structure.identifier_reading import PrintedBox
from pmo_assets.pipeline.detection.structure.identifiers import Identifier
from pmo_assets.pipeline.detection.structure.panels import PrintedNames
from pmo_assets.records.detections import FigureView
from pmo_assets.records.geometry import Box
from pmo_assets.samples.drawing import print_text
from pmo_assets_tests.pipeline.detection.drawing import photograph

WIDTH, HEIGHT, SIDE = 1000, 220, 200


def figure(texts: list[str]) -> tuple[PrintedNames, list[Rect], list[tuple[Box, float]]]:
    """Grey squares side by side with print in their corners ("" for specks that nobody can read), all unnamed."""
    pixels = np.full((HEIGHT, WIDTH, 3), 255, np.uint8)
    rects, panels = [], []
    for k, text in enumerate(texts):
        x = k * (SIDE + 20)
        pixels[:SIDE, x : x + SIDE] = 150
        if text:
            left, top, right, bottom = print_text(pixels, x + 8, 8, text, "hebo", 26, (0, 0, 0))
            rects.append((round(left), round(top), round(right), round(bottom)))
        else:
            pixels[10:30, x + 10 : x + 24] = np.random.default_rng(k).integers(0, 2, (20, 14, 1)) * 150
            rects.append((x + 10, 10, x + 24, 30))
        panels.append(((x / WIDTH, 0.0, (x + SIDE) / WIDTH, SIDE / HEIGHT), 0.9))
    return PrintedNames(canvas_of(pixels), (), ()), rects, panels


def labels(rects: list[Rect], score: float = 0.9) -> list[PrintedBox]:
    return [PrintedBox(rect, score) for rect in rects]


def known(printed: PrintedNames, rects: list[Rect], names: str) -> PrintedNames:
    places = tuple(
        (Identifier(name, rect, "plain", "network", 0.9, 0.9),) for name, rect in zip(names, rects, strict=False)
    )
    return PrintedNames(printed.canvas, tuple(names), places)


def test_letters_in_panels_of_their_own_are_names() -> None:
    printed, rects, panels = figure(["A", "B", "C"])
    assert named_by_print(printed, labels(rects), panels).names == ("A", "B", "C")


def test_letters_in_one_panel_are_none() -> None:
    printed, rects, panels = figure(["A", "B"])
    assert named_by_print(printed, labels(rects), [((0.0, 0.0, 1.0, 1.0), 0.9)]) is printed
    assert named_by_print(printed, labels(rects), panels[:1]) is printed


def test_illegible_print_in_a_panel_of_its_own_is_what_the_others_leave() -> None:
    printed, rects, panels = figure(["a", "", "c"])
    found = named_by_print(printed, labels(rects), panels)
    assert found.names == ("a", "b", "c")
    assert [places[0].rect[0] // (SIDE + 20) for places in found.places if places] == [0, 1, 2]


@pytest.mark.parametrize("texts", [["a", "", ""], ["a", "", "f"], ["a", "a", "b"], ["", ""]])
def test_too_little_or_other_print_names_nothing(texts: list[str]) -> None:
    printed, rects, panels = figure(texts)
    assert named_by_print(printed, labels(rects), panels) is printed


def test_a_panel_without_print_leaves_the_names_open() -> None:
    printed, rects, panels = figure(["a", "", "c", ""])
    assert named_by_print(printed, labels(rects[:3]), panels) is printed


@pytest.mark.parametrize(
    ("texts", "names"), [(["A", "B", "C"], "ABC"), (["A", "B", ""], "ABC"), (["A", "B", "T"], "AB")]
)
def test_the_next_letter_in_a_panel_of_its_own_continues_the_caption(texts: list[str], names: str) -> None:
    printed, rects, panels = figure(texts)
    assert with_further(known(printed, rects, "AB"), labels(rects), panels).names == tuple(names)


def test_what_stands_in_a_named_panel_or_in_none_continues_nothing() -> None:
    printed, rects, panels = figure(["A", "B", "C"])
    wide = [(panels[0][0], 0.9), ((panels[1][0][0], 0.0, panels[2][0][2], 1.0), 0.9)]
    assert with_further(known(printed, rects, "AB"), labels(rects), wide).names == ("A", "B")
    assert with_further(known(printed, rects, "AB"), labels(rects), panels[:2]).names == ("A", "B")


def test_words_are_not_continued() -> None:
    printed, rects, panels = figure(["A", "B", "C"])
    named = PrintedNames(printed.canvas, ("left", "right"), known(printed, rects, "AB").places)
    assert with_further(named, labels(rects), panels) is named


def test_no_more_panels_follow_than_a_caption_forgets() -> None:
    printed, rects, panels = figure(["A", "B", "C", "D"])
    assert with_further(known(printed, rects, "A"), labels(rects), panels).names == ("A",)
    assert len(with_further(known(printed, rects, "AB"), labels(rects), panels).names) <= 2 + MOST_BEYOND


def test_two_boxes_of_one_score_are_nobodys_identifier() -> None:
    _, rects, panels = figure(["A"])
    box = panels[0][0]
    other = PrintedBox((100, 100, 120, 120), 0.8)
    assert own_labels([*labels(rects), other], [box], (WIDTH, HEIGHT)) == []
    weak = PrintedBox(other.rect, 0.5)
    assert own_labels([*labels(rects), weak], [box], (WIDTH, HEIGHT)) == labels(rects)


def test_weak_panels_and_second_views_of_one_do_not_count() -> None:
    a, b = (0.0, 0.0, 0.4, 1.0), (0.5, 0.0, 1.0, 1.0)
    assert separate([(a, 0.9), ((0.0, 0.0, 0.38, 1.0), 0.8), (b, 0.5), ((0.6, 0.6, 0.9, 0.9), 0.3)]) == [a, b]
    assert separate([]) == []


CORNERS = [(0.0, 0.0, 0.45, 1.0), (0.5, 0.0, 1.0, 1.0)]
"""Two panels side by side."""


def letters_at(offsets: list[tuple[float, float]]) -> list[Box]:
    """Letters of 20 x 20 pixels on a canvas of 1000 x 200, so far from the panels' upper left corners."""
    return [(p[0] + x, p[1] + y, p[0] + x + 0.02, p[1] + y + 0.1) for p, (x, y) in zip(CORNERS, offsets, strict=False)]


@pytest.mark.parametrize(
    ("offsets", "alike"),
    [
        ([(0.01, 0.05), (0.01, 0.05)], True),
        ([(0.42, 0.85), (0.47, 0.85)], True),  # the lower right corners
        ([(0.215, 0.9), (0.24, 0.9)], True),  # the middles below
        ([(0.01, 0.05), (0.01, 0.6)], False),
        ([(0.01, 0.05), (0.3, 0.05)], False),
    ],
)
def test_letters_at_one_corner_or_edge_of_their_panels_stand_alike(
    offsets: list[tuple[float, float]], alike: bool
) -> None:
    assert stand_alike(CORNERS, letters_at(offsets), (1000, 200)) == alike


def test_a_letter_outside_all_panels_stands_nowhere() -> None:
    assert not stand_alike(CORNERS[:1], letters_at([(0.01, 0.05), (0.01, 0.05)]), (1000, 200))


def test_letters_are_confirmed_by_parts_of_their_own() -> None:
    printed, rects, _ = figure(["A", "B", "C"])
    view = FigureView(printed.canvas.rgb)
    assert is_mostly_confirmed(view, known(printed, rects, "ABC"), apart=False)
    assert is_mostly_confirmed(view, known(printed, rects, "ABC"), apart=True)
    two = PrintedNames(printed.canvas, ("A", "B"), known(printed, rects, "AB").places)
    assert not is_mostly_confirmed(view, replace(two, places=(two.places[0], two.places[0])), apart=True)


def test_letters_in_one_picture_are_not_confirmed() -> None:
    pixels = photograph(400, 300)
    rects: list[Rect] = []
    for letter, x, y in (("A", 60, 60), ("B", 200, 200)):
        left, top, right, bottom = print_text(pixels, x, y, letter, "hebo", 26, (0, 0, 0))
        rects.append((round(left), round(top), round(right), round(bottom)))
    printed = PrintedNames(canvas_of(pixels), (), ())
    assert not is_mostly_confirmed(FigureView(pixels), known(printed, rects, "AB"), apart=True)
