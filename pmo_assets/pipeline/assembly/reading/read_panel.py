"""Printed identifiers anywhere in a panel, for panels in which detection found none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.assembly.reading.identifier_text import bare, name_shares, readable_names
from pmo_assets.records.geometry import Box, centre, crop_box, denormalise, height
from pmo_assets.records.reading import TextReader

MARGIN = 0.02
"""What is looked at around a panel, as a share of the figure's sides: identifiers stand beside and above panels."""

CORNER = 0.3
"""Print within this share of the panel's sides from two of its edges stands in a corner."""

IN_CORNER, AT_EDGE, INSIDE = 1.0, 0.7, 0.4
"""What a place is worth: most identifiers stand in corners, hardly any in the middle of a panel."""

LEAST = 0.1
"""Candidates with less confidence are none."""

EXTRA_CHARACTERS = 2
"""A text with so many letters and digits more than a name is not that name: it is a word."""


@dataclass(frozen=True, slots=True)
class IdentifierCandidate:
    """A name that may be printed in a panel.

    Attributes:
        name: as the caption has it.
        box: of the print, normalised to the figure.
        confidence: 0..1; what was read and where it stands. It is no probability: other print may say the same.
        text: as read.
    """

    name: str
    box: Box
    confidence: float
    text: str


def read_panel(
    rgb: NDArray[np.uint8], panel: Box, names: Sequence[str], reader: TextReader
) -> tuple[IdentifierCandidate, ...]:
    """Return where names that the caption knows seem to be printed in a panel, the likeliest first.

    Args:
        rgb: (height, width, 3) uint8, the figure.
        panel: normalised to the figure.
        names: what the caption may name.
        reader: an engine.

    Raises:
        SystemicError: when the engine cannot be loaded.
    """
    known = readable_names(names)
    if not known:
        return ()
    around = (panel[0] - MARGIN, panel[1] - MARGIN, panel[2] + MARGIN, panel[3] + MARGIN)
    left, top, right, bottom = crop_box(around, rgb.shape[1], rgb.shape[0])
    frame = (left / rgb.shape[1], top / rgb.shape[0], right / rgb.shape[1], bottom / rgb.shape[0])
    found: list[IdentifierCandidate] = []
    (texts,) = reader([np.ascontiguousarray(rgb[top:bottom, left:right])])
    for text in texts:
        letters = bare(text.text)
        if text.box is None or not letters:
            continue
        shares = name_shares([(text.text, text.confidence)], known)
        best = max(known, key=lambda name: shares[name])
        confidence = shares[best] * place_value(text.box)
        if confidence >= LEAST and len(letters) - len(bare(best)) < EXTRA_CHARACTERS:
            found.append(IdentifierCandidate(best, denormalise(text.box, frame), confidence, text.text))
    return tuple(sorted(found, key=lambda c: (-c.confidence, c.box)))


def place_value(box: Box) -> float:
    """Return what a place in a panel (normalised to it) is worth for an identifier: corners most, the middle least."""
    x, y = centre(box)
    beside = min(x, 1 - x) <= CORNER
    above = min(y, 1 - y) <= max(CORNER / 2, height(box))
    if beside and above:
        return IN_CORNER
    return AT_EDGE if beside or above else INSIDE
