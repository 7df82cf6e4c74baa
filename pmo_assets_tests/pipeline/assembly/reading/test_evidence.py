"""Pooling what several witnesses say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.assembly.reading.evidence import mean, pooled, powered

SHARES = st.lists(st.floats(0.0, 0.3), min_size=3, max_size=3).map(lambda v: dict(zip("ABC", v, strict=True)))


@given(SHARES, SHARES, st.floats(0, 3))
def test_pools_are_probabilities(first: dict[str, float], second: dict[str, float], weight: float) -> None:
    shares = pooled([(first, 1.0), (second, weight)])
    assert all(0 <= share <= 1 for share in shares.values())
    assert sum(shares.values()) <= 1 + 1e-9


@given(SHARES)
def test_a_witness_that_knows_nothing_changes_nothing(shares: dict[str, float]) -> None:
    alone = pooled([(shares, 1.0)])
    assert pooled([(shares, 1.0), (dict.fromkeys("ABC", 0.25), 2.0)]) == pytest.approx(alone)


def test_powers_make_bolder_or_more_cautious() -> None:
    shares = {"A": 0.6, "B": 0.3}
    assert powered(shares, 2)["A"] > 0.6 > powered(shares, 0.5)["A"]


def test_looks_are_averaged() -> None:
    assert mean([{"A": 1.0}, {"A": 0.5}]) == {"A": 0.75}
