"""Steps of the group `panels`: what belongs to which panel, and the panels' pictures.

A step takes rows of tables and gives a `StepOutput`: this is what a worker process runs for one article, and what
`pmo article` and a notebook call.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pmo_assets.pipeline.assembly.assemble import assemble
from pmo_assets.pipeline.dataset.rows import panel_id
from pmo_assets.pipeline.figures.pictures import decoded, png_bytes
from pmo_assets.records.geometry import crop_box
from pmo_assets.records.outcome import Row, StepOutput, figure_key, for_each_figure, rows_by_figure
from pmo_assets.records.stores import Picture, PixelStore
from pmo_assets.tables.captions import caption_split
from pmo_assets.tables.detections import image_detection, in_detection_order, panel_detection


def assemble_figure(
    figure: Mapping[str, Any],
    panel_rows: Sequence[Mapping[str, Any]],
    image_rows: Sequence[Mapping[str, Any]],
    subcaption_rows: Sequence[Mapping[str, Any]],
) -> list[Row]:
    """Put images, identifiers and subcaptions on a figure's panels: rows of `panel_assembly`."""
    panel_rows, image_rows = in_detection_order(panel_rows), in_detection_order(image_rows)
    detections = [panel_detection(row) for row in panel_rows]
    images = [image_detection(row) for row in image_rows]
    split = caption_split(subcaption_rows)
    rows = []
    for panel in assemble(detections, images, split):
        identifiers = [panel_rows[i] for i in panel.identifiers]
        contained = [image_rows[i] for i in panel.images]
        rows.append(
            {
                **figure_key(figure),
                "panel": panel_rows[panel.panel]["detection_id"],
                "box": list(panel.box),
                "content_box": list(panel.content_box),
                "score": panel.score,
                "name": panel.name,
                "subcaption": panel.subcaption.text if panel.subcaption else None,
                "segments": [list(segment) for segment in panel.subcaption.segments] if panel.subcaption else None,
                "caption_confidence": split.confidence if panel.subcaption else None,
                "method": panel.method,
                "reason": panel.reason,
                "identifiers": [
                    {"id": row["detection_id"], "box": list(row["box"]), "score": row["score"], "text": row["text"]}
                    for row in identifiers
                ],
                "images": [
                    {
                        "id": row["detection_id"],
                        "box": list(row["box"]),
                        **{k: row[k] for k in ("score", "image_type", "type_score", "marked", "mark_score")},
                    }
                    for row in contained
                ],
            }
        )
    return rows


def assemble_article(
    figures: Sequence[Mapping[str, Any]],
    panel_detections: Sequence[Mapping[str, Any]],
    image_detections: Sequence[Mapping[str, Any]],
    subcaptions: Sequence[Mapping[str, Any]],
) -> StepOutput:
    """Assemble an article's figures: rows of `panel_assembly`.

    Args:
        figures: its rows of `figures`.
        panel_detections: its rows of that table, and so for the others.
    """

    panels, images, captions = map(rows_by_figure, (panel_detections, image_detections, subcaptions))

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        cluster = figure["image_cluster_id"]
        return assemble_figure(figure, panels.get(cluster, ()), images.get(cluster, ()), captions.get(cluster, ()))

    return for_each_figure(figures, "panel_assembly", rows)


def crop_article_panels(
    article_id: int,
    figures: Sequence[Mapping[str, Any]],
    panel_assembly: Sequence[Mapping[str, Any]],
    figure_pixels: PixelStore,
    panel_pixels: PixelStore,
) -> StepOutput:
    """Cut the panels out of an article's figures: rows of `panels`, pictures in `panel_pixels`.

    Args:
        article_id: PMC number.
        figures: its rows of `figures`.
        panel_assembly: its rows of `panel_assembly`.
        figure_pixels: where the renderings are.
        panel_pixels: where the panels' pictures go, under panel_id.
    """
    stored = figure_pixels.read(article_id)
    assembled = rows_by_figure(panel_assembly)
    cut: list[Picture] = []

    def rows(figure: Mapping[str, Any]) -> list[Row]:
        panels = assembled.get(figure["image_cluster_id"], ())
        if not panels:
            return []
        key = figure["pdf_figure_id"]
        pixels = decoded(stored.get(key), key)
        result = []
        for panel in panels:
            left, top, right, bottom = crop_box(panel["content_box"], pixels.shape[1], pixels.shape[0])
            name = panel_id(article_id, figure["image_cluster_id"], int(panel["panel"][1:]))
            png = png_bytes(np.ascontiguousarray(pixels[top:bottom, left:right]))
            cut.append(Picture(name, right - left, bottom - top, png))
            extent = {"width": right - left, "height": bottom - top}
            result.append({**panel, "panel_id": name, **extent, "sha256": hashlib.sha256(png).hexdigest()})
        return result

    output = for_each_figure(figures, "panels", rows)
    panel_pixels.write(article_id, cut)
    return output
