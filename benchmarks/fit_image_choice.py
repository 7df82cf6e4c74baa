"""Fit whether a box or the boxes inside it are images, and print what that gives on figures that were not fitted on.

    pmo train figures DATA --images … --articles … --annotations … --layouts … --train 0 --validation 250 --test 250
    python benchmarks/fit_image_choice.py DATA [MORE …] [--shared ../shared] [--figures 250] [--write]

Fitted on the synthetic figures of DATA/validation (flat pictures), on those of typeset articles (live text and
bitmaps), and on the annotated articles, as plots of real articles differ from drawn ones. Checked on DATA/test, on
typeset articles of other seeds, and on annotated articles, each fifth left out of the fit in turn. Figures are looked
at in their true boxes, with the names that captions would give.

Run it again when the figure network was trained further. Without `--write` the weights are left as they are.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from fit_detection_calibration import CHECK_SEED, TrueFigure, flat_figures, true_figure, typeset_figures
from fit_panel_choice import likeliest_weights
from score_detection import annotated_figures

from pmo_assets.pipeline.detection.detect import detect_panels
from pmo_assets.pipeline.detection.detector_set import detector_set
from pmo_assets.pipeline.detection.fusion.image_choice import (
    choice_features,
    counts,
    nesting,
)
from pmo_assets.pipeline.detection.fusion.image_fusion import ImageFusionOptions, fused_images, image_proposals
from pmo_assets.pipeline.detection.networks.onnx_detectors import FigureNetwork, network_images
from pmo_assets.pipeline.detection.protocols import NetworkBoxes
from pmo_assets.pipeline.detection.structure.gutters import Canvas, canvas_of
from pmo_assets.pipeline.detection.structure.images import structure_images
from pmo_assets.pipeline.detection.structure.panels import glyph_share
from pmo_assets.records.average_precision import average_precision, ranked_boxes
from pmo_assets.records.detections import FigureView, ImageDetection
from pmo_assets.records.geometry import Box, iou, matched_boxes, non_maximum_suppression

WEIGHTS = Path(__file__).parents[1] / "pmo_assets" / "weights" / "image_choice.json"
SAID = ImageFusionOptions().least
"""Score from which parts would be put out."""

REAL = 4.0
"""What a decision about a real figure counts beside one about a drawn figure, of which there are many times more."""

PARTS = 5
"""Parts of the annotated articles; each is left out in turn."""


@dataclass(frozen=True, slots=True)
class Case:
    """A figure: where it is from, what structure and network say, the true boxes, and its decisions.

    `decisions` has per whole its features, whether its parts are right (0 or 1), and how much that counts.
    """

    source: str
    view: FigureView
    structural: Sequence[ImageDetection]
    boxes: NetworkBoxes
    truth: Sequence[Box]
    decisions: Sequence[tuple[dict[str, float], float, float]]


def decisions(
    view: FigureView, structural: Sequence[ImageDetection], boxes: NetworkBoxes, truth: Sequence[Box], weight: float = 1
) -> list[tuple[dict[str, float], float, float]]:
    """Return the features of every whole with parts, which is right, and how much it counts; see `Case`."""

    @cache
    def canvas() -> Canvas:
        return canvas_of(view.pixels, (), glyph_share(view))

    proposals = image_proposals(view, structural, boxes, ImageFusionOptions()).proposals
    inside = nesting(proposals)
    strong = np.asarray([counts(p) for p in proposals], dtype=np.bool_)
    found = []
    for k, whole in enumerate(proposals):
        parts = [proposals[j] for j in np.flatnonzero(inside[k] & strong)]
        if not parts or whole.placed:
            continue
        same = matched_boxes(truth, [part.box for part in parts], 0.5)
        closest = max((iou(whole.box, box) for box in truth), default=0.0)
        if closest < 0.5 and not same:
            continue
        better = max((iou(truth[i], parts[j].box) for i, j in same.items()), default=0.0)
        right = float(bool(same) and (closest < 0.5 or len(same) > 1 or better > closest))
        # A grid of many says more, and so does a whole that would fall into many; but not as many times more.
        said = max(len(same), sum(part.seen >= SAID for part in parts), 1)
        found.append((choice_features(whole, parts, canvas, live=view.is_live), right, float(np.sqrt(said)) * weight))
    return found


def cases(
    figures: Iterable[tuple[str, TrueFigure]], most: int, detector: Path | None, weight: float = 1.0
) -> list[Case]:
    """Return what the sources say of at most so many figures, whose decisions count `weight` times."""
    detectors, network = detector_set("both", detector_file=detector), FigureNetwork(detector)
    found = []
    for (source, figure), _ in zip(figures, range(most), strict=False):
        panels = detect_panels(figure.view, detectors.panels)
        structural = structure_images(figure.view, panels)
        (boxes,) = network([figure.view])
        truth = figure.truth["image"]
        decided = decisions(figure.view, structural, boxes, truth, weight)
        found.append(Case(source, figure.view, structural, boxes, truth, decided))
    return found


def fitted_weights(found: Sequence[Case]) -> dict[str, float]:
    """Return the weights under which the decisions that are right are most likely."""
    features, right, counted = zip(*(row for case in found for row in case.decisions), strict=True)
    return likeliest_weights(features, right, counted)


def precision(found: Sequence[Sequence[ImageDetection]], truth: Sequence[Sequence[Box]]) -> str:
    """Return AP@0.5, and recall and precision of what is put out, in words."""
    rows, right, said = [], 0, 0
    for number, (images, true) in enumerate(zip(found, truth, strict=True)):
        strong = [i for i in images if i.score >= 0.25]
        kept = [strong[k] for k in non_maximum_suppression([i.box for i in strong], [i.score for i in strong], 0.3)]
        rows.append((number, [(i.box, i.score) for i in kept], list(true)))
        right += len(matched_boxes([i.box for i in kept], true, 0.5))
        said += len(kept)
    total = sum(map(len, truth))
    value = average_precision(ranked_boxes(rows), 0.5) or 0.0
    return f"{value:.3f} (recall {right / max(1, total):.3f}, precision {right / max(1, said):.3f})"


def report(name: str, found: Sequence[Case], weights: Mapping[str, float]) -> None:
    """Print AP of each source and of the choice, and the share of decisions that are right."""
    truth = [case.truth for case in found]
    rows = [row for case in found for row in case.decisions]
    right = [(sum(weights[k] * v for k, v in features.items()) > 0) == (label == 1) for features, label, _ in rows]
    print(
        f"{name:26s} {len(found):4d} figures, {len(rows)} decisions, right {np.mean(right):.3f}\n"
        f"    structure {precision([case.structural for case in found], truth)}\n"
        f"    network   {precision([network_images(case.boxes) for case in found], truth)}\n"
        f"    fused     {precision([fused(case, weights) for case in found], truth)}",
        flush=True,
    )


def fused(case: Case, weights: Mapping[str, float]) -> list[ImageDetection]:
    """Return the images of a figure under weights that are not the package's."""
    return fused_images(case.view, case.structural, case.boxes, weights=weights)


