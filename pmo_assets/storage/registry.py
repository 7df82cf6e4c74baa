"""The registry of article batches: the manifests below the data root.

Which packages of a source are new, superseded or said before. What a batch holds was computed from all that took their
place before it (`storage.manifests`).
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import polars as pl

from pmo_assets.records.packages import DERIVED_ID_BASE, ArticleSource, PackageListing, PackageProblem, Skipped
from pmo_assets.records.rejections import Rejection
from pmo_assets.storage.article_numbers import RegisteredPackage, SameName, numbered, registered_package
from pmo_assets.storage.batches import duplicate_packages, manifest_rows, new_batches, newest_versions, said_before
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.manifests import Manifests, manifest_key
from pmo_assets.storage.parquet import read_columns, read_parquet
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.articles import ArticleBatch
from pmo_assets.tables.schemas import checked, empty_table


def _kind(source: str) -> str:
    """Return the kind of a source: its URI's scheme.

    Digests of two kinds are made of other checksums (`package_digest`), so that they say nothing about each other.
    """
    return source.partition("://")[0] if "://" in source else "file"


SeenManifests = dict[str, tuple[str, Sequence[tuple[int, int, str]]]]
"""Manifests that were read, by batch: kind of source, and (article number, version, digest) of each package."""

_TOTALS = "pmo/totals"
"""Key of a manifest's metadata: numbers of files seen, used and left out (`SourceContents.totals`), as JSON."""


@dataclass
class SourceContents:
    """Contents of a source, as one look at it found them.

    Attributes:
        source: its URI.
        listings: packages.
        rejections: packages that cannot be registered, and documents that belong to none.
        skipped: other files and folders, which are passed over.
    """

    source: str
    listings: list[PackageListing] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def totals(self) -> dict[str, Any]:
        """Return numbers of files, and of folders passed over whole: seen, used, left out, and left out by reason.

        A package that is rejected counts as one. Used and left out make seen.
        """
        reasons: Counter[str] = Counter()
        used = 0
        for item in self.listings:
            files = {file.path for file in item.files} | set(item.described)
            refused = {problem.path: problem.error_class for problem in item.problems}
            reasons.update(refused[path] for path in refused if path not in files or path in item.described)
            reasons[NO_PART] += len(item.ignored)
            used += len(files - refused.keys())
        reasons.update(item.error_class for item in self.rejections)
        reasons.update(item.reason for item in self.skipped)
        left_out = {reason: reasons[reason] for reason in sorted(reasons) if reasons[reason]}
        return {
            "packages": len(self.listings),
            "seen": used + sum(left_out.values()),
            "used": used,
            "left_out": left_out,
        }


NO_PART = "in a package's folder, but no PDF, XML, picture or metadata of its article"
"""Reason to leave out a file or folder of a package for which there is no other reason."""


@dataclass
class Registered:
    """Outcome of a registration.

    Attributes:
        added: (key, number of articles) of the new batches.
        said_before: packages whose content was registered once and superseded since: they make no batch.
        same_name: a problem for each package whose name another article has, with the number that the package got.
    """

    added: list[tuple[str, int]] = field(default_factory=list)
    said_before: list[PackageListing] = field(default_factory=list)
    same_name: list[PackageProblem] = field(default_factory=list)


