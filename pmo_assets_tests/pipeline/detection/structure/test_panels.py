"""Panels: exact boxes where the structure is plain, one panel where nothing separates, nothing that crashes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.detection.detect import detect_panels
from pmo_assets.pipeline.detection.structure.gutters import QUALITY, Canvas, Gutter, Rect, Region, canvas_of
from pmo_assets.pipeline.detection.structure.panels import (
    direction,
    frontier_value,
    frontiers,
    holds,
    lies_along,
    picture_boxes,
    split_evenly,
)
from pmo_assets.pipeline.detection.structure.partitions import (
    FORCED,
    Convention,
    Cuts,
    Part,
    cut_value,
    forced_partition,
    partition_cost,
    sides_of,
)
from pmo_assets.records.detections import FigureView, PanelDetection
from pmo_assets.records.figure import EmbeddedBitmap, EmbeddedText
from pmo_assets.records.geometry import UNIT_BOX, Box, area, contains, intersection, iou, union_box
from pmo_assets_tests.examples import examples
from pmo_assets_tests.pipeline.detection.drawing import Picture, as_fraction, live_text, paper, paste, photograph, plot


def boxes(found: tuple[PanelDetection, ...], kind: str = "panel") -> list[Box]:
    return [p.box for p in found if p.kind == kind]


def test_identifiers_below_pictures_give_panels_of_picture_and_identifier() -> None:
    figure = paper(860, 720)
    texts, truth, bitmaps = [], [], []
    for k, letter in enumerate("abcd"):
        left, top = 10 + (k % 2) * 430, 10 + (k // 2) * 360
        rect = paste(figure, photograph(400, 300, k), left, top)
        # the identifier of the upper row is nearer to the picture below than gutters are wide
        texts.append(live_text(figure, f"({letter})", left + 190, top + 312))
        bitmaps.append(EmbeddedBitmap(as_fraction(figure, rect), 800, 600))
        truth.append(union_box([as_fraction(figure, rect), texts[-1].box]))
    found = detect_panels(FigureView(figure, tuple(bitmaps), tuple(texts), ("a", "b", "c", "d")))
    assert all(iou(a, b) > 0.98 for a, b in zip(boxes(found), truth, strict=True))
    assert boxes(found, "identifier") == [t.box for t in texts]
    assert [p.text for p in found if p.kind == "identifier"] == ["a", "b", "c", "d"]


def rows_of_photographs() -> tuple[Picture, list[Box]]:
    """Six photographs of two heights in two rows, so that no edges but those of the gutters are level."""
    figure = paper(1290, 720)
    rects = [
        paste(figure, photograph(400, 240 + 60 * (k in (0, 4)), k), 10 + (k % 3) * 430, 10 + (k // 3) * 370)
        for k in range(6)
    ]
    return figure, [as_fraction(figure, rect) for rect in rects]


def test_letters_in_one_picture_do_not_name_panels_that_gutters_separate() -> None:
    figure, truth = rows_of_photographs()
    texts = (live_text(figure, "A", 60, 100), live_text(figure, "B", 250, 60))
    found = detect_panels(FigureView(figure, (), texts, tuple("ABCDEF")))
    assert all(iou(a, b) > 0.98 for a, b in zip(boxes(found), truth, strict=True))
    assert boxes(found, "identifier") == []


def test_gutters_on_which_all_identifiers_agree_are_as_sure_as_these() -> None:
    figure, truth = rows_of_photographs()
    texts = tuple(
        live_text(figure, letter, 20 + (k % 3) * 430, 15 + (k // 3) * 370) for k, letter in enumerate("ABCDEF")
    )
    found = detect_panels(FigureView(figure, (), texts, tuple("ABCDEF")))
    assert all(iou(a, b) > 0.98 for a, b in zip(boxes(found), truth, strict=True))
    assert [(p.source, p.score) for p in found if p.kind == "panel"] == [("gutter", 0.95)] * 6


def test_identifiers_at_the_top_left_give_the_same() -> None:
    figure = paper(900, 860)
    texts, truth = [], []
    for k, letter in enumerate("ABCD"):
        left, top = 10 + (k % 2) * 450, 10 + (k // 2) * 430
        texts.append(live_text(figure, letter, left, top))
        rect = plot(figure, left + 10, top + 40, 400, 360)
        truth.append(union_box([as_fraction(figure, rect), texts[-1].box]))
    found = detect_panels(FigureView(figure, (), tuple(texts), ("A", "B", "C", "D")))
    assert len(boxes(found)) == 4
    assert all(iou(a, b) > 0.95 for a, b in zip(boxes(found), truth, strict=True))


def test_a_wide_panel_below_two_narrow_ones() -> None:
    figure = paper(860, 760)
    texts = []
    rects = [(10, 10, 400, 300), (450, 10, 400, 300), (230, 380, 400, 300)]
    for k, (left, top, width, height) in enumerate(rects):
        paste(figure, photograph(width, height, k), left, top)
        texts.append(live_text(figure, f"({'abc'[k]})", left + 190, top + 312))
    found = detect_panels(FigureView(figure, (), tuple(texts), ("a", "b", "c")))
    truth = [
        union_box([as_fraction(figure, (x, y, x + w, y + h)), t.box])
        for (x, y, w, h), t in zip(rects, texts, strict=True)
    ]
    assert all(iou(a, b) > 0.97 for a, b in zip(boxes(found), truth, strict=True))


@pytest.mark.parametrize("names", [("left", "right"), ("a", "b")])
def test_panels_without_printed_identifiers_are_counted_by_the_caption(names: tuple[str, ...]) -> None:
    figure = paper(830, 320)
    rects = [paste(figure, photograph(400, 300, k), 5 + k * 420, 10) for k in (0, 1)]
    found = detect_panels(FigureView(figure, caption_identifiers=names))
    assert boxes(found) == [pytest.approx(as_fraction(figure, r)) for r in rects]


def test_the_level_of_a_nested_grid_follows_the_number_of_names() -> None:
    figure = paper(1000, 460)
    for block in (0, 1):
        for k in range(4):
            paste(figure, photograph(210, 210, k), 10 + block * 530 + (k % 2) * 225, 10 + (k // 2) * 225)
    assert len(boxes(detect_panels(FigureView(figure, caption_identifiers=("left", "right"))))) == 2
    assert len(boxes(detect_panels(FigureView(figure, caption_identifiers=tuple("abcdefgh"))))) == 8


def test_touching_pictures_are_cut_at_the_seam_with_less_trust() -> None:
    figure = np.concatenate([photograph(300, 300, 0, 20, 90), photograph(300, 300, 1, 140, 220)], axis=1)
    found = detect_panels(FigureView(figure, caption_identifiers=("a", "b")))
    assert boxes(found) == [pytest.approx((0, 0, 0.5, 1)), pytest.approx((0.5, 0, 1, 1))]
    assert all(p.score < 0.5 for p in found)


def test_pictures_on_black_are_separated() -> None:
    figure = paper(660, 330, colour=0)
    rects = [paste(figure, photograph(300, 300, k, low=60), 15 + k * 325, 15) for k in (0, 1)]
    found = detect_panels(FigureView(figure, caption_identifiers=("a", "b")))
    assert len(boxes(found)) == 2
    assert all(iou(a, as_fraction(figure, b)) > 0.85 for a, b in zip(boxes(found), rects, strict=True))


@pytest.mark.parametrize("names", [(), ("a",)])
def test_a_single_panel_caption_gives_the_whole_figure(names: tuple[str, ...]) -> None:
    figure = paper(830, 320)
    for k in (0, 1):
        paste(figure, photograph(400, 300, k), 5 + k * 420, 10)
    found = detect_panels(FigureView(figure, caption_identifiers=names))
    assert boxes(found) == [UNIT_BOX]
    assert found[0].source == "figure"


def test_a_picture_that_does_not_separate_is_one_panel_with_a_low_score() -> None:
    found = detect_panels(FigureView(photograph(500, 400), caption_identifiers=("a", "b", "c")))
    assert boxes(found) == [UNIT_BOX]
    assert found[0].score == 0.5


def test_slices_of_one_picture_are_joined_and_neighbours_are_not() -> None:
    slices = [EmbeddedBitmap((0.0, k / 4, 0.4, (k + 1) / 4), 100, 20) for k in range(4)]
    neighbour = EmbeddedBitmap((0.45, 0.0, 1.0, 1.0), 100, 80)
    dot = EmbeddedBitmap((0.42, 0.5, 0.43, 0.51), 5, 5)
    assert picture_boxes([*slices, neighbour, dot]) == ((0.0, 0.0, 0.4, 1.0), (0.45, 0.0, 1.0, 1.0))


@given(
    count=st.integers(0, 6),
    seed=st.integers(0, 1000),
    names=st.lists(st.sampled_from(["a", "b", "A1", "left", "", "(", "é", "zz"]), max_size=5),
)
@examples(40)
def test_any_hints_give_disjoint_panels_inside_the_figure(count: int, seed: int, names: list[str]) -> None:
    rng = np.random.default_rng(seed)
    figure = paper(200, 150)
    texts, bitmaps = [], []
    for k in range(count):
        x0, y0, x1, y1 = rng.uniform(-0.2, 1.2, 4)
        bitmaps.append(EmbeddedBitmap((x0, y0, x1, y1), 3, 3))
        texts.append(EmbeddedText("abA(x"[k % 5], (x0, y0, x0 + 0.05, y0 + 0.05), 8.0, False))
        left, top = int(rng.integers(0, 150)), int(rng.integers(0, 100))
        paste(figure, photograph(50, 50, k), left, top)
    found = detect_panels(FigureView(figure, tuple(bitmaps), tuple(texts), tuple(names)))
    assert boxes(found)
    assert all(contains(UNIT_BOX, p.box, 1e-9) for p in found)
    for i, a in enumerate(boxes(found)):
        for b in boxes(found)[i + 1 :]:
            assert area(intersection(a, b)) <= 0.3 * min(area(a), area(b)) + 0.02
    assert found == detect_panels(FigureView(figure, tuple(bitmaps), tuple(texts), tuple(names)))


def test_an_empty_figure_has_no_panels() -> None:
    assert detect_panels(FigureView(np.zeros((0, 0, 3), np.uint8))) == ()


def canvas_with(*blocks: Rect, glyph: int = 20) -> Canvas:
    """A canvas of 400 x 300 with black blocks."""
    figure = paper(400, 300)
    for left, top, right, bottom in blocks:
        figure[top:bottom, left:right] = 0
    return canvas_of(figure, glyph=glyph / 400)


PRINTED: Rect = (10, 10, 30, 30)


def cost_of(block: Rect, identifier: Rect = PRINTED, below: bool = False, trust: float = 1.0) -> float:
    """The cost of one part: the figure's left half, with a block and a identifier."""
    return partition_cost(
        Cuts(canvas_with(block, identifier)), {0: Part((0, 0, 200, 300), trust)}, {0: [identifier]}, below
    )


