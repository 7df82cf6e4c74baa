"""Finding a release, and seeing that it is whole."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from pmo_assets.loading.errors import ReleaseError
from pmo_assets.loading.release import SUMS, Release
from pmo_assets.loading.typed_rows import Split
from pmo_assets.records.stores import StorageError
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.tables.release import CONFIGS

MANIFEST = "manifest.json"

_SUM = re.compile(r"([0-9a-f]{64}) [ *](.+)")
_SHARD = re.compile(rf"data/({'|'.join(CONFIGS)})/({'|'.join(get_args(Split))})-[\w.-]*\.parquet")


def load(
    where: str | os.PathLike[str] = "data",
    *,
    split: Split | None = None,
    verify: bool = False,
    endpoint: str | None = None,
) -> Release:
    """Open a release of the dataset.

    Args:
        where: a data root, its folder `release` or `release/hub`, the hub's folder of an older version, or one that was
            fetched from the Hugging Face hub; a path or `s3://bucket/prefix`.
        split: only this split.
        verify: compare every file with `SHA256SUMS` first; reads all of them.
        endpoint: S3 endpoint other than AWS, with scheme; `PMO_S3_ENDPOINT` of the environment if not given.

    Raises:
        ReleaseError: if there is no release, or it is half-written, damaged, or of another form; says what to do.
        StorageError: if storage cannot be read.
        ValueError: if there is no such split.
    """
    if split is not None and split not in get_args(Split):
        raise ValueError(f"there is no split {split!r}: one of {', '.join(get_args(Split))}")
    place = os.fspath(where)
    root = _hub_folder(place, endpoint or os.environ.get("PMO_S3_ENDPOINT") or None)
    sums = _sums(root)
    manifest = _manifest(root)
    if verify:
        _verify(root, sums)
    release = Release(root, manifest, _shards(root, sums, split, manifest))
    _ = release.panels  # reads the ends of its files: another form shows now
    return release


def _below(place: str, *parts: str) -> str:
    return "/".join((place.rstrip("/"), *parts)) if place.startswith("s3://") else str(Path(place, *parts))


def _hub_folder(place: str, endpoint: str | None) -> DataRoot:
    """Return the hub's folder that a place is, or holds.

    Raises:
        ReleaseError: if there is none.
    """
    if not place.startswith("s3://") and not Path(place).expanduser().is_dir():
        what = "is no folder" if Path(place).expanduser().exists() else "is not there"
        raise ReleaseError(f"{place} {what}: give a data root (PMO_DATA_ROOT), a release, or a folder from the hub")
    for parts in ((), ("hub",), ("release", "hub")):
        root = DataRoot(_below(place, *parts), endpoint)
        if root.exists(MANIFEST) or root.exists(SUMS) or root.keys("data/panels", ".parquet"):
            return root
    root = DataRoot(place, endpoint)
    if root.exists("pubmed_ophtha.parquet") or root.exists("release/pubmed_ophtha.parquet"):
        raise ReleaseError(
            f"the release in {place} has no folder for the hub: an older version made it; `pmo run` makes it again"
        )
    raise ReleaseError(
        f"nothing is released in {place} yet: `pmo run` with PMO_DATA_ROOT={place} makes a release of its batches "
        "(`pmo demo` one of sample articles)"
    )


def _sums(root: DataRoot) -> dict[str, str]:
    """Return the SHA-256 of each file of the release by its path.

    Raises:
        ReleaseError: if the list is not there, or no such list.
    """
    if not root.exists(SUMS):
        raise ReleaseError(
            f"{root.uri(SUMS)} is not there, which is written last: the release is half-written (`pmo run` finishes "
            "it), or was not fetched as a whole (fetch it again)"
        )
    sums = {}
    for line in root.read(SUMS).decode("utf-8", errors="replace").splitlines():
        found = _SUM.fullmatch(line)
        if found is None or ".." in found[2].split("/") or found[2].startswith("/"):
            raise ReleaseError(f"{root.uri(SUMS)} is damaged at {line[:100]!r}: fetch it again")
        sums[found[2].removeprefix("./")] = found[1]
    return sums


def _manifest(root: DataRoot) -> Mapping[str, Any]:
    try:
        manifest = json.loads(root.read(MANIFEST))
    except StorageError as error:
        raise ReleaseError(f"{root.uri(MANIFEST)} cannot be read ({error}): fetch the folder as a whole") from error
    except ValueError as error:
        raise ReleaseError(f"{root.uri(MANIFEST)} is damaged ({error}): fetch it again") from error
    if not isinstance(manifest, dict) or not isinstance(manifest.get("version"), str | int):
        raise ReleaseError(f"{root.uri(MANIFEST)} states no version: it is no manifest of a release")
    return manifest


def _shards(
    root: DataRoot, sums: Mapping[str, str], split: Split | None, manifest: Mapping[str, Any]
) -> dict[str, list[str] | None]:
    """Return the Parquet files of each config, train before validation before test; None: not fetched, or not made.

    Raises:
        ReleaseError: if some files of a config are there and others are not.
    """
    order = list(get_args(Split))
    shards: dict[str, list[tuple[int, str]]] = {config: [] for config in CONFIGS}
    for key in sorted(sums):
        found = _SHARD.fullmatch(key)
        if found is not None and split in (None, found[2]):
            shards[found[1]].append((order.index(found[2]), key))
    here = {f"data/{config}/{name}" for config in CONFIGS for name in root.keys(f"data/{config}", ".parquet")}
    files: dict[str, list[str] | None] = {}
    for config, wanted in shards.items():
        keys = [key for _, key in sorted(wanted)]
        missing = [key for key in keys if key not in here]
        if missing and (config == "panels" or len(missing) < len(keys)):
            raise ReleaseError(
                f"{len(missing)} files of {root.root} are not there, first {missing[0]}: fetch them, "
                "or name the split that is there (split=…)"
            )
        files[config] = None if missing else keys
    counts = manifest.get("counts")
    for config in ("pairs", "instructions", "videos"):
        if not any(key.startswith(f"data/{config}/") for key in sums) and config not in (counts or {}):
            files[config] = None  # a release from before there were any
    return files


def _verify(root: DataRoot, sums: Mapping[str, str]) -> None:
    """Compare files with their checksums.

    Raises:
        ReleaseError: naming those that differ or are missing.
    """
    wrong = []
    for key, expected in sums.items():
        if not root.exists(key):
            wrong.append(f"{key} (not there)")
            continue
        with root.open_random(key) as stream:
            digest = hashlib.sha256()
            while chunk := stream.read(1 << 22):
                digest.update(chunk)
        if digest.hexdigest() != expected:
            wrong.append(f"{key} (changed)")
    if wrong:
        raise ReleaseError(
            f"{len(wrong)} files of {root.root} differ from {SUMS}: {', '.join(wrong)}: fetch them again"
        )
