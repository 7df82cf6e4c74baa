"""The X-Y cut finds exactly the regions that white, coloured and absent gutters leave."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.detection.structure.gutters import (
    INK_CONTRAST,
    Gutter,
    Rect,
    Region,
    attach_text,
    border_colour,
    canvas_of,
    clear_gutters,
    cut_tree,
    ink_mask,
    ink_share,
    inside_frame,
    is_text_only,
    leaves,
    pixel_rect,
    runs,
    seams,
    shrunk,
    sparse_gutters,
    split_rect,
    trimmed,
    uniform_gutters,
)
from pmo_assets_tests.examples import examples
from pmo_assets_tests.pipeline.detection.drawing import Picture, live_text, paper, paste, photograph, plot


@given(
    columns=st.lists(st.integers(90, 220), min_size=1, max_size=4),
    rows=st.lists(st.integers(90, 220), min_size=1, max_size=4),
    gap=st.integers(10, 30),
    margin=st.integers(0, 25),
)
@examples(40)
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


@pytest.mark.parametrize("channel", [0, 1, 2])
@pytest.mark.parametrize("ground", [(255, 255, 255), (30, 60, 90)])
def test_ink_differs_from_the_ground_in_any_channel(channel: int, ground: tuple[int, int, int]) -> None:
    picture = np.full((4, 6, 3), ground, np.uint8)
    picture[1, 2, channel] = abs(ground[channel] - INK_CONTRAST - 1)
    picture[2, 3, channel] = abs(ground[channel] - INK_CONTRAST)  # no more than paper's own noise
    assert np.argwhere(ink_mask(picture, ground)).tolist() == [[1, 2]]


def test_a_rim_has_a_colour_when_most_of_it_has() -> None:
    picture = paper(100, 100, colour=20)
    assert border_colour(picture) == (20, 20, 20)
    picture[:50, 0] = picture[:50, -1] = 200
    assert border_colour(picture) == (20, 20, 20)
    picture[0] = 200
    assert border_colour(picture) is None


def test_large_figures_are_analysed_smaller_and_small_ones_as_they_are() -> None:
    picture = photograph(300, 200)
    assert shrunk(picture, 300) is picture
    assert shrunk(picture, 150).shape == (100, 150, 3)
    assert shrunk(np.zeros((1, 900, 3), np.uint8), 300).shape == (1, 300, 3)


def test_a_box_is_cut_to_whole_pixels_of_the_picture() -> None:
    assert pixel_rect((0.1, 0.26, 0.5, 0.74), 100, 50) == (10, 13, 50, 37)
    assert pixel_rect((-1.0, -0.2, 2.0, 1.5), 100, 50) == (0, 0, 100, 50)


@given(st.lists(st.booleans(), max_size=30))
def test_runs_are_all_there_is(flags: list[bool]) -> None:
    found = runs(np.asarray(flags, dtype=bool))
    assert [k for a, b in found for k in range(a, b)] == [k for k, flag in enumerate(flags) if flag]
    assert all(a < b for a, b in found)
    assert all(first[1] < second[0] for first, second in pairwise(found))


def two_pictures(gap: int) -> Picture:
    """Two pictures of 100 x 80 with a gap between them, no margin."""
    figure = paper(200 + gap, 80)
    paste(figure, photograph(100, 80), 0, 0)
    paste(figure, photograph(100, 80, 1), 100 + gap, 0)
    return figure


@pytest.mark.parametrize("turned", [False, True])
def test_gutters_cross_what_they_part_in_either_direction(turned: bool) -> None:
    figure = np.ascontiguousarray(two_pictures(12).transpose(1, 0, 2)) if turned else two_pictures(12)
    axis = int(turned)
    canvas = canvas_of(figure)
    place = Gutter(axis, 100, 112, "clear")
    assert clear_gutters(canvas, canvas.rect, axis) == [place]
    assert clear_gutters(canvas, canvas.rect, 1 - axis) == []
    assert clear_gutters(canvas, canvas.rect, axis, least=13) == []
    assert place.width == 12
    part = (50, 0, 180, 80) if not turned else (0, 50, 80, 180)
    assert clear_gutters(canvas, part, axis) == [place]
    touching = (100, 0, 180, 80) if not turned else (0, 100, 80, 180)
    assert clear_gutters(canvas, touching, axis) == [], "a margin parts nothing"
    assert uniform_gutters(canvas, part, axis) == [Gutter(axis, 100, 112, "uniform")]


@pytest.mark.parametrize("turned", [False, True])
def test_an_arrow_between_pictures_leaves_a_sparse_gutter(turned: bool) -> None:
    figure = two_pictures(12)
    figure[40:42, 98:114] = 0
    figure = np.ascontiguousarray(figure.transpose(1, 0, 2)) if turned else figure
    axis = int(turned)
    canvas = canvas_of(figure)
    assert clear_gutters(canvas, canvas.rect, axis) == []
    assert sparse_gutters(canvas, canvas.rect, axis) == [Gutter(axis, 100, 112, "sparse")]
    assert sparse_gutters(canvas, canvas.rect, axis, share=0.01) == []


@pytest.mark.parametrize("turned", [False, True])
def test_a_seam_is_one_line_and_not_at_the_rim(turned: bool) -> None:
    def found(figure: Picture) -> list[int]:
        figure = np.ascontiguousarray(figure.transpose(1, 0, 2)) if turned else figure
        canvas = canvas_of(figure)
        cuts = seams(canvas, canvas.rect, int(turned))
        assert all(cut.start == cut.stop and cut.axis == int(turned) for cut in cuts)
        return [cut.start for cut in cuts]

    figure = paper(400, 100, colour=60)
    figure[:, 150:] = 160
    assert found(figure) == [150]
    figure[:50, 150:] = 60
    assert found(figure) == [], "half of an edge is something in the picture"
    figure[:70, 150:] = 160
    figure[:, 396:] = 20
    assert found(figure) == [150], "the rim is no border between pictures"
    texture = np.repeat(np.arange(400) % 2 * 100, 100).reshape(400, 100).T[:, :, None].repeat(3, axis=2)
    assert found(np.asarray(texture + 60, dtype=np.uint8)) == []
    assert found(paper(400, 7, colour=60)) == []


def test_text_is_what_has_no_piece_larger_than_letters() -> None:
    figure = paper(400, 200)
    figure[20:30, 20:38] = 0  # two letters that touch
    canvas = canvas_of(figure, glyph=10 / 400)
    assert canvas.glyph == 10
    assert is_text_only(canvas, (0, 0, 400, 200))
    assert not is_text_only(canvas, (100, 0, 400, 200)), "nothing is no text"
    for x0, y0, x1, y1 in ((100, 120, 112, 132), (100, 120, 121, 124)):  # higher than a letter; longer than two
        other = figure.copy()
        other[y0:y1, x0:x1] = 0
        canvas = canvas_of(other, glyph=10 / 400)
        assert not is_text_only(canvas, (0, 0, 400, 200))
        assert is_text_only(canvas, (0, 0, 60, 200)), "what lies elsewhere does not count"
        assert is_text_only(canvas, (0, 0, 400, 60))
    other = np.ascontiguousarray(figure[::-1, ::-1])
    assert is_text_only(canvas_of(other, glyph=10 / 400), (350, 150, 400, 200))


def test_parts_between_cuts_come_in_order_and_are_not_empty() -> None:
    rect: Rect = (10, 20, 110, 220)
    cuts = [Gutter(0, 60, 70, "clear"), Gutter(0, 30, 40, "clear")]
    assert split_rect(rect, cuts) == [(10, 20, 30, 220), (40, 20, 60, 220), (70, 20, 110, 220)]
    assert split_rect(rect, [Gutter(1, 20, 50, "clear")]) == [(10, 50, 110, 220)]
    assert split_rect(rect, [Gutter(1, 90, 90, "seam")]) == [(10, 20, 110, 90), (10, 90, 110, 220)]


def column(*items: tuple[int, int, bool]) -> list[Region]:
    """Regions one below the other: top, bottom, whether they are text."""
    return [Region((0, top, 100, bottom), text_only=text) for top, bottom, text in items]


PICTURE_TEXT = ((0, 50, False), (58, 64, True), (68, 120, False), (128, 134, True))


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        (PICTURE_TEXT, [(0, 64), (68, 134)]),
        ([(0, 6, True), (10, 60, False), (64, 70, True), (80, 130, False)], [(0, 60), (64, 130)]),
        ([(0, 50, False), (52, 58, True), (70, 120, False)], [(0, 58), (70, 120)]),
        ([(0, 50, False), (62, 68, True), (70, 120, False)], [(0, 50), (62, 120)]),
        ([(0, 6, True), (10, 60, False), (62, 70, True)], [(0, 70)]),
        ([(0, 50, False), (60, 120, False)], [(0, 50), (60, 120)]),
        ([(0, 6, True), (10, 16, True)], [(0, 6), (10, 16)]),
    ],
)
def test_text_joins_the_picture_that_the_sequence_gives_it_to(
    items: list[tuple[int, int, bool]], expected: list[tuple[int, int]]
) -> None:
    assert [(r.rect[1], r.rect[3]) for r in attach_text(column(*items), 1)] == expected


def test_a_picture_with_its_text_is_cut_no_further() -> None:
    inner = Region((0, 0, 100, 50), (Region((0, 0, 40, 50)), Region((60, 0, 100, 50))), 20.0, 0)
    alone, joined = (attach_text([inner, *more], 1)[0] for more in ([], column((58, 64, True), (90, 99, False))))
    assert alone.children == inner.children
    assert joined.children == ()
    assert joined.gap == 0


@pytest.mark.parametrize("missing", [None, 0, 1, 2, 3])
def test_a_frame_has_four_thin_sides(missing: int | None) -> None:
    figure = paper(300, 200)
    sides = [(0, 0, 2, 200), (298, 0, 300, 200), (0, 0, 300, 3), (0, 196, 300, 200)]
    for k, (x0, y0, x1, y1) in enumerate(sides):
        if k != missing:
            figure[y0:y1, x0:x1] = 0
    canvas = canvas_of(figure, glyph=15 / 300)
    assert inside_frame(canvas, canvas.rect) == ((3, 4, 297, 195) if missing is None else None)


def test_a_solid_block_and_a_thick_rim_are_no_frames() -> None:
    for thickness in (7, 100):
        figure = paper(300, 200, colour=0)
        figure[thickness : 200 - thickness, thickness : 300 - thickness] = 255
        canvas = canvas_of(figure, glyph=15 / 300)
        assert inside_frame(canvas, canvas.rect) is None


@pytest.mark.parametrize("size", [(300, 14), (14, 300)])
def test_a_thin_box_is_no_frame(size: tuple[int, int]) -> None:
    figure = paper(*size, colour=0)
    figure[2:-2, 2:-2] = 255
    canvas = canvas_of(figure, glyph=15 / 300)
    assert inside_frame(canvas, canvas.rect) is None


def test_narrow_gutters_are_cut_after_wide_ones() -> None:
    wide = paper(460, 100)
    for left in (0, 110, 260, 360):
        paste(wide, photograph(100, 100, left), left, 0)
    tree = cut_tree(canvas_of(wide), least=5)
    assert tree is not None
    assert (tree.axis, tree.gap) == (0, 50)
    assert [[leaf.rect[0] for leaf in leaves(child)] for child in tree.children] == [[0, 110], [260]]
    flat = cut_tree(canvas_of(wide), least=5, depth=0)
    assert flat is not None
    assert flat.children == ()
    assert flat.rect == (0, 0, 460, 100)
