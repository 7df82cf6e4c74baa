"""Panel identifiers are compared by their letters and digits; words of place say where they point."""

from __future__ import annotations

import pytest

from pmo_assets.records.identifiers import HORIZONTAL_PLACES, MIDDLE_PLACES, VERTICAL_PLACES, normalised_identifier


@pytest.mark.parametrize(
    ("identifier", "normalised"),
    [
        ("(A)", "a"),
        ("a.", "a"),
        ("A-1", "a1"),
        ("Top left", "topleft"),
        ("left panel", "left"),
        ("on the left", "left"),
        ("Left-hand side", "left"),
        ("upper right images", "upperright"),
        ("rightmost panel", "rightmost"),
        ("top row", "toprow"),
        ("left column", "leftcolumn"),
        ("é", ""),
        ("٣", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_identifiers_are_compared_by_letters_and_digits(identifier: str | None, normalised: str) -> None:
    assert normalised_identifier(identifier) == normalised


def test_a_word_of_place_points_along_one_axis() -> None:
    words = [*HORIZONTAL_PLACES, *VERTICAL_PLACES, *MIDDLE_PLACES]
    assert len(set(words)) == len(words)
    assert set(HORIZONTAL_PLACES.values()) == set(VERTICAL_PLACES.values()) == {0.0, 1.0}
