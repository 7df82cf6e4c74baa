"""Terms of the lexicon in a text: matches of their forms, and the meaning of ambiguous ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

from pmo_assets.lexicon.terms import Form, Lexicon, Meaning, Term, form_of, shipped_lexicon
from pmo_assets.lexicon.words import Words, words_of
from pmo_assets.records.context import EntityGroup

EYE_CONTEXT: Final = "@eye"
"""Stands, among the words that speak for a meaning, for any unambiguous term of the eye."""

_OF_OTHER_FIELDS: Final = frozenset(
    (
        "systemic disease",
        "genetic syndrome",
        "radiologic imaging",
        "microscopy",
        "artificial intelligence method",
        "brain",
        "blood vessel",
        "ultrasonography",
        "orbit",
        "eyelid",
        "lacrimal system",
        "inflammatory sign",
    )
)
"""Terms (with all within them) that other fields of medicine use, too: they do not show that a text is of eyes."""

_CONJUNCTIONS: Final = frozenset({"and", "or", "/", "&"})
_WIDEST: Final = frozenset({"globe", "anterior segment", "posterior segment", "blood vessel"})
"""Places that say nothing of what is within them: an ulcer of the iris is no "ocular ulcer"."""

_JOINING: Final = _CONJUNCTIONS | {","}
_MOST_MODIFIERS: Final = 3
"""Words before a head that terms share: "cortical and anterior subcapsular cataract"."""

_IN_BRACKET: Final = 2
"""Words of a bracket that a name may have within: "dry (atrophic) AMD"."""

_MANY: Final = 1000
"""First words of the lexicon's forms, at least: other tries (an article's own short forms) have fewer."""

_STEM: Final = 4
"""Letters that two words of one origin share: "epithelium" and "epithelial"."""


@dataclass(frozen=True, slots=True)
class Span:
    """Words that stand for a term: range of words, group, normal form, and the terms above it.

    Of group "other" are words that look like a term and are none ("mass effect").
    """

    first: int
    end: int
    group: EntityGroup | Literal["other"]
    term: str
    broader: tuple[str, ...] = ()


Trie = dict[str | None, Any]
"""Forms by their words, one level a word; under None stands the form that ends there."""


def trie_of(forms: Iterable[Form]) -> Trie:
    """Return the forms as a trie."""
    root: Trie = {}
    for form in forms:
        node = root
        for word in form:
            node = node.setdefault(word, {})
        node[None] = form
    return root


@cache
def _shipped_trie() -> Trie:
    lexicon = shipped_lexicon()
    return trie_of((*lexicon.forms, *lexicon.ambiguous))


def load_lexicon() -> None:
    """Read the lexicon, so that this counts against no article.

    Raises:
        SystemicError: it cannot be read.
    """
    _shipped_trie()


def matches(words: Words, trie: Trie) -> Iterator[tuple[int, int, Form]]:
    """Yield every form in a text with its range of words: at most as many steps a word as the longest form has.

    A short bracket inside a name is passed over: "neovascular (wet) age-related macular degeneration".
    """
    count, read = len(words), [tuple(words.alternatives(index)) for index in range(len(words))]
    passes = len(trie) > _MANY
    for first in range(count):
        nodes, end = [trie], first
        while nodes and end < count:
            if passes and end > first and words.keys[end] == "(":
                end = _past_bracket(words, end)
            nodes = [node[word] for node in nodes for word in read[end] if word in node] if end < count else []
            end += 1
            ended = {node[None] for node in nodes if None in node}
            yield from ((first, end, form) for form in sorted(ended))


def _past_bracket(words: Words, index: int) -> int:
    """Index after a bracket of `_IN_BRACKET` words at most that begins at an index; the index itself without one."""
    for after in range(index + 2, min(index + 2 + _IN_BRACKET, len(words) - 1)):
        if words.keys[after] == ")":
            return after + 1 if words.keys[after + 1].isalpha() else index
    return index


@dataclass(frozen=True, slots=True)
class Definitions:
    """What an article's own abbreviations stand for; None for a thing outside the lexicon."""

    terms: Mapping[Form, Term | None]
    trie: Trie


def read_definitions(definitions: Mapping[str, str]) -> Definitions:
    """Return an article's abbreviations (short form: long form) as terms.

    A long form that is a term, or mostly one, is that term. Else a known meaning of the short form stands if its name
    has half of its words in common with the long form ("retinal pigment epithelial"); else the short form is no term.
    """
    lexicon = shipped_lexicon()
    terms = {form_of(short): _defined(lexicon, form_of(short), long) for short, long in definitions.items() if short}
    return Definitions(terms, trie_of(terms))


