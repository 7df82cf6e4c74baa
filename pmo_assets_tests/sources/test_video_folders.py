"""Folders of videos, local and in a bucket: what is registered, passed over and refused, and what is read of it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pmo_assets.records.packages import ChecksumMismatch, FileMissing, Skipped, SourceError
from pmo_assets.records.rejections import Rejection
from pmo_assets.records.step_output import Row
from pmo_assets.records.units import VIDEO
from pmo_assets.sources.source_files import OutsideSource
from pmo_assets.sources.video_folders import LocalVideos, VideoSource, open_videos, video_listings
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.manifests import Manifests
from pmo_assets_tests.storage.conftest import s3_endpoint

__all__ = ["s3_endpoint"]

FILES: dict[str, bytes] = {
    "a.mp4": b"video a",
    "a.info.json": json.dumps({"title": "Drusen", "license": "CC BY 4.0", "channel": "Eye Channel"}).encode(),
    "a.en.vtt": b"WEBVTT",
    "b.MKV": b"video b",
    "notes.txt": b"?",
    ".hidden.mp4": b"half",
}


def listed(source: VideoSource) -> tuple[dict[str, Row], dict[str, str], list[str]]:
    """Return rows by name, classes of rejections by name, and what is passed over."""
    items = list(video_listings(source))
    rejected = {item.owner or "": item.error_class for item in items if isinstance(item, Rejection)}
    rows = {item["name"]: item for item in items if not isinstance(item, Rejection | Skipped)}
    return rows, rejected, [item.path for item in items if isinstance(item, Skipped)]


@pytest.fixture(params=["local", "s3"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VideoSource]:
    if request.param == "local":
        for name, content in FILES.items():
            (tmp_path / name).write_bytes(content)
        yield open_videos(str(tmp_path))
        return
    endpoint = request.getfixturevalue("s3_endpoint")
    uri = f"s3://bucket/{tmp_path.name}-{os.getpid()}"
    for name, content in FILES.items():
        DataRoot(uri, endpoint).write(name, content)
    yield open_videos(uri, endpoint)


def test_a_folder_is_registered_with_what_lies_beside_its_videos(source: VideoSource) -> None:
    rows, rejected, skipped = listed(source)
    assert (list(rows), rejected, skipped) == (["a.mp4", "b.MKV"], {}, ["notes.txt"])
    a, b = rows.values()
    assert (a["title"], a["license_statement"], a["channel"], a["people"]) == (
        "Drusen", "CC BY 4.0", "Eye Channel", ["Eye Channel"],
    )  # fmt: skip
    assert (a["captions"], a["sha256"], a["size"]) == ("a.en.vtt", hashlib.sha256(b"video a").hexdigest(), 7)
    assert (b["captions"], b["title"], b["problem"]) == (None, None, "no b.info.json lies beside it")
    assert a["source"] == source.uri


def test_a_file_is_given_as_it_was_registered_or_not_at_all(source: VideoSource) -> None:
    with source.as_file("a.mp4", hashlib.sha256(b"video a").hexdigest()) as path:
        assert path.read_bytes() == b"video a"
    with pytest.raises(ChecksumMismatch), source.as_file("a.mp4", "0"):
        pass
    with pytest.raises(FileMissing), source.as_file("c.mp4", "0"):
        pass


def test_an_empty_place_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    for place in (tmp_path, tmp_path / "none"):
        with pytest.raises(SourceError):
            list(video_listings(LocalVideos(place)))
    with pytest.raises(SourceError, match="this version reads"):
        open_videos("ftp://example.org")


def test_what_cannot_be_told_apart_or_read_is_refused_by_name_and_the_others_are_registered(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a.mp4", "twin.mp4", "twin.webm", "dark.mp4", "first.mp4", "second.mp4"):
        (folder / name).write_bytes(name.encode())
    for name in ("first", "second"):
        (folder / f"{name}.info.json").write_text('{"id": "x", "extractor": "youtube"}')
    (folder / "dark.info.json").write_text("{")
    (tmp_path / "secret.mp4").write_bytes(b"secret")
    (folder / "out.mp4").symlink_to(tmp_path / "secret.mp4")
    (folder / "gone.mp4").symlink_to(tmp_path / "nowhere.mp4")
    rows, rejected, _ = listed(LocalVideos(folder))
    assert list(rows) == ["a.mp4", "first.mp4"]
    assert rejected == {
        "dark.mp4": "UnreadableVideoMetadata", "gone.mp4": "NotAFile", "out.mp4": "OutsideSource",
        "second.mp4": "DuplicateVideo", "twin.mp4": "SameStem", "twin.webm": "SameStem",
    }  # fmt: skip
    with pytest.raises(OutsideSource), LocalVideos(folder).as_file("out.mp4", "0"):
        pass


def test_a_changed_video_makes_a_new_batch_and_an_unchanged_one_none(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a.mp4", "b.mp4"):
        (folder / name).write_bytes(name.encode())
    manifests = Manifests(DataRoot(str(tmp_path / "data")), VIDEO)

    def added() -> list[list[str]]:
        keys = manifests.add(list(listed(LocalVideos(folder))[0].values()), size=10)
        return [manifests.manifest(key)["name"].to_list() for key, _ in keys]

    assert [sorted(names) for names in added()] == [["a.mp4", "b.mp4"]]
    assert added() == []
    (folder / "a.info.json").write_text('{"license": "CC BY 4.0"}')
    assert added() == [["a.mp4"]]
