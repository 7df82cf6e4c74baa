"""Marks as authors draw them on images (arrows, arrowheads, circles, boxes, asterisks …), and what is no mark.

No marks, by the annotation guide: scale bars, device print, axis text and the panel identifier. They are drawn as well,
so that a classifier learns the difference.
"""

from __future__ import annotations

import cv2
import numpy as np

from pmo_assets.training.synthetic.letters import Colour, Pixels, print_text

MARK_COLOURS: tuple[tuple[Colour, float], ...] = (
    ((255, 255, 255), 4), ((0, 0, 0), 3), ((255, 255, 0), 2.5), ((255, 0, 0), 2.5), ((0, 255, 0), 1),
    ((0, 0, 255), 0.8), ((0, 255, 255), 0.8), ((255, 165, 0), 0.5), ((255, 0, 255), 0.3), ((120, 120, 120), 0.3),
)  # fmt: skip
"""Colours of marks and how often they are used."""

MARK_KINDS = ("arrow", "arrowhead", "circle", "box", "asterisk", "caliper", "outline", "letters")
_ODDS = (0.4, 0.15, 0.13, 0.12, 0.09, 0.04, 0.04, 0.03)


SEEN_CONTRAST = 60
"""Grey levels by which a pixel must change to be seen as part of a mark."""

SEEN_PIXELS = 8
"""Pixels that must be seen of a mark."""

MAX_GROWTH = 4
"""How often a mark that is not seen is drawn again, larger."""


def _colour(rng: np.random.Generator) -> Colour:
    odds = np.asarray([weight for _, weight in MARK_COLOURS])
    return MARK_COLOURS[int(rng.choice(len(MARK_COLOURS), p=odds / odds.sum()))][0]


def _draw_arrow(
    rng: np.random.Generator, pixels: Pixels, tip: tuple[float, float], size: float, colour: Colour
) -> None:
    """Draw an arrow, thin or fat, filled or in outline, as a polygon in sub-pixel coordinates."""
    angle = rng.uniform(0, 2 * np.pi) if rng.random() < 0.7 else rng.choice(np.arange(8)) * np.pi / 4
    length, shaft = size * rng.uniform(0.7, 2.2), size * rng.uniform(0.03, 0.16)
    head, spread = size * rng.uniform(0.25, 0.5), size * rng.uniform(0.12, 0.3)
    spread = max(spread, shaft * 1.6)
    shape = np.asarray(
        [(0, 0), (head, spread), (head, shaft), (length, shaft), (length, -shaft), (head, -shaft), (head, -spread)]
    )
    turn = np.asarray([(np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))])
    corners = np.round((shape @ turn + np.asarray(tip)) * 8).astype(np.int32).reshape(-1, 1, 2)
    if rng.random() < 0.12:
        cv2.polylines(pixels, [corners], True, colour, max(1, round(size / 22)), cv2.LINE_AA, 3)
        return
    cv2.fillPoly(pixels, [corners], colour, cv2.LINE_AA, 3)
    if rng.random() < 0.15:
        edge = (0, 0, 0) if sum(colour) > 380 else (255, 255, 255)
        cv2.polylines(pixels, [corners], True, edge, 1, cv2.LINE_AA, 3)


def _draw_thin_arrow(
    rng: np.random.Generator, pixels: Pixels, tip: tuple[float, float], size: float, line: int, colour: Colour
) -> None:
    """Draw an arrow as word processors do: a line with a small open or filled head."""
    angle = rng.uniform(0, 2 * np.pi) if rng.random() < 0.7 else rng.choice(np.arange(8)) * np.pi / 4
    along = np.asarray([np.cos(angle), np.sin(angle)])
    end = np.asarray(tip) + along * size * rng.uniform(0.8, 2.2)
    width = max(1, round(line * rng.uniform(0.3, 0.9)))
    head = max(4.0 * width, size * rng.uniform(0.15, 0.35))

    def place(point: np.ndarray) -> tuple[int, int]:
        return (round(float(point[0]) * 8), round(float(point[1]) * 8))

    cv2.line(pixels, place(np.asarray(tip)), place(end), colour, width, cv2.LINE_AA, 3)
    opening = rng.uniform(0.25, 0.6)
    wings = [
        np.asarray(tip) + head * np.asarray([np.cos(angle + s * opening), np.sin(angle + s * opening)]) for s in (-1, 1)
    ]
    if rng.random() < 0.5:
        corners = np.asarray([place(np.asarray(tip)), *(place(w) for w in wings)], dtype=np.int32)
        cv2.fillPoly(pixels, [corners.reshape(-1, 1, 2)], colour, cv2.LINE_AA, 3)
        return
    for wing in wings:
        cv2.line(pixels, place(np.asarray(tip)), place(wing), colour, width, cv2.LINE_AA, 3)


