"""Images go to the right panels."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.assembly.assemble import panel_contents
from pmo_assets.records.geometry import Box, contains

LEFT, RIGHT = (0.0, 0.0, 0.48, 1.0), (0.52, 0.0, 1.0, 1.0)


def test_images_go_to_the_panel_they_lie_in_and_widen_its_content() -> None:
    straddling = (0.1, 0.1, 0.5, 0.9)
    first, second = panel_contents([[(0, LEFT)], [(1, RIGHT)]], [LEFT, RIGHT], [straddling, (0.6, 0.1, 0.9, 0.9)])
    assert (first.images, second.images) == ((0,), (1,))
    assert first.content_box == (0.0, 0.0, 0.5, 1.0)


def test_an_image_outside_every_panel_belongs_to_none() -> None:
    (only,) = panel_contents([[(0, LEFT)]], [LEFT], [RIGHT])
    assert only.images == ()


def test_the_image_of_a_joined_part_belongs_to_the_whole() -> None:
    whole, other = panel_contents(
        [[(0, LEFT), (2, RIGHT)], [(1, (0.0, 0.9, 1.0, 1.0))]], [(0.0, 0.0, 1.0, 1.0), RIGHT], [RIGHT]
    )
    assert (whole.images, other.images) == ((0,), ())


boxes = st.tuples(st.floats(0, 0.8), st.floats(0, 0.8), st.floats(0.05, 0.2), st.floats(0.05, 0.2)).map(
    lambda v: (v[0], v[1], v[0] + v[2], v[1] + v[3])
)


@given(st.lists(boxes, max_size=7), st.lists(boxes, max_size=5))
def test_an_image_belongs_to_one_panel_at_most_and_lies_in_its_content(panels: list[Box], images: list[Box]) -> None:
    result = panel_contents([[(number, box)] for number, box in enumerate(panels)], panels, images)
    owned = [number for content in result for number in content.images]
    assert len(owned) == len(set(owned))
    for content in result:
        assert all(contains(content.content_box, images[number]) for number in content.images)


def test_of_two_parts_that_hold_an_image_equally_the_first_detected_gets_it() -> None:
    joined, other = panel_contents([[(0, LEFT), (2, RIGHT)], [(1, RIGHT)]], [LEFT, RIGHT], [RIGHT])
    assert (joined.images, other.images) == ((), (0,))
