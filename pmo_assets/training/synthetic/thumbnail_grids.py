"""Panels of many small pictures: grids of thumbnails, and comparisons of pictures with the results of methods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from pmo_assets.records.image_types import ImageType
from pmo_assets.samples.drawing import Colour, Pixels, Rng, one_of, print_text, text_mask
from pmo_assets.training.synthetic.drawings import FILLED_KINDS, drawn
from pmo_assets.training.synthetic.figure_styles import Style
from pmo_assets.training.synthetic.masks import mask_picture, overlaid_picture
from pmo_assets.training.synthetic.placed_figure import PlacedImage
from pmo_assets.training.synthetic.pools import PicturePool
from pmo_assets.training.synthetic.tiles import Tile, blank_canvas, ink_of, paste, pool_picture
from pmo_assets.training.synthetic.words_and_colours import some_words

LEAST, MOST = 24, 60
"""Long side of thumbnails in pixels of the figure."""

MOST_ROWS = 10
"""Rows and columns of a grid at most."""

FRAMES: tuple[Colour, ...] = ((0, 0, 0), (255, 255, 255), (220, 30, 30), (30, 160, 60), (40, 80, 220), (240, 200, 40))

Picture = tuple[Pixels, ImageType, bool | None]
"""Pixels, type, whether it is marked."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Measures of a grid of pictures: size of a cell, gaps (x, y), rows and columns, room for headings (x, y)."""

    cell: tuple[int, int]
    gaps: tuple[int, int]
    rows: int
    columns: int
    margins: tuple[int, int]

    def place(self, row: int, column: int) -> tuple[int, int]:
        """Return the top left corner of a cell in pixels."""
        return (
            self.margins[0] + column * (self.cell[0] + self.gaps[0]),
            self.margins[1] + row * (self.cell[1] + self.gaps[1]),
        )

    @property
    def extent(self) -> tuple[int, int]:
        """Width and height of the whole in pixels."""
        x, y = self.place(self.rows - 1, self.columns - 1)
        return x + self.cell[0], y + self.cell[1]


