"""Steps of the group `context`: what the running text says of an article's panels.

A step takes rows of tables and gives a `StepOutput`. A worker process runs it for one article; `pmo article` and a
notebook call it, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pmo_assets.pipeline.assembly.steps import panel_id
from pmo_assets.pipeline.context.modality import modality_evidence, panel_modality
from pmo_assets.pipeline.context.panel_mentions import NamedFigure, panel_mentions
from pmo_assets.pipeline.context.summaries import PanelWords, article_text, figure_words, own_mentions, panel_summary
from pmo_assets.records.context import PanelMention, RunningParagraph
from pmo_assets.records.rejections import ArticleError, rejection_from
from pmo_assets.records.step_output import Row, StepOutput, figure_key, for_each_figure, rows_by_figure
from pmo_assets.tables.context import modality_row, summary_row
from pmo_assets.tables.panels import panel_images
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


def summarise_article_panels(
    article: Mapping[str, Any],
    figures: Sequence[Mapping[str, Any]],
    reviewed_panels: Sequence[Mapping[str, Any]],
    panel_mentions: Sequence[Mapping[str, Any]],
) -> StepOutput:
    """Summarise what an article's running text says of each panel, without a model: rows of `panel_summaries`.

    Args:
        article: row of `articles`.
        figures: its rows of `figures`.
        reviewed_panels: its rows of that table.
        panel_mentions: its rows of that table.
    """
    paragraphs = [record_of(RunningParagraph, row) for row in article["paragraphs"]]
    text = article_text(paragraphs, [figure["caption"] for figure in figures])
    told = _told_panels(reviewed_panels, panel_mentions)

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        return [
            summary_row(panel, own_mentions(words, mentions), panel_summary(words, mentions, text, figure["caption"]))
            for panel, words, mentions in told.get(figure["image_cluster_id"], ())
        ]

    return for_each_figure(figures, "panel_summaries", rows)


def decide_article_modalities(
    figures: Sequence[Mapping[str, Any]],
    reviewed_panels: Sequence[Mapping[str, Any]],
    panel_mentions: Sequence[Mapping[str, Any]],
) -> StepOutput:
    """Decide the modality of an article's panels by pixels and words: rows of `panel_modality`.

    Args:
        figures: rows of `figures`.
        reviewed_panels: the article's rows of that table.
        panel_mentions: its rows of that table.
    """
    told = _told_panels(reviewed_panels, panel_mentions)

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        found = []
        for panel, words, mentions in told.get(figure["image_cluster_id"], ()):
            evidence = modality_evidence(panel_images(panel["images"]), words.subcaption, own_mentions(words, mentions))
            found.append(modality_row(panel, panel_modality(evidence)))
        return found

    return for_each_figure(figures, "panel_modality", rows)


_ToldPanel = tuple[Row, PanelWords, Sequence[PanelMention]]
"""A panel's row with its key, its words, and all mentions of its figure."""


def _told_panels(
    reviewed_panels: Sequence[Mapping[str, Any]], panel_mentions: Sequence[Mapping[str, Any]]
) -> dict[str, list[_ToldPanel]]:
    """Return an article's panels by image_cluster_id."""
    mentions = rows_by_figure(panel_mentions)
    found: dict[str, list[_ToldPanel]] = {}
    for cluster, rows in rows_by_figure(reviewed_panels).items():
        told = [record_of(PanelMention, row) for row in mentions.get(cluster, ())]
        words = figure_words([(row["identifier"], row["subcaption"]) for row in rows])
        ids = [panel_id(row["article_id"], cluster, row["ordinal"]) for row in rows]
        found[cluster] = [
            ({**row, "panel_id": name}, panel, told) for row, name, panel in zip(rows, ids, words, strict=True)
        ]
    return found
