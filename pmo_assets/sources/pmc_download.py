"""A version of an article as a package folder: what `pmo pmc get` writes and `LocalFolder` reads.

A folder appears complete or not at all, every file verified by the MD5 that PMC's metadata states. Files that a folder
of an earlier call holds already are not downloaded again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import Final

from pmo_assets.records.packages import ChecksumMismatch, PackageFile, PackageListing, UnreadableMetadata
from pmo_assets.sources.pmc_bucket import md5_of
from pmo_assets.sources.pmc_cloud import ArticleVersion, PmcCloud

_PART: Final = ".part"
_OLD: Final = ".old"


def _stored(folder: Path, file: PackageFile) -> Path | None:
    """Return a file of an earlier call, if it is what the metadata states."""
    place = folder / PurePosixPath(file.path).name
    if file.md5 is None or not place.is_file():
        return None
    with place.open("rb") as stream:
        same = hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest() == file.md5
    return place if same else None


def _take(cloud: PmcCloud, file: PackageFile, old: Path, new: Path) -> int:
    """Put a file into the new folder, from the old one or from PMC; return the bytes that were downloaded."""
    target = new / PurePosixPath(file.path).name
    if (stored := _stored(old, file)) is not None:
        shutil.copy2(stored, target)
        return 0
    cloud.bucket.download(file.path, target)
    if file.md5 is not None and md5_of(target.read_bytes()) != file.md5:
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
    """
    versions = {version.version: version for version in cloud.versions(article_id)}
    listing = cloud.best(article_id) if not versions else cloud.best_of(list(versions.values()))
    target = folder / listing.name
    part, old = folder / f".{listing.name}{_PART}", folder / f".{listing.name}{_OLD}"
    if old.exists() and not target.exists():
        old.rename(target)  # a call that was killed while it exchanged the two
    for left in (part, old):
        shutil.rmtree(left, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        _write_metadata(cloud, versions[listing.version], part)
        with ThreadPoolExecutor(cloud.bucket.options.concurrency) as pool:
            sizes = 0
            for size in pool.map(lambda file: _take(cloud, file, target, part), listing.files):
                progress(size)
                sizes += size
        if target.exists():
            target.rename(old)
        os.replace(part, target)
    finally:
        shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
    return listing, target, sizes


def _write_metadata(cloud: PmcCloud, version: ArticleVersion, folder: Path) -> None:
    content = cloud.metadata(version)
    if not content:
        raise UnreadableMetadata(f"{version.name}.json is empty")
    (folder / f"{version.name}.json").write_bytes(content)
