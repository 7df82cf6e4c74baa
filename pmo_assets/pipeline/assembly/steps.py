"""Steps of the group `panels`: what belongs to which panel, and the panels' pictures.

A step takes rows of tables and gives a `StepOutput`: this is what a worker process runs for one article, and what
`pmo article` and a notebook call.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pictures import compact_bytes, decoded, pixels_digest, png_bytes
from pmo_assets.pipeline.assembly.assemble import assembled_panels
from pmo_assets.pipeline.assembly.identifier_evidence import figure_identifiers
from pmo_assets.pipeline.assembly.panel_captions import captioned_panels, confirmed_split, panel_names
from pmo_assets.pipeline.assembly.reading.text_readers import ReadingOptions
from pmo_assets.pipeline.assembly.review import changed, decisions_of, review_figure
from pmo_assets.pipeline.assembly.unassigned_images import all_images
from pmo_assets.pipeline.assembly.wanted import figure_is_wanted, unwanted_reason
from pmo_assets.pipeline.figures.fingerprint import fingerprint
from pmo_assets.pipeline.figures.perceptual_hash import perceptual_hash
from pmo_assets.records.faults import raise_fault
from pmo_assets.records.figure import LocatedFigure
from pmo_assets.records.geometry import crop_box
from pmo_assets.records.image_types import IMAGE_TYPES, ImageType
from pmo_assets.records.panels import Panel, PanelPicture
from pmo_assets.records.reading import TextReader
from pmo_assets.records.reviews import DecidedFigure
from pmo_assets.records.step_output import Row, StepOutput, figure_key, for_each_figure, rows_by_figure
from pmo_assets.records.stores import Picture, PixelStore
from pmo_assets.records.subcaptions import CaptionSplit
from pmo_assets.tables.captions import caption_split
from pmo_assets.tables.detections import found_images, found_panels
from pmo_assets.tables.panels import PanelAssembly, PanelCaptions, ReviewedPanels, panels_by_figure, rows_of_panels
from pmo_assets.tables.rows import record_of, row_of


def caption_figure_panels(
    figure: Mapping[str, Any],
    panel_rows: Sequence[Mapping[str, Any]],
    subcaption_rows: Sequence[Mapping[str, Any]],
    picture: Callable[[], NDArray[np.uint8]] | None = None,
    reader: TextReader | None = None,
) -> list[Row]:
    """Put identifiers and subcaptions on a figure's panels: rows of `panel_captions`.

    Args:
        figure: row of `figures`.
        panel_rows: its rows of `panel_detections`.
        subcaption_rows: its rows of `subcaptions`.
        picture: gives its pixels, (height, width, 3) uint8 RGB; None: identifiers stay as detection read them.
        reader: of identifiers, besides their likeness to letters.

    Raises:
        SystemicError: when the reader's networks cannot be loaded.
    """
    detections = found_panels(panel_rows)
    split = figure_split(figure, subcaption_rows, panel_rows)
    identifiers = figure_identifiers(detections, panel_names(split), picture, reader)
    return rows_of_panels(PanelCaptions, figure, captioned_panels(detections, split, identifiers))


def figure_split(
    figure: Mapping[str, Any],
    subcaption_rows: Sequence[Mapping[str, Any]],
    detected: Iterable[Mapping[str, Any]],
) -> CaptionSplit:
    """Return how a figure's caption is split, by the names that it prints where the caption leaves them open.

    Args:
        figure: row of `figures`.
        subcaption_rows: its rows of `subcaptions`.
        detected: its rows of `panel_detections`: all that is printed counts, also what no panel has.
    """
    printed = (row["text"] for row in detected if row["kind"] == "identifier")
    return confirmed_split(figure["caption"], caption_split(subcaption_rows), printed)


def caption_article_panels(
    article_id: int,
    figures: Sequence[Mapping[str, Any]],
    panel_detections: Sequence[Mapping[str, Any]],
    subcaptions: Sequence[Mapping[str, Any]],
    figure_pixels: PixelStore,
    reading_options: ReadingOptions,
) -> StepOutput:
    """Decide which subcaption each panel of an article's figures has: rows of `panel_captions`.

    Args:
        article_id: PMC number.
        figures: its rows of `figures`.
        panel_detections: its rows of that table, and so for the others.
        subcaptions: see above.
        figure_pixels: store of the renderings.
        reading_options: choice of the reader of identifiers, besides their likeness to letters.

    Raises:
        SystemicError: when the reader's networks cannot be loaded.
    """
    panels, captions = rows_by_figure(panel_detections), rows_by_figure(subcaptions)
    pictures = functools.cache(lambda: figure_pixels.read(article_id))
    reader = reading_options.reader()

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        cluster, key = figure["image_cluster_id"], figure["pdf_figure_id"]
        return caption_figure_panels(
            figure,
            panels.get(cluster, ()),
            captions.get(cluster, ()),
            lambda: decoded(pictures().get(key), key),
            reader,
        )

    return for_each_figure(figures, "panel_captions", rows)


def load_reader(reading_options: ReadingOptions) -> None:
    """Load what `caption_article_panels` works with, so that it is not loaded at an article's expense.

    Raises:
        SystemicError: when that cannot be done.
    """
    reading_options.load()


def assemble_figure(
    figure: Mapping[str, Any],
    panel_rows: Sequence[Mapping[str, Any]],
    image_rows: Sequence[Mapping[str, Any]],
    subcaption_rows: Sequence[Mapping[str, Any]] = (),
    detection_rows: Sequence[Mapping[str, Any]] = (),
    wanted_types: Collection[ImageType] = IMAGE_TYPES,
) -> list[Row]:
    """Put images on a figure's panels: rows of `panel_assembly` made of rows of `panel_captions`.

    Every image stands in one row: in the panel that it belongs to, in one that it makes, or listed with the nearest.

    Args:
        figure: row of `figures`.
        panel_rows: its rows of `panel_captions`.
        image_rows: its rows of `image_detections`.
        subcaption_rows: its rows of `subcaptions`; one that no panel has may be that of images without a panel.
        detection_rows: its rows of `panel_detections`.
        wanted_types: image types of which a figure that goes on holds one.
    """
    panels = [record_of(Panel, row) for row in panel_rows]
    split = figure_split(figure, subcaption_rows, detection_rows)
    return rows_of_panels(
        PanelAssembly, figure, assembled_panels(panels, found_images(image_rows), split, wanted_types)
    )


def assemble_article(
    figures: Sequence[Mapping[str, Any]],
    panel_captions: Sequence[Mapping[str, Any]],
    image_detections: Sequence[Mapping[str, Any]],
    subcaptions: Sequence[Mapping[str, Any]],
    panel_detections: Sequence[Mapping[str, Any]],
    wanted_types: Collection[ImageType] = IMAGE_TYPES,
) -> StepOutput:
    """Put images on the panels of an article's figures: rows of `panel_assembly`; the tally says which do not go on.

    Args:
        figures: its rows of `figures`.
        panel_captions: its rows of that table, and so for the others.
        image_detections: see above.
        subcaptions: see above.
        panel_detections: see above.
        wanted_types: image types of which a figure that goes on holds one; all types: every figure goes on.
    """
    images = rows_by_figure(image_detections)
    tables = [rows_by_figure(panel_captions), images, rows_by_figure(subcaptions), rows_by_figure(panel_detections)]

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        panels, own, captions, detected = (table.get(figure["image_cluster_id"], ()) for table in tables)
        return assemble_figure(figure, panels, own, captions, detected, wanted_types)

    output = for_each_figure(figures, "panel_assembly", rows)
    for figure in figures:
        types = (row["image_type"] for row in images.get(figure["image_cluster_id"], ()))
        if reason := unwanted_reason(types, wanted_types):
            output.tally[reason] += 1
    return output


def panel_id(article_id: int, image_cluster_id: str, ordinal: int) -> str:
    """Return the id of a panel: stable when anything else is added, unique over all articles."""
    return f"p_{article_id}_{image_cluster_id}_{ordinal}"


def panel_key(figure: Mapping[str, Any], panel: Panel) -> Row:
    """Return the columns that identify a panel (`tables.context.PanelKey`); `figure` is any row with its figure's."""
    key = figure_key(figure)
    name = panel_id(key["article_id"], key["image_cluster_id"], panel.ordinal)
    return {**key, "ordinal": panel.ordinal, "panel_id": name}


