"""Schedules: the release is renewed every week, so that it follows new batches and retractions."""

from __future__ import annotations

import dagster as dg

from pmo_assets.defs.jobs import MAKE_RELEASE
from pmo_assets.defs.release_state import release_is_due, release_state
from pmo_assets.storage.data_root import DataRoot


@dg.schedule(
    name="weekly_release",
    job=MAKE_RELEASE,
    cron_schedule="0 4 * * 1",
    default_status=dg.DefaultScheduleStatus.STOPPED,
    description="Makes a release every Monday at 04:00 if anything has changed; switch it on when batches arrive "
    "regularly.",
)
def weekly_release(
    context: dg.ScheduleEvaluationContext, data_root: dg.ResourceParam[DataRoot]
) -> dg.RunRequest | dg.SkipReason:
    """Request a release if rows were made, or articles withdrawn, since the last one."""
    if not release_is_due(context.instance, data_root):
        return dg.SkipReason("nothing has changed since the last release")
    return dg.RunRequest(run_key=f"release-{release_state(context.instance, data_root)}")
