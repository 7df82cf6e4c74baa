"""Sensors: a registered batch is processed; articles that appear, change or vanish at PMC are followed.

Both leave every decision to what is below the data root and in the instance, and keep nothing of their own: one that
was killed, switched off for a month or started twice asks for what is missing, once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import dagster as dg

from pmo_assets.defs.jobs import PROCESS_BATCH, REFRESH, RELEASE, job_of_unit
from pmo_assets.defs.partitions import batches_of
from pmo_assets.defs.release_state import RELEASE_TAG, release_is_due, release_state
from pmo_assets.defs.runner import close_dead_runs, unfinished_runs
from pmo_assets.pipeline.graph import declared_units
from pmo_assets.records.units import ARTICLE, Unit
from pmo_assets.refresh.lock import refresh_at_work
from pmo_assets.refresh.searching import NO_EMAIL
from pmo_assets.settings import Settings
from pmo_assets.storage.candidates import has_backlog
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.manifests import Manifests
from pmo_assets.storage.registry import BatchRegistry

ATTEMPTS: Final = 3
"""Number of requests of a batch, or a release, that fails every time: then a person must look.

Runs that Dagster itself starts again, because their process died, belong to the request that they repeat.
"""

PAUSE_AFTER_FAILURE: Final = timedelta(hours=1)
"""After a failed search: PMC, or the network, may be down. Also how long Dagster has to start a run again itself."""


PARTITION_TAG: Final = "dagster/partition"
"""Tag of a run that says which batch it processes."""


def _jobs() -> list[str]:
    """Return the names of the jobs after which a release follows, and its own."""
    return [REFRESH.name, *map(job_of_unit, declared_units()), RELEASE.name]


def batches_to_begin(instance: dg.DagsterInstance, batches: Sequence[str], unit: Unit = ARTICLE) -> list[str]:
    """Return the batches that nobody has processed, and for which no run waits or works.

    Whether the partition exists says nothing: `pmo batches add` adds it as well; nor does a batch whose files were
    fetched ahead count as begun. One whose run failed before its first step does: it is repeated, not begun.
    """
    begun = instance.get_materialized_partitions(dg.AssetKey(dict(unit.rows)[unit.name]))
    under_way = {run.tags.get(PARTITION_TAG) for run in unfinished_runs(instance)}
    waiting = [key for key in batches if key not in begun and key not in under_way]
    runs = _runs_of(instance, waiting, unit)
    return [key for key in waiting if key not in runs]


_ASKED_FOR: Final = 500
"""Batches that one query asks for; databases limit the number of its parameters."""


def _runs_of(
    instance: dg.DagsterInstance, batches: Sequence[str], unit: Unit = ARTICLE
) -> dict[str, list[dg.RunRecord]]:
    """Return the runs that were to process batches, the newest first, by batch; those without any are left out."""
    found: dict[str, list[dg.RunRecord]] = {}
    for first in range(0, len(batches), _ASKED_FOR):
        chosen = list(batches[first : first + _ASKED_FOR])
        wanted = dg.RunsFilter(job_name=job_of_unit(unit), tags={PARTITION_TAG: chosen})
        for record in instance.get_run_records(wanted):
            found.setdefault(record.dagster_run.tags[PARTITION_TAG], []).append(record)
    return found


def _requests(runs: Sequence[dg.RunRecord]) -> int:
    """Return how often a run was requested that Dagster, or a person, may have repeated."""
    return sum("dagster/parent_run_id" not in record.dagster_run.tags for record in runs)


def _is_recent(moment: datetime, time: timedelta, now: datetime) -> bool:
    """Say whether less than a time has passed; a moment in the future is the mistake of a clock, and does not count."""
    return now - time < moment <= now


def _ended(record: dg.RunRecord) -> datetime:
    return datetime.fromtimestamp(record.end_time or record.create_timestamp.timestamp(), UTC)


def started_again(instance: dg.DagsterInstance, now: datetime) -> list[dg.DagsterRun]:
    """Return the failed runs that Dagster is about to start again itself (`run_retries` in `dagster.yaml`).

    They count as at work: otherwise a release would be made of half a refresh, and a search begin beside it.
    """
    recently = dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE], updated_after=now - PAUSE_AFTER_FAILURE)
    return [
        record.dagster_run
        for record in instance.get_run_records(recently)
        if record.dagster_run.job_name in _jobs()
        and record.dagster_run.tags.get("dagster/will_retry") == "true"
        and "dagster/auto_retry_run_id" not in record.dagster_run.tags
        and _is_recent(_ended(record), PAUSE_AFTER_FAILURE, now)
    ]


def may_be_repeated(runs: Sequence[dg.RunRecord], pause: timedelta, now: datetime) -> bool:
    """Say whether runs that failed every time are tried again now.

    Args:
        runs: of one batch or release, the newest first; there is one at least.
        pause: since the newest one ended.
        now: the time, UTC.
    """
    last = runs[0]
    return (
        last.dagster_run.status is dg.DagsterRunStatus.FAILURE
        and _requests(runs) < ATTEMPTS
        and not _is_recent(_ended(last), pause, now)
    )


def batches_to_repeat(
    instance: dg.DagsterInstance, batches: Sequence[str], pause: timedelta, now: datetime
) -> dict[str, int]:
    """Return the batches whose runs all failed, with the number of requests: those that are tried again.

    Args:
        instance: that knows the runs.
        batches: all there are.
        pause: since the last run ended.
        now: the time, UTC.
    """
    finished = instance.get_materialized_partitions(dg.AssetKey("rejections"))
    runs = _runs_of(instance, [key for key in batches if key not in finished])
    return {key: _requests(runs[key]) for key in batches if key in runs and may_be_repeated(runs[key], pause, now)}


def release_request(
    instance: dg.DagsterInstance, data_root: DataRoot, pause: timedelta, now: datetime
) -> dg.RunRequest | None:
    """Return the request for a release if one is due, and none of the same rows was made or failed too often."""
    if not release_is_due(instance, data_root):
        return None
    state = release_state(instance, data_root)
    runs = instance.get_run_records(dg.RunsFilter(job_name=RELEASE.name, tags={RELEASE_TAG: state}))
    if runs and not may_be_repeated(runs, pause, now):
        return None
    run_key = f"release-{state}-{_requests(runs) + 1}"
    return dg.RunRequest(run_key=run_key, job_name=RELEASE.name, tags={RELEASE_TAG: state})


NOT_LOADED: Final = (
    "the first batch of {names} was registered after this code location was loaded: reload it (Lineage → Reload "
    "definitions), then it is processed"
)

AT_ONCE: Final = 100
"""Batches that a tick requests at most, the next tick the next ones: Dagster asks its database for each of them."""


def _processing(
    instance: dg.DagsterInstance, every: Sequence[str], run_keys: Mapping[str, str], unit: Unit = ARTICLE
) -> dg.SensorResult:
    """Return requests that process the first batches, and make partitions of those that are none."""
    batches, partitions = every[:AT_ONCE], batches_of(unit)
    known = set(instance.get_dynamic_partitions(str(partitions.name)))
    missing = [key for key in batches if key not in known]
    return dg.SensorResult(
        dynamic_partitions_requests=[partitions.build_add_request(missing)] if missing else None,
        run_requests=[
            dg.RunRequest(run_key=run_keys[key], partition_key=key, job_name=job_of_unit(unit)) for key in batches
        ],
    )


@dg.sensor(
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Closes runs whose process was killed, which would hold their places in queue and pools for ever. "
    "Starts no run itself; Dagster starts what was closed again (`run_retries`).",
)
def dead_runs(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Mark runs whose process on this machine is gone as failed, and free their pool slots."""
    return dg.SkipReason(f"{close_dead_runs(context.instance)} runs whose process is gone were closed")


