"""Pictures apart from the facts: one Parquet file per article."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from pmo_assets.records.stores import Picture, StorageError
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import parquet_bytes
from pmo_assets.tables.pixels import Pixels
from pmo_assets.tables.schemas import empty_table

_LATER = "compact"
"""The one column that files of earlier versions lack; their pictures are as good without it."""


@dataclass(frozen=True)
class ParquetPixels:
    """`PixelStore` below a data root: one Parquet file per article in `pixels/<store>/<batch>/`."""

    data_root: DataRoot
    store: str
    batch: str

    def _key(self, article_id: int) -> str:
        return f"pixels/{self.store}/{self.batch}/{article_id}.parquet"

    def write(self, article_id: int, pictures: Sequence[Picture]) -> None:
        """Replace the article's pictures; no file remains when there is none."""
        if not pictures:
            self.data_root.delete(self._key(article_id))
            return
        rows = [{field.name: getattr(picture, field.name) for field in fields(Picture)} for picture in pictures]
        table = Pixels.validate(pl.DataFrame(rows, schema=empty_table(Pixels).schema))
        self.data_root.write(self._key(article_id), parquet_bytes(table, compress=False))

    def read(self, article_id: int) -> dict[str, Picture]:
        """Return the article's pictures by key; empty when it has none."""
        key = self._key(article_id)
        if not self.data_root.exists(key):
            return {}
        # pyarrow's reader of a single file: a third of the time of Polars', which a release asks of every article
        try:
            table = pq.ParquetFile(pa.BufferReader(self.data_root.read(key))).read(use_threads=False)
        except pa.ArrowException as error:
            raise StorageError(f"{self.data_root.uri(key)} is damaged ({error}): materialise it again") from error
        names = [field.name for field in fields(Picture)]
        if missing := set(names) - {_LATER} - set(table.column_names):
            raise StorageError(f"{self.data_root.uri(key)} has no {', '.join(sorted(missing))}: materialise it again")
        nulls = [None] * table.num_rows
        columns = [table.column(name).to_pylist() if name in table.column_names else nulls for name in names]
        return {picture[0]: Picture(*picture) for picture in zip(*columns, strict=True)}
