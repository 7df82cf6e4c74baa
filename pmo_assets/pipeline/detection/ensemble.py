"""Structure and network together: exact boxes where both agree, the network where the structure misses something.

Images. Structural boxes are exact when they are right, and wrong in two ways: a grid taken for one image, and one image
taken for several. The network sees both, a little off at the edges. Each structural box is therefore weighed by what
the network sees in its place:

* the same box: the structural box, with the scores of both combined;
* several boxes inside it that fill it: those boxes, moved to the nearest edges of the picture;
* it is one of several inside a box of the network: the network's box instead of them;
* nothing: the structural box with a lower score.

What only the network sees is added, moved to the nearest edges. Embedded bitmaps are believed as they are.

Panels. Identifiers decide: where the structure does not find what the caption names, the network's identifiers take
their places (`identifier_reading.py`) before the figure is cut. The network's panels are used where the structure still
cannot separate what the caption names.
`source` of every box says where it came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from pmo_assets.pipeline.detection.detections import FigureView, ImageDetection, PanelDetection
from pmo_assets.pipeline.detection.gutters import (
    Canvas,
    Rect,
    canvas_of,
    normalised_box,
    pixel_rect,
    projection,
    runs,
)
from pmo_assets.pipeline.detection.identifier_reading import PrintedBox, named_boxes, printed_sequence
from pmo_assets.pipeline.detection.identifiers import Identifier, is_positional
from pmo_assets.pipeline.detection.images import StructureImageDetector
from pmo_assets.pipeline.detection.network_boxes import NetworkBoxes
from pmo_assets.pipeline.detection.onnx_detectors import FigureNetwork, as_box, network_panels
from pmo_assets.pipeline.detection.panels import PrintedNames, glyph_share, printed_names, structure_panels
from pmo_assets.pipeline.detection.protocols import BoxNetwork
from pmo_assets.pipeline.geometry import (
    Box,
    area,
    centre,
    covered_fraction,
    expand,
    intersection,
    iou,
    non_maximum_suppression,
)


@dataclass(frozen=True, slots=True)
class EnsembleOptions:
    """How structure and network are weighed.

    Attributes:
        seen: boxes of the network below this score are not considered at all.
        least: score from which a box of the network overrides the structure or is added to it.
        printed: the same for an identifier that the caption names and that the structure has not found.
        panel: score from which a panel of the network is considered.
        touching: part of the smaller of two panels up to which they may overlap.
        cost: what a chosen panel costs, in score: weaker ones are chosen only for the part of the figure they cover.
        coverage: what it is worth when chosen panels cover the whole figure, as panels do.
        unconfirmed: factor of the score of a structural panel where the network sees none like it.
        alike: IoU from which two boxes are the same.
        inside: part of a box that lies in another from which it counts as inside.
        filled: part of a structural box that the network's boxes in it must cover to take its place.
        alone: factor of the score of a structural box where the network sees nothing.
        better: boxes that fill another one replace it when their mean score is at least this part of its score.
    """

    seen: float = 0.1
    least: float = 0.55
    printed: float = 0.3
    panel: float = 0.3
    touching: float = 0.3
    cost: float = 0.25
    coverage: float = 0.6
    unconfirmed: float = 0.8
    alike: float = 0.5
    inside: float = 0.8
    filled: float = 0.6
    alone: float = 0.9
    better: float = 0.8


REACH = 0.03
"""Edges of the network's boxes are moved by at most this fraction of the figure's sides: its error on such boxes."""


def snapped(canvas: Canvas, rect: Rect) -> Rect:
    """Move each edge of a rectangle to the nearest edge of what is in it.

    Along each direction, the edge goes to the border of the widest empty strip within reach; without one, to the line
    where the picture changes most against its neighbour. Without a clear change it stays.
    """
    tall, wide = canvas.ink.shape
    edges = list(rect)
    for axis in (0, 1):
        size = edges[axis + 2] - edges[axis]
        reach = max(3, round(min(REACH * (wide if axis == 0 else tall), 0.2 * size)))
        limit = wide if axis == 0 else tall
        # The middle of the box along the other direction: corners may belong to neighbours.
        other = 1 - axis
        margin = (edges[other + 2] - edges[other]) // 10
        for side in (0, 2):
            start, stop = max(0, edges[axis + side] - reach), min(limit, edges[axis + side] + reach)
            if stop - start < 3:
                continue
            window = [0, 0, 0, 0]
            window[axis], window[axis + 2] = start, stop
            window[other], window[other + 2] = (
                edges[other] + margin,
                max(edges[other] + margin + 1, edges[other + 2] - margin),
            )
            moved = start + _edge(
                canvas, (window[0], window[1], window[2], window[3]), axis, side == 0, edges[axis + side] - start
            )
            # Where nothing ends between the guess and the figure's rim, the picture goes on to the rim.
            if moved == edges[axis + side] and (start == 0 if side == 0 else stop == limit):
                moved = 0 if side == 0 else limit
            edges[axis + side] = moved
    if edges[2] - edges[0] < 2 or edges[3] - edges[1] < 2:
        return rect
    return (edges[0], edges[1], edges[2], edges[3])


def _edge(canvas: Canvas, window: Rect, axis: int, first: bool, place: int) -> int:
    """Return where, from the window's start, a picture begins (`first`) or ends; `place` is the guess."""
    empty = projection(canvas.ink, window, axis) == 0
    # A strip at the outer end of the window counts; one that reaches the inner end would be inside the picture.
    strips = [(a, b) for a, b in runs(empty) if (b < len(empty) if first else a > 0)]
    if strips:
        a, b = max(strips, key=lambda s: (min(s[1] - s[0], 6), -abs((s[1] if first else s[0]) - place)))
        return b if first else a
    part = canvas.rgb[window[1] : window[3], window[0] : window[2]].astype(np.int16)
    if 0 in part.shape:
        return place
    lines = part.mean(axis=axis)
    change = np.abs(np.diff(lines, axis=0)).max(axis=1)
    # Far changes need to be stronger: the guess is rarely off by the whole reach.
    weight = 1 - 0.5 * np.abs(np.arange(1, len(lines)) - place) / len(lines)
    best = int(np.argmax(change * weight))
    # A border stands out from the texture around it.
    if change[best] >= max(12.0, 4 * float(np.median(change))):
        return best + 1
    return place


