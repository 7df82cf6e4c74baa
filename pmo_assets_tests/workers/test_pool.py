"""Worker processes: order kept, limits enforced, one bad article never takes the others along."""

from __future__ import annotations

import errno
import gc
import os
import signal
import struct
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import polars as pl
import psutil
import pytest

from pmo_assets.records.faults import SameFault
from pmo_assets.records.rejections import ArticleError
from pmo_assets.records.step_output import StepOutput
from pmo_assets.records.stores import StorageError, SystemicError
from pmo_assets.workers import process as worker_process
from pmo_assets.workers.pool import (
    TimedProgress,
    WorkerPool,
    WorkersUnavailable,
    _Job,
    device_pool,
    memory_warning,
)

REJECTION_ROW = {"stage": "s", "article_id": 1, "error_class": "E", "message": "m", "traceback_tail": ""}
MIB = 2**20


class Bad(ArticleError):
    """A decision about one article."""


class Unpicklable(Exception):
    """Cannot be rebuilt from its message, like many a library's exception."""

    def __init__(self, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}")


class UnpicklableFault(SystemicError):
    """The same for a fault of the machinery."""

    def __init__(self, place: str, number: int) -> None:
        super().__init__(f"{place} {number}")


def step(number: int, trouble: str = "") -> StepOutput:
    """Do what an article's bytes might do to a worker."""
    if trouble == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if trouble == "hang":
        time.sleep(60)
    if trouble == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    if trouble == "eat memory":
        eaten = []
        while True:  # in portions, as a decoder does
            eaten.append(b"x" * (16 * MIB))
            time.sleep(0.01)
    if trouble == "decide":
        raise Bad("not this one")
    if trouble == "fail":
        raise ZeroDivisionError("oops")
    if trouble == "fail oddly":
        raise Unpicklable(3, 7)
    if trouble == "panic":
        raise pl.exceptions.PanicException("index out of bounds")
    if trouble == "bad alloc":
        raise RuntimeError("std::bad_alloc")
    if trouble == "no module":
        raise ImportError("libtorch.so: undefined symbol")
    if trouble == "no text":
        return StepOutput(rows=[REJECTION_ROW | {"message": "\ud800"}])
    if trouble == "no schema":
        return StepOutput(rows=[REJECTION_ROW | {"article_id": -1}])
    if trouble == "storage":
        raise StorageError("disk full")
    if trouble == "odd storage":
        raise UnpicklableFault("bucket", 3)
    if trouble == "disk full":
        raise OSError(errno.ENOSPC, "No space left on device")
    return StepOutput(rows=[{"number": number, "pid": os.getpid()}])


@pytest.fixture(scope="module", params=[0, 2], ids=["in this process", "two workers"])
def pool(request: pytest.FixtureRequest) -> Iterator[WorkerPool]:
    with WorkerPool(request.param, timeout=60, memory_mb=512) as started:
        yield started


@pytest.fixture
def two() -> Iterator[WorkerPool]:
    with WorkerPool(2, timeout=20, memory_mb=512) as started:
        yield started


def tasks(*troubles: str) -> list[tuple[int, tuple[int, str]]]:
    return [(number, (number, trouble)) for number, trouble in enumerate(troubles, start=1)]


def test_outputs_come_in_the_order_of_the_articles(pool: WorkerPool) -> None:
    outputs = pool.map_units("s", step, tasks(*[""] * 20))
    assert [output.rows[0]["number"] for output in outputs] == list(range(1, 21))


def begin_after(seconds: float) -> StepOutput:
    """Return when it began, and take so long."""
    began = time.monotonic()
    time.sleep(seconds)
    return StepOutput(rows=[{"began": began}])


@pytest.mark.slow
def test_the_article_that_took_longest_goes_first_in_the_next_step() -> None:
    with WorkerPool(1, timeout=60, memory_mb=0) as pool:
        pool.map_units("r", begin_after, [(9, (0.0,))])  # what a worker loads at its first article
        pool.map_units("s", begin_after, [(1, (0.0,)), (2, (0.0,)), (3, (1.0,)), (4, (0.0,))])
        outputs = pool.map_units("t", begin_after, [(number, (0.0,)) for number in (1, 2, 3)])
    began = [output.rows[0]["began"] for output in outputs]
    assert min(began) == began[2]


def process_after(seconds: float) -> StepOutput:
    """Return the process that it ran in, and take so long."""
    time.sleep(seconds)
    return StepOutput(rows=[{"process": os.getpid()}])


