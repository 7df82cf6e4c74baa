"""Marks as authors draw them on images: arrows, arrowheads, circles, boxes, asterisks, outlines.

Keep out: ink that is no mark (`device_print`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from pmo_assets.records.geometry import Box, Point, intersection
from pmo_assets.records.regions import MarkKind
from pmo_assets.samples.drawing import Colour, Pixels, Rng, grey_of, one_by_odds, print_text

MARK_COLOURS: tuple[tuple[Colour, float], ...] = (
    ((255, 255, 255), 4), ((0, 0, 0), 3), ((255, 255, 0), 2.5), ((255, 0, 0), 2.5), ((0, 255, 0), 1.2),
    ((0, 0, 255), 0.8), ((0, 255, 255), 0.8), ((255, 165, 0), 0.5), ((255, 0, 255), 0.3), ((120, 120, 120), 0.3),
    ((200, 200, 200), 0.3), ((192, 0, 0), 0.3), ((0, 112, 192), 0.3), ((0, 176, 80), 0.3), ((255, 192, 0), 0.3),
)  # fmt: skip
"""Colours of marks and how often they are used; the last ones are an office program's."""

SEEN_CONTRAST = 60
"""Grey levels by which a pixel must change to be seen as part of a mark."""

WELL_SEEN, JUST_SEEN = 70.0, 48.0
"""Levels by which a mark's colour differs from its ground at least, in one channel; of thin ones."""

SEEN_PIXELS = 8
"""Pixels that must be seen of a mark."""

MAX_GROWTH = 4
"""Attempts to draw a mark that can be seen, each larger than the one before."""

SIZES = (0.018, 0.22)
"""Sizes of marks as parts of the picture's side (the root of its area)."""

LEAST_SIZE = 5.0
"""Pixels: smaller arrows are specks to people as well."""

DASHES: Final = ((3.0, 1.0), (4.0, 3.0), (8.0, 3.0), (4.0, 4.0), (2.0, 2.0), (1.0, 1.0), (12.0, 8.0))
"""Dashes of office programs and longer ones: lengths of a dash and of the gap behind it, in widths of the line."""

LEAST_DASH: Final = 2.0
"""Pixels of a dash, and of a gap, at least: what is shorter is a grey line."""

FINE: Final = 0.5
"""Part of thin dashed marks whose lines are one pixel wide, whatever the picture's size."""

SHIFT: Final = 3
"""Bits of a pixel's fraction in the coordinates that OpenCV draws with."""


@dataclass(frozen=True, slots=True)
class Stroke:
    """Stroke of a mark: place, size and thickness (pixels), colour, one of `DASHES`; None: no gaps."""

    place: tuple[float, float]
    size: float
    line: int
    colour: Colour
    dashed: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class DrawnMark:
    """A mark as it was drawn.

    Attributes:
        kind: of mark.
        box: (left, top, right, bottom) of its ink in pixels, inside the picture.
        tip: (x, y) in pixels where an arrow or arrowhead points; None for other kinds, and for arrows with two heads.
        colour: RGB of its filling, or of its line where it has none.
    """

    kind: MarkKind
    box: Box
    tip: Point | None
    colour: Colour


Drawn = tuple[DrawnMark, ...]
"""Marks that a function drew at once."""


def _marks_of(
    pixels: Pixels, kind: MarkKind, points: np.ndarray, line: float, colour: Colour, tip: np.ndarray | None = None
) -> Drawn:
    """Return the mark whose ink is the line, or the surface, through points (n, 2), cut to the picture."""
    height, width = pixels.shape[:2]
    left, top = points.min(axis=0) - line / 2
    right, bottom = points.max(axis=0) + 1 + line / 2
    box = intersection((float(left), float(top), float(right), float(bottom)), (0.0, 0.0, float(width), float(height)))
    if box[2] - box[0] < 1 or box[3] - box[1] < 1:
        return ()
    return (DrawnMark(kind, box, None if tip is None else (float(tip[0]) + 0.5, float(tip[1]) + 0.5), colour),)


def any_colour(rng: Rng) -> Colour:
    """Return a colour of `MARK_COLOURS`."""
    return one_by_odds(rng, [colour for colour, _ in MARK_COLOURS], [odds for _, odds in MARK_COLOURS])


def _angle(rng: Rng) -> float:
    return float(rng.uniform(0, 2 * np.pi) if rng.random() < 0.6 else rng.integers(8) * np.pi / 4)


