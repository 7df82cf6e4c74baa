"""Steps of the group `detections`: panels, identifiers and images of an article's figures.

A step takes rows of tables and gives a `StepOutput`. A worker process runs it for one article; `pmo article` and a
notebook call it, too.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pmo_assets.pictures import decoded
from pmo_assets.pipeline.captions.alternatives import alternative_splits
from pmo_assets.pipeline.detection.detect import images_of_figures, panels_of_figures
from pmo_assets.pipeline.detection.detector_set import DetectorSet, detector_set
from pmo_assets.pipeline.detection.image_types.words import are_of_another_field
from pmo_assets.pipeline.detection.networks.memory_batches import Provider
from pmo_assets.pipeline.detection.networks.retinanet_detectors import Runtime
from pmo_assets.pipeline.detection.printed_words import with_printed_words
from pmo_assets.pipeline.detection.protocols import DetectorSource
from pmo_assets.records.defaults import SCORE_THRESHOLD
from pmo_assets.records.detections import FigureView
from pmo_assets.records.faults import raise_fault
from pmo_assets.records.figure import Figure
from pmo_assets.records.reading import ReaderSource
from pmo_assets.records.step_output import Row, StepOutput, figure_key, for_each_figure, rows_by_figure
from pmo_assets.records.stores import Picture, PixelStore
from pmo_assets.tables.captions import caption_split
from pmo_assets.tables.detections import found_panels
from pmo_assets.tables.rows import record_of

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DetectionOptions:
    """Options of detection: detectors (see `detector_set`), their networks' device, thresholds (paper, Methods)."""

    score_threshold: float = SCORE_THRESHOLD
    source: DetectorSource = "both"
    provider: Provider = "cpu"
    detector_file: Path | None = None
    marks_file: Path | None = None
    types_file: Path | None = None
    panel_checkpoint: Path | None = None
    image_checkpoint: Path | None = None
    runtime: Runtime = "torch"

    def detectors(self) -> DetectorSet:
        """Return the detectors, made once per process."""
        return detector_set(
            self.source,
            self.provider,
            self.detector_file,
            self.marks_file,
            self.types_file,
            panel_checkpoint=self.panel_checkpoint,
            image_checkpoint=self.image_checkpoint,
            runtime=self.runtime,
        )


GROUP_FIGURES, GROUP_PIXELS = 16, 40_000_000
"""So many figures of an article, with so many pixels in all, are put to detectors on a GPU at once."""


def _figure_groups(figures: Sequence[Mapping[str, Any]], provider: Provider) -> Iterator[list[Mapping[str, Any]]]:
    """Give an article's figures in groups that fill a GPU, one by one on the CPU, where larger ones gain nothing."""
    group: list[Mapping[str, Any]] = []
    for figure in figures:
        pixels = sum(f["width"] * f["height"] for f in [*group, figure])
        if group and (provider == "cpu" or len(group) >= GROUP_FIGURES or pixels > GROUP_PIXELS):
            yield group
            group = []
        group.append(figure)
    if group:
        yield group


def _for_each_group(
    figures: Sequence[Mapping[str, Any]],
    stage: str,
    provider: Provider,
    make: Callable[[Sequence[Mapping[str, Any]]], list[Row]],
) -> StepOutput:
    """Apply `make(figures) -> rows` to groups of figures; after a failure in a group, to each of its figures alone."""
    output = StepOutput()
    for group in _figure_groups(figures, provider):
        if len(group) > 1:
            try:
                output.rows.extend(make(group))
                continue
            except Exception as error:
                raise_fault(error)
                _LOG.info("%s: %s figures together failed, each is tried alone: %s", stage, len(group), error)
        alone = for_each_figure(group, stage, lambda figure: make([figure]))
        output.rows.extend(alone.rows)
        output.rejections.extend(alone.rejections)
    return output


def detect_article_panels(
    article_id: int,
    figures: Sequence[Mapping[str, Any]],
    subcaptions: Sequence[Mapping[str, Any]],
    figure_pixels: PixelStore,
    detection_options: DetectionOptions,
    reading_options: ReaderSource,
) -> StepOutput:
    """Find panels and panel identifiers in an article's figures: rows of `panel_detections`.

    Args:
        article_id: PMC number.
        figures: its rows of `figures`.
        subcaptions: its rows of `subcaptions`; they say which identifiers to expect.
        figure_pixels: store of the renderings.
        detection_options: detectors and thresholds.
        reading_options: options of reading names that are words.
    """
    detectors = detection_options.detectors()
    pictures = figure_pixels.read(article_id)
    captions = rows_by_figure(subcaptions)
    reader = reading_options.reader()

    def rows(group: Sequence[Mapping[str, Any]]) -> list[Row]:
        found = panels_of_figures(
            [with_printed_words(_named(view, figure, captions), reader) for figure, view in _views(group, pictures)],
            detectors.panels,
            score_threshold=detection_options.score_threshold,
        )
        result = []
        for figure, detections in zip(group, found, strict=True):
            counts = {"panel": 0, "identifier": 0}
            for detection in detections:
                number = counts[detection.kind]
                counts[detection.kind] += 1
                name = f"{'p' if detection.kind == 'panel' else 'l'}{number}"
                result.append({**figure_key(figure), **asdict(detection), "detection_id": name, "ordinal": number})
        return result

    return _for_each_group(figures, "panel_detections", detection_options.provider, rows)


