"""Diseases that no list names, by how their names are made.

A cause or a form before a disease makes a narrower one ("cabergoline-associated retinopathy", "bullous retinoschisis");
a word's ending makes it a disease ("sclerokeratitis"); a person's name, or a word that describes, makes one of a head
that says nothing alone ("Purtscher-like syndrome"). Add here: ways in which new names are made. Keep out: names
(`pmo_assets/lexicon`), and listed ones in another order (`word_order`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from pmo_assets.lexicon.terms import form_of, lexicon_data, shipped_lexicon
from pmo_assets.lexicon.words import Words, word_key
from pmo_assets.pipeline.context.lexicon import Span
from pmo_assets.pipeline.context.word_order import adjoin, load_orders, reordered_names

PACKAGE_DATA = ("lexicon/data",)
"""Files of the package that this module reads."""

OTHER_DISEASE: Final = "other disease"
"""The term above diseases that no other term of the lexicon is above of."""

_HYPHENS: Final = frozenset("-‐‑‒–")
_MOST: Final = 4
"""Words before a disease that become part of its name."""

_LEAST: Final = 7
"""Letters of a word that its ending makes a disease."""

_HEAD: Final = 6
"""Letters of a known disease at the end of a word that is within it: "sclerokeratitis"."""


@dataclass(frozen=True, slots=True)
class _Makings:
    modifiers: frozenset[tuple[str, ...]]
    links: frozenset[str]
    endings: tuple[str, ...]
    no_endings: frozenset[str]
    named: frozenset[str]
    described: frozenset[str]
    adjectives: tuple[str, ...]
    no_names: frozenset[str]


@cache
def _makings() -> _Makings:
    read = lexicon_data("composition")
    keys = {name: frozenset(map(word_key, read["heads"][name])) for name in ("named", "described", "none")}
    return _Makings(
        frozenset(
            form_of(word.lower()) for words in (read["modifiers"]["cause"], read["modifiers"]["form"]) for word in words
        ),
        frozenset(map(word_key, read["modifiers"]["links"])),
        tuple(word_key(ending) if len(ending) > 4 else ending for ending in read["endings"]["disease"]),
        frozenset(map(word_key, read["endings"]["none"])),
        keys["named"],
        keys["described"],
        tuple(read["heads"]["adjectives"]),
        keys["none"],
    )


def load_makings() -> None:
    """Read how names are made, so that this counts against no article.

    Raises:
        SystemicError: it cannot be read.
    """
    _makings()
    _known_endings()
    load_orders()


@cache
def _known_endings() -> Mapping[str, str]:
    """Terms of diseases by their names of one word, as keys, that end longer words."""
    lexicon = shipped_lexicon()
    return {
        form[0]: term.name
        for form, term in lexicon.forms.items()
        if term.group == "disease" and len(form) == 1 and len(form[0]) >= _HEAD and not form[0].startswith("=")
    }


def with_composed_names(words: Words, spans: Sequence[Span]) -> list[Span]:
    """Return the spans, and the diseases that words before, behind and without them make, in time linear in the words.

    A narrower disease takes the place of the one whose name it ends with; what its words were before (a drug, a place)
    is part of it. Its term is the name as it stands, in lower case where it names no person.

    Args:
        words: of the text.
        spans: disjoint, in the text's order.
    """
    taken = {index: span for span in spans for index in range(span.first, span.end)}
    made: dict[int, Span] = {}
    for span in [*reordered_names(words, spans), *_by_heads(words, taken)]:
        if not any(index in made for index in range(span.first, span.end)):
            made |= dict.fromkeys(range(span.first, span.end), span)
    found = {id(span): span for span in made.values()}
    # A span that a made one covers is part of it.
    heads = [*found.values(), *(span for span in spans if not any(k in made for k in range(span.first, span.end)))]
    heads.sort(key=lambda span: span.first)
    result: list[Span] = []
    for span in heads:
        wider = _narrowed(words, span, taken) if span.group == "disease" else span
        while result and result[-1].end > wider.first:
            result.pop()
        result.append(wider)
    return result


def _by_heads(words: Words, taken: Mapping[int, Span]) -> list[Span]:
    """Words that are diseases by their ending, and heads with a name before them."""
    makings = _makings()
    lexicon = shipped_lexicon()
    found = []
    for index, key in enumerate(words.keys):
        if index in taken:
            continue
        if key in makings.named:
            first = _begin_of_name(words, index, taken)
            if first < index:
                above = lexicon.forms.get((key,))
                broader = (
                    (above.name, *lexicon.broader(above)) if above and above.group == "disease" else (OTHER_DISEASE,)
                )
                found.append(Span(first, index + 1, "disease", _name(words, first, index + 1), broader))
        elif (
            len(key) >= _LEAST
            and key.endswith(makings.endings)
            and key not in makings.no_endings
            and not words.capitals[index]
            and not _follows_disease(words, index, taken)
        ):
            found.append(Span(index, index + 1, "disease", _name(words, index, index + 1), _above(key)))
    return found


def _follows_disease(words: Words, index: int, taken: Mapping[int, Span]) -> bool:
    """Whether a disease stands before a word, which then says its kind: "prolactinoma adenoma"."""
    before = taken.get(index - 1)
    return before is not None and before.group == "disease" and adjoin(words, index - 1)


def _above(key: str) -> tuple[str, ...]:
    """The terms above a disease by the longest known one that its name ends with."""
    lexicon = shipped_lexicon()
    for start in range(1, len(key) - _HEAD + 1):
        if (name := _known_endings().get(key[start:])) is not None:
            return (name, *lexicon.broader(lexicon.terms["disease", name]))
    return (OTHER_DISEASE,)


def _begin_of_name(words: Words, head: int, taken: Mapping[int, Span]) -> int:
    """Index of the first word of the name before a head; the head's own where none stands before it."""
    makings = _makings()
    first = head
    while first > 0 and head - first < _MOST and first - 1 not in taken and _is_name(words, first - 1, head):
        first -= 1
    if first == head:
        key = words.keys[head - 1] if head else ""
        describes = (
            words.keys[head] in makings.described and head - 1 not in taken and len(key) > 5
            and key.endswith(makings.adjectives) and key not in makings.no_names
            and adjoin(words, head - 1)
        )  # fmt: skip
        return head - 1 if describes else head
    return first


