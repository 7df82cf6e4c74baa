"""Marks on an image: arrows, arrowheads, circles, boxes, asterisks and lines, from vector shapes, live text and pixels.

What a PDF draws over a bitmap is known exactly, so it beats what the network sees at the same place. What of the shapes
is a mark, and what a frame, a tick or a scale bar, is decided in `detection.structure.vector_marks`. Plots are not
searched: their arrows, asterisks and circles are symbols of the data; nor are the pixels of pictures that are mostly
paper.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.detect import crop
from pmo_assets.pipeline.detection.structure.marks import is_plot
from pmo_assets.pipeline.detection.structure.vector_marks import (
    LENGTH,
    ON_PICTURE,
    PlacedShape,
    is_lone,
    placed_shapes,
    surrounds,
)
from pmo_assets.pipeline.regions.mark_colours import hex_of, ink_colour, mark_colour, rgb_of
from pmo_assets.pipeline.regions.marks_network import Calibration, SeenMark
from pmo_assets.records.detections import FigureView
from pmo_assets.records.figure import EmbeddedShape, EmbeddedText
from pmo_assets.records.geometry import (
    Box,
    Point,
    centre,
    clip,
    contains,
    covered_fraction,
    crop_box,
    denormalise,
    expand,
    height,
    iou,
    normalise,
    reading_order,
    union_box,
    width,
)
from pmo_assets.records.regions import Mark, MarkKind

Network = Callable[[Sequence[NDArray[np.uint8]], float], list[list[SeenMark]]]
"""What sees marks in pictures from a score on: `marks_network.MarksNetwork`."""

LEAST_SEEN: Final = 0.04
"""Longer side of a mark that is seen in pixels, in the image's longer side, at least: authors want theirs to be seen.
On articles it keeps 37 of 38 true ones and 19 of 50 false ones, nuclei, letters of the viewer, Doppler colours
(`docs/measurements.md`, marks)."""

LEAST_SIDE: Final = 12
"""Pixels: in pictures that are smaller on a side no mark can be seen."""

VECTOR, TEXT, LINE = 0.97, 0.95, 0.8
"""Probability of a mark by what the PDF says: a shape, a character, a line that seems to lead somewhere."""

NEAR_HEAD: Final = 0.75
"""Distance between the end of a shaft and its head, relative to the head's size, up to which they are one arrow."""

SAME_PLACE: Final = 0.3
"""IoU from which marks of two sources are the same."""

SAME_SHAPE: Final = 0.7
"""IoU from which two shapes of one kind are one that is drawn twice: filling and rim, or a shadow."""

ALIKE: Final = 80
"""Levels by which the colours of a shaft and its head may differ, in one channel."""

TOUCHING: Final = 0.006
"""Gap, relative to the image's larger side, up to which lines touch."""

LABEL_GAP: Final = 1.0
"""Gap between a mark and its label, relative to the label's height."""

_LABEL: Final = re.compile(r"[A-Za-z]|[A-Za-z]?\d{1,2}|[ivx]{1,4}|[A-Z]\d?'?")

_SIGN_LABEL: Final = re.compile(r"[*∗⁎＊†‡#]{1,3}")
"""Signs that are the label of an arrow at whose tail they stand."""

_SIGNS: Final[dict[str, tuple[MarkKind, float | None]]] = {
    **dict.fromkeys("*★☆✱✶✳∗⁎＊†‡#+✚✕×", ("asterisk", None)),
    "→": ("arrow", 0.0), "↗": ("arrow", 45.0), "↑": ("arrow", 90.0), "↖": ("arrow", 135.0), "←": ("arrow", 180.0),
    "↙": ("arrow", 225.0), "↓": ("arrow", 270.0), "↘": ("arrow", 315.0), "➔": ("arrow", 0.0), "⇨": ("arrow", 0.0),
    "➡": ("arrow", 0.0), "⬅": ("arrow", 180.0), "⬆": ("arrow", 90.0), "⬇": ("arrow", 270.0),
    "▲": ("arrowhead", 90.0), "△": ("arrowhead", 90.0), "▼": ("arrowhead", 270.0), "▽": ("arrowhead", 270.0),
    "►": ("arrowhead", 0.0), "▶": ("arrowhead", 0.0), "▷": ("arrowhead", 0.0), "➤": ("arrowhead", 0.0),
    "◄": ("arrowhead", 180.0), "◀": ("arrowhead", 180.0), "◁": ("arrowhead", 180.0),
}  # fmt: skip
"""Characters that are marks where they stand alone over a picture: kind, and degrees in which they point."""


