"""Agreement of people who answered the same question, and the result of their audit of the machine.

Cohen's kappa as in Cohen (1960); intervals as in Wilson (1927): they stay inside 0..1 and say something of a sample
without an error, too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist

from pmo_assets.annotation.annotations import (
    AnnotatedArticle,
    AnnotatedFigure,
    AnnotatedPanel,
    FigureRegions,
    InstructionAnswer,
    article_number,
)
from pmo_assets.quality.metrics.matching import normalised_text
from pmo_assets.quality.metrics.metric import Metric, mean, share
from pmo_assets.quality.metrics.regions import figure_boxes, figure_choices
from pmo_assets.records.geometry import Box, iou, matched_boxes
from pmo_assets.records.identifiers import normalised_identifier
from pmo_assets.records.reviews import VERDICTS

SAME_THING = 0.5
"""IoU from which two people drew the same thing."""

CONFIDENCE = 0.95
"""Confidence level of the intervals."""

INSTRUCTION_VERDICT = "instruction verdict"
"""Name of the choice that people make of an instruction."""

Choice = tuple[Hashable, Hashable]
"""Choices of two people for the same thing."""


def cohens_kappa(choices: Sequence[Choice]) -> float | None:
    """Return Cohen's kappa of two people's choices: 1 for agreement, 0 for what chance gives.

    None of nothing, and where both always chose the same one thing: chance alone would agree as well.
    """
    if not choices:
        return None
    n = len(choices)
    first, second = Counter(a for a, _ in choices), Counter(b for _, b in choices)
    chance = sum(first[name] * second[name] for name in first) / n**2
    observed = sum(a == b for a, b in choices) / n
    return None if chance == 1 else (observed - chance) / (1 - chance)


def wilson_interval(hits: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the Wilson score interval of a share; (0, 1) of nothing.

    Args:
        hits: number of cases that count.
        n: number of all cases.
        confidence: 0..1.
    """
    if n == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    p, square = hits / n, z * z
    centre = (p + square / (2 * n)) / (1 + square / n)
    half = z * math.sqrt(p * (1 - p) / n + square / (4 * n * n)) / (1 + square / n)
    return max(0.0, centre - half), min(1.0, centre + half)


Answer = AnnotatedFigure | FigureRegions | InstructionAnswer
"""One person's answer: about a figure, about the marks and regions of its panels, or about an instruction."""


@dataclass(frozen=True)
class AnswerPair:
    """Two people's answers to the same question."""

    article: str
    first: Answer
    second: Answer

    @property
    def interface(self) -> str:
        """Interface in which they answered."""
        return (self.first.review.interface if self.first.review else None) or ""

    @property
    def people(self) -> tuple[str, str]:
        """Names of the two annotators."""
        names = [(item.review.annotator if item.review else None) or "unknown" for item in (self.first, self.second)]
        return names[0], names[1]


@dataclass(frozen=True)
class PairAgreement:
    """Agreement of two answers.

    Attributes:
        pair: the answers.
        ious: by kind of box, of the boxes that both drew.
        matched: by kind of box, the number that both drew and the number of all (2 x both / all is the F1).
        choices: by name of the choice, their choices for the same thing.
    """

    pair: AnswerPair
    ious: Mapping[str, Sequence[float]]
    matched: Mapping[str, tuple[int, int]]
    choices: Mapping[str, Sequence[Choice]]

    @property
    def problems(self) -> list[str]:
        """Their disagreements, in words."""
        found = [
            f"{total - 2 * both} {kind} boxes drawn by one alone" for kind, (both, total) in self.matched.items()
            if total > 2 * both
        ]  # fmt: skip
        for name, choices in self.choices.items():
            different = [f"{a or 'none'} / {b or 'none'}" for a, b in choices if a != b]
            if different:
                found.append(f"{name}: {', '.join(different[:5])}")
        return found


def _question(figure: Answer) -> tuple[Hashable, ...]:
    review = figure.review
    place = figure.figure_locations[0]
    return (
        review.purpose if review else "full",
        review.interface if review else "",
        figure.image_cluster_id or "",
        place.page if review and review.interface == "pages" else -1,
        _audited(figure),
    )


def _audited(figure: Answer) -> Hashable:
    """Return what of a figure an audit asks about: a panel, or an instruction."""
    if isinstance(figure, InstructionAnswer):
        return figure.instruction_id
    return tuple(figure.panels[0].box) if figure.purpose == "audit" and figure.panels else ()


