"""Worker processes with time and memory limits, so that no article can take the batch down.

A dead worker costs only the article that it held, and that one is tried again, alone, in a fresh worker. No wait is
without end: every worker that holds an article has a deadline, and workers that cannot be started fail the batch.
"""

from __future__ import annotations

import logging
import os
import pickle
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import Any

import psutil

from pmo_assets.logs import FIELDS, current_fields, log_fields
from pmo_assets.records.faults import UnfitProcess, same_fault
from pmo_assets.records.rejections import ArticleError, Rejection, rejection_from
from pmo_assets.records.step_output import StepOutput
from pmo_assets.records.stores import SystemicError
from pmo_assets.workers.effort import Effort
from pmo_assets.workers.process import (
    MESSAGE_TIMEOUT,
    Done,
    Failed,
    Prepare,
    Ready,
    Reply,
    Step,
    Task,
    Worked,
    Worker,
    process_context,
    step_output,
    without_misfits,
)

Progress = Callable[[str, int, int], None]
"""Called with (stage, articles done, articles in all)."""

TASKS_PER_WORKER = 5000
"""Tasks (articles, of all steps) after which a worker is replaced, should it leak what its memory does not show.

Rarely: what a worker has learnt of its articles (`Worker.known`: boxes of a network that two steps ask) goes with it,
and memory that native libraries leak is seen, and ends it, long before.
"""

READY_TIMEOUT = 600.0
"""Seconds that a worker may take to load its networks, on a busy disk."""

FAILED_STARTS = 20
"""Workers in a row that never got ready for an article after which the pool gives up."""

_POLL_SECONDS = 0.1
"""Seconds between looks at the limits; a step may exceed its memory limit by what it allocates meanwhile."""

_MIB = 2**20

_LOG = logging.getLogger(__name__)


class ArticleTimeout(ArticleError):
    """The article took longer than the limit in one step."""


class WorkerDied(ArticleError):
    """The article killed its worker twice: a crash in a native library, or the system that was short of memory."""


class OutOfMemory(ArticleError):
    """The article needed more memory than the limit, twice."""


class WorkersUnavailable(SystemicError):
    """No worker process can be started, or none gets ready."""


def _no_progress(stage: str, done: int, total: int) -> None:
    """Ignore progress."""


@dataclass
class _Job:
    """The articles of one `map_units` call.

    Attributes:
        waiting: numbers of the articles that nobody has begun.
        suspects: those whose worker ended; each is tried once more, alone, when the others are done.
        outputs: outputs of the others, by number.
        rejections: those of all outputs.
    """

    stage: str
    step: Step
    units: Sequence[tuple[int, tuple[Any, ...]]]
    prepare: Prepare | None
    effort: Effort = field(default_factory=Effort)
    waiting: deque[int] = field(default_factory=deque)
    suspects: deque[int] = field(default_factory=deque)
    suspected: set[int] = field(default_factory=set)
    outputs: dict[int, StepOutput] = field(default_factory=dict)

    @property
    def rejections(self) -> Iterator[Rejection]:
        return (item for output in self.outputs.values() for item in output.rejections)

    def take_for(self, known: Collection[int]) -> int:
        """Take the first waiting article whose unit is among the known ones, else the first, and return its number."""
        number = next((number for number in self.waiting if self.units[number][0] in known), self.waiting[0])
        self.waiting.remove(number)
        return number

    def put_back(self, number: int) -> None:
        """Let an article wait again that was not begun."""
        (self.suspects if number in self.suspected else self.waiting).appendleft(number)


