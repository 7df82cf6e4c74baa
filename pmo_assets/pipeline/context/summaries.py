"""Summary of a panel without a model: the sentences of the article that speak of it, verbatim, with their places.

First the sentences that name the panel, then those that carry on from them, then those about the figure as a whole, and
at last a few others that share rare terms with the subcaption: methods, conditions, the same finding in other words.
A sentence that speaks of other panels or figures only stays out.
"""

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
from pmo_assets.pipeline.context.abbreviations import defined_abbreviations, used_abbreviations
from pmo_assets.pipeline.context.panel_mentions import mentions_of_panel
from pmo_assets.pipeline.context.terms import GENERAL_WORDS, stem, terms_of
from pmo_assets.records.context import (
    Abbreviation,
    PanelMention,
    PanelSummary,
    RunningParagraph,
    SectionClass,
    SourceSentence,
)

MAX_WORDS: Final = 250
"""Words of a summary at most (OPEN-PMC)."""

MAX_TEXT: Final = 2_000_000
"""Characters of running text that are searched for further sentences; a long monograph has a million."""

MAX_FURTHER: Final = 3
"""Sentences at most that name neither panel nor figure."""

_LEAST_SHARED: Final = 0.4
_LEAST_NEAR: Final = 0.25
_LEAST_TERMS: Final = 2
_RARE: Final = 0.35
"""What a further sentence shares with the subcaption: so much of the subcaption's weight, and so many terms that are
rare: that weigh so much of the most that a term can weigh. Beside a chosen sentence, in its paragraph, less will do."""

_ENOUGH: Final = 4.0
"""Weight of a subcaption's terms beyond which a longer one asks for no more."""
_MARGIN: Final = 0.25
"""What terms of one other panel weigh at least, so that a sentence about the figure is about that one."""
_ABOUT_IT: Final = 0.2
"""Share of a further sentence's own weight that it shares: a long sentence has two rare terms by chance."""

_FEWEST_WORDS: Final = 5
"""Words that a sentence has besides its references, or it says nothing: "See Figure 2."."""

_FEWEST_TERMS: Final = 3
"""Terms of its own that it has."""

_ALIKE: Final = 0.7
"""Share of its terms from which a further sentence repeats another one."""

_TELLING: Final[frozenset[SectionClass]] = frozenset(("methods", "results", "case", "other"))
"""Sections whose sentences tell of what was done and seen here; the others speak of what is known."""

_GENERAL: Final = frozenset(map(stem, GENERAL_WORDS))
_ENDED: Final = re.compile(r"[.!?][\"'”’)\]]{0,3}\d{0,3}\Z")
_OF_OTHERS: Final = re.compile(
    r"\b(?:previous(?:ly)?|literature|et al|other (?:authors|studies|reports)|(?:was|were"
    r"|been) (?:also )?(?:first )?reported"
    r"|(?:we|to) (?:report|present|describe)|(?:this|our|present) (?:report|study|paper|article|work))\b",
    re.IGNORECASE,
)
_CITES: Final = re.compile(r"\[\d")
_WHERE_KEPT: Final = re.compile(
    r"\b(?:Zenodo|GitHub|archived|https?:|available (?:at|from|online|on request))", re.IGNORECASE
)
_CARRIES_ON: Final = re.compile(
    r"[\"'“‘(]?(?:This|These|Those|It|Its|They|Their|Such|The same|The latter|The former)\b"
)
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
_POINTS_ELSEWHERE: Final = re.compile(
    r"\b(?:Tables?|Movies?|Videos?|Supplementary|Appendix|Algorithm)\s?\w{0,3}\d|\bEqs?\b|\bEquations?\b"
)
_FORMULA: Final = re.compile(r"[=∑∫√]|\\[a-z]{2}")


