"""Panels laid out as a figure: its drawn items with the exact boxes of panels, identifiers and images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pmo_assets.records.geometry import Box, clip
from pmo_assets.samples import pictures, plots, scene
from pmo_assets.samples.figure_cells import (
    Cell,
    band,
    gap_of,
    panel_cells,
    pictures_height,
    rows_of,
    side_band,
    total_height,
)
from pmo_assets.samples.figure_details import (
    COLOUR_BAR_WIDTH,
    DARK_KINDS,
    extra_items,
    identifier_items,
    lettering_items,
    line_box,
    part_name,
)
from pmo_assets.samples.scene import BLACK, WHITE, Bitmap, Colour, Item, Path, Text
from pmo_assets.samples.spec import (
    PLOT_KINDS,
    Evidence,
    FigureSpec,
    ImageSpec,
    PanelSpec,
    PictureKind,
    Topic,
)

NATIVE_DPI = 220.0
"""Resolution of bitmaps on the page: publishers ask for 150 to 300."""
MAX_PIXELS = 900
"""Longest side of a drawn bitmap; keeps the files small and drawing fast."""
PDF_JPEG_QUALITY = 88
PACKAGE_WIDTH = 700
PACKAGE_JPEG_QUALITY = 70
"""PMC's package JPEGs are about 700 pixels wide and visibly compressed."""


@dataclass(frozen=True, slots=True)
class PlacedImage:
    """A picture in the figure.

    Attributes:
        box: points, in the figure part.
        spec: specification of the picture.
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
            the figure; None if not printed. Of a panel whose parts are called "A1", "A2", the first of these.
        images: its pictures.
        evidence: as in the specification.
    """

    identifier: str | None
    box: Box
    identifier_box: Box | None
    images: tuple[PlacedImage, ...]
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class FigurePart:
    """The part of a figure that stands on one page, cut to its ink.

    Attributes:
        width: points.
        height: points.
        items: drawn items, origin at the part's top left corner.
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
        figure: specification of the figure.
        width: points that the figure may take.
        max_height: points; a higher figure is made narrower.
        topic: for the plots' axis titles.
        seed: entropy for the drawn pictures.
    """
    rows = rows_of(figure, figure.panels)
    half = (len(rows) + 1) // 2
    pages = [rows] if figure.pages == 1 or len(rows) < 2 else [rows[:half], rows[half:]]
    groups = [[panel for row in page for panel in row] for page in pages]
    if figure.stacks:
        groups = [list(figure.panels)]
    room = width - (COLOUR_BAR_WIDTH if "colour_bar" in figure.extras else 0.0)
    scale = min(1.0, *(_fitting_scale(figure, group, room, max_height) for group in groups))
    parts = []
    start = 0
    for group in groups:
        part = _part(figure, group, room * scale, topic, [*seed, start])
        parts.append(_flattened(part) if figure.flat else part)
        start += len(group)
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


