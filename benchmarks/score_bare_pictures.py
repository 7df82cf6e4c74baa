"""Score panels of annotated figures as bare pictures: without their captions, and without what the PDF knows.

    python benchmarks/score_bare_pictures.py [--shared ../shared] [--first COUNT] [--after COUNT] [--live]
        [--sources both]

The truth is the annotation guide's: one panel per identifier of the caption. A figure of several pictures that its
caption does not name is one panel there, although a reader of bare pictures would split it: a lower bound.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import islice
from pathlib import Path

from score_detection import annotated_figures, figure_view

from pmo_assets.pipeline.detection.detect import panels_of_figures
from pmo_assets.pipeline.detection.detector_set import detector_set
from pmo_assets.records.detections import FigureView
from pmo_assets.records.geometry import Box, as_box
from pmo_assets.training.loop.panel_scores import AT_ONCE, FigurePanels, panel_scores

THRESHOLD = 0.25


def main() -> None:
    """Run the benchmark and print a line per source."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--dpi", type=float, default=150)
    parser.add_argument("--first", type=int, help="only so many figures")
    parser.add_argument("--after", type=int, default=0, help="only figures after so many")
    parser.add_argument("--live", action="store_true", help="with the bitmaps and the live text of the PDF")
    parser.add_argument("--sources", nargs="+", default=["both", "network"])
    args = parser.parse_args()

    views: list[FigureView] = []
    truths: list[list[Box]] = []
    last = None if args.first is None else args.after + args.first
    for _, _, truth, page in islice(annotated_figures(args.shared, ""), args.after, last):
        view = figure_view(page, as_box(truth["figure_locations"][0]["bbox"]), (), args.dpi, args.live)
        views.append(replace(view, caption_known=False))
        truths.append([as_box(panel["box"]) for panel in truth["panels"]])
    for source in args.sources:
        detector = detector_set(source).panels
        parts = [views[k : k + AT_ONCE] for k in range(0, len(views), AT_ONCE)]
        found = [f for some in parts for f in panels_of_figures(some, detector, score_threshold=0.05)]
        figures: list[FigurePanels] = [
            (k, [(p.box, p.score) for p in panels if p.kind == "panel"], truth)
            for k, (panels, truth) in enumerate(zip(found, truths, strict=True))
        ]
        scores = panel_scores(figures, THRESHOLD)
        print(
            f"{source}: {scores.figures} figures, {scores.panels} panels, mAP {scores.mAP:.3f}, "
            f"AP50 {scores.AP50:.3f}, F1 {scores.F1:.3f}, all panels right {scores.perfect:.3f}"
        )


if __name__ == "__main__":
    main()
