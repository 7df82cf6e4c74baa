"""Pictures of what was found in a figure: boxes on top of it, contact sheets, and their encoding for a page.

Does not belong here: the interactive overlays of the gallery (they are SVG, see `gallery`).
"""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from pmo_assets.records.geometry import UNIT_BOX, Box, area, as_box, clip, height, intersection
from pmo_assets.viewing.lettering import Lettering
from pmo_assets.viewing.palette import (
    IMAGE_TYPE_COLOURS,
    KIND_COLOURS,
    UNDECIDED,
    UNDECIDED_COLOUR,
    image_type_colour,
    ink_on,
)

Pixels = NDArray[np.uint8]

MAX_BOXES = 400
"""Boxes of one kind that are drawn; a figure with more is a detector gone wild and would be unreadable anyway."""

PREVIEW_BYTES = 22_000
"""As a data URI this stays below 30 kB, what an event log row should hold at most."""

MAX_THUMBNAIL_PIXELS = 200_000_000
"""A picture with more pixels is refused before it is decoded (a decompression bomb)."""

MIN_LETTERING = 10
"""Pixels per em below which letters cannot be read."""

MAX_HIDDEN = 0.3
"""Fraction of a box that its label may hide."""

_INK = "#1b1f24"
_HAIRLINE = "#d5d9df"
_MARK_SIGNS = {True: " →", False: "", None: " ?"}


def checked_pixels(pixels: Pixels) -> Pixels:
    """Return `pixels` as they are.

    Raises:
        ValueError: if they are not a non-empty (height, width, 3) uint8 array.
    """
    if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8 or 0 in pixels.shape:
        raise ValueError(f"expected a non-empty (height, width, 3) uint8 array, got {pixels.dtype} {pixels.shape}")
    return pixels


def visible_box(box: Box) -> Box | None:
    """Return a normalised box clipped to the figure, or None when it is not finite or nothing of it is visible."""
    if len(box) != 4 or not all(math.isfinite(value) for value in box):
        return None
    clipped = clip(as_box(box), UNIT_BOX)
    return clipped if area(clipped) > 0 else None


def scaled(pixels: Pixels, max_side: int) -> Image.Image:
    """Return pixels as a picture, scaled down to `max_side` pixels where they are larger."""
    picture = Image.fromarray(np.ascontiguousarray(pixels))
    factor = min(1.0, max_side / max(picture.size))
    size = (max(1, round(picture.width * factor)), max(1, round(picture.height * factor)))
    return picture if size == picture.size else picture.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)


def draw_frame(
    canvas: ImageDraw.ImageDraw,
    box: Box,
    colour: str,
    line: int,
    dash: int = 0,
    *,
    casing: bool = True,
    casing_colour: str = "white",
) -> None:
    """Draw a rectangle (pixels) inside its edges with a casing, so it shows on dark and on light ground.

    Args:
        canvas: to draw on.
        box: pixels.
        colour: `#rrggbb`.
        line: width in pixels.
        dash: length of dashes and gaps in pixels; 0 draws it solid.
        casing: without, what lies below shows between the dashes.
        casing_colour: `#rrggbb` or name; not that of the line.
    """
    left, top, right, bottom = (round(value) for value in box)
    right, bottom = max(left + 2 * line, right - 1), max(top + 2 * line, bottom - 1)
    if casing:
        canvas.rectangle((left - 1, top - 1, right + 1, bottom + 1), outline=casing_colour, width=line + 2)
    if not dash:
        canvas.rectangle((left, top, right, bottom), outline=colour, width=line)
        return
    for start in range(left, right, 2 * dash):
        end = min(start + dash, right)
        canvas.rectangle((start, top, end, top + line - 1), fill=colour)
        canvas.rectangle((start, bottom - line + 1, end, bottom), fill=colour)
    for start in range(top, bottom, 2 * dash):
        end = min(start + dash, bottom)
        canvas.rectangle((left, start, left + line - 1, end), fill=colour)
        canvas.rectangle((right - line + 1, start, right, end), fill=colour)


def _label_place(box: Box, size: tuple[float, float], frame: Box, taken: Sequence[Box], *, outside: bool) -> Box:
    """Return where a label of `size` covers the least of what is `taken`; the first of equals wins."""
    w, h = size
    left, top, right, bottom = box
    corners = [(left, top), (right - w, top), (left, bottom - h), (right - w, bottom - h)]
    beside = [(left, top - h), (right, top), (left - w, top), (left, bottom), (right - w, top - h), (right - w, bottom)]
    best: tuple[float, Box] | None = None
    for x, y in [*beside, *corners] if outside else [*corners, *beside]:
        x = min(max(x, frame[0]), max(frame[0], frame[2] - w))
        y = min(max(y, frame[1]), max(frame[1], frame[3] - h))
        place = (x, y, x + w, y + h)
        covered = sum(area(intersection(place, other)) for other in taken)
        if best is None or covered < best[0]:
            best = (covered, place)
        if covered == 0:
            break
    assert best is not None
    return best[1]


