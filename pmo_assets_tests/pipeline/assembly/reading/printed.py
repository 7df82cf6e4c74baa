"""Figures with typeset identifiers, and a reader that says what it is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pmo_assets.records.geometry import Box
from pmo_assets.records.reading import ReadText
from pmo_assets.samples.drawing import Colour, print_text


def printed_figure(
    texts: Sequence[str],
    *,
    size: int = 28,
    face: str = "hebo",
    ground: Colour = (255, 255, 255),
    colour: Colour = (0, 0, 0),
    upright: bool = False,
) -> tuple[NDArray[np.uint8], list[Box]]:
    """Return a figure with texts in a row, and their normalised boxes."""
    figure = np.empty((160, 140 * len(texts), 3), np.uint8)
    figure[:] = ground
    boxes = []
    for k, text in enumerate(texts):
        left, top, right, bottom = print_text(figure, 140 * k + 12, 12, text, face, size, colour, upright=upright)
        boxes.append((left / figure.shape[1], top / 160, right / figure.shape[1], bottom / 160))
    return figure, boxes


@dataclass
class ScriptedReader:
    """A `TextReader` that reads the same in every picture and counts the pictures."""

    texts: tuple[ReadText, ...]
    name: str = "scripted"
    pictures: list[NDArray[np.uint8]] = field(default_factory=list)

    def load(self) -> None:
        """Nothing to load."""

    def __call__(
        self, pictures: Sequence[NDArray[np.uint8]], *, one_line: bool = False, lengths: tuple[int, int] | None = None
    ) -> list[tuple[ReadText, ...]]:
        self.pictures += pictures
        return [self.texts for _ in pictures]