def test_a_good_partition_has_content_sure_cuts_and_identifiers_where_they_belong() -> None:
    picture = (10, 40, 190, 290)
    assert cost_of(picture) == 0, "the identifier is at the top"
    assert cost_of(picture, trust=0.5) == 3
    assert cost_of(picture, below=True) == 8, "far from the bottom, but no farther than eight letters"
    assert cost_of((10, 40, 190, 190), identifier=(10, 200, 30, 220), below=True) == 0
    assert cost_of((10, 40, 190, 100), identifier=(10, 10, 30, 30), below=True) == pytest.approx(70 / 20)
    assert cost_of((10, 60, 190, 290), identifier=(10, 100, 30, 120)) == pytest.approx(40 / 20)


def test_a_part_with_hardly_more_than_its_identifier_is_no_panel() -> None:
    assert cost_of((10, 10, 60, 40)) == 10, "smaller than four identifiers"
    assert cost_of((10, 40, 28, 290)) == 0
    assert cost_of((100, 40, 115, 55)) == 10, "nothing but letters"


def test_a_cut_is_best_wide_and_next_to_the_identifiers() -> None:
    canvas = canvas_with()
    identifiers: tuple[dict[int, list[Rect]], ...] = ({0: [(10, 100, 30, 120)]}, {1: [(10, 160, 30, 180)]})

    def value(start: int, stop: int, below: bool, axis: int = 1) -> float:
        return cut_value(canvas, Gutter(axis, start, stop, "clear"), identifiers[0], identifiers[1], below=below)

    assert value(120, 130, True) == pytest.approx(0.5)
    assert value(140, 150, True) == pytest.approx(0.5 - 1)
    assert value(150, 160, False) == pytest.approx(0.5)
    assert value(130, 140, False) == pytest.approx(0.5 - 1)
    assert value(0, 300, True) == 3
    across: tuple[dict[int, list[Rect]], ...] = ({0: [(10, 10, 30, 30)]}, {1: [(200, 10, 220, 30)]})
    cut = Gutter(0, 140, 160, "clear")
    assert cut_value(canvas, cut, across[0], across[1], below=True) == 1
    assert cut_value(canvas, cut, across[0], across[1], below=False) == pytest.approx(1 - 0.5 * 2)


