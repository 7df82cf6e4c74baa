"""Small pictures: thumbnails in grids by their size, and pictures inside diagrams of methods, for each source of truth.

    python benchmarks/score_small_images.py [--shared ../shared] [--figures N] [--sources structure network both]

Figures have fixed seeds that no training figure has, and are made of licensed pictures (`images/` of the shared folder)
that are no training pictures; without them stand-ins are drawn. They are flat, of 600 to 900 pixels, one panel without
an identifier; where a grid leaves room, plots and pictures fill it. A thumbnail's size is its long side in pixels of
the figure. A picture counts as found at an IoU of 0.5; recall is that of the thumbnails alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from pmo_assets.pipeline.detection.detect import detect_images, detect_panels
from pmo_assets.pipeline.detection.detector_set import DetectorSet, detector_set
from pmo_assets.records.average_precision import average_precision, ranked_boxes
from pmo_assets.records.detections import FigureView
from pmo_assets.records.geometry import Box, matched_boxes
from pmo_assets.samples.drawing import Pixels
from pmo_assets.training.data.training_data import pool_pictures
from pmo_assets.training.synthetic.drawings import PAPER_KINDS, drawn
from pmo_assets.training.synthetic.figure_styles import Style, figure_style
from pmo_assets.training.synthetic.layouts import Layout
from pmo_assets.training.synthetic.method_diagrams import method_diagram
from pmo_assets.training.synthetic.placed_figure import PlacedImage
from pmo_assets.training.synthetic.pools import PicturePool
from pmo_assets.training.synthetic.thumbnail_grids import thumbnails
from pmo_assets.training.synthetic.tiles import Tile, paste
from pmo_assets.training.synthetic.worn_pictures import worn

FIRST_SEED = 900_000_000
"""Behind the seeds of training, validation and test figures."""

SIDES = (24, 32, 40, 60)
"""Long sides of thumbnails in pixels."""

Compose = Callable[[np.random.Generator, Style, int, int], Tile | None]
Figure = tuple[Pixels, list[Box], list[bool]]
"""Pixels, true boxes, and which of them are looked for."""

LEAST_ROOM = 150
"""Pixels beside or below a grid from which something else stands there."""


def filled_up(rng: np.random.Generator, pool: PicturePool, tile: Tile, width: int, height: int) -> Tile:
    """Return a grid of thumbnails in a figure of width × height, with plots and pictures where it leaves room."""
    tall, wide = tile.pixels.shape[:2]
    rooms = [(wide + 15, 0, width, height)] if width - wide >= LEAST_ROOM else []
    right = wide if rooms else width
    rooms += [(0, tall + 15, right, height)] if height - tall >= LEAST_ROOM else []
    pixels = np.full((max([tall, *(r[3] for r in rooms)]), max([wide, *(r[2] for r in rooms)]), 3), 255, np.uint8)
    result = Tile(pixels, list(tile.images))
    paste(pixels, 0, 0, tile.pixels)
    for room in rooms:
        size = (room[2] - room[0], room[3] - room[1])
        drawing = drawn(rng, PAPER_KINDS, *size) if rng.random() < 0.5 else pool.picture(rng, "OCT", *size)
        result.images.append(PlacedImage(paste(pixels, room[0], room[1], drawing), "Other", False))
    return result


def figures(compose: Compose, count: int, *, grid: bool) -> Iterator[Figure]:
    """Yield figures with the normalised boxes of their pictures; in grids the thumbnails alone are looked for."""
    made = seed = 0
    while made < count:
        rng = np.random.default_rng(FIRST_SEED + seed)
        seed += 1
        width, height = (int(v) for v in rng.integers(600, 901, 2))
        layout = Layout(width / height, ((0.0, 0.0, 1.0, 1.0),), False, (False, False))
        tile = compose(rng, figure_style(rng, layout, width, height), width, height)
        if tile is None:
            continue
        made += 1
        tall, wide = tile.pixels.shape[:2]
        boxes: list[Box] = [(b[0] / wide, b[1] / tall, b[2] / wide, b[3] / tall) for b in (i.box for i in tile.images)]
        sides = [max(b[2] - b[0], b[3] - b[1]) for b in (i.box for i in tile.images)]
        yield worn(rng, tile.pixels), boxes, [side <= max(SIDES) + 1 or not grid for side in sides]


def scored(some: list[Figure], detectors: DetectorSet) -> str:
    """Return recall, precision and average precision of the images of figures, as a line of text."""
    true = found = right = hits = 0
    rows = []
    for number, (pixels, boxes, wanted) in enumerate(some):
        view = FigureView(pixels)
        images = detect_images(view, detect_panels(view, detectors.panels), detectors.images, detectors.marks)
        pairs = matched_boxes([i.box for i in images], boxes, 0.5)
        true, found, right = true + sum(wanted), found + len(images), right + len(pairs)
        hits += sum(wanted[k] for k in pairs.values())
        rows.append((number, [(i.box, i.score) for i in images], boxes))
    value = average_precision(ranked_boxes(rows), 0.5)
    return f"recall {hits / max(1, true):.3f}  precision {right / max(1, found):.3f}  AP@.5 {value or 0:.3f}  of {true}"


def main() -> None:
    """Run the benchmark and print a line per kind of figure and source."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--figures", type=int, default=40, help="of each kind")
    parser.add_argument("--sources", nargs="+", default=["structure", "network", "both"])
    parser.add_argument("--detector", type=Path, help="ONNX file of the figure network instead of the package's")
    args = parser.parse_args()
    images = args.shared / "images"
    pool = PicturePool(pool_pictures(images if images.is_dir() else None, None, None), "test")

    def of_side(side: int) -> Compose:
        def compose(rng: np.random.Generator, style: Style, width: int, height: int) -> Tile | None:
            tile = thumbnails(rng, pool, replace(style, ground=(255, 255, 255)), width, height, side)
            return tile and filled_up(rng, pool, tile, width, height)

        return compose

    kinds: dict[str, Compose] = {f"thumbnails of {side} pixels": of_side(side) for side in SIDES}
    kinds["pictures in diagrams"] = lambda rng, style, width, height: method_diagram(rng, pool, style, width, height)
    made = {name: list(figures(compose, args.figures, grid="thumb" in name)) for name, compose in kinds.items()}
    for source in args.sources:
        detectors = detector_set(source, detector_file=args.detector)
        for name, some in made.items():
            print(f"{source:10s} {name:24s} {scored(some, detectors)}", flush=True)


if __name__ == "__main__":
    main()
