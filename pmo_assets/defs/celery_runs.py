"""Whole runs as Celery tasks (`run_launcher` in `dagster.yaml`): dagster-celery's launcher, told by the settings."""

from __future__ import annotations

from typing import Any

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
