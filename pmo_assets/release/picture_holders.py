"""Rows of a release's files that hold pictures: whose each is, and whether its licence withholds it.

Rows of pairs and instructions name them by their number; the checks of both hold that against the files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pmo_assets.pipeline.dataset.licensing import withheld
from pmo_assets.records.pairs import PictureConfig
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.tables.released import KEYS

_ROWS_AT_ONCE: Final = 1 << 16

OWNER_COLUMNS: Final[Mapping[PictureConfig, tuple[str, ...]]] = {
    "figures": KEYS["figures"], "panels": KEYS["panels"], "videos": KEYS["videos"],
}  # fmt: skip
"""Columns by which a row that names a picture knows the row that holds it."""


@dataclass(frozen=True)
class PictureHolders:
    """The rows of a config's split, in the order of its files; nine bytes each.

    Attributes:
        config: that holds the pictures.
        owners: (rows,) uint64: hash of whose picture it is.
        closed: (rows,) bool: its licence withholds it.
    """

    config: PictureConfig
    owners: NDArray[np.uint64]
    closed: NDArray[np.bool_]

    @classmethod
    def of(cls, root: DataRoot, hub: str, config: PictureConfig, split: str) -> PictureHolders:
        """Return those of the files below a hub folder's key."""
        parts = list(split_rows(root, f"{hub}/data/{config}", split, (*OWNER_COLUMNS[config], "license")))
        closed = [np.array([withheld(code) for code in part["license"]], dtype=np.bool_) for part in parts]
        return cls(
            config,
            np.concatenate([np.empty(0, dtype=np.uint64), *(_owners(part, config) for part in parts)]),
            np.concatenate([np.empty(0, dtype=np.bool_), *closed]),
        )

    def strangers(self, rows: pl.DataFrame) -> int:
        """Count the rows whose `picture_row` is not there, or another figure's, panel's or lecture's."""
        there = self._there(rows)
        named = rows["picture_row"].to_numpy()[there]
        return int((~there).sum()) + int((self.owners[named] != _owners(rows, self.config)[there]).sum())

    def withheld(self, rows: pl.DataFrame) -> NDArray[np.bool_]:
        """Return of each row whether the licence of the picture that it names withholds it."""
        there = self._there(rows)
        found = np.zeros(rows.height, dtype=np.bool_)
        found[there] = self.closed[rows["picture_row"].to_numpy()[there]]
        return found

    def _there(self, rows: pl.DataFrame) -> NDArray[np.bool_]:
        named = rows["picture_row"].to_numpy()
        there: NDArray[np.bool_] = (named >= 0) & (named < len(self.owners))
        return there


def _owners(rows: pl.DataFrame, config: PictureConfig) -> NDArray[np.uint64]:
    return rows.select(OWNER_COLUMNS[config]).hash_rows().to_numpy()


def split_rows(
    root: DataRoot, folder: str, split: str, columns: Sequence[str], rows_at_once: int = _ROWS_AT_ONCE
) -> Iterator[pl.DataFrame]:
    """Yield the rows of a split's Parquet files in their order, some at a time."""
    for name in sorted(root.keys(folder, ".parquet")):
        if not name.startswith(f"{split}-"):
            continue
        with root.open_random(f"{folder}/{name}") as stream:
            for batch in pq.ParquetFile(stream).iter_batches(rows_at_once, columns=list(columns)):
                table = pl.from_arrow(batch)
                assert isinstance(table, pl.DataFrame)
                yield table.select(columns)
