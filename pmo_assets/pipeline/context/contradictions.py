"""Subjects that a text names by number or side, and whether a sentence speaks of others: "patient 2", "the left eye".

A picture of one patient's right eye is not told by what is said of patient 4, or of the left eye alone. Where both a
panel and a sentence name such subjects and none is the same, the sentence is of another one, whatever else they share.
Add here: what tells subjects of one kind apart beyond doubt. Keep out: what is merely likely (`passages`), and eyes as
entities (`eyes`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Final

Subjects = Mapping[str, frozenset[str]]
"""Numbers, letters or sides by kind: "patient", "eye"."""

_KINDS: Final = (
    r"patient|case|proband|subject|participant|volunteer|donor|individual|famil(?:y|ie)|pedigree|child|twin|sibling"
)
_NUMBER = r"(?:\d{1,3}(?![\d.]?\d|\s?%)|[IVX]{1,4}(?!\w)|[A-H](?!\w))"
_NUMBERED: Final = re.compile(
    rf"\b(?P<kind>(?i:{_KINDS}))s?\s(?:[Nn]o\.?\s?|[Nn]umbers?\s|#)?(?P<numbers>{_NUMBER}"
    rf"(?:(?:,\s(?:and\s)?|\sand\s|\sor\s|\s?&\s?|\s?[–-]\s?|\sto\s){_NUMBER})*)",
)
_ONE: Final = re.compile(_NUMBER)
_RANGE: Final = re.compile(r"(\d{1,3})(?:\s?[–-]\s?|\sto\s)(\d{1,3})")
_SIDE: Final = re.compile(
    r"\b(?:(?P<side>right|left)(?:\s(?!and\b|or\b)\w+)?\seyes?\b|(?P<both>(?:both|two|right\sand\sleft|left\sand\sright)\seyes\b)"
    r"|(?P<fellow>(?:fellow|contralateral|other|unaffected)\seyes?\b))",
    re.IGNORECASE,
)
_LATIN: Final = re.compile(r"\bO(?P<side>[DSU])\b")
_LATIN_SIDES: Final[Mapping[str, frozenset[str]]] = {
    "D": frozenset({"right"}),
    "S": frozenset({"left"}),
    "U": frozenset({"right", "left"}),
}

MOST_OF_A_RANGE: Final = 200
"""Subjects at most that a range stands for."""


@functools.lru_cache(maxsize=4096)
def named_subjects(text: str) -> Subjects:
    """Return the numbers, letters or sides by kind ("patient", "eye") that a text names, ranges written out."""
    found: dict[str, set[str]] = {}
    for match in _NUMBERED.finditer(text):
        kind = match["kind"].lower()
        numbers = found.setdefault("family" if kind.startswith("famil") else kind, set())
        numbers.update(_ONE.findall(match["numbers"]))
        for first, last in _RANGE.findall(match["numbers"]):
            numbers.update(map(str, range(int(first), min(int(last), int(first) + MOST_OF_A_RANGE) + 1)))
    eyes: set[str] = set()
    for match in _SIDE.finditer(text):
        if match["side"]:
            eyes.add(match["side"].lower())
        else:
            eyes.update(("right", "left") if match["both"] else ("fellow",))
    for match in _LATIN.finditer(text):
        eyes.update(_LATIN_SIDES[match["side"]])
    if eyes:
        found["eye"] = eyes
    return {kind: frozenset(names) for kind, names in found.items()}


def is_of_other_subjects(own: Subjects, text: str) -> bool:
    """Say whether a text names subjects of a kind of which others are a panel's own, and none of these.

    Args:
        own: subjects of the panel (`named_subjects` of its subcaption, or of what names it).
        text: of a sentence.
    """
    if not own:
        return False
    theirs = named_subjects(text)
    return any(kind in own and own[kind].isdisjoint(names) for kind, names in theirs.items())
