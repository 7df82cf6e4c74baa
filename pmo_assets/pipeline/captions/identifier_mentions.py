"""Mentions of panel identifiers in a caption: identifiers, or words of place, that may stand for panels.

Words that only look like identifiers ("(n = 3)", "vitamin A", "Figure 2A", "(N)" for a normal gland) are not told apart
by a list of such things but by two positive conditions: an identifier stands where identifiers stand (alone in
brackets, before a delimiter at a clause start, after "panel") and belongs to a series that begins at its beginning
(A, B, C ...; i, ii, iii ...; left, right). This module sees to the first; the second is `election`'s.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from pmo_assets.pipeline.captions.identifier_lists import (
    FEW,
    JOINERS,
    LONGEST_IDENTIFIER,
    LONGEST_LIST,
    THROUGH,
    Item,
    after_joiners,
    follows,
    is_ascending,
    is_identifier,
    is_long_list,
    parsed_list,
    same_shape,
)
from pmo_assets.pipeline.captions.phrases import BINDING, CONJUNCTIONS
from pmo_assets.pipeline.captions.places import (
    ORDINALS,
    PLACE_NOUNS,
    PLACES,
    parsed_places,
    place_in_brackets,
    within_picture,
)
from pmo_assets.pipeline.captions.series import ROMAN_RANK
from pmo_assets.pipeline.captions.tokens import CLOSING, DASHES, OPENING, Tokens, words


class Form(Enum):
    """Printed form of a mention."""

    BRACKETS = "(A)"
    HALF = "A)"
    DELIMITED = "A. or A: or A,"
    BARE = "A Text"
    PARTIAL = "(A, 200x)"
    NOUN = "panel A"


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
        begins: stands at the start of a sentence.
        positional: the items are words of place ("left").
        initial: a letter in brackets that the word before it begins with: "cornea (C)".
    """

    items: tuple[Item, ...]
    form: Form
    first: int
    last: int
    start: int
    end: int
    cuts: tuple[tuple[int, int], ...]
    opens: bool
    positional: bool = False
    begins: bool = False
    initial: bool = False


PANEL_NOUNS: Final = words(
    "panel panels image images subfigure subfigures subpanel subpanels plate plates picture pictures figure figures "
    "fig figs photo photos photograph photographs slide slides"
)
_FIGURE_NOUNS: Final = frozenset({"figure", "fig"})
_NUMBERED: Final = re.compile(r"([0-9]{1,2})([A-Za-z])")
_MAGNIFICATION: Final = re.compile(r"(?i:[x×]\d[\d,.]*|\d[\d,.]*[x×])")
_NAMED_NOUNS: Final = words("panel panels subfigure subfigures subpanel subpanels plate plates")
_REFERRING: Final = frozenset({"in", "from", "see", "of"})
_STEP_NOUNS: Final = frozenset({"step", "stage", "panel", "image", "row", "column"})
_GRID_NOUNS: Final = frozenset({"row", "rows", "column", "columns"})


# As printed at the start of and inside a sentence.
_NAMING_WORDS: Final = frozenset(
    form
    for word in PANEL_NOUNS | PLACES | ORDINALS | _STEP_NOUNS | _GRID_NOUNS
    for form in (word, word.capitalize(), word.upper())
)


_RESPECTIVELY: Final = (["respectively"], [",", "respectively"])
_CLASS_NOUNS: Final = words("stage stages type types grade grades class classes group groups lead leads")


# What stands before a list that explains letters in the figure: "Materials: A, agar; B, collagen".
_KEYS: Final = words("materials key legend abbreviations labels symbols components")


_SIDE_NOUNS: Final = words("side half part")  # of what the picture shows as often as of the figure
_CLAUSE_LINKS: Final = words("and while whereas but")
_SHOWING_VERBS: Final = words(
    "shows show is are displays display depicts depict demonstrates demonstrate illustrates illustrate presents "
    "present represents represent reveals reveal contains contain"
)
_LIST_LINKS: Final = frozenset({",", ";", "and", "&", "while", "whereas"})
_CLAUSE_BREAKS: Final = frozenset({".", ";", ":", "!", "?", ","})

