"""Cutting a figure around its printed identifiers: gutters between them, until every part holds one.

The place of identifiers seen from their panels (below, or above and inside the top; in the middle or at the left edge)
is one convention per figure: the figure is cut under each, and the cut in which all identifiers stand alike, close to
an edge of a part with content, is the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pmo_assets.pipeline.detection.structure.colour_scales import without_scales
from pmo_assets.pipeline.detection.structure.gutters import (
    QUALITY,
    Canvas,
    Gutter,
    Rect,
    clear_gutters,
    is_text_only,
    seams,
    sparse_gutters,
    split_rect,
    trimmed,
    uniform_gutters,
)

FORCED = 0.35
"""Trust in a cut made only because two identifiers must be in different panels."""

Places = dict[int, list[Rect]]


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the figure that holds one panel: its rectangle and the trust in the weakest cut around it."""

    rect: Rect
    trust: float


BARE = 6.0
"""Cost of a cut, in glyph heights, per side that holds identifiers and nothing that they could name."""

FILLED = 1.3
"""A part that is less than so many times as large as its identifiers together holds nothing else."""

STRIP = 3.0
"""A part of text that is less than so many times as large as its identifiers together is their row or column."""

BARE_COST = 10.0
"""Cost of a partition per part without content."""

ALIKE = 0.25
"""Cost of a partition, per glyph height, when identifiers stand differently in their parts."""

OFF_MIDDLE = 0.5
"""Cost of a cut, per glyph height off the middle between identifiers that stand in the middle of panels."""

PLAIN_COST = 0.6
"""A cut that costs no more than this is taken without trying further conventions."""


class Cuts:
    """The crossings of a canvas and the content of its parts, each found once for all conventions."""

    def __init__(self, canvas: Canvas) -> None:
        """Look at a canvas."""
        self.canvas = canvas
        self._cuts: dict[tuple[Rect, str], list[Gutter]] = {}
        self._tight: dict[Rect, Rect | None] = {}
        self._text: dict[Rect, bool] = {}

    def of(self, rect: Rect, kind: str) -> list[Gutter]:
        """Return the crossings of one kind in both directions."""
        if (rect, kind) not in self._cuts:
            self._cuts[rect, kind] = candidate_cuts(self.canvas, rect, kind)
        return self._cuts[rect, kind]

    def tight(self, rect: Rect) -> Rect | None:
        """Return a rectangle shrunk to its ink; None when it holds none."""
        if rect not in self._tight:
            self._tight[rect] = trimmed(self.canvas.ink, rect)
        return self._tight[rect]

    def is_bare(self, rect: Rect, places: Places) -> bool:
        """Say whether a part holds its identifiers and no more than text beside them."""
        tight = self.tight(rect)
        if tight is None:
            return True
        if places and _size(tight) < FILLED * _size(hull_of(r for rects in places.values() for r in rects)):
            return True
        if tight not in self._text:
            self._text[tight] = is_text_only(self.canvas, tight)
        return self._text[tight]

    def is_strip(self, rect: Rect, places: Places) -> bool:
        """Say whether a part is hardly more than its identifiers: what they belong to lies outside."""
        tight = self.tight(rect)
        own = hull_of(r for rects in places.values() for r in rects)
        return self.is_bare(rect, places) and (tight is None or _size(tight) < STRIP * _size(own))


def _size(rect: Rect) -> int:
    return (rect[2] - rect[0]) * (rect[3] - rect[1])


def hull_of(rects: Iterable[Rect]) -> Rect:
    """Return the rectangle around some."""
    every = list(rects)
    return (min(r[0] for r in every), min(r[1] for r in every), max(r[2] for r in every), max(r[3] for r in every))


def candidate_cuts(canvas: Canvas, rect: Rect, kind: str) -> list[Gutter]:
    """Return the crossings of one kind in both directions."""
    find = {"clear": clear_gutters, "uniform": uniform_gutters, "sparse": sparse_gutters, "seam": seams}[kind]
    return [cut for axis in (0, 1) for cut in find(canvas, rect, axis)]


def sides_of(cut: Gutter, places: Places, slack: float) -> tuple[Places, Places] | None:
    """Return the identifiers before and after a cut; None when it hits one or leaves a side without any."""
    before: Places = {}
    after: Places = {}
    for name, rects in places.items():
        if all(r[cut.axis + 2] <= cut.start + slack for r in rects):
            before[name] = rects
        elif all(r[cut.axis] >= cut.stop - slack for r in rects):
            after[name] = rects
        else:
            return None
    return (before, after) if before and after else None


