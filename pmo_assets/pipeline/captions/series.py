"""Series of identifiers (A, B, C; i, ii, iii) and where an identifier stands in one."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Final


class Series(Enum):
    """An ordered set of identifiers; the value says which words belong to it."""

    UPPER = "A B C"
    LOWER = "a b c"
    ROMAN = "i ii iii"
    UPPER_ROMAN = "I II III"
    NUMBER = "1 2 3"
    STEP = "Step 1"
    POSITION = "left right"


Rank = tuple[int, int]
"""Place of an identifier in its series and, for a part of a panel ("A2"), below it, counted from 0; the second is -1
without a part."""

ROMAN: Final = (
    *("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"),
    *("xi", "xii", "xiii", "xiv", "xv", "xvi", "xvii", "xviii", "xix", "xx"),
)
ROMAN_RANK: Final = {text: rank for rank, text in enumerate(ROMAN)}
_UPPER_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LOWER_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_DIGITS: Final = frozenset("0123456789")

_LONGEST_RANGE: Final = len(_LOWER_LETTERS)
"""Ranks up to which a range is written out: "1–30" and "A1–A40" are counts, not panels."""


def rank_of(series: Series, identifier: str) -> Rank | None:
    """Return an identifier's rank in a series; None when it is not of the series."""
    first, rest = identifier[0], identifier[1:]
    if series is Series.NUMBER:
        return (int(identifier) - 1, -1) if identifier.isdigit() and int(identifier) > 0 else None
    if series is Series.ROMAN:
        rank = ROMAN_RANK.get(identifier)
        return None if rank is None else (rank, -1)
    if series is Series.UPPER_ROMAN:
        rank = ROMAN_RANK.get(identifier.lower()) if identifier.isupper() else None
        return None if rank is None else (rank, -1)
    if first not in (_UPPER_LETTERS if series is Series.UPPER else _LOWER_LETTERS):
        return None
    base = ord(first.lower()) - ord("a")
    if not rest:
        return base, -1
    if rest[0] in _DIGITS:
        return (base, int(rest) - 1) if rest.isdigit() and int(rest) >= 1 else None
    if series is Series.LOWER:
        return None
    if rest in ROMAN_RANK:
        return base, ROMAN_RANK[rest]
    return (base, ord(rest) - ord("a")) if len(rest) == 1 and rest in _LOWER_LETTERS else None


def identifier_at(series: Series, place: int) -> str:
    """The identifier without a part at a place of a series."""
    if series is Series.NUMBER:
        return str(place + 1)
    if series is Series.ROMAN:
        return ROMAN[place]
    if series is Series.UPPER_ROMAN:
        return ROMAN[place].upper()
    return (_UPPER_LETTERS if series is Series.UPPER else _LOWER_LETTERS)[place]


def _part_at(first: str, last: str, place: int) -> str:
    """The part at a place between `first` and `last`: A2 of A1–A3, Ab of Aa–Ac, Aii of Ai–Aiii."""
    if first[1:].isdigit():
        return f"{first[0]}{place + 1}"
    roman = len(last) > 2 or last[1:] in {"i", "v", "x"}
    return first[0] + (ROMAN[place] if roman else _LOWER_LETTERS[place])


def expanded(series: Series, items: Iterable[tuple[str, str]]) -> dict[str, Rank] | None:
    """Ranks by identifier with the ranges written out; None when an item is not of the series."""
    ranks: dict[str, Rank] = {}
    previous = (-1, -1)
    for first, last in items:
        low = rank_of(series, first)
        if low is None or low <= previous:
            return None  # "(H & E)" is a stain: a list of panels ascends
        previous = low
        ranks[first] = low
        if not last:
            continue
        high = rank_of(series, last)
        if high is None:
            return None
        if low[1] < 0 and high[1] < 0 and low[0] < high[0] < _LONGEST_RANGE:
            for place in range(low[0] + 1, high[0]):
                ranks[identifier_at(series, place)] = (place, -1)
        elif low[0] == high[0] and 0 <= low[1] < high[1] < _LONGEST_RANGE and first[1:].isdigit() == last[1:].isdigit():
            for part in range(low[1] + 1, high[1]):
                ranks[_part_at(first, last, part)] = (low[0], part)
        elif low >= high:
            return None
        ranks[last] = previous = high
    return ranks
