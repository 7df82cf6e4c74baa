"""The code location: `build_defs(...)` and one Definitions object; nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import dagster as dg

from pmo_assets.defs.assets import articles, captions, dataset, detections, figures, models, panels, quality
from pmo_assets.defs.io_manager import ParquetTables
from pmo_assets.defs.jobs import MAKE_RELEASE, MEASURE_QUALITY, PROCESS_BATCH
from pmo_assets.defs.schedules import WEEKLY_RELEASE
from pmo_assets.defs.sensors import registered_batches
from pmo_assets.models.chat import chat_model
from pmo_assets.records.chat import ChatModel
from pmo_assets.settings import Settings, settings_digest
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.objects import ContentStore
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.tables import Tables
from pmo_assets.workers.pool import Progress, TimedProgress, WorkerPool, device_pool, memory_warning


def workers_resource(settings: Settings, progress: Progress | None = None) -> dg.ResourceDefinition:
    """Return the worker pool as a resource: started when first used, ended with the run.

    Args:
        settings: number of processes and limits.
        progress: told of each article; the run's log every ten seconds if None.
    """

    @dg.resource(description="Worker processes with time and memory limits.")
    def workers(context: dg.InitResourceContext) -> Iterator[WorkerPool]:
        listener = progress
        if listener is None:
            log = context.log
            listener = TimedProgress(log.info if log is not None else print)
        warning = memory_warning(settings.worker_memory_mb)
        if warning and context.log is not None:
            context.log.warning(warning)
        with WorkerPool(
            settings.workers,
            settings.article_timeout,
            settings.worker_memory_mb,
            listener,
            fail_share=settings.rejected_fail,
        ) as pool:
            yield pool

    return workers


def detector_workers_resource(settings: Settings) -> dg.ResourceDefinition:
    """Return the workers of detection as a resource: those of the other steps, or a few of their own on a GPU."""

    @dg.resource(
        required_resource_keys={"workers"}, description="Worker processes of detection: `workers`, or fewer for a GPU."
    )
    def detector_workers(context: dg.InitResourceContext) -> Iterator[WorkerPool]:
        workers: WorkerPool = context.resources.workers
        if settings.detector_device == "cpu":
            yield workers
            return
        with device_pool(workers, settings.detector_workers) as pool:
            yield pool

    return detector_workers


def chat_resource(settings: Settings, data_root: DataRoot) -> dg.ResourceDefinition:
    """Return the language model as a resource, None if the settings name none: opened for a run, closed with it."""

    @dg.resource(description="Language model for captions that the grammar is not sure about, or None.")
    def chat() -> Iterator[ChatModel | None]:
        with chat_model(settings, data_root) as model:
            yield model

    return chat


def build_defs(
    settings: Settings | None = None, *, resource_overrides: Mapping[str, Any] | None = None
) -> dg.Definitions:
    """Return the code location.

    Args:
        settings: options; from environment and `.env` if None.
        resource_overrides: resources that replace the built-in ones (`settings`, `data_root`, `tables`, `objects`,
            `registry`, `io_manager`, `workers`, `detector_workers`, `chat`).
    """
    settings = settings or Settings()
    data_root = DataRoot(settings.data_root, settings.s3_endpoint)
    tables = Tables(data_root)
    resources: dict[str, Any] = {
        "settings": settings,
        "data_root": data_root,
        "tables": tables,
        "objects": ContentStore(data_root),
        "registry": BatchRegistry(data_root),
        "io_manager": ParquetTables(tables),
        "workers": workers_resource(settings),
        "detector_workers": detector_workers_resource(settings),
        "chat": chat_resource(settings, data_root),
    }
    unknown = set(resource_overrides or {}) - set(resources)
    if unknown:
        raise ValueError(f"unknown resources {sorted(unknown)}; there are {sorted(resources)}")

    def with_settings_version(spec: dg.AssetSpec) -> dg.AssetSpec:
        digest = settings_digest(settings, spec.key.path[-1])
        return spec.replace_attributes(code_version=f"{spec.code_version}-{digest}") if digest else spec

    modules = [articles, figures, detections, captions, panels, dataset, models, quality]
    assets = [item for item in dg.load_assets_from_modules(modules) if isinstance(item, dg.AssetsDefinition)]
    return dg.Definitions(
        assets=dg.map_asset_specs(with_settings_version, assets),
        jobs=[PROCESS_BATCH, MAKE_RELEASE, MEASURE_QUALITY],
        sensors=[registered_batches],
        schedules=[WEEKLY_RELEASE],
        resources={**resources, **(resource_overrides or {})},
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """Return the code location with the settings of the environment."""
    return build_defs()