def fused_images(
    view: FigureView, structural: Sequence[ImageDetection], boxes: NetworkBoxes, options: EnsembleOptions | None = None
) -> list[ImageDetection]:
    """Return the images of a figure from the structural ones and the network's; see the module's text."""
    options = options or EnsembleOptions()
    seen = [
        (as_box(box), float(score))
        for box, score in zip(boxes.boxes["image"], boxes.scores["image"], strict=True)
        if score >= options.seen
    ]
    seen = _without_nesting(seen, options)
    same: dict[int, int] = {}
    taken: set[int] = set()
    pairs = [(iou(s.box, n[0]), -i, -k) for i, s in enumerate(structural) for k, n in enumerate(seen)]
    for value, i, k in sorted(pairs, reverse=True):
        if value >= options.alike and -i not in same and -k not in taken:
            same[-i] = -k
            taken.add(-k)
    result: list[ImageDetection] = []
    for i, image in enumerate(structural):
        sure = [k for k, n in enumerate(seen) if n[1] >= options.least and k not in taken]
        inner = [k for k in sure if covered_fraction(seen[k][0], image.box) >= options.inside]
        if image.source == "bitmap":
            taken.update(inner)
        if i in same:
            result.append(replace(image, score=1 - (1 - image.score) * (1 - seen[same[i]][1])))
            continue
        if image.source == "bitmap":
            result.append(image)
            continue
        filled = sum(area(intersection(seen[k][0], image.box)) for k in inner) / max(area(image.box), 1e-9)
        whole = any(covered_fraction(image.box, seen[k][0]) >= options.inside for k in sure)
        if not whole and filled < options.filled:
            result.append(replace(image, score=image.score * options.alone))
    added = [
        (box, score)
        for k, (box, score) in enumerate(seen)
        if k not in taken and score >= options.least
        and not any(covered_fraction(box, r.box) >= options.inside for r in result)
    ]  # fmt: skip
    if not added:
        return result
    canvas = canvas_of(view.pixels, (), glyph_share(view))
    tall, wide = canvas.ink.shape
    for box, score in added:
        exact = normalised_box(snapped(canvas, pixel_rect(box, wide, tall)), wide, tall)
        result.append(ImageDetection(exact, score, "network", None, 0.0))
    return result


