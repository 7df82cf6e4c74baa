"""Simple shapes that a PDF draws over embedded bitmaps: the arrows, lines, boxes and ellipses with which authors mark.

Arrows and braces also stand beside a bitmap, so that only their tip, or their opening, meets its edge.

Belongs here: naming the shape of one vector path by its geometry (where it points: `pointers`). Whether a shape marks
something is not decided here (see `detection.structure.vector_marks`), and plots, which are drawn without a bitmap, are
not looked at.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.figures.pointers import (
    THIN,
    Ends,
    Points,
    arrow_ends,
    brace_ends,
    crossing_strokes,
    dart_ends,
    extent,
    has_right_angles,
    is_chevron,
    is_star,
    stroked_arrow_ends,
    triangle_ends,
    without_straight_corners,
)
from pmo_assets.records.figure import ShapeKind
from pmo_assets.records.geometry import Box, Point

MAX_SHAPES: Final = 1000
"""Shapes kept per page and per figure; more are a drawing, or a map, over a picture."""

MAX_SEGMENTS: Final = 64
"""Segments of a path that is looked at in detail; longer ones are outlines or drawings."""

MIN_BITMAP: Final = 20.0
"""Points: sides of a bitmap that is a picture and not an icon or a tile's seam."""

ON_BITMAP: Final = 0.5
"""Part of a shape that lies on a bitmap."""


BESIDE: Final = 0.4
"""Distance from a bitmap, relative to its larger side, within which what points at it lies."""

MAX_BESIDE: Final = 100
"""More lines and heads beside the bitmaps of a page than this are charts."""

MANY_BESIDE: Final = 2000
"""More paths beside the bitmaps of a page than this are not looked at."""

BESIDE_KINDS: Final[frozenset[ShapeKind]] = frozenset({"arrow", "head", "line", "dart", "pointer", "brace"})
"""Kinds of shapes that are kept beside a bitmap."""

MAX_PIECES: Final = 12
"""Pieces of a stroked path that are looked at one by one; more are dashes or a drawing."""

STRAIGHT: Final = 0.01
"""Extent of a line across, relative to its length, at most."""

FAR: Final = 1e6
"""Points: coordinates beyond are no page's."""

RING: Final = 0.85
"""Inner side of an outline, relative to its outer side, at least: strokes of letters are thicker."""


@dataclass(frozen=True, slots=True)
class VectorShape:
    """A shape over a bitmap of the page.

    Attributes:
        kind: see `EmbeddedShape`.
        bbox: points, page as displayed; line width included.
        colour: "#rrggbb" of its filling, or of its line where it has none.
        filled: it has a filling.
        tip: points; see `EmbeddedShape`.
        tail: points; see `EmbeddedShape`.
    """

    kind: ShapeKind
    bbox: Box
    colour: str
    filled: bool
    tip: Point | None = None
    tail: Point | None = None


Move = Callable[[Point], Point]
"""Function from a path's coordinates to points of the page as displayed."""


def _as_is(point: Point) -> Point:
    return point


def shapes_on_bitmaps(
    paths: Sequence[Mapping[str, Any]],
    boxes: NDArray[np.float64],
    bitmaps: Sequence[Box],
    displayed: Move = _as_is,
) -> tuple[VectorShape, ...]:
    """Return the shapes that lie on bitmaps, or point at one from beside, in order of painting, at most `MAX_SHAPES`.

    Args:
        paths: PyMuPDF's drawings.
        boxes: (n, 4) [l, t, r, b] of each path as displayed; not finite where nothing of it is seen.
        bitmaps: boxes of the page's bitmaps.
        displayed: makes points of the page as displayed of those in paths.
    """
    chosen, beside = _places(boxes, bitmaps)
    if beside.sum() > MANY_BESIDE:
        beside[:] = False
    shapes: list[tuple[VectorShape, bool]] = []
    for k in np.flatnonzero(chosen | beside).tolist():
        pieces = _pieces(paths[k])
        if pieces:
            own = np.asarray([_box_of(piece["items"], paths[k], displayed) for piece in pieces])
            whole = list(zip(pieces, own, *_places(own, bitmaps), strict=True))
        else:
            whole = [(dict(paths[k]), boxes[k], chosen[k], beside[k])]
        for path, box, is_on, is_beside in whole:
            if not (is_on or is_beside) or (shape := _shape_of_path(path, box, displayed)) is None:
                continue
            if is_on or shape.kind in BESIDE_KINDS:
                shapes.append((shape, bool(is_on)))
        if sum(is_on for _, is_on in shapes) >= MAX_SHAPES:
            break
    charts = sum(not is_on for _, is_on in shapes) > MAX_BESIDE
    return tuple(shape for shape, is_on in shapes if is_on or not charts)[:MAX_SHAPES]


