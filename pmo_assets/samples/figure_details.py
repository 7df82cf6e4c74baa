"""Details in and around the pictures of a figure: identifiers, names of parts, letters that name nothing, legends.

Keep out: the arrangement of panels (`figure_cells`), drawing of pictures (`pictures`, `plots`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pmo_assets.records.geometry import Box, union_box
from pmo_assets.samples import scene, type_metrics
from pmo_assets.samples.figure_cells import Cell, printed_identifier
from pmo_assets.samples.scene import BLACK, WHITE, Bitmap, Colour, Item, Path, Text
from pmo_assets.samples.spec import FigureSpec, ImageSpec, Lettering, PanelSpec

DARK_KINDS = frozenset({"cfp", "oct", "angiography", "autofluorescence"})
"""Pictures whose corners are dark."""
EXTRA_SIZE = 7.0
"""Font size of text that belongs to no panel, points."""
COLOUR_BAR_WIDTH = 34.0
"""Room that a colour bar with its numbers takes right of the panels, points."""
EXTRA_GAP = 7.0
"""White space between panels and items that belong to none of them, points."""
_HEADINGS = ("Baseline", "Month 3", "Month 6", "Month 12", "Month 18", "Month 24")
_LEGEND = ("Control", "Treated", "Fellow eye")
_LEGEND_COLOURS: tuple[Colour, ...] = ((0.12, 0.36, 0.66), (0.80, 0.26, 0.16), (0.20, 0.55, 0.30))


def _font(figure: FigureSpec, text: str) -> str:
    """Return the identifiers' font: serif below the panel, where it is bold without brackets; else bold sans."""
    if figure.identifier_place in ("below", "below_left"):
        bold = "(" not in text if figure.identifier_bold is None else figure.identifier_bold
        return type_metrics.font_name("Times", bold=bold)
    return type_metrics.font_name("Helvetica", bold=figure.identifier_bold is not False)


def ink_colour(image: ImageSpec) -> Colour:
    """Return white for pictures with dark corners, else black."""
    return WHITE if image.kind in DARK_KINDS else BLACK


def _start(figure: FigureSpec, text: str, font: str, cell: Cell, ink: Box, top: float) -> tuple[float, float]:
    """Return where the identifier's baseline starts."""
    size, place = figure.identifier_size, figure.identifier_place
    width = type_metrics.text_width(text, font, size)
    if place in ("below", "below_left"):
        return ((ink[0] + ink[2] - width) / 2 if place == "below" else ink[0], ink[3] + 1.3 * size)
    if place in ("above", "above_centre"):
        return (cell.left if place == "above" else (ink[0] + ink[2] - width) / 2, top - 0.35 * size)
    if place == "beside":
        if figure.identifier_angle == 90:
            return (cell.left + size, (ink[1] + ink[3] + width) / 2)
        return (cell.left, ink[1] + 0.85 * size)
    x = ink[2] - 0.4 * size - width if place in ("top_right", "bottom_right") else ink[0] + 0.4 * size
    return (x, ink[3] - 0.5 * size if place in ("bottom_left", "bottom_right") else ink[1] + 1.2 * size)


def line_box(text: Text) -> Box:
    """Return the box of a line as text extraction gives it (font ascender to descender), also of text that runs up."""
    if text.angle == 0:
        return type_metrics.line_box(text.text, text.font, text.size, text.x, text.baseline)
    left, top, right, bottom = type_metrics.line_box(text.text, text.font, text.size, 0.0, 0.0)
    return (text.x + top, text.baseline - right, text.x + bottom, text.baseline - left)


def _plate(text: Text, colour: Colour) -> Path:
    """Return a filled box behind the text."""
    left, top, right, bottom = scene.ink_box(text)
    pad = 0.22 * text.size
    return scene.rectangle((left - pad, top - pad, right + pad, bottom + pad), stroke=None, fill=colour)


def identifier_items(figure: FigureSpec, panel: PanelSpec, cell: Cell, ink: Box, top: float) -> list[Item]:
    """Return the panel's printed identifier: nothing, its text, or a plate and its text.

    Args:
        figure: specification, which says how identifiers are printed.
        panel: the panel.
        cell: its room.
        ink: its pictures.
        top: upper edge of its pictures, without items that stick out of them.
    """
    text = printed_identifier(figure, panel)
    if not text:
        return []
    font, size = _font(figure, text), figure.identifier_size
    x, baseline = _start(figure, text, font, cell, ink, top)
    inside = figure.identifier_place in ("inside", "top_right", "bottom_left", "bottom_right")
    colour = (figure.identifier_colour or ink_colour(panel.images[0])) if inside else BLACK
    if figure.identifier_plate is None or not inside:
        angle = figure.identifier_angle if figure.identifier_place == "beside" else 0
        return [Text(x, baseline, text, font, size, colour, angle)]
    behind, colour = (WHITE, BLACK) if figure.identifier_plate == "white" else (BLACK, WHITE)
    name = Text(x, baseline, text, font, size, colour)
    return [_plate(name, behind), name]


