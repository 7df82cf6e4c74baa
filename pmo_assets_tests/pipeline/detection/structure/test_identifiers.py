"""Identifiers are read from live text and, when a consistent set is printed, from pixels."""

from __future__ import annotations

import numpy as np
import pymupdf
import pytest

from pmo_assets.pipeline.detection.structure.identifiers import find_identifiers, is_positional, parse_identifier
from pmo_assets.pipeline.detection.structure.panels import structure_canvas
from pmo_assets.records.detections import FigureView
from pmo_assets_tests.pipeline.detection.drawing import Picture, live_text, paper, paste, photograph


@pytest.mark.parametrize(
    ("text", "name", "style"),
    [
        ("(a)", "a", "brackets"),
        ("(A1)", "A1", "brackets"),
        ("(iii)", "iii", "brackets"),
        ("[B]", "B", "brackets"),
        ("a)", "a", "bracket"),
        ("B.", "B", "dot"),
        ("C", "C", "plain"),
        ("(b) Tessellated retina", "b", "brackets"),
        (" (c) ", "c", "brackets"),
    ],
)
def test_identifiers_are_parsed_with_their_style(text: str, name: str, style: str) -> None:
    parsed = parse_identifier(text)
    assert parsed is not None
    assert parsed[:2] == (name, style)


@pytest.mark.parametrize("text", ["", "A control", "Control", "(see text)", "0.5", "100", "(a", "()", "a-b", "\u200b"])
def test_words_and_numbers_are_no_identifiers(text: str) -> None:
    assert parse_identifier(text) is None


@pytest.mark.parametrize(
    ("name", "positional"), [("left", True), ("Top row", True), ("a", False), ("Step 1", False), ("I", False)]
)
def test_places_are_told_from_printed_names(name: str, positional: bool) -> None:
    assert is_positional(name) is positional


def two_by_two(letters: str, wanted: tuple[str, ...]) -> FigureView:
    figure = paper(860, 720)
    texts = []
    for k, letter in enumerate(letters):
        left, top = 10 + (k % 2) * 430, 10 + (k // 2) * 360
        paste(figure, photograph(400, 300, k), left, top)
        texts.append(live_text(figure, f"({letter})", left + 190, top + 310))
    return FigureView(figure, texts=tuple(texts), caption_identifiers=wanted)


def test_live_text_identifiers_are_found_at_their_place() -> None:
    view = two_by_two("abcd", ("a", "b", "c", "d"))
    names, places = find_identifiers(view, structure_canvas(view, solid=False))
    assert names == ("a", "b", "c", "d")
    assert [p[0].name for p in places] == ["a", "b", "c", "d"]
    assert [p[0].source for p in places] == ["text"] * 4


def test_without_a_caption_a_bracketed_sequence_is_believed() -> None:
    view = two_by_two("abcd", ())
    assert find_identifiers(view, structure_canvas(view, solid=False))[0] == ("a", "b", "c", "d")


def test_without_a_caption_a_gap_ends_the_sequence() -> None:
    view = two_by_two("acde", ())
    assert find_identifiers(view, structure_canvas(view, solid=False))[0] == ()


def test_letters_that_the_caption_does_not_name_are_ignored() -> None:
    view = two_by_two("wxyz", ("a", "b"))
    names, places = find_identifiers(view, structure_canvas(view, solid=False))
    assert names == ("a", "b")
    assert places == [[], []]


def typeset(pieces: list[tuple[str, float, float]], font: str, size: float = 12) -> Picture:
    """A page with grey pictures and printed letters, rendered flat at 200 dpi."""
    with pymupdf.open() as document:
        page = document.new_page(width=300, height=130)
        for text, x, y in pieces:
            page.draw_rect((x - 2, y + 5, x + 120, y + 85), fill=(0.4, 0.5, 0.6), color=None)
            page.insert_text((x, y), text, fontname=font, fontsize=size)
        pixmap = page.get_pixmap(dpi=200, alpha=False)
        return np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3).copy()


@pytest.mark.parametrize("font", ["helv", "hebo", "tiro", "tibo"])
@pytest.mark.parametrize("pattern", ["{}", "({})"])
def test_letters_printed_in_a_flat_picture_are_read_by_shape(font: str, pattern: str) -> None:
    figure = typeset([(pattern.format("A"), 12, 30), (pattern.format("B"), 160, 30)], font)
    view = FigureView(figure, caption_identifiers=("A", "B"))
    _, places = find_identifiers(view, structure_canvas(view, solid=False))
    assert [p[0].name for p in places] == ["A", "B"]
    # 72 points are 200 pixels
    assert [round(p[0].rect[0] * 72 / 200 / 4) for p in places] == [3, 40]


def test_a_single_matching_letter_is_no_evidence() -> None:
    figure = typeset([("A", 12, 30), ("w", 160, 30)], "helv")
    view = FigureView(figure, caption_identifiers=("A", "B"))
    assert find_identifiers(view, structure_canvas(view, solid=False))[1] == [[], []]