def thumbnails(
    rng: Rng, pool: PicturePool, style: Style, width: int, height: int, side: float | None = None
) -> Tile | None:
    """Compose up to 10 × 10 thumbnails, touching or with gutters; None without room for four.

    Types go by row, by column, by block, or at random; a last row may be short, single places may be empty.

    Args:
        rng: decides what is left open.
        pool: source of pictures.
        style: of the figure.
        width: of the room, in pixels.
        height: of the room.
        side: long side of a thumbnail in pixels; None for any from `LEAST` to `MOST`.
    """
    side = side or float(np.exp(rng.uniform(np.log(LEAST), np.log(MOST))))
    aspect = float(rng.choice([1.0, 1.0, 1.25, 1.6, 2.2], p=[0.4, 0.2, 0.15, 0.15, 0.1]))
    cell = (
        (round(side), max(14, round(side / aspect)))
        if rng.random() < 0.8
        else (max(14, round(side / 1.3)), round(side))
    )
    grid = _grid_of(rng, cell, width, height)
    if grid is None:
        return None
    order = str(rng.choice(["rows", "columns", "blocks", "any"], p=[0.3, 0.3, 0.15, 0.25]))
    kinds = [style.types[int(rng.integers(len(style.types)))] for _ in range(grid.rows * grid.columns)]
    masked = {k for k in range(MOST_ROWS) if rng.random() < 0.2} if order in ("rows", "columns") else set()

    def content(row: int, column: int) -> Picture:
        number = {"rows": row, "columns": column, "blocks": row // 3 * 4 + column // 3}.get(order)
        kind = kinds[row * grid.columns + column if number is None else number % len(kinds)]
        if number in masked:
            return mask_picture(rng, pool.picture(rng, kind, *grid.cell), kind), "Other", False
        return _small(rng, pool, style, kind, *grid.cell)

    empty = {(int(rng.integers(grid.rows)), int(rng.integers(grid.columns))) for _ in range(3)}
    if rng.random() < 0.15:
        empty |= {(grid.rows - 1, k) for k in range(int(rng.integers(1, grid.columns + 1)), grid.columns)}
    elif rng.random() < 0.8:
        empty = set()
    return _filled(rng, style, grid, content, empty, width)


def comparison(rng: Rng, pool: PicturePool, style: Style, width: int, height: int) -> Tile | None:
    """Compose rows of a picture, its mask, and the results of methods, often touching; None without room.

    A mask is a picture of its own, of the type Other; a picture with outlines or tints laid over it keeps its type.
    """
    columns, rows = int(rng.integers(2, 9)), int(rng.integers(1, 8))
    least = min(width / columns, height / rows)
    if least < LEAST + 4:
        return None
    aspect = float(rng.choice([1.0, 1.0, 1.0, 1.4, 2.0]))
    side = min(width / columns, height / rows * aspect) * rng.uniform(0.8, 0.95)
    cell = (round(side), round(side / aspect))
    if min(cell) < 20:
        return None
    grid = _grid_of(rng, cell, width, height, columns, rows)
    if grid is None:
        return None
    ways = ["picture", *(str(rng.choice(["mask", "mask", "overlay", "picture", "heat"])) for _ in range(columns - 1))]
    if rng.random() < 0.3:
        ways = [ways[k] for k in rng.permutation(columns)]
    upright = rng.random() < 0.25 and grid.rows > 1
    kind = style.types[int(rng.integers(len(style.types)))]
    kind = "CFP" if kind == "Other" and rng.random() < 0.5 else kind
    shown = [pool.picture(rng, kind, *grid.cell) for _ in range(max(grid.rows, grid.columns))]

    def content(row: int, column: int) -> Picture:
        which, way = (column, ways[row % columns]) if upright else (row, ways[column])
        if way == "mask":
            return mask_picture(rng, shown[which], kind), "Other", False
        if way == "overlay":
            pixels, marked = overlaid_picture(rng, shown[which].copy(), kind)
            return pixels, kind, marked
        if way == "heat":
            return drawn(rng, FILLED_KINDS, *grid.cell), "Other", False
        return np.ascontiguousarray(shown[which]), kind, False

    return _filled(rng, style, grid, content, set(), width)


def _grid_of(
    rng: Rng, cell: tuple[int, int], width: int, height: int, columns: int | None = None, rows: int | None = None
) -> Grid | None:
    """Return a grid of such cells that fits into width × height; None without room for four (or for those asked)."""
    side = float(np.sqrt(cell[0] * cell[1]))
    gap = int(rng.choice([0, 1, 2, round(side * 0.06), round(side * 0.12), round(side * 0.25)],
                         p=[0.25, 0.15, 0.2, 0.18, 0.14, 0.08]))  # fmt: skip
    below = gap if rng.random() < 0.8 else gap + round(side * 0.35)
    margins = (round(side * rng.uniform(0.5, 1.6)) if rng.random() < 0.4 else 0, 16 if rng.random() < 0.5 else 0)
    room = ((width - margins[0] + gap) // (cell[0] + gap), (height - margins[1] + below) // (cell[1] + below))
    if columns is not None and rows is not None:
        fits = room[0] >= columns and room[1] >= rows
        return Grid(cell, (gap, below), rows, columns, margins) if fits else None
    if min(room) < 1 or room[0] * room[1] < 4:
        return None
    most = (min(MOST_ROWS, int(room[0])), min(MOST_ROWS, int(room[1])))
    # Most grids fill their panel; with fewer columns than fit there is white beside them.
    many = [n if rng.random() < 0.7 else int(rng.integers(max(1, n // 2), n + 1)) for n in most]
    return Grid(cell, (gap, below), many[1], many[0], margins) if many[0] * many[1] >= 4 else None


def _small(rng: Rng, pool: PicturePool, style: Style, kind: ImageType, width: int, height: int) -> Picture:
    """Return a thumbnail, perhaps with a frame or a few letters on it."""
    pixels, marked = pool_picture(rng, pool, style, kind, width, height)
    if rng.random() < style.print_share * 0.3:
        size = int(np.clip(height * 0.22, 6, 12))
        text = some_words(rng, 1, 1)[: int(rng.integers(1, 6))]
        ink: Colour = (255, 255, 255) if float(pixels[:size].mean()) < 140 else (0, 0, 0)
        print_text(pixels, 2, 2 if rng.random() < 0.5 else height - size - 2, text, "helv", size, ink)
    return pixels, kind, marked


def _filled(
    rng: Rng,
    style: Style,
    grid: Grid,
    content: Callable[[int, int], Picture],
    empty: set[tuple[int, int]],
    width: int,
) -> Tile:
    """Return the grid with its pictures, headings in words or letters, and perhaps a colour scale in the width left."""
    wide, tall = grid.extent
    side = max(4, round(min(grid.cell) * 0.25))
    scale = rng.random() < 0.15 and wide + 3 * side <= width
    canvas = blank_canvas(style, wide + (3 * side if scale else 0), tall)
    tile = Tile(canvas)
    frame = one_of(rng, FRAMES) if rng.random() < 0.15 else None
    framed_share = float(rng.choice([0.1, 1.0]))
    for row in range(grid.rows):
        for column in range(grid.columns):
            if (row, column) in empty:
                continue
            pixels, kind, marked = content(row, column)
            # Drawings have a least size, which may be more than a cell's.
            pixels = np.ascontiguousarray(pixels[: grid.cell[1], : grid.cell[0]])
            if frame is not None and rng.random() < framed_share:
                cv2.rectangle(
                    pixels, (0, 0), (pixels.shape[1] - 1, pixels.shape[0] - 1), frame, 1 + (min(grid.cell) > 50)
                )
            tile.images.append(PlacedImage(paste(canvas, *grid.place(row, column), pixels), kind, marked))
    _print_headings(rng, style, grid, canvas)
    if scale:
        colours = cv2.applyColorMap(np.linspace(255, 0, tall).astype(np.uint8)[:, None], cv2.COLORMAP_JET)
        canvas[:, wide + side : wide + 2 * side] = np.asarray(colours)[:, :, ::-1]
    return tile


def _print_headings(rng: Rng, style: Style, grid: Grid, canvas: Pixels) -> None:
    """Print words, letters or numbers above columns and beside rows, where the grid has room for them."""
    ink = ink_of(style)
    size = int(np.clip(min(grid.cell) * 0.3, 7, 14))
    letters = str(rng.choice(["words", "letters", "numbers"], p=[0.6, 0.2, 0.2]))
    for axis, count in ((0, grid.columns), (1, grid.rows)):
        if not grid.margins[1 - axis]:
            continue
        upright = axis == 1 and rng.random() < 0.5
        for k in range(count):
            text = some_words(rng, 1, 1) if letters == "words" else chr(97 + k) if letters == "letters" else str(k + 1)
            mask = text_mask(text, style.face, size)
            long, thick = mask.shape[1], mask.shape[0]
            x, y = grid.place(0, k) if axis == 0 else grid.place(k, 0)
            if axis == 0:
                if long > grid.cell[0] + grid.gaps[0]:
                    continue
                print_text(canvas, x + (grid.cell[0] - long) // 2, 1, text, style.face, size, ink)
            elif upright and thick < grid.margins[0] and long <= grid.cell[1] + grid.gaps[1]:
                print_text(canvas, 1, y + (grid.cell[1] - long) // 2, text, style.face, size, ink, upright=True)
            elif not upright and long < grid.margins[0]:
                print_text(canvas, 0, y + (grid.cell[1] - thick) // 2, text, style.face, size, ink)
