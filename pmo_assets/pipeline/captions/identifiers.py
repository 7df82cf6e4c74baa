"""Mentions of panel identifiers in a caption, and the series of identifiers that the caption uses.

What only looks like an identifier ("(n = 3)", "vitamin A", "Figure 2A", "(N)" for a normal gland) is not told apart
by a list of such things but by two positive conditions: an identifier stands where identifiers stand (alone in
brackets, before a delimiter at a clause start, after "panel") and belongs to a series that begins at its beginning
(A, B, C ...; i, ii, iii ...; left, right).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from pmo_assets.pipeline.captions.tokens import CLOSING, DASHES, OPENING, Tokens, words


class Form(Enum):
    """How a mention is printed."""

    BRACKETS = "(A)"
    HALF = "A)"
    DELIMITED = "A. or A: or A,"
    BARE = "A Text"
    PARTIAL = "(A, 200x)"
    NOUN = "panel A"


class Series(Enum):
    """An ordered set of identifiers; the value says which words belong to it."""

    UPPER = "A B C"
    LOWER = "a b c"
    ROMAN = "i ii iii"
    UPPER_ROMAN = "I II III"
    DIGIT = "1 2 3"
    STEP = "Step 1"
    POSITION = "left right"


@dataclass(frozen=True, slots=True)
class Mention:
    """One place where the caption names panels.

    Attributes:
        items: the identifiers and ranges (first, last) as printed; last is "" for a single identifier.
        form: how it is printed.
        first: index of the first token, brackets included.
        last: index of the last token, brackets included.
        start: offset of the mention's first character, brackets included.
        end: offset after its last character.
        cuts: offset ranges to leave out of a subcaption; within [start, end).
        opens: stands at the start of a sentence or clause.
        positional: the items are words of place ("left").
    """

    items: tuple[tuple[str, str], ...]
    form: Form
    first: int
    last: int
    start: int
    end: int
    cuts: tuple[tuple[int, int], ...]
    opens: bool
    positional: bool = False


@dataclass(frozen=True, slots=True)
class LabelledMention:
    """A mention whose items are read in the elected series: `labels` in series order, ranges expanded."""

    mention: Mention
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IdentifierSeries:
    """The panels a caption names.

    Attributes:
        series: which kind of identifier.
        labels: all identifiers in series order (positions in order of appearance).
        mentions: the mentions that name them, in caption order.
        restarts: how often the heads of the series begin again; above zero for nested or repeated lists.
        missing: identifiers skipped inside the series.
        rivals: number of other series that would have been possible.
    """

    series: Series
    labels: tuple[str, ...]
    mentions: tuple[LabelledMention, ...]
    restarts: int
    missing: tuple[str, ...]
    rivals: int


PANEL_NOUNS: Final = words(
    "panel panels image images subfigure subfigures subpanel subpanels plate plates picture pictures figure figures "
    "fig figs photo photos photograph photographs slide slides"
)
_NAMED_NOUNS: Final = words("panel panels subfigure subfigures subpanel subpanels plate plates")
_REFERRING: Final = frozenset({"in", "from", "see", "of"})
_STEP_NOUNS: Final = frozenset({"step", "stage", "panel", "image", "row", "column"})
_PLACES: Final = words(
    "left right top bottom middle center centre central upper lower leftmost rightmost topmost bottommost"
)
_PLACE_NOUNS: Final = words(
    "panel panels image images row rows column columns half side part picture plot graph figure photo photograph "
    "subfigure inset"
)
# Places only before "row" and "column".
_ORDINALS: Final = words("first second third fourth fifth sixth 1st 2nd 3rd 4th last")
# As printed at the start of and inside a sentence.
_NAMING_WORDS: Final = frozenset(
    form for word in PANEL_NOUNS | _PLACES | _ORDINALS | _STEP_NOUNS for form in (word, word.capitalize(), word.upper())
)
_KEPT_PLACE_NOUNS: Final = frozenset({"row", "column", "rows", "columns"})
_PLACE_AXES: Final = (
    _ORDINALS,
    frozenset({"left", "right", "leftmost", "rightmost"}),
    frozenset({"top", "bottom", "upper", "lower", "topmost", "bottommost"}),
)
_JOINERS: Final = frozenset({",", "and", "&", "/", ";", "or", "to", "through", "plus"})
_THROUGH: Final = frozenset({"to", "through"})
_RESPECTIVELY: Final = (["respectively"], [",", "respectively"])
_CLASS_NOUNS: Final = words("stage stages type types grade grades class classes group groups lead leads")
_PLACE_JOINERS: Final = _JOINERS - _THROUGH  # "left to right" is a direction
_ROMAN: Final = (
    *("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"),
    *("xi", "xii", "xiii", "xiv", "xv", "xvi", "xvii", "xviii", "xix", "xx"),
)
_ROMAN_RANK: Final = {text: rank for rank, text in enumerate(_ROMAN)}
_ASCII_UPPER: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_ASCII_LOWER: Final = frozenset("abcdefghijklmnopqrstuvwxyz")
_DIGITS: Final = frozenset("0123456789")

# A printed figure has no more panels; keeps the output linear in the caption's length.
MAX_PANELS: Final = 64
# Longest list of identifiers in tokens ("A, B, C, ..."), and how far into a bracket one is looked for.
_LONGEST_LIST: Final = 80

_SIDE_NOUNS: Final = words("side half part")  # of what the picture shows as often as of the figure
_CLAUSE_LINKS: Final = words("and while whereas but")
_SHOWING_VERBS: Final = words(
    "shows show is are displays display depicts depict demonstrates demonstrate illustrates illustrate presents "
    "present represents represent reveals reveal contains contain"
)
_CLAUSE_BREAKS: Final = frozenset({".", ";", ":", "!", "?", ","})


# One letter, one or two digits, a Roman numeral, a letter with a number, a small letter or a small numeral.
_LABEL_SHAPE: Final = re.compile(
    r"[A-Za-z][0-9]{0,2}|[0-9]{1,2}|[A-Z](?:[a-h]|x{0,2}(?:i{1,3}|iv|vi{0,3}|ix|x))|x{0,2}(?:i{1,3}|iv|vi{0,3}|ix|x)"
    r"|X{0,2}(?:I{1,3}|IV|VI{0,3}|IX|X)"
)
_LONGEST_LABEL: Final = 5


def is_label(text: str) -> bool:
    """Whether a word has the shape of an identifier: A, a, A1, a12, Aa, Aii, iv, XII, 3."""
    return _LABEL_SHAPE.fullmatch(text) is not None


def _parsed_list(tokens: Tokens, index: int, limit: int) -> tuple[list[tuple[str, str]], int]:
    """Items of the identifier list that starts at `index` and the index after it; ([], index) when there is none.

    list := item (joiner item)* ; item := label [dash label] ; brackets around single items are allowed.
    """
    texts = tokens.texts
    items: list[tuple[str, str]] = []
    end = position = index
    limit = min(limit, index + _LONGEST_LIST)
    while position < limit:
        item = _bracketed_label(tokens, position, limit)
        if item is None:
            break
        label, position = item
        last = ""
        dash = position
        if dash < limit and (texts[dash] in DASHES or texts[dash] in _THROUGH):
            other = _bracketed_label(tokens, dash + 1, limit)
            if other is not None and _same_shape(label, other[0]):
                last, position = other
            elif texts[dash] in DASHES and not tokens.gap(dash):
                break  # "A-band", "T-cells": the letter is part of a word
        items.append((label, last))
        end = position
        joined = position
        while joined < limit and joined - position < 2 and texts[joined].lower() in _JOINERS:
            joined += 1
        if joined == position:
            break
        position = joined
    return items, end


def _same_shape(first: str, last: str) -> bool:
    return first[0].isdigit() == last[0].isdigit() and first[0].isupper() == last[0].isupper()


def _ascending(first: str, last: str) -> bool:
    """Whether `last` comes after `first` in one of the series."""
    if not _same_shape(first, last):
        return False
    ranks = _ROMAN_RANK.get(first.lower()), _ROMAN_RANK.get(last.lower())
    in_letters = (first[0], len(first), first) < (last[0], len(last), last)
    return in_letters or (ranks[0] is not None and ranks[1] is not None and ranks[0] < ranks[1])


def _bracketed_label(tokens: Tokens, index: int, limit: int) -> tuple[str, int] | None:
    """The label at `index`, with or without brackets of its own, and the index after it."""
    if index >= limit:
        return None
    text = tokens.texts[index]
    if text in OPENING:
        if (
            index + 2 < limit
            and tokens.partners[index] == index + 2
            and is_label(tokens.texts[index + 1])
            and not tokens.texts[index + 1].isdigit()
        ):
            return tokens.texts[index + 1], index + 3
        return None
    return (text, index + 1) if is_label(text) else None


def _parsed_places(tokens: Tokens, index: int, limit: int) -> tuple[list[tuple[str, str]], int, bool]:
    """Like `_parsed_list` for words of place; the flag says that a noun of place ("panel", "row") was there."""
    texts = tokens.texts
    items: list[tuple[str, str]] = []
    end = position = index
    noun = False
    while position < limit and position - index < _LONGEST_LIST:
        place: list[str] = []
        if position + 1 < limit and texts[position].lower() in _ORDINALS:
            if texts[position + 1].lower() not in _KEPT_PLACE_NOUNS:
                break
            place.append(texts[position].lower())
            position += 1
        while position < limit and texts[position].lower() in _PLACES and len(place) < 2:
            place.append(texts[position].lower())
            position += 1
            if position + 1 < limit and texts[position] in DASHES and texts[position + 1].lower() in _PLACES:
                position += 1
        if not place:
            break
        if position < limit and texts[position].lower() in _PLACE_NOUNS:
            noun = True
            if texts[position].lower() in _KEPT_PLACE_NOUNS:
                place.append(texts[position].lower().rstrip("s"))
            position += 1
        items.append((" ".join(place), ""))
        end = position
        joined = position
        while joined < limit and joined - position < 2 and texts[joined].lower() in _PLACE_JOINERS:
            joined += 1
        if joined == position:
            break
        position = joined
    return items, end, noun


def mentions(tokens: Tokens) -> list[Mention]:
    """All places where identifiers may be named, in caption order; they do not overlap."""
    found: list[Mention] = []
    texts, count = tokens.texts, len(tokens.texts)
    sentence_starts = set(tokens.sentence_starts)
    index = 0
    while index < count:
        text = texts[index]
        mention: Mention | None = None
        if text in OPENING:
            mention = _bracket_mention(tokens, index, sentence_starts)
        else:
            if text in _NAMING_WORDS:
                mention = _noun_mention(tokens, index, sentence_starts)
            if mention is None and len(text) <= _LONGEST_LABEL and is_label(text):
                mention = _open_mention(tokens, index, sentence_starts)
        if mention is None:
            index += 1
        else:
            found.append(mention)
            index = mention.last + 1
    return found


def _opens(tokens: Tokens, index: int, sentence_starts: set[int]) -> bool:
    return index in sentence_starts or index == 0 or tokens.texts[index - 1] in _CLAUSE_BREAKS


def _made(
    tokens: Tokens,
    items: list[tuple[str, str]],
    form: Form,
    span: tuple[int, int],
    sentence_starts: set[int],
    cuts: Sequence[tuple[int, int]] | None = None,
    positional: bool = False,
) -> Mention:
    first, last = span
    start, end = tokens.starts[first], tokens.ends[last]
    kept = ((start, end),) if cuts is None else tuple(cuts)
    opens = _opens(tokens, first, sentence_starts)
    return Mention(tuple(items), form, first, last, start, end, kept, opens, positional)


def _cited(tokens: Tokens, index: int) -> bool:
    """Whether the bracket at `index` follows a figure number: "Fig. 2 (a)", "Figure 3(B)"."""
    texts = tokens.texts
    if index == 0 or not texts[index - 1][0].isdigit():
        return False
    before = index - 2
    if before >= 0 and texts[before] == ".":
        before -= 1
    return before >= 0 and texts[before].lower() in {"fig", "figs", "figure", "figures", "table", "ref"}


def _bracket_mention(tokens: Tokens, index: int, sentence_starts: set[int]) -> Mention | None:
    """A mention in brackets: "(A)", "((a), (b))", "(a) and (b)", "(A)-(C)", "(image C)", "(C, 200x)", "(left)"."""
    closing = tokens.partners[index]
    if closing < 0 or closing == index + 1 or _cited(tokens, index):
        return None
    texts = tokens.texts
    inner = index + 1
    if texts[inner].lower() in PANEL_NOUNS:
        inner += 1
        if inner < closing and texts[inner] == ".":
            inner += 1
    items, end = _parsed_list(tokens, inner, closing)
    if items and end < closing and [text.lower() for text in texts[end:closing]] in _RESPECTIVELY:
        return _made(tokens, items, Form.BRACKETS, (index, closing), sentence_starts)
    if items and end == closing:
        classed = index > 0 and texts[index - 1].lower() in _CLASS_NOUNS
        if classed and all(first.isdigit() or first.lower() in _ROMAN_RANK for first, _ in items):
            return None  # "stage (II)"
        if all(first.isdigit() for first, _ in items) and inner == index + 1:
            return _made(tokens, items, Form.BRACKETS, (index, closing), sentence_starts)
        return _extended(tokens, items, index, closing, sentence_starts)
    place_items, place_end, _ = _parsed_places(tokens, index + 1, closing)
    if place_items and (place_end == closing or texts[place_end] in {",", ";", ":"}):
        if place_end == closing:
            return _made(tokens, place_items, Form.BRACKETS, (index, closing), sentence_starts, positional=True)
        if texts[place_end] == ":":
            return _made(tokens, place_items, Form.DELIMITED, (index, place_end), sentence_starts, positional=True)
        cut = (tokens.starts[index + 1], tokens.ends[place_end])
        return _made(tokens, place_items, Form.PARTIAL, (index, closing), sentence_starts, [cut], True)
    return _partial_mention(tokens, index, closing, items, end, sentence_starts)


def _extended(
    tokens: Tokens, items: list[tuple[str, str]], index: int, closing: int, sentence_starts: set[int]
) -> Mention:
    """Joins "(a) and (b)", "(a), (b)" and "(a)-(c)" to one mention when nothing else stands between the brackets."""
    texts, count = tokens.texts, len(tokens.texts)
    last = closing
    while last + 1 < count and last - index < _LONGEST_LIST:
        opening = last + 1
        is_range = texts[opening] in DASHES or texts[opening] in _THROUGH
        while opening < count and opening - last <= 2 and (texts[opening].lower() in _JOINERS or is_range):
            opening += 1
            if is_range:
                break
        if opening >= count or texts[opening] not in OPENING or tokens.partners[opening] < 0:
            break
        more, end = _parsed_list(tokens, opening + 1, tokens.partners[opening])
        if not more or end != tokens.partners[opening] or all(first.isdigit() for first, _ in more):
            break
        if not _ascending(items[-1][1] or items[-1][0], more[0][0]):
            break  # "(H & E) and (B)"
        if is_range:
            if items[-1][1] or more[0][1] or not _same_shape(items[-1][0], more[0][0]):
                break
            items[-1] = (items[-1][0], more[0][0])
            items.extend(more[1:])
        else:
            items.extend(more)
        last = end
    return _made(tokens, items, Form.BRACKETS, (index, last), sentence_starts)


def _partial_mention(
    tokens: Tokens, index: int, closing: int, items: list[tuple[str, str]], end: int, sentence_starts: set[int]
) -> Mention | None:
    """Identifiers at the beginning or end of a bracket with other text: "(C, 200x)", "(anti-CD34, E-H)"."""
    texts = tokens.texts
    if items and end < closing and texts[end] in {",", ";", ":", "="} and not items[0][0].isdigit():
        if texts[end] == ":":
            # "(A and C: 100x; B and D: 400x)": the bracket holds a list of its own
            return _made(tokens, items, Form.DELIMITED, (index, end), sentence_starts)
        if any(
            texts[at] in {";", ","}
            and (texts[at] == ";" or texts[end] == "=")
            and is_label(texts[at + 1])
            and texts[at + 2] == texts[end]
            for at in range(end + 1, min(closing, end + _LONGEST_LIST) - 2)
        ):
            # "(A, right eye; B, left eye)"
            return _made(tokens, items, Form.DELIMITED, (index, end), sentence_starts)
        if texts[end] == "=":
            return None
        cut = (tokens.starts[index + 1], tokens.ends[end])
        return _made(tokens, items, Form.PARTIAL, (index, closing), sentence_starts, [cut])
    # the list at the end: find the last separator that only a list follows
    for start in range(closing - 1, max(index, closing - 12), -1):
        if texts[start] in {",", ";"}:
            inner = start + 1
            noun = inner < closing and texts[inner].lower() in PANEL_NOUNS
            if noun:
                inner += 1
            tail, tail_end = _parsed_list(tokens, inner, closing)
            if not tail or tail_end != closing or tail[0][0].isdigit():
                return None
            if is_label(texts[start - 1]) and not noun:
                continue  # inside the list
            cut = (tokens.starts[start], tokens.ends[closing - 1])
            return _made(tokens, tail, Form.PARTIAL, (index, closing), sentence_starts, [cut])
    return None


def _noun_mention(tokens: Tokens, index: int, sentence_starts: set[int]) -> Mention | None:
    """ "panel B shows", "Left:", "The left panel shows", "Step 1: ..." outside brackets."""
    texts, count = tokens.texts, len(tokens.texts)
    lowered = texts[index].lower()
    opens = _opens(tokens, index, sentence_starts)
    if (
        lowered in _STEP_NOUNS
        and opens
        and index + 2 < count
        and texts[index + 1].isdigit()
        and texts[index + 2] == ":"
    ):
        name = f"{texts[index]} {texts[index + 1]}"
        return _made(tokens, [(name, "")], Form.DELIMITED, (index, index + 2), sentence_starts)
    if lowered in PANEL_NOUNS:
        inner = index + 1
        referred = index > 0 and texts[index - 1].lower() in _REFERRING
        if inner < count and texts[inner] == "(" and lowered not in _NAMED_NOUNS and not referred:
            return None  # "photograph (A) and OCT (B)": described, not named as in "shown in images (A) and (B)"
        items, end = _parsed_list(tokens, inner, min(count, inner + _LONGEST_LIST))
        if not items or any(first.isdigit() for first, _ in items):
            return None
        if items == [("a", "")] and texts[index].islower() and texts[inner] == "a":
            return None  # "image a ...": the article
        if opens and end < count and texts[end] in {":", ")"}:
            return _made(tokens, items, Form.DELIMITED, (index, end), sentence_starts)
        if opens and end < count and texts[end] == "." and end + 1 < count and texts[end + 1][0].isupper():
            return _made(tokens, items, Form.DELIMITED, (index, end), sentence_starts)
        return _made(tokens, items, Form.NOUN, (index, end - 1), sentence_starts, [])
    items, end, noun = _parsed_places(tokens, index, count)
    if not items:
        return None
    if opens and end < count and texts[end] in {":", ")"}:
        return _made(tokens, items, Form.DELIMITED, (index, end), sentence_starts, positional=True)
    listed = texts[index][0].isupper() or (index > 0 and texts[index - 1] == ";")
    delimited = end + 1 < count and texts[end] in {",", "."} | DASHES and (noun or tokens.gap(end + 1))
    if opens and listed and delimited and len(items) == 1:
        return _made(tokens, items, Form.DELIMITED, (index, end), sentence_starts, positional=True)
    subject = end < count and texts[end].lower() in _SHOWING_VERBS and texts[end - 1].lower() not in _SIDE_NOUNS
    subject = subject and _opens_clause(tokens, index, sentence_starts)
    if noun and (opens or subject or (index - 1 in sentence_starts and texts[index - 1].lower() == "the")):
        return _made(tokens, items, Form.NOUN, (index, end - 1), sentence_starts, [], True)
    return None


def _opens_clause(tokens: Tokens, index: int, sentence_starts: set[int]) -> bool:
    """Whether a clause begins at `index` or at the article before it: "... and the lower row shows"."""
    texts = tokens.texts
    if index and texts[index - 1].lower() == "the":
        index -= 1
    return _opens(tokens, index, sentence_starts) or texts[index - 1].lower() in _CLAUSE_LINKS


def _open_mention(tokens: Tokens, index: int, sentence_starts: set[int]) -> Mention | None:
    """Identifiers without an opening bracket: "A)", "A.", "A:", "A, text", "A Text"."""
    texts, count = tokens.texts, len(tokens.texts)
    at_sentence = index in sentence_starts or index == 0
    opens = _opens(tokens, index, sentence_starts)
    follower = index + 1
    if not opens and not (follower < count and (texts[follower] in CLOSING or texts[follower][0].isupper())):
        # nothing but "tissue B) Text" and "title a Text" is possible inside a clause
        return None
    items, end = _parsed_list(tokens, index, count)
    if not items or end > count:
        return None
    digits = any(first.isdigit() for first, _ in items)
    if end >= count:
        return None
    delimiter = texts[end]
    if delimiter == ")":
        opening = tokens.partners[end]
        if tokens.gap(end) or (opening >= 0 and not at_sentence):
            return None
        return _made(tokens, items, Form.HALF, (index, end), sentence_starts)
    if digits or (end + 2 < count and texts[end + 1] in {"p", "P"} and texts[end + 2] in "<=>≤≥"):
        return None  # "a: p < 0.05", a footnote
    if opens and (delimiter == ":" or (delimiter == "=" and index and texts[index - 1] in {",", ";"})):
        return _made(tokens, items, Form.DELIMITED, (index, end), sentence_starts)
    strict = at_sentence or (index > 0 and texts[index - 1] == ";")
    if strict and delimiter == "." and end + 1 < count and tokens.gap(end + 1):
        return _made(tokens, items, Form.DELIMITED, (index, end), sentence_starts)
    closed = len(items) == 1 or texts[end - 2].lower() in {"and", "&"} or texts[end - 2] in DASHES
    if strict and (delimiter == "," or delimiter in DASHES) and end + 1 < count and tokens.gap(end + 1) and closed:
        return _made(tokens, items, Form.DELIMITED, (index, end), sentence_starts)
    if not tokens.gap(end):
        return None
    if at_sentence and (delimiter[0].isalnum() or delimiter in OPENING or not delimiter.isascii()):
        return _made(tokens, items, Form.BARE, (index, end - 1), sentence_starts)
    if texts[index] in {"a", "b", "c", "d"} and delimiter[0].isupper() and len(items) == 1:
        return _made(tokens, items, Form.BARE, (index, end - 1), sentence_starts)
    return None


# ---------------------------------------------------------------------------------------------------------------------
# Election of the series


def _rank(series: Series, text: str) -> tuple[int, int] | None:
    """(position in the series, position below it) of a label, counted from 0; the second is -1 without a sub-label."""
    first, rest = text[0], text[1:]
    if series is Series.ROMAN:
        rank = _ROMAN_RANK.get(text)
        return None if rank is None else (rank, -1)
    if series is Series.UPPER_ROMAN:
        rank = _ROMAN_RANK.get(text.lower()) if text.isupper() else None
        return None if rank is None else (rank, -1)
    if series is Series.DIGIT:
        return (int(text) - 1, -1) if text.isdigit() and text.isascii() and int(text) >= 1 else None
    letters = _ASCII_UPPER if series is Series.UPPER else _ASCII_LOWER
    if first not in letters:
        return None
    base = ord(first.lower()) - ord("a")
    if not rest:
        return base, -1
    if rest[0] in _DIGITS:
        return (base, int(rest) - 1) if rest.isdigit() and int(rest) >= 1 else None
    if series is Series.LOWER:
        return None
    if rest in _ROMAN_RANK and rest not in {"c", "d"}:
        return base, _ROMAN_RANK[rest]
    return (base, ord(rest) - ord("a")) if len(rest) == 1 and rest in _ASCII_LOWER else None


def _name(series: Series, rank: int) -> str:
    if series is Series.ROMAN:
        return _ROMAN[rank]
    if series is Series.UPPER_ROMAN:
        return _ROMAN[rank].upper()
    if series is Series.DIGIT:
        return str(rank + 1)
    return chr(ord("A" if series is Series.UPPER else "a") + rank)


def _part_name(first: str, last: str, rank: int) -> str:
    """The label between `first` and `last`: A2 of A1–A3, Ab of Aa–Ac, Aii of Ai–Aiii."""
    if first[1:].isdigit():
        return f"{first[0]}{rank + 1}"
    roman = len(last) > 2 or last[1:] in {"i", "v", "x"}
    return first[0] + (_ROMAN[min(rank, len(_ROMAN) - 1)] if roman else chr(ord("a") + rank))


def _expanded(series: Series, items: Iterable[tuple[str, str]]) -> dict[str, tuple[int, int]] | None:
    """Ranks by label with the ranges written out; None when an item is not of the series."""
    ranks: dict[str, tuple[int, int]] = {}
    previous = (-1, -1)
    for first, last in items:
        low = _rank(series, first)
        if low is None or low <= previous:
            return None  # "(H & E)" is a stain: a list of panels ascends
        previous = low
        ranks[first] = low
        if not last:
            continue
        high = _rank(series, last)
        if high is None:
            return None
        if low[1] < 0 and high[1] < 0 and low[0] < high[0] < 26:
            for rank in range(low[0] + 1, high[0]):
                ranks[_name(series, rank)] = (rank, -1)
        elif low[0] == high[0] and 0 <= low[1] < high[1] < 26 and first[1:].isdigit() == last[1:].isdigit():
            for sub in range(low[1] + 1, high[1]):
                ranks[_part_name(first, last, sub)] = (low[0], sub)
        elif low >= high:
            return None
        ranks[last] = previous = high
    return ranks


def elected_series(found: Sequence[Mention], known_identifiers: Sequence[str] = ()) -> IdentifierSeries | None:
    """The series of identifiers that the caption uses for its panels, or None for a single-panel caption.

    Candidates are ranked by agreement with the identifiers known from the figure, then by the fewest restarts (a
    nested list begins again under every panel), then by the earliest first mention, then by size.
    """
    known = {name.strip("().:[] ") for name in known_identifiers}
    candidates: list[tuple[tuple[float, ...], IdentifierSeries]] = []
    letters = [mention for mention in found if not mention.positional]
    if not letters and not any(mention.positional for mention in found):
        return None
    kinds = [Series.UPPER, Series.LOWER, Series.ROMAN, Series.UPPER_ROMAN]
    if any(name.isdigit() for name in known):
        kinds.append(Series.DIGIT)
    for order, series in enumerate(kinds):
        candidate = _lettered(series, letters)
        if candidate is not None:
            agreement = len(known & set(candidate.labels)) / len(known | set(candidate.labels)) if known else 0.0
            key = (-agreement, candidate.restarts, candidate.mentions[0].mention.start, -len(candidate.labels), order)
            candidates.append((key, candidate))
    if not candidates:
        return _stepped(letters) or _placed([mention for mention in found if mention.positional])
    candidates.sort(key=lambda pair: pair[0])
    best = candidates[0][1]
    return IdentifierSeries(best.series, best.labels, best.mentions, best.restarts, best.missing, len(candidates) - 1)


def _lettered(series: Series, found: Sequence[Mention]) -> IdentifierSeries | None:
    read: list[tuple[Mention, dict[str, tuple[int, int]]]] = []
    for mention in found:
        ranks = _expanded(series, mention.items)
        if ranks is not None:
            read.append((mention, ranks))
    if not read:
        return None
    printed = [pair for pair in read if pair[0].form is not Form.BARE]
    run = _run(series, printed)
    if run is not None:
        read = printed
    else:
        read = _bare_chain(read)
        run = _run(series, read)
        if run is None:
            return None
    labels, missing = run
    allowed = set(labels)
    kept: list[LabelledMention] = []
    for mention, ranks in read:
        names = {name for name in ranks if name in allowed}
        if not names:
            names = {name[0] for name, rank in ranks.items() if rank[1] >= 0 and name[0] in allowed}
            if not names:
                continue
            # a part of a panel, "(a1)": its text belongs to panel a and keeps the name of the part
            mention = replace(mention, cuts=())
        elif len(names) < len(ranks):
            continue
        kept.append(LabelledMention(mention, tuple(label for label in labels if label in names)))
    if not kept:
        return None
    return IdentifierSeries(series, tuple(labels), tuple(kept), _restarts(kept, labels), tuple(missing), 0)


def _bare_chain(
    read: Sequence[tuple[Mention, dict[str, tuple[int, int]]]],
) -> list[tuple[Mention, dict[str, tuple[int, int]]]]:
    """The mentions that continue each other (A, B, C ...) among those without any delimiter.

    "A" and "a" are mostly articles: the first identifier is the last candidate before the second one.
    """
    openers = [pair for pair in read if pair[0].form in {Form.BARE, Form.DELIMITED, Form.HALF} or pair[0].opens]
    chain: list[tuple[Mention, dict[str, tuple[int, int]]]] = []
    expected = 0
    last = (-1, -1)
    first: tuple[Mention, dict[str, tuple[int, int]]] | None = None
    for pair in openers:
        low = min(rank[0] for rank in pair[1].values())
        high = max(rank[0] for rank in pair[1].values())
        if (
            low == 0
            and min(pair[1].values())[1] <= 0
            and (not chain or (len(chain) == 1 and expected == 1 and high == 0))
        ):
            if first is None or pair[0].opens or not first[0].opens:
                first = pair
                chain = [pair]
                expected = high + 1
                last = max(pair[1].values())
        elif chain and pair[0].opens and (low == expected or min(pair[1].values()) == (last[0], last[1] + 1)):
            chain.append(pair)
            expected = high + 1
            last = max(pair[1].values())
    return chain if len(chain) > 1 else []


def _run(
    series: Series, read: Sequence[tuple[Mention, dict[str, tuple[int, int]]]]
) -> tuple[list[str], list[str]] | None:
    """The labels of the unbroken run A, B, C ... and those skipped in it; None when there is no such run of two."""
    ranked: dict[str, tuple[int, int]] = {}
    for _, ranks in read:
        ranked.update(ranks)
    bases: dict[int, list[tuple[int, str]]] = {}
    for name, (base, sub) in ranked.items():
        bases.setdefault(base, []).append((sub, name))
    labels: list[str] = []
    missing: list[str] = []
    rank = 0
    while rank <= max(bases, default=-1):
        group = sorted(bases.get(rank, ()))
        plain = [name for sub, name in group if sub < 0]
        numbered = [name for sub, name in group if sub >= 0]
        complete = bool(numbered) and group[0][0] == 0 and (len(numbered) > 1 or rank > 0)
        if plain:
            labels.extend(plain[:1])
        elif complete:
            labels.extend(numbered)
        elif not missing and rank + 1 in bases and (labels or rank + 2 in bases):
            missing.append(_name(series, rank))
            labels.append(_name(series, rank))
        else:
            break
        rank += 1
    if len(labels) - len(missing) < 2 or len(labels) > MAX_PANELS:
        return None
    allowed = set(labels)
    naming = [mention for mention, ranks in read if any(name in allowed for name in ranks)]
    romans = series in {Series.ROMAN, Series.UPPER_ROMAN, Series.DIGIT}
    if len(naming) < 2 and (romans or naming[0].form not in {Form.BRACKETS, Form.HALF, Form.DELIMITED, Form.BARE}):
        return None  # "stages (I-III)", "(HPF, A-C)"
    if all(mention.form is Form.NOUN for mention in naming) and not any(mention.opens for mention in naming):
        return None
    return labels, missing


def _restarts(kept: Sequence[LabelledMention], labels: Sequence[str]) -> int:
    """How often the heads go back to an earlier identifier."""
    position = {label: index for index, label in enumerate(labels)}
    restarts, previous = 0, -1
    for labelled in kept:
        if not labelled.mention.opens:
            continue
        current = position[labelled.labels[0]]
        restarts += current < previous
        previous = position[labelled.labels[-1]]
    return restarts


def _stepped(found: Sequence[Mention]) -> IdentifierSeries | None:
    """ "Step 1: ... Step 2: ..." at sentence starts."""
    chain: list[LabelledMention] = []
    noun = ""
    for mention in found:
        name = mention.items[0][0]
        if " " not in name:
            continue
        word, number = name.split(" ")
        if int(number) == len(chain) + 1 and (not chain or word.lower() == noun):
            noun = word.lower()
            chain.append(LabelledMention(mention, (name,)))
    if not 2 <= len(chain) <= MAX_PANELS:
        return None
    return IdentifierSeries(Series.STEP, tuple(item.labels[0] for item in chain), tuple(chain), 0, (), 0)


def _placed(found: Sequence[Mention]) -> IdentifierSeries | None:
    """Words of place; at least two on one axis, so that a single "(left)" stays text."""
    kept: list[LabelledMention] = []
    labels: list[str] = []
    for mention in found:
        names = tuple(dict.fromkeys(name for name, _ in mention.items))
        kept.append(LabelledMention(mention, names))
        labels.extend(name for name in names if name not in labels)
    named = {word for label in labels for word in label.split()}
    opposed = any(len(named & axis) >= 2 for axis in _PLACE_AXES)
    if not opposed or not 2 <= len(labels) <= MAX_PANELS:
        return None
    return IdentifierSeries(Series.POSITION, tuple(labels), tuple(kept), 0, (), 0)
