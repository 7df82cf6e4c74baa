"""Metrics of the Dagster instance for Prometheus: runs by status, failed and stale batches, rates of the stages."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable

import dagster as dg
from dagster import AssetKey, DagsterRunStatus, RunsFilter
from prometheus_client.core import GaugeMetricFamily

from pmo_assets.configuration.home import home_place, is_read_only
from pmo_assets.defs.instance import home_to_read, last_changes
from pmo_assets.defs.partitions import ARTICLE_BATCHES
from pmo_assets.defs.stale_counts import stale_counts
from pmo_assets.serving.metrics import FINISHED, labelled
from pmo_assets.settings import Settings

_LOG = logging.getLogger(__name__)

_NUMBERS = {
    "seconds": ("pmo_stage_seconds", "Seconds of the last materialisation of an asset"),
    "articles_per_minute": ("pmo_stage_articles_per_minute", "Articles a minute of the last materialisation"),
}
"""Metadata of a materialisation, and the metric that it is."""


def instance_families(instance: dg.DagsterInstance) -> list[GaugeMetricFamily]:
    """Return the metrics of the instance, by a number of queries that does not grow with the batches."""
    runs = [
        (status.value.lower(), instance.get_runs_count(RunsFilter(statuses=[status]))) for status in DagsterRunStatus
    ]
    stale = stale_counts(instance).items()
    return [
        labelled("pmo_runs", "Runs of Dagster that are kept", "status", runs),
        labelled("pmo_batches_failed", "Batches whose last run failed", "asset", [(FINISHED, _failed(instance))]),
        labelled("pmo_batches_stale", "Batches made with other code or settings", "asset", stale),
        *_stages(instance),
    ]


def _failed(instance: dg.DagsterInstance) -> int:
    """Return how many batches are stuck: assets downstream of a failed one count as failed, too."""
    keys = instance.get_dynamic_partitions(str(ARTICLE_BATCHES.name))
    if not keys:
        return 0
    states = instance.get_status_by_partition(AssetKey(FINISHED), keys, ARTICLE_BATCHES) or {}
    return sum(state is not None and state.value == "FAILED" for state in states.values())


def _stages(instance: dg.DagsterInstance) -> list[GaugeMetricFamily]:
    events = instance.get_latest_materialization_events(instance.all_asset_keys())
    found: dict[str, list[tuple[str, float]]] = {name: [] for name in _NUMBERS}
    for key, event in sorted(events.items(), key=lambda item: list(item[0].path)):
        metadata = event.asset_materialization.metadata if event and event.asset_materialization else {}
        for name, values in found.items():
            if isinstance(value := getattr(metadata.get(name), "value", None), (int, float)):
                values.append((key.path[-1], float(value)))
    return [labelled(*_NUMBERS[name], "asset", values) for name, values in found.items()]


def instance_reader(settings: Settings) -> Callable[[], list[GaugeMetricFamily]]:
    """Return a function that reads the metrics of the settings' instance, for the pages' server.

    The instance is opened at the first call and stays open; of a read-only disk a copy is, until it changes. One that
    is not there yet is not made, and one that cannot be read is said to be down: the other numbers are as good without
    it.
    """
    opened: list[dg.DagsterInstance] = []
    copies = contextlib.ExitStack()
    seen: list[tuple[int, ...]] = []

    def read() -> list[GaugeMetricFamily]:
        home = home_place(settings).path
        try:
            if is_read_only(home) and [last_changes(home)] != seen:
                seen[:] = [last_changes(home)]
                opened.clear()
                copies.close()
            if not opened and (home / "dagster.yaml").is_file():
                opened.append(dg.DagsterInstance.from_config(str(copies.enter_context(home_to_read(settings)))))
            families = instance_families(opened[0]) if opened else []
        except Exception as error:  # the database's own classes, by storage; nothing is lost
            _LOG.warning("the Dagster instance of %s cannot be read: %s", home, error)
            opened.clear()
            families = []
        up = GaugeMetricFamily("pmo_instance_up", "Dagster's instance could be read", value=bool(families))
        return [up, *families]

    return read