def cut_value(canvas: Canvas, cut: Gutter, before: Places, after: Places, below: bool, centred: bool = False) -> float:
    """Rate a cut in glyph heights: wide, and next to the identifiers on the side where this figure prints them.

    Args:
        canvas: the figure.
        cut: a crossing.
        before: identifiers before it.
        after: identifiers after it.
        below: identifiers are printed under their panels (else above or inside at the top).
        centred: they stand in the middle of their panels' widths, which are alike (else at the left edge, or anywhere).
    """
    value = min(cut.width / canvas.glyph, 3.0)
    first = min(r[cut.axis] for rects in after.values() for r in rects)
    last = max(r[cut.axis + 2] for rects in before.values() for r in rects)
    if cut.axis == 1:
        distance = cut.start - last if below else first - cut.stop
        return value - max(0.0, distance / canvas.glyph)
    if centred:
        nearest = (
            max(r[0] + r[2] for rects in before.values() for r in rects)
            + min(r[0] + r[2] for rects in after.values() for r in rects)
        ) / 4
        return value - OFF_MIDDLE * abs((cut.start + cut.stop) / 2 - nearest) / canvas.glyph
    if below:
        return value
    # Identifiers above stand at the left edge of their panel: what lies between belongs to the next panel's axis.
    return value - 0.5 * max(0.0, (first - cut.stop) / canvas.glyph)


def peeled(canvas: Canvas, rect: Rect, places: Places) -> Rect | None:
    """Return `rect` without an outer strip of text that holds no identifier (a heading over several panels)."""
    for axis in (1, 0):
        for cut in clear_gutters(canvas, rect, axis):
            parts = split_rect(rect, [cut])
            for strip, rest in ((parts[0], parts[1]), (parts[1], parts[0])):
                tight = trimmed(canvas.ink, strip)
                free = all(not (strip[0] <= (r[0] + r[2]) / 2 <= strip[2] and strip[1] <= (r[1] + r[3]) / 2 <= strip[3])
                           for rects in places.values() for r in rects)  # fmt: skip
                if tight is not None and free and is_text_only(canvas, tight):
                    return rest
    return None


@dataclass(frozen=True, slots=True)
class Convention:
    """Place of identifiers seen from their panels: under them (else above, or inside at the top), in the middle of
    their width (else anywhere)."""

    below: bool
    centred: bool = False


CONVENTIONS = (Convention(True), Convention(False), Convention(True, True), Convention(False, True))


def partition(cuts: Cuts, rect: Rect, places: Places, convention: Convention, trust: float = 1.0) -> dict[int, Part]:
    """Cut `rect` until each part holds the places of one name.

    Args:
        cuts: of the prepared figure.
        rect: pixels.
        places: per name (index) where it is printed; at least one.
        convention: place of identifiers in their panels.
        trust: of the weakest cut so far.

    Returns:
        A part for every name.
    """
    if len(places) == 1:
        return {next(iter(places)): Part(rect, trust)}
    tight = cuts.tight(rect) or rect
    # A cut that leaves nothing but identifiers on one side is no border of panels while there is any other.
    for strips in (False, True):
        for kind in ("clear", "peel", "uniform", "sparse", "seam"):
            if kind == "peel":
                rest = peeled(cuts.canvas, tight, places) if not strips else None
                if rest is not None:
                    return partition(cuts, rest, places, convention, trust)
                continue
            best = best_cut(cuts, tight, places, kind, convention, strips=strips)
            if best is not None:
                cut, before, after = best
                first, second = split_rect(tight, [cut])
                weakest = min(trust, QUALITY[kind])
                return partition(cuts, first, before, convention, weakest) | partition(
                    cuts, second, after, convention, weakest
                )
    return forced_partition(cuts, tight, places, convention)


