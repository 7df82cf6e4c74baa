"""Letters that stand at one place of every panel: the search in each cell for what is read in some of them.

Publishers print the letters of a figure's panels at one place of each: the upper left corner, the middle below. Where
cells are known (the network's panels, or what clear gutters part) and one letter is read, the others are looked for at
the same place of the other cells, at the figure's own resolution. Letters that label things inside pictures do not
stand at one place of all of them and follow each other from A on. Cells whose letters cannot be read (covered, or over
texture) have those that the order of the others leaves them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.structure.gutters import Canvas, Rect, pixel_rect
from pmo_assets.pipeline.detection.structure.identifier_reading import PrintedBox, ReadLetter, read_letter
from pmo_assets.pipeline.detection.structure.identifiers import Identifier
from pmo_assets.pipeline.detection.structure.panels import PREDICTED
from pmo_assets.records.geometry import Box, reading_order

READ_SHARE: Final = 0.5
"""Part of the cells in which a letter must be read."""

ASTRAY_SHARE: Final = 0.25
"""Part of the cells in which another letter than those of the series may be read: texture resembles letters."""

WITHOUT_LAST: Final = 0.8
"""Part of the cells in which a letter must be read if the first ones all are: cells may be parts of fewer panels."""

CLEAR: Final = 0.85
"""Likeness from which what is read is no other letter."""

REACH: Final = 0.6
"""Letter heights by which the place may be off in another cell."""

OUTSIDE: Final = 1.5
"""Letter heights by which a letter may stand outside its cell."""

MOST_CELLS: Final = 26
"""More cells than letters have no letters."""

MOST_SEEDS: Final = 8
"""So many letters are tried as the first, the surest boxes before others."""


@dataclass(frozen=True, slots=True)
class CellLetters:
    """Names of cells and where they are printed.

    Attributes:
        names: A, B, C … or a, b, c …, one for each cell.
        places: per name its printed letter; empty where it was not read.
    """

    names: tuple[str, ...]
    places: tuple[tuple[Identifier, ...], ...]

    @property
    def read(self) -> float:
        """Part of the names that are read, 0..1."""
        return sum(bool(own) and own[0].text_score > 0 for own in self.places) / len(self.names)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a letter stands in its cell: which side or middle it keeps to, and how far off, in pixels."""

    across: int  # -1 left, 0 middle, 1 right
    down: int  # -1 top, 1 bottom
    offset: tuple[float, float]
    size: tuple[int, int]

    def in_cell(self, cell: Rect) -> Rect:
        """Return the rectangle of the same place in another cell."""
        width, height = self.size
        x = _anchor(cell, self.across) + self.offset[0]
        y = (cell[1] if self.down < 0 else cell[3]) + self.offset[1]
        return (round(x - width / 2), round(y - height / 2), round(x + width / 2), round(y + height / 2))


def letters_in_cells(canvas: Canvas, cells: Sequence[Box], boxes: Sequence[PrintedBox]) -> CellLetters | None:
    """Return the letters that stand at one place of the cells; None where most of them have none.

    Args:
        canvas: the prepared figure.
        cells: normalised boxes of what may be panels.
        boxes: where letters may be printed, pixels of the canvas; not all of them need to be seen.
    """
    if not 2 <= len(cells) <= MOST_CELLS:
        return None
    tall, wide = canvas.ink.shape
    rects = [pixel_rect(cell, wide, tall) for cell in cells]
    seen = [(box, read_letter(canvas.rgb, box.rect)) for box in boxes]
    best: tuple[int, float, list[ReadLetter | None], list[Rect]] | None = None
    for place in _places(rects, seen):
        expected = [place.in_cell(cell) for cell in rects]
        kept = _series([_read_at(canvas.rgb, rect, seen) for rect in expected])
        if kept is None:
            continue
        count = sum(letter is not None for letter in kept)
        value = (count, sum(_likeness(letter) for letter in kept), kept, expected)
        if best is None or value[:2] > best[:2]:
            best = value
        if count == len(rects):
            break
    return _named(best[2], best[3], cells) if best is not None else None


