"""Sides: the atoms that a caption can reach on each side of it without crossing running text or a caption."""

from __future__ import annotations

from dataclasses import dataclass

from pmo_assets.pipeline.figures.regions.atoms import reach
from pmo_assets.pipeline.figures.regions.barriers import distance, is_blocked
from pmo_assets.pipeline.figures.regions.page_layout import PageLayout
from pmo_assets.records.geometry import Box, height, union_box, width

SIDES = ("above", "below", "left", "right")
"""Sides of a caption on which its figure may lie."""

OVERLAP_SLACK = 0.5
"""Font sizes by which a figure's box may reach into its caption's: line boxes are higher than letters."""

FACING_SHARE = 0.2
"""Caption and atom lie over (beside) each other when they share so much of the narrower one."""

SHORT_CAPTION = (2.0, 0.5)
"""Height (font sizes) and width (columns) below which a caption is a few words at the column's left edge ..."""

SHORT_CAPTION_GAP = 4.0
"""... and its figure, which may stand in the middle, is at most so many font sizes away."""

ASIDE_WEIGHT = 8.0
"""A point outside the caption's column counts as so many points of distance: next to the caption is another column."""

OFF_CENTRE_WEIGHT = 0.2
"""A point off the caption's centre counts as so much: figures are centred more often than not."""


@dataclass(frozen=True, slots=True)
class SideOption:
    """The atoms that a caption can reach on one side.

    Attributes:
        side: one of `SIDES`.
        anchor: the caption, or its part in one column.
        distances: per atom (index in `PageLayout.atoms`) how far it is, in points, see `aside`.
        gap: between the caption and the nearest atom, points.
    """

    side: str
    anchor: Box
    distances: dict[int, float]
    gap: float


def _on_side(anchor: Box, atom: Box, side: str, slack: float) -> float | None:
    """Return the gap from caption to atom on that side, None if the atom is not there."""
    match side:
        case "above":
            gap = anchor[1] - atom[3]
        case "below":
            gap = atom[1] - anchor[3]
        case "left":
            gap = anchor[0] - atom[2]
        case _:
            gap = atom[0] - anchor[2]
    return max(gap, 0.0) if gap >= -slack else None


def _faces(anchor: Box, atom: Box, side: str) -> bool:
    """Say whether caption and atom lie over each other (or beside each other), not diagonally."""
    low, high = (0, 2) if side in ("above", "below") else (1, 3)
    overlap = min(anchor[high], atom[high]) - max(anchor[low], atom[low])
    return overlap > FACING_SHARE * min(anchor[high] - anchor[low], atom[high] - atom[low])


def _is_over_or_under(layout: PageLayout, anchor: Box, atom: Box, side: str) -> bool:
    """Say whether an atom beside a caption's line may be its figure all the same.

    A caption of a few words starts at the left edge of the column, its figure may stand in the middle.
    """
    is_short = height(anchor) < SHORT_CAPTION[0] * layout.body_size and width(anchor) < SHORT_CAPTION[1] * layout.column
    gap = anchor[1] - atom[3] if side == "above" else atom[1] - anchor[3]
    return (
        is_short
        and side in ("above", "below")
        and gap < SHORT_CAPTION_GAP * layout.body_size
        and atom[0] >= anchor[0] - 1
    )


def _caption_edge(anchor: Box, side: str) -> Box:
    """Return the edge of the caption that faces the figure, as a flat box."""
    x0, y0, x1, y1 = anchor
    match side:
        case "above":
            return (x0, y0, x1, y0)
        case "below":
            return (x0, y1, x1, y1)
        case "left":
            return (x0, y0, x0, y1)
        case _:
            return (x1, y0, x1, y1)


def side_option(layout: PageLayout, anchor: Box, side: str) -> SideOption | None:
    """Collect the atoms on one side of a caption that text does not cut off."""
    slack = OVERLAP_SLACK * layout.body_size
    edge = _caption_edge(anchor, side)
    gaps = {}
    for k, atom in enumerate(layout.atoms):
        gap = _on_side(anchor, atom, side, slack)
        if gap is not None:
            gaps[k] = gap
    region: Box | None = None
    distances: dict[int, float] = {}
    nearest = 0.0
    for k in sorted(gaps, key=lambda k: (gaps[k], k)):
        atom = layout.atoms[k]
        faces = _faces(anchor, atom, side) or _is_over_or_under(layout, anchor, atom, side)
        if faces and not is_blocked(layout.barriers, union_box([atom, _narrow(edge, atom)])):
            region, nearest = atom, gaps.pop(k)
            distances[k] = nearest + aside(anchor, atom, side)
            break
    while region is not None:
        # The nearest to the region first: the next row of a figure is closer than the figure in the next column. What
        # text cuts off from the region stays cut off when that grows.
        near = [(distance(region, layout.atoms[k]), gap, k) for k, gap in gaps.items()]
        near = [entry for entry in near if entry[0] <= reach(layout.atoms[entry[2]])]
        if not near:
            break
        _, gap, k = min(near)
        del gaps[k]
        atom = layout.atoms[k]
        grown = union_box([region, atom])
        if not is_blocked(layout.barriers, grown):
            region = grown
            distances[k] = gap + aside(anchor, atom, side)
    return SideOption(side, anchor, distances, nearest) if distances else None


def _narrow(edge: Box, atom: Box) -> Box:
    """Cut the caption's edge to the atom's extent: text beside a narrow atom does not separate them."""
    if edge[1] == edge[3]:
        return (max(edge[0], min(atom[0], edge[2])), edge[1], min(edge[2], max(atom[2], edge[0])), edge[3])
    return (edge[0], max(edge[1], min(atom[1], edge[3])), edge[2], min(edge[3], max(atom[3], edge[1])))


def aside(anchor: Box, atom: Box, side: str) -> float:
    """Return how far an atom lies to the side of its caption: much outside its column, a little for off centre."""
    low, high = (0, 2) if side in ("above", "below") else (1, 3)
    outside = max(0.0, atom[low] - anchor[high], anchor[low] - atom[high])
    off = abs((atom[low] + atom[high]) - (anchor[low] + anchor[high])) / 2
    return ASIDE_WEIGHT * outside + OFF_CENTRE_WEIGHT * off
