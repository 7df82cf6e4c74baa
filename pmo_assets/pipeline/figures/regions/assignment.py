"""Assignment: the sides of all captions of a page are chosen together.

Wanted is that every caption gets graphics, none are left over, and no two figures overlap.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from pmo_assets.pipeline.figures.regions.barriers import distance
from pmo_assets.pipeline.figures.regions.page_layout import PageLayout
from pmo_assets.pipeline.figures.regions.sides import SIDES, SideOption, aside, side_option
from pmo_assets.records.geometry import Box, area, height, intersection, union_box, width

# What a choice of sides is worth, in points. Set by hand, in this order: no caption goes without a figure for the sake
# of anything else; then no graphics are left over; then the usual side; distance decides what is left.

FIGURE_SCORE = 3.0
"""Score for each caption that gets graphics."""

ALL_GRAPHICS_SCORE = 2.0
"""Score for using all graphics of the page; by area, for a part of them as much less."""

SIDE_PRIOR: Mapping[str, float] = {"above": 0.30, "below": 0.15, "left": 0.1, "right": 0.1}
"""Score for the side on which a figure stands: most journals set captions below their figures."""

OVERLAP_SCORE = -3.0
"""Score for two figures that overlap: as much as a figure is worth."""

THIN_SCORE = -2.0
"""Score for a figure that is hardly higher or wider than text (`THIN`)."""

GRID_BONUS = 0.25
"""Bonus for leaving the grids of a page whole: less than any figure, more than a few lines of distance."""

GAP_PER_POINT = 200.0
"""Points of the page between caption and figure that cost one point."""

ASIDE_PER_POINT = 1000.0
"""The same to the side of the caption, where `aside` counts what lies outside its column eightfold already."""

THIN = 3.0
"""Font sizes of running text, below which a figure is thin: a rule with its text, a logo."""

TINY = 2.0
"""Font sizes, below which graphics cannot be a figure at all: an icon, a fraction bar."""

OVERLAP = 0.05
"""Part of the smaller figure, from which two overlap: boxes around text and strokes touch."""

SAME_SCORE = 1e-9
"""A later choice must be better by more than rounding, so that of equals the first is taken."""

MAX_COMBINATIONS = 4096
"""Choices that are tried on one page, at most."""

KEPT_OPTIONS = (5, 4, 3, 2)
"""Numbers of best options, "no figure" among them, that each caption keeps where there are more combinations."""

PRIOR_GAP = 100.0
"""The best options are the nearest; what a side is worth counts as so many points of distance."""

Assignment = dict[int, tuple[str, tuple[int, ...]]]
"""Side and atoms of each caption (index in `PageLayout.captions`) with graphics."""


def page_assignment(layout: PageLayout, prior: Mapping[str, float]) -> Assignment:
    """Choose the sides of all captions of a page together.

    Args:
        layout: the page.
        prior: score of each side, as `SIDE_PRIOR`.
    """
    claimants = [k for k, caption in enumerate(layout.captions) if caption.is_figure]
    if not claimants or not layout.atoms:
        return {}
    options: list[list[SideOption | None]] = []
    for k in claimants:
        found: list[SideOption | None] = []
        for anchor in layout.captions[k].anchors:
            for side in SIDES:
                option = side_option(layout, anchor, side)
                if option is not None and not _is_tiny(layout, option):
                    found.append(option)
        found.append(None)
        options.append(found)
    total = sum(area(atom) for atom in layout.atoms) or 1.0
    # Many captions on one page: keep each caption's best few options, so that the product stays small.
    for keep in KEPT_OPTIONS:
        if np.prod([float(len(o)) for o in options]) <= MAX_COMBINATIONS:
            break
        options = [
            [*sorted((x for x in o if x), key=lambda x: x.gap - PRIOR_GAP * prior[x.side])[: keep - 1], None]
            for o in options
        ]
    best: tuple[float, Assignment] = (-np.inf, {})
    for choice in itertools.islice(itertools.product(*options), MAX_COMBINATIONS):
        score, result = _choice_score(layout, claimants, choice, prior, total)
        if score > best[0] + SAME_SCORE:
            best = (score, result)
    return best[1]


def _is_tiny(layout: PageLayout, option: SideOption) -> bool:
    """Say whether all that an option has is smaller than a figure can be (an icon, a fraction bar)."""
    box = union_box(layout.atoms[k] for k in option.distances)
    return height(box) < TINY * layout.body_size or width(box) < TINY * layout.body_size


def _choice_score(
    layout: PageLayout,
    claimants: Sequence[int],
    choice: Sequence[SideOption | None],
    prior: Mapping[str, float],
    total: float,
) -> tuple[float, Assignment]:
    """Return how good a choice of sides is, and which atoms each caption gets.

    An atom goes to the nearest caption; where that divides a grid, leaving it whole is tried as well.
    """
    owners: dict[int, tuple[float, int]] = {}
    for k, option in zip(claimants, choice, strict=True):
        if option is None:
            continue
        for atom, away in option.distances.items():
            if atom not in owners or away < owners[atom][0]:
                owners[atom] = (away, k)
    nearest = {atom: owner for atom, (_, owner) in owners.items()}
    best = _ownership_score(layout, claimants, choice, nearest, prior, total)
    divided = [grid for grid in layout.grids if len({nearest.get(atom) for atom in grid}) > 1]
    if divided:
        whole = dict(nearest)
        for grid in divided:
            reaching = [
                (min(option.distances[atom] for atom in grid), k)
                for k, option in zip(claimants, choice, strict=True)
                if option is not None and all(atom in option.distances for atom in grid)
            ]
            if reaching:
                whole.update(dict.fromkeys(grid, min(reaching)[1]))
        if whole != nearest:
            score, result = _ownership_score(layout, claimants, choice, whole, prior, total)
            best = max(best, (score + GRID_BONUS, result), key=lambda item: item[0])
    return best


def _ownership_score(
    layout: PageLayout,
    claimants: Sequence[int],
    choice: Sequence[SideOption | None],
    owners: dict[int, int],
    prior: Mapping[str, float],
    total: float,
) -> tuple[float, Assignment]:
    """Return how good it is that each atom belongs to its owner, and which atoms each caption gets."""
    score = ALL_GRAPHICS_SCORE * sum(area(layout.atoms[atom]) for atom in owners) / total
    result: Assignment = {}
    boxes: list[Box] = []
    for k, option in zip(claimants, choice, strict=True):
        if option is None:
            continue
        mine = tuple(sorted(atom for atom, owner in owners.items() if owner == k))
        if not mine:
            continue
        box = union_box(layout.atoms[atom] for atom in mine)
        result[k] = (option.side, mine)
        gap = distance(option.anchor, box)
        beside = aside(option.anchor, box, option.side)
        score += FIGURE_SCORE + prior[option.side] - gap / GAP_PER_POINT - beside / ASIDE_PER_POINT
        if min(height(box), width(box)) < THIN * layout.body_size:
            score += THIN_SCORE
        for other in boxes:
            if area(intersection(box, other)) > OVERLAP * min(area(box), area(other)):
                score += OVERLAP_SCORE
        boxes.append(box)
    return score, result
