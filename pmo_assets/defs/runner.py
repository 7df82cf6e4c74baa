"""Runs jobs without the UI, in this process, resumable after a kill. The state of batches: `batch_states`.

Materialisations go to the same Dagster instance that the UI shows. A batch's asset is up to date when it was
materialised with the present code version and after everything upstream of it, and its table is there; a run makes
the assets that are not.
"""

from __future__ import annotations

import contextlib
import errno
import socket
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import dagster as dg
import psutil
from dagster._core.definitions.repository_definition.valid_definitions import SINGLETON_REPOSITORY_NAME
from dagster._core.remote_origin import (
    ManagedGrpcPythonEnvCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)
from dagster._core.storage.tags import MAX_RETRIES_TAG, REPOSITORY_LABEL_TAG
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._core.utils import make_new_run_id

from pmo_assets.configuration.home import home_place
from pmo_assets.defs.annotated import ANNOTATIONS, annotations_are_stale
from pmo_assets.defs.code_servers import code_server_of, has_lost, is_on_another_host
from pmo_assets.defs.instance import open_instance
from pmo_assets.defs.release_state import LAST_TABLES, release_is_due
from pmo_assets.defs.staleness import latest
from pmo_assets.records.units import VIDEO
from pmo_assets.records.videos import VIDEO_INSTRUCTIONS
from pmo_assets.release.keys import CARD_KEY, GALLERY_KEY, RELEASE_KEY, REPORT_KEY
from pmo_assets.settings import Settings
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.manifests import Manifests
from pmo_assets.system.processes import ProcessMark, this_process

_OWNER_TAG = "pmo/process"
_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
_LOUD = {"loggers": {"console": {"config": {"log_level": "DEBUG"}}}}


_LAUNCHED_WITHIN: Final = timedelta(minutes=2)
"""Time in which a run that was made is put into the queue, and one that left it given to a code server, if busy."""

_UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


class RunFailed(Exception):
    """A run did not succeed; the message is the first failed step's."""


def dagster_home(settings: Settings) -> Path:
    """Return the folder of the Dagster instance, made, configured and with all of its databases if it is new.

    Where it lies: `pmo_assets.configuration.home`; a `dagster.yaml` that is already there is left alone.
    """
    with open_instance(settings):
        return home_place(settings).path


def latest_metadata(instance: dg.DagsterInstance, asset: str) -> dict[str, Any]:
    """Return the metadata of the latest materialisation of an asset, by name; empty if there is none."""
    records = instance.fetch_materializations(dg.AssetKey(asset), limit=1).records
    made = records[0].asset_materialization if records else None
    return {name: value.value for name, value in made.metadata.items()} if made is not None else {}


def read_annotations_if_changed(
    defs: dg.Definitions, instance: dg.DagsterInstance, settings: Settings, *, verbose: bool = False
) -> list[str]:
    """Materialise `annotations` if the files at PMO_ANNOTATIONS changed; return what failed, nothing if all is well.

    Batches are processed all the same, with the decisions that were read before.
    """
    records = instance.fetch_materializations(dg.AssetKey(ANNOTATIONS), limit=1).records
    if not annotations_are_stale(defs, records[0].asset_materialization if records else None, settings):
        return []
    try:
        run_job(defs, instance, "evaluate", assets=[ANNOTATIONS], verbose=verbose)
    except RunFailed as error:
        return [str(error)]
    return []


def release_is_stale(
    defs: dg.Definitions, instance: dg.DagsterInstance, data_root: DataRoot, batches: Sequence[str]
) -> bool:
    """Say whether a batch of articles or videos has newer rows than the release, its code has changed, or a file of it
    is not there."""
    if not all(data_root.exists(key) for key in (RELEASE_KEY, CARD_KEY, GALLERY_KEY, REPORT_KEY)):
        return True
    if release_is_due(instance, data_root):
        return True
    graph = defs.resolve_asset_graph()
    oldest: int | None = None
    for name in ("pubmed_ophtha", "dataset_report"):
        made = latest(instance, dg.AssetKey(name), None)
        if made is None or made.code_version != graph.get(dg.AssetKey(name)).code_version:
            return True
        oldest = made.order if oldest is None else min(oldest, made.order)

    def made_since(table: str, batches: Sequence[str]) -> bool:
        rows = instance.event_log_storage.get_latest_storage_id_by_partition(
            dg.AssetKey(table), dg.DagsterEventType.ASSET_MATERIALIZATION
        )
        return any(oldest is not None and rows.get(batch, 0) > oldest for batch in batches)

    lectures = Manifests(data_root, VIDEO).batches()
    return any(made_since(table, lectures if table == VIDEO_INSTRUCTIONS else batches) for table in LAST_TABLES)


