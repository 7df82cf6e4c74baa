"""Letters printed at panels that the caption does not name: a series that was read but for some letters is completed.

A caption that names no panel gives each the whole caption (annotation guide), and its panels are called by the print
at them. Add here: the names of panels whose own letter was not read, from those of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pmo_assets.pipeline.assembly.orders import panel_orders
from pmo_assets.records.geometry import Box

LEAST_READ: Final = 0.5
"""Share of the panels whose letter must have been read, two at least: fewer may be labels inside pictures."""


def completed_series(
    identifiers: Sequence[str | None], boxes: Sequence[Box], printed: Sequence[bool]
) -> list[str | None]:
    """Return the identifiers of the panels; letters that were not read are filled in if the others leave no choice.

    The letters that were read must lie in one of the orders in which panels are lettered, each at its place. Behind
    the last of them only a panel at which something is printed gets a letter: what follows may be no panel at all.

    Args:
        identifiers: as read at each panel; None where nothing was read.
        boxes: the panels.
        printed: per panel, true if print that may be an identifier is at it.
    """
    read = {place: text for place, text in enumerate(identifiers) if text is not None}
    given = list(identifiers)
    if len(read) == len(given) or len(read) < max(2, LEAST_READ * len(given)) or len(given) > 26:
        return given
    letters = list(read.values())
    upper = letters[0].isupper()
    if any(len(text) != 1 or not text.isascii() or not text.isalpha() or text.isupper() != upper for text in letters):
        return given
    first = ord("A" if upper else "a")
    for order in panel_orders(boxes):
        rank = {place: number for number, place in enumerate(order.panels)}
        if any(ord(text) - first != rank[place] for place, text in read.items()):
            continue
        last = max(rank[place] for place in read)
        for place, number in sorted(rank.items(), key=lambda item: item[1]):
            if given[place] is None and (number < last or (printed[place] and number == last + 1)):
                given[place] = chr(first + number)
                last = max(last, number)
        return given
    return given
