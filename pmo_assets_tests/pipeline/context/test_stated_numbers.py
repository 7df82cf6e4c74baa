"""Numbers of a text: each with its units and its signs of comparison."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.context.stated_numbers import is_number_word, numbers_of, unit_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("473 µm", {"473": {("", "µm")}}),
        ("473 microns", {"473": {("", "µm")}}),
        ("0.5%", {"0.5": {("", "%")}}),
        ("p < 0.05", {"0.05": {("<", "")}}),
        ("three months", {"3": {("", "month")}}),
        ("a 67-year-old woman", {"67": {("", "year")}}),
        ("500, 1,000 and 1,500 μm", {"500": {("", "µm")}, "1000": {("", "µm")}, "1500": {("", "µm")}}),
        ("20 × 15 degrees", {"20": {("", "°")}, "15": {("", "°")}}),
        ("2–5 mm", {"2": {("", "mm")}, "5": {("", "mm")}}),
        ("20/40", {"20/40": {("", "")}}),
        ("a refraction of −2.5 D after 7 d", {"2.5": {("-", "diopter")}, "7": {("", "day")}}),
        ("42 eyes", {"42": {("", "eye")}}),
        ("CD68, T1 and H2O", {}),
    ],
)
def test_units_and_signs(text: str, expected: dict[str, set[tuple[str, str]]]) -> None:
    assert numbers_of([text]) == expected


def test_all_that_stands_by_a_number_is_kept() -> None:
    assert numbers_of(["12 eyes and 12 months", "12 mm"]) == {"12": {("", "eye"), ("", "month"), ("", "mm")}}


def test_words_that_are_units_or_numbers() -> None:
    assert unit_words("473 microns in months") == {"microns"}
    assert is_number_word("Twelve")
    assert not is_number_word("one")
