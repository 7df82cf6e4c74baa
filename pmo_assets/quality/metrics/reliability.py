"""Reliability of claimed probabilities: bins of a reliability diagram, expected calibration error, Brier score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Claims with a probability in [lower, upper); the last bin includes 1.

    Attributes:
        lower: bound, 0..1.
        upper: bound, 0..1.
        count: number of claims; at least one.
        mean_claimed: mean of the claims.
        right_share: share of them that is right.
    """

    lower: float
    upper: float
    count: int
    mean_claimed: float
    right_share: float


def reliability_bins(claimed: Sequence[float], right: Sequence[bool], bins: int = 10) -> list[ReliabilityBin]:
    """Return claims against outcome in `bins` bins of equal width, without the empty ones."""
    binned: dict[int, list[tuple[float, bool]]] = {}
    for claim, outcome in zip(claimed, right, strict=True):
        binned.setdefault(min(int(claim * bins), bins - 1), []).append((claim, outcome))
    return [
        ReliabilityBin(
            lower=number / bins,
            upper=(number + 1) / bins,
            count=len(part),
            mean_claimed=sum(claim for claim, _ in part) / len(part),
            right_share=sum(outcome for _, outcome in part) / len(part),
        )
        for number, part in sorted(binned.items())
    ]


def weighted_gap(parts: Iterable[tuple[int, float, float]]) -> float:
    """Return the mean |claimed - right share| of (count, claimed, right share), by counts; 0 for nothing."""
    rows = list(parts)
    total = sum(count for count, _, _ in rows)
    return sum(count * abs(claimed - right) for count, claimed, right in rows) / total if total else 0.0


def expected_error(bins: Sequence[ReliabilityBin]) -> float:
    """Return the expected calibration error, 0..1."""
    return weighted_gap((item.count, item.mean_claimed, item.right_share) for item in bins)


def brier_score(claimed: Sequence[float], right: Sequence[bool]) -> float:
    """Return the mean squared difference of claim and outcome, 0 (best) to 1; 0 for nothing."""
    if not claimed:
        return 0.0
    return sum((claim - outcome) ** 2 for claim, outcome in zip(claimed, right, strict=True)) / len(claimed)
