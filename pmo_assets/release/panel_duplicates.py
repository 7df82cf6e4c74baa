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
