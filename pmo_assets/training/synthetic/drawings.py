"""Drawn pictures that are no retinal images: plots of many kinds, blots, tables, diagrams, textures, scans.

All of them depend on the generator's state alone and return (height, width, 3) uint8 RGB. Those on paper
(`PAPER_KINDS`) are cut to their ink afterwards by `trimmed`; the others fill their frame.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from pmo_assets.training.synthetic.letters import Colour, Pixels, printed, text_mask

Rng = np.random.Generator

WORDS = [
    "Time",
    "Control",
    "Treated",
    "Group",
    "Mean",
    "Score",
    "Expression",
    "Relative",
    "Retinal",
    "thickness",
    "Visual",
    "acuity",
    "Age",
    "years",
    "Weeks",
    "Days",
    "Frequency",
    "Amplitude",
    "Patients",
    "Baseline",
    "Follow-up",
    "Sensitivity",
    "Specificity",
    "Accuracy",
    "Epoch",
    "Loss",
    "Precision",
    "Recall",
    "Model",
    "Input",
    "Output",
    "Left",
    "eye",
    "Right",
    "eye",
    "Area",
    "Intensity",
    "Ratio",
    "Volume",
    "Depth",
    "Dose",
    "Cells",
    "Level",
    "IOP",
    "mmHg",
    "OD",
    "OS",
    "Normal",
    "Diabetic",
    "AMD",
    "Glaucoma",
    "Image",
    "Mask",
    "Ground",
    "truth",
    "Prediction",
    "U-Net",
    "Feature",
    "Encoder",
    "Decoder",
    "Training",
    "Test",
    "Before",
    "After",
    "Day",
    "1",
    "Week",
    "4",
    "Month",
    "6",
    "Study",
    "Placebo",
    "Survival",
    "Actin",
    "GAPDH",
    "p75",
    "WT",
    "KO",
    "Mock",
    "siRNA",
    "Vehicle",
]
"""Words for axes, headings and boxes; frequent ones of the literature."""

PALETTES: tuple[tuple[Colour, ...], ...] = (
    ((31, 119, 180), (255, 127, 14), (44, 160, 44), (214, 39, 40), (148, 103, 189), (140, 86, 75)),
    ((0, 0, 0), (90, 90, 90), (150, 150, 150), (200, 200, 200)),
    ((79, 129, 189), (192, 80, 77), (155, 187, 89), (128, 100, 162), (75, 172, 198)),
    ((0, 0, 255), (255, 0, 0), (0, 128, 0), (0, 0, 0), (255, 0, 255)),
    ((225, 87, 89), (78, 121, 167), (242, 142, 43), (118, 183, 178), (89, 161, 79)),
)


def some_words(rng: Rng, least: int, most: int) -> str:
    """Return a few random words."""
    return " ".join(str(rng.choice(WORDS)) for _ in range(int(rng.integers(least, most + 1))))


def colour_of(rng: Rng, palette: tuple[Colour, ...]) -> Colour:
    """Return a random colour of a palette."""
    return palette[int(rng.integers(len(palette)))]


def cloud(rng: Rng, width: int, height: int, cells: float) -> np.ndarray:
    """Return smooth noise of mean 0 and deviation about 1, shape (height, width), with `cells` blobs across."""
    columns = max(2, round(cells))
    rows = max(2, round(cells * height / max(1, width)))
    coarse = rng.standard_normal((min(rows, 400) + 2, columns + 2)).astype(np.float32)
    return np.asarray(cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC))


def trimmed(pixels: Pixels) -> Pixels:
    """Return a picture on white paper cut to its ink (any channel below 235); unchanged when there is none."""
    first, second, third = cv2.split(pixels)
    ink = np.asarray(cv2.min(cv2.min(first, second), third) < 235, dtype=np.uint8)
    left, top, wide, tall = cv2.boundingRect(ink)
    return np.ascontiguousarray(pixels[top : top + tall, left : left + wide]) if min(wide, tall) >= 8 else pixels


def _axes(rng: Rng, canvas: Pixels) -> tuple[int, int, int, int]:
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
        printed(canvas, left - size // 2 - mask.shape[1], y - mask.shape[0] // 2, text, face, size, ink)
    named = rng.random() < 0.3
    for k in range(n_x + 1):
        x = round(left + (right - left) * (k + 0.5 * named) / (n_x + named))
        cv2.line(canvas, (x, bottom), (x, bottom + size // 3), ink, line)
        text = some_words(rng, 1, 1)[:7] if named else f"{k * step:g}"
        mask = text_mask(text, face, size)
        printed(canvas, x - mask.shape[1] // 2, bottom + size // 2, text, face, size, ink)
    if style > 0.6:
        cv2.rectangle(canvas, (left, top), (right, bottom), ink, line)
    elif style > 0.15:
        cv2.line(canvas, (left, top), (left, bottom), ink, line)
        cv2.line(canvas, (left, bottom), (right, bottom), ink, line)
    middle = (left + right) // 2
    if titled_x:
        text = some_words(rng, 1, 3)
        mask = text_mask(text, face, size)
        printed(canvas, middle - mask.shape[1] // 2, height - mask.shape[0] - 1, text, face, size, ink)
    if titled_y:
        text = some_words(rng, 1, 3)
        mask = text_mask(text, face, size)
        printed(canvas, 1, (top + bottom - mask.shape[1]) // 2, text, face, size, ink, upright=True)
    if headed:
        text = some_words(rng, 1, 3)
        mask = text_mask(text, face, size + 1)
        printed(canvas, middle - mask.shape[1] // 2, 1, text, face, size + 1, ink)
    return left + line, top + 1, right, bottom


def _legend(rng: Rng, canvas: Pixels, area: tuple[int, int, int, int], colours: list[Colour]) -> None:
    left, top, right, bottom = area
    size = int(np.clip(0.06 * min(right - left, bottom - top), 6, 16))
    x = right - size * 8 if rng.random() < 0.7 else left + size
    y = top + size
    for colour in colours:
        cv2.rectangle(canvas, (x, y), (x + size, y + size // 2), colour, -1)
        printed(canvas, x + 2 * size, y - size // 4, some_words(rng, 1, 1), "helv", size, (0, 0, 0))
        y += round(size * 1.6)


def line_plot(rng: Rng, width: int, height: int) -> Pixels:
    """Draw curves, with markers or error bars."""
    canvas = np.full((height, width, 3), 255, np.uint8)
    left, top, right, bottom = area = _axes(rng, canvas)
    palette = PALETTES[int(rng.integers(len(PALETTES)))]
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
        _legend(rng, canvas, area, colours)
    return canvas


def _bar(canvas: Pixels, box: tuple[int, int, int, int], colour: Colour, pattern: str, *, filled: bool) -> None:
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
    canvas = np.full((height, width, 3), 255, np.uint8)
    left, top, right, bottom = area = _axes(rng, canvas)
    palette = PALETTES[int(rng.integers(len(PALETTES)))]
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
            _bar(canvas, (x0, y, x1 - 1, bottom - 1), colour, pattern if k or per == 1 else "plain", filled=fill)
            if not histogram and rng.random() < 0.7:
                reach, middle = round(rng.uniform(0.02, 0.08) * (bottom - top)), (x0 + x1) // 2
                cv2.line(canvas, (middle, y - reach), (middle, y + reach), (0, 0, 0), 1)
                cv2.line(canvas, (middle - 3, y - reach), (middle + 3, y - reach), (0, 0, 0), 1)
                if rng.random() < 0.2:
                    size = max(8, round(0.07 * (bottom - top)))
                    printed(
                        canvas,
                        middle - 4,
                        y - reach - size // 2,
                        "*" * int(rng.integers(1, 4)),
                        "helv",
                        size,
                        (0, 0, 0),
                    )
    if per > 1 and rng.random() < 0.6:
        _legend(rng, canvas, area, list(palette[:per]))
    return canvas


def scatter_plot(rng: Rng, width: int, height: int) -> Pixels:
    """Draw points, in one cloud with a regression line or in several clusters."""
    canvas = np.full((height, width, 3), 255, np.uint8)
    left, top, right, bottom = _axes(rng, canvas)
    palette = PALETTES[int(rng.integers(len(PALETTES)))]
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
    canvas = np.full((height, width, 3), 255, np.uint8)
    palette = PALETTES[int(rng.integers(len(PALETTES)))]
    grouped = rng.random() < 0.35
    beside = grouped and rng.random() < 0.5 and width > 160
    inner = width - round(width * 0.22) if beside else width
    area = np.full((height, inner, 3), 255, np.uint8)
    left, top, right, bottom = _axes(rng, area)
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
            printed(canvas, inner + 8 + 2 * size, y0, some_words(rng, 1, 1)[:9], "helv", size, (0, 0, 0))
            y0 += 2 * size
    return canvas


def pie_chart(rng: Rng, width: int, height: int) -> Pixels:
    """Draw a pie with or without a legend."""
    canvas = np.full((height, width, 3), 255, np.uint8)
    palette = PALETTES[int(rng.integers(len(PALETTES)))]
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
        _legend(rng, canvas, (2 * radius, height // 4, width, height), list(palette[: len(shares)]))
    return canvas


def heat_map(rng: Rng, width: int, height: int) -> Pixels:
    """Draw a matrix in a colour map; fills the frame."""
    n, m = int(rng.integers(3, 24)), int(rng.integers(3, 24))
    values = rng.random((n, m)) ** rng.uniform(0.6, 2)
    if rng.random() < 0.5:  # a confusion matrix
        values = values * 0.3 + np.eye(n, m) * 0.7
    grey = np.asarray(values * 255, dtype=np.uint8)
    maps = [
        cv2.COLORMAP_VIRIDIS,
        cv2.COLORMAP_JET,
        cv2.COLORMAP_HOT,
        cv2.COLORMAP_BONE,
        cv2.COLORMAP_INFERNO,
        cv2.COLORMAP_COOL,
    ]
    colours = cv2.applyColorMap(grey, maps[int(rng.integers(len(maps)))])
    picture = np.asarray(cv2.resize(colours, (width, height), interpolation=cv2.INTER_NEAREST), dtype=np.uint8)
    if n * m <= 64 and rng.random() < 0.6:
        size = max(6, round(min(width / m, height / n) * 0.35))
        for i in range(n):
            for j in range(m):
                light = int(grey[i, j]) > 128
                x, y = round((j + 0.3) * width / m), round((i + 0.35) * height / n)
                printed(picture, x, y, f"{values[i, j]:.1f}", "helv", size, (0, 0, 0) if light else (255, 255, 255))
    return picture


def spots(rng: Rng, width: int, height: int) -> Pixels:
    """Draw soft spots on black, white or blue: percepts, attention maps, segmentation masks; fills the frame."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    level = np.zeros((height, width), np.float32)
    for _ in range(int(rng.integers(1, 6))):
        cx, cy = rng.uniform(0.2, 0.8) * width, rng.uniform(0.2, 0.8) * height
        sx, sy = rng.uniform(0.03, 0.2) * width, rng.uniform(0.03, 0.2) * height
        level += np.exp(-(((x - cx) / sx) ** 2) - ((y - cy) / sy) ** 2) * rng.uniform(0.5, 1)
    style = int(rng.integers(5))
    if style <= 1:
        mask = level > 0.4
        ground = [(0, 0, 0), (0, 45, 70), (68, 1, 84), (255, 255, 255)][int(rng.integers(4))]
        picture = np.full((height, width, 3), ground, np.uint8)
        picture[mask] = [(255, 255, 255), (255, 170, 0), (200, 30, 30), (40, 160, 60)][int(rng.integers(4))]
        if ground == (255, 255, 255):
            cv2.rectangle(picture, (0, 0), (width - 1, height - 1), (0, 0, 0), 1)
            picture[mask] = (0, 0, 0)
        return picture
    grey = np.asarray(np.clip(level * 255, 0, 255), dtype=np.uint8)
    if style == 2:
        return np.repeat(grey[:, :, None], 3, axis=2)
    return np.ascontiguousarray(
        cv2.applyColorMap(grey, cv2.COLORMAP_JET if style == 3 else cv2.COLORMAP_HOT)[:, :, ::-1]
    )


