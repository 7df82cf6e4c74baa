"""What the tests of fusion share: a figure of two pictures and what a network sees in it."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from pmo_assets.pipeline.detection.protocols import NetworkBoxes
from pmo_assets.records.detections import FigureView
from pmo_assets.records.geometry import Box

LEFT: Box = (0.0, 0.0, 0.45, 1.0)
RIGHT: Box = (0.55, 0.0, 1.0, 1.0)
WHOLE: Box = (0.0, 0.0, 1.0, 1.0)


def two_pictures() -> FigureView:
    """Two noisy pictures of 45 % of the width each, on white."""
    pixels = np.full((200, 400, 3), 255, np.uint8)
    noise = np.random.default_rng(0).integers(0, 200, (200, 180, 3), dtype=np.uint8)
    pixels[:, :180], pixels[:, 220:] = noise, noise[:, ::-1]
    return FigureView(pixels)


def seen(
    *images: tuple[Box, float], panels: tuple[tuple[Box, float], ...] = (), labels: tuple[tuple[Box, float], ...] = ()
) -> NetworkBoxes:
    groups = {"image": images, "panel": panels, "label": labels}
    shares = np.asarray([[0.0, 0.9, 0.0, 0.1]], np.float32)  # OCT
    boxes = {g: np.asarray([b for b, _ in rows], np.float32).reshape(-1, 4) for g, rows in groups.items()}
    scores = {g: np.asarray([s for _, s in rows], np.float32) for g, rows in groups.items()}
    return NetworkBoxes(boxes, scores, {g: s[:, None] * (shares if g == "image" else [1]) for g, s in scores.items()})


boxes = st.tuples(*[st.floats(0, 0.7)] * 2, *[st.floats(0.05, 0.3)] * 2).map(
    lambda b: (b[0], b[1], b[0] + b[2], b[1] + b[3])
)
