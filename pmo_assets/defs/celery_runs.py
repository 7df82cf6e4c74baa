"""Whole runs as Celery tasks (`run_launcher` in `dagster.yaml`): dagster-celery's launcher, told by the settings."""

from __future__ import annotations

from typing import Any

import dagster as dg
from dagster._core.launcher import CheckRunHealthResult, WorkerStatus
from dagster_celery.launcher import CeleryRunLauncher

from pmo_assets.defs.executors import celery_config
from pmo_assets.defs.needs import needs_of_run
from pmo_assets.settings import Settings


class CeleryRuns(CeleryRunLauncher):
    """Hands each run to a worker at `PMO_CELERY_BROKER`: of the queue `gpu` if detection needs one.

    The tag `dagster-celery/queue` of a run goes before. The workers work with their own environment.
    """

    def __init__(self, inst_data: Any = None, **_: Any) -> None:
        settings = Settings()
        super().__init__(
            default_queue=needs_of_run(settings).queue, include=[], inst_data=inst_data, **celery_config(settings)
        )

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Say how the worker of a run is that has not ended.

        Redis hands the task of a worker that died to another one. That leaves a run alone which has begun, and is done:
        only here can it be seen that nobody works on the run, so that the daemon begins it again.
        """
        health: CheckRunHealthResult = super().check_run_worker_health(run)
        if health.status is WorkerStatus.SUCCESS:
            return CheckRunHealthResult(WorkerStatus.FAILED, "the task is done, the run is not: its worker died")
        return health