def test_a_cut_has_identifiers_on_both_sides_and_hits_none() -> None:
    identifiers = {0: [(10, 10, 30, 30)], 1: [(100, 10, 120, 30)], 2: [(10, 100, 30, 120)]}

    def sides(axis: int, at: int) -> tuple[list[int], list[int]] | None:
        found = sides_of(Gutter(axis, at, at, "clear"), identifiers, slack=2)
        return found and (sorted(found[0]), sorted(found[1]))

    assert sides(0, 60) == ([0, 2], [1])
    assert sides(1, 60) == ([0, 1], [2])
    assert sides(0, 28) == ([0, 2], [1])
    assert sides(0, 102) == ([0, 2], [1])
    assert sides(0, 26) is None
    assert sides(0, 110) is None
    assert sides(0, 5) is None
    assert sides(0, 300) is None


def test_identifiers_without_any_border_are_parted_where_they_lie_farthest_apart() -> None:
    canvas = canvas_with((0, 0, 400, 300))
    beside = {0: [(10, 10, 30, 30)], 1: [(250, 20, 270, 40)]}
    stacked = {0: [(10, 10, 30, 30)], 1: [(20, 200, 40, 220)]}
    for places, below, first, second in (
        (beside, False, (0, 0, 248, 300), (248, 0, 400, 300)),
        (beside, True, (0, 0, 140, 300), (140, 0, 400, 300)),
        (stacked, False, (0, 0, 400, 198), (0, 198, 400, 300)),
        (stacked, True, (0, 0, 400, 32), (0, 32, 400, 300)),
    ):
        assert forced_partition(Cuts(canvas), canvas.rect, places, Convention(below)) == {
            0: Part(first, FORCED),
            1: Part(second, FORCED),
        }
    together = {0: [(10, 10, 30, 30)], 1: [(10, 10, 30, 30)]}
    assert forced_partition(Cuts(canvas), canvas.rect, together, Convention(True)) == dict.fromkeys(
        (0, 1), Part(canvas.rect, 0.2)
    )


