"""Quarter turns: boxes and pages rotated, so that sideways text is level, and back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pmo_assets.pipeline.figures.page import PageContent
from pmo_assets.records.geometry import Box


def turned_box(box: Box, turns: int, width: float, height: float) -> Box:
    """Rotate a box with its page counter-clockwise by `turns` quarter turns; the page is `width` x `height`."""
    x0, y0, x1, y1 = box
    match turns % 4:
        case 1:
            return (y0, width - x1, y1, width - x0)
        case 2:
            return (width - x1, height - y1, width - x0, height - y0)
        case 3:
            return (height - y1, x0, height - y0, x1)
        case _:
            return box


def turned_page(page: PageContent, turns: int) -> PageContent:
    """Rotate a page counter-clockwise by `turns` quarter turns, so that sideways text (`quarter_turns`) is level."""
    turns %= 4
    if turns == 0:
        return page
    w, h = page.width, page.height

    def turn(box: Box) -> Box:
        return turned_box(box, turns, w, h)

    lines = tuple(
        replace(
            line,
            bbox=turn(line.bbox),
            quarter_turns=(line.quarter_turns - turns) % 4,
            spans=tuple(replace(span, bbox=turn(span.bbox)) for span in line.spans),
        )
        for line in page.lines
    )
    bitmaps = tuple(
        replace(bitmap, bbox=turn(bitmap.bbox), placed=turn(bitmap.placed) if bitmap.placed else None)
        for bitmap in page.bitmaps
    )
    boxes = page.drawings
    if len(boxes):
        boxes = np.array([turn((a, b, c, d)) for a, b, c, d in boxes.tolist()], dtype=np.float64)
    width, height = (h, w) if turns % 2 else (w, h)
    return replace(page, width=width, height=height, lines=lines, bitmaps=bitmaps, drawings=boxes)
