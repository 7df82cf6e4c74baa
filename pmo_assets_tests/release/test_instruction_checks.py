"""Instructions of a release: withheld where panels are, balanced, and a check that finds what is wrong in the files."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import polars as pl
import pytest

from pmo_assets.release.instruction_checks import instruction_faults
from pmo_assets.release.instruction_numbers import InstructionCounts, balance_cells
from pmo_assets.release.keys import HUB
from pmo_assets.release.versions import read_manifest, released_versions
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.release.finished import finish, make

ROWS = f"{HUB}/data/instructions/train-00000.parquet"
RIGHT = {"no picture": 0, "withheld": 0, "messages": 0, "box": 0, "balance": 0}


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("released")
    tables = Tables(DataRoot(str(folder)))
    finish(tables, "0001-a", {1: {"rows": 4}, 2: {"code": "CC BY-ND", "rows": 2}, 3: {"rows": 3}})
    finish(tables, "0002-b", {5: {"rows": 3}})
    make(tables)
    return folder


@pytest.fixture
def root(released: Path, tmp_path: Path) -> DataRoot:
    """A copy of the release, to be changed."""
    return DataRoot(str(shutil.copytree(released, tmp_path / "copy")))


def read(root: DataRoot, key: str = ROWS) -> pl.DataFrame:
    return pl.read_parquet(io.BytesIO(root.read(key)))


def change(root: DataRoot, key: str, **values: pl.Expr) -> None:
    buffer = io.BytesIO()
    read(root, key).with_columns(**values).write_parquet(buffer)
    root.write(key, buffer.getvalue())


def test_the_instructions_of_a_release_are_right_and_those_of_withheld_panels_stay_out(root: DataRoot) -> None:
    assert instruction_faults(root, HUB) == RIGHT
    rows = read(root)
    assert set(rows["article_id"]) == {1, 5}
    assert "lie" not in str(rows["messages"].to_list())
    panels = read(root, f"{HUB}/data/panels/train-00000.parquet")["panel_id"]
    assert panels[rows["picture_row"].to_list()].to_list() == rows["panel_id"].to_list()


def test_yes_and_no_are_balanced_over_all_batches_together_and_the_manifest_says_so(root: DataRoot) -> None:
    answers = read(root).filter(kind="yes_no")["messages"].list.last().struct.field("content").value_counts()
    assert sorted(answers.iter_rows()) == [("No.", 3), ("Yes.", 3)]  # 4 yes and 3 no of seven panels in two batches
    counts = InstructionCounts.of(read_manifest(root, released_versions(root)[-1]).counts)
    assert counts is not None
    assert [cells[1:] for cells in balance_cells(counts)] == [("finding", 3, 3), ("finding", 1, 1)]
    assert (counts.left_out, counts.kinds["what"], counts.kinds["yes_no"]) == (2, 10, 8)


def test_a_manifest_from_before_has_no_numbers_of_instructions() -> None:
    assert InstructionCounts.of({"panels": 3}) is None


@pytest.mark.parametrize(
    ("fault", "values"),
    [
        ("no picture", {"picture_row": pl.lit(99)}),
        ("no picture", {"panel_id": pl.lit("another")}),
        ("withheld", {"license": pl.lit("CC BY-ND")}),
        ("no picture", {"picture_row": pl.lit(-1)}),
        ("box", {"boxes": pl.lit([[0.0, 0.0, 1.1, 1.0]])}),
        ("box", {"boxes": pl.lit([[0.5, 0.0, 0.5, 1.0]])}),
        ("messages", {"messages": pl.col("messages").list.head(1)}),
        ("balance", {"messages": pl.col("messages").first()}),
    ],
)
def test_each_fault_is_counted(root: DataRoot, fault: str, values: dict[str, pl.Expr]) -> None:
    change(root, ROWS, **values)
    found = instruction_faults(root, HUB)
    assert found[fault] > 0
    assert {name for name, count in found.items() if count} <= {fault, "balance"}


def test_an_instruction_about_a_withheld_panel_is_found_by_the_licence_of_the_panels_row(root: DataRoot) -> None:
    change(root, f"{HUB}/data/panels/train-00000.parquet", license=pl.lit(None, pl.String))
    assert instruction_faults(root, HUB)["withheld"] == read(root).height
    assert instruction_faults(root, HUB, withhold=False) == RIGHT


@pytest.mark.slow
def test_a_release_for_oneself_withholds_nothing(tmp_path: Path) -> None:
    from pmo_assets.release.writing import ReleaseOptions

    tables = Tables(DataRoot(str(tmp_path)))
    finish(tables, "0001-a", {2: {"code": "CC BY-ND", "rows": 2}})
    make(tables, options=ReleaseOptions(withhold=False))
    assert read(tables.data_root).height == 4
    assert instruction_faults(tables.data_root, HUB, withhold=False) == RIGHT
    assert instruction_faults(tables.data_root, HUB)["withheld"] == 4
