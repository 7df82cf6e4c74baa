"""Drawn plots on white paper: curves, bars, points, boxes, pies, with axes and legends.

Each depends on the generator's state alone and returns (height, width, 3) uint8 RGB.
"""

from __future__ import annotations

import cv2
import numpy as np

from pmo_assets.samples.drawing import (
    Colour,
    Pixels,
    Rng,
    false_colours,
    grey_picture,
    one_of,
    paper,
    print_centred,
    print_text,
    text_mask,
)
from pmo_assets.training.synthetic.words_and_colours import any_palette, some_words


def _draw_axes(rng: Rng, canvas: Pixels) -> tuple[int, int, int, int]:
    """Draw axes with ticks, numbers, titles and maybe grid, frame and heading; return the data area."""
    height, width = canvas.shape[:2]
    face = str(rng.choice(["helv", "helv", "helv", "tiro", "hebo"]))
    size = int(np.clip(rng.uniform(0.045, 0.085) * min(height, width), 7, 24))
    titled_x, titled_y, headed = rng.random() < 0.75, rng.random() < 0.75, rng.random() < 0.25
    left = round(size * (2.2 + 1.5 * titled_y))
    bottom = height - round(size * (1.7 + 1.4 * titled_x))
    top, right = round(size * (0.6 + 1.4 * headed)), width - round(size * 0.8)
    if right - left < 16 or bottom - top < 16:
        left, top, right, bottom = size, 2, width - 3, height - size
    ink: Colour = (0, 0, 0) if rng.random() < 0.8 else (70, 70, 70)
    line = max(1, round(size / rng.uniform(7, 14)))
    style = rng.random()
    if style < 0.15:
        canvas[top:bottom, left:right] = (234, 234, 242)
    n_x, n_y = int(rng.integers(3, 8)), int(rng.integers(3, 7))
    grid = rng.random() < 0.3
    base, step = float(rng.choice([0, 0, 0, 10, -1])), float(rng.choice([0.2, 1, 2, 5, 10, 20, 50, 100]))
    for k in range(n_y + 1):
        y = round(bottom - (bottom - top) * k / n_y)
        if grid:
            cv2.line(canvas, (left, y), (right, y), (255, 255, 255) if style < 0.15 else (205, 205, 205), 1)
        cv2.line(canvas, (left - size // 3, y), (left, y), ink, line)
        text = f"{base + k * step:g}"
        mask = text_mask(text, face, size)
        print_text(canvas, left - size // 2 - mask.shape[1], y - mask.shape[0] // 2, text, face, size, ink)
    named = rng.random() < 0.3
    for k in range(n_x + 1):
        x = round(left + (right - left) * (k + 0.5 * named) / (n_x + named))
        cv2.line(canvas, (x, bottom), (x, bottom + size // 3), ink, line)
        text = some_words(rng, 1, 1)[:7] if named else f"{k * step:g}"
        print_centred(canvas, x, bottom + size // 2, text, face, size, ink)
    if style > 0.6:
        cv2.rectangle(canvas, (left, top), (right, bottom), ink, line)
    elif style > 0.15:
        cv2.line(canvas, (left, top), (left, bottom), ink, line)
        cv2.line(canvas, (left, bottom), (right, bottom), ink, line)
    middle = (left + right) // 2
    if titled_x:
        text = some_words(rng, 1, 3)
        print_centred(canvas, middle, height - text_mask(text, face, size).shape[0] - 1, text, face, size, ink)
    if titled_y:
        text = some_words(rng, 1, 3)
        mask = text_mask(text, face, size)
        print_text(canvas, 1, (top + bottom - mask.shape[1]) // 2, text, face, size, ink, upright=True)
    if headed:
        print_centred(canvas, middle, 1, some_words(rng, 1, 3), face, size + 1, ink)
    return left + line, top + 1, right, bottom


def _draw_legend(rng: Rng, canvas: Pixels, area: tuple[int, int, int, int], colours: list[Colour]) -> None:
    left, top, right, bottom = area
    size = int(np.clip(0.06 * min(right - left, bottom - top), 6, 16))
    x = right - size * 8 if rng.random() < 0.7 else left + size
    y = top + size
    for colour in colours:
        cv2.rectangle(canvas, (x, y), (x + size, y + size // 2), colour, -1)
        print_text(canvas, x + 2 * size, y - size // 4, some_words(rng, 1, 1), "helv", size, (0, 0, 0))
        y += round(size * 1.6)


def line_plot(rng: Rng, width: int, height: int) -> Pixels:
    """Draw curves, with markers or error bars."""
    canvas = paper(width, height)
    left, top, right, bottom = area = _draw_axes(rng, canvas)
    palette = any_palette(rng)
    n, points = int(rng.integers(1, 5)), int(rng.choice([5, 8, 30, 120]))
    thick = max(1, round(min(width, height) / rng.uniform(120, 320)))
    colours = [palette[k % len(palette)] for k in range(n)]
    for colour in colours:
        x = np.linspace(left, right - 2, points)
        shape = rng.choice(["walk", "saturating", "falling", "wave"])
        t = np.linspace(0, 1, points)
        if shape == "walk":
            y = np.cumsum(rng.normal(0, 1, points))
            y = (y - y.min()) / (np.ptp(y) + 1e-6)
        elif shape == "wave":
            y = 0.5 + 0.4 * np.sin(t * rng.uniform(4, 20) + rng.uniform(0, 6)) * np.exp(-t * rng.uniform(0, 2))
        else:
            y = 1 - np.exp(-t * rng.uniform(1, 8)) + rng.normal(0, 0.02, points)
            y = 1 - y if shape == "falling" else y
        y = np.clip(y * rng.uniform(0.4, 0.9) + rng.uniform(0, 0.1), 0, 1)
        rows = bottom - 1 - y * (bottom - top - 2)
        corners = np.round(np.stack([x, rows], axis=1)).astype(np.int32)
        cv2.polylines(canvas, [corners.reshape(-1, 1, 2)], False, colour, thick, cv2.LINE_AA)
        if points <= 8:
            radius = max(2, thick * 2)
            for px, py in corners.tolist():
                cv2.circle(canvas, (px, py), radius, colour, -1, cv2.LINE_AA)
                if shape != "wave":
                    reach = round(0.05 * (bottom - top))
                    cv2.line(canvas, (px, py - reach), (px, py + reach), colour, 1)
    if rng.random() < 0.5:
        _draw_legend(rng, canvas, area, colours)
    return canvas


def _draw_bar(canvas: Pixels, box: tuple[int, int, int, int], colour: Colour, pattern: str, *, filled: bool) -> None:
    """Draw one bar (left, top, right, bottom): plain, hatched, chequered, ruled or with a gradient, in place."""
    left, top, right, bottom = box
    if right <= left or bottom <= top:
        return
    if pattern == "plain" or not filled:
        cv2.rectangle(canvas, (left, top), (right, bottom), colour, -1 if filled else 1)
        return
    part = canvas[top : bottom + 1, left : right + 1]
    y, x = np.mgrid[0 : part.shape[0], 0 : part.shape[1]]
    if pattern == "gradient":
        share = (0.35 + 0.65 * x / max(1, part.shape[1] - 1))[:, :, None]
        part[:] = (255 - (255 - np.asarray(colour)) * share).astype(np.uint8)
    else:
        on = {"diagonal": (x + y) % 6 < 2, "checks": (x // 3 + y // 3) % 2 == 0, "lines": y % 5 < 2}[pattern]
        part[:] = 255
        part[on] = (0, 0, 0) if sum(colour) > 600 else colour
    cv2.rectangle(canvas, (left, top), (right, bottom), (0, 0, 0), 1)


def bar_plot(rng: Rng, width: int, height: int) -> Pixels:
    """Draw (grouped) bars with error bars and significance asterisks, or a histogram."""
    canvas = paper(width, height)
    left, top, right, bottom = area = _draw_axes(rng, canvas)
    palette = any_palette(rng)
    histogram = rng.random() < 0.25
    groups, per = (
        (int(rng.integers(12, 40)), 1) if histogram else (int(rng.integers(2, 8)), int(rng.choice([1, 1, 2, 3, 4])))
    )
    slot = (right - left) / groups
    used = 1.0 if histogram else float(rng.uniform(0.4, 0.95))
    values = np.exp(-(((np.arange(groups) - groups * 0.4) / (groups * 0.2)) ** 2)) if histogram else None
    fill = rng.random() < 0.85
    pattern = str(rng.choice(["plain", "diagonal", "checks", "lines", "gradient"], p=[0.6, 0.12, 0.1, 0.08, 0.1]))
    for g in range(groups):
        for k in range(per):
            value = float(values[g] * rng.uniform(0.85, 1)) if values is not None else float(rng.uniform(0.15, 0.85))
            w = slot * used / per
            x0 = round(left + slot * (g + (1 - used) / 2) + k * w)
            x1, y = round(x0 + w), round(bottom - value * (bottom - top) * 0.95)
            colour = palette[(k if per > 1 else 0 if histogram else g) % len(palette)]
            _draw_bar(canvas, (x0, y, x1 - 1, bottom - 1), colour, pattern if k or per == 1 else "plain", filled=fill)
            if not histogram and rng.random() < 0.7:
                reach, middle = round(rng.uniform(0.02, 0.08) * (bottom - top)), (x0 + x1) // 2
                cv2.line(canvas, (middle, y - reach), (middle, y + reach), (0, 0, 0), 1)
                cv2.line(canvas, (middle - 3, y - reach), (middle + 3, y - reach), (0, 0, 0), 1)
                if rng.random() < 0.2:
                    size = max(8, round(0.07 * (bottom - top)))
                    print_text(
                        canvas,
                        middle - 4,
                        y - reach - size // 2,
                        "*" * int(rng.integers(1, 4)),
                        "helv",
                        size,
                        (0, 0, 0),
                    )
    if per > 1 and rng.random() < 0.6:
        _draw_legend(rng, canvas, area, list(palette[:per]))
    return canvas


def stacked_bar_plot(rng: Rng, width: int, height: int) -> Pixels:
    """Draw bars of several parts on top of each other, touching or apart, upright or lying, with a legend."""
    canvas = paper(width, height)
    left, top, right, bottom = area = _draw_axes(rng, canvas)
    palette = any_palette(rng)
    parts, bars, upright = int(rng.integers(2, 6)), int(rng.integers(1, 12)), rng.random() < 0.75
    long, across = (bottom - top, right - left) if upright else (right - left, bottom - top)
    slot, used = across / bars, float(rng.choice([1.0, 0.9, 0.6]))
    pattern = str(rng.choice(["plain", "gradient", "diagonal"], p=[0.7, 0.2, 0.1]))
    for k in range(bars):
        ends = np.cumsum(rng.dirichlet(np.full(parts, 3.0))) * float(rng.choice([1.0, rng.uniform(0.4, 0.95)])) * long
        a, b = round(slot * (k + (1 - used) / 2)), round(slot * (k + (1 + used) / 2)) - 1
        start = 0
        for part, end in enumerate(np.round(ends).astype(int).tolist()):
            box = (left + a, bottom - end, left + b, bottom - 1 - start)
            if not upright:
                box = (left + start, top + a, left + end - 1, top + b)
            _draw_bar(canvas, box, palette[part % len(palette)], pattern, filled=True)
            start = end
    if rng.random() < 0.6:
        _draw_legend(rng, canvas, area, list(palette[:parts]))
    return canvas


MATRIX_MAPS: tuple[int, ...] = (
    cv2.COLORMAP_BONE,
    cv2.COLORMAP_VIRIDIS,
    cv2.COLORMAP_HOT,
    cv2.COLORMAP_COOL,
    cv2.COLORMAP_PARULA,
)


def matrix_plot(rng: Rng, width: int, height: int) -> Pixels:
    """Draw a matrix of cells with their values: confusion matrices, correlations, chequerboards, with labels or not.

    Cells of one colour with something in the middle look like thumbnails; the whole is one image.
    """
    canvas = paper(width, height)
    labelled = rng.random() < 0.5
    left, bottom = (round(width * 0.14), height - round(height * 0.12)) if labelled else (0, height)
    cell = float(rng.uniform(14, 60))
    rows = int(np.clip(round(bottom / cell), 2, 14))
    columns = int(np.clip(round((width - left) / cell), 2, 14))
    kind = str(rng.choice(["confusion", "bands", "chequered", "random"]))
    across, down = np.meshgrid(np.arange(columns), np.arange(rows))
    levels = int(rng.integers(2, 7))
    steps = {
        "confusion": np.where(across % rows == down % columns, levels - 1, rng.integers(0, 2, (rows, columns))),
        "bands": (across if rng.random() < 0.5 else down) * levels // max(rows, columns),
        "chequered": (across + down) % 2 * int(rng.integers(1, levels)) + (down // 2 % 2),
        "random": rng.integers(0, levels, (rows, columns)),
    }[kind]
    shades = np.clip(255 * (1 - steps / max(1, levels - 1)), 0, 255).astype(np.uint8)
    table = grey_picture(shades)
    if rng.random() < 0.6:
        table = false_colours(shades, one_of(rng, MATRIX_MAPS))
    gap = int(rng.choice([0, 0, 0, 1, 2]))
    numbers, size = rng.random() < 0.75, round(min((width - left) / columns, bottom / rows) * rng.uniform(0.25, 0.55))
    for i in range(rows):
        for j in range(columns):
            x, y = left + (width - left) * j // columns, bottom * i // rows
            x1, y1 = left + (width - left) * (j + 1) // columns - gap, bottom * (i + 1) // rows - gap
            colour = tuple(int(v) for v in table[i, j])
            canvas[y:y1, x:x1] = colour
            if numbers and size >= 6:
                share = f"{rng.random():.2f}"[1 if size > 12 else 2 :]
                value = share if kind == "confusion" else str(int(steps[i, j]) + 1)
                ink = text_mask(value, "helv", size)
                place_x, place_y = (x + x1 - ink.shape[1]) // 2, (y + y1 - ink.shape[0]) // 2
                tone: Colour = (0, 0, 0) if sum(colour) > 380 else (255, 255, 255)
                print_text(canvas, place_x, place_y, value, "helv", size, tone)
    if rng.random() < 0.5 or not labelled:
        cv2.rectangle(canvas, (left, 0), (width - 1, bottom - 1), (0, 0, 0), int(rng.integers(1, 3)))
    if labelled:
        small = max(6, round(height * 0.05))
        print_text(canvas, left, bottom + 4, some_words(rng, 1, 3), "helv", small, (0, 0, 0))
        print_text(canvas, 2, bottom // 3, some_words(rng, 1, 2), "helv", small, (0, 0, 0), upright=True)
    return canvas


def scatter_plot(rng: Rng, width: int, height: int) -> Pixels:
    """Draw points, in one cloud with a regression line or in several clusters."""
    canvas = paper(width, height)
    left, top, right, bottom = _draw_axes(rng, canvas)
    palette = any_palette(rng)
    radius = max(1, round(min(width, height) / rng.uniform(70, 200)))
    clusters = int(rng.choice([1, 1, 3, 5]))
    for k in range(clusters):
        n = int(rng.integers(10, 120))
        centre = rng.uniform(0.25, 0.75, 2)
        spread = rng.uniform(0.06, 0.1) if clusters > 1 else rng.uniform(0.12, 0.25)
        slope = rng.uniform(-1, 1)
        a = rng.normal(0, spread, n)
        b = slope * a + rng.normal(0, spread * 0.5, n)
        for u, v in zip((centre[0] + a).tolist(), (centre[1] + b).tolist(), strict=True):
            if 0.02 < u < 0.98 and 0.02 < v < 0.98:
                place = (round(left + u * (right - left)), round(bottom - v * (bottom - top)))
                cv2.circle(canvas, place, radius, palette[k % len(palette)], -1 if k % 2 == 0 else 1, cv2.LINE_AA)
        if clusters == 1 and rng.random() < 0.5:
            cv2.line(
                canvas,
                (left, (top + bottom) // 2),
                (right, round(bottom - 0.8 * (bottom - top))),
                (0, 0, 0),
                1,
                cv2.LINE_AA,
            )
    return canvas


def box_plot(rng: Rng, width: int, height: int) -> Pixels:
    """Draw box-and-whisker or strip plots, singly or in groups of touching boxes, perhaps with a legend at the side."""
    canvas = paper(width, height)
    palette = any_palette(rng)
    grouped = rng.random() < 0.35
    beside = grouped and rng.random() < 0.5 and width > 160
    inner = width - round(width * 0.22) if beside else width
    area = np.full((height, inner, 3), 255, np.uint8)
    left, top, right, bottom = _draw_axes(rng, area)
    canvas[:, :inner] = area
    groups, per = (int(rng.integers(2, 4)), int(rng.integers(3, 6))) if grouped else (int(rng.integers(2, 8)), 1)
    strip, filled = rng.random() < 0.25, rng.random() < 0.75
    for k in range(groups * per):
        slot = (right - left) / groups
        if grouped:
            half = max(2, round(slot * 0.4 / per))
            x = round(left + slot * (k // per + 0.5) + (k % per - (per - 1) / 2) * 2 * half)
        else:
            half = max(2, round(slot * rng.uniform(0.15, 0.4)))
            x = round(left + slot * (k + 0.5))
        q = np.sort(rng.uniform(0.08, 0.92, 5))
        y = [round(bottom - v * (bottom - top)) for v in q.tolist()]
        colour = palette[k % per % len(palette)] if grouped else palette[k % len(palette)]
        if strip:
            for v in rng.uniform(q[0], q[4], 14).tolist():
                place = (x + int(rng.integers(-half, half + 1)), round(bottom - v * (bottom - top)))
                cv2.circle(canvas, place, 2, colour, -1)
            cv2.line(canvas, (x - half, y[2]), (x + half, y[2]), (0, 0, 0), 1)
            continue
        cv2.line(canvas, (x, y[0]), (x, y[4]), (0, 0, 0), 1)
        if filled:
            cv2.rectangle(canvas, (x - half, y[3]), (x + half, y[1]), colour, -1)
        cv2.rectangle(canvas, (x - half, y[3]), (x + half, y[1]), (0, 0, 0), 1)
        cv2.line(canvas, (x - half, y[2]), (x + half, y[2]), (0, 0, 0), 2)
    if beside:
        size = int(np.clip(width * 0.025, 6, 14))
        y0 = height // 3
        for k in range(per):
            cv2.rectangle(canvas, (inner + 4, y0), (inner + 4 + 2 * size, y0 + size), palette[k % len(palette)], -1)
            print_text(canvas, inner + 8 + 2 * size, y0, some_words(rng, 1, 1)[:9], "helv", size, (0, 0, 0))
            y0 += 2 * size
    return canvas


def pie_chart(rng: Rng, width: int, height: int) -> Pixels:
    """Draw a pie with or without a legend."""
    canvas = paper(width, height)
    palette = any_palette(rng)
    radius = round(min(width, height) * 0.42)
    shares = rng.dirichlet(np.full(int(rng.integers(2, 6)), 2.0)) * 360
    start = 0.0
    for k, share in enumerate(shares.tolist()):
        place = (radius + 2, height // 2)
        cv2.ellipse(
            canvas, place, (radius, radius), 0, start, start + share, palette[k % len(palette)], -1, cv2.LINE_AA
        )
        start += share
    if width > 2.4 * radius:
        _draw_legend(rng, canvas, (2 * radius, height // 4, width, height), list(palette[: len(shares)]))
    return canvas
