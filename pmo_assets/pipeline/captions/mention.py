"""A place in a caption where identifiers may be named: what is known of it (`identifier_mentions` finds them)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from pmo_assets.pipeline.captions.identifier_lists import Item
from pmo_assets.pipeline.captions.tokens import Tokens

_CLAUSE_BREAKS: Final = frozenset({".", ";", ":", "!", "?", ","})

_INITIALS: Final = 2
"""Words before a letter in brackets that it may abbreviate."""


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
        abbreviates: a letter with a delimiter that the word behind it begins with: "C: cornea".
        equated: stands before an equals sign: "; c = cones".
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
    abbreviates: bool = False
    equated: bool = False

    @property
    def is_part(self) -> bool:
        """Names parts of panels that have names of their own, "(a1)"; they stay in the text (`election`)."""
        return self.form is not Form.NOUN and not self.cuts


def opens_clause(tokens: Tokens, index: int, sentence_starts: set[int]) -> bool:
    """Say whether a sentence or clause begins at a token."""
    return index in sentence_starts or index == 0 or tokens.texts[index - 1] in _CLAUSE_BREAKS


def made_mention(
    tokens: Tokens,
    items: list[Item],
    form: Form,
    span: tuple[int, int],
    sentence_starts: set[int],
    cuts: Sequence[tuple[int, int]] | None = None,
    positional: bool = False,
) -> Mention:
    """Return the mention of tokens [first, last] (`span`).

    Args:
        tokens: the caption.
        items: the identifiers as printed.
        form: how they are printed.
        span: first and last token, brackets included.
        sentence_starts: tokens that open a sentence.
        cuts: what a subcaption leaves out; None: the whole mention.
        positional: the items are words of place.
    """
    first, last = span
    start, end = tokens.starts[first], tokens.ends[last]
    kept = ((start, end),) if cuts is None else tuple(cuts)
    opens = opens_clause(tokens, first, sentence_starts)
    begins = first == 0 or first in sentence_starts
    initial = form is Form.BRACKETS and not opens and _is_initial(tokens, items, first)
    abbreviates = form is Form.DELIMITED and _begins_word(tokens, items, last + 1)
    return Mention(
        *(tuple(items), form, first, last, start, end, kept, opens),
        positional=positional,
        begins=begins,
        initial=initial,
        abbreviates=abbreviates,
    )


def _is_initial(tokens: Tokens, items: Sequence[Item], first: int) -> bool:
    """Say whether a word before token `first` begins with the only letter of a list: "cornea (C)", "iris root (I)"."""
    (letter, last), *more = items
    if more or last or len(letter) > 1:
        return False
    before = tokens.texts[max(0, first - _INITIALS) : first]
    return any(len(text) > 1 and text[0].lower() == letter.lower() for text in before)


def _begins_word(tokens: Tokens, items: Sequence[Item], follower: int) -> bool:
    """Say whether the word at token `follower` begins with the only letter of a list: "C: cecum"."""
    (letter, last), *more = items
    if more or last or len(letter) > 1 or follower >= len(tokens.texts):
        return False
    word = tokens.texts[follower]
    return len(word) > 1 and word[0].lower() == letter.lower()