_INITIALS: Final = 2
"""Words before a letter in brackets that it may abbreviate."""

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
    index = 0
    while index < count:
        text = texts[index]
        mention: Mention | None = None
        if text in OPENING:
            mention = _bracket_mention(tokens, index, sentence_starts)
        else:
            if text in _NAMING_WORDS:
                mention = _noun_mention(tokens, index, sentence_starts, found[-1] if found else None)
            if mention is None and index in sentence_starts and _NUMBERED.fullmatch(text):
                mention = _numbered_head(tokens, index, sentence_starts)
            if mention is None and len(text) <= LONGEST_IDENTIFIER and is_identifier(text):
                mention = _open_mention(tokens, index, sentence_starts, lenient=lenient)
                if mention is None and not found and _heads_after_title(tokens, index):
                    mention = _made(tokens, [(text, "")], Form.DELIMITED, (index, index + 1), sentence_starts)
                if mention is None and found:
                    mention = _continued_mention(tokens, index, sentence_starts, found[-1])
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
    items: list[Item],
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
    begins = first == 0 or first in sentence_starts
    initial = form is Form.BRACKETS and not opens and _is_initial(tokens, items, first)
    return Mention(tuple(items), form, first, last, start, end, kept, opens, positional, begins, initial)


def _is_initial(tokens: Tokens, items: Sequence[Item], first: int) -> bool:
    """Say whether a word before token `first` begins with the only letter of a list: "cornea (C)", "iris root (I)"."""
    (letter, last), *more = items
    if more or last or len(letter) > 1:
        return False
    before = tokens.texts[max(0, first - _INITIALS) : first]
    return any(len(text) > 1 and text[0].lower() == letter.lower() for text in before)


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
        return _made(tokens, items, Form.BRACKETS, (index, closing), sentence_starts)
    if items and end == closing:
        classed = index > 0 and texts[index - 1].lower() in _CLASS_NOUNS
        if classed and all(first.isdigit() or first.lower() in ROMAN_RANK for first, _ in items):
            return None  # "stage (II)"
        return _extended(tokens, items, index, closing, sentence_starts)
    place_items, place_end, _ = parsed_places(tokens, index + 1, closing)
    if place_items and (place_end == closing or texts[place_end] in {",", ";", ":"}):
        return _placed_bracket(tokens, index, closing, place_items, place_end, sentence_starts)
    if beside := place_in_brackets(tokens, index, closing):
        return _made(tokens, beside, Form.BRACKETS, (index, closing), sentence_starts, positional=True)
    return _partial_mention(tokens, index, closing, items, end, sentence_starts)


def _placed_bracket(
    tokens: Tokens, index: int, closing: int, items: list[Item], end: int, sentence_starts: set[int]
) -> Mention | None:
    """A mention by place, whose words end at token `end`: "(left)", "(left: OCT; right: FA)", "(left, OCT)"."""
    texts = tokens.texts
    if end == closing:
        if within_picture(tokens, index):
            return None
        return _made(tokens, items, Form.BRACKETS, (index, closing), sentence_starts, positional=True)
    if texts[end] == ":":
        if texts[end + 1][0].isdigit():
            return None  # "(right: 2, left: 3)": measures of two sides
        return _made(tokens, items, Form.DELIMITED, (index, end), sentence_starts, positional=True)
    cut = (tokens.starts[index + 1], tokens.ends[end])
    return _made(tokens, items, Form.PARTIAL, (index, closing), sentence_starts, [cut], True)


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
    return _made(tokens, items, Form.BRACKETS, (index, last), sentence_starts)


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
        return _made(tokens, items, Form.PARTIAL, (index, closing), sentence_starts, [cut])
    if items and end < closing and texts[end] in {",", ";", ":", "="} and not items[0][0].isdigit():
        if texts[end] == ":":
            # "(A and C: 100x; B and D: 400x)": the bracket holds a list of its own
            return _made(tokens, items, Form.DELIMITED, (index, end), sentence_starts)
        if any(
            texts[at] in {";", ","}
            and (texts[at] == ";" or texts[end] == "=")
            and is_identifier(texts[at + 1])
            and texts[at + 2] == texts[end]
            for at in range(end + 1, min(closing, end + LONGEST_LIST) - 2)
        ):
            # "(A, right eye; B, left eye)"
            return _made(tokens, items, Form.DELIMITED, (index, end), sentence_starts)
        if texts[end] == "=":
            return None
        cut = (tokens.starts[index + 1], tokens.ends[end])
        return _made(tokens, items, Form.PARTIAL, (index, closing), sentence_starts, [cut])
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
            return _made(tokens, tail, Form.PARTIAL, (index, closing), sentence_starts, [cut])
    return None


