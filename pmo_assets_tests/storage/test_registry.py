"""The registry and the release: a manifest never changes, a newer version supersedes, a retraction removes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pmo_assets.records.stores import StorageError
from pmo_assets.release.selection import current_articles
from pmo_assets.sources.local import BESIDE_PACKAGES, NO_DOCUMENT, LocalFolder
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.registry import NO_PART, BatchRegistry
from pmo_assets.storage.removed import remove_batch, restore_batch
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


# what a source holds again


def state(source: Path, name: str, **stated: object) -> None:
    (source / name / "metadata.json").write_text(json.dumps(stated))


def test_old_metadata_add_nothing_when_they_come_again(registry: BatchRegistry, source: Path) -> None:
    look = LocalFolder(source)
    for code, batches in (("CC BY", 1), ("CC BY-NC-ND", 1), ("CC BY", 0), ("CC BY-NC-ND", 0), ("CC BY", 0)):
        state(source, "PMC2", license_code=code)
        registered = registry.register(registry.look_at(look), 9)
        assert len(registered.added) == batches, code
    assert [item.name for item in registered.said_before] == ["PMC2"]


def test_a_retraction_is_not_taken_back_by_what_was_said_before(registry: BatchRegistry, source: Path) -> None:
    for retracted in (False, True, False):
        state(source, "PMC2", is_retracted=retracted)
        registry.add(LocalFolder(source), 9)
    assert registry.manifest(registry.batches()[-1])["is_retracted"].to_list() == [True]


def test_files_that_are_put_back_are_registered_again(registry: BatchRegistry, source: Path) -> None:
    whole = (source / "PMC2" / "article.pdf").read_bytes()
    for content in (whole, b"%PDF broken", whole):
        (source / "PMC2" / "article.pdf").write_bytes(content)
        ((_, count),) = registry.add(LocalFolder(source), 9)
    assert count == 1


def test_an_older_copy_elsewhere_does_not_come_back_by_being_added_again(
    registry: BatchRegistry, source: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(source / "PMC2", copy / "PMC2")
    (copy / "PMC2" / "article.pdf").write_bytes(b"%PDF corrected")
    assert [count for _, count in registry.add(LocalFolder(source), 9)] == [3]
    assert [count for _, count in registry.add(LocalFolder(copy), 9)] == [1]
    registered = registry.register(registry.look_at(LocalFolder(source)), 9)
    assert (registered.added, [item.name for item in registered.said_before]) == ([], ["PMC2"])


def test_two_articles_of_one_name_are_two_articles(registry: BatchRegistry, tmp_path: Path) -> None:
    for place, doi in (("a", "10.1000/one"), ("b", "10.1000/two")):
        (tmp_path / place / "paper").mkdir(parents=True)
        (tmp_path / place / "paper" / "article.pdf").write_bytes(f"%PDF {place}".encode())
        state(tmp_path / place, "paper", doi=doi)
    (first,) = registry.add(LocalFolder(tmp_path / "a"), 9)
    second = registry.register(registry.look_at(LocalFolder(tmp_path / "b")), 9)
    rows = [registry.manifest(batch).row(0, named=True) for batch, _ in (first, *second.added)]
    assert rows[0]["article_id"] != rows[1]["article_id"]
    assert [row["doi"] for row in rows] == ["10.1000/one", "10.1000/two"]
    (said,) = second.same_name
    assert "paper has the name of another article" in said.message
    assert rows[1]["problems"][0]["message"] == said.message, "it is in the batch's rejections, too"
    assert registry.add(LocalFolder(tmp_path / "b"), 9) == []


# every file is accounted for


@pytest.mark.parametrize("loose", [False, True])
def test_a_manifest_says_what_was_seen_used_and_left_out(registry: BatchRegistry, tmp_path: Path, loose: bool) -> None:
    names = ["a.pdf", "a.xml", "a.json", "b.pdf", "b.xml", "c.docx", "deep/er/a.txt"]
    if not loose:
        names = [
            "PMC1/article.pdf", "PMC1/metadata.json", "PMC1/figures/f1.jpg", "PMC1/figures/notes.txt",
            "PMC1/supplement.docx", "PMC1/data/table.csv", "PMC1/.DS_Store", "PMC2/PMC2.xml", "PMC2/clip.mp4",
            "PMC3/a.pdf", "PMC3/b.pdf", "PMC3/c.pdf", "readme.txt", "stray.pdf", "none/notes.txt", ".git/config",
        ]  # fmt: skip
    for name in names:
        (tmp_path / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "source" / name).write_bytes(b"{}" if name.endswith(".json") else b"%PDF")
    ((batch, _),) = registry.add(LocalFolder(tmp_path / "source"), 9)
    totals = registry.totals(batch)
    assert totals is not None
    assert totals["seen"] == totals["used"] + sum(totals["left_out"].values())
    if loose:
        assert (totals["packages"], totals["used"]) == (2, 5)
        assert totals["left_out"] == {"NoArticle": 1, NO_DOCUMENT: 1}
    else:
        assert (totals["packages"], totals["used"]) == (2, 4)
        assert totals["left_out"] == {
            "NoArticle": 1, "UnclearDocuments": 1, BESIDE_PACKAGES: 1, NO_DOCUMENT: 1, NO_PART: 4
        }  # fmt: skip


def test_a_removed_batch_counts_no_more_and_comes_back_as_it_was(registry: BatchRegistry, source: Path) -> None:
    (first, _), (second, _) = registry.add(LocalFolder(source), size=2)
    tables = Tables(registry.data_root)
    for batch in (first, second):
        tables.write("dataset_rows", batch, [])
    remove_batch(registry.data_root, second)
    assert registry.batches() == tables.batches("dataset_rows") == list(registry.sizes()) == [first]
    with pytest.raises(StorageError, match=f"pmo batches restore {second}"):
        registry.manifest(second)
    restore_batch(registry.data_root, second)
    assert registry.batches() == tables.batches("dataset_rows") == [first, second]
    assert articles_of(registry, second) == [3]


def test_what_a_removed_batch_held_can_be_registered_again_in_a_place_of_its_own(
    registry: BatchRegistry, source: Path
) -> None:
    _, (second, _) = registry.add(LocalFolder(source), size=2)
    remove_batch(registry.data_root, second)
    ((third, count),) = registry.add(LocalFolder(source), size=2)
    assert (third.split("-")[0], count) == ("0003", 1)


def test_the_number_of_a_removed_article_is_given_to_no_other(registry: BatchRegistry, tmp_path: Path) -> None:
    """Its batch may come back; then one number would be two articles, and the later one would supersede the other."""
    for folder, doi in (("first", "10.1/a"), ("second", "10.1/b")):
        package = tmp_path / folder / "smith"
        package.mkdir(parents=True)
        (package / "smith.pdf").write_bytes(doi.encode())
        (package / "metadata.json").write_text(json.dumps({"doi": doi}))
    ((first, _),) = registry.add(LocalFolder(tmp_path / "first"), size=2)
    remove_batch(registry.data_root, first)
    ((second, _),) = registry.add(LocalFolder(tmp_path / "second"), size=2)
    ((again, _),) = registry.add(LocalFolder(tmp_path / "first"), size=2)
    restore_batch(registry.data_root, first)
    (one,), (other,), (same,) = (articles_of(registry, batch) for batch in (first, second, again))
    assert one == same != other


def test_articles_that_only_removed_batches_hold_are_known(registry: BatchRegistry, source: Path) -> None:
    _, (second, _) = registry.add(LocalFolder(source), size=2)
    assert registry.removed_articles() == frozenset()
    held = frozenset(articles_of(registry, second))
    remove_batch(registry.data_root, second)
    assert registry.removed_articles() == held
    registry.add(LocalFolder(source), size=2)
    assert registry.removed_articles() == frozenset()


def test_a_manifest_that_was_lost_is_made_good_from_its_claim(registry: BatchRegistry, source: Path) -> None:
    (first, _), (second, _) = registry.add(LocalFolder(source), size=2)
    root = registry.data_root
    before, told = root.read(f"manifests/{second}.parquet"), registry.totals(second)
    root.delete(f"manifests/{second}.parquet")
    assert articles_of(registry, second) == [3]
    assert root.read(f"manifests/{second}.parquet") == before
    assert registry.totals(second) == told
    root.delete(f"manifests/{second}.parquet")
    root.delete("claims/0002.parquet")
    assert registry.batches() == [first]
    with pytest.raises(StorageError, match=f"there is no batch {second}"):
        registry.manifest(second)


def test_a_batch_that_somebody_invented_is_refused_with_what_to_do(registry: BatchRegistry) -> None:
    with pytest.raises(StorageError, match=r"made by `pmo batches add`.*`pmo batches remove mine` takes its partition"):
        registry.manifest("mine")