@dataclass(frozen=True, slots=True)
class TextSentence:
    """A sentence of the running text, with its terms; `refers`: it names a figure, a table or the like."""

    paragraph: int
    start: int
    end: int
    text: str
    section: SectionClass
    section_title: str | None
    terms: frozenset[str]
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
        abbreviations: that the article defines.
    """

    sentences: tuple[TextSentence, ...]
    weight: Mapping[str, float]
    places: Mapping[tuple[int, int], int]
    by_term: Mapping[str, Sequence[int]]
    captions: tuple[frozenset[str], ...]
    abbreviations: tuple[Abbreviation, ...]


@dataclass(frozen=True, slots=True)
class PanelWords:
    """The panel that is summarised: its identifier, its subcaption, the subcaptions of the figure's other panels."""

    identifier: str | None
    subcaption: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Terms:
    """Terms of a panel: all of its subcaption, those that no other has, those that only others, or one other, have."""

    own: frozenset[str]
    specific: frozenset[str]
    foreign: frozenset[str]
    of_one: frozenset[str]


def article_text(paragraphs: Sequence[RunningParagraph], captions: Iterable[str]) -> ArticleText:
    """Return the sentences of an article with the weights of their terms; of longer texts the first `MAX_TEXT`.

    Args:
        paragraphs: the running text.
        captions: of all figures: what they all speak of tells none of them from another.
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
            refers = n in linked or bool(figure_references(text)) or _POINTS_ELSEWHERE.search(text) is not None
            sentences.append(
                TextSentence(
                    number, start, end, text, paragraph.section, paragraph.section_title, terms_of(text), refers
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
        {term: 0.0 if term in _GENERAL else (1 - math.log(count) / most) ** 2 for term, count in counts.items()},
        {(sentence.paragraph, sentence.start): n for n, sentence in enumerate(sentences)},
        by_term,
        tuple(map(terms_of, captions)),
        defined_abbreviations(paragraph.text for paragraph in paragraphs),
    )


def panel_summary(
    panel: PanelWords, mentions: Sequence[PanelMention], article: ArticleText, caption: str
) -> PanelSummary:
    """Return the extractive summary of a panel.

    Args:
        panel: identifier and subcaptions.
        mentions: sentences that speak of its figure or of any of its panels.
        article: the running text.
        caption: of the whole figure, one of the article's; it may define abbreviations.
    """
    terms = _panel_terms(panel)
    chosen = _told(panel, terms, mentions, article)
    for sentence in _further(terms, chosen, mentions, article, terms_of(caption)):
        _add(chosen, sentence)
    sentences = tuple(sorted(chosen.values(), key=lambda item: (item.paragraph, item.start)))
    extractive = " ".join(item.sentence for item in sentences)
    said = (item.sentence for item in own_mentions(panel, mentions))
    used = abbreviations_of(panel.subcaption, [*said, extractive], caption, article.abbreviations)
    return PanelSummary(extractive, sentences, used)


def abbreviations_of(
    subcaption: str, said: Iterable[str], caption: str, defined: Sequence[Abbreviation]
) -> tuple[Abbreviation, ...]:
    """Return the abbreviations of a panel's words, as its caption, else the article defines them.

    Args:
        subcaption: of the panel; "" without one.
        said: its mentions and its summary.
        caption: of the whole figure.
        defined: by the article's paragraphs (`defined_abbreviations`).
    """
    return used_abbreviations("\n".join((subcaption, *said)), defined_abbreviations([caption, subcaption]), defined)


def panel_words(panels: Sequence[tuple[str | None, str | None]]) -> tuple[PanelWords, ...]:
    """Return the words of each panel of a figure.

    Args:
        panels: identifier and subcaption of each; a panel without a subcaption has no words of its own.
    """
    return tuple(
        PanelWords(
            identifier,
            subcaption or "",
            tuple(other or "" for k, (_, other) in enumerate(panels) if k != n),
        )
        for n, (identifier, subcaption) in enumerate(panels)
    )


def own_mentions(panel: PanelWords, mentions: Iterable[PanelMention]) -> tuple[PanelMention, ...]:
    """Return what of a figure's mentions speaks of a panel (`mentions_of_panel`)."""
    return mentions_of_panel(mentions, panel.identifier, is_only=panel.identifier is None and not panel.others)


def word_count(text: str) -> int:
    """Return the number of words of a text, as readers count them: by white space."""
    return len(text.split())


_LAST: Final = 4
"""Rank of sentences about the figure that have more of other panels than of this one."""

