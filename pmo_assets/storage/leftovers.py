"""What lies below a data root and nothing refers to: found here, deleted by `pmo clean`.

Only what was written long enough ago counts, so that a run at work loses nothing: it writes objects and pictures first
and the table that refers to them at the end of its step.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from pmo_assets.records.packages import REGISTRATION_STAGE
from pmo_assets.records.stores import StorageError
from pmo_assets.storage.data_root import DataRoot, StoredFile
from pmo_assets.storage.objects import MD5_NOTES, object_key_of_note
from pmo_assets.storage.parquet import read_parquet
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.system.aside import SUFFIX

DAY: Final = 86_400.0
"""Seconds; what is younger is never taken for a leftover."""

PACKAGES: Final = "article_packages"
"""The table that refers to objects."""

_METADATA: Final = ".json"
"""Objects that PMC's metadata files are: kept for the next search, though no table names them."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """A file that can go.

    Attributes:
        kind: why, in a few words for people.
        file: which.
    """

    kind: str
    file: StoredFile


@dataclass(frozen=True)
class KnownLayout:
    """What the present version reads.

    Attributes:
        assets: assets with a table per batch.
        pixel_stores: stores of pictures, and the table whose articles have some.
    """

    assets: Collection[str]
    pixel_stores: Mapping[str, str]


def half_written(data_root: DataRoot, before: float) -> Iterator[Leftover]:
    """Yield what killed processes left of writes."""
    for file in data_root.files(""):
        name = PurePosixPath(file.key).name
        if name.startswith(".") and name.endswith(SUFFIX) and file.written < before:
            yield Leftover("half-written files", file)


def foreign_tables(data_root: DataRoot, layout: KnownLayout, before: float) -> Iterator[Leftover]:
    """Yield tables, rejections and pictures of batches that are not registered, or of assets that there are no more."""
    batches = set(BatchRegistry(data_root).batches())
    for folder, names in (
        ("tables", set(layout.assets)),
        ("rejections", {*layout.assets, REGISTRATION_STAGE}),
        ("pixels", set(layout.pixel_stores)),
    ):
        for file in data_root.files(folder):
            parts = PurePosixPath(file.key).parts
            if len(parts) < 3 or file.written >= before or parts[-1].startswith("."):
                continue
            batch = parts[2].removesuffix(".parquet")
            if parts[1] not in names:
                yield Leftover("of assets that there are no more", file)
            elif parts[1] != REGISTRATION_STAGE and batch not in batches:
                yield Leftover("of batches that are not registered", file)


def unused_pictures(data_root: DataRoot, layout: KnownLayout, before: float) -> Iterator[Leftover]:
    """Yield pictures of articles that left the table which they belong to: of settings or versions of before."""
    for store, asset in layout.pixel_stores.items():
        for batch in BatchRegistry(data_root).batches():
            key = f"tables/{asset}/{batch}.parquet"
            if not data_root.exists(key):
                continue  # a run that was killed before its table goes on with them
            articles = set(read_parquet(data_root, key, ["article_id"])["article_id"].to_list())
            for file in data_root.files(f"pixels/{store}/{batch}"):
                number = PurePosixPath(file.key).name.removesuffix(".parquet")
                if number.isdigit() and int(number) not in articles and file.written < before:
                    yield Leftover("pictures of articles that left their table", file)


def unused_objects(data_root: DataRoot, before: float) -> Iterator[Leftover]:
    """Yield objects that no registered batch refers to.

    A batch whose packages are not fetched yet refers to what its manifest names by MD5. Holds about a hundred bytes per
    file of all packages in memory. The notes that lead from MD5s to objects stay: whoever follows one looks whether the
    object is there.
    """
    wanted, awaited = _referred_objects(data_root)
    for file in data_root.files(MD5_NOTES):
        md5, _, suffix = PurePosixPath(file.key).name.partition(".")
        if md5 in awaited or f".{suffix}" == _METADATA:
            wanted.add(object_key_of_note(data_root.read(file.key)) or "")
    for file in data_root.files("objects"):
        if file.key.startswith(f"{MD5_NOTES}/") or PurePosixPath(file.key).name.startswith("."):
            continue
        if file.key not in wanted and file.written < before:
            yield Leftover("objects that nothing refers to", file)


def _referred_objects(data_root: DataRoot) -> tuple[set[str], set[str]]:
    """Return the keys that tables of registered batches name, and the MD5s that batches still to be fetched name."""
    registry, keys, md5s = BatchRegistry(data_root), set[str](), set[str]()
    for batch in registry.batches():
        table = f"tables/{PACKAGES}/{batch}.parquet"
        if data_root.exists(table):
            rows = read_parquet(data_root, table, ["pdf", "xml", "figure_files"])
            keys.update(key for column in ("pdf", "xml") for key in rows[column].drop_nulls().to_list())
            pictures = rows["figure_files"].explode(empty_as_null=False)
            keys.update(pictures.struct.field("key").drop_nulls().to_list())
            continue
        files = registry.manifest(batch)["files"].explode(empty_as_null=False)
        md5s.update(files.struct.field("md5").drop_nulls().to_list())
    return keys, md5s


def old_answers(data_root: DataRoot, models: Collection[str], before: float) -> Iterator[Leftover]:
    """Yield answers of models that are not set any more; what cannot be read stays."""
    for file in data_root.files("answers"):
        if file.written >= before or PurePosixPath(file.key).name.startswith("."):
            continue
        try:
            model = json.loads(data_root.read(file.key)).get("model")
        except (ValueError, AttributeError, StorageError):
            continue
        if model is not None and model not in models:
            yield Leftover("answers of models that are not set", file)


def old_versions(data_root: DataRoot, keep: int, sequence: Callable[[str], tuple[int, ...]]) -> Iterator[Leftover]:
    """Yield what is kept of releases, but for the newest `keep` of them.

    Args:
        data_root: where they are.
        keep: how many stay, the newest; at least one.
        sequence: order of versions by name.
    """
    files: dict[str, list[StoredFile]] = {}
    for file in data_root.files("release/versions"):
        files.setdefault(PurePosixPath(file.key).parts[2], []).append(file)
    versions = sorted((name for name in files if not name.startswith(".")), key=sequence)
    for version in versions[: -max(keep, 1)]:
        yield from (Leftover("facts of older releases", file) for file in files[version])
