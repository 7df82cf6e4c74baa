"""Batches never change, and nothing is registered twice."""

from __future__ import annotations

from pmo_assets.records.packages import PackageFile, PackageListing
from pmo_assets.storage.batches import manifest_rows, new_batches
from pmo_assets.storage.manifests import batch_key, in_sequence


def listing(article_id: int, content: str = "a", version: int = 1) -> PackageListing:
    file = PackageFile("pdf", f"PMC{article_id}/article.pdf", 3, content * 64)
    return PackageListing(article_id, f"PMC{article_id}", version, "CC BY", False, None, None, (file,), content * 64)


def keys(*found: tuple[str, list[PackageListing]]) -> list[tuple[str, list[int]]]:
    return [(key.split("-")[0], [item.article_id for item in group]) for key, group in found]


def test_packages_are_grouped_in_order_of_their_number() -> None:
    found = new_batches([listing(3), listing(1), listing(2)], registered=[], existing_keys=[], size=2)
    assert keys(*found) == [("0001", [1, 2]), ("0002", [3])]


def test_what_is_registered_is_not_registered_again() -> None:
    known = [(1, 1, "a" * 64), (2, 1, "a" * 64)]
    assert list(new_batches([listing(1), listing(2)], registered=known, existing_keys=["0001-aa"], size=10)) == []


def test_a_changed_package_goes_into_a_new_batch() -> None:
    known = [(1, 1, "a" * 64), (2, 1, "a" * 64)]
    found = new_batches([listing(1, "b"), listing(2)], registered=known, existing_keys=["0007-aa"], size=10)
    assert keys(*found) == [("0008", [1])]


def test_a_change_that_is_taken_back_is_registered_again() -> None:
    history = [(1, 1, "a" * 64), (1, 1, "b" * 64)]
    assert keys(*new_batches([listing(1, "a")], registered=history, existing_keys=["0002-aa"], size=10)) == [
        ("0003", [1])
    ]


def test_an_older_version_in_another_folder_is_not_registered_twice() -> None:
    history = [(1, 1, "a" * 64), (1, 2, "b" * 64)]
    assert list(new_batches([listing(1, "a")], registered=history, existing_keys=["0002-aa"], size=10)) == []


def test_batches_are_ordered_by_number_and_not_by_text() -> None:
    assert in_sequence(["10000-a", "9999-b", "0002-c"]) == ["0002-c", "9999-b", "10000-a"]


def test_the_key_says_what_the_batch_holds() -> None:
    assert batch_key(1, [(1, "a")]) != batch_key(1, [(1, "b")])
    assert batch_key(1, [(1, "a")]) == batch_key(1, [(1, "a")])


def test_manifest_rows_name_their_source() -> None:
    (row,) = manifest_rows([listing(1)], "file:///articles")
    assert row["source"] == "file:///articles"
    assert row["files"] == [{"role": "pdf", "path": "PMC1/article.pdf", "size": 3, "sha256": "a" * 64, "md5": None}]