@dataclass
class WorkerPool:
    """Runs a step for many articles in worker processes, which end with the `with` block of the pool.

    Attributes:
        workers: processes; 0 runs in this process, without limits.
        timeout: seconds per article and step.
        memory_mb: MiB of resident memory that an article may add to its worker; 0 for no limit.
        progress: told after each article.
        lasting: keep the processes for the next step; else they end after each one and give back what they hold.
        fail_share: when so large a part of the articles fails in the same unexpected way, the step fails.
    """

    workers: int
    timeout: float
    memory_mb: int
    progress: Progress = _no_progress
    lasting: bool = True
    fail_share: float = 0.5
    _pool: list[Worker] = field(default_factory=list, repr=False)
    _failed_starts: int = field(default=0, repr=False)
    _lost_servers: int = field(default=0, repr=False)
    _seconds: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float), repr=False)
    """Seconds that each article took in the steps so far, by its number."""

    def __enter__(self) -> WorkerPool:
        """Return the pool, whose workers end with the block: at once after an error."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End the workers."""
        self.close(stop=kind is not None)

    def map_units(
        self,
        stage: str,
        step: Step,
        units: Sequence[tuple[int, tuple[Any, ...]]],
        prepare: Prepare | None = None,
        effort: Effort | None = None,
    ) -> list[StepOutput]:
        """Run `step(*arguments)` for every (number of the unit, arguments) and return the outputs in that order.

        A unit whose step fails or times out yields an output with a rejection, and so does one that ends its worker
        (crash, memory) twice.

        Args:
            stage: name of the asset.
            step: the step; like its arguments it must be picklable.
            units: (number, arguments) each.
            prepare: called in every worker before its first article: loads the step's networks and the like. It has no
                memory limit and its own time limit, and its failure is systemic.
            effort: takes down the cost of the units, and names their kind.

        Raises:
            SystemicError: as raised by a step or by `prepare`; when many articles fail in the same unexpected way;
                when no worker can be started. The other articles' outputs are dropped.
        """
        self.progress(stage, 0, len(units))
        # Those that took longest in the steps before begin, so that no worker is left alone with one at the end.
        order = sorted(range(len(units)), key=lambda number: -self._seconds[units[number][0]])
        job = _Job(stage, step, units, prepare, effort or Effort(), waiting=deque(order))
        try:
            with log_fields(stage=stage):
                if self.workers == 0:
                    self._work_here(job)
                else:
                    self._work(job)
        except BaseException:
            self.close(stop=True)
            raise
        if not self.lasting:
            self.close()
        in_order = [job.outputs[number] for number in range(len(units))]
        job.outputs.update(enumerate(without_misfits(stage, [number for number, _ in units], in_order)))
        self._raise_same_fault(job)
        return [job.outputs[number] for number in range(len(units))]

    def _raise_same_fault(self, job: _Job) -> None:
        fault = same_fault(job.rejections, len(job.units), self.fail_share, job.effort.unit)
        if fault is not None:
            raise fault

    def _work_here(self, job: _Job) -> None:
        if job.prepare is not None:
            job.prepare()
        for place, (number, arguments) in enumerate(job.units):
            start = time.perf_counter()
            try:
                with log_fields(**{job.effort.unit: number}):
                    output = step_output(job.stage, number, job.step, arguments)
            except UnfitProcess as error:
                raise SystemicError(
                    f"{job.effort.unit} {number} left this process unfit ({error}); with PMO_WORKERS=1 or more it "
                    f"costs that {job.effort.unit} only"
                ) from error
            job.effort.note(number, time.perf_counter() - start, self.timeout)
            self._keep(job, place, output)

    def _work(self, job: _Job) -> None:
        while len(job.outputs) < len(job.units):
            self._give_work(job)
            for connection in wait([worker.connection for worker in self._pool], timeout=_POLL_SECONDS):
                worker = next(item for item in self._pool if item.connection is connection)
                try:
                    reply = worker.reply()
                except (EOFError, OSError, pickle.UnpicklingError):
                    self._bury(worker, job)
                else:
                    self._take(reply, worker, job)
            for worker in [item for item in self._pool if item.task is not None]:
                self._enforce_limits(worker, job)

    def _give_work(self, job: _Job) -> None:
        while job.waiting:
            worker = next((item for item in self._pool if item.task is None), None)
            if worker is None and len(self._pool) < self.workers:
                worker = self._start_worker()
            if worker is None:
                return
            self._assign(worker, job, job.take_for(worker.known))
        if job.suspects and all(worker.task is None for worker in self._pool):
            self.close()  # alone: with all of the machine's memory, in a process that nothing has touched
            worker = self._start_worker()
            if worker is not None:
                self._assign(worker, job, job.suspects.popleft())

    def _assign(self, worker: Worker, job: _Job, number: int) -> None:
        own, arguments = job.units[number]
        worker.known.add(own)
        fresh = worker.prepared_for is not job
        prepare, level = job.prepare if fresh else None, _LOG.getEffectiveLevel()
        fields = current_fields()
        task = Task(job.stage, own, job.step, arguments, self.timeout, prepare, level, fields, job.effort.unit)
        try:
            worker.give(number, task, READY_TIMEOUT if fresh else MESSAGE_TIMEOUT)
        except OSError:
            self._bury(worker, job)

    def _take(self, reply: Reply, worker: Worker, job: _Job) -> None:
        number = worker.task
        assert number is not None, "only a worker with a task replies"
        if isinstance(reply, Ready):
            self._failed_starts = 0
            worker.begin(reply, self.timeout, job)
            return
        if isinstance(reply, Worked):
            for line in reply.lines:
                line.log()
            job.effort.note(job.units[number][0], reply.seconds, self.timeout)
            self._seconds[job.units[number][0]] += reply.seconds
            job.effort.note_memory(reply.resident_bytes)
        result = reply.result if isinstance(reply, Worked) else reply
        if isinstance(result, Done):
            worker.task = None
            worker.done += 1
            self._keep(job, number, result.output)
            # What it does not give back counts against the articles that follow.
            if worker.done >= TASKS_PER_WORKER or worker.added_bytes() > self._limit_bytes / 2:
                self._remove(worker)
        elif isinstance(result, Failed):
            raise result.error
        else:
            self._remove(worker)
            if result.broken_installation and number in job.suspected:
                raise SystemicError(
                    f"{result.rejection.message}: an installation is incomplete or damaged; install pmo-assets again"
                )
            self._suspect(job, number, result.rejection, result.rejection.message)

    @property
    def _limit_bytes(self) -> float:
        return self.memory_mb * _MIB if self.memory_mb else float("inf")

    def _enforce_limits(self, worker: Worker, job: _Job) -> None:
        number = worker.task
        assert number is not None
        if worker.connection.poll():
            return  # it has just replied, or ended
        job.effort.note_memory(worker.added_bytes() + (worker.own_bytes or 0))
        if time.monotonic() > worker.deadline:
            self._remove(worker)
            if not worker.begun:
                job.put_back(number)
                self._count_failed_start("a worker did not get ready in time")
            else:
                error = ArticleTimeout(f"took longer than {self.timeout:g} s (PMO_ARTICLE_TIMEOUT)")
                job.effort.note(job.units[number][0], self.timeout)
                self._reject(job, number, self._rejection(job, number, error))
        elif worker.begun and worker.added_bytes() > self._limit_bytes:
            self._remove(worker)
            words = f"needed more than {self.memory_mb} MiB of memory (PMO_WORKER_MEMORY_MB), twice"
            reason = f"more than {self.memory_mb} MiB"
            self._suspect(job, number, self._rejection(job, number, OutOfMemory(words)), reason)

    def _bury(self, worker: Worker, job: _Job) -> None:
        """Remove a worker that has ended by itself; the article that it held, if any, is tried again."""
        how = worker.ended(1)
        self._remove(worker)
        number = worker.task
        if number is None:  # between two articles: costs nothing
            return
        if not worker.begun:
            job.put_back(number)
            self._count_failed_start(f"a worker ended before it was ready ({how})")
        elif worker.server_is_gone():
            job.put_back(number)
            self._count_lost_server()
        else:
            words = f"ended its worker process twice, the second time alone ({how}): a crash in a native library, or "
            words += "the machine has too little memory for it"
            self._suspect(job, number, self._rejection(job, number, WorkerDied(words)), how)

    def _remove(self, worker: Worker) -> None:
        self._pool.remove(worker)
        worker.kill()

    def _suspect(self, job: _Job, number: int, rejection: Rejection, reason: str) -> None:
        """Let an article be tried again alone, for this reason; reject it if that has been done."""
        if number in job.suspected:
            self._reject(job, number, rejection)
            return
        with log_fields(**{job.effort.unit: rejection.unit_id}):
            _LOG.warning(
                "%s %s ended its worker, it is tried again alone: %s: %s",
                job.effort.unit,
                rejection.unit_id,
                rejection.error_class,
                reason,
                extra={FIELDS: {"error": rejection.error_class}},
            )
        job.effort.again += 1
        job.suspected.add(number)
        job.suspects.append(number)

    def _reject(self, job: _Job, number: int, rejection: Rejection) -> None:
        self._keep(job, number, StepOutput(rejections=[rejection]))
        self._raise_same_fault(job)  # now and not at the end: hours of time limits may lie ahead

    def _keep(self, job: _Job, number: int, output: StepOutput) -> None:
        job.outputs[number] = output
        self.progress(job.stage, len(job.outputs), len(job.units))

    def _rejection(self, job: _Job, number: int, error: ArticleError) -> Rejection:
        return rejection_from(error, stage=job.stage, unit_id=job.units[number][0])

    def _start_worker(self) -> Worker | None:
        # Read when the workers import NumPy: its threads would compete with the other workers.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        try:
            worker = Worker(process_context())
        except (OSError, EOFError) as error:
            self._count_failed_start(f"no process could be started ({type(error).__name__}: {error})")
            return None
        self._pool.append(worker)
        return worker

    def _count_failed_start(self, reason: str) -> None:
        self._failed_starts += 1
        _LOG.warning("%s; attempt %s of %s", reason, self._failed_starts, FAILED_STARTS)
        if self._failed_starts >= FAILED_STARTS:
            raise WorkersUnavailable(
                f"worker processes cannot work here: {reason}, {self._failed_starts} times in a row. "
                f"{_limits_in_words()}Free memory or processes, or lower PMO_WORKERS (now {self.workers}), and run "
                "again; no article was rejected for it"
            )
        time.sleep(min(0.5, 0.05 * self._failed_starts))

    def _count_lost_server(self) -> None:
        self._lost_servers += 1
        _LOG.warning("workers were ended from outside; their articles are begun again (%s)", self._lost_servers)
        if self._lost_servers >= FAILED_STARTS:
            raise WorkersUnavailable(
                f"workers and the server that forks them were ended {self._lost_servers} times, by the system that was "
                f"short of memory or by somebody. {_limits_in_words()}Run again; no article was rejected for it"
            )

    def close(self, *, stop: bool = False) -> None:
        """Let idle workers end; `stop` ends all at once, with what they hold."""
        workers, self._pool = self._pool, []
        idle = [worker for worker in workers if worker.task is None and not stop]
        for worker in idle:
            worker.dismiss()
        for worker in idle:
            worker.ended(5)
        for worker in workers:
            worker.kill()