def _places(cells: Sequence[Rect], seen: Sequence[tuple[PrintedBox, ReadLetter | None]]) -> Iterator[_Place]:
    """Yield places of letters that are read in or beside a cell, the surest first."""
    ordered = sorted(seen, key=lambda pair: -pair[0].score)
    letters = [read for _, read in ordered if read is not None and read.likeness >= CLEAR and read.index < len(cells)]
    for letter in letters[:MOST_SEEDS]:
        left, top, right, bottom = letter.rect
        x, y = (left + right) / 2, (top + bottom) / 2
        slack = OUTSIDE * (bottom - top)
        for cell in cells:
            if not (cell[0] - slack <= x <= cell[2] + slack and cell[1] - slack <= y <= cell[3] + slack):
                continue
            down = -1 if y - cell[1] < cell[3] - y else 1
            edge = cell[1] if down < 0 else cell[3]
            size = (right - left, bottom - top)
            for across in (-1, 1, 0):
                yield _Place(across, down, (x - _anchor(cell, across), y - edge), size)


def _anchor(cell: Rect, across: int) -> float:
    return (cell[0], (cell[0] + cell[2]) / 2, cell[2])[across + 1]


def _read_at(
    rgb: NDArray[np.uint8], rect: Rect, seen: Sequence[tuple[PrintedBox, ReadLetter | None]]
) -> ReadLetter | None:
    """Return the letter at a place: that of a box there, else what is read in the rectangle itself."""
    height = rect[3] - rect[1]
    reach = REACH * height
    x, y = (rect[0] + rect[2]) / 2, (rect[1] + rect[3]) / 2
    near = [
        letter
        for box, letter in seen
        if letter is not None
        and abs((letter.rect[0] + letter.rect[2]) / 2 - x) <= reach + (rect[2] - rect[0]) / 2
        and abs((letter.rect[1] + letter.rect[3]) / 2 - y) <= reach
    ]
    if near:
        return max(near, key=lambda letter: letter.likeness)
    wide = round(max(rect[2] - rect[0], height) / 2 + 0.2 * height)
    for pad in (0.1, 0.35):
        lift = round(pad * height)
        left, right = round(x) - wide, round(x) + wide
        inside = (max(0, left), max(0, rect[1] - lift), min(rgb.shape[1], right), min(rgb.shape[0], rect[3] + lift))
        if inside[2] - inside[0] < 4 or inside[3] - inside[1] < 4:
            return None
        letter = read_letter(rgb, inside)
        if letter is not None:
            return letter
    return None


def _series(found: Sequence[ReadLetter | None]) -> list[ReadLetter | None] | None:
    """Return the letters of A, B, C …, one for each cell, each once; None where too few are read or others are."""
    count = len(found)
    order = sorted((k for k, letter in enumerate(found) if letter is not None), key=lambda k: -_likeness(found[k]))
    kept: list[ReadLetter | None] = [None] * count
    taken: set[int] = set()
    astray = 0
    for k in order:
        letter = found[k]
        if letter is None:
            continue
        if letter.index < count and letter.index not in taken:
            taken.add(letter.index)
            kept[k] = letter
        elif letter.likeness >= CLEAR:
            astray += 1
    if len(taken) < max(2, READ_SHARE * count) or astray > ASTRAY_SHARE * count:
        return None
    first = max(taken) + 1 == len(taken) < WITHOUT_LAST * count  # "A", "B" and "C", each of two pictures
    return None if first else kept


def _likeness(letter: ReadLetter | None) -> float:
    return letter.likeness if letter is not None else 0.0


def _named(letters: Sequence[ReadLetter | None], expected: Sequence[Rect], cells: Sequence[Box]) -> CellLetters:
    """Return names for all cells, in the case that most letters are printed in, and their places as far as known."""
    small = sum(letter.small - letter.capital for letter in letters if letter is not None) > 0
    names = tuple(chr((ord("a") if small else ord("A")) + k) for k in range(len(letters)))
    places: list[tuple[Identifier, ...]] = [()] * len(names)
    for letter in letters:
        if letter is not None:
            found = Identifier(names[letter.index], letter.rect, "plain", "network", letter.likeness, letter.likeness)
            places[letter.index] = (found,)
    for k, index in _by_order(letters, cells).items():
        places[index] = (Identifier(names[index], expected[k], "plain", "grid", PREDICTED, 0.0),)
    return CellLetters(names, tuple(places))


def _by_order(letters: Sequence[ReadLetter | None], cells: Sequence[Box]) -> dict[int, int]:
    """Return letters by cells that have none, where those read follow row by row or column by column."""
    for boxes in (cells, [(box[1], box[0], box[3], box[2]) for box in cells]):
        order = {cell: index for index, cell in enumerate(reading_order(boxes))}
        if all(letter is None or letter.index == order[k] for k, letter in enumerate(letters)):
            return {k: order[k] for k, letter in enumerate(letters) if letter is None}
    return {}
