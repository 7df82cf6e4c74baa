"""Score detection on held-out synthetic figures (`pmo train figures`), for each source of truth.

    python benchmarks/score_synthetic.py DATA/test [--sources structure network both] [--figures N] [--no-identifiers]

The figures are flat pictures: there are no bitmaps and no live text. The caption's identifiers are the printed ones, as
a caption would name them; with `--no-identifiers` they are unknown, as for a caption that could not be split.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.detect import detect_images, detect_panels
from pmo_assets.pipeline.detection.detector_set import DetectorSet, detector_set
from pmo_assets.records.detections import FigureView
from pmo_assets.records.geometry import Box
from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.training.data.coco import figure_of_coco, read_coco, shards
from pmo_assets.training.loop.average_precision import average_precision
from pmo_assets.training.synthetic.synthetic_figures import SyntheticFigure

Scored = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Boxes (n, 4) and scores (n,)."""

CLASSES = ("Panel", "Label", "image", *IMAGE_TYPES)


def rows(boxes: Sequence[Box]) -> NDArray[np.float64]:
    """Return boxes as an array (n, 4)."""
    return np.asarray(boxes, dtype=np.float64).reshape(-1, 4)


def truth_of(figure: SyntheticFigure) -> dict[str, NDArray[np.float64]]:
    """Return the true boxes per class; "image" is any type."""
    result = {
        "Panel": rows([p.box for p in figure.panels]),
        "Label": rows([p.identifier_box for p in figure.panels if p.identifier_box is not None]),
        "image": rows([i.box for i in figure.images]),
    }
    return result | {t: rows([i.box for i in figure.images if i.image_type == t]) for t in IMAGE_TYPES}


def found_in(figure: SyntheticFigure, detectors: DetectorSet, identifiers: bool) -> dict[str, Scored]:
    """Return the detections per class."""
    names = tuple(str(p.identifier) for p in figure.panels if p.identifier is not None) if identifiers else ()
    view = FigureView(figure.pixels, caption_identifiers=names)
    panels = detect_panels(view, detectors.panels)
    images = detect_images(view, panels, detectors.images, detectors.marks)
    kind = [i.image_type or max(i.type_scores, key=lambda k, i=i: i.type_scores[k]) for i in images]

    def scored(chosen: Sequence[tuple[Box, float]]) -> Scored:
        return rows([box for box, _ in chosen]), np.asarray([score for _, score in chosen], dtype=np.float64)

    result = {
        "Panel": scored([(p.box, p.score) for p in panels if p.kind == "panel"]),
        "Label": scored([(p.box, p.score) for p in panels if p.kind == "identifier"]),
        "image": scored([(i.box, i.score) for i in images]),
    }
    return result | {
        t: scored([(i.box, i.score) for i, k in zip(images, kind, strict=True) if k == t]) for t in IMAGE_TYPES
    }


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
        truths: dict[str, list[NDArray[np.float64]]] = {c: [] for c in CLASSES}
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
            values = [average_precision(found[name], truths[name], t) for t in (0.5, 0.75, 0.9)]
            print(f"  {name:18s} AP@.5/.75/.9 " + " ".join("  –  " if v is None else f"{v:.3f}" for v in values))


if __name__ == "__main__":
    main()
