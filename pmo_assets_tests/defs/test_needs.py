"""What a step needs follows from the resources that its asset takes and from the settings, for every engine alike."""

from __future__ import annotations

import json
from typing import Any

import dagster as dg
import pytest

from pmo_assets.definitions import build_defs
from pmo_assets.defs.loading import all_assets
from pmo_assets.defs.needs import ARTICLE_MB, STEP_MB, WORKER_MB, Needs, engine_tags, needs_of, needs_of_run, with_needs
from pmo_assets.settings import Settings

ASSETS = {next(iter(asset.keys)).path[-1]: asset for asset in all_assets() if asset.is_executable}


def needs(asset: str, **options: Any) -> Needs:
    return needs_of(ASSETS[asset], Settings(workers=4, **options))


def test_an_asset_with_worker_processes_needs_a_processor_for_each():
    assert needs("pdf_figures").cpus == 4
    assert needs("pdf_figures").memory_mb == STEP_MB + 4 * (WORKER_MB + ARTICLE_MB)


def test_an_asset_without_worker_processes_needs_one_processor():
    assert needs("article_batch") == Needs(1, STEP_MB, None, 0, "dagster")


def test_without_worker_processes_the_work_is_in_the_step():
    assert needs_of(ASSETS["pdf_figures"], Settings(workers=0)).cpus == 1


def test_memory_is_limited_to_what_the_workers_limits_allow():
    assert needs("pdf_figures", worker_memory_mb=1000).memory_limit_mb == STEP_MB + 4 * (WORKER_MB + 1000)


def test_without_a_limit_for_workers_there_is_none_for_the_step():
    assert needs("pdf_figures", worker_memory_mb=0).memory_limit_mb is None


def test_only_detection_needs_the_accelerator_that_detection_uses():
    asking = {name for name in ASSETS if needs(name, detector_device="cuda").gpus}
    assert {"panel_detections", "image_detections"} <= asking
    assert not asking & {"pdf_figures", "subcaptions", "panels", "pubmed_ophtha"}
    assert not any(needs(name).gpus for name in ASSETS)


def test_a_language_model_in_the_process_needs_as_many_accelerators_as_it_spans():
    options = {"llm_offline": True, "llm_model": "m", "llm_engine_options": {"tensor_parallel_size": 2}}
    assert needs("subcaptions", **options).gpus == 2
    assert needs("pdf_figures", **options).gpus == 0


@pytest.mark.parametrize(
    ("asset", "options", "queue"),
    [
        ("pdf_figures", {"llm_model": "m", "detector_device": "cuda"}, "dagster"),
        ("panel_detections", {}, "dagster"),
        ("panel_detections", {"detector_device": "cuda"}, "gpu"),
        ("subcaptions", {}, "dagster"),
        ("subcaptions", {"llm_model": "m"}, "llm"),
        ("panel_assembly", {"vlm_model": "m"}, "llm"),
        ("subcaptions", {"llm_model": "m", "llm_offline": True}, "gpu"),
    ],
)
def test_steps_wait_only_for_workers_that_they_need(asset: str, options: dict[str, Any], queue: str):
    assert needs(asset, **options).queue == queue


def test_a_run_needs_what_the_most_demanding_step_does():
    settings = Settings(workers=4, detector_device="cuda")
    every = [needs_of(asset, settings) for asset in ASSETS.values()]
    whole = needs_of_run(settings)
    assert whole.cpus == max(item.cpus for item in every)
    assert whole.gpus == max(item.gpus for item in every)
    assert whole.memory_mb == max(item.memory_mb for item in every)


def test_each_engine_reads_the_same_needs_in_its_own_words():
    tags = engine_tags(Needs(cpus=4, memory_mb=2048, memory_limit_mb=8192, gpus=1, queue="gpu"))
    assert tags["dagster-ray/config"] == {"num_cpus": 4, "num_gpus": 1, "memory": 2048 * 1024**2}
    assert tags["dagster-celery/queue"] == "gpu"
    assert tags["dagster-k8s/config"]["container_config"]["resources"] == {
        "requests": {"cpu": "4", "memory": "2048Mi"},
        "limits": {"memory": "8192Mi", "nvidia.com/gpu": "1"},
    }


def test_a_pod_without_gpu_and_limit_has_no_limits():
    pod = engine_tags(Needs(1, 1024, None, 0, "dagster"))["dagster-k8s/config"]
    assert pod == {"container_config": {"resources": {"requests": {"cpu": "1", "memory": "1024Mi"}}}}


def test_the_steps_of_a_job_carry_their_tags():
    job = build_defs(Settings(workers=3)).resolve_job_def("process_batch")
    op = job.graph.node_named("pdf_figures").definition
    assert json.loads(op.tags["dagster-ray/config"])["num_cpus"] == 3


def test_tags_change_nothing_else_of_an_asset():
    for before, after in zip(ASSETS.values(), with_needs(ASSETS.values(), Settings()), strict=True):
        assert list(after.specs) == list(before.specs)
        assert after.keys == before.keys
        assert after.check_keys == before.check_keys
        assert after.partitions_def == before.partitions_def
        assert after.dependency_keys == before.dependency_keys
        assert after.op.pool == before.op.pool
        assert after.op.required_resource_keys == before.op.required_resource_keys
        assert after.op.config_schema.as_field().is_required == before.op.config_schema.as_field().is_required
        assert set(before.op.tags) <= set(after.op.tags)


def test_a_policy_of_the_asset_itself_goes_before():
    policy = dg.RetryPolicy(max_retries=7)

    @dg.asset(retry_policy=policy)
    def own() -> None: ...

    @dg.asset
    def without() -> None: ...

    both = with_needs([own, without], Settings(), dg.RetryPolicy(max_retries=1))
    assert [asset.op.retry_policy.max_retries for asset in both if asset.op.retry_policy] == [7, 1]
