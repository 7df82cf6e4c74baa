"""Sentences whose identifiers stand after or within their text: "X (a), Y (b) and Z (c) of W".

sentence := clause (";" clause)*
clause   := [announcement ":"] round+ [rest]
round    := [lead] item+                     every panel is named at most once in a round
item     := text tail [continuation]         "scan before treatment (A) showing edema", "right (A) and left eye (B)"
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from enum import Enum
from itertools import pairwise
from typing import Final

from pmo_assets.pipeline.captions.election import PanelMention
from pmo_assets.pipeline.captions.mention import Form, Mention
from pmo_assets.pipeline.captions.phrases import (
    ARTICLES,
    CONJUNCTIONS,
    PAIRS,
    PREPOSITIONS,
    SHOWING,
    VERBS,
    is_eye_or_time,
    item_start,
    lacks_noun,
    lead_end,
    names_examination,
)
from pmo_assets.pipeline.captions.pieces import Piece, PieceList
from pmo_assets.pipeline.captions.tokens import CLOSING, OPENING, Tokens, words


class Role(Enum):
    """Place of a mention relative to its text."""

    HEAD = "before its text"
    TAIL = "after its text"
    INLINE = "within its text"


AFTER_TAIL: Final = frozenset({".", ";", ",", ":", ")", "!", "?", "]"})
_CONTRASTS: Final = frozenset({"whereas", "while", "but"})
# What continues the item before it and no other one: "(A) showing edema and ...".
_OWN_CONTINUATIONS: Final = SHOWING | VERBS | words("with which where whose that indicating suggesting having taken")
# After a comma, these go on about the item before it.
_PASSIVE: Final = words("is are was were")
_RELATIVES: Final = words("which where whose")
# Lengths in tokens, the identifiers' own left out.
_BRIEF: Final = 6
"""Text between the last two identifiers that no separator divides: "images (A) of the same eye (B)."."""
_BARE: Final = 2
"""Adjectives without their noun: "right", "early postoperative"."""
_WITH_NOUN: Final = 5
"""The item that has the noun: "late postoperative OCT image"."""
_ONLY_A_STOP: Final = 40
"""Characters at the end of a clause in which a letter or digit says that they are text."""
_LEADING_LINKS: Final = ("and ", "or ", "as well as ", "& ", "but also ", "but ", "whereas ", "while ")


def add_tailed_sentence(
    pieces: PieceList, span: tuple[int, int], structural: Sequence[tuple[PanelMention, Role]]
) -> None:
    """Add the pieces of a sentence in characters [start, end) without heads."""
    start = _announced(pieces, span[0], structural)
    for clause_start, end, tails in _clauses(pieces.tokens, span, structural):
        begin = max(start, clause_start)
        if _is_one_statement(pieces.tokens, tails):
            _add_statement(pieces, after_separator(pieces.tokens, begin, end), end, tails)
            continue
        add_tailed(pieces, after_separator(pieces.tokens, begin, end), end, tails)


def _is_one_statement(tokens: Tokens, tails: Sequence[PanelMention]) -> bool:
    """Say whether a clause joins two panels by its verb: "The detachment (C) was resolved by treatment (D)"."""
    if len(tails) != 2 or any(naming.mention.form is not Form.BRACKETS for naming in tails):
        return False
    first, second = (naming.mention for naming in tails)
    verb = tokens.texts[first.last + 1].lower()
    between = tokens.texts[first.last + 1 : second.first]
    return verb in _PASSIVE and not any(text in AFTER_TAIL or text.lower() in CONJUNCTIONS for text in between)


def _add_statement(pieces: PieceList, start: int, end: int, tails: Sequence[PanelMention]) -> None:
    """Give a clause without its identifiers to all its panels."""
    union = pieces.union(tails)
    for naming in tails:
        pieces.add(start, naming.mention.start, union)
        start = naming.mention.end
    pieces.add(start, end, union)


def _announced(pieces: PieceList, start: int, structural: Sequence[tuple[PanelMention, Role]]) -> int:
    """Give the text before a colon to all panels that follow: "Imaging of case 2: photograph (A), OCT (B)".

    Returns:
        The beginning of the panels' text.
    """
    tails = [naming for naming, _ in structural]
    end = announced_end(pieces.tokens, start, tails)
    if end is None:
        return start
    pieces.add(start, end, pieces.union(tails))
    return end


def announced_end(tokens: Tokens, start: int, tails: Sequence[PanelMention]) -> int | None:
    """Return the offset behind the colon that announces several panels from offset `start` on; None without one."""
    first = bisect_left(tokens.starts, start)
    before = tokens.texts[first : tails[0].mention.first]
    if len(tails) < 2 or ":" not in before[1:-1]:
        return None
    return tokens.ends[first + 1 + before[1:].index(":")]


def _clauses(
    tokens: Tokens, span: tuple[int, int], structural: Sequence[tuple[PanelMention, Role]]
) -> list[tuple[int, int, list[PanelMention]]]:
    """The sentence cut where a clause with a panel of its own ends.

    "X (a) shows Y; Z (b) shows W", "in X (a), Y is flat, whereas in Z (b) it is not", "the left panel shows X and the
    right panel shows Y".
    """
    tails = [naming for naming, _ in structural]
    inline = any(role is Role.INLINE for _, role in structural)
    links = [tokens.texts[left.mention.last + 1] == ";" for left, _ in pairwise(tails)]
    inline = inline or (any(links) and not all(links))  # "FA, early (A) and late phase (B); ICGA, early (C) and ..."
    clauses: list[tuple[int, int, list[PanelMention]]] = []
    start, group = span[0], [tails[0]]
    for left, right in pairwise(tails):
        opening = tokens.texts[bisect_left(tokens.starts, start)].lower()
        cut = _clause_end(tokens, (left.mention.last + 1, right.mention.first), inline, opening in PREPOSITIONS)
        if cut is not None:
            clauses.append((start, cut, group))
            start, group = cut, []
        group.append(right)
    clauses.append((start, span[1], group))
    return clauses


def _clause_end(tokens: Tokens, gap: tuple[int, int], inline: bool, prefixed: bool) -> int | None:
    """Offset where the clause that began before the tokens between two tails ends within them.

    Args:
        inline: whether an identifier of the sentence stands within its text.
        prefixed: whether the clause opens with a preposition, so that a comma may follow its identifier: "In X (a), Y".
    """
    first, stop = gap
    texts = [text.lower() for text in tokens.texts[first:stop]]
    if ";" in texts:
        at = texts.index(";")
        own = texts[0] not in CONJUNCTIONS and any(text[0].isalnum() for text in texts[:at])
        return tokens.ends[first + at] if inline or own else None
    verb = next((at for at, text in enumerate(texts) if text in VERBS), None)
    if verb is None or not (texts[0][0].isalnum() or (prefixed and texts[0] == ",")):
        return None
    if texts[0] in CONJUNCTIONS:
        return None
    ends = range(len(texts) - 1, verb, -1)
    for wanted in (_CONTRASTS, frozenset({"and"})):
        for at in ends:
            if texts[at] in wanted and at + 1 <= len(texts):
                at -= texts[at - 1] == ","
                return tokens.ends[first + at - 1]
    return next((tokens.ends[first + at] for at in ends if texts[at] == ","), None)


def add_tailed(pieces: PieceList, start: int, end: int, tails: Sequence[PanelMention]) -> None:
    """Add the pieces of one clause in characters [start, end)."""
    if len(tails) == 1:
        _add_cut(pieces, start, tails[0].mention, end, tails[0].identifiers)
        return
    position = start
    settled: set[str] = set()  # identifiers before the text that is only theirs
    for first, stop in _rounds(tails):
        position = _add_round(pieces, position, end, tails[first:stop], settled)
    relative = tails[-1].identifiers if any(_relative_after(pieces.tokens, tail) for tail in tails[:-1]) else ()
    _add_rest(pieces, position, end, pieces.union(tails), settled, relative)


def _relative_after(tokens: Tokens, tail: PanelMention) -> bool:
    """Say whether a relative clause follows an identifier: "the superficial plexus (A), which supplies ..."."""
    following = [text.lower() for text in tokens.texts[tail.mention.last + 1 : tail.mention.last + 3]]
    return following[:1] == [","] and not _RELATIVES.isdisjoint(following[1:])


def _rounds(tails: Sequence[PanelMention]) -> list[tuple[int, int]]:
    """Ranges of tails in which no panel is named twice.

    "FAF (A, B) and OCT (C, D) in patient 1 (A, C) and patient 2 (B, D)" has two rounds.
    """
    starts = [0]
    named: set[str] = set()
    for index, naming in enumerate(tails):
        if named & set(naming.identifiers):
            starts.append(index)
            named = set()
        named.update(naming.identifiers)
    return list(zip(starts, [*starts[1:], len(tails)], strict=True))


def _items_after_first(
    tokens: Tokens, group: Sequence[PanelMention], end: int
) -> tuple[list[tuple[int, int]], list[tuple[int, int] | None]]:
    """Tokens of each item but the first, and per item the part of the gap that continues the item before, if any."""
    ranges: list[tuple[int, int]] = []
    continuations: list[tuple[int, int] | None] = [None]
    for left, right in pairwise(group):
        gap = left.mention.last + 1, right.mention.first
        boundary = _boundary(tokens, gap, right.mention.end >= end - 1)
        ranges.append((item_start(tokens, boundary or gap[0], gap[1]), gap[1]))
        continuations.append(None if boundary is None or boundary == gap[0] else (gap[0], boundary))
    return ranges, continuations


def _add_round(pieces: PieceList, position: int, end: int, group: Sequence[PanelMention], settled: set[str]) -> int:
    """Add the pieces of a lead and its items from offset `position`; returns the offset after the last tail."""
    tokens = pieces.tokens
    begins = after_separator(tokens, position, group[0].mention.start)
    first = bisect_left(tokens.starts, begins)
    ranges, continuations = _items_after_first(tokens, group, end)
    whole = [boundary is None for boundary in continuations[1:]]
    unclear = any(
        _unjoined(tokens, left.mention) and clear and not _brief(left.mention, right.mention, end)
        for (left, right), clear in zip(pairwise(group), whole, strict=True)
    )
    unclear = unclear or _are_alike(tokens, first, group, ranges)
    sublists = _sublists(tokens, group, (first, group[0].mention.first), ranges)
    lead = None
    if not unclear:
        # whole lists stand beside each other when some items name an examination and others only its object
        beside = [ranges[at - 1] for at in sublists if at] if sublists else ranges
        lead = lead_end(tokens, first, group[0].mention.first, beside)
    ranges.insert(0, (first if lead is None else lead, group[0].mention.first))
    inner_leads = _inner_leads(tokens, ranges, sublists)
    if inner_leads and all(lacks_noun(text) for text in tokens.texts[slice(*ranges[-1])]):
        settled.update(pieces.union(group[: max(inner_leads)]))
    nouns = _head_nouns(tokens, ranges, continuations)
    lead_word = ""
    if lead is not None:
        pieces.add(begins, tokens.starts[lead], pieces.union(group))
        begins = tokens.starts[lead]
        lead_word = tokens.texts[lead - 1].lower()
    known: set[str] = set()
    for index, naming in enumerate(group):
        mention, owners = naming.mention, naming.identifiers
        here = begins if index == 0 else after_separator(tokens, position, mention.start)
        continuation = continuations[index]
        if continuation is not None:
            pieces.doubts.append("text between identifiers without a separator")
            comma = tokens.texts[continuation[0]] == ","
            here = tokens.starts[continuation[0]] if comma else here
            opening = tokens.texts[continuation[0] + comma].lower()
            own = opening in _OWN_CONTINUATIONS or opening in OPENING
            holders = group[index - 1].identifiers if own else pieces.ordered(known)
            settled.update(holders)
            stop = tokens.ends[continuation[1] - 1]
            pieces.add(here, stop, holders)
            here = after_separator(tokens, stop, mention.start)
        elif index and _unjoined(tokens, group[index - 1].mention):
            pieces.doubts.append("text between identifiers without a separator")
            if not _brief(group[index - 1].mention, mention, end):
                owners = pieces.ordered(known | set(owners))
        if index in inner_leads:
            at, until = inner_leads[index]
            pieces.add(here, tokens.starts[at], pieces.union(group[index:until]))
            here = tokens.starts[at]
        if (
            index
            and lead_word in PREPOSITIONS
            and tokens.caption[here : mention.start].lower().startswith(lead_word + " ")
        ):
            here += len(lead_word)  # "of the right (A) and of the left (B) eye": the lead has the word
        noun = nouns.get(index)
        if noun is None:
            pieces.add(here, mention.start, owners)
        else:
            at, since = noun
            pieces.add(here, tokens.starts[at], owners)
            pieces.add(tokens.starts[at], mention.start, pieces.union(group[since : index + 1]))
        if mention.form in {Form.PARTIAL, Form.NOUN} or _referring(tokens, mention):
            _add_mention(pieces, mention, naming.identifiers)
        position = mention.end
        known.update(naming.identifiers)
    return position


def _are_alike(tokens: Tokens, first: int, group: Sequence[PanelMention], others: Sequence[tuple[int, int]]) -> bool:
    """Say whether items between semicolons all begin with the first one's article: "The view (a); the plan (b)"."""
    article = tokens.texts[first].lower()
    divided = all(tokens.texts[naming.mention.last + 1] == ";" for naming in group[:-1])
    return article in ARTICLES and divided and all(tokens.texts[start].lower() == article for start, _ in others)


