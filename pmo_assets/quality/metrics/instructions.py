"""The result of people's audit of instructions, and how far they agree about them, by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pmo_assets.annotation.annotations import AnnotatedArticle, InstructionAnswer
from pmo_assets.annotation.instruction_cases import instruction_stratum
from pmo_assets.quality.metrics.agreement import AnswerPair, answer_pairs, interval_metrics, weighted_shares
from pmo_assets.quality.metrics.metric import Metric
from pmo_assets.records.instructions import INSTRUCTION_KINDS
from pmo_assets.records.reviews import INSTRUCTION_VERDICTS

ALL_WEIGHTED = "all instructions, weighted"
"""Group of shares in which each stratum counts as often as it occurs."""


def latest_answers(articles: Iterable[AnnotatedArticle]) -> list[InstructionAnswer]:
    """Return the latest answer about each instruction that people judged."""
    latest: dict[str, InstructionAnswer] = {}
    for article in articles:
        for answer in article.instruction_answers:
            before = latest.get(answer.instruction_id)
            if before is None or _order(answer) > _order(before):
                latest[answer.instruction_id] = answer
    return list(latest.values())


def _order(answer: InstructionAnswer) -> tuple[str, str]:
    return answer.review.at or "", answer.review.annotator or ""


def instruction_audit_metrics(
    articles: Sequence[AnnotatedArticle], sizes: Mapping[str, int] | None = None
) -> list[Metric]:
    """Return the shares of verdicts on instructions with intervals by kind, and how far people agree by kind.

    A sample takes as many of a rare stratum as of a frequent one: shares of a kind are of what was drawn, and only
    those weighted by the strata's sizes say something about all.

    Args:
        articles: with answers.
        sizes: instructions of each stratum among all that could have been drawn (`instruction_sizes`).
    """
    answers, metrics = latest_answers(articles), []
    for kind in INSTRUCTION_KINDS:
        said = Counter(answer.verdict for answer in answers if answer.kind == kind)
        if said:
            for verdict in INSTRUCTION_VERDICTS:
                metrics += interval_metrics(f"audit: {verdict}", said[verdict], said.total(), f"{kind} instructions")
    return [*metrics, *_weighted(answers, sizes or {}), *_agreement(answer_pairs(articles))]


def instruction_verdicts(answers: Iterable[InstructionAnswer]) -> dict[str, Counter[str]]:
    """Return the verdicts of people on instructions, by stratum."""
    strata: dict[str, Counter[str]] = {}
    for answer in answers:
        strata.setdefault(instruction_stratum(answer.kind, answer.confidence), Counter())[answer.verdict] += 1
    return strata


def _weighted(answers: Sequence[InstructionAnswer], sizes: Mapping[str, int]) -> list[Metric]:
    strata = instruction_verdicts(answers)
    shares = weighted_shares(strata, sizes) if all(sizes.get(name) for name in strata) else None
    if shares is None:
        return []
    return [
        Metric(f"audit: {verdict}", shares.get(verdict, 0.0), len(answers), ALL_WEIGHTED)
        for verdict in INSTRUCTION_VERDICTS
    ]


def _agreement(pairs: Iterable[AnswerPair]) -> list[Metric]:
    same: dict[str, list[bool]] = {}
    for pair in pairs:
        one, other = pair.first, pair.second
        if isinstance(one, InstructionAnswer) and isinstance(other, InstructionAnswer):
            same.setdefault(one.kind, []).append(one.verdict == other.verdict)
    return [
        metric
        for kind in INSTRUCTION_KINDS
        if kind in same
        for metric in interval_metrics("same choice", sum(same[kind]), len(same[kind]), f"{kind} instructions")
    ]