Seen = tuple[Box, float]
"""A box of the network and its score."""


def _without_nesting(seen: Sequence[Seen], options: EnsembleOptions) -> list[Seen]:
    """Return the network's boxes without those that contain, or are contained in, more convincing ones.

    A box that others fill is a grid taken for one image, or they are parts of one: the better mean score stays.
    """
    order = sorted(range(len(seen)), key=lambda k: -area(seen[k][0]))
    dropped: set[int] = set()
    for k in order:
        if k in dropped:
            continue
        inner = [
            j for j in order
            if j != k and j not in dropped and area(seen[j][0]) < area(seen[k][0])
            and covered_fraction(seen[j][0], seen[k][0]) >= options.inside
        ]  # fmt: skip
        if not inner:
            continue
        size = sum(area(seen[j][0]) for j in inner) / max(area(seen[k][0]), 1e-9)
        mean = sum(seen[j][1] * area(seen[j][0]) for j in inner) / max(1e-9, sum(area(seen[j][0]) for j in inner))
        if size >= options.filled and mean >= seen[k][1] * options.better:
            dropped.add(k)
        elif mean < seen[k][1]:
            dropped.update(inner)
    return [n for k, n in enumerate(seen) if k not in dropped]


def fused_panels(
    view: FigureView, structural: Sequence[PanelDetection], boxes: NetworkBoxes, options: EnsembleOptions | None = None
) -> list[PanelDetection]:
    """Return panels and identifiers of a figure from the structural ones and the network's; see the module's text."""
    options = options or EnsembleOptions()
    if len(view.caption_identifiers) < 2:
        return list(structural)
    found = [p for p in network_panels(boxes) if p.score >= options.panel]
    candidates = [p for p in found if p.kind == "panel"]
    candidates = [
        candidates[k]
        for k in non_maximum_suppression([p.box for p in candidates], [p.score for p in candidates], options.alike)
    ]
    marks = [p for p in structural if p.kind == "identifier"]
    panels = [p for p in structural if p.kind == "panel"]
    if len(panels) == 1 and panels[0].source == "figure":
        sure = [p for p in candidates if p.score >= options.least]
        sure = [sure[k] for k in sorted(non_maximum_suppression([p.box for p in sure], [p.score for p in sure]))]
        # Fewer than half of the names would leave more panels out than it separates.
        return [*(sure if 2 * len(sure) > len(view.caption_identifiers) else panels), *marks]
    every = [*_confirmed(panels, candidates, options), *candidates]
    complete = len(marks) >= len(view.caption_identifiers)
    belief = [
        p.score * (_plausible(p.box, marks, complete) if p.source == "network" else _substance(p.box, marks))
        for p in every
    ]
    values = [b - options.cost + options.coverage * area(p.box) for b, p in zip(belief, every, strict=True)]
    kept = disjoint_choice([p.box for p in every], values, options.touching, len(view.caption_identifiers))
    drawn = any(every[k].source == "network" for k in kept)
    canvas = canvas_of(view.pixels, (), glyph_share(view)) if drawn else None
    result = [replace(every[k], score=belief[k]) for k in kept]
    return [*(_exact(canvas, p) if canvas is not None and p.source == "network" else p for p in result), *marks]


