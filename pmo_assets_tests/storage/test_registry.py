"""The registry and the release: a manifest never changes, a newer version supersedes, a retraction removes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pmo_assets.records.stores import StorageError
from pmo_assets.release.selection import current_articles
from pmo_assets.sources.local import LocalFolder
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.tables import Tables


@pytest.fixture
def source(tmp_path: Path) -> Path:
    for number in (1, 2, 3):
        package = tmp_path / "source" / f"PMC{number}"
        package.mkdir(parents=True)
        (package / "article.pdf").write_bytes(f"%PDF {number}".encode())
    return tmp_path / "source"


@pytest.fixture
def registry(tmp_path: Path) -> BatchRegistry:
    return BatchRegistry(DataRoot(str(tmp_path / "data")))


def articles_of(registry: BatchRegistry, batch: str) -> list[int]:
    return registry.manifest(batch)["article_id"].to_list()


def test_packages_are_registered_once(registry: BatchRegistry, source: Path) -> None:
    (first, second) = registry.add(LocalFolder(source), size=2)
    assert (articles_of(registry, first[0]), articles_of(registry, second[0])) == ([1, 2], [3])
    assert registry.add(LocalFolder(source), size=2) == []
    assert registry.batches() == [first[0], second[0]]


def test_a_changed_package_goes_into_a_new_batch_and_the_old_manifest_stays(
    registry: BatchRegistry, source: Path
) -> None:
    (before,) = registry.add(LocalFolder(source), size=9)
    manifest = registry.data_root.read(f"manifests/{before[0]}.parquet")
    (source / "PMC2" / "article.pdf").write_bytes(b"%PDF corrected")
    (after,) = registry.add(LocalFolder(source), size=9)
    assert articles_of(registry, after[0]) == [2]
    assert registry.data_root.read(f"manifests/{before[0]}.parquet") == manifest


def test_a_retraction_alone_is_a_change(registry: BatchRegistry, source: Path) -> None:
    registry.add(LocalFolder(source), size=9)
    (source / "PMC3" / "metadata.json").write_text(json.dumps({"is_retracted": True}))
    (after,) = registry.add(LocalFolder(source), size=9)
    assert registry.manifest(after[0])["is_retracted"].to_list() == [True]


def test_another_package_of_the_same_version_is_listed_and_an_older_version_is_not(
    registry: BatchRegistry, source: Path
) -> None:
    for name, version in (("copy", 1), ("older", 1), ("PMC2.2", 2)):
        (source / name).mkdir()
        (source / name / "article.pdf").write_bytes(b"%PDF 1")
        stated = {"pmcid": "PMC1" if name == "copy" else "PMC2", "version": version}
        (source / name / "metadata.json").write_text(json.dumps(stated))
    shown = LocalFolder(source)
    (batch,) = registry.add(shown, size=9)
    assert registry.manifest(batch[0])["name"].to_list() == ["PMC1", "PMC2.2", "PMC3"]
    listed = registry.rejections(shown.uri)
    assert listed["error_class"].to_list() == ["DuplicatePackage"]
    assert listed["message"][0].startswith("copy is article 1 like PMC1")


def test_an_unknown_batch_is_named(registry: BatchRegistry) -> None:
    with pytest.raises(StorageError, match="0001-none"):
        registry.manifest("0001-none")


def finish(tables: Tables, batch: str, versions: dict[int, int]) -> None:
    """Write what `current_articles` looks at, as a processed batch leaves it."""
    rows = [
        {
            "article_id": number,
            "name": f"PMC{number}.{version}",
            "version": version,
            "is_retracted": False,
            "figure_files": [],
            "license_unknown": False,
        }
        for number, version in versions.items()
    ]
    tables.write("article_packages", batch, rows)
    tables.write("dataset_rows", batch, [])


def test_the_release_takes_the_highest_version_and_of_equals_the_later_batch(tmp_path: Path) -> None:
    tables = Tables(DataRoot(str(tmp_path)))
    finish(tables, "0001-a", {1: 1, 2: 2, 3: 1})
    finish(tables, "0002-b", {1: 2, 2: 1, 3: 1})
    assert current_articles(tables) == {"0001-a": [2], "0002-b": [1, 3]}


def test_a_batch_that_is_not_finished_does_not_supersede(tmp_path: Path) -> None:
    tables = Tables(DataRoot(str(tmp_path)))
    finish(tables, "0001-a", {1: 1})
    tables.write("article_packages", "0002-b", [])
    assert current_articles(tables) == {"0001-a": [1]}
