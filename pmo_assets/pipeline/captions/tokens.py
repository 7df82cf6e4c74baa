"""Caption tokens with character offsets, bracket pairs and sentence starts: the lexical layer of the grammar."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

# One lexical rule: a run of letters and digits is a word, every other visible character stands alone.
_LEXEME: Final = re.compile(r"[^\W_]+|[^\s]")

OPENING: Final = {"(": ")", "[": "]", "（": "）", "{": "}"}
CLOSING: Final = {")": "(", "]": "[", "）": "（", "}": "{"}
DASHES: Final = frozenset("-‐‑‒–—−~")
_SENTENCE_END: Final = frozenset(".!?")
_QUOTES: Final = frozenset("\"'“”‘’«»*∗")

_CLOSING_QUOTES: Final = frozenset('"”»')  # where no space precedes them

_STATISTICS: Final = frozenset("npr")
_NUMERAL_LETTERS: Final = frozenset("ivx")
_BARE_LETTERS: Final = frozenset("bcdefgh")  # "a" begins a sentence as an article, in texts that lost their capitals
_RELATIONS: Final = frozenset("=<>≤≥")


def words(text: str) -> frozenset[str]:
    """The words of a text, for the grammar's closed word classes."""
    return frozenset(text.split())


# Words after which a full stop does not end a sentence.
_ABBREVIATIONS: Final = words(
    "fig figs figure vs e g i al cat approx no nos dr st ref refs resp ca cf sp spp eq etc suppl mag orig vol var"
)


@dataclass(frozen=True, slots=True)
class Tokens:
    """A tokenised caption; all lists have one entry per token unless said otherwise.

    Attributes:
        caption: the text that the offsets refer to.
        texts: the characters of each token.
        starts: offset of each token's first character.
        ends: offset after each token's last character.
        partners: index of the matching bracket, -1 for other tokens and for unbalanced brackets.
        sentence_starts: indices of the tokens that open a sentence, ascending, beginning with 0 (empty without tokens).
    """

    caption: str
    texts: list[str]
    starts: list[int]
    ends: list[int]
    partners: list[int]
    sentence_starts: list[int]

    def gap(self, index: int) -> bool:
        """Say whether white space separates token `index` from the one before it."""
        return index > 0 and self.starts[index] > self.ends[index - 1]


def tokenized(caption: str) -> Tokens:
    """The tokens of a caption, in one pass over its characters and two over its tokens."""
    lexemes = list(_LEXEME.finditer(caption))
    texts = [match.group() for match in lexemes]
    starts = [match.start() for match in lexemes]
    ends = [match.end() for match in lexemes]
    return Tokens(caption, texts, starts, ends, _bracket_partners(texts), _sentence_starts(texts, starts, ends))


def _bracket_partners(texts: list[str]) -> list[int]:
    """Index of the matching bracket per token; a closing bracket matches the nearest open one of its kind only."""
    partners = [-1] * len(texts)
    stack: list[int] = []
    for index, text in enumerate(texts):
        if text in OPENING:
            stack.append(index)
        elif text in CLOSING and stack and texts[stack[-1]] == CLOSING[text]:
            opening = stack.pop()
            partners[opening], partners[index] = index, opening
    return partners


def _sentence_starts(texts: list[str], starts: list[int], ends: list[int]) -> list[int]:
    """Indices of the tokens that open a sentence.

    A stop ends a sentence when a capital, a bracket, a digit or a quotation follows; publishers' XML often loses the
    space between a title and "(A)", so the space is not required before a capital or a bracket. The stop of "A." at
    a sentence start belongs to a panel identifier.
    """
    count = len(texts)
    if not count:
        return []
    found = [0]
    for index in range(count - 1):
        if texts[index] not in _SENTENCE_END:
            continue
        follower = index + 1
        # quotation marks and closing brackets after the stop still belong to the sentence that ends
        while follower < count - 1 and follower - index < 4:
            quoted = texts[follower] in _CLOSING_QUOTES and starts[follower] == ends[follower - 1]
            if texts[follower] not in CLOSING and not quoted:
                break
            follower += 1
        before = texts[index - 1] if index else ""
        spaced = starts[follower] > ends[follower - 1]
        if texts[index] == ".":
            if before.lower() in _ABBREVIATIONS and not (before.isupper() and len(before) == 1 and spaced):
                continue
            named = (len(before) <= 2 and before[:1].isalnum()) or _NUMERAL_LETTERS.issuperset(before.lower())
            if named and index - 1 == found[-1] and (spaced or before.isalpha()):
                continue  # "A. Text", "1. Text", "iii. Text"
            if (
                len(before) == 1
                and before.isalpha()
                and texts[index + 1] in CLOSING
                and starts[index + 1] == ends[index]
            ):
                continue  # "b.) Text"
            if len(before) == 1 and before.isalpha() and not spaced:
                continue  # "l.n.", "U.S."
        if opens_sentence(texts, starts, ends, follower, spaced) and follower != found[-1]:
            found.append(follower)
    return found


def opens_sentence(texts: list[str], starts: list[int], ends: list[int], index: int, spaced: bool) -> bool:
    """Say whether the token after a full stop can be the first of a sentence (`spaced`: white space precedes it)."""
    text = texts[index]
    first = text[0]
    if first.isupper() or text in OPENING:
        return True
    if not spaced:
        # "prostate cancer.a) Text", "(p = 0.01).b, Text" but not "b.w." or "0.5"
        if len(text) > 1 or not first.islower() or index + 2 >= len(texts):
            return False
        listed = texts[index + 1] == "," and starts[index + 2] > ends[index + 1] and texts[index - 2] in CLOSING
        return texts[index + 1] in CLOSING or listed
    if first.isdigit() or first in _QUOTES:
        return True
    if any(letter.isupper() for letter in text[:8]):
        return True  # "mRNA", "uPAR"
    if first.isalpha() and index + 1 < len(texts):
        # a panel identifier without brackets: "b Text", "b, c Text", "b) text", "c: text", "b text", "ii. Text"
        following = texts[index + 1]
        if len(text) <= 4 and (following in CLOSING or following == ":"):
            return True
        if following == "." and (_NUMERAL_LETTERS.issuperset(text) or (len(text) == 2 and text[1].isdigit())):
            return True  # "ii. Text", "a1. Text"
        if text in _BARE_LETTERS and following[0].islower():
            return True
        if len(text) == 1:
            if text in _STATISTICS and following in _RELATIONS:
                return True  # "n = 7 rats"
            return following[0].isupper() or following[0].isdigit() or following in {",", "."} or following in DASHES
    return False
