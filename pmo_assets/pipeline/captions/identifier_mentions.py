"""Mentions of panel identifiers in a caption: identifiers, or words of place, that may stand for panels.

Words that only look like identifiers ("(n = 3)", "vitamin A", "Figure 2A", "(N)" for a normal gland) are not told apart
by a list of such things but by two positive conditions: an identifier stands where identifiers stand (alone in
brackets, before a delimiter at a clause start, after "panel") and belongs to a series that begins at its beginning
(A, B, C ...; i, ii, iii ...; left, right). This module sees to the first; the second is `election`'s.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from pmo_assets.pipeline.captions.identifier_lists import (
    FEW,
    JOINERS,
    LONGEST_IDENTIFIER,
    LONGEST_LIST,
    THROUGH,
    Item,
    follows,
    is_ascending,
    is_identifier,
    is_long_list,
    parsed_list,
    same_shape,
)
from pmo_assets.pipeline.captions.mention import Form, Mention, made_mention, opens_clause
from pmo_assets.pipeline.captions.noun_mentions import (
    FIRST_LETTERS,
    NAMING_WORDS,
    NUMBERED,
    PANEL_NOUNS,
    SHOWING_VERBS,
    noun_mention,
)
from pmo_assets.pipeline.captions.phrases import ARTICLES, BINDING, CONJUNCTIONS, PREPOSITIONS, names_examination
from pmo_assets.pipeline.captions.places import (
    PLACES,
    parsed_places,
    place_in_brackets,
    within_picture,
)
from pmo_assets.pipeline.captions.series import ROMAN_RANK
from pmo_assets.pipeline.captions.tokens import CLOSING, DASHES, OPENING, Tokens, words
from pmo_assets.pipeline.captions.unmarked_letters import dotted_letters, unmarked_letters

_MAGNIFICATION: Final = re.compile(r"(?i:[x×]\d[\d,.]*|\d[\d,.]*[x×])")


_RESPECTIVELY: Final = (["respectively"], [",", "respectively"])
_CLASS_NOUNS: Final = words("stage stages type types grade grades class classes group groups lead leads")


# What stands before a list that explains letters in the figure: "Materials: A, agar; B, collagen".
_KEYS: Final = words("materials key legend abbreviations labels symbols components")


_LIST_LINKS: Final = frozenset({",", ";", "and", "or", "&", "while", "whereas"})
_OPERATORS: Final = frozenset("/×*=")


_LONG_DASH: Final = "—"

_IMAGE_WORDS: Final = 3
"""Tokens between a place and the end of its bracket, where the last one is a picture: "(left MIP image)"."""


_LONGEST_ITEM: Final = 30
"""Tokens from the first letter of a list within a sentence up to which the second one is looked for."""


_LONGEST_TAIL: Final = 12
"""Tokens from the end of a bracket within which its list begins: "(anti-CD34, E-H)", "(HE stain, A, B, C and D)"."""


def mentions(tokens: Tokens, *, lenient: bool = False) -> list[Mention]:
    """All places where identifiers may be named, in caption order; they do not overlap.

    Args:
        tokens: the caption.
        lenient: also those that are more often something else: "1:", "2.", and "a1," after a full stop.
    """
    found: list[Mention] = []
    texts, count = tokens.texts, len(tokens.texts)
    sentence_starts = set(tokens.sentence_starts)
    numbered = _numbered_sentences(tokens)
    index = 0
    while index < count:
        text = texts[index]
        mention: Mention | None = None
        if text in OPENING:
            mention = _bracket_mention(tokens, index, sentence_starts)
        else:
            if text in NAMING_WORDS:
                mention = noun_mention(tokens, index, sentence_starts, found[-1] if found else None)
            if index in numbered:
                mention = made_mention(tokens, [(text, "")], Form.DELIMITED, (index, index + 1), sentence_starts)
            if mention is None and index in sentence_starts and NUMBERED.fullmatch(text):
                mention = _numbered_head(tokens, index, sentence_starts)
            if mention is None and len(text) <= LONGEST_IDENTIFIER and is_identifier(text):
                mention = _rare_mention(tokens, index, sentence_starts)
                mention = mention or _open_mention(tokens, index, sentence_starts, lenient=lenient)
                if mention is None and not found and _heads_after_title(tokens, index):
                    mention = made_mention(tokens, [(text, "")], Form.DELIMITED, (index, index + 1), sentence_starts)
                if mention is None and not found:
                    mention = _ranged_after_title(tokens, index, sentence_starts)
                if mention is None and found:
                    mention = _continued_mention(tokens, index, sentence_starts, found[-1])
        if mention is None:
            index += 1
        else:
            found.append(mention)
            index = mention.last + 1
    if all(mention.positional for mention in found):
        letters = unmarked_letters(tokens, sentence_starts) or dotted_letters(tokens, sentence_starts)
        found = sorted([*found, *letters], key=lambda mention: mention.first)
    return _without_sums(tokens, found)


def _numbered_sentences(tokens: Tokens) -> frozenset[int]:
    """Return the numbers that open sentences about pictures: "1. Preoperative topography. 2. Topography after a year".

    Other lists with numbers name what one picture shows: "1. Cornea. 2. Iris."
    """
    texts = tokens.texts
    found = [
        start
        for start in tokens.sentence_starts
        if start + 2 < len(texts) and texts[start].isdigit() and texts[start + 1] == "." and tokens.gap(start + 2)
    ]
    if len(found) < 2 or [texts[start] for start in found] != [str(k + 1) for k in range(len(found))]:
        return frozenset()
    pictured = all(names_examination(tokens, start + 2, len(texts)) for start in found)
    return frozenset(found) if pictured else frozenset()


def _without_sums(tokens: Tokens, found: list[Mention]) -> list[Mention]:
    """The mentions without sums of lengths, "(A + B)": sums that name panels have others beside them, "(C + D)"."""
    kept: list[Mention] = []
    for mention in found:
        if "+" in tokens.texts[mention.first : mention.last + 1]:
            first, last = mention.items[0][0][0], mention.items[-1][0][0]
            letters = [item[0][0] for other in found if not other.positional for item in other.items]
            if not any(is_ascending(last, letter) or is_ascending(letter, first) for letter in letters):
                continue
        kept.append(mention)
    return kept


def _cited(tokens: Tokens, index: int) -> bool:
    """Say whether the bracket at `index` follows a figure number: "Fig. 2 (a)", "Figure 3(B)"."""
    texts = tokens.texts
    if index == 0 or not texts[index - 1][0].isdigit():
        return False
    before = index - 2
    if before >= 0 and texts[before] == ".":
        before -= 1
    return before >= 0 and texts[before].lower() in {"fig", "figs", "figure", "figures", "table", "ref"}


def _is_prefix(tokens: Tokens, index: int, closing: int) -> bool:
    """Say whether a bracket within a sentence begins a compound: "only (E)-hex-2-enal"."""
    texts = tokens.texts
    if index == 0 or closing + 2 >= len(texts) or texts[closing + 1] not in DASHES:
        return False
    joined = not tokens.gap(closing + 1) and not tokens.gap(closing + 2)
    follower = texts[closing + 2][0]
    return joined and (follower.islower() or follower.isdigit()) and texts[index - 1] not in {".", ";", ":"}


def _bracket_mention(tokens: Tokens, index: int, sentence_starts: set[int]) -> Mention | None:
    """A mention in brackets: "(A)", "((a), (b))", "(a) and (b)", "(A)-(C)", "(image C)", "(C, 200x)", "(left)"."""
    closing = tokens.partners[index]
    if closing < 0 or _cited(tokens, index) or _is_prefix(tokens, index, closing):
        return None
    texts = tokens.texts
    inner = index + 1
    if texts[inner].lower() in PANEL_NOUNS:
        inner += 1
        if inner < closing and texts[inner] == ".":
            inner += 1
    items, end = parsed_list(tokens, inner, closing)
    if items and end < closing and [text.lower() for text in texts[end:closing]] in _RESPECTIVELY:
        return made_mention(tokens, items, Form.BRACKETS, (index, closing), sentence_starts)
    marked = closing == inner + 2 and (texts[inner + 1] == "." or texts[inner + 1] in DASHES)
    if marked and texts[inner].isalpha() and is_identifier(texts[inner]):
        items, end = [(texts[inner], "")], closing  # "(a-)", "(A.)"
    if items and "+" in texts[inner:end] and _in_formula(tokens, index, closing):
        return None
    if items and end == closing:
        classed = index > 0 and texts[index - 1].lower() in _CLASS_NOUNS
        classed = classed and not (index > 1 and texts[index - 2] in DASHES)  # "wild-type (i)"
        if classed and all(first.isdigit() or first.lower() in ROMAN_RANK for first, _ in items):
            return None  # "stage (II)"
        return _extended(tokens, items, index, closing, sentence_starts)
    placed = _place_within(tokens, index, closing, sentence_starts)
    if placed is not None:
        return placed.mention
    return _partial_mention(tokens, index, closing, items, end, sentence_starts)


@dataclass(frozen=True, slots=True)
class _Placed:
    """What a bracket with a word of place is: a mention, or none where it tells a place within one picture."""

    mention: Mention | None


def _place_within(tokens: Tokens, index: int, closing: int, sentence_starts: set[int]) -> _Placed | None:
    """The mention of a bracket that begins with a word of place; None for other brackets."""
    texts = tokens.texts
    items, end, noun = parsed_places(tokens, index + 1, closing)
    described = [text.lower() for text in texts[end : closing - 1]]
    pictured = 0 < len(described) < _IMAGE_WORDS and texts[closing - 1].lower() in PANEL_NOUNS
    if items and pictured and BINDING.isdisjoint(described):
        end, noun = closing, True  # "(left MIP image)"
    if items and (end == closing or texts[end] in {",", ";", ":"}):
        if end == closing and not noun and within_picture(tokens, index):
            return _Placed(None)
        return _Placed(_placed_bracket(tokens, index, closing, items, end, sentence_starts))
    if beside := place_in_brackets(tokens, index, closing):
        return _Placed(made_mention(tokens, beside, Form.BRACKETS, (index, closing), sentence_starts, positional=True))
    return None


def _in_formula(tokens: Tokens, index: int, closing: int) -> bool:
    """Say whether a bracket with a sum stands in a formula: "C(A+B)", "(A+B / C)", "[a + b + c]/3"."""
    texts = tokens.texts
    after = texts[closing + 1] if closing + 1 < len(texts) else ""
    before = texts[index - 1] if index else ""
    attached = bool(before) and before[0].isalnum() and not tokens.gap(index)
    return attached or before in _OPERATORS or after in _OPERATORS or "/" in texts[index:closing]


def _placed_bracket(
    tokens: Tokens, index: int, closing: int, items: list[Item], end: int, sentence_starts: set[int]
) -> Mention | None:
    """A mention by place, whose words end at token `end`: "(left)", "(left: OCT; right: FA)", "(left, OCT)"."""
    texts = tokens.texts
    if end == closing:
        return made_mention(tokens, items, Form.BRACKETS, (index, closing), sentence_starts, positional=True)
    if texts[end] == ":":
        if texts[end + 1][0].isdigit():
            return None  # "(right: 2, left: 3)": measures of two sides
        return made_mention(tokens, items, Form.DELIMITED, (index, end), sentence_starts, positional=True)
    if texts[end] == "," and any(
        texts[at] == ";" and texts[at + 1].lower() in PLACES for at in range(end + 1, min(closing, end + LONGEST_LIST))
    ):
        # "(left panel, mean; right panel, single eyes)"
        return made_mention(tokens, items, Form.DELIMITED, (index, end), sentence_starts, positional=True)
    cut = (tokens.starts[index + 1], tokens.ends[end])
    return made_mention(tokens, items, Form.PARTIAL, (index, closing), sentence_starts, [cut], True)


def _extended(tokens: Tokens, items: list[Item], index: int, closing: int, sentence_starts: set[int]) -> Mention:
    """Joins "(a) and (b)", "(a), (b)" and "(a)-(c)" to one mention when nothing else stands between the brackets."""
    texts, count = tokens.texts, len(tokens.texts)
    last = closing
    while last + 1 < count and last - index < LONGEST_LIST:
        opening = last + 1
        is_range = texts[opening] in DASHES or texts[opening] in THROUGH
        while opening < count and opening - last <= 2 and (texts[opening].lower() in JOINERS or is_range):
            opening += 1
            if is_range:
                break
        if opening >= count or texts[opening] not in OPENING or tokens.partners[opening] < 0:
            break
        more, end = parsed_list(tokens, opening + 1, tokens.partners[opening])
        if not more or end != tokens.partners[opening] or all(first.isdigit() for first, _ in more):
            break
        if not is_ascending(items[-1][1] or items[-1][0], more[0][0]):
            break  # "(H & E) and (B)"
        if is_range:
            if items[-1][1] or more[0][1] or not same_shape(items[-1][0], more[0][0]):
                break
            items[-1] = (items[-1][0], more[0][0])
            items.extend(more[1:])
        else:
            items.extend(more)
        last = end
    return made_mention(tokens, items, Form.BRACKETS, (index, last), sentence_starts)


def _is_magnification(texts: Sequence[str]) -> bool:
    """Say whether the rest of a bracket is a magnification: "× 100", "400x", "x200"."""
    rest = "".join(texts)
    return _MAGNIFICATION.fullmatch(rest) is not None


def _partial_mention(
    tokens: Tokens, index: int, closing: int, items: list[Item], end: int, sentence_starts: set[int]
) -> Mention | None:
    """Identifiers at the beginning or end of a bracket with other text: "(C, 200x)", "(anti-CD34, E-H)"."""
    texts = tokens.texts
    if items and _is_magnification(texts[end:closing]) and items[0][0][0].isalpha():
        # "(H × 100)", "(B 400x)"
        cut = (tokens.starts[index + 1], tokens.ends[end - 1])
        return made_mention(tokens, items, Form.PARTIAL, (index, closing), sentence_starts, [cut])
    if items and end < closing and texts[end] in {",", ";", ":", "="} and not items[0][0].isdigit():
        if texts[end] == ":":
            # "(A and C: 100x; B and D: 400x)": the bracket holds a list of its own
            return made_mention(tokens, items, Form.DELIMITED, (index, end), sentence_starts)
        if any(
            texts[at] in {";", ","}
            and (texts[at] == ";" or texts[end] == "=")
            and is_identifier(texts[at + 1])
            and texts[at + 2] == texts[end]
            for at in range(end + 1, min(closing, end + LONGEST_LIST) - 2)
        ):
            # "(A, right eye; B, left eye)"
            return made_mention(tokens, items, Form.DELIMITED, (index, end), sentence_starts)
        if texts[end] == "=":
            return None
        cut = (tokens.starts[index + 1], tokens.ends[end])
        return made_mention(tokens, items, Form.PARTIAL, (index, closing), sentence_starts, [cut])
    # the list at the end: find the last separator that only a list follows
    for start in range(closing - 1, max(index, closing - _LONGEST_TAIL), -1):
        if texts[start] in {",", ";"}:
            inner = start + 1
            noun = inner < closing and texts[inner].lower() in PANEL_NOUNS
            if noun:
                inner += 1
            tail, tail_end = parsed_list(tokens, inner, closing)
            if not tail or tail_end != closing or tail[0][0].isdigit():
                return None
            if is_identifier(texts[start - 1]) and not noun:
                continue  # inside the list
            cut = (tokens.starts[start], tokens.ends[closing - 1])
            return made_mention(tokens, tail, Form.PARTIAL, (index, closing), sentence_starts, [cut])
    return None


def _numbered_head(tokens: Tokens, index: int, sentence_starts: set[int]) -> Mention | None:
    """ "1A: Text", "2b) Text", "3C. Text" at a sentence start: the figure's number before the letter."""
    texts = tokens.texts
    if index + 2 >= len(texts) or texts[index + 1] not in {":", ")", "."} or tokens.gap(index + 1):
        return None
    return made_mention(tokens, [(texts[index][-1], "")], Form.DELIMITED, (index, index + 1), sentence_starts)