def _fixed(points: np.ndarray) -> np.ndarray:
    """Return points (n, 2) in the fixed-point numbers that OpenCV draws in fractions of pixels with."""
    return np.round(np.asarray(points, dtype=np.float64) * 2**SHIFT).astype(np.int32)


def _fill(pixels: Pixels, corners: np.ndarray, colour: Colour) -> None:
    cv2.fillPoly(pixels, [_fixed(corners).reshape(-1, 1, 2)], colour, cv2.LINE_AA, SHIFT)


def _trace(pixels: Pixels, points: np.ndarray, stroke: Stroke, *, closed: bool) -> None:
    """Draw a line through points, in dashes where the stroke is dashed."""
    fixed = _fixed(points)
    if stroke.dashed is None:
        cv2.polylines(pixels, [fixed.reshape(-1, 1, 2)], closed, stroke.colour, stroke.line, cv2.LINE_AA, SHIFT)
        return
    path = np.concatenate([points, points[:1]]) if closed else np.asarray(points)
    steps = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(path, axis=0).T))])
    dash, gap = (max(LEAST_DASH, length * stroke.line) for length in stroke.dashed)
    for start in np.arange(0.0, float(steps[-1]), dash + gap):
        along = np.linspace(start, min(start + dash, float(steps[-1])), 4)
        piece = np.stack([np.interp(along, steps, path[:, 0]), np.interp(along, steps, path[:, 1])], axis=1)
        cv2.polylines(pixels, [_fixed(piece).reshape(-1, 1, 2)], False, stroke.colour, stroke.line, cv2.LINE_AA, SHIFT)


def trace_curve(
    pixels: Pixels, points: np.ndarray, colour: Colour, line: int = 1, dashed: tuple[float, float] | None = None
) -> None:
    """Draw a curve of `line` pixels, perhaps with one of `DASHES`, through points (n, 2), in place."""
    _trace(pixels, points, Stroke((0.0, 0.0), 1.0, line, colour, dashed), closed=False)


def _turned(shape: np.ndarray, angle: float, place: tuple[float, float]) -> np.ndarray:
    turn = np.asarray([(np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))])
    return np.asarray(shape @ turn + np.asarray(place))


def _draw_arrow(rng: Rng, pixels: Pixels, stroke: Stroke) -> Drawn:
    """Draw an arrow with a body, filled, hollow or with an edge of another colour."""
    size = stroke.size
    length, shaft = size * rng.uniform(0.7, 2.2), size * rng.uniform(0.03, 0.16)
    head, spread = size * rng.uniform(0.25, 0.5), size * rng.uniform(0.12, 0.3)
    spread = max(spread, shaft * 1.6)
    notch = head * rng.uniform(0.7, 1.0)
    shape = np.asarray(
        [(0, 0), (head, spread), (notch, shaft), (length, shaft), (length, -shaft), (notch, -shaft), (head, -spread)]
    )
    corners = _turned(shape, _angle(rng), stroke.place)
    hollow = rng.random()
    if hollow < 0.14:
        if hollow < 0.08:  # with another filling
            _fill(pixels, corners, (255, 255, 255) if sum(stroke.colour) < 380 else (0, 0, 0))
        edge = Stroke(stroke.place, size, max(1, round(size / 22)), stroke.colour)
        _trace(pixels, corners, edge, closed=True)
        return _marks_of(pixels, "arrow", corners, edge.line, stroke.colour, corners[0])
    _fill(pixels, corners, stroke.colour)
    if rng.random() < 0.15:
        rim = (0, 0, 0) if sum(stroke.colour) > 380 else (255, 255, 255)
        _trace(pixels, corners, Stroke(stroke.place, size, 1, rim), closed=True)
    return _marks_of(pixels, "arrow", corners, 0, stroke.colour, corners[0])


