"""Maximum mean discrepancy between two sets of embeddings: is it one distribution (Gretton et al. 2012)?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.encoders.evaluation.bootstrap import Interval, percentile_interval
from pmo_assets.encoders.evaluation.embeddings import Embeddings, EmbeddingsError

PERMUTATIONS: Final = 10_000
MOST_ROWS: Final = 2_000
"""Rows of a set that are compared; of more, so many are drawn. The kernel of two such sets takes 128 MB."""

_AT_ONCE: Final = 1_000

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Discrepancy:
    """Distance between two sets of embeddings.

    Attributes:
        squared_mmd: unbiased estimate; below 0 by chance if the sets are alike.
        bandwidth: of the Gaussian kernel exp(-distance² / (2 bandwidth²)).
        p_value: share of permutations, and of the sets as they are, with an estimate at least as large.
        permutations: that were made.
        null: 95 % of the permutations' estimates lie in it.
        interval: of the estimate, by drawing rows of each set again.
        rows: of each set that were compared.
    """

    squared_mmd: float
    bandwidth: float
    p_value: float
    permutations: int
    null: Interval
    interval: Interval
    rows: tuple[int, int]


def discrepancy(
    one: Embeddings,
    other: Embeddings,
    *,
    permutations: int = PERMUTATIONS,
    replicates: int = 1_000,
    level: float = 0.99,
    most_rows: int = MOST_ROWS,
    seed: int = 0,
) -> Discrepancy:
    """Return how far two sets of unit rows are apart, with a permutation test and a bootstrap interval.

    The kernel is Gaussian with the median distance of all rows as its bandwidth (Gretton et al. 2012, section 8). A
    pair of a row with itself counts in no estimate, also where a row is drawn twice.

    Args:
        one, other: (n, d) and (m, d), n and m at least 2.
        permutations: of the test; each deals all rows out to two sets of the same sizes.
        replicates: of the bootstrap.
        level: of the interval; 0.99 as OPEN-PMC.
        most_rows: of each set; more are drawn at random.
        seed: of all random numbers.

    Raises:
        EmbeddingsError: if a set has fewer than two rows, or dimensions do not fit.
    """
    if one.dimensions != other.dimensions:
        raise EmbeddingsError(f"{one.name} has {one.dimensions} dimensions, {other.name} {other.dimensions}")
    if min(len(one), len(other)) < 2:
        raise EmbeddingsError("a distance between sets needs two rows of each")
    random = np.random.default_rng(seed)
    rows = [_some(item, most_rows, random) for item in (one, other)]
    sizes = (len(rows[0]), len(rows[1]))
    squares = _squared_distances(np.concatenate(rows))
    upper = squares[np.triu_indices(len(squares), 1)]
    bandwidth = float(np.sqrt(np.median(upper))) or float(np.sqrt(upper.max())) or 1.0
    kernel = np.exp(squares / (-2 * bandwidth**2))
    np.fill_diagonal(kernel, 0)
    found = float(_estimates(kernel, np.repeat([1.0, 0.0], sizes)[:, None])[0])
    null = _permuted(kernel, sizes[0], permutations, random)
    reach = 1e-12 * max(1.0, abs(found))  # sums of the same numbers in another order
    drawn = _resampled(kernel, sizes, replicates, random)
    return Discrepancy(
        squared_mmd=found,
        bandwidth=bandwidth,
        p_value=float((1 + np.count_nonzero(null >= found - reach)) / (1 + permutations)),
        permutations=permutations,
        null=percentile_interval(null) if permutations else (0.0, 0.0),
        interval=percentile_interval(drawn, level) if replicates else (found, found),
        rows=sizes,
    )


def _some(embeddings: Embeddings, most: int, random: np.random.Generator) -> Floats:
    if len(embeddings) <= most:
        return embeddings.unit_rows()
    return embeddings.unit_rows(np.sort(random.choice(len(embeddings), most, replace=False)))


def _squared_distances(rows: Floats) -> Floats:
    squares = 2 - 2 * (rows @ rows.T)
    np.maximum(squares, 0, out=squares)
    np.fill_diagonal(squares, 0)
    return np.asarray(squares)


def _estimates(kernel: Floats, first: Floats) -> Floats:
    """Return the unbiased estimate for each way to deal rows out.

    Args:
        kernel: (N, N) with zeros in the diagonal.
        first: (N, ways) of 0 and 1: 1 for the first set.
    """
    n = first.sum(axis=0)
    m = len(kernel) - n
    within = np.einsum("ij,ij->j", first, kernel @ first)
    to_all = kernel.sum(axis=1) @ first
    between = to_all - within
    others = kernel.sum() - 2 * to_all + within
    return np.asarray(within / (n * (n - 1)) + others / (m * (m - 1)) - 2 * between / (n * m))


def _permuted(kernel: Floats, first_size: int, permutations: int, random: np.random.Generator) -> Floats:
    found = []
    for start in range(0, permutations, _AT_ONCE):
        ways = min(_AT_ONCE, permutations - start)
        order = random.random((len(kernel), ways)).argpartition(first_size - 1, axis=0)[:first_size]
        first = np.zeros((len(kernel), ways))
        np.put_along_axis(first, order, 1.0, axis=0)
        found.append(_estimates(kernel, first))
    return np.concatenate(found) if found else np.zeros(0)


def _resampled(kernel: Floats, sizes: tuple[int, int], replicates: int, random: np.random.Generator) -> Floats:
    """Return estimates of sets whose rows are drawn again; pairs of a row with itself have no weight."""
    n, m = sizes
    found = []
    for start in range(0, replicates, _AT_ONCE):
        ways = min(_AT_ONCE, replicates - start)
        x = random.multinomial(n, np.full(n, 1 / n), size=ways).T.astype(np.float64)
        y = random.multinomial(m, np.full(m, 1 / m), size=ways).T.astype(np.float64)
        within_x, pairs_x = np.einsum("ij,ij->j", x, kernel[:n, :n] @ x), n**2 - np.square(x).sum(axis=0)
        within_y, pairs_y = np.einsum("ij,ij->j", y, kernel[n:, n:] @ y), m**2 - np.square(y).sum(axis=0)
        between = np.einsum("ij,ij->j", x, kernel[:n, n:] @ y)
        usable = (pairs_x > 0) & (pairs_y > 0)  # of two rows, one may be drawn twice
        found.append(
            within_x[usable] / pairs_x[usable] + within_y[usable] / pairs_y[usable] - 2 * between[usable] / (n * m)
        )
    return np.concatenate(found) if found else np.zeros(0)