def cut_panel(figure_pixels: NDArray[np.uint8], content_box: Sequence[float]) -> NDArray[np.uint8]:
    """Return a panel's pixels.

    Args:
        figure_pixels: (height, width, 3) uint8 RGB of its figure.
        content_box: of the panel, normalised to the figure.
    """
    x0, y0, x1, y1 = content_box
    left, top, right, bottom = crop_box((x0, y0, x1, y1), figure_pixels.shape[1], figure_pixels.shape[0])
    return np.ascontiguousarray(figure_pixels[top:bottom, left:right])


def crop_article_panels(
    article_id: int,
    figures: Sequence[Mapping[str, Any]],
    reviewed_panels: Sequence[Mapping[str, Any]],
    figure_pixels: PixelStore,
    panel_pixels: PixelStore,
) -> StepOutput:
    """Cut the panels out of an article's figures that go on: rows of `panels`, pictures in `panel_pixels`.

    Args:
        article_id: PMC number.
        figures: its rows of `figures`.
        reviewed_panels: its rows of `reviewed_panels`.
        figure_pixels: store of the renderings.
        panel_pixels: store of the panels' pictures, by panel_id.
    """
    stored = figure_pixels.read(article_id)
    reviewed = panels_by_figure(row for row in reviewed_panels if row["wanted"])
    cut: list[Picture] = []

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        panels = reviewed.get(figure["image_cluster_id"], ())
        if not panels:
            return []
        key = figure["pdf_figure_id"]
        whole = stored.get(key)
        pixels = decoded(whole, key)
        made = []
        for panel in panels:
            name = panel_id(article_id, figure["image_cluster_id"], panel.ordinal)
            part = cut_panel(pixels, panel.content_box)
            height, width = part.shape[:2]
            # Many a panel is its whole figure, which is encoded already.
            png = whole.png if whole is not None and part.shape == pixels.shape else png_bytes(part)
            cut.append(Picture(name, width, height, png, compact_bytes(part, png)))
            picture = PanelPicture(
                panel_id=name,
                article_id=article_id,
                image_cluster_id=figure["image_cluster_id"],
                ordinal=panel.ordinal,
                width=width,
                height=height,
                sha256=pixels_digest(part),
                perceptual_hash=perceptual_hash(part).hex(),
            )
            made.append(row_of(picture))
        return made

    output = for_each_figure(figures, "panels", rows)
    panel_pixels.write(article_id, cut)
    return output


