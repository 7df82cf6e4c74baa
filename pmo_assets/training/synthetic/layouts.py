"""Layouts of panels and their identifiers: those of real figures from a table, and a parametric generator.

The table has the columns of NLM's PanelSeg annotations: figure, panel_x0 … panel_y1, label_x0 … label_y1 (empty when
the panel has no printed label), label.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from pmo_assets.records.geometry import Box

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")


def split_of(key: str) -> Split:
    """Return the part of the data an id belongs to: 80 % train, 10 % validation, 10 % test, fixed by its hash."""
    share = int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big") / 2**32
    return "train" if share < 0.8 else "validation" if share < 0.9 else "test"


@dataclass(frozen=True, slots=True)
class Layout:
    """The plan of a figure.

    Attributes:
        aspect: width / height of the figure.
        panels: normalised boxes, reading order; they do not overlap.
        labelled: true if identifiers are printed.
        corner: on which side of its panel the identifier lies, as (right half, lower half).
    """

    aspect: float
    panels: tuple[Box, ...]
    labelled: bool
    corner: tuple[bool, bool]


def layouts_of_table(path: Path, split: Split | None = None) -> list[Layout]:
    """Return the layouts of a table, in its order; figures whose boxes overlap or vanish are left out.

    Args:
        path: CSV, see the module's text.
        split: only figures whose id falls into this part; None for all.
    """
    table = pl.read_csv(path, infer_schema_length=0)
    boxes = [f"{kind}_{c}" for kind in ("panel", "label") for c in ("x0", "y0", "x1", "y1")]
    table = table.with_columns(pl.col(c).cast(pl.Float64, strict=False) for c in boxes)
    result = []
    for (figure,), rows in table.group_by("figure", maintain_order=True):
        if split is not None and split_of(str(figure)) != split:
            continue
        layout = _layout_of_boxes(rows.select(boxes[:4]).rows(), rows.select(boxes[4:]).rows())
        if layout is not None:
            result.append(layout)
    return result


def _layout_of_boxes(panels: Sequence[Sequence[float]], labels: Sequence[Sequence[float | None]]) -> Layout | None:
    left, top = min(p[0] for p in panels), min(p[1] for p in panels)
    wide, tall = max(p[2] for p in panels) - left, max(p[3] for p in panels) - top
    if wide < 40 or tall < 40 or not 0.2 <= wide / tall <= 5:
        return None
    normal: list[Box] = [
        ((p[0] - left) / wide, (p[1] - top) / tall, (p[2] - left) / wide, (p[3] - top) / tall) for p in panels
    ]
    if any(b[2] - b[0] < 0.06 or b[3] - b[1] < 0.05 for b in normal) or len(normal) > 30:
        return None
    for i, a in enumerate(normal):
        for b in normal[i + 1 :]:
            common = max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
            if common > 0.02 * min((a[2] - a[0]) * (a[3] - a[1]), (b[2] - b[0]) * (b[3] - b[1])):
                return None
    places = [
        ((x[0] + x[2]) / 2 > (p[0] + p[2]) / 2, (x[1] + x[3]) / 2 > (p[1] + p[3]) / 2)
        for p, x in zip(panels, labels, strict=True)
        if x[0] is not None and x[1] is not None and x[2] is not None and x[3] is not None
    ]
    corner = max(sorted(set(places)), key=places.count) if places else (False, False)
    return Layout(wide / tall, tuple(normal), bool(places), corner)


def parametric_layout(rng: np.random.Generator) -> Layout:
    """Return a random layout: a single panel, a grid, rows of differing numbers of panels, or panels that span rows."""
    aspect = float(np.exp(rng.uniform(np.log(0.5), np.log(2.6))))
    kind = rng.choice(["single", "grid", "rows", "columns", "spanning"], p=[0.24, 0.34, 0.2, 0.06, 0.16])
    gap = float(rng.choice([0.0, 0.004, 0.012, 0.025, 0.05], p=[0.08, 0.22, 0.35, 0.25, 0.1]))
    gaps = (gap, gap * aspect)
    whole: Box = (0.0, 0.0, 1.0, 1.0)
    if kind == "single":
        panels: Iterable[Box] = (whole,)
    elif kind == "grid":
        rows, columns = _grid_size(rng, aspect)
        parts = [_cut(rng, row, columns, 0, gaps, even=True) for row in _cut(rng, whole, rows, 1, gaps, even=True)]
        panels = [box for part in parts for box in part]
    elif kind in ("rows", "columns"):
        first = 1 if kind == "rows" else 0
        strips = _cut(rng, whole, int(rng.integers(2, 5)), first, gaps, even=False)
        even = bool(rng.random() < 0.6)
        panels = [b for s in strips for b in _cut(rng, s, int(rng.integers(1, 5)), 1 - first, gaps, even=even)]
    else:
        axis = int(rng.integers(2))
        big, rest = _cut(rng, whole, 2, axis, gaps, even=False)
        small = _cut(rng, rest, int(rng.integers(2, 5)), 1 - axis, gaps, even=True)
        panels = [big, *small] if rng.random() < 0.5 else [*_mirrored([big, *small], axis)]
    boxes = tuple(b for b in panels if b[2] - b[0] > 0.07 and b[3] - b[1] > 0.06)
    labelled = bool(len(boxes) > 1 and rng.random() < 0.88)
    return Layout(aspect, boxes or (whole,), labelled, (bool(rng.random() < 0.15), bool(rng.random() < 0.25)))


def typeset_layout(rng: np.random.Generator) -> Layout:
    """Return an even grid as rows of LaTeX sub-figures are, one to four rows; the last row may be short and centred."""
    columns, rows = int(rng.integers(1, 7)), int(rng.integers(1, 5))
    if columns * rows < 2:
        columns, rows = 2, 2
    cell = float(np.exp(rng.uniform(np.log(0.7), np.log(1.8))))
    aspect = float(np.clip(cell * columns / rows, 0.4, 4.0))
    gap = float(rng.choice([0.006, 0.015, 0.03]))
    parts = [_cut(rng, row, columns, 0, (gap, gap * aspect), even=True)
             for row in _cut(rng, (0.0, 0.0, 1.0, 1.0), rows, 1, (gap, gap * aspect), even=True)]  # fmt: skip
    if rows > 1 and columns > 1 and rng.random() < 0.3:
        missing = int(rng.integers(1, columns))
        shift = missing * (parts[-1][1][0] - parts[-1][0][0]) / 2 if rng.random() < 0.7 else 0.0
        parts[-1] = [(b[0] + shift, b[1], b[2] + shift, b[3]) for b in parts[-1][: columns - missing]]
    return Layout(aspect, tuple(box for part in parts for box in part), True, (False, True))


def _grid_size(rng: np.random.Generator, aspect: float) -> tuple[int, int]:
    """Return rows and columns, at least two panels, with cells that are not too long."""
    while True:
        rows, columns = int(rng.integers(1, 6)), int(rng.integers(1, 6))
        if rows * columns >= 2 and 0.35 < aspect * rows / columns < 3.5:
            return rows, columns


def _cut(rng: np.random.Generator, box: Box, n: int, axis: int, gaps: tuple[float, float], *, even: bool) -> list[Box]:
    shares = np.full(n, 1 / n) if even else rng.dirichlet(np.full(n, 6.0))
    free = (box[axis + 2] - box[axis]) - gaps[axis] * (n - 1)
    result: list[Box] = []
    start = box[axis]
    for share in shares.tolist():
        stop = start + free * share
        result.append((start, box[1], stop, box[3]) if axis == 0 else (box[0], start, box[2], stop))
        start = stop + gaps[axis]
    return result


def _mirrored(boxes: list[Box], axis: int) -> list[Box]:
    flipped: list[Box] = [
        (1 - b[2], b[1], 1 - b[0], b[3]) if axis == 0 else (b[0], 1 - b[3], b[2], 1 - b[1]) for b in boxes
    ]
    return sorted(flipped, key=lambda b: (b[1], b[0]))