def image_marks(
    view: FigureView,
    image: Box,
    network: Network | None = None,
    calibration: Calibration | None = None,
    marked: float = 0.5,
) -> tuple[Mark, ...]:
    """Return the marks on an image of a figure, in reading order.

    Args:
        view: of the figure.
        image: its box in the figure, normalised.
        network: sees marks in pixels; None: only the PDF's shapes and texts are asked.
        calibration: of the network; None: its scores are probabilities, and one half is enough.
        marked: probability that the image is marked (`mark_score`): pixels are believed sooner where it is high, and
            not asked where the image is likelier not marked.
    """
    pixels = crop(view.pixels, image)
    if min(pixels.shape[:2]) < LEAST_SIDE:
        return ()
    placed, is_paper = placed_shapes(view, image), is_plot(pixels)
    if is_paper and not is_lone(placed, view, image):
        return ()
    shapes = vector_marks(view, image, placed)
    signs = [
        mark for mark in text_marks(view, image) if mark.tip is not None or not _names_arrow(mark.box, shapes, view)
    ]
    drawn = [*shapes, *signs]
    seen = []
    if network is not None and marked >= 0.5 and not is_paper:
        seen = pixel_marks(pixels, image, network, calibration or Calibration(1.0, 0.0, 0.0, 0.0, 0.5), marked)
    marks = fused(drawn, [mark for mark in seen if not _is_known_ink(mark, view, image, placed)])
    marks = labelled(marks, view, image)
    return tuple(marks[k] for k in reading_order([mark.box for mark in marks]))


# vector shapes


def vector_marks(view: FigureView, image: Box, placed: Sequence[PlacedShape]) -> list[Mark]:
    """Return the marks among the shapes over an image; a shaft and its head are one arrow.

    Args:
        view: of the figure; its pixels tell the proportions.
        image: box in the figure.
        placed: `placed_shapes` of the image.
    """
    tall, wide = view.pixels.shape[:2]
    sides = (float(wide), float(tall))
    filled = [item.shape for item in placed if item.shape.filled]
    placed = [item for item in placed if item.shape.filled or not _is_rim(item.shape, filled)]
    heads = [item for item in placed if item.shape.kind in ("head", "dart") and item.role != "none"]
    shafts = [item for item in placed if item.shape.kind in ("line", "curve") and item.shape.tip is not None]
    shafts = [item for item in shafts if not (item.shape.kind == "curve" and item.role == "none")]
    arrows: list[Mark] = []
    used: set[int] = set()
    for shaft in shafts:
        ends = [
            _head_at(shaft.shape, end, [h for h in heads if id(h) not in used], sides) for end in _ways(shaft.shape)
        ]
        if ends[0] is not None and ends[0] is ends[-1]:  # a shaft hardly longer than its head
            middle, (first, second) = centre(ends[0].shape.box), _ways(shaft.shape)
            is_first = _away(first[0], middle, sides) <= _away(second[0], middle, sides)
            ends = [ends[0] if is_first else None, None if is_first else ends[0]]
        found = [head for head in ends if head is not None]
        if not found:
            continue
        used |= {id(shaft), *(id(head) for head in found)}
        arrows.append(_joined(shaft.shape, ends, sides))
    for item in placed:
        if id(item) in used or item.role == "none" or item.shape.kind == "line":
            continue
        arrows.append(_mark_of_shape(item.shape, sides))
    marks = arrows + _line_marks([i for i in placed if i.shape.kind == "line" and id(i) not in used], view, image)
    # What is painted later lies on top.
    kept: list[Mark] = []
    for mark in reversed(marks):
        if not any(other.kind == mark.kind and iou(other.box, mark.box) >= SAME_SHAPE for other in kept):
            kept.append(mark)
    return kept[::-1]