def _noun_mention(tokens: Tokens, index: int, sentence_starts: set[int], before: Mention | None) -> Mention | None:
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
    if lowered in _GRID_NOUNS and opens and index + 1 < count and texts[index + 1] not in OPENING:
        items, end = parsed_list(tokens, index + 1, min(count, index + 1 + LONGEST_LIST))
        if items and end < count and texts[end] == ":" and all(first[0].isalpha() for first, _ in items):
            return _made(tokens, items, Form.DELIMITED, (index, end), sentence_starts)  # "Row a: OCT, row b: FA"
    if lowered in PANEL_NOUNS:
        inner = index + 1
        if numbered := _numbered_mention(tokens, index, sentence_starts):
            return numbered
        referred = index > 0 and texts[index - 1].lower() in _REFERRING
        if inner < count and texts[inner] == "(" and lowered not in _NAMED_NOUNS and not referred:
            return None  # "photograph (A) and OCT (B)": described, not named as in "shown in images (A) and (B)"
        items, end = parsed_list(tokens, inner, min(count, inner + LONGEST_LIST))
        if not items or any(first.isdigit() for first, _ in items):
            return None
        if items == [("a", "")] and texts[index].islower() and texts[inner] == "a":
            return None  # "image a ...": the article
        dashed = end + 1 < count and texts[end] in DASHES and tokens.gap(end) and tokens.gap(end + 1)
        if opens and end < count and (texts[end] in {":", ")"} or dashed):
            return _made(tokens, items, Form.DELIMITED, (index, end), sentence_starts)
        if opens and texts[inner] in OPENING and end < count and texts[end][0].isupper():
            return _made(tokens, items, Form.BRACKETS, (index, end - 1), sentence_starts)  # "Panel (A) Text"
        if opens and end < count and texts[end] == "." and end + 1 < count and texts[end + 1][0].isupper():
            return _made(tokens, items, Form.DELIMITED, (index, end), sentence_starts)
        return _made(tokens, items, Form.NOUN, (index, end - 1), sentence_starts, [])
    return _place_mention(tokens, index, sentence_starts, before)


def _numbered_mention(tokens: Tokens, index: int, sentence_starts: set[int]) -> Mention | None:
    """ "Figure 1A shows ...", "In Fig. 1B, ...": a number before the letter, in the subject of a sentence."""
    texts = tokens.texts
    start = index - 1 if index and texts[index - 1].lower() == "in" else index
    at = index + 2 if texts[index + 1 : index + 2] == ["."] else index + 1
    if texts[index].lower() not in _FIGURE_NOUNS or at + 1 >= len(texts):
        return None
    if start not in sentence_starts:
        if not _is_title_end(texts, index, texts[at + 1]):
            return None
        sentence_starts = sentence_starts | {index}
    if texts[at].isdigit() and texts[at + 1][0].isalpha():
        # "Figure 2 D–F are samples"
        items, end = parsed_list(tokens, at + 1, len(texts))
        letters = items != [("a", "")] and all(first.isalpha() for first, _ in items)
        return _made(tokens, items, Form.NOUN, (index, end - 1), sentence_starts, []) if items and letters else None
    found = _NUMBERED.fullmatch(texts[at])
    if found is None:
        return None
    items = [(found[2], "")]
    while at + 1 < len(texts):  # "Figures 2A, 2B and 2C are"
        joined = after_joiners(tokens, at + 1, len(texts), JOINERS - THROUGH)
        more = _NUMBERED.fullmatch(texts[joined]) if at + 1 < joined < len(texts) else None
        if more is None or more[1] != found[1] or not is_ascending(items[-1][0], more[2]):
            break
        items.append((more[2], ""))
        at = joined
    return _made(tokens, items, Form.NOUN, (index, at), sentence_starts, [])


def _numbered_head(tokens: Tokens, index: int, sentence_starts: set[int]) -> Mention | None:
    """ "1A: Text", "2b) Text", "3C. Text" at a sentence start: the figure's number before the letter."""
    texts = tokens.texts
    if index + 2 >= len(texts) or texts[index + 1] not in {":", ")", "."} or tokens.gap(index + 1):
        return None
    return _made(tokens, [(texts[index][-1], "")], Form.DELIMITED, (index, index + 1), sentence_starts)


