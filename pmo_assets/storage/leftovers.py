"""Leftovers: files below a data root that nothing refers to, found and deleted for `pmo clean`.

Only files that were written long enough ago count, so that a run at work loses nothing: it writes objects and pictures
first and the table that refers to them at the end of its step. Age alone is not enough: a run uses an object again that
has lain there for days. So between finding a file and deleting it there is another look (`delete`): under the lease
that keeps everybody away from it, at whether something refers to it now, and whether it was written or used meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, groupby
from pathlib import PurePosixPath
from typing import Final

from pmo_assets.records.packages import REGISTRATION_STAGE
from pmo_assets.records.stores import StorageError
from pmo_assets.records.units import ARTICLE, Unit
from pmo_assets.storage.data_root import DataRoot, FileFacts, StoredFile
from pmo_assets.storage.leases import CLEARING, Lease, LeaseLost, LeaseTaken, clearing, holding, seconds
from pmo_assets.storage.manifests import Manifests
from pmo_assets.storage.objects import MD5_NOTES, md5_note_key, object_key, object_key_of_note
from pmo_assets.storage.parquet import read_parquet
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.removed import removed_batches, removed_before
from pmo_assets.system.aside import SUFFIX
from pmo_assets.tables.schemas import schema_of

DAY: Final = 86_400.0
"""Seconds; a younger file is never taken for a leftover."""

_PURPOSE: Final = "pmo clean"

PACKAGES: Final = "article_packages"
"""The table that refers to objects."""

_METADATA: Final = ".json"
"""Ending of PMC's metadata files: their objects are kept for the next search, though no table names them."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """A file that can go.

    Attributes:
        kind: reason, in a few words for people.
        file: the file.
        lease: name of the lease under which it is deleted; None for a file that nobody writes any more.
        still: says whether nothing refers to it, by a look after a moment (of `leases.seconds`).
    """

    kind: str
    file: StoredFile
    lease: str | None = None
    still: Callable[[float], bool] = field(default=lambda _: True, compare=False)


def _batch_lease(batch: str) -> str:
    return f"batches/{batch}"


@dataclass(frozen=True)
class KnownLayout:
    """Tables and pixel stores that the present version reads.

    Attributes:
        assets: assets with a table per batch.
        pixel_stores: names of pixel stores, each with the table whose units have pictures in it.
        units: what batches hold; a store is of the unit whose number its table has.
    """

    assets: Collection[str]
    pixel_stores: Mapping[str, str]
    units: Sequence[Unit] = (ARTICLE,)

    def batches(self, data_root: DataRoot) -> set[str]:
        """Return the keys of all registered batches, of whatever unit."""
        return {batch for unit in self.units for batch in Manifests(data_root, unit).batches()}


def half_written(data_root: DataRoot, before: float) -> Iterator[Leftover]:
    """Yield the files that killed processes left half-written."""
    for file in data_root.files(""):
        name = PurePosixPath(file.key).name
        if name.startswith(".") and name.endswith(SUFFIX) and file.written < before:
            yield Leftover("half-written files", file)


def _kept_batches(data_root: DataRoot, before: float, units: Sequence[Unit] = (ARTICLE,)) -> set[str]:
    """Return the keys of the batches that are registered, and of those that were removed a moment ago.

    All files of a batch that was removed before are older, too, so that they go at one time: whoever brings it back
    finds all of them or none.
    """
    found: set[str] = set()
    for unit in units:
        manifests = Manifests(data_root, unit)
        recently = removed_batches(data_root, unit) - removed_before(data_root, before, unit)
        found |= {*manifests.batches(), *recently.intersection(manifests.every_batch())}
    return found


def foreign_tables(data_root: DataRoot, layout: KnownLayout, before: float) -> Iterator[Leftover]:
    """Yield tables, rejections and pictures of batches that are not registered, or of assets that there are no more."""
    batches = _kept_batches(data_root, before, layout.units)

    def still(batch: str) -> Callable[[float], bool]:
        return lambda _: batch not in _kept_batches(data_root, before, layout.units)

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
                yield Leftover("of assets that there are no more", file, _batch_lease(batch))
            elif parts[1] != REGISTRATION_STAGE and batch not in batches:
                yield Leftover("of batches that are not registered", file, _batch_lease(batch), still(batch))


def unused_pictures(data_root: DataRoot, layout: KnownLayout, before: float) -> Iterator[Leftover]:
    """Yield pictures, made by earlier settings or versions, of units that have left the pictures' table."""
    for store, asset in layout.pixel_stores.items():
        number_of = next(unit.key for unit in layout.units if unit.key in schema_of(asset).columns())
        for batch in layout.batches(data_root):
            key = f"tables/{asset}/{batch}.parquet"
            if (facts := data_root.facts(key)) is None:
                continue  # a run that was killed before its table goes on with them

            def still(_: float, key: str = key, facts: FileFacts = facts) -> bool:
                return data_root.facts(key) == facts

            shown = set(read_parquet(data_root, key, [number_of])[number_of].to_list())
            for file in data_root.files(f"pixels/{store}/{batch}"):
                number = PurePosixPath(file.key).name.removesuffix(".parquet")
                if number.isdigit() and int(number) not in shown and file.written < before:
                    yield Leftover("pictures of articles that left their table", file, _batch_lease(batch), still)


