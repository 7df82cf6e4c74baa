"""Batches on Celery, as whole runs and step by step, are the same bytes; the death of a worker changes nothing."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence

import pytest

from pmo_assets_tests.engines.conftest import report
from pmo_assets_tests.engines.programs import (
    Site,
    answers,
    digests,
    free_port,
    kill_all,
    processes_with,
    step_begins,
    stop,
    wait_until,
    wait_until_processed,
)

pytest.importorskip("celery", reason="Celery is not installed: make test-engines")
REDIS = shutil.which("redis-server")
pytestmark = [
    pytest.mark.engines,
    pytest.mark.skipif(REDIS is None, reason="there is no redis-server: apt-get install redis-server"),
]

SHAPES = {"runs": {"launcher": "celery.yaml"}, "steps": {"PMO_EXECUTOR": "celery"}}
"""How Celery gets its work: a task for each run, or for each step."""

WORKERS = ("one", "two")


@pytest.fixture
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Redis server that keeps nothing on disk."""
    port = free_port()
    command = [str(REDIS), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    folder = tmp_path_factory.mktemp("redis")
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    wait_until(lambda: answers(port), "Redis answers", 30)
    yield f"redis://127.0.0.1:{port}/0"
    server.kill()
    server.wait()


@contextlib.contextmanager
def workers(site: Site, names: Sequence[str] = WORKERS) -> Iterator[None]:
    """Run Celery workers as docs/deployment.md says, each a process of its own."""
    begun = [
        site.begin(
            sys.executable, "-m", "celery", "--app", "pmo_assets.defs.celery_app", "worker", "--pool", "solo",
            "--queues", "dagster,gpu,llm", "--hostname", f"{name}@%h", "--loglevel", "INFO", log=name,
        )
        for name in names
    ]  # fmt: skip
    try:
        yield
    finally:
        for process in begun:
            stop(process)


@pytest.mark.parametrize("shape", SHAPES)
def test_batches_on_celery_are_those_of_one_process(
    shape: str, make_site: Callable[..., Site], broker: str, one_process: dict[str, str]
) -> None:
    site = make_site(PMO_CELERY_BROKER=broker, **SHAPES[shape])
    with workers(site), site.daemon() as daemon:
        site.switch_sensor_on()
        wait_until_processed(site, daemon, WORKERS)
    report(f"Celery, {shape}", site)
    assert digests(site.data_root) == one_process


@pytest.mark.parametrize("shape", SHAPES)
def test_a_batch_is_completed_whose_celery_worker_is_killed(
    shape: str, make_site: Callable[..., Site], broker: str, one_process: dict[str, str]
) -> None:
    """Only one worker is there when the other one dies, so that the task goes to the other one."""
    site = make_site(PMO_CELERY_BROKER=broker, PMO_CELERY_REDELIVERY="90", **SHAPES[shape])
    with workers(site, ["one"]), site.daemon() as daemon:
        site.switch_sensor_on()
        wait_until(lambda: step_begins(site, "pdf_figures") is not None, "figures are located", 400)
        victims = processes_with("celery_app", "one@")
        assert victims, "nothing to kill"
        kill_all(victims)
        with workers(site, ["two"]):
            wait_until_processed(site, daemon, WORKERS)
    report(f"Celery, {shape}, one killed", site)
    assert digests(site.data_root) == one_process