def draw_labels(
    canvas: ImageDraw.ImageDraw,
    frame: Box,
    labels: Sequence[tuple[Box, str, str, bool]],
    taken: list[Box],
    full_size: int,
    least_size: int = MIN_LETTERING,
) -> None:
    """Write (box, text, colour, outside) where each hides little, the last one first.

    Args:
        canvas: to draw on.
        frame: pixels that may be written on.
        labels: box that a text is about, the text, its colour, whether it goes beside the box.
        taken: places that are not written over; those of the labels are added.
        full_size: pixels per em.
        least_size: of a small box's label.
    """
    # Panel names matter most, so they choose their place first.
    for place, text, colour, outside in reversed(labels):
        # A small box gets small letters, down to what can still be read, and a label that would hide it goes beside it.
        lettering = Lettering(min(full_size, max(least_size, round(height(place) / 4))), bold=True)
        pad = max(2, round(lettering.size / 4))
        text = lettering.shortened(text, max(frame[2] / 3, 4 * lettering.size))
        size = (lettering.width(text) + 2 * pad, lettering.cap_height + 2 * pad)
        outside = outside or size[0] * size[1] > MAX_HIDDEN * area(place)
        spot = _label_place(place, size, frame, taken, outside=outside)
        canvas.rounded_rectangle(spot, radius=pad, fill=colour, outline="white")
        lettering.draw(canvas, spot[0] + pad, spot[3] - pad, text, ink_on(colour))
        taken.append(spot)


def draw_detections(
    pixels: Pixels,
    *,
    panels: Sequence[tuple[Box, str | None]],
    identifiers: Sequence[tuple[Box, str | None]] = (),
    images: Sequence[tuple[Box, str | None, bool | None]] = (),
    panel_colours: Sequence[str] = (),
    max_side: int = 480,
) -> Pixels:
    """Return the figure, scaled down to `max_side` pixels, with what was found in it.

    Panels are solid (`palette.KIND_COLOURS`) with their name; identifiers are solid and thin with what was read;
    images are dashed in the colour of their type, labelled with type and "→" (marked) or "?" (mark undecided).
    Boxes that are not finite or lie outside are left out, and at most `MAX_BOXES` of each kind are drawn.

    Args:
        pixels: (height, width, 3) uint8, RGB.
        panels: (box, name) pairs; boxes normalised [l, t, r, b].
        identifiers: (box, text as read) pairs.
        images: (box, image type, marked) triples; None where it could not be decided.
        panel_colours: `#rrggbb` of each panel, where colours say which panel a piece of caption belongs to.
        max_side: longest side of the result in pixels; smaller figures are not enlarged.

    Returns:
        (height, width, 3) uint8, RGB.

    Raises:
        ValueError: if `pixels` has another shape or dtype, or `max_side` is not positive.
    """
    if max_side < 1:
        raise ValueError(f"max_side must be positive, got {max_side}")
    picture = scaled(checked_pixels(pixels), max_side)
    canvas = ImageDraw.Draw(picture)
    frame: Box = (0.0, 0.0, float(picture.width), float(picture.height))
    longest = max(picture.size)
    line = max(2, round(longest / 240))
    full_size = max(11, round(longest / 40))

    def in_pixels(box: Box, inset: float = 0.0) -> Box | None:
        visible = visible_box(box)
        if visible is None:
            return None
        x0, y0, x1, y1 = (side * frame[2 + i % 2] for i, side in enumerate(visible))
        inset = min(inset, (x1 - x0) / 4, (y1 - y0) / 4)
        return (x0 + inset, y0 + inset, x1 - inset, y1 - inset)

    labels: list[tuple[Box, str, str, bool]] = []
    for box, image_type, marked in images[:MAX_BOXES]:
        # Inset, or the frame would coincide with the one of its panel.
        if (place := in_pixels(box, inset=line + 2)) is not None:
            colour = image_type_colour(image_type)
            draw_frame(canvas, place, colour, line, dash=3 * line)
            labels.append((place, (image_type or UNDECIDED) + _MARK_SIGNS[marked], colour, False))
    for number, (box, name) in enumerate(panels[:MAX_BOXES]):
        if (place := in_pixels(box)) is not None:
            colour = panel_colours[number] if panel_colours else KIND_COLOURS["panel"]
            draw_frame(canvas, place, colour, line)
            if name:
                labels.append((place, name, colour, False))
    taken: list[Box] = []
    for box, text in identifiers[:MAX_BOXES]:
        if (place := in_pixels(box)) is not None:
            draw_frame(canvas, place, KIND_COLOURS["identifier"], max(1, line - 1))
            taken.append(place)
            if text:
                labels.append((place, text, KIND_COLOURS["identifier"], True))

    draw_labels(canvas, frame, labels, taken, full_size)
    return np.asarray(picture, dtype=np.uint8).copy()


