"""Waterfall of articles, figures and panels: how many came in, how many left at each step and why, how many are left.

Every unit has one outcome: the step at which it left, or none. The counts are therefore exact by construction, and
units that no step accounts for have a line of their own. `release.statistics.outcomes` decides a unit's outcome.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

NOT_ACCOUNTED_FOR: Final = "not accounted for"
"""Step of what is gone although no step says that it lost it; it has a line also when that is nothing."""

MOST_REASONS: Final = 8
"""So many reasons of a step are told apart; the others are counted together."""

OTHER_REASONS: Final = "other reasons"


class Outcome(NamedTuple):
    """Step at which a unit left, and the reason; `IN_THE_RELEASE` for a unit that did not leave.

    Attributes:
        step: in the words of the waterfall.
        reason: a closer reason; "" where the step says it all.
    """

    step: str
    reason: str = ""


IN_THE_RELEASE: Final = Outcome("")


@dataclass(frozen=True, slots=True)
class Loss:
    """Units that left at a step.

    Attributes:
        step: in words, e.g. "not relevant".
        count: number of units that left.
        reasons: closer reasons with how many, most frequent first; they add up to `count`, or there are none.
    """

    step: str
    count: int
    reasons: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Waterfall:
    """The way of one unit into the release.

    Attributes:
        unit: "articles", "figures" or "panels".
        came_in: number of those that came in.
        parts: (origin, number) of them; the numbers add up to `came_in`.
        losses: units that left, in the order of the data's way; only steps at which one left, and the last step.
        rest: number of those in the release.

    Raises:
        ValueError: if the numbers do not add up.
    """

    unit: str
    came_in: int
    parts: tuple[tuple[str, int], ...]
    losses: tuple[Loss, ...]
    rest: int

    def __post_init__(self) -> None:
        lost = sum(loss.count for loss in self.losses)
        if self.came_in - lost != self.rest or sum(count for _, count in self.parts) != self.came_in:
            raise ValueError(f"{self.unit}: {self.came_in} came in, {lost} left, {self.rest} are there")
        if any(loss.reasons and sum(count for _, count in loss.reasons) != loss.count for loss in self.losses):
            raise ValueError(f"{self.unit}: the reasons of a step do not add up")

    def steps(self) -> Iterator[tuple[Loss, int, int]]:
        """Yield every loss with how many there were before it and after it."""
        left = self.came_in
        for loss in self.losses:
            yield loss, left, left - loss.count
            left -= loss.count


@dataclass
class OutcomeCounts:
    """Number of units by outcome; counts of batches are added up.

    Attributes:
        outcomes: by outcome; `IN_THE_RELEASE` among them.
        parts: by origin; adds up to the same number.
    """

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    parts: Counter[str] = field(default_factory=Counter)

    def add(self, other: OutcomeCounts) -> None:
        """Add the counts of another batch."""
        self.outcomes += other.outcomes
        self.parts += other.parts


def waterfall(unit: str, counts: OutcomeCounts, steps: Sequence[str]) -> Waterfall:
    """Return the way of a unit.

    Args:
        unit: "articles", "figures" or "panels".
        counts: what became of every one.
        steps: the steps in the order of the data's way; an outcome at any other one is not accounted for.

    Raises:
        ValueError: if parts and outcomes do not add up.
    """
    by_step: dict[str, Counter[str]] = {step: Counter() for step in (*steps, NOT_ACCOUNTED_FOR)}
    for outcome, count in counts.outcomes.items():
        if outcome != IN_THE_RELEASE:
            by_step[outcome.step if outcome.step in by_step else NOT_ACCOUNTED_FOR][outcome.reason] += count
    losses = tuple(
        Loss(step, reasons.total(), _told_apart(reasons))
        for step, reasons in by_step.items()
        if reasons or step == NOT_ACCOUNTED_FOR
    )
    return Waterfall(
        unit=unit,
        came_in=counts.outcomes.total(),
        parts=tuple(counts.parts.items()),
        losses=losses,
        rest=counts.outcomes[IN_THE_RELEASE],
    )


def _told_apart(reasons: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """Return the most frequent reasons of a step, and behind them how many had another one, or none."""
    named = sorted(
        ((reason, count) for reason, count in reasons.items() if reason), key=lambda item: (-item[1], item[0])
    )
    if not named:
        return ()
    rest = sum(reasons.values()) - sum(count for _, count in named[:MOST_REASONS])
    return (*named[:MOST_REASONS], *(((OTHER_REASONS, rest),) if rest else ()))
