"""Simple shapes that a PDF draws over embedded bitmaps: the arrows, lines, boxes and ellipses with which authors mark.

Belongs here: naming the shape of one vector path by its geometry. Whether a shape marks something is not decided here
(see `detection.structure.vector_marks`), and plots, which are drawn without a bitmap, are not looked at.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.records.figure import ShapeKind
from pmo_assets.records.geometry import Box

MAX_SHAPES: Final = 1000
"""Shapes kept per page and per figure; more are a drawing, or a map, over a picture."""

MAX_SEGMENTS: Final = 64
"""Segments of a path that is looked at in detail; longer ones are outlines or drawings."""

MIN_BITMAP: Final = 20.0
"""Points: sides of a bitmap that is a picture and not an icon or a tile's seam."""

ON_BITMAP: Final = 0.5
"""Part of a shape that lies on a bitmap."""

THIN: Final = 0.15
"""Width of a filled quadrilateral, relative to its length, up to which it is a line."""

Points = list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class VectorShape:
    """A shape over a bitmap of the page.

    Attributes:
        kind: see `EmbeddedShape`.
        bbox: points, page as displayed; line width included.
        colour: "#rrggbb" of its filling, or of its line where it has none.
        filled: it has a filling.
    """

    kind: ShapeKind
    bbox: Box
    colour: str
    filled: bool


def shapes_on_bitmaps(
    paths: Sequence[Mapping[str, Any]], boxes: NDArray[np.float64], bitmaps: Sequence[Box]
) -> tuple[VectorShape, ...]:
    """Return the shapes that lie on bitmaps, in the order of painting, at most `MAX_SHAPES`.

    Args:
        paths: PyMuPDF's drawings.
        boxes: (n, 4) [l, t, r, b] of each path as displayed; not finite where nothing of it is seen.
        bitmaps: boxes of the page's bitmaps.
    """
    chosen = np.zeros(len(paths), dtype=bool)
    wide, tall = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    for left, top, right, bottom in bitmaps:
        if min(right - left, bottom - top) < MIN_BITMAP:
            continue
        # Of a line without width, the part of its length counts.
        across = np.minimum(boxes[:, 2], right) - np.maximum(boxes[:, 0], left)
        down = np.minimum(boxes[:, 3], bottom) - np.maximum(boxes[:, 1], top)
        with np.errstate(invalid="ignore"):
            inside = (across >= 0) & (down >= 0)
            share = np.where(wide > 0, across / np.maximum(wide, 1e-9), 1) * np.where(
                tall > 0, down / np.maximum(tall, 1e-9), 1
            )
            chosen |= inside & (share >= ON_BITMAP)
    shapes = []
    for k in np.flatnonzero(chosen).tolist():
        shape = _shape_of_path(paths[k], boxes[k])
        if shape is not None:
            shapes.append(shape)
            if len(shapes) == MAX_SHAPES:
                break
    return tuple(shapes)


def _shape_of_path(path: Mapping[str, Any], box: NDArray[np.float64]) -> VectorShape | None:
    """Return the shape of a path; None when it paints nothing."""
    filled = "f" in path["type"] and path.get("fill") is not None and path.get("fill_opacity") != 0
    stroked = "s" in path["type"] and path.get("color") is not None and path.get("stroke_opacity") != 0
    items = path["items"]
    if not (filled or stroked) or not items:
        return None
    colour = path["fill"] if filled else path["color"]
    name = "#" + "".join(f"{round(255 * min(1.0, max(0.0, float(v)))):02x}" for v in _rgb(colour))
    left, top, right, bottom = box.tolist()
    return VectorShape(kind_of_path(items, filled=filled), (left, top, right, bottom), name, filled)


def _rgb(colour: Sequence[float]) -> Sequence[float]:
    return colour if len(colour) == 3 else (colour[0],) * 3


def kind_of_path(items: Sequence[Sequence[Any]], *, filled: bool) -> ShapeKind:
    """Return the kind of shape that a path draws.

    Args:
        items: PyMuPDF's segments: ("l", p, q), ("c", p, a, b, q), ("re", rectangle, …) or ("qu", quadrilateral).
        filled: it has a filling.
    """
    other: ShapeKind = "patch" if filled else "curve"
    if len(items) > MAX_SEGMENTS:
        return other
    kinds = [item[0] for item in items]
    if set(kinds) <= {"re", "qu"}:
        return _kind_of_quadrilateral(items, filled=filled) if len(items) == 1 else other
    corners = _corners(items)
    if not all(math.isfinite(v) for point in corners for v in point):
        return other
    if "c" not in kinds:
        return _kind_of_polygon(corners, other, filled=filled)
    closed = math.dist(corners[0], corners[-1]) < 0.05 * _extent(corners)
    if "l" not in kinds and 4 <= len(items) <= 8 and closed:
        return "ellipse"
    # Drawing programs give arrowheads hollow backs: two lines and a few curves.
    return "head" if filled and kinds.count("l") >= 2 and len(items) <= 8 and _is_compact(corners) else other


