"""Which panels of a release look the same, and the split of every article, which follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from pmo_assets.pipeline.dataset.near_duplicates import near_duplicate_groups
from pmo_assets.pipeline.dataset.splits import SplitOptions, article_splits
from pmo_assets.release.facts import SplitFacts
from pmo_assets.release.selection import Selection
from pmo_assets.release.writing import SPLITS, ReleaseOptions, released_rows
from pmo_assets.storage.parquet import parquet_bytes, read_parquet
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.release import ArticleSplits, PanelDuplicates
from pmo_assets.tables.schemas import checked

_COLUMNS: Final = ("panel_id", "article_id", "year", "perceptual_hash", "picture_sha256")


@dataclass(frozen=True)
class PanelGroups:
    """What was found.

    Attributes:
        duplicates: `PanelDuplicates`: every panel that looks like another one.
        splits: `ArticleSplits`: every article that has panels.
        facts: the counts.
        split_options: how articles were split.
        panels: how many panels were looked at.
    """

    duplicates: pl.DataFrame
    splits: pl.DataFrame
    facts: SplitFacts
    split_options: SplitOptions
    panels: int

    def options(self) -> Mapping[str, Any]:
        """Return how articles were split, for the manifest."""
        return {"split_shares": list(self.facts.shares.values()), "test_from_year": self.facts.test_from_year}


def find_panel_duplicates(
    tables: Tables, selection: Selection, options: ReleaseOptions, split_options: SplitOptions
) -> PanelGroups:
    """Find the panels that look the same over all batches, and give every article its split.

    Memory: about 200 bytes a panel, and what `near_duplicate_groups` takes.

    Args:
        tables: the tables below the data root.
        selection: see `select_articles`.
        options: what the release takes.
        split_options: shares, and from which year on articles are for testing.

    Raises:
        StorageError: if a batch's rows are missing or of another version.
    """
    panels = _panels(tables, selection, options)
    hashes = np.frombuffer(b"".join(panels["perceptual_hash"]), dtype=np.uint8).reshape(panels.height, -1)
    articles = panels["article_id"].to_numpy()
    found = near_duplicate_groups(
        hashes.reshape(panels.height, HASH_BYTES), panels["picture_sha256"].to_numpy(), articles
    )
    grouped = panels.select("panel_id", "article_id").with_columns(
        group=found.group, representative=found.representative, distance=found.distance, kind=pl.Series(found.kind)
    )
    grouped = grouped.filter(pl.col("group") >= 0)
    links = grouped.select("group", "article_id").unique()
    years = panels.group_by("article_id").agg(pl.col("year").first()).sort("article_id")
    splits = article_splits(
        years["article_id"].to_numpy(), years["year"].to_list(), links["group"].to_numpy(), links["article_id"].to_numpy(),
        split_options,
    )
    raise NotImplementedError(splits)


def _panels(tables: Tables, selection: Selection, options: ReleaseOptions) -> pl.DataFrame:
    """Return what is compared of all panels: ids, year, hash and digest as bytes."""
    parts = [
        released_rows(tables, batch, articles, options, _COLUMNS).with_columns(
            pl.col("perceptual_hash").str.decode("hex"), pl.col("picture_sha256").str.decode("hex")
        )
        for batch, articles in selection.current.items()
    ]
    return pl.concat(parts)
