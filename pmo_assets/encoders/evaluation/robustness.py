"""How much of its retrieval an encoder keeps when the pictures are perturbed (OPEN-PMC-18M, figure 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pmo_assets.encoders.evaluation.retrieval import retrieval_numbers


@dataclass(frozen=True)
class Kept:
    """What a perturbation leaves of retrieval in one direction.

    Attributes:
        ratios: each number under perturbation by the clean one; None where the clean one is 0. Above 1 is better under
            perturbation; of `median_rank`, worse.
        p_value: of the Wilcoxon signed-rank test that reciprocal ranks of the same queries differ.
    """

    ratios: dict[str, float | None]
    p_value: float


def kept(clean: NDArray[np.intp], perturbed: NDArray[np.intp], clusters: NDArray[np.intp] | None = None) -> Kept:
    """Compare the ranks of the same queries without and with a perturbation.

    Args:
        clean, perturbed: (n,) ranks of the best right answer, from 1.
        clusters: (n,) article of each query: the test is of articles' means, because queries of one article are no
            independent observations; of queries if None.
    """
    before, after = retrieval_numbers(clean), retrieval_numbers(perturbed)
    ratios = {name: after[name] / value if value else None for name, value in before.items()}
    difference = 1 / perturbed - 1 / clean
    return Kept(ratios, paired_p_value(difference if clusters is None else _means(difference, clusters)))


def _means(values: NDArray[np.float64], clusters: NDArray[np.intp]) -> NDArray[np.float64]:
    numbers = np.unique(clusters, return_inverse=True)[1]
    return np.asarray(np.bincount(numbers, weights=values) / np.bincount(numbers))


def paired_p_value(differences: Sequence[float] | NDArray[np.float64]) -> float:
    """Return the two-sided p of the Wilcoxon signed-rank test that differences lie around 0; 1 if all are 0.

    Differences of 0 are left out (Wilcoxon 1945). Of two encoders it takes the differences of their ratios, a
    perturbation, strength and direction each, as the paper does.
    """
    from scipy.stats import wilcoxon

    values = np.asarray(differences, dtype=np.float64)
    values = values[values != 0]
    return float(wilcoxon(values).pvalue) if len(values) else 1.0
