"""Panels from the figure's structure: embedded bitmaps, printed identifiers, gutters and the caption's panel names.

Order of evidence:

1. Gutters and names agree: a level of the cut tree has as many parts as there are names, and no part holds two
   identifiers that are read.
2. Identifiers with a known place: the figure is cut at gutters until every part holds one identifier.
3. Only the number of names is known: as 1, or that many parts by the best crossings.
4. Neither: the whole figure is one panel (annotation guide: one panel when the figure has no identifiers); without a
   caption (`FigureView.caption_known`), what clear gutters part (`bare_parts.py`).

A colour scale beside the panels is left out first (`colour_scales.py`).

Scores. A panel cut around an identifier scores the identifier's own score (live text 0.95, shape 0.8..1) times the
trust in its weakest cut (`gutters.QUALITY`). A panel chosen by number scores 0.8 times that trust, or as the weakest
identifier where each part holds one of all. The whole figure
scores 0.95 when the caption names no panels, 0.5 when it names several that could not be separated.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from pmo_assets.pipeline.detection.structure.bare_parts import bare_parts
from pmo_assets.pipeline.detection.structure.colour_scales import without_scales
from pmo_assets.pipeline.detection.structure.gutters import (
    QUALITY,
    Canvas,
    Gutter,
    Rect,
    Region,
    canvas_of,
    cut_tree,
    leaves,
    normalised_box,
    split_rect,
    trimmed,
)
from pmo_assets.pipeline.detection.structure.identifier_reading import likeness, reading
from pmo_assets.pipeline.detection.structure.identifiers import Identifier, find_identifiers, is_positional, key
from pmo_assets.pipeline.detection.structure.letter_grid import inside, letter_grid, overlaps
from pmo_assets.pipeline.detection.structure.partitions import Part, Places, best_partition, candidate_cuts
from pmo_assets.records.detections import FigureView, PanelDetection
from pmo_assets.records.figure import EmbeddedBitmap
from pmo_assets.records.geometry import UNIT_BOX, Box, area, expand, height, intersection, union_box, width
from pmo_assets.records.identifiers import HORIZONTAL_PLACES, VERTICAL_PLACES

FLAT_SHARE = 0.8
"""A bitmap that covers this much of the figure is the figure, flattened: it says nothing about panels."""

SPECK = 0.02
"""Bitmaps smaller than this (both sides, fraction of the figure) are glyph pictures or bullets."""

BARE = 0.6
"""Score of what clear gutters part in a picture without a caption."""

UNSEPARATED = 0.5
"""Score of the whole figure as one panel when the caption names several."""


def picture_boxes(bitmaps: Sequence[EmbeddedBitmap]) -> tuple[Box, ...]:
    """Return the boxes of whole pictures: slices and tiles of one picture joined, specks left out.

    Producers slice large pictures into strips or tiles that abut; two boxes are joined when they touch or overlap and
    their union is filled by them (no more than 5 % of it empty).
    """
    boxes = [b.box for b in bitmaps if width(b.box) > 0 and height(b.box) > 0]
    # Tiles abut within rounding of the PDF's coordinates; real gutters are wider than 0.3 % of the figure.
    slack = 0.003
    groups: list[tuple[Box, float]] = [(box, area(box)) for box in boxes]
    joined = True
    while joined and len(groups) <= 400:
        joined = False
        # Closest-shaped pairs first keeps strips of one picture together before two pictures could be joined.
        for i in range(len(groups)):
            for j in range(i + 1, len(groups)):
                (a, filled_a), (b, filled_b) = groups[i], groups[j]
                if area(intersection(expand(a, slack), b)) <= 0 and area(intersection(a, expand(b, slack))) <= 0:
                    continue
                hull = union_box((a, b))
                filled = min(area(hull), filled_a + filled_b - area(intersection(a, b)))
                if filled >= 0.95 * area(hull):
                    groups[i] = (hull, filled)
                    del groups[j]
                    joined = True
                    break
            if joined:
                break
    return tuple(sorted(box for box, _ in groups if width(box) > SPECK or height(box) > SPECK))


def glyph_share(view: FigureView) -> float | None:
    """Return the upper quartile of live text heights as a fraction of the long side; None without enough text."""
    texts = (*view.texts, *view.words)
    if len(texts) < 3:
        return None
    tall, wide = view.pixels.shape[:2]
    sides = sorted(min(height(t.box) * tall, width(t.box) * wide * 3) for t in texts)
    # A line box is about 1.2 times the font size, capitals 0.7: the whole line box leaves room for headings.
    return float(sides[len(sides) * 3 // 4] * 1.2 / max(tall, wide))


def structure_canvas(view: FigureView) -> Canvas:
    """Return the canvas of a figure with its separate bitmaps filled, so that no cut enters them."""
    return canvas_of(view.pixels, _solid_boxes(view), glyph_share(view))


def _solid_boxes(view: FigureView) -> tuple[Box, ...]:
    boxes = picture_boxes(view.bitmaps)
    return tuple(box for box in boxes if area(box) < FLAT_SHARE and min(width(box), height(box)) > SPECK)


def _plain(view: FigureView, canvas: Canvas) -> Canvas:
    """Return the figure's canvas without filled bitmaps; `canvas` itself where there are none."""
    return canvas_of(view.pixels, (), glyph_share(view)) if _solid_boxes(view) else canvas


