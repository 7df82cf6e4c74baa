"""What a step costs is taken down, and what its workers log comes home with batch, stage and article."""

from __future__ import annotations

import json
import logging
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pmo_assets import logs
from pmo_assets.records.step_output import StepOutput
from pmo_assets.workers.effort import Effort, per_minute
from pmo_assets.workers.pool import WorkerPool
from pmo_assets.workers.threads import map_in_threads

_LOG = logging.getLogger("pmo_assets.some_step")


@pytest.fixture(autouse=True)
def _json_lines() -> Iterator[None]:
    """Log as JSON lines, and leave the package's logger as it was."""
    logger = logging.getLogger(logs.PACKAGE)
    handlers, level = list(logger.handlers), logger.level
    logs.set_level("INFO")
    logs.log_to_stderr("json", "INFO")
    yield
    logger.handlers[:] = handlers
    logger.setLevel(level)


def talking_step(number: int, seconds: float) -> StepOutput:
    time.sleep(seconds)
    _LOG.info("worked on it")
    return StepOutput(rows=[{"number": number}])


def crashing_once(number: int, seen: str) -> StepOutput:
    if number == 2 and not Path(seen).exists():
        Path(seen).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return StepOutput()


def said(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


ARTICLES = [(number, (number, 1.5 if number == 3 else 0.0)) for number in (1, 2, 3)]


@pytest.mark.parametrize(
    "workers", [0, pytest.param(1, marks=pytest.mark.slow)], ids=["in this process", "in a worker"]
)
def test_lines_of_a_step_say_which_article_stage_and_batch(workers: int, capsys: pytest.CaptureFixture[str]) -> None:
    effort = Effort()
    with WorkerPool(workers, timeout=20, memory_mb=512) as pool, logs.log_fields(batch="0001-aa"):
        pool.map_units("figures", talking_step, ARTICLES, effort=effort)
    lines = said(capsys.readouterr().err)
    assert [(line["batch"], line["stage"], line["article"]) for line in lines] == [
        ("0001-aa", "figures", number) for number in (1, 2, 3)
    ]
    assert set(effort.seconds) == {1, 2, 3}
    assert effort.slowest(1)[0][0] == 3
    assert (effort.peak_mb > 20) == (workers == 1)


@pytest.mark.slow
def test_threads_do_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    effort = Effort()
    with logs.log_fields(batch="0001-aa"):
        map_in_threads("packages", talking_step, ARTICLES, 2, lambda *_: None, effort=effort)
    lines = said(capsys.readouterr().err)
    assert {(line["batch"], line["stage"], line["article"]) for line in lines} == {
        ("0001-aa", "packages", number) for number in (1, 2, 3)
    }
    assert effort.slowest(5)[0][0] == 3


@pytest.mark.slow  # processes
def test_a_second_attempt_is_a_line_with_its_article(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    effort = Effort()
    with WorkerPool(1, timeout=20, memory_mb=512) as pool:
        pool.map_units("figures", crashing_once, [(n, (n, str(tmp_path / "seen"))) for n in (1, 2)], effort=effort)
    (line,) = said(capsys.readouterr().err)
    assert (line["level"], line["stage"], line["article"], line["error"]) == ("WARNING", "figures", 2, "WorkerDied")
    assert "tried again alone" in str(line["message"])
    assert effort.again == 1


def test_an_article_near_its_time_limit_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    effort = Effort()
    effort.note(7, 50, limit=180)
    effort.note(8, 100, limit=180)
    (line,) = said(capsys.readouterr().err)
    assert (line["article"], line["message"]) == (
        8,
        "article 8 took 100 of the 180 s that it may take (PMO_ARTICLE_TIMEOUT)",
    )


def test_rates() -> None:
    assert per_minute(20, 40.0) == 30.0
    assert per_minute(20, 0.0) == 0.0