def _sublists(
    tokens: Tokens, group: Sequence[PanelMention], first: tuple[int, int], others: Sequence[tuple[int, int]]
) -> list[int]:
    """Positions where lists begin in "photograph (A), and scans through the fovea (B) and the disc (C)"; or [].

    An item that names an examination begins a list; the others continue one, behind a bare "and" or as an eye or a
    time: "photo OD (A), OS (B), FA OD (C), and OS (D)".
    """
    for at, (start, stop) in enumerate(others[:-1], 1):
        body = [text for text in tokens.texts[start:stop] if text[0].isalnum()]
        bare = all(lacks_noun(text) for text in tokens.texts[slice(*others[at])])
        if len(body) > 1 and lacks_noun(body[-1]) and bare and not lacks_noun(tokens.texts[first[1] - 1]):
            return [0, at]  # "in a control (A) and in patients with mild (B) and severe (C) retinopathy"
    starts = [0]
    for at, (start, stop) in enumerate(others, 1):
        if names_examination(tokens, start, stop):
            starts.append(at)
            continue
        link = tokens.texts[group[at - 1].mention.last + 1].lower()
        if link not in {"and", "or", "&"} and not is_eye_or_time(tokens, start, stop):
            return []
    if len(starts) == 1 or len(starts) == len(group) or not names_examination(tokens, *first):
        return []
    return starts


