"""Passages: sentences around one that names a figure, and that tell of the same picture.

Authors name a figure once and speak of it in several sentences: behind a finding ("… arterialized flow. Velocities of
up to 692 cm/s were obtained (Figure 1)."), or before it ("Figure 2 shows … Of those, 11 had …"). What a sentence beside
a mention is to the panel – needed, context, or of something else – is decided by features whose weights were fitted on
the labelled sentences of 706 panels (`benchmarks/fit_passages.py`, `weights/passage_choice.json`). Add here: features
of a sentence beside a mention. Keep out: sentences that name the panel or carry on in set words (`panel_mentions`).
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pmo_assets.pipeline.articles.references import figure_references
from pmo_assets.pipeline.context.article_text import (
    GENERAL_TERMS,
    ArticleText,
    TextSentence,
    depends,
    is_ended,
    is_fragment,
    tells_of_others,
)
from pmo_assets.pipeline.context.contradictions import Subjects, is_of_other_subjects, named_subjects
from pmo_assets.pipeline.context.sentence_cues import names_of, sentence_cues
from pmo_assets.pipeline.context.subcaption_terms import SubcaptionTerms, shared_weight, subcaption_terms
from pmo_assets.pipeline.context.terms import terms_of
from pmo_assets.pipeline.detection.fitted import fitted_numbers
from pmo_assets.records.context import PanelMention

PACKAGE_DATA = ("weights/passage_choice.json",)
"""Files of the package that this module reads."""

Role = Literal["needed", "context", "foreign"]
"""What a sentence is to a panel: it tells what is seen or must be known; it is of the same patient or experiment; it
is of another panel, figure, patient or study."""

ROLES: Final[tuple[Role, ...]] = ("needed", "context", "foreign")

_OTHERS: Final[Mapping[Role, float]] = {"needed": 0.0, "context": 0.0, "foreign": 1.0}

REACH: Final = 5
"""Sentences on either side of a mention that are looked at."""

REACH_BACK: Final = 3
"""Sentences before a mention from which the paragraph before it may be reached."""

LEAST_ODDS: Final = 4.0
"""How much likelier a sentence is needed than of something else, at least, so that it is taken. What is merely of the
same patient or experiment stays out, and more of what is needed is taken at the same risk of something foreign. At this
limit finished summaries of articles that were left out of the fit have something foreign in about 0.05 of the panels,
the goal, and lack the main finding in about 0.15 (docs/measurements.md, `benchmarks/fit_passages.py`)."""

LEAST_ODDS_OF_LITTLE: Final = 1.6
"""The same where the mentions say little by themselves (`say_little`): what stands beside them is needed more."""

_LITTLE: Final = 25
"""Words of all mentions of a panel below which they say little."""

MOST_FOREIGN: Final = 0.5
"""Probability of being of something else from which a sentence ends the passage on its side: what lies beyond it is of
that other thing more often than the sentence alone tells."""

_SECTIONS: Final = ("case", "results", "methods", "discussion")
_DISTANCES: Final = tuple(f"{step * n:+d} sentences" for step in (-1, 1) for n in range(1, REACH + 1))

FEATURES: Final = (
    "always",
    *_DISTANCES,
    *(f"in {section}" for section in _SECTIONS),
    "in the next paragraph",
    "below another title",
    "shared with the subcaption",
    "of other panels",
    "has other panels",
    "goes on, directly behind",
    "goes on, before",
    "the mention goes back",
    "introduced by the mention",
    "before a pointing mention",
    "of others' work",
    "refers to a table",
    "says little",
    "has few terms",
    "length",
    "behind another figure",
    "another figure follows",
    "another mention follows",
    "of our work",
    "beside a later mention",
    "many mentions",
    "the figure is named next",
    "nothing is named next",
    "the figure was named last",
    "nothing was named last",
    "concludes",
    "tells a method, before",
    "tells a method, behind",
    "behind a turn",
    "has a number",
    "tells what was",
    "opens its paragraph",
    "is not shown",
    "length of the mention",
    "before one that names the panel",
    "behind one that names the panel",
    "share that is new",
    "names others alone",
    "share of the mention's",
    "share of the subcaption told",
    "nearer to another caption",
)
"""Names of the features; all are 0..1 but those of weights, length and number, 0..3.

What is found is told beside the first mention; later ones mostly recall it among other things.
"""

_MOST: Final = 3.0
_LONG: Final = 40
_SOME: Final = 3
_FEW: Final = 3
_POINTS: Final = 0.35
"""Weight of the subcaption's terms below which a mention says nothing of the panel itself."""

_NEAR: Final = 4
"""Sentences beyond one in which the next figure is looked for."""

_FAR: Final = 30
"""The same in the next paragraph: most of one that is that long."""

