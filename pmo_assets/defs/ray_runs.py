"""Whole runs as Ray jobs (`run_launcher` in `dagster.yaml`): dagster-ray's launcher, told by the settings."""

from __future__ import annotations

from typing import Any

from dagster_ray import RayRunLauncher

from pmo_assets.configuration.environment import environment
from pmo_assets.defs.needs import engine_tags, needs_of_run
from pmo_assets.records.stores import SystemicError
from pmo_assets.settings import Settings


class RayRuns(RayRunLauncher):
    """Sends each run to `PMO_RAY_ADDRESS`, with the settings of the process that sends it and what a batch needs.

    What `dagster.yaml` or the tag `dagster-ray/config` of a run says goes before. Keys do not travel, because Ray shows
    a job's environment to everyone: they are set where Ray's nodes start.
    """

    def __init__(self, address: str | None = None, **options: Any) -> None:
        settings = Settings()
        address = address or settings.ray_address
        if not address:
            raise SystemicError("set PMO_RAY_ADDRESS to Ray's job server, e.g. http://127.0.0.1:8265")
        tag = engine_tags(needs_of_run(settings))["dagster-ray/config"]
        given = {name: value for name, value in options.items() if value is not None}
        variables = [f"{name}={value}" for name, value in environment(settings).items()]
        super().__init__(address, **{**tag, "env_vars": variables, **given})