def _is_hung(tokens: Tokens, end: int) -> bool:
    """Say whether a dash without a space behind it stands for a colon: "A—Text", "A -Text", not "A-scan", "A – B"."""
    texts = tokens.texts
    if end + 1 >= len(texts) or texts[end] not in DASHES or tokens.gap(end + 1) or not texts[end + 1][0].isalnum():
        return False
    return texts[end] == _LONG_DASH or tokens.gap(end)


def _opens_list(tokens: Tokens, index: int, end: int) -> bool:
    """Say whether panels are listed behind a colon: "The steps: A, raw image; B, threshold", not "Groups: A, B"."""
    texts = tokens.texts
    dashed = texts[end] in DASHES and tokens.gap(end)
    dotted = texts[end] == "." and end + 1 < len(texts) and tokens.gap(end + 1) and texts[end + 1][0].islower()
    if texts[index - 1] != ":" or not (texts[end] == "," or dashed or dotted) or end + 1 >= len(texts):
        return False
    follower = texts[end + 1]
    return follower[0].isalnum() and not is_identifier(follower) and texts[index - 2].lower() not in _CLASS_NOUNS


def _in_key(tokens: Tokens, index: int) -> bool:
    """Say whether a list that explains letters goes on at `index`: "Materials: A, agar; B, collagen"."""
    texts = tokens.texts
    for at in range(index - 1, max(0, index - LONGEST_LIST), -1):
        if texts[at] == ":":
            return texts[at - 1].lower() in _KEYS
        if texts[at] == ".":
            return False
    return False