def unfinished_runs(instance: dg.DagsterInstance, job: str | None = None) -> Sequence[dg.DagsterRun]:
    """Return the runs of a job, or of all, that wait or are at work, the newest first."""
    return instance.get_runs(dg.RunsFilter(job_name=job, statuses=_UNFINISHED))


def close_dead_runs(instance: dg.DagsterInstance) -> int:
    """Mark runs as failed whose process is gone, free their pool slots, and return how many.

    That is seen of processes on this machine, and of those of a code server that says so itself.

    A killed run would otherwise stay "started" and hold its slot of the `gpu` pool, on which the next run waits.
    """
    unfinished = instance.get_runs(
        dg.RunsFilter(
            statuses=[dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.NOT_STARTED]
        )
    )
    closed = 0
    for run in unfinished:
        if _is_elsewhere(instance, run) or _is_yet_to_be_launched(instance, run):
            continue
        if not has_lost(instance, run) and (not _is_dead(run.tags) or _has_living_worker(instance, run)):
            continue
        instance.report_run_failed(run, "the process that ran it is gone")
        instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
        closed += 1
    return closed


def cancel_runs_of_code_servers(instance: dg.DagsterInstance) -> int:
    """Note that a person ends the runs at work in code servers of this machine, and return how many there are.

    A run that is interrupted without that note counts as failed, and Dagster may start it again. Runs of `pmo run` are
    not of a code server.
    """
    at_work = dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.STARTING])
    ours = [
        run
        for run in instance.get_runs(at_work)
        if (server := code_server_of(run.tags)) and _OWNER_TAG not in run.tags and not is_on_another_host(server)
    ]
    for run in ours:
        instance.report_run_canceling(run, "`pmo dev` was ended")
    return len(ours)


