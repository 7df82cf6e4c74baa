"""Files below a source folder, read so that nothing outside of it is: a package comes from the internet.

Links are followed as long as they stay inside the folder, which itself may be reached by a link. A path is resolved
first and then walked without following links, so that a link that is put in its way in between is refused as well.
Devices, pipes and sockets are never opened.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal

from pmo_assets.records.packages import FileTooLarge
from pmo_assets.records.rejections import ArticleError

EntryKind = Literal["folder", "file", "broken"]

_CAN_WALK = os.open in os.supports_dir_fd and os.scandir in os.supports_fd and hasattr(os, "O_NOFOLLOW")
"""Not on Windows, where links need a privilege: there the opened file is compared with the resolved path."""

_NO_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


class OutsideSource(ArticleError):
    """A path leads out of the source folder."""


class NotAFile(ArticleError):
    """The path of a file holds a device, a pipe, a socket, a folder, or a link that leads nowhere."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a folder: name and kind; links are followed, "broken" ones lead nowhere.

    Bytes of the name that are no UTF-8 are surrogates, as everywhere in `os`.
    """

    name: str
    kind: EntryKind


def printable(name: str) -> str:
    """Return a file name as text that every table and terminal can hold: bytes that are no UTF-8 as `\\xff`."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def entries_inside(root: Path, relative: str) -> list[Entry]:
    """Return the entries of a folder below the source folder, sorted by name.

    Raises:
        OutsideSource: if it leads out of the source folder.
        NotAFile: if it is a link that leads nowhere.
        OSError: if it is missing, no folder, or cannot be listed.
    """
    with _folder(root, relative) as place, os.scandir(place) as found:
        return sorted((Entry(item.name, _kind(item)) for item in found), key=lambda entry: entry.name)


def _kind(item: os.DirEntry[str]) -> EntryKind:
    try:
        item.stat()
        return "folder" if item.is_dir() else "file"
    except OSError:
        return "broken" if item.is_symlink() else "file"


@contextmanager
def open_inside(root: Path, relative: str) -> Iterator[io.BufferedReader]:
    """Open a file below the source folder for reading.

    Args:
        root: the source folder.
        relative: path below it; untrusted.

    Raises:
        OutsideSource: if it is absolute, has "..", or leads out of the source folder.
        NotAFile: if it is no regular file.
        OSError: if it is missing or cannot be read.
    """
    real_root, parts = _resolved(root, relative)
    if not parts:
        raise NotAFile(f"{printable(relative)} is the source folder itself")
    with _refusing_new_links(relative):
        descriptor = _walked_file(real_root, parts) if _CAN_WALK else _compared_file(real_root, parts)
    with os.fdopen(descriptor, "rb") as stream:
        yield stream


def read_inside(root: Path, relative: str, max_bytes: int | None = None) -> bytes:
    """Return a file's bytes; see `open_inside`.

    Raises:
        FileTooLarge: if there are more than `max_bytes`.
    """
    with open_inside(root, relative) as stream:
        content = stream.read() if max_bytes is None else stream.read(max_bytes + 1)
    if max_bytes is not None and len(content) > max_bytes:
        raise FileTooLarge(f"{printable(relative)} is larger than {max_bytes / 2**20:.0f} MiB")
    return content


def size_and_sha256(root: Path, relative: str, max_bytes: int | None = None) -> tuple[int, str]:
    """Return a file's bytes and SHA-256 without holding it in memory; see `open_inside`.

    Raises:
        FileTooLarge: if it has more than `max_bytes`; nothing of it is read.
    """
    with open_inside(root, relative) as stream:
        size = os.fstat(stream.fileno()).st_size
        if max_bytes is not None and size > max_bytes:
            raise FileTooLarge(
                f"{printable(relative)} has {size / 2**20:,.0f} MiB, the limit is {max_bytes / 2**20:,.0f} MiB"
            )
        digest = hashlib.file_digest(stream, "sha256")
        return stream.tell(), digest.hexdigest()


def _resolved(root: Path, relative: str) -> tuple[str, tuple[str, ...]]:
    """Return the source folder without links, and the path below it without links."""
    path = PurePath(relative)
    if path.anchor or ".." in path.parts or "\0" in relative:
        raise OutsideSource(f"{printable(relative)} is no path below the source folder")
    real_root = os.path.realpath(root, strict=True)
    place = os.path.join(real_root, relative)
    try:
        target = os.path.realpath(place, strict=True)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise NotAFile(f"{printable(relative)} is a link that leads to itself") from error
        if os.path.islink(place):
            raise NotAFile(f"{printable(relative)} is a link that leads nowhere") from error
        raise
    if os.path.commonpath([real_root, target]) != real_root:
        raise OutsideSource(f"{printable(relative)} is a link that leads out of the source folder: it is not read")
    return real_root, PurePath(os.path.relpath(target, real_root)).parts


@contextmanager
def _refusing_new_links(relative: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        # what a path without links answers when there is a link in it after all
        if error.errno in (errno.ELOOP, errno.ENOTDIR, getattr(errno, "EMLINK", None)):
            raise OutsideSource(f"{printable(relative)} was changed while it was read") from error
        raise


@contextmanager
def _folder(root: Path, relative: str) -> Iterator[int | str]:
    """Give a folder to `os.scandir`."""
    real_root, parts = _resolved(root, relative)
    if not _CAN_WALK:
        yield os.path.join(real_root, *parts)
        return
    with _walked_folder(real_root, parts) as descriptor:
        yield descriptor


@contextmanager
def _walked_folder(real_root: str, parts: tuple[str, ...]) -> Iterator[int]:
    descriptor = os.open(real_root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def _walked_file(real_root: str, parts: tuple[str, ...]) -> int:
    *folders, name = parts
    with _walked_folder(real_root, tuple(folders)) as parent:
        # looked at before it is opened: opening a device can already do something
        _must_be_regular(os.stat(name, dir_fd=parent, follow_symlinks=False), name)
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | _NO_WAITING, dir_fd=parent)
        try:
            _must_be_regular(os.fstat(descriptor), name)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor


def _compared_file(real_root: str, parts: tuple[str, ...]) -> int:
    path = os.path.join(real_root, *parts)
    before = os.lstat(path)
    _must_be_regular(before, parts[-1])
    descriptor = os.open(path, os.O_RDONLY | _NO_WAITING)
    try:
        if not os.path.samestat(before, os.fstat(descriptor)) or os.path.realpath(path) != path:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _must_be_regular(found: os.stat_result, name: str) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if not stat.S_ISREG(found.st_mode):
        kinds = {stat.S_IFDIR: "folder", stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket"}
        kind = kinds.get(stat.S_IFMT(found.st_mode), "device")
        raise NotAFile(f"{printable(name)} is a {kind}, not a file")
