"""The code location: `build_defs(...)` and one Definitions object; nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dagster as dg

from pmo_assets.configuration.frozen import frozen_settings
from pmo_assets.configuration.reading import configured_settings
from pmo_assets.defs.event_log_files import write_events_quickly
from pmo_assets.defs.executors import executor_of, retry_policy_of
from pmo_assets.defs.forked_runs import fork_runs
from pmo_assets.defs.jobs import JOBS, jobs_of_units
from pmo_assets.defs.loading import all_assets, as_set, jobs_of_groups, units_at_work
from pmo_assets.defs.needs import with_needs
from pmo_assets.defs.notices import failed_runs
from pmo_assets.defs.renewing import current_checks, staleness
from pmo_assets.defs.resources import built_in_resources
from pmo_assets.defs.schedules import weekly_release
from pmo_assets.defs.sensors import dead_runs, new_articles, registered_batches_of
from pmo_assets.defs.stage_log import json_console, log_as_set
from pmo_assets.defs.versions import in_force
from pmo_assets.settings import Settings


def build_defs(
    settings: Settings | None = None, *, resource_overrides: Mapping[str, Any] | None = None
) -> dg.Definitions:
    """Return the code location.

    Args:
        settings: options; from environment and `.env`, checked, if None.
        resource_overrides: resources that replace the built-in ones (`pmo_assets.defs.resources`), by key.

    Raises:
        ConfigurationError: when a setting, or what it names, cannot be used.
        ValueError: for a key that no resource has.
        SystemicError: if packages of the engine that the settings name are not installed.
    """
    settings = settings or configured_settings()
    resources = built_in_resources(settings)
    unknown = set(resource_overrides or {}) - set(resources)
    if unknown:
        raise ValueError(f"unknown resources {sorted(unknown)}; there are {sorted(resources)}")

    loggers = {"console": json_console} if settings.log_format == "json" else None
    units = units_at_work(settings)
    jobs_beside = jobs_of_units(units)
    assets = with_needs(as_set(all_assets(), settings, units), settings, retry_policy_of(settings))
    return dg.Definitions(
        assets=dg.map_asset_specs(lambda spec: in_force(spec, settings), assets),
        jobs=[*JOBS, *jobs_beside.values(), *jobs_of_groups()],
        asset_checks=[current_checks(assets)],
        sensors=[new_articles, registered_batches_of(jobs_beside), dead_runs, failed_runs, staleness],
        schedules=[weekly_release],
        resources={**resources, **(resource_overrides or {})},
        executor=executor_of(settings),
        loggers=loggers,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """Return the code location with the settings of the environment, frozen for the runs that it starts."""
    settings = frozen_settings()
    log_as_set(settings)
    fork_runs()
    write_events_quickly()
    return build_defs(settings)
