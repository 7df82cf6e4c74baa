"""Spaces that a PDF's text lacks: where its glyphs are set apart although no space stands between them.

Many PDFs hold no spaces: their words are glyphs placed apart. MuPDF sees a space in a gap from 0.15 em on, so that
words of a narrow justified column, set tighter than that, run together ("Schematicofthetwo"). What is a wide gap is
told by the line's own gaps: those within words are alike (but for kerning), those between words lie clearly above them.
In a letter-spaced heading all gaps are wide and alike.

Belongs here: the decision from glyphs' places. Does not belong here: reading them from the page (see `page`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

_RUN_TOGETHER: Final = re.compile(r"[^\W\d_]{22,}")
"""Letters that no space divides, more than in the long words of medicine ("immunohistochemically" has 21)."""

# Gaps are measured in em (the type's size), from the line's middle gap on: the middle one lies within a word.
_STEP: Final = 0.03
"""Least difference between the widest gap within words and the narrowest between them; kerning moves glyphs together or
apart by up to 0.02."""
_NARROWEST: Final = 0.04
"""Least gap between words: a quarter of an em is usual, and what justification and tight tracking leave of it."""
_MANY: Final = 12
"""Gaps of a line that tell by themselves what is wide; shorter lines follow those of their type."""
_FEW: Final = 3
_MOST_SPACES: Final = 0.4
"""Share of gaps between words at most: a word of two and a half letters on average."""
_OPENING: Final = frozenset("([{“‘")
_CLOSING: Final = frozenset(".,;:!?)]}”’%")
_LIKE_OTHERS: Final = 0.6
"""Width of a short line's gap as a share of the narrowest between words in longer lines of its type."""


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The characters of a line in reading order.

    Attributes:
        text: one character per glyph, spaces that are there included.
        starts: where each begins, along the line.
        ends: where each ends.
        size: the type's size, in the same unit.
    """

    text: str
    starts: Sequence[float]
    ends: Sequence[float]
    size: float


def runs_together(text: str) -> bool:
    """Say whether a line may have lost the spaces between its words."""
    return _RUN_TOGETHER.search(text) is not None


def narrowest_space(line: Glyphs) -> float | None:
    """Return the narrowest gap between words in em beyond a line's middle gap; None where all its gaps are alike.

    Args:
        line: its text runs together (`runs_together`).
    """
    gaps = _gaps(line)
    return _narrowest(gaps) if len(gaps) >= _MANY else None


def missing_spaces(line: Glyphs, narrowest: float) -> list[int]:
    """Return the indices of the characters before which a space is missing.

    Args:
        line: a line of the same type as one whose text runs together.
        narrowest: `narrowest_space` of such lines.
    """
    gaps = _gaps(line)
    if len(gaps) < _FEW:
        return []
    own = _narrowest(gaps)
    if own is None or (len(gaps) < _MANY and own < _LIKE_OTHERS * narrowest):
        return []
    text = line.text
    return [at for at, gap in gaps if gap >= own and _begins_word(text[at]) and text[at - 1] not in _OPENING]


def _begins_word(character: str) -> bool:
    """Say whether a space can stand before a character: before no accent printed by itself and no closing mark."""
    return character not in _CLOSING and unicodedata.category(character) not in {"Sk", "Mn", "Lm"}


def _gaps(line: Glyphs) -> list[tuple[int, float]]:
    """Return (index of the later character, gap in em beyond the middle one) where no space stands between two."""
    text = line.text
    found = [
        (at, (line.starts[at] - line.ends[at - 1]) / line.size)
        for at in range(1, len(text))
        if not text[at].isspace() and not text[at - 1].isspace()
    ]
    if not found:
        return []
    middle = median(gap for _, gap in found)
    return [(at, gap - middle) for at, gap in found]


def _narrowest(gaps: Sequence[tuple[int, float]]) -> float | None:
    """Return the lowest of the wide gaps, behind the widest step between two in order of width; None without one."""
    ordered = sorted(gap for _, gap in gaps)
    steps = [
        (above - max(below, 0.0), above)
        for below, above in pairwise(ordered)
        if above >= _NARROWEST and above - below >= _STEP
    ]
    if not steps:
        return None
    _, lowest = max(steps)
    return lowest if sum(gap >= lowest for gap in ordered) <= _MOST_SPACES * len(ordered) else None