def _places(boxes: NDArray[np.float64], bitmaps: Sequence[Box]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Say which boxes (n, 4) lie on one of the bitmaps, and which others lie beside one."""
    chosen, beside = np.zeros(len(boxes), dtype=bool), np.zeros(len(boxes), dtype=bool)
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
            air = BESIDE * max(right - left, bottom - top)
            beside |= (boxes[:, :2] >= (left - air, top - air)).all(axis=1) & (
                boxes[:, 2:] <= (right + air, bottom + air)
            ).all(axis=1)
    return chosen, beside & ~chosen


def _pieces(path: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the pieces of a stroked path that hangs together nowhere else, each as a path; empty where it is one.

    Programs write all that has the same pen into one path. A path that is a shape as a whole (crossing strokes, an
    arrow) stays one.
    """
    items = path["items"]
    if "f" in path["type"] or not 2 <= len(items) <= MAX_SEGMENTS or any(item[0] not in ("l", "c") for item in items):
        return []
    starts = [k for k in range(1, len(items)) if math.dist(_point(items[k - 1][-1]), _point(items[k][1])) > 1e-3]
    if not starts or len(starts) >= MAX_PIECES or kind_of_path(items, filled=False) != "curve":
        return []
    parts = [items[a:b] for a, b in pairwise([0, *starts, len(items)])]
    return [{**path, "items": part} for part in parts]


def _box_of(items: Sequence[Sequence[Any]], path: Mapping[str, Any], displayed: Move) -> Box:
    """Return the box of a path's piece on the page as displayed, line width included; a curve's by its controls."""
    points = np.asarray([displayed(_point(value)) for item in items for value in item[1:]], dtype=np.float64)
    half = float(path.get("width") or 0.0) / 2
    (left, top), (right, bottom) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
    return (left - half, top - half, right + half, bottom + half)


def _shape_of_path(path: Mapping[str, Any], box: NDArray[np.float64], displayed: Move) -> VectorShape | None:
    """Return the shape of a path; None when it paints nothing."""
    filled = "f" in path["type"] and path.get("fill") is not None and path.get("fill_opacity") != 0
    stroked = "s" in path["type"] and path.get("color") is not None and path.get("stroke_opacity") != 0
    items = path["items"]
    if not (filled or stroked) or not items:
        return None
    colour = path["fill"] if filled else path["color"]
    name = "#" + "".join(f"{round(255 * min(1.0, max(0.0, float(v)))):02x}" for v in _rgb(colour))
    left, top, right, bottom = box.tolist()
    if filled and not stroked and (ring := ring_of_path(items)) is not None:
        return VectorShape(ring, (left, top, right, bottom), name, False, None, None)
    kind, ends = shape_of_path(items, filled=filled)
    tip, tail = (None, None) if ends is None else (displayed(ends[0]), displayed(ends[1]))
    return VectorShape(kind, (left, top, right, bottom), name, filled, tip, tail)


def _rgb(colour: Sequence[float]) -> Sequence[float]:
    return colour if len(colour) == 3 else (colour[0],) * 3


def shape_of_path(items: Sequence[Sequence[Any]], *, filled: bool) -> tuple[ShapeKind, Ends | None]:
    """Return the kind of shape that a path draws, and its tip and tail (see `EmbeddedShape`) in the path's coordinates.

    Args:
        items: PyMuPDF's segments: ("l", p, q), ("c", p, a, b, q), ("re", rectangle, …) or ("qu", quadrilateral).
        filled: it has a filling.
    """
    other: ShapeKind = "patch" if filled else "curve"
    kinds = [item[0] for item in items]
    if set(kinds) <= {"re", "qu"}:
        if len(items) != 1:
            return other, None
        kind = _kind_of_quadrilateral(items, filled=filled)
        return kind, _ends_of_quadrilateral(items[0]) if kind == "line" else None
    corners = _corners(items)
    if not all(math.isfinite(v) for point in corners for v in point):
        return other, None
    closed = math.dist(corners[0], corners[-1]) < 0.05 * extent(corners)
    open_ends = None if filled or closed else (corners[-1], corners[0])
    if open_ends is not None and (brace := brace_ends(corners)) is not None:
        return "brace", brace
    if not filled and len(items) > 1 and (ends := _dashed_ends(items)) is not None:
        return "line", ends
    if len(items) > MAX_SEGMENTS:
        return other, open_ends
    if "c" not in kinds:
        kind, ends = _polygon(corners, other, filled=filled)
        if ends is not None or kind not in ("curve", "patch"):
            return kind, ends
    elif "l" not in kinds and 4 <= len(items) <= 8 and closed:
        return "ellipse", None
    elif _has_round_corners(items):
        return "rectangle", None
    elif filled and kinds.count("l") >= 2 and len(items) <= 8 and _is_compact(corners):
        # Drawing programs give arrowheads hollow backs: two lines and a few curves.
        return "head", _ends_of_hollow_head(items)
    named = _symbol(items, corners, filled=filled)
    return named if named is not None else (other, open_ends)


def ring_of_path(items: Sequence[Sequence[Any]]) -> ShapeKind | None:
    """Return the shape that a filled path is the outline of, strokes having been made fillings; None for others.

    Such a path goes round once outside and back just inside, so that it encloses little; letters do so, too ("O"), but
    their strokes are thicker.

    Args:
        items: as of `shape_of_path`.
    """
    kinds = {item[0] for item in items}
    if kinds == {"re"} and len(items) == 2:
        outer, inner = sorted(
            ([float(v) for v in item[1][:4]] for item in items), key=lambda r: -abs((r[2] - r[0]) * (r[3] - r[1]))
        )
        inside = all(a <= b for a, b in zip(outer[:2], inner[:2], strict=True)) and all(
            a >= b for a, b in zip(outer[2:], inner[2:], strict=True)
        )
        thin = all(inner[k + 2] - inner[k] >= RING * (outer[k + 2] - outer[k]) > 0 for k in (0, 1))
        return "rectangle" if inside and thin else None
    if "c" not in kinds or not kinds <= {"l", "c"} or not 6 <= len(items) <= MAX_SEGMENTS:
        return None
    points = np.asarray([_point(item[1]) for item in items])
    if not (np.abs(points) < FAR).all():
        return None
    low, high = points.min(axis=0), points.max(axis=0)
    if (high - low).min() <= 0:
        return None
    across, down = ((points - (low + high) / 2) / ((high - low) / 2)).T
    radii, angles = np.hypot(across, down), np.sort(np.arctan2(down, across))
    gaps = np.diff(angles, append=angles[0] + 2 * math.pi)
    enclosed = abs(float(np.dot(across, np.roll(down, -1)) - np.dot(down, np.roll(across, -1)))) / 2
    ring = radii.min() >= RING and gaps.max() <= math.radians(100) and enclosed <= math.pi * (1 - RING**2)
    return "ellipse" if ring else None


def kind_of_path(items: Sequence[Sequence[Any]], *, filled: bool) -> ShapeKind:
    """Return the kind of shape that a path draws; see `shape_of_path`."""
    return shape_of_path(items, filled=filled)[0]


def _symbol(items: Sequence[Sequence[Any]], corners: Points, *, filled: bool) -> tuple[ShapeKind, Ends | None] | None:
    """Return shape and ends of a star, or of an arrow that is drawn with strokes or has further corners."""
    segments = [(_point(item[1]), _point(item[-1])) for item in items if item[0] in ("l", "c")]
    straight = all(item[0] == "l" for item in items)
    if straight and not filled and crossing_strokes(segments):
        return "star", None
    if straight:
        if is_star(corners):
            return "star", None
        simple = without_straight_corners(corners)
        shorter = [simple, *(simple[:k] + simple[k + 1 :] for k in range(len(simple)) if len(simple) == 8)]
        ends = next((ends for polygon in shorter if (ends := arrow_ends(polygon)) is not None), None)
        if ends is not None and (filled or math.dist(corners[0], corners[-1]) < 0.05 * extent(corners)):
            return "pointer", ends
    ends = stroked_arrow_ends(segments)
    return None if ends is None else ("pointer", ends)


def _ends_of_quadrilateral(item: Sequence[Any]) -> Ends:
    """Return the middles of the two short sides of a rectangle or quadrilateral."""
    shape = item[1]
    if item[0] == "re":
        left, top, right, bottom = (float(v) for v in shape[:4])
        corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
    else:  # upper left, upper right, lower left, lower right
        corners = [_point(shape[k]) for k in (0, 1, 3, 2)]
    if math.dist(corners[0], corners[1]) < math.dist(corners[1], corners[2]):
        corners = corners[1:] + corners[:1]
    return _middle(corners[1], corners[2]), _middle(corners[3], corners[0])


def _ends_of_hollow_head(items: Sequence[Sequence[Any]]) -> Ends | None:
    """Return the corner between two straight sides, and the middle of their other ends; None where there is none."""
    for one, other in zip(items, [*items[1:], items[0]], strict=True):
        if one[0] == other[0] == "l":
            tip, first, last = _point(one[-1]), _point(one[1]), _point(other[-1])
            lengths = sorted((math.dist(tip, first), math.dist(tip, last)))
            if math.dist(tip, _point(other[1])) < 1e-3 * max(lengths[1], 1e-9) and lengths[0] >= 0.75 * lengths[1]:
                return tip, _middle(first, last)
    return None


def _point(value: Sequence[Any]) -> Point:
    return (float(value[0]), float(value[1]))


def _middle(a: Point, b: Point) -> Point:
    return ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)