def segmentation(rng: Rng, width: int, height: int) -> Pixels:
    """Draw a segmentation mask: regions and small lesions in flat colours on a dark ground; fills the frame."""
    grounds: tuple[Colour, ...] = ((0, 0, 0), (0, 45, 70), (68, 1, 84), (20, 20, 60))
    picture = np.full((height, width, 3), grounds[int(rng.integers(len(grounds)))], np.uint8)
    colours = [tuple(int(v) for v in rng.integers(60, 256, 3)) for _ in range(2)]
    if rng.random() < 0.6:  # one large region
        picture[cloud(rng, width, height, 4) > rng.uniform(0.6, 1.3)] = colours[0]
    fine = cloud(rng, width, height, rng.uniform(12, 40)) - 0.5 * np.abs(np.linspace(-2, 2, height))[:, None]
    picture[fine > rng.uniform(0.8, 1.6)] = colours[1] if rng.random() < 0.7 else (255, 255, 255)
    return picture


def blot(rng: Rng, width: int, height: int) -> Pixels:
    """Draw one strip of a western blot or gel; fills the frame."""
    dark_ground = rng.random() < 0.2
    lanes = int(rng.integers(2, 9))
    level = np.full((height, width), rng.uniform(170, 235), np.float32) + 6 * cloud(rng, width, height, 12)
    rows = max(1, round(height / width * 6))
    for lane in range(lanes):
        for row in range(rows):
            if rng.random() < 0.25:
                continue
            x, y = (lane + 0.5) / lanes * width, (row + rng.uniform(0.4, 0.6)) / rows * height
            a, b = rng.uniform(0.28, 0.42) * width / lanes, rng.uniform(0.1, 0.25) * height / rows
            left, right = max(0, int(x - 2 * a)), min(width, int(x + 2 * a) + 1)
            cols, lines = np.arange(left, right, dtype=np.float32), np.arange(height, dtype=np.float32)[:, None]
            band = np.exp(-(((cols - x) / a) ** 4) - ((lines - y) / b) ** 2)
            level[:, left:right] -= band * rng.uniform(60, 200)
    grey = np.clip(level + rng.normal(0, 3, level.shape), 5, 250).astype(np.uint8)
    return np.repeat((255 - grey if dark_ground else grey)[:, :, None], 3, axis=2)


