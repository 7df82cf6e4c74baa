"""Average precision on cases that can be worked out by hand, what must always hold, and against a second reckoning."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.records.average_precision import (
    GRID,
    Ranked,
    average_precision,
    coco_average_precision,
    precision_recall,
    ranked_boxes,
    right_boxes,
)
from pmo_assets.records.geometry import Box

A, B, FAR = (0.0, 0.0, 1.0, 1.0), (2.0, 0.0, 3.0, 1.0), (8.0, 8.0, 9.0, 9.0)
KEY = (1, 0)


def ranking(truths: int, *items: tuple[float, tuple[float, ...]]) -> Ranked:
    return Ranked(tuple((score, overlaps, KEY) for score, overlaps in items), truths)


def of_one(found: list[tuple[Box, float]], truth: list[Box]) -> float | None:
    """Average precision at 0.5 of one figure's boxes."""
    return average_precision(ranked_boxes([("figure", found, truth)]), 0.5)


def test_boxes_all_right_are_one_and_all_wrong_zero() -> None:
    assert of_one([(A, 0.9), (B, 0.8)], [A, B]) == 1.0
    assert of_one([(FAR, 0.9)], [A, B]) == 0.0
    assert of_one([], [A]) == 0.0


def test_without_annotated_boxes_there_is_no_precision() -> None:
    assert of_one([(A, 0.9)], []) is None


def test_a_false_box_counts_when_it_scores_higher() -> None:
    assert of_one([(A, 0.9), (FAR, 0.5), (B, 0.4)], [A, B]) == pytest.approx(0.5 + 0.5 * 2 / 3)
    assert of_one([(A, 0.9), (B, 0.4), (FAR, 0.3)], [A, B]) == 1.0


def test_an_annotated_box_is_matched_once() -> None:
    assert of_one([(A, 0.9), (A, 0.8)], [A, B]) == pytest.approx(0.5)


def test_right_boxes_stand_in_the_order_of_what_was_found() -> None:
    found = ranked_boxes([("figure", [(A, 0.4), (FAR, 0.95), (A, 0.9), (B, 0.1)], [A, B])])
    assert right_boxes(found, 0.5) == (False, False, True, True)


def test_boxes_are_compared_within_their_figure() -> None:
    assert average_precision(ranked_boxes([(1, [(A, 0.9)], [B]), (2, [], [A])]), 0.5) == 0.0


def test_all_right_is_one_and_nothing_found_is_zero() -> None:
    assert average_precision(ranking(2, (0.9, (1.0, 0.0)), (0.8, (0.0, 1.0))), 0.5) == 1
    assert average_precision(ranking(2), 0.5) == 0
    assert average_precision(ranking(0, (0.9, ())), 0.5) is None


def test_a_wrong_box_costs_by_its_rank() -> None:
    first = ranking(2, (0.9, (0.0, 0.0)), (0.8, (1.0, 0.0)), (0.7, (0.0, 1.0)))
    middle = ranking(2, (0.9, (1.0, 0.0)), (0.8, (0.0, 0.0)), (0.7, (0.0, 1.0)))
    last = ranking(2, (0.9, (1.0, 0.0)), (0.8, (0.0, 1.0)), (0.7, (0.0, 0.0)))
    assert average_precision(first, 0.5) == pytest.approx(2 / 3)
    assert average_precision(middle, 0.5) == pytest.approx(1 / 2 + 1 / 2 * 2 / 3)
    assert average_precision(last, 0.5) == 1


def test_a_box_found_twice_counts_once() -> None:
    curve = precision_recall(ranking(1, (0.9, (0.8,)), (0.8, (0.9,))), 0.5)
    assert curve.recall == (1.0, 1.0)
    assert curve.precision == (1.0, 0.5)


def test_equal_boxes_of_different_figures_are_different() -> None:
    two = Ranked(((0.9, (1.0,), (1, 0)), (0.8, (1.0,), (1, 1))), 2)
    assert average_precision(two, 0.5) == 1


def test_the_threshold_decides() -> None:
    loose = ranking(1, (0.9, (0.7,)))
    assert [average_precision(loose, t) for t in (0.5, 0.7, 0.75)] == [1, 1, 0]


rankings = st.integers(1, 5).flatmap(
    lambda truths: st.lists(
        st.tuples(st.lists(st.floats(0, 1), min_size=truths, max_size=truths), st.integers(0, 3)), max_size=12
    ).map(
        lambda items: Ranked(
            tuple((1 / (n + 1), tuple(overlaps), (1, k)) for n, (overlaps, k) in enumerate(items)), 4 * truths
        )
    )
)


@given(rankings, st.randoms(use_true_random=False))
def test_it_lies_between_0_and_1_falls_with_the_threshold_and_ignores_the_order(
    items: Ranked, source: random.Random
) -> None:
    values = [average_precision(items, threshold) for threshold in GRID]
    assert all(value is not None and 0 <= value <= 1 for value in values)
    mixed = list(items.items)
    source.shuffle(mixed)
    assert [average_precision(Ranked(tuple(mixed), items.truths), threshold) for threshold in GRID] == values
    curve = precision_recall(items, 0.5)
    assert list(curve.recall) == sorted(curve.recall)


