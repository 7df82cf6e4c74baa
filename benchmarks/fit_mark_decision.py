"""Fit what each source says of an image's marks: the logistic function of `detection.fusion.mark_fusion`.

    python benchmarks/fit_mark_decision.py [--shared ../shared] [--marks FILE] [--synthetic 400] [--write]

Two kinds of images. Those of annotated articles, cut at their true boxes, three times: with the subcaption of their
panel, with the figure's whole caption (as where it could not be split), and without words; an article counts as the
root of its images. Drawn pictures of the validation part, whose sources the network was not trained on, have no words.
Coefficients are held near hand-set ones (`PRIOR`), which counts most where data are few: shapes over pictures were
always marks. Prints coefficients and accuracies: on all annotated images (looked at), with each article left out of the
fit, and of the drawn pictures by type (half of them left out in turn). `--write` keeps the coefficients.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from score_detection import annotated_figures, figure_view

from pmo_assets.pipeline.detection.detect import crop
from pmo_assets.pipeline.detection.fusion.mark_fusion import FusedMarkClassifier, MarkEvidence, all_terms, weighed
from pmo_assets.pipeline.detection.networks.onnx_marks import OnnxMarkNetwork
from pmo_assets.pipeline.detection.structure.vector_marks import vector_evidence
from pmo_assets.records.geometry import as_box
from pmo_assets.training.data.training_data import pool_pictures
from pmo_assets.training.synthetic.mark_examples import mark_example
from pmo_assets.training.synthetic.pools import PicturePool

WEIGHTS = Path("pmo_assets/weights/mark_decision.json")

PRIOR: Mapping[str, float] = {
    "constant": -0.3, "first": 0.5, "second": 0.3, "larger": 0.2, "plot": -0.5, "drawn mark": 4.0, "drawn line": 1.0,
    "named, best": 1.2, "named, other": 0.5, "arrows, best": 1.5, "arrows, other": 0.7,
}  # fmt: skip
"""What coefficients are without data."""

FREE = ("constant", "plot")
"""Coefficients that may be negative; all other sources speak for marks."""

HOLD = 2.0
"""How firmly coefficients are held at `PRIOR`: loss per squared unit."""

DRAWN_WEIGHT = 0.15
"""What a drawn picture counts; 400 of them half as much as all annotated articles."""


@dataclass(frozen=True)
class Figure:
    """Images that are judged together: evidence, whether they are marked, and what each of them counts."""

    source: str
    images: tuple[MarkEvidence, ...]
    marked: tuple[bool, ...]
    weight: float


def annotated(shared: Path, classifier: FusedMarkClassifier) -> list[Figure]:
    """Return the figures of annotated articles with the words of their panels."""
    figures = []
    for article, _, truth, page in annotated_figures(shared, ""):
        frame = as_box(truth["figure_locations"][0]["bbox"])
        view = figure_view(page, frame, (), 300, True)
        images = [(as_box(i["box"]), p["subcaption"], bool(i["marked"])) for p in truth["panels"] for i in p["images"]]
        known = classifier.evidence(
            [crop(view.pixels, box) for box, _, _ in images],
            [words for _, words, _ in images],
            [vector_evidence(view, box) for box, _, _ in images],
        )
        seen = [(image, marked) for image, (_, _, marked) in zip(known, images, strict=True) if image is not None]
        figures.append(Figure(article, tuple(i for i, _ in seen), tuple(m for _, m in seen), 1.0))
    counts = {f.source: sum(len(g.images) for g in figures if g.source == f.source) for f in figures}
    return [replace(f, weight=counts[f.source] ** -0.5) for f in figures]


def drawn(pool: PicturePool, count: int, classifier: FusedMarkClassifier) -> list[Figure]:
    """Return drawn pictures, each a figure by itself, without words."""
    figures = []
    for k in range(count):
        pixels, marked, _ = mark_example(3 * 10**9 + k, pool)
        (image,) = classifier.evidence([pixels], [""])
        if image is not None:
            figures.append(Figure(f"drawn {k}", (image,), (marked,), DRAWN_WEIGHT))
    return figures


def with_words(figures: Sequence[Figure], words: str | None) -> list[Figure]:
    """Return figures with the same words for all their images; None for the longest there are: the whole caption."""
    result = []
    for figure in figures:
        said = " ".join(dict.fromkeys(i.words for i in figure.images)) if words is None else words
        result.append(replace(figure, images=tuple(replace(i, words=said) for i in figure.images)))
    return result


def arrays(
    figures: Sequence[Figure], coefficients: Mapping[str, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return terms (n, k) in the order of `PRIOR`, answers (n,) and weights (n,)."""
    rows = [(terms, f) for f in figures for terms in all_terms(f.images, coefficients)]
    return (
        np.asarray([[terms.get(name, 0.0) for name in PRIOR] for terms, _ in rows]),
        np.asarray([float(m) for f in figures for m in f.marked]),
        np.asarray([f.weight for _, f in rows]),
    )


