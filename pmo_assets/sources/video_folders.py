"""Sources of lecture videos: a local folder, or a prefix of a bucket, as yt-dlp fills one.

`NAME.mp4` (or .webm, .mkv, .mov, .m4v) with `NAME.info.json` and `NAME.vtt` or `NAME.en.vtt` beside it. Nothing is
downloaded from anywhere else. Add here: other places where such files may lie. Keep out: what metadata mean
(`records.videos`), and which videos are wanted (`pipeline.videos.selection`).
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Final, Protocol
from urllib.parse import unquote_to_bytes

from pmo_assets.records.faults import is_exhausted, raise_fault
from pmo_assets.records.packages import (
    REGISTRATION_STAGE,
    ChecksumMismatch,
    FileMissing,
    FileTooLarge,
    Skipped,
    SourceError,
    UnreadableFile,
    UnreadableName,
)
from pmo_assets.records.rejections import ArticleError, Rejection, rejection_from
from pmo_assets.records.step_output import Row
from pmo_assets.records.stores import StorageError
from pmo_assets.records.videos import (
    LARGEST_METADATA,
    METADATA_SUFFIX,
    VIDEO_SUFFIXES,
    StatedVideo,
    UnreadableVideoMetadata,
    VideoFiles,
    captions_among,
    stated_video,
    video_digest,
    video_number,
)
from pmo_assets.sources.source_files import (
    NotAFile,
    entries_inside,
    open_inside,
    printable,
    read_inside,
    size_and_sha256,
)
from pmo_assets.storage.data_root import DataRoot

LARGEST_VIDEO: Final = 64 * 2**30
"""Bytes of a video; four hours in 4K have fewer."""

NO_VIDEO: Final = "no video, and nothing that belongs to one"
"""Why a file of a source is passed over."""

_CHUNK: Final = 1 << 22


class SameStem(ArticleError):
    """Two videos of a folder have one name but for its ending: their metadata cannot be told apart."""


class DuplicateVideo(ArticleError):
    """By its metadata a video is the same as another one of the folder, which counts."""


class VideoSource(VideoFiles, Protocol):
    """A folder of videos, wherever it lies."""

    @property
    def uri(self) -> str:
        """Address that a manifest keeps; `open_videos` gives the source back."""
        ...

    def names(self) -> list[str]:
        """Return the names of the files directly in the folder, sorted; hidden ones are left out.

        Raises:
            SourceError: if it cannot be listed.
        """
        ...

    def read(self, name: str, max_bytes: int) -> bytes:
        """Return a small file's bytes.

        Raises:
            ArticleError: if it is gone, larger, or cannot be read.
            SourceError: if the source gave out.
        """
        ...

    def size_and_sha256(self, name: str) -> tuple[int, str]:
        """Return a file's bytes and digest, without holding it in memory; errors as `read`."""
        ...


