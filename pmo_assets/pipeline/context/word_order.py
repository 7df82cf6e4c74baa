"""Listed names whose words stand in another order, or apart.

A disease and the place behind it are what the two are in the other order ("ulcer in the cornea", "fracture of the
medial wall of the orbit"), a disease and its cause, too ("retinitis due to cytomegalovirus"); a place that is in a
state has it ("perforated cornea", "the retina is detached"); words that two names share are printed once ("retinal tear
and detachment"); others stand between a name's words ("choroidal large melanoma"). Add here: orders of words. Keep out:
names (`pmo_assets/lexicon`), and names that no list has (`composed_names`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from pmo_assets.lexicon.terms import Term, lexicon_data, shipped_lexicon
from pmo_assets.lexicon.words import Words, word_key
from pmo_assets.pipeline.context.eyes import DIRECTIONS
from pmo_assets.pipeline.context.lexicon import Span, named_by, placed_term, readings, span_of
from pmo_assets.pipeline.context.quantities import keys_of

PACKAGE_DATA = ("lexicon/data",)
"""Files of the package that this module reads."""

_HYPHENS: Final = frozenset("-‐‑‒–")
_SIDES: Final = frozenset({"left", "right", "both"})
_ARTICLES: Final = _SIDES | {"the", "his", "her", "a", "an", "their", "its"}
_SEEN: Final = frozenset({"disease", "finding"})
_CONJUNCTIONS: Final = frozenset({"and", "or", "/", "&"})

_EYES: Final = (("ocular",), ("eye",))
"""Names of the eye as a place: "trauma to the eye" is ocular trauma."""

_EYE_WORDS: Final = keys_of("eye eyes")
_WHOSE: Final = keys_of("eye globe eyelid lid patient child subject")

_VERBS: Final = keys_of("is are was were be been being has have had become became appear appears")
_ADVERBS: Final = keys_of("not no longer yet now also still well again seen to")
_MOST_BETWEEN: Final = 4
"""Words between a place and its state: "the retina has not been completely detached"."""

_MOST_CAUSE: Final = 3
_MOST_BEFORE: Final = 3
_MOST_SKIPPED: Final = 2
"""Words of a cause, words before a head, and terms between them, at most."""

_MOST_FURTHER: Final = 2
"""Words before a head that are part of it, as long as the place behind it makes a name of them."""

_LEAST_ROOT: Final = 2
"""Letters before the end of an adjective."""


@dataclass(frozen=True, slots=True)
class _Orders:
    prepositions: frozenset[str]
    parts: frozenset[str]
    causes: frozenset[tuple[str, ...]]
    states: Mapping[str, tuple[str, ...]]
    adjectives: tuple[tuple[str, str], ...]


@cache
def load_orders() -> _Orders:
    """Return the words of these rules; a worker reads them before its first article.

    Raises:
        SystemicError: they cannot be read.
    """
    read = lexicon_data("composition")["order"]
    return _Orders(
        frozenset(read["prepositions"]),
        frozenset(map(word_key, read["parts"])),
        frozenset(tuple(map(word_key, words.split())) for words in read["causes"]),
        {word_key(state): tuple(map(word_key, nouns)) for state, nouns in read["states"].items()},
        tuple((adjective, noun) for adjective, noun in read["adjectives"]),
    )


def reordered_names(words: Words, spans: Sequence[Span]) -> list[Span]:
    """Return the spans of names in another order than the lexicon's, the surest first; they may overlap.

    Args:
        words: of the text.
        spans: disjoint, in the text's order.
    """
    taken = {index: span for span in spans for index in range(span.first, span.end)}
    return [
        *_before_places(words, spans, taken),
        *_states(words, taken),
        *_before_causes(words, spans),
        *_apart(words, spans, taken),
        *_sharing(words, spans, taken),
        *_of_eyes(words, taken),
    ]


def adjoin(words: Words, index: int) -> bool:
    """Say whether only a blank or a hyphen lies between a word and the next."""
    between = words.text[words.ends[index] : words.starts[index + 1]]
    return between in _HYPHENS or between.isspace()


def _within(made: Span, head: Span | None) -> Span:
    """The span of a name within the disease that its head is by itself: "nevus of the conjunctiva" is a nevus."""
    above = (head.term, *head.broader) if head is not None and head.group == "disease" else ()
    return replace(made, broader=tuple(name for name in dict.fromkeys((*made.broader, *above)) if name != made.term))


def _is_disease(term: Term | None) -> bool:
    return term is not None and term.group == "disease"


def _before_places(words: Words, spans: Sequence[Span], taken: Mapping[int, Span]) -> Iterator[Span]:
    """Diseases whose place stands behind them: "ulcer of the cornea", "thrombosis of the left ophthalmic vein"."""
    places = [span for span in spans if span.group in {"anatomy", "eye"}]
    eyes = (Span(n, n + 1, "eye", "eye") for n, key in enumerate(words.keys) if key in _EYE_WORDS and n not in taken)
    for place in (*places, *eyes):
        before = _preposition(words, place.first)
        if before is None or (place.group == "eye" and words.keys[before] not in {"of", "to"}):
            continue
        end = before
        while end > 1 and words.keys[end - 1] in load_orders().parts and (further := _preposition(words, end - 1)):
            end = further
        head = taken.get(end - 1)
        if head is not None and head.group not in _SEEN:
            continue
        found = _longest_before(words, place, before, head.first if head is not None else end - 1, end)
        if found is None:
            continue
        term, begin = found
        # A side between them is the eye's, an eye stays one, and a place where something is stays a place.
        is_part = place.group != "eye" and words.keys[before] == "of" == words.keys[end]
        is_part = is_part and _SIDES.isdisjoint(words.keys[end + 1 : place.first])
        yield _within(span_of(term, begin, place.end if is_part else end), head)


def _preposition(words: Words, place: int) -> int | None:
    """Index of the preposition that leads to a place; None without one."""
    first = place - 1
    while first >= 0 and (words.keys[first] in _ARTICLES or words.keys[first] in DIRECTIONS):
        first -= 1
    leads = first > 0 and (words.keys[first] == "of" or words.keys[first] in load_orders().prepositions)
    return first if leads else None


def _longest_before(words: Words, place: Span, before: int, begin: int, end: int) -> tuple[Term, int] | None:
    """The longest name that a place makes with the words before it, and where that begins: up to two further words."""
    directions = before + 1
    while directions < place.first and words.keys[directions] in _ARTICLES:
        directions += 1
    for start in range(max(0, begin - _MOST_FURTHER), begin + 1):
        if all(adjoin(words, index) for index in range(start, end - 1)):
            head = readings(words, range(start, end))
            if place.group == "eye":
                term = next((term for name in _EYES if (term := named_by([name, *head]))), None)
            else:
                # "Of the posterior capsule": with its direction first, else by all names of the place.
                term = named_by([*readings(words, range(directions, place.end)), *head]) or placed_term(place, head)
            if term is not None and term.group == "disease":
                return term, start
    return None


def _states(words: Words, taken: Mapping[int, Span]) -> Iterator[Span]:
    """Diseases of places in a state: "perforated cornea", "the retina is totally detached"."""
    orders = load_orders()
    for index, key in enumerate(words.keys):
        own = taken.get(index)
        if key not in orders.states or (own is not None and (own.end > own.first + 1 or own.group == "disease")):
            continue
        place = _place_of_state(words, index, taken)
        if place is None:
            continue
        for noun in orders.states[key]:
            term = placed_term(place, [(noun,)])
            if term is not None and term.group == "disease":
                yield span_of(term, index, place.end if place.first > index else index + 1)
                break


def _place_of_state(words: Words, index: int, taken: Mapping[int, Span]) -> Span | None:
    """The place that a state is said of: it follows, or stands before a verb."""
    after = index + 1
    while after < len(words) and words.keys[after] in DIRECTIONS and after not in taken:
        after += 1
    place = taken.get(after)
    if place is not None and place.group == "anatomy" and all(adjoin(words, n) for n in range(index, after)):
        return place
    before, verbs = index - 1, 0
    while before >= 0 and index - before <= _MOST_BETWEEN and before not in taken:
        key = words.keys[before]
        if key in _VERBS:
            verbs += 1
        elif not (key in _ADVERBS or key.endswith("ly")):
            break
        before -= 1
    place = taken.get(before)
    return place if verbs and place is not None and place.group == "anatomy" else None


def _before_causes(words: Words, spans: Sequence[Span]) -> Iterator[Span]:
    """Diseases whose cause stands behind them: "retinitis due to cytomegalovirus", "vitelliform dystrophy of Best"."""
    starting = {span.first: span for span in spans}
    for span in spans:
        if span.group not in _SEEN:
            continue
        for length in (2, 1):
            end = span.end + length
            if end >= len(words) or tuple(words.keys[span.end : end]) not in load_orders().causes:
                continue
            end += words.keys[end] in {"a", "an", "the", "underlying"}
            term = _caused(words, readings(words, range(span.first, span.end)), end, starting.get(end))
            if term is not None and term.name != span.term:
                yield _within(span_of(term, span.first, span.end), span)
            break


def _caused(words: Words, head: list[tuple[str, ...]], first: int, cause: Span | None) -> Term | None:
    """The disease that a head is by the cause that begins at an index."""
    for end in range(min(first + _MOST_CAUSE, len(words)), first, -1):
        if all(adjoin(words, index) for index in range(first, end - 1)):
            term = named_by([*readings(words, range(first, end)), *head])
            if _is_disease(term):
                return term
    term = placed_term(cause, head) if cause is not None and cause.group in {"disease", "finding"} else None
    return term if _is_disease(term) else None


def _apart(words: Words, spans: Sequence[Span], taken: Mapping[int, Span]) -> Iterator[Span]:
    """Diseases with other words between those of their names: "choroidal large melanoma"."""
    for span in spans:
        if span.group not in _SEEN:
            continue
        first = span.first
        for head in range(span.first, span.end):
            found = _with_words_before(words, span, head, first, taken)
            if found is not None:
                yield found
                break


def _with_words_before(words: Words, span: Span, head: int, first: int, taken: Mapping[int, Span]) -> Span | None:
    """The disease that words before a span make with its words from `head` on, up to two terms between them."""
    read = readings(words, range(head, span.end))
    for skipped in range(_MOST_SKIPPED + 1):
        # "Dry, age-related macular degeneration"; "early, dry AMD" is one name as well, and a stage.
        comma = not skipped and head == span.first and first > 1 and words.keys[first - 1] == ","
        first -= comma
        if first <= 0 or not (comma or adjoin(words, first - 1)):
            return None
        if skipped or comma or head > span.first:
            for begin in range(max(0, first - _MOST_BEFORE), first):
                if all(adjoin(words, index) for index in range(begin, first - comma)) and _starts(begin, taken):
                    term = named_by([*readings(words, range(begin, first)), *read])
                    if term is not None and term.group == "disease" and term.name != span.term:
                        return _within(span_of(term, begin, span.end), span)
        between = taken.get(first - 1)
        if between is not None and between.group not in {"anatomy", "stage"}:
            return None
        if between is None and not words.keys[first - 1].isalpha():
            return None
        if between is None and not words.keys[first - 1].endswith(("ed", "ous", "al", "ar", "ic", "oid", "ive", "ing")):
            return None
        first = between.first if between is not None else first - 1
    return None


def _starts(index: int, taken: Mapping[int, Span]) -> bool:
    return index not in taken or taken[index].first == index


def _sharing(words: Words, spans: Sequence[Span], taken: Mapping[int, Span]) -> Iterator[Span]:
    """Diseases that share their first words with the one before them: "retinal tear and detachment"."""
    for span in spans:
        head = span.end + 1
        if (
            span.group not in _SEEN
            or span.end < span.first + 2
            or head >= len(words)
            or words.keys[span.end] not in _CONJUNCTIONS
        ):
            continue
        own = taken.get(head)
        if own is not None and (own.end > head + 1 or own.group not in _SEEN):
            continue
        if words.keys[head + 1 : head + 2] in (["of"], ["in"]):
            continue
        for first in range(span.end - 1, span.first, -1):
            term = named_by(readings(words, (*range(span.first, first), head)))
            if term is not None and term.group == "disease" and term.name != span.term:
                yield span_of(term, head, head + 1)
                break


def _of_eyes(words: Words, taken: Mapping[int, Span]) -> Iterator[Span]:
    """Diseases that are said of an eye by an adjective: "uveitic eye", "esotropic patient", "the lid was ptotic"."""
    forms, orders = shipped_lexicon().forms, load_orders()
    ends = tuple(adjective for adjective, _ in orders.adjectives)
    for index, key in enumerate(words.keys):
        if not key.endswith(ends) or index in taken or words.capitals[index]:
            continue
        if _WHOSE.isdisjoint(words.keys[index + 1 : index + 2]) and not (index and words.keys[index - 1] in _VERBS):
            continue
        for adjective, noun in orders.adjectives:
            if key.endswith(adjective) and len(key) >= len(adjective) + _LEAST_ROOT:
                term = forms.get((word_key(key.removesuffix(adjective) + noun),))
                if term is not None and term.group == "disease":
                    yield span_of(term, index, index + 1)
                    break
