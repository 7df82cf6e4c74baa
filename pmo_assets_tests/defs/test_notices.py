"""A run that failed reaches a person, once, and the sentence is that of the error."""

from __future__ import annotations

from typing import Any

import dagster as dg
import pytest
from pydantic import SecretStr

from pmo_assets.defs.notices import failed_runs
from pmo_assets.records.stores import SystemicError
from pmo_assets.serving.notices import NoticeNotSent
from pmo_assets.settings import Settings
from pmo_assets_tests.serving.test_notices import mail_server, webhook


@dg.op
def pmc_candidates() -> None:
    raise SystemicError("PMC cannot be searched: are you offline?")


@dg.job(name="refresh")
def refresh() -> None:
    pmc_candidates()


def tick(settings: Settings, **tags: str) -> Any:
    """Let a refresh fail and the sensor hear of it."""
    with dg.DagsterInstance.ephemeral() as instance:
        result = refresh.execute_in_process(instance=instance, raise_on_error=False, tags=tags)
        context = dg.build_run_status_sensor_context(
            sensor_name="failed_runs",
            dagster_event=result.get_run_failure_event(),
            dagster_instance=instance,
            dagster_run=result.dagster_run,
            resources={"settings": settings},
        ).for_run_failure()
        return failed_runs(context)


def told(url: str, server: str) -> Settings:
    return Settings(notify_url=SecretStr(url), notify_email="me@example.org", smtp_url=SecretStr(server))


def test_webhook_and_mailbox_get_the_sentence() -> None:
    with webhook() as (url, posted), mail_server() as (server, mailed):
        assert tick(told(url, server)) is None
    assert posted[0]["title"] == "pmo-assets: refresh failed"
    assert posted[0]["text"].startswith("pmc_candidates: PMC cannot be searched: are you offline?\nData root ")
    assert len(posted) == len(mailed) == 1
    assert "are you offline?" in mailed[0]


def test_where_one_way_fails_the_other_is_gone_and_the_tick_is_an_error() -> None:
    with webhook(500) as (url, _), mail_server() as (server, mailed), pytest.raises(NoticeNotSent, match="HTTP 500"):
        tick(told(url, server))
    assert len(mailed) == 1


def test_without_a_setting_nobody_is_told() -> None:
    assert "not set" in str(tick(Settings()).skip_message)


def test_what_dagster_starts_again_is_not_told_yet() -> None:
    with webhook() as (url, posted):
        assert "started again" in str(
            tick(Settings(notify_url=SecretStr(url)), **{"dagster/will_retry": "true"}).skip_message
        )
    assert posted == []
