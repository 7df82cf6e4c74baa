"""An older release made again, as long as the tables that it was made of are still what they were."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

import polars as pl

from pmo_assets.release.deidentification import load_masker
from pmo_assets.release.hub.features import feature_metadata
from pmo_assets.release.masking import PeopleMasking
from pmo_assets.release.selection import Selection
from pmo_assets.release.standing import Restriction
from pmo_assets.release.versions import Manifest, read_manifest, read_version_licences, read_version_table
from pmo_assets.release.writing import ReleaseOptions, write_tables
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import read_parquet
from pmo_assets.storage.tables import Tables

_TABLES = ("pubmed_ophtha.parquet", "hub/data/", "hub/withheld.parquet")
"""Files that are made anew; what lies beside them belongs to the newest release."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """Result of rebuilding a release.

    Attributes:
        manifest: of the release.
        same: files whose bytes are the release's.
        other: files whose bytes differ from the release's, or that it does not have.
        changed_batches: number of panels that differ, by batch whose rows are not the release's.
    """

    manifest: Manifest
    same: tuple[str, ...]
    other: tuple[str, ...]
    changed_batches: Mapping[str, int]


def rebuild_release(tables: Tables, version: str, target: DataRoot, *, say: Callable[[str], None]) -> Rebuilt:
    """Write the tables of an older release, byte by byte as they were, below another root.

    Its articles, splits and options are those that were noted then. The batches' own tables are the present ones: where
    they were made again by other code or settings, the files differ, and what differs is said.

    Args:
        tables: the tables below the data root.
        version: of the release.
        target: where the files go.
        say: told of progress, batch by batch.

    Raises:
        StorageError: if there is no such version, or tables or pictures of its batches are gone.
    """
    root = tables.data_root
    manifest = read_manifest(root, version)
    articles = read_version_table(root, version, "articles")
    # what had no rows then had no split, and is not taken now either
    taken = articles.drop_nulls("split").group_by("batch", maintain_order=True)
    current = {str(batch): part["article_id"].to_list() for (batch,), part in taken}
    held = read_version_licences(root, version).select("article_id", "license", "made_under", "why")
    licences = {number: Restriction(*said) for number, *said in held.iter_rows()}
    known = {field.name for field in fields(ReleaseOptions)}
    options = ReleaseOptions(**{name: value for name, value in manifest.options.items() if name in known})
    written = write_tables(
        target,
        tables,
        Selection({item.batch: current.get(item.batch, []) for item in manifest.batches}, licences=licences),
        splits=articles.drop("batch").drop_nulls("split"),
        groups=read_version_table(root, version, "duplicates"),
        options=options,
        prefix="",
        metadata=feature_metadata,
        say=say,
        masking=PeopleMasking(load_masker(), "") if options.mask_people else None,
    )
    before = {file.path: file.sha256 for file in manifest.files if file.path.startswith(_TABLES)}
    shards = [file for splits in written.configs.values() for files in splits.values() for file in files]
    made = {file.key: file.sha256 for file in (written.published, *shards, written.withheld)}
    same = tuple(sorted(path for path, digest in made.items() if before.get(path) == digest))
    other = tuple(sorted({*made, *before} - set(same)))
    index = read_parquet(target, written.index.key)
    target.delete(written.index.key)
    return Rebuilt(manifest, same, other, _changed(read_version_table(root, version, "rows"), index, articles))


def _changed(before: pl.DataFrame, after: pl.DataFrame, articles: pl.DataFrame) -> dict[str, int]:
    """Return the number of panels of each batch that differ from the release's."""
    facets = [name for name in before.columns if name not in ("panel_id", "article_id")]
    both = before.join(after, on="panel_id", how="full", suffix="_after", coalesce=True)
    differing = pl.any_horizontal(pl.col(name).ne_missing(pl.col(f"{name}_after")) for name in facets)
    numbers = both.filter(differing).select(pl.coalesce("article_id", "article_id_after").alias("article_id"))
    batches = numbers.join(articles.select("article_id", "batch"), on="article_id", how="left")
    return dict(batches.group_by("batch").len().sort("batch").iter_rows())
