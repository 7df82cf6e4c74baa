"""Two answers about a figure become one verdict: what both say, what a third settles, and what stays undecided.

Two answers agree on a panel, or on a group of images, when subcaption and kind of evidence are the same (paper's code).
Where they differ anywhere, or one label is given to two panels, the model is shown both and decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pmo_assets.pipeline.assembly.vision.decisions import Decision

Answered = tuple[Decision, ...]
"""Decisions of one answer."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A decision that stands.

    Attributes:
        decision: panel or images, and the subcaption.
        agreeing: how many answers say so.
        answers: how many were given.
        adjudicated: the first two answers differ about it, and the third decided.
    """

    decision: Decision
    agreeing: int
    answers: int
    adjudicated: bool

    @property
    def confidence(self) -> float:
        """Confidence 0..1 by Laplace's rule of succession: 0.75 where two of two answers agree, 0.6 for two of three.

        It knows how often the model contradicts itself, and nothing of how often it is right: not calibrated.
        """
        return round((self.agreeing + 1) / (self.answers + 2), 4)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict of the answers about a figure.

    Attributes:
        settled: decisions that stand.
        contested: reason why a panel or image stays undecided, by its id.
    """

    settled: tuple[Settled, ...]
    contested: dict[str, str]


def shared_labels(answered: Iterable[Decision]) -> dict[str, list[str]]:
    """Return the given labels that an answer uses for several panels, with these panels."""
    users: dict[str, list[str]] = {}
    for decision in answered:
        for label in {seen.label for seen in decision.seen if seen.label is not None}:
            users.setdefault(label, []).append(decision.panel or "")
    return {label: sorted(panels) for label, panels in users.items() if len(panels) > 1}


def conflicts(first: Answered, second: Answered) -> list[str]:
    """Return in what two answers differ, in words for the model; empty when they agree."""
    found = []
    agreed = _statements(first) & _statements(second)
    subjects = {
        subject for decision in (*first, *second) if decision.statement not in agreed for subject in decision.subjects
    }
    if subjects:
        found.append(f"The annotators differ about {', '.join(sorted(subjects))}.")
    for number, answered in enumerate((first, second), start=1):
        for label, panels in sorted(shared_labels(answered).items()):
            found.append(f"Annotator {number} uses the label {label} for {' and '.join(panels)}: it belongs to one.")
    return found


def agreement(first: Answered, second: Answered, why_open: str) -> Verdict:
    """Return the decisions that two answers have in common; the rest stays undecided.

    Args:
        first: one answer.
        second: the other.
        why_open: reason for the panels about which they differ.
    """
    shared = _sharing(first) | _sharing(second)
    agreed = _statements(first) & _statements(second)
    settled, contested = [], {}
    for decision in first:
        if decision.statement in agreed and not decision.subjects & shared:
            settled.append(Settled(_more_cautious(decision, second), 2, 2, adjudicated=False))
    known = {subject for item in settled for subject in item.decision.subjects}
    for decision in (*first, *second):
        contested.update(dict.fromkeys(decision.subjects - known, why_open))
    return Verdict(tuple(settled), contested)


def adjudicated(first: Answered, second: Answered, third: Answered) -> Verdict:
    """Return the third answer's decisions, but for those that contradict two that agree or share a label."""
    votes = Counter(statement for answered in (first, second, third) for statement in _statements(answered))
    doubtful = _sharing(first) | _sharing(second)
    agreed = _statements(item for item in first if not item.subjects & doubtful) & _statements(second)
    decided = {subject for decision in first if decision.statement in agreed for subject in decision.subjects}
    shared = _sharing(third)
    settled: list[Settled] = []
    contested: dict[str, str] = {}
    for decision in third:
        if decision.subjects & shared:
            reason = "the vision model gives one label to several panels"
        elif decision.statement not in agreed and decision.subjects & decided:
            reason = "the vision model's adjudication contradicts its two answers, which agree"
        else:
            settled.append(Settled(decision, votes[decision.statement], 3, decision.statement not in agreed))
            continue
        contested.update(dict.fromkeys(decision.subjects, reason))
    return Verdict(tuple(settled), contested)


def _statements(answered: Iterable[Decision]) -> set[Any]:
    return {decision.statement for decision in answered}


def _sharing(answered: Answered) -> set[str]:
    return {panel for panels in shared_labels(answered).values() for panel in panels}


def _more_cautious(decision: Decision, others: Sequence[Decision]) -> Decision:
    """Return the decision with the lower confidence of the two answers that make it: its words are the first one's."""
    stated = [other.confidence for other in others if other.statement == decision.statement]
    return Decision(
        decision.panel,
        decision.images,
        decision.name,
        decision.grounds,
        decision.seen,
        min([decision.confidence, *stated]),
    )