def _inner_leads(
    tokens: Tokens, ranges: Sequence[tuple[int, int]], sublists: Sequence[int]
) -> dict[int, tuple[int, int]]:
    """By first item of a list within the list: the token where its own text begins, and the item after the list."""
    found: dict[int, tuple[int, int]] = {}
    for start, stop in pairwise([*sublists, len(ranges)] if sublists else []):
        if stop - start > 1:
            lead = lead_end(tokens, *ranges[start], ranges[start + 1 : stop])
            if lead is not None:
                found[start] = lead, stop
    return found


def _unjoined(tokens: Tokens, mention: Mention) -> bool:
    """Say whether text follows a tail without a separator: "superficial (A) and deep (B) plexus, outer retina (C)"."""
    after = tokens.texts[mention.last + 1].lower()
    return after not in AFTER_TAIL and after not in CONJUNCTIONS


def _brief(left: Mention, right: Mention, end: int) -> bool:
    """Say whether a few words without a separator end the sentence: "images (A) of the same eye (B)."."""
    return right.first - left.last - 1 <= _BRIEF and right.end >= end - 1


def _boundary(tokens: Tokens, gap: tuple[int, int], final: bool) -> int | None:
    """Index of the token after which the next item begins in the tokens between two tails.

    The gap's first token where a separator stands there; None where text follows without any separator.
    """
    first, stop = gap
    texts = [text.lower() for text in tokens.texts[first:stop]]
    # "vessels (A), which supply X, and the plexus (B)", but "an implant (A), which evokes light and shape (B)"
    related = texts[:1] == [","] and texts[1:2] and texts[1] in _RELATIVES
    related = related and any(text == "and" and after in ARTICLES for text, after in pairwise(texts))
    if not related and (not texts or texts[0] in AFTER_TAIL or texts[0] in CONJUNCTIONS):
        return first
    if final and len(texts) <= _BRIEF:
        return None
    depth = 0  # within brackets nothing ends: "age (A) (r = 0.12, p = 0.3) and BMI (B)"
    commas: list[int] = []
    for at, text in enumerate(texts[1:], 1) if related else enumerate(texts):
        depth += (text in OPENING) - (text in CLOSING)
        if depth <= 0 and text in {",", ";"} and tokens.gap(first + at + 1):
            commas.append(at)
    ands = [at for at, text in enumerate(texts[:-1]) if text in {"and", "or", "but", "while", "whereas"}]
    before_and = [at for at in commas if texts[at + 1 : at + 2] and texts[at + 1] in CONJUNCTIONS]
    if related:
        ands = [at for at in ands if texts[at + 1] in ARTICLES]
    own = related or texts[0] in _OWN_CONTINUATIONS
    found = ands if own and ands and (related or not before_and) else before_and or commas or ands
    return first + found[-1] + (texts[found[-1]] in {",", ";"}) if found else None