def fitted(real: Sequence[Figure], made: Sequence[Figure]) -> dict[str, float]:
    """Return the coefficients that fit best, twice: they decide which image of several the words speak for."""
    half = [replace(f, weight=f.weight / 3) for f in [*real, *with_words(real, None), *with_words(real, "")]]
    coefficients = dict(PRIOR)
    start = np.asarray(list(PRIOR.values()))
    bounds = [(None, None) if name in FREE else (0.0, None) for name in PRIOR]
    for _ in range(2):
        x, y, weight = arrays([*half, *made], coefficients)

        def loss(
            c: NDArray[np.float64], x: NDArray[np.float64] = x, y: NDArray[np.float64] = y,
            weight: NDArray[np.float64] = weight,
        ) -> tuple[float, NDArray[np.float64]]:  # fmt: skip
            odds = x @ c
            each = np.logaddexp(0, odds) - y * odds
            slope = x.T @ (weight * (1 / (1 + np.exp(-odds)) - y))
            return float(weight @ each + HOLD * ((c - start) ** 2).sum()), slope + 2 * HOLD * (c - start)

        best = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B")
        coefficients = {name: round(float(v), 3) for name, v in zip(PRIOR, best.x, strict=True)}
    return coefficients


def odds_of(figures: Sequence[Figure], coefficients: Mapping[str, float]) -> NDArray[np.float64]:
    """Return the log odds of all images, figure after figure."""
    return np.asarray([weighed(coefficients, t) for f in figures for t in all_terms(f.images, coefficients)])


def shown(name: str, odds: NDArray[np.float64], figures: Sequence[Figure]) -> str:
    """Return a line: accuracy, marked images missed, unmarked ones called marked, calibration error of ten bins."""
    marked = np.asarray([m for f in figures for m in f.marked])
    chance = 1 / (1 + np.exp(-odds))
    bins = np.minimum((chance * 10).astype(int), 9)
    error = sum(
        abs(float(chance[bins == k].sum() - marked[bins == k].sum())) for k in range(10) if (bins == k).any()
    ) / len(marked)
    right = float(((odds >= 0) == marked).mean())
    missed, false = int((marked & (odds < 0)).sum()), int((~marked & (odds >= 0)).sum())
    return f"{name:52s} {right:.3f}  missed {missed}/{marked.sum()}  false {false}/{(~marked).sum()}  ECE {error:.3f}"


def left_out(real: Sequence[Figure], made: Sequence[Figure], words: str | None = "keep") -> NDArray[np.float64]:
    """Return the log odds of annotated images by coefficients that were fitted without their article."""
    odds: dict[int, NDArray[np.float64]] = {}
    for source in sorted({f.source for f in real}):
        coefficients = fitted([f for f in real if f.source != source], made)
        for k, figure in enumerate(real):
            if figure.source == source:
                said = [figure] if words == "keep" else with_words([figure], words)
                odds[k] = odds_of(said, coefficients)
    return np.concatenate([odds[k] for k in range(len(real))])


def main() -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--marks", type=Path, help="ONNX file of the mark classifier instead of the package's")
    parser.add_argument("--synthetic", type=int, default=400, help="drawn pictures")
    parser.add_argument("--write", action="store_true", help="keep the coefficients")
    args = parser.parse_args()
    classifier = FusedMarkClassifier(OnnxMarkNetwork(args.marks))
    real = annotated(args.shared, classifier)
    pictures = pool_pictures(args.shared / "images", args.shared / "corpus", args.shared / "annotations")
    made = drawn(PicturePool(pictures, "validation"), args.synthetic, classifier)
    coefficients = fitted(real, made)
    print(json.dumps(coefficients, indent=1))
    for name, figures in (("words", real), ("whole caption", with_words(real, None)), ("pixels", with_words(real, ""))):
        print(shown(f"annotated, looked at, {name}", odds_of(figures, coefficients), figures))
    for name, said in (("words", "keep"), ("whole caption", None), ("pixels", "")):
        print(shown(f"annotated, article left out, {name}", left_out(real, made, said), real))
    flat = [replace(f, images=tuple(replace(i, drawn="none") for i in f.images)) for f in real]
    print(shown("annotated, article left out, words, no vectors", left_out(flat, made), flat))
    halves: list[Any] = [made[0::2], made[1::2]]
    for k, half in enumerate(halves):
        print(shown(f"drawn, sources held out, half {k}", odds_of(half, fitted(real, halves[1 - k])), half))
    if args.write:
        WEIGHTS.write_text(json.dumps({"coefficients": coefficients}, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
