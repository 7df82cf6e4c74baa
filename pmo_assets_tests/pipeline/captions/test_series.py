"""Where identifiers stand in a series, and ranges written out."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.captions.series import Series, expanded, identifier_at, rank_of


@pytest.mark.parametrize(
    ("series", "identifier", "rank"),
    [
        (Series.UPPER, "C", (2, -1)),
        (Series.UPPER, "C2", (2, 1)),
        (Series.UPPER, "Cii", (2, 1)),
        (Series.UPPER, "Cb", (2, 1)),
        (Series.UPPER, "c", None),
        (Series.UPPER, "C0", None),
        (Series.LOWER, "b1", (1, 0)),
        (Series.LOWER, "iv", None),
        (Series.ROMAN, "iv", (3, -1)),
        (Series.ROMAN, "IV", None),
        (Series.UPPER_ROMAN, "IV", (3, -1)),
    ],
)
def test_the_rank_of_an_identifier(series: Series, identifier: str, rank: tuple[int, int] | None) -> None:
    assert rank_of(series, identifier) == rank


@pytest.mark.parametrize(
    ("series", "items", "identifiers"),
    [
        (Series.UPPER, [("A", "D")], ["A", "B", "C", "D"]),
        (Series.UPPER, [("A1", "A3")], ["A1", "A2", "A3"]),
        (Series.UPPER, [("Aa", "Ac")], ["Aa", "Ab", "Ac"]),
        (Series.UPPER, [("Ai", "Aiii")], ["Ai", "Aii", "Aiii"]),
        (Series.ROMAN, [("i", "iii"), ("v", "")], ["i", "ii", "iii", "v"]),
        (Series.UPPER, [("A1", "A40")], ["A1", "A40"]),
        (Series.UPPER, [("H", ""), ("E", "")], None),
        (Series.UPPER, [("C", "A")], None),
    ],
)
def test_ranges_are_written_out(series: Series, items: list[tuple[str, str]], identifiers: list[str] | None) -> None:
    ranks = expanded(series, items)
    assert (None if ranks is None else sorted(ranks, key=lambda identifier: ranks[identifier])) == identifiers


@pytest.mark.parametrize("series", [Series.UPPER, Series.LOWER, Series.ROMAN, Series.UPPER_ROMAN])
def test_place_and_rank_are_inverse(series: Series) -> None:
    assert [rank_of(series, identifier_at(series, place)) for place in range(20)] == [(n, -1) for n in range(20)]
