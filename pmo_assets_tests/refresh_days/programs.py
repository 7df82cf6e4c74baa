"""The programs under test as real processes: `dagster-daemon` with its code server and run workers, `pmo refresh`."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import dagster as dg
import psutil
from dagster._core.scheduler.instigation import SensorInstigatorData

from pmo_assets.defs.instance import workspace
from pmo_assets.defs.runner import dagster_home, unfinished_runs
from pmo_assets.settings import Settings
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets_tests.cli.command_line import command

DAY_LIMIT: Final = 900.0
"""Seconds after which a day that has not ended is a failure."""


@dataclass(frozen=True)
class Place:
    """A folder with a data root and a Dagster home, and PMC as the programs see it."""

    folder: Path
    pmc: Mapping[str, str]

    @property
    def data_root(self) -> DataRoot:
        return DataRoot(str(self.folder / "data"))

    @property
    def registry(self) -> BatchRegistry:
        return BatchRegistry(self.data_root)

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PMO_", "DAGSTER"))}
        return {
            **kept,
            **self.pmc,
            "PMO_DATA_ROOT": str(self.folder / "data"),
            "DAGSTER_HOME": str(self.folder / "dagster"),
            "PMO_BATCH_SIZE": "10",
            "PMO_WORKERS": "1",
            "PMO_REFRESH_HOURS": "0.0001",
        }

    def copied(self, folder: Path) -> Place:
        """Return a copy of this place; no program may be at work in it."""
        shutil.copytree(self.folder, folder)
        return Place(folder, self.pmc)

    def make_home(self) -> None:
        """Make the Dagster home as `pmo` does, with the project's `dagster.yaml`."""
        os.environ.pop("DAGSTER_HOME", None)
        dagster_home(Settings(dagster_home=self.folder / "dagster"))

    @contextlib.contextmanager
    def instance(self) -> Iterator[dg.DagsterInstance]:
        with dg.DagsterInstance.from_config(str(self.folder / "dagster")) as instance:
            yield instance

    def begin(self, *arguments: str, log: str) -> subprocess.Popen[bytes]:
        """Start a program in a process group of its own; what it prints goes into a file."""
        with (self.folder / log).open("ab") as stream:
            return subprocess.Popen(
                list(arguments), env=self.environment, stdout=stream, stderr=stream, start_new_session=True,
                cwd=self.folder,
            )  # fmt: skip

    def begin_refresh(self, log: str = "refresh.log") -> subprocess.Popen[bytes]:
        return self.begin(*command("refresh"), log=log)

    def refresh(self) -> None:
        """Run `pmo refresh` to its end."""
        assert self.begin_refresh().wait(DAY_LIMIT) == 0, self.log("refresh.log")

    def begin_daemon(self) -> subprocess.Popen[bytes]:
        return self.begin(sys.executable, "-m", "dagster._daemon", "run", "-w", str(workspace()), log="daemon.log")

    def sensor(self, action: str) -> None:
        """Switch the sensor on ("start") or off ("stop"), as a person does."""
        arguments = ("-m", "dagster", "sensor", action, "new_articles", "-w", str(workspace()))
        made = subprocess.run(
            [sys.executable, *arguments], env=self.environment, capture_output=True, text=True, check=False
        )
        assert made.returncode == 0, made.stderr

    def log(self, name: str) -> str:
        path = self.folder / name
        return path.read_text("utf-8", "replace")[-6000:] if path.is_file() else ""


def end(process: subprocess.Popen[bytes]) -> None:
    """Stop a daemon as Ctrl-C does; whatever then still lives is killed."""
    process.send_signal(signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(40)
    kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a program with everything that it began, as a machine that loses its power."""
    family: list[psutil.Process] = []
    with contextlib.suppress(psutil.Error):
        parent = psutil.Process(process.pid)
        parent.suspend()  # it begins nothing more while its children are counted
        family = [parent, *parent.children(recursive=True)]
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    for member in family:
        with contextlib.suppress(psutil.Error):
            member.kill()
    psutil.wait_procs(family, timeout=10)
    process.wait(10)


def hurry(instance: dg.DagsterInstance) -> None:
    """Let the sensor's next tick be due now instead of a minute after the last one."""
    for state in instance.all_instigator_state():
        data = state.instigator_data
        ticks = instance.get_ticks(state.instigator_origin_id, state.selector_id, limit=1)
        if not ticks or ticks[0].status.value not in ("SUCCESS", "SKIPPED"):
            continue
        if time.time() - ticks[0].timestamp > 3 and isinstance(data, SensorInstigatorData):
            due = data._replace(last_tick_timestamp=None, last_tick_start_timestamp=None)
            instance.update_instigator_state(state.with_data(due))


def runs_of(instance: dg.DagsterInstance, job: str, *statuses: dg.DagsterRunStatus) -> list[dg.DagsterRun]:
    """Return a job's runs, the oldest first."""
    return list(instance.get_runs(dg.RunsFilter(job_name=job, statuses=list(statuses) or None)))[::-1]


def succeeded(instance: dg.DagsterInstance, job: str) -> list[dg.DagsterRun]:
    return runs_of(instance, job, dg.DagsterRunStatus.SUCCESS)


def wait_for_release(place: Place, process: subprocess.Popen[bytes], releases: int) -> float:
    """Wait until so many releases were made and a later search has found nothing to do; return the seconds.

    Raises:
        AssertionError: if the daemon ends, or the day does not.
    """
    began = time.monotonic()
    with place.instance() as instance:
        while time.monotonic() - began < DAY_LIMIT:
            assert process.poll() is None, f"the daemon ended\n{place.log('daemon.log')}"
            made = succeeded(instance, "release")
            finds = instance.get_run_records(
                dg.RunsFilter(job_name="refresh", statuses=[dg.DagsterRunStatus.SUCCESS]), limit=1
            )
            if not unfinished_runs(instance):
                if len(made) >= releases:
                    last = instance.get_run_record_by_id(made[-1].run_id)
                    if last is not None and finds and (finds[0].start_time or 0) > (last.end_time or 0):
                        return time.monotonic() - began
                hurry(instance)
            time.sleep(1)
        runs = [(run.job_name, run.status.value) for run in instance.get_runs(limit=20)]
    raise AssertionError(f"the day has not ended after {DAY_LIMIT:.0f} s: {runs}\n{place.log('daemon.log')}")


def where_it_was(place: Place) -> str:
    """Say what a program was doing when it was killed: the step of its unfinished runs, by Dagster's log."""
    with place.instance() as instance:
        steps = []
        for run in unfinished_runs(instance):
            entries = instance.all_logs(run.run_id)
            begun = [entry.step_key for entry in entries if _is(entry, "STEP_START")]
            ended = Counter(entry.step_key for entry in entries if _is(entry, "STEP_SUCCESS"))
            open_steps = [str(step) for step in begun if not ended[step]]
            steps.append(f"{run.job_name}/{', '.join(open_steps) or run.status.value.lower()}")
        return "; ".join(steps) or "between runs"


def _is(entry: dg.EventLogEntry, kind: str) -> bool:
    return entry.is_dagster_event and entry.get_dagster_event().event_type_value == kind