_Chosen = dict[tuple[int, int], SourceSentence]


def _told(panel: PanelWords, terms: _Terms, mentions: Sequence[PanelMention], article: ArticleText) -> _Chosen:
    """Return the sentences that speak of the panel, as far as they fit, the surest first."""
    ranked: list[tuple[int, float, PanelMention]] = []
    by_panel = any(item.identifier is not None for item in mentions)  # the article tells this figure's panels apart
    seen: set[tuple[int, int]] = set()
    named = {(item.paragraph, item.start) for item in mentions if item.identifier == panel.identifier}
    elsewhere = {(item.paragraph, item.start) for item in mentions if item.identifier not in (None, panel.identifier)}
    for mention in own_mentions(panel, mentions):
        place = (mention.paragraph, mention.start)
        by_name = mention.identifier is not None and mention.kind != "follows"
        words = terms_of(mention.sentence)
        if not by_name and place in elsewhere and place not in named:
            continue  # "Figure 2 shows … (B)": it is about B
        if _is_fragment(mention.sentence) or (not by_name and _WHERE_KEPT.search(mention.sentence)):
            continue
        if mention.kind == "follows" and not (
            _CARRIES_ON.match(mention.sentence)
            or any(article.weight.get(term, 0) >= _RARE for term in words & terms.own)
        ):
            continue
        rank = (0 if by_name else 2) + (1 if mention.kind == "follows" else 0)
        shared = _shared(words, terms.own, article.weight)
        if not by_name and _is_foreign(words, terms, article.weight):
            if mention.kind == "follows" or (by_panel and _is_of_one(words, terms, article.weight)):
                continue
            rank, shared = _LAST, shared - _shared(words, terms.foreign, article.weight)
        ranked.append((rank, -shared, mention))
    chosen: _Chosen = {}
    for rank, _, mention in sorted(ranked, key=lambda item: (item[0], item[1], item[2].paragraph, item[2].start)):
        place = (mention.paragraph, mention.start)
        if place in seen or (rank == _LAST and chosen):
            continue  # of a figure of which nothing else is said, any sentence tells something
        seen.add(place)
        source = SourceSentence(mention.paragraph, mention.start, mention.end, mention.sentence)
        if _add(chosen, source) and mention.kind != "follows" and _CARRIES_ON.match(mention.sentence):
            before = _sentence_before(place, terms, article)
            if before is not None:
                _add(chosen, _source(before))
    return chosen


def _sentence_before(place: tuple[int, int], terms: _Terms, article: ArticleText) -> TextSentence | None:
    """Return the sentence that one which begins with "This …" goes back to, if it speaks of nothing else."""
    n = article.places.get(place, 0)
    if n == 0:
        return None
    before = article.sentences[n - 1]
    if before.paragraph != place[0] or before.refers or _is_foreign(before.terms, terms, article.weight):
        return None
    return before


def _further(
    terms: _Terms, chosen: _Chosen, mentions: Sequence[PanelMention], article: ArticleText, caption: frozenset[str]
) -> list[SourceSentence]:
    """Return sentences that name no figure and share rare terms with the subcaption, best first.

    Args:
        terms: of the panel.
        chosen: sentences of the summary so far.
        mentions: of the figure.
        article: the running text.
        caption: terms of the whole figure.
    """
    others = [other for other in article.captions if other != caption]
    counts = Counter(term for other in others for term in other)

    def telling(words: Iterable[str]) -> list[float]:
        """Weights of terms; less of those that captions of other figures have, too."""
        shares = ((term, 1 - counts[term] / len(others) if others else 1.0) for term in words)
        return [article.weight.get(term, 0.0) * share for term, share in shares]

    total = min(math.fsum(telling(terms.own)), _ENOUGH)
    near = {item.paragraph for item in chosen.values()}
    found: list[tuple[float, TextSentence]] = []
    for n in sorted({n for term in terms.own for n in article.by_term.get(term, ())}) if total > 0 else ():
        sentence = article.sentences[n]
        weights = telling(sentence.terms & terms.own)
        weight, is_near = math.fsum(weights), sentence.paragraph in near
        if weight / total < (_LEAST_NEAR if is_near else _LEAST_SHARED):
            continue
        if sum(one >= _RARE for one in weights) < _LEAST_TERMS or not (is_near or sentence.section in _TELLING):
            continue
        about_it = weight / math.fsum(telling(sentence.terms))
        theirs = max((math.fsum(telling(sentence.terms & other)) for other in others), default=0.0)
        if about_it >= _ABOUT_IT and weight > theirs and _is_free(sentence, terms, mentions, article):
            found.append((weight / total + about_it, sentence))
    found.sort(key=lambda item: (-item[0], item[1].paragraph, item[1].start))
    return _unrepeated([sentence for _, sentence in found], chosen)


