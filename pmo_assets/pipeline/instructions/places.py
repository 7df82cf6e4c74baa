"""Places in a panel's picture: thirds and halves by a box, and directions from a landmark of the fundus.

A word of place is given only where the box is clear of every line between places. Directions of the fundus are given
only from a fovea or optic disc that a region shows, on pictures that show the fundus from the front.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from pmo_assets.records.context import Eye
from pmo_assets.records.geometry import Box, centre, height, width

MARGIN: Final = 0.04
"""Share of the picture by which a centre must be clear of a line between places."""

LARGEST: Final = 0.5
"""Share of the picture's side from which a box lies everywhere rather than somewhere."""

_COLUMNS: Final = ("left", "centre", "right")
_ROWS: Final = ("upper", "middle", "lower")

FRONT_VIEWS: Final = frozenset(
    {
        "fundus photograph", "ultra-widefield", "fluorescein angiography", "indocyanine green angiography",
        "autofluorescence", "red-free", "infrared", "en-face OCT", "OCT angiography",
    }
)  # fmt: skip
"""Modalities that show the fundus from the front, superior up, as they are printed by convention."""

_MOST_OBLIQUE: Final = 0.5
"""Least by greatest distance along the axes up to which a direction has one name."""

_LEAST_DISTANCE: Final = 0.05
"""Distance from the landmark, as a share of the picture's height, from which there is a direction."""

Half = Literal["upper half", "lower half", "left half", "right half"]
HALVES: Final[tuple[Half, ...]] = ("upper half", "lower half", "left half", "right half")
OPPOSITE: Final[Mapping[Half, Half]] = {
    "upper half": "lower half", "lower half": "upper half", "left half": "right half", "right half": "left half",
}  # fmt: skip


def _relative(box: Box, frame: Box) -> Box | None:
    """A box as fractions of a frame; None where it is too large to lie anywhere."""
    across, down = width(frame), height(frame)
    if across <= 0 or down <= 0 or width(box) > LARGEST * across or height(box) > LARGEST * down:
        return None
    return (
        (box[0] - frame[0]) / across,
        (box[1] - frame[1]) / down,
        (box[2] - frame[0]) / across,
        (box[3] - frame[1]) / down,
    )


def _third(value: float) -> int | None:
    if not 0 <= value <= 1 or any(abs(value - line) < MARGIN for line in (1 / 3, 2 / 3)):
        return None
    return int(value * 3) if value < 1 else 2


def place_in(box: Box, frame: Box) -> str | None:
    """Return the ninth of a frame that a box lies in ("upper left", "right", "centre"); None where it is not clear."""
    relative = _relative(box, frame)
    if relative is None:
        return None
    x, y = centre(relative)
    column, row = _third(x), _third(y)
    if column is None or row is None:
        return None
    if row == 1:
        return _COLUMNS[column]
    return f"{_ROWS[row]} {'centre' if column == 1 else _COLUMNS[column]}"


def halves_of(box: Box, frame: Box) -> dict[Half, bool]:
    """Return for each half of a frame whether a box lies in it; of halves that it reaches over, nothing."""
    relative = _relative(box, frame)
    if relative is None or min(relative) < -MARGIN or max(relative) > 1 + MARGIN:
        return {}
    left, top, right, bottom = relative
    said: dict[Half, bool] = {}
    for first, last, before, after in (
        (top, bottom, HALVES[0], HALVES[1]),
        (left, right, HALVES[2], HALVES[3]),
    ):
        if last < 0.5 - MARGIN or first > 0.5 + MARGIN:
            said[before], said[after] = last < 0.5, first > 0.5
    return said


def direction_from(landmark: Box, box: Box, *, ratio: float, frame: Box, eye: Eye | None) -> str | None:
    """Return the direction of a box from a landmark of the fundus: superior, inferior, nasal or temporal.

    Args:
        landmark: box of fovea or optic disc, normalised to the figure.
        box: normalised to the figure.
        ratio: width of the figure's picture by its height.
        frame: box of the picture, normalised to the figure.
        eye: that is shown; without one there is no nasal and temporal.

    Returns:
        None where the direction is oblique, or the box is at the landmark.
    """
    (x0, y0), (x1, y1) = centre(landmark), centre(box)
    across, down = (x1 - x0) * ratio, y1 - y0
    far, near = max(abs(across), abs(down)), min(abs(across), abs(down))
    reach = max(height(landmark) / 2, width(landmark) * ratio / 2, _LEAST_DISTANCE * height(frame))
    if far <= reach or near > _MOST_OBLIQUE * far:
        return None
    if abs(down) >= abs(across):
        return "superior" if down < 0 else "inferior"
    if eye not in ("OD", "OS"):
        return None
    # The fundus of a right eye is printed as its observer sees it: the disc, which is nasal, is to the right.
    nasal = (across > 0) == (eye == "OD")
    return "nasal" if nasal else "temporal"