def frontiers(
    region: Region, count: int, keep: int = 4, known: dict[tuple[Rect, int], list[list[Region]]] | None = None
) -> list[list[Region]]:
    """Return ways to take exactly `count` disjoint parts of a cut tree that together are the whole region.

    Args:
        region: a node of the tree.
        count: number of parts, at least 1.
        keep: number of ways to return, the most even first.
        known: answers for other nodes of the same tree, shared down the recursion.
    """
    if count == 1:
        return [[region]]
    children = region.children
    if not children or count > len(leaves(region)):
        return []
    known = known if known is not None else {}
    if (region.rect, count) in known:
        return known[region.rect, count]
    options: list[list[Region]] = []
    if len(children) >= count:
        gaps = [b.rect[region.axis] - a.rect[region.axis + 2] for a, b in pairwise(children)]
        order = sorted(range(len(gaps)), key=lambda i: (-gaps[i], i))
        options.append(grouped(region, sorted(order[: count - 1])))
        if len(children) % count == 0 and len(children) > count:
            step = len(children) // count
            options.append(grouped(region, [step * (i + 1) - 1 for i in range(count - 1)]))
    if len(children) <= count:
        # Parts taken so far -> the best beginnings with that many; a beam per number keeps this linear in `count`.
        beams: dict[int, list[list[Region]]] = {0: [[]]}
        for index, child in enumerate(children):
            others = len(children) - index - 1
            grown: dict[int, list[list[Region]]] = {}
            for taken, beginnings in beams.items():
                left = count - taken
                for part in range(1, left - others + 1) if others else (left,):
                    for more in frontiers(child, part, keep, known):
                        grown.setdefault(taken + part, []).extend([*chosen, *more] for chosen in beginnings)
            beams = {n: sorted(ways, key=lambda way: -frontier_value(way))[:keep] for n, ways in grown.items()}
        options += beams.get(count, [])
    known[region.rect, count] = sorted(options, key=lambda regions: -frontier_value(regions))[:keep]
    return known[region.rect, count]


def grouped(region: Region, cuts: list[int]) -> list[Region]:
    """Return the children of a node joined between the given gaps (index of the child before the gap)."""
    groups: list[list[Region]] = [[]]
    for index, child in enumerate(region.children):
        groups[-1].append(child)
        if index in cuts:
            groups.append([])
    result = []
    for group in groups:
        if len(group) == 1:
            result.append(group[0])
            continue
        hull = union_box(tuple(map(float, r.rect)) for r in group)  # type: ignore[misc]
        rect = (int(hull[0]), int(hull[1]), int(hull[2]), int(hull[3]))
        result.append(Region(rect, tuple(group), region.gap, region.axis, all(r.text_only for r in group)))
    return result


def frontier_value(regions: Sequence[Region]) -> float:
    """Rate a choice of parts: panels of one figure tend to have one size (one of the two sides at least)."""
    widths = np.asarray([r.rect[2] - r.rect[0] for r in regions], dtype=float)
    heights = np.asarray([r.rect[3] - r.rect[1] for r in regions], dtype=float)
    spread = float(widths.std() / widths.mean() + heights.std() / heights.mean())
    return -spread - 2.0 * sum(r.text_only for r in regions) / len(regions)


