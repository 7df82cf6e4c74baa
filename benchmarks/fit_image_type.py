"""Fit the image type model on licensed pictures and print how well it does on sources it has not seen.

    python benchmarks/fit_image_type.py [--shared ../shared] [--write]

Pictures: the single-modality sets in `images/` and the annotated images of the corpus. Grey copies of fundus
photographs stand in for red-free, autofluorescence and infrared pictures, and colour-mapped OCT for pseudo-colour
printouts (training only). Folds never split an article or a patient.

Without `--write` the weights in the package are left as they are.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pymupdf
from numpy.typing import NDArray
from scipy.optimize import minimize

from pmo_assets.pipeline.detection.image_type import FEATURES, expanded, picture_features, word_odds
from pmo_assets.records.image_types import IMAGE_TYPES

SETS = {
    "chase_db1_mini": "CFP",
    "idrid_mini": "CFP",
    "rop_ridge_mini": "CFP",
    "octdl_sample": "OCT",
    "octa_faz_zenodo5075194": "Retinal Imaging",
}

WEIGHTS = Path(__file__).parents[1] / "pmo_assets" / "weights" / "image_type.json"


def pictures(shared: Path) -> Iterator[tuple[NDArray[np.uint8], str, str, str]]:
    """Yield (pixels, type, group that must not be split, words) of every picture."""
    for folder, image_type in SETS.items():
        for path in sorted((shared / "images" / folder).glob("*.*")):
            data = cv2.imread(str(path)) if path.suffix != ".txt" else None
            if data is not None:
                patient = re.sub(r"^(flipped|rotated)-[^_]*_|[LR]$|_\d+$", "", path.stem)
                yield np.asarray(data[:, :, ::-1], dtype=np.uint8), image_type, f"{folder}/{patient}", ""
    for path in sorted((shared / "annotations").glob("*.json")):
        with pymupdf.open(shared / "corpus" / path.stem / "article.pdf") as document:
            for figure in json.loads(path.read_text())["figures"]:
                place = figure["figure_locations"][0]
                pixmap = document[place["page"]].get_pixmap(dpi=150, clip=pymupdf.Rect(place["bbox"]), alpha=False)
                page = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3)
                for panel in figure["panels"]:
                    for image in panel["images"]:
                        left, top, right, bottom = (
                            int(v * (pixmap.width, pixmap.height)[k % 2]) for k, v in enumerate(image["box"])
                        )
                        crop = page[max(0, top) : bottom, max(0, left) : right]
                        if min(crop.shape[:2], default=0) >= 12:
                            yield crop.copy(), image["type"], path.stem, panel["subcaption"]


def variants(crop: NDArray[np.uint8], image_type: str) -> Iterator[tuple[NDArray[np.uint8], str]]:
    """Yield training variants of a picture: cut, darker, and the stand-ins named in the module's text."""
    yield crop, image_type
    if image_type == "Other":
        return
    h, w = crop.shape[:2]
    yield np.ascontiguousarray(crop[h // 8 : h - h // 8, w // 8 : w - w // 8]), image_type
    yield np.asarray(crop * 0.75, dtype=np.uint8), image_type
    yield np.ascontiguousarray(crop[:, ::-1]), image_type
    grey = np.asarray(cv2.cvtColor(np.ascontiguousarray(crop), cv2.COLOR_RGB2GRAY))
    if image_type == "CFP":
        green = np.asarray(cv2.createCLAHE(2.0, (8, 8)).apply(np.ascontiguousarray(crop[:, :, 1])))
        for plane in (green, grey, np.where(grey > 12, 255 - grey, grey).astype(np.uint8)):
            yield np.repeat(plane[:, :, None], 3, axis=2), "Retinal Imaging"
            centre = plane[h // 5 : h - h // 5, w // 5 : w - w // 5]
            yield np.repeat(np.ascontiguousarray(centre)[:, :, None], 3, axis=2), "Retinal Imaging"
    if image_type == "OCT":
        # Pseudo-colour OCT: dark blue vitreous, green layers, red and white pigment epithelium.
        coloured = np.asarray(cv2.applyColorMap(grey, cv2.COLORMAP_JET))[:, :, ::-1]
        yield np.asarray(coloured * np.clip(grey[:, :, None] / 80, 0, 1), dtype=np.uint8), "OCT"
        yield np.repeat(255 - grey[:, :, None], 3, axis=2), "OCT"


def fit(features: NDArray[np.float64], labels: NDArray[np.int64], balance: NDArray[np.float64], penalty: float) -> Any:
    """Return (coefficients, bias) of a multinomial logistic regression with an L2 penalty."""
    n, k = features.shape[1], len(IMAGE_TYPES)
    truth = np.eye(k)[labels]

    def loss(vector: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        matrix = vector.reshape(k, n + 1)
        logits = features @ matrix[:, :n].T + matrix[:, n]
        logits -= logits.max(axis=1, keepdims=True)
        p = np.exp(logits)
        p /= p.sum(axis=1, keepdims=True)
        value = (
            -(balance * np.log(p[np.arange(len(labels)), labels] + 1e-12)).sum() + penalty * (matrix[:, :n] ** 2).sum()
        )
        step = (p - truth) * balance[:, None]
        gradient = np.concatenate([step.T @ features + 2 * penalty * matrix[:, :n], step.sum(axis=0)[:, None]], axis=1)
        return float(value), gradient.ravel()

    result = minimize(loss, np.zeros(k * (n + 1)), jac=True, method="L-BFGS-B", options={"maxiter": 400})
    matrix = result.x.reshape(k, n + 1)
    return matrix[:, :n], matrix[:, n]


def main() -> None:
    """Fit, validate, optionally write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--penalty", type=float, default=0.005)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    rows, labels, groups, originals, texts = [], [], [], [], []
    for crop, image_type, group, words in pictures(args.shared):
        for number, (variant, kind) in enumerate(variants(crop, image_type)):
            rows.append(picture_features(variant))
            labels.append(IMAGE_TYPES.index(kind))  # type: ignore[arg-type]
            groups.append(group)
            originals.append(number == 0)
            texts.append(words)
    x, y, real = np.stack(rows), np.asarray(labels), np.asarray(originals)
    # Data sets are single sources too: the fold of a group goes by its data set, except that the only source of a
    # type is split by patient.
    names = sorted(set(groups))
    kept_whole = {g: (g.split("/")[0] if g.startswith(("chase", "idrid", "rop")) else g) for g in names}
    units = sorted(set(kept_whole.values()))
    fold_of = {g: units.index(kept_whole[g]) % args.folds for g in names}
    folds = np.asarray([fold_of[g] for g in groups])
    # Every source of a type counts alike, every type counts alike.
    source = [f"{g.split('/')[0]}:{label}" for g, label in zip(groups, labels, strict=True)]
    per_source, sources_of = Counter(source), {k: {s for s in source if s.endswith(f":{k}")} for k in range(4)}
    balance = np.asarray([1 / per_source[s] / len(sources_of[k]) for s, k in zip(source, labels, strict=True)])

    def trained(chosen: NDArray[np.bool_]) -> tuple[Any, ...]:
        mean, scale = x[chosen].mean(axis=0), x[chosen].std(axis=0) + 1e-3
        return (mean, scale, *fit(expanded((x[chosen] - mean) / scale), y[chosen], balance[chosen], args.penalty))

    scores = np.zeros((len(y), 4))
    for fold in range(args.folds):
        mean, scale, coefficients, bias = trained(folds != fold)
        test = folds == fold
        logits = expanded((x[test] - mean) / scale) @ coefficients.T + bias
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        scores[test] = powers / powers.sum(axis=1, keepdims=True)
    with_words = (scores + 0.02) * np.stack([word_odds(text)[0] for text in texts])
    print(f"{real.sum()} pictures, {len(names)} groups, {args.folds} folds; held-out results on unmodified pictures")
    for title, values in (("pixels", scores), ("pixels and words", with_words)):
        guess = values.argmax(axis=1)
        print(
            f"{title}: accuracy {(guess == y)[real].mean():.4f}; rows truth, columns guess ({', '.join(IMAGE_TYPES)})"
        )
        for k, name in enumerate(IMAGE_TYPES):
            counts = [int((real & (y == k) & (guess == j)).sum()) for j in range(4)]
            print(f"  {name:16s} {counts}  recall {counts[k] / max(1, sum(counts)):.3f}")
    wrong = Counter((groups[i].split("/")[0], IMAGE_TYPES[y[i]], IMAGE_TYPES[int(scores[i].argmax())])
                    for i in np.flatnonzero(real & (scores.argmax(axis=1) != y)))  # fmt: skip
    print("wrong by pixels:", dict(wrong.most_common(12)))
    if args.write:
        mean, scale, coefficients, bias = trained(np.ones(len(y), dtype=bool))
        fitted = {"mean": mean, "scale": scale, "coefficients": coefficients, "bias": bias}
        data = {"features": FEATURES, "types": IMAGE_TYPES} | fitted
        plain = {k: np.round(v, 4).tolist() if isinstance(v, np.ndarray) else list(v) for k, v in data.items()}
        WEIGHTS.write_text(json.dumps(plain, separators=(",", ":")) + "\n", "utf-8")
        print(f"wrote {WEIGHTS.name}, {WEIGHTS.stat().st_size} bytes")


if __name__ == "__main__":
    main()
