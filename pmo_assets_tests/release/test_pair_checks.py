"""The check of pairs finds what is wrong with them in the files."""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pmo_assets.release.keys import HUB
from pmo_assets.release.pair_checks import pair_faults
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.release.finished import finish, make

PAIRS = f"{HUB}/data/pairs/train-00000.parquet"
RIGHT = {"no picture": 0, "withheld": 0, "box": 0, "text": 0}


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("released")
    tables = Tables(DataRoot(str(folder)))
    finish(tables, "0001-a", {1: {"rows": 2}, 2: {"code": "CC BY-ND"}, 3: {}, 5: {}})
    make(tables)
    return folder


@pytest.fixture
def root(released: Path, tmp_path: Path) -> DataRoot:
    """A copy of the release, to be changed."""
    return DataRoot(str(shutil.copytree(released, tmp_path / "copy")))


def change(root: DataRoot, key: str, **values: Any) -> None:
    table = pl.read_parquet(io.BytesIO(root.read(key)))
    buffer = io.BytesIO()
    table.with_columns(**values).write_parquet(buffer)
    root.write(key, buffer.getvalue())


def test_the_pairs_of_a_release_are_right(root: DataRoot) -> None:
    assert pair_faults(root, HUB) == RIGHT
    assert pl.read_parquet(io.BytesIO(root.read(PAIRS))).height > 5


@pytest.mark.parametrize(
    ("fault", "values"),
    [
        ("no picture", {"picture_row": pl.lit(99)}),
        ("no picture", {"picture_row": pl.lit(-1)}),
        ("no picture", {"picture_row": pl.lit(0), "panel_id": pl.lit("another")}),
        ("box", {"box": pl.lit([0.0, 0.0, 1.1, 1.0])}),
        ("box", {"box": pl.lit([0.5, 0.0, 0.5, 1.0])}),
        ("text", {"text": pl.lit(" ")}),
    ],
)
def test_each_fault_is_counted(root: DataRoot, fault: str, values: dict[str, pl.Expr]) -> None:
    change(root, PAIRS, **values)
    found = pair_faults(root, HUB)
    assert found[fault] > 0
    assert {name for name, count in found.items() if count} == {fault}


def test_a_withheld_picture_is_found_by_the_licence_of_its_row(root: DataRoot) -> None:
    change(root, f"{HUB}/data/panels/train-00000.parquet", license=pl.lit("CC BY-ND"))
    found = pair_faults(root, HUB)
    assert found["withheld"] > 0
    assert pair_faults(root, HUB, withhold=False) == RIGHT
