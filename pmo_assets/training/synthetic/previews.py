"""Contact sheets of training figures with their boxes."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from pmo_assets.samples.drawing import Colour, Pixels
from pmo_assets.training.synthetic.placed_figure import SyntheticFigure

PANEL: Colour = (230, 0, 0)
IDENTIFIER: Colour = (0, 0, 255)
TYPES: dict[str, Colour] = {
    "CFP": (200, 0, 200), "OCT": (0, 150, 200), "Retinal Imaging": (150, 120, 0), "Other": (0, 150, 0),
}  # fmt: skip


def contact_sheet(figures: Sequence[SyntheticFigure], side: int = 380, columns: int = 4) -> Pixels:
    """Return figures in rows with panels (red), identifiers (blue) and images (a colour per type) outlined."""
    cells = []
    for figure in figures:
        scale = side / max(figure.pixels.shape[:2])
        picture = cv2.resize(figure.pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        tall, wide = picture.shape[:2]
        outlines = [(i.box, TYPES[i.image_type]) for i in figure.images] + [(p.box, PANEL) for p in figure.panels]
        outlines += [(p.identifier_box, IDENTIFIER) for p in figure.panels if p.identifier_box is not None]
        for box, colour in outlines:
            first = (round(box[0] * wide), round(box[1] * tall))
            cv2.rectangle(picture, first, (round(box[2] * wide) - 1, round(box[3] * tall) - 1), colour, 1)
        cell = np.full((side + 20, side + 20, 3), 180, np.uint8)
        cell[10 : 10 + tall, 10 : 10 + wide] = picture
        cells.append(cell)
    while len(cells) % columns:
        cells.append(np.full((side + 20, side + 20, 3), 180, np.uint8))
    rows = [np.concatenate(cells[k : k + columns], axis=1) for k in range(0, len(cells), columns)]
    return np.concatenate(rows, axis=0) if rows else np.zeros((1, 1, 3), np.uint8)