def _head_nouns(
    tokens: Tokens, ranges: Sequence[tuple[int, int]], continuations: Sequence[tuple[int, int] | None]
) -> dict[int, tuple[int, int]]:
    """By item: the token where the noun begins that it shares with the adjectives before it, and the first such item.

    "the right (A) and left eye (B)", "mild (A), moderate (B) and severe retinopathy (C)".
    """
    found: dict[int, tuple[int, int]] = {}
    bare: int | None = None  # the first item of a run of adjectives without noun
    length = 0
    for index, (start, stop) in enumerate(ranges):
        if continuations[index] is not None:
            bare = None
        while start < stop and tokens.texts[start].lower() in ARTICLES | PREPOSITIONS:
            start += 1
        body = [text for text in tokens.texts[start:stop] if text[0].isalnum()]
        adjectives = next((at for at, text in enumerate(body) if not lacks_noun(text)), len(body))
        if body and adjectives == len(body) and len(body) <= _BARE:
            bare, length = (index if bare is None else bare), max(length, len(body))
            continue
        short = 2 <= len(body) <= _WITH_NOUN and not any(text.lower() in PREPOSITIONS for text in body)
        if bare is not None and short and adjectives:
            found[index] = (min(start + min(adjectives, length), stop - 1), bare)
        bare, length = None, 0
    return found


