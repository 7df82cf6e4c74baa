"""Group `pages_counted`: what only its job makes, and what follows from it."""

import dagster as dg

from pmo_assets.defs.job_assets import GroupJob, made_by
from pmo_assets.records.figure_names import page_number

COUNT = GroupJob("count_pages", "pages_counted", "Count pages, then say how many.")


@made_by(COUNT, makers=[page_number], kinds={"python"})
def page_count(context: dg.OpExecutionContext) -> dg.MaterializeResult:
    """A number."""
    return dg.MaterializeResult(metadata={"number": page_number(4)})


@made_by(COUNT, deps=["page_count"], batches=["articles"], pool="gpu")
def page_report(context: dg.OpExecutionContext) -> dg.MaterializeResult:
    """What it comes to."""
    return dg.MaterializeResult(metadata={"pages": 5})
