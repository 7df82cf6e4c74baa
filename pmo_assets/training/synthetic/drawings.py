"""Drawn pictures that are no retinal images, by kind and how often each is drawn.

Those on paper (`PAPER_KINDS`) are cut to their ink afterwards by `trimmed`; the others fill their frame.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from pmo_assets.samples.drawing import Pixels, Rng, one_by_odds
from pmo_assets.training.synthetic.filled_pictures import body_scan, heat_map, photograph, segmentation, spots, texture
from pmo_assets.training.synthetic.paper_drawings import flow_diagram, line_drawing, table, trace
from pmo_assets.training.synthetic.plots import (
    bar_plot,
    box_plot,
    line_plot,
    matrix_plot,
    pie_chart,
    scatter_plot,
    stacked_bar_plot,
)


def trimmed(pixels: Pixels) -> Pixels:
    """Return a picture on white paper cut to its ink (any channel below 235); unchanged when there is none."""
    first, second, third = cv2.split(pixels)
    ink = np.asarray(cv2.min(cv2.min(first, second), third) < 235, dtype=np.uint8)
    left, top, wide, tall = cv2.boundingRect(ink)
    return np.ascontiguousarray(pixels[top : top + tall, left : left + wide]) if min(wide, tall) >= 8 else pixels


PAPER_KINDS: tuple[tuple[Callable[[Rng, int, int], Pixels], float], ...] = (
    (line_plot, 5), (bar_plot, 6), (stacked_bar_plot, 2), (scatter_plot, 3), (box_plot, 3), (pie_chart, 0.5),
    (matrix_plot, 2), (table, 1), (flow_diagram, 1.5), (line_drawing, 1.5), (trace, 0.8),
)  # fmt: skip
"""Drawings on white paper, with how often each is drawn."""

FILLED_KINDS: tuple[tuple[Callable[[Rng, int, int], Pixels], float], ...] = (
    (texture, 4), (body_scan, 3), (photograph, 3), (heat_map, 1.5), (spots, 1.5), (segmentation, 1.0),
)  # fmt: skip
"""Pictures that fill their frame, with how often each is drawn; blots come in stacks of their own."""


def drawn(
    rng: Rng, kinds: tuple[tuple[Callable[[Rng, int, int], Pixels], float], ...], width: int, height: int
) -> Pixels:
    """Return a picture of a random kind; on paper it is cut to its ink and may thus be smaller than asked."""
    kind = one_by_odds(rng, [kind for kind, _ in kinds], [odds for _, odds in kinds])
    picture = kind(rng, max(24, width), max(24, height))
    return trimmed(picture) if kinds is PAPER_KINDS else picture
