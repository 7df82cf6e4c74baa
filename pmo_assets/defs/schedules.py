"""Schedules: the release is renewed every week, so that it follows new batches and retractions."""

from __future__ import annotations

import dagster as dg

from pmo_assets.defs.jobs import MAKE_RELEASE

WEEKLY_RELEASE = dg.ScheduleDefinition(
    name="weekly_release",
    job=MAKE_RELEASE,
    cron_schedule="0 4 * * 1",
    default_status=dg.DefaultScheduleStatus.STOPPED,
    description="Makes a release every Monday at 04:00; switch it on when batches arrive regularly.",
)
