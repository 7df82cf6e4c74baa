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
DIRECTIONS: Final = keys_of(
    "superior inferior medial lateral nasal temporal upper lower superolateral superomedial inferolateral inferomedial "
    "superotemporal superonasal inferotemporal inferonasal anterior posterior central peripheral midperipheral "
    "anteroinferior anterosuperior deep superficial inner outer bulbar palpebral tarsal"
)
"""Words between a side, or "of", and a place: "left superolateral orbital roof", "of the bulbar conjunctiva"."""

_OF_SIDE: Final = keys_of("in of than")
"""Words before "the left" that is the other eye: "20/20 in the right eye and 20/16 in the left"."""

_PICTURES: Final = frozenset({"fundus photography", "fluorescein angiography", "indocyanine green angiography"})
"""Pictures, with all within them, that show an eye each where sides are joined: "right and left fundus photograph"."""

_SENTENCE_ENDS: Final = frozenset(".;:?!")

_REACH: Final = 25
"""Words before "the left" in which its sentence names the other eye."""

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
    after = index + 1 + (words.keys[index + 1 : index + 2] == ["sided"])
    while (after in starting and starting[after].group == "stage") or (
        after < len(words) and words.keys[after] in DIRECTIONS and (after not in starting or after + 1 in starting)
    ):
        after = starting[after].end if after in starting else after + 1
    place = words.keys[index] in _PAIRS or (index > 0 and words.keys[index - 1] in _PLACES)
    if (
        not place
        and after in starting
        and (_has_side(starting[after]) or (_is_picture(starting[after]) and _follows_side(words, index)))
    ):
        return index + 1
    if _is_side_of(words, index, starting) or _is_other(words, index, eyes):
        return index + 1
    return index + 1 if _shares_eye(words, index, eyes) else 0


def _is_picture(span: Span) -> bool:
    return span.group == "imaging" and bool(_PICTURES & {span.term, *span.broader})


def _follows_side(words: Words, index: int) -> bool:
    """Whether the side is joined to one before it: "right and (B) left"."""
    joined = False
    for before in range(index - 1, max(-1, index - _MOST_BETWEEN), -1):
        key = words.keys[before]
        if key in _EYE_OF_SIDE:
            return joined
        joined = joined or key in _CONJUNCTIONS
        if key not in _CONJUNCTIONS and key not in {"(", ")", "the"} and len(key) > 1:
            return False
    return False


def _is_side_of(words: Words, index: int, starting: Mapping[int, Span]) -> bool:
    """Whether the side is that of a place before it: "roof of the orbit on the left side"."""
    if index < 2 or words.keys[index + 1 : index + 2] != ["side"]:
        return False
    end = index - 1 - (words.keys[index - 1] == "the")
    first = next((first for first in range(end - 1, max(-1, end - _MOST_BETWEEN), -1) if first in starting), None)
    return (
        words.keys[end] == "on"
        and first is not None
        and starting[first].end == end
        and starting[first].group == "anatomy"
        and _has_side(starting[first])
    )


def _is_other(words: Words, index: int, eyes: Mapping[int, Span]) -> bool:
    """Whether the side alone ends a phrase, and its sentence names the other eye: "right eye … in the left"."""
    following = words.keys[index + 1 : index + 2]
    if following and following[0].isalnum() and following[0] not in _CONJUNCTIONS:
        return False
    if index < 2 or words.keys[index - 1] != "the" or words.keys[index - 2] not in _OF_SIDE:
        return False
    other = {"left": "OD", "right": "OS"}.get(words.keys[index])
    for before in range(index - 2, max(-1, index - 2 - _REACH), -1):
        if before in eyes:
            return eyes[before].term == other
        if words.keys[before] in _SENTENCE_ENDS:
            return False
    return False


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
