"""The tables of all assets below a data root, batch by batch, and the rejections of each step."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from pmo_assets.records.packages import REGISTRATION_STAGE
from pmo_assets.records.rejections import Rejection
from pmo_assets.records.stores import StorageError
from pmo_assets.records.units import ARTICLE, Unit
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.manifests import in_sequence, manifest_key
from pmo_assets.storage.parquet import parquet_bytes, read_columns, read_metadata, read_parquet
from pmo_assets.storage.provenance import METADATA_KEY, Provenance, provenance_in
from pmo_assets.storage.removed import removed_batches
from pmo_assets.tables.rejections import Rejections, rejection_row, rejections_schema
from pmo_assets.tables.schemas import checked, empty_table, schema_of


@dataclass(frozen=True)
class Tables:
    """The tables of all assets below a data root."""

    data_root: DataRoot

    def key(self, asset: str, batch: str) -> str:
        """Return where an asset's table of a batch lies below the root."""
        return f"tables/{asset}/{batch}.parquet"

    def exists(self, asset: str, batch: str) -> bool:
        """Say whether the table has been written."""
        return self.data_root.exists(self.key(asset, batch))

    def read(self, asset: str, batch: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return an asset's table of a batch, or some of its columns.

        Raises:
            StorageError: if it is missing or damaged, or if its columns, or fields of structs in them, are not those of
                the present schema.
        """
        key = self.key(asset, batch)
        if not self.data_root.exists(key):
            raise StorageError(f"{asset} has no table for batch {batch}: materialise {asset} for it first")
        other = StorageError(
            f"{asset} of batch {batch} was written by a version with other columns: run `pmo run`, or materialise "
            "it again in the UI"
        )
        try:
            table = read_parquet(self.data_root, key, columns)
        except pl.exceptions.ColumnNotFoundError:
            raise other from None
        expected = empty_table(schema_of(asset)).schema
        # With their types: images in a panel are structs, whose fields differ while the columns are the same.
        wanted = expected if columns is None else columns
        if list(table.schema.items()) != [(name, expected.get(name)) for name in wanted]:
            raise other
        return table

    def read_batches(self, asset: str, batches: Sequence[str], columns: Sequence[str]) -> pl.DataFrame:
        """Return columns of an asset's tables of many batches; column `batch` says which one a row is of.

        Columns are not compared with the present schema: this is for tables that are known to be up to date.

        Raises:
            StorageError: if a table is missing or damaged, or lacks a column.
        """
        if not batches:
            schema = empty_table(schema_of(asset)).select(columns).schema
            return pl.DataFrame(schema={"batch": pl.Enum([]), **schema})
        files = {batch: self.key(asset, batch) for batch in batches}
        return read_columns(self.data_root, files, columns).rename({"file": "batch"})

    def write(
        self,
        asset: str,
        batch: str,
        rows: pl.DataFrame | Sequence[dict[str, Any]],
        fence: Callable[[], None] = lambda: None,
        provenance: Provenance | None = None,
    ) -> pl.DataFrame:
        """Check rows against the asset's schema, write them whole or not at all, and return them.

        Args:
            asset: whose table it is.
            batch: of which.
            rows: all of them.
            fence: called when all is ready, directly before the table appears; an error of it leaves what was there.
            provenance: of the table, without `rows`, which is added; None keeps no provenance.
        """
        table = checked(schema_of(asset), rows)
        content = parquet_bytes(table)
        if provenance is not None:
            made = replace(provenance, rows=hashlib.sha256(content).hexdigest())
            content = parquet_bytes(table, metadata={METADATA_KEY: made.as_json()})
        with self.data_root.writing(self.key(asset, batch)) as stream:
            stream.write(content)
            fence()
        return table

    def provenances(self, asset: str, batches: Collection[str] | None = None) -> dict[str, Provenance | None]:
        """Return how an asset's tables were made, by batch; None for a table that does not say it.

        Args:
            asset: whose tables.
            batches: of which; of all if None. Batches without a table are left out.
        """
        there = self.batches(asset) if batches is None else [name for name in batches if self.exists(asset, name)]
        files = {batch: self.key(asset, batch) for batch in there}
        return {batch: provenance_in(found) for batch, found in read_metadata(self.data_root, files).items()}

    def batches(self, asset: str) -> list[str]:
        """Return the batches for which the asset has a table, without removed ones, in the order of registration."""
        names = self.data_root.keys(f"tables/{asset}", ".parquet")
        removed = removed_batches(self.data_root) if names else frozenset()
        return in_sequence({name.removesuffix(".parquet") for name in names} - removed)

    def is_complete(self, asset: str, batch: str) -> bool:
        """Say whether both table and rejections of a batch asset have been written; one alone is half an asset."""
        return self.exists(asset, batch) and self.data_root.exists(_rejections_key(asset, batch))

    def complete_batches(self, asset: str) -> list[str]:
        """Return the batches of which `is_complete` is true, in the order in which they were registered."""
        noted = set(self.data_root.keys(f"rejections/{asset}", ".parquet"))
        return [batch for batch in self.batches(asset) if f"{batch}.parquet" in noted]

    def write_rejections(self, stage: str, batch: str, rejections: Sequence[Rejection], unit: Unit = ARTICLE) -> None:
        """Replace the rejections of a stage in a batch; each row bears the name by which people know its unit."""
        rows = [rejection_row(item, unit) for item in rejections]
        order = (unit.key, unit.part, "error_class", "message")
        table = self._with_owners(checked(rejections_schema(unit), rows), batch, unit).sort(order)
        self.data_root.write(_rejections_key(stage, batch), parquet_bytes(table))

    def read_rejections(self, stages: Sequence[str], batch: str, unit: Unit = ARTICLE) -> pl.DataFrame:
        """Return the rejections of stages in a batch, in the stages' order."""
        keys = [_rejections_key(stage, batch) for stage in stages]
        tables = [read_parquet(self.data_root, key) for key in keys if self.data_root.exists(key)]
        # Those that earlier versions wrote name no package.
        read = pl.concat([empty_table(rejections_schema(unit)), *tables], how="diagonal")
        return self._with_owners(read, batch, unit)

    def write_registration_rejections(self, source: str, rejections: Sequence[Rejection]) -> None:
        """Replace the rejections of a source (its URI) at registration."""
        if rejections:
            self.write_rejections(REGISTRATION_STAGE, _source_name(source), rejections)
        else:
            self.data_root.delete(_rejections_key(REGISTRATION_STAGE, _source_name(source)))

    def registration_rejections(self, source: str | None = None) -> pl.DataFrame:
        """Return the rejections of a source, or of all sources, from the last look at each."""
        if source is not None:
            return self.read_rejections([REGISTRATION_STAGE], _source_name(source))
        names = self.data_root.keys(f"rejections/{REGISTRATION_STAGE}", ".parquet")
        tables = [self.read_rejections([REGISTRATION_STAGE], name.removesuffix(".parquet")) for name in names]
        return pl.concat([empty_table(Rejections), *tables])

    def _with_owners(self, rejections: pl.DataFrame, batch: str, unit: Unit) -> pl.DataFrame:
        """Return rejections with the name by which people know the unit, where the batch's manifest has it."""
        manifest = manifest_key(batch, unit)
        if not rejections[unit.owner].null_count() or not self.data_root.exists(manifest):
            return rejections
        names = dict(read_parquet(self.data_root, manifest, (unit.key, "name")).iter_rows())
        own = pl.col(unit.key).replace_strict(names, default=None, return_dtype=pl.String)
        return rejections.with_columns(pl.coalesce(unit.owner, own).alias(unit.owner))


def _rejections_key(stage: str, batch: str) -> str:
    return f"rejections/{stage}/{batch}.parquet"


def _source_name(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()[:16]