def _defined(lexicon: Lexicon, short: Form, long: str) -> Term | None:
    words = words_of(long)
    found = [match for match in matches(words, _shipped_trie()) if match[2] in lexicon.forms]
    if found:
        first, end, form = max(found, key=lambda match: (match[1] - match[0], match[1]))
        if 2 * (end - first) > len(words):
            return lexicon.forms[form]
    stems = {key[:_STEM] for key in words.keys}
    known = [lexicon.forms[short]] if short in lexicon.forms else []
    known += [meaning.term for meaning in lexicon.ambiguous.get(short, ()) if meaning.term]
    shared = [(_share_of_words(term, stems), term) for term in known]
    best = max(shared, key=lambda pair: pair[0], default=(0.0, None))
    return best[1] if best[0] >= 0.5 else None


def _share_of_words(term: Term, stems: Set[str]) -> float:
    names = [words_of(name).keys for name in (term.name, *term.synonyms) if " " in name]
    return max((sum(key[:_STEM] in stems for key in keys) / len(keys) for keys in names), default=0.0)


def context_of(words: Words) -> frozenset[str]:
    """Return the words of a text that may speak for a meaning: its keys, acronyms, and whether it is of eyes."""
    lexicon = shipped_lexicon()
    known = (lexicon.forms.get(form) for _, _, form in matches(words, _shipped_trie()))
    of_eyes = {EYE_CONTEXT} if any(term is not None and _is_of_eyes(lexicon, term) for term in known) else set()
    return frozenset((*words.keys, *(f"={word}" for word in words.capitals if word), *of_eyes))


@cache
def _terms_of_eyes() -> frozenset[Term]:
    lexicon = shipped_lexicon()
    groups = {"eye", "disease", "finding", "anatomy", "imaging", "device"}
    return frozenset(
        term
        for term in lexicon.terms.values()
        if term.group in groups
        and not _OF_OTHER_FIELDS & {term.name, *lexicon.broader(term)}
        # "hemorrhage", "granuloma": findings without a place
        and (term.group != "finding" or term.parents)
    )


def _is_of_eyes(lexicon: Lexicon, term: Term) -> bool:
    return term in _terms_of_eyes()


def spans_of_terms(words: Words, definitions: Definitions, own: Set[str], around: Set[str]) -> list[Span]:
    """Return all terms that a text names, also those within others, and what only looks like one (group "other").

    Args:
        words: of the text.
        definitions: the article's own abbreviations.
        own: the text's words (`context_of`): they decide what an ambiguous form means.
        around: words of the other texts about the panel: they decide where the text's own do not.
    """
    lexicon = shipped_lexicon()
    found: dict[tuple[int, int], Term | None] = {}
    for first, end, form in matches(words, _shipped_trie()):
        if form in lexicon.ambiguous:
            meanings = lexicon.ambiguous[form]
            meant = _meant(form, meanings, own) or _meant(form, meanings, around)
            if meant is not None or end > first + 1:
                found[first, end] = meant
        else:
            found[first, end] = lexicon.forms[form]
    for first, end, form in matches(words, definitions.trie):
        found[first, end] = definitions.terms[form]
    return [
        Span(first, end, "other", "")
        if term is None
        else Span(first, end, term.group, term.name, lexicon.broader(term))
        for (first, end), term in found.items()
    ]


def _meant(form: Form, meanings: tuple[Meaning, ...], context: Set[str]) -> Term | None:
    """The one meaning for which most words speak; a word counts twice as much as a text of eyes."""
    others = context - {" ".join(form)}
    votes = [sum(1 if word == EYE_CONTEXT else 2 for word in meaning.words & others) for meaning in meanings]
    most = max(votes, default=0)
    return meanings[votes.index(most)].term if most and votes.count(most) == 1 else None


def with_shared_heads(words: Words, spans: Sequence[Span]) -> list[Span]:
    """Return the spans, and those that share their last words with one.

    "Retinal and subretinal hemorrhages" names both, "central and branch retinal vein occlusion", too.

    Args:
        words: of the text.
        spans: disjoint, in the text's order; those that a found one covers are left out ("retinal").
    """
    lexicon = shipped_lexicon()
    found: list[Span] = []
    for span in spans:
        end = span.first
        # "early, dry AMD" is one disease: the last two of a list stand about a conjunction.
        listed = words.keys[end - 1] in _CONJUNCTIONS if end else False
        while listed and span.end > span.first + 1 and (before := _before_conjunction(words, end)):
            named = _with_head(words, lexicon, before, span)
            if named is None:
                break
            found.append(named)
            end = named.first
    covered = {index for span in found for index in range(span.first, span.end)}
    kept = [span for span in spans if not covered & {*range(span.first, span.end)}]
    return sorted([*kept, *found], key=lambda span: span.first)


