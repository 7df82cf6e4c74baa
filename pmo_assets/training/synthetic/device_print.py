"""Ink of devices and authors that points at nothing: scale bars, print, frames, ends of call-out lines; reflexes.

No marks, by the annotation guide, though they look like some: pictures have them so that a classifier learns the
difference. Marks themselves are drawn by `drawn_marks`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import cv2
import numpy as np

from pmo_assets.samples.drawing import Colour, Pixels, Rng, print_text
from pmo_assets.training.synthetic.drawn_marks import DASHES, any_colour, trace_curve

STRUCTURES: Final = (
    "LV", "RV", "Ao", "PA", "Cx", "LAD", "RCA", "NFL", "GCL", "INL", "ONL", "RPE", "OD", "OS", "M", "N", "T", "1", "2",
    "3", "Control", "Treated", "T1", "x400", "DAPI", "Merge", "0:32", "IR 30° ART", "OCT 30° ART [HS]", "Choroid",
    "fovea", "ON", "before", "after", "6 weeks", "Pre-op", "20/40",
)  # fmt: skip
"""Names of structures, conditions and settings that are printed into pictures."""


def draw_device_print(rng: Rng, pixels: Pixels) -> None:
    """Print ink of devices and authors that points at nothing: scale bars, names, dates, frames."""
    kinds = ("scale", "words", "date", "side", "ruler", "crosshair", "inside", "form", "frame", "grid", "bar", "trace")
    odds = (0.24, 0.13, 0.08, 0.08, 0.05, 0.10, 0.14, 0.06, 0.04, 0.03, 0.03, 0.02)
    for _ in range(int(rng.integers(1, 3))):
        kind = str(rng.choice(kinds, p=odds))
        if kind in _WHOLE:
            _WHOLE[kind](rng, pixels)
        else:
            _print_in_corner(rng, pixels, kind)


def _ink(rng: Rng, ground: Pixels) -> Colour:
    """Return a colour that is legible on the ground: black or white, seldom a device's light green or yellow."""
    if ground.size and ground.mean() > 128:
        return (0, 0, 0)
    return (255, 255, 255) if rng.random() < 0.8 else (120, 255, 120) if rng.random() < 0.5 else (255, 255, 90)


def _print_in_corner(rng: Rng, pixels: Pixels, kind: str) -> None:
    height, width = pixels.shape[:2]
    side = float(np.sqrt(height * width))
    size = max(6, round(side * rng.uniform(0.03, 0.07)))
    right, low = bool(rng.random() < 0.5), bool(rng.random() < 0.75)
    x = width - round(side * rng.uniform(0.2, 0.35)) if right else round(side * rng.uniform(0.02, 0.06))
    y = height - round(side * rng.uniform(0.08, 0.12)) if low else round(side * rng.uniform(0.02, 0.05))
    ink = _ink(rng, pixels[max(0, y) : y + size, max(0, x) : x + 3 * size])
    if kind == "scale":
        _draw_scale(rng, pixels, (x, min(y, height - 3 - size)), ink, low=low)
    elif kind == "words":
        print_text(pixels, x, y, str(rng.choice(STRUCTURES)), "helv", size, ink)
    elif kind == "date":
        date = f"{int(rng.integers(1, 29)):02d}/{int(rng.integers(1, 13)):02d}/2014"
        print_text(pixels, x, y, date, "cour", size, ink)
    else:
        name = str(rng.choice(["R", "L", "A", "P", "N", "S", "T", "I"]))
        print_text(pixels, x, y, name, "hebo", round(size * 1.2), ink)


