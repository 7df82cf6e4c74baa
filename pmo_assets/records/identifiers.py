"""Panel identifiers: what a panel is called in print ("A", "b", "left"). How two are compared, and words of place.

An identifier is no label: "Figure 3" is the label of a figure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_NOT_COMPARED: Final = re.compile(r"[^0-9a-z]")
_PLACE: Final = r"(?:left|right|top|upper|bottom|lower|middle|center|centre|central)(?:most)?"
_NAMED_PLACE: Final = re.compile(
    rf"(?:on|at|in)?(?:the)?({_PLACE}(?:{_PLACE})?)(?:hand)?(?:panel|image|picture|part|side|half|photograph|photo|plot|graph)?s?"
)


_SHORTEST_PLACE: Final = 5
"""Characters that the shortest of these with something around it exceeds; letters are not looked at any further."""


def normalised_identifier(identifier: str | None) -> str:
    """Return an identifier as it is compared: ASCII letters and digits in lower case; "" for a single panel (None).

    "(A)" and "a" are the same; so are "A1" and "a.1", but not "á" (nothing is left of it) and "a". A place is the same
    with and without what stands there: "left", "left panel", "on the left"; but "top row" is a row.
    """
    compared = _NOT_COMPARED.sub("", (identifier or "").lower())
    place = _NAMED_PLACE.fullmatch(compared) if len(compared) > _SHORTEST_PLACE else None
    return place[1] if place else compared


HORIZONTAL_PLACES: Final[Mapping[str, float]] = {"left": 0.0, "right": 1.0}
"""Words for a place across a figure, with where they point: 0 (the left edge) to 1."""

VERTICAL_PLACES: Final[Mapping[str, float]] = {"top": 0.0, "upper": 0.0, "bottom": 1.0, "lower": 1.0}
"""Words for a place down a figure, with where they point: 0 (the top) to 1.

"Above" and "below" are not among them: in a caption they point at text, and count only alone in brackets
(`captions.places`) and where an identifier is known to be a place (`assembly.positions`).
"""

MIDDLE_PLACES: Final = frozenset({"middle", "center", "centre", "central"})
"""Words for the middle of a row, of a column or of both."""
