"""Packages come into the object store whole, with what is wrong recorded."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from pmo_assets.pipeline.articles.fetching import FetchLimits, fetch_package
from pmo_assets.records.memory_stores import MemoryObjects
from pmo_assets.records.packages import SourceError
from pmo_assets.sources.local import LocalFolder
from pmo_assets.sources.opening import open_source
from pmo_assets.sources.package_folders import list_package


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    package = tmp_path / "PMC7"
    (package / "figures").mkdir(parents=True)
    (package / "article.pdf").write_bytes(b"%PDF pdf")
    (package / "article.xml").write_bytes(b"<article/>")
    (package / "figures" / "g1.jpg").write_bytes(b"jpeg")
    return tmp_path


def manifest_row(folder: Path) -> dict[str, Any]:
    listing = list_package(folder / "PMC7", folder)
    assert listing is not None
    return {**asdict(listing), "files": [asdict(item) for item in listing.files]}


def test_files_are_stored_by_role(folder: Path) -> None:
    objects = MemoryObjects({})
    output = fetch_package(manifest_row(folder), LocalFolder(folder), objects, FetchLimits())
    (row,) = output.rows
    assert objects.get(row["pdf"]) == b"%PDF pdf"
    assert objects.get(row["xml"]) == b"<article/>"
    assert [item["name"] for item in row["figure_files"]] == ["g1.jpg"]
    assert output.rejections == []


def test_a_file_that_changed_since_registration_is_rejected_and_the_rest_goes_on(folder: Path) -> None:
    row = manifest_row(folder)
    (folder / "PMC7" / "article.pdf").write_bytes(b"another")
    output = fetch_package(row, LocalFolder(folder), MemoryObjects({}), FetchLimits())
    assert [item.error_class for item in output.rejections] == ["ChecksumMismatch"]
    assert output.rows[0]["pdf"] is None
    assert output.rows[0]["xml"] is not None


def test_a_picture_that_is_missing_concerns_its_figure_only(folder: Path) -> None:
    row = manifest_row(folder)
    (folder / "PMC7" / "figures" / "g1.jpg").unlink()
    (rejection,) = fetch_package(row, LocalFolder(folder), MemoryObjects({}), FetchLimits()).rejections
    assert rejection.part == "g1"


def test_a_file_above_the_limit_is_not_read(folder: Path) -> None:
    output = fetch_package(manifest_row(folder), LocalFolder(folder), MemoryObjects({}), FetchLimits(max_pdf_bytes=3))
    assert [item.error_class for item in output.rejections] == ["FileTooLarge"]


def test_a_source_that_is_gone_is_systemic(folder: Path, tmp_path: Path) -> None:
    row = manifest_row(folder)
    with pytest.raises(SourceError):
        fetch_package(row, LocalFolder(tmp_path / "gone"), MemoryObjects({}), FetchLimits())


def test_a_source_is_reopened_from_what_the_manifest_says(folder: Path) -> None:
    odd = folder / "a folder with % and ü"
    (folder / "PMC7").rename(odd)
    source = open_source(LocalFolder(folder).uri)
    assert source.read(f"{odd.name}/article.xml") == b"<article/>"
    with pytest.raises(SourceError, match="gopher"):
        open_source("gopher://somewhere")


def test_sources_without_packages_say_what_is_expected(tmp_path: Path) -> None:
    def names() -> Iterator[str]:
        yield from (str(item) for item in LocalFolder(tmp_path).listings())

    with pytest.raises(SourceError, match=r"article\.pdf"):
        list(names())


def test_objects_in_memory_are_what_was_put() -> None:
    objects = MemoryObjects({})
    content = b"x" * 10
    assert hashlib.sha256(objects.get(objects.put(content, ".bin"))).digest() == hashlib.sha256(content).digest()
