"""Lists of identifiers at a place of a caption: "A", "A, B and D", "a–c", "(A)-(C)"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from pmo_assets.pipeline.captions.series import ROMAN_RANK
from pmo_assets.pipeline.captions.tokens import DASHES, OPENING, Tokens

Item = tuple[str, str]
"""An identifier or a range (first, last) as printed; last is "" for a single identifier."""

JOINERS: Final = frozenset({",", "and", "&", "/", ";", "or", "to", "through", "plus", "+", "→"})
THROUGH: Final = frozenset({"to", "through"})

LONGEST_LIST: Final = 80
"""Tokens of the longest list ("A, B, C, ..."), and how far into a bracket one is looked for: a list of 40 single panels
has as many, and the bound keeps reading linear in the caption's length."""

LONGEST_IDENTIFIER: Final = 5
"""Characters of the longest identifier that stands without brackets: "xviii"."""

FEW: Final = 2
"""A longer list at the start of a sentence about what it shows names panels without any other mention."""

# One letter, one or two digits, a Roman numeral, a letter with a number, a small letter or a small numeral.
_SHAPE: Final = re.compile(
    r"[A-Za-z][0-9]{0,2}|[0-9]{1,2}|[A-Z](?:[a-h]|x{0,2}(?:i{1,3}|iv|vi{0,3}|ix|x))|x{0,2}(?:i{1,3}|iv|vi{0,3}|ix|x)"
    r"|X{0,2}(?:I{1,3}|IV|VI{0,3}|IX|X)"
)


_RELATIONS: Final = frozenset("=<>≤≥")
_QUANTITIES: Final = frozenset("npNPr")  # numbers of cases and probabilities
_ARTICLES: Final = frozenset({"A", "a"})  # never behind another letter of a list
_PRIMES: Final = frozenset("'′’″")


def is_identifier(text: str) -> bool:
    """Say whether a word has the shape of an identifier: A, a, A1, a12, Aa, Aii, iv, XII, 3."""
    return _SHAPE.fullmatch(text) is not None


def parsed_list(tokens: Tokens, index: int, limit: int) -> tuple[list[Item], int]:
    """Items of the identifier list that starts at `index` and the index after it; ([], index) when there is none.

    list := item (joiner item)* ; item := identifier [dash identifier] ; brackets around single items are allowed.
    """
    texts = tokens.texts
    items: list[Item] = []
    end = position = index
    limit = min(limit, index + LONGEST_LIST)
    while position < limit:
        item = _bracketed_identifier(tokens, position, limit)
        if item is None:
            break
        first, position = item
        if items and items[0][0].isdigit() != first.isdigit():
            break  # "(A, 30 mmHg)"
        if items and position < limit and texts[position] in _RELATIONS and texts[position - 1] in _QUANTITIES:
            break  # "(A, n = 12)", "(b, p < 0.05)"
        if items and _is_abbreviated(tokens, position, limit):
            break  # "(d, n.s.)", "(a, i.e. early)"
        if items and first in _ARTICLES and position < len(texts) and texts[position][0].isalpha():
            break  # "G, A merged image"
        first, position = _with_part(tokens, first, position, limit)
        primed = position
        position = _after_primes(tokens, position, limit)
        last = ""
        dash = position
        if dash < limit and (texts[dash] in DASHES or texts[dash] in THROUGH):
            other = _bracketed_identifier(tokens, dash + 1, limit)
            other = other and _with_part(tokens, *other, limit)
            article = other is not None and other[0] == first and tokens.gap(dash) and tokens.gap(dash + 1)
            if other is not None and same_shape(first, other[0]) and not article:  # "Panel A – A photograph"
                last, position = other
                position = _after_primes(tokens, position, limit)
                last = "" if last == first else last  # "A–A′"
            elif texts[dash] in DASHES - {"—"} and not tokens.gap(dash):
                break  # "A-band", "T-cells": the letter is part of a word
        if primed == position or not items or first not in items[-1]:
            items.append((first, last))  # "A, A′" are parts of one panel
        end = position
        joined = after_joiners(tokens, position, limit, JOINERS)
        if joined == position or (texts[position] == "→" and not tokens.gap(position)):
            break  # "A→B" is a way, "A → B" is a list
        position = joined
    return items, end


