"""Files and folders that appear whole or not at all: written aside, then renamed. The one home of that.

What is written lies beside its target under a hidden name that no other writer has, `.<name>.<writer>.part`: process,
machine, thread and a random word. Of several who write the same file at once each leaves a whole one, and the last one
stays. Before the renaming the file is on the disk, and after it the folder's entry is: after a power failure the old or
the new content is there. What killed processes left is removed by whoever writes the same target next, and by
`pmo clean` below a data root.

A file gets the permissions that `open()` would give it: those of the file that it replaces, or what the umask allows.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import io
import os
import re
import shutil
import stat
import threading
import time
import uuid
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO, Final, TextIO

from filelock import FileLock

from pmo_assets.system.disks import FULL
from pmo_assets.system.processes import ProcessMark, this_process

SUFFIX: Final = ".part"
"""Ending of files that are being written, `.….part`: listings leave them out."""

DAY: Final = 86_400.0
"""Seconds; a file that an unknown writer has not touched for so long is written by nobody any more."""

_HERE: Final = -100
_EXCHANGE: Final = 2
"""AT_FDCWD and RENAME_EXCHANGE of renameat2(2)."""

_LONGEST_NAME: Final = 100
"""Bytes of the target's name that stay readable: a file name has 255 at most."""

_WRITER: Final = re.compile(r"(?P<pid>\d+)-(?P<start>\w*)-(?P<machine>[0-9a-f]{8})-\w*-\d+-[0-9a-f]{16}")
"""Mark of a writer: process, its start, its machine (and container) as digest and name, thread, random word."""

_NO_SYNC: Final = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES, errno.EPERM, errno.EISDIR})
"""Answers of disks and systems on which a folder cannot be synchronised: then renaming is all there is."""


@contextlib.contextmanager
def path_aside(target: Path, *, durable: bool = True) -> Iterator[Path]:
    """Give the place where a file is written; it appears as `target` when the block ends without an error.

    A target that is no ordinary file (a pipe, `/dev/stdout`) is never replaced: it is given itself.

    Args:
        target: where; its folder is made.
        durable: wait until the disk has it. Without, it is whole or not there after a kill, but may be damaged after a
            power failure: for what its reader checks and can do without.

    Raises:
        OSError: if it cannot be written.
    """
    if _is_special(target):
        yield target
        return
    with place_aside(target) as partial:
        yield partial
        publish(partial, target, durable=durable)


@contextlib.contextmanager
def stream_aside(target: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """Give a stream whose content appears as `target` when the block ends without an error; see `path_aside`."""
    with path_aside(target, durable=durable) as partial, partial.open("wb" if partial == target else "xb") as stream:
        yield stream


@contextlib.contextmanager
def text_aside(target: Path, *, durable: bool = True) -> Iterator[TextIO]:
    """Give a stream of text in UTF-8, lines ending as they are written; see `path_aside`."""
    with stream_aside(target, durable=durable) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
        yield text
        text.flush()
        text.detach()


def write_bytes(target: Path, content: bytes, *, durable: bool = True) -> None:
    """Write a file whole or not at all; see `path_aside`."""
    with stream_aside(target, durable=durable) as stream:
        stream.write(content)


def write_text(target: Path, text: str, *, durable: bool = True) -> None:
    """Write a file of text in UTF-8 whole or not at all; see `path_aside`."""
    write_bytes(target, text.encode("utf-8"), durable=durable)


@contextlib.contextmanager
def folder_aside(target: Path) -> Iterator[Path]:
    """Give a new folder that appears as `target`, with all that is in it, when the block ends without an error.

    Raises:
        OSError: if it cannot be written, or something is there already.
    """
    with place_aside(target) as partial:
        partial.mkdir()
        yield partial
        sync_tree(partial)
        partial.rename(target)
        sync_folder(target.parent)


def replace_folder(source: Path, target: Path) -> None:
    """Put a folder in the place of another one, or where there was none; if that fails the old one is there again.

    Linux exchanges the two at one instant: whoever looks sees the old one or the new one. Other systems and some
    network disks cannot. There the first of two renamings takes the old folder away, and who is killed between them
    leaves it as `.<name>.old`, which `restore_folder` puts back. One at a time: the caller sees to that.

    Raises:
        OSError: if it cannot be moved.
    """
    old = _old(target)
    make_folder(target.parent)
    restore_folder(target)
    shutil.rmtree(old, ignore_errors=True)
    sync_tree(source)
    if target.exists() and exchanged(source, target):
        sync_folder(target.parent)
        sync_folder(source.parent)
        shutil.rmtree(source, ignore_errors=True)
        return
    if target.exists():
        target.rename(old)
    try:
        source.rename(target)
    finally:
        if not target.exists() and old.exists():
            old.rename(target)
    sync_folder(target.parent)
    shutil.rmtree(old, ignore_errors=True)


def exchanged(one: Path, other: Path) -> bool:
    """Exchange two folders at one instant, and say so; False where the system or the disk cannot do it.

    Raises:
        OSError: if they cannot be exchanged for another reason.
    """
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):  # not Linux, or a C library of before 2018
        return False
    given = (_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE)
    if rename(*(ctypes.c_char_p(item) if isinstance(item, bytes) else ctypes.c_int(item) for item in given)) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM):
        return False
    raise OSError(code, os.strerror(code), str(one), None, str(other))


