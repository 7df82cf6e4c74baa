"""Terms by which a panel's text is told from its neighbours': what its own subcaption says, and what others say."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pmo_assets.pipeline.context.terms import terms_of


@dataclass(frozen=True, slots=True)
class SubcaptionTerms:
    """Terms of a panel.

    Attributes:
        own: of its subcaption.
        specific: of its subcaption alone.
        foreign: of other panels' subcaptions, and not of its own.
        of_each: of each other panel's subcaption, and not of its own.
    """

    own: frozenset[str]
    specific: frozenset[str]
    foreign: frozenset[str]
    of_each: tuple[frozenset[str], ...]


def subcaption_terms(subcaption: str, others: Iterable[str]) -> SubcaptionTerms:
    """Return the terms of a panel by its subcaption and those of the figure's other panels."""
    own = terms_of(subcaption)
    each = [terms_of(other) for other in others]
    theirs = frozenset[str]().union(*each)
    return SubcaptionTerms(
        own,
        own - theirs,
        theirs - own,
        tuple(dict.fromkeys(other - own for other in each)),
    )


def shared_weight(words: frozenset[str], own: frozenset[str], weight: Mapping[str, float]) -> float:
    """Return what the terms weigh that both have."""
    return math.fsum(weight.get(term, 0.0) for term in words & own)


def is_foreign(words: frozenset[str], terms: SubcaptionTerms, weight: Mapping[str, float]) -> bool:
    """Say whether a sentence is about other panels: it has terms of theirs, and of this one's own less or none.

    "The trees of plants, metazoa and primates agree" is about each of three panels.
    """
    theirs = shared_weight(words, terms.foreign, weight)
    own = shared_weight(words, terms.specific, weight)
    return theirs > own and not (own > 0 and sum(not words.isdisjoint(other) for other in terms.of_each) > 1)
