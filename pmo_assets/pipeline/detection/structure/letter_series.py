"""Letters printed at panels that no caption names, found by their shapes.

The network, which sees the figure reduced, overlooks small letters in white gutters. At the figure's own resolution
isolated letters are read well, but nobody says which ones to look for. Those of one style and height that are A, B,
C … or a, b, c …, most of them read, may be the names of panels. Whether they are is decided by how the figure can be
cut around them (`fusion.unnamed_panels`). Belongs here: reading. Names that a caption gives: `identifiers`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pmo_assets.pipeline.detection.structure.glyphs import find_glyphs
from pmo_assets.pipeline.detection.structure.gutters import Canvas
from pmo_assets.pipeline.detection.structure.identifiers import Identifier, consistent_set, one_height

UPPER: Final = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
LOWER: Final = tuple("abcdefghijklmnopqrstuvwxyz")

LEAST_HEIGHT: Final = 7
"""Pixels of the lowest letter that can be read."""

LARGEST: Final = 1 / 12
"""Height of the largest letter, as a part of the figure's long side."""

READ_SHARE: Final = 0.5
"""Part of a series that must be read."""

MOST_SERIES: Final = 6
"""So many series are tried, the longest first."""


def letter_glyphs(canvas: Canvas) -> list[Identifier]:
    """Return the isolated letters of a figure, whatever they are, read by their shapes."""
    highest = max(10.0, max(canvas.ink.shape) * LARGEST)
    glyphs = find_glyphs(canvas.rgb, (*UPPER, *LOWER), LEAST_HEIGHT, highest)
    return [Identifier(g.name, g.rect, g.style, "glyph", g.score, g.score) for g in glyphs]


def letter_series(
    canvas: Canvas, found: Sequence[Identifier]
) -> Iterator[tuple[tuple[str, ...], tuple[tuple[Identifier, ...], ...]]]:
    """Yield names A, B, C … or a, b, c … with the places where they are printed, the longest first.

    Args:
        canvas: the prepared figure.
        found: its letters (`letter_glyphs`).

    Yields:
        names, and per name its place; empty where it was not read.
    """
    tolerance = canvas.glyph / 3
    series: list[tuple[int, float, tuple[str, ...], tuple[tuple[Identifier, ...], ...]]] = []
    for style in dict.fromkeys(item.style for item in found):
        for alphabet in (UPPER, LOWER):
            group = [item for item in found if item.style == style and item.name in alphabet]
            present = {item.name for item in group}
            for count in range(len(alphabet), 1, -1):
                names = alphabet[:count]
                if names[-1] not in present or len(present.intersection(names)) < max(2, READ_SHARE * count):
                    continue
                if count < len(alphabet) and alphabet[count] in present:
                    continue  # the series goes on
                places = consistent_set(one_height(group, names), names, tolerance)
                read = [own[0] for own in places if own]
                if len(read) >= max(2, READ_SHARE * count):
                    score = sum(item.score for item in read) / len(read)
                    series.append((len(read), score, names, tuple(tuple(own) for own in places)))
    series.sort(key=lambda item: (-item[0], len(item[2]), -item[1]))
    for _, _, names, own in series[:MOST_SERIES]:
        yield names, own