def unused_objects(data_root: DataRoot, before: float) -> Iterator[Leftover]:
    """Yield objects that no registered batch refers to.

    A batch whose packages are not fetched yet refers to what its manifest names by checksum. Holds about a hundred
    bytes per file of all packages in memory. The notes that lead from MD5s to objects stay: whoever follows one looks
    whether the object is there.
    """
    references = _References(data_root, before)
    for file in data_root.files("objects"):
        if file.key.startswith(f"{MD5_NOTES}/") or PurePosixPath(file.key).name.startswith("."):
            continue
        if file.written < before and not references.name(file.key):

            def still(since: float, key: str = file.key) -> bool:
                references.look_again(since)
                return not references.name(key)

            yield Leftover("objects that nothing refers to", file, CLEARING, still)


class _References:
    """The keys of objects that batches refer to, and PMC's metadata files.

    Another look reads the tables and manifests that came or changed since the last one. What a table named once is kept
    as referred to.
    """

    def __init__(self, data_root: DataRoot, before: float) -> None:
        """Look at everything; batches that were removed since `before` refer to what their tables name."""
        self._data_root, self._before, self._seen = data_root, before, dict[str, FileFacts]()
        self._looked = seconds()
        self._keys, awaited = self._new_ones()
        for file in data_root.files(MD5_NOTES):
            note = PurePosixPath(file.key).name
            if file.key in awaited or f".{note.partition('.')[2]}" == _METADATA:
                self._keys.add(object_key_of_note(data_root.read(file.key)) or "")

    def name(self, key: str) -> bool:
        """Say whether something referred to an object at the last look."""
        return key in self._keys

    def look_again(self, since: float) -> None:
        """Look whether there are new references, unless somebody has looked since a moment."""
        if self._looked >= since:
            return
        self._looked = seconds()
        keys, notes = self._new_ones()
        self._keys |= keys
        for note in notes:
            if self._data_root.exists(note):
                self._keys.add(object_key_of_note(self._data_root.read(note)) or "")

    def _new_ones(self) -> tuple[set[str], set[str]]:
        """Return the keys that new tables and manifests refer to: of objects, and of notes that lead to objects."""
        registry, folder = BatchRegistry(self._data_root), f"tables/{PACKAGES}"
        registered = registry.batches()
        tables = {file.name: file for file in self._data_root.folder_facts(folder, ".parquet")}
        keys, notes = set[str](), set[str]()
        for batch in sorted({*registered, *_kept_batches(self._data_root, self._before)}):
            table, manifest = tables.get(f"{batch}.parquet"), f"manifests/{batch}.parquet"
            if table is not None and self._seen.get(table.name) != table:
                self._seen[table.name] = table
                keys |= _named_by_table(self._data_root, f"{folder}/{table.name}")
            elif table is None and manifest not in self._seen and batch in registered:
                self._seen[manifest] = FileFacts(manifest, 0, datetime.min)  # it never changes
                for suffix, sha256, md5 in _files_of(registry, batch):
                    keys |= {object_key(sha256, suffix)} if sha256 is not None else set()
                    notes |= {md5_note_key(md5, suffix)} if md5 is not None else set()
        return keys, notes