def direction(names: Sequence[str]) -> int | None:
    """Return the axis along which positional names lie (0: left/right, 1: top/bottom); None when they do not say."""
    said = {word.removesuffix("most") for word in re.findall(r"[a-z]+", " ".join(names).lower())}
    across = bool(said & {*HORIZONTAL_PLACES, "column", "columns"})
    down = bool(said & {*VERTICAL_PLACES, "row", "rows", "above", "below"})
    return None if across == down else (0 if across else 1)


def split_evenly(canvas: Canvas, count: int, axis: int | None) -> list[Part]:
    """Split the figure into `count` parts by the best crossings of any kind, best first; fewer when there are none."""
    parts = [Part(without_scales(canvas), 1.0)]
    cuts_of: dict[Rect, list[Gutter]] = {}
    while len(parts) < count:
        best: tuple[float, int, Gutter] | None = None
        for index, part in enumerate(parts):
            if part.rect not in cuts_of:
                every = [c for kind in QUALITY for c in candidate_cuts(canvas, part.rect, kind)]
                cuts_of[part.rect] = [c for c in every if axis is None or c.axis == axis]
            for cut in cuts_of[part.rect]:
                size = part.rect[cut.axis + 2] - part.rect[cut.axis]
                near = min((cut.start - part.rect[cut.axis]), part.rect[cut.axis + 2] - cut.stop) / size
                # Parts of a compound picture are comparable: no cut closer to the rim than half a part's share.
                if near < 0.5 / count:
                    continue
                value = QUALITY[cut.kind] * part.trust * (0.3 + near) * math.sqrt(size)
                value *= 1 + min(cut.width / canvas.glyph, 3.0) / 3
                if best is None or value > best[0]:
                    best = (value, index, cut)
        if best is None:
            return parts
        _, index, cut = best
        old = parts.pop(index)
        for rect in reversed(split_rect(old.rect, [cut])):
            parts.insert(index, Part(trimmed(canvas.ink, rect) or rect, min(old.trust, QUALITY[cut.kind])))
    return parts


def panels_by_number(canvas: Canvas, names: Sequence[str]) -> list[Part]:
    """Return as many parts as there are names; a single part when the figure does not separate into that many."""
    axis = direction(names)
    tree = cut_tree(canvas, without_scales(canvas))
    if tree is not None:
        options = frontiers(tree, len(names))
        if axis is not None:
            options = [o for o in options if lies_along(o, axis)]
        if options and frontier_value(options[0]) > -1.5:
            return [Part(region.rect, 1.0) for region in options[0]]
    parts = split_evenly(canvas, len(names), axis)
    return parts if len(parts) == len(names) else [Part(canvas.rect, 0.0)]


def lies_along(regions: Sequence[Region], axis: int) -> bool:
    """Say whether the parts follow each other along an axis without overlap."""
    ordered = sorted(regions, key=lambda r: r.rect[axis])
    return all(a.rect[axis + 2] <= b.rect[axis] for a, b in pairwise(ordered))


CONFIRMING, APART, OF_EVEN_SHARE = 0.75, 0.5, 0.25
"""Least likeness of print, least score of the panels cut around it, and least part of an even share of the figure that
each of them has, for names to be confirmed: the numbers at the curves of a plot have less."""


def figure_panel(score: float) -> PanelDetection:
    """Return the panel that is the whole figure."""
    return PanelDetection("panel", UNIT_BOX, score, "figure")


def identifier_detection(place: Identifier, name: str, canvas: Canvas) -> PanelDetection:
    """Return a printed identifier as a detection, its box tight on ink within the line box."""
    rect = trimmed(canvas.ink, place.rect) if place.source == "glyph" else None
    tall, wide = canvas.ink.shape
    text = place.name if key(place.name) == key(name) or place.source == "text" else name
    box = normalised_box(rect or place.rect, wide, tall)
    return PanelDetection("identifier", box, place.score, place.source, text, place.text_score)