_PANEL = ("panel", KIND_COLOURS["panel"], 0)
_IDENTIFIER = ("identifier as printed", KIND_COLOURS["identifier"], 0)
_IMAGES = (
    *((f"image: {name}", colour, 5) for name, colour in IMAGE_TYPE_COLOURS.items()),
    ("image: type undecided", UNDECIDED_COLOUR, 5),
    ("→ marked   ? mark undecided", "", 0),
)

IDENTIFIER_LEGEND: Final = (_IDENTIFIER,)
STRUCTURE_LEGEND: Final = (_PANEL, _IDENTIFIER)
DETECTION_LEGEND: Final = (_PANEL, _IDENTIFIER, *_IMAGES)
"""Legend of the boxes of `draw_detections`: (words, colour, length of dashes; 0 for a solid line), of all kinds and of
those that a picture may show."""

LegendEntries = Sequence[tuple[str, str, int]]


def draw_legend(width: int = 960, entries: LegendEntries = DETECTION_LEGEND) -> Pixels:
    """Return a strip that explains the boxes of `draw_detections`, `width` pixels wide, on white."""
    lettering = Lettering(13)
    swatch, gap, row_height = 22, 18, lettering.line_height + 6
    places: list[tuple[float, int]] = []
    x, row = float(gap), 0
    for text, colour, _ in entries:
        extent = lettering.width(text) + (swatch + 6 if colour else 0)
        if x + extent > width - gap and x > gap:
            x, row = float(gap), row + 1
        places.append((x, row))
        x += extent + gap
    picture = Image.new("RGB", (width, (row + 1) * row_height + 8), "white")
    canvas = ImageDraw.Draw(picture)
    for (text, colour, dash), (x, row) in zip(entries, places, strict=True):
        top = 6 + row * row_height
        if colour:
            draw_frame(canvas, (x, top, x + swatch, top + 16), colour, 2, dash)
            x += swatch + 6
        lettering.draw(canvas, x, top + 13, text, _INK)
    return np.asarray(picture, dtype=np.uint8).copy()