_OPENING: Final = 24
"""Characters before a reference that opens its sentence: "As shown in Figure 2, …"; then what it shows comes behind."""

_GOES_BACK: Final = re.compile(
    r"\b(?:this|these|those|such)\s\w|\bthe\s(?:first|second|former|latter|same|other|two|three|resulting|corresponding)\b",
    re.IGNORECASE,
)
_EXAMINES: Final = re.compile(
    r"\bwe\s(?:also\s|then\s|next\s|first\s)?(?:examin|compar|analy[sz]|evaluat|test|plot|quantif|assess|investigat"
    r"|calculat|determin|explor|ask|tr(?:y|ied)\b)",
    re.IGNORECASE,
)


_SHOWN_IN: Final = re.compile(
    r"\b(?:shown|presented|depicted|illustrated|plotted|displayed|summari[sz]ed|listed|given|visuali[sz]ed|described|provided"
    r"|seen)\s(?:in|on|by)\s(?:the\s)?(?:Fig|Graph)",
    re.IGNORECASE,
)
_OUR: Final = re.compile(r"\b(?:we|our)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a panel's passages are told by.

    Attributes:
        terms: of its subcaption and the others.
        caption: terms of its figure's caption.
        names: words that subcaption and caption write as names (`sentence_cues`).
        subjects: patients and eyes that the subcaption names.
        spoken_of: (paragraph, start) of all mentions of the panel.
        named: of those that name it.
        told: terms of all these mentions.
        other_captions: terms of the captions of other figures.
    """

    terms: SubcaptionTerms
    caption: frozenset[str]
    names: frozenset[str]
    subjects: Subjects
    spoken_of: frozenset[tuple[int, int]]
    named: frozenset[tuple[int, int]]
    told: frozenset[str]
    other_captions: tuple[frozenset[str], ...]


def surroundings(
    subcaption: str, others: Iterable[str], caption: str, mentions: Sequence[PanelMention], article: ArticleText
) -> Surroundings:
    """Return what a panel's passages are told by.

    Args:
        subcaption: of the panel; "" without one.
        others: subcaptions of the figure's other panels.
        caption: of the whole figure.
        mentions: of the panel (`own_mentions`).
        article: the running text.
    """
    spoken_of = frozenset((item.paragraph, item.start) for item in mentions)
    told = (article.sentences[article.places[place]].terms for place in spoken_of if place in article.places)
    words = terms_of(caption)
    return Surroundings(
        subcaption_terms(subcaption, others),
        words,
        names_of(subcaption) | names_of(caption),
        named_subjects(subcaption),
        spoken_of,
        frozenset((item.paragraph, item.start) for item in mentions if item.identifier is not None),
        frozenset[str]().union(*told),
        tuple(other for other in article.captions if other != words),
    )


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A sentence beside a mention: its position among the article's sentences, and the probability of two `ROLES`."""

    position: int
    needed: float
    foreign: float
    sentence: TextSentence


def passage(
    n: int,
    panel: Surroundings,
    article: ArticleText,
    least_odds: float = LEAST_ODDS,
    weights: Mapping[Role, Mapping[str, float]] | None = None,
) -> list[Neighbour]:
    """Return the sentences around a mention that tell of the same picture, without mentions.

    Sentences that name a figure are never among them, and titles neither. One that names other patients or eyes than
    the panel, or else the mention, does ends the passage on its side.

    Args:
        n: position of the mention among the article's sentences.
        panel: what its passages are told by.
        article: its text.
        least_odds: of being needed against being foreign.
        weights: by role and name of a feature; None for the package's.
    """
    weights = passage_weights() if weights is None else weights
    around = list(candidates(n, article, panel.spoken_of))
    own = {**named_subjects(article.sentences[n].text), **panel.subjects}
    shares = [
        _OTHERS
        if is_of_other_subjects(own, article.sentences[k].text)
        else role_probabilities(passage_features(n, k, panel, article), weights)
        for k in around
    ]
    return [
        Neighbour(around[i], shares[i]["needed"], shares[i]["foreign"], article.sentences[around[i]])
        for i in chosen_of([k - n for k in around], shares, least_odds)
    ]


def chosen_of(
    offsets: Sequence[int], shares: Sequence[Mapping[Role, float]], least_odds: float = LEAST_ODDS
) -> list[int]:
    """Return the indices of the sentences beside a mention that are taken, in their order.

    Args:
        offsets: how many sentences each stands behind the mention (negative: before it).
        shares: the probabilities of its roles.
        least_odds: of being needed against being foreign.
    """
    taken = []
    for side in (-1, 1):
        for i in sorted((i for i, offset in enumerate(offsets) if offset * side > 0), key=lambda i: abs(offsets[i])):
            if shares[i]["foreign"] > MOST_FOREIGN:
                break
            if shares[i]["needed"] >= least_odds * shares[i]["foreign"]:
                taken.append(i)
    return sorted(taken)


@functools.cache
def passage_weights() -> Mapping[Role, Mapping[str, float]]:
    """Return the weights that the package ships.

    Raises:
        SystemicError: when they cannot be read or lack a feature.
    """
    return {role: fitted_numbers("passage_choice.json", FEATURES, role) for role in ROLES}


def role_probabilities(features: Mapping[str, float], weights: Mapping[Role, Mapping[str, float]]) -> dict[Role, float]:
    """Return the probability of each role; features that are not named are 0."""
    logits = {role: math.fsum(weights[role][name] * value for name, value in features.items()) for role in ROLES}
    most = max(logits.values())
    shares = {role: math.exp(logit - most) for role, logit in logits.items()}
    total = math.fsum(shares.values())
    return {role: share / total for role, share in shares.items()}


def candidates(n: int, article: ArticleText, spoken_of: Collection[tuple[int, int]]) -> Iterator[int]:
    """Yield the positions of the sentences beside a mention, up to `REACH` on either side and one paragraph further.

    A sentence of the paragraph beyond stays out where another figure is named next in there: it leads to that one.
    """
    sentences = article.sentences
    for step in (-1, 1):
        paragraph, crossed = sentences[n].paragraph, False
        for distance in range(1, REACH + 1):
            k = n + step * distance
            if not 0 <= k < len(sentences):
                break
            sentence = sentences[k]
            if sentence.paragraph != paragraph:
                if crossed or (step < 0 and distance > REACH_BACK):
                    break
                paragraph, crossed = sentence.paragraph, True
            is_told = (sentence.paragraph, sentence.start) in spoken_of
            if is_told or sentence.names_figure or not is_ended(sentence.text):
                continue
            if not (crossed and _is_of_another(k, step, article, spoken_of)):
                yield k


def passage_features(n: int, k: int, panel: Surroundings, article: ArticleText) -> dict[str, float]:
    """Return the features (`FEATURES`) of a sentence beside a mention that are not 0.

    Args:
        n: position of the mention among the article's sentences.
        k: position of the sentence.
        panel: what its passages are told by.
        article: its text.
    """
    mention, sentence = article.sentences[n], article.sentences[k]
    terms, spoken_of, weight = panel.terms, panel.spoken_of, article.weight
    distance, step = k - n, 1 if k > n else -1
    goes_on = depends(sentence.text)
    foreign = shared_weight(sentence.terms, terms.foreign, weight) - shared_weight(
        sentence.terms, terms.specific, weight
    )
    between = article.sentences[min(n, k) + 1 : max(n, k)]
    end = _next_figure(k, step, article)
    is_other = end is not None and (end.paragraph, end.start) not in spoken_of
    is_named = (mention.paragraph, mention.start) in panel.named
    cues = sentence_cues(sentence.text)
    named_next, named_last = (_named_from(k, way, spoken_of, article) for way in (1, -1))
    found: dict[str, float] = {
        "always": 1.0,
        f"{distance:+d} sentences": 1.0,
        "in the next paragraph": mention.paragraph != sentence.paragraph,
        "below another title": (mention.section, mention.section_title) != (sentence.section, sentence.section_title),
        "shared with the subcaption": min(shared_weight(sentence.terms, terms.own, weight), _MOST),
        "of other panels": min(max(0.0, foreign), _MOST),
        "has other panels": bool(terms.of_each),
        "goes on, directly behind": goes_on and distance == 1,
        "goes on, before": goes_on and distance < 0,
        "the mention goes back": distance == -1 and goes_back(mention.text),
        "introduced by the mention": distance > 0 and introduces_figure(mention.text),
        "before a pointing mention": distance < 0 and _points(mention, terms, article),
        "of others' work": tells_of_others(sentence.text),
        "refers to a table": sentence.refers,
        "says little": is_fragment(sentence.text),
        "has few terms": len(sentence.terms - GENERAL_TERMS) < _FEW,
        "length": min(len(sentence.terms) / _LONG, _MOST),
        "behind another figure": any(
            item.names_figure and (item.paragraph, item.start) not in spoken_of for item in between
        ),
        "another figure follows": is_other,
        "another mention follows": end is not None and not is_other,
        "of our work": _OUR.search(sentence.text) is not None,
        "beside a later mention": bool(spoken_of) and mention.paragraph > min(spoken_of)[0],
        "many mentions": min(max(0, len(spoken_of) - 1) / _SOME, _MOST),
        "the figure is named next": named_next == "figure",
        "nothing is named next": named_next == "nothing",
        "the figure was named last": named_last == "figure",
        "nothing was named last": named_last == "nothing",
        "concludes": cues.concludes,
        "tells a method, before": cues.tells_method and distance < 0,
        "tells a method, behind": cues.tells_method and distance > 0,
        "behind a turn": distance > 0 and any(sentence_cues(item.text).turns for item in between),
        "has a number": cues.has_number,
        "tells what was": cues.is_past,
        "opens its paragraph": k == 0 or article.sentences[k - 1].paragraph != sentence.paragraph,
        "is not shown": cues.is_unshown,
        "length of the mention": min(len(mention.terms) / _LONG, _MOST),
        "before one that names the panel": is_named and distance < 0,
        "behind one that names the panel": is_named and distance > 0,
        "names others alone": _names_others(cues.names, panel.names | names_of(mention.text)),
        **_overlaps(mention, sentence, panel, weight),
    }
    if sentence.section in _SECTIONS:
        found[f"in {sentence.section}"] = 1.0
    return {name: float(value) for name, value in found.items() if value}


def _overlaps(
    mention: TextSentence, sentence: TextSentence, panel: Surroundings, weight: Mapping[str, float]
) -> dict[str, float]:
    """The features of terms that a sentence shares with mentions and captions, by their weight."""
    words = sentence.terms
    total = shared_weight(words, words, weight) or 1.0
    own = shared_weight(words, panel.caption | panel.terms.own, weight)
    theirs = max((shared_weight(words, other, weight) for other in panel.other_captions), default=0.0)
    subcaption = shared_weight(panel.terms.own, panel.terms.own, weight) or 1.0
    return {
        "share that is new": shared_weight(words, words - panel.caption - panel.told - mention.terms, weight) / total,
        "share of the mention's": shared_weight(words, mention.terms, weight) / total,
        "share of the subcaption told": shared_weight(words, panel.terms.own, weight) / subcaption,
        "nearer to another caption": min(max(0.0, theirs - own), _MOST),
    }


def _names_others(names: frozenset[str], own: frozenset[str]) -> bool:
    """Say whether a sentence has names, and none of those that the panel has."""
    return bool(names) and bool(own) and names.isdisjoint(own)


def _named_from(
    k: int, way: int, spoken_of: Collection[tuple[int, int]], article: ArticleText
) -> Literal["figure", "other", "nothing"]:
    """What is named next behind (1) or before (-1) a sentence in its paragraph: the figure, something else, nothing."""
    for place in range(k + way, k + way * (_FAR + 1), way):
        if not 0 <= place < len(article.sentences):
            break
        sentence = article.sentences[place]
        if sentence.paragraph != article.sentences[k].paragraph:
            break
        if (sentence.paragraph, sentence.start) in spoken_of:
            return "figure"
        if sentence.refers or sentence_cues(sentence.text).is_unshown:
            return "other"
    return "nothing"


def _next_figure(k: int, step: int, article: ArticleText, reach: int = _NEAR) -> TextSentence | None:
    """The next sentence of the paragraph, away from the mention, that names a figure."""
    for place in range(k + step, k + step * (reach + 1), step):
        if not 0 <= place < len(article.sentences):
            return None
        sentence = article.sentences[place]
        if sentence.paragraph != article.sentences[k].paragraph:
            return None
        if sentence.names_figure:
            return sentence
    return None


def _is_of_another(k: int, step: int, article: ArticleText, spoken_of: Collection[tuple[int, int]]) -> bool:
    """Say whether the next figure that is named behind a sentence, away from the mention, is another one."""
    end = _next_figure(k, step, article, _FAR)
    return end is not None and (end.paragraph, end.start) not in spoken_of


def _points(mention: TextSentence, terms: SubcaptionTerms, article: ArticleText) -> bool:
    return is_fragment(mention.text) or shared_weight(mention.terms, terms.own, article.weight) < _POINTS


def goes_back(text: str) -> bool:
    """Say whether a sentence speaks of what the one before it named: "This …", "With the second method …"."""
    return depends(text) or _GOES_BACK.search(text) is not None


def introduces_figure(text: str) -> bool:
    """Say whether what a figure shows is told behind a sentence: it only points at the figure, opens with it, says what
    was examined, or ends with a colon.
    """
    return (
        is_fragment(text)
        or opens_with_figure(text)
        or _EXAMINES.search(text) is not None
        or text.rstrip().endswith(":")
    )


def say_little(mentions: Collection[str]) -> bool:
    """Say whether the sentences that speak of a panel are few words, or all of them only point at its figure."""
    words = sum(len(text.split()) for text in mentions)
    return words < _LITTLE or all(introduces_figure(text) or _SHOWN_IN.search(text) for text in mentions)


def opens_with_figure(text: str) -> bool:
    """Say whether a sentence begins with the figure that it names, so that it goes on to speak of it."""
    found = figure_references(text)
    return bool(found) and found[0][0] <= _OPENING and "(" not in text[: found[0][0]]