def _draw_scale(rng: Rng, pixels: Pixels, place: tuple[int, int], ink: Colour, *, low: bool) -> None:
    """Draw a scale bar: flat, with end bars, or with an upright one, mostly with its length."""
    (x, y), (height, width) = place, pixels.shape[:2]
    side = float(np.sqrt(height * width))
    length, line = round(side * rng.uniform(0.08, 0.25)), max(1, round(side * rng.uniform(0.004, 0.016)))
    end = min(width - 2, x + length)
    cv2.line(pixels, (x, y), (end, y), ink, line)
    if rng.random() < 0.2:
        for at in (x, end):
            cv2.line(pixels, (at, y - 3), (at, y + 3), ink, max(1, line // 2))
    if rng.random() < 0.2:
        cv2.line(pixels, (x, y), (x, max(1, y - length)), ink, line)
    if rng.random() < 0.65:
        unit, size = str(rng.choice(["200 µm", "50 µm", "1 mm", "100 µm", "10 µm", "1°"])), max(6, round(side * 0.045))
        print_text(pixels, x, y - round(size * 1.2) if low else y + 4, unit, "helv", size, ink)


def _print_inside(rng: Rng, pixels: Pixels) -> None:
    """Print names of structures upon them."""
    height, width = pixels.shape[:2]
    size = max(7, round(float(np.sqrt(height * width)) * rng.uniform(0.035, 0.09)))
    face = str(rng.choice(["helv", "hebo", "tiro", "tibo"]))
    for _ in range(int(rng.integers(1, 4))):
        x, y = int(rng.uniform(0.08, 0.85) * width), int(rng.uniform(0.08, 0.88) * height)
        ink = _ink(rng, pixels[y : y + size, x : x + 2 * size])
        print_text(pixels, x, y, str(rng.choice(STRUCTURES)), face, size, ink)


def _print_form(rng: Rng, pixels: Pixels) -> None:
    """Print blocks of small text into the corners, as radiological devices do."""
    height, width = pixels.shape[:2]
    size = max(6, round(float(np.sqrt(height * width)) * rng.uniform(0.02, 0.035)))
    lines = [
        "Series: 2 Img: 49",
        "W: 342 C: 56",
        "SP: 10.5mm",
        "512x512",
        "TR 600 TE 12",
        "Zoom 1.4",
        "3/18/2015",
        "F 54Y",
    ]
    for left in (True, False):
        for top in (True, False):
            for k in range(int(rng.integers(0, 4))):
                text = str(rng.choice(lines))
                x = 3 if left else max(3, width - round(size * 0.55 * len(text)) - 3)
                y = 3 + k * round(1.3 * size) if top else height - 3 - (k + 1) * round(1.3 * size)
                print_text(pixels, x, y, text, "helv", size, _ink(rng, pixels[max(0, y) : y + size, x : x + 3 * size]))


def _draw_ruler(rng: Rng, pixels: Pixels) -> None:
    height, width = pixels.shape[:2]
    ink = _ink(rng, pixels[:, max(0, width - 10) :])
    for k in range(0, height, max(6, height // int(rng.integers(8, 25)))):
        cv2.line(pixels, (width - 8, k), (width - 3, k), ink, 1)


def _draw_crosshair(rng: Rng, pixels: Pixels) -> None:
    """Draw lines that show where scans were taken: right across, without any head, in a device's colours or others."""
    height, width = pixels.shape[:2]
    colour: Colour = ((0, 255, 0), (255, 60, 60), (255, 255, 0), (90, 160, 255))[int(rng.integers(4))]
    colour, line = any_colour(rng) if rng.random() < 0.5 else colour, 1 if rng.random() < 0.8 else 2
    if rng.random() < 0.7:
        for _ in range(1 if rng.random() < 0.7 else 2):
            y = int(rng.uniform(0.1, 0.9) * height)
            cv2.line(pixels, (0, y), (width - 1, y), colour, line)
    if rng.random() < 0.5:
        x = int(rng.uniform(0.1, 0.9) * width)
        cv2.line(pixels, (x, 0), (x, height - 1), colour, line)


def _draw_frame(rng: Rng, pixels: Pixels) -> None:
    height, width = pixels.shape[:2]
    line = int(rng.integers(1, 5))
    cv2.rectangle(
        pixels, (line // 2, line // 2), (width - 1 - line // 2, height - 1 - line // 2), any_colour(rng), line
    )


def _draw_grid(rng: Rng, pixels: Pixels) -> None:
    """Draw the white lines between the parts of a picture that is several."""
    height, width = pixels.shape[:2]
    line = int(rng.integers(1, 4))
    for k in range(1, int(rng.integers(2, 5))):
        x = width * k // 4
        cv2.line(pixels, (x, 0), (x, height - 1), (255, 255, 255), line)
    if rng.random() < 0.5:
        cv2.line(pixels, (0, height // 2), (width - 1, height // 2), (255, 255, 255), line)


def _draw_colour_bar(rng: Rng, pixels: Pixels) -> None:
    height, width = pixels.shape[:2]
    wide, tall = max(3, width // 25), max(8, round(height * rng.uniform(0.3, 0.8)))
    x, y = (width - wide - 4 if rng.random() < 0.7 else 4), max(0, (height - tall) // 2)
    ramp = np.linspace(255, 0, tall).astype(np.uint8)[:, None].repeat(wide, axis=1)
    chart = cv2.applyColorMap(ramp, int(rng.choice([cv2.COLORMAP_JET, cv2.COLORMAP_HOT, cv2.COLORMAP_BONE])))
    part = pixels[y : y + tall, max(0, x) : x + wide]
    part[:] = np.asarray(chart)[: part.shape[0], : part.shape[1], ::-1]


def _draw_trace(rng: Rng, pixels: Pixels) -> None:
    """Draw a curve along the lower edge, as of a heart or of a scan's profile."""
    height, width = pixels.shape[:2]
    x = np.linspace(0, width - 1, 120)
    y = height * 0.93 - height * 0.04 * np.abs(np.sin(x / width * rng.uniform(12, 60))) ** rng.uniform(1, 9)
    trace_curve(pixels, np.stack([x, y], axis=1), (120, 255, 120))


_WHOLE: Final[dict[str, Callable[[Rng, Pixels], None]]] = {
    "inside": _print_inside, "form": _print_form, "ruler": _draw_ruler, "crosshair": _draw_crosshair,
    "frame": _draw_frame, "grid": _draw_grid, "bar": _draw_colour_bar, "trace": _draw_trace,
}  # fmt: skip


# what is brighter, or written in colours


TIMES: Final = (
    "0:32", "12 s", "1:05.3", "34.7 s", "Day 3", "3 months", "6 mo", "week 12", "0.8", "250", "14:22:08", "t = 0",
    "00:41", "Visit 2", "20 ms", "+ 4 h", "2015", "30 s", "#17", "45°", "x 1.5",
)  # fmt: skip
"""Numbers and times that are printed on pictures, in the colours of devices or of authors."""

LEGIBLE: Final = 140
"""Levels by which print differs from its ground at least, in one channel."""

LEAST_PRINT: Final = 10
"""Font size, in pixels, below which antialiasing leaves nothing to read."""


def draw_times(rng: Rng, pixels: Pixels) -> None:
    """Print one to three numbers or times, most at the edges, in any colour that can be read there."""
    height, width = pixels.shape[:2]
    side = float(np.sqrt(height * width))
    for _ in range(int(rng.integers(1, 4))):
        size, face = (
            max(LEAST_PRINT, round(side * rng.uniform(0.03, 0.09))),
            str(rng.choice(["helv", "hebo", "cour", "tiro"])),
        )
        text = str(rng.choice(TIMES))
        wide = round(0.6 * size * len(text))
        inner = rng.random() < 0.2
        x = int(rng.uniform(0.05, 0.8) * width) if inner else int(rng.choice([4, max(4, width - wide - 4)]))
        y = int(rng.uniform(0.05, 0.85) * height) if inner else int(rng.choice([4, max(4, height - size - 4)]))
        ground = pixels[max(0, y) : y + size, max(0, x) : x + wide].reshape(-1, 3)
        colour = any_colour(rng) if rng.random() < 0.5 else _ink(rng, ground)
        if ground.size and float(np.abs(ground.mean(axis=0) - np.asarray(colour)).max()) < LEGIBLE:
            colour = _ink(rng, ground)
        print_text(pixels, x, y, text, face, size, colour)


DEEP: Final = 0.03
"""How far lines from elsewhere reach into a picture at most, as a part of its side (the root of its area)."""


def draw_line_ends(rng: Rng, pixels: Pixels) -> None:
    """Draw one or two lines that come from another picture and stop at a corner, seldom elsewhere at an edge.

    They are straight, of one to four pixels, solid or dashed, in any colour; half of them only touch the edge. What
    is seen of them lies within `DEEP` of it, and the width of a line.
    """
    height, width = pixels.shape[:2]
    side = float(np.sqrt(height * width))
    # (along, beside): away from the edge that the lines come over, and along it.
    edge = ("left", "top", "right", "bottom")[int(rng.integers(4))]
    beside = (height if edge in ("left", "right") else width) - 1
    line, colour = int(rng.choice([1, 2, 3, 4], p=[0.4, 0.3, 0.2, 0.1])), any_colour(rng)
    if rng.random() < 0.4:
        colour = (int(rng.integers(256)), int(rng.integers(256)), int(rng.integers(256)))
    dashed = DASHES[int(rng.integers(len(DASHES)))] if rng.random() < 0.55 else None
    deep = 0.0 if rng.random() < 0.5 else side * rng.uniform(0.0, DEEP)
    corners, far = rng.random() < 0.85, side * rng.uniform(0.1, 0.8)
    for first in (True, False) if rng.random() < 0.7 else (bool(rng.random() < 0.5),):
        end = (deep if first else beside - deep) if corners else rng.uniform(0.1, 0.9) * beside
        # Call-outs widen: lines begin nearer to each other than they end.
        begin = end + (1 if first else -1) * rng.uniform(0.0, 1.5) * (far + deep)
        along, across = np.asarray([deep, -far]), np.asarray([end, begin])
        x, y = (along, across) if edge in ("left", "right") else (across, along)
        x = width - 1 - x if edge == "right" else x
        y = height - 1 - y if edge == "bottom" else y
        trace_curve(pixels, np.stack([x, y], axis=1), colour, line, dashed)


def draw_reflexes(rng: Rng, pixels: Pixels) -> None:
    """Lay reflexes of light over a picture: specks with a soft edge, beads in a row, a bow of colours at its rim.

    Unlike marks they fade out, and are round.
    """
    height, width = pixels.shape[:2]
    side = float(np.sqrt(height * width))
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    light = np.zeros((height, width), np.float32)
    if rng.random() < 0.35:  # beads
        x, y = rng.uniform(0, 1, 2) * (width, height)
        angle, step = rng.uniform(0, 2 * np.pi), side * rng.uniform(0.015, 0.04)
        bend = rng.uniform(-0.15, 0.15)
        for _ in range(int(rng.integers(5, 30))):
            radius = side * rng.uniform(0.002, 0.007)
            light += rng.uniform(0.3, 1.0) * np.exp(-((columns - x) ** 2 + (rows - y) ** 2) / (2 * radius**2))
            angle += bend * rng.uniform(0.3, 1.0)
            x, y = x + step * np.cos(angle), y + step * np.sin(angle)
    for _ in range(int(rng.integers(1, 5))):
        x, y = rng.uniform(0.05, 0.95, 2) * (width, height)
        long, turn = side * rng.uniform(0.004, 0.022), rng.uniform(0, np.pi)
        short = long * rng.uniform(0.35, 1.0)
        along = (columns - x) * np.cos(turn) + (rows - y) * np.sin(turn)
        across = (rows - y) * np.cos(turn) - (columns - x) * np.sin(turn)
        light += rng.uniform(0.7, 2.0) * np.exp(-((along / long) ** 2 + (across / short) ** 2) / 2)
    tint = np.asarray(
        [(255, 255, 255), (255, 255, 235), (235, 245, 255), (120, 255, 90)][int(rng.choice(4, p=[0.6, 0.2, 0.1, 0.1]))]
    )
    share = np.clip(light, 0, 1)[:, :, None]
    pixels[:] = (pixels + share * (tint - pixels)).astype(np.uint8)
    if rng.random() < 0.2:
        _draw_bow(rng, pixels)


def _draw_bow(rng: Rng, pixels: Pixels) -> None:
    """Lay a bow of soft colours, as lenses throw it, along an edge."""
    height, width = pixels.shape[:2]
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    x, y = rng.uniform(0, width), (-0.2 if rng.random() < 0.5 else 1.2) * height
    radius, thick = max(height, width) * rng.uniform(0.3, 0.6), max(height, width) * rng.uniform(0.01, 0.05)
    off = (np.hypot(columns - x, rows - y) - radius) / thick
    for shift, channel in zip((-0.8, 0.0, 0.8), (0, 1, 2), strict=True):
        share = 0.8 * np.exp(-((off - shift) ** 2))
        pixels[:, :, channel] = (pixels[:, :, channel] + share * (255 - pixels[:, :, channel])).astype(np.uint8)
