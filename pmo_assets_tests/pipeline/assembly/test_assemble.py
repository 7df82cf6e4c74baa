"""Images go to the right panels."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.assembly.assemble import with_images
from pmo_assets.records.geometry import Box, contains, union_box
from pmo_assets.records.panels import Panel, PanelImage, PanelMember

LEFT, RIGHT = (0.0, 0.0, 0.48, 1.0), (0.52, 0.0, 1.0, 1.0)


def panel(*members: tuple[int, Box]) -> Panel:
    box = union_box(part for _, part in members)
    return Panel(members[0][0], tuple(PanelMember(*member) for member in members), box, box, 0.9)


def images(*found: Box) -> list[PanelImage]:
    return [PanelImage(f"i{number}", box, 0.9, None, 0.0, None, 0.0) for number, box in enumerate(found)]


def ids(panels: list[Panel]) -> list[list[str]]:
    return [[image.id for image in own.images] for own in panels]


def test_images_go_to_the_panel_they_lie_in_and_widen_its_content() -> None:
    straddling = (0.1, 0.1, 0.5, 0.9)
    result = with_images([panel((0, LEFT)), panel((1, RIGHT))], images(straddling, (0.6, 0.1, 0.9, 0.9)))
    assert ids(result) == [["i0"], ["i1"]]
    assert result[0].content_box == (0.0, 0.0, 0.5, 1.0)


def test_an_image_outside_every_panel_belongs_to_none() -> None:
    assert ids(with_images([panel((0, LEFT))], images(RIGHT))) == [[]]


def test_the_image_of_a_joined_part_belongs_to_the_whole() -> None:
    whole = panel((0, LEFT), (2, RIGHT))
    assert ids(with_images([whole, panel((1, (0.0, 0.9, 1.0, 1.0)))], images(RIGHT))) == [["i0"], []]


boxes = st.tuples(st.floats(0, 0.8), st.floats(0, 0.8), st.floats(0.05, 0.2), st.floats(0.05, 0.2)).map(
    lambda v: (v[0], v[1], v[0] + v[2], v[1] + v[3])
)


@given(st.lists(boxes, max_size=7), st.lists(boxes, max_size=5))
def test_an_image_belongs_to_one_panel_at_most_and_lies_in_its_content(panels: list[Box], found: list[Box]) -> None:
    result = with_images([panel(member) for member in enumerate(panels)], images(*found))
    owned = [image.id for own in result for image in own.images]
    assert len(owned) == len(set(owned))
    for own in result:
        assert all(contains(own.content_box, image.box) for image in own.images)


def test_of_two_parts_that_hold_an_image_equally_the_first_detected_gets_it() -> None:
    assert ids(with_images([panel((0, LEFT), (2, RIGHT)), panel((1, RIGHT))], images(RIGHT))) == [[], ["i0"]]