def replace_parts(source: Path, target: Path, parts: Collection[str]) -> None:
    """Put files and folders below `source` in the place of those below `target`, all at one instant; the rest stays.

    `source` gets second names of what stays, and takes the place of `target` as a whole. Where that cannot be (a folder
    on a disk of its own), one part after the other is replaced, each of them whole.

    Args:
        source: a folder; nothing is left of it, nor of what else lies there.
        target: a folder that nobody else writes to meanwhile.
        parts: names directly below `source`.

    Raises:
        OSError: if something cannot be moved.
    """
    for entry in source.iterdir():
        if entry.name not in parts:
            _remove(entry)
    try:
        if target.is_symlink():
            raise OSError(errno.EXDEV, "lies elsewhere", str(target))
        for entry in target.iterdir() if target.is_dir() else ():
            if entry.name not in parts and not entry.name.startswith("."):
                _link_tree(entry, source / entry.name)
        replace_folder(source, target)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EBUSY) or not source.is_dir():
            raise
        for name in parts:
            if (source / name).is_dir():
                with place_aside(target / name) as partial:
                    shutil.copytree(source / name, partial)
                    replace_folder(partial, target / name)
            else:
                with path_aside(target / name) as partial:
                    shutil.copyfile(source / name, partial)
        shutil.rmtree(source, ignore_errors=True)


def _link_tree(source: Path, target: Path) -> None:
    """Give the files below a folder second names; where that cannot be (exFAT, some network disks), copy them."""
    if source.is_dir() and not source.is_symlink():
        target.mkdir()
        for entry in source.iterdir():
            _link_tree(entry, target / entry.name)
        return
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


def restore_folder(target: Path) -> None:
    """Put back a folder that a process had moved away when it was killed in `replace_folder`.

    Raises:
        OSError: if it cannot be moved.
    """
    old = _old(target)
    if old.is_dir() and not target.exists():
        old.rename(target)
        sync_folder(target.parent)


def create(target: Path, content: bytes) -> bool:
    """Write a file that is not there yet, whole; return whether it was this call that did.

    Of several processes, also on other machines that share the disk, exactly one is told so.

    Raises:
        OSError: if it cannot be written.
    """
    with place_aside(target) as partial:
        with partial.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        created = _link(partial, target)
        if created:
            sync_folder(target.parent)
        return created


@contextlib.contextmanager
def place_aside(target: Path) -> Iterator[Path]:
    """Give a name beside a target that no other writer has; a file left there when the block ends is removed.

    Files that killed processes left beside the same target are removed, too.

    Raises:
        OSError: if the folder cannot be made or read.
    """
    make_folder(target.parent)
    for left in leftovers(target):
        _remove(left)
    partial = target.with_name(f".{_stem(target)}.{_writer()}{SUFFIX}")
    try:
        yield partial
    except OSError as error:
        if error.errno in FULL and error.filename is None:  # of writing, unlike opening, the system names no file
            error.filename = str(target)
        raise
    finally:
        _remove(partial)


