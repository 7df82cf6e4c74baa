"""Confidence intervals by resampling whole clusters: rows of one article are no independent observations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

REPLICATES: Final = 1000
LEVEL: Final = 0.95

Interval = tuple[float, float]


def cluster_weights(clusters: NDArray[np.intp], replicates: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Yield, for each replicate, how often each row is drawn when as many clusters as there are are drawn again.

    Args:
        clusters: (n,) cluster of each row.
        replicates: how many draws.
        seed: of the random numbers.

    Yields:
        (n,) float64, whole numbers.
    """
    names, numbers = np.unique(clusters, return_inverse=True)
    random = np.random.default_rng(seed)
    for _ in range(replicates):
        drawn = np.bincount(random.integers(len(names), size=len(names)), minlength=len(names))
        yield drawn[numbers].astype(np.float64)


def percentile_interval(values: NDArray[np.float64], level: float = LEVEL) -> Interval:
    """Return the percentile interval of the replicates' values (Efron & Tibshirani 1993, chapter 13)."""
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
