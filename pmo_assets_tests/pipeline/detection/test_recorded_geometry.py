"""Rules about places and sizes, on random rectangles laid out as panels and letters are: the answers as recorded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pmo_assets.pipeline.detection.detect import words_of_image
from pmo_assets.pipeline.detection.fusion.disjoint import disjoint_choice
from pmo_assets.pipeline.detection.fusion.image_choice import Proposal, nesting
from pmo_assets.pipeline.detection.fusion.image_grids import image_grids
from pmo_assets.pipeline.detection.fusion.panel_choice import agreement
from pmo_assets.pipeline.detection.fusion.panel_fusion import (
    PanelFusionOptions,
    _plausible,
    _seen_in_parts,
    _substance,
    _with_unread,
    network_option,
)
from pmo_assets.pipeline.detection.fusion.unnamed_panels import are_apart, own_labels, separate
from pmo_assets.pipeline.detection.networks.mark_input import suspicious_windows
from pmo_assets.pipeline.detection.networks.second_look import (
    _of_common_size,
    _parts,
    _stretches,
    _whole,
    joined,
    tiles_to_see,
)
from pmo_assets.pipeline.detection.protocols import NetworkBoxes
from pmo_assets.pipeline.detection.structure.gutters import Canvas, Gutter, Rect, canvas_of, pixel_rect, split_rect
from pmo_assets.pipeline.detection.structure.identifier_reading import PrintedBox, in_rows
from pmo_assets.pipeline.detection.structure.identifiers import Identifier, alignment, further_names, one_height
from pmo_assets.pipeline.detection.structure.images import alike, distance, same_size, with_text
from pmo_assets.pipeline.detection.structure.letter_grid import letter_grid
from pmo_assets.pipeline.detection.structure.panels import split_evenly
from pmo_assets.pipeline.detection.structure.partitions import (
    Convention,
    Cuts,
    cut_value,
    forced_partition,
    partition_cost,
    sides_of,
    unlike,
)
from pmo_assets.pipeline.detection.structure.snapping import snapped
from pmo_assets.pipeline.detection.structure.vector_marks import vector_evidence
from pmo_assets.records.detections import FigureView, ImageDetection, PanelDetection
from pmo_assets.records.figure import EmbeddedBitmap, EmbeddedShape, EmbeddedText
from pmo_assets.records.geometry import Box
from pmo_assets_tests.pipeline.detection.drawing import paper, paste, photograph
from pmo_assets_tests.recorded import assert_as_recorded

FILE = Path(__file__).with_suffix(".json")
DRAWS = 60
SHORT = ("further", "drawn", "belief", "aligned", "rows", "apart", "same", "one height", "labels apart", "common size")
"""Rules whose answers are a word or a number: five times as many."""

Rng = np.random.Generator


def rect(rng: Rng, least: int = 8, most: int = 300) -> Rect:
    left, top = (int(v) for v in rng.integers(0, 600, 2))
    wide, tall = (int(v) for v in rng.integers(least, most, 2))
    return (left, top, left + wide, top + tall)


def near(rng: Rng, other: Rect, reach: int = 30) -> Rect:
    """Return a rectangle with edges near those of another one."""
    a, b, c, d = (int(v + m) for v, m in zip(other, rng.integers(-reach, reach + 1, 4), strict=True))
    return (a, b, max(a + 2, c), max(b + 2, d))


def box(rng: Rng, least: float = 0.03, most: float = 0.5) -> Box:
    left, top = rng.uniform(0, 0.9, 2).tolist()
    wide, tall = rng.uniform(least, most, 2).tolist()
    return (left, top, min(1.0, left + wide), min(1.0, top + tall))


def letters(rng: Rng, jitter: float = 4.0) -> dict[int, Rect]:
    """Return letters in rows and columns, not exactly, some of them missing."""
    columns, count = int(rng.integers(1, 5)), int(rng.integers(3, 10))
    across, down = rng.integers(60, 200, 2)
    found = {}
    for k in range(count):
        x, y = 20 + (k % columns) * across, 20 + (k // columns) * down
        x, y = (int(v + m) for v, m in zip((x, y), rng.normal(0, jitter, 2), strict=True))
        found[k] = (x, y, x + int(rng.integers(8, 16)), y + int(rng.integers(12, 20)))
    return {k: place for k, place in found.items() if rng.random() < 0.85} or found


def panel(rng: Rng, kind: str = "panel", **size: float) -> PanelDetection:
    source: Any = str(rng.choice(["gutter", "seam", "network"]))
    return PanelDetection(kind, box(rng, **size), float(rng.uniform(0.2, 1)), source)  # type: ignore[arg-type]


def grid_boxes(rng: Rng) -> list[Box]:
    """Return boxes in a grid, some missing, one of another size."""
    rows, columns = (int(v) for v in rng.integers(1, 5, 2))
    found = [
        (c / 5 + 0.01, r / 5 + 0.02, c / 5 + 0.15, r / 5 + 0.17)
        for r in range(rows)
        for c in range(columns)
        if rng.random() < 0.85
    ]
    shaken = np.asarray([*found, box(rng)]) + rng.normal(0, 0.004, (len(found) + 1, 4))
    return [(a, b, c, d) for a, b, c, d in np.clip(shaken, 0, 1).tolist()]


def network(rng: Rng, boxes: list[Box]) -> NetworkBoxes:
    def scores(count: int) -> Any:
        return rng.uniform(0.2, 1, count).astype(np.float32)

    own = {"image": boxes, "panel": [box(rng) for _ in range(5)], "label": [box(rng, 0.01, 0.04) for _ in range(5)]}
    weights: dict[str, Any] = {group: scores(len(found)) for group, found in own.items()}
    return NetworkBoxes(
        {group: np.asarray(found, np.float32).reshape(-1, 4) for group, found in own.items()},
        weights,
        {
            group: (np.repeat(found[:, None], 4 if group == "image" else 1, 1) / 4).astype(np.float32)
            for group, found in weights.items()
        },
    )


def thumbnails(rng: Rng) -> NetworkBoxes:
    """Return what a network sees of a figure of small pictures."""
    at = rng.uniform(0.1, 0.8, (12, 2))
    side = rng.uniform(0.02, 0.03) + rng.normal(0, 0.002, (12, 2))
    return network(rng, [(a, b, c, d) for a, b, c, d in np.concatenate([at, at + side], axis=1).tolist()])


def second_looks(rng: Rng) -> Any:
    seen = thumbnails(rng)
    width, height = (int(v) for v in rng.integers(1500, 7000, 2))
    tiles = tiles_to_see(seen, width, height)
    again = [network(rng, [box(rng, 0.05, 0.4) for _ in range(6)]) for _ in tiles]
    return [tiles, joined(seen, tiles, again, width, height).boxes["image"].tolist()]


def identifiers(rng: Rng, alphabet: str = "ABCDEFGHIJ", jitter: float = 4.0) -> list[Identifier]:
    style = str(rng.choice(["plain", "brackets"]))
    source = str(rng.choice(["text", "glyph"]))
    return [
        Identifier(alphabet[k], place, style, source, float(rng.uniform(0.85, 1)), 0.9)  # type: ignore[arg-type]
        for k, place in letters(rng, jitter).items()
    ]


def further(rng: Rng) -> Any:
    group = identifiers(rng, str(rng.choice(["ABCDEFGHIJ", "abcdefghij"])), float(rng.choice([1, 6, 12])))
    if rng.random() < 0.3:
        group.append(Identifier("B", rect(rng, 8, 20), "plain", "glyph", 0.95, 0.9))
    named = [item.name for item in group[: int(rng.integers(1, 4))]]
    chosen = [[item for item in group if item.name == name][:1] for name in named]
    return [item.name for item in further_names(named, chosen, group, float(rng.uniform(1, 8)))]


def four_pictures(rng: Rng) -> tuple[Canvas, dict[int, list[Rect]]]:
    """Return a figure of pictures that nothing but letters separates, and the letters' places."""
    figure = paper(320, 240)
    paste(figure, photograph(300, 100, int(rng.integers(9))), 10, 10)
    paste(figure, photograph(300, int(rng.integers(80, 110)), 4), 10, 10 + 100 + int(rng.integers(1, 16)))
    places = {k: [near(rng, (20 + 150 * (k % 2), 20 + 110 * (k // 2), 30 + 150 * (k % 2), 34 + 110 * (k // 2)), 8)]
              for k in range(int(rng.integers(2, 5)))}  # fmt: skip
    return canvas_of(figure), places


def partitions(rng: Rng) -> Any:
    canvas, places = four_pictures(rng)
    cuts = Cuts(canvas)
    convention = Convention(bool(rng.random() < 0.5), bool(rng.random() < 0.5))
    parts = forced_partition(cuts, (10, 10, 310, 230), places, convention)
    tights = {name: part.rect for name, part in parts.items()}
    return [tights, partition_cost(cuts, parts, places, convention.below), unlike(tights, places)]


def cutting(rng: Rng) -> Any:
    canvas, places = four_pictures(rng)
    axis = int(rng.integers(2))
    start = int(rng.integers(40, 200))
    cut = Gutter(axis, start, start + int(rng.integers(0, 30)), "clear")
    sides = sides_of(cut, places, float(rng.uniform(0, 8)))
    values = (
        [cut_value(canvas, cut, *sides, below=b, centred=c) for b in (True, False) for c in (True, False)]
        if sides
        else None
    )
    return [split_rect((10, 10, 310, 230), [cut]), sides, values]


def snapping(rng: Rng) -> Any:
    figure = paper(400, 300)
    placed = paste(figure, photograph(int(rng.integers(60, 200)), int(rng.integers(60, 150)), 3), 90, 70)
    return snapped(canvas_of(figure), near(rng, placed, 12))


def shape(rng: Rng) -> EmbeddedShape:
    kind: Any = str(rng.choice(["head", "arrow", "rectangle", "ellipse", "curve", "line"]))
    return EmbeddedShape(kind, box(rng, 0.0, float(rng.choice([0.02, 0.1, 0.5, 1.0]))), "#ff0000", rng.random() < 0.4)


def drawn(rng: Rng) -> Any:
    image = box(rng, 0.3, 0.9)
    texts = (EmbeddedText(str(rng.choice(["200 µm", "OCT"])), box(rng, 0.02, 0.1), 8.0, False),)
    shapes = tuple(shape(rng) for _ in range(int(rng.integers(1, 4))))
    view = FigureView(np.zeros((300, 420, 3), np.uint8), (EmbeddedBitmap(image, 100, 80),), texts, shapes=shapes)
    return vector_evidence(view, image)


def printed_boxes(rng: Rng) -> list[PrintedBox]:
    return [PrintedBox(rect(rng, 8, 30), float(rng.uniform(0.3, 1))) for _ in range(5)]


def unread(rng: Rng) -> Any:
    panels = [panel(rng, least=0.2) for _ in range(4)]
    identifiers = [panel(rng, "identifier", least=0.01, most=0.04) for _ in range(2)]
    return _with_unread(panels, identifiers, network(rng, []), PanelFusionOptions())


def with_labels(rng: Rng) -> Any:
    plots, others = [rect(rng, 80) for _ in range(3)], [rect(rng, 80)]
    texts = [near(rng, (p[0] - 30, p[1], p[0] - 10, p[1] + 12), 25) for p in plots]
    return with_text(canvas_of(paper(900, 900)), plots, texts, others)


def belief(rng: Rng) -> Any:
    identifiers = [panel(rng, "identifier", least=0.01, most=0.05) for _ in range(4)]
    parts = [panel(rng) for _ in range(6)]
    whole = PanelDetection("panel", box(rng, 0.4, 0.9), 0.7, "gutter")
    own = box(rng, 0.02, 0.2)
    return [
        _substance(own, identifiers),
        _plausible(box(rng), identifiers, rng.random() < 0.5),
        _seen_in_parts(whole, parts),
    ]


def lettered_grid(rng: Rng) -> Any:
    read = letters(rng, float(rng.choice([1, 5])))
    return letter_grid(max(read) + int(rng.integers(1, 3)), read, frozenset({0}))


RULES: dict[str, Callable[[Rng], Any]] = {
    "aligned": lambda rng: alignment(rect(rng, 8, 30), list(letters(rng).values()), float(rng.uniform(1, 8))),
    "further": further,
    "one height": lambda rng: [i.name for i in one_height(identifiers(rng), "ABCD")],
    "rows": lambda rng: in_rows(list(letters(rng, 6).values())),
    "grid": lettered_grid,
    "same": lambda rng: [f(r := rect(rng), near(rng, r)) for f in (same_size, alike, distance)],
    "apart": lambda rng: distance(rect(rng), rect(rng)),
    "with text": with_labels,
    "partitions": partitions,
    "cutting": cutting,
    "snapping": snapping,
    "drawn": drawn,
    "unread": unread,
    "belief": belief,
    "split": lambda rng: split_evenly(four_pictures(rng)[0], int(rng.integers(2, 6)), int(rng.integers(2))),
    "rect": lambda rng: pixel_rect(box(rng), 373, 291),
    "nesting": lambda rng: nesting([Proposal(b, 0.5, 0.5) for b in [*grid_boxes(rng), box(rng, 0.3, 0.9)]]).astype(int),
    "grids": lambda rng: image_grids([ImageDetection(b, 0.8, "network", None, 0.0) for b in grid_boxes(rng)]),
    "agreement": lambda rng: agreement([panel(rng) for _ in range(4)], [panel(rng) for _ in range(4)]),
    "disjoint": lambda rng: disjoint_choice([box(rng) for _ in range(7)], rng.uniform(-0.1, 1, 7).tolist(), 0.1, 4),
    "network": lambda rng: network_option(network(rng, []), PanelFusionOptions()),
    "separate": lambda rng: separate([(box(rng), float(rng.uniform(0.1, 1))) for _ in range(6)]),
    "own labels": lambda rng: own_labels(printed_boxes(rng), [box(rng) for _ in range(5)], (700, 700)),
    "labels apart": lambda rng: are_apart(printed_boxes(rng), [box(rng) for _ in range(5)], (700, 700)),
    "windows": lambda rng: suspicious_windows(
        rng.normal(size=(14, 14)).astype(np.float32), *rng.integers(300, 900, 2).tolist()
    ),
    "parts": lambda rng: [_parts(*rng.integers(200, 6000, 2).tolist()), _stretches(40, 3000, int(rng.integers(1, 5)))],
    "whole": lambda rng: _whole(
        np.asarray([box(rng, 0.005, 0.6) for _ in range(8)], np.float32),
        (int(rng.choice([0, 50])), int(rng.choice([0, 50])), int(rng.choice([900, 1000])), int(rng.choice([700, 800]))),
        1000,
        800,
    ).astype(int),
    "common size": lambda rng: _of_common_size(
        np.asarray(grid_boxes(rng) * 3, np.float32), rng.uniform(0.3, 1, 60).astype(np.float32), np.arange(3)
    ).astype(int),
    "second look": second_looks,
    "words": lambda rng: words_of_image(box(rng), tuple(panel(rng) for _ in range(4)), dict(enumerate("abcd"))),
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_geometry(rule: str) -> None:
    found = [RULES[rule](np.random.default_rng((k, len(rule)))) for k in range(DRAWS * (5 if rule in SHORT else 1))]
    assert_as_recorded(FILE, rule, found)
