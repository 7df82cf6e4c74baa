"""Checks of a summary that a language model wrote: nothing in it that its sources do not say.

The sources are the panel's subcaption, the sentences that speak of it, and the long forms of its abbreviations. A
check gives the reason, in words that the model can act on, why an answer does not fit. Every word must be a source's or
one of the few that say nothing of their own (`PLAIN_WORDS`); every number a source's with its unit and its sign of
comparison; and what qualifies a word (side, negation, doubt, before and after, more and less, …) must be what qualifies
it in some source. What these checks cannot see: who did what to whom, where both stand in one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from pmo_assets.pipeline.articles.mentions import sentence_spans
from pmo_assets.pipeline.articles.references import label_key, references
from pmo_assets.pipeline.context.panel_names import panel_names
from pmo_assets.pipeline.context.qualifiers import (
    BREAK,
    DOUBTED,
    LOOSE_BREAK,
    NEGATED,
    QUALIFIERS,
    is_qualifier,
    qualified_terms,
    said_terms,
    statements,
)
from pmo_assets.pipeline.context.stated_numbers import is_number_word, numbers_of, unit_words
from pmo_assets.pipeline.context.summaries import MAX_WORDS, word_count
from pmo_assets.pipeline.context.terms import PLAIN_WORDS, stem, words_of
from pmo_assets.pipeline.prompting.asking import MisfittingAnswer
from pmo_assets.records.context import Abbreviation

MAX_SOURCE: Final = 40_000
"""Characters of sources that are compared."""

_MAX_ANSWER: Final = 4_000
_QUOTED: Final = 8
_FEWEST_TERMS: Final = 3
_SUPPORTED: Final = 0.5
"""Share of the words of a statement that one source sentence has, or it is put together from several."""

_META: Final = re.compile(
    r"target (?:sub)?figure|\bthe (?:sub)?caption\b|\bcontext\b.{0,20}\b(?:states|says|mentions|describes"
    r"|does not)|not (?:explicitly )?"
    r"(?:mentioned|specified|provided|stated|described) in|no (?:further |additional |other )?(?:information|details?) "
    r"|as an ai|language model|here is|\bsummary\b|based on the (?:text|context|provided)|the provided|caption:"
    r"|\bI (?:cannot|can't)\b"
    r"|according to the text|the text (?:states|says|mentions|does not)",
    re.IGNORECASE,
)
_BRACKETED: Final = re.compile(r"\(([A-Za-z]\d?)\)")
_LETTER: Final = re.compile(r"(?<![\w.'’-])[A-Z](?![\w.'’-])")
_PLACED_PANEL: Final = re.compile(
    r"\b(left|right|top|bottom|upper|lower|middle|cent(?:er|re|ral)|first|second|third|fourth|last|other|next|previous)"
    r"(?:[- ](?:left|right|most|hand))?\s(?:sub-?)?(?:panels?|figures?|columns?|rows?)\b",
    re.IGNORECASE,
)

_SAME: Final = 0.8
"""Share of their words that two sentences have in common that say the same."""


@dataclass(frozen=True)
class SummarySources:
    """Sources of a panel's summary.

    Attributes:
        label: of its figure, as printed; None without one.
        identifier: of the panel; None for the only one.
        others: identifiers of the figure's other panels.
        subcaption: of the panel.
        sentences: that speak of it, and those of its extractive summary.
        abbreviations: with the article's long forms.
    """

    label: str | None
    identifier: str | None
    others: tuple[str, ...]
    subcaption: str
    sentences: tuple[str, ...]
    abbreviations: tuple[Abbreviation, ...] = ()

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """All sentences that may be said again, abbreviations replaced by their long forms."""
        kept: list[str] = []
        left = MAX_SOURCE
        for text in (self.subcaption, *self.sentences):
            for start, end in sentence_spans(text[:left]):
                kept.append(self.expanded(text[start:end]))
            left -= len(text)
            if left <= 0:
                break
        return tuple(kept)

    def expanded(self, text: str) -> str:
        """Return a text with long forms in place of its abbreviations, so that both are the same words."""
        for item in self.abbreviations:
            # "optical coherence tomography (OCT)" says it once.
            text = text.replace(f"{item.long} ({item.short})", item.long)
            text = re.sub(rf"(?<![^\W_]){re.escape(item.short)}s?(?![^\W_])", item.long.replace("\\", r"\\"), text)
        return text

    @cached_property
    def stems(self) -> frozenset[str]:
        """Stems of all words of the sources."""
        short = (f"{item.short}{plural}" for item in self.abbreviations for plural in ("", "s"))
        return frozenset(stem(word) for text in (*short, *self.texts) for word in words_of(text))

    @cached_property
    def numbers(self) -> Mapping[str, frozenset[tuple[str, str]]]:
        """Signs of comparison and units of each number."""
        return numbers_of(self.texts)

    @cached_property
    def qualified(self) -> Mapping[str, Mapping[str, frozenset[str]]]:
        """By group of qualifiers and by term, what qualifies the term in some sentence."""
        return qualified_terms(self.texts)

    @cached_property
    def values(self) -> Mapping[str, frozenset[str]]:
        """Values of each group of qualifiers that the sources name at all."""
        return {
            group: frozenset[str]().union(*(value for pattern, value in words if any(map(pattern.search, self.texts))))
            for group, words in QUALIFIERS.items()
        }


def fitting_summary(answer: str, sources: SummarySources) -> str:
    """Return a model's summary with single blanks, when it says nothing that its sources do not say.

    Raises:
        MisfittingAnswer: with the first reason why it does not fit.
    """
    text = " ".join(answer.split())
    if len(text) > _MAX_ANSWER or word_count(text) > MAX_WORDS:
        raise MisfittingAnswer(f"the summary has {word_count(text)} words; at most {MAX_WORDS} are allowed.")
    for check in (
        _says_something, _names_its_panel, _has_known_words, _has_known_numbers, _qualifies_alike, _denies_alike,
        _is_supported, _has_numbers_together,
    ):  # fmt: skip
        reason = check(text, sources)
        if reason is not None:
            raise MisfittingAnswer(reason)
    return text


def _says_something(text: str, sources: SummarySources) -> str | None:
    meta = _META.search(text)
    if meta is not None:
        return f'"{meta.group()}" speaks of the summary or of its task; say only what the sources say of the panel.'
    if len({stem(word) for word in words_of(text)} - PLAIN_WORDS) < _FEWEST_TERMS:
        return "the summary says nothing of the panel."
    return None


def _names_its_panel(text: str, sources: SummarySources) -> str | None:
    """Return why a text names another panel or figure."""
    own = (sources.identifier or "").casefold()
    key = label_key(sources.label) if sources.label else None
    names = panel_names([sources.identifier, *sources.others], key)
    named: list[str] = []
    for reference in references(text):
        if reference.key not in (None, key):
            return f"the summary names figure {reference.key}, which is another one."
        named += names.named(reference.names)
    others = {other.casefold() for other in sources.others}
    named += [match.group(1) for match in _BRACKETED.finditer(text) if match.group(1).casefold() in others]
    named += [
        letter
        for letter in _LETTER.findall(text)
        if letter.casefold() in others and not re.search(rf"(?<![\w-]){letter}(?![\w-])", sources.subcaption)
    ]
    for panel in named:
        if panel.casefold() != own:
            return f'the summary names panel "{panel}", which is another one.'
    placed = _PLACED_PANEL.search(text)
    if placed is not None and placed.group(1).casefold() not in own.split():
        return f'the summary speaks of another panel ("{placed.group()}").'
    return None


def _has_known_words(text: str, sources: SummarySources) -> str | None:
    """Return which words a text has that no source has."""
    shown = sources.expanded(text)
    allowed = frozenset(words_of(shown)) - _unsourced_qualifiers(shown, sources)
    units = unit_words(shown)
    unknown = [
        word
        for word in dict.fromkeys([*words_of(text), *words_of(shown)])
        if not word[0].isdigit()
        and stem(word) not in sources.stems
        and stem(word) not in PLAIN_WORDS
        and word not in units
        and not is_number_word(word)
        and not (word in allowed and is_qualifier(word))
    ]
    if unknown:
        return f"these words are in none of the sources: {', '.join(unknown[:_QUOTED])}. Use the sources' own words."
    return None


def _unsourced_qualifiers(text: str, sources: SummarySources) -> frozenset[str]:
    """Return the words of a text that say more of something, or doubt it, where no source says or doubts it."""
    found: set[str] = set()
    for group, words in QUALIFIERS.items():
        for pattern, value in words:
            if not value <= sources.values[group]:
                found |= {word for match in pattern.finditer(text) for word in words_of(match.group())}
    for pattern in (NEGATED, DOUBTED):
        if not any(map(pattern.search, sources.texts)):
            found |= {word for match in pattern.finditer(text) for word in words_of(match.group())}
    return frozenset(found)


def _has_known_numbers(text: str, sources: SummarySources) -> str | None:
    """Return which number of a text no source has, or has with another unit or sign."""
    for value, said in numbers_of([sources.expanded(text)]).items():
        known = sources.numbers.get(value)
        if known is None:
            return f"the number {value} is in none of the sources."
        for sign, unit in sorted(said):
            if unit not in {unit for _, unit in known}:
                there = ", ".join(sorted(f"{value} {unit}".strip() for _, unit in known))
                return f'"{value} {unit}'.rstrip() + f'" is in none of the sources; they have {there}.'
            if sign not in {sign for sign, _ in known}:
                return (
                    f'"{sign} {value}'.strip() + f'" is in none of the sources: the sign before {value} is another one.'
                )
    return None


_SAID: Final = {"denied": ("denied", "not denied"), "doubted": ("in doubt", "certain")}


def _qualifies_alike(text: str, sources: SummarySources) -> str | None:
    """Return what a text says of a word that its sources say otherwise."""
    for group, terms in qualified_terms([sources.expanded(text)]).items():
        known = sources.qualified[group]
        for term, values in sorted(terms.items()):
            there = known.get(term)
            values = values & {"both"} or values  # "both eyes" is not said of what the sources say of one
            if there and not values & there:
                if group in _SAID:
                    yes, no = _SAID[group]
                    said, meant = (yes, no) if "yes" in values else (no, yes)
                    return f'"{term}…" is {said} in the summary, but {meant} in the sources.'
                return (
                    f'the summary says "{", ".join(sorted(values))}" of "{term}…", '
                    f'the sources say "{", ".join(sorted(there))}".'
                )
    return None


def _denies_alike(text: str, sources: SummarySources) -> str | None:
    """Return which statement denies twice, and which sentence denies or doubts what a source says in the same words."""
    shown = sources.expanded(text)
    for start, end in sentence_spans(shown):
        sentence = shown[start:end]
        if any(sentence in source for source in sources.texts):
            continue
        for part in statements(sentence, BREAK):
            if len(NEGATED.findall(part)) > 1 and not re.search(r"\b(?:neither|nor|not only)\b", part, re.IGNORECASE):
                return f'"{part.strip()}" denies twice; say it plainly.'
        terms = said_terms(sentence)
        for source in sources.texts:
            known = said_terms(source)
            if len(terms & known) < _SAME * len(terms | known):
                continue
            if bool(NEGATED.search(sentence)) != bool(NEGATED.search(source)):
                return f'of "{sentence}" and its source only one denies.'
            if DOUBTED.search(source) and not DOUBTED.search(sentence):
                return f'"{sentence}" leaves out the doubt of its source.'
    return None


def _is_supported(text: str, sources: SummarySources) -> str | None:
    """Return which statement is put together from words of several sentences that no one of them makes."""
    shown = sources.expanded(text)
    known = [said_terms(source) for source in sources.texts]
    for start, end in sentence_spans(shown):
        for part in statements(shown[start:end], BREAK):
            terms = said_terms(part)
            if len(terms) < _FEWEST_TERMS:
                continue
            if max((len(terms & source) for source in known), default=0) < _SUPPORTED * len(terms):
                return f'no source says "{part.strip()}": its words come from different sentences.'
    return None


def _has_numbers_together(text: str, sources: SummarySources) -> str | None:
    """Return which numbers of a statement stand in no source sentence together, with some of its words."""
    shown = sources.expanded(text)
    known = [(numbers_of([source]), said_terms(source)) for source in sources.texts]
    for start, end in sentence_spans(shown):
        for part in statements(shown[start:end], LOOSE_BREAK):
            numbers = numbers_of([part])
            terms = said_terms(part)
            if numbers and not any(
                all(_signs(said) <= _signs(there.get(value, ())) for value, said in numbers.items())
                and len(terms & words) >= min(_SUPPORTED * len(terms), len(numbers) + 1)
                for there, words in known
            ):
                return f'no source says "{part.strip()}" with {" and ".join(numbers)} together.'
    return None


def _signs(said: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Return signs without units: the end of a list, where its unit stands, may be in the next statement."""
    return frozenset(sign for sign, _ in said)