def _continued_mention(tokens: Tokens, index: int, sentence_starts: set[int], before: Mention) -> Mention | None:
    """The next identifier of a list whose first one is printed the same way: "A, Horizontal and B, vertical scans"."""
    texts, count = tokens.texts, len(tokens.texts)
    if before.positional or before.form not in {Form.DELIMITED, Form.BARE}:
        return None
    small = before.form is Form.BARE and texts[index].islower() and index + 1 < count and texts[index + 1][0].isupper()
    if small and follows(before.items[-1], (texts[index], "")) and tokens.gap(index + 1):
        return made_mention(
            tokens, [(texts[index], "")], Form.BARE, (index, index), sentence_starts
        )  # "d OCT e Angiogram"
    if before.form is Form.BARE and texts[index - 1] in CLOSING and follows(before.items[-1], (texts[index], "")):
        headed = (
            texts[index].isupper() and index + 1 < count and texts[index + 1][0].isupper() and tokens.gap(index + 1)
        )
        if headed:  # "A Alca torda (female) B Uria aalge"
            return made_mention(tokens, [(texts[index], "")], Form.BARE, (index, index), sentence_starts | {index})
    parted = before.form is Form.DELIMITED and texts[index - 1] == ":"  # "C. Stage: text, D. Source: E. Camera"
    broken = before.form is Form.DELIMITED and texts[before.last] == ":" and texts[index - 1].lower() not in BINDING
    broken = broken and index + 2 < count and texts[index + 1] == ":" and texts[index + 2][0].isupper()
    if index == 0 or (texts[index - 1].lower() not in _LIST_LINKS and not parted and not broken):
        return None  # broken: "A: Right eye B: Left eye", in lines of their own once
    if is_identifier(texts[index - 2]) and not texts[index - 2].isdigit():
        return None  # within a list; "factor 1, C. Loadings of factor 2" is none
    items, end = parsed_list(tokens, index, count)
    if not items or end + 1 >= count or not follows(before.items[-1], items[0]):
        return None
    if before.form is Form.BARE:
        bare = tokens.gap(end) and texts[end][0].isalnum()
        if bare and texts[before.last + 1].lower() in SHOWING_VERBS and texts[end] in ARTICLES:
            sentence_starts = sentence_starts | {index}  # "A shows the wild type and B a mutant"
        return made_mention(tokens, items, Form.BARE, (index, end - 1), sentence_starts) if bare else None
    follower = texts[end + 1]
    spaced = tokens.gap(end + 1) or _is_hung(tokens, end)
    if texts[end] != texts[before.last] or not spaced or not follower[0].isalnum():
        return None
    if is_identifier(follower) or follower.lower() in CONJUNCTIONS or _in_key(tokens, index):
        return None  # "hepatitis A, B, and C"
    return made_mention(tokens, items, Form.DELIMITED, (index, end), sentence_starts)


