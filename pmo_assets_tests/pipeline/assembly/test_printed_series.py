"""Letters that were not read are filled in where the read ones leave no choice."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.assembly.printed_series import completed_series
from pmo_assets.records.geometry import Box

GRID: list[Box] = [(0.0, 0.0, 0.48, 0.48), (0.52, 0.0, 1.0, 0.48), (0.0, 0.52, 0.48, 1.0), (0.52, 0.52, 1.0, 1.0)]
"""Two by two, row by row."""

CASES: dict[str, tuple[list[str | None], str, list[str | None]]] = {
    "a gap between read letters": (["A", None, "C", "D"], "    ", ["A", "B", "C", "D"]),
    "two gaps": (["a", None, None, "d"], "    ", ["a", "b", "c", "d"]),
    "the first letter": ([None, "B", "C", None], "    ", ["A", "B", "C", None]),
    "column by column": (["a", "c", None, "d"], "    ", ["a", "c", "b", "d"]),
    "behind the last read letter nothing is printed": (["A", "B", "C", None], "    ", ["A", "B", "C", None]),
    "behind the last read letter something is printed": (["A", "B", "C", None], "xxxx", ["A", "B", "C", "D"]),
    "one letter is not enough": (["A", None, None, None], "xxxx", ["A", None, None, None]),
    "letters in no order": (["B", None, "A", "D"], "xxxx", ["B", None, "A", "D"]),
    "letters that start elsewhere": (["N", "T", None, None], "xxxx", ["N", "T", None, None]),
    "capitals and small letters": (["A", None, "c", "D"], "xxxx", ["A", None, "c", "D"]),
    "words": (["OD", "OS", None, None], "xxxx", ["OD", "OS", None, None]),
    "twice the same letter": (["A", "A", None, "D"], "xxxx", ["A", "A", None, "D"]),
    "everything read": (["D", "C", "B", "A"], "xxxx", ["D", "C", "B", "A"]),
    "nothing read": ([None] * 4, "xxxx", [None] * 4),
}


@pytest.mark.parametrize("case", CASES)
def test_series(case: str) -> None:
    read, printed, called = CASES[case]
    assert completed_series(read, GRID, [sign == "x" for sign in printed]) == called