def _kind_of_quadrilateral(items: Sequence[Sequence[Any]], *, filled: bool) -> ShapeKind:
    shape = items[0][1]
    if items[0][0] == "re":
        sides = sorted((abs(shape[2] - shape[0]), abs(shape[3] - shape[1])))
    else:
        sides = sorted((math.dist(shape[0], shape[1]), math.dist(shape[0], shape[2])))
    return "line" if filled and sides[0] <= THIN * sides[1] else "rectangle"


def _polygon(corners: Points, other: ShapeKind, *, filled: bool) -> tuple[ShapeKind, Ends | None]:
    """Return the kind of a path of straight sides, and its ends."""
    closed = len(corners) > 2 and (filled or math.dist(corners[0], corners[-1]) < 1e-3 * extent(corners))
    if closed and math.dist(corners[0], corners[-1]) < 1e-3 * extent(corners):
        corners = corners[:-1]
    count = len(corners)
    if count <= 2:
        return "line", (corners[-1], corners[0])
    if count == 3:
        if closed:
            return "head", triangle_ends(corners)
        return ("head", (corners[1], _middle(corners[0], corners[2]))) if is_chevron(corners) else (other, None)
    if count == 4 and closed:
        sides = sorted((math.dist(corners[0], corners[1]), math.dist(corners[1], corners[2])))
        if filled and sides[0] <= THIN * sides[1]:
            return "line", _ends_of_quadrilateral(("qu", [corners[k] for k in (0, 1, 3, 2)]))
        straight = all(min(abs(a[0] - b[0]), abs(a[1] - b[1])) <= 0.02 * extent(corners) for a, b in pairwise(corners))
        if straight or has_right_angles(corners):
            return "rectangle", None
        ends = dart_ends(corners)
        return (other, None) if ends is None else ("dart", ends)
    ends = arrow_ends(corners) if closed else None
    return (other, None) if ends is None else ("arrow", ends)