def _is_title_end(texts: Sequence[str], index: int, follower: str) -> bool:
    """Say whether a title without full stop ends before the "Figure" at `index`: "… of the scans Figure 1A shows"."""
    before = texts[index - 1] if index else ""
    opening = before.isalpha() and before.lower() not in BINDING | _REFERRING and texts[index][0].isupper()
    return opening and follower.lower() in _SHOWING_VERBS


def _place_mention(tokens: Tokens, index: int, sentence_starts: set[int], before: Mention | None) -> Mention | None:
    """ "Left:", "The left panel shows", "On the left," outside brackets."""
    texts, count = tokens.texts, len(tokens.texts)
    opens = _opens(tokens, index, sentence_starts)
    items, end, noun = parsed_places(tokens, index, count)
    if not items or (end + 1 < count and texts[end].lower() == "of" and not _is_figure(tokens, end + 1)):
        return None  # "lower part of the gland"
    if opens and end < count and texts[end] in {":", ")"}:
        return _made(tokens, items, Form.DELIMITED, (index, end), sentence_starts, positional=True)
    first = _side_phrase(tokens, index)
    if first < index and end < count and texts[end] == ":" and _opens(tokens, first, sentence_starts):
        return _made(tokens, items, Form.DELIMITED, (first, end), sentence_starts, positional=True)  # "On top: …"
    corner = texts[index - 1] == ":" if index and " " in items[0][0] else False
    listed = texts[index][0].isupper() or (index > 0 and texts[index - 1] == ";") or corner
    delimited = end + 1 < count and texts[end] in {",", "."} | DASHES and (noun or tokens.gap(end + 1))
    if opens and listed and delimited and len(items) == 1:
        return _made(tokens, items, Form.DELIMITED, (index, end), sentence_starts, positional=True)
    subject = end < count and texts[end].lower() in _SHOWING_VERBS and texts[end - 1].lower() not in _SIDE_NOUNS
    elliptic = noun and before is not None and before.positional and before.form is Form.NOUN
    elliptic = elliptic and texts[end - 1].lower() not in _SIDE_NOUNS
    subject = (subject or elliptic) and _opens_clause(tokens, index, sentence_starts)  # "..., the right image an OCT"
    if _at_side(tokens, index, end, sentence_starts):
        return _made(tokens, items, Form.NOUN, (index, end - 1), sentence_starts, [], True)
    if noun and (opens or subject or (index - 1 in sentence_starts and texts[index - 1].lower() == "the")):
        return _made(tokens, items, Form.NOUN, (index, end - 1), sentence_starts, [], True)
    return None


def _is_figure(tokens: Tokens, index: int) -> bool:
    """Say whether words from `index` on name the figure or something in it: "of the figure", "of each panel"."""
    return any(text.lower() in PANEL_NOUNS | PLACE_NOUNS for text in tokens.texts[index : index + 3])


def _opens_list(tokens: Tokens, index: int, end: int) -> bool:
    """Say whether panels are listed behind a colon: "The steps: A, raw image; B, threshold", not "Groups: A, B"."""
    texts = tokens.texts
    if texts[index - 1] != ":" or texts[end] != "," or end + 1 >= len(texts):
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
    if index == 0 or texts[index - 1].lower() not in _LIST_LINKS:
        return None
    if is_identifier(texts[index - 2]) and not texts[index - 2].isdigit():
        return None  # within a list; "factor 1, C. Loadings of factor 2" is none
    items, end = parsed_list(tokens, index, count)
    if not items or end + 1 >= count or not follows(before.items[-1], items[0]):
        return None
    if before.form is Form.BARE:
        bare = tokens.gap(end) and texts[end][0].isalnum()
        return _made(tokens, items, Form.BARE, (index, end - 1), sentence_starts) if bare else None
    follower = texts[end + 1]
    if texts[end] != texts[before.last] or not tokens.gap(end + 1) or not follower[0].isalnum():
        return None
    if is_identifier(follower) or follower.lower() in CONJUNCTIONS:
        return None  # "hepatitis A, B, and C"
    return _made(tokens, items, Form.DELIMITED, (index, end), sentence_starts)


