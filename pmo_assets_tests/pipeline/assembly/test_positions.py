"""Positional identifiers and the panels they mean."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pmo_assets.pipeline.assembly.positions import FITS, MISSES, OPEN, NamedPlace, is_place, place_of, place_weights
from pmo_assets.records.geometry import Box

LEFT, RIGHT = (0.0, 0.0, 0.48, 1.0), (0.52, 0.0, 1.0, 1.0)
TOP_LEFT, TOP_RIGHT = (0.0, 0.0, 0.48, 0.48), (0.52, 0.0, 1.0, 0.48)
LOWER_LEFT, LOWER_RIGHT = (0.0, 0.52, 0.48, 1.0), (0.52, 0.52, 1.0, 1.0)
GRID = [TOP_LEFT, TOP_RIGHT, LOWER_LEFT, LOWER_RIGHT]


@pytest.mark.parametrize(
    ("identifier", "place"),
    [
        ("left", NamedPlace(0.0, None)),
        ("Right panel", NamedPlace(1.0, None)),
        ("top", NamedPlace(None, 0.0)),
        ("upper right", NamedPlace(1.0, 0.0)),
        ("lower row", NamedPlace(None, 1.0)),
        ("middle", NamedPlace(0.5, 0.5)),
        ("middle row", NamedPlace(None, 0.5)),
        ("rightmost", NamedPlace(1.0, None)),
        ("middle column", NamedPlace(0.5, None)),
        ("middle left", NamedPlace(0.0, 0.5)),
        ("top middle", NamedPlace(0.5, 0.0)),
        ("above", NamedPlace(None, 0.0)),
        ("below", NamedPlace(None, 1.0)),
        ("first row", NamedPlace(row=1)),
        ("second column", NamedPlace(column=2)),
        ("3rd column", NamedPlace(column=3)),
        ("last row", NamedPlace(row=-1)),
        ("Column 2", NamedPlace(column=2)),
        ("panel 2", None),
        ("second panel", NamedPlace(column=2, row=2)),
        ("left 2", None),
        ("panel", None),
        ("A", None),
        ("left eye", None),
        ("bright side", None),
        ("1", None),
        ("", None),
    ],
)
def test_where_an_identifier_points(identifier: str, place: NamedPlace | None) -> None:
    assert place_of(identifier) == place
    assert is_place(identifier) == (place is not None)


def fitting(identifiers: Sequence[str], boxes: Sequence[Box]) -> list[list[str]]:
    """Per panel the identifiers that it fits."""
    weights = place_weights(identifiers, boxes)
    return [[name for name, weight in zip(identifiers, row, strict=True) if weight == FITS] for row in weights]


def test_left_and_right() -> None:
    assert fitting(["left", "right"], [RIGHT, LEFT]) == [["right"], ["left"]]


def test_corners() -> None:
    identifiers = ["upper left", "upper right", "lower left", "lower right"]
    boxes = [LOWER_RIGHT, TOP_LEFT, LOWER_LEFT, TOP_RIGHT]
    assert fitting(identifiers, boxes) == [["lower right"], ["upper left"], ["lower left"], ["upper right"]]


def test_rows_take_every_panel_in_them() -> None:
    assert fitting(["top row", "bottom row"], GRID) == [["top row"], ["top row"], ["bottom row"], ["bottom row"]]


def test_ordinals_count_rows_and_columns() -> None:
    assert fitting(["first column", "second column"], GRID) == [["first column"], ["second column"]] * 2
    assert fitting(["first row", "last row"], GRID) == [["first row"]] * 2 + [["last row"]] * 2


def test_the_second_panel_of_a_row_or_a_column() -> None:
    assert fitting(["first panel", "second panel"], [LEFT, RIGHT]) == [["first panel"], ["second panel"]]
    assert fitting(["first panel", "second panel"], [LOWER_LEFT, TOP_LEFT]) == [["second panel"], ["first panel"]]


def test_middle_means_between_in_the_only_direction_there_is() -> None:
    boxes = [(0.0, 0.0, 0.3, 1.0), (0.35, 0.0, 0.65, 1.0), (0.7, 0.0, 1.0, 1.0)]
    assert fitting(["left", "middle", "right"], boxes) == [["left"], ["middle"], ["right"]]


def test_one_above_the_other_nothing_is_left_or_right() -> None:
    assert set(place_weights(["left", "right"], [TOP_LEFT, LOWER_LEFT]).ravel()) == {OPEN}


def test_what_fits_on_one_axis_and_misses_on_the_other_misses() -> None:
    assert place_weights(["upper left"], GRID).ravel().tolist() == [FITS, MISSES, MISSES, MISSES]


def test_letters_have_no_place() -> None:
    assert place_weights(["A", "left"], [LEFT, RIGHT]).tolist() == [[0.0, FITS], [0.0, MISSES]]
    assert place_weights(["left"], []).shape == (0, 1)
