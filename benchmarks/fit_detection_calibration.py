"""Fit what a detection's score is worth, and print how well it says so on figures that were not fitted on.

    pmo train figures DATA --images … --articles … --annotations … --layouts … --train 0 --validation 800 --test 500
    python benchmarks/fit_detection_calibration.py DATA [--shared ../shared] [--typeset 150] [--keep FILE] [--write]

Fitted on the synthetic figures of DATA/validation (flat pictures) and on figures of typeset articles (`samples`, live
text and bitmaps) of as many seeds as `--typeset` says. Checked on DATA/test, on typeset articles of other seeds, and on
the annotated articles, of which nothing was fitted. Every figure is looked at in its true box, as in
`score_detection.py`, with the names that its caption would give; of few figures (`LIES`) these are wrong: none, one too
few, one too many. A detection is right when it overlaps a true box of its kind, not taken by a better one, by 0.5.

Without `--write` the weights in the package are left as they are. `--keep` stores what was found, for another fit.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
from numpy.typing import NDArray
from scipy.optimize import minimize
from score_detection import annotated_figures, figure_view

from pmo_assets.pipeline.detection.calibration import Curve, DetectedKind, curve_name, score_odds, scores_worth
from pmo_assets.pipeline.detection.detect import detect_images, detect_panels
from pmo_assets.pipeline.detection.detector_set import detector_set
from pmo_assets.quality.metrics.reliability import brier_score, expected_error, reliability_bins
from pmo_assets.records.average_precision import ranked_boxes, right_boxes
from pmo_assets.records.detections import FigureView
from pmo_assets.records.geometry import Box, as_box
from pmo_assets.samples.typesetter import typeset
from pmo_assets.training.data.coco import figure_of_coco, read_coco, shards
from pmo_assets_tests.samples.random_specs import random_spec

WEIGHTS = Path(__file__).parents[1] / "pmo_assets" / "weights" / "detection_calibration.json"
DPI = 200
KINDS: tuple[DetectedKind, ...] = ("panel", "identifier", "image")
SHRINKAGE = 8.0
"""A source's curve is held to that of its kind as by so many detections: few are no evidence of a steep curve."""
LIES = 0.06
"""Share of captions that name other panels than are printed, or are split wrongly: some 4 % of annotated ones."""
CHECK_SEED = 1_000_000


@dataclass(frozen=True, slots=True)
class Found:
    """A detection: of which figures ("flat", "typeset", "annotated"), to fit or to check, and whether it is right."""

    figures: str
    figure: int
    live: bool
    fitted: bool
    kind: DetectedKind
    source: str
    score: float
    right: bool


@dataclass(frozen=True, slots=True)
class TrueFigure:
    """A figure as detectors see it, and the true boxes of each kind."""

    view: FigureView
    truth: dict[DetectedKind, list[Box]]


