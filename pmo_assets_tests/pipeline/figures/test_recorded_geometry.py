"""Rules about places and sizes on a page, on random boxes, lines and paths: the answers as recorded."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pmo_assets.pipeline.figures.caption_location.by_layout import captions_by_layout
from pmo_assets.pipeline.figures.caption_location.lines import document_text
from pmo_assets.pipeline.figures.caption_location.located_captions import located_captions
from pmo_assets.pipeline.figures.fingerprint import difference, fingerprint
from pmo_assets.pipeline.figures.page import BitmapPlacement, PageContent, TextLine, TextSpan
from pmo_assets.pipeline.figures.page_turns import turned_box, turned_page
from pmo_assets.pipeline.figures.regions.atoms import grids_of, page_atoms
from pmo_assets.pipeline.figures.regions.barriers import core_box, distance, is_blocked
from pmo_assets.pipeline.figures.regions.furniture import furniture_graphics, furniture_lines, repeated_lines
from pmo_assets.pipeline.figures.regions.graphics import _frame_parts, _without_captions, count_inside
from pmo_assets.pipeline.figures.regions.page_layout import _caption_anchors
from pmo_assets.pipeline.figures.regions.sides import SIDES, _caption_edge, _faces, _narrow, _on_side, aside
from pmo_assets.pipeline.figures.regions.tables import _with_notes, table_areas
from pmo_assets.pipeline.figures.rendering import (
    capped_dpi,
    ink_frame,
    joined_offsets,
    native_dpi,
    pixel_grid,
)
from pmo_assets.pipeline.figures.trimming import _snapped
from pmo_assets.pipeline.figures.vector_shapes import kind_of_path, shapes_on_bitmaps
from pmo_assets.records.article import PackageFigure
from pmo_assets.records.geometry import Box
from pmo_assets_tests.pipeline.figures.regions.drawn_pages import STYLE, drawn_page
from pmo_assets_tests.pipeline.figures.typesetting import caption_text
from pmo_assets_tests.recorded import assert_as_recorded

FILE = Path(__file__).with_suffix(".json")
DRAWS = 60
LEGEND = caption_text(3)[:50]

Rng = np.random.Generator


def box(rng: Rng, least: float = 10, most: float = 250) -> Box:
    left, top = rng.uniform(10, 450, 2).tolist()
    wide, tall = rng.uniform(least, most, 2).tolist()
    return (left, top, left + wide, top + tall)


def near(rng: Rng, other: Box, reach: float = 12) -> Box:
    a, b, c, d = (value + by for value, by in zip(other, rng.uniform(-reach, reach, 4).tolist(), strict=True))
    return (a, b, max(a + 1, c), max(b + 1, d))


def boxes(rng: Rng, count: int, least: float = 10, most: float = 250) -> list[Box]:
    return [box(rng, least, most) for _ in range(count)]


def array(found: list[Box]) -> Any:
    return np.asarray(found, dtype=np.float64).reshape(-1, 4)


def beside(rng: Rng) -> Any:
    anchor, atom = box(rng, 8, 200), box(rng)
    atom = near(rng, anchor, 60) if rng.random() < 0.5 else atom
    return [
        (_on_side(anchor, atom, s, 5), _faces(anchor, atom, s), _caption_edge(anchor, s), aside(anchor, atom, s),
         _narrow(_caption_edge(anchor, s), atom))
        for s in SIDES
    ]  # fmt: skip


def noted(rng: Rng) -> Any:
    table = (50.0, 100.0, 400.0, 200.0)
    tall = float(rng.uniform(6, 14))
    top = 200 + tall * float(rng.uniform(-0.8, 1.2))
    left = 50 + float(rng.uniform(-4, 2.5 * tall))
    return _with_notes(table, [(left, top, left + 200, top + tall), (50, top + tall + 2, 250, top + 2 * tall + 2)])


def tables(rng: Rng) -> Any:
    caption = (50.0, 100.0, 550.0, 110.0)
    rules = [(50.0, y, 50 + float(rng.uniform(100, 500)), y + 0.5) for y in np.cumsum(rng.uniform(5, 26, 6)) + 105]
    rows = [(60.0, y, 500.0, y + 10) for y in np.cumsum(rng.uniform(8, 26, 6)) + 105]
    bitmaps = [box(rng, 20, 80)] if rng.random() < 0.4 else []
    page = drawn_page([caption, *rows], bitmaps, [*rules, *boxes(rng, 2, 1, 300)])
    body = {int(rng.integers(4, 7))} if rng.random() < 0.5 else set()
    return table_areas(page, [("Table 1", [caption])], body, {0, *([6] if rng.random() < 0.3 else [])})


def line(rng: Rng, text: str, place: Box, size: float = 9.0, block: int = 0, turns: int = 0) -> TextLine:
    font, bold = str(rng.choice(["Body", "Caption"])), bool(rng.random() < 0.3)
    return TextLine(text, place, size, bold, font, block, turns, (TextSpan(text, place, size, bold),))


def furniture(rng: Rng) -> Any:
    """Return what is furniture on pages that have the same lines near their edges, some moved by a few points."""
    common = [
        (x, y, x + 60, y + 9) for x, y in rng.uniform((0, 0), (560, 790), (10, 2)).tolist()
    ]  # fmt: skip
    turns = [int(t) for t in rng.choice([0, 0, 1, 3], len(common))]
    pages = []
    for index in range(int(rng.integers(2, 8))):
        at = [near(rng, place, float(rng.choice([0.1, 3]))) for place in common]
        page = drawn_page(
            [], boxes(rng, 1, 5, 60), [(40.0, y, 560.0, y + 1) for y in (50.0, 59.0, 785.0, 400.0)], index=index
        )
        lines = [line(rng, f"Journal {k} {index}", b, turns=t) for k, (b, t) in enumerate(zip(at, turns, strict=True))]
        pages.append(replace(page, lines=tuple(entry for entry in lines if rng.random() < 0.8)))
    repeated = repeated_lines(pages)
    return [repeated, furniture_lines(pages, repeated, STYLE), furniture_graphics(pages, STYLE)]


def captioned(rng: Rng) -> PageContent:
    """Return a page of body lines, labels, captions and what may follow them, spaced at random."""
    lines: list[TextLine] = []
    y, size = 60.0, 9.0
    texts = [
        *("Figure 1.", "Figure 2. The fundus of the", "left eye with drusen", "2", "Figure 3", LEGEND),
        *("as Figure 2 shows for all", "https://doi.org/10.1000/1", "Table 1. Subjects", "the patients were examined"),
    ]
    for block, k in enumerate(rng.integers(0, len(texts), 16)):
        own = size + float(rng.choice([0, 0, 0, 0.4, -3, 1]))
        x = 50 + float(rng.choice([0, 0, 0, 150, 260]))
        if lines and rng.random() < 0.3:  # beside the line before, higher or lower
            x = lines[-1].bbox[2] + float(rng.uniform(-10, 40))
            y += own * float(rng.uniform(-1.6, 1))
        else:
            y += own * float(rng.choice([0.3, 1.1, 1.25, 1.5, 1.9, 2.5]))
        text = texts[4 + k % 2] if block % 5 == 0 else texts[k]
        lines.append(line(rng, text, (x, y, x + 6 * len(text), y + own * 1.1), own, block // 3))
    return replace(drawn_page(), lines=tuple(lines))


def captions(rng: Rng) -> Any:
    pages = [replace(captioned(rng), index=index) for index in range(2)]
    text = document_text(pages)
    legends = {1: caption_text(1), 2: "The fundus of the left eye with drusen", 3: LEGEND}
    listed = [PackageFigure(f"f{n}", f"Figure {n}", legend, (f"f{n}",)) for n, legend in legends.items()]
    by_layout = [(c.label, c.lines, c.similarity) for c in captions_by_layout(text)]
    return [by_layout, [(c.label, c.lines, c.similarity) for c in located_captions(pages, listed).captions]]


def path(rng: Rng) -> Any:
    """Return the segments of a path of a few corners: polygons, arrows, chevrons, ellipses; some not quite closed."""
    count = int(rng.choice([2, 3, 4, 7]))
    angles = np.arange(count) * 2 * math.pi / count + rng.normal(0, 0.1, count) + rng.uniform(0, 6)
    corners = np.stack([np.cos(angles), np.sin(angles)], axis=1) * rng.uniform(3, 60, 2) + rng.uniform(100, 300, 2)
    if count == 7 and rng.random() < 0.7:  # an arrow along x, turned
        half, head, shaft = rng.uniform(1, 3), rng.uniform(4, 8), rng.uniform(8, 40)
        raw = np.asarray(
            [(0, 0), (head, head), (head, half), (shaft, half), (shaft, -half), (head, -half), (head, -head)]
        )
        turn = rng.uniform(0, 6)
        corners = raw @ np.asarray([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]]) + 200
    if count == 4 and rng.random() < 0.5:
        w, h = rng.uniform(0.3, 50, 2)
        corners = np.asarray([(0, 0), (w, 0), (w, h), (0, h)]) + 150
    points = [tuple(point) for point in corners.tolist()]
    if rng.random() < 0.7:
        gap = float(rng.choice([0, 0, 0.0005, 0.03, 0.5]))
        points.append((points[0][0] + gap, points[0][1]))
    curved = rng.random() < 0.3
    return [("c", a, a, b, b) if curved else ("l", a, b) for a, b in pairwise(points)]


def shapes(rng: Rng) -> Any:
    items = [path(rng) for _ in range(4)]
    found = [kind_of_path(own, filled=bool(rng.random() < 0.5)) for own in items]
    corner: Any = (*rng.uniform(0, 9, 2), *rng.uniform(9.2, 12, 2))
    found.append(kind_of_path([("re", corner)], filled=True))
    paths = [{"type": "fs", "fill": (0.2, 0.5, 1.0), "color": (0,), "items": own} for own in items]
    placed = shapes_on_bitmaps(paths, array(boxes(rng, 4, 0, 60)), [box(rng, 30, 250) for _ in range(2)])
    return [found, placed]


def bitmapped(rng: Rng) -> PageContent:
    page = drawn_page([], boxes(rng, 3, 30))
    placed = []
    for bitmap in page.bitmaps:
        wide, tall = (
            round(side * rng.choice([2, 3, 3.03])) for side in np.diff(np.reshape(bitmap.bbox, (2, 2)), axis=0)[0]
        )
        wide, tall = (tall, wide) if rng.random() < 0.3 else (wide, tall)
        placed.append(BitmapPlacement(bitmap.bbox, wide, tall, float(rng.choice([144, 216, 220]))))
    return replace(page, bitmaps=tuple(placed))


def resolutions(rng: Rng) -> Any:
    page = bitmapped(rng)
    around = near(rng, page.bitmaps[0].bbox, 3)
    dpi = native_dpi([(page, around)])
    grid = pixel_grid(page, around, dpi)
    snapped = _snapped(near(rng, page.bitmaps[0].bbox, 0.4), page, float(rng.uniform(0.1, 0.6)))
    capped = capped_dpi(boxes(rng, 2), 400, 200_000)
    return [dpi, grid, grid.pixel_frame(around), grid.points((3, 4, 50, 60)), snapped, capped]


def turned(rng: Rng) -> Any:
    turns = int(rng.integers(-3, 4))
    page = turned_page(bitmapped(rng), turns)
    return [turned_box(box(rng), turns, 600, 800), page.width, page.height, [bitmap.bbox for bitmap in page.bitmaps]]


def pictures(rng: Rng) -> Any:
    first = rng.integers(0, 255, (40, 60, 3)).astype(np.uint8)
    second = first[: int(rng.choice([40, 38])), : int(rng.choice([60, 50]))].copy()
    second[: int(rng.integers(0, 20))] //= int(rng.integers(1, 5))
    ignored = [tuple(int(v) for v in near(rng, (10, 10, 30, 20), 8)) for _ in range(2)]
    page = np.full((60, 80), 255, np.uint8)
    page[10:30, 12:40] = 40
    return [
        difference(fingerprint(first), fingerprint(second)),
        ink_frame(page, ignored),  # type: ignore[arg-type]
        joined_offsets([tuple(rng.integers(10, 900, 2).tolist()) for _ in range(3)]),
    ]


def framed(rng: Rng) -> Any:
    caption = box(rng, 60, 250)
    around = (caption[0] - 4, caption[1] - 150, caption[2] + 4, caption[3] + 4)
    edges = [
        (around[0], around[1], around[0] + 1, around[3]), (around[2] - 1, around[1], around[2], around[3]),
        (around[0], around[1], around[2], around[1] + 1), (around[0], around[3] - 1, around[2], around[3]),
    ]  # fmt: skip
    drawings = array([near(rng, edge, float(rng.choice([0.2, 2]))) for edge in edges] + boxes(rng, 3))
    cut = _without_captions(near(rng, around, 15), array([caption]))
    return [_frame_parts(drawings, array([caption])).astype(int), cut, count_inside(drawings, around)]


def clusters(rng: Rng) -> Any:
    grid = [
        near(rng, (60 + 120 * c, 60 + 110 * r, 165 + 120 * c, 155 + 110 * r), 6) for r in range(3) for c in range(3)
    ]
    graphics = [*grid, *boxes(rng, 3, 1, 80), *([(40.0, y, 500.0, y + 0.5) for y in (30.0, 33.0)])]
    page = drawn_page([], grid, graphics)
    atoms = page_atoms(array(graphics), page)
    walls = array([(100.0, float(rng.uniform(150, 180)), 300.0, 185.0)])
    return [atoms, grids_of(atoms, walls), [is_blocked(walls, atom) for atom in atoms]]


RULES: dict[str, Callable[[Rng], Any]] = {
    "beside": beside,
    "notes": noted,
    "tables": tables,
    "furniture": furniture,
    "captions": captions,
    "shapes": shapes,
    "resolutions": resolutions,
    "turned": turned,
    "pictures": pictures,
    "framed": framed,
    "clusters": clusters,
    "gaps": lambda rng: [distance(box(rng), box(rng)), core_box(box(rng), 0.2)],
    "anchors": lambda rng: _caption_anchors([near(rng, (50, 50 + 12 * k, 250, 60 + 12 * k), 14) for k in range(5)]),
}


@pytest.mark.parametrize("rule", RULES)
def test_geometry(rule: str) -> None:
    found = [RULES[rule](np.random.default_rng((k, len(rule)))) for k in range(DRAWS)]
    assert_as_recorded(FILE, rule, found)
