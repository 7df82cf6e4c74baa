"""Panels laid out as a figure: its drawn items with the exact boxes of panels, identifiers and images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pmo_assets.records.geometry import Box, union_box
from pmo_assets.samples import pictures, plots, scene, type_metrics
from pmo_assets.samples.scene import BLACK, WHITE, Bitmap, Colour, Item, Path, Text
from pmo_assets.samples.spec import (
    PLOT_KINDS,
    FigureSpec,
    ImageSpec,
    PanelSpec,
    Topic,
)

NATIVE_DPI = 220.0
"""Resolution of bitmaps on the page: what publishers ask for lies between 150 and 300."""
MAX_PIXELS = 900
"""Longest side of a drawn bitmap; keeps the files small and drawing fast."""
PDF_JPEG_QUALITY = 88
PACKAGE_WIDTH = 700
PACKAGE_JPEG_QUALITY = 70
"""PMC's package JPEGs are about 700 pixels wide and visibly compressed."""
IMAGE_GAP = 3.0
"""White space between the pictures of one panel, points."""
_DARK_KINDS = frozenset({"cfp", "oct", "angiography", "autofluorescence"})


@dataclass(frozen=True, slots=True)
class PlacedImage:
    """A picture in the figure.

    Attributes:
        box: points, in the figure part.
        spec: what it is.
    """

    box: Box
    spec: ImageSpec


@dataclass(frozen=True, slots=True)
class PlacedPanel:
    """A panel in the figure; boxes in points of the figure part.

    Attributes:
        identifier: as in the specification.
        box: all its ink.
        identifier_box: line box of the live text, or ink box where the identifier is printed in a bitmap; clipped to
            the figure; None if not printed.
        images: its pictures.
    """

    identifier: str | None
    box: Box
    identifier_box: Box | None
    images: tuple[PlacedImage, ...]


@dataclass(frozen=True, slots=True)
class FigurePart:
    """The part of a figure that stands on one page, cut to its ink.

    Attributes:
        width: points.
        height: points.
        items: what is drawn, origin at the part's top left corner.
        panels: in the specification's order.
    """

    width: float
    height: float
    items: tuple[Item, ...] = field(repr=False)
    panels: tuple[PlacedPanel, ...]


def figure_parts(
    figure: FigureSpec, *, width: float, max_height: float, topic: Topic, seed: Sequence[int]
) -> tuple[FigurePart, ...]:
    """Lay out the figure: one part, or two if it runs over two pages.

    Args:
        figure: what to draw.
        width: points that the figure may take.
        max_height: points; a higher figure is made narrower.
        topic: for the plots' axis titles.
        seed: entropy for the drawn pictures.
    """
    rows = [figure.panels[i : i + figure.grid_columns] for i in range(0, len(figure.panels), figure.grid_columns)]
    half = (len(rows) + 1) // 2
    groups = [rows] if figure.pages == 1 or len(rows) < 2 else [rows[:half], rows[half:]]
    scale = min(1.0, *(_fitting_scale(figure, group, width, max_height) for group in groups))
    parts = []
    start = 0
    for group in groups:
        part = _part(figure, group, width * scale, topic, [*seed, start])
        parts.append(_flattened(part) if figure.flat else part)
        start += sum(len(row) for row in group)
    return tuple(parts)


def package_jpeg(parts: Sequence[FigurePart]) -> bytes:
    """Return the figure as in a PMC package: all parts stacked, about 700 pixels wide, strongly compressed."""
    widest = max(part.width for part in parts)
    items: list[Item] = []
    y = 0.0
    for part in parts:
        items += [scene.shifted(item, 0.0, y) for item in part.items]
        y += part.height
    return scene.jpeg_of(scene.rendered(items, widest, y, PACKAGE_WIDTH), PACKAGE_JPEG_QUALITY)


