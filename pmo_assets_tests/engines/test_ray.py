"""Batches on Ray, as whole runs and step by step, are the same bytes; the death of a worker changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psutil
import pytest

from pmo_assets_tests.engines.conftest import report
from pmo_assets_tests.engines.programs import (
    Site,
    digests,
    kill_all,
    processes_with,
    ray_cluster,
    step_begins,
    wait_until,
    wait_until_processed,
)

pytest.importorskip("ray", reason="Ray is not installed: make test-engines")
pytestmark = pytest.mark.engines

SHAPES = {"runs": {"launcher": "ray.yaml"}, "steps": {"PMO_EXECUTOR": "ray"}}
"""How Ray gets its work: a job for each run, or for each step."""


@pytest.fixture(scope="module")
def ray_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ray_cluster(tmp_path_factory.mktemp("ray")) as address:
        yield address


@pytest.mark.parametrize("shape", SHAPES)
def test_batches_on_ray_are_those_of_one_process(
    shape: str, make_site: Callable[..., Site], ray_address: str, one_process: dict[str, str]
) -> None:
    site = make_site(PMO_RAY_ADDRESS=ray_address, **SHAPES[shape])
    with site.daemon() as daemon:
        site.switch_sensor_on()
        wait_until_processed(site, daemon)
    report(f"Ray, {shape}", site)
    assert digests(site.data_root) == one_process


@pytest.mark.parametrize(("shape", "process"), [("runs", "execute_run"), ("steps", "execute_step")])
def test_a_batch_is_completed_whose_ray_job_is_killed(
    shape: str, process: str, make_site: Callable[..., Site], ray_address: str, one_process: dict[str, str]
) -> None:
    site = make_site(PMO_RAY_ADDRESS=ray_address, **SHAPES[shape])
    with site.daemon() as daemon:
        site.switch_sensor_on()
        wait_until(lambda: step_begins(site, "pdf_figures") is not None, "figures are located", 300)
        run = step_begins(site, "pdf_figures") or ""
        victims: list[psutil.Process] = []

        def found() -> bool:
            # The step may have ended before its process was seen; so will one of those that follow do.
            victims[:] = processes_with("dagster", process, run)
            return bool(victims)

        wait_until(found, "a process of the run is there to be killed", 120)
        kill_all(victims)
        wait_until_processed(site, daemon)
    report(f"Ray, {shape}, one killed", site)
    assert digests(site.data_root) == one_process
