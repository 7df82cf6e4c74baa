"""Identifiers are read from live text and, when a consistent set is printed, from pixels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pymupdf
import pytest

from pmo_assets.pipeline.detection.structure.gutters import Rect
from pmo_assets.pipeline.detection.structure.identifiers import (
    Identifier,
    alignment,
    consistent_set,
    find_identifiers,
    first_word,
    is_positional,
    live_candidates,
    one_height,
    parse_identifier,
    sequence_names,
)
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
    names, places = find_identifiers(view, structure_canvas(view))
    assert names == ("a", "b", "c", "d")
    assert [p[0].name for p in places] == ["a", "b", "c", "d"]
    assert [p[0].source for p in places] == ["text"] * 4


def test_without_a_caption_a_bracketed_sequence_is_believed() -> None:
    view = two_by_two("abcd", ())
    assert find_identifiers(view, structure_canvas(view))[0] == ("a", "b", "c", "d")


def test_without_a_caption_a_gap_ends_the_sequence() -> None:
    view = two_by_two("acde", ())
    assert find_identifiers(view, structure_canvas(view))[0] == ()


def test_letters_that_the_caption_does_not_name_are_ignored() -> None:
    view = two_by_two("wxyz", ("a", "b"))
    names, places = find_identifiers(view, structure_canvas(view))
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
    _, places = find_identifiers(view, structure_canvas(view))
    assert [p[0].name for p in places] == ["A", "B"]
    # 72 points are 200 pixels
    assert [round(p[0].rect[0] * 72 / 200 / 4) for p in places] == [3, 40]


def test_a_single_matching_letter_is_no_evidence() -> None:
    figure = typeset([("A", 12, 30), ("w", 160, 30)], "helv")
    view = FigureView(figure, caption_identifiers=("A", "B"))
    assert find_identifiers(view, structure_canvas(view))[1] == [[], []]


FIRST: Rect = (10, 10, 30, 30)


@pytest.mark.parametrize(
    ("rect", "others", "value"),
    [
        (FIRST, [], 0.0),
        ((100, 10, 120, 30), [FIRST], 1.5),  # in its row
        ((10, 100, 30, 120), [FIRST], 1.4),  # in its column
        ((25, 100, 33, 120), [FIRST], 1.4),  # right edges
        ((100, 30, 120, 35), [FIRST], 0.75),  # bottoms, but smaller
        ((100, 10, 140, 50), [FIRST], 1.0),  # tops, but larger
        (FIRST, [(100, 10, 120, 30)], 1.0),  # before the one before
        ((25, 10, 45, 30), [FIRST], 0.5),  # beside it
        ((200, 200, 220, 220), [FIRST], 1.0),  # anywhere
        ((200, 10, 220, 30), [FIRST, (100, 100, 120, 120)], 1.5),
        ((100, 100, 120, 120), [FIRST, (200, 100, 220, 120)], 1.0),
        ((104, 104, 124, 124), [FIRST, (100, 100, 120, 120), (10, 200, 30, 220)], 0.9),
    ],
)
def test_places_fit_that_line_up_in_reading_order(rect: Rect, others: list[Rect], value: float) -> None:
    assert alignment(rect, others, 5) == pytest.approx(value)


def place(name: str, rect: Rect, score: float = 0.9) -> Identifier:
    return Identifier(name, rect, "plain dark", "glyph", score, score)


def box(x: int, y: int, height: int = 20) -> Rect:
    return (x, y, x + height, y + height)


def test_of_several_places_those_are_taken_that_line_up() -> None:
    row = [place("A", box(10, 10)), place("B", box(210, 10)), place("C", box(10, 210))]
    stray = [place("A", box(333, 77)), place("B", box(91, 140), 0.95), place("b", box(410, 10), 1.0)]
    for order in ([*stray, *row], [*row, *stray]):
        assert consistent_set(order, ("A", "B", "C"), 5) == [[found] for found in row]
    assert consistent_set(stray, ("B", "D"), 5) == [[stray[1]], []]
    assert consistent_set(stray[2:], ("B",), 5) == [[stray[2]]], "the other case where there is none of its own"


def test_numbered_parts_stand_for_their_letter_and_words_have_none() -> None:
    parts = [place("a1", box(10, 10)), place("a2", box(110, 10)), place("b", box(210, 10)), place("step1", box(9, 99))]
    assert consistent_set(parts, ("a", "b"), 5) == [parts[:2], [parts[2]]]
    assert consistent_set([place("11", box(10, 10))], ("1",), 5) == [[]]


def test_identifiers_of_a_figure_have_one_height() -> None:
    small = [place("a", box(10, 10, 14)), place("b", box(110, 10, 20))]
    large = [place("a", box(10, 200, 60)), place("c", box(300, 10, 40))]
    assert one_height([*large, *small], ("a", "b", "c")) == small
    assert one_height([*small, *large, place("d", box(9, 9, 61))], ("a", "d")) == [large[0], place("d", box(9, 9, 61))]
    assert one_height([], ("a",)) == []


@pytest.mark.parametrize(
    ("names", "sequence"),
    [("abc", "abc"), ("ABCabcd", "abcd"), ("bc", ""), ("a", ""), ("acd", ""), ("", ""), ("BAD", "AB")],
)
def test_a_sequence_begins_at_its_first_letter_and_has_two(names: str, sequence: str) -> None:
    assert sequence_names([place(name, FIRST) for name in names]) == tuple(sequence)


def test_numerals_are_a_sequence_too() -> None:
    assert sequence_names([place(name, FIRST) for name in ("i", "ii", "iii", "v")]) == ("i", "ii", "iii")


@pytest.mark.parametrize(("letters", "names"), [("AB", "AB"), ("ab", "ab"), ("A", "i ii iii"), ("", "i ii iii")])
def test_numerals_beside_letters_are_parts_of_lettered_panels(letters: str, names: str) -> None:
    found = sequence_names([place(name, FIRST) for name in (*letters, "i", "ii", "iii")])
    assert found == tuple(names.split() if " " in names else names)


def test_numerals_in_lettered_panels_do_not_name_a_figures_panels() -> None:
    places = [("(A)", 10, 10), ("(i)", 30, 60), ("(ii)", 120, 60), ("(iii)", 200, 60), ("(B)", 320, 10)]
    view = live(places, ())
    assert find_identifiers(view, structure_canvas(view))[0] == ("A", "B")


def live(pieces: list[tuple[str, int, int]], wanted: tuple[str, ...], bold: bool = False) -> FigureView:
    """White paper with printed texts."""
    figure = paper(600, 300)
    texts = [live_text(figure, text, x, y) for text, x, y in pieces]
    return FigureView(figure, (), tuple(replace(t, bold=bold) for t in texts), wanted)


def test_words_of_the_caption_are_found_but_for_places_and_short_ones() -> None:
    view = live(
        [("Control", 10, 10), ("left", 200, 10), ("OD", 400, 10), ("other", 10, 200)], ("Control", "left", "OD")
    )
    found = live_candidates(view, structure_canvas(view))
    assert [(c.name, c.style, c.score) for c in found] == [("Control", "word", 0.9)]


def test_an_identifier_before_text_ends_at_the_space() -> None:
    view = live([("(b) Tessellated retina", 10, 10)], ("a", "b"))
    (found,) = live_candidates(view, structure_canvas(view))
    alone = live([("(b)", 10, 10)], ("a", "b"))
    (whole,) = live_candidates(alone, structure_canvas(alone))
    assert found.rect[:2] == whole.rect[:2]
    assert abs(found.rect[2] - whole.rect[2]) <= 4
    assert found.style.startswith("brackets")
    assert whole.score == 0.95


def test_plain_letters_need_bold_type_where_no_caption_names_them() -> None:
    pieces = [("A", 10, 10), ("B", 310, 10)]
    for bold in (True, False):
        view = live(pieces, (), bold)
        assert find_identifiers(view, structure_canvas(view))[0] == (("A", "B") if bold else ())
    twice = live([*pieces, ("A", 10, 200)], (), True)
    assert find_identifiers(twice, structure_canvas(twice))[0] == (), "each is printed once"


def test_the_style_with_most_names_is_taken() -> None:
    view = live([("(a)", 10, 10), ("(b)", 310, 10), ("a", 10, 200), ("c", 500, 250)], ("a", "b"))
    _, places = find_identifiers(view, structure_canvas(view))
    assert [p[0].style.split()[0] for p in places] == ["brackets", "brackets"]
    assert find_identifiers(live([], ("left", "right")), structure_canvas(view)) == (
        ("left", "right"), [[], []],
    )  # fmt: skip


def test_where_no_white_follows_the_share_of_characters_tells_the_place() -> None:
    canvas = structure_canvas(FigureView(paper(200, 100, colour=0)))
    assert first_word(canvas, (20, 10, 120, 30), 0.3) == (20, 10, 50, 30)
    assert first_word(canvas, (20, 10, 120, 30), 0.001) == (20, 10, 21, 30)