def _draw_thin_arrow(rng: Rng, pixels: Pixels, stroke: Stroke) -> Drawn:
    """Draw an arrow as word processors do: a line with a small open or filled head, sometimes at both ends."""
    angle, tip = _angle(rng), np.asarray(stroke.place)
    along = np.asarray([np.cos(angle), np.sin(angle)])
    end = tip + along * stroke.size * rng.uniform(0.8, 2.6)
    width = max(1, round(stroke.line * rng.uniform(0.3, 0.9)))
    head = max(4.0 * width, stroke.size * rng.uniform(0.15, 0.35))
    opening, filled = rng.uniform(0.25, 0.6), rng.random() < 0.5
    thin = Stroke(stroke.place, stroke.size, width, stroke.colour, stroke.dashed if rng.random() < 0.2 else None)
    _trace(pixels, np.stack([tip, end]), thin, closed=False)
    ends = [(tip, angle), (end, angle + np.pi)] if rng.random() < 0.08 else [(tip, angle)]
    ink = [tip, end]
    for point, way in ends:
        wings = [point + head * np.asarray([np.cos(way + s * opening), np.sin(way + s * opening)]) for s in (-1, 1)]
        ink += wings
        if filled:
            _fill(pixels, np.asarray([point, *wings]), stroke.colour)
        else:
            whole = Stroke(stroke.place, stroke.size, width, stroke.colour)
            _trace(pixels, np.asarray([wings[0], point, wings[1]]), whole, closed=False)
    return _marks_of(pixels, "arrow", np.asarray(ink), width, stroke.colour, tip if len(ends) == 1 else None)


def _draw_open_arrow(rng: Rng, pixels: Pixels, stroke: Stroke) -> Drawn:
    """Draw an arrow whose head is two lines as thin as its body, up to a right angle and more between them."""
    angle, length, tip = _angle(rng), stroke.size * rng.uniform(0.8, 1.8), np.asarray(stroke.place)
    end = tip + length * np.asarray([np.cos(angle), np.sin(angle)])
    width = max(1, min(3, round(length * rng.uniform(0.02, 0.08))))
    head, opening = max(4.0 * width, length * rng.uniform(0.2, 0.55)), rng.uniform(0.35, 0.85)
    wings = [tip + head * np.asarray([np.cos(angle + s * opening), np.sin(angle + s * opening)]) for s in (-1, 1)]
    whole = Stroke(stroke.place, stroke.size, width, stroke.colour)
    _trace(pixels, np.stack([tip, end]), whole, closed=False)
    _trace(pixels, np.asarray([wings[0], tip, wings[1]]), whole, closed=False)
    return _marks_of(pixels, "arrow", np.asarray([tip, end, *wings]), width, stroke.colour, tip)


def _draw_any_arrow(rng: Rng, pixels: Pixels, stroke: Stroke) -> Drawn:
    return (_draw_thin_arrow if rng.random() < 0.5 else _draw_arrow)(rng, pixels, stroke)


def _draw_arrowhead(rng: Rng, pixels: Pixels, stroke: Stroke) -> Drawn:
    """Draw a triangle, sometimes with a notch at its base, hollow, or open like a chevron."""
    size, half, angle = stroke.size * 0.7, rng.uniform(0.25, 0.55), _angle(rng)
    wings = [(size * np.cos(half), size * np.sin(half)), (size * np.cos(half), -size * np.sin(half))]
    look = rng.random()
    if look < 0.2:
        corners = _turned(np.asarray([wings[0], (0, 0), wings[1]]), angle, stroke.place)
        _trace(pixels, corners, stroke, closed=False)
        return _marks_of(pixels, "arrowhead", corners, stroke.line, stroke.colour, corners[1])
    notch = [(size * np.cos(half) * 0.65, 0.0)] if look < 0.4 else []
    corners = _turned(np.asarray([(0, 0), wings[0], *notch, wings[1]]), angle, stroke.place)
    if look > 0.92:
        edge = Stroke(stroke.place, size, max(1, round(size / 12)), stroke.colour)
        _trace(pixels, corners, edge, closed=True)
        return _marks_of(pixels, "arrowhead", corners, edge.line, stroke.colour, corners[0])
    _fill(pixels, corners, stroke.colour)
    if rng.random() < 0.12:
        rim = (0, 0, 0) if sum(stroke.colour) > 380 else (255, 255, 255)
        _trace(pixels, corners, Stroke(stroke.place, size, 1, rim), closed=True)
    return _marks_of(pixels, "arrowhead", corners, 0, stroke.colour, corners[0])


def _ring(centre: tuple[float, float], a: float, b: float, n: int = 48, turn: float = 0.0) -> np.ndarray:
    t = np.linspace(0, 2 * np.pi, n, endpoint=False)
    return _turned(np.stack([a * np.cos(t), b * np.sin(t)], axis=1), turn, centre)