def part_name(image: ImageSpec, ink: Box, size: float) -> list[Item]:
    """Return the name of the part that the picture is, in its upper left corner; nothing if it has none."""
    if not image.part:
        return []
    font = type_metrics.font_name("Helvetica", bold=True)
    return [Text(ink[0] + 0.4 * size, ink[1] + 1.2 * size, image.part, font, size, ink_colour(image))]


def lettering_items(lettering: Lettering | None, image: ImageSpec, box: Box, rng: np.random.Generator) -> list[Item]:
    """Return letters in a picture that name no panel."""
    if lettering is None:
        return []
    size = min(7.5, 0.09 * min(box[2] - box[0], box[3] - box[1]) + 2)
    colour = ink_colour(image)
    middle = ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)

    def letters(text: str, x: float, y: float) -> Text:
        """Centre the text at a point."""
        width = type_metrics.text_width(text, "Helvetica-Bold", size)
        return Text(x - width / 2, y + 0.36 * size, text, "Helvetica-Bold", size, colour)

    if lettering == "quadrants":
        sides = ("N", "T") if rng.random() < 0.5 else ("T", "N")
        return [
            letters("S", middle[0], box[1] + size),
            letters("I", middle[0], box[3] - size),
            letters(sides[0], box[0] + size, middle[1]),
            letters(sides[1], box[2] - size, middle[1]),
        ]
    if lettering == "eye":
        return [letters("OD" if rng.random() < 0.5 else "OS", middle[0], box[3] - size)]
    if lettering == "axis":
        x, y, arm = box[0] + 1.6 * size, box[3] - 1.6 * size, 2.2 * size
        corner = Path(((x, y - arm), (x, y), (x + arm, y)), stroke=colour, line_width=0.8)
        return [corner, letters("A", x, y - arm - 0.7 * size), letters("P", x + arm + 0.7 * size, y)]
    items: list[Item] = []
    for name, shift in (("a", -0.16), ("b", 0.14)):
        x = middle[0] + shift * (box[2] - box[0])
        y = middle[1] + float(rng.uniform(-0.1, 0.1)) * (box[3] - box[1])
        head = Path(((x, y), (x - 0.6 * size, y - 0.2 * size), (x - 0.2 * size, y - 0.6 * size)), None, colour)
        shaft = Path(((x - 0.3 * size, y - 0.3 * size), (x - 1.2 * size, y - 1.2 * size)), colour, None, 1.0)
        items += [head, shaft, letters(name, x - 1.8 * size, y - 1.8 * size)]
    return items


def _colour_bar(ink: Box) -> list[Item]:
    """Return a vertical scale of colours with three numbers, right of the panels."""
    left, top, bottom = ink[2] + EXTRA_GAP, ink[1] + 4, ink[1] + 4 + min(110.0, 0.8 * (ink[3] - ink[1]))
    ramp = np.linspace(1, 0, 120)[:, None]
    pixels = np.concatenate([255 * ramp, 255 * (1 - np.abs(2 * ramp - 1)), 255 * (1 - ramp)], axis=1)
    column = np.repeat(pixels.astype(np.uint8)[:, None, :], 12, axis=1)
    items: list[Item] = [Bitmap((left, top, left + 8, bottom), scene.jpeg_of(np.ascontiguousarray(column), 90))]
    for share, value in ((0.0, "400"), (0.5, "200"), (1.0, "0")):
        y = top + share * (bottom - top) + 0.36 * EXTRA_SIZE
        items.append(Text(left + 11, min(y, bottom), value, size=EXTRA_SIZE))
    return items


def _legend(ink: Box) -> list[Item]:
    """Return a line of coloured squares with words below the panels."""
    y = ink[3] + EXTRA_GAP + EXTRA_SIZE
    widths = [type_metrics.text_width(word, "Helvetica", EXTRA_SIZE) + 22 for word in _LEGEND]
    x = max(ink[0], (ink[0] + ink[2] - sum(widths)) / 2)
    items: list[Item] = []
    for word, width, colour in zip(_LEGEND, widths, _LEGEND_COLOURS, strict=True):
        square = scene.rectangle((x, y - 6, x + 6, y), stroke=None, fill=colour)
        items += [square, Text(x + 9, y, word, size=EXTRA_SIZE)]
        x += width
    return items


def _headings(panels: Sequence[Box]) -> list[Item]:
    """Return a word above each panel of the first row."""
    top = min(box[1] for box in panels)
    first = sorted(box for box in panels if box[1] < top + 8)
    items: list[Item] = []
    for box, word in zip(first, _HEADINGS, strict=False):
        width = type_metrics.text_width(word, "Helvetica", EXTRA_SIZE)
        items.append(Text((box[0] + box[2] - width) / 2, top - EXTRA_GAP, word, size=EXTRA_SIZE))
    return items


def extra_items(figure: FigureSpec, panels: Sequence[Box]) -> list[Item]:
    """Return the items drawn besides the panels, whose ink is given: colour bar, legend, headings."""
    ink = union_box(panels)
    items: list[Item] = []
    if "colour_bar" in figure.extras:
        items += _colour_bar(ink)
    if "legend" in figure.extras:
        items += _legend(ink)
    if "headings" in figure.extras:
        items += _headings(panels)
    return items
