"""Axis-aligned boxes: the one place where their arithmetic lives.

A box is `(left, top, right, bottom)` with the origin at the top left. Its unit is the caller's: PDF points on a page,
pixels of a rendered figure, or fractions 0..1 of a figure ("normalised"). Functions never convert between units
unless their name says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pmo_assets.records.defaults import NMS_IOU

Box = tuple[float, float, float, float]

Point = tuple[float, float]
"""(x, y) with the origin at the top left, in the unit of the boxes beside it."""

UNIT_BOX: Box = (0.0, 0.0, 1.0, 1.0)
"""The whole figure in normalised coordinates."""


def as_box(values: Iterable[float]) -> Box:
    """Return four numbers as a box with ordered edges.

    Raises:
        ValueError: if there are not exactly four values.
    """
    x0, y0, x1, y1 = (float(value) for value in values)
    return (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))


def width(box: Box) -> float:
    """Return the extent in x; 0 for an inverted box."""
    return max(0.0, box[2] - box[0])


def height(box: Box) -> float:
    """Return the extent in y; 0 for an inverted box."""
    return max(0.0, box[3] - box[1])


def area(box: Box) -> float:
    """Return the area in squared units; 0 for an inverted box."""
    return width(box) * height(box)


def centre(box: Box) -> tuple[float, float]:
    """Return the centre point (x, y)."""
    return ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)


def intersection(a: Box, b: Box) -> Box:
    """Return the common part of two boxes; its area is 0 when they do not overlap."""
    return (max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3]))


def iou(a: Box, b: Box) -> float:
    """Return intersection over union, 0..1; 0 when both boxes are empty."""
    common = area(intersection(a, b))
    union = area(a) + area(b) - common
    return common / union if union > 0 else 0.0


def covered_fraction(inner: Box, outer: Box) -> float:
    """Return the fraction of `inner`'s area that lies in `outer`, 0..1 (the paper's "overlap")."""
    size = area(inner)
    return area(intersection(inner, outer)) / size if size > 0 else 0.0


def contains(outer: Box, inner: Box, tolerance: float = 0.0) -> bool:
    """Say whether `inner` lies in `outer`, allowing it to stick out by `tolerance` units on each side."""
    return (
        inner[0] >= outer[0] - tolerance
        and inner[1] >= outer[1] - tolerance
        and inner[2] <= outer[2] + tolerance
        and inner[3] <= outer[3] + tolerance
    )


def union_box(boxes: Iterable[Box]) -> Box:
    """Return the smallest box around all boxes.

    Raises:
        ValueError: if there is no box.
    """
    items = list(boxes)
    if not items:
        raise ValueError("union_box needs at least one box")
    return (
        min(box[0] for box in items),
        min(box[1] for box in items),
        max(box[2] for box in items),
        max(box[3] for box in items),
    )


def expand(box: Box, margin: float) -> Box:
    """Return the box grown by `margin` units on every side."""
    return (box[0] - margin, box[1] - margin, box[2] + margin, box[3] + margin)


def clip(box: Box, frame: Box) -> Box:
    """Return the box moved into `frame` edge by edge; a box outside collapses onto the frame's border."""
    return (
        min(max(box[0], frame[0]), frame[2]),
        min(max(box[1], frame[1]), frame[3]),
        min(max(box[2], frame[0]), frame[2]),
        min(max(box[3], frame[1]), frame[3]),
    )


def normalise(box: Box, frame: Box) -> Box:
    """Express `box` as fractions of `frame` (0..1 inside it).

    Raises:
        ValueError: if the frame has no area.
    """
    if area(frame) <= 0:
        raise ValueError(f"cannot normalise to an empty frame {frame}")
    w, h = width(frame), height(frame)
    return ((box[0] - frame[0]) / w, (box[1] - frame[1]) / h, (box[2] - frame[0]) / w, (box[3] - frame[1]) / h)


def denormalise(box: Box, frame: Box) -> Box:
    """Undo `normalise`: map fractions of `frame` back to its unit."""
    w, h = width(frame), height(frame)
    return (frame[0] + box[0] * w, frame[1] + box[1] * h, frame[0] + box[2] * w, frame[1] + box[3] * h)


def reading_order(boxes: Sequence[Box]) -> list[int]:
    """Return indices row by row, left to right; boxes whose vertical extents overlap by half form a row."""
    rows: list[list[int]] = []
    for index in sorted(range(len(boxes)), key=lambda i: (boxes[i][1], boxes[i][0])):
        box = boxes[index]
        for row in rows:
            first = boxes[row[0]]
            common = min(box[3], first[3]) - max(box[1], first[1])
            if common >= 0.5 * min(height(box), height(first)):
                row.append(index)
                break
        else:
            rows.append([index])
    return [index for row in rows for index in sorted(row, key=lambda i: boxes[i][0])]


def column_order(boxes: Sequence[Box]) -> list[int]:
    """Return indices column by column, top to bottom: `reading_order` of the transposed boxes."""
    return reading_order([(box[1], box[0], box[3], box[2]) for box in boxes])


def non_maximum_suppression(boxes: Sequence[Box], scores: Sequence[float], iou_threshold: float = NMS_IOU) -> list[int]:
    """Return the indices that survive greedy non-maximum suppression, best score first.

    The default threshold is the paper's (Methods, "Panel and image detection"). Ties keep the earlier box, so the
    result is deterministic.
    """
    order = sorted(range(len(boxes)), key=lambda i: (-scores[i], i))
    kept: list[int] = []
    for i in order:
        if all(iou(boxes[i], boxes[j]) <= iou_threshold for j in kept):
            kept.append(i)
    return kept


def matched_boxes(first: Sequence[Box], second: Sequence[Box], least: float) -> dict[int, int]:
    """Return which box of `second` each box of `first` (by index) is, the most alike first; each is taken once.

    Args:
        first: boxes.
        second: boxes in the same coordinates.
        least: IoU from which two boxes may be the same.
    """
    pairs = [(iou(a, b), i, k) for i, a in enumerate(first) for k, b in enumerate(second)]
    result: dict[int, int] = {}
    taken: set[int] = set()
    for value, i, k in sorted(pairs, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if value >= least and i not in result and k not in taken:
            result[i] = k
            taken.add(k)
    return result


def crop_box(box: Box, width: int, height: int) -> tuple[int, int, int, int]:
    """Return a normalised box as whole pixels (l, t, r, b), at least one pixel wide and high, inside the figure.

    Edges are rounded, not cut off: an edge on a pixel comes back as that pixel (0.29 * 100 is 28.999…).
    """
    left, top = min(max(round(box[0] * width), 0), width - 1), min(max(round(box[1] * height), 0), height - 1)
    right, bottom = min(max(round(box[2] * width), left + 1), width), min(max(round(box[3] * height), top + 1), height)
    return left, top, right, bottom


def box_in_picture(box: Box, crop: Box, width: int, height: int) -> Box:
    """Return a box as fractions of the picture that was cut out of a figure; outside of 0..1 where it reaches out.

    Args:
        box: normalised to the figure.
        crop: what was cut out, normalised to the figure; the picture shows its whole pixels (`crop_box`).
        width: of the figure, in pixels.
        height: of the figure, in pixels.
    """
    left, top, right, bottom = crop_box(crop, width, height)
    shown = (float(left), float(top), float(right), float(bottom))
    return normalise((box[0] * width, box[1] * height, box[2] * width, box[3] * height), shown)