def _is_rim(shape: EmbeddedShape, filled: Sequence[EmbeddedShape]) -> bool:
    """Say whether a shape without a filling is the rim of one with a filling, whose colour the mark has."""
    return any(other.kind == shape.kind and iou(other.box, shape.box) >= SAME_SHAPE for other in filled)


def _ways(shape: EmbeddedShape) -> list[tuple[Point, Point]]:
    """Return both ends of a line, each with the other one."""
    if shape.tip is None or shape.tail is None:
        return []
    return [(shape.tip, shape.tail), (shape.tail, shape.tip)]


def _away(a: Point, b: Point, sides: tuple[float, float]) -> float:
    return math.hypot((a[0] - b[0]) * sides[0], (a[1] - b[1]) * sides[1])


def _along(a: Point, b: Point, c: Point, d: Point, sides: tuple[float, float]) -> float:
    """Return the cosine between the ways from a to b and from c to d."""
    first = ((b[0] - a[0]) * sides[0], (b[1] - a[1]) * sides[1])
    second = ((d[0] - c[0]) * sides[0], (d[1] - c[1]) * sides[1])
    lengths = math.hypot(*first) * math.hypot(*second)
    return (first[0] * second[0] + first[1] * second[1]) / lengths if lengths > 0 else 0.0


def _head_at(
    shaft: EmbeddedShape, way: tuple[Point, Point], heads: Sequence[PlacedShape], sides: tuple[float, float]
) -> PlacedShape | None:
    """Return the nearest head at an end of a shaft, of its colour and pointing away from it; None without one."""
    end, other = way
    length = _away(end, other, sides)
    best, least = None, math.inf
    for head in heads:
        shape = head.shape
        size = math.hypot(width(shape.box) * sides[0], height(shape.box) * sides[1])
        points = [p for p in (shape.tip, shape.tail, centre(shape.box)) if p is not None]
        away = min(_away(end, point, sides) for point in points)
        if away > NEAR_HEAD * size or size > 1.5 * length or away >= least or not _alike(shape.colour, shaft.colour):
            continue
        pointed = shape.tip is not None and shape.tail is not None
        # A bent shaft ends in another direction than it has as a whole.
        bent = shaft.kind == "curve"
        if pointed and _along(shape.tail, shape.tip, other, end, sides) < (0.0 if bent else 0.7):  # type: ignore[arg-type]
            continue
        best, least = head, away
    return best


def _alike(one: str, other: str) -> bool:
    return max(abs(a - b) for a, b in zip(rgb_of(one), rgb_of(other), strict=True)) <= ALIKE


def _joined(shaft: EmbeddedShape, ends: Sequence[PlacedShape | None], sides: tuple[float, float]) -> Mark:
    """Return the arrow of a shaft and the heads at its ends; with two heads it points nowhere."""
    heads = [head.shape for head in ends if head is not None]
    box = union_box([shaft.box, *(head.box for head in heads)])
    if len(heads) == 2:
        return _mark("arrow", shaft.colour, box, None, None, sides)
    end, other = _ways(shaft)[0 if ends[0] is not None else 1]
    head = heads[0]
    tip = head.tip or _farthest(head.box, other, end, sides)
    return _mark("arrow", head.colour, box, tip, other if shaft.kind == "line" else head.tail or other, sides)


def _farthest(box: Box, start: Point, end: Point, sides: tuple[float, float]) -> Point:
    """Return the point of a box that lies on a way through its middle, as far along as it goes."""
    x, y = centre(box)
    across, down = (end[0] - start[0]) * sides[0], (end[1] - start[1]) * sides[1]
    half = (width(box) * sides[0] / 2, height(box) * sides[1] / 2)
    reach = min(half[0] / abs(across) if across else math.inf, half[1] / abs(down) if down else math.inf)
    return (x, y) if not math.isfinite(reach) else (x + across * reach / sides[0], y + down * reach / sides[1])


