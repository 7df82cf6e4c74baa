"""Score the reading of printed identifiers: templates alone, each engine alone, and both as the pipeline does it.

    python benchmarks/score_readers.py [--shared ../shared] [--readers none rapidocr easyocr] [--identifiers 1000]

Synthetic: identifiers of every style on figures of seeds from 950,000,000 on, composed of the pictures and layouts of
the part "test" (rules and constants were made on figures of the part "validation", seeds from 710,000,000 on; failures
on seeds from 900,000,000 on were looked at once). Their typefaces are those that the templates are made of, which
flatters "none". Annotated: every identifier with a box on the figures in `annotations`, rendered flat, and apart the
figures without live text at their identifiers (really flat). The rules of `glyphs` and `identifier_reading` were made
on these articles; those of the reading room were not.

Boxes are the true ones, and the true ones jittered as a detector gives them: every edge by a normal deviate of 8 % of
the box's shorter side. Names are those of the figure's panels. Right: the likeliest name is the printed one, and
likelier than something else; unread: something else is likelier; likeliest: the printed name is the likeliest of the
names, something else aside, which is what an assignment starts from. Sure: the share whose confidence is at least 0.9,
and how many of these are right.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import pymupdf
from numpy.typing import NDArray

from pmo_assets.pipeline.assembly.reading.identifier_text import IdentifierReading
from pmo_assets.pipeline.assembly.reading.read_identifiers import read_identifiers, reader_readings
from pmo_assets.pipeline.assembly.reading.text_readers import text_reader
from pmo_assets.records.geometry import Box, as_box, centre, clip, crop_box
from pmo_assets.training.data.annotated import annotated_figures
from pmo_assets.training.data.training_data import pool_pictures
from pmo_assets.training.synthetic.layouts import layouts_of_table
from pmo_assets.training.synthetic.pools import PicturePool
from pmo_assets.training.synthetic.synthetic_figures import synthetic_figure

FIRST_SEED = 950_000_000
JITTER = 0.08
SURE = 0.9

Method = Callable[[NDArray[np.uint8], list[Box], list[str]], list[IdentifierReading]]


@dataclass(frozen=True)
class PrintedFigure:
    """A figure with its printed identifiers: names, true boxes, and whether live text of the PDF gives each."""

    pixels: NDArray[np.uint8]
    names: list[str]
    boxes: list[Box]
    live: list[bool]


def synthetic(shared: Path, identifiers: int, first_seed: int) -> Iterator[PrintedFigure]:
    """Yield synthetic figures until so many identifiers are printed; the last one may be cut short."""
    pool = PicturePool(pool_pictures(shared / "images", None, None), "test")
    layouts = layouts_of_table(shared / "layouts" / "panelseg_train.csv", "test")
    seed, left = first_seed, identifiers
    while left > 0:
        figure = synthetic_figure(seed, pool, layouts)
        printed = [(p.identifier, p.identifier_box) for p in figure.panels]
        found = [(str(name), box) for name, box in printed if name is not None and box is not None]
        if found:
            names = [name for name, _ in found]
            yield PrintedFigure(figure.pixels, names, [box for _, box in found][:left], [False] * len(found))
            left -= len(found)
        seed += 1


def annotated(shared: Path) -> Iterator[PrintedFigure]:
    """Yield annotated figures, rendered flat; only the page's text is looked at to tell live print from flat print."""
    for article, index, figure in annotated_figures(shared / "annotations", shared / "corpus"):
        found = [(str(p.identifier), p.identifier_box) for p in figure.panels if p.identifier and p.identifier_box]
        if found:
            words = live_words(shared, article, index)
            yield PrintedFigure(
                figure.pixels,
                [name for name, _ in found],
                [box for _, box in found],
                [any(_inside(centre(word), box) for _, word in words) for _, box in found],
            )


def live_words(shared: Path, article: str, index: int) -> list[tuple[str, Box]]:
    """Return the words of the page that lie in an annotated figure, normalised to it."""
    annotation = json.loads((shared / "annotations" / f"{article}.json").read_text("utf-8"))
    place = annotation["figures"][index]["figure_locations"][0]
    left, top, right, bottom = as_box(place["bbox"])
    wide, tall = right - left, bottom - top
    with pymupdf.open(shared / "corpus" / article / "article.pdf") as document:
        words = document[place["page"]].get_text("words")
    return [
        (str(w[4]), ((w[0] - left) / wide, (w[1] - top) / tall, (w[2] - left) / wide, (w[3] - top) / tall))
        for w in words
    ]


def _inside(point: tuple[float, float], box: Box) -> bool:
    return box[0] <= point[0] <= box[2] and box[1] <= point[1] <= box[3]


def jittered(box: Box, pixels: NDArray[np.uint8], seed: int) -> Box:
    """Return a box as a detector would give it."""
    tall, wide = pixels.shape[:2]
    side = min((box[2] - box[0]) * wide, (box[3] - box[1]) * tall)
    away = np.random.default_rng(seed).normal(0, JITTER, 4) * side / np.asarray([wide, tall, wide, tall])
    return clip(as_box(np.asarray(box) + away), (0.0, 0.0, 1.0, 1.0))