def reckoned(figures: list[tuple[int, list[tuple[Box, float]], list[Box]]], threshold: float) -> float | None:
    """Average precision with arrays, figure by figure: boxes are matched first, and all of them ranked afterwards."""
    scores, hits = [], []
    for _, found, truth in figures:
        free = [True] * len(truth)
        for box, score in sorted(found, key=lambda item: -item[1]):
            low = [np.maximum(box[:2], other[:2]) for other in truth]
            high = [np.minimum(box[2:], other[2:]) for other in truth]
            common = np.array([np.clip(b - a, 0, None).prod() for a, b in zip(low, high, strict=True)])
            sizes = [(b[2] - b[0]) * (b[3] - b[1]) for b in (box, *truth)]
            overlaps = (
                np.where(free, common / (sizes[0] + np.array(sizes[1:]) - common), -1.0) if truth else np.zeros(0)
            )
            best = int(overlaps.argmax()) if truth else -1
            hits.append(best >= 0 and bool(overlaps[best] >= threshold))
            if hits[-1]:
                free[best] = False
            scores.append(score)
    total = sum(len(truth) for _, _, truth in figures)
    if not total:
        return None
    right = np.cumsum(np.array(hits, dtype=float)[np.argsort(-np.array(scores), kind="stable")])
    precision = np.maximum.accumulate((right / np.arange(1, len(right) + 1))[::-1])[::-1]
    return float(np.sum(np.diff(np.concatenate([[0.0], right / total])) * precision))


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 0.75, 0.9]))
def test_it_is_the_area_under_the_monotone_curve(seed: int, threshold: float) -> None:
    rng = np.random.default_rng(seed)

    def box(near: Box | None = None) -> Box:
        left, top, right, bottom = np.array(near or (0.2, 0.2, 0.6, 0.6)) + rng.normal(0, 0.02 if near else 0.2, 4)
        return (left, top, max(left + 0.01, right), max(top + 0.01, bottom))

    figures = []
    for key in range(int(rng.integers(1, 5))):
        truth = [box() for _ in range(int(rng.integers(0, 6)))]
        near = [truth[int(rng.integers(len(truth)))] if truth and rng.random() < 0.7 else None for _ in range(8)]
        figures.append((key, [(box(other), float(rng.random())) for other in near], truth))
    found, wanted = average_precision(ranked_boxes(figures), threshold), reckoned(figures, threshold)
    assert (found is None) == (wanted is None)
    assert found is None or found == pytest.approx(wanted, abs=1e-12)


def test_coco_reads_the_curve_at_101_places() -> None:
    # Recall 0.5 with precision 1, recall 1 with precision 2/3: 51 places of the first, 50 of the second.
    found = ranking(2, (0.9, (1.0, 0.0)), (0.5, (0.0, 0.0)), (0.4, (0.0, 1.0)))
    assert coco_average_precision(found, 0.5) == pytest.approx((51 + 50 * 2 / 3) / 101)
    assert coco_average_precision(ranking(1), 0.5) == 0.0
    assert coco_average_precision(ranking(0, (0.9, ())), 0.5) is None


def random_boxes(rng: random.Random, count: int) -> list[Box]:
    corners = [(rng.uniform(0, 80), rng.uniform(0, 80)) for _ in range(count)]
    return [(x, y, x + rng.uniform(5, 40), y + rng.uniform(5, 40)) for x, y in corners]


@pytest.mark.parametrize("seed", range(4))
def test_pycocotools_finds_the_same(seed: int) -> None:
    coco_module = pytest.importorskip("pycocotools.coco")
    evaluation = pytest.importorskip("pycocotools.cocoeval")
    rng = random.Random(seed)
    figures: list[tuple[int, list[tuple[Box, float]], list[Box]]] = []
    for number in range(1, 13):
        truth = random_boxes(rng, rng.randrange(6))
        moved: list[Box] = [tuple(v + rng.uniform(-2, 2) for v in box) for box in truth]  # type: ignore[misc]
        found = [(box, round(rng.random(), 1)) for box in [*moved, *random_boxes(rng, 3)] if rng.random() < 0.8]
        figures.append((number, found, truth))

    def rows(boxes: list[tuple[int, Box]]) -> list[dict[str, object]]:
        return [
            {"id": k + 1, "image_id": number, "category_id": 1, "bbox": [b[0], b[1], b[2] - b[0], b[3] - b[1]],
             "area": (b[2] - b[0]) * (b[3] - b[1]), "iscrowd": 0}
            for k, (number, b) in enumerate(boxes)
        ]  # fmt: skip

    known = coco_module.COCO()
    known.dataset = {
        "info": {}, "images": [{"id": number} for number, _, _ in figures], "categories": [{"id": 1, "name": "Panel"}],
        "annotations": rows([(number, box) for number, _, truth in figures for box in truth]),
    }  # fmt: skip
    known.createIndex()
    scored = rows([(number, box) for number, found, _ in figures for box, _ in found])
    values = [score for _, found, _ in figures for _, score in found]
    seen = known.loadRes([row | {"score": score} for row, score in zip(scored, values, strict=True)])
    theirs = evaluation.COCOeval(known, seen, "bbox")
    theirs.evaluate()
    theirs.accumulate()
    ours = ranked_boxes(figures)
    for k, threshold in enumerate(GRID):
        precision = theirs.eval["precision"][k, :, 0, 0, 2]
        assert coco_average_precision(ours, threshold) == pytest.approx(precision.mean(), abs=1e-9)