def _mark_of_shape(shape: EmbeddedShape, sides: tuple[float, float]) -> Mark:
    kinds: dict[str, MarkKind] = {
        "arrow": "arrow", "pointer": "arrow", "head": "arrowhead", "dart": "arrowhead", "star": "asterisk",
        "ellipse": "circle", "rectangle": "box",
    }  # fmt: skip
    # A curve whose ends are apart leads or traces; one that closes surrounds.
    kind = kinds.get(shape.kind) or ("line" if shape.tip is not None else "circle")
    points = kind in ("arrow", "arrowhead")
    return _mark(kind, shape.colour, shape.box, shape.tip if points else None, shape.tail if points else None, sides)


def _mark(
    kind: MarkKind, colour: str, box: Box, tip: Point | None, tail: Point | None, sides: tuple[float, float]
) -> Mark:
    direction = None
    if tip is not None:
        direction = degrees(tail if tail is not None else centre(box), tip, sides)
    probability = LINE if kind == "line" else VECTOR
    return Mark(
        kind, mark_colour(rgb_of(colour)), colour, box, tip, direction, None, "vector", probability, probability
    )


def degrees(start: Point, end: Point, sides: tuple[float, float]) -> float | None:
    """Return the direction from one point to another, 0 to the right, 90 upwards; None where they are one.

    Args:
        start: in parts of the sides.
        end: see above.
        sides: width and height, pixels.
    """
    across, down = (end[0] - start[0]) * sides[0], (end[1] - start[1]) * sides[1]
    return math.degrees(math.atan2(-down, across)) % 360 if across or down else None


def _line_marks(lines: Sequence[PlacedShape], view: FigureView, image: Box) -> list[Mark]:
    """Return the marks of lines: those that touch are one (a calliper, a bracket, a box, a cross)."""
    tall, wide = view.pixels.shape[:2]
    sides = (float(wide), float(tall))
    gap = TOUCHING * max(width(image) * wide, height(image) * tall)
    left = list(lines)
    marks = []
    while left:
        group, edge = [], [left.pop(0)]
        while edge:
            group += edge
            edge = [line for line in left if any(_touch(line.shape, one.shape, gap, sides) for one in edge)]
            left = [line for line in left if not any(line is one for one in edge)]
        box = union_box([line.shape.box for line in group])
        kind = _kind_of_lines(group, box, gap, sides)
        inside = normalise(box, image)
        longest = max(width(box) * wide, height(box) * tall) / max(width(image) * wide, height(image) * tall)
        if kind == "box":
            is_mark = surrounds(inside, longest)
        else:
            is_mark = any(line.role == "line" for line in group) and not _is_scale(group, box, view)
        if is_mark:
            marks.append(_mark(kind, group[0].shape.colour, box, None, None, sides))
    return marks


def _is_scale(group: Sequence[PlacedShape], box: Box, view: FigureView) -> bool:
    """Say whether lines along the axes have a printed length beside them."""
    tall, wide = view.pixels.shape[:2]
    for line in group:
        if line.shape.tip is not None and line.shape.tail is not None:
            across, down = (abs(a - b) for a, b in zip(line.shape.tip, line.shape.tail, strict=True))
            if min(across * wide, down * tall) > 0.1 * max(across * wide, down * tall):
                return False
    return any(
        LENGTH.search(text.text) and _box_gap(box, text.box, (float(wide), float(tall))) <= 2 * height(text.box) * tall
        for text in view.texts
    )


def _touch(one: EmbeddedShape, other: EmbeddedShape, gap: float, sides: tuple[float, float]) -> bool:
    """Say whether an end of one line lies on the other, or both cross in their middles."""
    if not _alike(one.colour, other.colour):
        return False
    if _away(centre(one.box), centre(other.box), sides) <= gap:
        return True
    for first, second in ((one, other), (other, one)):
        if second.tip is None or second.tail is None:
            continue
        for end in (first.tip, first.tail):
            if end is not None and _from_segment(end, second.tip, second.tail, sides) <= gap:
                return True
    return False


def _from_segment(point: Point, start: Point, end: Point, sides: tuple[float, float]) -> float:
    """Return the distance of a point from a segment."""
    x, y = (point[0] - start[0]) * sides[0], (point[1] - start[1]) * sides[1]
    across, down = (end[0] - start[0]) * sides[0], (end[1] - start[1]) * sides[1]
    square = across * across + down * down
    part = min(1.0, max(0.0, (x * across + y * down) / square)) if square > 0 else 0.0
    return math.hypot(x - part * across, y - part * down)