def _corners(items: Sequence[Sequence[Any]]) -> Points:
    """Return the ends of the segments in order, equal neighbours once."""
    corners: Points = []
    for item in items:
        if item[0] not in ("l", "c"):
            continue
        for point in (item[1], item[-1]):
            place = _point(point)
            if not corners or math.dist(place, corners[-1]) > 1e-6:
                corners.append(place)
    return corners or [(0.0, 0.0)]


def _dashed_ends(items: Sequence[Sequence[Any]]) -> Ends | None:
    """Return the ends of a straight line of several pieces, dashes or parts; None of other paths."""
    if any(item[0] != "l" for item in items):
        return None
    points = np.asarray([_point(value) for item in items for value in item[1:3]])
    if not (np.abs(points) < FAR).all():
        return None
    middle = points.mean(axis=0)
    _, spread, axes = np.linalg.svd(points - middle, full_matrices=False)
    along, across = (points - middle) @ axes[0], (points - middle) @ axes[1]
    if spread[0] <= 0 or np.ptp(across) > STRAIGHT * np.ptp(along):
        return None
    first, last = points[int(np.argmin(along))].tolist(), points[int(np.argmax(along))].tolist()
    return (last[0], last[1]), (first[0], first[1])


def _has_round_corners(items: Sequence[Sequence[Any]]) -> bool:
    """Say whether four straight sides, along the axes, and curves between them are a box with round corners."""
    sides = [(_point(item[1]), _point(item[-1])) for item in items if item[0] == "l"]
    sides = [(a, b) for a, b in sides if math.dist(a, b) > 0]
    if len(sides) != 4 or len(items) > 13:
        return False
    level = [abs(a[1] - b[1]) <= 0.02 * math.dist(a, b) for a, b in sides]
    upright = [abs(a[0] - b[0]) <= 0.02 * math.dist(a, b) for a, b in sides]
    return sum(level) == 2 and sum(upright) == 2


def _is_compact(corners: Points) -> bool:
    """Say whether corners do not lie on a line: the narrow extent is at least a quarter of the wide one."""
    points = np.asarray(corners) - np.mean(corners, axis=0)
    spread = np.linalg.svd(points, compute_uv=False)
    return bool(len(spread) == 2 and spread[1] >= 0.25 * spread[0])