def next_search(instance: dg.DagsterInstance, data_root: DataRoot, hours: float, now: datetime) -> datetime:
    """Return when PMC is searched next; a time that has passed means now.

    That is `hours` after the last search, at once while candidates wait that a refresh did not take in, and some time
    after a search that failed. A search that lies in the future was made by a clock that was wrong, and does not count.
    """
    records = instance.get_run_records(dg.RunsFilter(job_name=REFRESH.name), limit=1)
    if not records:
        return now
    last = records[0]
    ended = _ended(last)
    if ended > now:
        return now
    if last.dagster_run.status is not dg.DagsterRunStatus.SUCCESS:
        return ended + min(PAUSE_AFTER_FAILURE, timedelta(hours=hours))
    if has_backlog(data_root):
        return now
    return ended + timedelta(hours=hours)


def failed_search(instance: dg.DagsterInstance) -> str | None:
    """Return a sentence about the last search if it failed; None if it did not."""
    runs = instance.get_runs(dg.RunsFilter(job_name=REFRESH.name), limit=1)
    if not runs or runs[0].status is not dg.DagsterRunStatus.FAILURE:
        return None
    return f"the last search of PMC failed: open run {runs[0].run_id[:8]} to see why; it is repeated"


def was_released(instance: dg.DagsterInstance, *, since: datetime, now: datetime) -> bool:
    """Say whether a release was made between two times, UTC; one that lies in the future is a wrong clock's."""
    records = instance.fetch_materializations(dg.AssetKey("pubmed_ophtha"), limit=1).records
    return bool(records) and since < datetime.fromtimestamp(records[0].timestamp, UTC) <= now


