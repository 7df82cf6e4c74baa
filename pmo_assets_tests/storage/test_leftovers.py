"""What nobody refers to is found, on disk and on S3, and nothing that somebody does."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path

import pytest

from pmo_assets.records.packages import PackageFile, PackageListing
from pmo_assets.records.stores import Picture
from pmo_assets.records.units import ARTICLE, VIDEO
from pmo_assets.storage.batches import manifest_rows
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.leftovers import (
    KnownLayout,
    foreign_tables,
    half_written,
    old_answers,
    old_versions,
    unused_objects,
    unused_pictures,
)
from pmo_assets.storage.manifests import Manifests
from pmo_assets.storage.objects import ContentStore
from pmo_assets.storage.parquet import parquet_bytes
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.removed import remove_batch, restore_batch
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.articles import ArticleBatch
from pmo_assets.tables.schemas import checked
from pmo_assets.tables.videos import VideoBatch

LAYOUT = KnownLayout(
    ["article_packages", "pdf_figures", "panels", "videos"],
    {"figures": "article_packages", "keyframes": "videos"},
    (ARTICLE, VIDEO),
)
BATCH, WAITING, GONE = "0001-aaaaaaaa", "0002-bbbbbbbb", "0007-cccccccc"
LATER = 3600.0
PICTURE = Picture("k", 1, 1, b"x")


def md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def package(number: int, content: bytes) -> PackageListing:
    file = PackageFile("pdf", f"{number}.pdf", len(content), None, md5(content))
    return PackageListing(
        article_id=number, name=f"PMC{number}", version=1, digest=f"{number:064d}", license_code="CC BY",
        is_retracted=False, title=None, citation=None, files=(file,), problems=(),
    )  # fmt: skip


@pytest.fixture
def root(data_root: DataRoot) -> DataRoot:
    """A batch with an article that is processed, a batch that waits, and what neither needs."""
    for batch, listing in ((BATCH, package(1, b"one")), (WAITING, package(2, b"two"))):
        manifest = checked(ArticleBatch, manifest_rows([listing], "file:///x"))
        data_root.write(f"manifests/{batch}.parquet", parquet_bytes(manifest))
    objects = ContentStore(data_root)
    row = {
        "article_id": 1, "name": "PMC1", "version": 1, "license_code": "CC BY", "is_retracted": False, "title": None,
        "citation": None, "doi": None, "is_manuscript": False, "pdf": objects.put(b"one", ".pdf"), "xml": None,
        "figure_files": [{"name": "a.jpg", "key": objects.put(b"picture", ".jpg")}], "license_unknown": False,
    }  # fmt: skip
    tables = Tables(data_root)
    tables.write("article_packages", BATCH, [row])
    tables.write_rejections("article_packages", BATCH, [])
    tables.write_registration_rejections("file:///x", [])
    ParquetPixels(data_root, "figures", BATCH).write(1, [PICTURE])
    objects.put(b"two", ".pdf", md5(b"two"))  # a run was killed before the batch that waits had its table
    objects.put(b"{}", ".json", md5(b"{}"))
    return data_root


def everything(data_root: DataRoot, before: float) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    ways = (half_written(data_root, before), foreign_tables(data_root, LAYOUT, before))
    for way in (*ways, unused_pictures(data_root, LAYOUT, before), unused_objects(data_root, before)):
        for item in way:
            found.setdefault(item.kind, []).append(item.file.key)
    return found


def test_nothing_that_is_in_use_is_a_leftover(root: DataRoot) -> None:
    assert everything(root, time.time() + LATER) == {}


@pytest.mark.slow
def test_tables_and_pictures_of_videos_are_in_use_as_long_as_their_batch_is_registered(root: DataRoot) -> None:
    nothing = dict.fromkeys(name for name, column in VideoBatch.columns().items() if column.nullable)
    own = {"video_id": 7, "name": "a.mp4", "source": "x", "digest": "d", "size": 1, "sha256": "s", "tags": []}
    ((batch, _),) = Manifests(root, VIDEO).add([own | {"people": []} | nothing], size=1)
    video = {"video_id": 7, "name": "a.mp4", "is_selected": True, "reason": "", "license": None, "license_url": None}
    Tables(root).write("videos", batch, [video | {"commercial_use": False, "withheld": True, "attribution": ""}])
    ParquetPixels(root, "keyframes", batch).write(7, [PICTURE])
    assert everything(root, time.time() + LATER) == {}
    ParquetPixels(root, "keyframes", batch).write(8, [PICTURE])
    remove_batch(root, batch, VIDEO)
    found = everything(root, time.time() + LATER)
    assert sorted(found["of batches that are not registered"]) == [
        f"pixels/keyframes/{batch}/7.parquet", f"pixels/keyframes/{batch}/8.parquet", f"tables/videos/{batch}.parquet",
    ]  # fmt: skip


def test_what_nobody_refers_to_is_found(root: DataRoot) -> None:
    unused = ContentStore(root).put(b"nobody's", ".pdf")
    tables = Tables(root)
    tables.write("article_packages", GONE, tables.read("article_packages", BATCH))
    root.write(f"tables/of_before/{BATCH}.parquet", b"x")
    ParquetPixels(root, "figures", BATCH).write(9, [PICTURE])
    ParquetPixels(root, "thumbnails", BATCH).write(1, [PICTURE])
    assert everything(root, time.time() + LATER) == {
        "of batches that are not registered": [f"tables/article_packages/{GONE}.parquet"],
        "of assets that there are no more": [
            f"tables/of_before/{BATCH}.parquet",
            f"pixels/thumbnails/{BATCH}/1.parquet",
        ],
        "pictures of articles that left their table": [f"pixels/figures/{BATCH}/9.parquet"],
        "objects that nothing refers to": [unused],
    }


def test_what_is_young_is_left_alone(root: DataRoot) -> None:
    ContentStore(root).put(b"nobody's", ".pdf")
    root.write(f"tables/of_before/{BATCH}.parquet", b"x")
    assert everything(root, time.time() - LATER) == {}


@pytest.mark.slow
def test_files_of_a_removed_batch_go_at_one_time_and_not_at_once(root: DataRoot) -> None:
    """Who restores a batch finds all that its tables name, or no tables."""
    Tables(root).write_rejections("pdf_figures", BATCH, [])
    packages = Tables(root).read("article_packages", BATCH).to_dicts()[0]
    objects = {packages["pdf"], packages["figure_files"][0]["key"]}
    remove_batch(root, BATCH)
    young = min(file.written for file in root.files("removed")) - 0.001
    assert everything(root, young) == {}, "also of files that are older than the mark"
    found = everything(root, time.time() + LATER)
    assert set(found.pop("objects that nothing refers to")) == objects
    assert {name.split("/")[0] for name in found["of batches that are not registered"]} == {
        "tables", "rejections", "pixels"
    }  # fmt: skip
    restore_batch(root, BATCH)
    assert everything(root, time.time() + LATER) == {}


def test_pictures_without_a_table_are_those_of_a_run_that_goes_on(root: DataRoot) -> None:
    ParquetPixels(root, "figures", WAITING).write(2, [PICTURE])
    assert everything(root, time.time() + LATER) == {}


def test_half_written_files_are_found_wherever_they_are(tmp_path: Path) -> None:
    (tmp_path / "objects" / "ab").mkdir(parents=True)
    (tmp_path / "objects" / "ab" / ".x.pdf.123-host-1.part").write_bytes(b"12345")
    (item,) = half_written(DataRoot(str(tmp_path)), time.time() + LATER)
    assert (item.file.key, item.file.size) == ("objects/ab/.x.pdf.123-host-1.part", 5)


def test_answers_of_models_that_are_not_set(root: DataRoot) -> None:
    for number, model in enumerate(["qwen", "of before"]):
        root.write(f"answers/aa/{number}.json", json.dumps({"model": model, "text": ""}).encode())
    root.write("answers/aa/9.json", b"damaged")
    assert [item.file.key for item in old_answers(root, ["qwen"], time.time() + LATER)] == ["answers/aa/1.json"]


def test_the_newest_versions_stay(root: DataRoot) -> None:
    for version in ("1.0.0", "1.9.0", "1.10.0"):
        root.write(f"release/versions/{version}/manifest.json", b"{}")

    def sequence(name: str) -> tuple[int, ...]:
        return tuple(map(int, name.split(".")))

    assert [item.file.key for item in old_versions(root, 2, sequence)] == ["release/versions/1.0.0/manifest.json"]
    assert len(list(old_versions(root, 0, sequence))) == 2, "one stays whatever is said"
