"""Images that no panel covers make panels or are listed."""

from __future__ import annotations

from pmo_assets.pipeline.assembly.unassigned_images import placed_unassigned_images

LEFT, RIGHT = (0.0, 0.0, 0.3, 0.5), (0.35, 0.0, 0.65, 0.5)
FREE, BESIDE = (0.0, 0.55, 0.3, 1.0), (0.35, 0.56, 0.65, 1.0)


def test_a_free_image_of_a_panels_size_makes_a_panel() -> None:
    placed = placed_unassigned_images([1], [LEFT, FREE], [LEFT, RIGHT], joined=False)
    assert (placed.panels, placed.listed) == (((1,),), {})


def test_a_small_one_is_listed_with_the_nearest_panel() -> None:
    placed = placed_unassigned_images([0], [(0.7, 0.1, 0.75, 0.15)], [LEFT, RIGHT], joined=False)
    assert (placed.panels, placed.listed) == ((), {1: (0,)})


def test_one_that_lies_across_panels_is_listed() -> None:
    placed = placed_unassigned_images([0], [(0.1, 0.1, 0.6, 0.4)], [LEFT, RIGHT], joined=True)
    assert (placed.panels, list(placed.listed.values())) == ((), [(0,)])


def test_images_side_by_side_make_one_panel_where_one_subcaption_is_left() -> None:
    images = [BESIDE, FREE]
    assert placed_unassigned_images([0, 1], images, [LEFT, RIGHT], joined=True).panels == ((0, 1),)
    assert placed_unassigned_images([0, 1], images, [LEFT, RIGHT], joined=False).panels == ((0,), (1,))


def test_images_are_not_joined_over_a_panel() -> None:
    sides = [(0.0, 0.0, 0.3, 0.5), (0.7, 0.0, 1.0, 0.5)]
    assert len(placed_unassigned_images([0, 1], sides, [RIGHT], joined=True).panels) == 2


def test_images_one_below_the_other_are_not_joined() -> None:
    assert len(placed_unassigned_images([0, 1], [FREE, (0.0, 1.1, 0.3, 1.5)], [LEFT], joined=True).panels) == 2


def test_without_panels_every_image_makes_one() -> None:
    assert placed_unassigned_images([0, 1], [LEFT, (0.7, 0.1, 0.71, 0.11)], [], joined=False).panels == ((0,), (1,))
