"""Worker processes: order kept, limits enforced, one bad article never takes the others along."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator

import polars as pl
import pytest

from pmo_assets.pipeline.article_steps import StepOutput
from pmo_assets.pipeline.rejections import ArticleError
from pmo_assets.pipeline.stores import StorageError
from pmo_assets.processes import process_is_alive
from pmo_assets.resources.workers import TimedProgress, WorkerPool, device_pool, worker_pool

REJECTION_ROW = {"stage": "s", "article_id": 1, "error_class": "E", "message": "m", "traceback_tail": ""}


class Bad(ArticleError):
    """A decision about one article."""


class Unpicklable(Exception):
    """Cannot be rebuilt from its message, like many a library's exception."""

    def __init__(self, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}")


def step(number: int, trouble: str = "") -> StepOutput:
    """Do what an article's bytes might do to a worker."""
    if trouble == "crash":
        os._exit(139)
    if trouble == "hang":
        time.sleep(60)
    if trouble == "eat memory":
        return StepOutput(rows=[{"size": len(bytearray(8 * 2**30))}])
    if trouble == "decide":
        raise Bad("not this one")
    if trouble == "fail":
        raise ZeroDivisionError("oops")
    if trouble == "fail oddly":
        raise Unpicklable(3, 7)
    if trouble == "panic":
        raise pl.exceptions.PanicException("index out of bounds")
    if trouble == "no text":
        return StepOutput(rows=[REJECTION_ROW | {"message": "\ud800"}])
    if trouble == "no schema":
        return StepOutput(rows=[REJECTION_ROW | {"article_id": -1}])
    if trouble == "storage":
        raise StorageError("disk full")
    return StepOutput(rows=[{"number": number}])


@pytest.fixture(scope="module", params=[0, 2], ids=["in this process", "two workers"])
def pool(request: pytest.FixtureRequest) -> Iterator[WorkerPool]:
    with worker_pool(request.param, timeout=4, memory_mb=4096) as started:
        yield started


def tasks(*troubles: str) -> list[tuple[int, tuple[int, str]]]:
    return [(number, (number, trouble)) for number, trouble in enumerate(troubles, start=1)]


def test_outputs_come_in_the_order_of_the_articles(pool: WorkerPool) -> None:
    outputs = pool.map_articles("s", step, tasks(*[""] * 20))
    assert [output.rows[0]["number"] for output in outputs] == list(range(1, 21))


def test_a_failing_article_becomes_a_rejection(pool: WorkerPool) -> None:
    outputs = pool.map_articles("s", step, tasks("", "decide", "fail", ""))
    assert [len(output.rows) for output in outputs] == [1, 0, 0, 1]
    decided, failed = outputs[1].rejections[0], outputs[2].rejections[0]
    assert (decided.article_id, decided.stage, decided.error_class, decided.message) == (2, "s", "Bad", "not this one")
    assert (failed.error_class, failed.message) == ("ZeroDivisionError", "oops")
    assert "oops" in failed.traceback_tail


@pytest.mark.parametrize(
    ("trouble", "error"),
    [("fail oddly", "Unpicklable"), ("panic", "PanicException"), ("no text", "UnicodeEncodeError"),
     ("no schema", "ValidationError")],
)  # fmt: skip
def test_no_failure_of_an_article_takes_the_others_along(pool: WorkerPool, trouble: str, error: str) -> None:
    outputs = pool.map_articles("rejections", rejection_step, tasks(*[trouble, "good"] * 3))
    assert [[item.error_class for item in output.rejections] for output in outputs] == [[error], []] * 3
    assert [len(output.rows) for output in outputs] == [0, 1] * 3


def rejection_step(number: int, trouble: str) -> StepOutput:
    """Return a row that fulfils its schema, or do what `step` does."""
    return StepOutput(rows=[REJECTION_ROW]) if trouble == "good" else step(number, trouble)


def test_what_is_systemic_is_raised(pool: WorkerPool) -> None:
    with pytest.raises(StorageError, match="disk full"):
        pool.map_articles("s", step, tasks("", "storage", ""))
    assert len(pool.map_articles("s", step, tasks(""))) == 1, "the pool works again afterwards"


@pytest.mark.parametrize(
    ("trouble", "error", "words"),
    [("crash", "WorkerDied", "died"), ("hang", "ArticleTimeout", "4 s"), ("eat memory", "WorkerDied", "4096 MiB")],
)
def test_limits_hold_and_the_other_articles_are_processed(trouble: str, error: str, words: str) -> None:
    with worker_pool(2, timeout=4, memory_mb=4096) as limited:
        outputs = limited.map_articles("s", step, tasks("", trouble, "", ""))
    assert [len(output.rows) for output in outputs] == [1, 0, 1, 1]
    assert outputs[1].rejections[0].error_class == error
    assert words in outputs[1].rejections[0].message


def process_step(number: int) -> StepOutput:
    """Tell the process and the limit of its address space."""
    time.sleep(0.2)
    resource = pytest.importorskip("resource")
    return StepOutput(rows=[{"pid": os.getpid(), "limit": resource.getrlimit(resource.RLIMIT_AS)[0]}])


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited as on Linux")
def test_a_pool_for_a_gpu_is_small_without_limit_and_lasts_for_a_step() -> None:
    import resource

    news: list[tuple[str, int, int]] = []
    articles = [(number, (number,)) for number in range(1, 9)]
    with worker_pool(8, timeout=20, memory_mb=4096, progress=lambda *item: news.append(item)) as pool:
        with device_pool(pool, 2) as own:
            rows = [output.rows[0] for output in own.map_articles("s", process_step, articles)]
            assert news[-1] == ("s", 8, 8)
            assert {row["limit"] for row in rows} == {resource.getrlimit(resource.RLIMIT_AS)[0]}
            assert len({row["pid"] for row in rows}) <= 2
            assert not any(process_is_alive(row["pid"]) for row in rows)
            assert len(own.map_articles("s", process_step, articles[:1])) == 1, "it starts again for the next step"
        with device_pool(pool, 20) as own:
            assert own.workers == 8


def test_progress_is_told_after_each_article() -> None:
    told: list[tuple[str, int, int]] = []
    with worker_pool(0, 1, 0, lambda *news: told.append(news)) as local:
        local.map_articles("s", step, tasks("", ""))
    assert told == [("s", 0, 2), ("s", 1, 2), ("s", 2, 2)]


def test_progress_for_logs_is_not_told_too_often() -> None:
    lines: list[str] = []
    progress = TimedProgress(lines.append, interval=1000)
    for done in range(5):
        progress("s", done, 5)
    assert lines == []
    TimedProgress(lines.append, interval=0)("s", 3, 5)
    assert lines == ["s: 3 of 5"]
