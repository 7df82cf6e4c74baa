"""Marks among the vector shapes that a PDF draws over a picture, or beside it: exact evidence, no pixels asked.

The choice follows the annotation guide: arrows, arrowheads, boxes, circles, outlines and leader lines are marks; the
picture's own frame, scale bars, tick marks, patches under text and letters' outlines are none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from pmo_assets.pipeline.detection.protocols import VectorEvidence
from pmo_assets.pipeline.detection.structure.shapes_beside import shapes_beside
from pmo_assets.records.detections import FigureView
from pmo_assets.records.figure import EmbeddedShape, EmbeddedText, ShapeKind
from pmo_assets.records.geometry import Box, centre, covered_fraction, expand, height, intersection, iou, width

ON_PICTURE: Final = 0.6
"""Part of an image that a bitmap must fill for its shapes to be drawn over a picture: plots have none beneath them."""

MANY: Final = 40
"""More shapes of one kind than this are data, a map or a drawing."""

POINTER_SIZES: Final = (0.004, 0.45)
"""Extent of arrows and arrowheads, relative to the image's larger side."""

REGION_SIZES: Final = (0.02, 0.9)
"""Extent of boxes, ellipses and outlines."""

EDGE: Final = 0.015
"""A box whose edges lie within this part of the image's edges on three sides is its frame or a division of it."""

BORDER: Final = 0.12
"""Straight lines within this part of an edge are ticks and scale bars."""

LENGTH: Final = re.compile(r"\d\s*(?:[µμu]m|mm|cm|nm|°|deg)\b|\d\s*°", re.IGNORECASE)


LONE: Final = (8, 4)
"""Shapes over a picture of paper, and live texts on it, up to which they are no drawing: a chart has more of both."""

LONE_KINDS: Final[frozenset[ShapeKind]] = frozenset({"arrow", "head", "ellipse"})
"""Kinds of shapes that are marks on a picture of paper."""

AT_PICTURE: Final = 0.005
"""Part of the figure within which the end of a line meets another picture's edge."""

RIM: Final = 0.6
"""IoU of an arrow with itself, its rim or its shadow, at least."""

Role = Literal["mark", "line", "symbol", "none"]
"""Part that a shape plays over an image: a mark; a line that may lead to something; an arrow, arrowhead or star that
the fitted decision of mark status does not know; none."""


@dataclass(frozen=True, slots=True)
class PlacedShape:
    """A shape in its image.

    Attributes:
        shape: of the figure.
        box: in fractions of the image.
        extent: relative to the image's larger side.
        role: see `Role`.
    """

    shape: EmbeddedShape
    box: Box
    extent: float
    role: Role = "none"


def vector_evidence(view: FigureView, image: Box) -> VectorEvidence:
    """Return the evidence of the vector shapes over an image (its box in the figure)."""
    placed = placed_shapes(view, image)
    roles = {item.role for item in placed}
    if "mark" in roles:
        return "lone mark" if is_lone(placed, view, image) else "mark"
    return "line" if "line" in roles else "none"


def is_lone(placed: Sequence[PlacedShape], view: FigureView, image: Box) -> bool:
    """Say whether so few shapes and live texts lie on an image that they are no drawing, whatever it looks like.

    On paper only arrows and ellipses are marks even so: boxes and lines also frame a legend or underline.
    """
    if any(item.role == "mark" and item.shape.kind not in LONE_KINDS for item in placed):
        return False
    texts = sum(covered_fraction(text.box, image) >= 0.5 for text in view.texts)
    over = sum(_lies_in(item.shape.box, image) for item in placed)
    return 0 < over <= LONE[0] and texts <= LONE[1]


def placed_shapes(view: FigureView, image: Box) -> list[PlacedShape]:
    """Return the vector shapes over an image, in the order of painting, each with its role; then those beside it.

    None where no bitmaps fill the image: shapes are its drawing then. Tiles of one picture are several bitmaps.
    """
    if not view.shapes or sum(covered_fraction(image, bitmap.box) for bitmap in view.bitmaps) < ON_PICTURE:
        return []
    tall, wide = view.pixels.shape[0] * height(image), view.pixels.shape[1] * width(image)
    if min(tall, wide) <= 0:
        return []
    sides = (wide / max(tall, wide), tall / max(tall, wide))
    placed = [item for shape in view.shapes if (item := _placed(shape, image, sides)) is not None]
    counts = Counter(_plain_kind(item.shape) for item in placed)
    data = {kind for kind in _COUNTED if counts[kind] > MANY}
    sensible = [item for item in placed if _plain_kind(item.shape) not in data]
    glyphs = _in_rows([item for item in sensible if item.shape.filled])
    known = {id(item) for item in sensible} - glyphs
    scaled = any(_is_near(text, image) and LENGTH.search(text.text) for text in view.texts)
    few_lines = counts["line"] <= MANY

    others = [bitmap.box for bitmap in view.bitmaps if covered_fraction(bitmap.box, image) < 0.5]

    def role(item: PlacedShape) -> Role:
        if item.shape.kind == "line":
            is_ground = item.shape.filled and any(covered_fraction(t.box, item.shape.box) >= 0.5 for t in view.texts)
            is_none = is_ground or _calls_out(item.shape, others)
            return "line" if few_lines and not is_none and _is_leader(item, scaled=scaled) else "none"
        if id(item) not in known:
            return "none"
        return "mark" if _is_mark(item) else "symbol" if _is_symbol(item) else "none"

    over = [replace(item, role=role(item)) for item in placed]
    heads = [item.shape for item in over if item.shape.kind in ("head", "dart") and item.role != "none"]
    beside = shapes_beside(view, image, [item.shape for item in over], heads)[:MANY]
    return [*over, *(replace(_in_image(shape, image, sides), role=role) for shape, role in beside)]


