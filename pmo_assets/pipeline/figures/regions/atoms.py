"""Atoms: graphics that touch, which no figure divides, and the grids that atoms form."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.figures.page import PageContent
from pmo_assets.pipeline.figures.regions.barriers import distance, is_blocked
from pmo_assets.pipeline.figures.regions.graphics import MAX_RULE
from pmo_assets.records.geometry import Box, height, union_box, width

TOUCH = 6.0
"""Graphics closer than this (points) are one atom: about half a line, less than any column gutter or caption gap."""

MAX_ATOMS = 150
"""Pages with more atoms (scattered symbols) are clustered with a larger gap, up to four times `TOUCH`."""

SMALL_ATOM = 15.0
"""An atom smaller than this (points) in both directions, such as an icon or a fraction bar, joins a figure only when
it is as close."""

NEIGHBOUR_GAP = 144.0
"""Atoms further than two inches from the rest of a figure are another thing, even with nothing in between: legends
and text rows inside a figure can leave over an inch without graphics."""

ALIGNED = 1.0
"""Graphics whose edges agree within a point stand in one row or column of a grid."""

RULE_ASPECT = 8.0
"""A rule is longer than so many times its thickness."""


def page_atoms(boxes: NDArray[np.float64], page: PageContent) -> list[Box]:
    """Cluster graphics that (almost) touch; clusters of nothing but parallel rules are separators and are dropped."""
    if not len(boxes):
        return []
    for touch in (TOUCH, 2 * TOUCH, 4 * TOUCH):
        labels = touching(boxes, page, touch)
        count = int(labels.max()) + 1
        if count <= MAX_ATOMS:
            break
    low = np.full((count, 2), np.inf)
    high = np.full((count, 2), -np.inf)
    np.minimum.at(low, labels, boxes[:, :2])
    np.maximum.at(high, labels, boxes[:, 2:])
    w, h = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    flat = (h <= MAX_RULE) & (w > RULE_ASPECT * h)
    upright = (w <= MAX_RULE) & (h > RULE_ASPECT * w)
    not_flat = np.zeros(count, dtype=bool)
    not_upright = np.zeros(count, dtype=bool)
    not_flat[labels[~flat]] = True
    not_upright[labels[~upright]] = True
    atoms = []
    for k in range(count):
        if not_flat[k] and not_upright[k]:
            atoms.append((float(low[k, 0]), float(low[k, 1]), float(high[k, 0]), float(high[k, 1])))
    return atoms


def grids_of(atoms: Sequence[Box], barriers: NDArray[np.float64]) -> list[tuple[int, ...]]:
    """Return the groups of atoms that stand in common rows and columns with no text between them."""
    group = list(range(len(atoms)))
    large = [k for k, atom in enumerate(atoms) if min(width(atom), height(atom)) >= SMALL_ATOM]
    for i, j in itertools.combinations(large, 2):
        if group[i] == group[j]:
            continue
        a, b = atoms[i], atoms[j]
        in_column = max(abs(a[0] - b[0]), abs(a[2] - b[2])) <= ALIGNED
        in_row = min(abs(a[1] - b[1]), abs(a[3] - b[3])) <= ALIGNED
        near = distance(a, b) <= min(max(width(a), height(a)), NEIGHBOUR_GAP)
        if (in_column or in_row) and near and not is_blocked(barriers, union_box([a, b])):
            group = [group[i] if g == group[j] else g for g in group]
    members: dict[int, list[int]] = defaultdict(list)
    for k, g in enumerate(group):
        members[g].append(k)
    return [tuple(found) for found in members.values() if len(found) > 1]


def touching(boxes: NDArray[np.float64], page: PageContent, touch: float) -> NDArray[np.intp]:
    """Label boxes that come closer than `touch` points, on a grid of one point; returns (n,) labels from 0."""
    columns, rows = int(page.width) + 3, int(page.height) + 3
    x0 = np.clip(np.floor(boxes[:, 0] - touch / 2), 0, columns - 2).astype(np.intp)
    y0 = np.clip(np.floor(boxes[:, 1] - touch / 2), 0, rows - 2).astype(np.intp)
    x1 = np.clip(np.ceil(boxes[:, 2] + touch / 2), x0 + 1, columns - 1).astype(np.intp)
    y1 = np.clip(np.ceil(boxes[:, 3] + touch / 2), y0 + 1, rows - 1).astype(np.intp)
    # Only the part of the page that holds any: most pages have a rule or two.
    first_column, first_row = x0.min(), y0.min()
    columns, rows = int(x1.max() - first_column) + 1, int(y1.max() - first_row) + 1
    x0, x1, y0, y1 = x0 - first_column, x1 - first_column, y0 - first_row, y1 - first_row
    # Filled rectangles by differences: each box costs four cells, whatever its size.
    change = np.zeros((rows, columns), dtype=np.int32)
    np.add.at(change, (y0, x0), 1)
    np.add.at(change, (y0, x1), -1)
    np.add.at(change, (y1, x0), -1)
    np.add.at(change, (y1, x1), 1)
    np.cumsum(change, axis=0, out=change)
    np.cumsum(change, axis=1, out=change)
    covered = (change > 0).view(np.uint8)
    labelled = cv2.connectedComponents(covered, connectivity=4)[1]
    found: NDArray[np.intp] = np.unique(labelled[y0, x0], return_inverse=True)[1].astype(np.intp)
    return found


def reach(atom: Box) -> float:
    """Return how far from the rest of a figure an atom may lie."""
    return SMALL_ATOM if max(width(atom), height(atom)) < SMALL_ATOM else NEIGHBOUR_GAP
