"""The X-Y cut finds exactly the regions that white, coloured and absent gutters leave."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmo_assets.pipeline.detection.structure.gutters import (
    canvas_of,
    clear_gutters,
    cut_tree,
    ink_share,
    leaves,
    seams,
    trimmed,
    uniform_gutters,
)
from pmo_assets_tests.pipeline.detection.drawing import live_text, paper, paste, photograph, plot


@given(
    columns=st.lists(st.integers(90, 220), min_size=1, max_size=4),
    rows=st.lists(st.integers(90, 220), min_size=1, max_size=4),
    gap=st.integers(10, 30),
    margin=st.integers(0, 25),
)
@settings(max_examples=40, deadline=None)
def test_any_grid_with_gutters_is_found_exactly(columns: list[int], rows: list[int], gap: int, margin: int) -> None:
    figure = paper(sum(columns) + gap * (len(columns) - 1) + 2 * margin, sum(rows) + gap * (len(rows) - 1) + 2 * margin)
    truth = set()
    top = margin
    for r, height in enumerate(rows):
        left = margin
        for c, width in enumerate(columns):
            truth.add(paste(figure, photograph(width, height, seed=10 * r + c), left, top))
            left += width + gap
        top += height + gap
    tree = cut_tree(canvas_of(figure))
    assert tree is not None
    assert {leaf.rect for leaf in leaves(tree)} == truth


def test_a_photograph_without_gutters_is_one_leaf() -> None:
    tree = cut_tree(canvas_of(photograph(500, 400)))
    assert tree is not None
    assert tree.children == ()
    assert tree.rect == (0, 0, 500, 400)


def test_an_empty_figure_has_no_tree() -> None:
    assert cut_tree(canvas_of(paper(100, 80))) is None


@pytest.mark.parametrize("shape", [(0, 10, 3), (10, 10), (10, 10, 4)])
def test_what_is_no_rgb_picture_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="pixels"):
        canvas_of(np.zeros(shape, np.uint8))


def test_tick_labels_stay_with_their_plot() -> None:
    figure = paper(900, 400)
    first, second = plot(figure, 20, 20, 400, 350), plot(figure, 480, 20, 400, 350)
    tree = cut_tree(canvas_of(figure))
    assert tree is not None
    assert [leaf.rect for leaf in leaves(tree)] == [first, second]


def test_text_below_each_of_two_stacked_pictures_belongs_to_the_picture_above() -> None:
    figure = paper(420, 620)
    paste(figure, photograph(400, 250), 10, 10)
    live_text(figure, "(a)", 190, 275)
    # nearer to the picture below than to its own
    paste(figure, photograph(400, 250, seed=1), 10, 306)
    live_text(figure, "(b)", 190, 571)
    tree = cut_tree(canvas_of(figure), least=3)
    assert tree is not None
    first, second = tree.children
    assert first.rect[1] == 10
    assert 285 <= first.rect[3] < 306
    assert second.rect[1] == 306


def test_a_frame_around_the_figure_does_not_hide_the_gutters() -> None:
    figure = paper(640, 340)
    figure[5:335, 5:635] = 0
    figure[7:333, 7:633] = 255
    boxes = [paste(figure, photograph(280, 280), 25, 25), paste(figure, photograph(280, 280, 1), 335, 25)]
    tree = cut_tree(canvas_of(figure))
    assert tree is not None
    assert [leaf.rect for leaf in leaves(tree)] == boxes


def test_a_black_background_separates_when_its_colour_is_taken_for_paper() -> None:
    figure = paper(660, 330, colour=0)
    boxes = [paste(figure, photograph(300, 300, k, low=60), 15 + k * 325, 15) for k in (0, 1)]
    tree = cut_tree(canvas_of(figure, dark=True))
    assert tree is not None
    assert [leaf.rect for leaf in leaves(tree)] == boxes


def test_a_coloured_strip_is_a_uniform_gutter_but_not_a_clear_one() -> None:
    figure = photograph(400, 200)
    figure[:, 190:210] = (0, 0, 120)
    canvas = canvas_of(figure)
    assert clear_gutters(canvas, canvas.rect, 0) == []
    assert [(g.start, g.stop) for g in uniform_gutters(canvas, canvas.rect, 0)] == [(190, 210)]


def test_pictures_that_touch_meet_at_a_seam() -> None:
    figure = np.concatenate([photograph(300, 200, 0, 20, 90), photograph(300, 200, 1, 140, 220)], axis=1)
    canvas = canvas_of(figure)
    assert [g.start for g in seams(canvas, canvas.rect, 0)] == [300]
    assert seams(canvas, canvas.rect, 1) == []


def test_solid_boxes_are_ink_even_where_they_are_white() -> None:
    canvas = canvas_of(paper(200, 100), solid=((0.25, 0.2, 0.75, 0.8),))
    assert trimmed(canvas.ink, canvas.rect) == (50, 20, 150, 80)
    assert ink_share(canvas, (50, 20, 150, 80)) == 1.0
