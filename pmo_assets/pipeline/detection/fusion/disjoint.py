"""The disjoint boxes of the highest total value: how panels that compete for a figure are chosen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pmo_assets.records.geometry import Box, covered_fraction, non_maximum_suppression

CANDIDATES = 100
"""Panels that compete at most, the best ones: figures have up to some 30, pictures of noise any number."""


def disjoint_choice(boxes: Sequence[Box], values: Sequence[float], touching: float, most: int) -> list[int]:
    """Return the indices of the disjoint boxes of the highest total value, in order.

    Args:
        boxes: candidates.
        values: worth of each; boxes of no value are never chosen.
        touching: part of the smaller of two boxes up to which both may be chosen.
        most: number of boxes that may be chosen.
    """
    useful = sorted((k for k, value in enumerate(values) if value > 0), key=lambda k: -values[k])[:CANDIDATES]
    if not useful:
        return []
    useful.sort()
    rivals = [
        (i, j) for i, a in enumerate(useful) for j, b in enumerate(useful)
        if i < j and _shared(boxes[a], boxes[b]) > touching
    ]  # fmt: skip
    rows = np.zeros((len(rivals) + 1, len(useful)))
    rows[0] = 1
    for row, pair in enumerate(rivals, start=1):
        rows[row, list(pair)] = 1
    # Imported here: `records.pairing` says why.
    from scipy.optimize import Bounds, LinearConstraint, milp

    limits = LinearConstraint(rows, ub=[most, *[1.0] * len(rivals)])
    solved = milp(
        [-values[k] for k in useful], integrality=np.ones(len(useful)), bounds=Bounds(0, 1), constraints=limits
    )
    # A solver that gives up leaves the best ones that fit, one after the other.
    if solved.x is None:
        order = sorted(useful, key=lambda k: -values[k])
        return sorted(order[k] for k in non_maximum_suppression([boxes[k] for k in order], [values[k] for k in order]))
    return [k for k, x in zip(useful, solved.x.tolist(), strict=True) if x > 0.5]


def _shared(a: Box, b: Box) -> float:
    """Return the part of the smaller of two boxes that lies in the other one."""
    return max(covered_fraction(a, b), covered_fraction(b, a))
