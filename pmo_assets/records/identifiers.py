"""Panel identifiers: what a panel is called in print ("A", "b", "left"). How two are compared, and words of place.

An identifier is no label: "Figure 3" is the label of a figure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_NOT_COMPARED: Final = re.compile(r"[^0-9a-z]")


def normalised_identifier(identifier: str | None) -> str:
    """Return an identifier as it is compared: ASCII letters and digits in lower case; "" for a single panel (None).

    "(A)" and "a" are the same; so are "A1" and "a.1", but not "á" (nothing is left of it) and "a".
    """
    return _NOT_COMPARED.sub("", (identifier or "").lower())


HORIZONTAL_PLACES: Final[Mapping[str, float]] = {"left": 0.0, "right": 1.0}
"""Words for a place across a figure, with where they point: 0 (the left edge) to 1."""

VERTICAL_PLACES: Final[Mapping[str, float]] = {"top": 0.0, "upper": 0.0, "bottom": 1.0, "lower": 1.0}
"""Words for a place down a figure, with where they point: 0 (the top) to 1.

"Above" and "below" are not among them: in a caption they point at text, and count only where an identifier is known to
be a place (`assembly.positions`).
"""

MIDDLE_PLACES: Final = frozenset({"middle", "center", "centre", "central"})
"""Words for the middle of a row, of a column or of both."""
