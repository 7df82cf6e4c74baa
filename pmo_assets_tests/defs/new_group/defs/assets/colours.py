"""Group `colours`: what colour panels have."""

from pmo_assets.pipeline.colours.steps import measure_colours  # type: ignore[import-not-found, unused-ignore]

from pmo_assets.defs import checks
from pmo_assets.defs.article_table import article_table

panel_colours = article_table(
    "panel_colours",
    group="colours",
    step=measure_colours,
    reads=["panels"],
    checks=[checks.unique_ids("panel_id")],
    summary=lambda made: {"panels": len(made.rows)},
)
