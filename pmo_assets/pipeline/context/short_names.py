"""Short names: a head that stands for the longer name in the same words about a panel.

"A choroidal nevus … the nevus", "central retinal artery occlusion … the occlusion": a short name means the longer one
whose head it is, if there is only one. Add here: what a short name may stand for. Keep out: the terms themselves
(`pmo_assets/lexicon`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from pmo_assets.lexicon.words import Words, word_key
from pmo_assets.pipeline.context.lexicon import Span, joined_terms, named_by, readings
from pmo_assets.pipeline.context.quantities import keys_of

_GROUPS: Final = frozenset({"disease", "finding"})
_DETERMINERS: Final = keys_of("the this that these those")
_NO_HEADS: Final = keys_of(
    "disease syndrome disorder condition anomaly abnormality complication sign change defect loss injury trauma "
    "toxicity type infection reaction phenomenon vision acuity oculi bulbi retina eye thickness pressure"
)
"""Last words of names that do not stand for them: "the disease", "the loss"."""

_BARE: Final = keys_of("lesion mass tumor growth")
"""Words for something seen: "choroidal lesion … the nevus" is a choroidal nevus."""

Heads = Mapping[str, Mapping[str, Span]]
"""By head: the longer names in a text with that head, by their terms."""


def heads_of(words: Words, spans: Iterable[Span]) -> dict[str, dict[str, Span]]:
    """Return the heads of the longer names in a text, each with the terms that it may stand for.

    Args:
        words: of the text.
        spans: terms that the text affirms or doubts.
    """
    heads: dict[str, dict[str, Span]] = {}
    for span in spans:
        if span.group in _GROUPS:
            *before, named = span.term.split()
            # By its term's name and as it is written: "corneal ulcer" is a keratitis, and "the ulcer".
            last = words.keys[span.end - 1]
            written = last if span.end > span.first + 1 and last not in _BARE else ""
            for head in dict.fromkeys((word_key(named) if before else "", written)):
                if head.isalpha() and head not in _NO_HEADS and not _is_short(words, span):
                    heads.setdefault(head, {}).setdefault(span.term, span)
    return heads


def with_short_names(words: Words, spans: Sequence[Span], own: Heads, around: Heads) -> list[Span]:
    """Return the spans with short names as what they stand for, in time linear in the words.

    A short name that is a term itself takes the narrower term. A head that is none, or one of another group ("the
    detachment"), needs a determiner. One of a place of its own is left alone: "the nevus of the iris".

    Args:
        words: of the text.
        spans: disjoint, in the text's order.
        own: heads of the text's longer names; they come first.
        around: heads of the subcaption's names, for a sentence that speaks of its panel; else empty.
    """
    starting = {span.first: span for span in spans}
    taken = {index for span in spans for index in range(span.first, span.end)}
    places = {span.end for span in spans if span.group == "anatomy"}
    lesions = _places_of_lesions(words, spans)
    adjectives: dict[str, Span | None] = {}
    meant: dict[str, Span | None] = {}
    found = []
    for index, key in enumerate(words.keys):
        span = starting.get(index)
        if span is None and index in taken:
            continue
        if span is not None and not (_is_short(words, span) and index not in places):
            found.append(span)
            continue
        if key not in meant:
            meant[key] = _one(own.get(key, {})) if key in own else _one(around.get(key, {}))
        longer = meant[key]
        if longer is None and key not in own and span is not None and span.group == "disease":
            if span.term not in adjectives:
                adjectives[span.term] = _one(joined_terms(words, span, lesions))
            longer = adjectives[span.term]
        narrows = span is not None and longer is not None and span.group == longer.group
        the = index > 0 and words.keys[index - 1] in _DETERMINERS
        if longer is not None and (narrows or the) and not _has_place(words, index, starting):
            found.append(replace(longer, first=index, end=index + 1))
        elif span is not None:
            found.append(span)
    return found


def _places_of_lesions(words: Words, spans: Sequence[Span]) -> list[range]:
    """Words for the places of what is seen only ("choroidal lesion", "iris mass"), each place once."""
    places: dict[str, range] = {}
    for span in spans:
        if span.group == "anatomy" and words.keys[span.end : span.end + 1] and words.keys[span.end] in _BARE:
            places.setdefault(span.term, range(span.first, span.end))
        elif span.end > span.first + 1 and words.keys[span.end - 1] in _BARE:
            places.setdefault(span.term, range(span.first, span.end - 1))
    return list(places.values())


def _is_short(words: Words, span: Span) -> bool:
    """Whether a span is one word, and stands for what that word by itself is: it may stand for a longer name."""
    if span.group not in _GROUPS or span.end > span.first + 1 or words.capitals[span.first]:
        return False
    by_itself = named_by(readings(words, [span.first]))
    return by_itself is None or by_itself.name == span.term


def _has_place(words: Words, index: int, starting: Mapping[int, Span]) -> bool:
    """Whether a place follows: "of the iris", "in the brain"."""
    if words.keys[index + 1 : index + 2] not in (["of"], ["in"], ["from"]):
        return False
    first = index + 2 + (words.keys[index + 2 : index + 3] == ["the"])
    return first in starting and starting[first].group == "anatomy"


def _one(longer: Mapping[str, Span]) -> Span | None:
    """The only term, or the widest one of several if all others are within it; None for anything else."""
    widest = min(longer.values(), key=lambda span: len(span.broader), default=None)
    if widest is None or any(widest.term not in {span.term, *span.broader} for span in longer.values()):
        return None
    return widest
