"""Images of structure and network together: who wins where."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.detection.fusion.image_fusion import ImageFusionOptions, fused_images
from pmo_assets.records.detections import FigureView, ImageDetection
from pmo_assets.records.figure import EmbeddedBitmap, EmbeddedText
from pmo_assets.records.geometry import Box, iou
from pmo_assets_tests.examples import examples
from pmo_assets_tests.pipeline.detection.fusion.sources import LEFT, RIGHT, WHOLE, boxes, seen, two_pictures


def image(box: Box, score: float = 0.8, source: str = "gutter") -> ImageDetection:
    return ImageDetection(box, score, source, None, 0.0)


def test_where_both_agree_the_exact_box_stays_and_scores_combine() -> None:
    (found,) = fused_images(two_pictures(), [image(LEFT)], seen(((0.02, 0.03, 0.46, 0.97), 0.5)))
    assert found.box == LEFT
    assert found.source == "gutter"
    assert found.score == pytest.approx(1 - 0.2 * 0.5)
    assert found.seen_types["OCT"] == pytest.approx(0.9)


def test_a_grid_taken_for_one_image_is_replaced_by_its_parts_with_exact_edges() -> None:
    found = fused_images(
        two_pictures(), [image(WHOLE)], seen(((0.02, 0.02, 0.44, 1.0), 0.7), ((0.57, 0.0, 0.99, 0.98), 0.7))
    )
    assert [f.source for f in found] == ["network", "network"]
    assert found[0].box == pytest.approx(LEFT, abs=0.011)
    assert found[1].box == pytest.approx(RIGHT, abs=0.011)


def test_one_image_taken_for_several_becomes_one() -> None:
    found = fused_images(two_pictures(), [image(LEFT), image(RIGHT)], seen((WHOLE, 0.8)))
    assert [f.source for f in found] == ["network"]
    assert found[0].box == pytest.approx(WHOLE, abs=0.012)


def test_embedded_bitmaps_are_not_overruled() -> None:
    bitmaps = [image(LEFT, 0.95, "bitmap"), image(RIGHT, 0.95, "bitmap")]
    assert fused_images(two_pictures(), bitmaps, seen())[0] == bitmaps[0]
    parts = seen(((0.0, 0.0, 0.2, 1.0), 0.9), ((0.24, 0.0, 0.45, 1.0), 0.9))
    assert fused_images(two_pictures(), bitmaps, parts) == bitmaps


def test_what_the_structure_misses_is_added_and_weak_boxes_are_not() -> None:
    found = fused_images(two_pictures(), [image(LEFT)], seen((LEFT, 0.9), (RIGHT, 0.6)))
    assert [f.source for f in found] == ["gutter", "network"]
    weak = fused_images(two_pictures(), [image(LEFT)], seen((LEFT, 0.9), (RIGHT, 0.3)))
    assert [f.source for f in weak] == ["gutter"]


def test_a_structural_box_that_the_network_does_not_see_counts_less() -> None:
    (found,) = fused_images(two_pictures(), [image(LEFT)], seen())
    assert found.box == LEFT
    assert found.score == pytest.approx(0.8 * ImageFusionOptions().alone)


def test_a_drawing_with_pictures_in_it_gives_way_to_the_pictures() -> None:
    """Structure takes a diagram for one image; the network sees two pictures that fill little of it, and no whole."""
    parts = ((0.05, 0.1, 0.2, 0.4), (0.6, 0.1, 0.8, 0.4))
    found = fused_images(two_pictures(), [image(WHOLE, 0.6)], seen((parts[0], 0.7), (parts[1], 0.6)))
    assert [f.source for f in found] == ["network", "network"]
    whole = fused_images(two_pictures(), [image(WHOLE, 0.6)], seen((parts[0], 0.7), (parts[1], 0.6), (WHOLE, 0.75)))
    assert [f.box for f in whole] == [WHOLE]


def test_a_picture_that_the_pdf_places_has_the_box_of_its_bitmap() -> None:
    figure = two_pictures()
    view = FigureView(figure.pixels, (EmbeddedBitmap(RIGHT, 180, 200),))
    rough: Box = (0.57, 0.04, 0.98, 0.97)
    (found,) = fused_images(view, [], seen((rough, 0.4)))
    assert (found.box, found.source) == (RIGHT, "bitmap")
    assert found.score == pytest.approx(0.7)
    # As weak a box where the PDF has no bitmap is nothing.
    assert fused_images(figure, [], seen((rough, 0.4))) == []


def test_weak_boxes_do_not_speak_against_sure_ones_beside_them() -> None:
    """A weak whole around sure parts and many weak ones: the mean of all is below the whole, the parts stay."""
    weak = [((0.02 * k, 0.3, 0.02 * k + 0.1, 0.7), 0.11) for k in range(20)]
    found = fused_images(two_pictures(), [], seen((WHOLE, 0.5), (LEFT, 0.7), (RIGHT, 0.7), *weak))
    assert [round(f.box[0], 2) for f in found] == [LEFT[0], RIGHT[0]]
    assert all(0.6 < f.score <= 0.7 for f in found), "a decision costs them some of it"


def test_one_colour_and_live_text_are_no_pictures() -> None:
    pixels = two_pictures().pixels.copy()
    pixels[50:100, 20:80] = (200, 30, 30)
    cell: Box = (20 / 400, 50 / 200, 80 / 400, 100 / 200)
    assert fused_images(FigureView(pixels), [], seen((cell, 0.9))) == []
    letter: Box = (0.6, 0.2, 0.7, 0.4)
    assert len(fused_images(two_pictures(), [], seen((letter, 0.9)))) == 1
    text = EmbeddedText("Detachment mask", (0.58, 0.18, 0.98, 0.42), 9.0, False)
    assert fused_images(FigureView(pixels, (), (text,)), [], seen((letter, 0.9))) == []


def test_the_cells_of_a_table_do_not_take_its_place() -> None:
    """A chequerboard with a digit in each cell is one image to structure, and many to a network."""
    pixels = np.full((400, 800, 3), 255, np.uint8)
    cells = []
    for row in range(5):
        for column in range(5):
            top, left = row * 40, column * 40
            pixels[top : top + 40, left : left + 40] = 60 if (row + column) % 2 else 150
            pixels[top + 12 : top + 28, left + 18 : left + 22] = 0
            cells.append(((left / 800, top / 400, (left + 40) / 800, (top + 40) / 400), 0.6))
    board: Box = (0.0, 0.0, 0.25, 0.5)
    (found,) = fused_images(FigureView(pixels), [image(board)], seen(*cells))
    assert found.box == board


@examples(60)
@given(
    st.lists(st.tuples(boxes, st.floats(0.3, 0.95)), max_size=6),
    st.lists(st.tuples(boxes, st.floats(0.06, 0.95)), max_size=6),
)
def test_boxes_stay_in_the_figure_and_nothing_is_invented(
    structural: list[tuple[Box, float]], network: list[tuple[Box, float]]
) -> None:
    view = two_pictures()
    found = fused_images(view, [image(b, s) for b, s in structural], seen(*network))
    assert len(found) <= len(structural) + len(network)
    assert found == fused_images(view, [image(b, s) for b, s in structural], seen(*network))
    for one in found:
        assert 0 <= one.score <= 1
        assert -1e-9 <= one.box[0] < one.box[2] <= 1 + 1e-9
        if one.source == "gutter":
            assert one.box in [b for b, _ in structural]
        else:
            assert max(iou(one.box, b) for b, _ in network) > 0.1