def _is_free(sentence: TextSentence, terms: _Terms, mentions: Sequence[PanelMention], article: ArticleText) -> bool:
    """Say whether a sentence belongs to no figure, other panel or other patient, and is understood by itself."""
    cases = {item.section_title for item in mentions if item.section == "case"}
    if sentence.section == "case" and cases and sentence.section_title not in cases:
        return False
    if sentence.refers or any(
        (item.paragraph, item.start) == (sentence.paragraph, sentence.start) for item in mentions
    ):
        return False
    return _stands_alone(sentence.text) and not _is_foreign(sentence.terms, terms, article.weight)


def _unrepeated(found: Iterable[TextSentence], chosen: _Chosen) -> list[SourceSentence]:
    """Return the first few sentences that say something new."""
    said = [terms_of(item.sentence) for item in chosen.values()]
    further: list[SourceSentence] = []
    for sentence in found:
        if len(further) == MAX_FURTHER:
            break
        if all(len(sentence.terms & other) <= _ALIKE * len(sentence.terms) for other in said):
            said.append(sentence.terms)
            further.append(_source(sentence))
    return further


def _stands_alone(text: str) -> bool:
    """Say whether a sentence that names no figure is understood by itself, and tells of this article's own work."""
    if _DEPENDS.match(text) or _is_fragment(text) or not _ENDED.search(text):
        return False
    return not (_FORMULA.search(text) or _OF_OTHERS.search(text) or _CITES.search(text))


def _source(sentence: TextSentence) -> SourceSentence:
    return SourceSentence(sentence.paragraph, sentence.start, sentence.end, sentence.text)


def _add(chosen: _Chosen, source: SourceSentence) -> bool:
    """Add a sentence if the summary stays within `MAX_WORDS`; say whether it did."""
    taken = sum(word_count(item.sentence) for item in chosen.values())
    if taken + word_count(source.sentence) > MAX_WORDS:
        return False
    chosen[source.paragraph, source.start] = source
    return True


def _panel_terms(panel: PanelWords) -> _Terms:
    own = terms_of(panel.subcaption)
    counts = Counter(term for other in panel.others for term in terms_of(other))
    foreign = frozenset(counts) - own
    return _Terms(own, own - frozenset(counts), foreign, frozenset(term for term in foreign if counts[term] == 1))


def _shared(words: frozenset[str], own: frozenset[str], weight: Mapping[str, float]) -> float:
    return math.fsum(weight.get(term, 0.0) for term in words & own)


def _is_foreign(words: frozenset[str], terms: _Terms, weight: Mapping[str, float]) -> bool:
    """Say whether a sentence is about other panels: it has terms of theirs, and of this one's own less or none."""
    theirs = _shared(words, terms.foreign, weight)
    return theirs > _shared(words, terms.specific, weight)


def _is_of_one(words: frozenset[str], terms: _Terms, weight: Mapping[str, float]) -> bool:
    """Say whether a sentence is about one other panel: it has terms that only that one has, and none of this one's."""
    return _shared(words, terms.of_one, weight) > _shared(words, terms.specific, weight) + _MARGIN


def _is_fragment(text: str) -> bool:
    """Say whether a sentence says nothing by itself besides its references: "The results are shown in Figure 2."."""
    said = _REFERENCE.sub(" ", text)
    return word_count(said) < _FEWEST_WORDS or len(terms_of(said) - _GENERAL) < _FEWEST_TERMS