def best_cut(
    cuts: Cuts, rect: Rect, places: Places, kind: str, convention: Convention, *, strips: bool
) -> tuple[Gutter, Places, Places] | None:
    """Return the best crossing of a kind between identifiers, and those before and after it; None without any.

    Args:
        cuts: of the prepared figure.
        rect: pixels, tight on ink.
        places: per name where it is printed.
        kind: a key of `QUALITY`.
        convention: place of identifiers in their panels.
        strips: a side may be nothing but identifiers.
    """
    best: tuple[float, Gutter, Places, Places] | None = None
    for cut in cuts.of(rect, kind):
        # Line boxes stick out of the ink they hold: a third of a glyph is still on its side of the cut.
        sides = sides_of(cut, places, slack=cuts.canvas.glyph / 3)
        if sides is None:
            continue
        value = cut_value(cuts.canvas, cut, *sides, below=convention.below, centred=convention.centred)
        if best is not None and value <= best[0]:
            continue
        parts = split_rect(rect, [cut])
        if not strips and any(cuts.is_strip(part, own) for part, own in zip(parts, sides, strict=True)):
            continue
        value -= BARE * sum(cuts.is_bare(part, own) for part, own in zip(parts, sides, strict=True))
        if best is None or value > best[0]:
            best = (value, cut, *sides)
    return best[1:] if best is not None else None


def forced_partition(cuts: Cuts, rect: Rect, places: Places, convention: Convention) -> dict[int, Part]:
    """Separate identifiers without any visible border, along the axis on which they lie farthest apart."""
    names = sorted(places)
    gaps: list[tuple[float, int, float]] = []
    for axis in (0, 1):
        ordered = sorted((places[n][0][axis], places[n][0][axis + 2]) for n in names)
        for (a0, a1), (b0, b1) in pairwise(ordered):
            # At the next identifier's edge when it stands at the start of its panel, else in the middle.
            position: float = b0 - 2
            if axis == 0 and convention.centred:
                position = (a0 + a1 + b0 + b1) / 4
            elif convention.below:
                position = (a1 + b0) / 2 if axis == 0 else a1 + 2
            if b0 > a0:
                gaps.append(((b0 - a0), axis, position))
    for _, axis, position in sorted(gaps, reverse=True):
        cut = Gutter(axis, round(position), round(position), "seam")
        sides = sides_of(cut, {n: [places[n][0]] for n in names}, slack=cuts.canvas.glyph)
        if sides is not None and rect[axis] < cut.start < rect[axis + 2]:
            first, second = split_rect(rect, [cut])
            return partition(cuts, first, sides[0], convention, FORCED) | partition(
                cuts, second, sides[1], convention, FORCED
            )
    return {name: Part(rect, 0.2) for name in names}


def partition_cost(cuts: Cuts, parts: dict[int, Part], places: Places, below: bool) -> float:
    """Rate a partition (less is better): identifiers close to the expected edge, all alike, every part with content,
    sure cuts."""
    cost = 0.0
    glyph = cuts.canvas.glyph
    tights = {name: cuts.tight(part.rect) or part.rect for name, part in parts.items()}
    for name, part in parts.items():
        tight, identifier = tights[name], places[name][0]
        distance = tight[3] - identifier[3] if below else identifier[1] - tight[1]
        cost += min(abs(distance) / glyph, 8.0) + 6.0 * (1 - part.trust)
        if _size(tight) < 4 * _size(identifier) or cuts.is_bare(tight, {}):
            cost += BARE_COST
    return cost / len(parts) + ALIKE * unlike(tights, places) / glyph


def unlike(tights: Mapping[int, Rect], places: Places) -> float:
    """Return by how many pixels identifiers stand differently in their parts, across, at the likeliest place.

    That is the left edge, the middle or the right edge: where they differ least.
    """
    ways = []
    for left, right in ((1.0, 0.0), (0.5, 0.5), (0.0, 1.0)):
        offsets = [
            left * (places[n][0][0] - tight[0]) + right * (places[n][0][2] - tight[2]) for n, tight in tights.items()
        ]
        middle = float(np.median(offsets))
        ways.append(float(np.mean([abs(offset - middle) for offset in offsets])))
    return min(ways)


def best_partition(canvas: Canvas, places: Places) -> tuple[float, dict[int, Part]]:
    """Return (cost, parts) under the best convention: the likelier ones first, others only where these fail."""
    options: list[tuple[float, dict[int, Part]]] = []
    cuts = Cuts(canvas)
    rect = without_scales(canvas, tuple(r for rects in places.values() for r in rects))
    for convention in CONVENTIONS:
        if convention.centred and min(cost for cost, _ in options) <= PLAIN_COST:
            break
        parts = partition(cuts, rect, places, convention)
        options.append((partition_cost(cuts, parts, places, convention.below), parts))
    return min(options, key=lambda option: option[0])