def _fitting_scale(figure: FigureSpec, panels: Sequence[PanelSpec], width: float, max_height: float) -> float:
    """Return the share of the width at which the panels are no higher than allowed."""
    scale = 1.0
    while scale > 0.2:
        if total_height(figure, panels, width * scale) <= max_height:
            break
        scale *= 0.94
    return scale


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A panel's drawing: everything but its identifier, its pictures, its identifier and that one's box."""

    items: list[Item]
    images: list[PlacedImage]
    name: list[Item]
    name_box: Box | None

    @property
    def ink(self) -> Box:
        return scene.ink_of([*self.items, *self.name])


def _part(
    figure: FigureSpec, panels: Sequence[PanelSpec], width: float, topic: Topic, seed: Sequence[int]
) -> FigurePart:
    drawn = [
        _panel_items(figure, panel, cell, topic, [*seed, number])
        for number, (panel, cell) in enumerate(zip(panels, panel_cells(figure, panels, width), strict=True))
    ]
    if figure.panel_bitmaps:
        drawn = [_as_bitmap(panel) for panel in drawn]
    items = [item for panel in drawn for item in (*panel.items, *panel.name)]
    items += extra_items(figure, [panel.ink for panel in drawn])
    frame = scene.ink_of(items)
    dx, dy = -frame[0], -frame[1]
    placed = [
        PlacedPanel(
            identifier=spec.identifier,
            box=scene.shifted_box(panel.ink, dx, dy),
            identifier_box=scene.shifted_box(clip(panel.name_box, frame), dx, dy) if panel.name_box else None,
            images=tuple(PlacedImage(scene.shifted_box(i.box, dx, dy), i.spec) for i in panel.images),
            evidence=spec.evidence,
        )
        for spec, panel in zip(panels, drawn, strict=True)
    ]
    return FigurePart(
        frame[2] - frame[0], frame[3] - frame[1], tuple(scene.shifted(i, dx, dy) for i in items), tuple(placed)
    )


def _panel_items(figure: FigureSpec, panel: PanelSpec, cell: Cell, topic: Topic, seed: Sequence[int]) -> _Drawn:
    top = cell.top + (band(figure) if figure.identifier_place in ("above", "above_centre") else 0.0)
    left = cell.left + side_band(figure)
    items: list[Item] = []
    images: list[PlacedImage] = []
    for n, (image, box) in enumerate(zip(panel.images, _picture_boxes(figure, panel, cell, left, top), strict=True)):
        own = _image_items(image, box, topic, [*seed, n])
        ink = scene.ink_of(own)
        images.append(PlacedImage(ink, image))
        own += part_name(image, ink, 0.85 * figure.identifier_size)
        own += lettering_items(image.lettering, image, ink, np.random.default_rng([*seed, n, 1]))
        if image.inset is not None:
            inset = _inset(image.inset, ink)
            own += _inset_items(inset, _inset_box(ink), topic, [*seed, n, 2])
            images.append(PlacedImage(_inset_box(ink), inset))
        items += own
    name = identifier_items(figure, panel, cell, scene.ink_of(items), top)
    text = next((item for item in name if isinstance(item, Text)), None) or _first_part(panel, items)
    in_pixels = figure.flat or figure.panel_bitmaps
    name_box = (scene.ink_box(text) if in_pixels else line_box(text)) if text is not None else None
    return _Drawn(items, images, name, name_box)


def _first_part(panel: PanelSpec, items: Sequence[Item]) -> Text | None:
    """Return the name of the first part where it stands for the panel's identifier, as "A1" for "A"."""
    part = panel.images[0].part
    if not panel.identifier or not part.startswith(panel.identifier) or panel.printed != "":
        return None
    return next((item for item in items if isinstance(item, Text) and item.text == part), None)


def _picture_boxes(figure: FigureSpec, panel: PanelSpec, cell: Cell, left: float, top: float) -> list[Box]:
    """Return where the panel's pictures lie: side by side and equally high, or stacked and equally wide."""
    width = cell.width - side_band(figure)
    height = pictures_height(panel, width)
    boxes: list[Box] = []
    x, y = left, top
    for image in panel.images:
        if panel.stacked:
            boxes.append((x, y, x + width, y + width / image.aspect))
            y = boxes[-1][3] + gap_of(panel)
        else:
            boxes.append((x, y, x + height * image.aspect, y + height))
            x = boxes[-1][2] + gap_of(panel)
    return boxes


def _inset(kind: PictureKind, ink: Box) -> ImageSpec:
    box = _inset_box(ink)
    return ImageSpec(kind, (box[2] - box[0]) / (box[3] - box[1]))


def _inset_box(ink: Box) -> Box:
    """Return a place in the lower right corner of a picture."""
    width, height = ink[2] - ink[0], ink[3] - ink[1]
    return (ink[2] - 0.36 * width, ink[3] - 0.36 * height, ink[2] - 0.03 * width, ink[3] - 0.03 * height)


def _inset_items(inset: ImageSpec, box: Box, topic: Topic, seed: Sequence[int]) -> list[Item]:
    return [*_image_items(inset, box, topic, seed), scene.rectangle(box, stroke=WHITE, line_width=1.0)]


def _as_bitmap(panel: _Drawn) -> _Drawn:
    """Return the panel as one bitmap that holds its identifier in its pixels."""
    ink = panel.ink
    moved = [scene.shifted(item, -ink[0], -ink[1]) for item in (*panel.items, *panel.name)]
    width, height = ink[2] - ink[0], ink[3] - ink[1]
    scale = min(NATIVE_DPI / 72, MAX_PIXELS / max(width, height))
    pixels = scene.rendered(moved, width, height, max(8, round(width * scale)))
    return replace(panel, items=[Bitmap(ink, scene.jpeg_of(pixels, PDF_JPEG_QUALITY))], name=[])


def _image_items(image: ImageSpec, box: Box, topic: Topic, seed: Sequence[int]) -> list[Item]:
    rng = np.random.default_rng(list(seed))
    if image.kind in PLOT_KINDS:
        return plots.plot(image.kind, rng, topic, box, y_title=image.y_title)
    width, height = box[2] - box[0], box[3] - box[1]
    scale = min(NATIVE_DPI / 72, MAX_PIXELS / max(width, height))
    pixels = pictures.drawn_picture(image.kind, rng, max(8, round(width * scale)), max(8, round(height * scale)))
    dark = image.kind in DARK_KINDS
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
        return [scene.rectangle((x - half, y - half, x + half, y + half), stroke=colour, line_width=1.0)]
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