def regions(axis: int, *spans: tuple[int, int]) -> Region:
    """A node whose children fill spans along an axis."""
    children = tuple(Region((a, 0, b, 100) if axis == 0 else (0, a, 100, b)) for a, b in spans)
    first, last = spans[0][0], spans[-1][1]
    return Region((first, 0, last, 100) if axis == 0 else (0, first, 100, last), children, 5.0, axis)


def spans_of(options: list[list[Region]], axis: int) -> list[list[tuple[int, int]]]:
    return [[(r.rect[axis], r.rect[axis + 2]) for r in option] for option in options]


@pytest.mark.parametrize("axis", [0, 1])
def test_children_are_grouped_at_the_widest_gaps_or_evenly(axis: int) -> None:
    row = regions(axis, (0, 100), (110, 210), (240, 340), (350, 450))
    assert spans_of(frontiers(row, 1), axis) == [[(0, 450)]]
    assert spans_of(frontiers(row, 2), axis)[0] == [(0, 210), (240, 450)]
    assert spans_of(frontiers(row, 4), axis)[0] == [(0, 100), (110, 210), (240, 340), (350, 450)]
    assert frontiers(row, 5) == []
    pairs = regions(axis, (0, 100), (140, 240), (250, 350), (360, 460))
    assert spans_of(frontiers(pairs, 2), axis) == [[(0, 240), (250, 460)], [(0, 100), (140, 460)]]


