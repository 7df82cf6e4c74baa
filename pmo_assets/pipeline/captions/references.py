"""Letters without marks that go on with a series: "In B, the lesion …", "C and D are maps", "The graph in E shows".

Authors who print "(A)" and "(B)" where they introduce panels take them up in running text without brackets, and some
introduce the later ones so. Such letters are no evidence alone: lines, groups and amino acids have letters, too. They
count as the names of panels where the caption's other names make them the same series or its next members, and only at
the places of a sentence where its subject is named. A caption is read once without and once with them; the second
reading is taken if it keeps all names of the first one and leaves out no more of the series (`read_series`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pmo_assets.pipeline.captions.election import IdentifierSeries, elected_series
from pmo_assets.pipeline.captions.identifier_lists import LONGEST_LIST, Item, parsed_list
from pmo_assets.pipeline.captions.identifier_mentions import mentions
from pmo_assets.pipeline.captions.mention import Form, Mention, made_mention
from pmo_assets.pipeline.captions.noun_mentions import PANEL_NOUNS, SHOWING_VERBS
from pmo_assets.pipeline.captions.phrases import SHOWING, VERBS
from pmo_assets.pipeline.captions.series import Series
from pmo_assets.pipeline.captions.tokens import Tokens, words

_TELLING: Final = (
    VERBS | SHOWING_VERBS | words("summarizes summarises summarize delineates provides compares marks highlights")
)
_PLACING: Final = words("in on from for of")
_CONTRASTING: Final = words("while whereas")
_BEING: Final = words("is are was were")
_CALLED: Final = words(
    "group groups type class stage grade case patient line lines point points arrow arrows part lane lanes region zone "
    "species strain player vitamin hepatitis variant form method protein"
)

_SUBJECT: Final = 6
"""Tokens of a sentence within which its subject names a panel: "The orange-framed box in B indicates"."""


def read_series(tokens: Tokens) -> tuple[list[Mention], IdentifierSeries | None]:
    """Return a caption's mentions and the series that they elect, letters without marks included where they fit.

    Args:
        tokens: the caption.
    """
    found = mentions(tokens)
    series = elected_series(found)
    if series is not None and series.series not in {Series.UPPER, Series.LOWER}:
        return found, series
    more = referring_mentions(tokens)
    if not more:
        return found, series
    taken = {index for mention in more for index in range(mention.first, mention.last + 1)}
    apart = [mention for mention in found if mention.form is not Form.BARE or mention.first not in taken]
    held = {index for mention in apart for index in range(mention.first, mention.last + 1)}
    more = [mention for mention in more if held.isdisjoint(range(mention.first, mention.last + 1))]
    merged = sorted([*apart, *more], key=lambda mention: mention.first)
    again = elected_series(merged)
    return (merged, again) if again is not None and _goes_on(series, again) else (found, series)


def _goes_on(series: IdentifierSeries | None, again: IdentifierSeries) -> bool:
    """Say whether a second reading keeps the names of the first one and leaves no more of them out."""
    if series is None:
        return not again.missing and again.series in {Series.UPPER, Series.LOWER}
    return (
        again.series is series.series
        and set(series.identifiers) <= set(again.identifiers)
        and len(again.missing) <= len(series.missing)
    )


def referring_mentions(tokens: Tokens) -> list[Mention]:
    """Return letters without marks at the places of sentences where a panel is named as their subject.

    Args:
        tokens: the caption.
    """
    count = len(tokens.texts)
    sentence_starts = set(tokens.sentence_starts)
    found: list[Mention] = []
    for index in range(count):
        span = _referring(tokens, index) if index in sentence_starts or _opens_clause(tokens, index) else None
        span = span or _apposed(tokens, index)
        if span is None or (found and span[1] <= found[-1].last):
            continue
        items, first, last = span
        found.append(made_mention(tokens, items, Form.NOUN, (first, last), sentence_starts | {index, first}, []))
    return found


def _opens_clause(tokens: Tokens, index: int) -> bool:
    texts = tokens.texts
    return index > 0 and (texts[index - 1] == ";" or texts[index - 1].lower() in _CONTRASTING)


def _referring(tokens: Tokens, first: int) -> tuple[list[Item], int, int] | None:
    """The letters that a sentence or clause from token `first` on is about, and their first and last token."""
    texts, count = tokens.texts, len(tokens.texts)
    items, end = _letters(tokens, first)
    if items and end < count and texts[end].lower() in _TELLING and items != [("I", "")]:
        several = len(items) > 1 or items[0][1]
        # "C is control rats" explains a letter
        return (items, first, end - 1) if several or texts[end].lower() not in _BEING else None
    for at in range(first, min(count - 2, first + _SUBJECT)):
        if texts[at].lower() not in _PLACING:
            if not texts[at][0].isalnum() and texts[at] not in {"-", "‐", "‑"}:
                return None
            continue
        items, end = _letters(tokens, at + 1)
        if not items or end >= count:
            continue
        after = texts[end].lower()
        opening = at == first or (texts[first].lower() in {"as", "note"} and after == ",")
        if opening and after in {",", ":"}:
            return items, at + 1, end - 1
        if at > first and (after in _TELLING or (after == ":" and texts[at].lower() == "in")):
            return items, at + 1, end - 1
    return None


def _apposed(tokens: Tokens, index: int) -> tuple[list[Item], int, int] | None:
    """The letter behind a noun for panels: "and the third panel, C, is the overlay"."""
    texts = tokens.texts
    if texts[index].lower() not in PANEL_NOUNS or index + 4 > len(texts) or texts[index + 1] != ",":
        return None
    items, end = _letters(tokens, index + 2)
    if not items or end + 1 >= len(texts) or texts[end] != "," or texts[end + 1].lower() not in _TELLING | SHOWING:
        return None
    return items, index + 2, end - 1


def _letters(tokens: Tokens, index: int) -> tuple[list[Item], int]:
    """The list of letters, or letters with a digit, at `index` and the index after it; nothing for other names."""
    texts = tokens.texts
    if index >= len(texts) or not _is_letter(texts[index]):
        return [], index
    if index and texts[index - 1].lower() in _CALLED:
        return [], index
    items, end = parsed_list(tokens, index, min(len(texts), index + LONGEST_LIST))
    return (items, end) if _are_letters(items) and not _joined(tokens, end) else ([], index)


def _are_letters(items: Sequence[Item]) -> bool:
    return bool(items) and all(not name or _is_letter(name) for item in items for name in item)


def _is_letter(name: str) -> bool:
    return len(name) <= 2 and name[0].isalpha() and (len(name) == 1 or name[1].isdigit())  # "C57" is a strain


def _joined(tokens: Tokens, end: int) -> bool:
    """Say whether a letter is part of the word behind it: "B-scan", "C57"."""
    return end < len(tokens.texts) and not tokens.gap(end) and tokens.texts[end] not in {",", ":", ";", ".", ")"}