def _draw_circle(rng: Rng, pixels: Pixels, stroke: Stroke) -> Drawn:
    a = stroke.size * rng.uniform(0.5, 1.6)
    b = a if rng.random() < 0.6 else stroke.size * rng.uniform(0.4, 1.6)
    turn = 0.0 if rng.random() < 0.7 else float(rng.uniform(0, np.pi))
    ring = _ring(stroke.place, a, b, 64, turn)
    _trace(pixels, ring, stroke, closed=True)
    return _marks_of(pixels, "circle", ring, stroke.line, stroke.colour)


def _draw_box(rng: Rng, pixels: Pixels, stroke: Stroke) -> Drawn:
    a, b = stroke.size * rng.uniform(0.5, 1.8), stroke.size * rng.uniform(0.4, 1.6)
    corners = np.asarray([(-a, -b), (a, -b), (a, b), (-a, b)])
    turn = 0.0 if rng.random() < 0.93 else float(rng.uniform(0, np.pi))
    place = stroke.place if turn else (float(round(stroke.place[0])), float(round(stroke.place[1])))
    corners = np.round(_turned(corners, turn, place))
    _trace(pixels, corners, stroke, closed=True)
    return _marks_of(pixels, "box", corners, stroke.line, stroke.colour)


def _draw_asterisk(rng: Rng, pixels: Pixels, stroke: Stroke) -> Drawn:
    """Print an asterisk, plus or hash, or draw a star."""
    if rng.random() < 0.25:
        points, inner = 5, rng.uniform(0.35, 0.5)
        radii = np.where(np.arange(2 * points) % 2 == 0, 1.0, inner) * max(4.0, stroke.size * 0.5)
        t = np.arange(2 * points) * np.pi / points - np.pi / 2
        star = np.stack([radii * np.cos(t), radii * np.sin(t)], axis=1) + np.asarray(stroke.place)
        _fill(pixels, star, stroke.colour)
        return _marks_of(pixels, "asterisk", star, 0, stroke.colour)
    glyph, x, y = str(rng.choice(["*", "*", "*", "*", "+", "#"])), round(stroke.place[0]), round(stroke.place[1])
    size = max(12, round(stroke.size * rng.uniform(0.9, 1.8)))
    ink = print_text(pixels, x, y, glyph, str(rng.choice(["hebo", "helv", "tibo"])), size, stroke.colour)
    return (DrawnMark("asterisk", ink, None, stroke.colour),) if ink[2] > ink[0] and ink[3] > ink[1] else ()


def _draw_caliper(rng: Rng, pixels: Pixels, stroke: Stroke) -> Drawn:
    """Draw a measured distance: a line with arrows, bars or crosses at its ends."""
    angle, begin = _angle(rng), np.asarray(stroke.place)
    along = np.asarray([np.cos(angle), np.sin(angle)])
    across, end = np.asarray([-along[1], along[0]]), begin + along * stroke.size * rng.uniform(0.8, 2.4)
    half, kind = max(3.0, 3.0 * stroke.line, stroke.size * rng.uniform(0.08, 0.18)), rng.random()
    if kind < 0.75:
        _trace(pixels, np.stack([begin, end]), stroke, closed=False)
    whole = Stroke(stroke.place, stroke.size, stroke.line, stroke.colour)
    ink = []
    for point, way in ((begin, along), (end, -along)):
        if kind < 0.35:
            wings = [point + half * (way + s * across) for s in (-0.7, 0.7)]
            _trace(pixels, np.asarray([wings[0], point, wings[1]]), whole, closed=False)
            ink += [wings[0], point, wings[1]]
        else:
            _trace(pixels, np.stack([point - half * across, point + half * across]), whole, closed=False)
            ink += [point - half * across, point + half * across]
        if kind >= 0.75:
            _trace(pixels, np.stack([point - half * way, point + half * way]), whole, closed=False)
            ink += [point - half * way, point + half * way]
    return _marks_of(pixels, "line", np.asarray(ink), stroke.line, stroke.colour)