def texture(rng: Rng, width: int, height: int) -> Pixels:
    """Draw a stained section, fluorescence micrograph or electron micrograph; fills the frame."""
    style = int(rng.integers(4))
    fine = cloud(rng, width, height, rng.uniform(20, 80))
    coarse = cloud(rng, width, height, rng.uniform(3, 12))
    if style <= 1:  # haematoxylin and eosin
        ground = np.asarray(
            [(228, 160, 200), (240, 190, 215), (200, 190, 220), (215, 170, 130)][int(rng.integers(4))], np.float32
        )
        picture = ground + (9 * fine + 14 * coarse)[:, :, None] * np.asarray([0.6, 1.3, 0.8], np.float32)
        picture = np.clip(picture, 0, 248).astype(np.uint8)
        unit = max(width, height) / rng.uniform(60, 200)
        nucleus = np.asarray([(98, 62, 140), (60, 50, 120), (110, 60, 40)][int(rng.integers(3))])
        layered = rng.random() < 0.35
        for _ in range(int(rng.integers(80, 350))):
            y = height * (rng.choice([0.3, 0.55, 0.75]) + rng.normal(0, 0.05)) if layered else rng.uniform(0, height)
            place = (int(rng.uniform(0, width)), int(y))
            axes = (max(1, round(rng.uniform(0.8, 1.6) * unit)), max(1, round(rng.uniform(0.6, 1.1) * unit)))
            cv2.ellipse(
                picture,
                place,
                axes,
                rng.uniform(0, 180),
                0,
                360,
                (nucleus + rng.integers(-18, 18, 3)).clip(0, 255).tolist(),
                -1,
                cv2.LINE_AA,
            )
        if rng.random() < 0.3:  # pale lumen or rim of the section
            picture[coarse > 1.0] = (245, 243, 246)
        return picture
    if style == 2:  # fluorescence
        picture = np.zeros((height, width, 3), np.float32)
        for channel in rng.permutation(3)[: int(rng.integers(1, 3))].tolist():
            blobs = np.clip(cloud(rng, width, height, rng.uniform(8, 40)) - rng.uniform(0.3, 1.2), 0, 2) * 160
            picture[:, :, channel] += blobs
        return np.clip(picture + rng.normal(8, 4, picture.shape), 0, 255).astype(np.uint8)
    grey = np.clip(128 + 30 * coarse + 22 * fine + 18 * cloud(rng, width, height, min(width, 300)), 0, 255).astype(
        np.uint8
    )
    return np.repeat(grey[:, :, None], 3, axis=2)


