"""What is deleted as a leftover is none when it goes: whatever happens between the look and the deleting.

Objects that lay unreferenced for days are used again by a run that registers the same content; `pmo clean` beside it
had looked before, and deleted all of them.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pmo_assets.storage import leases, leftovers, objects
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.leases import LeaseTaken, clearing, held_below, holding, take
from pmo_assets.storage.leftovers import Leftover, delete, old_versions, unused_objects, unused_pictures
from pmo_assets.storage.objects import ContentStore
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.tables import Tables
from pmo_assets_tests.storage.test_leftovers import BATCH, LATER, LAYOUT, PICTURE, package

CONTENT, SUFFIX = b"%PDF of an article", ".pdf"


def row(key: str) -> dict[str, object]:
    return {
        "article_id": 1, "name": "PMC1", "version": 1, "license_code": "CC BY", "is_retracted": False, "title": None,
        "citation": None, "doi": None, "is_manuscript": False, "pdf": key, "xml": None, "figure_files": [],
        "license_unknown": False,
    }  # fmt: skip


def run(data_root: DataRoot) -> str:
    """Do what a run does with a package: take the batch, put its files, write the table; return the object."""
    ((batch, _),) = BatchRegistry(data_root).add_listings("file:///x", [package(1, CONTENT)], 10) or [(BATCH, 1)]
    with holding(data_root, f"batches/{batch}", "a run"):
        key = ContentStore(data_root).put(CONTENT, SUFFIX)
        Tables(data_root).write("article_packages", batch, [row(key)])
    return key


def deleted(data_root: DataRoot, found: list[Leftover]) -> tuple[list[str], list[str]]:
    """Return what was deleted, and why something was left alone."""
    busy: list[str] = []
    items = delete(data_root, found, is_over=lambda _: False, busy=lambda _, error: busy.append(str(error)))
    return [item.file.key for item in items], busy


@pytest.fixture
def unused(data_root: DataRoot) -> str:
    """An object that nothing refers to; it counts as old."""
    return ContentStore(data_root).put(CONTENT, SUFFIX)


def looked(data_root: DataRoot) -> list[Leftover]:
    found = list(unused_objects(data_root, time.time() + LATER))
    assert len(found) == 1
    return found


def test_what_nothing_refers_to_goes(data_root: DataRoot, unused: str) -> None:
    assert deleted(data_root, looked(data_root)) == ([unused], [])
    assert not data_root.exists(unused)
    assert held_below(data_root) == []


def test_a_run_between_look_and_deleting_keeps_its_objects(data_root: DataRoot, unused: str) -> None:
    found = looked(data_root)
    assert run(data_root) == unused
    assert deleted(data_root, found) == ([], [])
    assert ContentStore(data_root).get(unused) == CONTENT


@pytest.mark.slow
@pytest.mark.parametrize("checksum", ["sha256", "md5"])
def test_a_batch_that_is_registered_between_look_and_deleting_keeps_them_too(
    data_root: DataRoot, unused: str, checksum: str
) -> None:
    """Its run has not begun: only the manifest names them, by checksum."""
    found = looked(data_root)
    listing = package(1, CONTENT)
    if checksum == "sha256":
        files = (replace(listing.files[0], sha256=hashlib.sha256(CONTENT).hexdigest(), md5=None),)
        listing = replace(listing, files=files)
    else:
        ContentStore(data_root).put(CONTENT, SUFFIX, listing.files[0].md5)
    assert BatchRegistry(data_root).add_listings("file:///x", [listing], 10)
    assert deleted(data_root, found) == ([], [])
    assert list(unused_objects(data_root, time.time() + LATER)) == [], "nor does the next look find them"
    assert data_root.exists(unused)


@pytest.mark.slow
def test_a_run_that_begins_while_objects_are_deleted_waits_and_writes_them_anew(
    data_root: DataRoot, unused: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, order = looked(data_root), list[str]()
    original = DataRoot.delete

    def paused(self: DataRoot, key: str) -> None:
        if key == unused:
            runner.start()
            time.sleep(0.5)  # a run would have used the object by now
            order.append("deleted")
        original(self, key)

    def work() -> None:
        run(data_root)
        order.append("used again")

    runner = threading.Thread(target=work)
    monkeypatch.setattr(DataRoot, "delete", paused)
    assert deleted(data_root, found) == ([unused], [])
    runner.join()
    assert order == ["deleted", "used again"]
    assert ContentStore(data_root).get(unused) == CONTENT


def test_nothing_is_deleted_beside_a_run(data_root: DataRoot, unused: str) -> None:
    found = looked(data_root)
    with holding(data_root, "batches/0009-aaaaaaaa", "another machine's run"):
        gone, busy = deleted(data_root, found)
    assert gone == []
    assert "another machine's run" in busy[0]
    assert data_root.exists(unused)


@pytest.mark.slow  # waits for a lease to end
def test_who_was_stopped_while_deleting_finds_its_lease_gone(
    data_root: DataRoot, unused: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between its last look and the deleting a whole run comes and goes, as after SIGSTOP or a machine's sleep."""
    monkeypatch.setattr(leases, "LEASE", 2.0)
    monkeypatch.setattr(leases, "RENEWALS", 0.001)
    monkeypatch.setattr(leftovers, "SHORTLY", 0.5)
    (item,) = looked(data_root)

    def stopped(_: float) -> bool:
        run(data_root)  # waits until the lease has run out
        return True

    gone, busy = deleted(data_root, [Leftover(item.kind, item.file, item.lease, stopped)])
    assert gone == []
    assert "given back" in busy[0] or "went to" in busy[0]
    assert ContentStore(data_root).get(unused) == CONTENT


