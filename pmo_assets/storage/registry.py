"""The registry of article batches: the manifests below the data root.

Commands may register at the same time, on several machines, and be killed at any moment. Each batch takes its place in
the sequence by creating `claims/<sequence>.parquet`, which only one command can; what it holds was computed from all
claims before it. The claim is the whole manifest: whoever sees a claim without one writes it, so that nothing is lost.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import polars as pl

from pmo_assets.records.faults import is_read_only
from pmo_assets.records.packages import ArticleSource, PackageListing
from pmo_assets.records.rejections import Rejection
from pmo_assets.records.stores import StorageError
from pmo_assets.storage.batches import (
    duplicate_packages,
    in_sequence,
    manifest_rows,
    new_batches,
    sequence_of,
)
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import parquet_bytes, read_columns, read_parquet
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.articles import ArticleBatch
from pmo_assets.tables.schemas import checked, empty_table


def _kind(source: str) -> str:
    """Return the kind of a source: its URI's scheme.

    Digests of two kinds are made of other checksums (`package_digest`), so that they say nothing about each other.
    """
    return source.partition("://")[0] if "://" in source else "file"


_BATCH = "pmo/batch"
"""Key of the Parquet metadata under which a manifest says which batch it is of."""


@dataclass(frozen=True)
class BatchRegistry:
    """Manifests of article batches; a manifest is written once and never changed."""

    data_root: DataRoot

    def batches(self) -> list[str]:
        """Return the keys of all batches in order; a manifest that a killed command left unwritten is written."""
        claims = self.data_root.keys("claims", ".parquet")
        keys = [name.removesuffix(".parquet") for name in self.data_root.keys("manifests", ".parquet")]
        complete = {sequence_of(key) for key in keys}
        missing = [name for name in claims if sequence_of(name.removesuffix(".parquet")) not in complete]
        keys += [key for key in map(self._completed, missing) if key is not None]
        return in_sequence(keys)

    def sizes(self) -> dict[str, int]:
        """Return how many articles every batch has, by its key, in order."""
        files = {key: f"manifests/{key}.parquet" for key in self.batches()}
        if not files:
            return {}
        counted = dict(read_columns(self.data_root, files, ()).group_by("file").len().iter_rows())
        return {key: counted.get(key, 0) for key in files}

    def articles(self, batches: Collection[str]) -> dict[str, frozenset[int]]:
        """Return the article numbers of batches, by key; what is not registered is left out."""
        registered = set(self.batches())
        files = {key: f"manifests/{key}.parquet" for key in batches if key in registered}
        if not files:
            return {}
        found = read_columns(self.data_root, files, ["article_id"]).group_by("file").agg("article_id")
        return {key: frozenset(numbers) for key, numbers in found.iter_rows()}

    def manifest(self, batch: str) -> pl.DataFrame:
        """Return the manifest of a batch (table `article_batch`).

        Raises:
            StorageError: if there is none.
        """
        table = read_parquet(self.data_root, f"manifests/{batch}.parquet")
        if "md5" not in table["files"].list.explode(empty_as_null=True).struct.fields:
            whole = pl.element().struct.with_fields(pl.lit(None, dtype=pl.String).alias("md5"))
            table = table.with_columns(pl.col("files").list.eval(whole))
        # Columns that manifests of earlier versions do not have: nothing was wrong and, of what is nullable, not known.
        stated = {"license_unknown": pl.lit(False), "problems": pl.lit([])}
        added = [
            stated.get(name, pl.lit(None)).cast(kind).alias(name)
            for name, kind in empty_table(ArticleBatch).schema.items()
            if name not in table.columns
        ]
        return checked(ArticleBatch, table.with_columns(added))

    def rejections(self, source: str) -> pl.DataFrame:
        """Return what of a source (its URI) could not be registered when it was last looked at."""
        return Tables(self.data_root).registration_rejections(source)

    def add(
        self, source: ArticleSource, size: int, progress: Callable[[PackageListing], None] = lambda _: None
    ) -> list[tuple[str, int]]:
        """Register what the source holds and no manifest does; return (key, number of articles) of the new batches.

        What cannot be registered is kept as the source's rejections (`Tables.registration_rejections`).

        Args:
            source: where the packages are.
            size: articles per batch.
            progress: told of each package as it is listed.
        """
        listings: list[PackageListing] = []
        rejections: list[Rejection] = []
        for item in source.listings():
            if isinstance(item, Rejection):
                rejections.append(item)
            else:
                progress(item)
                listings.append(item)
        rejections += duplicate_packages(listings)
        Tables(self.data_root).write_registration_rejections(source.uri, rejections)
        return self.add_listings(source.uri, listings, size)

    def add_listings(self, source: str, listings: Sequence[PackageListing], size: int) -> list[tuple[str, int]]:
        """Register packages that no manifest holds; return (key, number of articles) of the new batches.

        Args:
            source: the URI of the source that has them.
            listings: what it lists.
            size: articles per batch.
        """
        added: list[tuple[str, int]] = []
        known: dict[str, tuple[str, Sequence[tuple[int, int, str]]]] = {}
        while True:
            keys = self.batches()
            known |= {key: self._registered(key) for key in keys if key not in known}
            registered = [row for key in keys if known[key][0] == _kind(source) for row in known[key][1]]
            for key, group in new_batches(listings, registered=registered, existing_keys=keys, size=size):
                table = checked(ArticleBatch, manifest_rows(group, source))
                if not self._claimed(key, parquet_bytes(table, metadata={_BATCH: key})):
                    break  # another command has taken the place: what is new must be computed anew
                added.append((key, len(group)))
            else:
                return added

    def registered(self, source: str) -> dict[tuple[int, int], str]:
        """Return the last digest of every registered package of a kind of source by (article number, version).

        Args:
            source: URI of a source; its scheme is its kind (`_kind`).
        """
        manifests = (self._registered(key) for key in self.batches())
        return {
            (article, version): digest
            for kind, rows in manifests
            if kind == _kind(source)
            for article, version, digest in rows
        }

    def _registered(self, batch: str) -> tuple[str, Sequence[tuple[int, int, str]]]:
        """Return a manifest's kind of source and its (article number, version, digest)."""
        manifest = read_parquet(self.data_root, f"manifests/{batch}.parquet")
        kind = _kind(manifest["source"][0]) if manifest.height else ""
        return kind, manifest.select("article_id", "version", "digest").rows()

    def _claimed(self, batch: str, manifest: bytes) -> bool:
        """Take a batch's place in the sequence and write its manifest; False if the place is taken."""
        if not self.data_root.create(f"claims/{sequence_of(batch):04d}.parquet", manifest):
            return False
        self.data_root.write(f"manifests/{batch}.parquet", manifest)
        return True

    def _completed(self, claim: str) -> str | None:
        """Write the manifest of a claim and return the batch; None where it cannot be: nobody has used it yet."""
        content = self.data_root.read(f"claims/{claim}")
        try:
            batch = pl.read_parquet_metadata(io.BytesIO(content))[_BATCH]
        except (pl.exceptions.ComputeError, KeyError) as error:
            raise StorageError(
                f"{self.data_root.uri(f'claims/{claim}')} is damaged: delete it and register its articles again"
            ) from error
        try:
            self.data_root.write(f"manifests/{batch}.parquet", content)
        except StorageError as error:
            if is_read_only(error):
                return None
            raise
        return batch