def named(rng: np.random.Generator, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names that a caption gives: the printed ones, or in the share `LIES` others."""
    lie = float(rng.random())
    if lie < LIES / 3:
        return ()
    if lie < 2 * LIES / 3:
        return tuple(names[:-1])
    if lie < LIES and names and len(names[-1]) == 1 and names[-1].isalpha() and names[-1] not in "zZ":
        return (*names, chr(ord(names[-1]) + 1))
    return tuple(names)


def flat_figures(folder: Path) -> Iterator[TrueFigure]:
    """Yield the synthetic figures of one part of the data."""
    rng = np.random.default_rng(0)
    for path, size, rows in (row for shard in shards(folder) for row in read_coco(shard)):
        figure = figure_of_coco(path, size, rows)
        names = [str(p.identifier) for p in figure.panels if p.identifier is not None]
        identifiers = [p.identifier_box for p in figure.panels if p.identifier_box is not None]
        yield TrueFigure(
            FigureView(figure.pixels, caption_identifiers=named(rng, names)),
            {
                "panel": [p.box for p in figure.panels],
                "identifier": [*identifiers, *(box for box, _ in figure.further_labels)],
                "image": [i.box for i in figure.images],
            },
        )


def true_figure(page: pymupdf.Page, figure: dict[str, Any], rng: np.random.Generator | None) -> TrueFigure:
    """Return an annotated figure; `rng` decides how its caption lies, None for the truth."""
    names = [str(p["identifier"]) for p in figure["panels"] if p["identifier"] is not None]
    given = tuple(names) if rng is None else named(rng, names)
    frame: Box = as_box(figure["figure_locations"][0]["bbox"])
    return TrueFigure(
        figure_view(page, frame, given, DPI, hints=True),
        {
            "panel": [as_box(p["box"]) for p in figure["panels"]],
            "identifier": [as_box(p["identifier_box"]) for p in figure["panels"] if p["identifier_box"]],
            "image": [as_box(i["box"]) for p in figure["panels"] for i in p["images"]],
        },
    )


def typeset_figures(seeds: Iterable[int]) -> Iterator[TrueFigure]:
    """Yield the figures of typeset articles that stand on one page."""
    for seed in seeds:
        rng = np.random.default_rng([seed, 5])
        article = typeset(random_spec(seed))
        with pymupdf.open(stream=article.pdf, filetype="pdf") as document:
            for figure in article.truth["figures"]:
                if len(figure["figure_locations"]) == 1:
                    yield true_figure(document[figure["figure_locations"][0]["page"]], figure, rng)


def detected(figures: Iterable[TrueFigure], name: str, fitted: bool) -> Iterator[Found]:
    """Yield the detections of figures, as the package's detectors find them, with whether they are right."""
    detectors = detector_set("both")

    def unmarked(
        crops: Sequence[Any], words: Sequence[str], drawn: Sequence[Any] = (), figures: Sequence[int] = ()
    ) -> list[tuple[bool | None, float]]:
        return [(None, 0.0)] * len(crops)

    for number, figure in enumerate(figures):
        live = figure.view.is_live
        panels = detect_panels(figure.view, detectors.panels)
        images = detect_images(figure.view, panels, detectors.images, unmarked)
        found: dict[DetectedKind, list[tuple[str, float, Box]]] = {
            "panel": [(p.source, p.score, p.box) for p in panels if p.kind == "panel"],
            "identifier": [(p.source, p.score, p.box) for p in panels if p.kind == "identifier"],
            "image": [(i.source, i.score, i.box) for i in images],
        }
        for kind in KINDS:
            ranking = ranked_boxes([(0, [(box, score) for _, score, box in found[kind]], figure.truth[kind])])
            for (source, score, _), right in zip(found[kind], right_boxes(ranking, 0.5), strict=True):
                yield Found(name, number, live, fitted, kind, source, score, right)


def fitted_curve(found: Sequence[Found], towards: Curve) -> Curve:
    """Return the curve under which what was found is most likely; near `towards` where little speaks against it."""
    odds = np.array([score_odds(item.score) for item in found])
    right = np.array([item.right for item in found], dtype=float)

    def loss(values: NDArray[np.float64]) -> float:
        logits = values[0] + values[1] * odds
        likely = np.logaddexp(0, logits) - right * logits
        apart = (values[0] - towards.offset) ** 2 + (values[1] - towards.slope) ** 2
        return float(likely.sum() + 0.5 * (SHRINKAGE / 4) * apart)

    result = minimize(loss, np.array([towards.offset, towards.slope]), bounds=[(None, None), (0.0, None)])
    return Curve(round(float(result.x[0]), 4), round(float(result.x[1]), 4))


def fitted_curves(found: Sequence[Found]) -> dict[DetectedKind, dict[str, Curve]]:
    """Return the curves per kind: of all sources together (""), of each one, and of each in flat and live figures.

    Each is held to the one before it where there is little to fit it on.
    """
    curves: dict[DetectedKind, dict[str, Curve]] = {}
    for kind in KINDS:
        of_kind = [item for item in found if item.kind == kind]
        pooled = fitted_curve(of_kind, Curve(0.0, 1.0))
        curves[kind] = {"": pooled}
        for source in sorted({item.source for item in of_kind}):
            own = [item for item in of_kind if item.source == source]
            curves[kind][source] = fitted_curve(own, pooled)
            for live in sorted({item.live for item in own}):
                part = [item for item in own if item.live == live]
                curves[kind][curve_name(source, live)] = fitted_curve(part, curves[kind][source])
    return curves


def report(found: Sequence[Found], curves: dict[DetectedKind, dict[str, Curve]]) -> None:
    """Print calibration error and Brier score of score and probability, per set of figures and kind."""
    print(f"{'':38s} {'n':>6s} {'right':>6s}   ECE score → probability   Brier score → probability")
    for name, fitted in sorted({(item.figures, item.fitted) for item in found}, key=lambda x: (not x[1], x[0])):
        for kind in KINDS:
            of_kind = [f for f in found if (f.figures, f.fitted, f.kind) == (name, fitted, kind)]
            for source in ["", *sorted({item.source for item in of_kind})]:
                part = [item for item in of_kind if source in ("", item.source)]
                if not part:
                    continue
                right = [item.right for item in part]
                claims = (
                    [item.score for item in part],
                    [scores_worth(curves, item.kind, item.source, item.score, item.live) for item in part],
                )
                errors = [expected_error(reliability_bins(claim, right)) for claim in claims]
                briers = [brier_score(claim, right) for claim in claims]
                title = f"{name} {'(fitted)' if fitted else '(check)'} {kind} {source}"
                print(
                    f"{title:38s} {len(part):6d} {np.mean(right):6.3f}   {errors[0]:9.3f} → {errors[1]:.3f}"
                    f"   {briers[0]:15.3f} → {briers[1]:.3f}"
                )


def everything(arguments: argparse.Namespace) -> list[Found]:
    """Return the detections of all figures."""
    found = list(detected(flat_figures(arguments.data / "validation"), "flat", True))
    found += detected(flat_figures(arguments.data / "test"), "flat", False)
    found += detected(typeset_figures(range(arguments.typeset)), "typeset", True)
    found += detected(typeset_figures(range(CHECK_SEED, CHECK_SEED + arguments.typeset // 2)), "typeset", False)
    annotated = (true_figure(page, figure, None) for _, _, figure, page in annotated_figures(arguments.shared, ""))
    found += detected(annotated, "annotated", False)
    return found


def main() -> None:
    """Fit, print and, if wanted, write the curves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder that `pmo train figures` wrote")
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--typeset", type=int, default=240, help="typeset articles to fit on; half as many to check")
    parser.add_argument("--keep", type=Path, help="detections (JSON): read when there, else written")
    parser.add_argument("--write", action="store_true", help="put the curves into the package")
    arguments = parser.parse_args()
    if arguments.keep is not None and arguments.keep.exists():
        found = [Found(**row) for row in json.loads(arguments.keep.read_text("utf-8"))]
    else:
        found = everything(arguments)
        if arguments.keep is not None:
            arguments.keep.write_text(json.dumps([asdict(item) for item in found]), "utf-8")
    curves = fitted_curves([item for item in found if item.fitted])
    report(found, curves)
    text = json.dumps(
        {kind: {s: [c.offset, c.slope] for s, c in of_kind.items()} for kind, of_kind in curves.items()}, indent=1
    )
    if arguments.write:
        WEIGHTS.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