def body_scan(rng: Rng, width: int, height: int) -> Pixels:
    """Draw something like CT, MRI or ultrasound: grey organs in an outline on black; fills the frame."""
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j].astype(np.float32)
    level = np.zeros((height, width), np.float32)
    if rng.random() < 0.25:  # ultrasound fan
        depth, angle = np.hypot(x, y + 1.05), np.arctan2(x, y + 1.05)
        fan = (np.abs(angle) < 0.7) & (depth > 0.12) & (depth < 1.9)
        grain = rng.gamma(2.0, 0.5, (height, width)).astype(np.float32)
        level = fan * np.clip(55 + 35 * cloud(rng, width, height, 6), 4, 200) * cv2.GaussianBlur(grain, (0, 0), 1.2)
    else:
        outline = (x / rng.uniform(0.75, 0.95)) ** 2 + (y / rng.uniform(0.7, 0.95)) ** 2 + 0.06 * cloud(
            rng, width, height, 5
        ) < 1
        level = outline * (70 + 20 * cloud(rng, width, height, 9))
        for _ in range(int(rng.integers(3, 12))):
            cx, cy = rng.uniform(-0.55, 0.55, 2)
            organ = ((x - cx) / rng.uniform(0.05, 0.3)) ** 2 + ((y - cy) / rng.uniform(0.05, 0.3)) ** 2 < 1
            level = np.where(organ & outline, rng.uniform(20, 235), level)
        level = cv2.GaussianBlur(level.astype(np.float32), (0, 0), max(0.8, width / 250))
        level = level + rng.normal(0, 5, level.shape)
    return np.repeat(np.clip(level, 0, 255).astype(np.uint8)[:, :, None], 3, axis=2)