def publish(partial: Path, target: Path, *, durable: bool = True) -> None:
    """Give a file that is written its final name, in the place of what has it; see `path_aside` for `durable`.

    Raises:
        OSError: if there is no such file, or it cannot be moved.
    """
    make_folder(target.parent)
    with contextlib.suppress(OSError):  # there is none, or it is not ours to look at
        before = target.stat()
        if stat.S_ISREG(before.st_mode):
            partial.chmod(stat.S_IMODE(before.st_mode))
    if durable:
        _sync_file(partial)
    os.replace(partial, target)
    if durable:
        sync_folder(target.parent)


def leftovers(target: Path) -> list[Path]:
    """Return the files that killed writers of a target left beside it.

    A writer on this machine must have ended; files of another machine, or of an earlier version, count when nobody has
    touched them for a day.

    Raises:
        OSError: if the folder cannot be read.
    """
    # no glob: it would compile a pattern for each file, and folders of objects have thousands
    beginning = f".{_stem(target)}."
    found = (name for name in os.listdir(target.parent) if name.startswith(beginning) and name.endswith(SUFFIX))
    return [
        target.with_name(name)
        for name in found
        if _is_left(target.with_name(name), name[len(beginning) : -len(SUFFIX)])
    ]


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, on the disk when this returns.

    Raises:
        OSError: if it cannot be made.
    """
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the disk has a folder's entries, where the system can be asked for that.

    Raises:
        OSError: if the disk fails.
    """
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise


def sync_tree(folder: Path) -> None:
    """Wait until the disk has everything in a folder.

    Raises:
        OSError: if something in it cannot be read, or the disk fails.
    """
    for place, _, files in os.walk(folder):
        for name in files:
            if not (file := Path(place, name)).is_symlink():
                _sync_file(file)
        sync_folder(Path(place))


def _sync_file(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _is_special(target: Path) -> bool:
    """Say whether a target is there and neither a file nor a folder: a pipe, a device, a terminal."""
    return target.exists() and not target.is_file() and not target.is_dir()


def _old(target: Path) -> Path:
    return target.with_name(f".{target.name}.old")


def _stem(target: Path) -> str:
    """Return a target's name; of a long one its beginning and a digest."""
    name = os.fsencode(target.name)
    if len(name) <= _LONGEST_NAME:
        return target.name
    digest = hashlib.sha256(name).hexdigest()[:16]
    return f"{name[: _LONGEST_NAME // 2].decode(errors='ignore')}-{digest}"


def _machine(process: ProcessMark) -> str:
    return hashlib.sha256(f"{process.boot}/{process.space}".encode()).hexdigest()[:8]


def _writer() -> str:
    process = this_process()
    host = re.sub(r"[^A-Za-z0-9]", "", process.host)[:20]
    identity = f"{process.pid}-{process.start}-{_machine(process)}"
    return f"{identity}-{host}-{threading.get_ident()}-{uuid.uuid4().hex[:16]}"


def _is_left(path: Path, writer: str) -> bool:
    named = _WRITER.fullmatch(writer)
    here = this_process()
    if named is not None and named["machine"] == _machine(here):
        process = ProcessMark(here.host, int(named["pid"]), here.boot, here.space, named["start"])
        return bool(process.has_ended())
    try:
        newest: float = max(item.lstat().st_mtime for item in (path, *(path.rglob("*") if path.is_dir() else ())))
    except FileNotFoundError:  # it has been published, or removed, since the folder was listed
        return False
    return time.time() - newest > DAY


def _remove(path: Path) -> None:
    """Remove a file or folder if it is there; one that cannot be removed stays for the next writer."""
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _link(partial: Path, target: Path) -> bool:
    """Give a file its final name unless that is taken; return whether it was free."""
    try:
        os.link(partial, target)
        return True
    except FileExistsError:
        # On a network disk the answer to the first attempt may have been lost: then the file has both names.
        return partial.stat().st_nlink > 1
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
            raise
    # The disk has no second names (exFAT, some SMB): then commands take turns.
    with FileLock(target.with_name(".create.lock"), timeout=60):
        if target.exists():
            return False
        os.replace(partial, target)
        return True
