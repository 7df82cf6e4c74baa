"""One worker process: the code that runs in it, and the handle that the pool holds.

Every worker has a pipe of its own. The pools of pebble, loky and concurrent.futures let all workers share one channel:
a worker that is killed while it holds the channel's lock, or writes to it, takes the others along.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, cast

import dataframely as dy
import psutil

from pmo_assets.logs import Collected, Line, log_fields, set_level
from pmo_assets.records.faults import UnfitProcess, leaves_process_unfit, raise_fault
from pmo_assets.records.rejections import Rejection, rejection_from
from pmo_assets.records.step_output import StepOutput
from pmo_assets.records.stores import SystemicError
from pmo_assets.tables.schemas import checked, schema_of, table_schemas, unchecked

Step = Callable[..., StepOutput]
Prepare = Callable[[], object]

MESSAGE_TIMEOUT = 60.0
"""Seconds that a message may take from one end of a pipe to the other once it has begun."""

START_TIMEOUT = 120.0
"""Seconds until a process is there: the first start loads the pipeline, on a busy disk."""

_ALARM_MARGIN = 60
"""Seconds that a worker gives the pool to end it at its time limit, before it ends itself."""


@dataclass(frozen=True, slots=True)
class Task:
    """A unit (an article) for a worker: `step(*arguments)`, after `prepare()` when the worker has not done that yet."""

    stage: str
    number: int
    step: Step
    arguments: tuple[Any, ...]
    timeout: float
    prepare: Prepare | None = None
    log_level: int = logging.WARNING
    log_fields: Mapping[str, Any] = field(default_factory=dict)
    unit: str = "article"


@dataclass(frozen=True, slots=True)
class Ready:
    """The worker begins with its article.

    Attributes:
        own_bytes: resident memory of the worker itself: at its start, and what preparing has added.
    """

    own_bytes: int


@dataclass(frozen=True, slots=True)
class Done:
    """The step ended; `output` holds the article's rows and rejections."""

    output: StepOutput


@dataclass(frozen=True, slots=True)
class Failed:
    """The step met a fault that is not the article's; the batch has to stop."""

    error: SystemicError


@dataclass(frozen=True, slots=True)
class Unfit:
    """The worker ends, since it cannot be trusted any more; the article may be tried again.

    Attributes:
        rejection: the article's, if it fails again.
        broken_installation: a module could not be imported: should it fail again, no article is to blame.
    """

    rejection: Rejection
    broken_installation: bool


@dataclass(frozen=True, slots=True)
class Worked:
    """Result of a step on an article, and its cost.

    Attributes:
        result: the step's output, or the fault that ended it.
        seconds: duration of the step.
        resident_bytes: memory of the worker afterwards.
        lines: lines that were logged meanwhile.
    """

    result: Done | Failed | Unfit
    seconds: float
    resident_bytes: int
    lines: Sequence[Line]


Reply = Ready | Worked | Failed


def step_output(stage: str, number: int, step: Step, arguments: tuple[Any, ...]) -> StepOutput:
    """Return a step's output for a unit; whatever is wrong with this unit is a rejection.

    Here and not in the pool's process, because many a library's exception cannot travel between processes, and because
    values that do not fit the table's columns (a number out of range, text that is no Unicode) may upset more than an
    exception shows. The table's rules are for `without_misfits`.

    Raises:
        SystemicError: as raised by the step, or made of a machine's error (disk full).
        UnfitProcess: when this process cannot be trusted any more; its cause is the step's error.
    """
    try:
        output = step(*arguments)
        if output.rows and stage in table_schemas():
            unchecked(schema_of(stage), output.rows)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # panics of Rust libraries derive from BaseException
        if not isinstance(error, SystemicError) and leaves_process_unfit(error):
            raise UnfitProcess(f"{type(error).__name__}: {error}") from error
        raise_fault(error)
        return StepOutput(rejections=[rejection_from(error, stage=stage, unit_id=number)])
    return output