def _is_elsewhere(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    """Say whether a launcher took a run elsewhere, where it outlives code servers; run monitoring watches it."""
    return _OWNER_TAG not in run.tags and instance.run_launcher.supports_check_run_worker_health


def _is_yet_to_be_launched(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    """Say whether no code server has been given a run yet: what it says of one is copied from the run that it repeats.

    Dagster makes a retry with the tags of the run before, whose server may be what died, and gives it to a server of
    now seconds later, when it has left the queue. One that stays as it is was left so by a daemon that was killed.
    """
    if _OWNER_TAG in run.tags or run.status is dg.DagsterRunStatus.STARTED:
        return False
    record = instance.get_run_record_by_id(run.run_id)
    return record is not None and datetime.now(UTC) - record.update_timestamp < _LAUNCHED_WITHIN


def _is_dead(tags: Mapping[str, str]) -> bool:
    """Say whether the process behind a run is certainly gone: ours by its number, the UI's by its code server."""
    if (process := ProcessMark.parse(tags.get(_OWNER_TAG, ""))) is not None:
        here, ended = this_process(), process.has_ended()
        return process.host == here.host and process.boot not in ("", here.boot) if ended is None else ended
    server = code_server_of(tags)
    if server.get("socket"):
        return _is_deserted(Path(server["socket"]))
    if is_on_another_host(server) or not server.get("port"):
        return False
    with socket.socket() as probe:
        probe.settimeout(2)
        return probe.connect_ex((server["host"], int(server["port"]))) == errno.ECONNREFUSED


def _is_deserted(place: Path) -> bool:
    """Say whether nobody listens at a socket; a server that was killed leaves its file behind."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(2)
        return probe.connect_ex(str(place)) in (errno.ENOENT, errno.ECONNREFUSED)
    return False


def _has_living_worker(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    """Say whether the process lives that a code server began for a run: it survives when only the server was killed."""
    if _OWNER_TAG in run.tags:
        return False
    for entry in instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ENGINE_EVENT):
        metadata = entry.get_dagster_event().engine_event_data.metadata if entry.is_dagster_event else {}
        pid = str(metadata["pid"].value) if "pid" in metadata else ""
        with contextlib.suppress(psutil.Error):
            if pid.isdigit() and psutil.Process(int(pid)).create_time() <= entry.timestamp:
                return True
    return False


LOCATION: Final = "pmo_assets"
"""Name of the code location, as `workspace.yaml` has it."""

_REPOSITORY: Final = RemoteRepositoryOrigin(
    ManagedGrpcPythonEnvCodeLocationOrigin(
        LoadableTargetOrigin(module_name="pmo_assets.definitions"), location_name=LOCATION
    ),
    SINGLETON_REPOSITORY_NAME,
)

_TAGS: Final = {
    REPOSITORY_LABEL_TAG: _REPOSITORY.get_label(),
    MAX_RETRIES_TAG: "0",  # whoever killed `pmo run` begins it again; Dagster does not, behind its back
}


def _shown_under_its_job(instance: dg.DagsterInstance, run_id: str, job: str) -> None:
    """Let the UI show a run under its job and on its first page, from the run's first event on.

    There it shows only runs that say which code location they are of; Dagster notes that of runs that it launches, not
    of those that are executed in one's own process.
    """

    noted = False

    def note(_: object) -> None:
        nonlocal noted
        run = None if noted else instance.get_run_by_id(run_id)
        if run is not None:
            noted = True
            instance.run_storage.replace_job_origin(run, RemoteJobOrigin(_REPOSITORY, job))

    instance.add_event_listener(run_id, note)


def run_job(
    defs: dg.Definitions,
    instance: dg.DagsterInstance,
    job: str,
    *,
    batch: str | None = None,
    assets: Sequence[str] | None = None,
    verbose: bool = False,
    tags: Mapping[str, str] | None = None,
) -> set[str]:
    """Run a job in this process and return the names of the assets that were materialised.

    Args:
        defs: the code location.
        instance: where events go.
        job: one of `pmo_assets.defs.jobs`.
        batch: partition key, for a partitioned job.
        assets: only these; all of the job's if None. Of `train` and `evaluate`, names of ops.
        verbose: let Dagster's log through to the terminal.
        tags: of the run, beside its own.

    Raises:
        RunFailed: with the first failed step's error.
        KeyboardInterrupt: if the run was interrupted, so that no further one begins.
    """
    definition = defs.resolve_job_def(job)
    run_id = make_new_run_id()
    _shown_under_its_job(instance, run_id, job)
    of_assets = bool(definition.asset_layer.selected_asset_keys)  # else its ops make them: `job_assets`
    result = definition.execute_in_process(
        instance=instance,
        run_id=run_id,
        partition_key=batch,
        asset_selection=[dg.AssetKey(name) for name in assets] if assets is not None and of_assets else None,
        op_selection=assets if not of_assets else None,
        run_config=_LOUD if verbose else _QUIET,
        tags={_OWNER_TAG: str(this_process()), **_TAGS, **(tags or {})},
        raise_on_error=False,
    )
    if result.success:
        return {
            event.asset_key.path[-1] for event in result.all_events if event.is_step_materialization and event.asset_key
        }
    for event in result.all_events:
        if event.is_step_failure:
            error = event.step_failure_data.error
            if error is not None and error.cls_name == dg.DagsterExecutionInterruptedError.__name__:
                raise KeyboardInterrupt
            cause = error.cause if error is not None and error.cause is not None else error
            text = " ".join((cause.message if cause is not None else "unknown error").split())
            raise RunFailed(f"{event.step_key} failed: {text}")
    raise RunFailed(f"{job} failed before its first step; run `pmo --debug run` to see Dagster's log")