def _rare_mention(tokens: Tokens, index: int, sentence_starts: set[int]) -> Mention | None:
    """ "of A, Text; B, Text" within a sentence, "a.) Text", and "…: A–F." at the end."""
    texts, follower = tokens.texts, index + 1
    if index > 1 and texts[index - 1] == ":" and texts[index - 2].lower() not in _CLASS_NOUNS | _KEYS:
        listed, end = parsed_list(tokens, index, len(texts))
        if (
            len(listed) == 1 and listed[0][1] and texts[end:] in ([], ["."])
        ):  # "Six eyes with vitelliform lesions: A–F."
            return made_mention(tokens, listed, Form.BRACKETS, (index, end - 1), sentence_starts)
    items: list[Item] = [(texts[index], "")]
    if _opens_series(tokens, index):
        return made_mention(tokens, items, Form.DELIMITED, (index, follower), sentence_starts)
    halved = follower + 1 < len(texts) and texts[follower] == "." and texts[follower + 1] == ")"
    if halved and not tokens.gap(follower) and not tokens.gap(follower + 1) and tokens.partners[follower + 1] < 0:
        return made_mention(tokens, items, Form.HALF, (index, follower + 1), sentence_starts)
    return None


def _opens_series(tokens: Tokens, index: int) -> bool:
    """Say whether "A" begins a list within a sentence: "Structures of A, ranibizumab; B, brolucizumab".

    The delimiter of the first one is that of the second: "cells with A: saline, B: drug for a day".
    """
    texts, count = tokens.texts, len(tokens.texts)
    if texts[index] not in {"A", "a"} or index == 0 or index + 2 >= count or texts[index + 1] not in {",", ":"}:
        return False
    if texts[index - 1].lower() not in PREPOSITIONS or is_identifier(texts[index + 2]):
        return False
    follower = "B" if texts[index] == "A" else "b"
    for at in range(index + 3, min(count - 2, index + _LONGEST_ITEM)):
        if texts[at] == ".":
            return False
        if texts[at] == follower:
            listed = texts[at - 1].lower() in _LIST_LINKS and texts[at + 1] == texts[index + 1] and tokens.gap(at + 2)
            return listed and not is_identifier(texts[at + 2])
    return False


