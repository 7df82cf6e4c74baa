"""Sensors: a batch that was registered becomes a partition and is processed."""

import dagster as dg

from pmo_assets.jobs import PROCESS_BATCH
from pmo_assets.partitions import ARTICLE_BATCHES
from pmo_assets.resources.registry import BatchRegistry


@dg.sensor(
    job=PROCESS_BATCH,
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.STOPPED,
    description="Adds a partition for every registered manifest that has none, and processes it.",
)
def registered_batches(
    context: dg.SensorEvaluationContext, registry: dg.ResourceParam[BatchRegistry]
) -> dg.SensorResult | dg.SkipReason:
    """Request a run for every manifest below the data root that this instance does not know yet."""
    known = set(context.instance.get_dynamic_partitions(str(ARTICLE_BATCHES.name)))
    fresh = [key for key in registry.batches() if key not in known]
    if not fresh:
        return dg.SkipReason(f"all {len(known)} registered batches are partitions already")
    return dg.SensorResult(
        dynamic_partitions_requests=[ARTICLE_BATCHES.build_add_request(fresh)],
        run_requests=[dg.RunRequest(run_key=key, partition_key=key) for key in fresh],
    )
