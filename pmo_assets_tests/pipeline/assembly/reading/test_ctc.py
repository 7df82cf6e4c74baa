"""The likeliest texts of a lattice, against every path of it."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby, product

import numpy as np
import pytest

from pmo_assets.pipeline.assembly.reading.ctc import likely_texts


def by_every_path(lattice: np.ndarray, characters: str) -> dict[str, float]:
    found: defaultdict[str, float] = defaultdict(float)
    for path in product(range(lattice.shape[1]), repeat=len(lattice)):
        text = "".join(characters[k - 1] for k, _ in groupby(path) if k)
        found[text] += float(np.prod([row[k] for row, k in zip(lattice, path, strict=True)]))
    return found


@pytest.mark.parametrize("seed", range(5))
def test_probabilities_are_sums_over_paths(seed: int) -> None:
    lattice = np.random.default_rng(seed).dirichlet([0.5] * 3, 5).astype(np.float32)
    every = by_every_path(lattice, "ab")
    found = likely_texts(lattice, "ab", most=3)
    assert [text for text, _ in found] == sorted(every, key=lambda t: -every[t])[:3]
    for text, probability in found:
        assert probability == pytest.approx(every[text], abs=0.05)


def test_a_letter_twice_needs_a_blank_between() -> None:
    sure = np.asarray([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]], np.float32)
    assert likely_texts(sure, "i")[0] == ("ii", 1.0)
    assert likely_texts(sure[[0, 2]], "i")[0] == ("i", 1.0)
