"""Geometry of arrows and their kin: where a triangle, a chevron, a polygon, strokes or a brace point; what is a star.

Add here: rules on corners and segments alone. Keep out: how a PDF writes paths (`vector_shapes`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Final

import numpy as np

from pmo_assets.records.geometry import Point

THIN: Final = 0.15
"""Width of a filled quadrilateral, relative to its length, up to which it is a line."""

ALIKE: Final = 0.85
"""Ratio from which two sides of a head are of the same length."""

MAX_STROKES: Final = 12
"""Segments of an arrow that is drawn with strokes; more are a drawing."""

MEETING: Final = 0.04
"""Distance, relative to the extent, up to which ends of strokes meet: programs end shafts a little before the tip."""

BRACE_DEPTHS: Final = (0.02, 2.5)
"""Depth of a brace, relative to its length: those of two lines of text are deeper than long."""

BRACKET_DEPTH: Final = 0.4
"""Depth of a square bracket, relative to its length, at most: deeper ones are three sides of a box."""

MIRRORED: Final = 0.03
"""Part of a brace's length or depth by which its halves may differ."""

Points = list[Point]

Ends = tuple[Point, Point]
"""Tip and tail."""

Segment = tuple[Point, Point]


def extent(corners: Sequence[Point]) -> float:
    """Return the larger side of the box around points, never 0."""
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return max(max(xs) - min(xs), max(ys) - min(ys), 1e-9)


def _middle(a: Point, b: Point) -> Point:
    return ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)


def _alike(a: float, b: float, least: float = ALIKE) -> bool:
    return min(a, b) >= least * max(a, b)


def _cosine(at: Point, one: Point, other: Point) -> float:
    """Return the cosine of the angle at a point between the ways to two others; 1 where one is the point itself."""
    first, second = (one[0] - at[0], one[1] - at[1]), (other[0] - at[0], other[1] - at[1])
    lengths = math.hypot(*first) * math.hypot(*second)
    return (first[0] * second[0] + first[1] * second[1]) / lengths if lengths > 0 else 1.0


def triangle_ends(corners: Sequence[Point]) -> Ends | None:
    """Return tip and middle of the base of a triangle with two equal sides; None where three are, or none."""
    sides = [math.dist(corners[(k + 1) % 3], corners[(k + 2) % 3]) for k in range(3)]  # opposite to corner k
    if min(sides) >= 0.92 * max(sides):
        return None
    tip = max(range(3), key=lambda k: min(sides[k - 1], sides[k - 2]) / max(sides[k - 1], sides[k - 2], 1e-9))
    one, other = (tip + 1) % 3, (tip + 2) % 3
    return (corners[tip], _middle(corners[one], corners[other])) if _alike(sides[one], sides[other]) else None


def is_chevron(corners: Sequence[Point]) -> bool:
    """Say whether two strokes form an open arrowhead: alike in length, at an acute angle."""
    first, tip, last = corners
    return _alike(math.dist(first, tip), math.dist(last, tip), 0.75) and _cosine(tip, first, last) > 0.0


def has_right_angles(corners: Sequence[Point]) -> bool:
    """Say whether four corners are a rectangle, however it is turned."""
    return all(abs(_cosine(corners[k], corners[k - 1], corners[(k + 1) % 4])) < 0.05 for k in range(4))


def dart_ends(corners: Sequence[Point]) -> Ends | None:
    """Return tip and notch of an arrowhead with a notch in its back: four corners, one of which points inwards."""
    for notch in range(4):
        tip, one, other = (corners[(notch + k) % 4] for k in (2, 1, 3))
        back = corners[notch]
        if not _alike(math.dist(tip, one), math.dist(tip, other)):
            continue
        if not _alike(math.dist(back, one), math.dist(back, other), 0.75):
            continue
        base = math.dist(tip, _middle(one, other))
        inwards = base - math.dist(tip, back)
        if 0.08 * base <= inwards <= 0.8 * base and _cosine(tip, one, other) > -0.2 and _cosine(tip, back, one) > 0.3:
            return tip, back
    return None


def arrow_ends(corners: Sequence[Point]) -> Ends | None:
    """Return tip and middle of the shaft's end of a polygon of 7 corners that is an arrow; None of others.

    An arrow is symmetric about the line through its tip, which lies farthest out. The two corners beside the tip are
    the head's, and stand out from the shaft behind them.
    """
    if len(corners) != 7:
        return None
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
            return corners[tip], (float(foot[0]), float(foot[1]))
    return None