def _named_by_table(data_root: DataRoot, table: str) -> set[str]:
    """Return the keys of objects that a table of packages names."""
    rows = read_parquet(data_root, table, ["pdf", "xml", "figure_files"])
    pictures = rows["figure_files"].explode(empty_as_null=False).struct.field("key")
    return {key for column in (rows["pdf"], rows["xml"], pictures) for key in column.drop_nulls().to_list()}


def _files_of(registry: BatchRegistry, batch: str) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield ending, SHA-256 and MD5 of each file of a batch, as its manifest states them."""
    for file in registry.manifest(batch)["files"].explode(empty_as_null=False).drop_nulls().to_list():
        yield PurePosixPath(file["path"]).suffix.lower(), file["sha256"], file["md5"]


def old_answers(data_root: DataRoot, models: Collection[str], before: float) -> Iterator[Leftover]:
    """Yield answers of models that are not set any more; a file that cannot be read stays."""
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
    """Yield the kept facts of all releases but the newest `keep`.

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
        yield from (Leftover("facts of older releases", file, "release") for file in files[version])


SHORTLY: Final = 5.0
"""Seconds for which a lease is held at a time: others wait for it."""

_SAME_TIME: Final = 1.0
"""Seconds by which two answers about one file differ: S3 lists milliseconds, and states seconds when asked for one."""


def delete(
    data_root: DataRoot,
    found: Iterable[Leftover],
    *,
    is_over: Callable[[str], bool],
    busy: Callable[[str, LeaseTaken | LeaseLost], None],
) -> Iterator[Leftover]:
    """Delete leftovers, each after another look, and yield those that were deleted.

    Args:
        data_root: where they lie.
        found: leftovers that could go.
        is_over: see `leases.take`.
        busy: told of a kind of leftovers of which some stay, because somebody writes there.

    Raises:
        StorageError: if the data root cannot be read or written.
    """
    for (lease, kind), group in groupby(found, key=lambda item: (item.lease, item.kind)):
        rest = iter(group)
        for first in rest:  # goes on where the last turn ended
            gone: list[Leftover] = []
            try:
                with _keeping_away(data_root, lease, is_over) as held:
                    _delete_for_a_while(data_root, chain([first], rest), held, gone)
            except (LeaseTaken, LeaseLost) as error:
                busy(kind, error)
                yield from gone
                break
            yield from gone


def _keeping_away(
    data_root: DataRoot, lease: str | None, is_over: Callable[[str], bool]
) -> AbstractContextManager[Lease | None]:
    if lease is None:
        return nullcontext()
    if lease == CLEARING:
        return clearing(data_root, _PURPOSE, is_over=is_over)
    return holding(data_root, lease, _PURPOSE, is_over=is_over)


def _delete_for_a_while(
    data_root: DataRoot, items: Iterable[Leftover], held: Lease | None, gone: list[Leftover]
) -> None:
    begun = sure = seconds()
    for item in items:
        if _is_untouched(data_root, item.file) and item.still(begun):
            if held is not None and seconds() - sure > SHORTLY:
                held.renew()  # this process was stopped: who came meanwhile has taken the lease away
                sure = seconds()
            data_root.delete(item.file.key)
            gone.append(item)
        if seconds() - begun > SHORTLY:
            return


def _is_untouched(data_root: DataRoot, file: StoredFile) -> bool:
    """Say whether a file is as it was found: neither written nor used again, nor gone."""
    now = data_root.facts(file.key)
    return now is not None and now.size == file.size and abs(now.changed.timestamp() - file.written) < _SAME_TIME
