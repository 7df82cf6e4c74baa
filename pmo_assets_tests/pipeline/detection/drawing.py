"""Figures drawn with known panels: photographs from noise, plots with axes, printed letters."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.structure.gutters import Rect
from pmo_assets.records.figure import EmbeddedText
from pmo_assets.records.geometry import Box

Picture = NDArray[np.uint8]


def paper(width: int, height: int, colour: int = 255) -> Picture:
    """An empty figure."""
    return np.full((height, width, 3), colour, np.uint8)


def photograph(width: int, height: int, seed: int = 0, low: int = 20, high: int = 200) -> Picture:
    """Smooth coloured clouds: continuous tone without any straight edge, never white."""
    coarse = np.random.default_rng(seed).uniform(low, high, (6, 6, 3)).astype(np.float32)
    return np.clip(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC), low, high).astype(np.uint8)


def paste(figure: Picture, picture: Picture, left: int, top: int) -> Rect:
    """Put a picture on a figure and return where it lies."""
    height, width = picture.shape[:2]
    figure[top : top + height, left : left + width] = picture
    return (left, top, left + width, top + height)


def plot(figure: Picture, left: int, top: int, width: int, height: int) -> Rect:
    """Draw axes with a curve and tick labels in the given box; returns the box of its ink."""
    axis_x, axis_y = left + 40, top + height - 40
    cv2.line(figure, (axis_x, top), (axis_x, axis_y), (0, 0, 0), 2)
    cv2.line(figure, (axis_x, axis_y), (left + width - 1, axis_y), (0, 0, 0), 2)
    xs = np.linspace(axis_x, left + width - 5, 60)
    ys = axis_y - 5 - (axis_y - top - 20) * (0.5 + 0.45 * np.sin(xs / 40))
    cv2.polylines(figure, [np.stack([xs, ys], axis=1).astype(np.int32)], False, (200, 30, 30), 2)
    for k in range(4):
        cv2.putText(
            figure, str(k), (axis_x + 10 + k * (width - 60) // 4, axis_y + 25), 0, 0.5, (0, 0, 0), 1, cv2.LINE_AA
        )
        cv2.putText(figure, str(k), (left + 12, axis_y - 5 - k * (height - 70) // 4), 0, 0.5, (0, 0, 0), 1, cv2.LINE_AA)
    # lines are two pixels thick and stick out of the box by one
    y, x = max(0, top - 2), max(0, left - 2)
    dark = np.argwhere(figure[y : top + height + 2, x : left + width + 2].min(axis=2) < 230)
    (y0, x0), (y1, x1) = dark.min(axis=0), dark.max(axis=0) + 1
    return (x + int(x0), y + int(y0), x + int(x1), y + int(y1))


def live_text(figure: Picture, text: str, left: int, top: int, size: int = 20) -> EmbeddedText:
    """Print text and return the span that a PDF would report for it."""
    scale = size / 32
    (width, height), below = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, scale, 2)
    cv2.putText(figure, text, (left, top + height), cv2.FONT_HERSHEY_SIMPLEX, scale, (0, 0, 0), 2, cv2.LINE_AA)
    return EmbeddedText(text, as_fraction(figure, (left, top, left + width, top + height + below)), 8.0, False)


def as_fraction(figure: Picture, rect: Rect) -> Box:
    """A pixel rectangle as fractions of the figure."""
    height, width = figure.shape[:2]
    return (rect[0] / width, rect[1] / height, rect[2] / width, rect[3] / height)


def fundus(size: int = 240) -> Picture:
    """An orange disc with a bright spot and dark vessels on black."""
    y, x = np.mgrid[0:size, 0:size]
    radius = np.hypot(x - size / 2, y - size / 2) / (size / 2)
    shade = np.clip(1.1 - 0.5 * radius, 0, 1)[:, :, None] * np.asarray([190, 85, 30])
    picture = np.where(radius[:, :, None] < 0.95, shade, 0)
    picture[np.hypot(x - size * 0.7, y - size * 0.5) < size * 0.07] = (245, 215, 140)
    picture = np.ascontiguousarray(picture.astype(np.uint8))
    for k in range(-3, 4):
        end = (int(size * 0.2), int(size * (0.5 + 0.12 * k)))
        cv2.line(picture, (int(size * 0.7), size // 2), end, (110, 35, 15), 2, cv2.LINE_AA)
    return picture


def oct_scan(width: int = 400, height: int = 200) -> Picture:
    """Bright wavy layers on a dark, speckled ground."""
    rng = np.random.default_rng(1)
    y, x = np.mgrid[0:height, 0:width]
    surface = height * 0.45 + 12 * np.sin(x / width * np.pi * 2)
    depth = (y - surface) / height
    layers = 60 + 110 * np.abs(np.sin(depth * 40))
    grey = np.where((depth > 0) & (depth < 0.28), layers, np.where(depth >= 0.28, 60 * np.exp(-(depth - 0.28) * 8), 14))
    grey = np.clip(grey * rng.uniform(0.7, 1.3, grey.shape), 0, 255).astype(np.uint8)
    return np.repeat(grey[:, :, None], 3, axis=2)