def contact_sheet(
    tiles: Sequence[tuple[Pixels, str]],
    *,
    columns: int = 4,
    tile_size: int = 240,
    legend: LegendEntries = (),
    title_lines: int = 2,
) -> Pixels:
    """Return the pictures in a grid on white, each with its title below.

    Args:
        tiles: (picture, title) pairs; a picture is (height, width, 3) uint8, an empty one leaves a blank place.
        columns: pictures in a row.
        tile_size: side in pixels of the square that each picture is fitted into.
        legend: meaning of the boxes in the pictures, explained below the grid.
        title_lines: number of lines of a title that are shown.

    Returns:
        (height, width, 3) uint8, RGB.

    Raises:
        ValueError: if `columns` or `tile_size` is not positive.
    """
    if columns < 1 or tile_size < 1:
        raise ValueError(f"columns and tile_size must be positive, got {columns} and {tile_size}")
    gap = max(8, tile_size // 15)
    lettering = Lettering(max(11, tile_size // 20))
    columns = max(1, min(columns, len(tiles)))
    width = columns * (tile_size + gap) + gap
    rows: list[tuple[list[tuple[Image.Image | None, list[str]]], int, int]] = []
    for start in range(0, len(tiles), columns):
        row: list[tuple[Image.Image | None, list[str]]] = [
            (
                None if 0 in pixels.shape else scaled(checked_pixels(pixels), tile_size),
                lettering.lines(title, tile_size, title_lines),
            )
            for pixels, title in tiles[start : start + columns]
        ]
        picture_height = max(picture.height if picture else tile_size // 3 for picture, _ in row)
        title_height = max(len(lines) for _, lines in row) * lettering.line_height
        rows.append((row, picture_height, title_height))
    body_height = sum(picture + title + round(1.5 * gap) for _, picture, title in rows)
    if not rows:
        body_height = lettering.line_height + gap
    strip = draw_legend(width, legend) if legend else None
    sheet = Image.new("RGB", (width, body_height + gap + (len(strip) if strip is not None else 0)), "white")
    canvas = ImageDraw.Draw(sheet)
    if not rows:
        lettering.draw(canvas, gap, gap + lettering.size, "Nothing to show", _INK)
    y = gap
    for row, picture_height, title_height in rows:
        for column, (picture, lines) in enumerate(row):
            x = gap + column * (tile_size + gap)
            w, h = picture.size if picture else (tile_size, picture_height)
            left, top = x + (tile_size - w) // 2, y + (picture_height - h) // 2
            if picture:
                sheet.paste(picture, (left, top))
            canvas.rectangle((left - 1, top - 1, left + w, top + h), outline=_HAIRLINE)
            for number, text in enumerate(lines):
                baseline = y + picture_height + lettering.size + 5 + number * lettering.line_height
                lettering.draw(canvas, x + (tile_size - lettering.width(text)) / 2, baseline, text, _INK)
        y += picture_height + title_height + round(1.5 * gap)
    if strip is not None:
        sheet.paste(Image.fromarray(strip), (0, body_height + gap))
    return np.asarray(sheet, dtype=np.uint8).copy()


def jpeg_bytes(pixels: Pixels, max_bytes: int = PREVIEW_BYTES) -> bytes:
    """Return the picture as a JPEG of at most `max_bytes`, lowering first the quality, then the size.

    Raises:
        ValueError: if `pixels` is not (height, width, 3) uint8, or even a JPEG of one pixel is larger than `max_bytes`.
    """
    return _within(pixels, max_bytes, "JPEG", optimize=True)


def webp_bytes(pixels: Pixels, max_bytes: int = PREVIEW_BYTES) -> bytes:
    """Return the picture as a WebP of at most `max_bytes`: half the bytes of a JPEG that looks as good.

    Raises:
        ValueError: as `jpeg_bytes`.
    """
    # 3 % larger than by the usual method 4, in a third of the time
    return _within(pixels, max_bytes, "WEBP", method=2)


_QUALITIES: Final = {"JPEG": (88, 78, 66, 54), "WEBP": (84, 66, 48, 32)}
"""Qualities that are tried before a picture is made smaller: a WebP keeps letters legible that a JPEG's blocks hide."""


def _within(pixels: Pixels, max_bytes: int, form: Literal["JPEG", "WEBP"], **options: Any) -> bytes:
    picture = Image.fromarray(np.ascontiguousarray(checked_pixels(pixels)))
    while True:
        for quality in _QUALITIES[form]:
            buffer = io.BytesIO()
            picture.save(buffer, form, quality=quality, **options)
            if buffer.tell() <= max_bytes:
                return buffer.getvalue()
        if picture.size == (1, 1):
            raise ValueError(f"no {form} fits into {max_bytes} bytes")
        # The byte count grows about with the area, so this is near the largest size that fits.
        factor = min(0.9, max(0.3, math.sqrt(max_bytes / buffer.tell())))
        size = (max(1, int(picture.width * factor)), max(1, int(picture.height * factor)))
        picture = picture.resize(size, Image.Resampling.LANCZOS)


def thumbnail(png: bytes, max_side: int = 720) -> bytes:
    """Return a figure (PNG, JPEG or WebP bytes) as a WebP of at most `max_side` pixels, transparency on white.

    Raises:
        ValueError: if the bytes are not such a picture, are damaged, or hold more than `MAX_THUMBNAIL_PIXELS` pixels.
    """
    try:
        with Image.open(io.BytesIO(png), formats=("PNG", "JPEG", "WEBP")) as picture:
            if picture.width * picture.height > MAX_THUMBNAIL_PIXELS:
                raise ValueError(f"refused to decode a picture of {picture.width} x {picture.height} pixels")
            picture.draft("RGB", (max_side, max_side))
            if picture.mode.startswith("I;16") or picture.mode == "I":
                samples = np.asarray(picture, dtype=np.float64) / 257
                rgb = Image.fromarray(samples.clip(0, 255).astype(np.uint8)).convert("RGB")
            elif picture.has_transparency_data:
                layer = picture.convert("RGBA")
                rgb = Image.new("RGB", layer.size, "white")
                rgb.paste(layer, mask=layer.getchannel("A"))
            else:
                rgb = picture.convert("RGB")
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(f"not a readable picture: {error}") from error
    buffer = io.BytesIO()
    scaled(np.asarray(rgb, dtype=np.uint8), max_side).save(buffer, "WEBP", quality=76, method=4)
    return buffer.getvalue()


def picture_mime(data: bytes) -> str | None:
    """Return the media type of PNG, JPEG or WebP bytes by their signature, None for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def data_uri(data: bytes, mime: str) -> str:
    """Return the bytes as a `data:` URI, so that a page needs no second file."""
    return f"data:{mime};base64,{base64.b64encode(data).decode('ascii')}"
