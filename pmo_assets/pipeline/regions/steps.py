"""Steps of the group `regions`: marks on the images of each panel, phrases that name them, regions that both show.

A step takes rows of tables and gives a `StepOutput`. A worker process runs it for one article; `pmo article` and a
notebook call it, too.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pictures import decoded
from pmo_assets.pipeline.assembly.review import decisions_of
from pmo_assets.pipeline.assembly.steps import NOT_APPLIED, panel_key
from pmo_assets.pipeline.detection.networks.memory_batches import Provider
from pmo_assets.pipeline.detection.steps import DetectionOptions
from pmo_assets.pipeline.figures.fingerprint import fingerprint
from pmo_assets.pipeline.regions.decided import (
    DecidedPanels,
    decided_marks,
    decided_panels,
    decided_regions,
    unfounded,
)
from pmo_assets.pipeline.regions.fusion import fused_regions
from pmo_assets.pipeline.regions.links import linked_phrases
from pmo_assets.pipeline.regions.marks import image_marks
from pmo_assets.pipeline.regions.marks_network import MarksNetwork, shipped_calibration
from pmo_assets.pipeline.regions.phrases import region_phrases
from pmo_assets.pipeline.regions.shown_regions import shown_regions
from pmo_assets.pipeline.regions.text_similarity import RegionTexts, TextSimilarity, text_similarity
from pmo_assets.records.detections import FigureView
from pmo_assets.records.figure import Figure, LocatedFigure
from pmo_assets.records.panels import Panel
from pmo_assets.records.regions import Region, RegionPhrase
from pmo_assets.records.reviews import DecidedRegions, Fingerprint
from pmo_assets.records.step_output import Row, StepOutput, for_each_figure
from pmo_assets.records.stores import Picture, PixelStore
from pmo_assets.tables.panels import panels_by_figure
from pmo_assets.tables.regions import (
    PlacedMark,
    machine_marks_of_row,
    marks_of_row,
    marks_row,
    phrases_of_row,
    phrases_row,
    regions_row,
)
from pmo_assets.tables.rows import record_of

NOT_LOOKED_FOR: Final = "marks were not looked for: the figure's were rejected"
"""Why phrases of a figure without marks are linked to none."""

LEAST_PLOT: Final = 0.5
"""Probability of its modality from which a panel's image is a plot."""

PANELS_DECIDED, MARKS_DECIDED, REGIONS_DECIDED = "panels decided", "marks decided", "regions decided"
"""Keys of the tallies: what of people's decisions was applied."""


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


def load_text_similarity(region_texts: RegionTexts) -> None:
    """Load what compares texts, so that a missing package ends the step before its first article.

    Raises:
        SystemicError: when it is not installed.
    """
    text_similarity(region_texts)


