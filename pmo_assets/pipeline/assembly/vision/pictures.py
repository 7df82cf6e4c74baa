"""The figure as the model sees it: scaled down to a bounded size, plain or with the boxes drawn and numbered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pictures import png_bytes
from pmo_assets.pipeline.assembly.vision.question import BoxesShown, FigureQuestion
from pmo_assets.records.chat import ChatPicture
from pmo_assets.records.geometry import Box, crop_box

Pixels = NDArray[np.uint8]

_Colour = tuple[int, int, int]

_PANEL: Final[_Colour] = (0, 90, 200)
_FINAL: Final[_Colour] = (120, 120, 120)
_LABEL: Final[_Colour] = (200, 0, 60)
_IMAGE: Final[_Colour] = (0, 130, 60)
_WHITE: Final[_Colour] = (255, 255, 255)

_SIDE_PER_EM: Final = 60
"""The tags are so many times smaller than the picture's shorter side: read by a model, hiding little."""
_EM: Final = (11, 28)
"""Pixels of the tags' letters, least and most."""
_FONT: Final = cv2.FONT_HERSHEY_SIMPLEX
_FONT_PIXELS: Final = 21
"""Height of that font's capitals at scale 1."""


def shown_figure(pixels: Pixels, question: FigureQuestion, boxes: BoxesShown, max_pixels: int) -> ChatPicture:
    """Return the picture that goes with a question.

    Args:
        pixels: the figure, (height, width, 3) uint8 RGB; not changed.
        question: the question about it.
        boxes: draw them, or leave the picture plain because they stand in the question's words.
        max_pixels: the figure is scaled down to at most so many.
    """
    scaled = scaled_down(pixels, max_pixels)
    return ChatPicture(png_bytes(with_boxes(scaled, question) if boxes == "drawn" else scaled))


def scaled_down(pixels: Pixels, max_pixels: int) -> Pixels:
    """Return a picture with at most `max_pixels` pixels, its shape kept."""
    height, width = pixels.shape[:2]
    if height * width <= max_pixels:
        return pixels
    factor = math.sqrt(max_pixels / (height * width))
    size = (max(1, math.floor(width * factor)), max(1, math.floor(height * factor)))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def with_boxes(pixels: Pixels, question: FigureQuestion) -> Pixels:
    """Return a copy with the boxes of panels, labels and images drawn, each tagged with its id.

    Tags stand at the lower right: printed identifiers mostly stand at the upper left and must stay readable.
    """
    drawn = np.ascontiguousarray(pixels).copy()
    if question.type == "positional":
        _draw(drawn, [(panel.id, panel.box) for panel in question.panels if panel.is_final], _FINAL)
    else:
        _draw(drawn, [(panel.id, panel.box) for panel in question.panels if not panel.is_final], _PANEL)
        _draw(drawn, [(panel.id, panel.box) for panel in question.panels if panel.is_final], _FINAL)
        _draw(drawn, [(label.id, label.box) for label in question.labels], _LABEL)
    if question.type != "alphanumeric":
        _draw(drawn, [(image.id, image.box) for image in question.images], _IMAGE)
    return drawn


def _draw(pixels: Pixels, tagged: Sequence[tuple[str, Box]], colour: _Colour) -> None:
    height, width = pixels.shape[:2]
    em = min(max(min(height, width) // _SIDE_PER_EM, _EM[0]), _EM[1])
    scale, line = em / _FONT_PIXELS, max(1, em // 8)
    for tag, box in tagged:
        left, top, right, bottom = crop_box(box, width, height)
        cv2.rectangle(pixels, (left, top), (right - 1, bottom - 1), colour, line)
        (wide, high), base = cv2.getTextSize(tag, _FONT, scale, line)
        # below its box for a label, which it would hide, and inside for what is larger
        inside = right - left > 2 * wide and bottom - top > 2 * (high + base)
        x = max(0, min(right - wide - line, width - wide)) if inside else min(right, max(0, width - wide))
        y = bottom - base - line if inside else min(bottom + high, height - 1)
        cv2.rectangle(pixels, (x, y - high - 1), (x + wide, y + base), _WHITE, cv2.FILLED)
        cv2.putText(pixels, tag, (x, y), _FONT, scale, colour, line, cv2.LINE_AA)
