"""Summary of a panel without a model: the sentences of the article that speak of it, verbatim, with their places.

First the sentences that name the panel, then those that carry on from them, then those about the figure as a whole,
then the passages around them, and at last a few others that share rare terms with the subcaption: methods, conditions,
the same finding in other words. A sentence that speaks of other panels or figures only stays out.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from pmo_assets.pipeline.articles.references import figure_references, label_key
from pmo_assets.pipeline.context.abbreviations import defined_abbreviations, used_abbreviations
from pmo_assets.pipeline.context.article_text import (
    TELLING_SECTIONS,
    ArticleText,
    TextSentence,
    depends,
    is_ended,
    is_fragment,
    tells_of_others,
)
from pmo_assets.pipeline.context.clauses import clauses_of_panel
from pmo_assets.pipeline.context.contradictions import Subjects, is_of_other_subjects, named_subjects
from pmo_assets.pipeline.context.panel_mentions import mentions_of_panel
from pmo_assets.pipeline.context.panel_names import PanelNames, panel_names
from pmo_assets.pipeline.context.passages import (
    LEAST_ODDS,
    LEAST_ODDS_OF_LITTLE,
    Neighbour,
    Surroundings,
    passage,
    say_little,
    surroundings,
)
from pmo_assets.pipeline.context.subcaption_terms import (
    SubcaptionTerms,
    is_foreign,
    shared_weight,
    subcaption_terms,
)
from pmo_assets.pipeline.context.terms import terms_of
from pmo_assets.records.context import Abbreviation, PanelMention, PanelSummary, SourceSentence

MAX_WORDS: Final = 250
"""Words of a summary at most (OPEN-PMC)."""

MAX_FURTHER: Final = 3
"""Sentences at most that name neither panel nor figure."""

MAX_NEIGHBOURS: Final = 12
"""Sentences at most that stand around mentions (`passages`)."""

_LEAST_SHARED: Final = 0.4
_LEAST_NEAR: Final = 0.25
_LEAST_TERMS: Final = 2
_RARE: Final = 0.35
"""What a further sentence shares with the subcaption: so much of the subcaption's weight, and so many terms that are
rare: that weigh so much of the most that a term can weigh. Beside a chosen sentence, in its paragraph, less will do."""

_UNSAID: Final = 0.5
"""Share of the title's weight that a case's summary must lack, so that the condition is told besides."""

_LONG: Final = 40
"""Terms of a long sentence."""

_TOLD: Final = 40
"""Words from which a summary needs no further sentences."""

_ENOUGH: Final = 4.0
"""Weight of a subcaption's terms beyond which a longer one asks for no more."""
_ABOUT_IT: Final = 0.2
"""Share of a further sentence's own weight that it shares: a long sentence has two rare terms by chance."""

_ALIKE: Final = 0.7
"""Share of its terms from which a further sentence repeats another one."""

_WHERE_KEPT: Final = re.compile(
    r"\b(?:Zenodo|GitHub|archived|https?:|available (?:at|from|online|on request))", re.IGNORECASE
)
_CARRIES_ON: Final = re.compile(
    r"[\"'“‘(]?(?:This|These|Those|It|Its|They|Their|Such|The same|The latter|The former)\b"
)
_OF_MANY: Final = re.compile(
    r"\b(?:literature|previously|cases have|are (?:rare|common|frequent)|et al)\b|\[\d", re.IGNORECASE
)
_FORMULA: Final = re.compile(r"[=∑∫√]|\\[a-z]{2}")


@dataclass(frozen=True, slots=True)
class PanelWords:
    """The panel that is summarised.

    Attributes:
        identifier: its name; None without one.
        subcaption: "" without one.
        others: subcaptions of the figure's other panels.
        names: of the figure and its panels, by which clauses about others are told; None where they are not known.
    """

    identifier: str | None
    subcaption: str
    others: tuple[str, ...] = ()
    names: PanelNames | None = None


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
    terms = subcaption_terms(panel.subcaption, panel.others)
    chosen = _told(panel, terms, mentions, article, caption)
    for sentence in _further(terms, chosen, mentions, article, terms_of(caption)):
        _add(chosen, sentence)
    condition = _condition(terms, chosen, mentions, article)
    if condition is not None:
        _add(chosen, condition)
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


def panel_words(panels: Sequence[tuple[str | None, str | None]], label: str | None = None) -> tuple[PanelWords, ...]:
    """Return the words of each panel of a figure.

    Args:
        panels: identifier and subcaption of each; a panel without a subcaption has no words of its own.
        label: of the figure as printed; None where it is not known.
    """
    names = panel_names([identifier for identifier, _ in panels], label_key(label) if label else None)
    return tuple(
        PanelWords(
            identifier,
            subcaption or "",
            tuple(other or "" for k, (_, other) in enumerate(panels) if k != n),
            names,
        )
        for n, (identifier, subcaption) in enumerate(panels)
    )


