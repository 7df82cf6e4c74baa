"""Arithmetic of evidence about one place: shares of names, and of something else, from several witnesses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

LEAST = 1e-4
"""No witness excludes a name altogether."""


def pooled(witnesses: Sequence[tuple[Mapping[str, float], float]]) -> dict[str, float]:
    """Return shares of names from several witnesses, each with its weight (a logarithmic opinion pool).

    A witness that gives the same share to every name and to something else changes nothing.

    Args:
        witnesses: (shares of the same names, summing to 1 at most, the rest being something else; weight).
    """
    names = list(witnesses[0][0]) if witnesses else []
    logs = {name: sum(weight * math.log(max(shares[name], LEAST)) for shares, weight in witnesses) for name in names}
    rest = sum(weight * math.log(max(1 - sum(shares.values()), LEAST)) for shares, weight in witnesses)
    highest = max([rest, *logs.values()])
    values = {name: math.exp(value - highest) for name, value in logs.items()}
    total = sum(values.values()) + math.exp(rest - highest)
    return {name: value / total for name, value in values.items()}


def powered(shares: Mapping[str, float], power: float) -> dict[str, float]:
    """Return shares made bolder (power above 1) or more cautious (below 1)."""
    return pooled([(shares, power)])


def mean(witnesses: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of shares of the same names: several looks at one place by the same witness."""
    return {name: sum(shares[name] for shares in witnesses) / len(witnesses) for name in witnesses[0]}