def _is_abbreviated(tokens: Tokens, index: int, limit: int) -> bool:
    """Say whether a full stop within an abbreviation stands at `index`: "n.s."."""
    texts = tokens.texts
    if index + 1 >= limit or texts[index] != "." or not texts[index + 1].isalpha():
        return False
    return not tokens.gap(index) and not tokens.gap(index + 1)


def _with_part(tokens: Tokens, first: str, index: int, limit: int) -> tuple[str, int]:
    """The identifier with its part behind a hyphen, "A-1" or "A-ii", and the index after it."""
    texts = tokens.texts
    if len(first) > 1 or not first.isalpha() or index + 1 >= limit or texts[index] not in DASHES:
        return first, index
    part, after = texts[index + 1], index + 2
    if tokens.gap(index) or tokens.gap(index + 1) or not (part.isdigit() or (part in ROMAN_RANK and first.isupper())):
        return first, index
    joined = after < len(texts) and not tokens.gap(after) and texts[after][0].isalnum()
    return (first, index) if joined or not is_identifier(first + part) else (first + part, after)


def after_joiners(tokens: Tokens, index: int, limit: int, joiners: frozenset[str]) -> int:
    """Index after the joiners between two items of a list, two at most (", and")."""
    joined = index
    while joined < limit and joined - index < 2 and tokens.texts[joined].lower() in joiners:
        joined += 1
    return joined


def same_shape(first: str, last: str) -> bool:
    """Say whether two identifiers can be the ends of a range: both digits or not, both capitals or not."""
    return first[0].isdigit() == last[0].isdigit() and first[0].isupper() == last[0].isupper()


def is_ascending(first: str, last: str) -> bool:
    """Say whether `last` comes after `first` in one of the series."""
    if not same_shape(first, last):
        return False
    ranks = ROMAN_RANK.get(first.lower()), ROMAN_RANK.get(last.lower())
    in_letters = (first[0], len(first), first) < (last[0], len(last), last)
    return in_letters or (ranks[0] is not None and ranks[1] is not None and ranks[0] < ranks[1])


def follows(before: Item, item: Item) -> bool:
    """Say whether a letter comes right after a list's last one."""
    last, first = before[1] or before[0], item[0]
    return len(last) == len(first) == 1 and last.isalpha() and ord(first) == ord(last) + 1


def is_long_list(items: Sequence[Item]) -> bool:
    """Say whether so many identifiers, one after the other, can be nothing but a list of panels."""
    return len(items) > FEW and all(is_ascending(left[1] or left[0], right[0]) for left, right in pairwise(items))


def _after_primes(tokens: Tokens, index: int, limit: int) -> int:
    """The index after the primes at an identifier: "A′" and "A″" are parts of panel A."""
    after = index
    while after < limit and tokens.texts[after] in _PRIMES and not tokens.gap(after):
        after += 1
    return after if after >= limit or tokens.gap(after) or not tokens.texts[after][0].isalnum() else index


def _bracketed_identifier(tokens: Tokens, index: int, limit: int) -> tuple[str, int] | None:
    """The identifier at `index`, with or without brackets of its own, and the index after it."""
    if index >= limit:
        return None
    text = tokens.texts[index]
    if text in OPENING:
        if (
            index + 2 < limit
            and tokens.partners[index] == index + 2
            and is_identifier(tokens.texts[index + 1])
            and not tokens.texts[index + 1].isdigit()
        ):
            return tokens.texts[index + 1], index + 3
        return None
    return (text, index + 1) if is_identifier(text) else None