def own_mentions(panel: PanelWords, mentions: Iterable[PanelMention]) -> tuple[PanelMention, ...]:
    """Return what of a figure's mentions speaks of a panel (`mentions_of_panel`)."""
    return mentions_of_panel(mentions, panel.identifier, is_only=panel.identifier is None and not panel.others)


def word_count(text: str) -> int:
    """Return the number of words of a text, as readers count them: by white space."""
    return len(text.split())


_Place = tuple[int, int]
_Chosen = dict[_Place, SourceSentence]
_Ranked = tuple[int, float, PanelMention, list[SourceSentence]]


def _told(
    panel: PanelWords, terms: SubcaptionTerms, mentions: Sequence[PanelMention], article: ArticleText, caption: str
) -> _Chosen:
    """Return the sentences that speak of the panel and their passages, as far as they fit, the surest first.

    Where the text tells the figure's panels apart, a sentence about the whole figure in another panel's words is that
    panel's, unless the panel would be left with none; where it never does, all that is said of the figure is said of
    each. A sentence of other patients or eyes than the subcaption's is none of the panel's.
    """
    ranked: list[_Ranked] = []
    spare: list[_Ranked] = []  # in words of other panels
    subjects = named_subjects(panel.subcaption)
    around: list[_Place] = []  # sentences whose passages are told
    by_panel = any(item.identifier is not None for item in mentions)
    named = {(item.paragraph, item.start) for item in mentions if item.identifier == panel.identifier}
    elsewhere = {(item.paragraph, item.start) for item in mentions if item.identifier not in (None, panel.identifier)}
    own = own_mentions(panel, mentions)
    for mention in own:
        place = (mention.paragraph, mention.start)
        by_name = mention.identifier is not None and mention.kind != "follows"
        words = terms_of(mention.sentence)
        if not by_name and place in elsewhere and place not in named:
            continue  # "Figure 2 shows … (B)": it is about B
        if is_fragment(mention.sentence):
            around.append(place)
            continue
        if not by_name and _is_beside_the_point(mention, words, terms, subjects, article, is_only=len(own) == 1):
            continue
        clauses = _clauses(mention, panel)
        if not by_name and panel.identifier is not None and named and _name_several(clauses):
            continue  # of many figures it says little of each; what is said of the panel by name says more
        rank = (0 if by_name else 2) + (1 if mention.kind == "follows" else 0)
        item = (rank, -shared_weight(words, terms.own, article.weight), mention, clauses)
        theirs = by_panel and not by_name and is_foreign(words, terms, article.weight)
        (spare if theirs else ranked).append(item)
    chosen: _Chosen = {}
    for *_, mention, clauses in sorted(
        ranked or spare, key=lambda item: (item[0], item[1], item[2].paragraph, item[2].start)
    ):
        added = [_add(chosen, clause) for clause in clauses]
        if all(added):
            around.append((mention.paragraph, mention.start))
    told = {(item.paragraph, item.start) for item in mentions}
    beside = surroundings(panel.subcaption, panel.others, caption, own, article)
    for neighbour in _neighbours(around, beside, article):
        source = _source(neighbour.sentence)
        if (source.paragraph, source.start) not in told:
            _add(chosen, source)
    return chosen


def _is_beside_the_point(
    mention: PanelMention,
    words: frozenset[str],
    terms: SubcaptionTerms,
    subjects: Subjects,
    article: ArticleText,
    *,
    is_only: bool,
) -> bool:
    """Say whether a mention that does not name the panel says nothing of it.

    It tells where data are kept, is of other patients or eyes than the subcaption, or carries on with something else.

    Args:
        mention: of the panel.
        words: its terms.
        terms: of the panel.
        subjects: patients and eyes of the subcaption.
        article: the running text.
        is_only: the panel has no other mention.
    """
    if (not is_only and _WHERE_KEPT.search(mention.sentence)) or is_of_other_subjects(subjects, mention.sentence):
        return True
    if mention.kind != "follows":
        return False
    carries_on = _CARRIES_ON.match(mention.sentence) or any(
        article.weight.get(term, 0) >= _RARE for term in words & terms.own
    )
    return not carries_on or is_foreign(words, terms, article.weight)


def _clauses(mention: PanelMention, panel: PanelWords) -> list[SourceSentence]:
    """Return what of a mention's sentence is about the panel: mostly all of it (`clauses`)."""
    sentence, at = mention.sentence, mention.start
    ranges = clauses_of_panel(sentence, panel.identifier, panel.names) if panel.names is not None else []
    if not ranges or any(is_fragment(sentence[start:end]) for start, end in ranges):
        ranges = [(0, len(sentence))]
    return [SourceSentence(mention.paragraph, at + start, at + end, sentence[start:end]) for start, end in ranges]


def _name_several(clauses: Iterable[SourceSentence]) -> bool:
    """Say whether what a mention says of a panel names several figures."""
    return any(len({key for _, key in figure_references(item.sentence)}) > 1 for item in clauses)