def _draw_leader(rng: Rng, pixels: Pixels, stroke: Stroke) -> Drawn:
    """Draw a line from a name to the thing that it names, or an arrow with a letter behind it."""
    angle = _angle(rng)
    along = np.asarray([np.cos(angle), np.sin(angle)])
    end = np.asarray(stroke.place) + along * stroke.size * rng.uniform(1.0, 2.5)
    if rng.random() < 0.5:
        thin = Stroke(stroke.place, stroke.size, max(1, round(stroke.line * 0.6)), stroke.colour)
        line = np.stack([np.asarray(stroke.place), end])
        _trace(pixels, line, thin, closed=False)
        marks = _marks_of(pixels, "line", line, thin.line, stroke.colour)
    else:
        marks = _draw_any_arrow(rng, pixels, stroke)
    name = str(rng.choice(["N", "T", "M", "1", "2", "a", "b", "L", "RPE", "ERM", "CNV", "ONL", "ILM", "fovea"]))
    size = max(9, round(stroke.size * rng.uniform(0.4, 0.8)))
    beside = end + along * 3 - np.asarray([size * 0.3 * len(name) * (along[0] < 0), size * 0.5])
    print_text(pixels, round(float(beside[0])), round(float(beside[1])), name, "helv", size, stroke.colour)
    return marks


def _draw_stroke(rng: Rng, pixels: Pixels, stroke: Stroke) -> Drawn:
    """Draw a line without a head, straight, bent once, or along a curve, perhaps with a dot or a bar at one end."""
    angle, length, look, t = _angle(rng), stroke.size * rng.uniform(0.8, 2.8), rng.random(), np.linspace(0, 1, 24)
    if look < 0.55:
        shape = np.asarray([(0.0, 0.0), (1.0, 0.0)])
    elif look < 0.75:
        at, off = rng.uniform(0.3, 0.7), rng.uniform(-0.4, 0.4)
        shape = np.asarray([(0.0, 0.0), (at, off), (1.0, off * rng.uniform(0.6, 1.2))])
    elif look < 0.9:
        shape = np.stack([t, rng.uniform(-0.3, 0.3) * np.sin(np.pi * t)], axis=1)
    else:
        shape = np.stack([t, rng.uniform(0.03, 0.1) * np.sin(2 * np.pi * rng.uniform(1.0, 3.0) * t)], axis=1)
    points, width = _turned(shape * length, angle, stroke.place), max(1, round(stroke.line * rng.uniform(0.3, 1.2)))
    _trace(pixels, points, Stroke(stroke.place, stroke.size, width, stroke.colour, stroke.dashed), closed=False)
    end, half = rng.random(), max(3.0, 2.5 * width)
    if end < 0.12:
        (x, y), radius = points[0].tolist(), width * rng.uniform(1.2, 2.0) + 1
        _fill(pixels, _ring((x, y), radius, radius, 16), stroke.colour)
    elif end < 0.24:
        points = np.concatenate([points, _turned(np.asarray([(0.0, -half), (0.0, half)]), angle, stroke.place)])
        _trace(pixels, points[-2:], Stroke(stroke.place, stroke.size, width, stroke.colour), closed=False)
    return _marks_of(pixels, "line", points, width, stroke.colour)


def _draw_brace(rng: Rng, pixels: Pixels, stroke: Stroke) -> Drawn:
    """Draw a bracket or a brace."""
    angle, length, deep = _angle(rng), stroke.size * rng.uniform(0.6, 1.6), stroke.size * rng.uniform(0.1, 0.25)
    if rng.random() < 0.5:
        shape = np.asarray([(-length, deep), (-length, 0), (length, 0), (length, deep)])
    else:
        t = np.linspace(-1, 1, 41)
        curve = np.where(np.abs(t) < 0.12, -(0.12 - np.abs(t)) / 0.12, np.maximum(0, (np.abs(t) - 0.88) / 0.12))
        shape = np.stack([t * length, curve * deep], axis=1)
    points = _turned(shape, angle, stroke.place)
    _trace(pixels, points, stroke, closed=False)
    return _marks_of(pixels, "line", points, stroke.line, stroke.colour)


