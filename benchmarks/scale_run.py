"""Many articles through the real run queue: rate, memory over time, size of the databases, what orchestration costs.

    python benchmarks/scale_run.py WORK [--articles 2000] [--batches 10]
    python benchmarks/scale_run.py WORK … --chaos [--kills 10] [--every 60]

Typesets sample articles (kept in WORK, apart from the timing), registers them in so many batches, starts Dagster's
daemon with its code server on a SQLite instance, switches the sensor `registered_batches` on, and waits until every
batch has been processed by two concurrent runs with one worker process each. Memory is the proportional share (PSS) of
all processes of the deployment, every two seconds.

*Orchestration* is the time of runs, from the queue's end to theirs, in which no step works, and none waits for a pool.

With `--chaos` a random process of the deployment (daemon, code server, run, worker) is killed every so many seconds,
and a daemon that was killed is started again, as a service manager does. What fails more often than Dagster starts it
again is continued by `pmo run`, as a person would. Then what was made is compared, byte for byte, with what the
undisturbed run made (run that first).
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import hashlib
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import dagster as dg
import psutil

from pmo_assets.defs.instance import workspace
from pmo_assets.defs.runner import close_dead_runs, unfinished_runs
from pmo_assets.samples import write_sample_articles
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets_tests.cli.command_line import command
from pmo_assets_tests.refresh_days.programs import kill

SAMPLES: Final = 16
"""Articles of a sample set."""

RESULTS: Final = ("claims", "manifests", "tables", "rejections", "pixels", "objects")
"""What a deployment makes; leases, logs and databases say when and by whom."""

SAMPLE_SECONDS: Final = 2.0


@dataclass(frozen=True)
class Place:
    """A folder with a data root, a Dagster home and what runs there."""

    folder: Path
    batch_size: int

    @property
    def data_root(self) -> DataRoot:
        return DataRoot(str(self.folder / "data"))

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PMO_", "DAGSTER"))}
        return {
            **kept,
            "PMO_DATA_ROOT": str(self.folder / "data"),
            "DAGSTER_HOME": str(self.home),
            "PMO_BATCH_SIZE": str(self.batch_size),
            "PMO_WORKERS": "1",
        }

    @contextlib.contextmanager
    def instance(self) -> Iterator[dg.DagsterInstance]:
        with dg.DagsterInstance.from_config(str(self.home)) as instance:
            yield instance

    def pmo(self, *arguments: str | Path) -> int:
        with (self.folder / "pmo.log").open("ab") as log:
            return subprocess.run(
                command(*arguments), env=self.environment, cwd=self.folder, stdout=log, stderr=log, check=False
            ).returncode

    def begin_daemon(self) -> subprocess.Popen[bytes]:
        with (self.folder / "daemon.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dagster._daemon", "run", "-w", str(workspace())],
                env=self.environment, cwd=self.folder, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def switch_on(self, sensor: str) -> None:
        subprocess.run(
            [sys.executable, "-m", "dagster", "sensor", "start", sensor, "-w", str(workspace())],
            env=self.environment, cwd=self.folder, check=True, capture_output=True,
        )  # fmt: skip

    def processes(self) -> list[psutil.Process]:
        """Return all processes of the deployment, whoever began them: those with its home in their environment."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.environ().get("DAGSTER_HOME") == str(self.home) and process.pid != os.getpid():
                    found.append(process)
        return found


