"""Score detection on held-out synthetic figures (`pmo train figures`), for each source of truth.

    python benchmarks/score_synthetic.py DATA/test [--sources structure network both] [--figures N] [--no-identifiers]

The figures are flat pictures: there are no bitmaps and no live text. The caption's identifiers are the printed ones, as
a caption would name them; with `--no-identifiers` they are unknown, as for a caption that could not be split.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from pmo_assets.pipeline.detection.detect import detect_images, detect_panels
from pmo_assets.pipeline.detection.detector_set import DetectorSet, detector_set
from pmo_assets.records.average_precision import average_precision, ranked_boxes
from pmo_assets.records.detections import FigureView
from pmo_assets.records.geometry import Box
from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.training.data.coco import figure_of_coco, read_coco, shards
from pmo_assets.training.synthetic.placed_figure import SyntheticFigure

Scored = list[tuple[Box, float]]
"""Boxes and scores."""

CLASSES = ("Panel", "Label", "image", *IMAGE_TYPES)


def truth_of(figure: SyntheticFigure) -> dict[str, list[Box]]:
    """Return the true boxes per class; "image" is any type."""
    result = {
        "Panel": [p.box for p in figure.panels],
        "Label": [p.identifier_box for p in figure.panels if p.identifier_box is not None],
        "image": [i.box for i in figure.images],
    }
    return result | {t: [i.box for i in figure.images if i.image_type == t] for t in IMAGE_TYPES}


def found_in(figure: SyntheticFigure, detectors: DetectorSet, identifiers: bool) -> dict[str, Scored]:
    """Return the detections per class."""
    names = tuple(str(p.identifier) for p in figure.panels if p.identifier is not None) if identifiers else ()
    view = FigureView(figure.pixels, caption_identifiers=names)
    panels = detect_panels(view, detectors.panels)
    images = detect_images(view, panels, detectors.images, detectors.marks, detectors.types)
    kind = [i.image_type or max(i.type_scores, key=i.type_scores.__getitem__) for i in images]

    result = {
        "Panel": [(p.box, p.score) for p in panels if p.kind == "panel"],
        "Label": [(p.box, p.score) for p in panels if p.kind == "identifier"],
        "image": [(i.box, i.score) for i in images],
    }
    return result | {t: [(i.box, i.score) for i, k in zip(images, kind, strict=True) if k == t] for t in IMAGE_TYPES}


def main() -> None:
    """Run the benchmark and print one table per source."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="held-out figures in COCO format: a folder or a folder of shards")
    parser.add_argument("--sources", nargs="+", default=["structure", "network", "both"])
    parser.add_argument("--figures", type=int, default=2000)
    parser.add_argument("--no-identifiers", action="store_true", help="the caption's identifiers are unknown")
    parser.add_argument("--detector", type=Path, help="ONNX file of the figure network instead of the package's")
    args = parser.parse_args()

    every = [row for shard in shards(args.data) for row in read_coco(shard)][: args.figures]
    for source in args.sources:
        detectors = detector_set(source, detector_file=args.detector)
        found: dict[str, list[Scored]] = {c: [] for c in CLASSES}
        truths: dict[str, list[list[Box]]] = {c: [] for c in CLASSES}
        seconds: list[float] = []
        for path, size, marked in every:
            figure = figure_of_coco(path, size, marked)
            start = time.perf_counter()
            detected = found_in(figure, detectors, not args.no_identifiers)
            seconds.append(time.perf_counter() - start)
            true = truth_of(figure)
            for name in CLASSES:
                found[name].append(detected[name])
                truths[name].append(true[name])
        print(f"{source}: {len(every)} figures, median {1000 * float(np.median(seconds)):.0f} ms")
        for name in CLASSES:
            ranking = ranked_boxes(list(zip(range(len(every)), found[name], truths[name], strict=True)))
            values = [average_precision(ranking, t) for t in (0.5, 0.75, 0.9)]
            print(f"  {name:18s} AP@.5/.75/.9 " + " ".join("  –  " if v is None else f"{v:.3f}" for v in values))


if __name__ == "__main__":
    main()