def is_arrow(corners: Sequence[Point]) -> bool:
    """Say whether a polygon is an arrow of 7 corners; see `arrow_ends`."""
    return arrow_ends(corners) is not None


def without_straight_corners(corners: Sequence[Point]) -> Points:
    """Return a closed polygon's corners without those at which it goes straight on, and the last where it is the first.

    Drawing programs leave corners on straight sides. At most 24 corners are looked at: more are no arrow.
    """
    points = list(corners)
    if len(points) > 1 and math.dist(points[0], points[-1]) < 1e-3 * extent(points):
        points.pop()
    if not 4 <= len(points) <= 24:
        return points
    return [
        point
        for k, point in enumerate(points)
        if _cosine(point, points[k - 1], points[(k + 1) % len(points)]) > math.cos(math.radians(176))
    ]


def is_star(corners: Sequence[Point]) -> bool:
    """Say whether a polygon is a star of 4 to 8 points: its corners lie in turn far from the middle and near to it."""
    points = np.asarray(corners, dtype=np.float64)
    if len(points) > 1 and float(np.hypot(*(points[0] - points[-1]))) < 1e-3 * extent(corners):
        points = points[:-1]
    if len(points) not in (8, 10, 12, 14, 16):
        return False
    far = np.hypot(*(points - points.mean(axis=0)).T)
    outer, inner = sorted((far[::2], far[1::2]), key=lambda radii: -float(radii.mean()))
    even = all(float(np.ptp(radii)) <= 0.2 * float(radii.mean()) for radii in (outer, inner))
    return even and float(inner.mean()) <= 0.75 * float(outer.mean())


def crossing_strokes(segments: Sequence[Segment]) -> bool:
    """Say whether two to four strokes of the same length cross in their middles, as in a plus or an asterisk."""
    if not 2 <= len(segments) <= 4:
        return False
    lengths = [math.dist(a, b) for a, b in segments]
    middles = [_middle(a, b) for a, b in segments]
    together = all(math.dist(middles[0], middle) <= 0.08 * max(lengths) for middle in middles)
    ways = [math.atan2(b[1] - a[1], b[0] - a[0]) % math.pi for a, b in segments]
    apart = all(abs(math.sin(one - other)) > 0.4 for one, other in combinations(ways, 2))
    return together and apart and min(lengths) >= 0.75 * max(lengths) > 0


def stroked_arrow_ends(segments: Sequence[Segment]) -> Ends | None:
    """Return tip and tail of an arrow that is drawn with strokes: a shaft, and two wings or a triangle at its end.

    The wings are alike, shorter than the shaft's end is far, and lie at acute angles on both sides of it.
    """
    distinct = _distinct([s for s in segments if math.dist(*s) > 0])
    if not 3 <= len(distinct) <= MAX_STROKES:
        return None
    near = MEETING * extent([point for segment in distinct for point in segment])
    for tip in [point for segment in distinct for point in segment]:
        arms = [a if math.dist(b, tip) <= near else b for a, b in distinct if _meets((a, b), tip, near)]
        if len(arms) == 3:
            ends = _ends_of_arms(tip, arms, distinct, near)
            if ends is not None:
                return ends
    return _ends_of_stem_and_triangle(distinct, near)


def _meets(segment: Segment, place: Point, near: float) -> bool:
    return min(math.dist(segment[0], place), math.dist(segment[1], place)) <= near


def _distinct(segments: Sequence[Segment]) -> list[Segment]:
    """Return segments once each: some programs go back along the way they came."""
    kept: list[Segment] = []
    for a, b in segments[: 2 * MAX_STROKES + 1]:
        tiny = 0.02 * math.dist(a, b)
        ways = [way for c, d in kept for way in ((c, d), (d, c))]
        if not any(math.dist(a, c) <= tiny and math.dist(b, d) <= tiny for c, d in ways):
            kept.append((a, b))
    return kept


