"""Articles in threads: order kept, one bad article is a rejection, and a step that ends ends soon."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from functools import partial

import pytest

from pmo_assets.records.faults import SameFault
from pmo_assets.records.packages import SourceError
from pmo_assets.records.step_output import StepOutput
from pmo_assets.workers.threads import map_in_threads

SOON = 5.0
"""Seconds; what is waited for in these tests would take 60."""


def silent(stage: str, done: int, total: int) -> None:
    """Ignore progress."""


def tasks(count: int, *arguments: object) -> list[tuple[int, tuple[object, ...]]]:
    return [(number, (number, *arguments)) for number in range(1, count + 1)]


def interrupt_soon() -> None:
    threading.Timer(0.3, partial(os.kill, os.getpid(), signal.SIGINT)).start()


@pytest.fixture
def took() -> Callable[[], float]:
    started = time.monotonic()
    return lambda: time.monotonic() - started


def test_outputs_come_in_the_order_of_the_articles() -> None:
    def step(number: int) -> StepOutput:
        time.sleep(0.05 if number % 2 else 0.0)
        return StepOutput(rows=[{"number": number}])

    outputs = map_in_threads("s", step, tasks(20), 4, silent)
    assert [output.rows[0]["number"] for output in outputs] == list(range(1, 21))


def test_so_many_articles_are_under_way_at_once_as_there_are_threads() -> None:
    together = threading.Barrier(3)

    def step(number: int) -> StepOutput:
        together.wait(timeout=10)
        return StepOutput()

    assert len(map_in_threads("s", step, tasks(6), 3, silent)) == 6


def test_progress_is_told_after_each_article_by_the_thread_that_called() -> None:
    told: list[tuple[str, int, int]] = []
    callers = set()

    def progress(stage: str, done: int, total: int) -> None:
        told.append((stage, done, total))
        callers.add(threading.get_ident())

    map_in_threads("s", lambda number: StepOutput(), tasks(3), 2, progress)
    assert told == [("s", 0, 3), ("s", 1, 3), ("s", 2, 3), ("s", 3, 3)]
    assert callers == {threading.get_ident()}


def test_an_unexpected_error_rejects_its_article_only() -> None:
    def step(number: int) -> StepOutput:
        if number == 2:
            raise KeyError("media")
        return StepOutput(rows=[{}])

    outputs = map_in_threads("s", step, tasks(8), 2, silent)
    assert [len(output.rows) for output in outputs] == [1, 0, 1, 1, 1, 1, 1, 1]
    (rejection,) = outputs[1].rejections
    assert (rejection.stage, rejection.unit_id, rejection.error_class) == ("s", 2, "KeyError")


def test_the_same_unexpected_error_of_many_articles_ends_the_step() -> None:
    def step(number: int) -> StepOutput:
        raise KeyError("media")

    with pytest.raises(SameFault, match="media"):
        map_in_threads("s", step, tasks(8), 2, silent)


def test_a_systemic_error_stops_the_others_and_begins_no_further_one(took: Callable[[], float]) -> None:
    stopped, begun = threading.Event(), []

    def step(number: int) -> StepOutput:
        begun.append(number)
        if number == 2:
            raise SourceError("the network is gone")
        stopped.wait(60)  # as a download that goes on
        raise SourceError("stopped")

    with pytest.raises(SourceError, match="gone"):
        map_in_threads("s", step, tasks(200), 4, silent, stop=[stopped.set])
    assert took() < SOON
    assert len(begun) <= 5, "those under way, and at most the one that took the failed one's thread"


def test_an_interruption_stops_those_under_way(took: Callable[[], float]) -> None:
    stopped, begun = threading.Event(), []

    def step(number: int) -> StepOutput:
        begun.append(number)
        stopped.wait(60)
        return StepOutput()

    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        map_in_threads("s", step, tasks(200), 4, silent, stop=[stopped.set])
    assert took() < SOON
    assert len(begun) == 4
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("s_")], "no thread is left behind"
