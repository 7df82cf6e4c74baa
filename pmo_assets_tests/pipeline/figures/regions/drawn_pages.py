"""Pages made of boxes: lines, bitmaps and paths where a test wants them, without any PDF."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pmo_assets.pipeline.figures.page import BitmapPlacement, PageContent, TextLine
from pmo_assets.pipeline.figures.running_text import TextStyle
from pmo_assets.records.geometry import Box

STYLE = TextStyle(10.0, frozenset({(10.0, "Body")}), (50.0,), 500.0, 60.0, 780.0)
"""Running text of 10 points from 60 down to 780."""


def drawn_page(
    lines: Sequence[Box] = (),
    bitmaps: Sequence[Box] = (),
    drawings: Sequence[Box] = (),
    white: Sequence[bool] | None = None,
    index: int = 0,
) -> PageContent:
    """A page of 600 x 800 points; every line is "text" in the font of running text."""
    return PageContent(
        index,
        600.0,
        800.0,
        tuple(TextLine("text", box, 10.0, False, "Body", k, 0, ()) for k, box in enumerate(lines)),
        tuple(BitmapPlacement(box, 100, 100, 72.0) for box in bitmaps),
        np.asarray(drawings, dtype=np.float64).reshape(-1, 4),
        np.asarray(white if white is not None else [False] * len(drawings), dtype=bool),
    )