def _heads_after_title(tokens: Tokens, index: int) -> bool:
    """Say whether a caption's first head follows a title that lost its full stop: "Sections of mouse retinas A: Text".

    Only the first letter is read so: the series then goes on at the starts of sentences.
    """
    texts = tokens.texts
    if texts[index] not in {"A", "a"} or index + 2 >= len(texts):
        return False
    if texts[index + 1] == "," and _goes_on_later(tokens, index):
        spaced = tokens.gap(index) and tokens.gap(index + 2)
        return spaced and texts[index - 1][0].isalnum() and texts[index + 2][0].isupper()
    if texts[index + 1] not in {":", "."}:
        return False
    before, after = texts[index - 1], texts[index + 2]
    return (
        before.isalpha()
        and before.islower()
        and before not in BINDING | PANEL_NOUNS
        and tokens.gap(index)
        and tokens.gap(index + 2)
        and not tokens.gap(index + 1)
        and after[0].isupper()
        and (len(after) > 1 or any(text.islower() for text in texts[index + 3 : index + 4]))  # "A: A scan"
    )


def _ranged_after_title(tokens: Tokens, index: int, sentence_starts: set[int]) -> Mention | None:
    """The caption's first range behind a title that lost its full stop: "Analysis by ultracentrifugation a–b, Text"."""
    texts = tokens.texts
    if texts[index] not in {"A", "a"} or not texts[index - 1].isalpha() or not texts[index - 1].islower():
        return None
    if texts[index - 1] in BINDING | PANEL_NOUNS | _CLASS_NOUNS:
        return None
    items, end = parsed_list(tokens, index, len(texts))
    if len(items) != 1 or not items[0][1] or end + 1 >= len(texts) or texts[end] not in {",", ":"}:
        return None
    follower = texts[end + 1]
    if not follower[0].isupper() or len(follower) < 2 or not tokens.gap(end + 1):
        return None
    return made_mention(tokens, items, Form.DELIMITED, (index, end), sentence_starts | {index})


