"""What a target is about: without a picture's name before it, and without the clause of a participle behind it.

Add here: what does not belong to the thing itself. Keep out: where its words begin and end in a sentence (`targets`).
"""

from __future__ import annotations

from typing import Final

from pmo_assets.pipeline.captions.phrases import ARTICLES, is_adjectival
from pmo_assets.pipeline.captions.tokens import CLOSING, OPENING
from pmo_assets.pipeline.regions.mark_names import QUOTES
from pmo_assets.pipeline.regions.targets import CONJUNCTIONS, Range, Reading, trimmed
from pmo_assets.pipeline.regions.vocabulary import (
    DETERMINERS,
    EXTENDING,
    MEANING,
    NO_CLAUSES,
    PATHS,
    PICTURED,
    PICTURES,
    PLACE_NOUNS,
    PREPOSITIONS,
    SEEN,
    SHOWS,
    TAKEN,
)

_HEAD: Final = 8
"""Tokens in which the name of a picture can stand before what it is of."""

_TAKEN_AT: Final = frozenset({"at", "through", "along", "across", "over", "of"})

_NO_HEADS: Final = PREPOSITIONS | CONJUNCTIONS | DETERMINERS | PLACE_NOUNS | frozenset({"any", "no", "its", "their"})
"""Words behind which a participle opens no clause that can be left out."""


def core(text: Reading, first: int, end: int) -> Range:
    """Return what a phrase is about: without a picture's name before it and a participle's clause behind it.

    "Imaging of lesions" is of lesions, "scans obtained at the pit" of the pit, "a mass extending into the orbit" of a
    mass. A noun that says nothing alone keeps its clause: "the area affected by atrophy".
    """
    start, is_picture = first, False
    for index in range(first, min(end, first + _HEAD)):
        word, following = text.word(index), text.word(index + 1)
        if is_picture and (word == "of" or (word in TAKEN and following in _TAKEN_AT)):
            behind = index + (1 if word == "of" else 2)
            start = behind if behind < end and not text.word(behind).isdigit() else start
            break
        if (
            word in PREPOSITIONS
            or (index > first and _opens_clause(text, index, end))
            or word in OPENING
            or word in CLOSING
            or word in ",;"
        ):
            break
        is_picture = word in (PICTURES | {"volume", "section", "sections"} if following in TAKEN else PICTURED)
    for index in range(start, end - 1):
        if text.word(index) in PLACE_NOUNS:
            break  # "the position of the scan across the macula"
        if text.word(index) in PICTURES and text.word(index + 1) in _TAKEN_AT - {"of", "at"}:
            start = index + 2  # "by means of a scan through the optic disc"
            break
    position = start + 1
    while position < end:
        partner = text.tokens.partners[position]
        if position < partner < end:
            position = partner
        elif _opens_clause(text, position, end):
            return trimmed(text, start, position - text.word(position - 1).endswith("ly"))
        position += 1
    return start, end


def _opens_clause(text: Reading, index: int, end: int) -> bool:
    """Say whether a participle behind a noun begins a clause: "mass | extending to", "artery | seen in"."""
    before_it = index - 1
    while before_it > 0 and (text.word(before_it) in QUOTES or text.word(before_it) in CLOSING):
        partner = text.tokens.partners[before_it]
        before_it = partner - 1 if 0 < partner < before_it else before_it - 1
    word, noun = text.word(index), text.word(before_it)
    adverbs = 0
    while index + 1 + adverbs < end and _is_adverb(text.word(index + 1 + adverbs)):
        adverbs += 1
    following = text.word(index + 1 + adverbs) if index + 1 + adverbs < end else ""
    is_noun = noun[-1:].isalnum() and noun not in _NO_HEADS
    is_said = word in EXTENDING or (word in SHOWS and word.endswith("ing") and word not in NO_CLAUSES)
    is_adjective = is_adjectival(noun) and text.word(before_it - 1) in ARTICLES  # not "the tongue primary reaching"
    is_adjective = is_adjective or (word in EXTENDING and noun.endswith(("ent", "ant")) and not noun.endswith("ment"))
    if is_noun and ((is_said and not is_adjective) or (word in MEANING and following in PREPOSITIONS)):
        return True
    if not is_noun or is_adjectival(noun) or noun.endswith("ly") or (len(word) < 5 and word != "used"):
        return False
    if word.endswith("ing"):
        is_purpose = any(text.word(inside) == "for" for inside in range(index - 5, index))  # "for bone sawing under"
        return word not in NO_CLAUSES and (following in ARTICLES or following in PATHS) and not is_purpose
    return (word in SEEN or word.endswith("ed")) and following in PREPOSITIONS and following != "by"


def _is_adverb(word: str) -> bool:
    return word.endswith("ly") or word == "just"