@pytest.mark.slow
def test_a_worker_gets_the_articles_that_it_knows_from_the_step_before() -> None:
    with WorkerPool(2, timeout=60, memory_mb=0) as pool:
        first = pool.map_units("s", process_after, [(number, (0.3,)) for number in range(8)])
        second = pool.map_units("t", process_after, [(number, (0.3,)) for number in reversed(range(8))])
    before, after = ([output.rows[0]["process"] for output in outputs] for outputs in (first, second[::-1]))
    assert len(set(before)) == 2
    assert sum(a == b for a, b in zip(before, after, strict=True)) >= 7, "but for one that keeps nobody waiting"


def test_workers_last_through_the_steps_of_a_batch_with_what_they_know(two: WorkerPool) -> None:
    outputs = [output for stage in "stuvwx" for output in two.map_units(stage, step, tasks(*[""] * 100))]
    assert len({output.rows[0]["pid"] for output in outputs}) == 2


def test_a_worker_that_knows_nothing_takes_the_first_article() -> None:
    job = _Job("s", step, [(11, ()), (12, ()), (13, ())], None, waiting=deque([2, 0, 1]))
    assert job.take_for({12}) == 1
    assert job.take_for({99}) == 2
    assert list(job.waiting) == [0]


def test_a_failing_article_becomes_a_rejection(pool: WorkerPool) -> None:
    outputs = pool.map_units("s", step, tasks("", "decide", "fail", ""))
    assert [len(output.rows) for output in outputs] == [1, 0, 0, 1]
    decided, failed = outputs[1].rejections[0], outputs[2].rejections[0]
    assert (decided.unit_id, decided.stage, decided.error_class, decided.message) == (2, "s", "Bad", "not this one")
    assert (failed.error_class, failed.message) == ("ZeroDivisionError", "oops")
    assert "oops" in failed.traceback_tail


@pytest.mark.parametrize(
    ("trouble", "error"),
    [("fail oddly", "Unpicklable"), ("no text", "UnicodeEncodeError"), ("no schema", "ValidationError")],
)
def test_no_failure_of_an_article_takes_the_others_along(pool: WorkerPool, trouble: str, error: str) -> None:
    outputs = pool.map_units("rejections", rejection_step, tasks(*[trouble, "good"] * 3))
    assert [[item.error_class for item in output.rejections] for output in outputs] == [[error], []] * 3
    assert [len(output.rows) for output in outputs] == [0, 1] * 3


def rejection_step(number: int, trouble: str) -> StepOutput:
    """Return a row that fulfils its schema, or do what `step` does."""
    return StepOutput(rows=[REJECTION_ROW]) if trouble == "good" else step(number, trouble)


@pytest.mark.parametrize(
    ("trouble", "words"),
    [("storage", "disk full"), ("odd storage", "bucket 3"), ("disk full", "No space left on device.*run again")],
)
def test_what_is_systemic_is_raised(pool: WorkerPool, trouble: str, words: str) -> None:
    with pytest.raises(SystemicError, match=words):
        pool.map_units("s", step, tasks("", trouble, ""))
    assert len(pool.map_units("s", step, tasks(""))) == 1, "the pool works again afterwards"


@pytest.mark.parametrize("pool", [0, 2], ids=["in this process", "two workers"], indirect=True)
def test_the_same_unexpected_error_in_most_articles_is_systemic(pool: WorkerPool) -> None:
    with pytest.raises(SameFault, match=r"6 of 8 articles .* ZeroDivisionError: oops"):
        pool.map_units("s", step, tasks(*["fail"] * 6, "", ""))
    outputs = pool.map_units("s", step, tasks(*["decide"] * 8))
    assert all(output.rejections for output in outputs), "decisions are the articles' own"


@pytest.mark.parametrize(
    ("trouble", "timeout", "error", "words"),
    [
        ("crash", 60, "WorkerDied", "SIGSEGV"),
        ("hang", 3, "ArticleTimeout", "3 s"),
        pytest.param("stop", 3, "ArticleTimeout", "3 s", marks=pytest.mark.slow),  # waits
        ("eat memory", 60, "OutOfMemory", "512 MiB"),
        pytest.param("bad alloc", 60, "RuntimeError", "bad_alloc", marks=pytest.mark.slow),
        pytest.param("panic", 60, "PanicException", "index out of bounds", marks=pytest.mark.slow),
    ],
)
def test_limits_hold_and_the_other_articles_are_processed(trouble: str, timeout: float, error: str, words: str) -> None:
    with WorkerPool(2, timeout=timeout, memory_mb=512) as limited:
        outputs = limited.map_units("s", step, tasks("", trouble, "", ""))
    assert [len(output.rows) for output in outputs] == [1, 0, 1, 1]
    assert outputs[1].rejections[0].error_class == error
    assert words in outputs[1].rejections[0].message


