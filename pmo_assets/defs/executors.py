"""Executors: the steps of a run in this process, in processes, on Ray, Celery or Kubernetes (`PMO_EXECUTOR`).

Add here: another engine, with all that it must be told. Keep out: the resources that a step needs of a machine
(`pmo_assets.defs.needs`); where whole runs go, which is the instance's business (`run_launcher` in `dagster.yaml`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

import dagster as dg

from pmo_assets.configuration.environment import environment
from pmo_assets.defs.forked_runs import LOADED
from pmo_assets.records.stores import SystemicError
from pmo_assets.settings import Settings

STEP_VARIABLE: Final = "DAGSTER_RUN_STEP_KEY"
"""Ray and Kubernetes executors set it in the process that runs one step."""

BEGIN_AGAIN: Final = dg.RetryPolicy(max_retries=2, delay=5)
"""A step whose process died is begun again so often: as run retries (`dagster.yaml`) do with runs."""


def executor_of(settings: Settings) -> dg.ExecutorDefinition:
    """Return the executor that the settings name.

    Raises:
        SystemicError: if its packages are not installed; the message says how to.
    """
    return _EXECUTORS[settings.executor](settings)


def retry_policy_of(settings: Settings) -> dg.RetryPolicy | None:
    """Return how often a step is begun again whose process died, where nothing else does so.

    A policy would also repeat a step that failed for a reason. So only the process that watches over the steps has it;
    the process of a step, which reports reasons, has none.
    """
    watches = settings.executor in ("ray", "k8s") and STEP_VARIABLE not in os.environ
    return BEGIN_AGAIN if watches else None


def celery_config(settings: Settings) -> dict[str, Any]:
    """Return broker, backend and options of Celery: the same for who hands out steps and for the workers.

    A task is acknowledged when it is done, so that the death of a worker does not lose it; a worker takes no second one
    while it has one, which would wait there while other workers are idle.

    Raises:
        SystemicError: if the settings name no broker.
    """
    if settings.celery_broker is None:
        raise SystemicError("set PMO_CELERY_BROKER, e.g. to redis://127.0.0.1:6379/0")
    broker = settings.celery_broker.get_secret_value()
    backend = settings.celery_backend.get_secret_value() if settings.celery_backend else broker
    visibility = {"visibility_timeout": settings.celery_redelivery}
    return {
        "broker": broker,
        "backend": backend,
        "config_source": {
            "broker_transport_options": visibility,
            "result_backend_transport_options": visibility,
            "task_acks_late": True,
            "task_reject_on_worker_lost": True,
            "worker_prefetch_multiplier": 1,
            "broker_connection_retry_on_startup": True,
        },
    }


def _in_process(settings: Settings) -> dg.ExecutorDefinition:
    return dg.in_process_executor


def _multiprocess(settings: Settings) -> dg.ExecutorDefinition:
    """Steps in processes that are forked where everything is imported: starting each anew takes twice as long."""
    start = {"forkserver": {"preload_modules": [LOADED]}}
    return dg.multiprocess_executor.configured({"start_method": start}, name="multiprocess")


def _ray(settings: Settings) -> dg.ExecutorDefinition:
    try:
        import ray.job_submission  # noqa: F401 - dagster-ray can be installed without Ray
        from dagster_ray import ray_executor
    except ImportError as error:
        raise _missing("ray", error) from error
    # Neither num_gpus, num_cpus nor memory: they would go before what the assets' tags say.
    config = {"address": settings.ray_address, "runtime_env": {"env_vars": environment(settings)}}
    executor: dg.ExecutorDefinition = ray_executor.configured({"ray": config}, name="ray")
    return executor


def _celery(settings: Settings) -> dg.ExecutorDefinition:
    try:
        from dagster_celery import celery_executor
    except ImportError as error:
        raise _missing("celery", error) from error
    executor: dg.ExecutorDefinition = celery_executor.configured(celery_config(settings), name="celery")
    return executor


def _k8s(settings: Settings) -> dg.ExecutorDefinition:
    """Image, namespace, secrets and volumes of a step's pod are those of the run's, from the chart's values."""
    try:
        from dagster_k8s import k8s_job_executor
    except ImportError as error:
        raise _missing("k8s", error) from error
    variables = [f"{name}={value}" for name, value in environment(settings).items()]
    executor: dg.ExecutorDefinition = k8s_job_executor.configured({"env_vars": variables}, name="k8s")
    return executor


_EXECUTORS: Final[dict[str, Callable[[Settings], dg.ExecutorDefinition]]] = {
    "in_process": _in_process,
    "multiprocess": _multiprocess,
    "ray": _ray,
    "celery": _celery,
    "k8s": _k8s,
}


def _missing(extra: str, error: ImportError) -> SystemicError:
    return SystemicError(
        f"PMO_EXECUTOR={extra} needs packages that are not installed ({error}): pip install 'pmo-assets[{extra}]'"
    )
