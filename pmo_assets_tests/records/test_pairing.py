"""One-to-one pairs of the largest total."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pmo_assets.records.pairing import best_pairing


def test_the_sum_counts_and_not_the_best_pair_alone() -> None:
    rows, columns = best_pairing(np.array([[0.9, 0.8], [0.7, 0.0]]))
    assert (rows.tolist(), columns.tolist()) == ([0, 1], [1, 0])


@given(arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=st.floats(-5, 5, width=16)))
def test_no_other_pairing_is_worth_more(values: np.ndarray) -> None:
    rows, columns = best_pairing(values)
    tall, wide = values.shape
    assert len(rows) == len(columns) == min(tall, wide)
    assert rows.tolist() == sorted(set(rows.tolist()))
    assert len(set(columns.tolist())) == len(columns)
    turned = values if tall <= wide else values.T
    every = itertools.permutations(range(turned.shape[1]), turned.shape[0])
    most = max(sum(turned[row, column] for row, column in enumerate(chosen)) for chosen in every)
    assert values[rows, columns].sum() == pytest.approx(most)


@pytest.mark.slow  # a process that loads everything
def test_the_code_location_starts_without_scipys_optimisers() -> None:
    command = "import sys, pmo_assets.definitions; sys.exit('scipy.optimize' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", command], check=False).returncode == 0
