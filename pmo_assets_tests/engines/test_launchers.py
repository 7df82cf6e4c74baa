"""What is appended to `dagster.yaml` gives a launcher that the settings configure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from pmo_assets.definitions import build_defs
from pmo_assets.settings import Settings
from pmo_assets_tests.engines.programs import ENGINES

pytestmark = pytest.mark.engines


def instance(folder: Path, launcher: str) -> dg.DagsterInstance:
    (folder / "dagster.yaml").write_text((ENGINES / launcher).read_text("utf-8"), "utf-8")
    return dg.DagsterInstance.from_config(str(folder))


def test_a_run_on_ray_reserves_what_a_batch_needs_and_has_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("ray", reason="Ray is not installed: make test-engines")
    monkeypatch.setenv("PMO_RAY_ADDRESS", "http://127.0.0.1:1")
    monkeypatch.setenv("PMO_WORKERS", "3")
    monkeypatch.setenv("PMO_DETECTOR_DEVICE", "cuda")
    monkeypatch.setenv("PMO_LLM_API_KEY", "hidden")
    with instance(tmp_path, "ray.yaml") as opened:
        launcher: Any = opened.run_launcher
        assert (launcher.address, launcher.num_cpus, launcher.num_gpus) == ("http://127.0.0.1:1", 3, 1)
        assert "PMO_WORKERS=3" in launcher.env_vars
        assert "hidden" not in str(launcher.env_vars)


def test_what_the_instance_says_goes_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("ray", reason="Ray is not installed: make test-engines")
    monkeypatch.setenv("PMO_DETECTOR_DEVICE", "cuda")
    text = (ENGINES / "ray.yaml").read_text("utf-8")
    shared = text.replace("ray: {}", "ray: {address: 'http://127.0.0.1:2', num_gpus: 0.25}")
    assert shared != text
    (tmp_path / "dagster.yaml").write_text(shared, "utf-8")
    with dg.DagsterInstance.from_config(str(tmp_path)) as opened:
        launcher: Any = opened.run_launcher
        assert (launcher.address, launcher.num_gpus) == ("http://127.0.0.1:2", 0.25)


@pytest.mark.parametrize(("state", "status"), [("SUCCESS", "FAILED"), ("STARTED", "RUNNING"), ("FAILURE", "FAILED")])
def test_a_celery_task_that_ended_before_its_run_did_has_lost_its_worker(
    state: str, status: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("celery", reason="Celery is not installed: make test-engines")
    monkeypatch.setenv("PMO_CELERY_BROKER", "cache+memory://")
    with instance(tmp_path, "celery.yaml") as opened:
        job = build_defs(Settings()).resolve_job_def("release")
        run = opened.create_run_for_job(
            job, status=dg.DagsterRunStatus.STARTED, tags={"dagster-celery/task_id": f"task-{state}"}
        )
        launcher: Any = opened.run_launcher
        launcher.celery.backend.store_result(f"task-{state}", None, state)
        assert launcher.check_run_worker_health(run).status.value == status
