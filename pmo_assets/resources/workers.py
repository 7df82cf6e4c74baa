"""Worker processes with time and memory limits, so that no article can take the batch down.

pebble's pool is used because, unlike `concurrent.futures`, it stops a task at its time limit and survives the death
of a worker (a crash in a native PDF or image library), losing only the task that caused it.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from pebble import ProcessExpired, ProcessPool

from pmo_assets import schemas
from pmo_assets.pipeline.article_steps import StepOutput
from pmo_assets.pipeline.rejections import ArticleError, rejection_from
from pmo_assets.pipeline.stores import SystemicError

Progress = Callable[[str, int, int], None]
"""Called with (stage, articles done, articles in all)."""

TASKS_PER_WORKER = 250
"""A worker is replaced after so many articles: bounds what native libraries may leak."""


class ArticleTimeout(ArticleError):
    """The article took longer than the limit in one step."""


class WorkerDied(ArticleError):
    """The worker process crashed or exceeded its memory limit on this article."""


def _no_progress(stage: str, done: int, total: int) -> None:
    """Ignore progress."""


def _limit_worker(memory_mb: int) -> None:
    # One thread per worker: parallelism comes from the processes.
    import cv2

    cv2.setNumThreads(1)
    if memory_mb:
        try:
            import resource
        except ImportError:  # not on Windows: there the time limit alone holds
            return
        limit = memory_mb * 2**20
        # macOS refuses it, and nobody may raise a hard limit that is already lower: then the time limit alone holds.
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _output(stage: str, article_id: int, step: Callable[..., StepOutput], arguments: tuple[Any, ...]) -> StepOutput:
    """Return what a step makes of an article; whatever goes wrong with this article is a rejection.

    Here and not in the main process, because many a library's exception cannot travel between processes, and because
    rows that break the table's schema (a number out of range, text that is no Unicode) would fail the whole batch.

    Raises:
        SystemicError: as raised by the step.
        MemoryError: as raised by the step.
    """
    try:
        output = step(*arguments)
        if output.rows and stage in schemas.SCHEMAS:
            schemas.checked(schemas.SCHEMAS[stage], output.rows)
    except (SystemicError, MemoryError):
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        return StepOutput(rejections=[rejection_from(error, stage=stage, article_id=article_id)])
    return output


def _process_context() -> Any:
    methods = multiprocessing.get_all_start_methods()
    if "forkserver" in methods:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["pmo_assets.pipeline.article_steps"])
        return context
    return multiprocessing.get_context("spawn")


@dataclass
class WorkerPool:
    """Runs a step for many articles in worker processes.

    Attributes:
        workers: processes; 0 runs in this process, without limits.
        timeout: seconds per article and step.
        memory_mb: address space of a worker in MiB; 0 for no limit.
        progress: told after each article.
        lasting: keep the processes for the next step; else they end after each one and give back what they hold.
    """

    workers: int
    timeout: float
    memory_mb: int
    progress: Progress = _no_progress
    lasting: bool = True
    _pool: ProcessPool | None = field(default=None, repr=False)

    def map_articles(
        self, stage: str, step: Callable[..., StepOutput], articles: Sequence[tuple[int, tuple[Any, ...]]]
    ) -> list[StepOutput]:
        """Run `step(*arguments)` for every (article_id, arguments) and return the outputs in that order.

        An article whose step fails, times out or kills its worker yields an output with a rejection.

        Raises:
            SystemicError: as raised by a step; the remaining articles are dropped.
        """
        self.progress(stage, 0, len(articles))
        outputs: list[StepOutput] = []
        for (article_id, _), outcome in zip(articles, self._outcomes(stage, step, articles), strict=True):
            if isinstance(outcome, SystemicError):
                self.close(stop=True)
                raise outcome
            if isinstance(outcome, BaseException):
                outcome = StepOutput(rejections=[rejection_from(outcome, stage=stage, article_id=article_id)])
            outputs.append(outcome)
            self.progress(stage, len(outputs), len(articles))
        if not self.lasting:
            self.close()
        return outputs

    def _outcomes(
        self, stage: str, step: Callable[..., StepOutput], articles: Sequence[tuple[int, tuple[Any, ...]]]
    ) -> Iterator[StepOutput | BaseException]:
        if self.workers == 0:
            for article_id, arguments in articles:
                try:
                    yield _output(stage, article_id, step, arguments)
                except Exception as error:
                    yield error
            return
        pool = self._started()
        futures = [
            pool.schedule(_output, args=(stage, article_id, step, arguments), timeout=self.timeout)
            for article_id, arguments in articles
        ]
        for future in futures:
            try:
                yield future.result()
            except FutureTimeoutError:
                yield ArticleTimeout(f"took longer than {self.timeout:g} s (PMO_ARTICLE_TIMEOUT)")
            except ProcessExpired as error:
                yield WorkerDied(
                    f"the worker process died with exit code {error.exitcode}: a crash in a native library, or "
                    f"{self._limit()}"
                )
            except MemoryError:
                yield WorkerDied(f"needed {self._limit()}")
            except Exception as error:
                yield error

    def _limit(self) -> str:
        if self.memory_mb:
            return f"more memory than {self.memory_mb} MiB (PMO_WORKER_MEMORY_MB)"
        return "more memory than the machine has"

    def _started(self) -> ProcessPool:
        if self._pool is None or not self._pool.active:
            # Read when the workers import NumPy: its threads would compete with the other workers.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
            os.environ.setdefault("OMP_NUM_THREADS", "1")
            self._pool = ProcessPool(
                max_workers=self.workers,
                max_tasks=TASKS_PER_WORKER,
                initializer=_limit_worker,
                initargs=[self.memory_mb],
                context=_process_context(),
            )
        return self._pool

    def close(self, *, stop: bool = False) -> None:
        """Let the workers finish and end; `stop` ends them at once."""
        if self._pool is not None:
            if stop:
                self._pool.stop()
            else:
                self._pool.close()
            self._pool.join()
            self._pool = None


@contextmanager
def worker_pool(
    workers: int, timeout: float, memory_mb: int, progress: Progress = _no_progress
) -> Iterator[WorkerPool]:
    """Give a pool that is ended when the block ends, at once after an error."""
    pool = WorkerPool(workers, timeout, memory_mb, progress)
    try:
        yield pool
    except BaseException:
        pool.close(stop=True)
        raise
    pool.close()


@contextmanager
def device_pool(pool: WorkerPool, workers: int) -> Iterator[WorkerPool]:
    """Give a pool like `pool` for work on a GPU: at most so many processes, alive during a step only.

    Their address space has no limit: CUDA reserves more of it than the machine has memory. What they hold on the GPU is
    free again for other runs when the step ends.
    """
    own = WorkerPool(min(pool.workers, workers), pool.timeout, 0, pool.progress, lasting=False)
    try:
        yield own
    except BaseException:
        own.close(stop=True)
        raise
    own.close()


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