_COUNTED: Final = ("head", "arrow", "rectangle", "curve")


def _plain_kind(shape: EmbeddedShape) -> ShapeKind:
    """Return the kind of a shape as far as the decision of mark status was fitted to it."""
    if shape.kind in ("dart", "pointer", "star", "brace"):
        return "patch" if shape.filled else "curve"
    return shape.kind


def _is_near(text: EmbeddedText, image: Box) -> bool:
    return covered_fraction(text.box, expand(image, 0.02)) > 0


def _placed(shape: EmbeddedShape, image: Box, sides: tuple[float, float]) -> PlacedShape | None:
    """Return a shape of which the larger part lies in an image; None for others.

    Args:
        shape: of the figure.
        image: its box in the figure.
        sides: width and height of the image in pixels, relative to the larger of them.
    """
    return _in_image(shape, image, sides) if _lies_in(shape.box, image) else None


def _lies_in(box: Box, image: Box) -> bool:
    """Say whether the larger part of a shape's box lies in an image."""
    x, y = centre(box)
    if not (image[0] <= x <= image[2] and image[1] <= y <= image[3]):
        return False  # less than half of it lies there; most shapes of a figure end here
    return covered_fraction(expand(box, 1e-4), image) >= 0.5


def _in_image(shape: EmbeddedShape, image: Box, sides: tuple[float, float]) -> PlacedShape:
    """Return a shape with its box in the image; see `_placed`."""
    box = expand(shape.box, 1e-4)
    wide, tall = width(image), height(image)
    inside = (
        (box[0] - image[0]) / wide, (box[1] - image[1]) / tall, (box[2] - image[0]) / wide, (box[3] - image[1]) / tall,
    )  # fmt: skip
    extent = max((inside[2] - inside[0]) * sides[0], (inside[3] - inside[1]) * sides[1])
    return PlacedShape(shape, inside, extent)


def _is_mark(item: PlacedShape) -> bool:
    """Say whether a shape points at a region or surrounds one."""
    kind = _plain_kind(item.shape)
    if kind in ("arrow", "head"):
        return POINTER_SIZES[0] <= item.extent <= POINTER_SIZES[1]
    if item.shape.filled or kind not in ("rectangle", "ellipse", "curve"):
        return False
    return surrounds(item.box, item.extent)


def _is_symbol(item: PlacedShape) -> bool:
    return item.shape.kind in ("dart", "pointer", "star") and POINTER_SIZES[0] <= item.extent <= POINTER_SIZES[1]


def surrounds(box: Box, extent: float) -> bool:
    """Say whether a box or outline of this extent surrounds a region of its image, and is not the image's frame.

    Args:
        box: in fractions of the image.
        extent: relative to the image's larger side.
    """
    return REGION_SIZES[0] <= extent <= REGION_SIZES[1] and not _is_frame(box)


def _is_frame(box: Box) -> bool:
    """Say whether a box, in fractions of its image, follows the image's edges on three sides or fills it."""
    at_edges = sum((box[0] < EDGE, box[1] < EDGE, box[2] > 1 - EDGE, box[3] > 1 - EDGE))
    return at_edges >= 3 or width(intersection(box, (0, 0, 1, 1))) * height(intersection(box, (0, 0, 1, 1))) > 0.8


def _is_leader(item: PlacedShape, *, scaled: bool) -> bool:
    """Say whether a straight line may lead to something: oblique, or well inside a picture without a printed length."""
    across, down = width(item.box), height(item.box)
    if not 0.02 <= item.extent <= 0.9:
        return False
    if min(across, down) >= 0.2 * max(across, down) and min(across, down) >= 0.01:
        return True
    x, y = centre(item.box)
    return not scaled and item.extent <= 0.4 and min(x, 1 - x, y, 1 - y) > BORDER


def _calls_out(line: EmbeddedShape, others: Sequence[Box]) -> bool:
    """Say whether a line ends at another picture: it joins a place with its enlargement."""
    ends = [end for end in (line.tip, line.tail) if end is not None]
    return any(
        b[0] <= x <= b[2] and b[1] <= y <= b[3] for b in (expand(box, AT_PICTURE) for box in others) for x, y in ends
    )


def _in_rows(filled: Sequence[PlacedShape]) -> set[int]:
    """Return the ids of filled shapes that stand in rows of three and more like letters: alike high, close together.

    Arrows with a shaft are no letters, nor is what lies upon one: its rim or its shadow.
    """
    arrows = [item.box for item in filled if item.shape.kind == "arrow"]
    filled = [item for item in filled if not any(iou(item.box, arrow) >= RIM for arrow in arrows)]
    if len(filled) < 3:
        return set()
    boxes = np.asarray([item.box for item in filled])
    tall = np.maximum(boxes[:, 3] - boxes[:, 1], 1e-6)
    middle = (boxes[:, 1] + boxes[:, 3]) / 2
    level = np.abs(middle[:, None] - middle) < 0.6 * np.minimum(tall[:, None], tall)
    alike = np.maximum(tall[:, None], tall) < 2 * np.minimum(tall[:, None], tall)
    gaps = np.maximum(boxes[:, None, 0] - boxes[:, 2], boxes[:, 0] - boxes[:, None, 2])
    beside = level & alike & (gaps < 1.2 * np.minimum(tall[:, None], tall))
    found: set[int] = set()
    left = set(range(len(filled)))
    while left:
        row, edge = set(), {left.pop()}
        while edge:
            row |= edge
            edge = {k for k in left if any(beside[k, other] for other in edge)}
            left -= edge
        if len(row) >= 3:
            found |= {id(filled[k]) for k in row}
    return found
