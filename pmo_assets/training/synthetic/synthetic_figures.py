"""Compound figures composed of pictures and plots on real or random layouts, with exact boxes of everything.

A figure follows from its seed alone. Boxes are known because every part is placed, not found: the box of a picture is
where it was pasted, the box of a plot on paper is its ink, the box of an identifier is the ink of its print, and a
panel is the hull of what was put into it. Conventions are those of the annotation guide: images without the identifier
and headings around them, plots with their axes, panels with everything that is theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from pmo_assets.records.geometry import Box
from pmo_assets.records.image_types import ImageType
from pmo_assets.training.synthetic.drawings import (
    PAPER_KINDS,
    bar_plot,
    blot,
    box_plot,
    drawn,
    heat_map,
    line_plot,
    scatter_plot,
    some_words,
    spots,
    trimmed,
)
from pmo_assets.training.synthetic.drawn_marks import draw_device_print, draw_marks
from pmo_assets.training.synthetic.layouts import Layout, parametric_layout
from pmo_assets.training.synthetic.letters import Colour, PixelBox, Pixels, printed, text_mask
from pmo_assets.training.synthetic.pools import PicturePool

Rng = np.random.Generator
PAPER: Colour = (255, 255, 255)


@dataclass(frozen=True, slots=True)
class PlacedImage:
    """An image of a figure: box, type, and whether a mark points at a region of it (None: not known).

    `box` is in pixels while the figure is composed and normalised in a `SyntheticFigure`.
    """

    box: tuple[float, float, float, float]
    image_type: ImageType
    marked: bool | None


@dataclass(frozen=True, slots=True)
class PlacedPanel:
    """A panel: its box, the identifier as printed without brackets (None: none printed) and the identifier's box."""

    box: tuple[float, float, float, float]
    identifier: str | None
    identifier_box: tuple[float, float, float, float] | None


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticFigure:
    """A figure: (height, width, 3) uint8 RGB pixels, panels and images with boxes normalised to the figure."""

    pixels: Pixels
    panels: tuple[PlacedPanel, ...]
    images: tuple[PlacedImage, ...]


@dataclass(slots=True)
class _Tile:
    """A part of a figure under way: pixels on the figure's ground and the images in it (pixel boxes)."""

    pixels: Pixels
    images: list[PlacedImage] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Style:
    """What the panels of one figure have in common."""

    ground: Colour
    subject: str
    types: tuple[ImageType, ...]
    mark_share: float
    print_share: float
    face: str
    size: int
    case: str
    wrapping: str
    position: str
    right: bool
    low: bool
    patch: bool
    framed: bool
    tinted: bool


_SUBJECTS = ("pictures", "picture grids", "plots", "plot grids", "blots", "diagram", "mixed", "explained", "retina")
_SUBJECT_ODDS = (0.19, 0.14, 0.22, 0.09, 0.04, 0.07, 0.12, 0.04, 0.09)
_TYPES: tuple[ImageType, ...] = ("CFP", "OCT", "Retinal Imaging", "Other")


def _style(rng: Rng, layout: Layout, width: int, height: int) -> _Style:
    ground: Colour = PAPER if rng.random() < 0.94 else (0, 0, 0) if rng.random() < 0.7 else (236, 240, 245)
    mixed = rng.random() < 0.3
    one = str(rng.choice(_TYPES, p=[0.24, 0.22, 0.18, 0.36]))
    types = tuple(t for t in _TYPES if mixed or t == one)
    side = float(np.sqrt(width * height))
    size = int(np.clip(side * np.exp(rng.uniform(np.log(0.02), np.log(0.06))), 9, 46))
    outside = rng.random()
    position = "inside" if outside < 0.42 else "above" if outside < 0.72 else "below" if outside < 0.92 else "beside"
    return _Style(
        ground=ground,
        subject=str(rng.choice(_SUBJECTS, p=_SUBJECT_ODDS)),
        types=types,
        mark_share=float(rng.choice([0.0, 0.4, 0.9], p=[0.5, 0.3, 0.2])),
        print_share=float(rng.choice([0.0, 0.3, 0.9], p=[0.4, 0.4, 0.2])),
        face=str(rng.choice(["hebo", "helv", "tiro", "tibo", "heit"], p=[0.42, 0.28, 0.16, 0.1, 0.04])),
        size=size,
        case=str(
            rng.choice(["upper", "lower", "number", "roman", "nested", "words"], p=[0.56, 0.31, 0.03, 0.02, 0.04, 0.04])
        ),
        wrapping=str(rng.choice(["", "()", ")", ".", "[]"], p=[0.62, 0.26, 0.05, 0.05, 0.02])),
        position=position,
        right=layout.corner[0],
        low=layout.corner[1],
        patch=bool(rng.random() < 0.2),
        framed=bool(rng.random() < 0.06),
        tinted=bool(rng.random() < 0.05),
    )


