"""Letters that name panels without any mark: "the right eye a and the left eye b", "a before and b after".

Publishers set such letters in bold type, which a caption's text loses. They count only in a caption that names panels
in no other way: each is a word of its own, they follow each other from a on, and none is named twice. What is called
by a letter ("lines a and b", "distance a … distance b") is none of them, nor are letters in a sentence that begins with
anything but an examination; capitals are more often such names than
small letters, and count as a list alone: "A before, B during, and C after surgery".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from pmo_assets.pipeline.captions.mention import Form, Mention, made_mention
from pmo_assets.pipeline.captions.phrases import (
    ARTICLES,
    CONJUNCTIONS,
    PREPOSITIONS,
    SHOWING,
    STOPS,
    SUSPENDED,
    VERBS,
    is_eye_or_time,
    names_examination,
)
from pmo_assets.pipeline.captions.tokens import Tokens, words

_LETTERS: Final = "abcdefgh"
_ENDS: Final = STOPS | {","}
_JOINING: Final = frozenset({",", "and", "or", "&", "to", "/"})
_LINKS: Final = frozenset({",", ";", "and", "&", "while", "whereas"})
_CALLED: Final = words(
    "group type class stage grade vitamin hepatitis patient case line point arrow phase part arm form"
)
_AFTER_DOT: Final = CONJUNCTIONS | PREPOSITIONS | VERBS | SHOWING
_EYES: Final = frozenset({"eye", "eyes"})


def unmarked_letters(tokens: Tokens, sentence_starts: set[int]) -> list[Mention]:
    """Return the mentions by letters without marks; [] where the letters may be anything else."""
    small = _series(tokens, _LETTERS)
    found = small or _series(tokens, _LETTERS.upper())
    if not found or (not small and not _are_listed(tokens, found)):
        return []
    texts = tokens.texts
    opening = max((start for start in tokens.sentence_starts if start <= found[0]), default=0)
    if not names_examination(tokens, opening, found[0]):
        return []  # "alleles a of the first and b of the second gene"
    if any(right - left <= 2 and texts[right - 1] in _JOINING for left, right in pairwise(found)):
        return []  # "points a and b"
    if any(_is_tail(tokens, index) for index in found) and _are_designations(tokens, found):
        return []
    return [
        made_mention(tokens, [(texts[index], "")], Form.BRACKETS, (index, index), sentence_starts) for index in found
    ]


def _series(tokens: Tokens, letters: str) -> list[int]:
    """Return the tokens that are `letters` from the first one on, each once; [] for less than two or another order."""
    texts = tokens.texts
    found = [
        index for index, text in enumerate(texts) if len(text) == 1 and text in letters and _stands_alone(tokens, index)
    ]
    return found if len(found) > 1 and [texts[index] for index in found] == list(letters[: len(found)]) else []


def _are_listed(tokens: Tokens, found: Sequence[int]) -> bool:
    """Say whether letters head the items of a list: behind a colon, or before what is told of each."""
    texts = tokens.texts
    opened = found[0] and texts[found[0] - 1] == ":"
    told = texts[found[0] + 1].lower() in PREPOSITIONS | SUSPENDED and texts[found[0] - 1].lower() not in _CALLED
    linked = all(texts[index - 1].lower() in _LINKS for index in found[1:])
    return bool(opened or told) and linked and not any(_is_tail(tokens, index) for index in found)


def _stands_alone(tokens: Tokens, index: int) -> bool:
    """Say whether a letter is a word of its own, and no article: "eye a and", "segment a before"."""
    texts = tokens.texts
    before = texts[index - 1].lower() if index else ""
    if index and (not tokens.gap(index) or not (before[0].isalnum() or before in {",", ";", ":", "&"})):
        return False
    if index + 1 == len(texts):
        return True
    after = texts[index + 1].lower()
    if after in _ENDS:
        return not tokens.gap(index + 1)
    if not tokens.gap(index + 1) or not after[0].isalnum():
        return False  # "b-wave", "a = …"
    return texts[index] != "a" or after in CONJUNCTIONS | PREPOSITIONS | SUSPENDED


def _is_tail(tokens: Tokens, index: int) -> bool:
    after = tokens.texts[index + 1].lower() if index + 1 < len(tokens.texts) else "."
    return after in _ENDS or after in CONJUNCTIONS


def _are_designations(tokens: Tokens, found: Sequence[int]) -> bool:
    """Say whether the letters tell things of one kind apart ("distance a and distance b"), or follow no noun.

    An eye, a time or an examination has no letter of its own.
    """
    texts = tokens.texts
    before = [texts[index - 1].lower() if index else "" for index in found]
    if any(word in ARTICLES | PREPOSITIONS or not word.isalpha() for word in before):
        return True
    pictured = all(
        word in _EYES or names_examination(tokens, index - 1, index) or is_eye_or_time(tokens, index - 1, index)
        for word, index in zip(before, found, strict=True)
    )
    return not pictured


def dotted_letters(tokens: Tokens, sentence_starts: set[int]) -> list[Mention]:
    """Return letters with full stops within sentences, all of a series in order; [] where they abbreviate words.

    "In a. axial scan, as in b. and c.", "Scan in March A. and in May B. showed": bold letters of print whose brackets
    are no part of the text. Names of species and people ("A. aegypti", "J. B. Smith") are no such series.
    """
    texts = tokens.texts
    found = [
        at for at in range(len(texts) - 1) if len(texts[at]) == 1 and texts[at].isalpha() and _is_dotted(tokens, at)
    ]
    letters = "".join(texts[at] for at in found)
    if len(found) < 2 or letters not in {_LETTERS[: len(found)], _LETTERS[: len(found)].upper()}:
        return []
    followers = [texts[at + 2].lower() if at + 2 < len(texts) else "" for at in found]
    if any(
        word and word not in _AFTER_DOT and not word[0].isdigit() and not _opens_upper(tokens, at + 2)
        for at, word in zip(found, followers, strict=True)
    ):
        return []
    return [made_mention(tokens, [(texts[at], "")], Form.BRACKETS, (at, at + 1), sentence_starts) for at in found]


def _is_dotted(tokens: Tokens, index: int) -> bool:
    """Say whether a letter stands alone with a full stop right behind it and a space behind that."""
    texts = tokens.texts
    alone = index == 0 or tokens.gap(index)
    ends = index + 2 >= len(texts) or tokens.gap(index + 2)
    initial = index > 1 and texts[index - 1] == "." and len(texts[index - 2]) == 1
    return alone and texts[index + 1] == "." and not tokens.gap(index + 1) and ends and not initial


def _opens_upper(tokens: Tokens, index: int) -> bool:
    return tokens.texts[index][0].isupper()
