"""Raw network output becomes few, normalised, separate boxes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from pmo_assets.pipeline.detection.networks.input_size import BUCKETS, bucket_of, network_input
from pmo_assets.pipeline.detection.networks.mark_input import MARK_SIDE, mark_input
from pmo_assets.pipeline.detection.networks.network_boxes import network_boxes, suppressed


def outputs(boxes: Sequence[Sequence[float]], types: Sequence[Sequence[float]]) -> list[np.ndarray]:
    nothing = [np.zeros((1, 1, 1), np.float32), np.zeros((1, 1, 4), np.float32)]
    return [*nothing, *nothing, np.asarray([types], np.float32), np.asarray([boxes], np.float32)]


def test_boxes_are_normalised_and_the_weaker_of_two_alike_is_dropped() -> None:
    boxes = [[0, 0, 100, 100], [2, 2, 100, 100], [200, 0, 400, 100]]
    types = [[0.1, 0.6, 0.1, 0.1], [0.1, 0.1, 0.1, 0.2], [0, 0, 0, 0.4]]
    (found,) = network_boxes(outputs(boxes, types), (200, 400))
    assert found.boxes["image"].tolist() == [[0, 0, 0.25, 0.5], [0.5, 0, 1, 0.5]]
    assert found.scores["image"] == pytest.approx([0.9, 0.4])
    assert found.class_scores["image"][0].argmax() == 1
    assert len(found.boxes["panel"]) == 0


def test_a_group_without_boxes_is_empty_not_missing() -> None:
    (found,) = network_boxes(outputs([[0, 0, 1, 1]], [[0, 0, 0, 0.01]]), (64, 64))
    assert all(found.boxes[group].shape == (0, 4) for group in ("panel", "label", "image"))


def test_boxes_that_only_touch_both_stay() -> None:
    boxes = np.asarray([[0, 0, 1, 1], [1, 0, 2, 1]], np.float32)
    assert suppressed(boxes, np.asarray([0.5, 0.9], np.float32), 0.3).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("size", "bucket"), [((500, 480), (384, 384)), ((2000, 500), (192, 768)), ((300, 700), (576, 256))]
)
def test_the_input_size_is_the_one_with_the_nearest_proportions(size: tuple[int, int], bucket: tuple[int, int]) -> None:
    assert bucket_of(*size) == bucket
    assert network_input(np.zeros((size[1], size[0], 3), np.uint8), bucket).shape == (*bucket, 3)


def test_input_sizes_are_multiples_of_the_coarsest_stride_and_alike_in_area() -> None:
    for height, width in BUCKETS:
        assert height % 64 == 0
        assert width % 64 == 0
        assert 0.95 <= height * width / 147_456 <= 1.02


@pytest.mark.parametrize("shape", [(10, 300, 3), (300, 10, 3), (40, 40, 3), (1, 1, 3)])
def test_pictures_for_the_mark_classifier_keep_their_proportions(shape: tuple[int, int, int]) -> None:
    square = mark_input(np.full(shape, 7, np.uint8))
    assert square.shape == (MARK_SIDE, MARK_SIDE, 3)
    rows, columns = (square[:, :, 0] == 7).any(axis=1).sum(), (square[:, :, 0] == 7).any(axis=0).sum()
    assert max(rows, columns) == MARK_SIDE
    assert min(rows, columns) == pytest.approx(MARK_SIDE * min(shape[:2]) / max(shape[:2]), abs=1)


def test_scores_stay_below_one_and_boxes_that_are_no_numbers_are_dropped() -> None:
    shares = np.asarray([[[0.3, 0.3, 0.3, 0.1000002], [0.9, 0, 0, 0]]], np.float32)
    places = np.asarray([[[0, 0, 10, 10], [np.nan, 0, 10, 10]]], np.float32)
    none, no_boxes = np.zeros((1, 0, 1), np.float32), np.zeros((1, 0, 4), np.float32)
    (found,) = network_boxes([none, no_boxes, none, no_boxes, shares, places], (10, 10))
    assert found.scores["image"].tolist() == [1.0]
    assert np.isfinite(found.boxes["image"]).all()


def test_a_hundred_pictures_at_nine_places_each_are_all_found() -> None:
    boxes = [[10.0 * (k % 10), 10.0 * (k // 10), 10.0 * (k % 10) + 9, 10.0 * (k // 10) + 9] for k in range(100)]
    (found,) = network_boxes(outputs(boxes * 9, [[0.0, 0.0, 0.0, 0.6]] * 900), (128, 128))
    assert len(found.boxes["image"]) == 100