def _limits_in_words() -> str:
    """Return a sentence on the limits that the system sets processes, empty when it sets none."""
    try:
        import resource
    except ImportError:  # Windows
        return ""
    address_space = resource.getrlimit(resource.RLIMIT_AS)[0]
    if address_space == resource.RLIM_INFINITY:
        return ""
    return f"The address space is limited to {address_space // _MIB} MiB (ulimit -v): raise it. "


def memory_warning(memory_mb: int) -> str | None:
    """Return a warning when this machine has not even the memory that one article may take; None if it has."""
    total = psutil.virtual_memory().total // _MIB
    if memory_mb <= total:
        return None
    return (
        f"PMO_WORKER_MEMORY_MB={memory_mb} is more than this machine has ({total} MiB): large articles may exhaust it"
    )


def device_pool(pool: WorkerPool, workers: int) -> WorkerPool:
    """Return a pool like `pool` for work on a GPU: at most so many processes, alive during a step only.

    They have no memory limit: what CUDA's libraries load at their first use is not the article's. What they hold on the
    GPU is free again for other runs when the step ends.
    """
    return WorkerPool(
        min(pool.workers, workers), pool.timeout, 0, pool.progress, lasting=False, fail_share=pool.fail_share
    )


def slow_pool(pool: WorkerPool, timeout: float) -> WorkerPool:
    """Return a pool like `pool` for units that take longer: `timeout` seconds each, in processes of its own."""
    return WorkerPool(pool.workers, timeout, pool.memory_mb, pool.progress, lasting=False, fail_share=pool.fail_share)


@dataclass
class TimedProgress:
    """Progress that speaks at most every `interval` seconds, for logs."""

    say: Callable[[str], None]
    interval: float = 10.0
    _last: float = field(default_factory=time.monotonic)

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Say how far the stage is, if the last word was long enough ago."""
        now = time.monotonic()
        if now - self._last >= self.interval:
            self._last = now
            self.say(f"{stage}: {done} of {total}")
