"""Pools of a real instance: its daemon, its run queue, its SQLite; the project's `dagster.yaml` and sensor `dead_runs`.

The steps only sleep: which assets are in which pool is tested with the graph.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Final, TypeVar

import dagster as dg
import psutil
import pytest

from pmo_assets_tests.refresh_days.programs import Place, end, hurry

pytestmark = [pytest.mark.leases, pytest.mark.skipif(sys.platform != "linux", reason="kills processes as on Linux")]

LIMIT: Final = 400.0

LOCATION: Final = """
import time
from pathlib import Path
import dagster as dg
from pmo_assets.defs.sensors import dead_runs

parts = dg.StaticPartitionsDefinition(["a", "b", "c", "d"])

def step(name, pool, deps, seconds):
    @dg.asset(name=name, pool=pool, deps=deps, partitions_def=parts)
    def made(context):
        time.sleep(seconds if context.partition_key != "d" else 6 * seconds)
    return made

assets = [
    step("fetched", "pmc", [], 10), step("detected", "gpu", ["fetched"], 10), step("split", "llm", ["detected"], 10)
]
job = dg.define_asset_job("work", selection=dg.AssetSelection.all(), executor_def=dg.in_process_executor)

@dg.sensor(job=job, minimum_interval_seconds=5, default_status=dg.DefaultSensorStatus.RUNNING)
def begin(context):
    for key in Path("wanted").read_text().split():
        yield dg.RunRequest(run_key=key, partition_key=key)

defs = dg.Definitions(assets=assets, jobs=[job], sensors=[begin, dead_runs])
"""

T = TypeVar("T")


def wait_for(look: Callable[[], T | None], what: str, place: Place) -> T:
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        if (found := look()) is not None:
            return found
        time.sleep(0.5)
    raise AssertionError(f"{what}: not within {LIMIT:.0f} s\n{place.log('daemon.log')}")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A home with the project's configuration, and the daemon over a location whose steps sleep in the pools."""
    place = Place(tmp_path, {})
    place.make_home()
    (tmp_path / "location.py").write_text(LOCATION)
    (tmp_path / "wanted").write_text("")
    daemon = place.begin(
        sys.executable, "-m", "dagster._daemon", "run", "-f", str(tmp_path / "location.py"), log="daemon.log"
    )
    try:
        yield place
    finally:
        end(daemon)


def runs(instance: dg.DagsterInstance, *statuses: dg.DagsterRunStatus) -> list[dg.DagsterRun]:
    return list(instance.get_runs(dg.RunsFilter(job_name="work", statuses=list(statuses) or None)))


def moments(instance: dg.DagsterInstance, run: dg.DagsterRun) -> dict[str, tuple[float, float]]:
    """Return when each step of a run began and ended; of one that did not, the time of the run's end."""
    found: dict[str, tuple[float, float]] = {}
    last = 0.0
    for entry in instance.all_logs(run.run_id):
        last = max(last, entry.timestamp)
        if entry.is_dagster_event and entry.step_key:
            kind = entry.get_dagster_event().event_type_value
            if kind == "STEP_START":
                found[entry.step_key] = (entry.timestamp, float("inf"))
            elif kind == "STEP_SUCCESS":
                found[entry.step_key] = (found[entry.step_key][0], entry.timestamp)
    return {step: (begin, min(finish, last)) for step, (begin, finish) in found.items()}


def overlap(one: tuple[float, float], other: tuple[float, float]) -> float:
    return min(one[1], other[1]) - max(one[0], other[0])


def test_steps_of_a_pool_never_overlap_whatever_the_run(place: Place) -> None:
    (place.folder / "wanted").write_text("a b c")
    with place.instance() as instance:
        wait_for(lambda: len(runs(instance, dg.DagsterRunStatus.SUCCESS)) == 3 or None, "three runs", place)
        times = [moments(instance, run) for run in runs(instance)]
        for one, other in combinations(times, 2):
            for step in ("fetched", "detected", "split"):
                assert overlap(one[step], other[step]) < 0.05, (step, one[step], other[step])
        together = [
            overlap(first, second)
            for one, other in combinations(times, 2)
            for first in one.values()
            for second in other.values()
        ]
        assert max(together) > 0.5, "runs did work at the same time, in different pools"
        assert set(instance.event_log_storage.get_concurrency_keys()) == {"gpu", "llm", "pmc"}


def worker_of(instance: dg.DagsterInstance, run: dg.DagsterRun) -> psutil.Process | None:
    """Return the process that executes a run, by Dagster's log."""
    for entry in instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ENGINE_EVENT):
        data = entry.get_dagster_event().engine_event_data
        if "pid" in data.metadata:
            return psutil.Process(int(str(data.metadata["pid"].value)))
    return None


def test_a_run_that_is_killed_in_a_pool_frees_its_slot_and_the_next_one_goes_on(place: Place) -> None:
    (place.folder / "wanted").write_text("d")
    with place.instance() as instance:

        def in_gpu_step() -> dg.DagsterRun | None:
            for run in runs(instance, dg.DagsterRunStatus.STARTED):
                if "detected" in moments(instance, run):
                    return run
            return None

        run = wait_for(in_gpu_step, "a run in its step of pool gpu", place)
        assert instance.event_log_storage.get_concurrency_info("gpu").active_slot_count == 1
        process = worker_of(instance, run)
        assert process is not None
        process.kill()
        (place.folder / "wanted").write_text("d a")

        def closed() -> bool | None:
            hurry(instance)
            after = instance.get_run_by_id(run.run_id)
            return True if after is not None and after.status is dg.DagsterRunStatus.FAILURE else None

        wait_for(closed, "the killed run is closed", place)

        def next_is_done() -> bool | None:
            done = {run.tags["dagster/partition"] for run in runs(instance, dg.DagsterRunStatus.SUCCESS)}
            return True if done == {"a", "d"} else None

        wait_for(next_is_done, "the next run, and the killed one started again", place)
        again = [item for item in runs(instance) if item.tags["dagster/partition"] == "d"]
        assert len(again) == 2, "Dagster has started it again"
        assert instance.event_log_storage.get_concurrency_info("gpu").active_slot_count == 0
