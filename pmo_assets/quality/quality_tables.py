"""The tables and pages of the quality group: where they lie below the data root, how they are written and read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dataframely as dy
import polars as pl

from pmo_assets.annotation.annotations import Annotations, annotation_rows
from pmo_assets.quality.metrics.metric import Metric
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import parquet_bytes, read_parquet
from pmo_assets.tables.schemas import checked, schema_of


def quality_key(table: str) -> str:
    """Return the key of a table of the quality group."""
    return f"quality/{table}.parquet"


def page_key(asset: str) -> str:
    """Return the key of an asset's page."""
    return f"quality/{asset}.html"


def write_quality_table(
    data_root: DataRoot, table: str, schema: type[dy.Schema], rows: Sequence[dict[str, Any]]
) -> pl.DataFrame:
    """Check rows against the schema, write them whole or not at all, and return them."""
    valid = checked(schema, rows)
    data_root.write(quality_key(table), parquet_bytes(valid))
    return valid


def write_annotations(data_root: DataRoot, annotations: Annotations) -> pl.DataFrame:
    """Write table `annotations` and return it."""
    return write_quality_table(
        data_root, "annotations", schema_of("annotations"), annotation_rows(annotations.articles)
    )


def has_annotations(data_root: DataRoot) -> bool:
    """Say whether table `annotations` has been written."""
    return data_root.exists(quality_key("annotations"))


def read_metrics(data_root: DataRoot, asset: str) -> list[Metric]:
    """Return the measured numbers of a quality asset.

    Raises:
        StorageError: if it has not been materialised.
    """
    return [Metric(**row) for row in read_parquet(data_root, quality_key(f"{asset}_metrics")).to_dicts()]


def metric_rows(metrics: Sequence[Metric]) -> list[dict[str, Any]]:
    """Return the rows of a table of measured numbers (`QualityMetrics`)."""
    return [
        {"metric": m.metric, "group": m.group, "threshold": m.threshold, "value": m.value, "n": m.n} for m in metrics
    ]