def _add_rest(
    pieces: PieceList,
    position: int,
    end: int,
    union: tuple[str, ...],
    settled: set[str],
    last: tuple[str, ...],
) -> None:
    """Add the text behind the last tail: up to a comma it concerns panels without text of their own, then all."""
    caption = pieces.tokens.caption
    start, stop = pieces.trimmed(position, end)
    if start >= stop:
        return
    # no text: the full stop
    if not any(letter.isalnum() for letter in caption[start : min(stop, start + _ONLY_A_STOP)]):
        pieces.add(start, stop, union)
        return
    opening = pieces.tokens.texts[bisect_left(pieces.tokens.starts, start) + (caption[start] == ",")].lower()
    if caption[start] == "," and opening in _RELATIVES and last:
        pieces.add(start, stop, last)  # "X (a) and Y (b), which supplies Z"
        return
    later = pieces.ordered(set(union) - settled)
    shared_from = _first_comma(pieces.tokens, start, stop)
    pieces.add(start, shared_from, later or union)
    pieces.add(shared_from, stop, union)
    pieces.doubts.append("text after the last identifier of a sentence")


def _first_comma(tokens: Tokens, start: int, stop: int) -> int:
    """Offset of the first comma outside brackets in characters [start, stop), or `stop`."""
    index = bisect_left(tokens.starts, start)
    while index < len(tokens.starts) and tokens.ends[index] < stop:
        if tokens.texts[index] in OPENING and tokens.partners[index] > index:
            index = tokens.partners[index]
        elif tokens.texts[index] == "," and tokens.gap(index + 1):
            return tokens.starts[index]
        index += 1
    return stop