@pytest.mark.slow  # waits
def test_an_object_that_is_used_again_is_young_again(
    data_root: DataRoot, unused: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if data_root.is_local:
        before = time.time() - 2 * 86_400
        os.utime(Path(data_root.uri(unused)), (before, before))
    else:
        monkeypatch.setattr(objects, "YOUNG", 1.0)
        time.sleep(2.1)
    found, looked_at = looked(data_root), time.time()
    assert ContentStore(data_root).put(CONTENT, SUFFIX, "0" * 32) == unused
    assert list(unused_objects(data_root, looked_at - 1)) == []
    assert deleted(data_root, found) == ([], []), "nor does it go because of an earlier look"
    assert ContentStore(data_root).find("0" * 32, SUFFIX) == unused
    assert ContentStore(data_root).get(unused) == CONTENT


def test_pictures_that_a_run_writes_again_stay(data_root: DataRoot) -> None:
    BatchRegistry(data_root).add_listings("file:///x", [package(1, CONTENT)], 10)
    ((batch, _),) = BatchRegistry(data_root).sizes().items()
    Tables(data_root).write("article_packages", batch, [row("objects/x")])
    pixels = ParquetPixels(data_root, "figures", batch)
    for article in (8, 9):
        pixels.write(article, [PICTURE])

    def found() -> list[Leftover]:
        return list(unused_pictures(data_root, LAYOUT, time.time() + LATER))

    assert len(found()) == 2
    in_use = found()
    taken = take(data_root, f"batches/{batch}", "its run")
    gone, busy = deleted(data_root, in_use)
    assert gone == []
    assert "its run" in busy[0]
    Tables(data_root).write("article_packages", batch, [row("objects/x"), {**row("objects/y"), "article_id": 9}])
    taken.give_back()
    assert deleted(data_root, in_use) == ([], []), "the table is another one than it was"
    assert deleted(data_root, found()) == ([f"pixels/figures/{batch}/8.parquet"], [])


def test_facts_of_old_releases_go_when_nobody_makes_one(data_root: DataRoot) -> None:
    for version in ("1.0.0", "1.1.0"):
        data_root.write(f"release/versions/{version}/manifest.json", b"{}")
    found = list(old_versions(data_root, 1, lambda name: tuple(map(int, name.split(".")))))
    taken = take(data_root, "release", "a run")
    assert deleted(data_root, found)[0] == []
    taken.give_back()
    assert deleted(data_root, found)[0] == ["release/versions/1.0.0/manifest.json"]


@pytest.mark.slow
def test_the_lease_of_deleting_excludes_all_others_and_they_it(data_root: DataRoot) -> None:
    def began(wait: Callable[[], object]) -> float:
        begun = time.monotonic()
        wait()
        return time.monotonic() - begun

    with holding(data_root, "release", "a run"), pytest.raises(LeaseTaken, match="a run"):
        clearing(data_root, "pmo clean").__enter__()
    assert held_below(data_root) == []
    with clearing(data_root, "pmo clean") as lease:
        threading.Timer(0.5, lease.give_back).start()
        assert began(lambda: take(data_root, "release", "a run").give_back()) > 0.4
    assert began(lambda: take(data_root, "release", "a run").give_back()) < 0.4
    assert held_below(data_root) == []
