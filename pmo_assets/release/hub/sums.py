"""`SHA256SUMS` of the hub's folder: written as `sha256sum` writes it, and checked as `sha256sum -c` checks it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pmo_assets.records.stores import StorageError

SUMS_FILE = "SHA256SUMS"

_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")


@dataclass(frozen=True, slots=True)
class SumsFault:
    """A file that is not as `SHA256SUMS` says.

    Attributes:
        path: below the folder.
        fault: "missing", "changed", or "not listed".
    """

    path: str
    fault: str


def sums_text(digests: Mapping[str, str]) -> str:
    """Return the lines of `SHA256SUMS`, sorted by path.

    Args:
        digests: SHA-256 (hexadecimal) by path below the folder, "/" between its parts.

    Raises:
        ValueError: if a path cannot stand there as it is.
    """
    for path in digests:
        if not _is_plain(path):
            raise ValueError(f"{path!r} cannot stand in {SUMS_FILE}: a path below the folder, without \\ and line ends")
    return "".join(f"{digests[path]}  {path}\n" for path in sorted(digests))


def read_sums(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file that a folder's `SHA256SUMS` lists.

    Raises:
        StorageError: if there is none, or a line of it is none.
    """
    path = folder / SUMS_FILE
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise StorageError(f"{path} cannot be read ({error}): is {folder} the folder of a release?") from error
    return sums_of(text, path)


def sums_of(text: str, path: Path | str) -> dict[str, str]:
    """Return the SHA-256 of every file that the text of a `SHA256SUMS` lists.

    Args:
        text: of the file.
        path: its path, for the error.

    Raises:
        StorageError: if a line is none.
    """
    digests: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.fullmatch(line)
        if match is None or not _is_plain(match[2]) or match[2] in digests:
            raise StorageError(f"{path}, line {number}: not a SHA-256 and a path of its own below the folder")
        digests[match[2]] = match[1]
    return digests


def files_of(folder: Path) -> dict[str, Path]:
    """Return the files of a folder by their path below it, sorted, without what begins with a dot (`.git`, `.cache`).

    Raises:
        StorageError: if there is no such folder, or a link in it.
    """
    if not folder.is_dir():
        raise StorageError(f"there is no folder {folder}")
    found: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if any(part.startswith(".") for part in name.split("/")):
            continue
        if path.is_symlink():
            raise StorageError(f"{path} is a link: put the file itself there")
        if path.is_file():
            found[name] = path
    return found


def refuse_damaged(folder: Path, tell: Callable[[str, int, int], None] = lambda *_: None) -> None:
    """Do nothing if a release's folder is as its `SHA256SUMS` says.

    Raises:
        StorageError: if a file is missing, changed or not listed, naming the first of them.
    """
    faults = [f"{fault.path} is {fault.fault}" for fault in check_sums(folder, tell)]
    if faults:
        more = f" and {len(faults) - 5} more" if len(faults) > 5 else ""
        raise StorageError(f"{folder} is not as its {SUMS_FILE} says: {', '.join(faults[:5])}{more}; make it again")


def check_sums(folder: Path, tell: Callable[[str, int, int], None] = lambda *_: None) -> list[SumsFault]:
    """Return the files of a folder that are missing, changed, or not listed in its `SHA256SUMS`, sorted by path.

    Args:
        folder: of a release.
        tell: is told what is checked, how many files are done, and of how many.

    Raises:
        StorageError: if there is no `SHA256SUMS`, it is malformed, or a file cannot be read.
    """
    digests, files = read_sums(folder), files_of(folder)
    faults = [SumsFault(path, "not listed") for path in files if path not in digests and path != SUMS_FILE]
    for done, (path, digest) in enumerate(sorted(digests.items())):
        tell("checking SHA-256", done, len(digests))
        if path not in files:
            faults.append(SumsFault(path, "missing"))
        elif file_digest(files[path]) != digest:
            faults.append(SumsFault(path, "changed"))
    tell("checking SHA-256", len(digests), len(digests))
    return sorted(faults, key=lambda fault: fault.path)


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file, hexadecimal; the file is never in memory as a whole.

    Raises:
        StorageError: if it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error}") from error


def _is_plain(path: str) -> bool:
    """Say whether a path lies below the folder and needs no escape in `SHA256SUMS`."""
    parts = PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and ".." not in parts and not set(path) & set("\\\n\r")
