"""Processors, memory and accelerators that the step of each asset needs, as tags for Ray, Celery and Kubernetes.

An asset declares nothing about machines: its needs follow from the resources that it takes (worker processes, a model
in this process) and from the settings (`PMO_WORKERS`, `PMO_WORKER_MEMORY_MB`, `PMO_DETECTOR_DEVICE`, …). Add here: that
rule in the notation of another engine. Keep out: the choice of the engine (`pmo_assets.defs.executors`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import dagster as dg

from pmo_assets.settings import Settings

STEP_MB: Final = 1024
"""MiB of a step's own process: Python with Dagster, Polars and PyArrow, a batch's tables, the preview pictures."""

WORKER_MB: Final = 256
"""MiB of a worker process before its first article: 192 were measured (`benchmarks/worker_memory.py`)."""

ARTICLE_MB: Final = 512
"""MiB that an ordinary article adds to its worker: 353 at most (`benchmarks/worker_memory.py`), and some room."""

DEFAULT_QUEUE: Final = "dagster"
"""The queue that a Celery worker serves when it is told none."""


@dataclass(frozen=True)
class Needs:
    """Needs of a step on the machine that runs it.

    Attributes:
        cpus: processes that work at once.
        memory_mb: MiB that it ordinarily takes, which are reserved.
        memory_limit_mb: MiB that it takes when every worker holds the largest article allowed; None if unknown.
        gpus: whole accelerators.
        queue: of Celery: `gpu`, `llm` or the default one.
    """

    cpus: int
    memory_mb: int
    memory_limit_mb: int | None
    gpus: int
    queue: str


def needs_of(asset: dg.AssetsDefinition, settings: Settings) -> Needs:
    """Return the needs of an asset's step."""
    taken = asset.op.required_resource_keys
    asked = ("chat" in taken and settings.llm_model) or ("vision" in taken and settings.vlm_model)
    workers = settings.workers if taken & {"workers", "detector_workers", "video_workers"} else 0
    return _needs(workers, _gpus(taken, asset.op.pool, settings), "llm" if asked else DEFAULT_QUEUE, settings)


def needs_of_run(settings: Settings) -> Needs:
    """Return the needs of one process that takes a batch through all steps, one after the other."""
    return _needs(settings.workers, _gpus({"chat", "vision"}, "gpu", settings), DEFAULT_QUEUE, settings)


def _needs(workers: int, gpus: int, queue: str, settings: Settings) -> Needs:
    limit = STEP_MB + workers * (WORKER_MB + max(ARTICLE_MB, settings.worker_memory_mb))
    return Needs(
        cpus=max(1, workers),
        memory_mb=STEP_MB + workers * (WORKER_MB + ARTICLE_MB),
        memory_limit_mb=limit if workers and settings.worker_memory_mb else None,
        gpus=gpus,
        queue="gpu" if gpus else queue,
    )


def _gpus(taken: Collection[str], pool: str | None, settings: Settings) -> int:
    """Return how many accelerators a step holds: networks share one, a model in this process says how many it spans."""
    engines = [
        options.get("tensor_parallel_size", 1)
        for resource, offline, options in (
            ("chat", settings.llm_offline, settings.llm_engine_options),
            ("vision", settings.vlm_offline, settings.vlm_engine_options),
        )
        if resource in taken and offline
    ]
    on_gpu = pool == "gpu" and settings.detector_device == "cuda"
    return max([int(on_gpu), *map(int, engines)])


def engine_tags(needs: Needs) -> dict[str, Any]:
    """Return the tags that tell the engines a step's needs; an engine that is not there reads none.

    Nothing of it stands in an executor's own configuration: what dagster-ray finds there goes before an asset's tag.
    """
    return {
        "dagster-ray/config": {
            "num_cpus": needs.cpus,
            "num_gpus": needs.gpus,
            "memory": needs.memory_mb * 1024**2,
        },
        "dagster-celery/queue": needs.queue,
        "dagster-k8s/config": _pod(needs),
    }


def _pod(needs: Needs) -> dict[str, Any]:
    """Return a pod's resources: no limit of CPU, which would only slow it down; nodes with GPUs are mostly tainted."""
    limits: dict[str, str] = {}
    if needs.memory_limit_mb is not None:
        limits["memory"] = f"{needs.memory_limit_mb}Mi"
    if needs.gpus:
        limits["nvidia.com/gpu"] = str(needs.gpus)
    resources: dict[str, Any] = {"requests": {"cpu": str(needs.cpus), "memory": f"{needs.memory_mb}Mi"}}
    if limits:
        resources["limits"] = limits
    pod: dict[str, Any] = {"container_config": {"resources": resources}}
    if needs.gpus:
        pod["pod_spec_config"] = {
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
        }
    return pod


def with_needs(
    assets: Iterable[dg.AssetsDefinition], settings: Settings, retry_policy: dg.RetryPolicy | None = None
) -> list[dg.AssetsDefinition]:
    """Return the assets with the needs of their steps as tags of their ops, which is where the engines look.

    External assets, which Dagster does not make itself, have no step.

    Args:
        assets: as they are declared.
        settings: that the needs follow from.
        retry_policy: number of times that a step is begun again.
    """
    return [
        _tagged(asset, engine_tags(needs_of(asset, settings)), retry_policy) if asset.is_executable else asset
        for asset in assets
    ]


def _tagged(
    asset: dg.AssetsDefinition, tags: Mapping[str, Any], retry_policy: dg.RetryPolicy | None
) -> dg.AssetsDefinition:
    """Return an asset whose op has further tags: Dagster takes them when an asset is declared, before settings are."""
    op = asset.op
    tagged = dg.OpDefinition(
        name=op.name,
        compute_fn=op.compute_fn,
        ins={item.name: dg.In.from_definition(item) for item in op.input_defs},
        outs={item.name: dg.Out.from_definition(item) for item in op.output_defs},
        description=op.description,
        config_schema=op.config_schema,
        required_resource_keys=op.required_resource_keys,
        tags={**op.tags, **tags},
        code_version=op.version,
        retry_policy=op.retry_policy or retry_policy,
        pool=op.pool,
    )
    return dg.AssetsDefinition.dagster_internal_init(**{**asset.get_attributes_dict(), "node_def": tagged})