def _neighbours(places: Iterable[_Place], panel: Surroundings, article: ArticleText) -> list[Neighbour]:
    """Return the sentences of the passages around mentions, those first that are likeliest needed."""
    found: dict[int, Neighbour] = {}
    mentions = [article.places[place] for place in places if place in article.places]
    is_little = say_little([article.sentences[n].text for n in mentions])
    for n in mentions:
        for neighbour in passage(n, panel, article, LEAST_ODDS_OF_LITTLE if is_little else LEAST_ODDS):
            # Between two mentions, it is what it is beside the one that speaks for it more.
            if (other := found.get(neighbour.position)) is None or neighbour.foreign < other.foreign:
                found[neighbour.position] = neighbour
    return sorted(found.values(), key=lambda item: (-item.needed, item.position))[:MAX_NEIGHBOURS]


def _further(
    terms: SubcaptionTerms,
    chosen: _Chosen,
    mentions: Sequence[PanelMention],
    article: ArticleText,
    caption: frozenset[str],
) -> list[SourceSentence]:
    """Return sentences that name no figure and share rare terms with the subcaption, best first.

    Args:
        terms: of the panel.
        chosen: sentences of the summary so far.
        mentions: of the figure.
        article: the running text.
        caption: terms of the whole figure.
    """
    if sum(word_count(item.sentence) for item in chosen.values()) >= _TOLD:
        return []
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
        if sum(one >= _RARE for one in weights) < _LEAST_TERMS or not (is_near or sentence.section in TELLING_SECTIONS):
            continue
        about_it = weight / math.fsum(telling(sentence.terms))
        theirs = max((math.fsum(telling(sentence.terms & other)) for other in others), default=0.0)
        if about_it >= _ABOUT_IT and weight > theirs and _is_free(sentence, terms, mentions, article):
            found.append((weight / total + about_it, sentence))
    found.sort(key=lambda item: (-item[0], item[1].paragraph, item[1].start))
    return _unrepeated([sentence for _, sentence in found], chosen)


def _condition(
    terms: SubcaptionTerms, chosen: _Chosen, mentions: Sequence[PanelMention], article: ArticleText
) -> SourceSentence | None:
    """Return the sentence of a case report that best says what its title does, if the summary does not say it.

    A title names the disease; the passage about one picture often speaks of "the mass" or "the lesion" only.
    """
    if not chosen or not article.title or all(item.section != "case" for item in mentions):
        return None
    # What an article is about it says often.
    weights = {term: math.log1p(len(article.by_term.get(term, ()))) for term in article.title}
    said = terms.own.union(*(terms_of(item.sentence) for item in chosen.values()))
    missing = {term: weight for term, weight in weights.items() if term not in said}
    if math.fsum(missing.values()) < max(_UNSAID * math.fsum(weights.values()), math.log1p(1)):
        return None
    best: tuple[float, int] | None = None
    for n in sorted({n for term in missing for n in article.by_term.get(term, ())}):
        sentence = article.sentences[n]
        weight = math.fsum(missing[term] for term in sentence.terms & missing.keys())
        if (
            sentence.section not in ("case", "abstract")
            or sentence.refers
            or not is_ended(sentence.text)
            or _OF_MANY.search(sentence.text)
            or weight < _UNSAID * math.fsum(missing.values())
        ):
            continue
        weight /= 1 + len(sentence.terms) / _LONG  # of two that say as much, the shorter one
        if best is None or weight > best[0]:
            best = weight, n
    return _source(article.sentences[best[1]]) if best is not None else None


def _is_free(
    sentence: TextSentence, terms: SubcaptionTerms, mentions: Sequence[PanelMention], article: ArticleText
) -> bool:
    """Say whether a sentence belongs to no figure, other panel or other patient, and is understood by itself."""
    cases = {item.section_title for item in mentions if item.section == "case"}
    if sentence.section == "case" and cases and sentence.section_title not in cases:
        return False
    if sentence.refers or any(
        (item.paragraph, item.start) == (sentence.paragraph, sentence.start) for item in mentions
    ):
        return False
    return _stands_alone(sentence.text) and not is_foreign(sentence.terms, terms, article.weight)


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
    if depends(text) or is_fragment(text) or not is_ended(text):
        return False
    return not (_FORMULA.search(text) or tells_of_others(text))


def _source(sentence: TextSentence) -> SourceSentence:
    return SourceSentence(sentence.paragraph, sentence.start, sentence.end, sentence.text)


def _add(chosen: _Chosen, source: SourceSentence) -> bool:
    """Add a sentence if it is new and the summary stays within `MAX_WORDS`; say whether it did."""
    taken = sum(word_count(item.sentence) for item in chosen.values())
    said = any(item.sentence == source.sentence for item in chosen.values())
    if said or taken + word_count(source.sentence) > MAX_WORDS:
        return False
    chosen[source.paragraph, source.start] = source
    return True
