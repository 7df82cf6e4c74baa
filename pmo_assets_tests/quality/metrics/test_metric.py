"""Measured numbers and how they are shown."""

from __future__ import annotations

import pytest

from pmo_assets.quality.metrics.metric import Metric, mean, metric_value, metrics_by_threshold, share

METRICS = [
    Metric("AP", 0.5, 7, "OCT", 0.9),
    Metric("AP", 0.75, 7, "OCT", 0.5),
    Metric("AP", 0.6, 7, "OCT"),
    Metric("AP", None, 0, "CFP", 0.5),
    Metric("accuracy", 1.0, 3),
]


def test_a_metric_is_known_by_name_class_and_threshold() -> None:
    assert metric_value(METRICS, "AP", "OCT", 0.9) == 0.5
    assert metric_value(METRICS, "AP", "CFP", 0.5) is None
    with pytest.raises(KeyError):
        metric_value(METRICS, "AP", "OCT", 0.75)


def test_thresholds_are_columns() -> None:
    headings, lines = metrics_by_threshold(METRICS)
    assert headings == ["metric", "class", "overall", "at 0.5", "at 0.9", "n"]
    assert lines == [
        ["AP", "OCT", "0.6000", "0.7500", "0.5000", "7"],
        ["AP", "CFP", "", "–", "", "0"],
        ["accuracy", "", "1.0000", "", "", "3"],
    ]


def test_of_nothing_there_is_no_mean_and_no_share() -> None:
    assert (mean([]), share([])) == (None, None)
    assert (mean([1, 2]), share([True, False])) == (1.5, 0.5)
