"""Output of a step for one article: rows, and the rejected inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pmo_assets.records.faults import raise_fault
from pmo_assets.records.rejections import Rejection, rejection_from

Row = dict[str, Any]
"""A row of a table, by column name (`pmo_assets.tables`)."""


@dataclass
class StepOutput:
    """Output of a step for one article.

    Attributes:
        rows: rows of the step's table.
        rejections: inputs that it could not process.
        tally: its further counts, for whoever watches the batch.
    """

    rows: list[Row] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    tally: Counter[str] = field(default_factory=Counter)


def for_each_figure(
    figures: Sequence[Mapping[str, Any]], stage: str, make: Callable[[Mapping[str, Any]], Sequence[Row]]
) -> StepOutput:
    """Apply `make(figure) -> rows` to each figure; a figure that fails in whatever way becomes a rejection."""
    output = StepOutput()
    for figure in figures:
        try:
            output.rows.extend(make(figure))
        except Exception as error:
            raise_fault(error)
            rejection = rejection_from(
                error, stage=stage, unit_id=figure["article_id"], part=figure["image_cluster_id"]
            )
            output.rejections.append(rejection)
    return output


def rows_by_figure(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Row]]:
    """Group an article's rows by image_cluster_id, keeping their order."""
    grouped: dict[str, list[Row]] = {}
    for row in rows:
        grouped.setdefault(row["image_cluster_id"], []).append(dict(row))
    return grouped


def rows_by_unit(rows: Iterable[Mapping[str, Any]], key: str = "article_id") -> dict[int, list[Row]]:
    """Group rows by the number of their unit (`records.units`), keeping their order.

    Args:
        rows: of a table of the unit.
        key: column of the number.
    """
    grouped: dict[int, list[Row]] = {}
    for row in rows:
        grouped.setdefault(row[key], []).append(dict(row))
    return grouped


def figure_key(row: Mapping[str, Any]) -> Row:
    """Return the columns that identify the figure of a row."""
    return {"article_id": row["article_id"], "image_cluster_id": row["image_cluster_id"]}
