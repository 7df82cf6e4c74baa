"""Download of an article's version as a package folder, which `pmo pmc get` writes and `LocalFolder` reads.

A folder appears complete or not at all, every file verified by the MD5 that PMC's metadata states. Files that a folder
of an earlier call holds already are not downloaded again; files that PMC did not put there stay.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Final

from filelock import FileLock, Timeout

from pmo_assets.records.packages import ChecksumMismatch, PackageFile, PackageListing
from pmo_assets.records.rejections import ArticleError
from pmo_assets.records.stores import StorageError
from pmo_assets.sources.pmc_cloud import ArticleVersion, PmcCloud, listing_from_metadata
from pmo_assets.system.aside import make_folder, place_aside, replace_folder, restore_folder

MAX_FILE_BYTES: Final = 2**31
"""Most bytes of one file: far more than any PDF or picture has, so that no server fills the disk."""


def _md5_of_file(place: Path) -> str:
    with place.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _stored(folder: Path, file: PackageFile) -> Path | None:
    """Return a file of an earlier call, if it is what the metadata states."""
    place = folder / PurePosixPath(file.path).name
    if file.md5 is None or not place.is_file():
        return None
    return place if _md5_of_file(place) == file.md5 else None


def _take(cloud: PmcCloud, file: PackageFile, old: Path, new: Path) -> int:
    """Put a file into the new folder, from the old one or from PMC; return the bytes that were downloaded."""
    target = new / PurePosixPath(file.path).name
    if (stored := _stored(old, file)) is not None:
        shutil.copy2(stored, target)
        return 0
    cloud.bucket.download(file.path, target, MAX_FILE_BYTES)
    if file.md5 is not None and _md5_of_file(target) != file.md5:
        raise ChecksumMismatch(f"{file.path} is not what PMC's metadata states (MD5 {file.md5}): try again later")
    return target.stat().st_size


def download_package(
    cloud: PmcCloud, article_id: int, folder: Path, progress: Callable[[int], None] = lambda size: None
) -> tuple[PackageListing, Path, int]:
    """Write the version of an article that counts as `FOLDER/PMC<n>.<v>/`; return it, the folder, the bytes fetched.

    Args:
        cloud: PMC.
        article_id: PMC number.
        folder: where the package folder goes.
        progress: told of the bytes of each file.

    Raises:
        ArticleError: if PMC does not hold it, or a file is missing or other than stated.
        SourceError: if PMC cannot be read.
        StorageError: if the folder cannot be written.
    """
    cloud = replace(cloud, objects=_MetadataFiles())
    versions = {version.version: version for version in cloud.versions(article_id)}
    listing = cloud.best(article_id) if not versions else cloud.best_of(list(versions.values()))
    target = folder / listing.name
    try:
        make_folder(folder)
        with _alone(folder, listing.name):
            restore_folder(target)  # of a call that was killed while it exchanged the two
            if target.exists() and not target.is_dir():
                raise StorageError(f"{target} is no folder: move it away, or give another folder")
            with place_aside(target) as part:
                part.mkdir()
                _write_metadata(cloud, versions[listing.version], listing, part)
                sizes = _take_all(cloud, listing, target, part, progress)
                _keep_foreign(target, part, versions[listing.version], cloud.bucket.name)
                replace_folder(part, target)
    except OSError as error:
        raise StorageError(f"cannot write {target}: {error} (check the folder, permissions and free space)") from error
    return listing, target, sizes


@dataclass
class _MetadataFiles:
    """`ObjectStore` in memory for the metadata of one article: it is read once, and what was judged is written."""

    contents: dict[str, bytes] = field(default_factory=dict)

    def put(self, content: bytes, suffix: str, md5: str | None = None) -> str:
        """Keep bytes under their MD5."""
        key = f"{md5}{suffix}"
        self.contents[key] = content
        return key

    def find(self, md5: str, suffix: str) -> str | None:
        """Return the key of bytes by their MD5."""
        return key if (key := f"{md5}{suffix}") in self.contents else None

    def size(self, key: str) -> int:
        """Return the number of bytes under a key."""
        return len(self.contents[key])

    def get(self, key: str) -> bytes:
        """Return the bytes under a key."""
        return self.contents[key]


@contextlib.contextmanager
def _alone(folder: Path, name: str) -> Iterator[None]:
    """Hold an article's folder, so that two calls do not take away each other's files."""
    place = folder / f".{name}.lock"
    lock = FileLock(place)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise StorageError(f"another call is fetching {name} into {folder}: wait until it has ended") from None
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # Windows keeps what is open
            place.unlink()
        lock.release()


def _take_all(cloud: PmcCloud, listing: PackageListing, old: Path, new: Path, progress: Callable[[int], None]) -> int:
    """Put all files of a package into the new folder; return the bytes that were downloaded."""
    sizes = 0
    with ThreadPoolExecutor(cloud.bucket.options.concurrency) as pool:
        futures = [pool.submit(_take, cloud, file, old, new) for file in listing.files]
        try:
            for future in futures:
                size = future.result()
                progress(size)
                sizes += size
        except BaseException as error:
            if not isinstance(error, Exception):  # who interrupts need not wait for the repetitions of requests
                cloud.bucket.stop()
            raise
        finally:
            for future in futures:
                future.cancel()
    return sizes


def _keep_foreign(old: Path, new: Path, version: ArticleVersion, bucket: str) -> None:
    """Copy the files that somebody else put into the folder of an earlier call: all that its metadata did not list."""
    if not old.is_dir():
        return
    ours = {f"{version.name}.json"}
    with contextlib.suppress(OSError, ArticleError):
        listing = listing_from_metadata((old / f"{version.name}.json").read_bytes(), version, bucket)
        ours |= {PurePosixPath(file.path).name for file in listing.files}
    for entry in old.iterdir():
        target = new / entry.name
        if entry.name in ours or target.exists():
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.copytree(entry, target, symlinks=True)
        else:
            shutil.copy2(entry, target, follow_symlinks=False)


def _write_metadata(cloud: PmcCloud, version: ArticleVersion, listing: PackageListing, folder: Path) -> None:
    content = cloud.metadata(version)  # fetched anew if it has changed since it was listed
    if listing_from_metadata(content, version, cloud.bucket.name).files != listing.files:
        raise ChecksumMismatch(f"{version.name} was changed at PMC while it was read: try again")
    (folder / f"{version.name}.json").write_bytes(content)
