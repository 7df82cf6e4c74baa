"""MMD: the estimate by its definition, the test by its error rate, and both by truths that are known."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmo_assets.encoders.evaluation import distances
from pmo_assets.encoders.evaluation.distances import discrepancy
from pmo_assets.encoders.evaluation.embeddings import Embeddings, EmbeddingsError


def _rows(count: int, mean: float, seed: int, dimensions: int = 8) -> Embeddings:
    random = np.random.default_rng(seed)
    return Embeddings(random.standard_normal((count, dimensions)) + mean * np.eye(dimensions)[0])


def _by_definition(x, y, bandwidth):
    """Unbiased estimate, Gretton et al. 2012, equation 3, pair by pair."""

    def kernel(a, b):
        return np.exp(-((a - b) ** 2).sum() / (2 * bandwidth**2))

    within = sum(
        sum(kernel(part[i], part[j]) for i in range(len(part)) for j in range(len(part)) if i != j)
        / (len(part) * (len(part) - 1))
        for part in (x, y)
    )
    return within - 2 * np.mean([[kernel(a, b) for b in y] for a in x])


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.integers(2, 9), st.integers(2, 9))
def test_estimate_and_bandwidth_are_those_of_the_definition(seed, n, m) -> None:
    x, y = _rows(n, 0, seed), _rows(m, 1, seed + 1)
    found = discrepancy(x, y, permutations=0, replicates=0)
    together = np.concatenate([x.unit_rows(), y.unit_rows()])
    apart = np.median([np.linalg.norm(a - b) ** 2 for a, b in combinations(together, 2)]) ** 0.5
    assert found.bandwidth == pytest.approx(apart)
    assert found.squared_mmd == pytest.approx(_by_definition(x.unit_rows(), y.unit_rows(), apart), abs=1e-12)


def test_permutations_are_those_of_the_definition() -> None:
    # of all ways to deal 6 rows out to 3 and 3, the shares of a large number of random ones
    x, y = _rows(3, 0, 1), _rows(3, 2, 2)
    together = np.concatenate([x.unit_rows(), y.unit_rows()])
    found = discrepancy(x, y, permutations=20_000, replicates=0)
    ways = [list(way) for way in combinations(range(6), 3)]
    estimates = [
        _by_definition(together[way], np.delete(together, way, axis=0), found.bandwidth) for way in ways
    ]  # fmt: skip
    expected = np.mean([estimate >= found.squared_mmd - 1e-12 for estimate in estimates])
    assert found.p_value == pytest.approx(expected, abs=0.01)


def test_sets_that_differ_are_told_apart_and_the_interval_says_how_far() -> None:
    found = discrepancy(_rows(120, 0, 1), _rows(100, 1.5, 2), permutations=999, replicates=200)
    assert found.p_value == 1 / 1000
    assert found.rows == (120, 100)
    assert found.null[1] < found.interval[0] < found.squared_mmd < found.interval[1]


def test_the_test_errs_as_often_as_it_says() -> None:
    values = [discrepancy(_rows(12, 0, 2 * i), _rows(12, 0, 2 * i + 1), permutations=99, replicates=0).p_value
              for i in range(150)]  # fmt: skip
    assert 0.02 <= np.mean(np.array(values) <= 0.1) <= 0.18
    assert abs(np.mean(values) - 0.5) < 0.09


def test_the_bootstrap_is_not_drawn_up_by_rows_that_are_drawn_twice() -> None:
    x, y = _rows(40, 0, 1), _rows(40, 0, 2)
    drawn = discrepancy(x, y, permutations=0, replicates=2000, level=0.5)
    assert drawn.interval[0] < drawn.squared_mmd < drawn.interval[1]


def test_equal_sets_are_not_apart() -> None:
    same = Embeddings(np.ones((5, 3)))
    found = discrepancy(same, same, permutations=50, replicates=50)
    assert found.squared_mmd == pytest.approx(0)
    assert found.p_value == 1


def test_large_sets_are_sampled_and_seeds_repeat() -> None:
    x, y = _rows(50, 0, 1), _rows(60, 0.5, 2)
    one = discrepancy(x, y, permutations=200, replicates=50, most_rows=30, seed=4)
    assert one.rows == (30, 30)
    assert one == discrepancy(x, y, permutations=200, replicates=50, most_rows=30, seed=4)
    assert one != discrepancy(x, y, permutations=200, replicates=50, most_rows=30, seed=5)


def test_parts_of_the_permutations_are_all_taken(monkeypatch) -> None:
    monkeypatch.setattr(distances, "_AT_ONCE", 7)
    found = discrepancy(_rows(20, 0, 1), _rows(20, 2, 2), permutations=50, replicates=10)
    assert (found.p_value, found.permutations) == (1 / 51, 50)


def test_sets_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(EmbeddingsError, match="two rows of each"):
        discrepancy(_rows(1, 0, 0), _rows(3, 0, 0))
    with pytest.raises(EmbeddingsError, match="8 dimensions, embeddings 3"):
        discrepancy(_rows(2, 0, 0), _rows(3, 0, 0, dimensions=3))
