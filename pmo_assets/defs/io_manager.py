"""The IO manager: writes an asset's rows into its table, and reads the table for the assets downstream."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import dagster as dg
import polars as pl

from pmo_assets.defs.run_leases import RunLeases, batch_lease
from pmo_assets.records.rejections import Rejection
from pmo_assets.records.units import ARTICLE, Unit
from pmo_assets.storage.provenance import Provenance
from pmo_assets.storage.tables import Tables

MADE_WITH: Final = "settings"
"""Metadata of a materialisation under which the options stand that change its result."""


@dataclass(frozen=True)
class StageResult:
    """Rows of an asset for a batch, with their provenance, as the IO manager takes them.

    Attributes:
        rows: for its table.
        rejections: inputs that it could not process.
        code_version: of the code that made the rows.
        parents: the assets of the batch upstream.
        applied: digest of the decisions of people that were applied; None for an asset that applies none.
        unit: kind of thing that its batch holds.
    """

    rows: Sequence[dict[str, Any]]
    rejections: Sequence[Rejection] = ()
    code_version: str | None = None
    parents: Sequence[str] = ()
    applied: str | None = None
    unit: Unit = ARTICLE


class ParquetTables(dg.IOManager):
    """Writes an asset's `StageResult` and reads its table for the assets downstream, batch by batch."""

    def __init__(
        self,
        tables: Tables,
        whole: Mapping[str, Callable[[], pl.DataFrame]] | None = None,
        settings_of: Callable[[str], Mapping[str, Any]] = lambda asset: {},
        shaping_of: Callable[[str], Mapping[str, Any]] = lambda asset: {},
    ) -> None:
        """Keep the tables, the readers of tables that are one for all batches, and the options that made them."""
        self._tables = tables
        self._settings_of = settings_of
        self._shaping_of = shaping_of
        self._whole = whole or {}

    def handle_output(self, context: dg.OutputContext, obj: StageResult) -> None:
        """Check and write the table and the stage's rejections."""
        asset, batch = context.asset_key.path[-1], context.partition_key
        leases: RunLeases = context.resources.run_leases
        settings = self._settings_of(asset)
        upstream = {name: self._tables.provenances(name, [batch]) for name in obj.parents}
        inputs = {name: made.identity if made else None for name, found in upstream.items() for made in found.values()}
        provenance = Provenance(obj.code_version or "", self._shaping_of(asset), inputs, obj.applied)
        fence = functools.partial(leases.fence, batch_lease(batch))
        fence()
        # The table says how it was made, and appears last: what is killed before has an old one, or none.
        self._tables.write_rejections(asset, batch, obj.rejections, obj.unit)
        table = self._tables.write(asset, batch, obj.rows, fence, provenance)
        context.add_output_metadata(
            {
                **({MADE_WITH: dg.MetadataValue.json(dict(settings))} if settings else {}),
                "dagster/row_count": table.height,
                "dagster/partition_row_count": table.height,
                "path": dg.MetadataValue.path(self._tables.data_root.uri(self._tables.key(asset, batch))),
            }
        )

    def load_input(self, context: dg.InputContext) -> pl.DataFrame:
        """Return the upstream asset's table of the batch, or its one table for all batches."""
        name = context.asset_key.path[-1]
        return self._whole[name]() if name in self._whole else self._tables.read(name, context.partition_key)
