"""Drawn stand-ins for clinical pictures: fundus photographs, OCT B-scans, angiograms, histology.

They share the colours, shapes and textures by which the real ones are told apart; nothing in them is copied. All
functions return (height, width, 3) uint8 RGB and depend on the generator's state alone.
"""

from __future__ import annotations

import cv2
import numpy as np

from pmo_assets.samples.drawing import Floats, Pixels, Rng, cloud, grey_picture
from pmo_assets.samples.spec import MarkKind, PictureKind


def _vessel_tree(rng: Rng, width: int, height: int, disc: tuple[float, float], side: float) -> Floats:
    """Return a mask 0..1 of four vessel arcades that leave the disc and branch; shape (height, width)."""
    size = min(width, height)
    mask = np.zeros((height, width), dtype=np.uint8)
    # (x, y, direction, curvature, thickness, steps left)
    queue: list[tuple[float, float, float, float, float, int]] = []
    for up in (-1.0, 1.0):
        for spread, curve in ((0.95, -0.045), (1.5, -0.006), (2.1, 0.02)):
            angle = up * (spread + float(rng.normal(0, 0.08)))
            direction = angle if side > 0 else np.pi - angle
            queue.append((*disc, direction, up * curve * side, size * 0.021, 26))
    while queue:
        x, y, direction, curve, thickness, steps = queue.pop()
        points = [(x, y)]
        for step in range(steps):
            direction += curve + float(rng.normal(0, 0.07))
            x += float(np.cos(direction)) * size * 0.032
            y += float(np.sin(direction)) * size * 0.032
            points.append((x, y))
            if thickness > size * 0.005 and step > 2 and rng.random() < 0.2:
                turn = float(rng.choice([-1.0, 1.0])) * float(rng.uniform(0.4, 0.9))
                queue.append(
                    (x, y, direction + turn, float(rng.normal(0, 0.03)), thickness * 0.6, max(4, steps - step - 3))
                )
        corners = np.round(np.array(points, dtype=np.float64) * 8).astype(np.int32).reshape(-1, 1, 2)
        third = max(1, len(points) // 3)
        for start, share in ((0, 1.0), (third, 0.75), (2 * third, 0.5)):
            cv2.polylines(
                mask, [corners[start : start + third + 2]], False, 255, max(1, round(thickness * share)), cv2.LINE_AA, 3
            )
    return np.asarray(mask / 255, dtype=np.float32)


def _field(width: int, height: int) -> tuple[Floats, Floats]:
    """Return the distance from the centre in units of the field's radius, and a soft mask of the round field."""
    y, x = np.arange(height, dtype=np.float32)[:, None], np.arange(width, dtype=np.float32)[None, :]
    radius = 0.485 * min(width, height)
    distance = np.asarray(np.hypot(x - (width - 1) / 2, y - (height - 1) / 2) / radius, dtype=np.float32)
    return distance, np.clip((1 - distance) * radius / 1.5, 0, 1).astype(np.float32)


def _blob(width: int, height: int, x: float, y: float, radius: float, softness: float) -> Floats:
    """Return a round spot, 1 inside and falling off over `softness` pixels."""
    rows, columns = np.arange(height, dtype=np.float32)[:, None], np.arange(width, dtype=np.float32)[None, :]
    return np.asarray(np.clip((radius - np.hypot(columns - x, rows - y)) / softness + 0.5, 0, 1), dtype=np.float32)


def _spot(
    layer: Floats, colour: Floats | float, share: float, x: float, y: float, radius: float, softness: float
) -> None:
    """Mix a small round spot into the layer in place; only its surroundings are computed."""
    height, width = layer.shape[:2]
    reach = radius + softness
    left, right = max(0, int(x - reach)), min(width, int(x + reach) + 2)
    top, bottom = max(0, int(y - reach)), min(height, int(y + reach) + 2)
    if left >= right or top >= bottom:
        return
    part = share * _blob(right - left, bottom - top, x - left, y - top, radius, softness)
    if layer.ndim == 3:
        part = part[:, :, None]
    window = layer[top:bottom, left:right]
    window += part * (np.asarray(colour, dtype=np.float32) - window)


def _mixed(base: Floats, colour: tuple[float, float, float], share: Floats) -> Floats:
    mix = share[:, :, None]
    return np.asarray(base + mix * (np.array(colour, dtype=np.float32) - base), dtype=np.float32)


def fundus_photograph(rng: Rng, width: int, height: int) -> Pixels:
    """Draw a colour fundus photograph: orange disc on black, optic disc, branching vessels, macula, some drusen."""
    size = min(width, height)
    side = float(rng.choice([-1.0, 1.0]))  # +1: temporal retina lies right of the disc
    cx, cy = (width - 1) / 2, (height - 1) / 2
    disc = (cx - side * 0.24 * size, cy + float(rng.uniform(-0.02, 0.02)) * size)
    distance, field = _field(width, height)
    shade = 1.08 - 0.42 * distance**2 + 0.05 * cloud(rng, width, height, 9)
    base = np.array([208, 98, 42], dtype=np.float32) + rng.uniform(-12, 12, 3).astype(np.float32)
    picture = np.asarray(base * shade[:, :, None], dtype=np.float32)
    picture = _mixed(picture, (122, 44, 20), 0.55 * _blob(width, height, cx + side * 0.12 * size, cy, 0, 0.22 * size))
    vessels = _vessel_tree(rng, width, height, disc, side)
    _spot(picture, np.array([250, 222, 150], dtype=np.float32), 0.95, *disc, 0.066 * size, 0.022 * size)
    _spot(picture, np.array([255, 246, 214], dtype=np.float32), 0.8, *disc, 0.028 * size, 0.03 * size)
    picture = _mixed(picture, (118, 22, 14), 0.72 * vessels)
    drusen = np.array([245, 205, 110], dtype=np.float32)
    for _ in range(int(rng.integers(5, 16))):
        x, y = cx + side * 0.12 * size + rng.normal(0, 0.09) * size, cy + rng.normal(0, 0.09) * size
        _spot(picture, drusen, 0.6, x, y, float(rng.uniform(0.004, 0.012)) * size, 3.0)
    picture += rng.normal(0, 3.0, picture.shape[:2]).astype(np.float32)[:, :, None]
    return np.asarray(np.clip(picture * field[:, :, None] + 4 * (1 - field[:, :, None]), 0, 255), dtype=np.uint8)


def _grey_fundus(rng: Rng, width: int, height: int, *, vessel_shift: float, leak: bool) -> Pixels:
    size = min(width, height)
    side = float(rng.choice([-1.0, 1.0]))
    cx, cy = (width - 1) / 2, (height - 1) / 2
    disc = (cx - side * 0.24 * size, cy)
    distance, _ = _field(width, height)
    level = 96 - 26 * distance**2 + 9 * cloud(rng, width, height, 12) + 6 * cloud(rng, width, height, 40)
    level -= 46 * _blob(width, height, cx + side * 0.12 * size, cy, 0, 0.2 * size)
    level += vessel_shift * _vessel_tree(rng, width, height, disc, side)
    disc_level = 60.0 if leak else -55.0
    level += disc_level * _blob(width, height, *disc, 0.06 * size, 0.02 * size)
    if leak:
        for _ in range(int(rng.integers(3, 8))):
            x, y = cx + side * 0.12 * size + rng.normal(0, 0.1) * size, cy + rng.normal(0, 0.1) * size
            _spot(level, 205.0, 0.8, x, y, float(rng.uniform(0.01, 0.03)) * size, 0.03 * size)
    level += rng.normal(0, 5.0, level.shape)
    grey = np.asarray(np.clip(level, 6, 250), dtype=np.uint8)
    return grey_picture(grey)


def fluorescein_angiogram(rng: Rng, width: int, height: int) -> Pixels:
    """Draw a fluorescein angiogram: grey fundus, bright vessels, leaking spots."""
    return _grey_fundus(rng, width, height, vessel_shift=135.0, leak=True)


def autofluorescence(rng: Rng, width: int, height: int) -> Pixels:
    """Draw a fundus autofluorescence picture: grey fundus, dark vessels and disc."""
    return _grey_fundus(rng, width, height, vessel_shift=-60.0, leak=False)


_OCT_LAYERS = ((0.0, 0.045, 150), (0.045, 0.13, 96), (0.13, 0.17, 128), (0.17, 0.26, 62), (0.26, 0.30, 190),
               (0.30, 0.34, 108), (0.34, 0.375, 225))  # fmt: skip
"""Bands below the inner limiting membrane: start, end (fractions of the picture's height), brightness."""


def oct_scan(rng: Rng, width: int, height: int) -> Pixels:
    """Draw an OCT B-scan: dark vitreous, layered bright bands with a foveal pit, fading choroid, speckle."""
    x = np.linspace(-1, 1, width, dtype=np.float32)
    tilt, bend = float(rng.uniform(-0.05, 0.05)), float(rng.uniform(0.02, 0.09))
    pit = np.exp(-(((x - float(rng.uniform(-0.12, 0.12))) / 0.16) ** 2)).astype(np.float32)
    bottom = (0.66 + tilt * x - bend * x**2) * height
    surface = bottom - 0.375 * height + 0.17 * height * pit
    rows = np.arange(height, dtype=np.float32)[:, None]
    # Depth within the retina, 0 at its surface and 1 at the pigment epithelium, per column.
    depth = (rows - surface[None, :]) / (bottom - surface)[None, :]
    level = np.full((height, width), 14, dtype=np.float32)
    for start, end, brightness in _OCT_LAYERS:
        band = (depth >= start / 0.375) & (depth < end / 0.375)
        level[band] = brightness
    below = depth >= 1
    fall = np.exp(-(rows - bottom[None, :]) / (0.14 * height))
    level = np.where(below, 18 + 120 * fall * (1 + 0.25 * cloud(rng, width, height, 30)), level)
    level *= 1 + 0.08 * cloud(rng, width, height, 14)
    speckle = rng.gamma(5.0, 1 / 5.0, (height, width)).astype(np.float32)
    speckle = np.asarray(cv2.GaussianBlur(speckle, (0, 0), 0.7), dtype=np.float32)
    if rng.random() < 0.5:  # a pocket of fluid
        centre, base = int(width * rng.uniform(0.3, 0.7)), 0.0
        base = float(surface[centre]) + 0.16 * height
        columns = np.arange(width, dtype=np.float32)[None, :]
        inside = ((columns - centre) / (0.07 * width)) ** 2 + ((rows - base) / (0.05 * height)) ** 2 < 1
        level = np.where(inside, 20, level)
    grey = np.asarray(
        np.clip(cv2.GaussianBlur(level.astype(np.float32), (0, 0), 1.0) * speckle, 0, 255), dtype=np.uint8
    )
    return grey_picture(grey)


def histology(rng: Rng, width: int, height: int) -> Pixels:
    """Draw a stained section: pink ground, purple nuclei, pale gaps; reaches the picture's edges everywhere."""
    ground = np.empty((height, width, 3), dtype=np.float32)
    texture = 10 * cloud(rng, width, height, 14) + 6 * cloud(rng, width, height, 45)
    for channel, value in enumerate((226, 158, 196)):
        ground[:, :, channel] = value + texture * (0.6, 1.3, 0.8)[channel]
    gaps = np.clip((cloud(rng, width, height, 6) - 0.9) * 4, 0, 0.75).astype(np.float32)
    picture = np.asarray(np.clip(_mixed(ground, (236, 214, 228), gaps), 0, 236), dtype=np.uint8)
    unit = max(width, height) / 100
    for _ in range(130):
        centre = (int(rng.uniform(0, width) * 8), int(rng.uniform(0, height) * 8))
        axes = (int(rng.uniform(1.1, 2.0) * unit * 8), int(rng.uniform(0.7, 1.2) * unit * 8))
        colour = tuple(float(c) for c in np.array([98, 62, 140]) + rng.uniform(-18, 18, 3))
        cv2.ellipse(picture, centre, axes, float(rng.uniform(0, 180)), 0, 360, colour, -1, cv2.LINE_AA, 3)
    return picture


_DRAWERS = {
    "cfp": fundus_photograph,
    "oct": oct_scan,
    "angiography": fluorescein_angiogram,
    "autofluorescence": autofluorescence,
    "histology": histology,
}


def drawn_picture(kind: PictureKind, rng: Rng, width: int, height: int) -> Pixels:
    """Draw a picture of the kind.

    Raises:
        KeyError: for a kind that is drawn as a plot.
    """
    return _DRAWERS[kind](rng, width, height)


def drawn_mark(picture: Pixels, mark: MarkKind, rng: Rng, colour: tuple[int, int, int]) -> Pixels:
    """Return the picture with a mark that points at a place in its middle part."""
    marked = picture.copy()
    height, width = marked.shape[:2]
    size = min(width, height)
    x, y = int(width * rng.uniform(0.42, 0.6)), int(height * rng.uniform(0.42, 0.6))
    line = max(2, round(size / 110))
    if mark == "arrow":
        start = (x - round(size * 0.17), y - round(size * 0.14))
        cv2.arrowedLine(marked, start, (x, y), colour, line, cv2.LINE_AA, 0, 0.3)
    elif mark == "arrowhead":
        tip = np.array([[x, y], [x - size // 12, y - size // 40], [x - size // 40, y - size // 12]], dtype=np.int32)
        cv2.fillPoly(marked, [tip], colour, cv2.LINE_AA)
    elif mark == "circle":
        cv2.circle(marked, (x, y), round(size * 0.11), colour, line, cv2.LINE_AA)
    elif mark == "box":
        half = round(size * 0.1)
        cv2.rectangle(marked, (x - half, y - half), (x + half, y + half), colour, line, cv2.LINE_AA)
    else:
        arm = size * 0.045
        for angle in (90.0, 210.0, 330.0):
            end = (round(x + arm * np.cos(np.radians(angle))), round(y + arm * np.sin(np.radians(angle))))
            cv2.line(marked, (x, y), end, colour, line + 1, cv2.LINE_AA)
            opposite = (2 * x - end[0], 2 * y - end[1])
            cv2.line(marked, (x, y), opposite, colour, line + 1, cv2.LINE_AA)
    return marked