def half_a_reply(number: int) -> StepOutput:
    """Hand over half of a reply and go no further."""
    if number == 2:
        connection = next(
            item for item in gc.get_objects() if isinstance(item, Connection) and not item.closed and item.writable
        )
        os.write(connection.fileno(), struct.pack("!i", 2**20) + b"x" * 100)
        os.kill(os.getpid(), signal.SIGSTOP)
    return StepOutput(rows=[{"number": number}])


def large(number: int, text: str) -> StepOutput:
    """Take more than a pipe holds."""
    return StepOutput(rows=[{"number": number, "length": len(text)}])


@pytest.mark.slow  # waits
@pytest.mark.skipif(sys.platform != "linux", reason="messages have a length of four bytes as on Linux")
def test_a_worker_that_stops_in_the_middle_of_a_reply_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_process, "MESSAGE_TIMEOUT", 1.0)
    with WorkerPool(2, timeout=60, memory_mb=0) as pool:
        outputs = pool.map_units("s", half_a_reply, [(number, (number,)) for number in range(1, 4)])
    assert [len(output.rows) for output in outputs] == [1, 0, 1]
    assert outputs[1].rejections[0].error_class == "WorkerDied"


@pytest.mark.slow  # waits
def test_a_worker_that_stops_before_it_takes_a_task_is_not_waited_for(
    two: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for pid in pids(two):
        os.kill(pid, signal.SIGSTOP)
    monkeypatch.setattr(worker_process, "MESSAGE_TIMEOUT", 1.0)
    outputs = two.map_units("s", large, [(number, (number, "x" * 2**20)) for number in range(1, 4)])
    assert [output.rows[0]["length"] for output in outputs] == [2**20] * 3


def in_memory_of(path: str, trouble: str) -> StepOutput:
    """Make trouble the first time only; a file remembers."""
    place = Path(path)
    first = not place.exists()
    with place.open("a") as file:
        file.write(f"{os.getpid()}\n")
    return step(1, trouble if first else "")


@pytest.mark.slow
@pytest.mark.parametrize("trouble", ["crash", "eat memory", "bad alloc", "panic", "no module"])
def test_an_article_that_ended_its_worker_is_tried_again_in_a_fresh_one(
    two: WorkerPool, tmp_path: Path, trouble: str
) -> None:
    outputs = two.map_units("s", in_memory_of, [(7, (str(tmp_path / "seen"), trouble))])
    assert outputs[0].rows
    assert not outputs[0].rejections
    first, second = (tmp_path / "seen").read_text().split()
    assert first != second


def slow_pid(number: int, path: str) -> StepOutput:
    """Tell when it began and ended; the suspect ends its worker."""
    with Path(path).open("a") as file:
        file.write(f"begin {number}\n")
    time.sleep(0.2)
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    with Path(path).open("a") as file:
        file.write(f"end {number}\n")
    return StepOutput(rows=[{"number": number}])


@pytest.mark.slow
def test_the_second_try_is_alone_and_last(two: WorkerPool, tmp_path: Path) -> None:
    log = str(tmp_path / "log")
    outputs = two.map_units("s", slow_pid, [(number, (number, log)) for number in range(1, 7)])
    assert [len(output.rows) for output in outputs] == [0, 1, 1, 1, 1, 1]
    lines = Path(log).read_text().splitlines()
    assert lines[-1] == "begin 1"
    assert lines.count("begin 1") == 2
    assert sorted(lines[:-1])[-5:] == [f"end {number}" for number in range(2, 7)], "all others were done before"


def ended_from_outside(number: int, path: str) -> StepOutput:
    """Somebody ends this worker and the server that forked it, three times."""
    begun = Path(path, str(number))
    begun.write_text(begun.read_text() + "." if begun.exists() else ".")
    if number == 1 and len(begun.read_text()) <= 3:
        os.kill(os.getppid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
    return StepOutput(rows=[{"number": number}])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="workers are forked from a server as on Linux")
def test_an_article_is_not_rejected_for_a_worker_that_was_ended_with_its_server(
    two: WorkerPool, tmp_path: Path
) -> None:
    outputs = two.map_units("s", ended_from_outside, [(number, (number, str(tmp_path))) for number in range(3)])
    assert [output.rows for output in outputs] == [[{"number": number}] for number in range(3)]
    assert (tmp_path / "1").read_text() == "...."


@pytest.mark.slow  # processes
@pytest.mark.skipif(sys.platform != "linux", reason="workers are forked from a server as on Linux")
def test_workers_that_are_ended_again_and_again_fail_the_step(
    two: WorkerPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pmo_assets.workers.pool.FAILED_STARTS", 2)
    with pytest.raises(WorkersUnavailable, match=r"were ended 2 times.*no article was rejected"):
        two.map_units("s", ended_from_outside, [(1, (1, str(tmp_path)))])


def test_a_module_that_cannot_be_imported_twice_is_no_article_s_fault(two: WorkerPool) -> None:
    with pytest.raises(SystemicError, match=r"undefined symbol.*install"):
        two.map_units("s", step, tasks("", "no module"))


def test_without_workers_exhausted_memory_ends_the_step() -> None:
    with WorkerPool(0, 1, 0) as local, pytest.raises(SystemicError, match="PMO_WORKERS"):
        local.map_units("s", step, tasks("bad alloc"))


def pids(pool: WorkerPool) -> set[int]:
    return {output.rows[0]["pid"] for output in pool.map_units("s", nap, tasks(*[""] * 4))}


def nap(number: int, trouble: str) -> StepOutput:
    time.sleep(0.1)
    return step(number, trouble)


@pytest.mark.slow  # processes
def test_workers_killed_while_idle_cost_nothing(two: WorkerPool) -> None:
    killed = pids(two)
    assert len(killed) == 2
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    outputs = two.map_units("s", step, tasks(*[""] * 20))
    assert all(output.rows for output in outputs)
    assert not killed & {output.rows[0]["pid"] for output in outputs}


@pytest.mark.slow  # processes
def test_workers_outlive_the_server_that_forks_them_and_are_replaced(two: WorkerPool) -> None:
    from multiprocessing import forkserver

    two.map_units("s", step, tasks("", ""))
    os.kill(forkserver._forkserver._forkserver_pid, signal.SIGKILL)  # type: ignore[attr-defined]
    outputs = two.map_units("s", step, tasks(*[""] * 5, "crash", *[""] * 5))
    assert [bool(output.rows) for output in outputs] == [True] * 5 + [False] + [True] * 5


@pytest.mark.slow  # waits
@pytest.mark.skipif(sys.platform != "linux", reason="workers are forked from a server as on Linux")
def test_a_stopped_server_is_replaced(two: WorkerPool, monkeypatch: pytest.MonkeyPatch) -> None:
    from multiprocessing import forkserver

    two.map_units("s", step, tasks("", ""))
    two.close()
    os.kill(forkserver._forkserver._forkserver_pid, signal.SIGSTOP)  # type: ignore[attr-defined]
    monkeypatch.setattr(worker_process, "START_TIMEOUT", 1.0)
    threading.Timer(5, lambda: monkeypatch.setattr(worker_process, "START_TIMEOUT", 120.0)).start()
    assert all(output.rows for output in two.map_units("s", step, tasks("", "")))


def load_too_much() -> None:
    """Prepare a worker; more than an article may take."""
    LOADED.append(b"x" * (700 * MIB))


LOADED: list[bytes] = []


def loaded(number: int) -> StepOutput:
    """Tell whether the worker was prepared."""
    time.sleep(0.5)  # long enough for the limits to be looked at
    return StepOutput(rows=[{"number": number, "loaded": len(LOADED)}])


@pytest.mark.slow  # waits
def test_what_a_worker_loads_beforehand_does_not_count_as_the_articles_memory(two: WorkerPool) -> None:
    outputs = two.map_units("s", loaded, [(number, (number,)) for number in range(4)], prepare=load_too_much)
    assert [output.rows[0]["loaded"] for output in outputs] == [1] * 4


def not_loadable() -> None:
    """Fail like a file of weights that is none."""
    raise KeyError(101)


def missing_weights() -> None:
    """Fail with what a step says of itself."""
    raise StorageError("no such weights")


def kill_itself() -> None:
    """Fail like a library that does not fit the machine."""
    os.kill(os.getpid(), signal.SIGILL)


@pytest.mark.parametrize(
    ("prepare", "error", "words"),
    [
        (not_loadable, SystemicError, "could not load.*KeyError: 101"),
        (missing_weights, StorageError, "no such weights"),
        pytest.param(
            kill_itself,
            WorkersUnavailable,
            "SIGILL.*no article was rejected",
            marks=pytest.mark.slow,  # it is tried again and again
        ),
    ],
)
def test_what_cannot_be_loaded_is_systemic(
    two: WorkerPool, prepare: Callable[[], None], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        two.map_units("s", step, tasks("", ""), prepare=prepare)
    assert len(two.map_units("s", step, tasks(""))) == 1, "the pool works again afterwards"


def test_preparing_without_workers_happens_here() -> None:
    with WorkerPool(0, 1, 0) as local, pytest.raises(KeyError):
        local.map_units("s", step, tasks(""), prepare=not_loadable)


@pytest.mark.slow  # waits
@pytest.mark.skipif(sys.platform != "linux", reason="open files are counted as on Linux")
def test_workers_that_cannot_be_started_fail_the_step(two: WorkerPool) -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")), hard))
    try:
        with pytest.raises(WorkersUnavailable, match=r"Too many open files.*PMO_WORKERS"):
            two.map_units("s", step, tasks(""))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert len(two.map_units("s", step, tasks(""))) == 1, "the pool works again afterwards"


def retain(number: int) -> StepOutput:
    """Keep much of the memory that it is allowed, as native libraries do."""
    RETAINED.append(b"x" * (300 * MIB))
    return StepOutput(rows=[{"number": number, "pid": os.getpid()}])


RETAINED: list[bytes] = []


@pytest.mark.slow  # waits
def test_a_worker_that_does_not_give_its_memory_back_is_replaced() -> None:
    with WorkerPool(1, timeout=20, memory_mb=512) as single:
        outputs = single.map_units("s", retain, [(number, (number,)) for number in range(4)])
    assert len({output.rows[0]["pid"] for output in outputs}) == 4


def test_no_worker_is_left_behind_after_an_error(two: WorkerPool) -> None:
    alive = pids(two)
    with pytest.raises(StorageError):
        two.map_units("s", step, tasks("hang", "storage"))
    deadline = time.monotonic() + 10
    while any(map(psutil.pid_exists, alive)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(psutil.pid_exists, alive))


@pytest.mark.slow
def test_a_pool_for_a_gpu_is_small_and_lasts_for_a_step() -> None:
    news: list[tuple[str, int, int]] = []
    with WorkerPool(8, timeout=20, memory_mb=512, progress=lambda *item: news.append(item)) as pool:
        with device_pool(pool, 2) as own:
            rows = [output.rows[0] for output in own.map_units("s", nap, tasks(*[""] * 8))]
            assert news[-1] == ("s", 8, 8)
            assert own.memory_mb == 0
            assert len({row["pid"] for row in rows}) <= 2
            assert not any(psutil.pid_exists(row["pid"]) for row in rows)
            assert len(own.map_units("s", nap, tasks(""))) == 1, "it starts again for the next step"
        with device_pool(pool, 20) as own:
            assert own.workers == 8


def test_progress_is_told_after_each_article() -> None:
    told: list[tuple[str, int, int]] = []
    with WorkerPool(0, 1, 0, lambda *news: told.append(news)) as local:
        local.map_units("s", step, tasks("", ""))
    assert told == [("s", 0, 2), ("s", 1, 2), ("s", 2, 2)]


def test_a_limit_beyond_the_machine_is_warned_of() -> None:
    total = psutil.virtual_memory().total // MIB
    assert memory_warning(int(total) // 2) is None
    assert "PMO_WORKER_MEMORY_MB" in str(memory_warning(int(total) * 2))


def test_progress_for_logs_is_not_told_too_often() -> None:
    lines: list[str] = []
    progress = TimedProgress(lines.append, interval=1000)
    for done in range(5):
        progress("s", done, 5)
    assert lines == []
    TimedProgress(lines.append, interval=0)("s", 3, 5)
    assert lines == ["s: 3 of 5"]


@pytest.mark.slow
def test_two_pools_side_by_side_do_not_disturb_each_other() -> None:
    results: list[int] = []

    def work() -> None:
        with WorkerPool(1, timeout=20, memory_mb=0) as own:
            outputs = own.map_units("s", step, tasks(*[""] * 5, "crash"))
            results.append(sum(len(output.rows) for output in outputs))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [5, 5]
