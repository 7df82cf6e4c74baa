"""Filters of other datasets, counted on a release: what each alone, and all in order, would remove.

A release keeps its panels; the filters are columns (`clinical_or_laboratory`, `clinical_or_microscopy`, `medical`), by
which whoever trains can choose. The numbers beside them are Open-PMC-18M's own: of figures for the first filter, of
single-panel pictures for the others. Add here: a filter, as a column and a line of `FILTERS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from pmo_assets.records.stores import StorageError


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter of Open-PMC-18M.

    Attributes:
        column: of the release's panels that says whether it keeps one; null where that is undecided.
        keeps: in words.
        of: what the paper's numbers count.
        before, after: the paper's numbers, as printed.
    """

    column: str
    keeps: str
    of: str
    before: int
    after: int


FILTERS: Final = (
    Filter(
        "clinical_or_laboratory",
        "figures that are mostly clinical imaging, microscopy, immunoassays or chemical structures",
        "compound figures",
        24_000_000,
        6_000_000,
    ),
    Filter(
        "clinical_or_microscopy",
        "figures that are mostly clinical imaging or microscopy",
        "single panels",
        32_000_000,
        26_000_000,
    ),
    Filter("medical", "panels that show a medical picture", "single panels", 26_000_000, 18_000_000),
)
"""Open-PMC-18M's filters 1 to 3 in its order; it states rounded numbers."""


@dataclass(frozen=True, slots=True)
class FilterCount:
    """What a filter would do to a release.

    Attributes:
        filter: of the paper.
        panels: of the release.
        removed: panels that it alone would remove.
        undecided: panels of which it is undecided; they are not counted as removed.
        removed_in_order: panels that it would remove of those that the filters before it leave.
        left: panels that it and those before it leave.
        figures_removed: figures that it alone would leave no panel of.
    """

    filter: Filter
    panels: int
    removed: int
    undecided: int
    removed_in_order: int
    left: int
    figures_removed: int


def count_filters(panels: pl.DataFrame, filters: Sequence[Filter] = FILTERS) -> tuple[FilterCount, ...]:
    """Return what each filter would remove.

    Args:
        panels: columns `article_id`, `image_cluster_id` and those of the filters.
        filters: in order.
    """
    left = panels
    counts = []
    for item in filters:
        keeps = pl.col(item.column).fill_null(value=True)
        remains = left.filter(keeps)
        by_figure = panels.group_by("article_id", "image_cluster_id").agg(keeps.any().alias("stays"))
        counts.append(
            FilterCount(
                item,
                panels.height,
                panels.filter(~keeps).height,
                int(panels[item.column].null_count()),
                left.height - remains.height,
                remains.height,
                by_figure.filter(~pl.col("stays")).height,
            )
        )
        left = remains
    return tuple(counts)


def read_filter_columns(folder: Path, filters: Sequence[Filter] = FILTERS) -> pl.DataFrame:
    """Return the columns of a release's panels that the filters need.

    Args:
        folder: of the release, with `data/panels/*.parquet`.
        filters: that are counted.

    Raises:
        StorageError: if it is none, or was made before there were such columns.
    """
    files = sorted((folder / "data" / "panels").glob("*.parquet"))
    if not files:
        raise StorageError(f"{folder} has no data/panels/*.parquet: is it the folder of a release?")
    wanted = ["article_id", "image_cluster_id", *(item.column for item in filters)]
    known = pl.read_parquet_schema(files[0])
    if missing := [name for name in wanted if name not in known]:
        raise StorageError(
            f"the panels of {folder} have no column {', '.join(missing)}: the release was made by an older version; "
            "`pmo run` makes it again"
        )
    return pl.concat([pl.read_parquet(file, columns=wanted) for file in files])
