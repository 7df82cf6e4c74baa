"""Which kind of names a caption gives its panels: each kind is asked about with a prompt and a schema of its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal

from pmo_assets.pipeline.assembly.positions import is_place
from pmo_assets.records.identifiers import normalised_identifier

FigureType = Literal["alphanumeric", "positional", "mixed"]

FIGURE_TYPES: Final[tuple[FigureType, ...]] = ("alphanumeric", "positional", "mixed")

_LINES: Final = frozenset({"row", "column"})

_SAME: Final = "Some of the names differ only in capitals or punctuation: look at the print closely."
_GAP: Final = "Some names of the series are not among the options: not every panel needs to have one."
_LINE: Final = "The names speak of {}s: look for them before you decide."


def _words(name: str) -> set[str]:
    words = re.findall(r"[a-z]+", name.lower())
    return {word.removesuffix("most") for word in words} | {word.removesuffix("s") for word in words}


def figure_type(names: Sequence[str]) -> FigureType:
    """Return which kind of names a caption gives its panels; everything that is no place is alphanumeric."""
    positional = [is_place(name) for name in names]
    if all(positional) and names:
        return "positional"
    return "mixed" if any(positional) else "alphanumeric"


def hints(names: Sequence[str]) -> list[str]:
    """Return the hints for the model about the names: likely confusions, gaps in a series, rows and columns."""
    found = []
    keys = [normalised_identifier(name) for name in names]
    if any(count > 1 for count in Counter(keys).values()):
        found.append(_SAME)
    single = {ord(key) for key in keys if len(key) == 1}
    if single and len(single) == len(keys) and len(single) < max(single) - min(single) + 1:
        found.append(_GAP)
    said = set().union(*map(_words, names))
    found += [_LINE.format(line) for line in sorted(_LINES & said)]
    return found
