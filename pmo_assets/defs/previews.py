"""Pictures for the UI: contact sheets and coloured captions, small enough for a materialisation's metadata."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import dagster as dg
import numpy as np
import polars as pl
from numpy.typing import NDArray

from pmo_assets.pipeline.figures.pictures import decoded
from pmo_assets.records.stores import PixelStore
from pmo_assets.viewing.captions import caption_picture
from pmo_assets.viewing.overlays import contact_sheet, data_uri, draw_detections, webp_bytes

Row = Mapping[str, Any]
Tile = tuple[NDArray[np.uint8], str]

SHEET_TILES = 12
"""Figures on a contact sheet: enough to see at a glance whether a batch went well."""

READABLE_TILES = 4
"""Figures on a sheet whose words are to be read."""

MAX_PREVIEW_BYTES = 14_000
"""Pictures live in the event log's row, twice: larger ones slow the UI down and fill the database
(`benchmarks/event_log_size.py`)."""


def picture_metadata(pixels: NDArray[np.uint8], alternative: str) -> dg.MarkdownMetadataValue:
    """Return a picture as Markdown with the picture inside."""
    uri = data_uri(webp_bytes(pixels, max_bytes=MAX_PREVIEW_BYTES), "image/webp")
    return dg.MetadataValue.md(f"![{alternative}]({uri})")


def _sheet(tiles: Iterable[Tile], alternative: str) -> dg.MarkdownMetadataValue:
    shown = list(islice(tiles, SHEET_TILES))
    if not shown:
        return dg.MetadataValue.md("nothing to show")
    return picture_metadata(contact_sheet(shown), alternative)


def _spread(items: Sequence[Any], count: int) -> list[Any]:
    """Return up to `count` items spread evenly over the sequence, so that a sheet shows more than one article."""
    if len(items) <= count:
        return list(items)
    return [items[index * len(items) // count] for index in range(count)]


def figure_name(row: Row) -> str:
    """Return what a figure is called under its picture."""
    return f"{row['article_id']} · {row['label'] or row['image_cluster_id']}"


def figure_sheet(figures: Sequence[Row], pixels: PixelStore) -> dg.MarkdownMetadataValue:
    """Return a contact sheet of figures."""

    def tiles() -> Iterable[Tile]:
        for row in _spread(figures, SHEET_TILES):
            stored = pixels.read(row["article_id"])
            image = draw_detections(decoded(stored.get(row["pdf_figure_id"]), row["pdf_figure_id"]), panels=())
            yield image, figure_name(row)

    return _sheet(tiles(), "figures of the batch")


def detection_sheet(
    figures: pl.DataFrame, panels: Sequence[Row], images: Sequence[Row], pixels: PixelStore
) -> dg.MarkdownMetadataValue:
    """Return a contact sheet of figures with panels, identifiers and images drawn."""

    def of(rows: Sequence[Row], figure: Row) -> list[Row]:
        key = (figure["article_id"], figure["image_cluster_id"])
        return [row for row in rows if (row["article_id"], row["image_cluster_id"]) == key]

    def tiles() -> Iterable[Tile]:
        for figure in _spread(figures.to_dicts(), SHEET_TILES):
            stored = pixels.read(figure["article_id"])
            boxes = of(panels, figure)
            image = draw_detections(
                decoded(stored.get(figure["pdf_figure_id"]), figure["pdf_figure_id"]),
                panels=[(tuple(row["box"]), None) for row in boxes if row["kind"] == "panel"],
                identifiers=[(tuple(row["box"]), row["text"]) for row in boxes if row["kind"] == "identifier"],
                images=[(tuple(row["box"]), row["image_type"], row["marked"]) for row in of(images, figure)],
            )
            yield image, figure_name(figure)

    return _sheet(tiles(), "figures with panels, identifiers and images")


def assignment_sheet(figures: pl.DataFrame, panels: Sequence[Row], pixels: PixelStore) -> dg.MarkdownMetadataValue:
    """Return the few figures whose subcaptions are least sure, surest last.

    A panel shows what it is called and how sure that is, or "?" where nothing is assigned.
    """
    grouped: dict[tuple[int, str], list[Row]] = {}
    for row in panels:
        grouped.setdefault((row["article_id"], row["image_cluster_id"]), []).append(row)
    known = {(row["article_id"], row["image_cluster_id"]): row for row in figures.iter_rows(named=True)}

    def least(key: tuple[int, str]) -> float:
        return min(row["confidence"] if row["subcaption"] is not None else 0.0 for row in grouped[key])

    shown = sorted(grouped, key=lambda key: (least(key), key))

    def tiles() -> Iterable[Tile]:
        for key in shown[:READABLE_TILES]:
            figure = known[key]
            picture = decoded(pixels.read(key[0]).get(figure["pdf_figure_id"]), figure["pdf_figure_id"])
            boxes = [
                (tuple(row["box"]), f"{row['identifier'] or '–'} {row['confidence']:.2f}" if row["subcaption"] else "?")
                for row in grouped[key]
            ]
            yield draw_detections(picture, panels=boxes), figure_name(figure)

    return _sheet(tiles(), "the least sure figures: panels with identifier and confidence")


def panel_sheet(panels: Sequence[Row], pixels: PixelStore) -> dg.MarkdownMetadataValue:
    """Return a contact sheet of panels with their names."""

    def tiles() -> Iterable[Tile]:
        for row in _spread(panels, SHEET_TILES):
            image = decoded(pixels.read(row["article_id"]).get(row["panel_id"]), row["panel_id"])
            yield (
                draw_detections(image, panels=()),
                f"{row['identifier'] or 'single'} · {row['method'] or 'no subcaption'}",
            )

    return _sheet(tiles(), "panels of the batch")


def caption_preview(figures: pl.DataFrame, subcaptions: Sequence[Row]) -> dg.MarkdownMetadataValue:
    """Return the caption with the most panels, its parts coloured by panel."""
    grouped: dict[tuple[int, str], list[Row]] = {}
    for row in subcaptions:
        grouped.setdefault((row["article_id"], row["image_cluster_id"]), []).append(row)
    if not grouped:
        return dg.MetadataValue.md("nothing to show")
    captions = {
        (row["article_id"], row["image_cluster_id"]): row["caption"]
        for row in figures.select("article_id", "image_cluster_id", "caption").iter_rows(named=True)
    }
    # The median of the multi-panel captions is typical; the longest one is not.
    ordered = sorted(grouped.items(), key=lambda item: (len(item[1]), item[0]))
    several = [item for item in ordered if len(item[1]) > 1] or ordered
    key, rows = several[len(several) // 2]
    parts = [(row["identifier"], [tuple(segment) for segment in row["segments"]]) for row in rows]
    return picture_metadata(caption_picture(captions[key], parts), f"caption of {key[0]} {key[1]}, coloured by panel")
