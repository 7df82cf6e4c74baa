"""Letters in rows and columns: the place of a letter that was not read follows from the grid of the others.

Figures of equal pictures print their letters at regular places, row by row. Letters that are read fix rows and columns;
one between them that was not read (blurred, covered, of another colour) is where its row and column meet, and one that
was taken for something elsewhere is put right. Belongs here: places. Cutting the figure around them: `panels`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.structure.gutters import Rect, overlap

ALIGNED = 0.7
"""Letter heights by which letters of one row or column may be off it: c and d differ by a third of a height."""

APART = 2.5
"""Letter heights from one row or column to the next, at least."""

READ_SHARE = 0.5
"""Part of the letters that must be read for their grid to be known."""

LEAST_READ = 3
"""Letters that must be read: two are in one row or column with anything."""

MOST_ASTRAY = 0.2
"""Part of the letters that may have been taken for something off the grid."""


@dataclass(frozen=True, slots=True)
class LetterGrid:
    """Rows and columns of letters.

    Attributes:
        columns: letters of a full row.
        places: rectangle expected for every name, by its position; absent where the grid does not say.
        astray: positions of names whose letters are off the grid.
    """

    columns: int
    places: Mapping[int, Rect]
    astray: tuple[int, ...]


def letter_grid(count: int, read: Mapping[int, Rect], sure: frozenset[int]) -> LetterGrid | None:
    """Return the grid in which letters stand row by row; None where they do not show one, or show several.

    Args:
        count: number of letters.
        read: boxes of the letters that were read, pixels, by their position in the series.
        sure: positions whose letters are certain (live text); they are never astray.
    """
    if len(read) < max(LEAST_READ, READ_SHARE * count):
        return None
    found = [grid for columns in range(1, count + 1) if (grid := _grid(count, columns, read, sure)) is not None]
    if not found:
        return None
    # A grid that explains more letters is the better one; of equals the one with more places known.
    found.sort(key=lambda grid: (len(grid.astray), -len(grid.places)))
    rivals = [g for g in found[1:] if len(g.astray) == len(found[0].astray) and g.places != found[0].places]
    return None if rivals else found[0]


def _grid(count: int, columns: int, read: Mapping[int, Rect], sure: frozenset[int]) -> LetterGrid | None:
    """Return the grid with so many columns when the letters agree with it."""
    tall = float(np.median([r[3] - r[1] for r in read.values()]))
    wide = float(np.median([r[2] - r[0] for r in read.values()]))
    limit = ALIGNED * tall
    cells = {k: (k // columns, k % columns) for k in range(count)}
    middle = {k: ((r[1] + r[3]) / 2, (r[0] + r[2]) / 2) for k, r in read.items()}
    last = (count - 1) // columns
    # A last row that is not full may stand in the middle: its columns are its own.
    own_last = count % columns != 0 and last > 0
    lines: list[dict[int, float]] = []
    for axis in (0, 1):
        members: dict[int, list[float]] = {}
        for k, cell in cells.items():
            if k in read and not (axis == 1 and own_last and cell[0] == last):
                members.setdefault(cell[axis], []).append(middle[k][axis])
        known = {line: float(np.median(values)) for line, values in members.items()}
        number = last + 1 if axis == 0 else columns
        lines.append(_regular(known, number, limit, APART * tall))
        if not lines[-1]:
            return None
    astray = tuple(
        k
        for k in read
        if cells[k][0] not in lines[0]
        or abs(middle[k][0] - lines[0][cells[k][0]]) > limit
        or (not (own_last and cells[k][0] == last) and abs(middle[k][1] - lines[1].get(cells[k][1], 1e9)) > limit)
    )
    if len(astray) > MOST_ASTRAY * count or sure.intersection(astray):
        return None
    places: dict[int, Rect] = {}
    for k, (row, column) in cells.items():
        if row in lines[0] and column in lines[1] and not (own_last and row == last):
            y, x = lines[0][row], lines[1][column]
            places[k] = (round(x - wide / 2), round(y - tall / 2), round(x + wide / 2), round(y + tall / 2))
    return LetterGrid(columns, places, astray)


def _regular(known: Mapping[int, float], number: int, limit: float, apart: float) -> dict[int, float]:
    """Return where rows (or columns) are: known ones, and others if all are evenly spaced; {} if out of order."""
    order = sorted(known)
    if any(known[b] - known[a] < apart * (b - a) for a, b in pairwise(order)):
        return {}
    lines = dict(known)
    if 2 <= len(order) < number:
        at = np.asarray([known[k] for k in order])
        slope, offset = np.polyfit(order, at, 1)
        if float(np.abs(offset + slope * np.asarray(order) - at).max()) <= limit:
            lines |= {k: float(offset + slope * k) for k in range(number) if k not in lines}
    return lines


def inside(rect: Rect, ink: NDArray[np.uint8]) -> bool:
    """Say whether a rectangle lies in a picture of this shape."""
    return rect[0] >= 0 and rect[1] >= 0 and rect[2] <= ink.shape[1] and rect[3] <= ink.shape[0]


def overlaps(rect: Rect, others: Sequence[Rect]) -> bool:
    """Say whether a rectangle shares pixels with one of the others."""
    return any(overlap(rect, other) for other in others)
