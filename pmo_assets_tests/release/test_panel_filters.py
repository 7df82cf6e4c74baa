"""What Open-PMC-18M's filters would remove of a release, counted by hand."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from pmo_assets.records.stores import StorageError
from pmo_assets.release.panel_filters import FILTERS, count_filters, read_filter_columns

PANELS = pl.DataFrame(
    [
        (1, "f1", True, True, True),
        (1, "f1", True, True, False),
        (1, "f2", True, False, False),
        (2, "f1", False, False, True),
        (2, "f2", None, None, True),
    ],
    schema=["article_id", "image_cluster_id", *(item.column for item in FILTERS)],
    orient="row",
)


def test_each_alone_and_all_in_order() -> None:
    first, second, third = count_filters(PANELS)
    assert [item.removed for item in (first, second, third)] == [1, 2, 2]
    assert [item.removed_in_order for item in (first, second, third)] == [1, 1, 1]
    assert [item.left for item in (first, second, third)] == [4, 3, 2]
    assert [item.undecided for item in (first, second, third)] == [1, 1, 0], "undecided panels stay"
    assert [item.figures_removed for item in (first, second, third)] == [1, 2, 1]


def test_an_empty_release_loses_nothing() -> None:
    assert [(item.removed, item.left) for item in count_filters(PANELS.clear())] == [(0, 0)] * 3


def test_the_papers_numbers_are_those_of_its_steps() -> None:
    assert [(item.before, item.after) for item in FILTERS] == [
        (24_000_000, 6_000_000), (32_000_000, 26_000_000), (26_000_000, 18_000_000),
    ]  # fmt: skip


def test_a_release_that_was_made_before_says_how_to_get_the_columns(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"no data/panels/\*\.parquet"):
        read_filter_columns(tmp_path)
    (tmp_path / "data/panels").mkdir(parents=True)
    PANELS.drop("clinical_or_laboratory").write_parquet(tmp_path / "data/panels/train-00000.parquet")
    with pytest.raises(StorageError, match=r"no column clinical_or_laboratory.*pmo run"):
        read_filter_columns(tmp_path)
    PANELS.write_parquet(tmp_path / "data/panels/train-00000.parquet")
    PANELS.write_parquet(tmp_path / "data/panels/test-00000.parquet")
    assert read_filter_columns(tmp_path).height == 2 * PANELS.height
