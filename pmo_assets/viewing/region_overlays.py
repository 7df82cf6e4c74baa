"""Pictures of marks and of what they show: outlines on the figure, and the words about them in the marks' colours.

Each line has a casing of the opposite lightness: a white arrow on a white plot and a black one on a dark scan are seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from PIL import Image, ImageDraw

from pmo_assets.records.geometry import UNIT_BOX, Box, Point, area, crop_box, normalise
from pmo_assets.records.regions import Mark, PanelRegions, RegionPhrase, region_numbers
from pmo_assets.viewing.comparisons import stacked
from pmo_assets.viewing.lettering import Lettering
from pmo_assets.viewing.markup import plain_text
from pmo_assets.viewing.overlays import MAX_BOXES, Pixels, checked_pixels, draw_frame, draw_labels, scaled, visible_box
from pmo_assets.viewing.palette import ink_on

MAX_TEXTS: Final = 40
"""Texts below a figure: more cannot be read beside it."""

MAX_TEXT_CHARACTERS: Final = 1500

READABLE_SIDE: Final = 640
"""Pixels to which small pictures are enlarged: marks of a few pixels could not be told from their outline."""

BARB: Final = 150
"""Degrees between a mark's direction and the two strokes that tell it, as in an arrow's head."""

DIAMOND: Final = 1.5
"""Diagonal of an asterisk's outline in sides of its box: its arms end within."""

LEAST_TEXT_WIDTH: Final = 480
"""Pixels of the words below a narrow figure."""

CHIP_PAD: Final = 3
"""Pixels between a phrase and its frame."""

_INK = "#1b1f24"
_FAINT = "#5b6470"
_RULE = "#c9ced6"
_LEGEND: Final = (
    "thin: mark, dot and strokes: its tip and direction · dashed, with number: region · ?: which mark is undecided"
)


@dataclass(frozen=True, slots=True)
class MarkedPanel:
    """A panel with the texts that its phrases stand in.

    Attributes:
        found: its marks, phrases and regions.
        name: the identifier; None for the only panel of a figure.
        texts: its subcaption, then its mentions.
    """

    found: PanelRegions
    name: str | None = None
    texts: tuple[str, ...] = ()


def figure_numbers(panels: Iterable[PanelRegions]) -> list[tuple[int, ...]]:
    """Return the numbers of each panel's regions, counted through the figure."""
    numbers: list[tuple[int, ...]] = []
    first = 1
    for panel in panels:
        own = region_numbers(panel.regions, first)
        first = max(own, default=first - 1) + 1
        numbers.append(own)
    return numbers


def phrase_colour(phrase: RegionPhrase, marks: Sequence[Mark]) -> str | None:
    """Return the `#rrggbb` of the mark that a phrase means, the first of several; None for one without."""
    return next((marks[number].rgb for number in phrase.marks if number < len(marks)), None)


