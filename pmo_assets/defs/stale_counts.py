"""Counts of stale batches that the check `current` recorded last, for readers that do not load the assets."""

from __future__ import annotations

from typing import Final

import dagster as dg

CURRENT: Final = "current"
"""The check of every asset of a batch that warns when it is stale."""

STALE_BATCHES: Final = "stale_batches"
"""Key of its metadata: number of batches whose asset is stale."""


def stale_counts(instance: dg.DagsterInstance) -> dict[str, int]:
    """Return how many batches of each asset the check found stale when it was evaluated last, by asset, sorted."""
    checks = [dg.AssetCheckKey(key, CURRENT) for key in instance.all_asset_keys()]
    found = {}
    for check, record in instance.event_log_storage.get_latest_asset_check_execution_by_key(checks).items():
        metadata = record.evaluation.metadata if record.evaluation else {}
        if isinstance(value := getattr(metadata.get(STALE_BATCHES), "value", None), int):
            found[check.asset_key.path[-1]] = value
    return dict(sorted(found.items()))