def find_article_marks(
    article_id: int,
    figures: Sequence[Mapping[str, Any]],
    reviewed_panels: Sequence[Mapping[str, Any]],
    annotations: Sequence[Mapping[str, Any]],
    figure_pixels: PixelStore,
    detection_options: DetectionOptions,
) -> StepOutput:
    """Find the marks on the images of an article's panels: rows of `marks`.

    Where people decided a panel's, theirs are its marks, and the machine's stand beside them. A decision whose figure
    or panel changed, or is not there, is not applied; the tally says which and why.

    Args:
        article_id: PMC number.
        figures: its rows of `figures`.
        reviewed_panels: its rows of that table.
        annotations: its row of `annotations`, if people annotated it.
        figure_pixels: store of the renderings.
        detection_options: where the network runs.
    """
    pictures = figure_pixels.read(article_id)
    network, calibration = marks_network(detection_options.provider), shipped_calibration()
    panels = panels_by_figure(reviewed_panels)
    said = _said(annotations, figures)
    tally: Counter[str] = Counter(NOT_APPLIED + note for note in said.notes)

    def rows(row: Mapping[str, Any]) -> list[Row]:
        own = panels.get(row["image_cluster_id"], [])
        picture = pictures.get(row["pdf_figure_id"])
        decided = said.about(row, own, picture)
        tally.update(NOT_APPLIED + note for note in decided.notes)
        if not any(panel.images for panel in own):
            return [marks_row(panel_key(row, panel), (), () if panel.ordinal in decided.of else None) for panel in own]
        figure = record_of(Figure, row)
        pixels = decoded(picture, figure.pdf_figure_id)
        view = FigureView(pixels, figure.bitmaps, figure.texts, shapes=figure.shapes)
        made = []
        for panel in own:
            seen = [
                (number, mark)
                for number, image in enumerate(panel.images)
                for mark in image_marks(view, image.box, network, calibration, image.mark_score)
            ]
            key = panel_key(row, panel)
            if (decision := decided.of.get(panel.ordinal)) is None:
                made.append(marks_row(key, seen))
                continue
            drawn = decided_marks(decision, panel, [mark for _, mark in seen], pixels)
            made.append(marks_row(key, drawn, seen))
            tally.update({PANELS_DECIDED: 1, MARKS_DECIDED: len(drawn)})
        return made

    output = for_each_figure(figures, "marks", rows)
    output.tally.update(tally)
    return output


@dataclass(frozen=True)
class _Said:
    """What people said of the marks and regions of an article's figures; notes on what is about none of them."""

    decisions: Mapping[str, Sequence[DecidedRegions]]
    notes: Sequence[str]

    def about(self, figure: Mapping[str, Any], panels: Sequence[Panel], picture: Picture | None) -> DecidedPanels:
        """Return the decisions that apply to the panels of a figure."""
        wanted = self.decisions.get(figure["image_cluster_id"], ())
        if not wanted:
            return DecidedPanels({}, ())

        def look() -> Fingerprint | None:
            return None if picture is None else fingerprint(decoded(picture, picture.key))

        return decided_panels(record_of(LocatedFigure, figure), panels, wanted, look)


def _said(annotations: Sequence[Mapping[str, Any]], figures: Sequence[Mapping[str, Any]]) -> _Said:
    if not annotations or not annotations[0]["regions"]:
        return _Said({}, ())
    return _Said(
        *decisions_of(annotations[0]["regions"], [record_of(LocatedFigure, row) for row in figures], DecidedRegions)
    )


