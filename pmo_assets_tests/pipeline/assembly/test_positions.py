"""Positional identifiers and the panels they mean."""

from __future__ import annotations

import pytest

from pmo_assets.pipeline.assembly.positions import panels_by_position, position_of

LEFT, RIGHT = (0.0, 0.0, 0.48, 1.0), (0.52, 0.0, 1.0, 1.0)
TOP_LEFT, TOP_RIGHT = (0.0, 0.0, 0.48, 0.48), (0.52, 0.0, 1.0, 0.48)
LOWER_LEFT, LOWER_RIGHT = (0.0, 0.52, 0.48, 1.0), (0.52, 0.52, 1.0, 1.0)


@pytest.mark.parametrize(
    ("identifier", "place"),
    [
        ("left", (0.0, None)),
        ("Right panel", (1.0, None)),
        ("top", (None, 0.0)),
        ("upper right", (1.0, 0.0)),
        ("lower row", (None, 1.0)),
        ("middle", (0.5, 0.5)),
        ("middle row", (None, 0.5)),
        ("rightmost", (1.0, None)),
        ("middle column", (0.5, None)),
        ("middle left", (0.0, 0.5)),
        ("top middle", (0.5, 0.0)),
        ("above", (None, 0.0)),
        ("below", (None, 1.0)),
        ("left 2", None),
        ("panel", None),
        ("A", None),
        ("left eye", None),
        ("1", None),
        ("", None),
    ],
)
def test_where_an_identifier_points(identifier: str, place: tuple[float | None, float | None] | None) -> None:
    assert position_of(identifier) == place


def test_left_and_right() -> None:
    assert panels_by_position(["left", "right"], [RIGHT, LEFT]) == {0: 1, 1: 0}


def test_corners() -> None:
    identifiers = ["upper left", "upper right", "lower left", "lower right"]
    boxes = [LOWER_RIGHT, TOP_LEFT, LOWER_LEFT, TOP_RIGHT]
    assert panels_by_position(identifiers, boxes) == {0: 3, 1: 0, 2: 2, 3: 1}


def test_rows_take_every_panel_in_them() -> None:
    boxes = [TOP_LEFT, TOP_RIGHT, LOWER_LEFT, LOWER_RIGHT]
    assert panels_by_position(["top row", "bottom row"], boxes) == {0: 0, 1: 0, 2: 1, 3: 1}


def test_middle_means_between_in_the_only_direction_there_is() -> None:
    boxes = [(0.0, 0.0, 0.3, 1.0), (0.35, 0.0, 0.65, 1.0), (0.7, 0.0, 1.0, 1.0)]
    assert panels_by_position(["left", "middle", "right"], boxes) == {0: 0, 1: 1, 2: 2}


@pytest.mark.parametrize(
    ("identifiers", "boxes"),
    [
        (["left", "right"], [TOP_LEFT, LOWER_LEFT]),
        (["left", "B"], [LEFT, RIGHT]),
        (["left", "right", "top"], [LEFT, RIGHT]),
        (["left", "right"], []),
    ],
)
def test_what_does_not_fit_is_not_guessed(
    identifiers: list[str], boxes: list[tuple[float, float, float, float]]
) -> None:
    assert panels_by_position(identifiers, boxes) is None
