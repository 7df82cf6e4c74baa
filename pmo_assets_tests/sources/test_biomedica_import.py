"""What is kept of BIOMEDICA below the data root: each file is read once, and again only when it must be."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from pmo_assets.records.packages import SourceError
from pmo_assets.sources.biomedica import LocalCopy
from pmo_assets.sources.biomedica_import import ImportedFigures, imported_figures
from pmo_assets.storage.data_root import DataRoot
from pmo_assets_tests.sources.biomedica_set import LABELS, SetRow, add_member, write_parquet, write_tar


def row(article_id: int, name: str) -> SetRow:
    return SetRow(article_id, name, f"Caption of {name}.", None, random.Random(name).choice(LABELS), "", None)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A tar and a Parquet file: articles 1 and 2, and 1 and 3."""
    folder = tmp_path / "copy"
    folder.mkdir()
    write_tar(folder / "a.tar", [row(1, "f1"), row(2, "f1"), row(1, "f2")])
    write_parquet(folder / "b.parquet", [row(1, "f3"), row(3, "f1")], pictures=False)
    return folder


def imported(copy: Path, tmp_path: Path, articles: set[int], registered: set[int]) -> ImportedFigures:
    return imported_figures(LocalCopy(copy), DataRoot(str(tmp_path / "data")), articles, lambda: registered)


def names(found: ImportedFigures) -> list[tuple[int, str]]:
    return [(item["article_id"], item["image_cluster_id"]) for item in found.figures]


def test_files_are_read_once_for_all_registered_articles(copy: Path, tmp_path: Path) -> None:
    first = imported(copy, tmp_path, {1}, {1, 2})
    assert names(first) == [(1, "f1"), (1, "f2"), (1, "f3")]
    assert (first.files, first.read) == (2, 2)
    second = imported(copy, tmp_path, {2}, {1, 2})
    assert names(second) == [(2, "f1")]
    assert second.read == 0
    assert imported(copy, tmp_path, {1}, {1, 2}).figures == first.figures


def test_a_new_article_asks_only_for_the_files_that_have_it(copy: Path, tmp_path: Path) -> None:
    imported(copy, tmp_path, {1, 2}, {1, 2})
    third = imported(copy, tmp_path, {3, 4}, {1, 2, 3, 4})
    assert names(third) == [(3, "f1")]
    assert third.read == 1
    again = imported(copy, tmp_path, {1, 3}, set())
    assert (len(again.figures), again.read) == (4, 0), "what was kept before is kept"


def test_a_changed_file_is_read_anew(copy: Path, tmp_path: Path) -> None:
    imported(copy, tmp_path, {1}, {1})
    write_tar(copy / "a.tar", [row(1, "f9")])
    found = imported(copy, tmp_path, {1}, {1})
    assert names(found) == [(1, "f9"), (1, "f3")]
    assert found.read == 1


def test_an_import_that_ends_early_goes_on_where_it_was(copy: Path, tmp_path: Path) -> None:
    whole = (copy / "b.parquet").read_bytes()
    (copy / "b.parquet").write_bytes(whole[:100])
    with pytest.raises(SourceError, match=r"b\.parquet"):
        imported(copy, tmp_path, {1}, {1})
    (copy / "b.parquet").write_bytes(whole)
    found = imported(copy, tmp_path, {1}, {1})
    assert (len(found.figures), found.read) == (3, 1)


def test_the_same_copy_gives_the_same_bytes(copy: Path, tmp_path: Path) -> None:
    def files(root: Path) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (root / "data").rglob("*.parquet")}

    imported(copy, tmp_path / "one", {1, 2}, {1, 2, 3})
    imported(copy, tmp_path / "two", {3}, {1, 2, 3})
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert len(files(tmp_path / "one")) == 2


def test_malformed_rows_are_kept_with_their_article_or_counted(tmp_path: Path) -> None:
    import json
    import tarfile

    facts: dict[str, Any] = row(1, "f1").facts()
    folder = tmp_path / "copy"
    folder.mkdir()
    with tarfile.open(folder / "a.tar", "w") as tar:
        add_member(tar, "x.json", b"{")
        add_member(tar, "y.json", json.dumps({**facts, "image_primary_label": 3}).encode())
        add_member(tar, "y.txt", b"OCT.")
        add_member(tar, "z.json", json.dumps(facts).encode())
        add_member(tar, "z.txt", b"OCT.")
    for _ in range(2):  # read, and kept
        found = imported(folder, tmp_path, {1}, {1})
        assert [(item.row_id, item.article_id) for item in found.malformed] == [("a.tar#1", 1)]
        assert (found.lost, found.example.partition(":")[0], len(found.figures)) == (1, "a.tar#0", 1)
