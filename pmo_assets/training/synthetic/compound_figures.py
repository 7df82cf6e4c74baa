"""Compound figures by a recipe: a plan drawn by its odds, pictures put into it, and the exact boxes.

A panel's box is its tile as it was put down: the picture's frame and the padding on which the identifier stands, which
is what the paper's detector learns; a plot that is smaller than its frame leaves white paper in it. Boxes of the
"content" are the annotation guide's instead: the hull of what is to be seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import cv2
import numpy as np

from pmo_assets.records.geometry import Box, union_box
from pmo_assets.records.image_types import IMAGE_TYPES, ImageType
from pmo_assets.samples.drawing import (
    BLACK,
    WHITE,
    PixelBox,
    Pixels,
    Rng,
    one_by_odds,
    one_of,
    paper,
    print_text,
    text_mask,
)
from pmo_assets.training.synthetic.compound_recipes import FigureRecipe, PictureSource, Placement, Series, Special
from pmo_assets.training.synthetic.drawings import PAPER_KINDS, drawn
from pmo_assets.training.synthetic.filled_pictures import body_scan, skin_lesion, texture
from pmo_assets.training.synthetic.placed_figure import PlacedImage, PlacedPanel, SyntheticFigure
from pmo_assets.training.synthetic.plots import bar_plot, box_plot, line_plot, scatter_plot, stacked_bar_plot
from pmo_assets.training.synthetic.pools import PicturePool

PanelBoxes = Literal["tile", "content"]
"""What a panel's box is around: its tile, as in the paper, or what is to be seen of it, as in the annotation guide."""

FACE = "helv"
"""Typeface of identifiers; the paper's generator has Arial, whose widths are Helvetica's."""

PLOT_WIDTHS, PLOT_SHAPES = (260, 420), (1.2, 1.8)
"""Pixels across of a drawn plot before it is scaled to its frame, and its width for a height of 1 (PlotQA's range)."""

_UNITS, _TENS = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"), ("", "x", "xx")

_PLOTS = tuple(
    (kind, odds)
    for kind, odds in PAPER_KINDS
    if kind in (line_plot, bar_plot, stacked_bar_plot, scatter_plot, box_plot)
)


@dataclass(frozen=True, slots=True)
class CompoundPlan:
    """Everything of a figure but its pictures; pixels.

    Attributes:
        rows, columns: of the grid.
        special: where the panel beside the grid stands; None without one.
        first: it stands left of the grid, or above it, not right of it or below.
        cell: width and height of a picture.
        identifiers: as printed, row by row, the one beside the grid last.
        names: the same without brackets.
        placement: of the identifiers.
        gaps: between columns, between rows, and between the grid and the panel beside it.
        margins: left, top, right, bottom.
        source: kind of the pictures; None for all kinds.
        sources: kind of each picture.
    """

    rows: int
    columns: int
    special: Special | None
    first: bool
    cell: tuple[int, int]
    identifiers: tuple[str, ...]
    names: tuple[str, ...]
    placement: Placement
    gaps: tuple[tuple[int, ...], tuple[int, ...], int]
    margins: tuple[int, int, int, int]
    source: PictureSource | None
    sources: tuple[PictureSource, ...]


