"""Mentions of panels by a noun or a place: "panel B shows", "Left:", "The left panel shows", "Figure 1A shows"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pmo_assets.pipeline.captions.identifier_lists import (
    JOINERS,
    LONGEST_LIST,
    THROUGH,
    after_joiners,
    is_ascending,
    parsed_list,
)
from pmo_assets.pipeline.captions.mention import Form, Mention, made_mention, opens_clause
from pmo_assets.pipeline.captions.phrases import ARTICLES, BINDING
from pmo_assets.pipeline.captions.places import ORDINALS, PLACE_NOUNS, PLACES, parsed_places
from pmo_assets.pipeline.captions.tokens import DASHES, OPENING, Tokens, words

PANEL_NOUNS: Final = words(
    "panel panels image images subfigure subfigures subpanel subpanels plate plates picture pictures figure figures "
    "fig figs photo photos photograph photographs slide slides"
)
_FIGURE_NOUNS: Final = frozenset({"figure", "fig"})
NUMBERED: Final = re.compile(r"([0-9]{1,2})([A-Za-z])")
NAMED_NOUNS: Final = words("panel panels subfigure subfigures subpanel subpanels plate plates")
_REFERRING: Final = frozenset({"in", "from", "see", "of"})
STEP_NOUNS: Final = frozenset({"step", "stage", "panel", "image", "row", "column"})
GRID_NOUNS: Final = frozenset({"row", "rows", "column", "columns"})

# As printed at the start of and inside a sentence.
NAMING_WORDS: Final = frozenset(
    form
    for word in PANEL_NOUNS | PLACES | ORDINALS | STEP_NOUNS | GRID_NOUNS
    for form in (word, word.capitalize(), word.upper())
)

_SIDE_NOUNS: Final = words("side half part")  # of what the picture shows as often as of the figure
_CLAUSE_LINKS: Final = words("and while whereas but")
SHOWING_VERBS: Final = words(
    "shows show is are displays display depicts depict demonstrates demonstrate illustrates illustrate presents "
    "present represents represent reveals reveal contains contain"
)

FIRST_LETTERS: Final = frozenset("abcd")
"""Letters that name panels before a word with a capital, without anything between: "a Photograph b OCT"."""


def noun_mention(tokens: Tokens, index: int, sentence_starts: set[int], before: Mention | None) -> Mention | None:
    """ "panel B shows", "Left:", "The left panel shows", "Step 1: ..." outside brackets."""
    texts, count = tokens.texts, len(tokens.texts)
    lowered = texts[index].lower()
    opens = opens_clause(tokens, index, sentence_starts)
    if lowered in STEP_NOUNS and opens and index + 2 < count and texts[index + 1].isdigit() and texts[index + 2] == ":":
        name = f"{texts[index]} {texts[index + 1]}"
        return made_mention(tokens, [(name, "")], Form.DELIMITED, (index, index + 2), sentence_starts)
    if lowered in GRID_NOUNS and opens and index + 1 < count and texts[index + 1] not in OPENING:
        items, end = parsed_list(tokens, index + 1, min(count, index + 1 + LONGEST_LIST))
        if items and end < count and texts[end] == ":" and all(first[0].isalpha() for first, _ in items):
            return made_mention(tokens, items, Form.DELIMITED, (index, end), sentence_starts)  # "Row a: OCT, row b: FA"
    if lowered in PANEL_NOUNS:
        return _panel_mention(tokens, index, sentence_starts, opens=opens)
    return _place_mention(tokens, index, sentence_starts, before)


def _panel_mention(tokens: Tokens, index: int, sentence_starts: set[int], *, opens: bool) -> Mention | None:
    """ "panel B shows", "Panel (A) Text", "Figure 2B shows" from a noun of `PANEL_NOUNS` on."""
    texts, count = tokens.texts, len(tokens.texts)
    lowered = texts[index].lower()
    inner = index + 1
    if numbered := _numbered_mention(tokens, index, sentence_starts):
        return numbered
    referred = index > 0 and texts[index - 1].lower() in _REFERRING
    if inner < count and texts[inner] == "(" and lowered not in NAMED_NOUNS and not referred:
        return None  # "photograph (A) and OCT (B)": described, not named as in "shown in images (A) and (B)"
    items, end = parsed_list(tokens, inner, min(count, inner + LONGEST_LIST))
    if not items or any(first.isdigit() for first, _ in items):
        return None
    if items == [("a", "")] and texts[index].islower() and texts[inner] == "a":
        return None  # "image a ...": the article
    unlinked = lowered not in NAMED_NOUNS and index not in sentence_starts and end < count
    if unlinked and texts[end][0].isupper() and len(items) == 1 and items[0][0] in FIRST_LETTERS:
        return None  # "a Fundus photograph b OCT"
    dashed = end + 1 < count and texts[end] in DASHES and tokens.gap(end) and tokens.gap(end + 1)
    if opens and end < count and (texts[end] in {":", ")"} or dashed):
        return made_mention(tokens, items, Form.DELIMITED, (index, end), sentence_starts)
    if opens and texts[inner] in OPENING and end < count and texts[end][0].isupper():
        return made_mention(tokens, items, Form.BRACKETS, (index, end - 1), sentence_starts)  # "Panel (A) Text"
    if opens and end < count and texts[end] == "." and end + 1 < count and texts[end + 1][0].isupper():
        return made_mention(tokens, items, Form.DELIMITED, (index, end), sentence_starts)
    if lowered in NAMED_NOUNS and texts[index - 1].lower() == "in" and index - 1 in sentence_starts:
        sentence_starts = sentence_starts | {index}  # "In panels A and C …"
    return made_mention(tokens, items, Form.NOUN, (index, end - 1), sentence_starts, [])


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
        return (
            made_mention(tokens, items, Form.NOUN, (index, end - 1), sentence_starts, []) if items and letters else None
        )
    found = NUMBERED.fullmatch(texts[at])
    if found is None:
        return None
    items = [(found[2], "")]
    while at + 1 < len(texts):  # "Figures 2A, 2B and 2C are"
        joined = after_joiners(tokens, at + 1, len(texts), JOINERS - THROUGH)
        more = NUMBERED.fullmatch(texts[joined]) if at + 1 < joined < len(texts) else None
        if more is None or more[1] != found[1] or not is_ascending(items[-1][0], more[2]):
            break
        items.append((more[2], ""))
        at = joined
    return made_mention(tokens, items, Form.NOUN, (index, at), sentence_starts, [])


def _is_title_end(texts: Sequence[str], index: int, follower: str) -> bool:
    """Say whether a title without full stop ends before the "Figure" at `index`: "… of the scans Figure 1A shows"."""
    before = texts[index - 1] if index else ""
    opening = before.isalpha() and before.lower() not in BINDING | _REFERRING and texts[index][0].isupper()
    return opening and follower.lower() in SHOWING_VERBS


def _place_mention(tokens: Tokens, index: int, sentence_starts: set[int], before: Mention | None) -> Mention | None:
    """ "Left:", "The left panel shows", "On the left," outside brackets."""
    texts, count = tokens.texts, len(tokens.texts)
    opens = opens_clause(tokens, index, sentence_starts)
    items, end, noun = parsed_places(tokens, index, count)
    if not items or (end + 1 < count and texts[end].lower() == "of" and not _is_figure(tokens, end + 1)):
        return None  # "lower part of the gland"
    if opens and end < count and texts[end] in {":", ")"}:
        return made_mention(tokens, items, Form.DELIMITED, (index, end), sentence_starts, positional=True)
    first = _side_phrase(tokens, index)
    if first < index and end < count and texts[end] == ":" and opens_clause(tokens, first, sentence_starts):
        return made_mention(
            tokens, items, Form.DELIMITED, (first, end), sentence_starts, positional=True
        )  # "On top: …"
    corner = texts[index - 1] == ":" if index and " " in items[0][0] else False
    listed = texts[index][0].isupper() or (index > 0 and texts[index - 1] == ";") or corner
    delimited = end + 1 < count and texts[end] in {",", "."} | DASHES and (noun or tokens.gap(end + 1))
    if opens and listed and delimited and len(items) == 1:
        return made_mention(tokens, items, Form.DELIMITED, (index, end), sentence_starts, positional=True)
    subject = end < count and texts[end].lower() in SHOWING_VERBS and texts[end - 1].lower() not in _SIDE_NOUNS
    elliptic = noun and before is not None and before.positional and before.form is Form.NOUN
    elliptic = elliptic and texts[end - 1].lower() not in _SIDE_NOUNS
    compared = before is not None and before.positional and before.form is Form.NOUN and end < count
    if compared and texts[end].lower() in {"that", "those"} and _clause_begins(tokens, index, sentence_starts):
        return made_mention(
            tokens, items, Form.NOUN, (index, end - 1), sentence_starts, [], True
        )  # "…, the lower that of"
    subject = (subject or elliptic) and _clause_begins(tokens, index, sentence_starts)  # "..., the right image an OCT"
    if _at_side(tokens, index, end, sentence_starts, noun=noun):
        return made_mention(tokens, items, Form.NOUN, (index, end - 1), sentence_starts, [], True)
    if noun and (opens or subject or (index - 1 in sentence_starts and texts[index - 1].lower() == "the")):
        return made_mention(tokens, items, Form.NOUN, (index, end - 1), sentence_starts, [], True)
    return None


def _is_figure(tokens: Tokens, index: int) -> bool:
    """Say whether words from `index` on name the figure or something in it: "of the figure", "of each panel"."""
    return any(text.lower() in PANEL_NOUNS | PLACE_NOUNS for text in tokens.texts[index : index + 3])


def _side_phrase(tokens: Tokens, index: int) -> int:
    """Index of the first token of "on the left" or "at top", whose place stands at `index`; `index` without one."""
    texts = tokens.texts
    first = index - 1 if index and texts[index - 1].lower() == "the" else index
    return first - 1 if first and texts[first - 1].lower() in {"on", "at"} else index


def _at_side(tokens: Tokens, index: int, end: int, sentence_starts: set[int], *, noun: bool) -> bool:
    """Say whether a clause begins with "On the left,", "On the right is" or "In the left panel the"."""
    texts = tokens.texts
    if index < 2 or texts[index - 1].lower() != "the":
        return False
    panel = noun and texts[index - 2].lower() == "in" and texts[end - 1].lower() not in _SIDE_NOUNS
    if texts[index - 2].lower() not in {"on", "at"} and not panel:
        return False
    if end >= len(texts) or (
        texts[end] != "," and texts[end].lower() not in SHOWING_VERBS | (ARTICLES if panel else set())
    ):
        return False
    return opens_clause(tokens, index - 2, sentence_starts) or texts[index - 3].lower() in _CLAUSE_LINKS


def _clause_begins(tokens: Tokens, index: int, sentence_starts: set[int]) -> bool:
    """Say whether a clause begins at `index` or at the article before it: "... and the lower row shows"."""
    texts = tokens.texts
    if index and texts[index - 1].lower() == "the":
        index -= 1
    return opens_clause(tokens, index, sentence_starts) or texts[index - 1].lower() in _CLAUSE_LINKS
