"""Vector plots: axes, curves and bars with tick labels as live text."""

from __future__ import annotations

import numpy as np

from pmo_assets.records.geometry import Box
from pmo_assets.samples.scene import BLACK, Colour, Item, Path, Text, circle
from pmo_assets.samples.spec import PictureKind, Topic
from pmo_assets.samples.type_metrics import text_width

_COLOURS: tuple[Colour, ...] = ((0.12, 0.36, 0.66), (0.80, 0.26, 0.16), (0.20, 0.55, 0.30))
_Y_TITLES = {
    "retina": ("Central thickness (µm)", "Visual acuity (logMAR)", "Intraocular pressure (mmHg)", "Sensitivity (dB)"),
    "cardiology": ("Ejection fraction (%)", "Heart rate (1/min)", "Troponin (ng/L)", "Wall thickness (mm)"),
    "intracoronary": ("Lumen area (mm²)", "Neointimal area (mm²)", "Strut coverage (%)", "Cap thickness (µm)"),
}
_GROUPS = {
    "retina": ("Control", "Treated", "Fellow"),
    "cardiology": ("Sham", "Infarct", "Treated"),
    "intracoronary": ("Bare", "Eluting", "Scaffold"),
}
_AXIS_WIDTH = 0.6
_TICK = 2.5


def plot(
    kind: PictureKind, rng: np.random.Generator, topic: Topic, box: Box, *, y_title: str = "", size: float = 6.5
) -> list[Item]:
    """Draw a plot with everything that belongs to it inside `box` (points, y downwards).

    Args:
        kind: "line_plot", "bar_chart" or "scatter_plot".
        rng: source of data and titles.
        topic: of the article; axis titles fit it.
        box: room for axes, labels and data.
        y_title: title of the y axis; "" chooses one.
        size: font size of tick labels, points; smaller in a box narrower than 20 times this size.
    """
    size = min(size, (box[2] - box[0]) / 20)
    items: list[Item] = []
    top_value = int(rng.choice([20, 40, 60, 80, 100, 200, 400]))
    ticks = 5 if box[3] - box[1] > 80 else 3
    labels = [f"{top_value * i / (ticks - 1):g}" for i in range(ticks)]
    widest = max(text_width(label, "Helvetica", size) for label in labels)
    left = box[0] + 1.4 * size + widest + _TICK + 2
    right, top, bottom = box[2] - size, box[1] + size, box[3] - 3.2 * size
    items.append(Path(((left, top), (left, bottom), (right, bottom)), line_width=_AXIS_WIDTH))
    for i, label in enumerate(labels):
        y = bottom - (bottom - top) * i / (ticks - 1) * 0.96
        items.append(Path(((left - _TICK, y), (left, y)), line_width=_AXIS_WIDTH))
        x = left - _TICK - 1.5 - text_width(label, "Helvetica", size)
        items.append(Text(x, y + 0.36 * size, label, size=size))
    y_title = y_title or str(rng.choice(_Y_TITLES[topic]))
    while text_width(y_title, "Helvetica", size) > box[3] - box[1] and " " in y_title:
        y_title = y_title.rsplit(" ", 1)[0]
    middle = (top + bottom) / 2
    start = min(middle + text_width(y_title, "Helvetica", size) / 2, box[3] - 0.5)
    if text_width(y_title, "Helvetica", size) <= box[3] - box[1]:
        items.append(Text(box[0] + size, start, y_title, size=size, angle=90))
    if kind == "bar_chart":
        items += _bars(rng, topic, (left, top, right, bottom), size)
    else:
        items += _x_axis(kind, (left, top, right, bottom), size)
        draw = _curves if kind == "line_plot" else _points
        items += draw(rng, topic, (left, top, right, bottom), size)
    return items


def _centred(text: str, x: float, baseline: float, size: float) -> Text:
    return Text(x - text_width(text, "Helvetica", size) / 2, baseline, text, size=size)


