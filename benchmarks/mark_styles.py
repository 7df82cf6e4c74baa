"""Marks in styles that no network was trained on, typeset into PDFs or drawn by Matplotlib, with their exact truth.

Arrows with notched tails, curved shafts, shadows, halos and hollow heads, darts, rounded boxes, stars of six points,
brackets of separate lines, characters as marks; and ink that is none: scale bars, names, identifiers, frames, patches
under letters. `training/synthetic/drawn_marks.py` draws by OpenCV and in other proportions. Coordinates are points of a
page whose only content is one picture with its marks.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pymupdf
from PIL import Image

from pmo_assets.records.geometry import Box, Point, clip
from pmo_assets.records.regions import MarkKind
from pmo_assets.samples.drawing import Pixels, Rng, one_by_odds

Colour = tuple[float, float, float]

COLOURS: tuple[Colour, ...] = (
    (1, 1, 1), (0, 0, 0), (1, 1, 0), (0.93, 0.11, 0.14), (0.3, 0.9, 0.2), (0, 0.65, 0.93), (0.95, 0.5, 0.1),
    (0.9, 0.2, 0.8), (0.1, 0.2, 0.85),
)  # fmt: skip


@dataclass(frozen=True)
class TrueMark:
    """A mark as it was drawn: kind, box and tip in points of the page, colour 0..1."""

    kind: MarkKind
    box: Box
    tip: Point | None
    colour: Colour


@dataclass
class Sheet:
    """A page under way: what is painted, in order, and the marks so far."""

    page: pymupdf.Page
    wide: float
    tall: float
    marks: list[TrueMark] = field(default_factory=list)

    def paint(
        self, points: np.ndarray, *, fill: Colour | None = None, line: Colour | None = None, width: float = 1.0,
        closed: bool = True, dashes: str | None = None,
    ) -> None:  # fmt: skip
        """Draw one path of straight lines through points (n, 2)."""
        shape = self.page.new_shape()
        shape.draw_polyline([pymupdf.Point(*p) for p in points.tolist()])
        shape.finish(color=line, fill=fill, width=width, closePath=closed, dashes=dashes)
        shape.commit()

    def mark(
        self, kind: MarkKind, points: np.ndarray, colour: Colour, tip: np.ndarray | None = None, width: float = 0.0
    ) -> None:
        """Note a mark whose ink lies within the box of points, grown by half a line width."""
        (left, top), (right, bottom) = points.min(axis=0) - width / 2, points.max(axis=0) + width / 2
        point = None if tip is None else (float(tip[0]), float(tip[1]))
        self.marks.append(TrueMark(kind, (float(left), float(top), float(right), float(bottom)), point, colour))


def turned(points: list[tuple[float, float]], angle: float, place: np.ndarray) -> np.ndarray:
    """Return points (n, 2) turned about the origin and moved to a place."""
    turn = np.asarray([(np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))])
    return np.asarray(np.asarray(points, dtype=np.float64) @ turn + place)


def _block_arrow(rng: Rng, sheet: Sheet, place: np.ndarray, size: float, colour: Colour) -> None:
    """A filled arrow of 7 or, with a notch in its tail, 8 corners; with a halo, a shadow or a rim."""
    length, shaft, spread = size * rng.uniform(1.2, 2.6), size * rng.uniform(0.1, 0.22), size * rng.uniform(0.28, 0.5)
    head = size * rng.uniform(0.4, 0.7)
    upper = [(head, spread), (head, shaft), (length, shaft)]
    outline = [(0.0, 0.0), *upper, *((x, -y) for x, y in upper[::-1])]
    if rng.random() < 0.35:
        outline.insert(4, (length - shaft, 0))
    corners = turned(outline, float(rng.uniform(0, 2 * np.pi)), place)
    look = rng.random()
    if look < 0.2:
        sheet.paint(corners + size * 0.06, fill=(0.35, 0.35, 0.35))
    elif look < 0.4:
        sheet.paint(corners, fill=(0, 0, 0), line=(0, 0, 0), width=size * 0.1)
    rim: Colour | None = (0, 0, 0) if look > 0.8 else None
    sheet.paint(corners, fill=colour, line=rim, width=0.6)
    sheet.mark("arrow", corners, colour, corners[0])


def _line_and_head(rng: Rng, sheet: Sheet, place: np.ndarray, size: float, colour: Colour) -> None:
    """A line and a head as paths of their own: a triangle, a dart, or an open head."""
    angle, width = float(rng.uniform(0, 2 * np.pi)), float(max(0.5, size * rng.uniform(0.04, 0.1)))
    length, head = size * rng.uniform(1.2, 2.8), size * rng.uniform(0.35, 0.6)
    half = head * rng.uniform(0.3, 0.5)
    look = rng.random()
    start = 0.0 if look >= 0.7 else head * 0.7
    line = turned([(start, 0), (length, 0)], angle, place)
    sheet.paint(line, line=colour, width=width, closed=False)
    if look < 0.4:
        shape = turned([(0, 0), (head, half), (head, -half)], angle, place)
        sheet.paint(shape, fill=colour)
    elif look < 0.7:
        shape = turned([(0, 0), (head, half), (head * 0.7, 0), (head, -half)], angle, place)
        sheet.paint(shape, fill=colour)
    else:
        shape = turned([(head, half), (0, 0), (head, -half)], angle, place)
        sheet.paint(shape, line=colour, width=width, closed=False)
    sheet.mark("arrow", np.concatenate([line, shape]), colour, turned([(0, 0)], angle, place)[0], width)


def _one_path_arrow(rng: Rng, sheet: Sheet, place: np.ndarray, size: float, colour: Colour) -> None:
    """A shaft, straight or bent, and its open head in one path, as vector programs export them."""
    angle, width = float(rng.uniform(0, 2 * np.pi)), float(max(0.5, size * rng.uniform(0.05, 0.12)))
    length, head = size * rng.uniform(1.0, 2.4), size * rng.uniform(0.3, 0.5)
    half = head * rng.uniform(0.4, 0.8)
    tail = (length, length * rng.uniform(0.1, 0.3)) if rng.random() < 0.3 else (length, 0.0)
    middle = (length * 0.55, 0.0)
    points = turned([tail, middle, (0, 0), (head, half), (0, 0), (head, -half)], angle, place)
    shape = sheet.page.new_shape()
    for a, b in ((0, 1), (1, 2), (3, 2), (2, 5)):
        shape.draw_line(pymupdf.Point(*points[a].tolist()), pymupdf.Point(*points[b].tolist()))
    shape.finish(color=colour, width=width, closePath=False, lineCap=1, lineJoin=1)
    shape.commit()
    sheet.mark("arrow", points, colour, points[2], width)


def _curved_arrow(rng: Rng, sheet: Sheet, place: np.ndarray, size: float, colour: Colour) -> None:
    """A curved shaft with a filled head as a path of its own."""
    angle, width = float(rng.uniform(0, 2 * np.pi)), float(max(0.6, size * rng.uniform(0.05, 0.1)))
    length, head, bend = size * rng.uniform(1.4, 2.6), size * 0.45, rng.choice([-1, 1]) * size * rng.uniform(0.2, 0.6)
    curve = turned([(head * 0.8, 0), (length * 0.5, 0), (length * 0.8, bend * 0.6), (length, bend)], angle, place)
    shape = sheet.page.new_shape()
    shape.draw_bezier(*(pymupdf.Point(*p) for p in curve.tolist()))
    shape.finish(color=colour, width=width, closePath=False)
    shape.commit()
    triangle = turned([(0, 0), (head, head * 0.4), (head, -head * 0.4)], angle, place)
    sheet.paint(triangle, fill=colour)
    t = np.linspace(0, 1, 20)[:, None]
    ink = sum(c * curve[k] for k, c in enumerate(((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)))
    sheet.mark("arrow", np.concatenate([np.asarray(ink), triangle]), colour, triangle[0], width)


def _arrowhead(rng: Rng, sheet: Sheet, place: np.ndarray, size: float, colour: Colour) -> None:
    """A slim or wide triangle, a dart, an open head with round joints, or a head with a hollow, curved back."""
    angle, look = float(rng.uniform(0, 2 * np.pi)), rng.random()
    size, half = size * 0.8, size * 0.8 * rng.uniform(0.28, 0.42)
    if look < 0.35:
        shape = turned([(0, 0), (size, half), (size, -half)], angle, place)
        sheet.paint(shape, fill=colour, line=(0, 0, 0) if rng.random() < 0.3 else None, width=0.5)
    elif look < 0.65:
        notch = size * rng.uniform(0.55, 0.8)
        shape = turned([(0, 0), (size, half * 1.2), (notch, 0), (size, -half * 1.2)], angle, place)
        sheet.paint(shape, fill=colour)
    elif look < 0.85:
        width = max(1.0, size * rng.uniform(0.1, 0.2))
        shape = turned([(size, half * 1.4), (0, 0), (size, -half * 1.4)], angle, place)
        sheet.paint(shape, line=colour, width=width, closed=False)
        sheet.mark("arrowhead", shape, colour, shape[1], width)
        return
    else:
        shape = turned([(0, 0), (size, half), (size, -half), (size * 0.75, 0)], angle, place)
        path = sheet.page.new_shape()
        tip, one, other, back = (pymupdf.Point(*p) for p in shape.tolist())
        path.draw_line(tip, one)
        path.draw_curve(one, back, other)
        path.draw_line(other, tip)
        path.finish(fill=colour, color=None, closePath=True)
        path.commit()
        shape = shape[:3]
    sheet.mark("arrowhead", shape, colour, shape[0])


def _circle(rng: Rng, sheet: Sheet, place: np.ndarray, size: float, colour: Colour) -> None:
    """An ellipse, dashed or not, or a free outline of curves."""
    a, b, width = size * rng.uniform(0.7, 1.5), size * rng.uniform(0.6, 1.5), float(rng.uniform(0.6, 2.2))
    dashes = "[3 2] 0" if rng.random() < 0.4 else None
    shape = sheet.page.new_shape()
    if rng.random() < 0.65:
        shape.draw_oval(pymupdf.Rect(place[0] - a, place[1] - b, place[0] + a, place[1] + b))
        ink = place + np.asarray([(-a, -b), (a, b)])
    else:
        t = np.arange(14) * 2 * np.pi / 14
        radius = 1 + rng.uniform(-0.22, 0.22, 14)
        ring = np.stack([a * radius * np.cos(t), b * radius * np.sin(t)], axis=1) + place
        middles = (ring + np.roll(ring, -1, axis=0)) / 2
        for k in range(14):
            three = (middles[k - 1], ring[k], middles[k])
            shape.draw_curve(*(pymupdf.Point(*p.tolist()) for p in three))
        ink = np.concatenate([middles, (middles + np.roll(middles, 1, axis=0) + 2 * ring) / 4])
    shape.finish(color=colour, width=width, dashes=dashes, closePath=True)
    shape.commit()
    sheet.mark("circle", ink, colour, None, width)


def _box(rng: Rng, sheet: Sheet, place: np.ndarray, size: float, colour: Colour) -> None:
    """A rectangle, plain, dashed, with round corners, or as four lines."""
    a, b, width = size * rng.uniform(0.7, 1.6), size * rng.uniform(0.6, 1.4), float(rng.uniform(0.6, 2.2))
    corners = np.asarray([(-a, -b), (a, -b), (a, b), (-a, b)]) + place
    look = rng.random()
    if look < 0.15:
        for k in range(4):
            sheet.paint(corners[[k, (k + 1) % 4]], line=colour, width=width, closed=False)
    else:
        rect = pymupdf.Rect(*corners[0].tolist(), *corners[2].tolist())
        radius = 0.2 if look > 0.75 else None
        dashes = "[4 3] 0" if 0.4 < look < 0.65 else None
        sheet.page.draw_rect(rect, color=colour, width=width, radius=radius, dashes=dashes)
    sheet.mark("box", corners, colour, None, width)


def _asterisk(rng: Rng, sheet: Sheet, place: np.ndarray, size: float, colour: Colour) -> None:
    """A character of live text, a star of five or six points, or strokes that cross."""
    look = rng.random()
    if look < 0.5:
        glyph, face = str(rng.choice(["*", "*", "*", "#", "+"])), str(rng.choice(["tiro", "cobo", "heit"]))
        points = size * rng.uniform(1.0, 1.8)
        font = pymupdf.Font(face)
        box = font.glyph_bbox(ord(glyph))
        sheet.page.insert_text(pymupdf.Point(*place.tolist()), glyph, fontname=face, fontsize=points, color=colour)
        ink = np.asarray([(box.x0, -box.y1), (box.x1, -box.y0)]) * points + place
        sheet.mark("asterisk", ink, colour)
        return
    if look < 0.75:
        count = int(rng.choice([5, 6]))
        radii = np.where(np.arange(2 * count) % 2 == 0, 1.0, rng.uniform(0.38, 0.55)) * size * 0.55
        t = np.arange(2 * count) * np.pi / count - np.pi / 2
        star = np.stack([radii * np.cos(t), radii * np.sin(t)], axis=1) + place
        sheet.paint(star, fill=colour)
        sheet.mark("asterisk", star, colour)
        return
    width, count = max(0.8, size * 0.12), int(rng.choice([2, 3]))
    ends = []
    shape = sheet.page.new_shape()
    for k in range(count):
        stroke = turned([(-size * 0.5, 0), (size * 0.5, 0)], k * np.pi / count + np.pi / 2, place)
        shape.draw_line(*(pymupdf.Point(*p) for p in stroke.tolist()))
        ends.append(stroke)
    shape.finish(color=colour, width=width, closePath=False)
    shape.commit()
    sheet.mark("asterisk", np.concatenate(ends), colour, None, width)


def _line(rng: Rng, sheet: Sheet, place: np.ndarray, size: float, colour: Colour) -> None:
    """A leader with a name, a calliper of three lines, a bracket, or a wavy trace; oblique, as none of the axes is."""
    angle = float(rng.uniform(0.25, 1.3) + np.pi / 2 * rng.integers(4))
    width, length, look = float(rng.uniform(0.5, 1.5)), size * rng.uniform(1.5, 3.0), rng.random()
    if look < 0.4:
        ink = turned([(0, 0), (length, 0)], angle, place)
        sheet.paint(ink, line=colour, width=width, closed=False)
        sheet.page.insert_text(
            pymupdf.Point(*(ink[1] + (2, -1)).tolist()), str(rng.choice(["ELM", "SRF", "PED", "EZ"])),
            fontname="helv", fontsize=7, color=colour,
        )  # fmt: skip
    elif look < 0.7:
        bar = size * 0.2
        ink = turned([(0, 0), (length, 0), (0, bar), (0, -bar), (length, bar), (length, -bar)], angle, place)
        for a in (0, 2, 4):
            sheet.paint(ink[a : a + 2], line=colour, width=width, closed=False)
    elif look < 0.85:
        ink = turned([(0, size * 0.25), (0, 0), (length, 0), (length, size * 0.25)], angle, place)
        sheet.paint(ink, line=colour, width=width, closed=False)
    else:
        t = np.linspace(0, 1, 16)
        ink = turned([(length * v, size * 0.15 * np.sin(9 * v)) for v in t.tolist()], angle, place)
        sheet.paint(ink, line=colour, width=width, closed=False)
    sheet.mark("line", ink, colour, None, width)


MarkDrawer = Callable[[Rng, Sheet, np.ndarray, float, Colour], None]

STYLES: tuple[tuple[MarkDrawer, float], ...] = (
    (_block_arrow, 2.0), (_line_and_head, 2.5), (_one_path_arrow, 1.0), (_curved_arrow, 1.0), (_arrowhead, 2.5),
    (_circle, 2.0), (_box, 2.0), (_asterisk, 2.0), (_line, 1.2),
)  # fmt: skip


def other_ink(rng: Rng, sheet: Sheet) -> None:
    """Print what is no mark: a scale bar with its length, a name, an identifier, a frame, a patch under a letter."""
    page, wide, tall = sheet.page, sheet.wide, sheet.tall
    ink: Colour = (1, 1, 1) if rng.random() < 0.6 else (0, 0, 0)
    if rng.random() < 0.5:
        x, y, length = wide * rng.uniform(0.68, 0.75), tall * 0.95, wide * rng.uniform(0.12, 0.2)
        sheet.paint(np.asarray([(x, y), (x + length, y)]), line=ink, width=float(rng.uniform(1, 3)), closed=False)
        if rng.random() < 0.3:
            for at in (x, x + length):
                sheet.paint(np.asarray([(at, y - 3), (at, y + 3)]), line=ink, width=1.0, closed=False)
        page.insert_text(pymupdf.Point(x, y - 4), str(rng.choice(["200 µm", "1 mm", "50 µm"])), fontsize=7, color=ink)
    if rng.random() < 0.4:
        page.draw_rect(pymupdf.Rect(3, 3, 19, 19), color=None, fill=(1, 1, 1))
        page.insert_text(pymupdf.Point(6, 16), str(rng.choice(list("ABCDEF"))), fontname="hebo", fontsize=13)
    if rng.random() < 0.3:
        place = pymupdf.Point(wide * rng.uniform(0.3, 0.7), tall * rng.uniform(0.1, 0.9))
        page.insert_text(place, str(rng.choice(["INL", "Choroid", "OD", "before"])), fontsize=9, color=ink)
    if rng.random() < 0.25:
        page.draw_rect(pymupdf.Rect(0.5, 0.5, wide - 0.5, tall - 0.5), color=ink, width=1.0)


def typeset(rng: Rng, picture: Pixels, *, marked: bool) -> tuple[pymupdf.Document, list[TrueMark]]:
    """Return a document of one page that a picture fills, with one to six marks and other ink over it."""
    tall, wide = picture.shape[:2]
    scale = float(rng.uniform(130, 300)) / max(tall, wide)
    document = pymupdf.open()
    page = document.new_page(width=wide * scale, height=tall * scale)
    data = io.BytesIO()
    Image.fromarray(picture).save(data, "JPEG", quality=90)
    page.insert_image(page.rect, stream=data.getvalue())
    sheet = Sheet(page, page.rect.width, page.rect.height)
    other_ink(rng, sheet)
    side = float(np.sqrt(sheet.wide * sheet.tall))
    for _ in range(int(rng.integers(1, 4)) if marked else 0):
        draw = one_by_odds(rng, [draw for draw, _ in STYLES], [odds for _, odds in STYLES])
        colour = COLOURS[int(rng.integers(len(COLOURS)))]
        size = side * float(np.exp(rng.uniform(np.log(0.045), np.log(0.15))))
        for _ in range(int(rng.choice([1, 2, 3], p=[0.6, 0.25, 0.15]))):
            _place_freely(rng, sheet, draw, size, colour, picture)
    return document, sheet.marks


def _place_freely(rng: Rng, sheet: Sheet, draw: MarkDrawer, size: float, colour: Colour, picture: Pixels) -> None:
    """Draw a mark where no other one is and where it lies inside; not at all when no such place is found."""
    for _ in range(12):
        place = np.asarray([rng.uniform(0.12, 0.88) * sheet.wide, rng.uniform(0.12, 0.88) * sheet.tall])
        reach = 3.0 * size
        room = min(place[0], place[1], sheet.wide - place[0], sheet.tall - place[1])
        near = any(
            max(m.box[0] - place[0], place[0] - m.box[2]) < reach * 0.8
            and max(m.box[1] - place[1], place[1] - m.box[3]) < reach * 0.8
            for m in sheet.marks
        )
        if near or room < reach * 0.45:
            continue
        x, y = (place / (sheet.wide, sheet.tall) * (picture.shape[1], picture.shape[0])).astype(int).tolist()
        ground = picture[max(0, y - 6) : y + 7, max(0, x - 6) : x + 7].reshape(-1, 3).mean(axis=0) / 255
        if float(np.abs(ground - np.asarray(colour)).max()) < 0.35:
            colour = (1, 1, 1) if ground.mean() < 0.5 else (0, 0, 0)
        before = len(sheet.marks)
        draw(rng, sheet, place, size, colour)
        left, top, right, bottom = sheet.marks[before].box
        if left < 0 or top < 0 or right > sheet.wide or bottom > sheet.tall:
            _cut(sheet, before)
        return


def _cut(sheet: Sheet, index: int) -> None:
    """Cut the box of a mark that leaves the page; a tip outside is not seen."""
    mark = sheet.marks[index]
    box = clip(mark.box, (0.0, 0.0, sheet.wide, sheet.tall))
    inside = mark.tip is not None and 0 <= mark.tip[0] <= sheet.wide and 0 <= mark.tip[1] <= sheet.tall
    sheet.marks[index] = TrueMark(mark.kind, box, mark.tip if inside else None, mark.colour)


def drawn_by_matplotlib(rng: Rng, picture: Pixels) -> tuple[Pixels, list[TrueMark]]:
    """Return a picture with one to four annotations of Matplotlib: its arrow styles, patches and markers.

    Coordinates of the truth are pixels of the result.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patches import Ellipse, FancyArrowPatch, FancyBboxPatch, Patch

    tall, wide = picture.shape[:2]
    figure = Figure(figsize=(wide / 100, tall / 100), dpi=100)
    canvas: Any = FigureCanvasAgg(figure)  # without types
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, wide)
    axes.set_ylim(tall, 0)
    axes.axis("off")
    axes.imshow(picture, extent=(0, wide, tall, 0), aspect="auto")
    side = float(np.sqrt(tall * wide))
    marks: list[TrueMark] = []
    kinds: tuple[MarkKind, ...] = ("arrow", "circle", "box", "asterisk")
    kind = one_by_odds(rng, kinds, (0.5, 0.2, 0.15, 0.15))
    colour = COLOURS[int(rng.integers(len(COLOURS)))]
    size = side * float(np.exp(rng.uniform(np.log(0.06), np.log(0.16))))
    taken: list[np.ndarray] = []
    for _ in range(int(rng.integers(1, 5))):
        place = np.asarray([rng.uniform(0.15, 0.85) * wide, rng.uniform(0.15, 0.85) * tall])
        if any(float(np.hypot(*(place - other))) < 3 * size for other in taken):
            continue
        taken.append(place)
        patch: Patch
        tip: Point | None = None
        if kind == "arrow":
            angle = float(rng.uniform(0, 2 * np.pi))
            end = place + size * rng.uniform(1.0, 2.2) * np.asarray([np.cos(angle), np.sin(angle)])
            style = str(rng.choice(["fancy", "simple", "wedge", "-|>", "->"]))
            patch = FancyArrowPatch(
                end.tolist(), place.tolist(), arrowstyle=style, mutation_scale=max(8.0, size * 0.5), color=colour,
                linewidth=float(rng.uniform(0.8, 2)), shrinkA=0, shrinkB=0,
                connectionstyle=f"arc3,rad={float(rng.uniform(-0.25, 0.25)):.2f}",
            )  # fmt: skip
            tip = (float(place[0]), float(place[1]))
        elif kind == "circle":
            line = float(rng.uniform(0.8, 2.5))
            patch = Ellipse(
                place.tolist(), size * 1.6, size * rng.uniform(0.9, 2.0), angle=float(rng.uniform(0, 180)), fill=False,
                edgecolor=colour, linewidth=line, linestyle=":" if rng.random() < 0.3 else "-",
            )  # fmt: skip
        elif kind == "box":
            patch = FancyBboxPatch(
                (place - size * 0.7).tolist(), size * 1.4, size * rng.uniform(0.9, 1.8), boxstyle="round,pad=0.2",
                fill=False, edgecolor=colour, linewidth=float(rng.uniform(0.8, 2.5)),
            )  # fmt: skip
        else:
            name = str(rng.choice(["$\\ast$", "*", "x", "P", "X"]))
            axes.plot(*place.tolist(), marker=name, color=colour, markersize=size * 0.5)
            half = size * 0.5 * figure.dpi / 72 / 2
            box = (place[0] - half, place[1] - half, place[0] + half, place[1] + half)
            marks.append(TrueMark("asterisk", box, None, colour))
            continue
        axes.add_patch(patch)
        canvas.draw()
        seen = patch.get_window_extent(canvas.get_renderer())
        marks.append(TrueMark(kind, (seen.x0, tall - seen.y1, seen.x1, tall - seen.y0), tip, colour))
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[:, :, :3].copy()
    frame = (0.0, 0.0, float(wide), float(tall))
    return pixels, [replace(mark, box=clip(mark.box, frame)) for mark in marks]
