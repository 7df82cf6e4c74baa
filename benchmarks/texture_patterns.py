"""Drawn patterns that resemble pictures of the retina and are none: textures of charts, materials and other fields.

`TUNED` are the kinds that rules were made with; `FRESH` were drawn afterwards, and nothing was adjusted to them: their
first scores are held out. Each function returns (height, width, 3) uint8 RGB and depends on the generator alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import cv2
import numpy as np
from numpy.typing import NDArray

from pmo_assets.samples.drawing import Pixels, Rng, cloud, false_colours, grey_picture, one_of
from pmo_assets.training.synthetic.paper_drawings import table

Values = NDArray[np.floating]


def _sides(rng: Rng, least: int = 80, most: int = 260) -> tuple[int, int]:
    return int(rng.integers(least, most)), int(rng.integers(least, most))


def _grey(values: Values, low: float = 0.0, high: float = 255.0) -> Pixels:
    """Return values of any range as a grey picture between two levels."""
    spread = max(float(np.ptp(values)), 1e-9)
    return grey_picture(np.clip(low + (values - values.min()) / spread * (high - low), 0, 255).astype(np.uint8))


def _blurred(values: Values, across: float, down: float | None = None) -> Values:
    return np.asarray(cv2.GaussianBlur(values, (0, 0), sigmaX=across, sigmaY=down or across))


# the kinds that rules were made with


def hatching(rng: Rng) -> Pixels:
    """Parallel lines on an even ground, sometimes crossed: the filling of a bar."""
    tall, wide = _sides(rng, 40, 160)
    step, line, angle = (
        int(rng.integers(4, 14)),
        int(rng.integers(1, 4)),
        float(np.deg2rad(one_of(rng, (45, -45, 0, 90, 30)))),
    )
    canvas = np.full((tall, wide, 3), one_of(rng, (255, 240, 200, 150)), np.uint8)
    dark = int(rng.integers(0, 120))
    ink = (dark, dark, dark) if rng.random() < 0.5 else tuple(int(v) for v in rng.integers(0, 90, 3))
    angles = (angle, -angle) if step % 2 and angle > 0.7 else (angle,)
    for way in angles:
        along = np.asarray([np.cos(way), np.sin(way)]) * (tall + wide)
        for k in range(-(tall + wide), tall + wide, step):
            middle = np.asarray([wide / 2, tall / 2]) + k * np.asarray([-np.sin(way), np.cos(way)])
            first, last = (middle - along).astype(int).tolist(), (middle + along).astype(int).tolist()
            cv2.line(canvas, first, last, ink, line, cv2.LINE_AA)
    return canvas


def dots(rng: Rng) -> Pixels:
    """Dots in rows."""
    tall, wide = _sides(rng, 40, 160)
    step, ink = int(rng.integers(4, 12)), int(rng.integers(0, 255))
    canvas = np.full((tall, wide, 3), one_of(rng, (255, 230, 60, 20)), np.uint8)
    for row, y in enumerate(range(0, tall, step)):
        for x in range(0, wide, step):
            cv2.circle(canvas, (x + row % 2 * step // 2, y), max(1, step // 4), (ink, ink, ink), -1, cv2.LINE_AA)
    return canvas


def board(rng: Rng) -> Pixels:
    """A chequerboard, or a matrix of grey cells."""
    cells, side = int(rng.integers(4, 20)), int(rng.integers(60, 200))
    values = np.indices((cells, cells)).sum(0) % 2 if rng.random() < 0.5 else rng.random((cells, cells))
    return np.asarray(cv2.resize(_grey(values), (side, side), interpolation=cv2.INTER_NEAREST), dtype=np.uint8)


def grating(rng: Rng) -> Pixels:
    """A grating, sometimes within a soft window: a stimulus of vision."""
    side = int(rng.integers(60, 200))
    y, x = np.mgrid[:side, :side] / side
    pitch, angle = rng.uniform(3, 25), rng.uniform(0, np.pi)
    values = rng.uniform(0.3, 1) * np.sin(2 * np.pi * pitch * (x * np.cos(angle) + y * np.sin(angle)))
    if rng.random() < 0.5:
        values = values * np.exp(-((x - 0.5) ** 2 + (y - 0.5) ** 2) / 0.06)
    return grey_picture(np.clip(127 + 120 * values, 0, 255).astype(np.uint8))


def noise(rng: Rng) -> Pixels:
    """Noise of one grain."""
    side = int(rng.integers(60, 220))
    return _grey(_blurred(rng.normal(0, 1, (side, side)), float(rng.uniform(0.3, 6))), 0, float(rng.uniform(120, 255)))


def muscle(rng: Rng) -> Pixels:
    """Bands of fibres with bright fascia between them: a muscle in ultrasound."""
    tall, wide = int(rng.integers(90, 220)), int(rng.integers(120, 300))
    values = _blurred(rng.gamma(1.2, 1, (tall, wide)), float(rng.uniform(3, 9)), float(rng.uniform(0.6, 1.6)))
    y, x = np.mgrid[:tall, :wide]
    phase = 2 * np.pi * (y + rng.uniform(-0.35, 0.35) * x) / rng.uniform(6, 22) + rng.uniform(0, 6)
    values = values * (0.6 + 0.5 * np.sin(phase) ** 2) * np.exp(-y / tall * rng.uniform(0, 1.2))
    values = values / np.percentile(values, 99) * rng.uniform(130, 230)
    for _ in range(int(rng.integers(1, 4))):
        row = int(rng.integers(5, tall - 5))
        values[row : row + 3] += 80
    return grey_picture(np.clip(values, 0, 255).astype(np.uint8))


def cells(rng: Rng) -> Pixels:
    """Bright spots on a dark ground: nuclei."""
    side = int(rng.integers(80, 220))
    values = np.full((side, side), float(rng.integers(5, 60)))
    for _ in range(int(rng.integers(30, 300))):
        x, y = rng.integers(0, side, 2).tolist()
        cv2.circle(values, (x, y), int(rng.integers(1, 6)), float(rng.integers(100, 255)), -1, cv2.LINE_AA)
    values = _blurred(values, float(rng.uniform(0.4, 2))) + rng.normal(0, 6, (side, side))
    return grey_picture(np.clip(values, 0, 255).astype(np.uint8))


def _walls(rng: Rng, side: int, count: int) -> tuple[Values, NDArray[np.int64]]:
    """Return the distance from the walls between cells, and the number of each pixel's cell."""
    points = rng.random((count, 2)) * side
    y, x = np.mgrid[:side, :side]
    away = np.sqrt((x[..., None] - points[:, 0]) ** 2 + (y[..., None] - points[:, 1]) ** 2)
    nearest = np.partition(away, 1, axis=-1)
    return nearest[..., 1] - nearest[..., 0], away.argmin(axis=-1)


