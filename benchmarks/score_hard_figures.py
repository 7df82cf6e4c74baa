"""Score images and types in figures that recognition gets wrong on articles; see `hard_figures.py`.

    python benchmarks/score_hard_figures.py [--shared ../shared] [--half "held out"] [--first 0] [--figures 2]
        [--classes NAME …] [--sheets FOLDER] [--list]

Each page is taken through the code of `pmo article` up to `image_detections`, once as the PDF knows its figure and once
with the figure as one flat picture. An image is found at an IoU of 0.5; a *false* one is matched to none. Rules were
made with figures of the development half; the held out half has other sources of pictures and other seeds.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import get_args

import cv2
import numpy as np
from hard_figures import CLASSES, Half, HardFigure, hard_figure, read_sources

from pmo_assets.pictures import decoded
from pmo_assets.pipeline.article import process_article
from pmo_assets.pipeline.articles.fetching import FetchLimits, fetch_package
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.records.geometry import Box, as_box, denormalise, matched_boxes, normalise
from pmo_assets.records.memory_stores import MemoryObjects, MemoryPixels
from pmo_assets.records.step_output import Row
from pmo_assets.samples.drawing import Pixels
from pmo_assets.sources.local import LocalFolder
from pmo_assets.sources.package_folders import list_package

SEEDS = {"development": 0, "held out": 1_000_000}
COLOURS = {"CFP": (255, 120, 0), "OCT": (0, 200, 0), "Retinal Imaging": (0, 140, 255), "Other": (160, 160, 160)}


@dataclass
class Tally:
    """What was found in the figures of a class."""

    figures: int = 0
    true: int = 0
    found: int = 0
    false: int = 0
    typed: int = 0
    undecided: int = 0
    wrong: Counter[str] = field(default_factory=Counter)

    def line(self, name: str) -> str:
        """Return a row of the table."""
        return (
            f"{name:32s} {self.figures:3d} figures  found {self.found:3d} of {self.true:3d}  false {self.false:3d}  "
            f"type right {self.typed:3d}, undecided {self.undecided:3d} of {self.found:3d}"
            f"  {dict(self.wrong.most_common(6))}"
        )


def images_found(pdf: bytes) -> tuple[list[tuple[Box, Row]], Pixels | None]:
    """Return the images that the pipeline finds on a page, their boxes in points, and the first figure's picture."""
    with tempfile.TemporaryDirectory() as place:
        package = Path(place) / "PMC1"
        package.mkdir()
        (package / "article.pdf").write_bytes(pdf)
        listing = list_package(package, package.parent)
        if listing is None:
            raise SystemExit("the page makes no package")
        objects, store = MemoryObjects({}), MemoryPixels()
        row = fetch_package(asdict(listing), LocalFolder(package.parent), objects, FetchLimits()).rows[0]
        everything = load_specialty("everything")
        result = process_article(row, objects, specialty=everything, pixels=store, targets=["image_detections"])
    frames = {f["image_cluster_id"]: as_box(f["locations"][0]["bbox"]) for f in result.figures}
    pictures = store.read(row["article_id"])
    shown = [decoded(pictures[f["pdf_figure_id"]], f["pdf_figure_id"]) for f in result.figures]
    found = [
        (denormalise(as_box(image["box"]), frames[image["image_cluster_id"]]), image)
        for image in result.tables.get("image_detections", [])
    ]
    return found, shown[0] if shown else None


def counted(tally: Tally, figure: HardFigure, found: Sequence[tuple[Box, Row]]) -> bool:
    """Add a figure to a tally; say whether anything is wrong with it."""
    boxes = [normalise(box, figure.frame) for box, _ in found]
    pairs = matched_boxes([image.box for image in figure.images], boxes, 0.5)
    tally.figures += 1
    tally.true += len(figure.images)
    tally.found += len(pairs)
    tally.false += len(found) - len(pairs)
    before = tally.typed
    for i, k in pairs.items():
        truth, kind = figure.images[i], found[k][1]["image_type"]
        tally.typed += kind == truth.image_type
        tally.undecided += kind is None
        if kind not in (None, truth.image_type):
            tally.wrong[f"{truth.what} as {kind}"] += 1
    return len(pairs) < len(figure.images) or len(found) > len(pairs) or tally.typed - before < len(pairs)


def drawn_over(figure: HardFigure, found: Sequence[tuple[Box, Row]], pixels: Pixels) -> Pixels:
    """Return a figure with the found images in the colours of their types, white where undecided."""
    canvas = np.ascontiguousarray(cv2.resize(pixels, (900, max(1, round(900 * pixels.shape[0] / pixels.shape[1])))))
    tall, wide = canvas.shape[:2]
    for box, image in found:
        left, top, right, bottom = (round(v) for v in denormalise(normalise(box, figure.frame), (0, 0, wide, tall)))
        colour = COLOURS.get(image["image_type"], (255, 255, 255))
        cv2.rectangle(canvas, (left, top), (right, bottom), colour, 3)
        text = f"{image['image_type']} {image['type_score']:.2f} {image['modality']} {image['source']}"
        for ink, line in (((0, 0, 0), 3), ((255, 255, 0), 1)):
            cv2.putText(canvas, text, (left + 3, top + 14), cv2.FONT_HERSHEY_SIMPLEX, 0.42, ink, line)
    return canvas


def main() -> None:
    """Print a line per class and form."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--half", choices=get_args(Half), default="held out")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--figures", type=int, default=2, help="of each class")
    parser.add_argument("--classes", nargs="+", choices=CLASSES, default=list(CLASSES))
    parser.add_argument("--sheets", type=Path, help="folder for pictures of figures in which anything is wrong")
    parser.add_argument("--list", action="store_true", help="name figures in which anything is wrong, with reasons")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    half: Half = args.half
    pictures = read_sources(args.shared / "images", half)
    if args.sheets is not None:
        args.sheets.mkdir(parents=True, exist_ok=True)
    tallies: dict[str, Tally] = defaultdict(Tally)
    for name in args.classes:
        for k in range(args.first, args.first + args.figures):
            for flat in (False, True):
                figure = hard_figure(name, SEEDS[half] + k, pictures, flat=flat)
                found, pixels = images_found(figure.pdf)
                form = "flat" if flat else "live"
                wrong = counted(tallies[f"{name}, {form}"], figure, found)
                counted(tallies[f"all, {form}"], figure, found)
                if wrong and args.list:
                    print(name, k, form, len(found), "found of", len(figure.images), file=sys.stderr)
                    for box, image in found:
                        said = [round(v, 2) for v in normalise(box, figure.frame)]
                        print(
                            "   ",
                            said,
                            image["image_type"],
                            image["source"],
                            image["type_reason"][:300],
                            file=sys.stderr,
                        )
                if wrong and args.sheets is not None and pixels is not None:
                    target = args.sheets / f"{name.replace(' ', '_')}_{k}_{form}.png"
                    cv2.imwrite(str(target), drawn_over(figure, found, pixels)[:, :, ::-1])
    for name in sorted(tallies, key=lambda n: n.startswith("all")):
        print(tallies[name].line(name))


if __name__ == "__main__":
    main()
