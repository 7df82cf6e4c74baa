"""How the partitioned table assets are declared: the part that would otherwise be repeated at every one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dagster as dg

from pmo_assets.defs.checks import check_specs
from pmo_assets.defs.io_manager import StageResult
from pmo_assets.defs.partitions import ARTICLE_BATCHES
from pmo_assets.defs.versions import source_version
from pmo_assets.pipeline.captions.prompts import prompts_digest
from pmo_assets.tables.schemas import column_descriptions, schema_of

OWNERS = ["team:pmo-assets"]


def column_schema(asset: str) -> dg.TableSchema:
    """Return the asset's columns with types and descriptions, as the UI shows them."""
    columns = [
        dg.TableColumn(name, kind, description=text) for name, kind, text in column_descriptions(schema_of(asset))
    ]
    return dg.TableSchema(columns=columns)


def batch_table(
    name: str,
    *,
    group: str,
    sources: Sequence[str] = (),
    prompts: Sequence[str] = (),
    kinds: Sequence[str] = (),
    checks: Sequence[str] = (),
    pool: str | None = None,
    ins: Mapping[str, dg.AssetIn] | None = None,
    deps: Sequence[str] = (),
    work: str = "facts",
) -> Callable[[Callable[..., Any]], dg.AssetsDefinition]:
    """Return the decorator of a table asset that is partitioned by article batch.

    Args:
        name: asset and table (`table_schemas()`); the schema's docstring is the asset's description.
        group: asset group.
        sources: files and folders below the package that make it, for its code version.
        prompts: tasks of a language model (`prompts/`) that it may ask; their content counts for its code version.
        kinds: what it is made with, shown as icons, besides Polars and Parquet.
        checks: names of checks (`pmo_assets.defs.checks`) that the asset evaluates.
        pool: concurrency pool (`dagster.yaml`).
        ins: see `dagster.asset`.
        deps: upstream assets that it does not load as tables.
        work: "facts" or "pixels": whether it reads or writes pictures (what it needs of memory and disk).
    """
    schema = schema_of(name)

    def declare(function: Callable[..., Any]) -> dg.AssetsDefinition:
        # An asset with checks has several outputs; from the annotation Dagster would conclude that none has a value.
        function.__annotations__.pop("return", None)
        decorate = dg.asset(
            name=name,
            group_name=group,
            partitions_def=ARTICLE_BATCHES,
            description=schema.__doc__,
            owners=OWNERS,
            kinds={"polars", "parquet", *kinds},
            tags={"pmo/work": work},
            code_version="-".join([source_version(*sources), *([prompts_digest(prompts)] if prompts else [])]),
            check_specs=check_specs(name, checks),
            metadata={"dagster/column_schema": column_schema(name)},
            pool=pool,
            ins=ins,
            deps=list(deps),
        )
        return decorate(function)

    return declare


class Stopwatch:
    """Seconds since it was made, for a materialisation's metadata."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since the stopwatch was made."""
        return round(time.perf_counter() - self._start, 2)


def materialized(
    stage: StageResult,
    watch: Stopwatch,
    *,
    checks: Sequence[dg.AssetCheckResult] = (),
    **metadata: Any,
) -> dg.MaterializeResult[StageResult]:
    """Return what an asset hands to Dagster: rows for the IO manager, counts, duration and check results."""
    return dg.MaterializeResult(
        value=stage, metadata={"seconds": watch.seconds, **metadata}, check_results=list(checks)
    )
