"""Old runs of Dagster that can be deleted: they hold nothing that the UI, or `pmo run`, still needs to know.

Deleting a run deletes its events, and with them that an asset was materialised. A run stays as long as it holds the
latest materialisation, or the latest attempt at one, of any asset and partition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import dagster as dg
from dagster import DagsterEventType

_PAGE: Final = 500
"""Events or runs that are read at once."""

_TOLD: Final = (
    DagsterEventType.ASSET_MATERIALIZATION,
    DagsterEventType.ASSET_MATERIALIZATION_PLANNED,
    DagsterEventType.ASSET_OBSERVATION,
)
"""Events that tell the UI the state of an asset's partition."""


@dataclass(frozen=True, slots=True)
class OldRun:
    """A run that can go, or whose log can.

    Attributes:
        run_id: its id.
        files: files on this machine's disk that belong to it alone.
        size: bytes of these files.
        needed: it holds the latest event of some asset: only its own log can go.
    """

    run_id: str
    files: tuple[Path, ...]
    size: int
    needed: bool


def old_runs(instance: dg.DagsterInstance, before: float) -> Iterator[OldRun]:
    """Yield the finished runs that ended before a time (seconds since 1970), the oldest last."""
    needed = runs_of_latest_events(instance)
    finished = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
    wanted = dg.RunsFilter(statuses=finished, updated_before=datetime.fromtimestamp(before, UTC))
    cursor: str | None = None
    while records := instance.get_run_records(wanted, limit=_PAGE, cursor=cursor):
        for record in records:
            run_id = record.dagster_run.run_id
            files = _files_of(instance, run_id)
            yield OldRun(run_id, files, sum(file.stat().st_size for file in files), run_id in needed)
        cursor = records[-1].dagster_run.run_id


def runs_of_latest_events(instance: dg.DagsterInstance) -> set[str]:
    """Return the runs that hold the latest event of a kind of any asset and partition."""
    storage, needed = instance.event_log_storage, set[str]()
    for key in instance.all_asset_keys():
        for kind in _TOLD:
            ids = list(storage.get_latest_storage_id_by_partition(key, kind).values())
            for start in range(0, len(ids), _PAGE):
                some = dg.EventRecordsFilter(event_type=kind, asset_key=key, storage_ids=ids[start : start + _PAGE])
                needed.update(record.run_id for record in storage.get_event_records(some))
            latest = storage.get_event_records(dg.EventRecordsFilter(event_type=kind, asset_key=key), limit=1)
            needed.update(record.run_id for record in latest)
    return needed


def _files_of(instance: dg.DagsterInstance, run_id: str) -> tuple[Path, ...]:
    """Return the files of a run below the home: its own database (SQLite) and the output of its steps."""
    home = Path(instance.root_directory)
    captured = home / "storage" / run_id
    found = [home / "history" / "runs" / f"{run_id}.db", *(captured.rglob("*") if captured.is_dir() else ())]
    return tuple(path for path in found if path.is_file())


def delete_run(instance: dg.DagsterInstance, run: OldRun) -> None:
    """Delete a run with its events and the output of its steps; of a needed run only its own log and output.

    The log of a needed run is the database that SQLite keeps for its page alone; with PostgreSQL there is none, and
    nothing of it is deleted.
    """
    if not run.needed:
        instance.delete_run(run.run_id)
    instance.compute_log_manager.delete_logs(prefix=[run.run_id])
    for file in run.files:
        file.unlink(missing_ok=True)


def purge_ticks(instance: dg.DagsterInstance, before: float) -> int:
    """Delete the ticks of sensors and schedules before a time; return the number of those that had any.

    The daemon does this by `retention` in `dagster.yaml` as long as it runs.
    """
    storage = instance.schedule_storage
    if storage is None:
        return 0
    purged = 0
    for state in instance.all_instigator_state():
        origin, selector = state.instigator_origin_id, state.selector_id
        if storage.get_ticks(origin, selector, before=before, limit=1):
            storage.purge_ticks(origin, selector, before)
            purged += 1
    return purged


def ticks_before(instance: dg.DagsterInstance, before: float) -> int:
    """Return how many ticks of sensors and schedules are older than a time."""
    storage = instance.schedule_storage
    if storage is None:
        return 0
    states: Sequence[dg.InstigatorState] = instance.all_instigator_state()
    return sum(len(storage.get_ticks(state.instigator_origin_id, state.selector_id, before=before)) for state in states)
