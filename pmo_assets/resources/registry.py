"""The registry of article batches: the manifests below the data root."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from pmo_assets import schemas
from pmo_assets.pipeline.articles.batches import in_sequence, manifest_rows, new_batches
from pmo_assets.pipeline.articles.packages import ArticleSource, PackageListing
from pmo_assets.resources.storage import DataRoot, parquet_bytes, read_parquet


@dataclass(frozen=True)
class BatchRegistry:
    """Manifests of article batches; a manifest is written once and never changed."""

    data_root: DataRoot

    def batches(self) -> list[str]:
        """Return the keys of all batches in order."""
        return in_sequence(name.removesuffix(".parquet") for name in self.data_root.keys("manifests", ".parquet"))

    def manifest(self, batch: str) -> pl.DataFrame:
        """Return the manifest of a batch (table `article_batch`).

        Raises:
            StorageError: if there is none.
        """
        return read_parquet(self.data_root, f"manifests/{batch}.parquet")

    def add(
        self, source: ArticleSource, size: int, progress: Callable[[PackageListing], None] = lambda _: None
    ) -> list[tuple[str, int]]:
        """Register what the source holds and no manifest does; return (key, number of articles) of the new batches.

        Args:
            source: where the packages are.
            size: articles per batch.
            progress: told of each package as it is listed.
        """
        keys = self.batches()
        registered = [
            row for key in keys for row in self.manifest(key).select("article_id", "version", "digest").iter_rows()
        ]
        listings = []
        for listing in source.listings():
            progress(listing)
            listings.append(listing)
        added = []
        for key, group in new_batches(listings, registered=registered, existing_keys=keys, size=size):
            table = schemas.checked(schemas.ArticleBatch, manifest_rows(group, source.uri))
            self.data_root.write(f"manifests/{key}.parquet", parquet_bytes(table))
            added.append((key, len(group)))
        return added