def photograph(rng: Rng, width: int, height: int) -> Pixels:
    """Draw something like a photograph of skin, an eye or an object: smooth colours, light from one side."""
    ground = np.asarray(
        [(205, 150, 125), (150, 95, 70), (60, 120, 170), (120, 120, 120), (180, 60, 50), (40, 110, 60)][
            int(rng.integers(6))
        ],
        np.float32,
    )
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j].astype(np.float32)
    shade = (
        1
        + 0.25 * (x * rng.uniform(-1, 1) + y * rng.uniform(-1, 1))
        + 0.08 * cloud(rng, width, height, 5)
        + 0.03 * cloud(rng, width, height, 60)
    )
    picture = ground * shade[:, :, None]
    for _ in range(int(rng.integers(1, 5))):
        cx, cy, sx, sy = *rng.uniform(-0.6, 0.6, 2), *rng.uniform(0.1, 0.5, 2)
        share = np.clip(3 * (1 - ((x - cx) / sx) ** 2 - ((y - cy) / sy) ** 2), 0, 1)[:, :, None]
        picture += share * (rng.uniform(20, 235, 3).astype(np.float32) * shade[:, :, None] - picture)
    return np.clip(picture + rng.normal(0, 3, picture.shape[:2])[:, :, None], 0, 255).astype(np.uint8)


