"""Assets that only their job makes: they stand in the graph, and "Materialize all" leaves them out.

    TRAIN = GroupJob("train", "models", "Train networks of your own: hours, gigabytes, and PyTorch.")

    @made_by(TRAIN, makers=[train_marks], kinds={"onnx"}, deps=["synthetic_figures"], pool="gpu")
    def mark_classifier(context: dg.OpExecutionContext, config: ModelConfig) -> dg.MaterializeResult:
        "The network that says whether a mark points at a region of an image."

Dagster materialises what an `AssetsDefinition` computes whenever somebody says "all". What takes hours (training), or
says nothing about the dataset (quality), is declared by its specification alone, and an op of a job notes that it made
it. Job and asset have the launchpad, the lineage, the metadata and the code version that other assets have. Whatever a
module below `assets` declares so is found by itself (`loading`), and so is its job.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import dagster as dg

from pmo_assets.defs.partitions import ALL_BATCHES
from pmo_assets.defs.stage_table import OWNERS, column_schema
from pmo_assets.defs.versions import CODE_VERSION_TAG, code_version, in_force
from pmo_assets.settings import Settings
from pmo_assets.tables.schemas import schema_of

_SETTINGS = inspect.Parameter("settings", inspect.Parameter.KEYWORD_ONLY, annotation=dg.ResourceParam[Settings])
"""Parameter of every such op beside those of its function: the assets' code versions depend on the settings."""

_AFTER = "after"
"""Input of such an op that carries nothing but the order: the ops that run before it, if any."""


@dataclass(frozen=True)
class GroupJob:
    """A job that makes assets which nothing else makes.

    Attributes:
        name: of the job.
        group: of its assets.
        description: its work, and the place where it is launched.
    """

    name: str
    group: str
    description: str


@dataclass(frozen=True)
class JobAsset:
    """An op of a job and the assets that it makes, as `made_by` declares them."""

    job: GroupJob
    op: dg.OpDefinition
    specs: tuple[dg.AssetSpec, ...]


def made_by(
    job: GroupJob,
    assets: Mapping[str, str] | Sequence[dg.AssetSpec] = (),
    *,
    makers: Sequence[Callable[..., object] | ModuleType | str] = (),
    kinds: Collection[str] = (),
    deps: Sequence[str] = (),
    batches: Sequence[str] = (),
    pool: str | None = None,
    table: bool = False,
    name: str | None = None,
) -> Callable[[Callable[..., Any]], JobAsset]:
    """Return the decorator of a function that makes assets of a job.

    The function is written as that of an asset: it takes a configuration and resources by its parameters, and returns
    or yields `dagster.MaterializeResult`; where it yields none, nothing was made.

    Args:
        job: that makes them.
        assets: their names and descriptions, or whole specifications; one with the function's name and docstring if
            none. The result of one of several names its asset.
        makers: functions of the package that make them, for their code version (`versions.code_version`); the function
            itself if none.
        kinds: what they are made with, shown as icons.
        deps: assets that it reads; ops of the same job that make them run before.
        batches: tables that it reads of all batches.
        pool: concurrency pool (`dagster.yaml`).
        table: the asset is a table of `pmo_assets.tables`, with columns, and described by its schema.
        name: of the op; the function's if None.
    """

    def declare(function: Callable[..., Any]) -> JobAsset:
        def spec(asset: str, description: str | None) -> dg.AssetSpec:
            schema = schema_of(asset) if table else None
            return dg.AssetSpec(
                asset,
                group_name=job.group,
                description=description if schema is None else schema.__doc__,
                owners=OWNERS,
                kinds={*kinds, *({"polars", "parquet"} if table else ())},
                tags={"pmo/work": "pixels"},
                deps=[*deps, *(dg.AssetDep(item, partition_mapping=ALL_BATCHES) for item in batches)],
                code_version=code_version(*([] if schema is None else [schema]), *(makers or [function])),
                metadata={"dagster/column_schema": column_schema(asset)} if table else {},
            )

        described = assets if isinstance(assets, Mapping) else {}
        specs = tuple(spec(*item) for item in described.items()) if isinstance(assets, Mapping) else tuple(assets)
        specs = specs or (spec(function.__name__, function.__doc__),)
        return JobAsset(job, _op(function, name or function.__name__, specs, pool), specs)

    return declare


def _op(function: Callable[..., Any], name: str, specs: Sequence[dg.AssetSpec], pool: str | None) -> dg.OpDefinition:
    known = {spec.key: spec for spec in specs}
    takes_settings = _SETTINGS.name in inspect.signature(function).parameters

    @functools.wraps(function)
    def made(context: dg.OpExecutionContext, **given: Any) -> None:
        settings = given[_SETTINGS.name] if takes_settings else given.pop(_SETTINGS.name)
        results = function(context, **given)
        for result in [results] if isinstance(results, dg.MaterializeResult) else results:
            spec = known[result.asset_key] if result.asset_key is not None else specs[0]
            version = in_force(spec, settings).code_version
            tags = {CODE_VERSION_TAG: version} if version is not None else {}
            context.log_event(dg.AssetMaterialization(spec.key, metadata=result.metadata, tags=tags))

    signature = inspect.signature(function)
    parameters = [*signature.parameters.values(), *([] if takes_settings else [_SETTINGS])]
    made.__signature__ = signature.replace(parameters=parameters, return_annotation=None)  # type: ignore[attr-defined]
    made.__annotations__ = {item.name: item.annotation for item in parameters}
    return dg.op(
        name=name,
        description="\n\n".join(spec.description or "" for spec in specs),
        pool=pool,
        ins={_AFTER: dg.In(dg.Nothing)},
        out=dg.Out(dg.Nothing),
    )(made)


def jobs_of(declared: Iterable[JobAsset]) -> list[dg.JobDefinition]:
    """Return the jobs that make assets, each op after those of its job whose assets it reads."""
    of_job: dict[GroupJob, list[JobAsset]] = {}
    for item in declared:
        of_job.setdefault(item.job, []).append(item)
    return [_job(job, items) for job, items in of_job.items()]


def _job(job: GroupJob, items: Sequence[JobAsset]) -> dg.JobDefinition:
    makers = {spec.key: item.op.name for item in items for spec in item.specs}
    before = {item.op.name: {makers.get(dep.asset_key) for spec in item.specs for dep in spec.deps} for item in items}
    graph = dg.GraphDefinition(
        name=f"{job.group}_of_{job.name}",
        node_defs=[item.op for item in items],
        dependencies={
            name: {_AFTER: dg.MultiDependencyDefinition([dg.DependencyDefinition(other) for other in sorted(others)])}
            for name, names in before.items()
            if (others := {other for other in names if other is not None})
        },
        description=job.description,
    )
    return graph.to_job(job.name, description=job.description, executor_def=dg.in_process_executor)
