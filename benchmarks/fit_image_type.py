"""Fit what the image type is decided by, and print how well it does on sources that nothing has seen.

    python benchmarks/image_type_folds.py IMAGES FOLDS        # the network, each fold of sources held out
    python benchmarks/fit_image_type.py FOLDS [--shared ../shared] [--write] [--plots docs/image_types.png]

The model of the measures is fitted fold by fold on the same sources as the network. The weights of the evidence
(network, measures, figure network, words) are fitted on what both say of pictures that they have not seen; to say how
good the result is, they too are fitted without the sources that they are applied to. Words and the figure network are
known for annotated images alone. Everything is balanced: types alike, in a type the modalities, in a modality the
sources.

`--write` fits the measures on all sources and writes `image_type.json`.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from pmo_assets.pipeline.detection.image_types.decision import DOUBT, type_shares_of
from pmo_assets.pipeline.detection.image_types.measures import FEATURES, expanded
from pmo_assets.pipeline.detection.image_types.words import word_odds
from pmo_assets.pipeline.detection.networks.onnx_detectors import FigureNetwork, as_box, type_shares
from pmo_assets.records.detections import FigureView
from pmo_assets.records.geometry import iou
from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.records.modalities import TYPE_OF_MODALITY
from pmo_assets.training.data.annotated import annotated_figures, image_crops

Floats = NDArray[np.float64]
WEIGHTS = Path(__file__).parents[1] / "pmo_assets" / "weights" / "image_type.json"
EVIDENCE = ("network", "measures", "seen", "words")


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What is known of n pictures, each of which the network has not seen."""

    names: NDArray[Any]
    sources: NDArray[Any]
    modalities: NDArray[Any]
    types: NDArray[np.int64]
    whole: NDArray[np.bool_]
    folds: NDArray[np.int64]
    network: Floats
    measures: Floats


def rows_of_folds(folder: Path) -> Rows:
    """Return the rows of all folds in a folder."""
    parts = [(k, np.load(path)) for k, path in enumerate(sorted(folder.glob("fold_*.npz")))]
    joined = {key: np.concatenate([part[key] for _, part in parts]) for key in parts[0][1].files}
    chances = np.exp(joined["logits"] - joined["logits"].max(axis=1, keepdims=True))
    types = [IMAGE_TYPES.index(TYPE_OF_MODALITY[m.split("|")[0]]) for m in joined["modalities"]]
    return Rows(
        joined["names"], joined["sources"], joined["modalities"], np.asarray(types), joined["whole"],
        np.concatenate([np.full(len(part["names"]), k) for k, part in parts]),
        type_shares_of(chances / chances.sum(axis=1, keepdims=True)), joined["measures"],
    )  # fmt: skip


def balance_of(rows: Rows, chosen: NDArray[np.bool_]) -> Floats:
    """Return weights that sum to 1: types alike, in a type the modalities, in a modality the sources."""
    keys = list(zip(rows.types, rows.modalities, rows.sources, strict=True))
    modalities: dict[Any, set[Any]] = defaultdict(set)
    sources: dict[Any, set[Any]] = defaultdict(set)
    count: dict[Any, int] = defaultdict(int)
    for key, use in zip(keys, chosen, strict=True):
        if use:
            modalities[key[0]].add(key[1])
            sources[key[:2]].add(key[2])
            count[key] += 1
    weights = [
        1 / len(modalities[k[0]]) / len(sources[k[:2]]) / count[k] if use else 0
        for k, use in zip(keys, chosen, strict=True)
    ]
    return np.asarray(np.asarray(weights) / np.sum(weights), dtype=np.float64)


def fitted_measures(rows: Rows, chosen: NDArray[np.bool_], penalty: float) -> dict[str, Floats]:
    """Return the multinomial logistic regression of the measures on some rows, with an L2 penalty."""
    mean, scale = rows.measures[chosen].mean(axis=0), rows.measures[chosen].std(axis=0) + 1e-3
    features, balance = expanded((rows.measures - mean) / scale)[chosen], balance_of(rows, chosen)[chosen]
    n, k = features.shape[1], len(IMAGE_TYPES)
    truth = np.eye(k)[rows.types[chosen]]

    def loss(vector: Floats) -> tuple[float, Floats]:
        matrix = vector.reshape(k, n + 1)
        logits = features @ matrix[:, :n].T + matrix[:, n]
        p = _softmax(logits)
        value = -(balance * np.log((p * truth).sum(axis=1) + 1e-12)).sum() + penalty * (matrix[:, :n] ** 2).sum()
        step = (p - truth) * balance[:, None]
        gradient = np.concatenate([step.T @ features + 2 * penalty * matrix[:, :n], step.sum(axis=0)[:, None]], axis=1)
        return float(value), gradient.ravel()

    result = minimize(loss, np.zeros(k * (n + 1)), jac=True, method="L-BFGS-B", options={"maxiter": 400})
    matrix = result.x.reshape(k, n + 1)
    return {"mean": mean, "scale": scale, "coefficients": matrix[:, :n], "bias": matrix[:, n]}


