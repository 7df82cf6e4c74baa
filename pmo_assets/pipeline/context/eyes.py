"""Eyes that a text names by a side alone: "right (A) and left (B) eyes", "left macula", "right pseudophakic eye".

A side by itself may as well be a place in the figure: it is an eye where an eye, a part of one or a disease follows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Final

from pmo_assets.lexicon.words import Words
from pmo_assets.pipeline.context.lexicon import Span
from pmo_assets.pipeline.context.quantities import keys_of

_PAIRS: Final = frozenset({"both"})
"""Sides that are eyes only with the word: "both retinal and vitreous detachment"."""

_EYE_OF_SIDE: Final = {"right": "OD", "left": "OS", "both": "OU", "fellow": "fellow eye", "contralateral": "fellow eye"}
_OF_HEAD: Final = frozenset(
    (
        "brain",
        "visual cortex",
        "optic tract",
        "carotid artery",
        "cavernous sinus",
        "lateral geniculate nucleus",
        "systemic disease",
        "genetic syndrome",
    )
)
"""Terms with a side that is not an eye's, with all within them."""

_ANYWHERE: Final = frozenset({"blood vessel", "artery", "vein"})
"""Terms of the whole body; what lies within them is of eyes."""

_PLACES: Final = keys_of("top bottom upper lower middle far row column panel")
_CONJUNCTIONS: Final = keys_of("and or / , & vs versus")
_NO_ADJECTIVE: Final = keys_of(
    "and or of in the a an with without is was are were to from at on for by panel column image"
)
_MOST_BETWEEN: Final = 8
"""Words that stand at most between the sides of "right (A, early phase) and left eyes"."""


def spans_of_sides(words: Words, spans: Sequence[Span]) -> list[Span]:
    """Return the eyes that sides stand for, beside the spans that a text is known to have."""
    starting = {span.first: span for span in spans}
    taken = {index for span in spans for index in range(span.first, span.end)}
    eyes: dict[int, Span] = {span.first: span for span in spans if span.group == "eye"}
    found = []
    for index in range(len(words) - 1, -1, -1):
        if words.keys[index] in _EYE_OF_SIDE and index not in taken:
            end = _end_of_eye(words, index, starting, taken, eyes)
            if end:
                eyes[index] = Span(index, end, "eye", _EYE_OF_SIDE[words.keys[index]])
                found.append(eyes[index])
    return found[::-1]


def _end_of_eye(
    words: Words, index: int, starting: Mapping[int, Span], taken: Set[int], eyes: Mapping[int, Span]
) -> int:
    """End of the words that name an eye, of which the side at an index is the first; 0 if it names none."""
    last = _after_brackets(words, index + 1)
    bracketed = last > index + 1
    for following in range(last, min(last + 3, len(words))):
        if words.keys[following] == "eye":
            alone = bracketed or any(other in taken for other in range(index + 1, following))
            return index + 1 if alone else following + 1
        if not words.keys[following].isalpha() or words.keys[following] in _NO_ADJECTIVE:
            break
    after = index + 1
    while after in starting and starting[after].group == "stage":
        after = starting[after].end
    place = words.keys[index] in _PAIRS or (index > 0 and words.keys[index - 1] in _PLACES)
    if not place and after in starting and _has_side(starting[after]):
        return index + 1
    return index + 1 if _shares_eye(words, index, eyes) else 0


def _after_brackets(words: Words, index: int) -> int:
    """Index after a bracket of a few words that begins at an index; the index itself without one."""
    if words.keys[index : index + 1] == ["("]:
        for after in range(index + 1, min(index + _MOST_BETWEEN, len(words))):
            if words.keys[after] == ")":
                return after + 1
    return index


def _has_side(span: Span) -> bool:
    of_eye = span.group in {"anatomy", "disease"} or (span.group == "finding" and bool(span.broader))
    return of_eye and span.term not in _ANYWHERE and not _OF_HEAD & {span.term, *span.broader}


def _shares_eye(words: Words, index: int, eyes: Mapping[int, Span]) -> bool:
    """Whether the side is joined to one that names an eye: "right (A) and left eye"."""
    joined = depth = 0
    for after in range(index + 1, min(index + 1 + _MOST_BETWEEN, len(words))):
        key = words.keys[after]
        depth += (key in "([") - (key in ")]")
        if depth or key in ")]":
            continue
        if after in eyes:
            return bool(joined)
        if key in _CONJUNCTIONS:
            joined = 1
        elif key != "the" and not (joined and len(key) == 1):
            return False
    return False