def answer_pairs(articles: Iterable[AnnotatedArticle]) -> list[AnswerPair]:
    """Return all pairs of answers that different people gave to the same question."""
    pairs = []
    for article in articles:
        questions: dict[tuple[Hashable, ...], list[Answer]] = {}
        given: list[Answer] = [*article.answers, *article.region_answers, *article.instruction_answers]
        for answer in given:
            if answer.image_cluster_id is not None and answer.review is not None and answer.review.annotator:
                questions.setdefault(_question(answer), []).append(answer)
        for answers in questions.values():
            for a, b in combinations(answers, 2):
                if a.review and b.review and a.review.annotator != b.review.annotator:
                    pairs.append(AnswerPair(article.article_id, a, b))
    return pairs


def _boxes(figure: Answer, interface: str) -> dict[str, list[Box]]:
    if isinstance(figure, FigureRegions):
        return figure_boxes(figure)
    if isinstance(figure, InstructionAnswer):
        return {}
    if interface == "pages":
        return {
            "figure": [place.bbox for place in figure.figure_locations],
            "caption": [place.bbox for place in figure.caption_locations],
        }
    if interface == "boxes":
        return {
            "panel": [panel.box for panel in figure.panels],
            "identifier": [panel.identifier_box for panel in figure.panels if panel.identifier_box is not None],
            "image": [image.box for panel in figure.panels for image in panel.images],
        }
    return {"panel": [panel.box for panel in figure.panels]} if interface == "captions" else {}


def _assignment(panel: AnnotatedPanel) -> str:
    """Return the subcaption that a panel got: the caption's name for it, or the text where there is no name."""
    return normalised_identifier(panel.identifier) or normalised_text(panel.subcaption).lower()


def _choices(pair: AnswerPair) -> Mapping[str, Sequence[Choice]]:
    """Return two people's choices for the same thing, by name of the choice."""
    one, other = pair.first, pair.second
    if isinstance(one, InstructionAnswer) and isinstance(other, InstructionAnswer):
        return {INSTRUCTION_VERDICT: [(one.verdict, other.verdict)]}
    if isinstance(one, FigureRegions) and isinstance(other, FigureRegions):
        return figure_choices(one, other)
    if not (isinstance(one, AnnotatedFigure) and isinstance(other, AnnotatedFigure)):
        return {}
    choices: dict[str, list[Choice]] = {}
    if pair.interface == "boxes":
        first, second = ([i for p in f.panels for i in p.images] for f in (one, other))
        same = matched_boxes([i.box for i in first], [i.box for i in second], SAME_THING)
        choices["image type"] = [(first[i].type, second[k].type) for i, k in same.items()]
        choices["mark status"] = [(first[i].marked, second[k].marked) for i, k in same.items()]
    if pair.interface == "captions":
        same = matched_boxes([p.box for p in one.panels], [p.box for p in other.panels], SAME_THING)
        choices["assignment"] = [(_assignment(one.panels[i]), _assignment(other.panels[k])) for i, k in same.items()]
    if pair.interface == "audit":
        choices["verdict"] = [(p.verdict, q.verdict) for p, q in zip(one.panels, other.panels, strict=False)]
    return choices


def pair_agreement(pair: AnswerPair) -> PairAgreement:
    """Return the agreement of two answers; boxes are compared one to one, the most alike first."""
    a, b = _boxes(pair.first, pair.interface), _boxes(pair.second, pair.interface)
    ious: dict[str, list[float]] = {}
    matched: dict[str, tuple[int, int]] = {}
    for kind in a:
        same = matched_boxes(a[kind], b[kind], SAME_THING)
        ious[kind] = [iou(a[kind][i], b[kind][k]) for i, k in same.items()]
        matched[kind] = len(same), len(a[kind]) + len(b[kind])
    return PairAgreement(pair, ious, matched, _choices(pair))


def interval_metrics(name: str, hits: int, n: int, group: str) -> list[Metric]:
    """Return a share and the two ends of its interval (`wilson_interval`) as metrics."""
    low, high = wilson_interval(hits, n)
    return [
        Metric(name, hits / n if n else None, n, group),
        Metric(f"{name}, 95 % from", low, n, group),
        Metric(f"{name}, 95 % to", high, n, group),
    ]