def table(rng: Rng, width: int, height: int) -> Pixels:
    """Draw a table of words and numbers with rules."""
    canvas = np.full((height, width, 3), 255, np.uint8)
    rows, columns = int(rng.integers(3, 9)), int(rng.integers(2, 6))
    size = int(np.clip(min(height / rows * 0.5, width / columns * 0.16), 6, 16))
    full = rng.random() < 0.4
    for i in range(rows + 1):
        if full or i in (0, 1, rows):
            y = min(height - 1, round(i * height / rows))
            cv2.line(canvas, (0, y), (width - 1, y), (0, 0, 0), 1)
    for j in range(columns):
        for i in range(rows):
            text = some_words(rng, 1, 1)[:10] if i == 0 or j == 0 else f"{rng.uniform(0, 100):.1f}"
            printed(
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
    canvas = np.full((height, width, 3), 255, np.uint8)
    columns, rows = max(1, round(width / rng.uniform(110, 220))), max(1, round(height / rng.uniform(70, 130)))
    palette = PALETTES[int(rng.integers(len(PALETTES)))]
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
            mask = text_mask(text, "helv", size)
            printed(canvas, x - mask.shape[1] // 2, y - mask.shape[0] // 2, text, "helv", size, (0, 0, 0))
    return canvas


def line_drawing(rng: Rng, width: int, height: int) -> Pixels:
    """Draw an outline drawing with leader lines and words: an eye, apparatus, molecules."""
    canvas = np.full((height, width, 3), 255, np.uint8)
    palette = PALETTES[int(rng.integers(len(PALETTES)))]
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
            printed(canvas, end[0] + 2, end[1] - size // 2, some_words(rng, 1, 2), "helv", size, (0, 0, 0))
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


PAPER_KINDS: tuple[tuple[Callable[[Rng, int, int], Pixels], float], ...] = (
    (line_plot, 5), (bar_plot, 7), (scatter_plot, 3), (box_plot, 3), (pie_chart, 0.5), (table, 0.7),
    (flow_diagram, 1.5), (line_drawing, 1.5), (trace, 0.8),
)  # fmt: skip
"""Drawings on white paper, with how often each is drawn."""

FILLED_KINDS: tuple[tuple[Callable[[Rng, int, int], Pixels], float], ...] = (
    (texture, 4), (body_scan, 3), (photograph, 3), (heat_map, 1.5), (spots, 1.5), (segmentation, 1.0),
)  # fmt: skip
"""Pictures that fill their frame, with how often each is drawn; blots come in stacks of their own."""


def drawn(
    rng: Rng, kinds: tuple[tuple[Callable[[Rng, int, int], Pixels], float], ...], width: int, height: int
) -> Pixels:
    """Return a picture of a random kind; on paper it is cut to its ink and may thus be smaller than asked."""
    odds = np.asarray([weight for _, weight in kinds])
    kind = kinds[int(rng.choice(len(kinds), p=odds / odds.sum()))][0]
    picture = kind(rng, max(24, width), max(24, height))
    return trimmed(picture) if kinds is PAPER_KINDS else picture