@dataclass(frozen=True, slots=True, eq=False)
class PrintedNames:
    """The names of a figure's panels and the places where they are printed.

    Attributes:
        canvas: the prepared figure.
        names: of the panels; fewer than two when the figure is one panel.
        places: per name its printed identifiers, on the canvas; empty where none is known.
    """

    canvas: Canvas
    names: tuple[str, ...]
    places: tuple[tuple[Identifier, ...], ...]

    @property
    def complete(self) -> bool:
        """The figure is one panel, or every name has a place."""
        return len(self.names) < 2 or all(self.places)


def printed_names(view: FigureView) -> PrintedNames:
    """Return the names of a figure's panels with the places that live text and shapes of letters tell.

    Names that the caption leaves open (`alternative_identifiers`) count where all of them are printed.
    """
    canvas = structure_canvas(view)
    names, found = find_identifiers(view, canvas)
    printed = PrintedNames(canvas, names, tuple(tuple(places) for places in found))
    if view.caption_identifiers:
        return printed
    for others in view.alternative_identifiers:
        _, found = find_identifiers(replace(view, caption_identifiers=others), canvas)
        other = PrintedNames(canvas, others, tuple(tuple(places) for places in found))
        if is_confirmed(view, other):
            return other
    return printed


def is_confirmed(view: FigureView, printed: PrintedNames) -> bool:
    """Say whether names that the caption leaves open are those of panels: all printed, each in a part of its own.

    Numbers and words inside one picture label what it shows: there is no cut between them.
    """
    if len(printed.names) < 2 or not all(printed.places):
        return False
    if any(place.text_score < CONFIRMING for places in printed.places for place in places):
        return False
    panels = [item for item in structure_panels(view, printed) if item.kind == "panel"]
    if len(panels) != len(printed.names) or min(panel.score for panel in panels) < APART:
        return False
    return min(area(panel.box) for panel in panels) >= OF_EVEN_SHARE / len(panels)


SURE_PRINT = 0.7
"""Likeness of print from which an identifier is read and not guessed from where it stands."""


def with_grid_places(printed: PrintedNames) -> PrintedNames:
    """Return the names with the places of those letters that were not read, where the others show a grid.

    A letter that was taken for something off the grid loses its place to the one that the grid says. Predicted letters
    have the source "grid", and no more score than is read there.
    """
    names, canvas = printed.names, printed.canvas
    if len(names) < 3 or any(is_positional(name) for name in names) or any(len(p) > 1 for p in printed.places):
        return printed
    read = {i: own[0] for i, own in enumerate(printed.places) if own}
    sure = frozenset(i for i, place in read.items() if place.source == "text")
    if len(sure) == len(names):
        return printed
    grid = letter_grid(len(names), {i: place.rect for i, place in read.items()}, sure)
    if grid is None or (len(read) == len(names) and not grid.astray):
        return printed
    places = list(printed.places)
    for i in grid.astray:
        places[i] = ()
    kept = [own[0].rect for own in places if own]
    for i, rect in grid.places.items():
        if not places[i] and inside(rect, canvas.ink) and not overlaps(rect, kept):
            places[i] = (_predicted(canvas, names[i], rect),)
    return replace(printed, places=tuple(places))


PREDICTED = 0.5
"""Score of a letter that only its neighbours say is there: its panel is cut all the same."""


def _predicted(canvas: Canvas, name: str, rect: Rect) -> Identifier:
    """Return a letter at its place in the grid, read if it can be."""
    read = reading(canvas.rgb, rect)
    like = likeness(read.letters, name) if read is not None and len(read.letters) <= 3 else 0.0
    if read is None or like < SURE_PRINT:
        return Identifier(name, rect, "plain", "grid", PREDICTED, 0.0)
    return Identifier(name, read.rect, "plain", "grid", max(PREDICTED, like), like)


def _numbered_parts(
    canvas: Canvas, names: Sequence[str], found: Sequence[Sequence[Identifier]], places: Places
) -> list[Part]:
    """Return as many parts as there are names, cut at clear gutters only, where identifiers do not speak against them.

    They agree where every part holds one of them. Where some are not found, or guessed, no part may hold two that are
    read; if these are fewer than half, they may as well be letters in a picture, and the gutters count.
    """
    numbered = panels_by_number(canvas, names)
    if len(numbered) != len(names) or any(part.trust < 1 for part in numbered):
        return []
    read = [i for i in places if found[i][0].text_score >= SURE_PRINT]
    if len(read) == len(names):
        # Most places of a name decide: one of a1, a2, a3 may have been misread.
        inside = [sum(2 * sum(holds(p.rect, r) for r in places[i]) > len(places[i]) for i in places) for p in numbered]
        return numbered if all(count == 1 for count in inside) else []
    if 2 * len(read) < len(names):
        return numbered
    return numbered if all(sum(holds(p.rect, places[i][0]) for i in read) <= 1 for p in numbered) else []


