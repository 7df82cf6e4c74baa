"""The annotations in force, and digests of them that tell which batches must be made again when they change.

`annotations` is one table for all batches. A batch takes its own articles' decisions from it: their digest
stands in the metadata of the assets that apply them, so that an annotated article makes one batch stale, not all, and
a decision about marks and regions nothing that lies before them.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import dagster as dg
import polars as pl

from pmo_assets.annotation.annotations import AnnotationsMissing, annotation_files
from pmo_assets.defs.versions import APPLIED_DIGEST, CODE_VERSION_TAG
from pmo_assets.quality.quality_tables import has_annotations, quality_key
from pmo_assets.settings import Settings
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import parquet_bytes, read_parquet
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.quality import Annotations
from pmo_assets.tables.schemas import empty_table

ANNOTATIONS: Final = "annotations"
"""Name of the table of people's decisions, one for all batches."""

REVIEWED: Final = "reviewed_panels"
"""Name of the first asset that applies them."""

APPLIED_BY: Final[Mapping[str, str]] = MappingProxyType(
    {REVIEWED: "figures", "marks": "regions", "regions": "regions", "verdicts": "instruction_answers"}
)
"""Column of the decisions that an asset applies, by asset; its metadata hold a digest of these (`APPLIED_DIGEST`)."""

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


def decisions_digest(annotations: pl.DataFrame, articles: Iterable[int], asset: str) -> str:
    """Return a digest of people's decisions about some articles that an asset applies; "" if there are none."""
    column = APPLIED_BY[asset]
    rows = annotations.filter(pl.col("article_id").is_in(list(articles)) & (pl.col(column).list.len() > 0))
    said = rows.select("article_id", "name", column).sort("article_id")
    return hashlib.sha256(parquet_bytes(said)).hexdigest()[:16] if said.height else ""


def files_digest(files: Iterable[Path]) -> str:
    """Return a digest of the annotation files, of names and content; a file that cannot be read counts by its name."""
    total = hashlib.sha256()
    for path in files:
        try:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError:
            content = ""
        total.update(f"{path.name}\0{content}\n".encode())
    return total.hexdigest()


def applied_digest(metadata: Mapping[str, Any]) -> str:
    """Return the digest of the decisions that a materialisation applied; "" if it has none."""
    return str(metadata.get(APPLIED_DIGEST, ""))


Decisions = Mapping[str, str]
"""Digests of the decisions that a batch's assets have to apply, by asset; assets that have none are left out."""


def decisions_in_force(settings: Settings, data_root: DataRoot) -> Callable[[Collection[str]], dict[str, Decisions]]:
    """Return a function of batches: the decisions that their assets have to apply, per batch.

    Nothing is read before its first call. Tables are read only of batches that have an annotated article; which
    articles a batch has is read once in the life of the process, because manifests never change.
    """
    in_force = functools.cache(functools.partial(annotations_in_force, settings, data_root))
    known = _articles_read(data_root)

    def of(batches: Collection[str]) -> dict[str, Decisions]:
        annotated, tables = set(in_force()["article_id"]), Tables(data_root)
        digests: dict[str, Decisions] = {batch: {} for batch in batches}
        if annotated:
            known.update(BatchRegistry(data_root).articles([batch for batch in batches if batch not in known]))
            concerned = [b for b in batches if annotated & known.get(b, frozenset()) and tables.exists("figures", b)]
            figures = tables.read_batches("figures", concerned, ["article_id"]).unique()
            for (batch,), found in figures.group_by("batch"):
                of_asset = {name: decisions_digest(in_force(), found["article_id"], name) for name in APPLIED_BY}
                digests[str(batch)] = {name: digest for name, digest in of_asset.items() if digest}
        return digests

    return of


@functools.cache
def _articles_read(data_root: DataRoot) -> dict[str, frozenset[int]]:
    """Return the articles of the batches that were asked for in this process, by batch: manifests never change."""
    return {}


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