def main() -> None:
    """Fit, print and, if wanted, write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+", help="folders that `pmo train figures` wrote")
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--figures", type=int, default=250, help="synthetic figures of each part and folder, at most")
    parser.add_argument("--typeset", type=int, default=60, help="typeset figures to fit on; half as many to check")
    parser.add_argument("--detector", type=Path, help="ONNX file of the figure network instead of the package's")
    parser.add_argument("--write", action="store_true", help="put the weights into the package")
    arguments = parser.parse_args()
    most, detector = arguments.figures, arguments.detector

    def flat(part: str) -> list[Case]:
        return [
            case
            for folder in arguments.data
            for case in cases((("flat", f) for f in flat_figures(folder / part)), most, detector)
        ]

    def typeset(seed: int, count: int) -> list[Case]:
        return cases((("typeset", f) for f in typeset_figures(range(seed, seed + count))), count, detector)

    annotated = cases(
        (
            (article, true_figure(page, figure, None))
            for article, _, figure, page in annotated_figures(arguments.shared, "")
        ),
        10_000,
        detector,
        REAL,
    )
    fitted = {"flat (fitted)": flat("validation"), "typeset (fitted)": typeset(0, arguments.typeset)}
    drawn = [case for part in fitted.values() for case in part]
    weights = fitted_weights([*drawn, *annotated])
    if arguments.write:
        WEIGHTS.write_text(json.dumps(weights, indent=1) + "\n", "utf-8")
    print(weights)
    for name, part in fitted.items():
        report(name, part, weights)
    report("flat", flat("test"), weights)
    report("typeset", typeset(CHECK_SEED, arguments.typeset // 2), weights)
    report("annotated (fitted)", annotated, weights)
    articles = sorted({case.source for case in annotated})
    left_out = {article: number % PARTS for number, article in enumerate(articles)}
    each = [
        fitted_weights([*drawn, *(case for case in annotated if left_out[case.source] != part)])
        for part in range(PARTS)
    ]
    print("annotated, left out of the fit:", precision(
        [fused(case, each[left_out[case.source]]) for case in annotated], [case.truth for case in annotated]
    ))  # fmt: skip


if __name__ == "__main__":
    main()
