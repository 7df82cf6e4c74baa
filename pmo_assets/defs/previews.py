"""Pictures for the UI: contact sheets and coloured captions, small enough for a materialisation's metadata.

A sheet is a function that returns pixels, or None when there is nothing to show; `preview` makes metadata of it and
sees to it that a picture never fails a step. What belongs here: which figures and panels are shown. What does not:
drawing (`pmo_assets.viewing`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import dagster as dg
import numpy as np
import polars as pl
from numpy.typing import NDArray

from pmo_assets.pictures import decoded, decoded_bytes
from pmo_assets.pipeline.assembly.steps import cut_panel
from pmo_assets.records.context import ENTITY_GROUPS
from pmo_assets.records.figure_names import figure_words
from pmo_assets.records.geometry import as_box, normalise
from pmo_assets.records.step_output import figure_key
from pmo_assets.records.stores import ObjectStore, PixelStore
from pmo_assets.viewing.article_pictures import marked_panels
from pmo_assets.viewing.captions import caption_picture
from pmo_assets.viewing.comparisons import stacked
from pmo_assets.viewing.overlays import (
    DETECTION_LEGEND,
    IDENTIFIER_LEGEND,
    STRUCTURE_LEGEND,
    contact_sheet,
    data_uri,
    draw_detections,
    thumbnail,
    webp_bytes,
)
from pmo_assets.viewing.palette import ENTITY_STYLES, panel_colour
from pmo_assets.viewing.region_overlays import region_picture

Row = Mapping[str, Any]
Pixels = NDArray[np.uint8]
Tile = tuple[Pixels, str]
FigureKey = tuple[int, str]
Context = dg.OpExecutionContext | dg.AssetExecutionContext

SHEET_TILES: Final = 8
"""Figures on a contact sheet: enough to see at a glance whether a batch went well."""

DRAWN_TILES: Final = 6
"""Figures on a sheet with boxes and their names, which need room."""

SHOWN_SENTENCES: Final = 3
"""Sentences below a panel: more make the picture too large to be read."""

READABLE_TILES: Final = 4
"""Figures on a sheet whose words are to be read."""

NOTHING: Final = "nothing to show"

_BLANK: Final[Pixels] = np.zeros((0, 0, 3), dtype=np.uint8)

MAX_PREVIEW_BYTES: Final = 14_000
"""Pictures live in the event log's row, twice: larger ones slow the UI down and fill the database
(`benchmarks/event_log_size.py`)."""


def picture_metadata(pixels: Pixels, alternative: str) -> dg.MarkdownMetadataValue:
    """Return a picture as Markdown with the picture inside, below 20 kB."""
    uri = data_uri(webp_bytes(pixels, MAX_PREVIEW_BYTES), "image/webp")
    return dg.MetadataValue.md(f"![{alternative}]({uri})")


def preview(context: Context, alternative: str, draw: Callable[[], Pixels | None]) -> dg.MarkdownMetadataValue:
    """Return the picture that `draw` makes, as metadata; when that fails, a word in its place, and the log says why.

    A result of hours does not fail for want of a picture of it.

    Args:
        context: of the run, for its log.
        alternative: description of the picture, for people who do not see it.
        draw: returns the picture, or None when there is nothing to show.
    """
    try:
        pixels = draw()
        return dg.MetadataValue.md(NOTHING) if pixels is None else picture_metadata(pixels, alternative)
    except Exception as error:  # whatever it is: it is about the picture, the rows are made
        context.log.warning(f"no preview ({alternative}): {type(error).__name__}: {error}", exc_info=True)
        return dg.MetadataValue.md(f"no preview: {type(error).__name__}, see the log of the run")


def _sheet(tiles: Iterable[Tile], **options: Any) -> Pixels | None:
    shown = list(islice(tiles, SHEET_TILES))
    return contact_sheet(shown, **options) if shown else None


def _spread(items: Sequence[Any], count: int) -> list[Any]:
    """Return up to `count` items spread evenly over the sequence, so that a sheet shows more than one article."""
    if len(items) <= count:
        return list(items)
    return [items[index * len(items) // count] for index in range(count)]


def _key(row: Row) -> FigureKey:
    return row["article_id"], row["image_cluster_id"]


def _by_figure(rows: Iterable[Row]) -> dict[FigureKey, list[Row]]:
    grouped: dict[FigureKey, list[Row]] = {}
    for row in rows:
        grouped.setdefault(_key(row), []).append(row)
    return grouped


def figure_name(row: Row) -> str:
    """Return the caption of a figure's picture: article and figure."""
    return f"{row['article_id']} · {figure_words(row)}"


