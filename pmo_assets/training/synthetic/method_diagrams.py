"""Diagrams of methods with pictures in them: work flows, network architectures, stages with several pictures.

Images of such a panel are its pictures and small plots; boxes with words, arrows, blocks that stand for layers of a
network, icons and tables are none. Of a stack of pictures that overlap in depth the front one is the image.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import cv2
import numpy as np

from pmo_assets.records.image_types import ImageType
from pmo_assets.samples.drawing import Colour, PixelBox, Pixels, Rng, one_by_odds, one_of, print_text, text_mask
from pmo_assets.training.synthetic.drawings import trimmed
from pmo_assets.training.synthetic.figure_styles import PAPER, Style
from pmo_assets.training.synthetic.masks import mask_picture, overlaid_picture
from pmo_assets.training.synthetic.placed_figure import PlacedImage
from pmo_assets.training.synthetic.plots import bar_plot, box_plot, line_plot, scatter_plot
from pmo_assets.training.synthetic.pools import PicturePool
from pmo_assets.training.synthetic.tiles import Tile, blank_canvas, ink_of, paste, pool_picture
from pmo_assets.training.synthetic.words_and_colours import any_palette, colour_of, some_words

Draw = Callable[[Rng, Pixels, PixelBox, Colour], None]
"""Draws into a box of a canvas, in place, with an ink."""


def _pale(rng: Rng, share: float = 0.35) -> Colour:
    red, green, blue = colour_of(rng, any_palette(rng))
    return (round(255 - (255 - red) * share), round(255 - (255 - green) * share), round(255 - (255 - blue) * share))


def _draw_words(rng: Rng, canvas: Pixels, box: PixelBox, ink: Colour) -> None:
    """Draw a box with words, plain, tinted or rounded."""
    left, top, right, bottom = box
    middle = (top + bottom) // 2
    half = min((bottom - top) // 2, max(9, round((right - left) * rng.uniform(0.15, 0.4))))
    top, bottom = middle - half, middle + half
    fill = _pale(rng, float(rng.choice([0.2, 0.4, 1.0], p=[0.4, 0.45, 0.15])))
    if rng.random() < 0.3:
        cv2.ellipse(
            canvas, ((left + right) // 2, middle), ((right - left) // 2, half), 0, 0, 360, fill, -1, cv2.LINE_AA
        )
    else:
        cv2.rectangle(canvas, (left, top), (right - 1, bottom - 1), fill, -1)
    if rng.random() < 0.6:
        cv2.rectangle(canvas, (left, top), (right - 1, bottom - 1), ink, 1)
    size = int(np.clip(half * 0.6, 7, 16))
    dark: Colour = (0, 0, 0) if sum(fill) > 330 else (255, 255, 255)
    y = middle - size * int(rng.integers(1, 3)) // 2
    while y + size < bottom:
        text = some_words(rng, 1, 2)
        mask = text_mask(text, "helv", size)
        if mask.shape[1] < right - left - 4:
            print_text(canvas, (left + right - mask.shape[1]) // 2, y, text, "helv", size, dark)
        y += round(size * 1.4)
        if rng.random() < 0.6:
            break


def _draw_layers(rng: Rng, canvas: Pixels, box: PixelBox, ink: Colour) -> None:
    """Draw the layers of a network: blocks in depth, flat or as cuboids, that shrink and grow along the way."""
    left, top, right, bottom = box
    n = int(rng.integers(3, 9))
    shape = str(rng.choice(["shrinking", "hourglass", "even"]))
    fill = _pale(rng, 0.6)
    depth = max(2, round((right - left) * rng.uniform(0.02, 0.06))) if rng.random() < 0.6 else 0
    slot = (right - left - depth) / n
    for k in range(n):
        share = {"shrinking": 1 - 0.8 * k / n, "hourglass": 0.25 + 0.75 * abs(2 * k / (n - 1) - 1), "even": 0.8}[shape]
        half = max(3, round((bottom - top - 2 * depth) * share / 2))
        x, wide, middle = round(left + k * slot), max(2, round(slot * rng.uniform(0.3, 0.75))), (top + bottom) // 2
        if rng.random() < 0.2:
            fill = _pale(rng, 0.6)
        front = np.asarray(
            [(x, middle - half), (x + wide, middle - half), (x + wide, middle + half), (x, middle + half)]
        )
        shift = np.asarray((depth, -depth))
        for a, b, shade in ((0, 1, 0.85), (1, 2, 0.7)) if depth else ():
            side = np.asarray([front[a], front[b], front[b] + shift, front[a] + shift], np.int32)
            cv2.fillPoly(canvas, [side.reshape(-1, 1, 2)], tuple(round(c * shade) for c in fill))
            cv2.polylines(canvas, [side.reshape(-1, 1, 2)], True, ink, 1, cv2.LINE_AA)
        cv2.rectangle(canvas, (x, middle - half), (x + wide, middle + half), fill, -1)
        cv2.rectangle(canvas, (x, middle - half), (x + wide, middle + half), ink, 1)


def _draw_neurons(rng: Rng, canvas: Pixels, box: PixelBox, ink: Colour) -> None:
    """Draw layers of circles, all joined to the next."""
    left, top, right, bottom = box
    counts = [int(v) for v in rng.integers(2, 6, int(rng.integers(2, 5)))]
    radius = max(2, round((bottom - top) / 16))
    rows = [
        [(round(left + radius + (right - left - 2 * radius) * k / max(1, len(counts) - 1)),
          round(top + (bottom - top) * (j + 0.5) / n)) for j in range(n)]
        for k, n in enumerate(counts)
    ]  # fmt: skip
    for before, after in pairwise(rows):
        for a in before:
            for b in after:
                cv2.line(canvas, a, b, (150, 150, 150), 1, cv2.LINE_AA)
    for row in rows:
        fill = _pale(rng, 0.7)
        for place in row:
            cv2.circle(canvas, place, radius, fill, -1, cv2.LINE_AA)
            cv2.circle(canvas, place, radius, ink, 1, cv2.LINE_AA)


def _draw_icon(rng: Rng, canvas: Pixels, box: PixelBox, ink: Colour) -> None:
    """Draw an icon: a person, a computer, a data store, an eye; with a gradient now and then."""
    left, top, right, bottom = box
    side = min(right - left, bottom - top)
    x, y, colour = (left + right) // 2, (top + bottom) // 2, _pale(rng, float(rng.uniform(0.4, 1)))
    kind = int(rng.integers(4))
    if kind == 0:
        cv2.circle(canvas, (x, y - side // 4), side // 6, colour, -1, cv2.LINE_AA)
        cv2.ellipse(canvas, (x, y + side // 4), (side // 4, side // 4), 0, 180, 360, colour, -1, cv2.LINE_AA)
    elif kind == 1:
        cv2.rectangle(canvas, (x - side // 3, y - side // 4), (x + side // 3, y + side // 6), colour, -1)
        cv2.rectangle(canvas, (x - side // 2, y + side // 5), (x + side // 2, y + side // 4), ink, -1)
    elif kind == 2:
        for k in range(3):
            place = (x, y - side // 4 + k * side // 4)
            cv2.ellipse(canvas, place, (side // 3, side // 8), 0, 0, 360, colour, -1, cv2.LINE_AA)
            cv2.ellipse(canvas, place, (side // 3, side // 8), 0, 0, 360, ink, 1, cv2.LINE_AA)
    else:
        cv2.ellipse(canvas, (x, y), (side // 2, side // 4), 0, 0, 360, ink, 1, cv2.LINE_AA)
        cv2.circle(canvas, (x, y), side // 6, colour, -1, cv2.LINE_AA)


def _draw_table(rng: Rng, canvas: Pixels, box: PixelBox, ink: Colour) -> None:
    """Draw cells in colours, with numbers or without: feature vectors, probabilities, a coloured table."""
    left, top, right, bottom = box
    rows, columns = int(rng.integers(1, 7)), int(rng.integers(1, 7))
    wide, tall = max(3, (right - left) // columns), max(3, (bottom - top) // rows)
    one = _pale(rng, 0.6) if rng.random() < 0.4 else None
    numbered = rng.random() < 0.5 and tall >= 9 and wide >= 18
    for i in range(rows):
        for j in range(columns):
            x, y = left + j * wide, top + i * tall
            cv2.rectangle(
                canvas, (x, y), (x + wide - 1, y + tall - 1), one or _pale(rng, float(rng.uniform(0, 0.9))), -1
            )
            cv2.rectangle(canvas, (x, y), (x + wide - 1, y + tall - 1), ink, 1)
            if numbered:
                print_text(canvas, x + 3, y + 2, f"{rng.random():.1f}", "helv", min(12, tall - 3), (0, 0, 0))


DRAWN: tuple[tuple[Draw, float], ...] = (
    (_draw_words, 0.45), (_draw_layers, 0.25), (_draw_neurons, 0.08), (_draw_icon, 0.12), (_draw_table, 0.1),
)  # fmt: skip
"""Functions that draw a part of a diagram beside its pictures, with the share of each."""


def method_diagram(rng: Rng, pool: PicturePool, style: Style, width: int, height: int) -> Tile | None:
    """Compose a diagram with at least one picture in it; None when there is no room for two stages."""
    columns = max(2, round(width / rng.uniform(80, 190)))
    rows = max(1, round(height / rng.uniform(70, 170)))
    cell_w, cell_h = width // columns, height // rows
    if min(cell_w, cell_h) < 48 or columns * rows < 2:
        return None
    canvas, ink = blank_canvas(style, width, height), ink_of(style)
    tile = Tile(canvas)
    share = float(rng.uniform(0.2, 0.8))
    filled = [(i, j) for i in range(rows) for j in range(columns) if rng.random() > 0.1] or [(0, 0)]
    pictured = {place for place in filled if rng.random() < share} or {one_of(rng, filled)}
    _draw_containers(rng, canvas, rows, columns, (cell_w, cell_h))
    previous: PixelBox | None = None
    for place in filled:
        box = _part_of(rng, place, (cell_w, cell_h))
        if previous is not None:
            _draw_arrow(rng, canvas, previous, box, ink)
        if place in pictured:
            previous = _add_pictures(rng, pool, style, tile, box)
        else:
            one_by_odds(rng, [draw for draw, _ in DRAWN], [odds for _, odds in DRAWN])(rng, canvas, box, ink)
            previous = box
    return tile


def _part_of(rng: Rng, place: tuple[int, int], cell: tuple[int, int]) -> PixelBox:
    """Return the part of a cell that is used, leaving room for arrows and words."""
    w, h = round(cell[0] * rng.uniform(0.55, 0.82)), round(cell[1] * rng.uniform(0.5, 0.78))
    x = place[1] * cell[0] + round((cell[0] - w) * rng.uniform(0.3, 0.7))
    y = place[0] * cell[1] + round((cell[1] - h) * rng.uniform(0.2, 0.6))
    return (x, y, x + w, y + h)


def _draw_containers(rng: Rng, canvas: Pixels, rows: int, columns: int, cell: tuple[int, int]) -> None:
    """Draw groups of stages: tinted fields or dashed frames with a heading, under everything else."""
    if rng.random() < 0.5:
        return
    tinted, across = rng.random() < 0.6, rng.random() < 0.5
    for k in range(rows if across else columns):
        if rng.random() < 0.3:
            continue
        left, top = (2, k * cell[1] + 2) if across else (k * cell[0] + 2, 2)
        right, bottom = (
            (columns * cell[0] - 3, top + cell[1] - 5) if across else (left + cell[0] - 5, rows * cell[1] - 3)
        )
        if tinted:
            cv2.rectangle(canvas, (left, top), (right, bottom), _pale(rng, 0.15), -1)
        else:
            for x in range(left, right, 8):
                cv2.line(canvas, (x, top), (min(right, x + 4), top), (90, 90, 90), 1)
                cv2.line(canvas, (x, bottom), (min(right, x + 4), bottom), (90, 90, 90), 1)
            cv2.line(canvas, (left, top), (left, bottom), (90, 90, 90), 1)
            cv2.line(canvas, (right, top), (right, bottom), (90, 90, 90), 1)
        size = int(np.clip(cell[1] * 0.09, 7, 14))
        print_text(canvas, left + 4, top + 3, some_words(rng, 1, 2), "hebo", size, (0, 0, 0))


def _draw_arrow(rng: Rng, canvas: Pixels, start: PixelBox, end: PixelBox, ink: Colour) -> None:
    """Draw an arrow, thin or as a fat block, from one stage to the next: to the right, or down to the next row."""
    down = end[0] < start[2]
    if down and end[2] < start[0] and rng.random() < 0.85:  # the next row begins anew
        return
    a = ((start[0] + start[2]) // 2, start[3] + 3) if down else (start[2] + 3, (start[1] + start[3]) // 2)
    b = ((end[0] + end[2]) // 2, end[1] - 3) if down else (end[0] - 3, (end[1] + end[3]) // 2)
    colour = ink if rng.random() < 0.6 else _pale(rng, 1.0)
    if rng.random() < 0.25 and not down and b[0] - a[0] > 10:
        y, half = (a[1] + b[1]) // 2, max(3, (b[0] - a[0]) // 4)
        points = [(a[0], y - half // 2), (b[0] - half, y - half // 2), (b[0] - half, y - half), (b[0], y),
                  (b[0] - half, y + half), (b[0] - half, y + half // 2), (a[0], y + half // 2)]  # fmt: skip
        cv2.fillPoly(canvas, [np.asarray(points, np.int32).reshape(-1, 1, 2)], colour, cv2.LINE_AA)
        return
    if abs(b[0] - a[0]) + abs(b[1] - a[1]) > 4:
        cv2.arrowedLine(canvas, a, b, colour, int(rng.integers(1, 4)), cv2.LINE_AA, 0, 0.2)


def _add_pictures(rng: Rng, pool: PicturePool, style: Style, tile: Tile, box: PixelBox) -> PixelBox:
    """Put one to six pictures, a stack, or a small plot into a box, and return what they take."""
    left, top, right, bottom = box
    if rng.random() < 0.1 and min(right - left, bottom - top) >= 56:
        plot = (line_plot, bar_plot, scatter_plot, box_plot)[int(rng.integers(4))]
        tile.images.append(
            PlacedImage(paste(tile.pixels, left, top, trimmed(plot(rng, right - left, bottom - top))), "Other", False)
        )
        return tile_box(tile)
    kind = style.types[int(rng.integers(len(style.types)))]
    if kind == "Other" and rng.random() < 0.6:
        kind = "CFP" if rng.random() < 0.5 else "OCT"
    columns, rows = _arrangement(rng, right - left, bottom - top)
    gap = int(rng.choice([0, 2, 4]))
    room = min(
        (right - left - gap * (columns - 1)) // columns,
        round((bottom - top - gap * (rows - 1)) // rows * (1.6 if kind == "OCT" else 1.0)),
    )
    w = room
    h = min((bottom - top - gap * (rows - 1)) // rows, w if kind != "OCT" else round(w / rng.uniform(1.0, 1.6)))
    stacked = columns * rows == 1 and rng.random() < 0.35
    step = max(2, round(w * rng.uniform(0.05, 0.14))) if stacked else 0
    depth = int(rng.integers(2, 4)) if stacked else 0
    w, h = w - step * depth, h - step * depth
    if min(w, h) < 18:
        w, h, step, depth = max(18, right - left), max(18, bottom - top), 0, 0
        columns = rows = 1
    top += (bottom - top - rows * h - (rows - 1) * gap + step * depth) // 2
    for k in range(depth, 0, -1):  # the pictures behind peep out to the right and above
        behind = (
            np.ascontiguousarray(pool.picture(rng, kind, w, h))
            if rng.random() < 0.7
            else np.full((h, w, 3), 150, np.uint8)
        )
        cv2.rectangle(behind, (0, 0), (w - 1, h - 1), PAPER if rng.random() < 0.7 else (0, 0, 0), 1)
        y = max(0, top - k * step)
        paste(tile.pixels, left + k * step, y, behind)
    first = len(tile.images)
    for i in range(rows):
        for j in range(columns):
            pixels, named, marked = _content(rng, pool, style, kind, w, h)
            if depth and rng.random() < 0.5:
                cv2.rectangle(pixels, (0, 0), (w - 1, h - 1), PAPER, 1)
            place = paste(tile.pixels, left + j * (w + gap), top + i * (h + gap), pixels)
            tile.images.append(PlacedImage(place, named, marked))
    taken = [image.box for image in tile.images[first:]]
    hull = (left, round(taken[0][1]), round(max(b[2] for b in taken)), round(max(b[3] for b in taken)))
    size = int(np.clip(min(w, h) * 0.16, 7, 14))
    if rng.random() < 0.5 and hull[3] + size + 3 < tile.pixels.shape[0]:
        print_text(tile.pixels, left, hull[3] + 3, some_words(rng, 1, 2), "helv", size, ink_of(style))
    return (hull[0], hull[1], hull[2] + step * depth, hull[3])


def tile_box(tile: Tile) -> PixelBox:
    """Return the box of the image that was added last."""
    left, top, right, bottom = tile.images[-1].box
    return (round(left), round(top), round(right), round(bottom))


def _arrangement(rng: Rng, width: int, height: int) -> tuple[int, int]:
    """Return columns and rows of the pictures of one stage."""
    if rng.random() < 0.65:
        return 1, 1
    columns, rows = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    return (columns, rows) if width / columns >= 22 and height / rows >= 22 else (1, 1)


def _content(
    rng: Rng, pool: PicturePool, style: Style, kind: ImageType, width: int, height: int
) -> tuple[Pixels, ImageType, bool | None]:
    """Return a picture, its mask (type Other), or it with regions laid over it."""
    way = rng.random()
    if way < 0.7:
        pixels, marked = pool_picture(rng, pool, style, kind, width, height)
        return pixels, kind, marked
    pixels = np.ascontiguousarray(pool.picture(rng, kind, width, height))
    if way < 0.85 and kind != "Other":
        return mask_picture(rng, pixels, kind), "Other", False
    if kind == "Other":
        return pixels, kind, False
    pixels, marked = overlaid_picture(rng, pixels, kind)
    return pixels, kind, marked
