"""Drawn things with exact extents: bitmaps, strokes and live text, as PDF operators and as pixels.

A scene is a list of items in points, origin top left, y downwards. The ink of an item is known without rendering, so
ground truth needs no measuring.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import cv2
import numpy as np
import pymupdf
from numpy.typing import NDArray
from PIL import Image

from pmo_assets.records.geometry import Box, union_box
from pmo_assets.samples import type_metrics

Colour = tuple[float, float, float]
BLACK: Colour = (0.0, 0.0, 0.0)
WHITE: Colour = (1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Bitmap:
    """A placed JPEG picture.

    Attributes:
        box: its place.
        jpeg: the file.
    """

    box: Box
    jpeg: bytes


@dataclass(frozen=True, slots=True)
class Path:
    """Connected straight strokes with round joins and caps, or a filled outline.

    Attributes:
        points: corners.
        stroke: line colour; None draws no line.
        fill: filling colour; None fills nothing.
        line_width: of the stroke, points.
        closed: the last point is joined to the first.
    """

    points: tuple[tuple[float, float], ...]
    stroke: Colour | None = BLACK
    fill: Colour | None = None
    line_width: float = 0.6
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A line of live text.

    Attributes:
        x: start of the baseline.
        baseline: y of the baseline at the start.
        text: printed text.
        font: standard font name.
        size: points.
        colour: filling colour.
        angle: 0, or 90 for text that runs upwards.
        word_space: added to every space, points.
    """

    x: float
    baseline: float
    text: str
    font: str = "Helvetica"
    size: float = 7.0
    colour: Colour = BLACK
    angle: Literal[0, 90] = 0
    word_space: float = 0.0


Item = Bitmap | Path | Text


def ink_box(item: Item) -> Box:
    """Return the box of an item's ink, points: placement of a bitmap, strokes with their width, glyph outlines."""
    if isinstance(item, Bitmap):
        return item.box
    if isinstance(item, Path):
        half = item.line_width / 2 if item.stroke is not None else 0.0
        xs, ys = [p[0] for p in item.points], [p[1] for p in item.points]
        return (min(xs) - half, min(ys) - half, max(xs) + half, max(ys) + half)
    if item.angle == 0:
        return type_metrics.ink_box(item.text, item.font, item.size, item.x, item.baseline)
    left, top, right, bottom = type_metrics.ink_box(item.text, item.font, item.size, 0.0, 0.0)
    return (item.x + top, item.baseline - right, item.x + bottom, item.baseline - left)


def ink_of(items: Sequence[Item]) -> Box:
    """Return the box around everything the items ink.

    Raises:
        ValueError: if there is no item.
    """
    return union_box(ink_box(item) for item in items)


def shifted_box(box: Box, dx: float, dy: float) -> Box:
    """Return the box moved by (dx, dy)."""
    return (box[0] + dx, box[1] + dy, box[2] + dx, box[3] + dy)


def shifted(item: Item, dx: float, dy: float) -> Item:
    """Return the item moved by (dx, dy) points."""
    if isinstance(item, Bitmap):
        return replace(item, box=shifted_box(item.box, dx, dy))
    if isinstance(item, Path):
        return replace(item, points=tuple((x + dx, y + dy) for x, y in item.points))
    return replace(item, x=item.x + dx, baseline=item.baseline + dy)


def circle(x: float, y: float, radius: float, *, stroke: Colour | None, fill: Colour | None, line_width: float) -> Path:
    """Return a circle as a polygon of 48 corners (a quarter turn is 12 of them, so the extremes are exact)."""
    angles = np.arange(48) * (2 * np.pi / 48)
    points = tuple((float(x + radius * np.cos(a)), float(y + radius * np.sin(a))) for a in angles)
    return Path(points, stroke, fill, line_width, closed=True)


def rectangle(box: Box, *, stroke: Colour | None, fill: Colour | None = None, line_width: float = 0.6) -> Path:
    """Return an upright rectangle."""
    left, top, right, bottom = box
    return Path(((left, top), (right, top), (right, bottom), (left, bottom)), stroke, fill, line_width, closed=True)


