"""The running text of an article as its summaries read it: sentences with their terms, and what each term weighs."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pmo_assets.pipeline.articles.mentions import sentence_spans
from pmo_assets.pipeline.articles.references import figure_references
from pmo_assets.pipeline.context.abbreviations import defined_abbreviations
from pmo_assets.pipeline.context.terms import GENERAL_WORDS, stem, terms_of
from pmo_assets.records.context import Abbreviation, RunningParagraph, SectionClass

MAX_TEXT: Final = 2_000_000
"""Characters of running text that are searched for further sentences; a long monograph has a million."""

GENERAL_TERMS: Final = frozenset(map(stem, GENERAL_WORDS))
"""Terms of every article, which weigh nothing."""

_POINTS_ELSEWHERE: Final = re.compile(
    r"\b(?:Tables?|Movies?|Videos?|Supplementary|Appendix|Algorithm)\s?\w{0,3}\d|\bEqs?\b|\bEquations?\b"
)


_FEWEST_WORDS: Final = 5
"""Words that a sentence has besides its references, or it says nothing: "See Figure 2."."""

_FEWEST_TERMS: Final = 3
"""Terms of its own that it has."""

TELLING_SECTIONS: Final[frozenset[SectionClass]] = frozenset(("methods", "results", "case", "other"))
"""Sections whose sentences tell of what was done and seen here; the others speak of what is known."""

_OF_OTHERS: Final = re.compile(
    r"\b(?:previous(?:ly)?|literature|et al|other (?:authors|studies|reports)|(?:was|were"
    r"|been) (?:also )?(?:first )?reported"
    r"|(?:we|to) (?:report|present|describe)|(?:this|our|present) (?:report|study|paper|article|work))\b",
    re.IGNORECASE,
)
_ENDED: Final = re.compile(r"[.!?][\"'”’)\]]{0,3}\d{0,3}\Z")
_CITES: Final = re.compile(r"\[\d")
_DEPENDS: Final = re.compile(
    r"[\"'“‘(]?(?:This|These|Those|That|It|Its|They|Their|Such|He|She|His|Her|Both|Then|However|Moreover|Furthermore"
    r"|Also|Therefore|Thus|Hence|Again|Similarly|Likewise|Conversely|Instead|Nevertheless|Otherwise|And|But|So"
    r"|In addition|In contrast|On the other hand|As a result|For example|For instance|The same|The latter|The former"
    r"|The other|Another|Here)\b"
)
_REFERENCE: Final = re.compile(
    r"\(?\b(?:see|as shown in|shown in)?\s?(?:fig(?:ure)?s?|table)s?\b\.?\s?\w{1,4}(?:[\s,(–-]{0,2}\w?\)?)?\)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class TextSentence:
    """A sentence of the running text, with its terms.

    Attributes:
        names_figure: it names a figure.
        refers: it names a figure, a table or the like.
    """

    paragraph: int
    start: int
    end: int
    text: str
    section: SectionClass
    section_title: str | None
    terms: frozenset[str]
    names_figure: bool
    refers: bool


@dataclass(frozen=True)
class ArticleText:
    """The running text of an article, read once for all its panels.

    Attributes:
        sentences: in the text's order.
        weight: of each term, 0..1: 1 for one that occurs in a single sentence, 0 for one in every sentence, and for
            words of every article.
        places: (paragraph, start) of a sentence to its position among `sentences`.
        by_term: positions of the sentences that have a term.
        captions: terms of the caption of each figure.
        title: its terms.
        abbreviations: that the article defines.
    """

    sentences: tuple[TextSentence, ...]
    weight: Mapping[str, float]
    places: Mapping[tuple[int, int], int]
    by_term: Mapping[str, Sequence[int]]
    captions: tuple[frozenset[str], ...]
    title: frozenset[str]
    abbreviations: tuple[Abbreviation, ...]


def article_text(
    paragraphs: Sequence[RunningParagraph], captions: Iterable[str], title: str | None = None
) -> ArticleText:
    """Return the sentences of an article with the weights of their terms; of longer texts the first `MAX_TEXT`.

    Args:
        paragraphs: the running text.
        captions: of all figures: what they all speak of tells none of them from another.
        title: of the article; None when it is not known.
    """
    sentences: list[TextSentence] = []
    searched = 0
    for number, paragraph in enumerate(paragraphs):
        if searched + len(paragraph.text) > MAX_TEXT:
            break
        searched += len(paragraph.text)
        spans = sentence_spans(paragraph.text)
        starts = [start for start, _ in spans]
        linked = {bisect_right(starts, reference.offset) - 1 for reference in paragraph.references}
        for n, (start, end) in enumerate(spans):
            text = paragraph.text[start:end]
            names_figure = n in linked or bool(figure_references(text))
            refers = names_figure or _POINTS_ELSEWHERE.search(text) is not None
            sentences.append(
                TextSentence(
                    number,
                    start,
                    end,
                    text,
                    paragraph.section,
                    paragraph.section_title,
                    terms_of(text),
                    names_figure,
                    refers,
                )
            )
    counts = Counter(term for sentence in sentences for term in sentence.terms)
    most = math.log(len(sentences) + 1) or 1.0
    by_term: dict[str, list[int]] = {}
    for n, sentence in enumerate(sentences):
        for term in sentence.terms:
            by_term.setdefault(term, []).append(n)
    return ArticleText(
        tuple(sentences),
        {term: 0.0 if term in GENERAL_TERMS else (1 - math.log(count) / most) ** 2 for term, count in counts.items()},
        {(sentence.paragraph, sentence.start): n for n, sentence in enumerate(sentences)},
        by_term,
        tuple(map(terms_of, captions)),
        terms_of(title or "") - GENERAL_TERMS,
        defined_abbreviations(paragraph.text for paragraph in paragraphs),
    )


def depends(text: str) -> bool:
    """Say whether a sentence goes on from the one before: "This …", "However, …"."""
    return _DEPENDS.match(text) is not None


def is_ended(text: str) -> bool:
    """Say whether a sentence ends as one does: titles do not."""
    return _ENDED.search(text) is not None


def tells_of_others(text: str) -> bool:
    """Say whether a sentence tells of others' work, or of the article itself."""
    return _OF_OTHERS.search(text) is not None or _CITES.search(text) is not None


def is_fragment(text: str) -> bool:
    """Say whether a sentence says nothing by itself besides its references: "The results are shown in Figure 2."."""
    said = _REFERENCE.sub(" ", text)
    return len(said.split()) < _FEWEST_WORDS or len(terms_of(said) - GENERAL_TERMS) < _FEWEST_TERMS