def _x_axis(kind: PictureKind, area: Box, size: float) -> list[Item]:
    left, _, right, bottom = area
    values = ("0", "3", "6", "9", "12") if kind == "line_plot" else ("40", "50", "60", "70", "80")
    title = "Time (months)" if kind == "line_plot" else "Age (years)"
    items: list[Item] = []
    for i, value in enumerate(values):
        x = left + (right - left) * i / (len(values) - 1) * 0.97
        items.append(Path(((x, bottom), (x, bottom + _TICK)), line_width=_AXIS_WIDTH))
        items.append(_centred(value, x, bottom + _TICK + 1.1 * size, size))
    items.append(_centred(title, (left + right) / 2, bottom + _TICK + 2.4 * size, size))
    return items


def _curves(rng: np.random.Generator, topic: Topic, area: Box, size: float) -> list[Item]:
    left, top, right, bottom = area
    items: list[Item] = []
    steps = np.linspace(0, 0.97, 13)
    for k in range(2):
        level = 0.25 + 0.3 * k + np.cumsum(rng.normal(0.012, 0.035, len(steps)))
        level = np.clip(level, 0.03, 0.94)
        points = tuple((float(left + (right - left) * s), float(bottom - (bottom - top) * v))
                       for s, v in zip(steps, level, strict=True))  # fmt: skip
        items.append(Path(points, stroke=_COLOURS[k], line_width=1.0))
        name = _GROUPS[topic][k]
        x, y = right - 14 - text_width("Treated", "Helvetica", size), top + (k + 0.5) * 1.3 * size
        items.append(Path(((x, y), (x + 9, y)), stroke=_COLOURS[k], line_width=1.0))
        items.append(Text(x + 11, y + 0.36 * size, name, size=size))
    return items


def _points(rng: np.random.Generator, topic: Topic, area: Box, size: float) -> list[Item]:
    left, top, right, bottom = area
    items: list[Item] = []
    xs = rng.uniform(0.04, 0.95, 34)
    ys = np.clip(0.15 + 0.6 * xs + rng.normal(0, 0.09, len(xs)), 0.03, 0.95)
    for x, y in zip(xs, ys, strict=True):
        px, py = float(left + (right - left) * x), float(bottom - (bottom - top) * y)
        items.append(circle(px, py, 1.3, stroke=None, fill=_COLOURS[0], line_width=0))
    line = ((left + 2, bottom - (bottom - top) * 0.17), (right - 2, bottom - (bottom - top) * 0.74))
    items.append(Path(line, stroke=_COLOURS[1], line_width=0.9))
    items.append(Text(left + 5, top + size, f"r = {0.6 + 0.3 * float(rng.random()):.2f}", size=size))
    return items


def _bars(rng: np.random.Generator, topic: Topic, area: Box, size: float) -> list[Item]:
    left, top, right, bottom = area
    items: list[Item] = []
    slot = (right - left) / 3
    for k, name in enumerate(_GROUPS[topic]):
        centre = left + slot * (k + 0.5)
        height = (bottom - top) * float(rng.uniform(0.3, 0.75))
        half = slot * 0.3
        corners = ((centre - half, bottom), (centre - half, bottom - height), (centre + half, bottom - height),
                   (centre + half, bottom))  # fmt: skip
        items.append(Path(corners, stroke=BLACK, fill=_COLOURS[k], line_width=0.5, closed=True))
        whisker = (bottom - top) * float(rng.uniform(0.03, 0.08))
        peak = bottom - height - whisker
        items.append(Path(((centre, bottom - height), (centre, peak)), line_width=0.6))
        items.append(Path(((centre - half / 3, peak), (centre + half / 3, peak)), line_width=0.6))
        if k and rng.random() < 0.6:  # a significance asterisk is no mark (annotation guide)
            items.append(_centred("*", centre, peak - 1, size + 1))
        name_size = min(size, size * 0.95 * slot / text_width(name, "Helvetica", size))
        items.append(_centred(name, centre, bottom + _TICK + 1.1 * size, name_size))
    return items
