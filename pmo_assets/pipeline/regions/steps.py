"""Steps of the group `regions`: marks on the images of each panel, phrases that name them, regions that both show.

A step takes rows of tables and gives a `StepOutput`. A worker process runs it for one article; `pmo article` and a
notebook call it, too.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from pmo_assets.pictures import decoded
from pmo_assets.pipeline.detection.networks.memory_batches import Provider
from pmo_assets.pipeline.detection.steps import DetectionOptions
from pmo_assets.pipeline.regions.fusion import fused_regions
from pmo_assets.pipeline.regions.links import linked_phrases
from pmo_assets.pipeline.regions.marks import image_marks
from pmo_assets.pipeline.regions.marks_network import MarksNetwork, shipped_calibration
from pmo_assets.pipeline.regions.phrases import region_phrases
from pmo_assets.pipeline.regions.shown_regions import shown_regions
from pmo_assets.records.detections import FigureView
from pmo_assets.records.figure import Figure
from pmo_assets.records.panels import Panel
from pmo_assets.records.step_output import Row, StepOutput, for_each_figure, rows_by_figure
from pmo_assets.records.stores import PixelStore
from pmo_assets.tables.context import PANEL_KEY
from pmo_assets.tables.panels import panels_by_figure
from pmo_assets.tables.regions import marks_of_row, marks_row, phrases_of_row, phrases_row, regions_row
from pmo_assets.tables.rows import record_of


@functools.cache
def marks_network(provider: Provider) -> MarksNetwork:
    """Return the network that sees marks in pixels: one for each worker."""
    return MarksNetwork(provider=provider)


def load_marks_network(detection_options: DetectionOptions) -> None:
    """Load the network, so that a missing file ends the step before its first article.

    Raises:
        SystemicError: when it cannot be loaded.
    """
    marks_network(detection_options.provider).load()
    shipped_calibration()


def find_article_marks(
    article_id: int,
    figures: Sequence[Mapping[str, Any]],
    reviewed_panels: Sequence[Mapping[str, Any]],
    panel_summaries: Sequence[Mapping[str, Any]],
    figure_pixels: PixelStore,
    detection_options: DetectionOptions,
) -> StepOutput:
    """Find the marks on the images of an article's panels: rows of `marks`.

    Args:
        article_id: PMC number.
        figures: its rows of `figures`.
        reviewed_panels: its rows of that table.
        panel_summaries: its rows of that table, for the keys of its panels.
        figure_pixels: store of the renderings.
        detection_options: where the network runs.
    """
    pictures = figure_pixels.read(article_id)
    network, calibration = marks_network(detection_options.provider), shipped_calibration()
    keys, panels = _keys(panel_summaries), panels_by_figure(reviewed_panels)

    def rows(row: Mapping[str, Any]) -> list[Row]:
        figure = record_of(Figure, row)
        own = panels.get(figure.image_cluster_id, [])
        if not own:
            return []
        pixels = decoded(pictures.get(figure.pdf_figure_id), figure.pdf_figure_id)
        view = FigureView(pixels, figure.bitmaps, figure.texts, shapes=figure.shapes)
        return [
            marks_row(
                keys[figure.image_cluster_id, panel.ordinal],
                [
                    (number, mark)
                    for number, image in enumerate(panel.images)
                    for mark in image_marks(view, image.box, network, calibration)
                ],
            )
            for panel in own
            if (figure.image_cluster_id, panel.ordinal) in keys
        ]

    return for_each_figure(figures, "marks", rows)


def find_article_phrases(
    figures: Sequence[Mapping[str, Any]],
    reviewed_panels: Sequence[Mapping[str, Any]],
    panel_summaries: Sequence[Mapping[str, Any]],
    marks: Sequence[Mapping[str, Any]],
) -> StepOutput:
    """Find the phrases that name marks in each panel's subcaption and mentions: rows of `region_phrases`.

    Args:
        figures: the article's rows of `figures`.
        reviewed_panels: its rows of that table.
        panel_summaries: its rows of that table, with the mentions.
        marks: its rows of that table.
    """
    panels, told = panels_by_figure(reviewed_panels), rows_by_figure(panel_summaries)
    seen = {row["panel_id"]: row for row in marks}

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        own = {panel.ordinal: panel for panel in panels.get(figure["image_cluster_id"], [])}
        made = []
        for row in told.get(figure["image_cluster_id"], []):
            panel, drawn = own[row["ordinal"]], seen.get(row["panel_id"])
            texts = _texts(panel, row)
            found = [
                phrase
                for number, text in enumerate(texts)
                for phrase in region_phrases(
                    text,
                    found_in="subcaption" if number == 0 else "mention",
                    mention=None if number == 0 else number - 1,
                )
            ]
            linked = linked_phrases(
                found, [mark for _, mark in marks_of_row(drawn)] if drawn else [], identifier=panel.identifier
            )
            made.append(phrases_row(_key(row), linked, [_text_of(phrase.mention, texts) for phrase in linked]))
        return made

    return for_each_figure(figures, "region_phrases", rows)


def find_article_regions(
    article_id: int,
    figures: Sequence[Mapping[str, Any]],
    reviewed_panels: Sequence[Mapping[str, Any]],
    panel_summaries: Sequence[Mapping[str, Any]],
    marks: Sequence[Mapping[str, Any]],
    region_phrases: Sequence[Mapping[str, Any]],
    figure_pixels: PixelStore,
) -> StepOutput:
    """Find the regions of each panel by its marks and phrases: rows of `regions`.

    Args:
        article_id: PMC number.
        figures: its rows of `figures`.
        reviewed_panels: its rows of that table.
        panel_summaries: its rows of that table, with the mentions.
        marks: its rows of that table.
        region_phrases: its rows of that table.
        figure_pixels: store of the renderings.
    """
    pictures = figure_pixels.read(article_id)
    panels, drawn = panels_by_figure(reviewed_panels), rows_by_figure(marks)
    named = {row["panel_id"]: row for row in region_phrases}
    told = {row["panel_id"]: row for row in panel_summaries}

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        own = {panel.ordinal: panel for panel in panels.get(figure["image_cluster_id"], [])}
        rows_of_marks = drawn.get(figure["image_cluster_id"], [])
        if not any(row["marks"] for row in rows_of_marks):
            return [regions_row(_key(row), ()) for row in rows_of_marks]
        pixels = decoded(pictures.get(figure["pdf_figure_id"]), figure["pdf_figure_id"])
        made = []
        for row in rows_of_marks:
            panel, placed = own[row["ordinal"]], marks_of_row(row)
            phrases = phrases_of_row(named[row["panel_id"]]) if row["panel_id"] in named else []
            texts = _texts(panel, told.get(row["panel_id"], {"mentions": []}))
            shown = shown_regions(
                [mark for _, mark in placed],
                [panel.images[number].box for number, _ in placed],
                phrases,
                [_text_of(phrase.mention, texts) for phrase in phrases],
                pixels,
            )
            made.append(regions_row(_key(row), fused_regions(shown, (), panel.content_box)))
        return made

    return for_each_figure(figures, "regions", rows)


def _texts(panel: Panel, told: Mapping[str, Any]) -> list[str]:
    """The texts that speak of a panel: its subcaption, then its mentions."""
    return [panel.subcaption or "", *(cell["text"] for cell in told["mentions"])]


def _text_of(mention: int | None, texts: Sequence[str]) -> str:
    return texts[0 if mention is None else mention + 1]


def _key(row: Mapping[str, Any]) -> Row:
    return {name: row[name] for name in PANEL_KEY}


def _keys(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int], Row]:
    return {(row["image_cluster_id"], row["ordinal"]): _key(row) for row in rows}
