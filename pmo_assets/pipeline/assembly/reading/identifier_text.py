"""Likelihood of the caption's names under a text that an engine read: "(lI)" is "ii" if it names "i", "ii", "iii".

A reading is never taken at its word. How likely a name is read as a text is a matter of print: brackets and dots mean
nothing, "l", "1" and "I" are one shape, "c" and "C" differ in size only. Whatever no name explains is something else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

LONGEST = 32
"""Characters of a reading that are looked at: identifiers are shorter."""

ONE_SHAPE = ("1Il|!", "0Oo", "5Ss", "8B", "2Zz", "Cc", "Kk", "Pp", "Uu", "Vv", "Ww", "Xx", "Yy", "Mm")
"""Characters that not even clear print tells apart in every typeface, or whose size alone does."""

DOTS_APART = ("i1Il|!", "jJ")
"""Characters that differ by a dot, which small print loses."""

SIMILAR = (
    "1IlijJtfTr|!", "0OoQDCcGeaUd", "CGceoO6", "EFBf", "8B3SsRE", "6Gb8", "9gqa", "4A", "UuVvyYJ", "hbnkr", "nmhMNH",
    "LlEtCU", "ftT", "PpFRD", "VWwvMY", "7TYyZ1", "KXxHkA", "5Ssa3", "2Za7", "dao", "qgaQ",
)  # fmt: skip
"""Characters that blurred print makes one."""

ALIKE, SIMILARLY, OTHERWISE = 0.15, 0.004, 0.001
"""Likelihood that a character is read as one of one shape, as a similar one, as any other; 1 as itself."""

DOT_LOST = 0.04
"""Likelihood that a character is read as one that differs by a dot."""

OTHER_CASE = 0.05
"""Likelihood that a figure prints capitals where the caption has small letters, or the other way round."""

LOST, ADDED, ADDED_STROKE, ADDED_DIGIT = 0.04, 0.05, 0.08, 0.08
"""Likelihood that a character is not read, that one is read where none is, that this is what half a bracket or the rim
of a picture looks like, and that it is the number of a part ("a1" under a caption that says "a")."""

ADDED_BAR = 0.5
"""The same for a bar, which is no letter."""

STROKES = frozenset("1IilLtTjJcCrf7")
"""Characters that brackets and rims are read as."""

ROMAN = {
    **dict.fromkeys("1lI|!", "i"),
    **dict.fromkeys("nuhHU", "ii"),
    **dict.fromkeys("mM", "iii"),
    **dict.fromkeys("wWN", "iv"),
}
"""Small Roman numerals by the character that an engine reads for all of their strokes at once."""

SOMETHING_ELSE = 0.04
"""Likelihood of any text when something is printed that the caption does not name."""


@dataclass(frozen=True, slots=True)
class IdentifierReading:
    """Print at a place: the probability of each name of the caption.

    Attributes:
        names: name as the caption has it -> probability 0..1 that it is printed there; the rest to 1 is something else.
        text: the likeliest text as read, brackets and all; None when nothing was read.
        confidence: 0..1, the largest probability among `names`; 0 without names.
        source: what read it: "templates", a reader's name, or both joined by " + ".
    """

    names: Mapping[str, float]
    text: str | None
    confidence: float
    source: str

    @property
    def best(self) -> str | None:
        """The likeliest name; None when something else is likelier, or when there is no name."""
        if not self.names or self.confidence < 1 - sum(self.names.values()):
            return None
        return max(self.names, key=lambda name: self.names[name])


def bare(text: str) -> str:
    """Return a text without brackets, dots and spaces: ASCII letters and digits, and what looks like a stroke.

    Signs that stand for letters are spelt out ("ⅱ" is "ii"), accents fall away.
    """
    plain = unicodedata.normalize("NFKD", text[:LONGEST])
    return "".join(c for c in plain if c.isascii() and (c.isalnum() or c in "|!"))


@lru_cache(maxsize=8192)
def _read_as(printed: str, seen: str) -> float:
    """Return the likelihood that a printed character is read as another one."""
    if printed == seen:
        return 1.0
    if any(printed in shape and seen in shape for shape in ONE_SHAPE):
        return ALIKE
    if any(printed in shape and seen in shape for shape in DOTS_APART):
        return DOT_LOST
    if any(printed in shape and seen in shape for shape in SIMILAR):
        return SIMILARLY
    return OTHERWISE


def _added(character: str, place: int, length: int, name: str) -> float:
    """Return the likelihood that a character was read at the `place` of a text where the name has none."""
    if place in (0, length - 1):
        if character in "|!":
            return ADDED_BAR
        if character in STROKES:
            return ADDED_STROKE
    return ADDED_DIGIT if place == length - 1 and character.isdigit() and name.isalpha() else ADDED


@lru_cache(maxsize=16384)
def likelihood(text: str, name: str) -> float:
    """Return how likely a printed name is read as a text, 0..1: 1 for the name itself.

    It is the likelihood of the best alignment of the two, character by character, in the name's case or in the other.
    """
    seen, wanted = bare(text), bare(name)
    if not seen or not wanted:
        return 0.0
    return max(_printed_as(seen, wanted), OTHER_CASE * _printed_as(seen, wanted.swapcase()))


def _printed_as(seen: str, printed: str) -> float:
    plain = _aligned(seen, printed)
    if not re.fullmatch(r"[ivx]{2,}", printed):
        return plain
    spelt = "".join(ROMAN.get(character, character) for character in seen)
    return max(plain, ALIKE * _aligned(spelt, printed))


def _aligned(seen: str, printed: str) -> float:
    row = [LOST**k for k in range(len(printed) + 1)]
    for place, character in enumerate(seen):
        added = _added(character, place, len(seen), printed)
        following = [row[0] * added]
        for k, letter in enumerate(printed):
            following.append(max(row[k] * _read_as(letter, character), row[k + 1] * added, following[k] * LOST))
        row = following
    return row[-1]


def readable_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names that print can show (with a letter or digit in them), each once, in order."""
    return tuple(dict.fromkeys(name for name in names if bare(name)))


def reading_of(shares: Mapping[str, float], text: str | None, source: str) -> IdentifierReading:
    """Return shares of names (see `IdentifierReading.names`) as a reading."""
    return IdentifierReading(dict(shares), text, max(shares.values(), default=0.0), source)


def name_shares(texts: Sequence[tuple[str, float]], names: Sequence[str]) -> dict[str, float]:
    """Return the probability of every name given readings of one place that exclude each other.

    Args:
        texts: (text, probability); what is missing to 1, and empty texts, say nothing.
        names: that the caption may use, all as likely as the others.

    Returns:
        Shares whose sum is below 1; the rest is something else.
    """
    names = readable_names(names)
    if not names:
        return {}
    shares = dict.fromkeys(names, 0.0)
    said = 0.0
    for text, probability in texts:
        if not bare(text) or probability <= 0:
            continue
        likely = {name: likelihood(text, name) for name in names}
        total = sum(likely.values()) + SOMETHING_ELSE
        said += probability
        for name, value in likely.items():
            shares[name] += probability * value / total
    # What was not read spreads over all names and something else alike.
    silent = max(0.0, 1.0 - said)
    return {name: share + silent / (len(names) + 1) for name, share in shares.items()}
