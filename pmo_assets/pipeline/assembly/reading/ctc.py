"""Texts out of a recognition network: the likeliest ones of a CTC lattice, each with its probability."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

BEAMS = 12
"""Prefixes that are followed at a time: identifiers have a few characters, and a rival or two for each."""

LEAST_SHARE = 0.003
"""Characters with less probability at a place are not followed there."""


def likely_texts(
    probabilities: NDArray[np.float32], characters: Sequence[str], most: int = 6
) -> list[tuple[str, float]]:
    """Return (text, probability) of the likeliest texts, best first (prefix beam search).

    Args:
        probabilities: (places, 1 + characters); column 0 is the blank.
        characters: what the other columns stand for.
        most: so many texts at most.
    """
    # Per prefix: probability of the ways to it that end in a blank, and of those that end in its last character.
    beams: dict[tuple[int, ...], tuple[float, float]] = {(): (1.0, 0.0)}
    for row in probabilities.astype(np.float64):
        blank = float(row[0])
        here = [int(k) for k in np.flatnonzero(row >= LEAST_SHARE) if k > 0]
        following: defaultdict[tuple[int, ...], list[float]] = defaultdict(lambda: [0.0, 0.0])
        for prefix, (after_blank, after_character) in beams.items():
            total = after_blank + after_character
            following[prefix][0] += total * blank
            if prefix:
                following[prefix][1] += after_character * float(row[prefix[-1]])
            for k in here:
                share = float(row[k])
                repeated = bool(prefix) and prefix[-1] == k
                following[(*prefix, k)][1] += (after_blank if repeated else total) * share
        best = sorted(following.items(), key=lambda item: (-sum(item[1]), item[0]))[:BEAMS]
        beams = {prefix: (values[0], values[1]) for prefix, values in best}
    found = sorted(beams.items(), key=lambda item: (-sum(item[1]), item[0]))[:most]
    return [("".join(characters[k - 1] for k in prefix), sum(values)) for prefix, values in found]