def methods(kinds: list[str]) -> dict[str, Method]:
    """Return the ways of reading that are compared; their networks are loaded."""
    found: dict[str, Method] = {}
    for kind in kinds:
        reader = text_reader(kind)
        if reader is None:
            found["none (templates)"] = lambda rgb, boxes, names: read_identifiers(rgb, boxes, names, None)
            continue
        reader.load()
        found[f"{kind} alone"] = lambda rgb, boxes, names, r=reader: reader_readings(rgb, boxes, names, r)  # type: ignore[misc]
        found[f"templates + {kind}"] = lambda rgb, boxes, names, r=reader: read_identifiers(rgb, boxes, names, r)  # type: ignore[misc]
    return found


def crop_picture(pixels: NDArray[np.uint8], box: Box, words: str) -> NDArray[np.uint8]:
    """Return what lies around a box, 160 x 160, with words under it."""
    left, top, right, bottom = crop_box(box, pixels.shape[1], pixels.shape[0])
    pad = max(3, (bottom - top) // 2)
    part = pixels[max(0, top - pad) : bottom + pad, max(0, left - pad) : right + pad]
    scale = 128 / max(part.shape[:2])
    small = cv2.resize(part, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
    tile = np.full((160, 160, 3), 255, np.uint8)
    tile[: small.shape[0], : small.shape[1]] = small
    cv2.putText(tile, words, (2, 150), cv2.FONT_HERSHEY_SIMPLEX, 0.4, (200, 0, 0), 1, cv2.LINE_AA)
    return tile


def score(
    title: str, figures: list[PrintedFigure], ways: dict[str, Method], jitter: bool, failures: Path | None
) -> None:
    """Print one table: a line per way of reading."""
    total = sum(len(f.boxes) for f in figures)
    print(f"\n{title}, {'jittered' if jitter else 'true'} boxes: {total} identifiers on {len(figures)} figures")
    print(f"  {'':28s} right   wrong   unread  likeliest  sure    of these right  CPU ms/identifier")
    for way, method in ways.items():
        rows: list[tuple[bool, bool, float, bool]] = []
        tiles: list[NDArray[np.uint8]] = []
        seconds = 0.0
        for number, figure in enumerate(figures):
            boxes = [
                jittered(box, figure.pixels, 1000 * number + k) if jitter else box for k, box in enumerate(figure.boxes)
            ]
            start = time.process_time()
            read = method(figure.pixels, boxes, figure.names)
            seconds += time.process_time() - start
            for name, box, one in zip(figure.names, boxes, read, strict=False):
                likeliest = max(one.names, key=one.names.__getitem__, default=None)
                rows.append((one.best == name, one.best is None, one.confidence, likeliest == name))
                if one.best != name and failures is not None:
                    tiles.append(crop_picture(figure.pixels, box, f"{name}: {one.text} {one.best}"[:24]))
        right, unread = np.mean([row[0] for row in rows]), np.mean([row[1] for row in rows])
        sure = [row[0] for row in rows if row[2] >= SURE]
        print(
            f"  {way:28s} {right:.4f}  {1 - right - unread:.4f}  {unread:.4f}  {np.mean([row[3] for row in rows]):.4f}"
            f"     {len(sure) / len(rows):.3f}"
            f"   {np.mean(sure) if sure else float('nan'):.4f}          {1000 * seconds / len(rows):.1f}"
        )
        if tiles and failures is not None:
            failures.mkdir(parents=True, exist_ok=True)
            tiles += [np.full_like(tiles[0], 255)] * (-len(tiles) % 8)
            sheet = np.concatenate([np.concatenate(tiles[k : k + 8], axis=1) for k in range(0, len(tiles), 8)])
            name = f"{title}_{way}_{'jittered' if jitter else 'true'}".replace(" ", "_")
            cv2.imwrite(str(failures / f"{name}.png"), sheet[:, :, ::-1])


def main() -> None:
    """Run the benchmark and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--readers", nargs="+", default=["none", "rapidocr"], choices=("none", "rapidocr", "easyocr"))
    parser.add_argument("--identifiers", type=int, default=1000, help="synthetic ones; 0 for none")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--failures", type=Path, help="write what is not read right here, as pictures")
    args = parser.parse_args()

    ways = methods(args.readers)
    made = list(synthetic(args.shared, args.identifiers, args.first_seed)) if args.identifiers else []
    real = list(annotated(args.shared))
    flat = [PrintedFigure(f.pixels, f.names, f.boxes, f.live) for f in real if not any(f.live)]
    for title, figures in (("synthetic", made), ("annotated", real), ("annotated flat figures", flat)):
        for jitter in (False, True):
            if figures:
                score(title, figures, ways, jitter, args.failures)


if __name__ == "__main__":
    main()