def _confirmed(
    panels: Sequence[PanelDetection], candidates: Sequence[PanelDetection], options: EnsembleOptions
) -> list[PanelDetection]:
    """Return the structural panels with a higher score where the network sees the same and a lower one elsewhere."""
    scores: dict[int, float] = {}
    used: set[int] = set()
    pairs = [(iou(p.box, c.box), i, k) for i, p in enumerate(panels) for k, c in enumerate(candidates)]
    for value, i, k in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if value >= options.alike and i not in scores and k not in used:
            used.add(k)
            scores[i] = 1 - (1 - panels[i].score) * (1 - candidates[k].score)
    return [replace(p, score=scores.get(i, p.score * options.unconfirmed)) for i, p in enumerate(panels)]


def _substance(box: Box, marks: Sequence[PanelDetection]) -> float:
    """Return how much of its score a structural panel keeps: it is more than the identifier it was cut around."""
    own = sum(area(m.box) for m in marks if _holds(box, m.box))
    return 0.3 if area(box) < 6 * own else 1.0


def _plausible(box: Box, marks: Sequence[PanelDetection], complete: bool) -> float:
    """Return how much of its score a panel of the network keeps: a panel has one identifier.

    Args:
        box: of the panel.
        marks: the identifiers of the figure.
        complete: all identifiers of the figure are known, so that a panel without any is none.
    """
    inside = sum(_holds(box, m.box) for m in marks)
    if inside == 0 and sum(_holds(expand(box, REACH), m.box) for m in marks) == 1:
        return 0.9
    return (0.4 if complete else 0.85, 1.0, 0.3)[min(inside, 2)]


def disjoint_choice(boxes: Sequence[Box], values: Sequence[float], touching: float, most: int) -> list[int]:
    """Return the indices of the disjoint boxes of the highest total value, in order.

    Args:
        boxes: candidates.
        values: what each is worth; those of no value are never chosen.
        touching: part of the smaller of two boxes up to which both may be chosen.
        most: how many may be chosen.
    """
    useful = [k for k, value in enumerate(values) if value > 0]
    if not useful:
        return []
    rivals = [
        (i, j) for i, a in enumerate(useful) for j, b in enumerate(useful)
        if i < j and _shared(boxes[a], boxes[b]) > touching
    ]  # fmt: skip
    rows = np.zeros((len(rivals) + 1, len(useful)))
    rows[0] = 1
    for row, pair in enumerate(rivals, start=1):
        rows[row, list(pair)] = 1
    limits = LinearConstraint(rows, ub=[most, *[1.0] * len(rivals)])
    solved = milp(
        [-values[k] for k in useful], integrality=np.ones(len(useful)), bounds=Bounds(0, 1), constraints=limits
    )
    # A solver that gives up leaves the best ones that fit, one after the other.
    if solved.x is None:
        order = sorted(useful, key=lambda k: -values[k])
        return sorted(order[k] for k in non_maximum_suppression([boxes[k] for k in order], [values[k] for k in order]))
    return [k for k, x in zip(useful, solved.x.tolist(), strict=True) if x > 0.5]


def _shared(a: Box, b: Box) -> float:
    """Return the part of the smaller of two boxes that lies in the other one."""
    return max(covered_fraction(a, b), covered_fraction(b, a))


def _exact(canvas: Canvas, panel: PanelDetection) -> PanelDetection:
    """Return a panel of the network with its edges moved to those of the picture."""
    tall, wide = canvas.ink.shape
    return replace(panel, box=normalised_box(snapped(canvas, pixel_rect(panel.box, wide, tall)), wide, tall))


def _holds(panel: Box, box: Box) -> bool:
    """Say whether the middle of a box lies in a panel."""
    x, y = centre(box)
    return panel[0] <= x <= panel[2] and panel[1] <= y <= panel[3]