def work_in_progress(instance: dg.DagsterInstance, now: datetime) -> str | None:
    """Return a line about runs of refresh, batches and release that wait, work or start again soon; None if none do."""
    working = [run for job in _jobs() for run in unfinished_runs(instance, job)] + started_again(instance, now)
    return f"{len(working)} runs are waiting or at work: {working[0].job_name} …" if working else None


def release_in_turn(
    instance: dg.DagsterInstance, data_root: DataRoot, pause: timedelta, now: datetime
) -> dg.RunRequest | None:
    """Return the request for a release when one is due; while a backlog is taken in, once in the time `pause`."""
    release = release_request(instance, data_root, pause, now)
    if release is not None and has_backlog(data_root) and was_released(instance, since=now - pause, now=now):
        return None
    return release


def registered_batches_of(jobs_beside: Mapping[Unit, dg.UnresolvedAssetJobDefinition]) -> dg.SensorDefinition:
    """Return the sensor that processes what is registered.

    Args:
        jobs_beside: of the units whose batches are processed besides articles: those that the code location has.
    """

    @dg.sensor(
        jobs=[PROCESS_BATCH, *jobs_beside.values(), RELEASE],
        minimum_interval_seconds=60,
        default_status=dg.DefaultSensorStatus.STOPPED,
        description="Processes every registered batch that nobody has begun to process, adding its partition if "
        "needed, and makes the release when they are done.",
    )
    def registered_batches(
        context: dg.SensorEvaluationContext,
        registry: dg.ResourceParam[BatchRegistry],
        data_root: dg.ResourceParam[DataRoot],
        settings: dg.ResourceParam[Settings],
    ) -> dg.SensorResult | dg.SkipReason:
        """Request a run for each batch that none has begun, then the release; run keys keep all from coming twice."""
        close_dead_runs(context.instance)
        instance, now = context.instance, datetime.now(UTC)
        if fresh := batches_to_begin(instance, registry.batches()):
            return _processing(instance, fresh, {key: key for key in fresh})
        for unit in declared_units():
            if unit == ARTICLE or not (fresh := batches_to_begin(instance, Manifests(data_root, unit).batches(), unit)):
                continue
            if unit in jobs_beside:
                return _processing(instance, fresh, {key: f"{unit.name} {key}" for key in fresh}, unit)
            context.log.error(NOT_LOADED.format(names=unit.names))
        if (holder := refresh_at_work(data_root)) is not None:
            return dg.SkipReason(f"a refresh is at work ({holder})")
        if (working := work_in_progress(instance, now)) is not None:
            return dg.SkipReason(working)
        release = release_in_turn(instance, data_root, timedelta(hours=settings.refresh_hours), now)
        if release is not None:
            return dg.SensorResult(run_requests=[release])
        return dg.SkipReason("every registered batch has been processed or begun, and the release is up to date")

    return registered_batches


@dg.sensor(
    jobs=[REFRESH, PROCESS_BATCH, RELEASE],
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

    A refresh is processed before the next one begins, so that a long backlog fills neither the queue nor the disk with
    what nobody has looked at. While there is one, a release is made once in `PMO_REFRESH_HOURS`: each writes all rows.
    """
    if settings.entrez_email is None:
        context.log.error(NO_EMAIL)
        return dg.SkipReason(NO_EMAIL)
    if (holder := refresh_at_work(data_root)) is not None:
        return dg.SkipReason(f"a refresh is at work ({holder})")
    close_dead_runs(context.instance)
    instance, now, batches = context.instance, datetime.now(UTC), registry.batches()
    hours = settings.refresh_hours
    pause = timedelta(hours=hours)
    if fresh := batches_to_begin(instance, batches):
        return _processing(instance, fresh, {key: key for key in fresh})
    if (working := work_in_progress(instance, now)) is not None:
        return dg.SkipReason(working)
    if again := batches_to_repeat(instance, batches, pause, now):
        return _processing(instance, list(again), {key: f"{key}-{runs + 1}" for key, runs in again.items()})
    if (release := release_in_turn(instance, data_root, pause, now)) is not None:
        return dg.SensorResult(run_requests=[release])
    due = next_search(instance, data_root, hours, now)
    if due > now:
        if failed := failed_search(instance):
            context.log.error(failed)
        return dg.SkipReason(f"PMC is searched next at {due:%Y-%m-%d %H:%M} UTC")
    last = instance.get_runs(dg.RunsFilter(job_name=REFRESH.name), limit=1)
    run_key = f"find-after-{last[0].run_id}" if last else "find-first"
    return dg.SensorResult(run_requests=[dg.RunRequest(run_key=run_key, job_name=REFRESH.name)])
