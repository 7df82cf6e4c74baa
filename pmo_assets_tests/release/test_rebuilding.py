"""An older release made again: byte for byte, or it is said what is no longer what it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pmo_assets.pipeline.dataset.splits import SplitOptions
from pmo_assets.records.stores import StorageError
from pmo_assets.release.rebuilding import Rebuilt, rebuild_release
from pmo_assets.release.writing import ReleaseOptions
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.release.finished import finish, make


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    return Tables(DataRoot(str(tmp_path / "data")))


@pytest.fixture
def target(tmp_path: Path) -> DataRoot:
    return DataRoot(str(tmp_path / "again"))


def data_files(root: DataRoot, prefix: str) -> dict[str, bytes]:
    """Return the files of a release that are its tables."""
    wanted = ("pubmed_ophtha.parquet", "hub/data/", "hub/withheld.parquet")
    return {name: root.read(f"{prefix}{name}") for name in root.tree(prefix) if name.startswith(wanted)}


def rebuild(tables: Tables, version: str, target: DataRoot) -> Rebuilt:
    return rebuild_release(tables, version, target, say=lambda _: None)


OPTIONS = [
    (None, None),
    pytest.param(
        ReleaseOptions(noncommercial=False, figure_pictures=False),
        SplitOptions((0.5, 0.3, 0.2)),
        marks=pytest.mark.slow,
    ),
    pytest.param(ReleaseOptions(withhold=False), None, marks=pytest.mark.slow),  # a release each
]


@pytest.mark.slow  # several releases
@pytest.mark.parametrize(("options", "splits"), OPTIONS, ids=["usual", "other", "for oneself"])
def test_every_older_release_is_made_again_byte_by_byte(
    tables: Tables, tmp_path: Path, options: ReleaseOptions | None, splits: SplitOptions | None
) -> None:
    """Each with its own options, articles, groups and splits, whatever came after it."""
    finish(tables, "0001-a", {1: {"looks": "x"}, 2: {"code": "CC BY-ND"}, 3: {"code": "CC BY-NC"}}, panels=3)
    finish(tables, "0002-b", {4: {}})
    files: dict[str, dict[str, bytes]] = {}

    def released(**given: Any) -> None:
        version = make(tables, **given).manifest.version
        files[version] = data_files(tables.data_root, "release/")

    released(options=options, splits=splits)
    finish(tables, "0003-c", {2: {"version": 2}, 3: {"looks": "x"}})
    released()
    finish(tables, "0004-d", {1: {"is_retracted": True}, 5: {}})
    released()
    assert list(files) == ["1.0.0", "1.1.0", "1.2.0"]
    for version, before in files.items():
        again = DataRoot(str(tmp_path / version))
        rebuilt = rebuild(tables, version, again)
        assert data_files(again, "") == before
        assert again.tree("") == sorted(before), "and nothing else"
        assert (sorted(rebuilt.same), rebuilt.other, rebuilt.changed_batches) == (sorted(before), (), {})
        assert rebuilt.manifest.version == version


@pytest.mark.slow  # two releases
def test_it_is_said_which_batches_are_no_longer_what_they_were(tables: Tables, target: DataRoot) -> None:
    finish(tables, "0001-a", {1: {}, 2: {}}, panels=2)
    finish(tables, "0002-b", {3: {}})
    finish(tables, "0003-c", {4: {}, 6: {}})
    make(tables)
    rows = tables.read("dataset_rows", "0001-a").to_dicts()
    rows[0]["subcaption_text"] = "Another one."
    rows[3]["panel_score"] = 0.1
    tables.write("dataset_rows", "0001-a", rows)
    tables.write("dataset_rows", "0003-c", tables.read("dataset_rows", "0003-c").tail(1))
    rebuilt = rebuild(tables, "1.0.0", target)
    assert rebuilt.changed_batches == {"0001-a": 2, "0003-c": 1}
    assert "pubmed_ophtha.parquet" in rebuilt.other
    assert "hub/withheld.parquet" in rebuilt.same
    assert set(rebuilt.same) & set(rebuilt.other) == set()


@pytest.mark.slow
def test_a_file_that_is_no_longer_made_counts_as_another(tables: Tables, target: DataRoot) -> None:
    finish(tables, "0001-a", {1: {}, 3: {}})  # 3 is a test article
    make(tables)
    rows = tables.read("dataset_rows", "0001-a")
    tables.write("dataset_rows", "0001-a", rows.filter(article_id=1))
    rebuilt = rebuild(tables, "1.0.0", target)
    assert {f"hub/data/{config}/test-00000.parquet" for config in ("panels", "figures", "articles")} <= set(
        rebuilt.other
    )
    assert rebuilt.changed_batches == {"0001-a": 1}


def test_an_article_that_a_batch_has_gained_since_is_not_taken(tables: Tables, target: DataRoot) -> None:
    finish(tables, "0001-a", {1: {}, 2: {"rows": 0}})
    make(tables)
    before = data_files(tables.data_root, "release/")
    finish(tables, "0002-b", {7: {}})
    assert rebuild(tables, "1.0.0", target).other == ()
    assert data_files(target, "") == before


def test_an_article_that_had_no_rows_then_is_no_part_of_that_release(tables: Tables, target: DataRoot) -> None:
    """Its batch was made again, and now there are some."""
    finish(tables, "0001-a", {1: {}, 2: {"rows": 0}})
    make(tables)
    before = data_files(tables.data_root, "release/")
    finish(tables, "0001-a", {1: {}, 2: {}})
    rebuilt = rebuild(tables, "1.0.0", target)
    assert (rebuilt.other, rebuilt.changed_batches) == ((), {})
    assert data_files(target, "") == before


def test_missing_pictures_are_named(tables: Tables, target: DataRoot) -> None:
    finish(tables, "0001-a", {1: {}})
    make(tables)
    ParquetPixels(tables.data_root, "panels", "0001-a").write(1, [])
    with pytest.raises(StorageError, match=r"batch 0001-a has dataset rows without a picture"):
        rebuild(tables, "1.0.0", target)
    assert target.tree("") == []


def test_a_release_that_never_was_is_named(tables: Tables, target: DataRoot) -> None:
    finish(tables, "0001-a", {1: {}})
    make(tables)
    with pytest.raises(StorageError, match=r"no release 1\.0\.1.*released are 1\.0\.0"):
        rebuild(tables, "1.0.1", target)


@pytest.mark.slow  # two releases
def test_the_present_release_is_not_touched(tables: Tables, target: DataRoot) -> None:
    finish(tables, "0001-a", {1: {}})
    make(tables)
    before = {name: tables.data_root.read(name) for name in tables.data_root.tree("")}
    rebuild(tables, "1.0.0", target)
    assert {name: tables.data_root.read(name) for name in tables.data_root.tree("")} == before
