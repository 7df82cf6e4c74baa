"""Assembly: images, identifiers and subcaptions go to the right panels, and nothing is guessed silently."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.assembly.assemble import assemble, column_order, reading_order, words_of_panels
from pmo_assets.records.detections import ImageDetection, PanelDetection
from pmo_assets.records.geometry import Box
from pmo_assets.records.subcaptions import CaptionSplit, Subcaption

LEFT, RIGHT = (0.0, 0.0, 0.48, 1.0), (0.52, 0.0, 1.0, 1.0)
GRID = [(0.0, 0.0, 0.48, 0.48), (0.52, 0.0, 1.0, 0.48), (0.0, 0.52, 0.48, 1.0), (0.52, 0.52, 1.0, 1.0)]


def panel(box: Box, score: float = 0.9) -> PanelDetection:
    return PanelDetection("panel", box, score, "gutter")


def printed(text: str | None, panel_box: Box, score: float = 0.9) -> PanelDetection:
    left, top = panel_box[0], panel_box[1]
    return PanelDetection("identifier", (left + 0.01, top + 0.01, left + 0.04, top + 0.05), score, "text", text)


def image(box: Box) -> ImageDetection:
    return ImageDetection(box, 0.9, "bitmap", "OCT", 0.9)


def split(*identifiers: str | None) -> CaptionSplit:
    parts = tuple(Subcaption(name, f"text of {name}", ((i, i + 1),)) for i, name in enumerate(identifiers))
    return CaptionSplit(parts, 0.9)


def answers(detections: list[PanelDetection], caption: CaptionSplit) -> list[tuple[str | None, str | None]]:
    """(identifier of the assigned subcaption, method) by panel in reading order."""
    return [
        (item.subcaption.identifier if item.subcaption else None, item.method)
        for item in assemble(detections, (), caption)
    ]


def test_a_single_panel_takes_a_single_caption() -> None:
    (only,) = assemble([panel((0.0, 0.0, 1.0, 1.0))], [image((0.1, 0.1, 0.9, 0.9))], split(None))
    assert (only.method, only.name, only.images) == ("single panel", None, (0,))


def test_printed_identifiers_decide_whatever_the_order() -> None:
    detections = [panel(LEFT), panel(RIGHT), printed("B", LEFT), printed("a", RIGHT)]
    assert answers(detections, split("A", "B")) == [("B", "identifier"), ("A", "identifier")]


def test_positions_decide_without_printed_identifiers() -> None:
    assert answers([panel(RIGHT), panel(LEFT)], split("left", "right")) == [("left", "position"), ("right", "position")]


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


def test_contradicting_identifiers_leave_the_rest_open() -> None:
    detections = [*map(panel, GRID), printed("a", GRID[3])]
    result = assemble(detections, (), split("a", "b", "c", "d"))
    assert [item.method for item in result] == [None, None, None, "identifier"]
    assert "contradict" in result[0].reason


def test_different_numbers_leave_panels_open_with_a_reason() -> None:
    result = assemble([panel(LEFT), panel(RIGHT)], (), split("a", "b", "c"))
    assert [item.subcaption for item in result] == [None, None]
    assert result[0].reason == "2 panels without a readable identifier, 3 subcaptions left"


def test_an_identifier_that_the_caption_lacks_is_said_so() -> None:
    result = assemble([panel(LEFT), panel(RIGHT), printed("X", LEFT)], (), split("a", "b"))
    assert result[0].subcaption is None
    assert "does not name it" in result[0].reason


def test_panels_of_a_caption_that_names_none_get_the_whole_caption() -> None:
    result = assemble([panel(LEFT), panel(RIGHT), printed("a", LEFT)], (), split(None))
    assert [(item.method, item.name) for item in result] == [("whole caption", "a"), ("whole caption", None)]


def test_nested_panels_are_joined_to_what_the_caption_names() -> None:
    detections = [
        *map(panel, GRID),
        *(printed(name, box) for name, box in zip(("a1", "a2", "b1", "b2"), GRID, strict=True)),
    ]
    images = [image(box) for box in GRID]
    first, second = assemble(detections, images, split("a", "b"))
    assert (first.name, first.box, first.images) == ("a", (0.0, 0.0, 1.0, 0.48), (0, 1))
    assert (second.name, second.method, second.identifiers) == ("b", "identifier", (6, 7))


def test_nested_panels_share_the_words_of_the_panel_they_are_joined_to() -> None:
    detections = [
        *map(panel, GRID),
        *(printed(name, box) for name, box in zip(("a1", "a2", "b1", "b2"), GRID, strict=True)),
    ]
    words = words_of_panels(detections, split("a", "b"), "whole")
    assert words == {0: "text of a", 1: "text of a", 2: "text of b", 3: "text of b"}


def test_nested_panels_that_the_caption_names_stay_apart() -> None:
    detections = [panel(LEFT), panel(RIGHT), printed("a1", LEFT), printed("a2", RIGHT)]
    assert answers(detections, split("a1", "a2")) == [("a1", "identifier"), ("a2", "identifier")]


def test_nested_panels_are_not_joined_across_another_panel() -> None:
    detections = [
        *map(panel, GRID),
        *(printed(name, box) for name, box in zip(("a1", "b1", "b2", "a2"), GRID, strict=True)),
    ]
    assert len(assemble(detections, (), split("a", "b"))) == 4


def test_no_caption_is_a_reason() -> None:
    (only,) = assemble([panel(LEFT)], (), CaptionSplit((), 0.0))
    assert (only.subcaption, only.reason) == (None, "the figure has no caption")


def test_images_go_to_the_panel_they_lie_in_and_widen_its_content() -> None:
    straddling = (0.1, 0.1, 0.5, 0.9)
    first, second = assemble(
        [panel(LEFT), panel(RIGHT)], [image(straddling), image((0.6, 0.1, 0.9, 0.9))], split("a", "b")
    )
    assert (first.images, second.images) == ((0,), (1,))
    assert first.content_box == (0.0, 0.0, 0.5, 1.0)
    assert first.box == LEFT


def test_an_image_outside_every_panel_belongs_to_none() -> None:
    (only,) = assemble([panel(LEFT)], [image(RIGHT)], split(None))
    assert only.images == ()


def test_reading_order_is_by_rows_and_column_order_by_columns() -> None:
    assert reading_order(GRID) == [0, 1, 2, 3]
    assert column_order(GRID) == [0, 2, 1, 3]


def test_words_of_a_panel_are_its_subcaption_or_the_caption() -> None:
    detections = [panel(LEFT), panel(RIGHT), printed("a", LEFT)]
    assert words_of_panels(detections, split("a", "b", "c"), "whole") == {0: "text of a", 1: "whole"}


def test_words_are_keyed_by_the_place_among_panels_whatever_stands_between() -> None:
    detections = [printed("a", LEFT), panel(LEFT), printed("b", RIGHT), panel(RIGHT)]
    assert words_of_panels(detections, split("a", "b"), "whole") == {0: "text of a", 1: "text of b"}


boxes = st.tuples(st.floats(0, 0.8), st.floats(0, 0.8), st.floats(0.05, 0.2), st.floats(0.05, 0.2)).map(
    lambda v: (v[0], v[1], v[0] + v[2], v[1] + v[3])
)


@given(
    st.lists(boxes, max_size=7),
    st.lists(boxes, max_size=5),
    st.lists(st.sampled_from(["a", "b", "left", "1"]), unique=True),
)
def test_every_panel_appears_once_and_open_ones_have_a_reason(
    panel_boxes: list[Box], image_boxes: list[Box], identifiers: list[str]
) -> None:
    caption = split(*identifiers) if identifiers else split(None)
    result = assemble([panel(box) for box in panel_boxes], [image(box) for box in image_boxes], caption)
    assert sorted(item.panel for item in result) == list(range(len(panel_boxes)))
    owned = [i for item in result for i in item.images]
    assert len(owned) == len(set(owned))
    for item in result:
        assert item.reason
        assert (item.subcaption is None) == (item.method is None)
