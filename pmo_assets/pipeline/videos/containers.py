"""Opening video files that cannot be trusted: containers, the time base, errors as reasons.

FFmpeg opens playlists, lists of other files, and addresses, whatever a file's name is: here only containers of the
kinds that lectures come in are opened, recognised by their first bytes, and nothing but the file itself is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from pmo_assets.records.faults import raise_fault
from pmo_assets.records.rejections import ArticleError
from pmo_assets.records.stores import SystemicError

INSTALL: Final = "pip install 'pmo-assets[video]'"
"""Command that installs what videos need."""

_FORMATS: Final = ("mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm")
_EBML: Final = b"\x1aE\xdf\xa3"
_BOXES: Final = (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip")
"""First boxes of MP4 and QuickTime files."""

_FREE: Final = 256 * 2**20
"""Bytes that can still be had where a file, and not the machine, is why FFmpeg got no memory."""

LARGEST_SIDE: Final = 8192
"""Pixels; a frame of more takes 200 MB, and no lecture has it."""


class UnreadableVideo(ArticleError):
    """The file is no video, or it is damaged."""


class NoPicture(ArticleError):
    """The file has no video stream, or not one frame can be decoded."""


class FrameTooLarge(ArticleError):
    """Frames have more pixels than are decoded here."""


class NotAFile(ArticleError):
    """There is no such file."""


def pyav() -> Any:
    """Return the module `av`.

    Raises:
        SystemicError: when it is not installed.
    """
    try:
        import av
        import av.error
    except ImportError as error:
        raise SystemicError(f"videos are decoded with PyAV: {INSTALL}") from error
    return av


def format_of(path: Path) -> str:
    """Return FFmpeg's names of a file's container, by its first bytes.

    Raises:
        UnreadableVideo: when it is none of those that are opened.
    """
    try:
        with path.open("rb") as file:
            start = file.read(12)
    except (FileNotFoundError, IsADirectoryError) as error:
        raise NotAFile(f"{path.name} is not a file") from error
    if start[:4] == _EBML:
        return _FORMATS[1]
    if start[4:8] in _BOXES:
        return _FORMATS[0]
    what = "an archive" if start[:2] == b"PK" else "empty" if not start.strip(b"\0") else "something else"
    raise UnreadableVideo(f"{path.name} is no MP4, QuickTime, WebM or Matroska file: by its first bytes it is {what}")


def _container(path: Path, file: BinaryIO, options: dict[str, str]) -> Any:
    """Return a container whose header FFmpeg has read.

    Raises:
        UnreadableVideo: when the header asks for more memory than any video's takes.
        av.error.FFmpegError: when it cannot be read, or the machine has no memory left.
    """
    av = pyav()
    try:
        return av.open(file, options=options, metadata_errors="replace")
    except av.error.MemoryError as error:
        try:
            bytearray(_FREE)
        except MemoryError:
            raise error from None
        raise UnreadableVideo(f"{path.name} is damaged: its header asks for more memory than there is") from error


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open a video; errors of FFmpeg inside the block become `UnreadableVideo`.

    Raises:
        UnreadableVideo: when it cannot be opened or read.
        NotAFile: when there is no such file.
        SystemicError: when PyAV is not installed, or the machine gave out.
    """
    av = pyav()
    names = format_of(path)
    options = {"protocol_whitelist": "file", "format_whitelist": names, "enable_drefs": "0"}
    try:
        # Opened here, so that FFmpeg never learns a name beside which it could look for others.
        with path.open("rb") as file, _container(path, file, options) as container:
            yield container
    except av.error.FFmpegError as error:
        raise_fault(error)
        raise UnreadableVideo(f"{path.name} is damaged: {' '.join(str(error).split())[:200]}") from error


def origin_of(container: Any) -> float:
    """Return the time, in seconds of its streams' clocks, at which a container says that it begins."""
    return float(container.start_time or 0) / 1_000_000