def _kind_of_lines(group: Sequence[PlacedShape], box: Box, gap: float, sides: tuple[float, float]) -> MarkKind:
    """Return the kind of touching lines: four make a box, those that cross in their middles an asterisk."""
    if 2 <= len(group) <= 4 and all(_away(centre(box), centre(line.shape.box), sides) <= gap for line in group):
        return "asterisk"
    if len(group) == 4:
        edges = [
            _away(centre(line.shape.box), middle, sides) <= 2 * gap for line in group for middle in _edge_middles(box)
        ]
        if sum(edges) == 4:
            return "box"
    return "line"


def _edge_middles(box: Box) -> list[Point]:
    (x, y), (left, top, right, bottom) = centre(box), box
    return [(left, y), (x, top), (right, y), (x, bottom)]


# live text


def text_marks(view: FigureView, image: Box) -> list[Mark]:
    """Return the characters that are marks where they stand alone over an image that a bitmap fills."""
    if not any(covered_fraction(image, bitmap.box) >= ON_PICTURE for bitmap in view.bitmaps):
        return []
    return [
        mark
        for text in view.texts
        if text.text.strip() in _SIGNS
        and contains(image, (*centre(text.box), *centre(text.box)))
        and (mark := _mark_of_text(text, view)) is not None
    ]


def _mark_of_text(text: EmbeddedText, view: FigureView) -> Mark | None:
    kind, direction = _SIGNS[text.text.strip()]
    tall, wide = view.pixels.shape[:2]
    left, top, right, bottom = crop_box(clip(text.box, (0.0, 0.0, 1.0, 1.0)), wide, tall)
    rgb = ink_colour(view.pixels, (left, top, right, bottom))
    # The box of live text is that of its line; a star fills its upper half.
    inside = view.pixels[top:bottom, left:right].astype(np.int16)
    rows, columns = np.nonzero(np.abs(inside - np.asarray(rgb)).max(axis=2) <= ALIKE)
    if not rows.size:
        return None
    box = (
        float(left + columns.min()) / wide, float(top + rows.min()) / tall,
        float(left + columns.max() + 1) / wide, float(top + rows.max() + 1) / tall,
    )  # fmt: skip
    tip = None
    if direction is not None:
        x, y = centre(box)
        across, down = math.cos(math.radians(direction)), -math.sin(math.radians(direction))
        tip = (x + round(across) * width(box) / 2, y + round(down) * height(box) / 2)
    return Mark(kind, mark_colour(rgb), hex_of(rgb), box, tip, direction, None, "text", TEXT, TEXT)


# pixels


def pixel_marks(
    pixels: NDArray[np.uint8], image: Box, network: Network, calibration: Calibration, marked: float
) -> list[Mark]:
    """Return the marks that a network sees in the pixels of an image, in the figure's coordinates, best first.

    Args:
        pixels: of the image.
        image: its box in the figure.
        network: see `image_marks`, as for the rest.
        calibration: see there.
        marked: see there.
    """
    tall, wide = pixels.shape[:2]
    marks = []
    for seen in network([pixels], calibration.least_score(marked))[0]:
        probability = calibration.probability(seen.score, marked, seen.none)
        longer = max(width(seen.box) * wide, height(seen.box) * tall) / max(wide, tall)
        if probability < calibration.threshold or longer < LEAST_SEEN:
            continue
        rgb = ink_colour(pixels, crop_box(seen.box, wide, tall))
        tip, direction = None, None
        if seen.tip is not None:
            x, y = seen.tip
            tip = (image[0] + x * width(image), image[1] + y * height(image))
            direction = degrees(centre(seen.box), seen.tip, (float(wide), float(tall)))
        marks.append(
            Mark(
                seen.kind, mark_colour(rgb), hex_of(rgb), denormalise(seen.box, image), tip, direction, None, "pixels",
                seen.score, probability,
            )
        )  # fmt: skip
    return marks


