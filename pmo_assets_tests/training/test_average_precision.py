"""Average precision on cases that can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from pmo_assets.training.loop.average_precision import average_precision, iou_matrix

A, B, FAR = (0.0, 0.0, 1.0, 1.0), (2.0, 0.0, 3.0, 1.0), (8.0, 8.0, 9.0, 9.0)


def found(*rows: tuple[tuple[float, ...], float]) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray([box for box, _ in rows], dtype=float).reshape(-1, 4), np.asarray([score for _, score in rows])


def test_all_right_is_one_and_all_wrong_is_zero() -> None:
    assert average_precision([found((A, 0.9), (B, 0.8))], [np.asarray([A, B])]) == 1.0
    assert average_precision([found((FAR, 0.9))], [np.asarray([A, B])]) == 0.0
    assert average_precision([found()], [np.asarray([A])]) == 0.0


def test_without_true_boxes_there_is_no_precision() -> None:
    assert average_precision([found((A, 0.9))], [np.zeros((0, 4))]) is None


def test_a_false_box_counts_when_it_scores_higher() -> None:
    truth = [np.asarray([A, B])]
    assert average_precision([found((A, 0.9), (FAR, 0.5), (B, 0.4))], truth) == pytest.approx(0.5 + 0.5 * 2 / 3)
    assert average_precision([found((A, 0.9), (B, 0.4), (FAR, 0.3))], truth) == 1.0


def test_a_true_box_is_matched_once() -> None:
    assert average_precision([found((A, 0.9), (A, 0.8))], [np.asarray([A, B])]) == pytest.approx(0.5)


def test_iou_of_halves() -> None:
    half = np.asarray([[0.0, 0.0, 0.5, 1.0]])
    assert iou_matrix(half, np.asarray([A]))[0, 0] == pytest.approx(0.5)