def completed(printed: PrintedNames, boxes: NetworkBoxes, options: EnsembleOptions | None = None) -> PrintedNames:
    """Return the names of a figure's panels with places of identifiers that only the network sees."""
    options = options or EnsembleOptions()
    missing = [
        i for i, places in enumerate(printed.places) if not places and not is_positional(printed.names[i])
    ]  # fmt: skip
    tall, wide = printed.canvas.ink.shape
    known = [normalised_box(p.rect, wide, tall) for places in printed.places for p in places]
    free = [
        PrintedBox(pixel_rect(as_box(box), wide, tall), float(score))
        for box, score in zip(boxes.boxes["label"], boxes.scores["label"], strict=True)
        if score >= options.printed and not any(_holds(as_box(box), k) or _holds(k, as_box(box)) for k in known)
    ]
    found = named_boxes(printed.canvas.rgb, free, [printed.names[i] for i in missing])
    places = list(printed.places)
    for k, own in found.items():
        name = printed.names[missing[k]]
        places[missing[k]] = tuple(Identifier(name, box.rect, "plain", "network", box.score) for box in own)
    return replace(printed, places=tuple(places))


def named_by_print(printed: PrintedNames, boxes: NetworkBoxes, options: EnsembleOptions | None = None) -> PrintedNames:
    """Return the names of a figure whose caption names no panels, although A, B, C … are printed in it.

    Letters label things inside single pictures, too: all of them must be read, in sequence, and most must lie in a
    panel of the network of their own. Otherwise `printed` comes back as it is.
    """
    options = options or EnsembleOptions()
    tall, wide = printed.canvas.ink.shape
    labels = [
        PrintedBox(pixel_rect(as_box(box), wide, tall), float(score))
        for box, score in zip(boxes.boxes["label"], boxes.scores["label"], strict=True)
        if score >= options.printed
    ]
    names = printed_sequence(printed.canvas.rgb, labels)
    surest = sorted(labels, key=lambda label: -label.score)[: len(names)]
    marks = [normalised_box(label.rect, wide, tall) for label in surest]
    panels = [as_box(b) for b, s in zip(boxes.boxes["panel"], boxes.scores["panel"], strict=True) if s >= options.panel]
    inside = [[k for k, mark in enumerate(marks) if _holds(expand(panel, REACH), mark)] for panel in panels]
    apart = {own[0] for own in inside if len(own) == 1}
    if len(names) < 2 or 2 * len(apart) <= len(names):
        return printed
    return replace(printed, names=names, places=tuple(() for _ in names))


class EnsemblePanelDetector:
    """Structure and network as one `protocols.PanelDetector`; the network is asked only where it may add something."""

    def __init__(self, network: BoxNetwork | None = None, options: EnsembleOptions | None = None) -> None:
        """Use a network (None: the shipped one)."""
        self.network, self.options = network or FigureNetwork(), options

    def __call__(self, views: Sequence[FigureView]) -> list[list[PanelDetection]]:
        """Return panels and identifiers per figure."""
        printed = [printed_names(view) for view in views]
        asked = [k for k, names in enumerate(printed) if not names.names or not names.complete]
        seen = dict(zip(asked, self.network([views[k] for k in asked]), strict=True))
        return [
            self._fused(view, names, seen[k]) if k in seen else structure_panels(view, names)
            for k, (view, names) in enumerate(zip(views, printed, strict=True))
        ]

    def _fused(self, view: FigureView, printed: PrintedNames, boxes: NetworkBoxes) -> list[PanelDetection]:
        if not printed.names:
            printed = named_by_print(printed, boxes, self.options)
        printed = completed(printed, boxes, self.options)
        structural = structure_panels(view, printed)
        return fused_panels(replace(view, caption_identifiers=printed.names), structural, boxes, self.options)


class EnsembleImageDetector:
    """Structure and network as one `protocols.ImageDetector`."""

    def __init__(self, network: BoxNetwork | None = None, options: EnsembleOptions | None = None) -> None:
        """Use a network (None: the shipped one)."""
        self.network, self.options = network or FigureNetwork(), options
        self.structure = StructureImageDetector()

    def __call__(
        self, views: Sequence[FigureView], panels: Sequence[Sequence[PanelDetection]]
    ) -> list[list[ImageDetection]]:
        """Return the images per figure."""
        structural = self.structure(views, panels)
        seen = self.network(views)
        return [fused_images(v, s, n, self.options) for v, s, n in zip(views, structural, seen, strict=True)]
