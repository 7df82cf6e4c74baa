"""Contents of a panel: a picture, a plot, or a composition of several, each with the boxes of its images."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from pmo_assets.records.image_types import ImageType
from pmo_assets.samples.drawing import Colour, Rng, one_of, print_text, text_mask
from pmo_assets.training.synthetic.drawings import PAPER_KINDS, drawn, trimmed
from pmo_assets.training.synthetic.figure_styles import PAPER, SUBJECT_ODDS, SUBJECTS, Style
from pmo_assets.training.synthetic.filled_pictures import blot, heat_map, spots
from pmo_assets.training.synthetic.method_diagrams import method_diagram
from pmo_assets.training.synthetic.placed_figure import PlacedImage
from pmo_assets.training.synthetic.plots import bar_plot, box_plot, line_plot, scatter_plot
from pmo_assets.training.synthetic.pools import PicturePool
from pmo_assets.training.synthetic.thumbnail_grids import comparison, thumbnails
from pmo_assets.training.synthetic.tiles import Tile, blank_canvas, ink_of, paste, pool_picture
from pmo_assets.training.synthetic.words_and_colours import some_words


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


def _single(rng: Rng, pool: PicturePool, style: Style, width: int, height: int) -> Tile:
    kind = style.types[int(rng.integers(len(style.types)))]
    w, h = _shape(rng, kind, width, height)
    pixels, marked = pool_picture(rng, pool, style, kind, w, h)
    return Tile(pixels, [PlacedImage((0, 0, pixels.shape[1], pixels.shape[0]), kind, marked)])


def _plot(rng: Rng, style: Style, width: int, height: int) -> Tile:
    pixels = drawn(rng, PAPER_KINDS, width, height)
    if style.tinted:
        pixels = np.minimum(pixels, np.asarray((240, 246, 255), np.uint8))
    return Tile(pixels, [PlacedImage((0, 0, pixels.shape[1], pixels.shape[0]), "Other", False)])


def _grid(rng: Rng, pool: PicturePool, style: Style, width: int, height: int) -> Tile:
    """Compose a grid of pictures with headings above columns, beside rows or below pictures, gaps or none."""
    aspect = width / height
    choices = [(r, c) for r in range(1, 6) for c in range(1, 7) if 2 <= r * c <= 20 and 0.5 < aspect * r / c < 2.6]
    rows, columns = one_of(rng, choices) if choices else (1, 2)
    if width / columns < 36 or height / rows < 30:
        return _single(rng, pool, style, width, height)
    canvas = blank_canvas(style, width, height)
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
    ink = ink_of(style)
    per_column = [style.types[int(rng.integers(len(style.types)))] for _ in range(columns)]
    # Segmentations, percepts and heat maps stand in rows beside the pictures they belong to.
    drawn_columns = {k for k in range(columns) if rng.random() < (0.25 if columns > 1 and rng.random() < 0.4 else 0.0)}
    drawing = [heat_map, spots][int(rng.integers(2))]
    tile = Tile(canvas)
    for i in range(rows):
        for j in range(columns):
            x, y = left + j * (cell_w + gap), top + i * (cell_h + below + gap)
            kind: ImageType
            marked: bool | None
            if j in drawn_columns:
                pixels, kind, marked = drawing(rng, cell_w, cell_h), "Other", False
            else:
                kind = per_column[j]
                pixels, marked = pool_picture(rng, pool, style, kind, cell_w, cell_h)
            if i == rows - 1 and j == columns - 1 and rows > 1 and rng.random() < 0.1:
                continue
            tile.images.append(PlacedImage(paste(canvas, x, y, pixels), kind, marked))
            if captioned:
                text = some_words(rng, 1, 2)
                mask = text_mask(text, "helv", size)
                print_text(
                    canvas, x + max(0, (cell_w - mask.shape[1]) // 2), y + cell_h + size // 4, text, "helv", size, ink
                )
            if i == 0 and headed:
                text = some_words(rng, 1, 2)
                mask = text_mask(text, "hebo", size)
                print_text(canvas, x + max(0, (cell_w - mask.shape[1]) // 2), 1, text, "hebo", size, ink)
        if named:
            text = some_words(rng, 1, 1)
            mask = text_mask(text, "hebo", size)
            y = top + i * (cell_h + below + gap)
            print_text(canvas, 1, y + max(0, (cell_h - mask.shape[1]) // 2), text, "hebo", size, ink, upright=True)
    return tile


def _plot_grid(rng: Rng, style: Style, width: int, height: int) -> Tile:
    """Compose a row or grid of plots of one kind, each an image."""
    aspect = width / height
    choices = [(r, c) for r in range(1, 4) for c in range(1, 6) if 2 <= r * c <= 10 and 0.6 < aspect * r / c < 2.2]
    rows, columns = one_of(rng, choices) if choices else (1, 2)
    if width / columns < 70 or height / rows < 60:
        return _plot(rng, style, width, height)
    canvas = blank_canvas(style, width, height)
    kind = [line_plot, bar_plot, scatter_plot, box_plot, heat_map][int(rng.integers(5))]
    gap = int(rng.integers(3, 16))
    tile = Tile(canvas)
    for i in range(rows):
        for j in range(columns):
            w, h = (width - gap * (columns - 1)) // columns, (height - gap * (rows - 1)) // rows
            pixels = trimmed(kind(rng, w, h))
            box = paste(canvas, j * (w + gap), i * (h + gap), pixels)
            tile.images.append(PlacedImage(box, "Other", False))
    return tile


def _blots(rng: Rng, style: Style, width: int, height: int) -> Tile:
    """Compose strips of blots with names on the left, sizes on the right and lanes above."""
    canvas = blank_canvas(style, width, height)
    ink = ink_of(style)
    size = int(np.clip(min(width, height) * rng.uniform(0.05, 0.09), 7, 20))
    n = int(np.clip(rng.integers(1, 5), 1, max(1, height // 40)))
    left, right, top = round(width * rng.uniform(0.12, 0.28)), round(width * rng.uniform(0.0, 0.18)), round(size * 1.8)
    gap = round(size * rng.uniform(0.3, 1.0))
    strip = max(12, (height - top - gap * (n - 1)) // n)
    strip = min(strip, round((width - left - right) * rng.uniform(0.15, 0.7)))
    tile = Tile(canvas)
    framed = rng.random() < 0.4
    for k in range(n):
        y = top + k * (strip + gap)
        pixels = blot(rng, max(20, width - left - right), strip)
        if framed:
            cv2.rectangle(pixels, (0, 0), (pixels.shape[1] - 1, pixels.shape[0] - 1), (0, 0, 0), 1)
        tile.images.append(PlacedImage(paste(canvas, left, y, pixels), "Other", False))
        text = some_words(rng, 1, 1)[: max(2, left // max(4, size // 2))]
        mask = text_mask(text, "helv", size)
        print_text(canvas, max(0, left - mask.shape[1] - 4), y + (strip - size) // 2, text, "helv", size, ink)
        if right > size * 2:
            print_text(
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
        print_text(canvas, x, 1, some_words(rng, 1, 1)[:6], "helv", size, ink)
    return tile


def _explained(rng: Rng, pool: PicturePool, style: Style, width: int, height: int) -> Tile:
    """Compose a picture with words beside it and lines that lead into it: such a picture counts as marked."""
    canvas = blank_canvas(style, width, height)
    left, right = round(width * rng.uniform(0, 0.28)), round(width * rng.uniform(0.12, 0.3))
    kind = style.types[int(rng.integers(len(style.types)))]
    pixels, _ = pool_picture(rng, pool, style, kind, max(24, width - left - right), height)
    box = paste(canvas, left, 0, pixels)
    ink = ink_of(style)
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
        print_text(
            canvas,
            max(0, start[0] - mask.shape[1] - 2) if on_left else start[0] + 2,
            y - size // 2,
            text,
            "helv",
            size,
            ink,
        )
    return Tile(canvas, [PlacedImage(box, kind, True)])


def _diagram(rng: Rng, pool: PicturePool, style: Style, width: int, height: int) -> Tile:
    """Compose a work flow: pictures, boxes with words and arrows between them; only the pictures are images."""
    if rng.random() < 0.35:
        return _plot(rng, style, width, height)
    canvas = blank_canvas(style, width, height)
    columns, rows = max(2, round(width / rng.uniform(100, 200))), max(1, round(height / rng.uniform(90, 180)))
    cell_w, cell_h = width // columns, height // rows
    ink: Colour = (40, 40, 40) if sum(style.ground) > 380 else (220, 220, 220)
    size = int(np.clip(min(cell_w, cell_h) * 0.11, 7, 18))
    tile = Tile(canvas)
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
                print_text(
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
                (spots(rng, w, h), False) if rng.random() < 0.25 else pool_picture(rng, pool, style, kind, w, h)
            )
            tile.images.append(PlacedImage(paste(canvas, x, y, pixels), kind, marked))
            if pixels.shape[0] > 0 and rng.random() < 0.5:
                print_text(canvas, x, y + h + 3, some_words(rng, 1, 2), "helv", size, ink)
    if rng.random() < 0.15:
        cv2.rectangle(canvas, (0, 0), (width - 1, height - 1), ink, 1)
    if not tile.images:
        return Tile(canvas, [PlacedImage((0, 0, width, height), "Other", False)])
    return tile


def _retina(rng: Rng, pool: PicturePool, style: Style, width: int, height: int) -> Tile:
    """Compose a print of an ophthalmic device: a fundus picture beside or above the scans through it."""
    canvas = blank_canvas(style, width, height)
    gap = int(rng.choice([0, 0, 2, 6]))
    tile = Tile(canvas)
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
    pixels, marked = pool_picture(rng, pool, style, face, *first)
    if rng.random() < 0.5:  # the scan line
        y = int(rng.uniform(0.3, 0.7) * pixels.shape[0])
        line = max(1, first[1] // 150)
        cv2.arrowedLine(
            pixels, (round(first[0] * 0.15), y), (round(first[0] * 0.85), y), (0, 255, 0), line, cv2.LINE_AA, 0, 0.04
        )
        marked = True
    tile.images.append(PlacedImage(paste(canvas, 0, 0, pixels), face, marked))
    n = int(rng.integers(1, 4)) if rest[3] - rest[1] > 150 else 1
    each = (rest[3] - rest[1] - gap * (n - 1)) // n
    for k in range(n):
        kind: ImageType = "OCT" if rng.random() < 0.8 else "Retinal Imaging"
        pixels, marked = pool_picture(rng, pool, style, kind, rest[2] - rest[0], each)
        tile.images.append(PlacedImage(paste(canvas, rest[0], rest[1] + k * (each + gap), pixels), kind, marked))
    return tile


COMPOSED: dict[str, Callable[[Rng, PicturePool, Style, int, int], Tile | None]] = {
    "thumbnails": thumbnails,
    "comparisons": comparison,
    "methods": method_diagram,
}
"""Subjects that give up where they have no room."""


def panel_content(rng: Rng, pool: PicturePool, style: Style, width: int, height: int, alone: bool) -> Tile:
    """Return the content of a panel, at most width × height pixels."""
    subject = style.subject
    if subject == "mixed":
        subject = str(rng.choice(SUBJECTS, p=SUBJECT_ODDS))
        if subject == "mixed":
            subject = "pictures" if rng.random() < 0.5 else "plots"
    # Small panels hold one picture or plot; only large ones are composed of many.
    room = (width * height) ** 0.5
    if subject not in ("plots", "pictures") and (room < 110 or (room < 190 and rng.random() < 0.6)):
        subject = "plots" if subject == "plot grids" else "pictures"
    if subject in COMPOSED:
        return COMPOSED[subject](rng, pool, style, width, height) or _single(rng, pool, style, width, height)
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
