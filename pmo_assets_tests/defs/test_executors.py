"""`PMO_EXECUTOR` says what runs the steps; what it needs and lacks is refused when the code location loads."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from pydantic import ValidationError

from pmo_assets.definitions import build_defs
from pmo_assets.defs.executors import STEP_VARIABLE, celery_config, retry_policy_of
from pmo_assets.defs.jobs import JOBS, RENEW
from pmo_assets.records.stores import SystemicError
from pmo_assets.settings import Settings

RAY: dict[str, Any] = {"executor": "ray", "ray_address": "http://127.0.0.1:8265"}
CELERY: dict[str, Any] = {"executor": "celery", "celery_broker": "redis://:hidden@127.0.0.1:6379/0"}


def settings(**options: Any) -> Settings:
    return Settings(**options)


def executors(**options: Any) -> set[str]:
    defs = build_defs(settings(**options))
    return {defs.resolve_job_def(job.name).executor_def.name for job in JOBS if job != RENEW}


def test_jobs_run_in_one_process_unless_set_otherwise():
    assert executors() == {"in_process"}


def test_the_setting_names_the_executor_of_every_job_of_assets():
    assert executors(executor="multiprocess") == {"multiprocess"}


@pytest.mark.parametrize(
    ("options", "module"),
    [(RAY, "dagster_ray"), (CELERY, "dagster_celery"), ({"executor": "k8s"}, "dagster_k8s")],
)
def test_a_missing_extra_is_refused_with_what_to_install(
    options: dict[str, Any], module: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SystemicError, match=rf"pip install 'pmo-assets\[{options['executor']}\]'"):
        build_defs(settings(**options))


@pytest.mark.parametrize(("executor", "variable"), [("ray", "ray_address"), ("celery", "celery_broker")])
@pytest.mark.parametrize("value", [None, " "])
def test_an_engine_without_address_is_refused(executor: Any, variable: str, value: str | None):
    with pytest.raises(ValidationError, match=f"PMO_EXECUTOR={executor} needs it") as caught:
        settings(executor=executor, **{variable: value})
    assert [error["loc"] for error in caught.value.errors()] == [(variable,)]


def test_an_address_with_a_password_is_refused_where_addresses_are_shown():
    with pytest.raises(ValidationError, match="user name or a password"):
        settings(executor="ray", ray_address="http://me:hidden@head:8265")


def test_results_of_celery_are_where_its_tasks_are_unless_set_otherwise():
    assert celery_config(settings(**CELERY))["backend"] == CELERY["celery_broker"]
    assert celery_config(settings(**CELERY, celery_backend="redis://other/1"))["backend"] == "redis://other/1"


def test_a_task_of_celery_outlives_its_worker():
    options = celery_config(settings(**CELERY, celery_redelivery=99))["config_source"]
    assert options["task_acks_late"]
    assert options["broker_transport_options"]["visibility_timeout"] == 99


def test_a_broker_is_never_shown():
    assert "hidden" not in repr(settings(**CELERY))


def test_only_who_watches_over_steps_begins_them_again(monkeypatch: pytest.MonkeyPatch):
    watching = settings(**RAY)
    assert retry_policy_of(watching) is not None
    monkeypatch.setenv(STEP_VARIABLE, "pdf_figures")
    assert retry_policy_of(watching) is None


def test_steps_in_the_run_s_own_process_are_not_begun_again():
    assert retry_policy_of(settings()) is None