@dataclass(frozen=True)
class LocalVideos:
    """Videos of a folder of this machine; links are followed inside it only."""

    folder: Path

    @property
    def uri(self) -> str:
        """See `VideoSource`."""
        return Path(os.path.abspath(self.folder)).as_uri()

    def names(self) -> list[str]:
        """See `VideoSource`."""
        if not self.folder.is_dir():
            raise SourceError(f"{self.folder} is not a folder: give one that holds videos")
        try:
            entries = entries_inside(self.folder, ".")
        except (OSError, ArticleError) as error:
            raise SourceError(f"cannot list {self.folder}: {error}") from error
        return [entry.name for entry in entries if entry.kind != "folder" and not entry.name.startswith(".")]

    def read(self, name: str, max_bytes: int) -> bytes:
        """See `VideoSource`."""
        with self._told(name):
            return read_inside(self.folder, name, max_bytes)

    def size_and_sha256(self, name: str) -> tuple[int, str]:
        """See `VideoSource`."""
        with self._told(name):
            return size_and_sha256(self.folder, name, LARGEST_VIDEO)

    @contextmanager
    def as_file(self, name: str, sha256: str) -> Iterator[Path]:
        """See `VideoFiles`: the file where it lies, if it is still the one that was registered."""
        with self._told(name):
            found = size_and_sha256(self.folder, name, LARGEST_VIDEO)[1]
            _check_digest(name, sha256, found)
            with open_inside(self.folder, name) as held:
                place = Path(os.path.realpath(self.folder / name))
                if not os.path.samestat(os.fstat(held.fileno()), place.stat()):
                    raise NotAFile(f"{printable(name)} was changed while it was read")
        yield place

    @contextmanager
    def _told(self, name: str) -> Iterator[None]:
        """Tell a fault of the folder or the machine from one of the file."""
        try:
            yield
        except OSError as error:
            if is_exhausted(error) or not os.path.isdir(self.folder):
                raise SourceError(f"cannot read {self.folder}: {error.strerror or error}") from error
            if isinstance(error, FileNotFoundError):
                raise FileMissing(f"{printable(name)} is gone from {self.folder}") from None
            raise UnreadableFile(f"{printable(name)} cannot be read: {error.strerror or error}") from None


@dataclass(frozen=True)
class BucketVideos:
    """Videos below `s3://bucket/prefix`; one is copied to this machine's temporary folder while it is read."""

    root: DataRoot

    @property
    def uri(self) -> str:
        """See `VideoSource`."""
        return self.root.root.rstrip("/")

    def names(self) -> list[str]:
        """See `VideoSource`."""
        try:
            return self.root.keys("")
        except StorageError as error:
            raise SourceError(str(error)) from error

    def read(self, name: str, max_bytes: int) -> bytes:
        """See `VideoSource`."""
        return b"".join(self._pieces(name, max_bytes))

    def size_and_sha256(self, name: str) -> tuple[int, str]:
        """See `VideoSource`."""
        digest, size = hashlib.sha256(), 0
        for piece in self._pieces(name, LARGEST_VIDEO):
            digest.update(piece)
            size += len(piece)
        return size, digest.hexdigest()

    @contextmanager
    def as_file(self, name: str, sha256: str) -> Iterator[Path]:
        """See `VideoFiles`."""
        with tempfile.TemporaryDirectory(prefix="pmo-video-") as folder:
            place, digest = Path(folder) / f"video{PurePosixPath(name).suffix.lower()}", hashlib.sha256()
            with place.open("wb") as file:
                for piece in self._pieces(name, LARGEST_VIDEO):
                    digest.update(piece)
                    file.write(piece)
            _check_digest(name, sha256, digest.hexdigest())
            yield place

    def _pieces(self, name: str, most: int) -> Iterator[bytes]:
        try:
            facts = self.root.facts(name)
        except StorageError as error:
            raise SourceError(str(error)) from error
        if facts is None:
            raise FileMissing(f"{name} is gone from {self.uri}")
        if facts.size > most:
            raise FileTooLarge(f"{name} has {facts.size / 2**20:,.0f} MiB, the limit is {most / 2**20:,.0f} MiB")
        try:
            with self.root.open_random(name) as stream:
                while piece := stream.read(_CHUNK):
                    yield bytes(piece)
        except (OSError, StorageError) as error:
            raise SourceError(f"cannot read {self.uri}/{name}: {error}") from error


def _check_digest(name: str, stated: str, found: str) -> None:
    if found != stated:
        raise ChecksumMismatch(f"{printable(name)} is another file than was registered: register its folder again")


def open_videos(uri: str, endpoint: str | None = None) -> VideoSource:
    """Return the source of videos that a manifest names, or a person.

    Args:
        uri: path, `file://…` or `s3://bucket/prefix`.
        endpoint: of an S3-compatible server other than AWS.

    Raises:
        SourceError: for a kind of source that this version does not know.
    """
    scheme, separator, rest = uri.partition("://")
    if not separator:
        return LocalVideos(Path(uri))
    if scheme == "file":
        return LocalVideos(Path(os.fsdecode(unquote_to_bytes(rest))))
    if scheme == "s3":
        return BucketVideos(DataRoot(uri, endpoint))
    raise SourceError(f"cannot open the source of videos {uri}: this version reads folders and s3://")


