"""Steps of the group `context`: what the running text says of an article's panels.

A step takes rows of tables and gives a `StepOutput`. A worker process runs it for one article; `pmo article` and a
notebook call it, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pmo_assets.pipeline.context.panel_mentions import NamedFigure, panel_mentions
from pmo_assets.records.context import RunningParagraph
from pmo_assets.records.rejections import ArticleError, rejection_from
from pmo_assets.records.step_output import Row, StepOutput, figure_key, for_each_figure, rows_by_figure
from pmo_assets.tables.rows import record_of, row_of


class MentionsCut(ArticleError):
    """A figure has more mentions than are kept."""


def mention_article_panels(
    article: Mapping[str, Any],
    figures: Sequence[Mapping[str, Any]],
    reviewed_panels: Sequence[Mapping[str, Any]],
    subcaptions: Sequence[Mapping[str, Any]],
) -> StepOutput:
    """Find the sentences that speak of an article's figures and panels: rows of `panel_mentions`.

    Args:
        article: row of `articles`.
        figures: its rows of `figures`.
        reviewed_panels: its rows of that table, whose identifiers the mentions take over …
        subcaptions: … and its rows of that table, for panels that nothing was found of.
    """
    panels, captions = rows_by_figure(reviewed_panels), rows_by_figure(subcaptions)
    named = [
        NamedFigure(
            cluster := figure["image_cluster_id"],
            figure["label"],
            tuple(row["identifier"] for row in (*panels.get(cluster, ()), *captions.get(cluster, ()))),
        )
        for figure in figures
    ]
    found = panel_mentions([record_of(RunningParagraph, row) for row in article["paragraphs"]], named)
    output = StepOutput()

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        own = found[figure["image_cluster_id"]]
        if own.left_out:
            reason = MentionsCut(
                f"{own.left_out} mentions are left out: more sentences name the figure, or they hold more text, than "
                "is kept; the others stand in the table"
            )
            key = figure_key(figure)
            cut = rejection_from(
                reason, stage="panel_mentions", unit_id=key["article_id"], part=key["image_cluster_id"]
            )
            output.rejections.append(cut)
        return [{**figure_key(figure), "ordinal": n, **row_of(mention)} for n, mention in enumerate(own.mentions)]

    made = for_each_figure(figures, "panel_mentions", rows)
    return StepOutput(made.rows, [*output.rejections, *made.rejections])
