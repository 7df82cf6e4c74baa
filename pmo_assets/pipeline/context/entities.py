"""Entities of a panel: what its subcaption and its mentions name, in normal form, negated or not.

Add here: how spans of terms become entities. Keep out: terms (`pmo_assets/lexicon`), and the rules for times, eyes and
negation, which have modules of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Final, Literal

from pmo_assets.lexicon.words import Words, word_list, words_of
from pmo_assets.pipeline.context.composed_names import load_makings, with_composed_names
from pmo_assets.pipeline.context.eyes import spans_of_sides
from pmo_assets.pipeline.context.lexicon import (
    Definitions,
    Span,
    context_of,
    load_lexicon,
    longest_spans,
    read_definitions,
    spans_of_terms,
    with_shared_heads,
)
from pmo_assets.pipeline.context.negation import load_negation, statuses
from pmo_assets.pipeline.context.quantities import spans_of_quantities
from pmo_assets.pipeline.context.short_names import Heads, heads_of, with_short_names
from pmo_assets.records.context import EYES, Entity, EntityGroup, MentionKind, PanelTerms

DEGREES: Final = frozenset(
    word_list("mild moderate severe early intermediate late advanced acute chronic subacute active")
)
"""Stages that are words of everyday use: they count before a disease or finding only ("moderate NPDR")."""


def load_terms() -> None:
    """Read what entities are found by; a worker does it before its first article.

    Raises:
        SystemicError: the package's lexicon cannot be read.
    """
    load_lexicon()
    load_makings()
    load_negation()


def entities_of(
    text: str,
    definitions: Mapping[str, str],
    *,
    found_in: Literal["subcaption", "mention"] = "subcaption",
    mention: int | None = None,
) -> tuple[Entity, ...]:
    """Return the entities of one text, in its order; none lies within another.

    Args:
        text: verbatim.
        definitions: the article's own abbreviations, short form: long form.
        found_in: the kind of text.
        mention: position among the panel's mentions; None for the subcaption.
    """
    words = words_of(text)
    spans = _spans(words, read_definitions(definitions), context_of(words), frozenset())
    return _entities(words, with_short_names(words, spans, _heads(words, spans), {}), found_in, mention)


def panel_entities(
    subcaption: str | None, mentions: Sequence[str], definitions: Mapping[str, str]
) -> tuple[Entity, ...]:
    """Return the entities of a panel: those of its subcaption, then those of each mention.

    An ambiguous abbreviation means what its own text says; where that leaves it open, what the panel's other texts say.
    A short name stands for the longer one in its own text or in the subcaption.

    Args:
        subcaption: of the panel; None without one.
        mentions: sentences that speak of it, in their order.
        definitions: the article's own abbreviations, short form: long form.
    """
    read = read_definitions(definitions)
    texts: list[tuple[Literal["subcaption", "mention"], int | None, Words]] = [
        ("mention", position, words_of(sentence)) for position, sentence in enumerate(mentions)
    ]
    if subcaption is not None:
        texts.insert(0, ("subcaption", None, words_of(subcaption)))
    contexts = [context_of(words) for _, _, words in texts]
    around = frozenset().union(*contexts)
    found: list[Entity] = []
    subcaption_heads: Heads = {}
    for (found_in, mention, words), own in zip(texts, contexts, strict=True):
        spans = _spans(words, read, own, around)
        heads = _heads(words, spans)
        subcaption_heads = heads if mention is None else subcaption_heads
        found.extend(_entities(words, with_short_names(words, spans, heads, subcaption_heads), found_in, mention))
    return tuple(found)


def panel_terms(entities: Sequence[Entity], kinds: Sequence[MentionKind]) -> PanelTerms:
    """Return the terms by which a panel is chosen.

    What is said nearest to the panel counts: its subcaption and the sentences that name it; sentences about the figure
    as a whole only where those name nothing of a group. What is negated counts nowhere.

    Args:
        entities: of the panel.
        kinds: how each of its mentions speaks of it.
    """

    def said(group: EntityGroup) -> list[Entity]:
        affirmed = [item for item in entities if item.group == group and not item.negated]
        near = [item for item in affirmed if item.mention is None or kinds[item.mention] != "names figure"]
        return near or affirmed

    def names(group: EntityGroup) -> tuple[str, ...]:
        return tuple(sorted({name for item in said(group) for name in (item.term, *item.broader)}))

    eyes = {item.term for item in said("eye")} & set(EYES)
    if {"OD", "OS"} <= eyes:
        eyes = {"OU"}
    return PanelTerms(names("disease"), names("finding"), next((eye for eye in EYES if eyes == {eye}), None))


def _spans(words: Words, definitions: Definitions, own: Set[str], around: Set[str]) -> list[Span]:
    """Spans of a text's terms, disjoint and in its order, before short names are read."""
    terms = spans_of_terms(words, definitions, own, around)
    spans = with_shared_heads(words, longest_spans(words, [*terms, *spans_of_quantities(words)]))
    spans = with_composed_names(words, spans)
    spans = sorted([*spans, *spans_of_sides(words, spans)], key=lambda span: span.first)
    return _without_idle_degrees(spans)


def _heads(words: Words, spans: Sequence[Span]) -> Heads:
    return heads_of(
        words,
        (span for span, status in zip(spans, statuses(words, spans), strict=True) if "negated" not in status),
    )


def _entities(
    words: Words, spans: Sequence[Span], found_in: Literal["subcaption", "mention"], mention: int | None
) -> tuple[Entity, ...]:
    return tuple(
        Entity(
            group=group,
            term=span.term,
            broader=span.broader,
            text=words.text[words.starts[span.first] : words.ends[span.end - 1]],
            start=words.starts[span.first],
            end=words.ends[span.end - 1],
            found_in=found_in,
            mention=mention,
            negated="negated" in status,
            uncertain="uncertain" in status,
        )
        for span, status in zip(spans, statuses(words, spans), strict=True)
        if (group := span.group) != "other"
    )


def _without_idle_degrees(spans: Sequence[Span]) -> list[Span]:
    """Leave out degrees that no disease or finding follows; a side or another degree may stand between."""
    kept: list[Span] = []
    following: Span | None = None
    for span in reversed(spans):
        degree = span.group == "stage" and span.term in DEGREES
        if degree and (following is None or following.first != span.end):
            following = None
            continue
        if not degree and not (span.group == "eye" and following is not None and following.first == span.end):
            following = span if span.group in {"disease", "finding"} else None
        else:
            following = Span(span.first, span.end, span.group, span.term)
        kept.append(span)
    return kept[::-1]
