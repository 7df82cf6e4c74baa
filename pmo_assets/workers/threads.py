"""Articles in threads of this process, for steps that wait for a network: no limits of memory, the source's time-outs.

As in the worker pool, an article that fails unexpectedly is rejected, a systemic error ends the step, and nothing of a
step that ended is kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import Any, Protocol, runtime_checkable

from pmo_assets.logs import log_fields, thread_fields
from pmo_assets.records.faults import raise_fault, same_fault
from pmo_assets.records.rejections import rejection_from
from pmo_assets.records.step_output import StepOutput
from pmo_assets.workers.effort import Effort
from pmo_assets.workers.pool import Progress
from pmo_assets.workers.process import Step

_POLL_SECONDS = 0.2
"""Seconds for which an interruption may go unnoticed."""


@runtime_checkable
class Stoppable(Protocol):
    """An argument of steps that threads may wait for, and that can be told that nobody wants its answers any more."""

    def stop(self) -> None:
        """Let calls in other threads end soon, with whatever error."""
        ...


def _output(stage: str, number: int, step: Step, arguments: tuple[Any, ...], effort: Effort) -> StepOutput:
    # rows are not checked here, article by article, as workers do: that takes longer than a request
    start = time.perf_counter()
    with log_fields(**{effort.unit: number}):
        try:
            return step(*arguments)
        except Exception as error:
            raise_fault(error)
            return StepOutput(rejections=[rejection_from(error, stage=stage, unit_id=number)])
        finally:
            effort.note(number, time.perf_counter() - start)


def map_in_threads(
    stage: str,
    step: Step,
    units: Sequence[tuple[int, tuple[Any, ...]]],
    threads: int,
    progress: Progress,
    *,
    stop: Iterable[Callable[[], None]] = (),
    fail_share: float = 0.5,
    effort: Effort | None = None,
) -> list[StepOutput]:
    """Run `step(*arguments)` for every (number of the unit, arguments) and return the outputs in that order.

    After an error or an interruption no further article is begun, and `stop` is called, so that those under way end
    soon; they are waited for.

    Args:
        stage: name of the asset.
        step: the step.
        units: (number, arguments) each.
        threads: number of articles that are under way at once.
        progress: told after each article.
        stop: see above.
        fail_share: when so large a part of the articles fails in the same unexpected way, the step fails.
        effort: takes down the cost of the units, and names their kind.

    Raises:
        SystemicError: as raised by a step; when many articles fail in the same unexpected way.
        BaseException: a step's error that leaves this process unfit (memory exhausted).
    """
    progress(stage, 0, len(units))
    outputs: dict[int, StepOutput] = {}
    effort = effort or Effort()
    with log_fields(stage=stage):
        pool = ThreadPoolExecutor(max(threads, 1), thread_name_prefix=stage, **thread_fields())
    try:
        numbers = {
            pool.submit(_output, stage, number, step, arguments, effort): place
            for place, (number, arguments) in enumerate(units)
        }
        waiting = set(numbers)
        while waiting:
            # The system may hand a signal to any thread; this one, which answers it, looks up now and then.
            finished, waiting = wait(waiting, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED)
            for future in finished:
                outputs[numbers[future]] = future.result()
                progress(stage, len(outputs), len(units))
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for end in stop:
            end()
        raise
    finally:
        pool.shutdown()
    fault = same_fault(
        (item for output in outputs.values() for item in output.rejections), len(units), fail_share, effort.unit
    )
    if fault is not None:
        raise fault
    return [outputs[number] for number in range(len(units))]
