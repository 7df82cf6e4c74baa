"""Which of two lists belong together, one to one, when every pair is worth something."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def best_pairing(values: NDArray[np.floating]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rows (ascending) and columns of the one-to-one pairs whose values have the largest sum.

    Args:
        values: (rows, columns), finite; what each pair is worth. The shorter side is paired completely, also where
            a pair is worth little: the caller leaves those out.

    Raises:
        ValueError: if a value is not a number.
    """
    # SciPy's optimisers take a quarter of a second to import, which every start of the code location would pay
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(values, maximize=True)
    return rows, columns
