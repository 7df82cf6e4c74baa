"""Steps of the group `regions`: marks on the images of each panel, phrases that name them, regions that both show.

A step takes rows of tables and gives a `StepOutput`. A worker process runs it for one article; `pmo article` and a
notebook call it, too.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pictures import decoded
from pmo_assets.pipeline.assembly.steps import panel_key
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
from pmo_assets.records.step_output import Row, StepOutput, for_each_figure
from pmo_assets.records.stores import PixelStore
from pmo_assets.tables.panels import panels_by_figure
from pmo_assets.tables.regions import marks_of_row, marks_row, phrases_of_row, phrases_row, regions_row
from pmo_assets.tables.rows import record_of

NOT_LOOKED_FOR: Final = "marks were not looked for: the figure's were rejected"
"""Why phrases of a figure without marks are linked to none."""


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
    figure_pixels: PixelStore,
    detection_options: DetectionOptions,
) -> StepOutput:
    """Find the marks on the images of an article's panels: rows of `marks`.

    Args:
        article_id: PMC number.
        figures: its rows of `figures`.
        reviewed_panels: its rows of that table.
        figure_pixels: store of the renderings.
        detection_options: where the network runs.
    """
    pictures = figure_pixels.read(article_id)
    network, calibration = marks_network(detection_options.provider), shipped_calibration()
    panels = panels_by_figure(reviewed_panels)

    def rows(row: Mapping[str, Any]) -> list[Row]:
        figure = record_of(Figure, row)
        own = panels.get(figure.image_cluster_id, [])
        if not any(panel.images for panel in own):
            return [marks_row(panel_key(row, panel), ()) for panel in own]
        pixels = decoded(pictures.get(figure.pdf_figure_id), figure.pdf_figure_id)
        view = FigureView(pixels, figure.bitmaps, figure.texts, shapes=figure.shapes)
        return [
            marks_row(
                panel_key(row, panel),
                [
                    (number, mark)
                    for number, image in enumerate(panel.images)
                    for mark in image_marks(view, image.box, network, calibration)
                ],
            )
            for panel in own
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
        panel_summaries: its rows of that table, with the mentions; a figure whose summaries were rejected keeps the
            phrases of its subcaptions.
        marks: its rows of that table; phrases of a figure without are linked to none, and say so.
    """
    panels = panels_by_figure(reviewed_panels)
    told, seen = _by_panel(panel_summaries), _by_panel(marks)

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        made = []
        for panel in panels.get(figure["image_cluster_id"], []):
            key = panel_key(figure, panel)
            drawn = seen.get(key["panel_id"])
            texts = _texts(panel, told.get(key["panel_id"]))
            found = [
                phrase
                for number, text in enumerate(texts)
                for phrase in region_phrases(
                    text,
                    found_in="subcaption" if number == 0 else "mention",
                    mention=None if number == 0 else number - 1,
                )
            ]
            if drawn is None:
                linked = [replace(phrase, undecided=NOT_LOOKED_FOR) for phrase in found]
            else:
                placed = marks_of_row(drawn)
                own, images = [mark for _, mark in placed], [image for image, _ in placed]
                linked = list(linked_phrases(found, own, identifier=panel.identifier, images=images))
            made.append(phrases_row(key, linked, [_text_of(phrase.mention, texts) for phrase in linked]))
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
        marks: its rows of that table; a figure without (they were rejected) has no regions.
        region_phrases: its rows of that table.
        figure_pixels: store of the renderings.
    """
    pictures = figure_pixels.read(article_id)
    panels, drawn = panels_by_figure(reviewed_panels), _by_panel(marks)
    named, told = _by_panel(region_phrases), _by_panel(panel_summaries)

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        made: list[Row] = []
        pixels: NDArray[np.uint8] | None = None
        for panel in panels.get(figure["image_cluster_id"], []):
            key = panel_key(figure, panel)
            name = key["panel_id"]
            placed = marks_of_row(drawn[name]) if name in drawn else []
            if not placed:
                made.append(regions_row(key, ()))
                continue
            if pixels is None:
                pixels = decoded(pictures.get(figure["pdf_figure_id"]), figure["pdf_figure_id"])
            phrases = phrases_of_row(named[name]) if name in named else []
            texts = _texts(panel, told.get(name))
            shown = shown_regions(
                [mark for _, mark in placed],
                [panel.images[number].box for number, _ in placed],
                phrases,
                [_text_of(phrase.mention, texts) for phrase in phrases],
                pixels,
            )
            made.append(regions_row(key, fused_regions(shown, (), panel.content_box)))
        return made

    return for_each_figure(figures, "regions", rows)


def _texts(panel: Panel, told: Mapping[str, Any] | None) -> list[str]:
    """The texts that speak of a panel: its subcaption, then its mentions."""
    return [panel.subcaption or "", *(cell["text"] for cell in (told["mentions"] if told is not None else ()))]


def _text_of(mention: int | None, texts: Sequence[str]) -> str:
    return texts[0 if mention is None else mention + 1]


def _by_panel(rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {row["panel_id"]: row for row in rows}
