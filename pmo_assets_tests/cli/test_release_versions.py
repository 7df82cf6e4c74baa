"""`pmo release list`, `diff` and `rebuild` as a person runs them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

from pmo_assets.release.differences import NEW_ARTICLE
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.cli.command_line import Pmo, files_below
from pmo_assets_tests.release.finished import finish, make

pytestmark = pytest.mark.slow  # whole runs


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with three releases: the first, another batch, another subcaption."""
    folder = tmp_path_factory.mktemp("released")
    tables = Tables(DataRoot(str(folder)))
    finish(tables, "0001-a", {1: {}, 2: {"code": "CC BY-ND"}}, panels=2)
    make(tables)
    finish(tables, "0002-b", {3: {}})
    make(tables)
    rows = tables.read("dataset_rows", "0001-a").to_dicts()
    rows[0]["subcaption_text"] = "Another one."
    tables.write("dataset_rows", "0001-a", rows)
    make(tables)
    return folder


@pytest.fixture
def data(released: Path, tmp_path: Path) -> Path:
    return shutil.copytree(released, tmp_path / "data")


def one_line(result: subprocess.CompletedProcess[str]) -> str:
    """Return what a command that failed says: one line, and nothing of Python's."""
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    (line,) = [line for line in result.stderr.splitlines() if line.strip()]
    return line


@pytest.mark.usefixtures("data")
def test_the_releases_are_listed_newest_first(pmo: Pmo) -> None:
    result = pmo("release", "list", COLUMNS="200")
    assert result.returncode == 0, result.stderr
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in result.stdout.splitlines() if "│" in line]
    assert [[row[0], *row[2:8]] for row in rows] == [
        ["1.1.1", "5", "3", "3", "0", "1", "0"],
        ["1.1.0", "5", "3", "3", "1", "0", "0"],
        ["1.0.0", "4", "2", "2", "0", "0", "0"],
    ]
    assert [row[-1] for row in rows] == ["2", "2", "1"], "batches"
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", row[1]) for row in rows), "when it was made"


def test_without_a_release_it_is_said_how_to_get_one(pmo: Pmo) -> None:
    said = one_line(pmo("release", "list"))
    assert "nothing was released yet below " in said
    assert "/data (PMO_DATA_ROOT): run `pmo run`" in said


@pytest.mark.usefixtures("data")
def test_two_releases_are_held_against_each_other(pmo: Pmo, tmp_path: Path) -> None:
    result = pmo("release", "diff", "1.0.0", "1.1.1", "--out", "changed.parquet", COLUMNS="200")
    assert result.returncode == 0, result.stderr
    assert "1.0.0 (4 panels) → 1.1.1 (5 panels)" in result.stdout
    assert NEW_ARTICLE in result.stdout
    assert "changed.parquet" in result.stdout
    assert pl.read_parquet(tmp_path / "changed.parquet").rows() == [
        ("p_1_f1_0", 1, "changed", "text"),
        ("p_3_f1_0", 3, "new", NEW_ARTICLE),
    ]
    backwards = pmo("release", "diff", "1.1.1", "1.0.0", COLUMNS="200")
    assert "gone" in backwards.stdout
    same = pmo("release", "diff", "1.1.0", "1.1.0", COLUMNS="200")
    assert same.returncode == 0
    assert "the panels are the same" in same.stdout


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("versions", [("1.0.0", "9.0.0"), ("new", "1.0.0"), ("../1.0.0", "1.0.0")])
def test_a_version_that_is_not_there_is_named_with_those_that_are(pmo: Pmo, versions: tuple[str, str]) -> None:
    assert "released are 1.0.0, 1.1.0, 1.1.1" in one_line(pmo("release", "diff", *versions))


def test_an_older_release_is_made_again(pmo: Pmo, data: Path, tmp_path: Path) -> None:
    result = pmo("release", "rebuild", "1.1.1", "again", COLUMNS="200")
    assert result.returncode == 0, result.stderr
    assert "files are those of release 1.1.1: again" in result.stdout
    again, present = files_below(tmp_path / "again"), files_below(data / "release")
    assert len(again) == 12
    assert again == {name: present[name] for name in again}


@pytest.mark.usefixtures("data")
def test_a_release_that_cannot_be_made_again_is_written_and_it_is_said_what_differs(pmo: Pmo, tmp_path: Path) -> None:
    result = pmo("release", "rebuild", "1.1.0", "again")
    line = one_line(result)
    assert "Made again since: 0001-a (1 panels)" in line
    assert "pubmed_ophtha.parquet" in line or "train-00000.parquet" in line
    assert (tmp_path / "again" / "pubmed_ophtha.parquet").is_file()


@pytest.mark.usefixtures("data")
def test_a_folder_that_holds_something_is_left_alone(pmo: Pmo, tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / "mine.txt").write_text("mine")
    for folder in ("again", "again/mine.txt"):
        assert f"{folder} is not an empty folder" in one_line(pmo("release", "rebuild", "1.0.0", folder))
    assert [path.name for path in (tmp_path / "again").iterdir()] == ["mine.txt"]
    assert (tmp_path / "again" / "mine.txt").read_text() == "mine"


@pytest.mark.usefixtures("data")
def test_a_version_that_never_was_makes_no_folder(pmo: Pmo, tmp_path: Path) -> None:
    assert "no release 3.0.0" in one_line(pmo("release", "rebuild", "3.0.0", "again"))
    assert not (tmp_path / "again").exists()
