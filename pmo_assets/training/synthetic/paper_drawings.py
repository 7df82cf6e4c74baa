"""Drawings on white paper that are no plots: tables, diagrams, outline drawings, recordings.

Each depends on the generator's state alone and returns (height, width, 3) uint8 RGB.
"""

from __future__ import annotations

import cv2
import numpy as np

from pmo_assets.samples.drawing import Pixels, Rng, paper, print_centred, print_text, text_mask
from pmo_assets.training.synthetic.words_and_colours import any_palette, colour_of, some_words


def table(rng: Rng, width: int, height: int) -> Pixels:
    """Draw a table of words and numbers with rules, perhaps with cells in colours."""
    canvas = paper(width, height)
    rows, columns = int(rng.integers(3, 9)), int(rng.integers(2, 6))
    if rng.random() < 0.4:
        palette, strength = any_palette(rng), float(rng.uniform(0.2, 0.9))
        for i in range(1, rows):
            for j in range(1, columns):
                first, last = (round(j * width / columns), round(i * height / rows)), (
                    round((j + 1) * width / columns) - 1, round((i + 1) * height / rows) - 1)  # fmt: skip
                share = strength * float(rng.choice([0, 0.4, 1]))
                cv2.rectangle(
                    canvas, first, last, tuple(round(255 - (255 - c) * share) for c in colour_of(rng, palette)), -1
                )
    size = int(np.clip(min(height / rows * 0.5, width / columns * 0.16), 6, 16))
    full = rng.random() < 0.4
    for i in range(rows + 1):
        if full or i in (0, 1, rows):
            y = min(height - 1, round(i * height / rows))
            cv2.line(canvas, (0, y), (width - 1, y), (0, 0, 0), 1)
    for j in range(columns):
        for i in range(rows):
            text = some_words(rng, 1, 1)[:10] if i == 0 or j == 0 else f"{rng.uniform(0, 100):.1f}"
            print_text(
                canvas,
                round((j + 0.08) * width / columns),
                round((i + 0.3) * height / rows),
                text,
                "helv" if i else "hebo",
                size,
                (0, 0, 0),
            )
    return canvas


def flow_diagram(rng: Rng, width: int, height: int) -> Pixels:
    """Draw boxes with words, joined by arrows."""
    canvas = paper(width, height)
    columns, rows = max(1, round(width / rng.uniform(110, 220))), max(1, round(height / rng.uniform(70, 130)))
    palette = any_palette(rng)
    size = int(np.clip(min(width / columns * 0.09, height / rows * 0.2), 6, 16))
    tinted, rounded = rng.random() < 0.6, rng.random() < 0.3
    middles: list[tuple[int, int]] = []
    for i in range(rows):
        for j in range(columns):
            if rng.random() < 0.15 and len(middles) > 1:
                continue
            x, y = round((j + 0.5) * width / columns), round((i + 0.5) * height / rows)
            half_w, half_h = (
                round(width / columns * rng.uniform(0.3, 0.4)),
                round(height / rows * rng.uniform(0.22, 0.36)),
            )
            if middles:
                cv2.arrowedLine(canvas, middles[-1], (x, y), (60, 60, 60), max(1, size // 8), cv2.LINE_AA, 0, 0.05)
            middles.append((x, y))
            fill = tuple(int(255 - (255 - c) * 0.35) for c in colour_of(rng, palette)) if tinted else (255, 255, 255)
            if rounded:
                cv2.ellipse(canvas, (x, y), (half_w, half_h), 0, 0, 360, fill, -1, cv2.LINE_AA)
                cv2.ellipse(canvas, (x, y), (half_w, half_h), 0, 0, 360, (0, 0, 0), 1, cv2.LINE_AA)
            else:
                cv2.rectangle(canvas, (x - half_w, y - half_h), (x + half_w, y + half_h), fill, -1)
                cv2.rectangle(canvas, (x - half_w, y - half_h), (x + half_w, y + half_h), (0, 0, 0), 1)
            text = some_words(rng, 1, 2)
            print_centred(canvas, x, y - text_mask(text, "helv", size).shape[0] // 2, text, "helv", size, (0, 0, 0))
    return canvas


def line_drawing(rng: Rng, width: int, height: int) -> Pixels:
    """Draw an outline drawing with leader lines and words: an eye, apparatus, molecules."""
    canvas = paper(width, height)
    palette = any_palette(rng)
    size = int(np.clip(0.05 * min(width, height), 6, 15))
    for _ in range(int(rng.integers(3, 10))):
        place = (int(rng.uniform(0.2, 0.8) * width), int(rng.uniform(0.2, 0.8) * height))
        axes = (int(rng.uniform(0.05, 0.3) * width), int(rng.uniform(0.05, 0.3) * height))
        filled = rng.random() < 0.4
        shade = tuple(int(255 - (255 - c) * rng.uniform(0.3, 1)) for c in colour_of(rng, palette))
        cv2.ellipse(
            canvas,
            place,
            axes,
            rng.uniform(0, 180),
            0,
            rng.choice([180.0, 360.0]),
            shade if filled else (0, 0, 0),
            -1 if filled else 1,
            cv2.LINE_AA,
        )
        if rng.random() < 0.6:
            end = (int(rng.uniform(0.02, 0.7) * width), int(rng.uniform(0.02, 0.95) * height))
            cv2.line(canvas, place, end, (0, 0, 0), 1, cv2.LINE_AA)
            print_text(canvas, end[0] + 2, end[1] - size // 2, some_words(rng, 1, 2), "helv", size, (0, 0, 0))
    return canvas


def trace(rng: Rng, width: int, height: int) -> Pixels:
    """Draw recordings: ECG on tinted graph paper, ERG or EEG traces on white."""
    paper = rng.random() < 0.4
    canvas = np.full((height, width, 3), (255, 236, 236) if paper else (255, 255, 255), np.uint8)
    if paper:
        step = max(5, round(min(width, height) / 25))
        canvas[::step], canvas[:, ::step] = (245, 190, 190), (245, 190, 190)
    n = int(rng.integers(1, 6))
    for k in range(n):
        t = np.linspace(0, rng.uniform(3, 10), width)
        phase = t % 1.0
        wave = (
            np.exp(-(((phase - 0.4) / 0.02) ** 2))
            - 0.3 * np.exp(-(((phase - 0.47) / 0.03) ** 2))
            + 0.2 * np.exp(-(((phase - 0.7) / 0.06) ** 2))
        )
        wave = wave + rng.normal(0, 0.015, width)
        y = height * ((k + 0.6) / n) - wave * height / n * 0.45
        cv2.polylines(
            canvas,
            [np.stack([np.arange(width), y], 1).round().astype(np.int32).reshape(-1, 1, 2)],
            False,
            (0, 0, 0),
            1,
            cv2.LINE_AA,
        )
    return canvas