def numbers_text(numbers: Iterable[int]) -> str:
    """Return numbers in a few characters: "1–3, 5"."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def draw_regions(
    pixels: Pixels,
    panels: Sequence[PanelRegions],
    *,
    frame: Box = UNIT_BOX,
    max_side: int = 1400,
    least_side: int = READABLE_SIDE,
) -> Pixels:
    """Return a figure, or the part `frame` of it, with the marks of its panels and what they show.

    A mark has a thin outline in its colour: an ellipse for circles, a diamond for asterisks, a rectangle for all
    others; at its tip a dot, and two strokes that tell its direction. A region has a dashed frame in the colour of its
    first mark, and its number beside it, where it covers neither marks nor regions as far as there is room. Numbers
    count through the figure. At most `MAX_BOXES` of each kind are drawn.

    Args:
        pixels: (height, width, 3) uint8, RGB, of the whole figure.
        panels: with boxes and tips normalised to the figure.
        frame: part that is shown, normalised [l, t, r, b].
        max_side: longest side of the result in pixels.
        least_side: smaller pictures are enlarged to that side, at most fourfold.

    Returns:
        (height, width, 3) uint8, RGB.

    Raises:
        ValueError: if `pixels` has another shape or dtype, or nothing of `frame` lies in the figure.
    """
    height, width = checked_pixels(pixels).shape[:2]
    shown = visible_box(frame)
    if shown is None:
        raise ValueError(f"nothing of {frame} lies in the figure")
    left, top, right, bottom = crop_box(shown, width, height)
    frame = (left / width, top / height, right / width, bottom / height)
    picture = _readable(scaled(pixels[top:bottom, left:right], max_side), min(least_side, max_side))
    canvas = ImageDraw.Draw(picture)
    line = max(1, max(picture.size) // 600)

    def place(box: Box) -> Box | None:
        inside = visible_box(normalise(box, frame)) if _finite(box) else None
        return None if inside is None else _in_pixels(inside, picture)

    labels: list[tuple[Box, str, str, bool]] = []
    taken: list[Box] = []
    for panel, numbers in zip(panels, figure_numbers(panels), strict=True):
        numbered: set[int] = set()
        for region, number in list(zip(panel.regions, numbers, strict=True))[:MAX_BOXES]:
            spot = place(region.box)
            if number in numbered or spot is None:
                continue
            numbered.add(number)
            colour = next((panel.marks[k].rgb for k in region.marks if k < len(panel.marks)), _FAINT)
            draw_frame(canvas, spot, colour, line, dash=4 * line, casing_colour=ink_on(colour))
            labels.append((spot, str(number), colour, True))
            taken.append(spot)
    for panel in panels:
        for mark in panel.marks[:MAX_BOXES]:
            if (spot := place(mark.box)) is not None:
                _draw_outline(canvas, spot, mark, line)
                taken.append(spot)
            if mark.tip is not None and _finite(mark.tip):
                x, y = ((at - frame[k]) / (frame[k + 2] - frame[k]) for k, at in enumerate(mark.tip))
                if 0 <= x <= 1 and 0 <= y <= 1:
                    _draw_tip(canvas, (x * picture.width, y * picture.height), mark, line)
    # Small places first: they have the least room.
    labels.sort(key=lambda label: area(label[0]), reverse=True)
    size = max(11, round(max(picture.size) / 55))
    draw_labels(canvas, (0.0, 0.0, float(picture.width), float(picture.height)), labels, taken, size, least_size=size)
    return np.asarray(picture, dtype=np.uint8).copy()


def _finite(values: Sequence[float]) -> bool:
    return all(math.isfinite(value) for value in values)


def _readable(picture: Image.Image, least_side: int) -> Image.Image:
    factor = min(4.0, least_side / max(picture.size))
    if factor <= 1:
        return picture
    size = (max(1, round(picture.width * factor)), max(1, round(picture.height * factor)))
    return picture.resize(size, Image.Resampling.BICUBIC)


def _in_pixels(box: Box, picture: Image.Image) -> Box:
    return (
        box[0] * picture.width,
        box[1] * picture.height,
        box[2] * picture.width,
        box[3] * picture.height,
    )


def _draw_outline(canvas: ImageDraw.ImageDraw, box: Box, mark: Mark, line: int) -> None:
    """Draw the outline of a mark, `line` pixels around its box, so that the mark itself stays visible."""
    gap = 2 * line
    left, top, right, bottom = (round(at + by) for at, by in zip(box, (-gap, -gap, gap, gap), strict=True))
    casing = ink_on(mark.rgb)
    if mark.kind == "circle":
        canvas.ellipse((left - 1, top - 1, right + 1, bottom + 1), outline=casing, width=line + 2)
        canvas.ellipse((left, top, right, bottom), outline=mark.rgb, width=line)
    elif mark.kind == "asterisk":
        x, y = (left + right) / 2, (top + bottom) / 2
        wide, tall = (0.5 * DIAMOND * side for side in (right - left, bottom - top))
        around = [(x, y - tall), (x + wide, y), (x, y + tall), (x - wide, y), (x, y - tall)]
        _draw_strokes(canvas, [around], mark.rgb, line)
    else:
        draw_frame(canvas, (left, top, right, bottom), mark.rgb, line, casing_colour=casing)


def _draw_strokes(canvas: ImageDraw.ImageDraw, strokes: Sequence[Sequence[Point]], colour: str, line: int) -> None:
    for width, ink in ((line + 2, ink_on(colour)), (line, colour)):
        for stroke in strokes:
            canvas.line(list(stroke), fill=ink, width=width, joint="curve")


def _draw_tip(canvas: ImageDraw.ImageDraw, tip: Point, mark: Mark, line: int) -> None:
    """Draw a dot at a tip, and two strokes back from it that tell the direction."""
    x, y = min(round(tip[0]), canvas.im.size[0] - 1), min(round(tip[1]), canvas.im.size[1] - 1)
    radius = 2 + line
    if mark.direction is not None and math.isfinite(mark.direction):
        length = 8 + 5 * line
        angles = [math.radians(mark.direction + turn) for turn in (BARB, -BARB)]
        ends = [(x + length * math.cos(angle), y - length * math.sin(angle)) for angle in angles]
        _draw_strokes(canvas, [[(x, y), end] for end in ends], mark.rgb, line)
    canvas.ellipse((x - radius - 1, y - radius - 1, x + radius + 1, y + radius + 1), fill=ink_on(mark.rgb))
    canvas.ellipse((x - radius, y - radius, x + radius, y + radius), fill=mark.rgb)


@dataclass(slots=True)
class _Piece:
    """A word or a number on a line.

    Attributes:
        text: of it.
        chip: number of the phrase that it is of; None for other words.
        fill: colour of that phrase; None without a mark.
        is_number: it is the number of a region, or the name of a panel.
        joined: no blank stands before it.
        x: left edge in pixels.
        extent: width in pixels.
    """

    text: str
    chip: int | None = None
    fill: str | None = None
    is_number: bool = False
    joined: bool = False
    x: float = 0.0
    extent: float = 0.0


@dataclass(slots=True)
class _Flow:
    """Words broken into lines of a width."""

    width: int
    font_size: int
    lines: list[list[_Piece]] = field(default_factory=lambda: [[]])
    chips: int = 0

    @property
    def body(self) -> Lettering:
        return Lettering(self.font_size)

    @property
    def bold(self) -> Lettering:
        return Lettering(round(0.85 * self.font_size), bold=True)

    def add(self, piece: _Piece) -> None:
        margin = self.font_size
        lettering = self.bold if piece.is_number else self.body
        piece.text = lettering.shortened(piece.text, self.width - 2 * margin)
        piece.extent = lettering.width(piece.text)
        line = self.lines[-1]
        x = line[-1].x + line[-1].extent + self._gap(line[-1], piece) if line else float(margin)
        # A number stands before words, never alone at the end of a line.
        needed = piece.extent + (4 * self.font_size if piece.is_number else 0)
        if line and x + needed > self.width - margin:
            self.lines.append([])
            x = float(margin)
        piece.x = x
        self.lines[-1].append(piece)

    def _gap(self, before: _Piece, piece: _Piece) -> float:
        """Return the pixels between two pieces; around a phrase there is room for its frame."""
        frame = CHIP_PAD * sum(item.chip is not None for item in (before, piece)) if before.chip != piece.chip else 0
        return frame + (0.0 if piece.joined else self.body.width(" "))

    def end(self) -> None:
        if self.lines[-1]:
            self.lines.append([])

    def drawn(self) -> Pixels:
        lines = [line for line in self.lines if line]
        step = round(1.75 * self.font_size)
        sheet = Image.new("RGB", (self.width, len(lines) * step + self.font_size), "white")
        canvas = ImageDraw.Draw(sheet)
        for number, line in enumerate(lines):
            baseline = self.font_size // 2 + number * step + round(1.15 * self.font_size)
            for chip in dict.fromkeys(piece.chip for piece in line if piece.chip is not None):
                own = [piece for piece in line if piece.chip == chip]
                left, right = own[0].x - CHIP_PAD, own[-1].x + own[-1].extent + CHIP_PAD
                top, bottom = baseline - round(1.05 * self.font_size), baseline + round(0.38 * self.font_size)
                fill = own[0].fill
                outline = _RULE if fill is None else _INK
                canvas.rounded_rectangle((left, top, right, bottom), radius=4, fill=fill or "white", outline=outline)
            for piece in line:
                lettering = self.bold if piece.is_number else self.body
                ink = ink_on(piece.fill) if piece.fill else _INK
                lettering.draw(canvas, piece.x, baseline, piece.text, ink)
        return np.asarray(sheet, dtype=np.uint8).copy()


def draw_region_words(panels: Sequence[MarkedPanel], width: int = 960, font_size: int = 15) -> Pixels | None:
    """Return the texts of a figure's panels that name marks, each phrase on its mark's colour with its region's number.

    A phrase without a mark has a frame only; "?" stands where it is undecided which mark a phrase means. A text in
    which no phrase has a mark is left out where it stands with another panel that has it. What no words name is listed
    last.

    Args:
        panels: of the figure, in the order of `draw_regions`.
        width: pixels of the result; at least 20 times the font size.
        font_size: pixels per em.

    Returns:
        (height, width, 3) uint8, RGB; None where no panel has marks, phrases or regions.

    Raises:
        ValueError: if `font_size` is smaller than 6 or `width` smaller than 20 font sizes.
    """
    if font_size < 6 or width < 20 * font_size:
        raise ValueError(f"width {width} and font size {font_size} leave no room for text")
    if not any(panel.found for panel in panels):
        return None
    flow = _Flow(width, font_size)
    wordless: list[int] = []
    linked = {text for panel in panels for text, phrases in _told(panel) if any(phrase.marks for _, phrase in phrases)}
    shown = 0
    for panel, numbers in zip(panels, figure_numbers(panel.found for panel in panels), strict=True):
        wordless += [n for n, region in zip(numbers, panel.found.regions, strict=True) if region.phrase is None]
        for text, phrases in _told(panel):
            if shown == MAX_TEXTS or (text in linked and not any(phrase.marks for _, phrase in phrases)):
                continue
            shown += 1
            if panel.name:
                flow.add(_Piece(f"{plain_text(panel.name)}:", is_number=True))
            _add_text(flow, plain_text(text), phrases, panel.found, numbers)
            flow.end()
    for words in (f"{numbers_text(wordless)}: no words name the mark" if wordless else "", _LEGEND):
        for word in words.split():
            flow.add(_Piece(word))
        flow.end()
    return flow.drawn()


def _told(panel: MarkedPanel) -> list[tuple[str, list[tuple[int, RegionPhrase]]]]:
    """Return the texts of a panel that name marks, with their phrases, which have numbers and overlap no other."""
    told = []
    for number, text in enumerate(panel.texts):
        mention = None if number == 0 else number - 1
        own: list[tuple[int, RegionPhrase]] = []
        for item in sorted(enumerate(panel.found.phrases), key=lambda item: (item[1].start, item[0])):
            phrase = item[1]
            last = own[-1][1].end if own else 0
            if phrase.mention == mention and last <= phrase.start < phrase.end <= min(len(text), MAX_TEXT_CHARACTERS):
                own.append(item)
        if own:
            told.append((text[:MAX_TEXT_CHARACTERS], own))
    return told


def phrase_numbers(number: int, found: PanelRegions, numbers: Sequence[int]) -> tuple[int, ...]:
    """Return the numbers of the regions that a phrase tells of: its own, else those of the marks that it means.

    Args:
        number: position of the phrase among the panel's.
        found: in the panel.
        numbers: of its regions.
    """
    phrase = found.phrases[number]
    own = [n for n, region in zip(numbers, found.regions, strict=True) if region.phrase == number]
    shared = [n for n, region in zip(numbers, found.regions, strict=True) if {*region.marks} & {*phrase.marks}]
    return tuple(sorted({*(own or shared)}))


def _add_text(
    flow: _Flow,
    text: str,
    phrases: Sequence[tuple[int, RegionPhrase]],
    found: PanelRegions,
    numbers: Sequence[int],
) -> None:
    at = 0
    for number, phrase in phrases:
        flow.chips += 1
        chip = flow.chips
        _add_words(flow, text, at, phrase.start)
        fill = phrase_colour(phrase, found.marks)
        told = numbers_text(phrase_numbers(number, found, numbers)) + ("?" if phrase.marks and phrase.undecided else "")
        if told:
            flow.add(_Piece(told, chip, fill, is_number=True))
        _add_words(flow, text, phrase.start, phrase.end, chip, fill)
        at = phrase.end
    _add_words(flow, text, at, len(text))


def _add_words(flow: _Flow, text: str, start: int, end: int, chip: int | None = None, fill: str | None = None) -> None:
    joined = chip is None and start > 0 and start < end and not text[start].isspace()
    for word in text[start:end].split():
        flow.add(_Piece(word, chip, fill, joined=joined))
        joined = False


def region_picture(
    pixels: Pixels, panels: Sequence[MarkedPanel], *, frame: Box = UNIT_BOX, max_side: int = 1400
) -> Pixels | None:
    """Return a figure with its marks and regions, and the words about them below; None where it has none of them.

    Args:
        pixels: (height, width, 3) uint8, RGB, of the whole figure.
        panels: of the figure, in its order.
        frame: part of the figure that is shown, normalised [l, t, r, b].
        max_side: longest side of the figure in the result; words grow with its width.

    Raises:
        ValueError: as `draw_regions`.
    """
    if not any(panel.found for panel in panels):
        return None
    drawn = draw_regions(pixels, [panel.found for panel in panels], frame=frame, max_side=max_side)
    width = max(LEAST_TEXT_WIDTH, drawn.shape[1])
    words = draw_region_words(panels, width, max(14, width // 65))
    return drawn if words is None else stacked([drawn, words], gap=4)
