"""Likeness to the letters of journals' typefaces (`detection.structure.identifier_reading`) as an `IdentifierReading`.

This needs no engine and a millisecond. Where print is clear it is right in 99.7 % of cases; where a letter touches its
surroundings, is small or set in another typeface, it knows nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.assembly.reading.identifier_text import IdentifierReading, readable_names, reading_of
from pmo_assets.pipeline.detection.structure.identifier_reading import Reading, likeness, reading
from pmo_assets.records.geometry import Box, crop_box, iou

SOURCE = "templates"
"""`IdentifierReading.source` of what is read here."""

SHARPNESS, SOMETHING_ELSE = 14.0, 0.6
"""Log odds per unit of likeness, and the likeness at which something else is as likely."""

UNLIKE, LIKE = 0.55, 0.85
"""Likeness of the best name up to which nothing is known, and from which the glyphs are as good as read."""

GLYPH_TOO_MANY = 0.12
"""Likeness that each glyph costs for which the name has no letter: "1" is in "11", but it is not "11"."""

COMPARED = 3
"""Names of so many letters at most are compared glyph by glyph."""

CLOSE, FAR = 0.5, 0.3
"""IoU of glyphs and box from which the glyphs are taken for the print in it, and below which they say nothing."""

STROKES = frozenset("1ilI")
"""Letters that are taken for halves of brackets."""


def template_reading(rgb: NDArray[np.uint8], box: Box, names: Sequence[str]) -> IdentifierReading:
    """Return the shares of the names by their likeness to the glyphs in a box.

    Args:
        rgb: (height, width, 3) uint8, the figure.
        box: of the printed identifier, normalised to the figure.
        names: that the caption may use.
    """
    known = readable_names(names)
    rect = crop_box(box, rgb.shape[1], rgb.shape[0])
    glyphs = reading(rgb, rect)
    nearness = iou(_floats(glyphs.rect), _floats(rect)) if glyphs is not None else 0.0
    if glyphs is None or nearness < FAR or not known:
        return reading_of(dict.fromkeys(known, 1 / (len(known) + 1)), None, SOURCE)
    alike = {name: _likeness(glyphs, name) for name in known}
    best = max(known, key=lambda name: alike[name])
    trust = min(1.0, max(0.0, (alike[best] - UNLIKE) / (LIKE - UNLIKE))) * (1 if nearness >= CLOSE else 0.5)
    if any(_differ_by_strokes(best, name) for name in known):
        trust *= 0.5
    odds = {name: math.exp(SHARPNESS * (alike[name] - SOMETHING_ELSE)) for name in known}
    total = 1 + sum(odds.values())
    shares = {name: trust * value / total + (1 - trust) / (len(known) + 1) for name, value in odds.items()}
    return reading_of(shares, best, SOURCE)


def _differ_by_strokes(short: str, long: str) -> bool:
    """Say whether a name is another one and strokes besides: "i" and "ii", "1" and "11"."""
    return short in long and short != long and set(long.replace(short, "", 1)) <= STROKES


def _likeness(glyphs: Reading, name: str) -> float:
    letters = sum(character.isalnum() for character in name)
    too_many = max(0, len(glyphs.letters) - letters) if letters <= COMPARED else 0
    return likeness(glyphs.letters, name) - GLYPH_TOO_MANY * too_many


def _floats(rect: tuple[int, int, int, int]) -> Box:
    return (float(rect[0]), float(rect[1]), float(rect[2]), float(rect[3]))