def find_article_phrases(
    figures: Sequence[Mapping[str, Any]],
    reviewed_panels: Sequence[Mapping[str, Any]],
    panel_summaries: Sequence[Mapping[str, Any]],
    marks: Sequence[Mapping[str, Any]],
) -> StepOutput:
    """Find the phrases that name marks in each panel's subcaption and mentions: rows of `region_phrases`.

    Panels that are plots have none: what "dashed line" names there is a legend's symbol, and plots are not searched for
    marks.

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
                for number, text in enumerate(() if is_plot_panel(panel) else texts)
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


def is_plot_panel(panel: Panel) -> bool:
    """Say whether all that a panel shows are plots, by the modality of its images; False for one without images."""
    return bool(panel.images) and all(
        image.modality == "plot" and image.modality_score >= LEAST_PLOT for image in panel.images
    )


def find_article_regions(
    article_id: int,
    figures: Sequence[Mapping[str, Any]],
    reviewed_panels: Sequence[Mapping[str, Any]],
    panel_summaries: Sequence[Mapping[str, Any]],
    marks: Sequence[Mapping[str, Any]],
    region_phrases: Sequence[Mapping[str, Any]],
    annotations: Sequence[Mapping[str, Any]],
    region_texts: RegionTexts,
    figure_pixels: PixelStore,
) -> StepOutput:
    """Find the regions of each panel by its marks and phrases: rows of `regions`.

    Where people decided a panel's, theirs are its regions. Of one whose words do not stand in the figure's texts any
    more the regions follow from people's marks; the tally says so.

    Args:
        article_id: PMC number.
        figures: its rows of `figures`.
        reviewed_panels: its rows of that table.
        panel_summaries: its rows of that table, with the mentions.
        marks: its rows of that table; a figure without (they were rejected) has no regions.
        region_phrases: its rows of that table.
        annotations: its row of `annotations`, if people annotated it.
        region_texts: what compares the texts of overlapping regions.
        figure_pixels: store of the renderings.
    """
    pictures = figure_pixels.read(article_id)
    panels, drawn = panels_by_figure(reviewed_panels), _by_panel(marks)
    named, told = _by_panel(region_phrases), _by_panel(panel_summaries)
    alike = text_similarity(region_texts)
    said = _said(annotations, figures)
    tally: Counter[str] = Counter()

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        made: list[Row] = []
        own = panels.get(figure["image_cluster_id"], [])
        picture = pictures.get(figure["pdf_figure_id"])
        keys = {panel.ordinal: panel_key(figure, panel) for panel in own}
        texts = {n: _texts(panel, told.get(keys[n]["panel_id"])) for n, panel in zip(keys, own, strict=True)}
        decided = said.about(figure, own, picture)  # what does not apply was said of the marks
        sources = [figure.get("caption") or "", *(text for found in texts.values() for text in found)]
        pixels: NDArray[np.uint8] | None = None
        for panel in own:
            key = keys[panel.ordinal]
            name = key["panel_id"]
            row = drawn.get(name)
            if row is None or not (row["marks"] or row["machine_marks"] is not None):
                made.append(regions_row(key, ()))
                continue
            if pixels is None:
                pixels = decoded(picture, figure["pdf_figure_id"])
            found = phrases_of_row(named[name]) if name in named else []
            words = [_text_of(phrase.mention, texts[panel.ordinal]) for phrase in found]
            regions = _machine_regions(panel, marks_of_row(row), found, words, pixels, alike)
            decision = decided.of.get(panel.ordinal)
            if row["machine_marks"] is None or decision is None:
                made.append(regions_row(key, regions))
                continue
            seen = machine_marks_of_row(row)
            linked = linked_phrases(found, [mark for _, mark in seen], identifier=panel.identifier)
            machine = _machine_regions(panel, seen, linked, words, pixels, alike)
            if lost := unfounded(decision, sources):
                title = figure.get("label") or figure["image_cluster_id"]
                tally[f"{NOT_APPLIED}regions of {title}: “{lost[:80]}” stands in none of its texts"] += 1
                made.append(regions_row(key, regions, machine))
                continue
            people = decided_regions(decision, panel, found, words, machine)
            made.append(regions_row(key, people, machine))
            tally.update({PANELS_DECIDED: 1, REGIONS_DECIDED: len(people)})
        return made

    output = for_each_figure(figures, "regions", rows)
    output.tally.update(tally)
    return output


def _machine_regions(
    panel: Panel,
    marks: Sequence[PlacedMark],
    phrases: Sequence[RegionPhrase],
    words: Sequence[str],
    pixels: NDArray[np.uint8],
    alike: TextSimilarity,
) -> tuple[Region, ...]:
    """The regions that marks and phrases show; `words` are the text of each phrase."""
    boxes = [panel.images[number].box for number, _ in marks]
    shown = shown_regions([mark for _, mark in marks], boxes, phrases, words, pixels)
    ratio = pixels.shape[1] / pixels.shape[0]
    return fused_regions(shown, (), panel.content_box, similarity=alike, ratio=ratio)


def _texts(panel: Panel, told: Mapping[str, Any] | None) -> list[str]:
    """The texts that speak of a panel: its subcaption, then its mentions."""
    return [panel.subcaption or "", *(cell["text"] for cell in (told["mentions"] if told is not None else ()))]


def _text_of(mention: int | None, texts: Sequence[str]) -> str:
    return texts[0 if mention is None else mention + 1]


def _by_panel(rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {row["panel_id"]: row for row in rows}
