"""What Kubernetes is given for a run and for a step: valid manifests, with the resources that the settings ask for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from pmo_assets.definitions import build_defs
from pmo_assets.defs.instance import workspace
from pmo_assets.defs.needs import engine_tags, needs_of_run
from pmo_assets.settings import Settings

pytest.importorskip("dagster_k8s", reason="dagster-k8s is not installed: make test-engines")
pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed: make test-engines")
pytestmark = pytest.mark.engines

VALUES = Path(__file__).parents[2] / "docker" / "k8s" / "values.yaml"


def values() -> dict[str, Any]:
    """What is given to Dagster's Helm chart."""
    read: dict[str, Any] = yaml.safe_load(VALUES.read_text("utf-8"))
    return read


def step_tags(step: str, settings: Settings) -> dict[str, Any]:
    """Return the pod configuration that a step of the job carries."""
    job = build_defs(settings).resolve_job_def("process_batch")
    config: dict[str, Any] = json.loads(job.graph.node_named(step).definition.tags["dagster-k8s/config"])
    return config


def manifest(*configs: dict[str, Any]) -> dict[str, Any]:
    """Return the Job that dagster-k8s makes of the chart's values, and of a tag on top of them."""
    from dagster_k8s import DagsterK8sJobConfig
    from dagster_k8s.container_context import K8sContainerContext
    from dagster_k8s.job import UserDefinedDagsterK8sConfig, construct_dagster_k8s_job
    from dagster_k8s.models import k8s_snake_case_dict
    from kubernetes import client

    launcher = values()["runLauncher"]["config"]["k8sRunLauncher"]
    image = values()["dagster-user-deployments"]["deployments"][0]["image"]
    run = launcher["runK8sConfig"]
    context = K8sContainerContext(
        run_k8s_config=UserDefinedDagsterK8sConfig(
            container_config=k8s_snake_case_dict(client.V1Container, run["containerConfig"]),
            pod_spec_config=k8s_snake_case_dict(client.V1PodSpec, run["podSpecConfig"]),
            job_spec_config=k8s_snake_case_dict(client.V1JobSpec, run["jobSpecConfig"]),
        ),
    )
    for config in configs:
        context = context.merge(K8sContainerContext(run_k8s_config=UserDefinedDagsterK8sConfig.from_dict(config)))
    job = construct_dagster_k8s_job(
        DagsterK8sJobConfig(
            job_image=f"{image['repository']}:{image['tag']}",
            dagster_home="/opt/dagster/dagster_home",
            env_secrets=[item["name"] for item in launcher["envSecrets"]],
        ),
        args=["dagster", "api", "execute_step"],
        job_name="dagster-step-0",
        user_defined_k8s_config=context.run_k8s_config,
    )
    made: dict[str, Any] = client.ApiClient().sanitize_for_serialization(job)
    return made


def container(job: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = job["spec"]["template"]["spec"]["containers"][0]
    return found


def assert_valid(job: dict[str, Any]) -> None:
    import kubernetes_validate

    kubernetes_validate.validate(job, "1.30", strict=True)


def test_a_run_is_a_valid_job_with_what_a_batch_needs():
    job = manifest()
    assert_valid(job)
    options: dict[str, Any] = {
        name.removeprefix("PMO_").lower(): value for name, value in environment_of_values().items()
    }
    wanted = engine_tags(needs_of_run(Settings(**options)))["dagster-k8s/config"]
    assert container(job)["resources"] == wanted["container_config"]["resources"]


def environment_of_values() -> dict[str, str]:
    """Return the variables that the chart gives the code location, and with it every run."""
    return {item["name"]: item["value"] for item in values()["dagster-user-deployments"]["deployments"][0]["env"]}


@pytest.mark.parametrize("step", ["article_batch", "pdf_figures", "panel_detections", "subcaptions"])
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_step_is_a_valid_job(step: str, device: Any):
    assert_valid(manifest(step_tags(step, Settings(workers=8, detector_device=device))))


def test_a_step_of_detection_is_limited_to_one_gpu_where_detection_uses_one():
    with_gpu = container(manifest(step_tags("panel_detections", Settings(detector_device="cuda"))))["resources"]
    without = container(manifest(step_tags("panel_detections", Settings())))["resources"]
    assert with_gpu["limits"]["nvidia.com/gpu"] == "1"
    assert "nvidia.com/gpu" not in without["limits"]


def test_what_a_step_needs_goes_before_what_a_run_has():
    resources = container(manifest(step_tags("pdf_figures", Settings(workers=13))))["resources"]
    assert resources["requests"]["cpu"] == "13"


def test_settings_that_the_values_name_are_settings():
    assert set(environment_of_values()) <= {f"PMO_{name.upper()}" for name in Settings.model_fields}


def test_keys_are_in_secrets_only():
    text = VALUES.read_text("utf-8")
    assert not any(name in text for name in ("PMO_LLM_API_KEY:", "AWS_SECRET_ACCESS_KEY:"))
    assert values()["runLauncher"]["config"]["k8sRunLauncher"]["envSecrets"]


def test_the_code_location_has_the_name_that_it_has_everywhere() -> None:
    (deployment,) = values()["dagster-user-deployments"]["deployments"]
    (server,) = values()["dagsterWebserver"]["workspace"]["servers"]
    assert (server["host"], server["port"]) == (deployment["name"], deployment["port"])
    (loaded,) = yaml.safe_load(workspace().read_text("utf-8"))["load_from"]
    assert server["name"] == loaded["python_module"]["location_name"]
