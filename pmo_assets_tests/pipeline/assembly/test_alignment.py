"""Sums over assignments are what adding up all assignments gives."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.assembly.alignment import MOST_EXACT, Shares, Weights, free_shares, ordered_shares

weights = st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(0, 10_000)).map(
    lambda drawn: _weights(*drawn)  # panels, names, seed
)


def _weights(panels: int, names: int, seed: int) -> Weights:
    rng = np.random.default_rng(seed)
    return Weights(rng.random((panels, names)) * 4, rng.random(panels) * 0.3 + 0.01, 0.1, 0.05)


def every_assignment(panels: int, names: int) -> Iterator[tuple[int, ...]]:
    return itertools.product(range(names + 1), repeat=panels)


def ordered_weight(w: Weights, order: list[int], names_of: tuple[int, ...]) -> float:
    names = w.pairs.shape[1]
    weight, last, before = 1.0, -1, names
    for panel in order:
        name = names_of[panel]
        if name == names:
            weight *= w.unnamed[panel]
        elif name > last:
            weight, last = weight * w.pairs[panel, name], name
        elif name == before:
            weight *= w.repeated * w.pairs[panel, name]
        else:
            return 0.0
        before = name
    return float(weight * w.missing ** (names - len(set(names_of) - {names})))


def free_weight(w: Weights, names_of: tuple[int, ...]) -> float:
    panels, names = w.pairs.shape
    given_names = [name for name in names_of if name < names]
    if len(set(given_names)) < len(given_names):
        return 0.0
    factors = [
        w.unnamed[panel] if name == names else w.pairs[panel, name] / max(panels, names) * np.e
        for panel, name in enumerate(names_of)
    ]
    return float(np.prod(factors) * w.missing ** (names - len(given_names)))


def added_up(w: Weights, weighed: dict[tuple[int, ...], float]) -> Shares:
    panels, names = w.pairs.shape
    shares = np.zeros((panels, names + 1))
    for names_of, weight in weighed.items():
        shares[np.arange(panels), list(names_of)] += weight
    total = sum(weighed.values())
    return Shares(shares / total, float(np.log(total)))


@given(weights, st.integers(0, 1000))
def test_panels_in_order(w: Weights, seed: int) -> None:
    order = [int(k) for k in np.random.default_rng(seed).permutation(len(w.pairs))]
    expected = added_up(w, {a: ordered_weight(w, order, a) for a in every_assignment(*w.pairs.shape)})
    found = ordered_shares(w, order)
    np.testing.assert_allclose(found.shares, expected.shares, atol=1e-9)
    assert found.log_total == pytest.approx(expected.log_total)


@given(weights)
def test_panels_in_no_order(w: Weights) -> None:
    expected = added_up(w, {a: free_weight(w, a) for a in every_assignment(*w.pairs.shape)})
    found = free_shares(w)
    np.testing.assert_allclose(found.shares, expected.shares, atol=1e-9)
    assert found.log_total == pytest.approx(expected.log_total)


def test_many_names_are_close_to_the_exact_sum_where_print_decides() -> None:
    panels = MOST_EXACT + 2
    pairs = np.full((panels, panels), 0.05) + 10 * np.eye(panels)[::-1]
    found = free_shares(Weights(pairs, np.full(panels, 0.04), 0.03, 0.01))
    assert found.shares[:, :-1].argmax(axis=1).tolist() == list(range(panels))[::-1]
    assert found.shares[:, :-1].max(axis=1).min() > 0.95
    np.testing.assert_allclose(found.shares.sum(axis=1), 1.0)


def test_sixty_panels_are_no_problem() -> None:
    w = Weights(np.ones((60, 60)), np.full(60, 0.04), 0.03, 0.01)
    assert np.isfinite(ordered_shares(w, list(range(60))).log_total)
    assert np.isfinite(free_shares(w).log_total)


@pytest.mark.parametrize(("panels", "names"), [(300, 10), (2, 300), (300, 300), (1, MOST_EXACT)])
def test_hundreds_of_panels_or_names_have_shares(panels: int, names: int) -> None:
    pairs = np.full((panels, names), 0.01)
    pairs[:, 0] = 60.0
    w = Weights(pairs, np.full(panels, 1e-4), 0.03, 0.01)
    for found in (ordered_shares(w, list(range(panels))), free_shares(w)):
        assert np.isfinite(found.log_total)
        assert found.shares.sum(axis=1) == pytest.approx(np.ones(panels))
