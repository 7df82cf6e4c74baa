"""Which figures and panels of two files are the same: by name, and by where they lie.

Boxes of panels are normalised to the figure, and two files need not cut a figure alike. Where both say on which page it
lies, and mean the same place, boxes are laid on the page before they are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from pmo_assets.records.geometry import UNIT_BOX, Box, area, denormalise, intersection, iou
from pmo_assets.records.pairing import best_pairing

SAME: Final = 0.5
"""IoU from which two boxes, or two figures on their pages, are the same."""

MatchedBy = Literal["name", "similar name", "place"]

_PICTURE_ENDINGS: Final = frozenset({"jpg", "jpeg", "png", "gif", "tif", "tiff", "webp", "svg", "eps", "bmp"})


@dataclass(frozen=True, slots=True)
class PlacedFigure:
    """A figure as a file knows it.

    Attributes:
        name: its image_cluster_id.
        pages: box in PDF points by page; empty when not known.
    """

    name: str
    pages: Mapping[int, Box]


@dataclass(frozen=True, slots=True)
class PanelBoxes:
    """Boxes of a panel, normalised to its figure; None where not known."""

    predicted: Box | None
    content: Box | None


@dataclass(frozen=True, slots=True)
class FigureMatch:
    """Two figures that are the same: their places in the lists, what shows it, and how far their boxes agree.

    `iou` is None where one of them has no box.
    """

    first: int
    second: int
    matched_by: MatchedBy
    iou: float | None


def plain_name(name: str) -> str:
    """Return a figure's name as it is compared: without folder and picture's ending, in lower case."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1].strip().lower()
    stem, dot, ending = last.rpartition(".")
    return stem if dot and stem and ending in _PICTURE_ENDINGS else last


def page_overlap(first: Mapping[int, Box], second: Mapping[int, Box]) -> float | None:
    """Return intersection over union of two figures over all their pages, 0..1; None when one has no place."""
    if not first or not second:
        return None
    common = sum(area(intersection(first[page], second[page])) for page in first.keys() & second.keys())
    whole = sum(map(area, first.values())) + sum(map(area, second.values())) - common
    return min(1.0, common / whole) if whole > 0 else 0.0


def best_pairs(overlaps: Sequence[Sequence[float]], least: float = SAME) -> list[tuple[int, int, float]]:
    """Return pairs (row, column, overlap), one to one, whose overlaps have the largest sum; none below `least`."""
    values = np.asarray(overlaps, dtype=float)
    if values.size == 0:
        return []
    # what is too little must not count for the sum: it would take another pair's partner away
    rows, columns = best_pairing(np.where(values >= least, values, 0.0))
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return [(row, column, float(values[row, column])) for row, column in pairs if values[row, column] >= least]


def _by_key(first: Mapping[int, str], second: Mapping[int, str]) -> list[tuple[int, int]]:
    """Return pairs with equal keys; a key that one side has twice says nothing."""
    once = [
        {key: number for number, key in side.items() if counts[key] == 1}
        for side in (first, second)
        for counts in (Counter(side.values()),)
    ]
    return [(number, once[1][key]) for key, number in once[0].items() if key in once[1]]


def matched_figures(first: Sequence[PlacedFigure], second: Sequence[PlacedFigure]) -> list[FigureMatch]:
    """Return the pairs of figures of an article that are the same in two files, one to one, in the order of the first.

    Equal names count first, then names that differ in folder, case and ending, then places on the pages: names are
    those of the XML's graphics or, without an XML, of nobody but the file's maker.
    """
    found: list[FigureMatch] = []
    left, right = dict(enumerate(first)), dict(enumerate(second))

    def take(one: int, two: int, matched_by: MatchedBy) -> None:
        overlap = page_overlap(left.pop(one).pages, right.pop(two).pages)
        found.append(FigureMatch(one, two, matched_by, overlap))

    for one, two in _by_key({n: f.name for n, f in left.items()}, {n: f.name for n, f in right.items()}):
        take(one, two, "name")
    for one, two in _by_key(
        {n: plain_name(f.name) for n, f in left.items()}, {n: plain_name(f.name) for n, f in right.items()}
    ):
        take(one, two, "similar name")
    ones, twos = list(left), list(right)
    overlaps = [[page_overlap(left[one].pages, right[two].pages) or 0.0 for two in twos] for one in ones]
    for row, column, _ in best_pairs(overlaps) if ones and twos else []:
        take(ones[row], twos[column], "place")
    return sorted(found, key=lambda match: match.first)


def common_frames(first: Mapping[int, Box], second: Mapping[int, Box]) -> tuple[Box, Box]:
    """Return the frames in which the normalised boxes of two figures can be compared.

    The figures' boxes on the page if both lie on one page, at the same place but not cut alike, else the unit box for
    both.
    """
    if len(first) == len(second) == 1 and first.keys() == second.keys():
        ((one,), (two,)) = first.values(), second.values()
        if one != two and area(one) > 0 and area(two) > 0 and iou(one, two) >= SAME:
            return one, two
    return UNIT_BOX, UNIT_BOX


def box_overlap(first: Box | None, second: Box | None, frames: tuple[Box, Box]) -> float:
    """Return IoU of two normalised boxes, each laid into its frame; 0 without one of them."""
    if first is None or second is None:
        return 0.0
    return iou(denormalise(first, frames[0]), denormalise(second, frames[1]))


def panel_overlap(first: PanelBoxes, second: PanelBoxes, frames: tuple[Box, Box]) -> float:
    """Return the agreement of two panels: IoU of their pictures' boxes or of the detected ones, whichever is larger.

    One of two files may have joined what a panel consists of where the other kept it apart.
    """
    return max(
        box_overlap(first.content, second.content, frames), box_overlap(first.predicted, second.predicted, frames)
    )


def matched_panels(
    first: Sequence[PanelBoxes], second: Sequence[PanelBoxes], frames: tuple[Box, Box]
) -> list[tuple[int, int, float]]:
    """Return the panels of a figure that are the same in two files: (first, second, IoU), one to one."""
    return best_pairs([[panel_overlap(one, two, frames) for two in second] for one in first])
