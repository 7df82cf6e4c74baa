"""A measured number: what it is called, for which class and threshold, and over how many items it was taken."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Metric:
    """A measured number.

    Attributes:
        metric: name of the measure, e.g. "figure recall".
        value: None where nothing could be measured (no such item is annotated).
        n: items behind it (annotated figures, boxes, captions …).
        group: class or part that it is about ("panel", "CFP", "top 80 %"); "" for all.
        threshold: IoU or similarity from which an item counts; None where there is none.
    """

    metric: str
    value: float | None
    n: int
    group: str = ""
    threshold: float | None = None


def mean(values: Sequence[float]) -> float | None:
    """Return the arithmetic mean; None of nothing."""
    return sum(values) / len(values) if values else None


def share(hits: Sequence[bool]) -> float | None:
    """Return the share that is true, 0..1; None of nothing."""
    return sum(hits) / len(hits) if hits else None


def metric_value(
    metrics: Sequence[Metric], metric: str, group: str = "", threshold: float | None = None
) -> float | None:
    """Return the value of the one metric with this name, class and threshold.

    Raises:
        KeyError: if there is none.
    """
    for item in metrics:
        if (item.metric, item.group, item.threshold) == (metric, group, threshold):
            return item.value
    raise KeyError((metric, group, threshold))


def metrics_by_threshold(metrics: Iterable[Metric]) -> tuple[list[str], list[list[str]]]:
    """Return headings and lines of a table for people: a line per metric and class, a column per threshold.

    Lines stand in the order in which the metrics first occur; n is that of the first number in the line.
    """
    items = list(metrics)
    lines: dict[tuple[str, str], dict[float | None, Metric]] = {}
    for item in items:
        lines.setdefault((item.metric, item.group), {})[item.threshold] = item
    columns = [None, *sorted({item.threshold for item in items if item.threshold is not None})]
    headings = ["metric", "class", *("overall" if t is None else f"at {t:g}" for t in columns), "n"]
    table = []
    for (metric, group), of_line in lines.items():
        cells = [of_line.get(threshold) for threshold in columns]
        values = ["" if cell is None else "–" if cell.value is None else f"{cell.value:.4f}" for cell in cells]
        table.append([metric, group, *values, str(next(iter(of_line.values())).n)])
    return headings, table
