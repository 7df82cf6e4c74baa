"""Sensors: a registered batch is processed; articles that appear, change or vanish at PMC are followed.

Both leave every decision to what is below the data root and in the instance, and keep nothing of their own: one that
was killed, switched off for a month or started twice asks for what is missing, once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import dagster as dg

from pmo_assets.defs.jobs import FIND_ARTICLES, MAKE_RELEASE, PROCESS_BATCH
from pmo_assets.defs.partitions import ARTICLE_BATCHES
from pmo_assets.defs.release_state import release_is_due, release_state
from pmo_assets.records.candidates import CandidateState
from pmo_assets.refresh.candidates import read_candidates
from pmo_assets.refresh.searching import NO_EMAIL
from pmo_assets.settings import Settings
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.registry import BatchRegistry

ATTEMPTS: Final = 3
"""So often a batch is begun that fails every time: then a person must look."""

PAUSE_AFTER_FAILURE: Final = timedelta(hours=1)
"""After a failed search: PMC, or the network, may be down."""

_UNFINISHED: Final = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


def _partition(run: dg.DagsterRun) -> str | None:
    return run.tags.get("dagster/partition")


def _unfinished_runs(instance: dg.DagsterInstance, job: str) -> Sequence[dg.DagsterRun]:
    return instance.get_runs(dg.RunsFilter(job_name=job, statuses=_UNFINISHED))


def batches_to_begin(instance: dg.DagsterInstance, batches: Sequence[str]) -> list[str]:
    """Return the batches whose first asset this instance has never made, and for which no run waits or works.

    Whether the partition exists says nothing: `pmo batches add` adds it as well.
    """
    begun = instance.get_materialized_partitions(dg.AssetKey("article_batch"))
    under_way = {_partition(run) for run in _unfinished_runs(instance, PROCESS_BATCH.name)}
    return [key for key in batches if key not in begun and key not in under_way]


def batches_to_repeat(
    instance: dg.DagsterInstance, batches: Sequence[str], pause: timedelta, now: datetime
) -> dict[str, int]:
    """Return the batches whose runs all failed, with the number of their runs: those that are tried again.

    Args:
        instance: that knows the runs.
        batches: all there are.
        pause: since the last run ended.
        now: the time, UTC.
    """
    finished = instance.get_materialized_partitions(dg.AssetKey("rejections"))
    again: dict[str, int] = {}
    for key in batches:
        if key in finished:
            continue
        wanted = dg.RunsFilter(job_name=PROCESS_BATCH.name, tags={"dagster/partition": key})
        records = instance.get_run_records(wanted, limit=ATTEMPTS)
        if not 0 < len(records) < ATTEMPTS:
            continue
        last = records[0]
        ended = datetime.fromtimestamp(last.end_time or 0, UTC)
        if last.dagster_run.status is dg.DagsterRunStatus.FAILURE and not now - pause < ended <= now:
            again[key] = len(records)
    return again


def _processing(instance: dg.DagsterInstance, batches: Sequence[str], run_keys: Mapping[str, str]) -> dg.SensorResult:
    """Return requests that process batches, and make partitions of those that are none."""
    known = set(instance.get_dynamic_partitions(str(ARTICLE_BATCHES.name)))
    missing = [key for key in batches if key not in known]
    return dg.SensorResult(
        dynamic_partitions_requests=[ARTICLE_BATCHES.build_add_request(missing)] if missing else None,
        run_requests=[
            dg.RunRequest(run_key=run_keys[key], partition_key=key, job_name=PROCESS_BATCH.name) for key in batches
        ],
    )


@dg.sensor(
    jobs=[PROCESS_BATCH],
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.STOPPED,
    description="Processes every registered batch that nobody has begun to process, adding its partition if needed.",
)
def registered_batches(
    context: dg.SensorEvaluationContext, registry: dg.ResourceParam[BatchRegistry]
) -> dg.SensorResult | dg.SkipReason:
    """Request a run for every batch that no run has begun; the run key keeps it from being requested twice."""
    fresh = batches_to_begin(context.instance, registry.batches())
    if not fresh:
        return dg.SkipReason("every registered batch has been processed or begun")
    return _processing(context.instance, fresh, {key: key for key in fresh})


def next_search(instance: dg.DagsterInstance, data_root: DataRoot, hours: float, now: datetime) -> datetime:
    """Return when PMC is searched next; a time that has passed means now.

    That is `hours` after the last search, at once while candidates wait that a refresh did not take in, and some time
    after a search that failed. A search that lies in the future was made by a clock that was wrong, and does not count.
    """
    records = instance.get_run_records(dg.RunsFilter(job_name=FIND_ARTICLES.name), limit=1)
    if not records:
        return now
    last = records[0]
    ended = datetime.fromtimestamp(last.end_time or last.create_timestamp.timestamp(), UTC)
    if ended > now:
        return now
    if last.dagster_run.status is not dg.DagsterRunStatus.SUCCESS:
        return ended + min(PAUSE_AFTER_FAILURE, timedelta(hours=hours))
    if not read_candidates(data_root).numbers(CandidateState.FOUND).is_empty():
        return now
    return ended + timedelta(hours=hours)


@dg.sensor(
    jobs=[FIND_ARTICLES, PROCESS_BATCH, MAKE_RELEASE],
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.STOPPED,
    description="Follows PMC: searches it every day (PMO_REFRESH_HOURS), processes the batches that this makes, and "
    "makes a release when they are done. Needs PMO_ENTREZ_EMAIL.",
)
def new_articles(
    context: dg.SensorEvaluationContext,
    registry: dg.ResourceParam[BatchRegistry],
    data_root: dg.ResourceParam[DataRoot],
    settings: dg.ResourceParam[Settings],
) -> dg.SensorResult | dg.SkipReason:
    """Request the next step that is due: process batches, then make the release, then search again.

    A refresh is taken through to its release before the next one begins, so that a long backlog fills neither the queue
    nor the disk with what nobody has looked at.
    """
    if settings.entrez_email is None:
        return dg.SkipReason(NO_EMAIL)
    instance, now, batches = context.instance, datetime.now(UTC), registry.batches()
    hours = settings.refresh_hours
    if fresh := batches_to_begin(instance, batches):
        return _processing(instance, fresh, {key: key for key in fresh})
    working = [
        run for job in (FIND_ARTICLES, PROCESS_BATCH, MAKE_RELEASE) for run in _unfinished_runs(instance, job.name)
    ]
    if working:
        return dg.SkipReason(f"{len(working)} runs are waiting or at work: {working[0].job_name} …")
    if again := batches_to_repeat(instance, batches, timedelta(hours=hours), now):
        return _processing(instance, list(again), {key: f"{key}-{runs + 1}" for key, runs in again.items()})
    if release_is_due(instance, data_root):
        state = release_state(instance, data_root)
        return dg.SensorResult(run_requests=[dg.RunRequest(run_key=f"release-{state}", job_name=MAKE_RELEASE.name)])
    due = next_search(instance, data_root, hours, now)
    if due > now:
        return dg.SkipReason(f"PMC is searched next at {due:%Y-%m-%d %H:%M} UTC")
    number = instance.get_runs_count(dg.RunsFilter(job_name=FIND_ARTICLES.name))
    return dg.SensorResult(run_requests=[dg.RunRequest(run_key=f"find-{number + 1}", job_name=FIND_ARTICLES.name)])
