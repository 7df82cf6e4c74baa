"""A regular grid of pictures completes itself: a place among pictures of one size that is filled holds a picture, too.

Neither structure nor network finds all pictures of a large grid; which are missing says their neighbours. A place that
is as empty as paper stays empty: last rows are often short.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from pmo_assets.pipeline.detection.structure.gutters import Canvas, ink_share, pixel_rect
from pmo_assets.records.detections import ImageDetection
from pmo_assets.records.geometry import UNIT_BOX, Box, area, clip, height, intersection, width

LEAST_PICTURES = 5
"""Pictures of one size that make a grid."""

ALIKE = 0.12
"""Part by which widths and heights of the pictures of a grid differ at most."""

FILLED = 0.6
"""Part of a grid's places that hold pictures."""

SCORE = 0.8
"""Part of its neighbours' score that a picture gets which nothing but they vouches for."""

FREE = 0.15
"""Part of a place that other images may cover."""

LEAST_INK = 0.55
"""Ink in a place that is filled; as photographs have (`structure.images.DENSE`)."""


@dataclass(frozen=True, slots=True)
class ImageGrid:
    """Pictures of one size in rows and columns: middles of columns and rows, size, and the content of each place."""

    columns: tuple[float, ...]
    rows: tuple[float, ...]
    size: tuple[float, float]
    places: dict[tuple[int, int], ImageDetection]

    def box(self, row: int, column: int) -> Box:
        """Return the box of a place."""
        x, y, half_w, half_h = self.columns[column], self.rows[row], self.size[0] / 2, self.size[1] / 2
        return (x - half_w, y - half_h, x + half_w, y + half_h)

    def neighbours(self, row: int, column: int) -> list[ImageDetection]:
        """Return the pictures beside, above and below a place."""
        beside = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
        return [self.places[place] for place in beside if place in self.places]

    def missing(self) -> list[tuple[int, int]]:
        """Return the places (row, column) without a picture."""
        every = [(row, column) for row in range(len(self.rows)) for column in range(len(self.columns))]
        return [place for place in every if place not in self.places]


def image_grids(images: Sequence[ImageDetection]) -> list[ImageGrid]:
    """Return the grids that images form: two rows and columns at least, most places with a picture."""
    left = sorted(images, key=lambda i: area(i.box))
    grids: list[ImageGrid] = []
    while len(left) >= LEAST_PICTURES:
        middle = left[len(left) // 2]
        group = [image for image in left if _same_size(image.box, middle.box)]
        grid = _grid_of(group) if len(group) >= LEAST_PICTURES else None
        if grid is not None:
            grids.append(grid)
        # The middle one is in the group, so the rest grows shorter.
        left = [image for image in left if not any(image is member for member in group)]
    return grids


def _same_size(a: Box, b: Box) -> bool:
    return all(min(p) >= (1 - ALIKE) * max(p) for p in ((width(a), width(b)), (height(a), height(b))))


def _grid_of(group: Sequence[ImageDetection]) -> ImageGrid | None:
    size = (float(np.median([width(i.box) for i in group])), float(np.median([height(i.box) for i in group])))
    middles = np.asarray([((i.box[0] + i.box[2]) / 2, (i.box[1] + i.box[3]) / 2) for i in group])
    columns, of_column = _lines(middles[:, 0], size[0])
    rows, of_row = _lines(middles[:, 1], size[1])
    places = {(r, c): image for r, c, image in zip(of_row, of_column, group, strict=True)}
    if min(len(rows), len(columns)) < 2 or len(places) < FILLED * len(rows) * len(columns):
        return None
    return ImageGrid(columns, rows, size, places)


def _lines(values: np.ndarray, size: float) -> tuple[tuple[float, ...], list[int]]:
    """Return the middles of the lines that values fall into, and the line of each value."""
    order = np.argsort(values, kind="stable")
    # Neighbouring lines are a picture's side apart, pictures of one line hardly at all.
    starts = np.concatenate([[0], np.flatnonzero(np.diff(values[order]) > 0.35 * size) + 1, [len(values)]])
    lines = np.zeros(len(values), dtype=int)
    for line, (a, b) in enumerate(pairwise(starts.tolist())):
        lines[order[a:b]] = line
    middles = tuple(float(np.median(values[lines == line])) for line in range(len(starts) - 1))
    return middles, [int(line) for line in lines]


def missing_images(
    canvas: Canvas, images: Sequence[ImageDetection], grids: Sequence[ImageGrid]
) -> list[ImageDetection]:
    """Return the images that grids lack: filled places, free of other images, with pictures on two sides.

    Args:
        canvas: of the figure.
        images: all that were found.
        grids: of `image_grids`.
    """
    tall, wide = canvas.ink.shape
    added: list[ImageDetection] = []
    for grid in grids:
        for place in grid.missing():
            box, beside = clip(grid.box(*place), UNIT_BOX), grid.neighbours(*place)
            free = all(area(intersection(box, i.box)) <= FREE * area(box) for i in [*images, *added])
            if len(beside) < 2 or not free:
                continue
            usual = float(np.median([ink_share(canvas, pixel_rect(i.box, wide, tall)) for i in beside]))
            if ink_share(canvas, pixel_rect(box, wide, tall)) >= max(LEAST_INK, 0.8 * usual):
                score = SCORE * float(np.median([i.score for i in beside]))
                added.append(replace(beside[0], box=box, score=score, source="grid", seen_types={}))
    return added
