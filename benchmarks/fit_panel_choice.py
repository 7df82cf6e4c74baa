"""Fit which source of panels is trusted in which figure, and print what that gives on figures that were not fitted on.

    pmo train figures DATA --images … --articles … --annotations … --layouts … --train 0 --validation 800 --test 500
    python benchmarks/fit_panel_choice.py DATA [--shared ../shared] [--figures 800] [--typeset 120] [--write]

Fitted on the synthetic figures of DATA/validation (flat pictures), on figures of typeset articles (live text and
bitmaps), and on pictures in rows with printed letters (`pmo_assets_tests/samples/letter_rows.py`, cases 0 to 149).
Checked on DATA/test, on typeset articles and rows of other seeds, and on the annotated articles, of which nothing was
fitted. As in `fit_detection_calibration.py` figures are looked at in their true boxes, with the names that captions
would give.

Run it again when the figure network was trained further. Without `--write` the weights are left as they are.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pymupdf
from fit_detection_calibration import CHECK_SEED, TrueFigure, flat_figures, true_figure, typeset_figures
from numpy.typing import NDArray
from scipy.optimize import minimize
from score_detection import annotated_figures

from pmo_assets.pipeline.detection.fusion.panel_choice import Source, counted, judged, option_features, scored
from pmo_assets.pipeline.detection.fusion.panel_fusion import (
    EnsemblePanelDetector,
    PanelOptions,
    is_exact,
    panel_options,
)
from pmo_assets.pipeline.detection.structure.panels import printed_names, structure_panels
from pmo_assets.records.average_precision import average_precision, ranked_boxes
from pmo_assets.records.detections import PanelDetection
from pmo_assets.records.geometry import Box, matched_boxes
from pmo_assets_tests.samples.letter_rows import letter_rows, letter_rows_case

WEIGHTS = Path(__file__).parents[1] / "pmo_assets" / "weights" / "panel_choice.json"
SHRINKAGE = 1.0
"""Weights are held to 0 as by so many figures."""

HELD_OUT_ROWS = 150
"""From this case on rows of letters are not fitted on."""


@dataclass(frozen=True, slots=True)
class Case:
    """A figure: its options, None where its panels are not in question, the structural panels, the true boxes."""

    options: PanelOptions | None
    structural: Sequence[PanelDetection]
    truth: Sequence[Box]


def letter_row_figures(seeds: Iterable[int]) -> Iterator[TrueFigure]:
    """Yield figures of pictures in rows."""
    rng = np.random.default_rng(0)
    for seed in seeds:
        made = letter_rows_case(letter_rows(seed))
        with pymupdf.open(stream=made.pdf) as document:
            yield true_figure(document[0], made.truth, rng)


def cases(figures: Iterable[TrueFigure], most: int) -> list[Case]:
    """Return what the sources say of figures."""
    detector = EnsemblePanelDetector()
    found = []
    for figure, _ in zip(figures, range(most), strict=False):
        (boxes,) = detector.network([figure.view])
        printed = detector.known(figure.view, printed_names(figure.view), boxes)
        structural = structure_panels(figure.view, printed)
        options = None
        if len(printed.names) >= 2 and not is_exact(figure.view, printed, structural):
            options = panel_options(figure.view, printed, structural, boxes, detector.options)
        found.append(Case(options, [p for p in structural if p.kind == "panel"], figure.truth["panel"]))
    return found


def share_right(panels: Sequence[PanelDetection], truth: Sequence[Box]) -> float:
    """Return F1 of panels at an IoU of 0.5."""
    same = matched_boxes(truth, [p.box for p in panels], 0.5)
    return 2 * len(same) / max(1, len(truth) + len(panels))


def fitted_weights(found: Sequence[Case]) -> dict[str, float]:
    """Return the weights under which the shares that are right are most likely."""
    rows: list[dict[str, float]] = []
    right: list[float] = []
    counts: list[float] = []
    for case in found:
        if case.options is None:
            continue
        for source, panels in case.options.panels.items():
            rows.append(option_features(source, case.options.panels, case.options.evidence))
            right.append(share_right(counted(source, panels), case.truth))
            # A figure of many panels says more, but not as many times more.
            counts.append(float(np.sqrt(len(case.truth))))
    return likeliest_weights(rows, right, counts)


def likeliest_weights(
    rows: Sequence[Mapping[str, float]], right: Sequence[float], counts: Sequence[float]
) -> dict[str, float]:
    """Return the weights of a logistic function under which what is right is most likely.

    Args:
        rows: features by name; a name that a row lacks is 0 there.
        right: per row 0..1, how far it is right.
        counts: per row how much it counts.
    """
    names = sorted({name for row in rows for name in row})
    values = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    shares, weight = np.array(right), np.array(counts)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        logits = values @ weights
        likely = weight * (np.logaddexp(0, logits) - shares * logits)
        slope = values.T @ (weight * (1 / (1 + np.exp(-logits)) - shares))
        return float(likely.sum() + SHRINKAGE / 2 * (weights**2).sum()), slope + SHRINKAGE * weights

    result = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B")
    return {name: round(float(value), 3) for name, value in zip(names, result.x, strict=True)}


def precision(found: Sequence[Case], source: Source | None, weights: Mapping[str, float]) -> float:
    """Return AP@0.5 of one source's panels, or (None) of those that are chosen."""
    rows = []
    for number, case in enumerate(found):
        panels: Sequence[PanelDetection] = case.structural
        if case.options is not None and source is not None:
            panels = case.options.panels[source]
        elif case.options is not None:
            panels = scored(judged(case.options.panels, case.options.evidence, weights))
        rows.append((number, [(p.box, p.score) for p in panels], list(case.truth)))
    return average_precision(ranked_boxes(rows), 0.5) or 0.0