def agreement_metrics(pairs: Sequence[PairAgreement]) -> list[Metric]:
    """Return the agreement of people: boxes that both drew and their IoU; observed agreement and kappa of choices."""
    metrics = []
    for kind in ("figure", "caption", "panel", "identifier", "image", "mark", "region"):
        overlaps = [value for item in pairs for value in item.ious.get(kind, ())]
        both = sum(item.matched.get(kind, (0, 0))[0] for item in pairs)
        total = sum(item.matched.get(kind, (0, 0))[1] for item in pairs)
        if total:
            metrics += [
                Metric("boxes both drew (F1)", 2 * both / total, total, kind, SAME_THING),
                Metric("mean IoU of boxes both drew", mean(overlaps), len(overlaps), kind),
            ]
    for name in ("image type", "mark status", "assignment", "verdict", "mark kind", "mark colour", "region text",
                 INSTRUCTION_VERDICT):  # fmt: skip
        choices = [choice for item in pairs for choice in item.choices.get(name, ())]
        if choices:
            metrics += [
                Metric("same choice", share([a == b for a, b in choices]), len(choices), name),
                Metric("Cohen's kappa", cohens_kappa(choices), len(choices), name),
            ]
    return metrics


def audit_verdicts(articles: Iterable[AnnotatedArticle]) -> dict[str, Counter[str]]:
    """Return the number of audited panels by verdict, by who had assigned them; the latest answer to a panel counts."""
    latest: dict[tuple[Hashable, ...], tuple[str, str, str]] = {}
    for article in articles:
        for answer in article.answers:
            if answer.purpose != "audit" or answer.review is None:
                continue
            for panel in answer.panels:
                key = (article.article_id, answer.image_cluster_id, panel.box)
                entry = (answer.review.at or "", panel.judged or "", panel.verdict or "")
                if panel.verdict and (key not in latest or entry > latest[key]):
                    latest[key] = entry
    counts: dict[str, Counter[str]] = {}
    for _, stratum, verdict in latest.values():
        counts.setdefault(stratum, Counter())[verdict] += 1
    return {name: counts[name] for name in sorted(counts)}


def weighted_shares(counts: Mapping[str, Counter[str]], sizes: Mapping[str, int]) -> dict[str, float] | None:
    """Return the share of each verdict over all that could have been drawn, from a sample by stratum.

    A sample takes as many of a rare stratum as of a frequent one: here each counts as often as it occurs. What is in
    no stratum of `sizes`, or in one of 0, counts nothing.

    Args:
        counts: verdicts by stratum, at least one in each.
        sizes: of the strata.

    Returns:
        The shares of the verdicts that were given; None where no stratum counts.
    """
    every = sum(sizes.get(name, 0) for name in counts)
    if not every:
        return None
    said = {verdict for verdicts in counts.values() for verdict in verdicts}
    return {
        verdict: sum(sizes.get(name, 0) * own[verdict] / own.total() for name, own in counts.items()) / every
        for verdict in said
    }


def audit_metrics(counts: Mapping[str, Counter[str]], sizes: Mapping[str, int] | None = None) -> list[Metric]:
    """Return the shares of verdicts with intervals, by who assigned; over all when it is known how many there are.

    A sample takes as many of a rare kind as of a frequent one, so that only shares weighted by the kinds' sizes say
    something about all panels.

    Args:
        counts: verdicts by kind of assembly.
        sizes: panels of each kind among all that could have been drawn.
    """
    metrics = []
    for stratum, verdicts in counts.items():
        n = verdicts.total()
        for verdict in VERDICTS:
            metrics += interval_metrics(f"audit: {verdict}", verdicts[verdict], n, stratum)
    if sizes and all(sizes.get(name) for name in counts) and (shares := weighted_shares(counts, sizes)):
        n = sum(verdicts.total() for verdicts in counts.values())
        metrics += [Metric(f"audit: {verdict}", shares.get(verdict, 0.0), n, "all, weighted") for verdict in VERDICTS]
    return metrics


def annotation_metrics(articles: Sequence[AnnotatedArticle], sizes: Mapping[str, int] | None = None) -> list[Metric]:
    """Return agreement and audit of annotated articles; for `sizes` see `audit_metrics`."""
    pairs = [pair_agreement(pair) for pair in answer_pairs(articles)]
    panels = [panel for article in articles for figure in article.regions for panel in figure.panels]
    answered = sum(article.is_answered for article in articles)
    drawn = {"mark": sum(len(p.marks) for p in panels), "region": sum(len(p.regions) for p in panels)}
    return [
        Metric("articles with answers", float(answered), len(articles)),
        Metric("answers of two people to one question", float(len(pairs)), len(pairs)),
        *(Metric("decided by people", float(count), len(panels), name) for name, count in drawn.items() if panels),
        *agreement_metrics(pairs),
        *audit_metrics(audit_verdicts(articles), sizes),
    ]


def pair_number(pair: PairAgreement) -> int:
    """Return the number of the article that two answers are about."""
    return article_number(pair.pair.article)