def identifier_names(rng: Rng, case: str, n: int) -> list[str]:
    """Return the identifiers of n panels: letters, numbers, Roman numerals, letter and digit, or words."""
    upper = [chr(65 + k) if k < 26 else chr(65 + k // 26 - 1) + chr(65 + k % 26) for k in range(n)]
    if case == "upper":
        return upper
    if case == "lower":
        return [name.lower() for name in upper]
    if case == "number":
        return [str(k + 1) for k in range(n)]
    if case == "roman":
        return ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", *upper[10:]][:n]
    if case == "nested":
        per = int(rng.integers(2, 4))
        return [f"{chr(65 + k // per)}{k % per + 1}" for k in range(n)]
    return [f"{some_words(rng, 1, 1)} {k + 1}" if k % 3 else some_words(rng, 1, 2) for k in range(n)]


def _blank(style: _Style, width: int, height: int) -> Pixels:
    canvas = np.empty((height, width, 3), np.uint8)
    canvas[:] = style.ground
    return canvas


def _paste(canvas: Pixels, x: int, y: int, tile: Pixels) -> PixelBox:
    """Paste what fits at (x, y) and return its box."""
    right, bottom = min(canvas.shape[1], x + tile.shape[1]), min(canvas.shape[0], y + tile.shape[0])
    canvas[y:bottom, x:right] = tile[: bottom - y, : right - x]
    return (x, y, right, bottom)


def _picture(
    rng: Rng, pool: PicturePool, style: _Style, kind: ImageType, width: int, height: int
) -> tuple[Pixels, bool | None]:
    """Return a picture and whether it is marked."""
    pixels = np.ascontiguousarray(pool.picture(rng, kind, width, height))
    if rng.random() < style.print_share * 0.6 and min(width, height) > 40:
        draw_device_print(rng, pixels)
    marked = bool(rng.random() < style.mark_share and min(width, height) > 40)
    if marked:
        draw_marks(rng, pixels)
    return pixels, marked


def _shape(rng: Rng, kind: ImageType, width: int, height: int) -> tuple[int, int]:
    """Return the size of one picture in a cell: most fill it, others keep the proportions their kind usually has."""
    if rng.random() < 0.62:
        return width, height
    aspect = {
        "CFP": float(rng.choice([1.0, 1.3, 1.5])),
        "OCT": float(rng.choice([1.0, 1.5, 2.2, 2.9])),
        "Retinal Imaging": float(rng.choice([1.0, 1.0, 1.3])),
        "Other": float(rng.choice([0.75, 1.0, 1.33, 1.5])),
    }[kind]
    if width / height > aspect:
        return max(16, round(height * aspect)), height
    return width, max(16, round(width / aspect))


def _single(rng: Rng, pool: PicturePool, style: _Style, width: int, height: int) -> _Tile:
    kind = style.types[int(rng.integers(len(style.types)))]
    w, h = _shape(rng, kind, width, height)
    pixels, marked = _picture(rng, pool, style, kind, w, h)
    return _Tile(pixels, [PlacedImage((0, 0, pixels.shape[1], pixels.shape[0]), kind, marked)])


def _plot(rng: Rng, style: _Style, width: int, height: int) -> _Tile:
    pixels = drawn(rng, PAPER_KINDS, width, height)
    if style.tinted:
        pixels = np.minimum(pixels, np.asarray((240, 246, 255), np.uint8))
    return _Tile(pixels, [PlacedImage((0, 0, pixels.shape[1], pixels.shape[0]), "Other", False)])


def _grid(rng: Rng, pool: PicturePool, style: _Style, width: int, height: int) -> _Tile:
    """Compose a grid of pictures with headings above columns, beside rows or below pictures, gaps or none."""
    aspect = width / height
    choices = [(r, c) for r in range(1, 6) for c in range(1, 7) if 2 <= r * c <= 20 and 0.5 < aspect * r / c < 2.6]
    rows, columns = choices[int(rng.integers(len(choices)))] if choices else (1, 2)
    if width / columns < 36 or height / rows < 30:
        return _single(rng, pool, style, width, height)
    canvas = _blank(style, width, height)
    side = float(np.sqrt(width * height / rows / columns))
    gap = int(
        rng.choice(
            [0, 1, 2, round(side * 0.03), round(side * 0.08), round(side * 0.15)], p=[0.1, 0.08, 0.16, 0.3, 0.26, 0.1]
        )
    )
    size = int(np.clip(side * rng.uniform(0.06, 0.13), 7, 22))
    headed, named, captioned = rng.random() < 0.3, rng.random() < 0.22, rng.random() < 0.22
    top, left = round(size * 1.6) * headed, round(size * 1.7) * named
    below = round(size * 1.5) * captioned
    cell_w, cell_h = (width - left - gap * (columns - 1)) // columns, (height - top) // rows - below - gap
    if cell_w < 24 or cell_h < 20:
        return _single(rng, pool, style, width, height)
    ink: Colour = (0, 0, 0) if sum(style.ground) > 380 else (255, 255, 255)
    per_column = [style.types[int(rng.integers(len(style.types)))] for _ in range(columns)]
    # Segmentations, percepts and heat maps stand in rows beside the pictures they belong to.
    drawn_columns = {k for k in range(columns) if rng.random() < (0.25 if columns > 1 and rng.random() < 0.4 else 0.0)}
    drawing = [heat_map, spots][int(rng.integers(2))]
    tile = _Tile(canvas)
    for i in range(rows):
        for j in range(columns):
            x, y = left + j * (cell_w + gap), top + i * (cell_h + below + gap)
            kind: ImageType
            marked: bool | None
            if j in drawn_columns:
                pixels, kind, marked = drawing(rng, cell_w, cell_h), "Other", False
            else:
                kind = per_column[j]
                pixels, marked = _picture(rng, pool, style, kind, cell_w, cell_h)
            if i == rows - 1 and j == columns - 1 and rows > 1 and rng.random() < 0.1:
                continue
            tile.images.append(PlacedImage(_paste(canvas, x, y, pixels), kind, marked))
            if captioned:
                text = some_words(rng, 1, 2)
                mask = text_mask(text, "helv", size)
                printed(
                    canvas, x + max(0, (cell_w - mask.shape[1]) // 2), y + cell_h + size // 4, text, "helv", size, ink
                )
            if i == 0 and headed:
                text = some_words(rng, 1, 2)
                mask = text_mask(text, "hebo", size)
                printed(canvas, x + max(0, (cell_w - mask.shape[1]) // 2), 1, text, "hebo", size, ink)
        if named:
            text = some_words(rng, 1, 1)
            mask = text_mask(text, "hebo", size)
            y = top + i * (cell_h + below + gap)
            printed(canvas, 1, y + max(0, (cell_h - mask.shape[1]) // 2), text, "hebo", size, ink, upright=True)
    return tile


def _plot_grid(rng: Rng, style: _Style, width: int, height: int) -> _Tile:
    """Compose a row or grid of plots of one kind, each an image."""
    aspect = width / height
    choices = [(r, c) for r in range(1, 4) for c in range(1, 6) if 2 <= r * c <= 10 and 0.6 < aspect * r / c < 2.2]
    rows, columns = choices[int(rng.integers(len(choices)))] if choices else (1, 2)
    if width / columns < 70 or height / rows < 60:
        return _plot(rng, style, width, height)
    canvas = _blank(style, width, height)
    kind = [line_plot, bar_plot, scatter_plot, box_plot, heat_map][int(rng.integers(5))]
    gap = int(rng.integers(3, 16))
    tile = _Tile(canvas)
    for i in range(rows):
        for j in range(columns):
            w, h = (width - gap * (columns - 1)) // columns, (height - gap * (rows - 1)) // rows
            pixels = trimmed(kind(rng, w, h))
            box = _paste(canvas, j * (w + gap), i * (h + gap), pixels)
            tile.images.append(PlacedImage(box, "Other", False))
    return tile


def _blots(rng: Rng, style: _Style, width: int, height: int) -> _Tile:
    """Compose strips of blots with names on the left, sizes on the right and lanes above."""
    canvas = _blank(style, width, height)
    ink: Colour = (0, 0, 0) if sum(style.ground) > 380 else (255, 255, 255)
    size = int(np.clip(min(width, height) * rng.uniform(0.05, 0.09), 7, 20))
    n = int(np.clip(rng.integers(1, 5), 1, max(1, height // 40)))
    left, right, top = round(width * rng.uniform(0.12, 0.28)), round(width * rng.uniform(0.0, 0.18)), round(size * 1.8)
    gap = round(size * rng.uniform(0.3, 1.0))
    strip = max(12, (height - top - gap * (n - 1)) // n)
    strip = min(strip, round((width - left - right) * rng.uniform(0.15, 0.7)))
    tile = _Tile(canvas)
    framed = rng.random() < 0.4
    for k in range(n):
        y = top + k * (strip + gap)
        pixels = blot(rng, max(20, width - left - right), strip)
        if framed:
            cv2.rectangle(pixels, (0, 0), (pixels.shape[1] - 1, pixels.shape[0] - 1), (0, 0, 0), 1)
        tile.images.append(PlacedImage(_paste(canvas, left, y, pixels), "Other", False))
        text = some_words(rng, 1, 1)[: max(2, left // max(4, size // 2))]
        mask = text_mask(text, "helv", size)
        printed(canvas, max(0, left - mask.shape[1] - 4), y + (strip - size) // 2, text, "helv", size, ink)
        if right > size * 2:
            printed(
                canvas,
                width - right + 4,
                y + (strip - size) // 2,
                f"{int(rng.integers(12, 200))} kDa",
                "helv",
                size,
                ink,
            )
    lanes = int(rng.integers(2, 5))
    for k in range(lanes):
        x = left + round((k + 0.2) * (width - left - right) / lanes)
        printed(canvas, x, 1, some_words(rng, 1, 1)[:6], "helv", size, ink)
    return tile


def _explained(rng: Rng, pool: PicturePool, style: _Style, width: int, height: int) -> _Tile:
    """Compose a picture with words beside it and lines that lead into it: such a picture counts as marked."""
    canvas = _blank(style, width, height)
    left, right = round(width * rng.uniform(0, 0.28)), round(width * rng.uniform(0.12, 0.3))
    kind = style.types[int(rng.integers(len(style.types)))]
    pixels, _ = _picture(rng, pool, style, kind, max(24, width - left - right), height)
    box = _paste(canvas, left, 0, pixels)
    ink: Colour = (0, 0, 0) if sum(style.ground) > 380 else (255, 255, 255)
    size = int(np.clip(min(width, height) * rng.uniform(0.05, 0.09), 7, 18))
    for _ in range(int(rng.integers(2, 7))):
        y = int(rng.uniform(0.05, 0.92) * height)
        end = (int(rng.uniform(box[0] + 4, box[2] - 4)), int(np.clip(y + rng.normal(0, 0.1) * height, 2, height - 3)))
        on_left = left > size * 4 and rng.random() < 0.5
        start = (left - 3, y) if on_left else (box[2] + 3, y)
        draw = cv2.arrowedLine if rng.random() < 0.5 else None
        if draw is not None:
            draw(canvas, start, end, ink, max(1, size // 10), cv2.LINE_AA, 0, 0.08)
        else:
            cv2.line(canvas, start, end, ink, max(1, size // 10), cv2.LINE_AA)
        text = some_words(rng, 1, 1)
        mask = text_mask(text, "helv", size)
        printed(
            canvas,
            max(0, start[0] - mask.shape[1] - 2) if on_left else start[0] + 2,
            y - size // 2,
            text,
            "helv",
            size,
            ink,
        )
    return _Tile(canvas, [PlacedImage(box, kind, True)])


def _diagram(rng: Rng, pool: PicturePool, style: _Style, width: int, height: int) -> _Tile:
    """Compose a work flow: pictures, boxes with words and arrows between them; only the pictures are images."""
    if rng.random() < 0.35:
        return _plot(rng, style, width, height)
    canvas = _blank(style, width, height)
    columns, rows = max(2, round(width / rng.uniform(100, 200))), max(1, round(height / rng.uniform(90, 180)))
    cell_w, cell_h = width // columns, height // rows
    ink: Colour = (40, 40, 40) if sum(style.ground) > 380 else (220, 220, 220)
    size = int(np.clip(min(cell_w, cell_h) * 0.11, 7, 18))
    tile = _Tile(canvas)
    previous: tuple[int, int] | None = None
    for i in range(rows):
        for j in range(columns):
            x, y = (
                j * cell_w + round(cell_w * rng.uniform(0.08, 0.2)),
                i * cell_h + round(cell_h * rng.uniform(0.08, 0.2)),
            )
            w, h = round(cell_w * rng.uniform(0.5, 0.72)), round(cell_h * rng.uniform(0.5, 0.66))
            if previous is not None:
                cv2.arrowedLine(canvas, previous, (x - 3, y + h // 2), ink, max(1, size // 6), cv2.LINE_AA, 0, 0.12)
            previous = (x + w + 2, y + h // 2)
            if rng.random() < 0.5 or min(w, h) < 24:
                fill = tuple(int(v) for v in rng.integers(190, 256, 3)) if rng.random() < 0.6 else style.ground
                cv2.rectangle(canvas, (x, y), (x + w, y + h), fill, -1)
                cv2.rectangle(canvas, (x, y), (x + w, y + h), ink, 1)
                printed(
                    canvas,
                    x + 4,
                    y + h // 2 - size // 2,
                    some_words(rng, 1, 1),
                    "helv",
                    size,
                    (0, 0, 0) if fill != (0, 0, 0) else ink,
                )
                continue
            if rng.random() < 0.2:  # a stack of slices: the front one is the image, the others peep out behind it
                step = max(3, round(w * 0.05))
                for k in (2, 1):
                    cv2.rectangle(
                        canvas, (x + k * step, y - k * step), (x + w + k * step, y + h - k * step), (150, 150, 150), -1
                    )
                    cv2.rectangle(canvas, (x + k * step, y - k * step), (x + w + k * step, y + h - k * step), PAPER, 1)
            kind = style.types[int(rng.integers(len(style.types)))]
            pixels, marked = (
                (spots(rng, w, h), False) if rng.random() < 0.25 else _picture(rng, pool, style, kind, w, h)
            )
            tile.images.append(PlacedImage(_paste(canvas, x, y, pixels), kind, marked))
            if pixels.shape[0] > 0 and rng.random() < 0.5:
                printed(canvas, x, y + h + 3, some_words(rng, 1, 2), "helv", size, ink)
    if rng.random() < 0.15:
        cv2.rectangle(canvas, (0, 0), (width - 1, height - 1), ink, 1)
    if not tile.images:
        return _Tile(canvas, [PlacedImage((0, 0, width, height), "Other", False)])
    return tile


def _retina(rng: Rng, pool: PicturePool, style: _Style, width: int, height: int) -> _Tile:
    """Compose what ophthalmic devices print: a fundus picture beside or above the scans through it."""
    canvas = _blank(style, width, height)
    gap = int(rng.choice([0, 0, 2, 6]))
    tile = _Tile(canvas)
    face: ImageType = "CFP" if rng.random() < 0.4 else "Retinal Imaging"
    beside = width > height * 1.2
    share = float(rng.uniform(0.25, 0.5))
    if beside:
        w = min(round(width * share), round(height * 1.2))
        rest = (w + gap, 0, width, height)
        first = (w, height)
    else:
        h = min(round(height * share), round(width * 0.9))
        rest = (0, h + gap, width, height)
        first = (width, h)
    if min(*first, rest[2] - rest[0], rest[3] - rest[1]) < 30:
        return _single(rng, pool, style, width, height)
    pixels, marked = _picture(rng, pool, style, face, *first)
    if rng.random() < 0.5:  # the scan line
        y = int(rng.uniform(0.3, 0.7) * pixels.shape[0])
        line = max(1, first[1] // 150)
        cv2.arrowedLine(
            pixels, (round(first[0] * 0.15), y), (round(first[0] * 0.85), y), (0, 255, 0), line, cv2.LINE_AA, 0, 0.04
        )
        marked = True
    tile.images.append(PlacedImage(_paste(canvas, 0, 0, pixels), face, marked))
    n = int(rng.integers(1, 4)) if rest[3] - rest[1] > 150 else 1
    each = (rest[3] - rest[1] - gap * (n - 1)) // n
    for k in range(n):
        kind: ImageType = "OCT" if rng.random() < 0.8 else "Retinal Imaging"
        pixels, marked = _picture(rng, pool, style, kind, rest[2] - rest[0], each)
        tile.images.append(PlacedImage(_paste(canvas, rest[0], rest[1] + k * (each + gap), pixels), kind, marked))
    return tile


def _content(rng: Rng, pool: PicturePool, style: _Style, width: int, height: int, alone: bool) -> _Tile:
    """Return what a panel shows, at most width × height."""
    subject = style.subject
    if subject == "mixed":
        subject = str(rng.choice(_SUBJECTS, p=_SUBJECT_ODDS))
        if subject == "mixed":
            subject = "pictures" if rng.random() < 0.5 else "plots"
    # Small panels hold one picture or plot; only large ones are composed of many.
    room = (width * height) ** 0.5
    if subject not in ("plots", "pictures") and (room < 110 or (room < 190 and rng.random() < 0.6)):
        subject = "plots" if subject == "plot grids" else "pictures"
    if subject == "pictures":
        return _single(rng, pool, style, width, height)
    if subject == "plots":
        return _plot(rng, style, width, height) if min(width, height) > 50 else _single(rng, pool, style, width, height)
    if subject == "picture grids":
        return _grid(rng, pool, style, width, height)
    if subject == "plot grids":
        return _plot_grid(rng, style, width, height)
    if subject == "blots":
        return _blots(rng, style, width, height)
    if subject == "explained":
        return _explained(rng, pool, style, width, height)
    if subject == "retina":
        return _retina(rng, pool, style, width, height)
    return (
        _diagram(rng, pool, style, width, height) if alone or width > 180 else _single(rng, pool, style, width, height)
    )


def _ink_box(pixels: Pixels, ground: Colour) -> PixelBox | None:
    """Return the box of what differs from the ground by more than 20 levels in a channel."""
    away = cv2.absdiff(np.ascontiguousarray(pixels), np.full_like(pixels, np.asarray(ground, np.uint8)))
    first, second, third = cv2.split(away)
    left, top, wide, tall = cv2.boundingRect(np.asarray(cv2.max(cv2.max(first, second), third) > 20, dtype=np.uint8))
    return (left, top, left + wide, top + tall) if wide and tall else None


def _hull(boxes: Sequence[tuple[float, float, float, float]]) -> tuple[float, float, float, float]:
    return (min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes))


def _add_panel(
    rng: Rng, pool: PicturePool, style: _Style, canvas: Pixels, cell: PixelBox, name: str | None, alone: bool
) -> tuple[PlacedPanel, list[PlacedImage]] | None:
    """Fill one cell of the canvas; None when there is no room."""
    left, top, right, bottom = cell
    text = (
        name
        if name is None
        else {"": name, "()": f"({name})", ")": f"{name})", ".": f"{name}.", "[]": f"[{name}]"}[style.wrapping]
    )
    mask = text_mask(text, style.face, style.size) if text else np.zeros((0, 0), np.uint8)
    tall, wide = mask.shape
    air = max(2, round(style.size * 0.35))
    inner = [left, top, right, bottom]
    outside = text is not None and style.position != "inside"
    if outside and style.position == "above":
        inner[1] += tall + air
    elif outside and style.position == "below":
        inner[3] -= tall + air
    elif outside:
        inner[0] += wide + air
    width, height = inner[2] - inner[0], inner[3] - inner[1]
    if width < 34 or height < 28:
        return None
    tile = _content(rng, pool, style, width, height, alone)
    slack_x, slack_y = width - tile.pixels.shape[1], height - tile.pixels.shape[0]
    x = inner[0] + round(slack_x * float(rng.choice([0, 0.5, 0.5])))
    y = inner[1] + round(slack_y * float(rng.choice([0, 0.5, 1]) if style.position != "below" else 1))
    _paste(canvas, x, y, tile.pixels)
    boxes: list[tuple[float, float, float, float]] = []
    ink = _ink_box(tile.pixels, style.ground)
    if ink is not None:
        boxes.append((ink[0] + x, ink[1] + y, ink[2] + x, ink[3] + y))
    images = [replace(i, box=(i.box[0] + x, i.box[1] + y, i.box[2] + x, i.box[3] + y)) for i in tile.images]
    boxes += [i.box for i in images]
    identifier_box: PixelBox | None = None
    if text is not None and mask.size:
        hull = _hull(boxes)
        dark = sum(style.ground) < 380
        colour: Colour = (255, 255, 255) if dark else (0, 0, 0)
        if style.position == "above":
            px, py = (round(hull[0]) if rng.random() < 0.5 else left), max(top, round(hull[1]) - air - tall)
            if style.case == "words" or rng.random() < 0.05:
                px = round((hull[0] + hull[2] - wide) / 2)
        elif style.position == "below":
            px, py = round((hull[0] + hull[2] - wide) / 2), bottom - tall
        elif style.position == "beside":
            px, py = left, max(top, round(hull[1]))
        else:
            px = round(hull[2]) - wide - air if style.right else round(hull[0]) + air
            py = round(hull[3]) - tall - air if style.low else round(hull[1]) + air
        px, py = int(np.clip(px, 0, canvas.shape[1] - wide)), int(np.clip(py, 0, canvas.shape[0] - tall))
        if style.position == "inside":
            under = canvas[py : py + tall, px : px + wide]
            light = bool(under.mean() > 140)
            colour = (0, 0, 0) if light else (255, 255, 255)
            if rng.random() < 0.06:
                colour = (255, 255, 0) if not light else (200, 0, 0)
            if style.patch or float(under.std()) > 70:
                pad = max(2, air // 2)
                canvas[max(0, py - pad) : py + tall + pad, max(0, px - pad) : px + wide + pad] = (
                    PAPER if light or style.patch else (0, 0, 0)
                )
                colour = (0, 0, 0) if light or style.patch else (255, 255, 255)
        identifier_box = printed(canvas, px, py, text, style.face, style.size, colour)
        boxes.append(identifier_box)
    if style.framed:
        frame = (left, top, right, bottom)
        cv2.rectangle(
            canvas, (left, top), (right - 1, bottom - 1), (0, 0, 0) if sum(style.ground) > 380 else (200, 200, 200), 1
        )
        boxes.append(frame)
    return PlacedPanel(_hull(boxes), name if identifier_box else None, identifier_box), images


def synthetic_figure(seed: int, pool: PicturePool, layouts: Sequence[Layout]) -> SyntheticFigure:
    """Return the figure of a seed.

    Args:
        seed: the same seed, pool and layouts give the same figure.
        pool: where pictures come from.
        layouts: real layouts, used for two in five figures; may be empty.
    """
    rng = np.random.default_rng(seed)
    while True:
        figure = _composed(rng, pool, layouts)
        if figure is not None:
            return figure


def _composed(rng: Rng, pool: PicturePool, layouts: Sequence[Layout]) -> SyntheticFigure | None:
    layout = layouts[int(rng.integers(len(layouts)))] if layouts and rng.random() < 0.4 else parametric_layout(rng)
    # Tables of layouts hold many single panels: a third of them is plenty.
    if len(layout.panels) == 1 and rng.random() < 0.35:
        layout = parametric_layout(rng)
    side = float(np.exp(rng.uniform(np.log(420), np.log(900))))
    width, height = round(side * layout.aspect**0.5), round(side / layout.aspect**0.5)
    style = _style(rng, layout, width, height)
    canvas = _blank(style, width, height)
    labelled = layout.labelled and len(layout.panels) > 1
    names = identifier_names(rng, style.case, len(layout.panels)) if labelled else [None] * len(layout.panels)
    # Panels without any identifier are one panel by the guide. Where a caption names places instead ("left", "right"),
    # nothing in the picture says so: that is left to those who know the caption.
    joined = not labelled and len(layout.panels) > 1
    panels: list[PlacedPanel] = []
    images: list[PlacedImage] = []
    for box, name in zip(layout.panels, names, strict=True):
        cell = (round(box[0] * width), round(box[1] * height), round(box[2] * width), round(box[3] * height))
        if name is not None and rng.random() < 0.01:
            name = None
        added = _add_panel(rng, pool, style, canvas, cell, name, len(layout.panels) == 1)
        if added is not None:
            panels.append(added[0])
            images += added[1]
    if not panels:
        return None
    if joined:
        panels = [PlacedPanel(_hull([p.box for p in panels]), None, None)]
    return _finished(rng, style, canvas, panels, images)


def _finished(
    rng: Rng, style: _Style, canvas: Pixels, panels: list[PlacedPanel], images: list[PlacedImage]
) -> SyntheticFigure:
    """Add what belongs to no panel, cut the figure to its ink and give it the scars of scaling and JPEG."""
    ink: Colour = (0, 0, 0) if sum(style.ground) > 380 else (255, 255, 255)
    size = max(8, round(style.size * 0.8))
    single = len(panels) == 1 and panels[0].identifier is None
    if rng.random() < 0.05:  # a heading over everything
        canvas = cv2.copyMakeBorder(canvas, size * 2, 0, 0, 0, cv2.BORDER_CONSTANT, value=style.ground)
        shift = size * 2
        panels = [_moved_panel(p, shift) for p in panels]
        images = [replace(i, box=(i.box[0], i.box[1] + shift, i.box[2], i.box[3] + shift)) for i in images]
        box = printed(canvas, max(0, canvas.shape[1] // 2 - 3 * size), 2, some_words(rng, 2, 4), "hebo", size, ink)
        if single:
            panels = [replace(panels[0], box=_hull([panels[0].box, box]))]
    if rng.random() < 0.04 and not single:  # a legend under everything
        canvas = cv2.copyMakeBorder(canvas, 0, size * 2, 0, 0, cv2.BORDER_CONSTANT, value=style.ground)
        printed(canvas, canvas.shape[1] // 4, canvas.shape[0] - size - 3, some_words(rng, 2, 4), "helv", size, ink)
    frame = _ink_box(canvas, style.ground) if rng.random() < 0.85 else None
    left, top, right, bottom = frame or (0, 0, canvas.shape[1], canvas.shape[0])
    # Nothing annotated may be cut off (pictures may be as pale as the ground).
    hull = _hull([p.box for p in panels] + [i.box for i in images])
    left, top = min(left, int(hull[0])), min(top, int(hull[1]))
    right, bottom = max(right, round(hull[2])), max(bottom, round(hull[3]))
    pixels = np.ascontiguousarray(canvas[top:bottom, left:right])
    wide, tall = right - left, bottom - top

    def normal(box: tuple[float, float, float, float]) -> Box:
        return ((box[0] - left) / wide, (box[1] - top) / tall, (box[2] - left) / wide, (box[3] - top) / tall)

    return SyntheticFigure(
        worn(rng, pixels),
        tuple(
            replace(p, box=normal(p.box), identifier_box=normal(p.identifier_box) if p.identifier_box else None)
            for p in panels
        ),
        tuple(replace(i, box=normal(i.box)) for i in images),
    )


def _moved_panel(panel: PlacedPanel, down: int) -> PlacedPanel:
    box, name = panel.box, panel.identifier_box
    return replace(
        panel,
        box=(box[0], box[1] + down, box[2], box[3] + down),
        identifier_box=(name[0], name[1] + down, name[2], name[3] + down) if name else None,
    )


def worn(rng: Rng, pixels: Pixels) -> Pixels:
    """Return a picture of the same size after scaling there and back, blur, JPEG or a change of contrast, at random."""
    if rng.random() < 0.3:
        scale = float(rng.uniform(0.5, 0.95))
        small = cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        pixels = np.asarray(cv2.resize(small, (pixels.shape[1], pixels.shape[0]), interpolation=cv2.INTER_CUBIC))
    if rng.random() < 0.5:
        quality = int(rng.integers(30, 95))
        _, data = cv2.imencode(".jpg", pixels[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
        pixels = np.ascontiguousarray(np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR))[:, :, ::-1])
    if rng.random() < 0.1:
        grey = np.asarray(cv2.cvtColor(np.ascontiguousarray(pixels), cv2.COLOR_RGB2GRAY))
        pixels = np.repeat(grey[:, :, None], 3, axis=2)
    return np.asarray(pixels, dtype=np.uint8)
