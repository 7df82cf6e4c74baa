"""What a trained encoder's embeddings of real panels are like: robustness, distances between sets, a map.

    python benchmarks/encoder_protocol.py RUN --release DATA --images IMAGES --out OUT [--learned SOURCE …]

* Retrieval of the test articles' subcaptions by their pictures as they are and perturbed (`PERTURBATIONS`): recall@10
  and mean reciprocal rank by those of the clean pictures, and Wilcoxon's signed-rank test of articles' means.
* Squared MMD with 10,000 permutations: between panels of training and test articles; between two halves of the training
  articles; for each modality that learned and other sources of IMAGES have, between them.
* A map of all panels of the release and of the pictures of IMAGES, with the type's colour and a mark for each modality
  (`OUT/map.png`).

`--learned` are the sources that RUN learned from (`train_encoder.py` prints them).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import torch
from numpy.typing import NDArray

from pmo_assets.encoders.embedding import embed_pictures_and_texts
from pmo_assets.encoders.evaluation.distances import discrepancy
from pmo_assets.encoders.evaluation.embedding_files import EmbeddingTable
from pmo_assets.encoders.evaluation.embeddings import Embeddings
from pmo_assets.encoders.evaluation.evaluate import evaluate_retrieval, evaluate_robustness
from pmo_assets.encoders.evaluation.maps import UNKNOWN, array_points, class_colour, in_two_dimensions
from pmo_assets.encoders.evaluation.pairs import Pair, paired
from pmo_assets.encoders.evaluation.perturbations import PERTURBATIONS
from pmo_assets.encoders.examples.reading import read_examples
from pmo_assets.encoders.examples.units import Unit, shown
from pmo_assets.encoders.networks.building import load_encoder
from pmo_assets.encoders.networks.dual_encoder import DualEncoder
from pmo_assets.loading.typed_rows import Split
from pmo_assets.training.data.typed_pictures import TypedPicture, pictures_by_modality
from pmo_assets.viewing.maps import map_picture

PARTS = ("robustness", "distances", "map")

FEWEST = 3
"""Pictures of a modality on each side of a distance."""


def panels_of(release: Path, split: Split) -> list[Unit]:
    """Return the panels of a split that have a subcaption."""
    return [unit for unit in read_examples([release], split, ["panel"]).units["panel"] if unit.texts.get("subcaption")]


def robustness(encoder: DualEncoder, units: Sequence[Unit]) -> dict[str, Any]:
    """Return what each perturbation leaves of retrieval, picture → text and text → picture."""
    words = [unit.texts["subcaption"][0][1] for unit in units]
    names = tuple(unit.name for unit in units)
    pairs = [Pair(unit.name, unit.name, text, unit.source, unit.looks) for unit, text in zip(units, words, strict=True)]
    pictures = [shown(unit) for unit in units]
    clean, texts = embed_pictures_and_texts(encoder, pictures, words)

    def table(rows: NDArray[np.float32], name: str) -> EmbeddingTable:
        return EmbeddingTable(names, Embeddings(rows, name))

    task = paired(table(clean, "clean"), table(texts, "texts"), pairs)
    changed = {}
    for name, perturb in PERTURBATIONS.items():
        altered = [PIL.Image.fromarray(perturb(np.asarray(picture.convert("RGB")))) for picture in pictures]
        rows, _ = embed_pictures_and_texts(encoder, altered, [])
        changed[name] = paired(table(rows, name), table(texts, "texts"), pairs).images.embeddings
    before = evaluate_retrieval(task.images.embeddings, task.texts.embeddings, task.right)
    told: dict[str, Any] = {
        "clean": {"recall@10": [side.recall_at_10 for side in before], "mrr": [side.mrr for side in before]}
    }
    clusters = (task.image_articles, task.text_articles)
    for item in evaluate_robustness(task.images.embeddings, changed, task.texts.embeddings, task.right, clusters):
        sides = (item.image_to_text, item.text_to_image)
        told[item.perturbation] = {
            "recall@10": [side["recall@10"] for side in sides], "mrr": [side["mrr"] for side in sides],
            "p": [item.image_to_text_p, item.text_to_image_p],
        }  # fmt: skip
    return told


def distance(one: NDArray[np.float32], other: NDArray[np.float32]) -> dict[str, Any]:
    """Return the squared MMD of two sets, what chance gives, and p."""
    found = discrepancy(Embeddings(one, "one"), Embeddings(other, "other"))
    return {
        "rows": found.rows, "squared MMD": found.squared_mmd, "99 %": tuple(found.interval),
        "95 % of permutations": tuple(found.null), "p": found.p_value,
    }  # fmt: skip


def distances(
    panels: Mapping[Split, tuple[list[Unit], NDArray[np.float32]]],
    pictures: Sequence[TypedPicture],
    rows: NDArray[np.float32],
    learned: set[str],
) -> dict[str, Any]:
    """Return the distances that the module's docstring names."""
    told = {"training and test articles": distance(panels["train"][1], panels["test"][1])}
    units, own = panels["train"]
    sources = sorted({unit.source for unit in units})
    first = set(np.random.default_rng(0).permutation(sources)[: len(sources) // 2].tolist())
    inside = np.array([unit.source in first for unit in units])
    told["two halves of the training articles"] = distance(own[inside], own[~inside])
    for modality in sorted({item.modalities[0] for item in pictures}):
        of = np.array([item.modalities[0] == modality for item in pictures])
        seen = np.array([item.source in learned for item in pictures])
        if min((of & seen).sum(), (of & ~seen).sum()) >= FEWEST:
            told[f"{modality}: learned and other sources"] = distance(rows[of & seen], rows[of & ~seen])
    return told


def rounded(value: Any) -> Any:
    """Return the same with three digits."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    return float(f"{value:.3g}") if isinstance(value, float) else value


def main() -> None:
    """Measure; prints JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--release", type=Path, required=True)
    parser.add_argument("--images", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", choices=PARTS, action="append", help="May be repeated; all by default.")
    parser.add_argument("--learned", nargs="*", default=[])
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    encoder = load_encoder(given.run)
    parts = given.only or PARTS
    splits: tuple[Split, ...] = ("train", "validation", "test")
    units = {split: panels_of(given.release, split) for split in splits}
    result: dict[str, Any] = {}
    if "robustness" in parts:
        result["robustness"] = robustness(encoder, units["test"])
    if {"distances", "map"} & set(parts):
        panels = {
            split: (own, embed_pictures_and_texts(encoder, [shown(unit) for unit in own], [])[0])
            for split, own in units.items()
        }
        pictures = list(pictures_by_modality(given.images))
        rows, _ = embed_pictures_and_texts(encoder, [PIL.Image.fromarray(item.pixels) for item in pictures], [])
    if "distances" in parts:
        result["distances"] = distances(panels, pictures, rows, set(given.learned))
    if "map" in parts:
        everything = np.concatenate([*(found for _, found in panels.values()), rows])
        places = in_two_dimensions(Embeddings(everything, "panels and pictures"))
        labels = [f"article: {split}" for split, own in units.items() for _ in own]
        labels += [item.modalities[0] for item in pictures]
        drawn = map_picture(
            array_points(places, labels),
            lambda label: class_colour(UNKNOWN if label.startswith("article") else label),
            title="Panels of articles, pictures of sources",
        )
        (given.out / "map.png").write_bytes(drawn)
    print(json.dumps(rounded(result), indent=1))
    (given.out / "result.json").write_text(json.dumps(rounded(result), indent=1) + "\n")


if __name__ == "__main__":
    main()
