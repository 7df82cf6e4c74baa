"""Schedules: the release is renewed every week, so that it follows new batches and retractions."""

from __future__ import annotations

import dagster as dg

from pmo_assets.defs.jobs import RELEASE
from pmo_assets.defs.release_state import RELEASE_TAG, release_is_due, release_state
from pmo_assets.defs.runner import close_dead_runs, unfinished_runs
from pmo_assets.storage.data_root import DataRoot


def release_of_the_week(instance: dg.DagsterInstance, data_root: DataRoot) -> dg.RunRequest | dg.SkipReason:
    """Return a request if rows were made, or articles withdrawn, since the last release.

    Without a run key: a release that failed is requested again a week later, also if nothing has changed since.
    """
    if not release_is_due(instance, data_root):
        return dg.SkipReason("nothing has changed since the last release")
    if unfinished_runs(instance, RELEASE.name):
        return dg.SkipReason("a release is being made")
    return dg.RunRequest(tags={RELEASE_TAG: release_state(instance, data_root)})


@dg.schedule(
    name="weekly_release",
    job=RELEASE,
    cron_schedule="0 4 * * 1",
    default_status=dg.DefaultScheduleStatus.STOPPED,
    description="Makes a release every Monday at 04:00 if anything has changed; switch it on when batches arrive "
    "regularly.",
)
def weekly_release(
    context: dg.ScheduleEvaluationContext, data_root: dg.ResourceParam[DataRoot]
) -> dg.RunRequest | dg.SkipReason:
    """Request a release if one is due."""
    close_dead_runs(context.instance)
    return release_of_the_week(context.instance, data_root)