def planned(rng: Rng, recipe: FigureRecipe) -> CompoundPlan:
    """Return a plan by the recipe's odds."""
    long, short = round(recipe.cell * one_of(rng, recipe.stretch)), recipe.cell
    cell = (long, short) if rng.random() < 0.5 else (short, long)
    special = one_of(rng, get_args(Special)) if rng.random() < recipe.special_share else None
    if special is not None:
        rows = columns = _between(rng, recipe.special_sides)
    else:
        rows, columns = _between(rng, recipe.sides), _between(rng, recipe.sides)
    count = rows * columns + (special is not None)
    series = one_by_odds(rng, list(recipe.series), list(recipe.series.values()))
    lettered = series in ("lower", "upper")
    if special is not None:
        forms = recipe.special_wrappings
    else:
        forms = recipe.letter_wrappings if lettered else recipe.number_wrappings
    form = one_of(rng, forms)
    identifiers = tuple(
        form.format(_name(series, k), r=_name(series, k // columns), c=k % columns + 1) for k in range(count)
    )
    open_gaps = rng.random() >= recipe.closed_share

    def gap() -> int:
        return int(rng.beta(*recipe.gap) * recipe.most_gap) if open_gaps else 0

    gaps = (tuple(gap() for _ in range(columns - 1)), tuple(gap() for _ in range(rows - 1)), gap())
    every: tuple[PictureSource | None, ...] = (*recipe.sources, None)
    source = one_of(rng, every)
    sources = (source,) * count if source else tuple(one_of(rng, recipe.sources) for _ in range(count))
    return CompoundPlan(
        rows, columns, special, bool(rng.random() < 0.5), cell, identifiers,
        tuple(text.strip("()") for text in identifiers),
        one_by_odds(rng, list(recipe.placements), list(recipe.placements.values())), gaps,
        (_between(rng, recipe.margin), _between(rng, recipe.margin), _between(rng, recipe.margin),
         _between(rng, recipe.margin)),
        source, sources,
    )  # fmt: skip


def _between(rng: Rng, limits: tuple[int, int]) -> int:
    return int(rng.integers(limits[0], limits[1] + 1))


def _name(series: Series, k: int) -> str:
    """Return the k-th name of a series, from 0 on; numbers begin with 1, as they do in figures."""
    return {
        "lower": chr(97 + k),
        "upper": chr(65 + k),
        "number": str(k + 1),
        "roman": _TENS[(k + 1) // 10] + _UNITS[(k + 1) % 10],
    }[series]


@dataclass(frozen=True, slots=True, eq=False)
class SourcePicture:
    """A picture of a source: (height, width, 3) uint8 RGB pixels, and its image type."""

    pixels: Pixels
    image_type: ImageType = "Other"


Pictures = Mapping[PictureSource, Sequence[SourcePicture]]
"""Pictures by source; where there are none, stand-ins are drawn."""

_STAND_INS = PicturePool(())


def centre_cut(pixels: Pixels, width: int, height: int) -> Pixels:
    """Return the largest part in a picture's middle that has a frame's proportions, scaled to the frame."""
    tall, wide = pixels.shape[:2]
    w, h = min(wide, max(1, round(tall * width / height))), min(tall, max(1, round(wide * height / width)))
    left, top = (wide - w) // 2, (tall - h) // 2
    method = cv2.INTER_AREA if w >= width else cv2.INTER_CUBIC
    part = pixels[top : top + h, left : left + w]
    return np.asarray(cv2.resize(part, (width, height), interpolation=method), dtype=np.uint8)


def fitted_plot(plot: Pixels, width: int, height: int) -> tuple[Pixels, PixelBox]:
    """Return a plot as large as it fits, in the middle of a white frame, and its box."""
    scale = min(width / plot.shape[1], height / plot.shape[0])
    w, h = max(1, int(plot.shape[1] * scale)), max(1, int(plot.shape[0] * scale))
    left, top = (width - w) // 2, (height - h) // 2
    frame = paper(width, height)
    frame[top : top + h, left : left + w] = cv2.resize(plot, (w, h), interpolation=cv2.INTER_AREA)
    return frame, (left, top, left + w, top + h)


def _framed(
    rng: Rng, source: PictureSource, pictures: Pictures, width: int, height: int
) -> tuple[Pixels, PixelBox, ImageType]:
    """Return a picture of a source in its frame, the part of the frame that it takes, and its type."""
    whole = (0, 0, width, height)
    own = pictures.get(source, ())
    if own:
        picture = one_of(rng, own)
        if source == "plots":
            return *fitted_plot(picture.pixels, width, height), "Other"
        return centre_cut(picture.pixels, width, height), whole, picture.image_type
    if source == "plots":
        across = int(rng.integers(*PLOT_WIDTHS))
        return *fitted_plot(
            drawn(rng, _PLOTS, across, round(across / rng.uniform(*PLOT_SHAPES))), width, height
        ), "Other"
    if source == "retina":
        kind = one_of(rng, IMAGE_TYPES[:3])
        return _STAND_INS.picture(rng, kind, width, height), whole, kind
    draw = {"radiology": body_scan, "histopathology": texture, "dermatology": skin_lesion}[source]
    return np.ascontiguousarray(draw(rng, width, height)), whole, "Other"


@dataclass(frozen=True, slots=True, eq=False)
class _Tile:
    """A panel before it is put down: pixels, and boxes in them."""

    pixels: Pixels
    identifier: PixelBox
    picture: PixelBox


def _tile(rng: Rng, recipe: FigureRecipe, plan: CompoundPlan, text: str, tallest: int, picture: Pixels) -> _Tile:
    """Return a picture with its identifier: printed over it, or on padding; `tallest` is the highest print."""
    height, width = picture.shape[:2]
    mask = text_mask(text, FACE, recipe.type_size)
    wide, tall = mask.shape[1], mask.shape[0]
    pad = recipe.padding
    if plan.placement in ("over the top", "over the bottom"):
        x, y = _between(rng, recipe.over[0]), _between(rng, recipe.over[1])
        if plan.placement == "over the bottom":
            y = height - tall - y
        under = picture[y : y + tall, x : x + wide]
        colour = WHITE if under.size and float(under.mean()) < recipe.dark else BLACK
        box = print_text(picture, x, y, text, FACE, recipe.type_size, colour)
        return _Tile(picture, box, (0, 0, width, height))
    if plan.placement == "left":
        canvas, left, top = paper(width + wide + 2 * pad, height), wide + 2 * pad, 0
        x, y = pad, (height - tall) // 2 + _between(rng, (-recipe.shift[0], recipe.shift[0]))
    else:
        canvas, left = paper(width, height + tallest + 2 * pad), 0
        top = tallest + 2 * pad if plan.placement == "above" else 0
        x = int(np.clip((width - wide) // 2 + _between(rng, (-recipe.shift[1], recipe.shift[1])), 0, width - wide))
        y = (0 if plan.placement == "above" else height) + pad
    canvas[top : top + height, left : left + width] = picture
    box = print_text(canvas, x, y, text, FACE, recipe.type_size, BLACK)
    return _Tile(canvas, box, (left, top, left + width, top + height))


def _frame_size(plan: CompoundPlan, k: int) -> tuple[int, int]:
    """Return the width and height of the frame of the k-th picture."""
    width, height = plan.cell
    if k < plan.rows * plan.columns:
        return width, height
    return (
        width * (plan.columns if plan.special == "wide row" else 1),
        height * (plan.rows if plan.special == "tall column" else 1),
    )


def _moved(box: PixelBox, x: int, y: int) -> PixelBox:
    return (box[0] + x, box[1] + y, box[2] + x, box[3] + y)


def _places(plan: CompoundPlan, sizes: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the left top corner of every tile, the first one at (0, 0) but for what stands before the grid."""
    columns, rows, beside = plan.gaps
    x0 = y0 = 0
    extra = sizes[-1]
    across, down = plan.special in ("extra column", "tall column"), plan.special in ("extra row", "wide row")
    if plan.first and across:
        x0 = extra[0] + beside
    elif plan.first and down:
        y0 = extra[1] + beside
    places: list[tuple[int, int]] = []
    y = y0
    right = x0
    for row in range(plan.rows):
        x = x0
        for column in range(plan.columns):
            places.append((x, y))
            x += sizes[row * plan.columns + column][0] + (columns[column] if column < plan.columns - 1 else 0)
        right = max(right, x)
        y += sizes[row * plan.columns][1] + (rows[row] if row < plan.rows - 1 else 0)
    if plan.special is not None:
        beside_grid = (right + beside, y0) if across else (x0, y + beside)
        places.append((0, 0) if plan.first else beside_grid)
    return places


def composed(
    rng: Rng, recipe: FigureRecipe, plan: CompoundPlan, pictures: Pictures, boxes: PanelBoxes = "tile"
) -> SyntheticFigure:
    """Return the figure of a plan."""
    tallest = max(text_mask(text, FACE, recipe.type_size).shape[0] for text in plan.identifiers)
    tiles, shown = [], []
    for k, (text, source) in enumerate(zip(plan.identifiers, plan.sources, strict=True)):
        picture, part, kind = _framed(rng, source, pictures, *_frame_size(plan, k))
        tile = _tile(rng, recipe, plan, text, tallest, picture)
        tiles.append(tile)
        shown.append((_moved(part, tile.picture[0], tile.picture[1]), kind))
    left, top, right, bottom = plan.margins
    places = [(x + left, y + top) for x, y in _places(plan, [t.pixels.shape[1::-1] for t in tiles])]
    put = [(x, y, x + t.pixels.shape[1], y + t.pixels.shape[0]) for (x, y), t in zip(places, tiles, strict=True)]
    wide, tall = max(b[2] for b in put) + right, max(b[3] for b in put) + bottom
    canvas = paper(wide, tall)
    for box, tile in zip(put, tiles, strict=True):
        canvas[box[1] : box[3], box[0] : box[2]] = tile.pixels

    def normal(box: Box | PixelBox) -> Box:
        return (box[0] / wide, box[1] / tall, box[2] / wide, box[3] / tall)

    panels, images = [], []
    for (x, y), box, tile, (part, kind), name in zip(places, put, tiles, shown, plan.names, strict=True):
        identifier, image = _moved(tile.identifier, x, y), _moved(part, x, y)
        panel = normal(box if boxes == "tile" else union_box([identifier, image]))
        panels.append(PlacedPanel(panel, name, normal(identifier)))
        images.append(PlacedImage(normal(image), kind, False))
    return SyntheticFigure(canvas, tuple(panels), tuple(images))


def compound_figure(seed: int, recipe: FigureRecipe, pictures: Pictures, boxes: PanelBoxes = "tile") -> SyntheticFigure:
    """Return the figure of a seed: the same seed, recipe and pictures give the same figure."""
    rng = np.random.default_rng(seed)
    return composed(rng, recipe, planned(rng, recipe), pictures, boxes)
