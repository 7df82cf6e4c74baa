"""Manifests of a unit's batches: each is written once, never changed, and has a place of its own in the sequence.

Commands may register at the same time, on several machines, and be killed at any moment. A batch takes its place by
creating `claims/<sequence>.parquet`, which only one command can; the claim is the whole manifest: whoever sees a claim
without one writes it, so that nothing is lost. What belongs here: what holds of every unit. What does not: which things
of a source are new, which is the source's business (`storage.registry` for articles).
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from pmo_assets.records.faults import is_read_only
from pmo_assets.records.stores import StorageError
from pmo_assets.records.units import ARTICLE, Unit
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import parquet_bytes, read_columns, read_parquet
from pmo_assets.storage.removed import removed_batches
from pmo_assets.tables.schemas import checked, schema_of

_BATCH: Final = "pmo/batch"
"""Key of the Parquet metadata under which a manifest says which batch it is of."""


def sequence_of(key: str) -> int:
    """Return the sequence number of a batch, by which batches are ordered; 0 for a foreign key."""
    number = key.split("-")[0]
    return int(number) if number.isdigit() else 0


def manifest_key(batch: str, unit: Unit = ARTICLE) -> str:
    """Return where a batch's manifest lies below the root."""
    return f"{unit.folder}manifests/{batch}.parquet"


def in_sequence(keys: Iterable[str]) -> list[str]:
    """Return the keys of batches in the order in which they were registered."""
    return sorted(keys, key=lambda key: (sequence_of(key), key))


def next_sequence(existing: Iterable[str]) -> int:
    """Return the sequence number of the next batch, from 1."""
    return max(map(sequence_of, existing), default=0) + 1


def batch_key(sequence: int, contents: Iterable[tuple[int, str]]) -> str:
    """Return the key of a batch, e.g. `0001-3f2a9c1d`.

    Args:
        sequence: its number.
        contents: (number, digest) of each unit.
    """
    content = "\n".join(f"{number} {digest}" for number, digest in contents)
    return f"{sequence:04d}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"


def has_batches(data_root: DataRoot, unit: Unit) -> bool:
    """Say whether a batch of a unit was ever registered below a data root; writes nothing."""
    return bool(data_root.keys(f"{unit.folder}manifests", ".parquet"))


@dataclass(frozen=True)
class Manifests:
    """The manifests of a unit below a data root.

    A manifest is a table `<unit>_batch`, with the unit's number, `name`, `digest` (of what the unit is) and whatever
    else its schema has.
    """

    data_root: DataRoot
    unit: Unit = ARTICLE

    def batches(self) -> list[str]:
        """Return the keys of the batches that were not removed, in order; see `every_batch`."""
        removed = removed_batches(self.data_root, self.unit)
        return [key for key in self.every_batch() if key not in removed]

    def every_batch(self) -> list[str]:
        """Return the keys of all batches in order; a manifest that a killed command left unwritten is written."""
        folder = self.unit.folder
        claims = self.data_root.keys(f"{folder}claims", ".parquet")
        keys = [name.removesuffix(".parquet") for name in self.data_root.keys(f"{folder}manifests", ".parquet")]
        complete = {sequence_of(key) for key in keys}
        missing = [name for name in claims if sequence_of(name.removesuffix(".parquet")) not in complete]
        keys += [key for key in map(self._completed, missing) if key is not None]
        return in_sequence(keys)

    def sizes(self) -> dict[str, int]:
        """Return how many units every batch has, by its key, in order."""
        files = {key: manifest_key(key, self.unit) for key in self.batches()}
        if not files:
            return {}
        counted = dict(read_columns(self.data_root, files, ()).group_by("file").len().iter_rows())
        return {key: counted.get(key, 0) for key in files}

    def manifest(self, batch: str) -> pl.DataFrame:
        """Return the manifest of a batch (table `<unit>_batch`).

        Raises:
            StorageError: if there is none, or the batch was removed.
        """
        self.check(batch)
        return checked(schema_of(self.unit.batch), read_parquet(self.data_root, manifest_key(batch, self.unit)))

    def check(self, batch: str) -> None:
        """Make sure that a batch is registered: somebody may have invented its partition in the UI.

        Raises:
            StorageError: if it is not, or was removed; the message says what to do.
        """
        if batch in removed_batches(self.data_root, self.unit):
            raise StorageError(f"batch {batch} was removed: `pmo batches restore {batch}` brings it back")
        if not self.data_root.exists(manifest_key(batch, self.unit)) and batch not in self.every_batch():
            raise StorageError(
                f"there is no batch {batch}: batches are made by `pmo batches add` or `pmo refresh`, never in the UI; "
                f"`pmo batches remove {batch}` takes its partition away"
            )

    def add(self, rows: Sequence[Mapping[str, Any]], size: int) -> list[tuple[str, int]]:
        """Register units that no manifest holds with the same digest; return (key, number of units) of the new batches.

        Args:
            rows: of `<unit>_batch`.
            size: units per batch.
        """
        added: list[tuple[str, int]] = []
        while True:
            # The place first: a batch that appears between the two looks takes it, and is seen then.
            sequence = next_sequence(self.every_batch())
            known = {pair for key in self.batches() for pair in self._contents(key)}
            new = [row for row in rows if (row[self.unit.key], row["digest"]) not in known]
            new.sort(key=lambda row: row[self.unit.key])
            groups = [new[first : first + size] for first in range(0, len(new), size)]
            for number, group in enumerate(groups, start=sequence):
                table = checked(schema_of(self.unit.batch), [dict(row) for row in group])
                key = batch_key(number, table.select(self.unit.key, "digest").iter_rows())
                if not self.claim(key, table):
                    break
                added.append((key, len(group)))
            else:
                return added

    def claim(self, batch: str, manifest: pl.DataFrame, said: Mapping[str, str] | None = None) -> bool:
        """Take a batch's place in the sequence and write its manifest; False if the place is taken.

        Args:
            batch: its key.
            manifest: table of its units.
            said: further metadata of the file.
        """
        content = parquet_bytes(manifest, metadata={_BATCH: batch, **(said or {})})
        if not self.data_root.create(f"{self.unit.folder}claims/{sequence_of(batch):04d}.parquet", content):
            return False
        self.data_root.write(manifest_key(batch, self.unit), content)
        return True

    def _contents(self, batch: str) -> list[tuple[int, str]]:
        table = read_parquet(self.data_root, manifest_key(batch, self.unit), [self.unit.key, "digest"])
        return list(table.iter_rows())

    def _completed(self, claim: str) -> str | None:
        """Write the manifest of a claim and return the batch; None where it cannot be: nobody has used it yet."""
        place = f"{self.unit.folder}claims/{claim}"
        content = self.data_root.read(place)
        try:
            batch = pl.read_parquet_metadata(io.BytesIO(content))[_BATCH]
        except (pl.exceptions.ComputeError, KeyError) as error:
            raise StorageError(
                f"{self.data_root.uri(place)} is damaged: delete it and register its {self.unit.names} again"
            ) from error
        try:
            self.data_root.write(manifest_key(batch, self.unit), content)
        except StorageError as error:
            if is_read_only(error):
                return None
            raise
        return batch