def walls(rng: Rng) -> Pixels:
    """Cells with walls."""
    side = int(rng.integers(100, 200))
    away, _ = _walls(rng, side, int(rng.integers(20, 120)))
    return grey_picture(np.asarray(255 * (away > 1.5) if rng.random() < 0.5 else 40 + 150 * (away < 1.2), np.uint8))


def gel(rng: Rng) -> Pixels:
    """Bands of a gel."""
    tall, wide = int(rng.integers(30, 80)), int(rng.integers(120, 300))
    values = np.full((tall, wide), float(rng.integers(180, 235)))
    for k in range(int(rng.integers(4, 10))):
        place = (int((k + 0.5) * wide / 10), tall // 2)
        cv2.ellipse(values, place, (wide // 26, int(rng.integers(2, 6))), 0, 0, 360, float(rng.integers(10, 120)), -1)
    values = _blurred(values, 1.5) + rng.normal(0, 4, (tall, wide))
    return grey_picture(np.clip(values, 0, 255).astype(np.uint8))


def ripples(rng: Rng) -> Pixels:
    """Waves that cross."""
    side = int(rng.integers(80, 200))
    y, x = np.mgrid[:side, :side] / side
    values = np.zeros((side, side))
    for _ in range(6):
        angle, pitch = rng.uniform(0, 2 * np.pi), rng.uniform(5, 20)
        values += np.sin(2 * np.pi * pitch * (x * np.cos(angle) + y * np.sin(angle)) + rng.uniform(0, 6))
    return _grey(values)


TUNED: Mapping[str, Callable[[Rng], Pixels]] = {
    "hatching": hatching, "dots": dots, "board": board, "grating": grating, "noise": noise, "muscle": muscle,
    "cells": cells, "walls": walls, "gel": gel, "ripples": ripples,
}  # fmt: skip


# kinds that nothing was adjusted to


def hatched_bars(rng: Rng) -> Pixels:
    """A bar chart whose bars are hatched, with an axis."""
    tall, wide = int(rng.integers(100, 240)), int(rng.integers(120, 300))
    canvas = np.full((tall, wide, 3), 255, np.uint8)
    bars = int(rng.integers(2, 7))
    for k in range(bars):
        left, right = int(wide * (k + 0.15) / bars), int(wide * (k + 0.9) / bars)
        top = int(tall * rng.uniform(0.05, 0.6))
        filling = cv2.resize(
            hatching(rng), (max(2, right - left), max(2, tall - 6 - top)), interpolation=cv2.INTER_AREA
        )
        canvas[top : tall - 6, left:right] = filling
        cv2.rectangle(canvas, (left, top), (right, tall - 6), (0, 0, 0), 1)
    cv2.line(canvas, (0, tall - 6), (wide - 1, tall - 6), (0, 0, 0), 1)
    return canvas


def speckle(rng: Rng) -> Pixels:
    """Multiplicative speckle with soft layers, often within the sector of an ultrasound probe."""
    tall, wide = int(rng.integers(100, 260)), int(rng.integers(120, 300))
    y, x = np.mgrid[:tall, :wide]
    ground = (
        0.5
        + 0.25 * cloud(rng, wide, tall, rng.uniform(3, 8))
        + 0.25 * np.sin(y / rng.uniform(6, 30) + x / rng.uniform(60, 300))
    )
    values = np.clip(ground, 0.03, 2) * rng.rayleigh(1, (tall, wide)) * np.exp(-y / tall * rng.uniform(0, 1.5))
    values = np.sqrt(_blurred(values, float(rng.uniform(0.8, 2.5)), float(rng.uniform(0.5, 1.0))))
    if rng.random() < 0.5:
        angle = np.abs(np.arctan2(x - wide / 2, y + 0.1 * tall))
        values = np.where(angle < rng.uniform(0.4, 0.8), values, 0)
    return _grey(values, 0, float(rng.uniform(150, 255)))


def weave(rng: Rng) -> Pixels:
    """Woven threads."""
    tall, wide = _sides(rng)
    y, x = np.mgrid[:tall, :wide]
    step = rng.uniform(4, 12)
    over = (np.floor(x / step) + np.floor(y / step)) % 2
    values = over * np.abs(np.sin(np.pi * x / step)) + (1 - over) * np.abs(np.sin(np.pi * y / step))
    return _grey(values + rng.normal(0, 0.12, values.shape), float(rng.uniform(0, 60)), float(rng.uniform(150, 240)))


def wood(rng: Rng) -> Pixels:
    """Annual rings, in grey or brown."""
    tall, wide = _sides(rng)
    y, x = np.mgrid[:tall, :wide].astype(np.float64)
    away = np.hypot(x - rng.uniform(-1, 1) * wide, (y - tall / 2) * rng.uniform(1, 6)) + 4 * cloud(rng, wide, tall, 5)
    values = np.abs(np.sin(away / rng.uniform(3, 9))) ** 0.6 + 0.1 * rng.normal(0, 1, away.shape)
    picture = _grey(_blurred(values, 0.7), 60, 210)
    tint = np.asarray((1.0, 0.72, 0.45) if rng.random() < 0.5 else (1.0, 1.0, 1.0))
    return np.asarray(picture * tint, dtype=np.uint8)


def ridges(rng: Rng) -> Pixels:
    """Ridges that run side by side, fork and turn: fingerprints, brain coral, sand."""
    tall, wide = _sides(rng)
    values = rng.normal(0, 1, (tall, wide))
    fine = float(rng.uniform(1.2, 3.0))
    for _ in range(12):
        values = _blurred(values, fine) - _blurred(values, 2.2 * fine)
        values = np.tanh(3 * values / max(float(values.std()), 1e-9))
    return _grey(values, float(rng.uniform(0, 50)), float(rng.uniform(150, 255)))


def seismic(rng: Rng) -> Pixels:
    """A seismic section: reflectors one below the other, bent and broken."""
    tall, wide = int(rng.integers(100, 240)), int(rng.integers(140, 320))
    trace = _blurred(rng.normal(0, 1, (3 * tall, 1)), 1e-3 + 0.3, float(rng.uniform(1, 2.5)))[:, 0]
    shift = tall + rng.uniform(0.05, 0.15) * tall * cloud(rng, wide, 2, rng.uniform(1.5, 4))[0]
    breaks = np.cumsum(np.where(rng.random(wide) < 0.01, rng.normal(0, 6, wide), 0))
    rows = np.arange(tall)[:, None] + (shift + breaks)[None]
    values = np.interp(rows.ravel(), np.arange(3 * tall), trace).reshape(tall, wide) + rng.normal(0, 0.2, (tall, wide))
    picture = _grey(_blurred(values, 0.8))
    return picture if rng.random() < 0.7 else false_colours(picture[..., 0].copy(), cv2.COLORMAP_JET)


def spectrogram(rng: Rng) -> Pixels:
    """Bands of sound over time."""
    tall, wide = int(rng.integers(80, 200)), int(rng.integers(140, 320))
    values = _blurred(rng.gamma(1.0, 1.0, (tall, wide)), 1.5, 1.0)
    for harmonic in range(1, int(rng.integers(3, 9))):
        course = tall * (1 - harmonic * 0.1 * (1 + 0.15 * cloud(rng, wide, 2, 5)[0]))
        values += np.exp(-(((np.arange(tall)[:, None] - course[None]) / rng.uniform(1.2, 3)) ** 2)) * rng.uniform(1, 3)
    plane = _grey(np.log1p(values))[..., 0].copy()
    return (
        grey_picture(255 - plane)
        if rng.random() < 0.5
        else false_colours(plane, one_of(rng, (cv2.COLORMAP_JET, cv2.COLORMAP_HOT)))
    )


def stars(rng: Rng) -> Pixels:
    """A field of stars, with a nebula or without."""
    tall, wide = _sides(rng)
    values = np.zeros((tall, wide))
    for _ in range(int(rng.integers(60, 600))):
        x, y = int(rng.integers(wide)), int(rng.integers(tall))
        cv2.circle(values, (x, y), int(rng.integers(0, 3)), float(rng.pareto(2) + 0.2), -1)
    values = _blurred(values, float(rng.uniform(0.5, 1.2))) + 0.05 * np.abs(cloud(rng, wide, tall, 5)) * rng.integers(
        0, 2
    )
    return grey_picture(np.clip(255 * values, 0, 255).astype(np.uint8))


def fibres(rng: Rng) -> Pixels:
    """Fibres one over the other: electrospun threads, collagen, paper."""
    tall, wide = _sides(rng)
    values = np.full((tall, wide), 30.0)
    for _ in range(int(rng.integers(40, 160))):
        x, y, angle = rng.uniform(0, wide), rng.uniform(0, tall), rng.uniform(0, np.pi)
        along = np.asarray([np.cos(angle), np.sin(angle)]) * (tall + wide)
        first, last = (
            (np.asarray([x, y]) - along).astype(int).tolist(),
            (np.asarray([x, y]) + along).astype(int).tolist(),
        )
        cv2.line(values, first, last, float(rng.uniform(50, 220)), int(rng.integers(1, 5)), cv2.LINE_AA)
    return grey_picture(np.clip(_blurred(values, 0.8) + rng.normal(0, 8, values.shape), 0, 255).astype(np.uint8))


def foam(rng: Rng) -> Pixels:
    """Bubbles, or grains of a metal, each of its own shade."""
    side = int(rng.integers(100, 200))
    away, number = _walls(rng, side, int(rng.integers(25, 150)))
    shades = rng.uniform(60, 220, number.max() + 1)
    values = shades[number] * np.clip(away / 2.5, 0.25, 1) + rng.normal(0, 5, number.shape)
    return grey_picture(np.clip(values, 0, 255).astype(np.uint8))


def tables(rng: Rng) -> Pixels:
    """A table of words and numbers, some cells in colours."""
    tall, wide = int(rng.integers(90, 240)), int(rng.integers(140, 320))
    return table(rng, wide, tall)


def contours(rng: Rng) -> Pixels:
    """Lines of one height, as on maps."""
    tall, wide = _sides(rng)
    height = cloud(rng, wide, tall, rng.uniform(2, 5)) * rng.uniform(4, 10)
    near = np.abs(height - np.round(height)) / np.maximum(np.hypot(*np.gradient(height)), 1e-3)
    return grey_picture(np.where(near < 0.8, int(rng.integers(0, 120)), int(rng.integers(180, 256))).astype(np.uint8))


FRESH: Mapping[str, Callable[[Rng], Pixels]] = {
    "hatched bars": hatched_bars, "speckle": speckle, "weave": weave, "wood": wood, "ridges": ridges,
    "seismic": seismic, "spectrogram": spectrogram, "stars": stars, "fibres": fibres, "foam": foam, "tables": tables,
    "contours": contours,
}  # fmt: skip
