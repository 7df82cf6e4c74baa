"""Staleness in the UI: the check `current` of each asset, the sensor that evaluates it, the job that renews.

The sensor is on by default. Its tick asks one query as long as nothing was made and no version changed; evaluations are
reported only where they say something new, so that a graph at rest adds nothing to the event log. What an asset's check
said before the asset was made again, of any batch, the UI shows as "Not Evaluated": then it is said again.
"""

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import dagster as dg
from dagster._core.definitions.assets.graph.asset_graph import AssetGraph
from dagster._core.definitions.assets.graph.asset_graph_subset import AssetGraphSubset
from dagster._core.definitions.events import AssetKeyPartitionKey
from dagster._core.execution.backfill import PartitionBackfill
from dagster._core.utils import make_new_backfill_id

from pmo_assets.configuration.remembered import renew_settings
from pmo_assets.defs.annotated import ANNOTATIONS, REVIEWED
from pmo_assets.defs.graph import batch_graph
from pmo_assets.defs.loading import all_assets
from pmo_assets.defs.stale_counts import CURRENT
from pmo_assets.defs.staleness import Stages, evaluations, stages_in_force, stale_of_batches
from pmo_assets.records.units import ARTICLE
from pmo_assets.settings import Settings
from pmo_assets.settings.shaping import noted_settings
from pmo_assets.storage.data_root import DataRoot

RENEWAL_TAG: Final = "pmo/renewal"
"""Tag of the backfills, and their runs, that the job `renew` began."""


def current_checks(assets: Sequence[dg.AssetsDefinition]) -> dg.AssetChecksDefinition:
    """Return the check `current` of every asset of a batch; one op evaluates those that are chosen."""
    names = batch_graph(assets).stages

    @dg.multi_asset_check(
        name="current_checks",
        specs=[
            dg.AssetCheckSpec(
                CURRENT,
                asset=name,
                description="Warns when batches were made with other code or settings than are in force: which, from "
                "what to what, how many batches, and what to click.",
            )
            for name in names
        ],
        can_subset=True,
    )
    def check(
        context: dg.AssetCheckExecutionContext, settings: dg.ResourceParam[Settings]
    ) -> Iterator[dg.AssetCheckResult]:
        chosen = [key.asset_key.path[-1] for key in context.selected_asset_check_keys]
        yield from evaluations(
            context.instance, stages_in_force(batch_graph(assets), settings), settings, chosen
        ).values()

    return check


def _said(result: dg.AssetCheckResult, made: int | None) -> str:
    return hashlib.sha256(f"{result.passed} {made} {result.description}".encode()).hexdigest()[:12]


def _made_last(instance: dg.DagsterInstance, stages: Stages) -> dict[str, int | None]:
    """Return the latest materialisation of each asset that `current` follows from, by its number in the event log."""
    records = instance.get_asset_records([dg.AssetKey(name) for name in (*stages.parents, ANNOTATIONS)])
    entries = [record.asset_entry for record in records]
    return {entry.asset_key.path[-1]: entry.last_materialization_storage_id for entry in entries}


def _state(
    instance: dg.DagsterInstance, stages: Stages, settings: Settings, made_last: Mapping[str, int | None]
) -> str:
    """Return a hash of the versions in force and of the latest materialisations: `current` follows from these."""
    partitions = instance.get_dynamic_partitions(ARTICLE.batch)
    versions = sorted((name, str(version)) for name, version in stages.versions.items())
    state = [versions, sorted(made_last.items()), sorted(partitions), noted_settings(settings, REVIEWED)]
    return hashlib.sha256(json.dumps(state).encode()).hexdigest()[:16]


@dg.sensor(
    name="staleness",
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Evaluates the check current of every asset when code or settings have changed or something was made. "
    "Starts no run.",
)
def staleness(
    context: dg.SensorEvaluationContext, settings: dg.ResourceParam[Settings]
) -> dg.SensorResult | dg.SkipReason:
    """Report the result of the check `current` where it differs from the one in the UI."""
    stages = stages_in_force(batch_graph(all_assets()), settings)
    made_last = _made_last(context.instance, stages)
    state = _state(context.instance, stages, settings, made_last)
    known = json.loads(context.cursor) if context.cursor else {}
    if known.get("state") == state:
        return dg.SkipReason("neither versions nor what was made have changed")
    results = evaluations(context.instance, stages, settings)
    said = {name: _said(result, made_last.get(name)) for name, result in results.items()}
    news = [
        dg.AssetCheckEvaluation(
            asset_key=dg.AssetKey(name),
            check_name=CURRENT,
            passed=result.passed,
            severity=result.severity,
            description=result.description,
            metadata=result.metadata,
        )
        for name, result in results.items()
        if known.get("said", {}).get(name) != said[name]
    ]
    return dg.SensorResult(cursor=json.dumps({"state": state, "said": said}), asset_events=news)


def begin_renewal(instance: dg.DagsterInstance, settings: Settings, run_id: str = "") -> str | None:
    """Ask the daemon to make exactly the stale assets of the batches that were begun; None if there are none.

    Args:
        instance: that records materialisations, and whose daemon runs the backfill.
        settings: options in force.
        run_id: of the run that asks.

    Returns:
        the backfill's id.
    """
    assets = all_assets()
    stale = stale_of_batches(instance, stages_in_force(batch_graph(assets), settings))
    wanted = {AssetKeyPartitionKey(dg.AssetKey(name), batch) for batch, names in stale.assets.items() for name in names}
    if not wanted:
        return None
    graph = AssetGraph.from_assets(assets)
    backfill = PartitionBackfill.from_asset_graph_subset(
        backfill_id=make_new_backfill_id(),
        backfill_timestamp=time.time(),
        tags={RENEWAL_TAG: run_id or "by hand"},
        dynamic_partitions_store=instance,
        asset_graph_subset=AssetGraphSubset.from_asset_partition_set(wanted, graph),
        title=f"Renew what is stale: {len(stale.assets)} batches",
        description=f"{len(wanted)} tables that were made with other code or settings, or that are missing",
        run_config=None,
    )
    instance.add_backfill(backfill)
    return str(backfill.backfill_id)


@dg.op(name="renew_what_is_stale")
def renew_what_is_stale(context: dg.OpExecutionContext, settings: dg.ResourceParam[Settings]) -> None:
    """Let the data root remember the settings in force, and begin a backfill of exactly what is stale."""
    renew_settings(DataRoot(settings.data_root, settings.s3_endpoint), settings)
    found = begin_renewal(context.instance, settings, context.run_id)
    if found is None:
        context.log.info("nothing is stale")
        return
    context.log.info(f"backfill {found} makes what is stale: Runs → Backfills")


@dg.graph(description="A backfill of exactly what is stale.")
def renewal() -> None:
    """Begin it; what the job `renew` does."""
    renew_what_is_stale()