def _draw_outline(rng: Rng, pixels: Pixels, stroke: Stroke) -> Drawn:
    """Draw an outline that follows what is seen there, or a wavy one where nothing is."""
    height, width = pixels.shape[:2]
    grey = grey_of(pixels)
    sigma = max(2.0, stroke.size * rng.uniform(0.06, 0.2))
    soft = np.asarray(cv2.GaussianBlur(grey, (0, 0), sigma))
    x, y = (int(np.clip(v, 0, n - 1)) for v, n in zip(stroke.place, (width, height), strict=True))
    around = _ring(stroke.place, stroke.size * 1.5, stroke.size * 1.5)
    near = np.zeros_like(grey)
    cv2.fillPoly(near, [np.round(around).astype(np.int32).reshape(-1, 1, 2)], 1)
    bright = soft[y, x] >= np.median(soft[near > 0]) if near.any() else True
    level = float(soft[y, x]) * (0.9 if bright else 1.1)
    region = ((soft >= level) if bright else (soft <= level)) & (near > 0)
    outlines, _ = cv2.findContours(region.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    longest = max(outlines, key=len, default=None)
    if longest is not None and len(longest) >= max(16.0, 1.5 * stroke.size):
        points = longest.reshape(-1, 2).astype(np.float64)
    else:
        points = _ring(stroke.place, stroke.size * rng.uniform(0.5, 1.4), stroke.size * rng.uniform(0.5, 1.4))
        points = points + rng.normal(0, stroke.size * 0.05, points.shape)
    _trace(pixels, points, stroke, closed=True)
    return _marks_of(pixels, "circle", points, stroke.line, stroke.colour)


def _draw_layers(rng: Rng, pixels: Pixels, stroke: Stroke) -> Drawn:
    """Draw one to four lines across a part of the picture, along its strongest edges, as layers are delineated."""
    height, width = pixels.shape[:2]
    grey = grey_of(pixels)
    slope = np.abs(np.asarray(cv2.Sobel(cv2.GaussianBlur(grey, (0, 0), 3), cv2.CV_32F, 0, 1)))
    begin, end = (0, width - 1) if rng.random() < 0.5 else sorted(rng.integers(0, width, 2).tolist())
    columns = np.linspace(begin, max(end, begin + min(20, width - 1 - begin)), 40)
    level = stroke.place[1]
    marks: Drawn = ()
    for _ in range(int(rng.integers(1, 5))):
        rows = []
        for x in columns:
            low, high = max(0, int(level) - height // 12), min(height, int(level) + height // 12 + 1)
            strip = slope[low:high, int(np.clip(x, 0, width - 1))]
            rows.append(low + int(np.argmax(strip)) if strip.size and strip.max() > 4 else level)
        smooth = np.convolve(np.pad(np.asarray(rows, dtype=np.float64), 3, mode="edge"), np.ones(7) / 7, mode="valid")
        colour = stroke.colour if rng.random() < 0.5 else any_colour(rng)
        one = Stroke(stroke.place, stroke.size, max(1, stroke.line // 2), colour, stroke.dashed)
        layer = np.stack([columns, smooth], axis=1)
        _trace(pixels, layer, one, closed=False)
        marks += _marks_of(pixels, "line", layer, one.line, colour)
        level = level + height * rng.uniform(0.05, 0.15)
    return marks


def _draw_highlight(rng: Rng, pixels: Pixels, stroke: Stroke) -> Drawn:
    """Lay a translucent patch of strong colour over a region, often with its outline."""
    points = _ring(stroke.place, stroke.size * rng.uniform(0.4, 1.4), stroke.size * rng.uniform(0.4, 1.4), 24)
    points = points + rng.normal(0, stroke.size * 0.04, points.shape)
    strong = stroke.colour if max(stroke.colour) - min(stroke.colour) > 100 else (255, 255, 0)
    covered, share = pixels.copy(), rng.uniform(0.35, 0.8)
    _fill(covered, points, strong)
    pixels[:] = np.round(share * covered + (1 - share) * pixels).astype(np.uint8)
    if rng.random() < 0.4:
        _trace(pixels, points, Stroke(stroke.place, stroke.size, stroke.line, strong), closed=True)
    return _marks_of(pixels, "other", points, 0, strong)


MARK_KINDS: tuple[tuple[str, Callable[[Rng, Pixels, Stroke], Drawn], float], ...] = (
    ("arrow", _draw_any_arrow, 0.4), ("arrowhead", _draw_arrowhead, 0.14), ("circle", _draw_circle, 0.11),
    ("box", _draw_box, 0.11), ("asterisk", _draw_asterisk, 0.07), ("caliper", _draw_caliper, 0.035),
    ("outline", _draw_outline, 0.055), ("leader", _draw_leader, 0.03), ("brace", _draw_brace, 0.01),
    ("layers", _draw_layers, 0.025), ("highlight", _draw_highlight, 0.015), ("stroke", _draw_stroke, 0.015),
    ("open arrow", _draw_open_arrow, 0.0),
)  # fmt: skip
"""Kinds of marks: name, function that draws one, share; none where only those draw it who ask for it."""

_LARGE: Final = {"circle": 0.05, "box": 0.05, "outline": 0.07, "highlight": 0.05, "brace": 0.06, "layers": 0.1,
                 "open arrow": 0.05}  # fmt: skip
"""Least size of kinds that surround what they point at, or of which nothing is left where they are small."""


def draw_marks(
    rng: Rng, pixels: Pixels, least: float = SIZES[0], odds: Sequence[float] = (), *, thin: bool = False
) -> list[DrawnMark]:
    """Draw one to five marks of one kind (sometimes two) onto a picture, in place, and return them.

    Args:
        rng: decides kinds, places, sizes and colours.
        pixels: (height, width, 3) uint8.
        least: least size of a mark as a part of the picture's side.
        odds: how often each of `MARK_KINDS` is drawn; empty for the odds there.
        thin: lines of one or two pixels, often dashed, in any colour that can just be told from its ground.
    """
    marks: list[DrawnMark] = []
    for _ in range(1 if rng.random() < 0.8 else 2):
        name, draw, _ = one_by_odds(rng, MARK_KINDS, odds or [usual for _, _, usual in MARK_KINDS])
        colour = _saturated(rng) if thin and rng.random() < 0.6 else any_colour(rng)
        height, width = pixels.shape[:2]
        side = float(np.sqrt(height * width))
        smallest = max(least, _LARGE.get(name, 0.0))
        size = max(LEAST_SIZE, side * float(np.exp(rng.uniform(np.log(smallest), np.log(max(SIZES[1], smallest))))))
        line = max(1, round(min(side * rng.uniform(0.002, 0.005 if thin else 0.014), size / 3)))
        dashed = DASHES[int(rng.integers(len(DASHES)))] if rng.random() < (0.55 if thin else 0.25) else None
        if thin and dashed is not None and rng.random() < FINE:
            line = 1
        count = int(rng.choice([1, 2, 3, 4, 5], p=[0.5, 0.25, 0.12, 0.08, 0.05]))
        for _ in range(1 if name == "layers" else count):
            place = (float(rng.uniform(0.07, 0.93) * width), float(rng.uniform(0.07, 0.93) * height))
            colour = _seen_colour(pixels, place, colour, JUST_SEEN if thin else WELL_SEEN)
            before = pixels.copy()
            drawn: Drawn = ()
            for growth in range(MAX_GROWTH):
                pixels[:] = before  # what could not be seen does not stay beside what is drawn in its place
                drawn = draw(rng, pixels, Stroke(place, size * 1.5**growth, line + growth, colour, dashed))
                # Antialiasing swallows the smallest marks on grounds of middle grey.
                if _changed_pixels(before, pixels) >= SEEN_PIXELS:
                    break
            marks += drawn
    return marks


def _changed_pixels(before: Pixels, after: Pixels) -> int:
    """Return the number of pixels that changed by `SEEN_CONTRAST` levels, in the channel that changed most."""
    # Channel by channel: a maximum over the last axis takes longer than to draw the mark.
    red, green, blue = cv2.split(cv2.absdiff(before, after))
    return int(np.count_nonzero(cv2.max(cv2.max(red, green), blue) >= SEEN_CONTRAST))


def _saturated(rng: Rng) -> Colour:
    """Return a strong colour of any hue."""
    hue, saturation, value = int(rng.integers(180)), int(rng.integers(150, 256)), int(rng.integers(160, 256))
    red, green, blue = cv2.cvtColor(np.asarray([[(hue, saturation, value)]], np.uint8), cv2.COLOR_HSV2RGB)[
        0, 0
    ].tolist()
    return (red, green, blue)


def _seen_colour(pixels: Pixels, place: tuple[float, float], colour: Colour, least: float) -> Colour:
    """Return the colour, or black or white where it cannot be told from its ground: that is no mark to anyone."""
    x, y = int(place[0]), int(place[1])
    ground = pixels[max(0, y - 3) : y + 4, max(0, x - 3) : x + 4].reshape(-1, 3).mean(axis=0)
    if float(np.abs(ground - np.asarray(colour)).max()) >= least:
        return colour
    return (255, 255, 255) if ground.mean() < 128 else (0, 0, 0)
