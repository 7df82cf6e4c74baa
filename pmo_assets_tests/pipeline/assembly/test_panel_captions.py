"""Subcaptions go to the right panels, and nothing is guessed silently."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.assembly.confidence import CONFIDENCE_THRESHOLD
from pmo_assets.pipeline.assembly.panel_captions import captioned_panels
from pmo_assets.records.detections import PanelDetection
from pmo_assets.records.geometry import Box
from pmo_assets.records.panels import PanelMember
from pmo_assets.records.subcaptions import CaptionSplit, Subcaption

LEFT, RIGHT = (0.0, 0.0, 0.48, 1.0), (0.52, 0.0, 1.0, 1.0)
GRID = [(0.0, 0.0, 0.48, 0.48), (0.52, 0.0, 1.0, 0.48), (0.0, 0.52, 0.48, 1.0), (0.52, 0.52, 1.0, 1.0)]


def panel(box: Box, score: float = 0.9) -> PanelDetection:
    return PanelDetection("panel", box, score, "gutter")


def printed(text: str | None, panel_box: Box, score: float = 0.9) -> PanelDetection:
    left, top = panel_box[0], panel_box[1]
    return PanelDetection("identifier", (left + 0.01, top + 0.01, left + 0.04, top + 0.05), score, "text", text)


def split(*identifiers: str | None) -> CaptionSplit:
    parts = tuple(Subcaption(name, f"text of {name}", ((i, i + 1),)) for i, name in enumerate(identifiers))
    return CaptionSplit(parts, 0.9)


def answers(detections: list[PanelDetection], caption: CaptionSplit) -> list[tuple[str | None, str | None]]:
    """(identifier of the assigned subcaption, method) by panel in reading order."""
    return [
        (item.identifier if item.subcaption else None, item.method) for item in captioned_panels(detections, caption)
    ]


def test_a_single_panel_takes_a_single_caption() -> None:
    (only,) = captioned_panels([panel((0.0, 0.0, 1.0, 1.0))], split(None))
    assert (only.method, only.identifier) == ("single panel", None)
    assert only.members == (PanelMember(0, (0.0, 0.0, 1.0, 1.0)),)


def test_printed_identifiers_decide_whatever_the_order() -> None:
    detections = [panel(LEFT), panel(RIGHT), printed("B", LEFT), printed("a", RIGHT)]
    assert answers(detections, split("A", "B")) == [("B", "identifier"), ("A", "identifier")]


def test_positions_decide_without_printed_identifiers() -> None:
    assert answers([panel(RIGHT), panel(LEFT)], split("left", "right")) == [("left", "position"), ("right", "position")]


def test_letters_printed_at_panels_that_the_caption_calls_by_their_places_are_no_contradiction() -> None:
    detections = [panel(LEFT), panel(RIGHT), printed("A", LEFT), printed("B", RIGHT)]
    assert answers(detections, split("left", "right")) == [("left", "position"), ("right", "position")]
    found = captioned_panels(detections, split("left", "right"))
    assert [item.text for only in found for item in only.printed_identifiers] == ["A", "B"]
    rows = [*map(panel, GRID), *(printed(letter, box) for letter, box in zip("abcd", GRID, strict=True))]
    assert answers(rows, split("top row", "bottom row")) == [("top row", "position"), ("bottom row", "position")]


def test_a_printed_word_of_place_names_its_panel_beside_letters() -> None:
    detections = [panel(LEFT), panel(RIGHT), printed("left", LEFT), printed("B", RIGHT)]
    assert answers(detections, split("left", "right")) == [("left", "identifier"), ("right", "position")]


def test_reading_order_decides_when_the_numbers_agree() -> None:
    expected = [(name, "reading order") for name in "abcd"]
    assert answers([panel(box) for box in reversed(GRID)], split("a", "b", "c", "d")) == expected


def test_a_read_identifier_turns_the_order_into_columns() -> None:
    detections = [*map(panel, GRID), printed("b", GRID[2])]
    assert answers(detections, split("a", "b", "c", "d")) == [
        ("a", "reading order"),
        ("c", "reading order"),
        ("b", "identifier"),
        ("d", "reading order"),
    ]


def test_an_identifier_where_no_order_puts_it_makes_nothing_sure() -> None:
    detections = [*map(panel, GRID), printed("a", GRID[3])]
    result = captioned_panels(detections, split("a", "b", "c", "d"))
    assert all(item.confidence < CONFIDENCE_THRESHOLD for item in result)
    last = result[3]
    assert (last.subcaption, last.identifier) == (None, "a")
    assert "“a” 0.49, “d” 0.48" in last.reason


def test_print_that_says_another_name_contradicts_the_order() -> None:
    three = [(0.0, 0.0, 0.3, 1.0), (0.35, 0.0, 0.65, 1.0), (0.7, 0.0, 1.0, 1.0)]
    detections = [*map(panel, three), *(printed(name, box) for name, box in zip("abb", three, strict=True))]
    last = captioned_panels(detections, split("a", "b", "c"))[2]
    assert (last.subcaption, last.identifier) == (None, "b")
    assert last.reason == "“b” is printed in the panel, but its place says “c”"


def test_two_panels_for_three_names_are_a_guess_that_says_so() -> None:
    result = captioned_panels([panel(LEFT), panel(RIGHT)], split("a", "b", "c"))
    assert [(item.identifier, item.runner_up) for item in result] == [("a", "b"), ("c", "b")]
    assert all(item.confidence < CONFIDENCE_THRESHOLD for item in result)


def test_one_panel_for_four_names_is_undecided() -> None:
    (only,) = captioned_panels([panel((0.0, 0.0, 1.0, 1.0))], split(*"abcd"))
    assert only.subcaption is None
    assert "1 panels, 4 subcaptions" in only.reason


def test_an_identifier_that_the_caption_lacks_is_said_so() -> None:
    result = captioned_panels([panel(LEFT), panel(RIGHT), printed("X", LEFT)], split("a", "b"))
    assert (result[0].subcaption, result[0].identifier) == (None, "X")
    assert "“X” is printed in the panel" in result[0].reason


def test_a_name_that_only_fits_its_place_is_no_evidence() -> None:
    unread = replace(printed("b", LEFT), source="network", text_score=0.45)
    result = captioned_panels([panel(LEFT), panel(RIGHT), unread], split("a", "b"))
    assert [(item.identifier, item.method) for item in result] == [("a", "reading order"), ("b", "reading order")]


def test_what_was_read_is_kept_as_evidence() -> None:
    first, _ = captioned_panels([panel(LEFT), panel(RIGHT), printed("a", LEFT)], split("a", "b"))
    best = first.evidence[0]
    assert (best.kind, best.source, best.text, best.identifier) == ("order", "row by row", None, "a") or (
        best.kind == "identifier" and best.identifier == "a" and best.box is not None
    )
    assert {item.kind for item in first.evidence} == {"identifier", "order", "count"}


def test_panels_of_a_caption_that_names_none_get_the_whole_caption() -> None:
    result = captioned_panels([panel(LEFT), panel(RIGHT), printed("a", LEFT)], split(None))
    assert [(item.method, item.identifier) for item in result] == [("whole caption", "a"), ("whole caption", None)]


def test_panels_of_a_caption_that_names_none_are_called_what_is_printed_at_them() -> None:
    print_read = [printed("A", GRID[0]), printed(None, GRID[1]), printed("C", GRID[2]), printed("D", GRID[3])]
    found = captioned_panels([*map(panel, GRID), *print_read], split(None))
    assert [item.identifier for item in found] == ["A", "B", "C", "D"]
    assert {item.subcaption for item in found} == {"text of None"}


def test_a_single_panel_has_no_identifier_whatever_is_printed_in_it() -> None:
    (only,) = captioned_panels([panel(LEFT), printed("A", LEFT)], split(None))
    assert only.identifier is None


def test_nested_panels_are_joined_to_what_the_caption_names() -> None:
    detections = [
        *map(panel, GRID),
        *(printed(name, box) for name, box in zip(("a1", "a2", "b1", "b2"), GRID, strict=True)),
    ]
    first, second = captioned_panels(detections, split("a", "b"))
    assert (first.identifier, first.box, first.ordinal) == ("a", (0.0, 0.0, 1.0, 0.48), 0)
    assert first.members == (PanelMember(0, GRID[0]), PanelMember(1, GRID[1]))
    assert (second.identifier, second.method, second.ordinal) == ("b", "identifier", 2)
    assert [item.text for item in second.printed_identifiers] == ["b1", "b2"]


def test_nested_panels_that_the_caption_names_stay_apart() -> None:
    detections = [panel(LEFT), panel(RIGHT), printed("a1", LEFT), printed("a2", RIGHT)]
    assert answers(detections, split("a1", "a2")) == [("a1", "identifier"), ("a2", "identifier")]


def test_nested_panels_are_not_joined_across_another_panel() -> None:
    detections = [
        *map(panel, GRID),
        *(printed(name, box) for name, box in zip(("a1", "b1", "b2", "a2"), GRID, strict=True)),
    ]
    assert len(captioned_panels(detections, split("a", "b"))) == 4


def test_no_caption_is_a_reason() -> None:
    (only,) = captioned_panels([panel(LEFT)], CaptionSplit((), 0.0))
    assert (only.subcaption, only.reason) == (None, "the figure has no caption")


boxes = st.tuples(st.floats(0, 0.8), st.floats(0, 0.8), st.floats(0.05, 0.2), st.floats(0.05, 0.2)).map(
    lambda v: (v[0], v[1], v[0] + v[2], v[1] + v[3])
)


@given(st.lists(boxes, max_size=7), st.lists(st.sampled_from(["a", "b", "left", "1"]), unique=True))
def test_every_panel_appears_once_and_open_ones_have_a_reason(panel_boxes: list[Box], identifiers: list[str]) -> None:
    caption = split(*identifiers) if identifiers else split(None)
    result = captioned_panels([panel(box) for box in panel_boxes], caption)
    assert sorted(part.ordinal for item in result for part in item.members) == list(range(len(panel_boxes)))
    for item in result:
        assert item.reason
        assert (item.subcaption is None) == (item.method is None)