def without_misfits(stage: str, numbers: Sequence[int], outputs: Sequence[StepOutput]) -> list[StepOutput]:
    """Return the outputs of a step, with a rejection in place of rows that break a rule of the step's table.

    One such article would fail the whole batch when the table is written. All rows are held against the rules at once,
    which takes as long as for two or three articles; who is to blame is looked for when they break one.

    Args:
        stage: the step.
        numbers: those of the units.
        outputs: the step's output for each.

    Raises:
        SystemicError: made of a machine's error.
    """
    if stage not in table_schemas():
        return list(outputs)
    schema = schema_of(stage)
    try:
        checked(schema, [row for output in outputs for row in output.rows])
    except Exception as error:
        raise_fault(error)
        return [_without_misfit(stage, schema, *pair) for pair in zip(numbers, outputs, strict=True)]
    return list(outputs)


def _without_misfit(stage: str, schema: type[dy.Schema], number: int, output: StepOutput) -> StepOutput:
    try:
        if output.rows:
            checked(schema, output.rows)
    except Exception as error:
        raise_fault(error)
        return StepOutput(rejections=[rejection_from(error, stage=stage, unit_id=number)])
    return output


def _resident_bytes() -> int:
    return int(psutil.Process().memory_info().rss)


def _set_alarm(seconds: float) -> None:
    """Let the system end this process after so long, should nobody be left to do it; 0 for never."""
    if hasattr(signal, "alarm"):  # not on Windows
        signal.alarm(int(seconds))


def serve(connection: Connection) -> None:
    """Answer tasks until the pool closes its end of the pipe; the main function of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group of processes: the pool decides
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    # One thread per worker: parallelism comes from the processes.
    import cv2

    cv2.setNumThreads(1)
    own_bytes = _resident_bytes()
    while True:
        try:
            task: Task | None = connection.recv()
        except EOFError:
            return
        except Exception as error:  # a task's module cannot be imported here
            connection.send(Failed(_not_prepared(error)))
            continue
        if task is None:
            return
        if task.prepare is not None:
            before = _resident_bytes()
            try:
                task.prepare()
            except BaseException as error:
                connection.send(Failed(_not_prepared(error)))
                continue
            own_bytes += max(0, _resident_bytes() - before)
        connection.send(Ready(own_bytes))
        _set_alarm(2 * task.timeout + _ALARM_MARGIN)
        worked = _worked(task)
        _set_alarm(0)
        connection.send(worked)
        if isinstance(worked.result, Unfit):
            return


def _not_prepared(error: BaseException) -> SystemicError:
    if isinstance(error, SystemicError):
        return _portable(error)
    return SystemicError(f"a worker could not load what it works with: {type(error).__name__}: {error}")


def _worked(task: Task) -> Worked:
    collected, start = Collected(), time.perf_counter()
    set_level(task.log_level)
    with log_fields(**task.log_fields, **{task.unit: task.number}), collected.collecting():
        result = _result(task)
    return Worked(result, time.perf_counter() - start, _resident_bytes(), tuple(collected.lines))


def _result(task: Task) -> Done | Failed | Unfit:
    try:
        return Done(step_output(task.stage, task.number, task.step, task.arguments))
    except SystemicError as error:
        return Failed(_portable(error))
    except UnfitProcess as unfit:
        cause = unfit.__cause__ or unfit
        rejection = rejection_from(cause, stage=task.stage, unit_id=task.number)
        return Unfit(rejection, isinstance(cause, ImportError))


def _portable(error: SystemicError) -> SystemicError:
    """Return an error of the same class if that can travel between processes, else a plain one with its words."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return SystemicError(str(error))
    return error