def _band(figure: FigureSpec) -> float:
    """Return the height that an identifier outside the picture needs, points."""
    return 1.5 * figure.identifier_size if figure.identifier_place in ("below", "above") else 0.0


def _cell_width(figure: FigureSpec, row: Sequence[PanelSpec], width: float) -> float:
    return (width - (figure.grid_columns - 1) * figure.gutter) / figure.grid_columns


def _picture_height(panel: PanelSpec, cell: float) -> float:
    room = cell - (len(panel.images) - 1) * IMAGE_GAP
    return room / sum(image.aspect for image in panel.images)


def _row_heights(figure: FigureSpec, rows: Sequence[Sequence[PanelSpec]], width: float) -> list[float]:
    return [max(_picture_height(p, _cell_width(figure, row, width)) for p in row) + _band(figure) for row in rows]


def _fitting_scale(figure: FigureSpec, rows: Sequence[Sequence[PanelSpec]], width: float, max_height: float) -> float:
    """Return the share of the width at which the rows are no higher than allowed."""
    scale = 1.0
    while scale > 0.2:
        heights = _row_heights(figure, rows, width * scale)
        if sum(heights) + figure.gutter * (len(rows) - 1) <= max_height:
            break
        scale *= 0.94
    return scale


def _part(
    figure: FigureSpec, rows: Sequence[Sequence[PanelSpec]], width: float, topic: Topic, seed: Sequence[int]
) -> FigurePart:
    y = 0.0
    drawn: list[tuple[PanelSpec, list[Item], list[PlacedImage], Text | None]] = []
    for row, height in zip(rows, _row_heights(figure, rows, width), strict=True):
        cell = _cell_width(figure, row, width)
        for column, panel in enumerate(row):
            left = column * (cell + figure.gutter)
            items, images, name = _panel_items(figure, panel, left, y, cell, topic, [*seed, len(drawn)])
            drawn.append((panel, items, images, name))
        y += height + figure.gutter
    frame = scene.ink_of([item for _, items, _, name in drawn for item in ([*items, name] if name else items)])
    dx, dy = -frame[0], -frame[1]
    panels = []
    for panel, items, images, name in drawn:
        inks = [scene.ink_of(items), *([scene.ink_box(name)] if name else [])]
        panels.append(
            PlacedPanel(
                identifier=panel.identifier,
                box=scene.shifted_box(union_box(inks), dx, dy),
                identifier_box=_identifier_box(figure, name, frame) if name else None,
                images=tuple(PlacedImage(scene.shifted_box(i.box, dx, dy), i.spec) for i in images),
            )
        )
    all_items = [i for _, items, _, name in drawn for i in ([*items, name] if name else items)]
    return FigurePart(
        frame[2] - frame[0], frame[3] - frame[1], tuple(scene.shifted(i, dx, dy) for i in all_items), tuple(panels)
    )


def _identifier_box(figure: FigureSpec, name: Text, frame: Box) -> Box:
    box = (
        scene.ink_box(name)
        if figure.flat
        else type_metrics.line_box(name.text, name.font, name.size, name.x, name.baseline)
    )
    clipped = (max(box[0], frame[0]), max(box[1], frame[1]), min(box[2], frame[2]), min(box[3], frame[3]))
    return scene.shifted_box(clipped, -frame[0], -frame[1])


