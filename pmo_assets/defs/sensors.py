"""Sensors: a batch that was registered becomes a partition and is processed."""

import dagster as dg

from pmo_assets.defs.jobs import PROCESS_BATCH
from pmo_assets.defs.partitions import ARTICLE_BATCHES
from pmo_assets.storage.registry import BatchRegistry


@dg.sensor(
    job=PROCESS_BATCH,
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.STOPPED,
    description="Processes every registered batch that nobody has begun to process, adding its partition if needed.",
)
def registered_batches(
    context: dg.SensorEvaluationContext, registry: dg.ResourceParam[BatchRegistry]
) -> dg.SensorResult | dg.SkipReason:
    """Request a run for every batch below the data root whose first asset this instance has never materialised.

    Whether the partition exists says nothing: `pmo batches add` adds it as well. The run key keeps a batch whose run
    waits in the queue from being requested twice.
    """
    known = set(context.instance.get_dynamic_partitions(str(ARTICLE_BATCHES.name)))
    begun = context.instance.get_materialized_partitions(dg.AssetKey("article_batch"))
    fresh = [key for key in registry.batches() if key not in begun]
    if not fresh:
        return dg.SkipReason("every registered batch has been processed or begun")
    missing = [key for key in fresh if key not in known]
    return dg.SensorResult(
        dynamic_partitions_requests=[ARTICLE_BATCHES.build_add_request(missing)] if missing else None,
        run_requests=[dg.RunRequest(run_key=key, partition_key=key) for key in fresh],
    )
