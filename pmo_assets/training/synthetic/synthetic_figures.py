"""Compound figures composed of pictures and plots on real or random layouts, with exact boxes of everything.

A figure follows from its seed alone. Boxes are known because every part is placed, not found: the box of a picture is
where it was pasted, the box of a plot on paper is its ink, the box of an identifier is the ink of its print, and a
panel is the hull of what was put into it. Conventions are those of the annotation guide: images without the identifier
and headings around them, plots with their axes, panels with everything that is theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np

from pmo_assets.records.geometry import Box
from pmo_assets.samples.drawing import Colour, PixelBox, Pixels, Rng, one_of, print_text, text_mask
from pmo_assets.training.synthetic.figure_styles import PAPER, Style, figure_style, identifier_names, typeset_style
from pmo_assets.training.synthetic.layouts import Layout, parametric_layout, typeset_layout
from pmo_assets.training.synthetic.panel_contents import panel_content
from pmo_assets.training.synthetic.placed_figure import PlacedImage, PlacedPanel, SyntheticFigure
from pmo_assets.training.synthetic.pools import PicturePool
from pmo_assets.training.synthetic.tiles import blank_canvas, ink_of, paste
from pmo_assets.training.synthetic.words_and_colours import some_words
from pmo_assets.training.synthetic.worn_pictures import worn

TYPESET_SHARE = 0.1
"""Part of the figures whose identifiers stand as LaTeX sets them, row after row below the panels."""


def _ink_box(pixels: Pixels, ground: Colour) -> PixelBox | None:
    """Return the box of the pixels that differ from the ground by more than 20 levels in a channel."""
    away = cv2.absdiff(np.ascontiguousarray(pixels), np.full_like(pixels, np.asarray(ground, np.uint8)))
    first, second, third = cv2.split(away)
    left, top, wide, tall = cv2.boundingRect(np.asarray(cv2.max(cv2.max(first, second), third) > 20, dtype=np.uint8))
    return (left, top, left + wide, top + tall) if wide and tall else None


def _hull(boxes: Sequence[tuple[float, float, float, float]]) -> tuple[float, float, float, float]:
    return (min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes))


def _air(style: Style) -> int:
    """Return the distance in pixels between an identifier and the panel that it names."""
    return max(2, round(style.size * 0.35))


def _print_identifier(
    rng: Rng,
    style: Style,
    canvas: Pixels,
    cell: PixelBox,
    text: str,
    hull: tuple[float, float, float, float],
    extent: tuple[int, int],
) -> PixelBox:
    """Print a panel's identifier where the style puts it, readable on what lies there, and return its box.

    Args:
        rng: decides what the style leaves open.
        style: of the figure.
        canvas: the figure, changed in place.
        cell: the panel's place.
        text: the identifier as it is printed.
        hull: box around the panel's content.
        extent: width and height of the printed text in pixels.
    """
    left, top, _, bottom = cell
    wide, tall = extent
    air = _air(style)
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
    return print_text(canvas, px, py, text, style.face, style.size, colour)


def _print_words(rng: Rng, style: Style, canvas: Pixels, cell: PixelBox, identifier: PixelBox) -> list[PixelBox]:
    """Print a word or two after an identifier below a panel, where there is room, and return their box."""
    text, x = some_words(rng, 1, 2), identifier[2] + round(style.size * 0.4)
    if x + text_mask(text, style.face, style.size).shape[1] >= cell[2]:
        return []
    return [print_text(canvas, x, identifier[1], text, style.face, style.size, ink_of(style))]


def _add_panel(
    rng: Rng, pool: PicturePool, style: Style, canvas: Pixels, cell: PixelBox, name: str | None, alone: bool
) -> tuple[PlacedPanel, list[PlacedImage]] | None:
    """Fill one cell of the canvas; None when there is no room, or nothing to be seen on the figure's ground."""
    left, top, right, bottom = cell
    text = (
        name
        if name is None
        else {"": name, "()": f"({name})", ")": f"{name})", ".": f"{name}.", "[]": f"[{name}]"}[style.wrapping]
    )
    mask = text_mask(text, style.face, style.size) if text else np.zeros((0, 0), np.uint8)
    tall, wide = mask.shape
    air = _air(style)
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
    tile = panel_content(rng, pool, style, width, height, alone)
    slack_x, slack_y = width - tile.pixels.shape[1], height - tile.pixels.shape[0]
    x = inner[0] + round(slack_x * float(rng.choice([0, 0.5, 0.5])))
    y = inner[1] + round(slack_y * float(rng.choice([0, 0.5, 1]) if style.position != "below" else 1))
    paste(canvas, x, y, tile.pixels)
    boxes: list[tuple[float, float, float, float]] = []
    ink = _ink_box(tile.pixels, style.ground)
    if ink is not None:
        boxes.append((ink[0] + x, ink[1] + y, ink[2] + x, ink[3] + y))
    images = [replace(i, box=(i.box[0] + x, i.box[1] + y, i.box[2] + x, i.box[3] + y)) for i in tile.images]
    boxes += [i.box for i in images]
    if not boxes:
        return None
    identifier_box: PixelBox | None = None
    if text is not None and mask.size:
        identifier_box = _print_identifier(rng, style, canvas, cell, text, _hull(boxes), (wide, tall))
        boxes.append(identifier_box)
        if style.worded and style.wrapping == "()":  # brackets reach as far up and down as any letter
            boxes += _print_words(rng, style, canvas, cell, identifier_box)
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
        pool: source of pictures.
        layouts: real layouts, used for two in five figures; may be empty.
    """
    rng = np.random.default_rng(seed)
    while True:
        figure = _composed(rng, pool, layouts)
        if figure is not None:
            return figure


def _composed(rng: Rng, pool: PicturePool, layouts: Sequence[Layout]) -> SyntheticFigure | None:
    typeset = rng.random() < TYPESET_SHARE
    if typeset:
        layout = typeset_layout(rng)
    else:
        layout = one_of(rng, layouts) if layouts and rng.random() < 0.4 else parametric_layout(rng)
    # Tables of layouts hold many single panels: a third of them is plenty.
    if len(layout.panels) == 1 and rng.random() < 0.35:
        layout = parametric_layout(rng)
    side = float(np.exp(rng.uniform(np.log(420), np.log(900))))
    width, height = round(side * layout.aspect**0.5), round(side / layout.aspect**0.5)
    style = figure_style(rng, layout, width, height)
    if typeset:
        style = typeset_style(rng, style)
    canvas = blank_canvas(style, width, height)
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
    rng: Rng, style: Style, canvas: Pixels, panels: list[PlacedPanel], images: list[PlacedImage]
) -> SyntheticFigure:
    """Add items that belong to no panel, cut the figure to its ink and give it the scars of scaling and JPEG."""
    ink = ink_of(style)
    size = max(8, round(style.size * 0.8))
    single = len(panels) == 1 and panels[0].identifier is None
    if rng.random() < 0.05:  # a heading over everything
        canvas = cv2.copyMakeBorder(canvas, size * 2, 0, 0, 0, cv2.BORDER_CONSTANT, value=style.ground)
        shift = size * 2
        panels = [_moved_panel(p, shift) for p in panels]
        images = [replace(i, box=(i.box[0], i.box[1] + shift, i.box[2], i.box[3] + shift)) for i in images]
        box = print_text(canvas, max(0, canvas.shape[1] // 2 - 3 * size), 2, some_words(rng, 2, 4), "hebo", size, ink)
        if single:
            panels = [replace(panels[0], box=_hull([panels[0].box, box]))]
    if rng.random() < 0.04 and not single:  # a legend under everything
        canvas = cv2.copyMakeBorder(canvas, 0, size * 2, 0, 0, cv2.BORDER_CONSTANT, value=style.ground)
        print_text(canvas, canvas.shape[1] // 4, canvas.shape[0] - size - 3, some_words(rng, 2, 4), "helv", size, ink)
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