def _before_conjunction(words: Words, end: int) -> int:
    """Index after the word that conjunctions ("and", ", or") or a comma join to the one at `end`; 0 without one."""
    first = end
    while first > 0 and words.keys[first - 1] in _JOINING:
        first -= 1
    return first if first < end else 0


def _with_head(words: Words, lexicon: Lexicon, end: int, span: Span) -> Span | None:
    """The term of a span's group that the words up to `end` make with the span's last words, as many as fit."""
    for head in range(span.first + 1, span.end):
        for first in range(max(0, end - _MOST_MODIFIERS), end):
            for form in _forms_of(words, (*range(first, end), *range(head, span.end))):
                term = lexicon.forms.get(form)
                if term is not None and term.group == span.group and term.name != span.term:
                    return Span(first, end, term.group, term.name, lexicon.broader(term))
    return None


def joined_terms(words: Words, head: Span, places: Iterable[range]) -> dict[str, Span]:
    """Return the terms of its group that a head makes with words elsewhere, by their names.

    "Choroidal" (lesion) and "nevus" make "choroidal nevus".
    """
    lexicon = shipped_lexicon()
    found: dict[str, Span] = {}
    for place in places:
        for form in _forms_of(words, (*place, *range(head.first, head.end))):
            term = lexicon.forms.get(form)
            if term is not None and term.group == head.group:
                found[term.name] = Span(head.first, head.end, term.group, term.name, lexicon.broader(term))
    return found


def readings(words: Words, indices: Iterable[int]) -> list[tuple[str, ...]]:
    """Return the ways to read the words at some indices."""
    return [tuple(words.alternatives(index)) for index in indices]


def named_by(read: Iterable[Sequence[str]]) -> Term | None:
    """Return the term that words make, each read in one of its ways; None where they make none."""
    forms = shipped_lexicon().forms
    return next((forms[form] for form in _forms_read(read) if form in forms), None)


def placed_term(place: Span, head: Sequence[Sequence[str]]) -> Term | None:
    """Return the term that the words of a head make with a place that stands elsewhere, or with its other names.

    "Ulcer" of the "cornea" is "corneal ulcer", "nevus" of the "bulbar conjunctiva" a "conjunctival nevus".

    Args:
        place: a term: a place, or a cause ("retinopathy" due to "diabetes").
        head: how the head's words may be read.
    """
    lexicon = shipped_lexicon()
    if place.group == "other":
        return None
    terms = [lexicon.terms.get((place.group, name)) for name in (place.term, *place.broader) if name not in _WIDEST]
    names = (name for term in terms if term is not None for name in (term.name, *term.synonyms))
    return next((found for name in names if (found := named_by([*_read(name), *head]))), None)


@cache
def _read(name: str) -> tuple[tuple[str], ...]:
    """The words of a lexicon's name, each read in its one way."""
    return tuple((word,) for word in form_of(name))


def span_of(term: Term, first: int, end: int) -> Span:
    """Return the span of a term at a range of words."""
    return Span(first, end, term.group, term.name, shipped_lexicon().broader(term))


def _forms_of(words: Words, indices: Sequence[int]) -> list[Form]:
    """The forms that the words at some indices are, read in all their ways."""
    return _forms_read(readings(words, indices))


def _forms_read(read: Iterable[Sequence[str]]) -> list[Form]:
    nodes = [_shipped_trie()]
    for alternatives in read:
        nodes = [node[word] for node in nodes for word in alternatives if word in node]
        if not nodes:
            return []
    return sorted(node[None] for node in nodes if None in node)


def longest_spans(words: Words, spans: Iterable[Span]) -> list[Span]:
    """Return the spans that lie in no longer one and overlap none, in the text's order."""
    taken = bytearray(len(words))
    chosen = []
    for span in sorted(spans, key=lambda span: (words.starts[span.first] - words.ends[span.end - 1], span.first)):
        if not any(taken[span.first : span.end]):
            taken[span.first : span.end] = b"\1" * (span.end - span.first)
            chosen.append(span)
    return sorted(chosen, key=lambda span: span.first)