def typeset(work: Path, articles: int) -> Path:
    """Return the folder of so many sample articles, typeset if they are not there."""
    folder = work / f"articles-{articles}"
    if not (folder / "complete").exists():
        began = time.monotonic()
        write_sample_articles(folder, copies=-(-articles // SAMPLES))
        for path in sorted((folder / "articles").iterdir())[articles:]:
            shutil.rmtree(path)
        print(f"typeset {articles} articles in {time.monotonic() - began:.0f} s", flush=True)
        (folder / "complete").touch()
    return folder / "articles"


@dataclass
class Sampler:
    """Samples the deployment's memory until it is stopped."""

    place: Place
    rows: list[tuple[float, float, int]] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        began = time.monotonic()
        while not self._stop.wait(SAMPLE_SECONDS):
            sizes = []
            for process in self.place.processes():
                with contextlib.suppress(psutil.Error):
                    sizes.append(process.memory_full_info().pss)
            self.rows.append((time.monotonic() - began, sum(sizes) / 2**20, len(sizes)))

    @contextlib.contextmanager
    def running(self) -> Iterator[Sampler]:
        thread = threading.Thread(target=self.run, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._stop.set()
            thread.join()


def finished(instance: dg.DagsterInstance, batches: Sequence[str]) -> int:
    return len(set(batches) & set(instance.get_materialized_partitions(dg.AssetKey("rejections"))))


def wait_until_processed(
    place: Place, daemon: subprocess.Popen[bytes], batches: Sequence[str], limit: float, kills: Sequence[float] = ()
) -> tuple[subprocess.Popen[bytes], list[str]]:
    """Wait until every batch is processed or nothing happens any more; return the daemon, and what was killed.

    Args:
        place: what runs.
        daemon: that runs it.
        batches: all there are.
        limit: seconds.
        kills: seconds from now at which a random process is killed.
    """
    chance, began, left, killed, said, quiet = random.Random(0), time.monotonic(), list(kills), [], -1, 0.0
    with place.instance() as instance:
        while (passed := time.monotonic() - began) < limit:
            if left and passed > left[0]:
                left.pop(0)
                killed.append(kill_one(place, chance))
                print(f"  {passed:6.0f} s: killed {killed[-1]}", flush=True)
            if daemon.poll() is not None:
                daemon = place.begin_daemon()
                print(f"  {passed:6.0f} s: the daemon is started again", flush=True)
            done = finished(instance, batches)
            if done != said:
                said = done
                print(f"  {passed:6.0f} s: {done} of {len(batches)} batches", flush=True)
            busy = bool(unfinished_runs(instance))
            if done == len(batches) and not busy and not left:
                return daemon, killed
            quiet = 0.0 if busy or left else quiet + 2
            if quiet > 180:  # failed more often than Dagster starts it again
                return daemon, killed
            time.sleep(2)
    raise SystemExit(f"not done after {limit:.0f} s; see {place.folder / 'daemon.log'}")


def kill_one(place: Place, chance: random.Random) -> str:
    """Kill a random process of the deployment and say which."""
    processes = sorted(place.processes(), key=lambda process: process.pid)
    chosen = chance.choice(processes)
    words = " ".join(chosen.cmdline()[1:])
    kinds = {"dagster._daemon": "daemon", "execute_run": "a run", "grpc": "the code server"}
    kind = next((name for mark, name in kinds.items() if mark in words), "a worker or helper process")
    chosen.kill()
    return f"{kind} (one of {len(processes)} processes)"


@dataclass(frozen=True)
class Times:
    """When a run left the queue and ended, and its steps worked, in seconds since the epoch."""

    launched: float
    ended: float
    steps: Mapping[str, tuple[float, float]]
    pools: Mapping[str, str]

    @property
    def worked(self) -> float:
        return sum(end - begin for begin, end in self.steps.values())


def times_of(instance: dg.DagsterInstance, pools: Mapping[str, str]) -> list[Times]:
    """Return the times of all successful runs of batches."""
    found = []
    for run in instance.get_runs(dg.RunsFilter(job_name="process_batch", statuses=[dg.DagsterRunStatus.SUCCESS])):
        moments: dict[str, float] = {}
        begun: dict[str, float] = {}
        steps: dict[str, tuple[float, float]] = {}
        for entry in instance.all_logs(run.run_id):
            if not entry.is_dagster_event:
                continue
            kind = entry.get_dagster_event().event_type_value
            if kind in ("PIPELINE_STARTING", "PIPELINE_SUCCESS"):
                moments[kind] = entry.timestamp
            elif kind == "STEP_START":
                begun[str(entry.step_key)] = entry.timestamp
            elif kind == "STEP_SUCCESS":
                steps[str(entry.step_key)] = (begun[str(entry.step_key)], entry.timestamp)
        found.append(Times(moments["PIPELINE_STARTING"], moments["PIPELINE_SUCCESS"], steps, pools))
    return found


def waited_for_pools(run: Times, others: Sequence[Times]) -> float:
    """Return the seconds that a run's steps waited for a pool: gaps before them while another run's step had it."""
    total, before = 0.0, run.launched
    for step, (begin, end) in sorted(run.steps.items(), key=lambda item: item[1]):
        pool = run.pools.get(step)
        if pool is not None:
            for other in others:
                for name, (first, last) in other.steps.items():
                    if other.pools.get(name) == pool:
                        total += max(0.0, min(begin, last) - max(before, first))
        before = end
    return total


def digests(place: Place) -> dict[str, str]:
    """Return the digest of each file that a deployment made."""
    root = place.folder / "data"
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for part in RESULTS
        for path in sorted((root / part).rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def half_written(place: Place) -> list[str]:
    root = place.folder / "data"
    return [str(path.relative_to(root)) for path in root.rglob(".*.part")]


def report(place: Place, sampler: Sampler, batches: Sequence[str], articles: int) -> None:
    """Print what the run took, and draw the memory over time."""
    from pmo_assets.definitions import build_defs

    pools = {
        definition.key.path[-1]: str(pool)
        for definition in build_defs().resolve_asset_graph().assets_defs
        if definition.is_executable
        and len(definition.keys) == 1
        and (pool := getattr(definition.node_def, "pool", None))
    }
    with place.instance() as instance:
        runs = times_of(instance, pools)
    wall = max(run.ended for run in runs) - min(run.launched for run in runs)
    total = sum(run.ended - run.launched for run in runs)
    worked = sum(run.worked for run in runs)
    waited = sum(waited_for_pools(run, [other for other in runs if other is not run]) for run in runs)
    rest = total - worked - waited
    starts = statistics.median(min(begin for begin, _ in run.steps.values()) - run.launched for run in runs)
    by_step: dict[str, float] = defaultdict(float)
    for run in runs:
        for step, (begin, end) in run.steps.items():
            by_step[step] += end - begin
    databases = sum(path.stat().st_size for path in place.home.rglob("*.db"))
    home = sum(path.stat().st_size for path in place.home.rglob("*") if path.is_file())
    data = sum(path.stat().st_size for path in (place.folder / "data").rglob("*") if path.is_file())
    memory = [megabytes for _, megabytes, _ in sampler.rows]
    third = max(1, len(memory) // 3)
    thirds = " / ".join(f"{statistics.median(memory[i * third : (i + 1) * third] or memory):.0f}" for i in range(3))
    most = max(count for _, _, count in sampler.rows)
    slowest = sorted(by_step.items(), key=lambda item: -item[1])
    print(f"{articles} articles in {len(batches)} batches: {wall:.0f} s, {articles / wall * 60:.0f} articles/min")
    print(f"steps worked                {worked:8.0f} s of {total:.0f} s of runs ({worked / total:.1%})")
    print(f"waited for pools            {waited:8.0f} s ({waited / total:.1%})")
    print(
        f"orchestration               {rest:8.0f} s ({rest / (total - waited):.1%} of the runs' time without waiting)"
    )
    print(f"  of it, start of a run     {starts:8.1f} s (median)")
    print(f"memory, median of thirds    {thirds} MB")
    print(f"memory, highest             {max(memory):8.0f} MB, {most} processes")
    print(f"databases                   {databases / 2**20:8.1f} MB; home {home / 2**20:.1f} MB")
    print(f"data root                   {data / 2**20:8.0f} MB")
    print("seconds by step: " + ", ".join(f"{name} {seconds:.0f}" for name, seconds in slowest))
    draw(place.folder, sampler)


def draw(folder: Path, sampler: Sampler) -> None:
    """Write the samples as CSV, and draw them."""
    with (folder / "memory.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([("seconds", "megabytes", "processes"), *sampler.rows])
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 3), layout="constrained")
    axes.plot([row[0] / 60 for row in sampler.rows], [row[1] / 1024 for row in sampler.rows], linewidth=0.8)
    axes.set(xlabel="minutes", ylabel="GB (PSS, all processes)", ylim=(0, None))
    axes.grid(alpha=0.3)
    figure.savefig(folder / "memory.png", dpi=110)
    print(f"memory over time: {folder / 'memory.png'}")


def main() -> None:
    """Typeset, run, and report or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--articles", type=int, default=2000)
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("--chaos", action="store_true", help="Kill processes, then compare with the undisturbed run.")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--every", type=float, default=60.0, help="Seconds between two kills.")
    parser.add_argument("--limit", type=float, default=4 * 3600.0, help="Seconds after which it is given up.")
    arguments = parser.parse_args()
    work = arguments.work.absolute()
    source = typeset(work, arguments.articles)
    size = -(-arguments.articles // arguments.batches)
    place = Place(work / ("chaos" if arguments.chaos else "undisturbed"), size)
    shutil.rmtree(place.folder, ignore_errors=True)
    place.folder.mkdir(parents=True)
    if place.pmo("batches", "add", "--source", source):
        raise SystemExit((place.folder / "pmo.log").read_text())
    batches = BatchRegistry(place.data_root).batches()
    place.switch_on("registered_batches")
    kills = [arguments.every * number for number in range(1, arguments.kills + 1)] if arguments.chaos else []
    sampler = Sampler(place)
    daemon = place.begin_daemon()
    try:
        with sampler.running():
            daemon, killed = wait_until_processed(place, daemon, batches, arguments.limit, kills)
    finally:
        kill(daemon)
        for process in place.processes():
            process.kill()
    kept = work / f"undisturbed-{arguments.articles}-{arguments.batches}.json"
    if not arguments.chaos:
        kept.write_text(json.dumps(digests(place)))
        report(place, sampler, batches, arguments.articles)
        return
    with place.instance() as instance:
        close_dead_runs(instance)
        left = len(batches) - finished(instance, batches)
    print(f"{len(killed)} kills; {left} batches are left to `pmo run`, which also looks for what is half done")
    status = place.pmo("run", "--no-release")
    expected, made = json.loads(kept.read_text()), digests(place)
    print(f"`pmo run` ended with status {status}")
    print(f"{len(expected)} files expected, {len(made)} made")
    print(f"lost {len(expected.keys() - made.keys())}, more {len(made.keys() - expected.keys())}, "
          f"other bytes {sum(made[key] != expected[key] for key in made.keys() & expected.keys())}, "
          f"half-written {len(half_written(place))}")  # fmt: skip
    for key in sorted(made.keys() ^ expected.keys())[:10]:
        print(f"  {'lost' if key in expected else 'more'}: {key}")
    if made != expected:
        raise SystemExit("what was made differs")


if __name__ == "__main__":
    main()