def _unrivalled(found: Sequence[Sequence[Identifier]], places: Places, parts: Sequence[Part]) -> list[int]:
    """Return which places (by position) stand in a part with no other place as likely as they are."""
    order = list(places)
    likely = [(found[i][0].text_score >= SURE_PRINT, found[i][0].text_score) for i in order]
    home = [next((n for n, p in enumerate(parts) if holds(p.rect, places[i][0])), None) for i in order]
    return [
        k
        for k in range(len(order))
        if home[k] is not None
        and not any(home[o] == home[k] and o != k and likely[o][0] >= likely[k][0] for o in range(len(order)))
    ]


def structure_panels(view: FigureView, printed: PrintedNames | None = None) -> list[PanelDetection]:
    """Return panels and identifiers of one figure; at least one panel. See the module's text for the method.

    Args:
        view: the figure.
        printed: names and places when more is known than `printed_names` tells.
    """
    printed = with_grid_places(printed or printed_names(view))
    canvas, names, found = printed.canvas, printed.names, printed.places
    tall, wide = canvas.ink.shape
    if len(names) < 2:
        identifiers = [identifier_detection(p[0], n, canvas) for n, p in zip(names, found, strict=True) if p]
        bare = [] if view.caption_known else bare_parts(canvas)
        if len(bare) >= 2:
            return [*(PanelDetection("panel", box, BARE, "gutter") for box in bare), *identifiers]
        return [figure_panel(0.95 if view.caption_known else UNSEPARATED), *identifiers]
    places = {i: [p.rect for p in found[i]] for i in range(len(names)) if found[i]}
    identifiers = [identifier_detection(found[i][0], names[i], canvas) for i in places]
    if len(places) >= 2:
        cost, parts = best_partition(canvas, places)
        if min(part.trust for part in parts.values()) < QUALITY["sparse"]:
            plain = _plain(view, canvas)
            cost_plain, parts_plain = best_partition(plain, places)
            if cost_plain < cost:
                canvas, parts = plain, parts_plain
        numbered = _numbered_parts(canvas, names, found, places)
        if numbered:
            read = all(own and own[0].text_score >= SURE_PRINT for own in found)
            score = min(own[0].score for own in found) if read else 0.8
            return [
                *(PanelDetection("panel", normalised_box(p.rect, wide, tall), score, "gutter") for p in numbered),
                *(identifiers[k] for k in _unrivalled(found, places, numbered)),
            ]
        panels = []
        for index, part in parts.items():
            tight = trimmed(canvas.ink, part.rect) or part.rect
            rects = [tight, *places[index]]
            hull = union_box((float(r[0]), float(r[1]), float(r[2]), float(r[3])) for r in rects)
            box = normalised_box((int(hull[0]), int(hull[1]), int(hull[2]), int(hull[3])), wide, tall)
            panels.append(PanelDetection("panel", box, found[index][0].score * part.trust, "identifier"))
        return [*panels, *identifiers]
    numbered = panels_by_number(canvas, names)
    if len(numbered) != len(names):
        plain = _plain(view, canvas)
        numbered = panels_by_number(plain, names)
    if len(numbered) != len(names):
        return [figure_panel(UNSEPARATED), *identifiers]
    return [
        *(PanelDetection("panel", normalised_box(p.rect, wide, tall), 0.8 * p.trust, "gutter") for p in numbered),
        *identifiers,
    ]


def holds(rect: Rect, inner: Rect) -> bool:
    """Say whether the centre of `inner` lies in `rect`."""
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return rect[0] <= x <= rect[2] and rect[1] <= y <= rect[3]


class StructurePanelDetector:
    """The structural panel detector as a `protocols.PanelDetector`."""

    def __call__(self, views: Sequence[FigureView]) -> list[list[PanelDetection]]:
        """Return panels and identifiers per figure."""
        return [structure_panels(view) for view in views]
