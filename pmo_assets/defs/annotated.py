"""The annotations that are in force, and what of the graph must be made again when they change.

`annotations` is one table for all batches. What a batch takes from it is its own articles' decisions: their digest
stands in the metadata of `reviewed_panels`, so that an annotated article makes one batch stale, not all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import dagster as dg
import polars as pl

from pmo_assets.annotation.annotations import AnnotationsMissing, annotation_files
from pmo_assets.defs.versions import CODE_VERSION_TAG
from pmo_assets.quality.quality_tables import has_annotations, quality_key
from pmo_assets.settings import Settings
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import parquet_bytes, read_parquet
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.quality import Annotations
from pmo_assets.tables.schemas import empty_table

ANNOTATIONS: Final = "annotations"
"""The table …"""

REVIEWED: Final = "reviewed_panels"
"""… the asset that applies it …"""

APPLIED_DIGEST: Final = "annotations_digest"
"""… and the key of its metadata that says what it applied."""

FILES_DIGEST: Final = "files_digest"
"""Key of the metadata of `annotations`: the files it was made of."""


def annotations_in_force(settings: Settings, data_root: DataRoot) -> pl.DataFrame:
    """Return table `annotations`; empty when none are to be applied, or they have not been read by this version."""
    if settings.annotations and settings.apply_annotations and has_annotations(data_root):
        table = read_parquet(data_root, quality_key(ANNOTATIONS))
        if table.schema == empty_table(Annotations).schema:
            return table
    return empty_table(Annotations)


def published_annotations(settings: Settings, data_root: DataRoot) -> pl.DataFrame:
    """Return table `annotations`, whether it is applied or only measured on; empty without one of this version."""
    return annotations_in_force(settings.model_copy(update={"apply_annotations": True}), data_root)


def decisions_digest(annotations: pl.DataFrame, articles: Iterable[int]) -> str:
    """Return a digest of what people decided of some articles; "" when nothing."""
    rows = annotations.filter(pl.col("article_id").is_in(list(articles))).drop("answers", "complete")
    return hashlib.sha256(parquet_bytes(rows.sort("article_id"))).hexdigest()[:16] if rows.height else ""


def files_digest(files: Iterable[Path]) -> str:
    """Return a digest of the annotation files, of names and content; what cannot be read counts by its name."""
    total = hashlib.sha256()
    for path in files:
        try:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError:
            content = ""
        total.update(f"{path.name}\0{content}\n".encode())
    return total.hexdigest()


def review_is_stale(metadata: Mapping[str, Any], tables: Tables, batch: str, annotations: pl.DataFrame) -> bool:
    """Say whether people decided something else of a batch's articles than `reviewed_panels` applied.

    Args:
        metadata: of its latest materialisation, by name.
        tables: of the data root.
        batch: partition key.
        annotations: those in force.
    """
    articles = tables.read("figures", batch)["article_id"].unique() if annotations.height else ()
    return decisions_digest(annotations, articles) != str(metadata.get(APPLIED_DIGEST, ""))


def annotations_are_stale(defs: dg.Definitions, made: dg.AssetMaterialization | None, settings: Settings) -> bool:
    """Say whether the files at PMO_ANNOTATIONS are others than table `annotations` was made of.

    An empty folder is one into which nothing was imported yet.

    Args:
        defs: the code location.
        made: latest materialisation of `annotations`.
        settings: options.
    """
    if not settings.annotations:
        return False
    try:
        files = annotation_files(settings.annotations)
    except AnnotationsMissing:
        return not Path(settings.annotations).expanduser().is_dir()
    if made is None or not has_annotations(DataRoot(settings.data_root, settings.s3_endpoint)):
        return True
    version = defs.resolve_asset_graph().get(dg.AssetKey(ANNOTATIONS)).code_version
    known = made.metadata.get(FILES_DIGEST)
    return (made.tags or {}).get(CODE_VERSION_TAG) != version or known is None or known.value != files_digest(files)


def whole_tables(settings: Settings, data_root: DataRoot) -> Mapping[str, Callable[[], pl.DataFrame]]:
    """Return how the tables that are not partitioned are read, by name, for assets that are."""
    return {ANNOTATIONS: lambda: annotations_in_force(settings, data_root)}
