"""Dagster resources that the assets take; each can be replaced in `build_defs(resource_overrides=…)`."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import dagster as dg

from pmo_assets.defs.annotated import whole_tables
from pmo_assets.defs.io_manager import ParquetTables
from pmo_assets.defs.run_leases import run_leases_resource
from pmo_assets.models.chat import chat_model, vision_model
from pmo_assets.records.chat import ChatModel
from pmo_assets.settings import Settings
from pmo_assets.settings.shaping import affecting_settings, noted_settings
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.objects import ContentStore
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.tables import Tables
from pmo_assets.workers.pool import Progress, TimedProgress, WorkerPool, device_pool, memory_warning, slow_pool


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


def search_progress_resource() -> dg.ResourceDefinition:
    """Return the resource that a search of PMC tells its progress: it writes to the run's log every ten seconds."""

    @dg.resource(description="Told how far a search of PMC is.")
    def search_progress(context: dg.InitResourceContext) -> Progress:
        log = context.log
        return TimedProgress(log.info if log is not None else print)

    return search_progress


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


def video_workers_resource(settings: Settings) -> dg.ResourceDefinition:
    """Return the workers of videos as a resource: a video takes longer than an article may."""

    @dg.resource(
        required_resource_keys={"workers"}, description="Worker processes of videos: as `workers`, with more time."
    )
    def video_workers(context: dg.InitResourceContext) -> Iterator[WorkerPool]:
        workers: WorkerPool = context.resources.workers
        limit = max(settings.article_timeout, settings.video_hours * 3600)
        with slow_pool(workers, limit) as pool:
            yield pool

    return video_workers


def chat_resource(settings: Settings, data_root: DataRoot) -> dg.ResourceDefinition:
    """Return the language model as a resource, None if the settings name none: opened for a run, closed with it."""

    @dg.resource(description="Language model for captions that the grammar is not sure about, or None.")
    def chat() -> Iterator[ChatModel | None]:
        with chat_model(settings, data_root) as model:
            yield model

    return chat


def vision_resource(settings: Settings, data_root: DataRoot) -> dg.ResourceDefinition:
    """Return the model that looks at figures as a resource, None if the settings name none."""

    @dg.resource(
        required_resource_keys={"chat"}, description="Vision model for panels that rules leave undecided, or None."
    )
    def vision(context: dg.InitResourceContext) -> Iterator[ChatModel | None]:
        with vision_model(settings, data_root, context.resources.chat) as model:
            yield model

    return vision


def built_in_resources(settings: Settings) -> dict[str, Any]:
    """Return the resources of the code location by key."""
    data_root = DataRoot(settings.data_root, settings.s3_endpoint)
    tables = Tables(data_root)
    return {
        "settings": settings,
        "data_root": data_root,
        "tables": tables,
        "objects": ContentStore(data_root),
        "registry": BatchRegistry(data_root),
        "io_manager": dg.IOManagerDefinition(
            lambda _: ParquetTables(
                tables,
                whole_tables(settings, data_root),
                functools.partial(noted_settings, settings),
                functools.partial(affecting_settings, settings),
            ),
            required_resource_keys={"run_leases"},
        ),
        "run_leases": run_leases_resource(data_root),
        "workers": workers_resource(settings),
        "detector_workers": detector_workers_resource(settings),
        "video_workers": video_workers_resource(settings),
        "search_progress": search_progress_resource(),
        "chat": chat_resource(settings, data_root),
        "vision": vision_resource(settings, data_root),
    }
