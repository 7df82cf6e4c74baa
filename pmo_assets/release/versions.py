"""The versions of a data root's releases: what each was made of, so that it can be told apart and made again.

Layout below `release/versions/<version>/`::

    manifest.json        what it was made of, and its files
    rows.parquet         digests of its rows (`RowIndex`)
    articles.parquet     its articles: batch, split
    absent.parquet       articles that were out of it, and why
    duplicates.parquet   its panels that look the same
    licences.parquet     licences that held in place of those under which rows were made; only where there were any
    changes.json         how it differs from the version before
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import polars as pl
import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from pmo_assets import __version__
from pmo_assets.records.stores import StorageError
from pmo_assets.release.differences import Changes
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import read_parquet
from pmo_assets.tables.dataset import NarrowedLicences
from pmo_assets.tables.release import arrow_schema, release_tables
from pmo_assets.tables.schemas import empty_table

VERSIONS: Final = "release/versions"
FIRST: Final = "1.0.0"

MOST_LOST: Final = 0.1
"""Share of the panels that a release may lose without being told that it is meant."""

FEWEST_PANELS: Final = 100
"""Panels below which a share says nothing: of ten, one article has two."""

_VERSION: Final = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")


class BatchOfRelease(BaseModel):
    """Part of a batch that a release took."""

    model_config = ConfigDict(frozen=True)

    batch: str
    articles: int


class FileOfRelease(BaseModel):
    """A file of a release: key below `release/`, SHA-256, bytes, rows of a table."""

    model_config = ConfigDict(frozen=True)

    path: str
    sha256: str
    size: int
    rows: int | None = None


class Manifest(BaseModel):
    """Inputs and contents of a release.

    Attributes:
        version: "1.2.0".
        previous: the version before; None for the first.
        digest: of its data files; the same data have the same.
        schema_digest: of the tables' columns and types.
        software: version of pmo-assets.
        specialty: name of the specialty.
        options: the rows that are taken (`ReleaseOptions`), and the splitting of articles.
        settings: digest of the settings that change an asset's result, by asset.
        code_versions: code version by asset.
        models: SHA-256 of the networks that came with the package, by file.
        batches: in sequence.
        counts: panels, figures, articles, withheld, and so on.
        files: the data files.
    """

    model_config = ConfigDict(frozen=True)

    version: str
    previous: str | None
    digest: str
    schema_digest: str
    software: str
    specialty: str
    options: dict[str, Any]
    settings: dict[str, str]
    code_versions: dict[str, str]
    models: dict[str, str]
    batches: list[BatchOfRelease]
    counts: dict[str, int]
    files: list[FileOfRelease]

    def as_bytes(self) -> bytes:
        """Return it as a JSON file; the same manifest gives the same bytes."""
        return (json.dumps(self.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n").encode()


def version_key(version: str) -> tuple[int, ...]:
    """Return the key by which versions are ordered.

    Raises:
        ValueError: if it is no version.
    """
    if not _VERSION.fullmatch(version):
        raise ValueError(f"{version!r} is no version: give three numbers such as 1.2.0")
    return tuple(int(part) for part in version.split("."))


def released_versions(data_root: DataRoot) -> list[str]:
    """Return the versions that were released, oldest first."""
    found = {name.split("/")[0] for name in data_root.tree(VERSIONS) if name.endswith("/manifest.json")}
    return sorted((name for name in found if _VERSION.fullmatch(name)), key=version_key)


def version_facts(data_root: DataRoot, version: str | None = None) -> dict[str, str]:
    """Return a version, else the newest, and the software's, for the heads of pages."""
    versions = [version] if version else released_versions(data_root)
    return {**({"release": versions[-1]} if versions else {}), "pmo-assets": __version__}


def read_manifest(data_root: DataRoot, version: str) -> Manifest:
    """Return the manifest of a version.

    Raises:
        StorageError: if there is no such version.
    """
    key = f"{VERSIONS}/{version}/manifest.json"
    if not _VERSION.fullmatch(version) or not data_root.exists(key):
        known = ", ".join(released_versions(data_root)) or "none"
        raise StorageError(f"there is no release {version} below {data_root.root}: released are {known}")
    return Manifest.model_validate_json(data_root.read(key))