def _picture(figure: Row, pixels: PixelStore) -> Pixels:
    key = figure["pdf_figure_id"]
    return decoded(pixels.read(figure["article_id"]).get(key), key)


def figure_sheet(figures: Sequence[Row], pixels: PixelStore) -> Pixels | None:
    """Return a contact sheet of figures, as they were rendered from the PDF."""
    return _sheet(
        (draw_detections(_picture(row, pixels), panels=()), figure_name(row)) for row in _spread(figures, SHEET_TILES)
    )


def _package_picture(key: str | None, objects: ObjectStore) -> Pixels:
    """Return a package's picture, small; an empty one when it has none, or in a format that browsers do not know."""
    if not key:
        return _BLANK
    try:
        return decoded_bytes(thumbnail(objects.get(key), 480))
    except ValueError:
        return _BLANK


def package_sheet(figures: Sequence[Row], objects: ObjectStore) -> Pixels | None:
    """Return a contact sheet of the packages' own pictures."""
    shown = _spread([row for row in figures if row["file"]], SHEET_TILES)
    return _sheet((_package_picture(row["file"], objects), figure_name(row)) for row in shown)


def match_sheet(
    pairs: Sequence[Row], located: pl.DataFrame, packages: pl.DataFrame, pixels: PixelStore, objects: ObjectStore
) -> Pixels | None:
    """Return figures of the PDF, each beside the package's picture that it was matched to, the least sure first.

    Args:
        pairs: rows of `figure_matches`.
        located: table `pdf_figures`.
        packages: table `package_figures`.
        pixels: renderings of the PDF's figures.
        objects: the packages' pictures.
    """
    figures = {(row["article_id"], row["pdf_figure_id"]): row for row in located.iter_rows(named=True)}
    files = {_key(row): row["file"] for row in packages.select("article_id", "image_cluster_id", "file").to_dicts()}
    accepted = sorted(
        (row for row in pairs if row["accepted"] and files.get(_key(row))),
        key=lambda row: (row["criteria_passed"], -(row["hash_distance"] or 0), row["article_id"], row["pdf_figure_id"]),
    )

    def tiles() -> Iterable[Tile]:
        for pair in accepted[: SHEET_TILES // 2]:
            figure = figures[pair["article_id"], pair["pdf_figure_id"]]
            distance = pair["hash_distance"]
            told = f"{pair['criteria_passed']} of 4 criteria" + ("" if distance is None else f", {distance} bits apart")
            yield draw_detections(_picture(figure, pixels), panels=()), f"PDF: {figure_name(figure)}"
            yield _package_picture(files[_key(pair)], objects), f"package: {pair['image_cluster_id']} · {told}"

    return _sheet(tiles())


def detection_sheet(
    figures: pl.DataFrame, panels: Sequence[Row], images: Sequence[Row] | None, pixels: PixelStore
) -> Pixels | None:
    """Return a contact sheet of figures with panels and identifiers drawn, and with images where they are known."""
    boxes, found = _by_figure(panels), _by_figure(images or ())

    def tiles() -> Iterable[Tile]:
        for figure in _spread(figures.to_dicts(), DRAWN_TILES):
            here = boxes.get(_key(figure), [])
            image = draw_detections(
                _picture(figure, pixels),
                panels=[(as_box(row["box"]), None) for row in here if row["kind"] == "panel"],
                identifiers=[(as_box(row["box"]), row["text"]) for row in here if row["kind"] == "identifier"],
                images=[(as_box(row["box"]), row["image_type"], row["marked"]) for row in found.get(_key(figure), [])],
            )
            yield image, figure_name(figure)

    return _sheet(tiles(), columns=3, legend=STRUCTURE_LEGEND if images is None else DETECTION_LEGEND)


def _identifiers(row: Row) -> list[tuple[Any, str | None]]:
    return [(as_box(item["box"]), item["text"]) for item in row["printed_identifiers"]]


def assignment_sheet(figures: pl.DataFrame, panels: Sequence[Row], pixels: PixelStore) -> Pixels | None:
    """Return the few figures whose subcaptions are least sure, surest last.

    A panel shows what it is called and how sure that is, or "?" where nothing is assigned.
    """
    grouped = _by_figure(panels)
    known = {_key(row): row for row in figures.iter_rows(named=True)}

    def tiles() -> Iterable[Tile]:
        for key in _least_sure(grouped)[:READABLE_TILES]:
            drawn = draw_detections(
                _picture(known[key], pixels),
                panels=[(as_box(row["box"]), _how_sure(row)) for row in grouped[key]],
                identifiers=[item for row in grouped[key] for item in _identifiers(row)],
            )
            yield drawn, figure_name(known[key])

    return _sheet(tiles(), legend=STRUCTURE_LEGEND)


def _how_sure(row: Row) -> str:
    return f"{row['identifier'] or '–'} {row['confidence']:.2f}" if row["subcaption"] else "?"


def _least_sure(grouped: Mapping[FigureKey, Sequence[Row]]) -> list[FigureKey]:
    def least(key: FigureKey) -> float:
        return min(row["confidence"] if row["subcaption"] is not None else 0.0 for row in grouped[key])

    return sorted(grouped, key=lambda key: (least(key), key))


def assembly_sheet(figures: pl.DataFrame, panels: Sequence[Row], pixels: PixelStore) -> Pixels | None:
    """Return a figure with its panels, each in the colour of its subcaption in the caption below.

    It is the figure whose number of panels is in the middle of those that have several, and that people decided, if
    they decided any. Panels without subcaption show "?".
    """
    grouped = _by_figure(panels)
    if not grouped:
        return None
    decided = {key: rows for key, rows in grouped.items() if any(row.get("annotations") for row in rows)} or grouped
    several = {key: rows for key, rows in decided.items() if len(rows) > 1} or decided
    ordered = sorted(several, key=lambda key: (len(several[key]), key))
    key = ordered[len(ordered) // 2]
    figure = next(row for row in figures.iter_rows(named=True) if _key(row) == key)
    rows = sorted(grouped[key], key=lambda row: row["ordinal"])
    drawn = draw_detections(
        _picture(figure, pixels),
        panels=[
            (as_box(row["content_box"]), (row["identifier"] or "single") if row["subcaption"] is not None else "?")
            for row in rows
        ],
        panel_colours=[panel_colour(number) for number in range(len(rows))],
        max_side=440,
    )
    parts = [(row["identifier"], [(start, end) for start, end in row["segments"] or ()]) for row in rows]
    sheet = contact_sheet([(drawn, figure_name(figure))], columns=1, tile_size=440)
    return stacked([sheet, caption_picture(figure["caption"], parts, width=sheet.shape[1], font_size=14)], gap=0)


def _panel_tile(row: Row, image: Pixels, name: str) -> Tile:
    """Return a panel with the identifiers that are printed in it."""
    frame = as_box(row["content_box"])
    inside = [(normalise(box, frame), text) for box, text in _identifiers(row)]
    return draw_detections(image, panels=(), identifiers=inside), name


def panel_sheet(panels: Sequence[Row], reviewed: pl.DataFrame, pixels: PixelStore) -> Pixels | None:
    """Return a contact sheet of panels with their names, and with the identifiers printed in them.

    Args:
        panels: rows of `panels`.
        reviewed: the table `reviewed_panels`.
        pixels: the panels' pictures.
    """

    def tiles() -> Iterable[Tile]:
        for row in _spread(panels, DRAWN_TILES):
            image = decoded(pixels.read(row["article_id"]).get(row["panel_id"]), row["panel_id"])
            said = reviewed.filter(**figure_key(row), ordinal=row["ordinal"]).row(0, named=True)
            yield _panel_tile(said, image, f"{said['identifier'] or 'single'} · {said['method'] or 'no subcaption'}")

    return _sheet(tiles(), columns=3, legend=IDENTIFIER_LEGEND)


def caption_preview(figures: pl.DataFrame, subcaptions: Sequence[Row]) -> Pixels | None:
    """Return a typical caption of several panels, its parts coloured by panel."""
    grouped = _by_figure(subcaptions)
    if not grouped:
        return None
    captions = {_key(row): row["caption"] for row in figures.iter_rows(named=True)}
    # The median of the multi-panel captions is typical; the longest one is not.
    ordered = sorted(grouped.items(), key=lambda item: (len(item[1]), item[0]))
    several = [item for item in ordered if len(item[1]) > 1] or ordered
    key, rows = several[len(several) // 2]
    parts = [(row["identifier"], [(start, end) for start, end in row["segments"]]) for row in rows]
    return caption_picture(captions[key], parts)


def context_preview(
    figures: pl.DataFrame, reviewed: pl.DataFrame, summaries: pl.DataFrame, entities: Sequence[Row], pixels: PixelStore
) -> Pixels | None:
    """Return a panel with its subcaption and the sentences that speak of it, entities in the colour of their group.

    It is the panel whose words speak of most kinds of things, the first of those.

    Args:
        figures: the table `figures`.
        reviewed: the table `reviewed_panels`.
        summaries: the table `panel_summaries`.
        entities: rows of `panel_entities`.
        pixels: the figures' pictures.
    """
    if not entities:
        return None
    row = max(entities, key=lambda item: len({entity["group"] for entity in item["entities"]}))
    key = figure_key(row)
    figure = figures.filter(**key).row(0, named=True)
    panel = reviewed.filter(**key, ordinal=row["ordinal"]).row(0, named=True)
    mentions = summaries.filter(panel_id=row["panel_id"]).row(0, named=True)["mentions"]
    texts = [panel["subcaption"] or "", *(item["text"] for item in mentions[:SHOWN_SENTENCES])]
    starts = [sum(len(text) + 1 for text in texts[:number]) for number in range(len(texts))]
    marked: dict[str, list[tuple[int, int]]] = {group: [] for group in ENTITY_GROUPS}
    for entity in row["entities"]:
        number = 0 if entity["mention"] is None else entity["mention"] + 1
        if number < len(texts):
            marked[entity["group"]].append((starts[number] + entity["start"], starts[number] + entity["end"]))
    image = cut_panel(_picture(figure, pixels), panel["content_box"])
    sheet = contact_sheet([(image, figure_name(figure))], columns=1, tile_size=440)
    colours = [ENTITY_STYLES[group][0] for group in marked]
    words = caption_picture(
        "\n".join(texts), list(marked.items()), width=sheet.shape[1], font_size=14, legend=False, colours=colours
    )
    return stacked([sheet, words], gap=0)


def regions_preview(
    figures: pl.DataFrame,
    reviewed: pl.DataFrame,
    summaries: pl.DataFrame | None,
    rows: Mapping[str, Sequence[Row]],
    pixels: PixelStore,
) -> Pixels | None:
    """Return a figure with the marks of its panels, and the words and regions of them as far as they are made.

    It is the figure with most phrases that mean marks; of those the one with most marks, the first of them.

    Args:
        figures: the table `figures`.
        reviewed: the table `reviewed_panels`.
        summaries: the table `panel_summaries`, whose mentions phrases stand in; None where no phrases are shown.
        rows: of `marks`, `region_phrases` and `regions`, those that are made.
        pixels: the figures' pictures.
    """
    marks, phrases = Counter[FigureKey](), Counter[FigureKey]()
    for row in rows.get("marks", ()):
        marks[_key(row)] += len(row["marks"])
    for row in rows.get("region_phrases", ()):
        phrases[_key(row)] += sum(bool(phrase["marks"]) for phrase in row["phrases"])
    best = max(marks, key=lambda item: (phrases[item], marks[item]), default=None)
    if best is None or not marks[best]:
        return None
    article, cluster = best
    key = {"article_id": article, "image_cluster_id": cluster}
    told = () if summaries is None else summaries.filter(**key).to_dicts()
    panels = marked_panels(reviewed.filter(**key).sort("ordinal").to_dicts(), {**rows, "panel_summaries": told})
    figure = figures.filter(**key).row(0, named=True)
    return region_picture(_picture(figure, pixels), panels, max_side=640)


def plot_metadata(context: Context, png: bytes, alternative: str) -> dg.MarkdownMetadataValue:
    """Return a plot as metadata: the PNG itself where it is small, else a WebP that is."""
    if len(png) <= MAX_PREVIEW_BYTES:
        return dg.MetadataValue.md(f"![{alternative}]({data_uri(png, 'image/png')})")
    return preview(context, alternative, lambda: decoded_bytes(png))