def _add_cut(pieces: PieceList, start: int, mention: Mention, end: int, identifiers: tuple[str, ...]) -> None:
    position = start
    for cut_start, cut_end in () if _referring(pieces.tokens, mention) else mention.cuts:
        pieces.add(position, cut_start, identifiers)
        position = cut_end
    pieces.add(position, end, identifiers)


def _add_mention(pieces: PieceList, mention: Mention, identifiers: tuple[str, ...]) -> None:
    """Add the rest of "(C, 200x)" without the identifier."""
    _add_cut(pieces, mention.start, mention, mention.end, identifiers)


def _referring(tokens: Tokens, mention: Mention) -> bool:
    """Say whether the sentence needs the identifier: "are shown in (d)", "In (A), the arrow ..."."""
    texts = tokens.texts
    before = texts[mention.first - 1].lower() if mention.first else ""
    after = texts[mention.last + 1].lower() if mention.last + 1 < len(texts) else ""
    ends = not after or after in AFTER_TAIL or after in CONJUNCTIONS
    ends = ends or before == "in"
    return mention.form is Form.BRACKETS and before in {"in", "as", "of", "to", "than"} and ends


def after_separator(tokens: Tokens, position: int, limit: int) -> int:
    """Offset `position` moved over the separator and conjunction between two items, at most to `limit`."""
    caption = tokens.caption
    moved = position
    while moved < limit and (caption[moved].isspace() or caption[moved] in ",;"):
        moved += 1
    if moved == position or moved == 0:
        return moved
    for word in _LEADING_LINKS:
        if caption.startswith(word, moved) and moved + len(word) < limit:
            return moved + len(word)
    return moved


def distribute(pieces: PieceList, since: int, span: tuple[int, int], groups: Sequence[tuple[str, ...]]) -> bool:
    """Give each half of "right and left eyes (A and B, respectively)" to its panel, where there is one such pair.

    Args:
        since: index of the sentence's first piece.
        span: tokens [first, stop) of the sentence.
        groups: the identifiers that the sentence names together; all must be pairs.

    Returns:
        True if anything was distributed.
    """
    tokens = pieces.tokens
    texts = [text.lower() for text in tokens.texts[span[0] : span[1]]]
    if "respectively" not in texts or any(len(group) != 2 for group in groups):
        return False
    pairs = [
        at
        for at in range(len(texts) - 2)
        if texts[at + 1] in {"and", "&", "or"} and {texts[at], texts[at + 2]} in PAIRS
    ]
    if len(pairs) != 1:
        return False
    left, right = span[0] + pairs[0], span[0] + pairs[0] + 2
    halves = {group[0] for group in groups}, {group[1] for group in groups}
    for index in range(since, len(pieces.pieces)):
        piece = pieces.pieces[index]
        if piece.start > tokens.starts[left] or piece.end < tokens.ends[right]:
            continue
        identifiers = set(piece.identifiers or pieces.order)
        pieces.pieces[index] = Piece(piece.start, tokens.starts[left], piece.identifiers)
        pieces.add(tokens.starts[left], tokens.ends[left], pieces.ordered(identifiers & halves[0]))
        pieces.add(tokens.starts[right], tokens.ends[right], pieces.ordered(identifiers & halves[1]))
        pieces.add(tokens.ends[right], piece.end, piece.identifiers)
        word = span[0] + texts.index("respectively")
        if tokens.texts[word - 1] == ",":
            pieces.cuts.append((tokens.starts[word - 1], tokens.ends[word]))
        return True
    return False
