"""Barriers: running text, captions and tables, which separate a figure from everything beyond them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.figures.page import TextLine
from pmo_assets.records.geometry import Box

LINE_TRIM = 0.25
"""Part of a line box's height, at top and bottom, that reaches into its neighbours: the letters' bodies lie between."""

LABEL_TRIM = 0.2
"""The same for text that may belong to a figure: capitals and figures reach higher than running text."""

CROSSED_WIDTH = (0.1, 12.0)
"""Part of a line's width, and points: a rectangle that reaches less far into a line only touches its end ..."""

CROSSED_HEIGHT = 0.3
"""... or its upper or lower edge, when it covers less of its height."""

MAX_LINE_HEIGHT = 20.0
"""Points; barriers that are higher (tables, columns of lines) are crossed as a line of this height is."""


def core_box(box: Box, trim: float) -> Box:
    """Return the middle of a line's box, without `trim` of its height at top and bottom."""
    x0, y0, x1, y1 = box
    cut = trim * (y1 - y0)
    return (x0, y0 + cut, x1, y1 - cut)


def line_core(line: TextLine) -> Box:
    """Return the middle of a line's box: line boxes reach into their neighbours, the letters' bodies do not."""
    return core_box(line.bbox, LINE_TRIM)


def is_blocked(barriers: NDArray[np.float64], rectangle: Box) -> bool:
    """Say whether a rectangle crosses a barrier (boxes (n, 4)), by more than touching it."""
    if not len(barriers):
        return False
    w = np.minimum(barriers[:, 2], rectangle[2]) - np.maximum(barriers[:, 0], rectangle[0])
    h = np.minimum(barriers[:, 3], rectangle[3]) - np.maximum(barriers[:, 1], rectangle[1])
    line_w = barriers[:, 2] - barriers[:, 0]
    line_h = np.minimum(barriers[:, 3] - barriers[:, 1], MAX_LINE_HEIGHT)
    return bool(((w > np.minimum(CROSSED_WIDTH[0] * line_w, CROSSED_WIDTH[1])) & (h > CROSSED_HEIGHT * line_h)).any())


def distance(a: Box, b: Box) -> float:
    """Return the larger of the horizontal and the vertical gap between two boxes; 0 when they touch."""
    return max(0.0, b[0] - a[2], a[0] - b[2], b[1] - a[3], a[1] - b[3])