def _views(
    figures: Sequence[Mapping[str, Any]], pictures: Mapping[str, Picture]
) -> Iterator[tuple[Figure, FigureView]]:
    """Yield figures with their views for detectors."""
    for figure in (record_of(Figure, row) for row in figures):
        pixels = decoded(pictures.get(figure.pdf_figure_id), figure.pdf_figure_id)
        yield figure, FigureView(pixels, figure.bitmaps, figure.texts, shapes=figure.shapes)


def _named(view: FigureView, figure: Figure, captions: Mapping[str, Sequence[Mapping[str, Any]]]) -> FigureView:
    """Return a view with the identifiers to expect by the caption's split, which panel detectors read."""
    names = caption_split(captions.get(figure.image_cluster_id, ())).identifiers
    others = () if names else tuple(split.identifiers for split in alternative_splits(figure.caption))
    return replace(view, caption_identifiers=names, alternative_identifiers=others)


def words_of_panels(panels: int, panel_captions: Sequence[Mapping[str, Any]], caption: str) -> dict[int, str]:
    """Return the words that describe each of a figure's panels, by number: its subcaption, else the whole caption."""
    words = dict.fromkeys(range(panels), caption)
    for row in panel_captions:
        if row["subcaption"] is not None:
            words.update({member["ordinal"]: row["subcaption"] for member in row["members"]})
    return words


def detect_article_images(
    article_id: int,
    figures: Sequence[Mapping[str, Any]],
    panel_detections: Sequence[Mapping[str, Any]],
    panel_captions: Sequence[Mapping[str, Any]],
    figure_pixels: PixelStore,
    detection_options: DetectionOptions,
    biomedica_matches: Sequence[Mapping[str, Any]] = (),
) -> StepOutput:
    """Find images in an article's figures, with type and mark status: rows of `image_detections`.

    Args:
        article_id: PMC number.
        figures: its rows of `figures`.
        panel_detections: its rows of `panel_detections`.
        panel_captions: its rows of `panel_captions`; their words are evidence for the type.
        figure_pixels: store of the renderings.
        detection_options: detectors and thresholds.
        biomedica_matches: its rows of `biomedica_matches`; their labels are evidence for the type as well.
    """
    detectors = detection_options.detectors()
    pictures = figure_pixels.read(article_id)
    elsewhere = are_of_another_field(figure["caption"] for figure in figures)
    panel_rows, caption_rows = rows_by_figure(panel_detections), rows_by_figure(panel_captions)
    labels = {
        row["image_cluster_id"]: (*row["secondary_labels"], *row["primary_labels"], row["panel_subtype"])
        for row in biomedica_matches
        if row["accepted"]
    }

    def rows(group: Sequence[Mapping[str, Any]]) -> list[Row]:
        panels, words = [], []
        for figure in group:
            cluster = figure["image_cluster_id"]
            panels.append(found_panels(panel_rows.get(cluster, ())))
            count = sum(panel.kind == "panel" for panel in panels[-1])
            words.append(words_of_panels(count, caption_rows.get(cluster, ()), figure["caption"]))
        found = images_of_figures(
            [view for _, view in _views(group, pictures)],
            panels,
            detectors.images,
            detectors.marks,
            detectors.types,
            words_of_panels=words,
            labels_of_figures=[labels.get(figure["image_cluster_id"], ()) for figure in group],
            elsewhere=elsewhere,
            score_threshold=detection_options.score_threshold,
        )
        result = []
        for figure, detections in zip(group, found, strict=True):
            for number, detection in enumerate(detections):
                row = asdict(detection)
                row.pop("type_scores")
                row.pop("seen_types")
                result.append({**figure_key(figure), "detection_id": f"i{number}", "ordinal": number, **row})
        return result

    return _for_each_group(figures, "image_detections", detection_options.provider, rows)


def load_panel_detectors(detection_options: DetectionOptions) -> None:
    """Load the networks of `detect_article_panels`, so that they are not loaded at an article's expense.

    Raises:
        SystemicError: when that cannot be done.
    """
    for network in detection_options.detectors().panel_networks:
        network.load()


def load_image_detectors(detection_options: DetectionOptions) -> None:
    """Load the networks of `detect_article_images`; see `load_panel_detectors`."""
    for network in detection_options.detectors().image_networks:
        network.load()
