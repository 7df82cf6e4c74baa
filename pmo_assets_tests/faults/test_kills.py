"""Workers die at random moments: only articles that were in their hands, twice, may be lost, and nothing hangs."""

from __future__ import annotations

import os
import random
import re
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest

from pmo_assets.records.step_output import StepOutput
from pmo_assets.workers.pool import WorkerPool

pytestmark = [pytest.mark.faults, pytest.mark.skipif(sys.platform != "linux", reason="looks for workers as on Linux")]

ARTICLES, KILLS, WORKERS = 100, 100, 4


def logged_step(number: int, folder: str) -> StepOutput:
    """Work for a moment and leave a trace of every beginning and end."""
    log = Path(folder) / str(number)
    with log.open("a") as file:
        file.write("begin\n")
    time.sleep(random.Random(number).uniform(0.3, 1.2))
    with log.open("a") as file:
        file.write("end\n")
    # More than a pipe holds, so that kills also hit a worker that is handing over its result.
    return StepOutput(rows=[{"number": number, "text": "x" * 300_000}])


def nothing() -> StepOutput:
    """Do no work."""
    return StepOutput()


def worker_pids() -> list[int]:
    """Return the workers of this process: the children of the server that forks them, not the server."""
    pids = []
    for server in psutil.Process().children():
        try:
            pids += [child.pid for child in server.children()]
        except psutil.Error:
            continue
    return pids


def seconds_of_a_start() -> float:
    """Return how long a fresh worker takes here to come back with an article that takes no time."""
    with WorkerPool(1, timeout=60, memory_mb=512) as pool:
        for number in range(2):  # the first one also starts the server that forks workers
            start = time.perf_counter()
            pool.map_units("s", nothing, [(number, ())])
            pool.close()
    return time.perf_counter() - start


def kill_at_random(
    seed: int, longest: float, stop: threading.Event, killed: list[int], signals: list[signal.Signals]
) -> None:
    """End workers at random moments, up to `longest` seconds apart, until told to stop or `KILLS` are gone."""
    chance = random.Random(seed)
    while not stop.is_set() and len(killed) < KILLS:
        time.sleep(chance.uniform(0.0, longest))
        pids = worker_pids()
        if not pids:
            continue
        pid = chance.choice(pids)
        try:
            os.kill(pid, chance.choice(signals))
        except ProcessLookupError:
            continue
        killed.append(pid)


def run_under_fire(
    pool: WorkerPool, folder: Path, seed: int, signals: list[signal.Signals]
) -> tuple[list[StepOutput], int]:
    """Map over the articles while workers are killed; return the outputs and the number of kills."""
    stop, killed = threading.Event(), []  # type: tuple[threading.Event, list[int]]
    # On a busy machine workers take seconds to start: killed faster than that, none would ever hold an article.
    longest = max(0.5, 3 * seconds_of_a_start())
    killer = threading.Thread(target=kill_at_random, args=(seed, longest, stop, killed, signals))
    killer.start()
    try:
        outputs = pool.map_units(
            "s", logged_step, [(number, (number, str(folder))) for number in range(1, ARTICLES + 1)]
        )
    finally:
        stop.set()
        killer.join()
    return outputs, len(killed)


@pytest.mark.parametrize(
    ("seed", "signals"),
    [(0, [signal.SIGKILL]), (1, [signal.SIGSEGV, signal.SIGTERM, signal.SIGABRT, signal.SIGKILL])],
    ids=["SIGKILL", "any signal"],
)
def test_a_hundred_kills_lose_only_what_was_killed_twice(
    tmp_path: Path, seed: int, signals: list[signal.Signals], caplog: pytest.LogCaptureFixture
) -> None:
    # The share at which lost articles are the machinery's fault is put out of reach: here they are, and wanted.
    with WorkerPool(WORKERS, timeout=60, memory_mb=512, fail_share=2) as pool:
        outputs, kills = run_under_fire(pool, tmp_path, seed, signals)
    assert kills > ARTICLES / 3, "the kills have hit"
    assert len(outputs) == ARTICLES
    told = [
        re.search(r"article (\d+) ended its worker, it is tried again alone: WorkerDied: ", message)
        for message in caplog.messages
    ]
    retried = {int(found[1]) for found in told if found}
    for number, output in enumerate(outputs, start=1):
        log = tmp_path / str(number)
        traces = Counter(log.read_text().split() if log.exists() else ())
        if output.rows:
            assert output.rows[0]["number"] == number
            assert not output.rejections
        else:
            assert [item.error_class for item in output.rejections] == ["WorkerDied"]
            assert number in retried, "only what was tried twice is given up"
        assert traces["begin"] <= 2, "nothing is tried more than twice"