def _kind_of_quadrilateral(items: Sequence[Sequence[Any]], *, filled: bool) -> ShapeKind:
    shape = items[0][1]
    if items[0][0] == "re":
        sides = sorted((abs(shape[2] - shape[0]), abs(shape[3] - shape[1])))
    else:
        sides = sorted((math.dist(shape[0], shape[1]), math.dist(shape[0], shape[2])))
    return "line" if filled and sides[0] <= THIN * sides[1] else "rectangle"


def _kind_of_polygon(corners: Points, other: ShapeKind, *, filled: bool) -> ShapeKind:
    closed = len(corners) > 2 and (filled or math.dist(corners[0], corners[-1]) < 1e-3 * _extent(corners))
    if closed and math.dist(corners[0], corners[-1]) < 1e-3 * _extent(corners):
        corners = corners[:-1]
    count = len(corners)
    if count <= 2:
        return "line"
    if count == 3:
        return "head" if closed or _is_chevron(corners) else other
    if count == 4 and closed:
        sides = sorted((math.dist(corners[0], corners[1]), math.dist(corners[1], corners[2])))
        if filled and sides[0] <= THIN * sides[1]:
            return "line"
        straight = all(min(abs(a[0] - b[0]), abs(a[1] - b[1])) <= 0.02 * _extent(corners) for a, b in pairwise(corners))
        return "rectangle" if straight else other
    return "arrow" if closed and is_arrow(corners) else other


def _corners(items: Sequence[Sequence[Any]]) -> Points:
    """Return the ends of the segments in order, equal neighbours once."""
    corners: Points = []
    for item in items:
        if item[0] not in ("l", "c"):
            continue
        for point in (item[1], item[-1]):
            place = (float(point[0]), float(point[1]))
            if not corners or math.dist(place, corners[-1]) > 1e-6:
                corners.append(place)
    return corners or [(0.0, 0.0)]


def _extent(corners: Points) -> float:
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return max(max(xs) - min(xs), max(ys) - min(ys), 1e-9)


def _is_compact(corners: Points) -> bool:
    """Say whether corners do not lie on a line: the narrow extent is at least a quarter of the wide one."""
    points = np.asarray(corners) - np.mean(corners, axis=0)
    spread = np.linalg.svd(points, compute_uv=False)
    return bool(len(spread) == 2 and spread[1] >= 0.25 * spread[0])


def _is_chevron(corners: Points) -> bool:
    """Say whether two strokes form an open arrowhead: alike in length, at an acute angle."""
    first, tip, last = (np.asarray(point) for point in corners)
    one, two = first - tip, last - tip
    lengths = sorted((float(np.hypot(*one)), float(np.hypot(*two))))
    return lengths[0] >= 0.75 * lengths[1] and float(one @ two) > 0.0


def is_arrow(corners: Points) -> bool:
    """Say whether a polygon of 7 corners is an arrow: symmetric about the line through its tip, the tip farthest out.

    The two corners beside the tip are the head's, and stand out from the shaft behind them.
    """
    if len(corners) != 7:
        return False
    points = np.asarray(corners)
    for tip in range(7):
        order = [points[(tip + k) % 7] for k in range(7)]
        pairs = [(order[k], order[7 - k]) for k in (1, 2, 3)]
        foot = (pairs[2][0] + pairs[2][1]) / 2
        axis = foot - order[0]
        length = float(np.hypot(*axis))
        if length < 1e-6:
            continue
        along = np.asarray([((a + b) / 2 - order[0]) @ axis / length for a, b in pairs])
        across = np.asarray([abs((a - b) @ np.asarray([-axis[1], axis[0]])) / length for a, b in pairs])
        skew = max(abs(float((a - b) @ axis)) / length for a, b in pairs)
        if skew > 0.08 * length or across[0] < 1.3 * max(across[1], across[2]) or along.min() < 0.05 * length:
            continue
        if along[0] <= 0.9 * length and along[1] <= 0.95 * length and across[1] <= 2 * max(across[2], 1e-6) + 1e-6:
            return True
    return False