def _ends_of_arms(tip: Point, arms: Sequence[Point], segments: Sequence[Segment], near: float) -> Ends | None:
    """Return tip and tail where three strokes meet at the tip: two wings, and the shaft between them."""
    for k in range(3):
        shaft, (one, other) = arms[k], [arms[j] for j in range(3) if j != k]
        wings = (math.dist(tip, one), math.dist(tip, other))
        if not _alike(*wings, 0.75):
            continue
        first, second = _cosine(tip, shaft, one), _cosine(tip, shaft, other)
        sides = [(shaft[0] - tip[0]) * (w[1] - tip[1]) - (shaft[1] - tip[1]) * (w[0] - tip[0]) for w in (one, other)]
        if min(first, second) < 0.3 or abs(first - second) > 0.25 or sides[0] * sides[1] >= 0:
            continue
        tail = _end_of_chain(tip, shaft, segments, near)
        if math.dist(tip, tail) >= 1.2 * max(wings):
            return tip, tail
    return None


def _end_of_chain(before: Point, at: Point, segments: Sequence[Segment], near: float) -> Point:
    """Return the far end of strokes that go on from one another, as the pieces of a bent shaft do."""
    for _ in segments:
        ways = [
            b if math.dist(a, at) <= near else a
            for a, b in segments
            if _meets((a, b), at, near) and not _meets((a, b), before, near)
        ]
        if len(ways) != 1:
            break
        before, at = at, ways[0]
    return at


def _ends_of_stem_and_triangle(segments: Sequence[Segment], near: float) -> Ends | None:
    """Return tip and tail where a shaft ends at the middle of a triangle's base."""
    for three in combinations(range(len(segments)), 3):
        corners = _triangle([segments[k] for k in three], near)
        ends = triangle_ends(corners) if corners is not None else None
        if corners is None or ends is None:
            continue
        rest = [segment for k, segment in enumerate(segments) if k not in three]
        for a, b in rest:
            for at, away in ((a, b), (b, a)):
                if math.dist(at, ends[1]) <= 2 * near:
                    tail = _end_of_chain(at, away, rest, near)
                    return (ends[0], tail) if _cosine(ends[1], ends[0], away) < -0.7 else None
    return None


def _triangle(segments: Sequence[Segment], near: float) -> Points | None:
    """Return the corners of three segments that close; None when they do not."""
    (a, b), *rest = segments
    for first, second in (rest, rest[::-1]):
        for c, d in (first, first[::-1]):
            if math.dist(b, c) <= near and any(
                math.dist(d, e) <= near and math.dist(f, a) <= near for e, f in (second, second[::-1])
            ):
                return [a, b, d]
    return None


def brace_ends(corners: Sequence[Point]) -> Ends | None:
    """Return the point and the middle of the opening of a brace, or of a square bracket; None of others.

    Args:
        corners: ends of the segments of an open path, in order.

    Both halves are mirror images. A brace has its point in the middle, farther out than all else, and straight runs
    about halfway between the point and the opening; a square bracket is three sides of a low box.
    """
    points = np.asarray(corners, dtype=np.float64)
    if not 4 <= len(points) <= 13 or not np.isfinite(points).all():
        return None
    axis = points[-1] - points[0]
    length = float(np.hypot(*axis))
    if length < 1e-6:
        return None
    along = (points - points[0]) @ axis / length**2
    across = (points - points[0]) @ np.asarray([-axis[1], axis[0]]) / length
    depth = float(across[np.argmax(np.abs(across))])
    if not BRACE_DEPTHS[0] * length <= abs(depth) <= BRACE_DEPTHS[1] * length:
        return None
    out = across / depth
    mirrored = np.abs(along + along[::-1] - 1).max() <= MIRRORED and np.abs(out - out[::-1]).max() <= MIRRORED
    if not mirrored or out.min() < -MIRRORED or (np.diff(along) < -MIRRORED).any():
        return None
    opening = _middle(corners[0], corners[-1])
    if len(points) == 4:
        square = abs(along[1]) <= MIRRORED and abs(depth) <= BRACKET_DEPTH * length
        return (_middle(corners[1], corners[2]), opening) if square else None
    if len(points) % 2 == 0:
        return None
    middle = len(points) // 2
    halfway = (out[1:middle] > 0.25) & (out[1:middle] < 0.75)
    long = bool(halfway.any()) and float(np.ptp(along[1:middle][halfway])) >= 0.25
    return (corners[middle], opening) if out[middle] >= 1 - MIRRORED and long else None