def jpeg_of(pixels: NDArray[np.uint8], quality: int) -> bytes:
    """Encode (height, width, 3) uint8 RGB pixels as baseline JPEG without metadata."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


@lru_cache(maxsize=len(type_metrics.FONTS))
def _font_resource(name: str) -> str:
    return f"/F{list(type_metrics.FONTS).index(name)}"


def _colour(colour: Colour, operator: str) -> str:
    return " ".join(f"{c:g}" for c in colour) + " " + operator


def operators(item: Path | Text, page_height: float) -> str:
    """Return the item as PDF content stream operators (PDF 32000-1:2008, sections 8.5 and 9.4)."""
    if isinstance(item, Text):
        # The text matrix turns the baseline upwards for 90 degrees.
        matrix = "1 0 0 1" if item.angle == 0 else "0 1 -1 0"
        return (
            f"BT {_colour(item.colour, 'rg')} {_font_resource(item.font)} {item.size:g} Tf {item.word_space:.4f} Tw "
            f"{matrix} {item.x:.3f} {page_height - item.baseline:.3f} Tm <{item.text.encode('cp1252').hex()}> Tj ET"
        )
    moves = [f"{x:.3f} {page_height - y:.3f} {'l' if i else 'm'}" for i, (x, y) in enumerate(item.points)]
    paint = {(True, True): "B", (True, False): "S", (False, True): "f", (False, False): "n"}
    parts = ["q 1 j 1 J", f"{item.line_width:g} w"]
    if item.stroke is not None:
        parts.append(_colour(item.stroke, "RG"))
    if item.fill is not None:
        parts.append(_colour(item.fill, "rg"))
    close = "h " if item.closed else ""
    return " ".join([*parts, *moves, close + paint[item.stroke is not None, item.fill is not None], "Q"])


def add_fonts(document: pymupdf.Document) -> str:
    """Put the standard fonts into the document; return the font resource dictionary for its pages."""
    entries = []
    for name in type_metrics.FONTS:
        xref = document.get_new_xref()
        document.update_object(xref, f"<</Type/Font/Subtype/Type1/BaseFont/{name}/Encoding/WinAnsiEncoding>>")
        entries.append(f"{_font_resource(name)} {xref} 0 R")
    return "<</Font<<" + " ".join(entries) + ">>>>"


def add_page(
    document: pymupdf.Document, resources: str, width: float, height: float, items: Sequence[Item]
) -> pymupdf.Page:
    """Append a page with the items; bitmaps lie below strokes and text."""
    page = document.new_page(width=width, height=height)
    document.xref_set_key(page.xref, "Resources", resources)
    for item in items:
        if isinstance(item, Bitmap):
            page.insert_image(pymupdf.Rect(item.box), stream=item.jpeg, keep_proportion=False)
    stream = "\n".join(operators(item, height) for item in items if not isinstance(item, Bitmap))
    xref = document.get_new_xref()
    document.update_object(xref, "<<>>")
    document.update_stream(xref, stream.encode("ascii"))
    contents = [*page.get_contents(), xref]
    document.xref_set_key(page.xref, "Contents", "[" + " ".join(f"{x} 0 R" for x in contents) + "]")
    return page


def rendered(items: Sequence[Item], width: float, height: float, pixel_width: int) -> NDArray[np.uint8]:
    """Return the items on white as (height, width, 3) uint8 RGB pixels, `pixel_width` pixels wide."""
    pixel_height = max(1, round(height * pixel_width / width))
    with pymupdf.open() as document:
        page = add_page(document, add_fonts(document), width, height, items)
        pixmap = page.get_pixmap(matrix=pymupdf.Matrix(pixel_width / width, pixel_height / height), alpha=False)
        pixels = np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(pixmap.height, pixmap.width, 3)
        if pixels.shape[:2] != (pixel_height, pixel_width):  # a page size that is no whole number rounds up
            pixels = cv2.resize(pixels, (pixel_width, pixel_height), interpolation=cv2.INTER_AREA)
        return np.ascontiguousarray(pixels, dtype=np.uint8)
