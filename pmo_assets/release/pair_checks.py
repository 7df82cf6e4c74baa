"""Check of a release's pairs against the tables that hold their pictures, as the files say it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pmo_assets.pipeline.dataset.licensing import withheld
from pmo_assets.pipeline.dataset.splits import SPLITS
from pmo_assets.records.pairs import PICTURE_CONFIGS, PictureConfig
from pmo_assets.storage.data_root import DataRoot

_ROWS_AT_ONCE: Final = 1 << 16

_OWNER: Final = {"figures": ("article_id", "image_cluster_id"), "panels": ("panel_id",)}
"""Columns by which a pair knows the row that holds its picture."""


def pair_faults(root: DataRoot, hub: str, *, withhold: bool = True) -> dict[str, int]:
    """Count the pairs of a release that are wrong, by what is; zeros if all is well.

    Nine bytes a panel are kept, and some thousand pairs at a time.

    Args:
        root: of the release.
        hub: key of the hub's folder.
        withhold: the release withholds what licences forbid.

    Returns:
        "no picture": the row that the pair names is not there, or another figure's or panel's; "withheld": its licence
        does not let picture and text be passed on; "box": it reaches out of the picture, or has no area; "text": none.
    """
    faults = dict.fromkeys(("no picture", "withheld", "box", "text"), 0)
    for split in SPLITS:
        holders: dict[PictureConfig, tuple[NDArray[np.uint64], NDArray[np.bool_]]] = {
            config: _holders(root, hub, config, split) for config in PICTURE_CONFIGS
        }
        for pairs in _read(root, f"{hub}/data/pairs", split, _PAIR_COLUMNS):
            edges = (pl.col("box").list.get(place, null_on_oob=True) for place in range(4))
            left, top, right, bottom = edges
            inside = (left >= 0) & (top >= 0) & (right <= 1) & (bottom <= 1) & (left < right) & (top < bottom)
            faults["box"] += int(pairs.select((~inside.fill_null(False)).sum()).item())
            faults["text"] += int(pairs.select((pl.col("text").fill_null("").str.strip_chars() == "").sum()).item())
            for config, (owners, closed) in holders.items():
                own = pairs.filter(picture_config=config)
                rows = own["picture_row"].to_numpy()
                there = rows < len(owners)
                faults["no picture"] += int((~there).sum())
                found = rows[there]
                faults["no picture"] += int((owners[found] != _owners(own, config)[there]).sum())
                faults["withheld"] += int(closed[found].sum()) if withhold else 0
    return faults


_PAIR_COLUMNS: Final = (
    "picture_config", "picture_row", "box", "text", "article_id", "image_cluster_id", "panel_id",
)  # fmt: skip


def _holders(
    root: DataRoot, hub: str, config: PictureConfig, split: str
) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Return of each row of a config's split whose picture it holds, and whether its licence withholds it."""
    parts = list(_read(root, f"{hub}/data/{config}", split, (*_OWNER[config], "license")))
    owners = [_owners(part, config) for part in parts]
    closed = [np.array([withheld(code) for code in part["license"]], dtype=np.bool_) for part in parts]
    return (
        np.concatenate([np.empty(0, dtype=np.uint64), *owners]),
        np.concatenate([np.empty(0, dtype=np.bool_), *closed]),
    )


def _owners(rows: pl.DataFrame, config: PictureConfig) -> NDArray[np.uint64]:
    return rows.select(_OWNER[config]).hash_rows().to_numpy()


def _read(root: DataRoot, folder: str, split: str, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Yield the rows of a split's files in their order."""
    for name in sorted(root.keys(folder, ".parquet")):
        if not name.startswith(f"{split}-"):
            continue
        with root.open_random(f"{folder}/{name}") as stream:
            for batch in pq.ParquetFile(stream).iter_batches(_ROWS_AT_ONCE, columns=list(columns)):
                table = pl.from_arrow(batch)
                assert isinstance(table, pl.DataFrame)
                yield table.select(columns)
