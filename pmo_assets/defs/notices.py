"""The sensor that tells a person of runs that failed: nobody looks at a UI that has always been green."""

from __future__ import annotations

import re

import dagster as dg

from pmo_assets.defs.jobs import PROCESS_BATCH, REFRESH, RELEASE
from pmo_assets.serving.notices import LOCAL_SERVER, Notice, mail, post
from pmo_assets.settings import Settings


def notice_of(run: dg.DagsterRun, reasons: list[str], data_root: str) -> Notice:
    """Return what is said of a failed run.

    Args:
        run: the run.
        reasons: a sentence of each step that failed, or of the run.
        data_root: where its results would be.
    """
    batch = run.tags.get("dagster/partition")
    what = f"{run.job_name} of batch {batch}" if batch else run.job_name
    said = "\n".join(reasons) or "its process ended"
    text = f"{said}\nData root {data_root}. Open the run in the UI (Runs, {run.run_id[:8]}) for all of its log."
    return Notice(f"pmo-assets: {what} failed", text, run.job_name, run.run_id)


def tell(notice: Notice, settings: Settings) -> list[str]:
    """Send a notice wherever the settings say; return these ways, none if nothing is set.

    Raises:
        NoticeNotSent: if one of them fails; the others were tried.
    """
    ways: list[str] = []
    failed: Exception | None = None
    if settings.notify_url is not None:
        ways.append("PMO_NOTIFY_URL")
        try:
            post(notice, settings.notify_url.get_secret_value())
        except Exception as error:  # the other way is tried all the same
            failed = error
    if settings.notify_email is not None:
        ways.append("PMO_NOTIFY_EMAIL")
        server = settings.smtp_url.get_secret_value() if settings.smtp_url is not None else LOCAL_SERVER
        mail(notice, settings.notify_email, server)
    if failed is not None:
        raise failed
    return ways


@dg.run_failure_sensor(
    monitored_jobs=[REFRESH, PROCESS_BATCH, RELEASE],
    default_status=dg.DefaultSensorStatus.RUNNING,
    minimum_interval_seconds=60,
    description="Tells a person of each failed refresh, batch and release, by mail (PMO_NOTIFY_EMAIL) or to a webhook "
    "(PMO_NOTIFY_URL: Slack, Teams, any other). Does nothing while neither is set.",
)
def failed_runs(context: dg.RunFailureSensorContext, settings: dg.ResourceParam[Settings]) -> dg.SkipReason | None:
    """Send a notice of a run that failed for good; one that Dagster is about to start again is not worth one yet."""
    run = context.dagster_run
    if run.tags.get("dagster/will_retry") == "true":
        return dg.SkipReason(f"{run.run_id} is started again")
    reasons = [_sentence(event) for event in context.get_step_failure_events()] or [context.failure_event.message or ""]
    ways = tell(notice_of(run, [reason for reason in reasons if reason], settings.data_root), settings)
    return None if ways else dg.SkipReason("nobody is told: PMO_NOTIFY_URL and PMO_NOTIFY_EMAIL are not set")


def _sentence(event: dg.DagsterEvent) -> str:
    """Return a failed step's error in a line: of the error that was raised, not of Dagster's around it."""
    error = event.step_failure_data.error
    cause = error.cause if error is not None and error.cause is not None else error
    if cause is None:
        return f"{event.step_key}: unknown error"
    said = " ".join(cause.message.split())
    sentence = re.sub(rf"^[\w.]*{cause.cls_name}: ", "", said)
    return f"{event.step_key}: {sentence}"
