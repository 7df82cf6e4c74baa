"""Arrows and braces that stand beside an image, and point at its edge or into it.

Add here: what tells them from the arrows of a flow chart, from axes and from what belongs to another picture. Keep out:
shapes over the image (`vector_marks`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pmo_assets.records.detections import FigureView
from pmo_assets.records.figure import EmbeddedShape
from pmo_assets.records.geometry import Box, Point, centre, covered_fraction, height, width

MEETING: Final = 0.025
"""Distance from an image's edge, relative to its larger side, within which what stands beside it meets it."""

LONGEST: Final = 0.4
"""Length of an arrow beside an image, relative to its larger side, at most: longer ones join pictures."""

WORD_GAP: Final = 1.5
"""Gap between the tail of what stands beside an image and its name, relative to the name's height."""

AT_SHAFT: Final = 0.75
"""Distance from a shaft's end to the middle of its head, relative to the head's extent, up to which they meet."""

BesideRole = Literal["line", "mark"]
"""Part that a shape plays beside an image: the shaft of an arrow; its head, a whole arrow, or a brace."""


@dataclass(frozen=True, slots=True)
class _Edge:
    """An image in its figure, as what stands beside it sees it.

    Attributes:
        image: box in the figure.
        sides: (width, height) of the figure, pixels.
        names: boxes of live texts beside the image.
        others: boxes of other bitmaps.
    """

    image: Box
    sides: tuple[float, float]
    names: Sequence[Box]
    others: Sequence[Box]

    @property
    def scale(self) -> float:
        """Pixels of the image's larger side."""
        return max(width(self.image) * self.sides[0], height(self.image) * self.sides[1])

    def length(self, a: Point, b: Point) -> float:
        """Return the distance of two points, pixels."""
        return math.hypot((a[0] - b[0]) * self.sides[0], (a[1] - b[1]) * self.sides[1])

    def gap(self, point: Point, box: Box) -> float:
        """Return the distance of a point from a box, pixels; 0 within."""
        return self.length(point, (min(max(point[0], box[0]), box[2]), min(max(point[1], box[1]), box[3])))

    def away(self, point: Point) -> float:
        """Return the distance of a point from the image, relative to its larger side."""
        return self.gap(point, self.image) / self.scale

    def is_named(self, tail: Point) -> bool:
        """Say whether a name stands at a tail."""
        return any(self.gap(tail, name) <= WORD_GAP * height(name) * self.sides[1] for name in self.names)

    def is_pointed_at(self, tip: Point, tail: Point) -> bool:
        """Say whether an arrow with these ends points at the image from beside it."""
        if self.away(tip) > MEETING or self.away(tail) <= MEETING or self.length(tip, tail) > LONGEST * self.scale:
            return False
        return self.is_named(tail) and not any(self.gap(tail, other) == 0 for other in self.others)

    def is_opened_to(self, point: Point, opening: Point) -> bool:
        """Say whether a brace with this point and this middle of its opening holds a part of the image's edge."""
        return self.away(opening) <= MEETING < self.away(point) and self.is_named(point)


def shapes_beside(
    view: FigureView, image: Box, over: Sequence[EmbeddedShape], heads: Sequence[EmbeddedShape]
) -> list[tuple[EmbeddedShape, BesideRole]]:
    """Return the arrows and braces beside an image that point at it, of arrows shaft and head.

    An arrow's tip meets the image's edge or lies within; its tail lies outside, beside a name, and on no other picture:
    arrows between pictures show an order. A brace opens towards the edge and has a name at its point.

    Args:
        view: of the figure.
        image: its box in the figure.
        over: shapes over the image, which are none of these.
        heads: those among them that may be the head of a shaft beside the image.
    """
    tall, wide = view.pixels.shape[:2]
    names = [text.box for text in view.texts if covered_fraction(text.box, image) < 0.5]
    others = [bitmap.box for bitmap in view.bitmaps if covered_fraction(bitmap.box, image) < 0.5]
    edge = _Edge(image, (float(wide), float(tall)), names, others)
    known = {id(shape) for shape in over}
    free = [shape for shape in view.shapes if id(shape) not in known]
    heads = [*heads, *(shape for shape in free if shape.kind in ("head", "dart"))]
    found: list[tuple[EmbeddedShape, BesideRole]] = []
    for shape in free:
        if shape.tip is None or shape.tail is None:
            continue
        if shape.kind == "line":
            tip, tail = sorted((shape.tip, shape.tail), key=edge.away)
            head = _head_at(tip, heads, edge) if edge.is_pointed_at(tip, tail) else None
            if head is not None:
                found.append((shape, "line"))
                if id(head) not in known:
                    known.add(id(head))
                    found.append((head, "mark"))
        elif (shape.kind in ("arrow", "pointer") and edge.is_pointed_at(shape.tip, shape.tail)) or (
            shape.kind == "brace" and edge.is_opened_to(shape.tip, shape.tail)
        ):
            found.append((shape, "mark"))
    return found


def _head_at(tip: Point, heads: Sequence[EmbeddedShape], edge: _Edge) -> EmbeddedShape | None:
    """Return a head at the end of a shaft; None without one."""
    for head in heads:
        if edge.length(tip, centre(head.box)) <= AT_SHAFT * edge.length(head.box[:2], head.box[2:]):
            return head
    return None