@dataclass(frozen=True)
class BatchRegistry:
    """Manifests of article batches; a manifest is written once and never changed."""

    data_root: DataRoot

    @property
    def manifests(self) -> Manifests:
        """Return the manifests of articles."""
        return Manifests(self.data_root)

    def batches(self) -> list[str]:
        """Return the keys of all batches that were not removed, in order (`Manifests.batches`)."""
        return self.manifests.batches()

    def sizes(self) -> dict[str, int]:
        """Return how many articles every batch has, by its key, in order."""
        return self.manifests.sizes()

    def articles(self, batches: Collection[str]) -> dict[str, frozenset[int]]:
        """Return the article numbers of batches, by key; keys that are not registered are left out."""
        registered = set(self.batches())
        files = {key: manifest_key(key) for key in batches if key in registered}
        if not files:
            return {}
        found = read_columns(self.data_root, files, ["article_id"]).group_by("file").agg("article_id")
        return {key: frozenset(numbers) for key, numbers in found.iter_rows()}

    def manifest(self, batch: str) -> pl.DataFrame:
        """Return the manifest of a batch (table `article_batch`).

        Raises:
            StorageError: if there is none, or the batch was removed.
        """
        self.manifests.check(batch)
        table = read_parquet(self.data_root, manifest_key(batch))
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
        """Return the rejections of a source (its URI) from the last look at it."""
        return Tables(self.data_root).registration_rejections(source)

    def add(
        self, source: ArticleSource, size: int, progress: Callable[[PackageListing], None] = lambda _: None
    ) -> list[tuple[str, int]]:
        """Register packages of the source that no manifest holds; return (key, number of articles) of the new batches.

        See `look_at` and `register`.
        """
        return self.register(self.look_at(source, progress), size).added

    def look_at(
        self, source: ArticleSource, progress: Callable[[PackageListing], None] = lambda _: None
    ) -> SourceContents:
        """Return the contents of a source: every file counts as listed, rejected or skipped.

        Args:
            source: where the packages are.
            progress: told of each package as it is listed.
        """
        look = SourceContents(source.uri)
        for item in source.listings():
            if isinstance(item, Rejection):
                look.rejections.append(item)
            elif isinstance(item, Skipped):
                look.skipped.append(item)
            else:
                progress(item)
                look.listings.append(item)
        return look

    def register(self, look: SourceContents, size: int) -> Registered:
        """Register the packages of a source that no manifest holds; each manifest keeps the totals of the source.

        Packages that cannot be registered are kept as the source's rejections (`Tables.registration_rejections`).

        Args:
            look: at the source.
            size: articles per batch.
        """
        made = Registered()
        seen: SeenManifests = {}
        while True:
            places = self.manifests.every_batch()
            known = self._packages(_kind(look.source))
            # a removed batch may come back: the numbers of its articles stay theirs
            listings = numbered(look.listings, look.source, chain.from_iterable(known.values()))
            made.same_name = [
                problem for item in listings for problem in item.problems if problem.error_class == SameName.__name__
            ]
            rejections = [*look.rejections, *duplicate_packages(listings)]
            counted = chain.from_iterable(known[key] for key in self.batches() if key in known)
            same_kind = [item for item in counted if _kind(item.source) == _kind(look.source)]
            new, made.said_before = said_before(newest_versions(listings), look.source, same_kind)
            if self._added(made, seen, look.source, new, size, places, look.totals()):
                break
        Tables(self.data_root).write_registration_rejections(look.source, rejections)
        return made

    def add_listings(self, source: str, listings: Sequence[PackageListing], size: int) -> list[tuple[str, int]]:
        """Register packages that no manifest holds; return (key, number of articles) of the new batches.

        Their numbers are the source's, and what it says anew counts, also if it said it before: for a source whose
        statements have a time, as PMC's have.

        Args:
            source: the URI of the source that has them.
            listings: packages that it lists.
            size: articles per batch.
        """
        made = Registered()
        seen: SeenManifests = {}
        while not self._added(made, seen, source, listings, size, self.manifests.every_batch(), None):
            pass
        return made.added

    def totals(self, batch: str) -> dict[str, Any] | None:
        """Return the totals of the source when a batch was registered; None if its manifest holds none."""
        content = self.data_root.read(manifest_key(batch))
        said = pl.read_parquet_metadata(io.BytesIO(content)).get(_TOTALS)
        return json.loads(said) if said is not None else None

    def _added(
        self,
        made: Registered,
        seen: SeenManifests,
        source: str,
        listings: Sequence[PackageListing],
        size: int,
        places: Sequence[str],
        totals: Mapping[str, Any] | None,
    ) -> bool:
        """Register batches; False when another command took a place, so that the new packages must be found anew.

        `places` are all batches as they were before anything else was looked at: one that has appeared since takes the
        next place, and so is noticed.
        """
        keys = self.batches()
        seen.update({key: self._registered(key) for key in keys if key not in seen})
        registered = [row for key in keys if seen[key][0] == _kind(source) for row in seen[key][1]]
        for key, group in new_batches(listings, registered=registered, existing_keys=places, size=size):
            table = checked(ArticleBatch, manifest_rows(group, source))
            said = {_TOTALS: json.dumps(totals, ensure_ascii=False, sort_keys=True)} if totals is not None else {}
            if not self.manifests.claim(key, table, said):
                return False
            made.added.append((key, len(group)))
        return True

    def removed_articles(self) -> frozenset[int]:
        """Return the numbers of the articles that only removed batches hold."""
        counted = self.batches()
        gone = [key for key in self.manifests.every_batch() if key not in set(counted)]
        if not gone:
            return frozenset()
        held = read_columns(self.data_root, {key: manifest_key(key) for key in (*gone, *counted)}, ["article_id"])
        is_gone = pl.col("file").is_in(gone)
        return frozenset(held.filter(is_gone)["article_id"]) - frozenset(held.filter(~is_gone)["article_id"])

    def _packages(self, kind: str) -> dict[str, list[RegisteredPackage]]:
        """Return the packages of a kind of source, and of the others those without a PMC number.

        By batch, also of removed ones, oldest first.
        """
        found: dict[str, list[RegisteredPackage]] = {}
        for key in self.manifests.every_batch():
            manifest = read_parquet(self.data_root, manifest_key(key))
            if manifest.height and _kind(manifest["source"][0]) != kind:
                manifest = manifest.filter(pl.col("article_id") >= DERIVED_ID_BASE)
            found[key] = list(map(registered_package, manifest.iter_rows(named=True)))
        return found

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
        manifest = read_parquet(self.data_root, manifest_key(batch))
        kind = _kind(manifest["source"][0]) if manifest.height else ""
        return kind, manifest.select("article_id", "version", "digest").rows()