def _is_known_ink(mark: Mark, view: FigureView, image: Box, placed: Sequence[PlacedShape]) -> bool:
    """Say whether the pixels show live text, or a shape that is no mark: a frame, a scale bar, a letter's outline."""
    for text in view.texts:
        if covered_fraction(mark.box, text.box) >= 0.7 and text.text.strip() not in _SIGNS:
            return True
    return any(item.role == "none" and iou(mark.box, item.shape.box) >= 0.5 for item in placed)


# all sources


def fused(drawn: Sequence[Mark], seen: Sequence[Mark]) -> list[Mark]:
    """Return the marks of all sources, each once: what the PDF tells beats what the pixels show at the same place."""
    return [*drawn, *(mark for mark in seen if not any(_is_same(mark, other) for other in drawn))]


def _is_same(seen: Mark, drawn: Mark) -> bool:
    """Say whether a mark of the pixels is one that the PDF tells, or a part of it, as the head of an arrow is."""
    if iou(seen.box, drawn.box) >= SAME_PLACE:
        return True
    # Circles and boxes surround other marks.
    if drawn.kind in ("circle", "box"):
        return False
    if covered_fraction(seen.box, drawn.box) >= 0.6:
        return True
    return covered_fraction(drawn.box, seen.box) >= 0.8 and seen.kind not in ("circle", "box")


def labelled(marks: Sequence[Mark], view: FigureView, image: Box) -> list[Mark]:
    """Return marks with the letters or numbers that stand beside them; each of these belongs to its nearest mark.

    A panel's identifier in a corner of the image is no label. Labels of what stands beside the image do so, too.
    """
    tall, wide = view.pixels.shape[:2]
    result = list(marks)
    reached = union_box([image, *(mark.box for mark in marks)])
    reached = (
        expand(reached, max((height(text.box) for text in view.texts), default=0.0)) if reached != image else image
    )
    for text in view.texts:
        name = text.text.strip(" ().,:")
        is_sign = _SIGN_LABEL.fullmatch(name) is not None
        if not (is_sign or _LABEL.fullmatch(name)) or covered_fraction(text.box, reached) < 0.5:
            continue
        if _is_identifier(text, view, image):
            continue
        ways = [(_tail_gap if is_sign else _mark_gap)(mark, text.box, (float(wide), float(tall))) for mark in result]
        nearest = min(range(len(ways)), key=ways.__getitem__, default=None)
        if nearest is None or ways[nearest] > LABEL_GAP * height(text.box) * tall:
            continue
        if result[nearest].label is None:
            result[nearest] = replace(result[nearest], label=name)
    return result


def _mark_gap(mark: Mark, box: Box, sides: tuple[float, float]) -> float:
    return _box_gap(mark.box, box, sides)


def _tail_gap(mark: Mark, box: Box, sides: tuple[float, float]) -> float:
    """Return the distance in pixels of a box from an arrow's tail; infinite for other marks."""
    if mark.kind != "arrow" or mark.tip is None:
        return math.inf
    left, top, right, bottom = mark.box
    x, y = left + right - mark.tip[0], top + bottom - mark.tip[1]
    return _box_gap((x, y, x, y), box, sides)


def _names_arrow(box: Box, marks: Sequence[Mark], view: FigureView) -> bool:
    """Say whether a sign stands at the tail of an arrow: it is the arrow's label then, and points at nothing itself."""
    tall, wide = view.pixels.shape[:2]
    near = LABEL_GAP * height(box) * tall
    return any(_tail_gap(mark, box, (float(wide), float(tall))) <= near for mark in marks)


def _is_identifier(text: EmbeddedText, view: FigureView, image: Box) -> bool:
    if text.text.strip(" ().,:") not in view.caption_identifiers:
        return False
    x, y = centre(normalise(text.box, image))
    return min(x, 1 - x) < 0.15 and min(y, 1 - y) < 0.2


def _box_gap(one: Box, other: Box, sides: tuple[float, float]) -> float:
    """Return the distance in pixels between two boxes, 0 where they meet."""
    across = max(0.0, one[0] - other[2], other[0] - one[2]) * sides[0]
    down = max(0.0, one[1] - other[3], other[1] - one[3]) * sides[1]
    return math.hypot(across, down)
