"""Steps of the group `context`: what the running text says of an article's panels.

A step takes rows of tables and gives a `StepOutput`. A worker process runs it for one article; `pmo article` and a
notebook call it, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pmo_assets.pipeline.assembly.steps import panel_key
from pmo_assets.pipeline.context.article_text import article_text
from pmo_assets.pipeline.context.entities import panel_entities, panel_terms
from pmo_assets.pipeline.context.figure_filters import figure_filters
from pmo_assets.pipeline.context.modality import modality_evidence, panel_modality
from pmo_assets.pipeline.context.panel_mentions import NamedFigure, panel_mentions
from pmo_assets.pipeline.context.summaries import (
    PanelWords,
    own_mentions,
    panel_summary,
    panel_words,
)
from pmo_assets.records.context import PanelMention, RunningParagraph
from pmo_assets.records.geometry import area
from pmo_assets.records.panels import Panel
from pmo_assets.records.rejections import ArticleError, rejection_from
from pmo_assets.records.step_output import Row, StepOutput, figure_key, for_each_figure, rows_by_figure
from pmo_assets.tables.context import entities_row, modality_row, summary_row
from pmo_assets.tables.panels import panels_by_figure
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
    """Gather what the running text says of each panel, and summarise it: rows of `panel_summaries`.

    Args:
        article: row of `articles`.
        figures: its rows of `figures`.
        reviewed_panels: its rows of that table.
        panel_mentions: its rows of that table.
    """
    paragraphs = [record_of(RunningParagraph, row) for row in article["paragraphs"]]
    text = article_text(paragraphs, [figure["caption"] for figure in figures], article["title"])
    told = _told_panels(figures, reviewed_panels, panel_mentions)

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        return [
            summary_row(
                panel.key,
                own_mentions(panel.words, panel.mentions),
                panel_summary(panel.words, panel.mentions, text, figure["caption"]),
            )
            for panel in told.get(figure["image_cluster_id"], ())
        ]

    return for_each_figure(figures, "panel_summaries", rows)


def find_article_entities(
    figures: Sequence[Mapping[str, Any]],
    reviewed_panels: Sequence[Mapping[str, Any]],
    panel_summaries: Sequence[Mapping[str, Any]],
) -> StepOutput:
    """Find the entities of each panel's subcaption and mentions: rows of `panel_entities`.

    Args:
        figures: the article's rows of `figures`.
        reviewed_panels: its rows of that table.
        panel_summaries: its rows of that table, with the mentions and the abbreviations that the article defines.
    """
    panels, summaries = panels_by_figure(reviewed_panels), {row["panel_id"]: row for row in panel_summaries}

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        made = []
        for panel in panels.get(figure["image_cluster_id"], []):
            key = panel_key(figure, panel)
            # A figure whose summaries were rejected keeps the entities of its subcaptions.
            told = summaries.get(key["panel_id"], {"mentions": [], "abbreviations": []})
            defined = {item["short"]: item["long"] for item in told["abbreviations"]}
            found = panel_entities(panel.subcaption, [item["text"] for item in told["mentions"]], defined)
            terms = panel_terms(found, [item["kind"] for item in told["mentions"]])
            made.append(entities_row(key, found, terms))
        return made

    return for_each_figure(figures, "panel_entities", rows)


def decide_article_modalities(
    figures: Sequence[Mapping[str, Any]],
    reviewed_panels: Sequence[Mapping[str, Any]],
    panel_mentions: Sequence[Mapping[str, Any]],
    biomedica_matches: Sequence[Mapping[str, Any]] = (),
) -> StepOutput:
    """Decide the modality of each panel by its pixels and its words: rows of `panel_modality`.

    Args:
        figures: the article's rows of `figures`.
        reviewed_panels: its rows of that table.
        panel_mentions: its rows of that table.
        biomedica_matches: its rows of that table; their labels say what a figure mostly is.
    """
    told = _told_panels(figures, reviewed_panels, panel_mentions)
    labels = {row["image_cluster_id"]: row["primary_labels"] for row in biomedica_matches if row["accepted"]}

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        made = []
        for panel in told.get(figure["image_cluster_id"], ()):
            own = own_mentions(panel.words, panel.mentions)
            evidence = modality_evidence(panel.panel.images, panel.words.subcaption, own)
            made.append((panel, panel_modality(evidence)))
        seen = [(modality.modality_class, area(panel.panel.content_box)) for panel, modality in made]
        filters = figure_filters(labels.get(figure["image_cluster_id"], ()), seen)
        return [modality_row(panel.key, modality, filters) for panel, modality in made]

    return for_each_figure(figures, "panel_modality", rows)


@dataclass(frozen=True, slots=True)
class _ToldPanel:
    """A panel with the key of its rows, its words, and all mentions of its figure."""

    key: Row
    panel: Panel
    words: PanelWords
    mentions: Sequence[PanelMention]


def _told_panels(
    figures: Sequence[Mapping[str, Any]],
    reviewed_panels: Sequence[Mapping[str, Any]],
    panel_mentions: Sequence[Mapping[str, Any]],
) -> dict[str, list[_ToldPanel]]:
    """Return an article's panels by image_cluster_id."""
    mentions, rows = rows_by_figure(panel_mentions), rows_by_figure(reviewed_panels)
    labels = {figure["image_cluster_id"]: figure["label"] for figure in figures}
    found: dict[str, list[_ToldPanel]] = {}
    for cluster, panels in panels_by_figure(reviewed_panels).items():
        told = [record_of(PanelMention, row) for row in mentions.get(cluster, ())]
        words = panel_words([(panel.identifier, panel.subcaption) for panel in panels], labels.get(cluster))
        found[cluster] = [
            _ToldPanel(panel_key(rows[cluster][0], panel), panel, own, told)
            for panel, own in zip(panels, words, strict=True)
        ]
    return found