def written_at(data_root: DataRoot, version: str) -> datetime:
    """Return when a version was written here, UTC. A release itself holds no time: the same rows give the same bytes.

    Raises:
        StorageError: if there is no such version.
    """
    read_manifest(data_root, version)
    facts = data_root.facts(f"{VERSIONS}/{version}/manifest.json")
    if facts is None:
        raise StorageError(f"release {version} went away while it was read")
    return facts.changed.astimezone(UTC)


def read_version_table(data_root: DataRoot, version: str, name: str) -> pl.DataFrame:
    """Return a table that is kept of a version: "rows", "articles" or "duplicates"."""
    read_manifest(data_root, version)
    return read_parquet(data_root, f"{VERSIONS}/{version}/{name}.parquet")


def read_version_licences(data_root: DataRoot, version: str) -> pl.DataFrame:
    """Return the licences of a version that held in place of those under which rows were made (`NarrowedLicences`)."""
    read_manifest(data_root, version)
    key = f"{VERSIONS}/{version}/licences.parquet"
    return read_parquet(data_root, key) if data_root.exists(key) else empty_table(NarrowedLicences)


def read_history(data_root: DataRoot) -> list[tuple[str, Changes]]:
    """Return (version, changes) of all releases, newest first."""
    return [
        (version, Changes(**json.loads(data_root.read(f"{VERSIONS}/{version}/changes.json"))))
        for version in reversed(released_versions(data_root))
    ]


def check_size(data_root: DataRoot, panels: int) -> None:
    """Make sure that a release does not come to lack what the one before it had, by a fault that nobody saw.

    Retractions and licences that were narrowed take away little at a time; settings of a wrong shell, a source that is
    gone, a disk that is not mounted take away much.

    Args:
        data_root: root of the releases.
        panels: that the new one would have.

    Raises:
        StorageError: if it would have fewer than `MOST_LOST` allows; the message says how it is made all the same.
    """
    versions = released_versions(data_root)
    if not versions:
        return
    before = read_manifest(data_root, versions[-1]).counts.get("panels", 0)
    if before >= FEWEST_PANELS and panels < (1 - MOST_LOST) * before:
        raise StorageError(
            f"the release would have {panels:,} panels, {versions[-1]} has {before:,}: nothing was changed. See in "
            "`pmo report` what is missing; if it is meant, `pmo run --even-so` makes the release, in the UI the tag "
            "pmo/even-so=true of its run"
        )


def schema_digest() -> str:
    """Return a digest of the columns and types of a release's tables."""
    text = "\n".join(f"{name}\n{_described(arrow_schema(schema))}" for name, schema in release_tables().items())
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _described(schema: pa.Schema) -> str:
    return "\n".join(f"{field.name}: {field.type}" for field in schema)


def data_digest(files: Sequence[FileOfRelease]) -> str:
    """Return a digest of a release's data files: equal where all of them are."""
    lines = "\n".join(f"{file.sha256} {file.path}" for file in sorted(files, key=lambda file: file.path))
    return hashlib.sha256(lines.encode()).hexdigest()


def next_version(previous: Manifest | None, digest: str, changes: Changes) -> str:
    """Return the version of a release: the previous one's if the data are the same, else the next.

    The first number changes with the columns, the second when panels are new or gone, the third when only the content
    of rows, splits or what lies beside them changed.

    Args:
        previous: the newest release; None for the first.
        digest: see `data_digest`.
        changes: against the previous one.
    """
    if previous is None:
        return FIRST
    if digest == previous.digest:
        return previous.version
    major, minor, patch = version_key(previous.version)
    if changes.columns:
        return f"{major + 1}.0.0"
    if changes.new or changes.gone:
        return f"{major}.{minor + 1}.0"
    return f"{major}.{minor}.{patch + 1}"


def write_version(data_root: DataRoot, manifest: Manifest, tables: Mapping[str, bytes], changes: Changes) -> None:
    """Keep a version: its tables first, its manifest last.

    Args:
        data_root: root of the releases.
        manifest: of the version.
        tables: "rows", "articles", "duplicates" and so on as Parquet.
        changes: against the version before.
    """
    folder = f"{VERSIONS}/{manifest.version}"
    for name, content in tables.items():
        data_root.write(f"{folder}/{name}.parquet", content)
    data_root.write(f"{folder}/changes.json", (json.dumps(changes.as_json(), indent=2) + "\n").encode())
    data_root.write(f"{folder}/manifest.json", manifest.as_bytes())