def measured(model: dict[str, Floats], features: Floats) -> Floats:
    """Return the scores of a model of the measures."""
    return _softmax(expanded((features - model["mean"]) / model["scale"]) @ model["coefficients"].T + model["bias"])


def _softmax(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def annotated_evidence(shared: Path) -> dict[str, tuple[Floats, Floats | None]]:
    """Return (odds of the words, shares of the figure network or None) of every annotated image by name."""
    network, found = FigureNetwork(), {}
    said: dict[str, Any] = {}
    for article, index, figure in annotated_figures(shared / "annotations", shared / "corpus"):
        if article not in said:
            said = {article: json.loads((shared / "annotations" / f"{article}.json").read_text("utf-8"))["figures"]}
        words = {
            tuple(image["box"]): panel["subcaption"] or ""
            for panel in said[article][index]["panels"]
            for image in panel["images"]
        }
        (boxes,) = network([FigureView(figure.pixels)])
        for number, (_, image) in enumerate(image_crops(figure)):
            overlaps = [iou(image.box, as_box(box)) for box in boxes.boxes["image"]]
            best = int(np.argmax(overlaps)) if overlaps else -1
            shares = type_shares(boxes.class_scores["image"][best]) if best >= 0 and overlaps[best] >= 0.5 else None
            found[f"{article}/{index}/{number}"] = (
                word_odds(words[tuple(image.box)])[0],
                None if shares is None else np.asarray([shares[t] for t in IMAGE_TYPES]),
            )
    return found


def evidence_logits(rows: Rows, measures: Floats, annotated: dict[str, tuple[Floats, Floats | None]]) -> Floats:
    """Return the logarithms of all evidence, (evidence, n, 4); what is missing says nothing."""
    result = np.zeros((len(EVIDENCE), len(rows.types), len(IMAGE_TYPES)))
    result[0], result[1] = np.log(rows.network + DOUBT["network"]), np.log(measures + DOUBT["measures"])
    for k, name in enumerate(rows.names):
        odds, seen = annotated.get(str(name), (None, None))
        if seen is not None:
            result[2, k] = np.log(seen + DOUBT["seen"])
        if odds is not None:
            result[3, k] = np.log(odds)
    return result


def fitted_fusion(logits: Floats, rows: Rows, chosen: NDArray[np.bool_]) -> Floats:
    """Return the weight of each kind of evidence, none below 0, held towards 0.5."""
    balance = balance_of(rows, chosen)

    def loss(weights: Floats) -> float:
        p = _softmax(np.tensordot(weights, logits, axes=1))
        held = 0.002 * ((weights - 0.5) ** 2).sum()
        return float(-(balance * np.log(p[np.arange(len(p)), rows.types] + 1e-12)).sum() + held)

    return np.asarray(minimize(loss, np.full(len(EVIDENCE), 0.5), bounds=[(0, 2)] * len(EVIDENCE)).x)


def print_scores(title: str, scores: Floats, rows: Rows, chosen: NDArray[np.bool_]) -> None:
    """Print recall by type and modality, means over sources and the calibration error."""
    guess, top = scores.argmax(axis=1), scores.max(axis=1)
    right = guess == rows.types
    per_modality = {}
    for modality in sorted(set(rows.modalities[chosen])):
        of = chosen & (rows.modalities == modality)
        per_modality[modality] = float(
            np.mean([right[of & (rows.sources == s)].mean() for s in sorted(set(rows.sources[of]))])
        )
    single = {m: v for m, v in per_modality.items() if "|" not in m}
    print(f"\n{title}: right {right[chosen].mean():.3f}, mean over modalities {np.mean(list(single.values())):.3f}")
    for k, name in enumerate(IMAGE_TYPES):
        of = chosen & (rows.types == k)
        if not of.any():
            continue
        counts = [int((of & (guess == j)).sum()) for j in range(len(IMAGE_TYPES))]
        by_source = np.mean([right[of & (rows.sources == s)].mean() for s in sorted(set(rows.sources[of]))])
        print(f"  {name:16s} {counts}  recall {counts[k] / sum(counts):.3f}, mean over sources {by_source:.3f}")
    edges = np.clip((top[chosen] * 10).astype(int), 0, 9)
    error = sum(
        abs(top[chosen][edges == b].mean() - right[chosen][edges == b].mean()) * (edges == b).mean()
        for b in sorted(set(edges.tolist()))
    )
    print(f"  expected calibration error {error:.3f}")
    for modality, value in per_modality.items():
        kind: str = modality if "|" not in modality else f"articles: {TYPE_OF_MODALITY[modality.split('|')[0]]}"
        of = chosen & (rows.modalities == modality)
        print(f"    {kind:44s} {int(of.sum()):4d} of {len(set(rows.sources[of])):2d} sources  {value:.3f}")


def main() -> None:
    """Fit, print, optionally write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folds", type=Path)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--penalty", type=float, default=0.003)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--plots", type=Path, help="PNG: types found by modality, reliability.")
    args = parser.parse_args()
    rows = rows_of_folds(args.folds)
    every = np.ones(len(rows.types), dtype=bool)
    measures = np.zeros((len(rows.types), len(IMAGE_TYPES)))
    for fold in np.unique(rows.folds):
        measures[rows.folds == fold] = measured(
            fitted_measures(rows, rows.folds != fold, args.penalty), rows.measures[rows.folds == fold]
        )
    annotated = annotated_evidence(args.shared)
    logits = evidence_logits(rows, measures, annotated)
    fused = np.zeros_like(measures)
    for fold in np.unique(rows.folds):
        weights = fitted_fusion(logits, rows, rows.folds != fold)
        fused[rows.folds == fold] = _softmax(np.tensordot(weights, logits, axes=1))[rows.folds == fold]
        print(f"fold {fold}: " + ", ".join(f"{n} {w:.2f}" for n, w in zip(EVIDENCE, weights, strict=True)))
    whole = rows.whole
    print_scores("measures alone, whole pictures", measures, rows, whole)
    print_scores("network alone, whole pictures", rows.network, rows, whole)
    print_scores("all evidence, whole pictures", fused, rows, whole)
    print_scores("all evidence, as figures show them", fused, rows, ~whole)
    of_articles = whole & np.isin(rows.names, list(annotated))
    print_scores("network alone, annotated images", rows.network, rows, of_articles)
    print_scores("all evidence, annotated images", fused, rows, of_articles)
    wrong = sorted(
        {
            (str(rows.sources[k]), str(rows.names[k]), IMAGE_TYPES[int(fused[k].argmax())])
            for k in np.flatnonzero(whole & (fused.argmax(axis=1) != rows.types))
        }
    )
    print("\nwrong:", *(" ".join(item) for item in wrong), sep="\n  ")
    if args.plots:
        args.plots.write_bytes(quality_png(fused, rows))
    if args.write:
        weights = fitted_fusion(logits, rows, every)
        model = fitted_measures(rows, every, args.penalty)
        data = {"features": FEATURES, "types": list(IMAGE_TYPES)}
        data |= {key: np.round(value, 4).tolist() for key, value in model.items()}
        data["fusion"] = {name: round(float(w), 3) for name, w in zip(EVIDENCE, weights, strict=True)}
        WEIGHTS.write_text(json.dumps(data, separators=(",", ":")) + "\n", "utf-8")
        print(f"wrote {WEIGHTS.name}: {data['fusion']}")


def quality_png(scores: Floats, rows: Rows) -> bytes:
    """Return two plots as PNG: types found by true modality, and how often a score is right."""
    from io import BytesIO

    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    whole, guess, kinds = rows.whole, scores.argmax(axis=1), range(len(IMAGE_TYPES))

    def place(modality: str) -> tuple[int, bool, str]:
        return IMAGE_TYPES.index(TYPE_OF_MODALITY[modality.split("|")[0]]), "|" in modality, modality  # type: ignore[index]

    order = sorted(set(rows.modalities[whole]), key=place)
    table = np.asarray([[(whole & (rows.modalities == m) & (guess == k)).sum() for k in kinds] for m in order])
    share = table / table.sum(axis=1, keepdims=True)
    figure = Figure(figsize=(10, 0.27 * len(order) + 1.2), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, width_ratios=[1.2, 1])
    left.imshow(share, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for i, row in enumerate(table):
        for j, count in enumerate(row):
            if count:
                colour = "white" if share[i, j] > 0.6 else "black"
                left.text(j, i, str(count), ha="center", va="center", fontsize=8, color=colour)
    names = [f"{IMAGE_TYPES[place(m)[0]]} of articles" if "|" in m else m for m in order]
    left.set_yticks(range(len(order)), names, fontsize=8)
    left.set_xticks(kinds, IMAGE_TYPES, fontsize=8)
    left.xaxis.tick_top()
    left.set_title("modality of pictures of held-out sources, and the type found", fontsize=9)
    for chosen, name in ((whole, "whole pictures"), (~whole, "as figures show them")):
        top, hit = scores.max(axis=1)[chosen], (guess == rows.types)[chosen]
        edges = np.clip((top * 10).astype(int), 0, 9)
        bins = [b for b in range(10) if (edges == b).sum() >= 10]
        x, y = [top[edges == b].mean() for b in bins], [hit[edges == b].mean() for b in bins]
        right.plot(x, y, marker="o", markersize=4, label=f"{name} ({chosen.sum():,})")
    right.plot([0.25, 1], [0.25, 1], color="#999999", linewidth=0.8)
    right.set_xlabel("score of the type", fontsize=8)
    right.set_ylabel("share that is right", fontsize=8)
    right.legend(fontsize=8, frameon=False)
    right.spines[["top", "right"]].set_visible(False)
    buffer = BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()


if __name__ == "__main__":
    main()