NOT_APPLIED: Final = "not applied: "
"""Start of the tally's lines on annotations that were not applied."""


def review_article(
    figures: Sequence[Mapping[str, Any]],
    panel_assembly: Sequence[Mapping[str, Any]],
    subcaptions: Sequence[Mapping[str, Any]],
    panel_detections: Sequence[Mapping[str, Any]],
    annotations: Sequence[Mapping[str, Any]],
    figure_pixels: PixelStore,
    wanted_types: Collection[ImageType] = IMAGE_TYPES,
) -> StepOutput:
    """Return rows of `reviewed_panels`: people's decisions in place of the machine's.

    Without annotations the rows pass through. An annotation whose figure changed, or is not there, is not applied; the
    tally says which and why.

    Args:
        figures: its rows of `figures`.
        panel_assembly: its rows of that table, and so for the others.
        subcaptions: see above.
        panel_detections: see above.
        annotations: its row of `annotations`, if people annotated it.
        figure_pixels: store of the renderings.
        wanted_types: image types of which a figure that goes on holds one; people may have changed them.
    """
    assembled = panels_by_figure(panel_assembly)
    tally: Counter[str] = Counter()
    located = {row["image_cluster_id"]: record_of(LocatedFigure, row) for row in figures}
    said = annotations[0]["figures"] if annotations else ()
    wanted, notes = decisions_of(said, list(located.values()), DecidedFigure)
    tally.update(NOT_APPLIED + note for note in notes)
    captions, detected = rows_by_figure(subcaptions), rows_by_figure(panel_detections)
    pictures = figure_pixels.read(figures[0]["article_id"]) if wanted else {}

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        cluster = figure["image_cluster_id"]
        present = assembled.get(cluster, [])
        picture = pictures.get(figure["pdf_figure_id"])
        for decided in wanted.get(cluster, ()):
            look = None if picture is None else fingerprint(decoded(picture, picture.key))
            if why := changed(decided, located[cluster], look):
                tally[f"{NOT_APPLIED}{decided.label or cluster}: {why}"] += 1
                continue
            split = figure_split(figure, captions.get(cluster, ()), detected.get(cluster, ()))
            try:
                made = review_figure(located[cluster], present, decided, split)
            except Exception as error:
                # What people decided cannot be applied; what the machine assembled is not lost for that.
                raise_fault(error)
                tally[f"{NOT_APPLIED}{decided.label or cluster}: {type(error).__name__}: {error}"] += 1
                continue
            goes_on = figure_is_wanted((image.image_type for image in all_images(made.panels)), wanted_types)
            present = [replace(panel, wanted=goes_on) for panel in made.panels]
            tally.update(made.tally)
            tally.update(f"{NOT_APPLIED}{decided.label or cluster}: {note}" for note in made.notes)
        return rows_of_panels(ReviewedPanels, figure, present)

    output = for_each_figure(figures, "reviewed_panels", rows)
    output.tally.update(tally)
    return output