class Worker:
    """A worker process as its pool sees it.

    Attributes:
        connection: the pool's end of the worker's pipe.
        task: number of the task at hand; None while idle.
        begun: the worker is ready and has begun with it.
        deadline: when the time for getting ready, or for the task, is over, by `time.monotonic()`.
        own_bytes: resident memory without what articles add; None until the worker was ready for the first time.
        prepared_for: the map call whose preparation the worker has done.
        done: tasks that it has finished.
        known: numbers of the units that it has worked on: what it keeps of them serves the next step.
    """

    def __init__(self, context: Any) -> None:
        """Start the process.

        Raises:
            OSError: if the system gives no process.
            EOFError: if the server that forks workers has died.
        """
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs,), name="pmo worker", daemon=True)
        # The server that forks workers may be stopped or stuck: it is ended then, and the next start makes another.
        with _timer(START_TIMEOUT, _end_fork_server):
            try:
                self._process.start()
            except BaseException:
                self.connection.close()
                raise
            finally:
                theirs.close()
        self._handle: psutil.Process | None = None  # knows the process from a later one with the same number
        with contextlib.suppress(psutil.Error):
            self._handle = psutil.Process(self._process.pid)
        self._server = _fork_server()
        self.task: int | None = None
        self.begun = False
        self.deadline = float("inf")
        self.own_bytes: int | None = None
        self.prepared_for: object = None
        self.done = 0
        self.known: set[int] = set()

    def added_bytes(self) -> int:
        """Return by how much the worker's resident memory has grown since it was ready; 0 if it is gone."""
        if self.own_bytes is None or self._handle is None:
            return 0
        try:
            return int(self._handle.memory_info().rss) - self.own_bytes
        except psutil.Error:
            return 0

    def give(self, number: int, task: Task, seconds: float) -> None:
        """Send a task; the worker has so many seconds to be ready for it.

        Raises:
            OSError: if the worker is gone.
        """
        self.task, self.begun, self.deadline = number, False, time.monotonic() + seconds
        with _timer(MESSAGE_TIMEOUT, self._end):
            self.connection.send(task)

    def reply(self) -> Reply:
        """Return the reply that the worker is handing over.

        Raises:
            EOFError, OSError, pickle.UnpicklingError: if the worker ended, or does not go on handing it over.
        """
        with _timer(MESSAGE_TIMEOUT, self._end):
            return cast(Reply, self.connection.recv())

    def begin(self, ready: Ready, seconds: float, job: object) -> None:
        """Note that the worker is ready and has so many seconds for its task."""
        self.own_bytes, self.prepared_for = ready.own_bytes, job
        self.begun, self.deadline = True, time.monotonic() + seconds

    def dismiss(self) -> None:
        """Ask an idle worker to end."""
        with contextlib.suppress(OSError):
            self.connection.send(None)

    def ended(self, seconds: float) -> str:
        """Wait at most so long for the process to end by itself and return how it did, in words."""
        self._process.join(timeout=seconds)
        return _end_in_words(self._process.exitcode)

    def server_is_gone(self) -> bool:
        """Say whether the server that forked the process has ended, so that nobody knows how the process ended.

        No article runs in the server: who ended both was somebody else.
        """
        if self._server is None:
            return False
        with contextlib.suppress(psutil.Error):
            return not self._server.is_running() or self._server.status() == psutil.STATUS_ZOMBIE
        return True

    def kill(self) -> None:
        """End the process at once, whatever it does, and let go of its pipe."""
        with contextlib.suppress(OSError):
            self.connection.close()
        self._end()
        self._process.join(timeout=5)

    def _end(self) -> None:
        # Not by the process object: it takes its process for dead when the server that forked it has died.
        with contextlib.suppress(psutil.Error):
            if self._handle is not None:
                self._handle.kill()


@contextlib.contextmanager
def _timer(seconds: float, end: Callable[[], None]) -> Iterator[None]:
    """Call `end` if the block takes longer: for calls that wait on a process without a limit of their own."""
    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _fork_server() -> psutil.Process | None:
    """Return the server from which this process's workers are forked, if there is one."""
    from multiprocessing import forkserver

    pid = getattr(getattr(forkserver, "_forkserver", None), "_forkserver_pid", None)
    with contextlib.suppress(psutil.Error):
        return None if pid is None else psutil.Process(pid)
    return None


def _end_fork_server() -> None:
    """End the server from which this process's workers are forked, if there is one."""
    server = _fork_server()
    with contextlib.suppress(psutil.Error):
        if server is not None:
            server.kill()


def _end_in_words(exit_code: int | None) -> str:
    if exit_code is None:
        return "without an exit code"
    if exit_code < 0:
        try:
            return f"ended by {signal.Signals(-exit_code).name}"
        except ValueError:
            return f"ended by signal {-exit_code}"
    return f"exit code {exit_code}"


def process_context() -> Any:
    """Return how processes are started: forked from a server that has the pipeline loaded, where the system can."""
    methods = multiprocessing.get_all_start_methods()
    if "forkserver" in methods:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["pmo_assets.workers.process"])
        return context
    return multiprocessing.get_context("spawn")