def _side_phrase(tokens: Tokens, index: int) -> int:
    """Index of the first token of "on the left" or "at top", whose place stands at `index`; `index` without one."""
    texts = tokens.texts
    first = index - 1 if index and texts[index - 1].lower() == "the" else index
    return first - 1 if first and texts[first - 1].lower() in {"on", "at"} else index


def _at_side(tokens: Tokens, index: int, end: int, sentence_starts: set[int]) -> bool:
    """Say whether a clause begins with "On the left," or "On the right is"."""
    texts = tokens.texts
    if index < 2 or texts[index - 1].lower() != "the" or texts[index - 2].lower() not in {"on", "at"}:
        return False
    if end >= len(texts) or (texts[end] != "," and texts[end].lower() not in _SHOWING_VERBS):
        return False
    return _opens(tokens, index - 2, sentence_starts) or texts[index - 3].lower() in _CLAUSE_LINKS


def _opens_clause(tokens: Tokens, index: int, sentence_starts: set[int]) -> bool:
    """Say whether a clause begins at `index` or at the article before it: "... and the lower row shows"."""
    texts = tokens.texts
    if index and texts[index - 1].lower() == "the":
        index -= 1
    return _opens(tokens, index, sentence_starts) or texts[index - 1].lower() in _CLAUSE_LINKS


def _heads_after_title(tokens: Tokens, index: int) -> bool:
    """Say whether a caption's first head follows a title that lost its full stop: "Sections of mouse retinas A: Text".

    Only the first letter is read so: the series then goes on at the starts of sentences.
    """
    texts = tokens.texts
    if texts[index] not in {"A", "a"} or index + 2 >= len(texts) or texts[index + 1] not in {":", "."}:
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


def _open_mention(tokens: Tokens, index: int, sentence_starts: set[int], *, lenient: bool) -> Mention | None:
    """Identifiers without an opening bracket: "A)", "A.", "A:", "A, text", "A Text"."""
    texts, count = tokens.texts, len(tokens.texts)
    at_sentence = index in sentence_starts or index == 0 or (lenient and texts[index - 1] == ".")
    opens = _opens(tokens, index, sentence_starts)
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
        return _made(tokens, items, Form.HALF, (index, end), sentence_starts)
    if (digits and not lenient and not delimiter[0].isupper()) or (
        end + 2 < count and texts[end + 1] in {"p", "P"} and texts[end + 2] in "<=>≤≥"
    ):
        return None  # "a: p < 0.05", a footnote
    if opens and (delimiter == ":" or (delimiter == "=" and index and texts[index - 1] in {",", ";"})):
        return _made(tokens, items, Form.DELIMITED, (index, end), sentence_starts)
    listed = index > 0 and (texts[index - 1] == ";" or _opens_list(tokens, index, end))
    strict = at_sentence or (listed and not _in_key(tokens, index))
    if strict and delimiter == "." and end + 1 < count and tokens.gap(end + 1):
        return _made(tokens, items, Form.DELIMITED, (index, end), sentence_starts)
    closed = len(items) == 1 or texts[end - 2].lower() in {"and", "&"} or texts[end - 2] in DASHES
    closed = closed or (at_sentence and end + 1 < count and texts[end + 1][0].isupper())  # "c,d, AUROC"
    closed = closed or (delimiter in DASHES and is_long_list(items))  # "; E, F, G – Neurons"
    if strict and (delimiter == "," or delimiter in DASHES) and end + 1 < count and tokens.gap(end + 1) and closed:
        return _made(tokens, items, Form.DELIMITED, (index, end), sentence_starts)
    if not tokens.gap(end):
        return None
    if at_sentence and (delimiter[0].isalnum() or delimiter in OPENING or not delimiter.isascii()):
        # "A, B and C represent …" names panels without any other mention; "a, b and c differ" does not
        listed = len(items) > FEW and delimiter.lower() in _SHOWING_VERBS
        return _made(tokens, items, Form.DELIMITED if listed else Form.BARE, (index, end - 1), sentence_starts)
    if texts[index] in {"a", "b", "c", "d"} and delimiter[0].isupper() and len(items) == 1:
        return _made(tokens, items, Form.BARE, (index, end - 1), sentence_starts)
    return None
