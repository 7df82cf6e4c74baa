"""Panels: exact boxes where the structure is plain, one panel where nothing separates, nothing that crashes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmo_assets.pipeline.detection.detect import detect_panels
from pmo_assets.pipeline.detection.structure.panels import picture_boxes
from pmo_assets.records.detections import FigureView, PanelDetection
from pmo_assets.records.figure import EmbeddedBitmap, EmbeddedText
from pmo_assets.records.geometry import UNIT_BOX, Box, area, contains, intersection, iou, union_box
from pmo_assets_tests.pipeline.detection.drawing import as_fraction, live_text, paper, paste, photograph, plot


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
@settings(max_examples=40, deadline=None)
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