def _draw_dashed(pixels: Pixels, corners: np.ndarray, colour: Colour, line: int) -> None:
    for k in range(0, len(corners) - 1, 2):
        cv2.line(pixels, tuple(corners[k].tolist()), tuple(corners[k + 1].tolist()), colour, line, cv2.LINE_AA)


def _ring(centre: tuple[float, float], a: float, b: float, n: int = 48) -> np.ndarray:
    t = np.linspace(0, 2 * np.pi, n, endpoint=False)
    return np.round(np.stack([centre[0] + a * np.cos(t), centre[1] + b * np.sin(t)], axis=1)).astype(np.int32)


def draw_marks(rng: np.random.Generator, pixels: Pixels) -> None:
    """Draw one to five marks of one kind (sometimes two) onto a picture, in place."""
    for _ in range(1 if rng.random() < 0.8 else 2):
        kind = str(rng.choice(MARK_KINDS, p=_ODDS))
        colour = _colour(rng)
        height, width = pixels.shape[:2]
        side = float(np.sqrt(height * width))
        size = side * float(np.exp(rng.uniform(np.log(0.05), np.log(0.22))))
        line = max(1, round(side * rng.uniform(0.004, 0.014)))
        dashed, thin = rng.random() < 0.25, rng.random() < 0.5
        for _ in range(int(rng.choice([1, 2, 3, 4, 5], p=[0.5, 0.25, 0.12, 0.08, 0.05]))):
            x, y = float(rng.uniform(0.1, 0.9) * width), float(rng.uniform(0.1, 0.9) * height)
            # A mark that cannot be told from its ground is no mark to anyone.
            ground = (
                pixels[max(0, int(y) - 3) : int(y) + 4, max(0, int(x) - 3) : int(x) + 4].reshape(-1, 3).mean(axis=0)
            )
            if float(np.abs(ground - np.asarray(colour)).max()) < 70:
                colour = (255, 255, 255) if ground.mean() < 128 else (0, 0, 0)
            before = pixels.astype(np.int16)
            for growth in range(MAX_GROWTH):
                _draw_mark(
                    rng, pixels, kind, (x, y), size * 1.5**growth, line + growth, colour, dashed=dashed, thin=thin
                )
                # Antialiasing swallows the smallest marks on grounds of middle grey.
                if int((np.abs(pixels - before).max(axis=2) >= SEEN_CONTRAST).sum()) >= SEEN_PIXELS:
                    break


def _draw_mark(
    rng: np.random.Generator,
    pixels: Pixels,
    kind: str,
    place: tuple[float, float],
    size: float,
    line: int,
    colour: Colour,
    *,
    dashed: bool,
    thin: bool,
) -> None:
    x, y = place
    if kind == "arrow" and thin:
        _draw_thin_arrow(rng, pixels, place, size, line, colour)
    elif kind == "arrow":
        _draw_arrow(rng, pixels, place, size, colour)
    elif kind == "arrowhead":
        turn, half = rng.uniform(0, 2 * np.pi), rng.uniform(0.25, 0.5)
        points = [(x, y)] + [
            (x + size * 0.6 * np.cos(turn + s * half), y + size * 0.6 * np.sin(turn + s * half)) for s in (-1, 1)
        ]
        cv2.fillPoly(
            pixels, [np.round(np.asarray(points) * 8).astype(np.int32).reshape(-1, 1, 2)], colour, cv2.LINE_AA, 3
        )
    elif kind in ("circle", "outline"):
        a, b = size * rng.uniform(0.5, 1.4), size * rng.uniform(0.5, 1.4)
        ring = _ring(place, a, a if kind == "circle" and rng.random() < 0.6 else b)
        if kind == "outline":
            ring = ring + np.round(rng.normal(0, size * 0.05, ring.shape)).astype(np.int32)
        if dashed:
            _draw_dashed(pixels, ring, colour, line)
        else:
            cv2.polylines(pixels, [ring.reshape(-1, 1, 2)], True, colour, line, cv2.LINE_AA)
    elif kind == "box":
        a, b = size * rng.uniform(0.5, 1.5), size * rng.uniform(0.5, 1.5)
        corners = np.asarray([(x - a, y - b), (x + a, y - b), (x + a, y + b), (x - a, y + b), (x - a, y - b)])
        if dashed:
            steps = np.concatenate([np.linspace(corners[k], corners[k + 1], 9)[:-1] for k in range(4)])
            _draw_dashed(pixels, np.round(steps).astype(np.int32), colour, line)
        else:
            cv2.rectangle(pixels, (round(x - a), round(y - b)), (round(x + a), round(y + b)), colour, line, cv2.LINE_AA)
    elif kind == "asterisk":
        glyph = str(rng.choice(["*", "*", "*", "+", "#"]))
        print_text(pixels, round(x), round(y), glyph, "hebo", max(10, round(size * rng.uniform(0.8, 1.6))), colour)
    elif kind == "caliper":
        end = (round(x + size * rng.uniform(-1.5, 1.5)), round(y + size * rng.uniform(0.5, 1.5)))
        cv2.arrowedLine(pixels, (round(x), round(y)), end, colour, line, cv2.LINE_AA, 0, 0.2)
        cv2.arrowedLine(pixels, end, (round(x), round(y)), colour, line, cv2.LINE_AA, 0, 0.2)
    else:
        _draw_arrow(rng, pixels, place, size * 0.8, colour)
        text = str(rng.choice(["N", "T", "M", "1", "2", "a", "b", "L"]))
        print_text(
            pixels, round(x + size * 0.6), round(y + size * 0.3), text, "helv", max(9, round(size * 0.7)), colour
        )


