"""Positional panel identifiers: "left", "upper right", "middle row", "second column", and how well panels fit them.

An identifier that is read here names a panel already, whoever found it (the grammar, a language model, an annotator).
So more words count than in running text (`captions.places`): "above" and "below", every word with "most" behind it,
"the", "hand".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.records.geometry import Box, centre, height, width
from pmo_assets.records.identifiers import HORIZONTAL_PLACES, MIDDLE_PLACES, VERTICAL_PLACES

_VERTICAL: Final = {**VERTICAL_PLACES, "above": 0.0, "below": 1.0}
_FILLERS: Final = frozenset(
    {
        "panel",
        "panels",
        "row",
        "rows",
        "column",
        "columns",
        "image",
        "images",
        "side",
        "the",
        "hand",
        "most",
        "part",
        "far",
        "extreme",
    }
)
_ACROSS: Final = frozenset({"column", "columns"})
_DOWN: Final = frozenset({"row", "rows"})
_ORDINALS: Final = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4,
    "last": -1,
}  # fmt: skip

FITS, OPEN, MISSES = 1.0, 0.3, 0.02
"""Weight of a panel that stands where an identifier says, of one where that cannot be told, and of one elsewhere."""


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """Place to which a positional identifier points.

    Attributes:
        x: 0 (left), 0.5 (neither end), 1 (right); None when it does not say.
        y: the same from top to bottom.
        column: number of the column from 1, -1 for the last; None when it does not say.
        row: the same from the top.
    """

    x: float | None = None
    y: float | None = None
    column: int | None = None
    row: int | None = None


def place_of(identifier: str) -> NamedPlace | None:
    """Return the place to which an identifier points; None when it is not positional ("A", "2b", "left eye")."""
    words = re.findall(r"[a-z0-9]+", identifier.lower())
    x: float | None = None
    y: float | None = None
    number: int | None = None
    middle = False
    across, down = bool(_ACROSS & set(words)), bool(_DOWN & set(words))
    for word in words:
        stem = word.removesuffix("most")
        if stem in HORIZONTAL_PLACES:
            x = HORIZONTAL_PLACES[stem]
        elif stem in _VERTICAL:
            y = _VERTICAL[stem]
        elif stem in MIDDLE_PLACES:
            middle = True
        elif word in _ORDINALS:
            number = _ORDINALS[word]
        elif word.isdigit() and len(word) == 1 and across != down:
            number = int(word)  # "column 2"
        elif word not in _FILLERS:
            return None
    if number is not None:
        # "second panel": which of the two directions the panels show.
        if across == down:
            return NamedPlace(x, y, column=number, row=number) if not across else None
        return NamedPlace(x, y, column=number if across else None, row=number if down else None)
    if middle:
        x, y = _middle(x, y, across=across, down=down)
    return NamedPlace(x, y) if x is not None or y is not None else None


def _middle(x: float | None, y: float | None, *, across: bool, down: bool) -> tuple[float | None, float | None]:
    """Return the place with "middle" in it: of a row, of a column, or of whichever the panels show (both 0.5)."""
    if x is None and y is None:
        return (0.5, None) if across else (None, 0.5) if down else (0.5, 0.5)
    return (0.5, y) if x is None else (x, 0.5)


def is_place(identifier: str) -> bool:
    """Say whether an identifier is positional."""
    return place_of(identifier) is not None


def _ranks(values: Sequence[float], sizes: Sequence[float]) -> tuple[list[int], int]:
    """Return the place of each centre along one axis and how many there are; centres within half an extent share it."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    tolerance = 0.5 * min(sizes)
    ranks, rank = [0] * len(values), 0
    for before, after in pairwise(order):
        if values[after] - values[before] > tolerance:
            rank += 1
        ranks[after] = rank
    return ranks, rank + 1


def place_weights(identifiers: Sequence[str], boxes: Sequence[Box]) -> NDArray[np.float64]:
    """Return (panels, identifiers): how well each panel fits each identifier, `MISSES`..`FITS`.

    Identifiers that are not positional have no place: 0. Several panels may fit one identifier ("top row").
    """
    places = [place_of(identifier) for identifier in identifiers]
    weights = np.zeros((len(boxes), len(identifiers)))
    if not boxes or not any(places):
        return weights
    columns, across = _ranks([centre(box)[0] for box in boxes], [width(box) for box in boxes])
    rows, down = _ranks([centre(box)[1] for box in boxes], [height(box) for box in boxes])
    for panel in range(len(boxes)):
        for index, place in enumerate(places):
            if place is not None:
                weights[panel, index] = _fit(place, (columns[panel], across), (rows[panel], down))
    return weights


def _fit(place: NamedPlace, column: tuple[int, int], row: tuple[int, int]) -> float:
    """Return the fit of a panel to a place; `column` and `row` are its number from 0 and the number of them."""
    x, y, single = place.x, place.y, column[1] == 1 or row[1] == 1
    if x == 0.5 and y == 0.5 and single:
        x, y = (0.5, None) if row[1] == 1 else (None, 0.5)
    wanted_column, wanted_row = place.column, place.row
    if wanted_column is not None and wanted_row is not None:
        if not single:
            return OPEN
        wanted_column, wanted_row = (wanted_column, None) if row[1] == 1 else (None, wanted_row)
    weight = FITS
    if x is not None:
        weight *= _at(column, x)
    if y is not None:
        weight *= _at(row, y)
    if wanted_column is not None:
        weight *= _is_number(column, wanted_column)
    if wanted_row is not None:
        weight *= _is_number(row, wanted_row)
    return max(weight, MISSES)


def _at(place: tuple[int, int], wanted: float) -> float:
    rank, count = place
    if count == 1:
        return OPEN  # nothing is left or right of anything
    at = 0 < rank < count - 1 if wanted == 0.5 else rank == (0 if wanted == 0.0 else count - 1)
    return FITS if at else MISSES


def _is_number(place: tuple[int, int], wanted: int) -> float:
    rank, count = place
    return FITS if rank == (count - 1 if wanted < 0 else wanted - 1) else MISSES