def _is_name(words: Words, index: int, head: int) -> bool:
    """Whether a word is a person's name, or a part of one, that stands before a head."""
    text = words.text[words.starts[index] : words.ends[index]]
    plain = text.removesuffix("'s").removesuffix("’s")
    if (
        not adjoin(words, index)
        or not plain[:1].isupper()
        or len(plain) < 3
        or words.keys[index] in _makings().no_names
    ):
        return False
    if not plain[1:].islower():
        return plain.isupper() and plain.isalpha() and len(plain) <= 6 and index == head - 1
    if plain != text:
        return True
    # The first word of a sentence is written like a name; part of a double one it is one.
    before = words.text[: words.starts[index]].rstrip()
    opens = not before or before[-1] in ".:;!?()[]"
    joined = words.text[words.ends[index] : words.starts[index + 1]] in _HYPHENS or index + 1 < head
    return joined or not opens


def _narrowed(words: Words, span: Span, taken: Mapping[int, Span]) -> Span:
    """A disease with the causes and forms before it; itself where there are none."""
    makings = _makings()
    first = span.first
    while first > 0 and span.first - first < _MOST:
        begin = _modifier(words, first, taken, makings)
        if begin == first:
            break
        first = begin
    if first == span.first:
        return span
    above = () if span.term == OTHER_DISEASE else (span.term,)
    return Span(first, span.end, "disease", _name(words, first, span.end), (*above, *span.broader))


def _modifier(words: Words, end: int, taken: Mapping[int, Span], makings: _Makings) -> int:
    """Index of the first word of the modifier that ends before `end`; `end` where none does."""
    if not adjoin(words, end - 1):
        return end
    key = words.keys[end - 1]
    if key in makings.links and end > 1 and words.text[words.ends[end - 2] : words.starts[end - 1]] in _HYPHENS:
        span = taken.get(end - 2)
        if span is not None and span.group == "disease":  # "AMD-related CNV" are two
            return end
        first = span.first if span is not None and span.end == end - 1 else end - 2
        # Numbers are words of their own: "PRPF31", "IgG4".
        while first > 0 and words.ends[first - 1] == words.starts[first] and words.keys[first - 1].isalnum():
            first -= 1
        return first
    for first in (end - 2, end - 1):
        if first < 0 or (first < end - 1 and not adjoin(words, first)):
            continue
        own = taken.get(first)
        if tuple(words.keys[first:end]) in makings.modifiers and (own is None or own.first >= first):
            return first
    return end


def _name(words: Words, first: int, end: int) -> str:
    """The words of a name, in lower case but for those of persons and acronyms."""
    parts = []
    for index in range(first, end):
        text = words.text[words.starts[index] : words.ends[index]]
        plain = text.removesuffix("'s").removesuffix("’s")
        person = index < end - 1 and words.keys[end - 1] in _makings().named and _is_name(words, index, end - 1)
        parts.append(plain if words.capitals[index] or person else plain.lower())
        if index + 1 < end:
            between = words.text[words.ends[index] : words.starts[index + 1]]
            parts.append("" if not between else "-" if between in _HYPHENS else " ")
    return "".join(parts)