def _goes_on_later(tokens: Tokens, index: int) -> bool:
    """Say whether the letter after the one at `index` opens a later sentence before the same sign: "… a, X. b, Y"."""
    texts = tokens.texts
    following = chr(ord(texts[index]) + 1)
    return any(
        texts[start : start + 2] == [following, texts[index + 1]] for start in tokens.sentence_starts if start > index
    )


def _open_mention(tokens: Tokens, index: int, sentence_starts: set[int], *, lenient: bool) -> Mention | None:
    """Identifiers without an opening bracket: "A)", "A.", "A:", "A, text", "A Text"."""
    texts, count = tokens.texts, len(tokens.texts)
    at_sentence = index in sentence_starts or index == 0 or (lenient and texts[index - 1] == ".")
    opens = opens_clause(tokens, index, sentence_starts)
    follower = index + 1
    if not opens and not (follower < count and (texts[follower] in CLOSING or texts[follower][0].isupper())):
        # nothing but "tissue B) Text" and "title a Text" is possible inside a clause
        return None
    items, end = parsed_list(tokens, index, count)
    if not items or end == count:
        return None
    digits = any(first.isdigit() for first, _ in items)
    delimiter = texts[end]
    if delimiter == ")":
        opening = tokens.partners[end]
        if tokens.gap(end) or (opening >= 0 and not at_sentence):
            return None
        return made_mention(tokens, items, Form.HALF, (index, end), sentence_starts)
    if (digits and not lenient and not delimiter[0].isupper()) or (
        end + 2 < count and texts[end + 1] in {"p", "P"} and texts[end + 2] in "<=>≤≥"
    ):
        return None  # "a: p < 0.05", a footnote
    if opens and (delimiter == ":" or (delimiter == "=" and index and texts[index - 1] in {",", ";"})):
        mention = made_mention(tokens, items, Form.DELIMITED, (index, end), sentence_starts)
        return replace(mention, equated=delimiter == "=")
    listed = index > 0 and (texts[index - 1] == ";" or _opens_list(tokens, index, end))
    strict = at_sentence or (listed and not _in_key(tokens, index))
    if strict and delimiter == "." and end + 1 < count and tokens.gap(end + 1):
        return made_mention(tokens, items, Form.DELIMITED, (index, end), sentence_starts)
    closed = len(items) == 1 or texts[end - 2].lower() in {"and", "&", "→"} or texts[end - 2] in DASHES
    closed = closed or (at_sentence and end + 1 < count and texts[end + 1][0].isupper())  # "c,d, AUROC"
    closed = closed or (delimiter in DASHES and is_long_list(items))  # "; E, F, G – Neurons"
    closed = closed or delimiter == _LONG_DASH
    spaced = (delimiter == "," or delimiter in DASHES) and end + 1 < count and tokens.gap(end + 1)
    if strict and closed and (spaced or _is_hung(tokens, end)):
        return made_mention(tokens, items, Form.DELIMITED, (index, end), sentence_starts)
    if not tokens.gap(end):
        return None
    if at_sentence and (delimiter[0].isalnum() or delimiter in OPENING or not delimiter.isascii()):
        # "A, B and C represent …" names panels without any other mention; "a, b and c differ" does not
        listed = len(items) > FEW and delimiter.lower() in SHOWING_VERBS
        return made_mention(tokens, items, Form.DELIMITED if listed else Form.BARE, (index, end - 1), sentence_starts)
    written = delimiter[0].isupper() or (delimiter[0].isdigit() and delimiter[-1].isupper())  # "b 3D-FLAIR"
    if texts[index] in FIRST_LETTERS and written and len(items) == 1:
        return made_mention(tokens, items, Form.BARE, (index, end - 1), sentence_starts)
    return None
