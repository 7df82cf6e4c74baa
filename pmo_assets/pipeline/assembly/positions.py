"""Positional panel identifiers: "left", "upper right", "middle row", and which panels they mean.

An identifier that is read here names a panel already, whoever found it (the grammar, a language model, an annotator).
So more words count than in running text (`captions.places`): "above" and "below", every word with "most" behind it,
"the", "hand". Ordinals ("first row") do not: how many there are the identifier does not say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from pmo_assets.records.geometry import Box, centre, height, width
from pmo_assets.records.identifiers import HORIZONTAL_PLACES, MIDDLE_PLACES, VERTICAL_PLACES

_VERTICAL = {**VERTICAL_PLACES, "above": 0.0, "below": 1.0}
_FILLERS = frozenset({"panel", "panels", "row", "column", "image", "side", "the", "hand", "most", "part"})
_HORIZONTAL_CONTEXT = frozenset({"column"})


def position_of(identifier: str) -> tuple[float | None, float | None] | None:
    """Return where a positional identifier points: (x, y), each 0, 0.5, 1 or None when it does not say.

    None when the identifier is not positional ("A", "2b", "left eye").
    """
    words = re.findall(r"[a-z]+", identifier.lower())
    if not words or re.search(r"\d", identifier):
        return None
    x: float | None = None
    y: float | None = None
    middle = False
    for word in words:
        stem = word.removesuffix("most")
        if stem in HORIZONTAL_PLACES:
            x = HORIZONTAL_PLACES[stem]
        elif stem in _VERTICAL:
            y = _VERTICAL[stem]
        elif stem in MIDDLE_PLACES:
            middle = True
        elif word not in _FILLERS:
            return None
    if middle:
        if x is None and y is None:
            # "middle" alone: of a row or of a column, whichever the other identifiers and the panels show
            return (0.5, None) if _HORIZONTAL_CONTEXT & set(words) else (None, 0.5) if "row" in words else (0.5, 0.5)
        if x is None:
            x = 0.5
        else:
            y = 0.5
    return (x, y) if x is not None or y is not None else None


def _rank(values: Sequence[float], sizes: Sequence[float]) -> list[float]:
    """Return 0..1 places of centres along one axis; centres closer than half an extent share a place."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    tolerance = 0.5 * min(sizes)
    places, place = [0] * len(values), 0
    for before, after in pairwise(order):
        if values[after] - values[before] > tolerance:
            place += 1
        places[after] = place
    return [p / place if place else 0.5 for p in places]


def panels_by_position(identifiers: Sequence[str], boxes: Sequence[Box]) -> Mapping[int, int] | None:
    """Return panel index -> identifier index when every identifier is positional and all panels fit exactly one.

    Several panels may fit one identifier ("top row"). None when an identifier is not positional, points at no panel,
    or a panel fits none or several.
    """
    wanted = [position_of(identifier) for identifier in identifiers]
    if not boxes or any(position is None for position in wanted):
        return None
    xs = _rank([centre(box)[0] for box in boxes], [width(box) for box in boxes])
    ys = _rank([centre(box)[1] for box in boxes], [height(box) for box in boxes])
    single_row, single_column = len(set(ys)) == 1, len(set(xs)) == 1
    assigned: dict[int, int] = {}
    for panel in range(len(boxes)):
        fits = []
        for index, position in enumerate(wanted):
            assert position is not None
            x, y = position
            if x == 0.5 and y == 0.5 and (single_row or single_column):
                x, y = (0.5, None) if single_row else (None, 0.5)
            if (x is None or _same_place(xs[panel], x)) and (y is None or _same_place(ys[panel], y)):
                fits.append(index)
        if len(fits) != 1:
            return None
        assigned[panel] = fits[0]
    return assigned if set(assigned.values()) == set(range(len(identifiers))) else None


def _same_place(place: float, wanted: float) -> bool:
    return 0 < place < 1 if wanted == 0.5 else place == wanted