@dataclass(frozen=True)
class VideoOpener:
    """`open_videos` with an endpoint; small enough to travel to worker processes."""

    endpoint: str | None = None

    def __call__(self, uri: str) -> VideoSource:
        """Return the source that a manifest names; see `open_videos`."""
        return open_videos(uri, self.endpoint)


def video_listings(source: VideoSource) -> Iterator[Row | Rejection | Skipped]:
    """Yield a row of `video_batch` for every video of a source, by name, or its rejection, then what is passed over.

    Raises:
        SourceError: if the source cannot be read, or holds no video.
    """
    names = source.names()
    videos = [name for name in names if PurePosixPath(name).suffix.lower() in VIDEO_SUFFIXES]
    if not videos:
        raise SourceError(
            f"{source.uri} holds no video: files that end in {', '.join(VIDEO_SUFFIXES)} are looked for directly in it"
        )
    used = set(videos)
    seen: dict[int, str] = {}
    for name in videos:
        stem = PurePosixPath(name).stem
        beside = [item for item in (f"{stem}{METADATA_SUFFIX}", captions_among(stem, names)) if item in names]
        used.update(item for item in beside if item is not None)
        try:
            twins = [other for other in videos if PurePosixPath(other).stem == stem]
            if len(twins) > 1:
                raise SameStem(f"{', '.join(map(printable, twins))} have one name: rename all but one")
            row = _listing(source, name, stem, names)
            if (other := seen.setdefault(row["video_id"], name)) != name:
                raise DuplicateVideo(f"{name} is the same video as {other} by its metadata: take one of them away")
            yield row
        except Exception as error:
            raise_fault(error)
            yield _not_registered(source, name, error)
    for name in names:
        if name not in used:
            yield Skipped(printable(name), NO_VIDEO)


def _not_registered(source: VideoSource, name: str, error: BaseException) -> Rejection:
    number = video_number(f"{source.uri}/{printable(name)}")
    found = replace(rejection_from(error, stage=REGISTRATION_STAGE, unit_id=number), owner=printable(name))
    shown = printable(name)
    return found if found.message.startswith(shown) else replace(found, message=f"{shown}: {found.message}")


def _listing(source: VideoSource, name: str, stem: str, names: list[str]) -> Row:
    if printable(name) != name:
        raise UnreadableName(f"{printable(name)}: the name is not UTF-8: rename the file")
    metadata, captions = f"{stem}{METADATA_SUFFIX}", captions_among(stem, names)
    stated, problem = StatedVideo(), None
    if metadata in names:
        try:
            stated = stated_video(source.read(metadata, LARGEST_METADATA))
        except FileTooLarge as error:
            raise UnreadableVideoMetadata(f"{metadata} cannot be read: {error}") from error
    else:
        problem = f"no {metadata} lies beside it"
    size, sha256 = source.size_and_sha256(name)
    captions_sha256 = None if captions is None else source.size_and_sha256(captions)[1]
    facts: dict[str, Any] = {
        "title": stated.title, "description": stated.description, "tags": list(stated.tags), "channel": stated.channel,
        "people": list(stated.people), "stated_seconds": stated.seconds, "license_statement": stated.license,
        "url": stated.url, "published": stated.published,
    }  # fmt: skip
    return {
        "video_id": video_number(stated.place or f"{source.uri}/{name}"),
        "name": name,
        "source": source.uri,
        "digest": video_digest(sha256, captions_sha256, stated),
        "size": size,
        "sha256": sha256,
        "captions": captions,
        "captions_sha256": captions_sha256,
        "place": stated.place,
        "problem": problem,
        **facts,
    }
