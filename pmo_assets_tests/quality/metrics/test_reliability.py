"""Whether claimed probabilities are kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.quality.metrics.reliability import brier_score, expected_error, reliability_bins


def test_bins_hold_what_was_claimed_and_what_came_out() -> None:
    low, high = reliability_bins([0.62, 0.68, 1.0], [True, False, True])
    assert (low.lower, low.upper, low.count, low.right_share) == (0.6, 0.7, 2, 0.5)
    assert low.mean_claimed == pytest.approx(0.65)
    assert (high.lower, high.count, high.right_share) == (0.9, 1, 1.0)


def test_kept_claims_have_no_error() -> None:
    claims = [0.75] * 4
    assert expected_error(reliability_bins(claims, [True, True, True, False])) == pytest.approx(0.0)
    assert expected_error(reliability_bins(claims, [False] * 4)) == pytest.approx(0.75)
    assert brier_score(claims, [True] * 4) == pytest.approx(0.0625)


def test_of_nothing_nothing_is_wrong() -> None:
    assert (expected_error([]), brier_score([], [])) == (0.0, 0.0)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60))
def test_bins_count_every_claim_and_the_error_is_bounded(claims: list[tuple[float, bool]]) -> None:
    bins = reliability_bins([claim for claim, _ in claims], [right for _, right in claims])
    assert sum(item.count for item in bins) == len(claims)
    assert all(item.lower - 1e-9 <= item.mean_claimed <= item.upper + 1e-9 for item in bins)
    assert 0 <= expected_error(bins) <= 1
