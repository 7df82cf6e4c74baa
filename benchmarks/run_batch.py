"""Take a folder of article packages through the whole graph: throughput, seconds by step, processor time, memory.

    python benchmarks/run_batch.py [--source ../shared/corpus] [--specialty everything] [--one-process]

Runs `pmo batches add` and `pmo run` in processes of their own, in a temporary data root. Peak memory is that of the
largest single process, as the operating system reports it. Processor seconds are those of all processes of `pmo run`,
workers included (Linux only); what else the machine does at that time changes them much less than the seconds.

`--one-process` takes the articles one after the other in the process of the run, with one thread for every library:
then a step's seconds are its work. That is also what a flame graph is made of:

    py-spy record --subprocesses --rate 25 --format raw --output STACKS -- python benchmarks/run_batch.py --one-process
    python benchmarks/flame_graph.py STACKS docs/flame_graph.svg
"""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

PMO = [sys.executable, "-m", "pmo_assets.cli"]

ONE_PROCESS = {
    "PMO_WORKERS": "0",
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS", "OPENCV_FOR_THREADS_NUM"), "1"),
}

_SET_CHILD_SUBREAPER = 36
"""Of `prctl`: a process whose parent has ended becomes a child of this one, so that its time is counted here."""


def adopt_orphans() -> bool:
    """Let all descendants of this process be counted when they end; False where the system cannot do that."""
    return sys.platform == "linux" and bool(ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def processor_seconds(command: Sequence[str], environment: Mapping[str, str]) -> tuple[float, float]:
    """Run a command; return its seconds, and those of processor time of all processes that it started.

    Raises:
        subprocess.CalledProcessError: if it fails.
    """

    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before, start = used(), time.perf_counter()
    subprocess.run(command, env=dict(environment), check=True)
    seconds = time.perf_counter() - start
    while True:  # the workers' processes, which outlive the command by a moment
        try:
            os.wait()
        except ChildProcessError:
            return seconds, used() - before


def steps_of(dagster_home: str) -> list[tuple[str, float]]:
    """Return (step, seconds) of all runs of a Dagster home, in the order in which they ended."""
    import dagster as dg

    with dg.DagsterInstance.from_config(dagster_home) as instance:
        steps = [stats for run in instance.get_runs() for stats in instance.get_run_step_stats(run.run_id)]
    done = [(item.step_key, item.start_time, item.end_time) for item in steps]
    ended = [(key, start, end) for key, start, end in done if start is not None and end is not None]
    return [(key, end - start) for key, start, end in sorted(ended, key=lambda item: item[2])]


def main() -> None:
    """Run the batch and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "corpus")
    parser.add_argument("--specialty", default="everything")
    parser.add_argument("--one-process", action="store_true", help="no worker processes, one thread per library")
    arguments = parser.parse_args()
    counted = adopt_orphans()
    with tempfile.TemporaryDirectory() as folder:
        places = {"PMO_DATA_ROOT": f"{folder}/data", "PMO_DAGSTER_HOME": f"{folder}/dagster"}
        environment = {**os.environ, **places, "PMO_SPECIALTY": arguments.specialty}
        environment.pop("DAGSTER_HOME", None)
        if arguments.one_process:
            environment.update(ONE_PROCESS)
        subprocess.run([*PMO, "batches", "add", "--source", str(arguments.source)], env=environment, check=True)
        seconds, used = processor_seconds([*PMO, "run"], environment)
        subprocess.run([*PMO, "report"], env=environment, check=True)
        for step, duration in steps_of(places["PMO_DAGSTER_HOME"]):
            print(f"  {step:22}{duration:7.2f} s")
    print(f"pmo run: {seconds:.1f} s" + (f", {used:.1f} s of processor time" if counted else ""))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    print(f"peak memory of the largest process: {peak:.0f} MiB")


if __name__ == "__main__":
    main()