def _panel_items(
    figure: FigureSpec, panel: PanelSpec, left: float, top: float, cell: float, topic: Topic, seed: Sequence[int]
) -> tuple[list[Item], list[PlacedImage], Text | None]:
    """Return the panel's drawing without its identifier, its pictures, and the identifier's text."""
    size = figure.identifier_size
    picture_top = top + (_band(figure) if figure.identifier_place == "above" else 0.0)
    height = _picture_height(panel, cell)
    items: list[Item] = []
    images: list[PlacedImage] = []
    x = left
    for n, image in enumerate(panel.images):
        box = (x, picture_top, x + height * image.aspect, picture_top + height)
        x = box[2] + IMAGE_GAP
        own = _image_items(image, box, topic, [*seed, n])
        items += own
        images.append(PlacedImage(scene.ink_of(own), image))
    if panel.identifier is None or figure.identifier_place == "none":
        return items, images, None
    text = figure.identifier_print.format(panel.identifier)
    bold = "(" not in text
    ink = scene.ink_of(items)
    if figure.identifier_place == "below":
        font = type_metrics.font_name("Times", bold=bold)
        start = (ink[0] + ink[2] - type_metrics.text_width(text, font, size)) / 2
        return items, images, Text(start, ink[3] + 1.3 * size, text, font, size)
    font = type_metrics.font_name("Helvetica", bold=True)
    if figure.identifier_place == "above":
        return items, images, Text(left, picture_top - 0.35 * size, text, font, size)
    dark = panel.images[0].kind in _DARK_KINDS
    colour: Colour = WHITE if dark else BLACK
    return items, images, Text(ink[0] + 0.4 * size, ink[1] + 1.2 * size, text, font, size, colour)


def _image_items(image: ImageSpec, box: Box, topic: Topic, seed: Sequence[int]) -> list[Item]:
    rng = np.random.default_rng(list(seed))
    if image.kind in PLOT_KINDS:
        return plots.plot(image.kind, rng, topic, box, y_title=image.y_title)
    width, height = box[2] - box[0], box[3] - box[1]
    scale = min(NATIVE_DPI / 72, MAX_PIXELS / max(width, height))
    pixels = pictures.drawn_picture(image.kind, rng, max(8, round(width * scale)), max(8, round(height * scale)))
    dark = image.kind in _DARK_KINDS
    if image.mark is not None and image.mark_drawn == "pixels":
        pixels = pictures.drawn_mark(pixels, image.mark, rng, (255, 255, 255) if dark else (10, 10, 10))
    items: list[Item] = [Bitmap(box, scene.jpeg_of(pixels, PDF_JPEG_QUALITY))]
    if image.mark is not None and image.mark_drawn == "vector":
        items += _vector_mark(image.mark, box, rng, (1.0, 0.9, 0.1) if dark else BLACK)
    return items


def _vector_mark(mark: str, box: Box, rng: np.random.Generator, colour: Colour) -> list[Item]:
    size = min(box[2] - box[0], box[3] - box[1])
    x = box[0] + (box[2] - box[0]) * float(rng.uniform(0.42, 0.6))
    y = box[1] + (box[3] - box[1]) * float(rng.uniform(0.42, 0.6))
    if mark == "circle":
        return [scene.circle(x, y, 0.11 * size, stroke=colour, fill=None, line_width=1.0)]
    if mark == "box":
        half = 0.1 * size
        corners = ((x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half))
        return [Path(corners, stroke=colour, line_width=1.0, closed=True)]
    if mark == "asterisk":
        return [Text(x, y, "*", "Helvetica-Bold", max(8.0, 0.14 * size), colour)]
    head = Path(
        ((x, y), (x - 0.075 * size, y - 0.03 * size), (x - 0.03 * size, y - 0.075 * size)),
        stroke=None,
        fill=colour,
        closed=True,
    )
    if mark == "arrowhead":
        return [head]
    shaft = Path(((x - 0.045 * size, y - 0.045 * size), (x - 0.15 * size, y - 0.15 * size)), colour, None, 1.2)
    return [head, shaft]


def _flattened(part: FigurePart) -> FigurePart:
    """Return the part as one bitmap that holds everything in its pixels."""
    scale = min(NATIVE_DPI / 72, 2 * MAX_PIXELS / max(part.width, part.height))
    pixels = scene.rendered(part.items, part.width, part.height, round(part.width * scale))
    bitmap = Bitmap((0.0, 0.0, part.width, part.height), scene.jpeg_of(pixels, 90))
    return replace(part, items=(bitmap,))
