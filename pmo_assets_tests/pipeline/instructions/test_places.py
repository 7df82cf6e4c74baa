"""Places of boxes in a picture, and directions from a landmark of the fundus."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pmo_assets.pipeline.instructions.places import direction_from, halves_of, place_in

WHOLE = (0.0, 0.0, 1.0, 1.0)


def around(x: float, y: float, size: float = 0.1) -> tuple[float, float, float, float]:
    return (x - size / 2, y - size / 2, x + size / 2, y + size / 2)


@pytest.mark.parametrize(
    ("x", "y", "place"),
    [
        (0.15, 0.15, "upper left"), (0.5, 0.15, "upper centre"), (0.85, 0.15, "upper right"), (0.15, 0.5, "left"),
        (0.5, 0.5, "centre"), (0.85, 0.5, "right"), (0.15, 0.85, "lower left"), (0.85, 0.85, "lower right"),
    ],
)  # fmt: skip
def test_a_box_lies_in_a_ninth_of_the_picture(x: float, y: float, place: str) -> None:
    assert place_in(around(x, y), WHOLE) == place
    # the same place of a panel that is the lower right quarter of its figure
    assert place_in(around(0.5 + x / 2, 0.5 + y / 2, 0.05), (0.5, 0.5, 1.0, 1.0)) == place


def test_nothing_is_said_near_a_line_between_places_or_of_a_large_box() -> None:
    assert place_in(around(0.34, 0.15), WHOLE) is None
    assert place_in(around(0.15, 0.15, 0.6), WHOLE) is None


def test_a_box_that_reaches_over_the_middle_lies_in_neither_half() -> None:
    assert halves_of(around(0.2, 0.5), WHOLE) == {"left half": True, "right half": False}
    assert halves_of(around(0.8, 0.2), WHOLE) == {
        "upper half": True, "lower half": False, "left half": False, "right half": True,
    }  # fmt: skip


@given(st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_ninths_and_halves_never_contradict_each_other(x: float, y: float) -> None:
    place, halves = place_in(around(x, y), WHOLE), halves_of(around(x, y), WHOLE)
    for half, opposite in (("upper", "lower"), ("left", "right")):
        if place is not None and half in place.split():
            assert halves.get(f"{opposite} half") is not True  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("x", "y", "eye", "direction"),
    [
        (0.5, 0.9, None, "inferior"), (0.5, 0.1, None, "superior"),
        (0.9, 0.5, "OD", "nasal"), (0.1, 0.5, "OD", "temporal"),
        (0.9, 0.5, "OS", "temporal"), (0.1, 0.5, "OS", "nasal"),
        (0.9, 0.5, None, None), (0.9, 0.5, "OU", None), (0.8, 0.8, "OD", None), (0.51, 0.52, "OD", None),
    ],
)  # fmt: skip
def test_directions_from_the_fovea(x: float, y: float, eye: str | None, direction: str | None) -> None:
    found = direction_from(around(0.5, 0.5), around(x, y), ratio=1.0, frame=WHOLE, eye=eye)  # type: ignore[arg-type]
    assert found == direction


def test_distances_are_those_of_the_picture_not_of_its_fractions() -> None:
    # 0.2 of a picture three times as wide as high is more than 0.4 of its height
    found = direction_from(around(0.5, 0.5), around(0.7, 0.75), ratio=3.0, frame=WHOLE, eye="OD")
    assert found == "nasal"