def report(name: str, found: Sequence[Case], weights: Mapping[str, float]) -> None:
    """Print AP of each source and of the choice, and how often each is chosen."""
    sources: tuple[Source, ...] = ("structure", "network", "mixture")
    chosen = Counter(
        judged(case.options.panels, case.options.evidence, weights).source for case in found if case.options is not None
    )
    values = "  ".join(f"{source} {precision(found, source, weights):.3f} ({chosen[source]})" for source in sources)
    print(f"{name:28s} {len(found):5d} figures  {values}  chosen {precision(found, None, weights):.3f}")


def main() -> None:
    """Fit, print and, if wanted, write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder that `pmo train figures` wrote")
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--figures", type=int, default=800, help="synthetic figures of each part, at most")
    parser.add_argument("--typeset", type=int, default=120, help="typeset articles to fit on; half as many to check")
    parser.add_argument("--rows", type=int, default=HELD_OUT_ROWS, help="rows of letters to fit on, and to check")
    parser.add_argument("--write", action="store_true", help="put the weights into the package")
    arguments = parser.parse_args()
    most, rows = arguments.figures, min(arguments.rows, HELD_OUT_ROWS)
    fitted = {
        "flat (fitted)": cases(flat_figures(arguments.data / "validation"), most),
        "typeset (fitted)": cases(typeset_figures(range(arguments.typeset)), most),
        "rows (fitted)": cases(letter_row_figures(range(rows)), most),
    }
    weights = fitted_weights([case for part in fitted.values() for case in part])
    if arguments.write:
        WEIGHTS.write_text(json.dumps(weights, indent=1) + "\n", "utf-8")
    for name, part in fitted.items():
        report(name, part, weights)
    check = range(CHECK_SEED, CHECK_SEED + arguments.typeset // 2)
    report("flat", cases(flat_figures(arguments.data / "test"), most), weights)
    report("typeset", cases(typeset_figures(check), most), weights)
    report("rows", cases(letter_row_figures(range(HELD_OUT_ROWS, HELD_OUT_ROWS + rows)), most), weights)
    annotated = (true_figure(page, figure, None) for _, _, figure, page in annotated_figures(arguments.shared, ""))
    report("annotated (looked at)", cases(annotated, 10_000), weights)


if __name__ == "__main__":
    main()