def draw_device_print(rng: np.random.Generator, pixels: Pixels) -> None:
    """Print what devices and authors put on pictures without pointing at anything: scale bars, names, dates, frames."""
    height, width = pixels.shape[:2]
    side = float(np.sqrt(height * width))
    size = max(6, round(side * rng.uniform(0.03, 0.07)))
    for _ in range(int(rng.integers(1, 3))):
        kind = rng.choice(
            ["scale", "words", "date", "side", "ruler", "crosshair"], p=[0.4, 0.25, 0.12, 0.13, 0.06, 0.04]
        )
        right, low = bool(rng.random() < 0.5), bool(rng.random() < 0.75)
        x = width - round(side * rng.uniform(0.2, 0.35)) if right else round(side * rng.uniform(0.02, 0.06))
        y = height - round(side * rng.uniform(0.08, 0.12)) if low else round(side * rng.uniform(0.02, 0.05))
        ground = pixels[max(0, y) : y + size, max(0, x) : x + 3 * size]
        light = bool(ground.size and ground.mean() > 128)
        ink: Colour = (0, 0, 0) if light else (255, 255, 255) if rng.random() < 0.85 else (120, 255, 120)
        if kind == "scale":
            length = round(side * rng.uniform(0.08, 0.25))
            y = min(y, height - 3 - size)
            cv2.line(
                pixels, (x, y), (min(width - 2, x + length), y), ink, max(1, round(side * rng.uniform(0.004, 0.016)))
            )
            if rng.random() < 0.6:
                unit = str(rng.choice(["200 µm", "50 µm", "1 mm", "100 µm", "10 µm"]))
                print_text(pixels, x, y - round(size * 1.2) if low else y + 4, unit, "helv", size, ink)
        elif kind == "words":
            words = str(
                rng.choice(
                    [
                        "OD",
                        "OS",
                        "IR 30° ART",
                        "OCT 30° ART [HS]",
                        "Control",
                        "Treated",
                        "T1",
                        "NFL",
                        "x400",
                        "DAPI",
                        "Merge",
                        "0:32",
                    ]
                )
            )
            print_text(pixels, x, y, words, "helv", size, ink)
        elif kind == "date":
            print_text(
                pixels, x, y, f"{int(rng.integers(1, 29)):02d}/{int(rng.integers(1, 13)):02d}/2014", "cour", size, ink
            )
        elif kind == "side":
            print_text(pixels, x, y, str(rng.choice(["R", "L", "A", "P", "N", "S"])), "hebo", round(size * 1.2), ink)
        elif kind == "ruler":
            for k in range(0, height, max(6, height // 20)):
                cv2.line(pixels, (width - 8, k), (width - 3, k), ink, 1)
        else:
            cv2.line(pixels, (0, height // 2), (width - 1, height // 2), (0, 255, 0), 1)