def test_a_nested_grid_is_opened_as_far_as_the_number_asks() -> None:
    left, right = (
        Region((x, 0, x + 100, 100), (Region((x, 0, x + 100, 45)), Region((x, 55, x + 100, 100))), 10.0, 1)
        for x in (0, 110)
    )
    tree = Region((0, 0, 210, 100), (left, right), 10.0, 0)
    assert frontiers(tree, 2)[0] == [left, right]
    assert frontiers(tree, 4)[0] == [*left.children, *right.children]
    assert [*left.children, right] in frontiers(tree, 3)
    assert [left, *right.children] in frontiers(tree, 3)
    assert frontiers(tree, 5) == []


def test_even_parts_that_are_no_text_are_better() -> None:
    even = [Region((0, 0, 100, 100)), Region((100, 0, 200, 100))]
    assert frontier_value(even) == 0
    assert frontier_value([Region((0, 0, 50, 100)), Region((50, 0, 200, 100))]) == pytest.approx(-0.5)
    assert frontier_value([Region((0, 0, 100, 50)), Region((0, 50, 100, 200))]) == pytest.approx(-0.5)
    assert frontier_value([even[0], Region((100, 0, 200, 100), text_only=True)]) == pytest.approx(-1.0)


def test_parts_lie_along_an_axis_when_they_do_not_overlap_on_it() -> None:
    parts = [Region((100, 0, 200, 100)), Region((0, 50, 100, 100))]
    assert lies_along(parts, 0)
    assert not lies_along(parts, 1)


@pytest.mark.parametrize(
    ("names", "axis"),
    [
        (("left", "right"), 0),
        (("Left column", "Right column"), 0),
        (("top row", "bottom row"), 1),
        (("above", "below"), 1),
        (("uppermost", "lowermost"), 1),
        (("bright field", "growth"), None),
        (("upper left", "lower right"), None),
        (("a", "b"), None),
    ],
)
def test_words_of_place_say_along_which_axis(names: tuple[str, ...], axis: int | None) -> None:
    assert direction(names) == axis


def test_pictures_that_touch_are_split_evenly() -> None:
    shades = [photograph(100, 100, k, low, low + 80) for k, low in enumerate((20, 140, 20))]
    canvas = canvas_of(np.concatenate(shades, axis=1))
    found = split_evenly(canvas, 3, None)
    assert [part.rect for part in found] == [(0, 0, 100, 100), (100, 0, 200, 100), (200, 0, 300, 100)]
    assert {part.trust for part in found} == {QUALITY["seam"]}
    assert len(split_evenly(canvas, 3, 1)) == 1, "nothing lies one below the other"
    turned = canvas_of(np.concatenate(shades, axis=0))
    assert [part.rect[1] for part in split_evenly(turned, 3, 1)] == [0, 100, 200]
    thin = canvas_of(np.concatenate([shades[0][:, :20], shades[1]], axis=1))
    assert len(split_evenly(thin, 2, None)) == 1, "a strip is no panel"
    thin = canvas_of(np.concatenate([shades[1], shades[0][:, :20]], axis=1))
    assert len(split_evenly(thin, 2, None)) == 1


@pytest.mark.parametrize(
    ("x", "y", "held"), [(50, 50, True), (5, 50, False), (95, 50, False), (50, 5, False), (50, 95, False)]
)
def test_a_part_holds_what_is_centred_in_it(x: int, y: int, held: bool) -> None:
    assert holds((10, 10, 90, 90), (x - 10, y - 10, x + 10, y + 10)) is held
