"""Train the embedded dual encoder and see what it learned: retrieval on held-out articles, types of held-out sources.

    python benchmarks/train_encoder.py --release DATA --images IMAGES --articles ARTICLES --out WORK [--half 1]

Trained on the release's training split, and on pairs that are made here of pictures of half of the sources (a source
is a data set or repository) with captions that say the modality in many wordings, as authors do; and on drawn
stand-ins for modalities that no source shows. Measured against the same encoder untrained (random projections), and
the frozen picture features alone:

* retrieval of panels and subcaptions on the release's test articles, both ways, and what chance gives;
* zero-shot image type and modality, and a linear probe of the image type, on pictures of the other half of the sources
  and, as type Other, of articles that were not trained on.

`--half 1` exchanges the halves. The wordings are not those of the label sets' prompts; both are the field's words.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import re
import tarfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import torch

import pmo_assets
from pmo_assets.encoders.embedding import embed_examples, embed_pictures_and_texts
from pmo_assets.encoders.evaluation.classification import (
    class_embeddings,
    classification_numbers,
    linear_probe,
    zero_shot,
)
from pmo_assets.encoders.evaluation.embedding_files import read_embedding_table
from pmo_assets.encoders.evaluation.embeddings import Embeddings
from pmo_assets.encoders.evaluation.evaluate import evaluate_retrieval
from pmo_assets.encoders.evaluation.labels import label_set
from pmo_assets.encoders.evaluation.pairs import paired, read_pairs
from pmo_assets.encoders.examples.reading import read_examples, read_training_examples
from pmo_assets.encoders.networks.building import build_encoder, load_encoder
from pmo_assets.encoders.networks.dual_encoder import DualEncoder
from pmo_assets.encoders.training.recipes import read_recipe, recipe_text
from pmo_assets.encoders.training.run import RunOptions, train_encoder
from pmo_assets.pictures import png_bytes
from pmo_assets.records.image_types import IMAGE_TYPES, ImageType
from pmo_assets.records.modalities import MODALITIES, TYPE_OF_MODALITY, Modality
from pmo_assets.records.pairs import PairLevel
from pmo_assets.release.hub.webdataset import pair_members
from pmo_assets.training.data.typed_pictures import TypedPicture, other_pictures, pictures_by_modality, stand_ins
from pmo_assets.training.synthetic.picture_folders import no_larger

WORDINGS: dict[Modality, tuple[str, ...]] = {
    "fundus photograph": ("Colour fundus photography", "CFP", "Fundus photo", "Color photograph of the posterior pole"),
    "ultra-widefield": ("UWF image (Optos)", "Ultra-wide-field pseudocolour imaging", "Widefield Optomap picture"),
    "montage": (
        "Montage of fundus photographs",
        "Mosaic of the retina made of several fields",
        "Composite fundus image",
    ),
    "fluorescein angiography": (
        "FA",
        "Fundus fluorescein angiography (FFA)",
        "Late-phase fluorescein angiogram",
        "Early frame of FA",
    ),
    "indocyanine green angiography": (
        "ICGA",
        "Indocyanine green angiography",
        "ICG angiogram showing choroidal vessels",
    ),
    "autofluorescence": ("FAF", "Fundus autofluorescence", "Short-wavelength autofluorescence imaging"),
    "red-free": ("Red-free image", "Red-free photo before dye injection", "Green-channel fundus photograph"),
    "infrared": ("Near-infrared reflectance", "IR", "Infrared scanning laser ophthalmoscopy (SLO)"),
    "OCT angiography": (
        "OCTA",
        "OCT angiography, superficial plexus",
        "En face angio-OCT of the capillaries",
        "Optical coherence tomography angiography",
    ),
    "en-face OCT": ("En face OCT slab", "C-scan OCT", "En-face structural OCT"),
    "thickness map": ("Retinal thickness map", "ETDRS map of macular thickness", "Colour-coded thickness"),
    "adaptive optics": ("AO-SLO image of cones", "Adaptive optics imaging of photoreceptors", "AO image, cone mosaic"),
    "OCT": (
        "SD-OCT",
        "Spectral-domain OCT",
        "B-scan through the fovea",
        "Optical coherence tomography",
        "Swept-source OCT section",
    ),
    "external eye": ("Photograph of the eyelids", "External photo of the eye"),
    "slit lamp": ("Slit-lamp photo", "Anterior segment photograph", "Biomicroscopy of the cornea"),
    "ultrasound": ("B-scan ultrasonography", "Ocular ultrasound", "Echography of the globe"),
    "radiograph": ("X-ray", "Plain radiograph", "Chest radiography"),
    "CT or MR": ("CT", "Axial computed tomography", "MRI, T2-weighted", "Magnetic resonance imaging of the orbits"),
    "histology": ("H&E stain", "Histopathology of the specimen", "Haematoxylin-eosin section"),
    "microscopy": ("Immunofluorescence", "Confocal micrograph", "Fluorescence microscopy of cells"),
    "endoscopy": ("Endoscopic view", "Endoscopy"),
    "skin": ("Clinical photo of the skin lesion", "Skin rash"),
    "topography": ("Corneal topography", "Pentacam map", "Axial curvature map"),
    "mask": ("Segmentation", "Ground truth mask", "Binary vessel segmentation"),
    "plot": ("Graph of the results", "Bar plot", "Kaplan-Meier curve", "ROC curves", "Scatter plot of measurements"),
    "diagram": ("Flow chart of the study", "Schematic of the method", "Diagram"),
    "text": ("Table of patients", "Questionnaire", "Screenshot of text"),
    "photograph": ("Photo of the device", "Photograph of the set-up"),
}
"""What authors call a picture of each modality in a caption."""

ENDINGS = (
    "",
    " of the right eye",
    " of the left eye",
    " at baseline",
    " at follow-up",
    " in patient 3",
    " from a 62-year-old man",
    " of a representative case",
    " of the same patient",
    " showing the findings described in the text",
    " (arrow)",
)
OPENINGS = ("", "", "", "Representative ", "Example: ", "Case 2. ", "Imaging: ")


def caption_of(chance: np.random.Generator, modality: Modality) -> str:
    """Return a caption that names a modality."""
    opening, words, ending = (
        str(options[int(chance.integers(len(options)))]) for options in (OPENINGS, WORDINGS[modality], ENDINGS)
    )
    return f"{opening}{words}{ending}."


def write_pairs(pictures: Sequence[TypedPicture], folder: Path, seed: int) -> None:
    """Write pictures with captions as tar shards of pairs: each in one article, an eighth of them validate."""
    folder.mkdir(parents=True)
    chance = np.random.default_rng(seed)
    order = chance.permutation(len(pictures))
    article, place = 0, 0
    with (
        tarfile.open(folder / "train-000000.tar", "w") as train,
        tarfile.open(folder / "validation-000000.tar", "w") as other,
    ):
        while place < len(order):
            article += 1
            tar, split = (other, "validation") if article % 8 == 0 else (train, "train")
            shown = [pictures[k] for k in order[place : place + int(chance.integers(1, 5))]]
            place += len(shown)
            texts = [[caption_of(chance, picture.modalities[0]) for _ in range(4)] for picture in shown]
            figure = f"{8_000_000_000 + article}_fig1"
            shared = {
                "article_id": 8_000_000_000 + article, "image_cluster_id": "fig1", "figure_id": figure, "split": split,
                "license": "none", "figure_panels": len(shown), "picture_row": 0, "region_id": None,
                "box": [0.0, 0.0, 1.0, 1.0], "figure_box": [0.0, 0.0, 1.0, 1.0], "generated": False,
            }  # fmt: skip
            whole = " ".join(f"({'ABCDEF'[k]}) {own[0]}" for k, own in enumerate(texts))
            side = PIL.Image.new("RGB", (260 * len(shown), 260), "white")
            for k, picture in enumerate(shown):
                side.paste(PIL.Image.fromarray(picture.pixels).resize((250, 250)), (260 * k + 5, 5))
            caption = {
                **shared, "pair_id": f"{figure}-c", "level": "figure", "text_kind": "caption", "text": whole,
                "panel_id": None, "confidence": None, "picture_config": "figures",
            }  # fmt: skip
            _add(tar, [caption], figure, png_bytes(np.asarray(side)))
            for k, picture in enumerate(shown):
                panel = f"p_{figure}_{k}"
                own = [
                    {
                        **shared, "pair_id": f"{panel}-{n}", "level": "panel", "text_kind": "subcaption", "text": text,
                        "panel_id": panel, "confidence": 1.0, "picture_config": "panels",
                    }
                    for n, text in enumerate(dict.fromkeys(texts[k]))
                ]  # fmt: skip
                _add(tar, own, panel, png_bytes(np.ascontiguousarray(no_larger(picture.pixels, 400))))


def _add(tar: tarfile.TarFile, pairs: Sequence[dict[str, Any]], key: str, picture: bytes) -> None:
    for name, content in pair_members(pairs, (key, picture)):
        member = tarfile.TarInfo(name)
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))


def half_of(sources: Sequence[str], modality_of: dict[str, set[ImageType]], half: int) -> set[str]:
    """Return half of the sources: of each image type every second one, by the digest of their names.

    A source that shows several types counts as of that which fewest sources show.
    """
    showing = {kind: [name for name in sources if kind in modality_of[name]] for kind in IMAGE_TYPES}
    rarest = {name: min(modality_of[name], key=lambda kind: len(showing[kind])) for name in sources}
    chosen: set[str] = set()
    for image_type in IMAGE_TYPES:
        own = [name for name in sources if rarest[name] == image_type]
        chosen |= set(sorted(own, key=lambda name: hashlib.sha256(name.encode()).hexdigest())[half::2])
    return chosen


def article_number(name: str) -> int:
    """Return the PMC number that an article's folder names; 0 for none."""
    found = re.fullmatch(r"PMC(\d+)", name)
    return int(found[1]) if found else 0


def retrieval(encoder: DualEncoder, release: Path, out: Path) -> dict[str, float]:
    """Return recall@10 of panels and subcaptions of the test articles, both ways, and its chance."""
    examples = read_examples([release], "test", ["panel"])
    embed_examples(encoder, examples, out)
    pairs = read_pairs(release, "panel", split="test", text_kinds=["subcaption"])
    task = paired(read_embedding_table(out, "image", "panel"), read_embedding_table(out, "text", "panel"), pairs)
    found = evaluate_retrieval(task.images.embeddings, task.texts.embeddings, task.right)
    chance = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rows = [Embeddings(rng.normal(size=(len(side.ids), 32))) for side in (task.images, task.texts)]
        chance.append([item.recall_at_10 for item in evaluate_retrieval(rows[0], rows[1], task.right)])
    return {
        "panels": float(len(task.images.ids)),
        "image_to_text recall@10": found[0].recall_at_10, "text_to_image recall@10": found[1].recall_at_10,
        "image_to_text mrr": found[0].mrr, "text_to_image mrr": found[1].mrr,
        "image_to_text chance@10": float(np.mean(chance, axis=0)[0]),
        "text_to_image chance@10": float(np.mean(chance, axis=0)[1]),
    }  # fmt: skip


def classified(
    encoder: DualEncoder, learn: Sequence[TypedPicture], test: Sequence[TypedPicture]
) -> dict[str, float | None]:
    """Return macro F1 of zero-shot image type and modality, and of a linear probe of the image type."""
    numbers: dict[str, float | None] = {}

    def types(pictures: Sequence[TypedPicture]) -> Any:
        return np.array([IMAGE_TYPES.index(TYPE_OF_MODALITY[picture.modalities[0]]) for picture in pictures])

    sides = [[PIL.Image.fromarray(picture.pixels) for picture in side] for side in (learn, test)]
    learned, seen = (Embeddings(embed_pictures_and_texts(encoder, side, [])[0]) for side in sides)
    for name, classes in (("image_type", tuple(IMAGE_TYPES)), ("modality", tuple(MODALITIES))):
        labels = label_set(name)
        sentences = labels.prompts()
        rows = Embeddings(embed_pictures_and_texts(encoder, [], [text for _, text in sentences])[1])
        known = class_embeddings(rows, [owner for owner, _ in sentences], classes)
        kept = [k for k, picture in enumerate(test) if name == "image_type" or len(picture.modalities) == 1]
        truth = (
            types(test) if name == "image_type" else np.array([MODALITIES.index(test[k].modalities[0]) for k in kept])
        )
        found = zero_shot(Embeddings(seen.values[kept]), known)
        numbers[f"zero-shot {name} macro F1"] = classification_numbers(truth, found)["macro_f1"]
    groups = np.unique([picture.source for picture in learn], return_inverse=True)[1]
    probe = linear_probe(learned, types(learn), groups, seen, len(IMAGE_TYPES))
    numbers["linear probe image_type macro F1"] = classification_numbers(types(test), probe)["macro_f1"]
    return numbers


def main() -> None:
    """Train and measure; prints JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", type=Path, required=True)
    parser.add_argument("--images", type=Path, required=True)
    parser.add_argument("--articles", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="A new folder.")
    parser.add_argument("--recipe", default="embedded")
    parser.add_argument("--half", type=int, choices=(0, 1), default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--features", type=Path, help="Folder of features that several calls share.")
    parser.add_argument("--trained-only", action="store_true", help="Leave out the untrained encoder.")
    parser.add_argument("--set", action="append", default=[], help="PLACE=VALUE of the recipe, JSON.")
    given = parser.parse_args()
    torch.set_num_threads(max(1, torch.get_num_threads() // 2))
    pictures = list(pictures_by_modality(given.images))
    type_of: dict[str, set[ImageType]] = {}
    for picture in pictures:
        type_of.setdefault(picture.source, set()).add(TYPE_OF_MODALITY[picture.modalities[0]])
    learned_sources = half_of(sorted(type_of), type_of, given.half)
    learn = [picture for picture in pictures if picture.source in learned_sources]
    test = [picture for picture in pictures if picture.source not in learned_sources]
    photographs = [item.pixels for item in learn if item.modalities == ("fundus photograph",)]
    made = [item for item in stand_ins(np.random.default_rng(7), photographs, 12) if len(item.modalities) == 1]
    write_pairs([*learn, *made], given.out / "pairs", given.seed)
    trained_articles = {
        article.article_id for article in pmo_assets.load(given.release).articles if article.split != "test"
    }
    others = [item for item in other_pictures(given.articles) if article_number(item.source)]
    learn_others = [item for item in others if article_number(item.source) in trained_articles][:150]
    test += [item for item in others if article_number(item.source) not in trained_articles][:120]
    changes = {place: json.loads(value) for place, _, value in (item.partition("=") for item in given.set)}
    recipe = read_recipe(given.recipe, {"run.seed": given.seed, **changes})
    places = [given.release, given.out / "pairs"]
    sides = read_training_examples(places, recipe.read_levels)
    started = time.monotonic()
    options = RunOptions(cache=given.features)
    for record in train_encoder(given.out / "run", sides[0], sides[1], recipe, recipe_text(given.recipe), options):
        print(json.dumps({k: v for k, v in record.items() if k in ("step", "loss", "score", "panel mrr", "scale")}))
    seconds = time.monotonic() - started
    torch.manual_seed(recipe.run.seed)
    encoders = {} if given.trained_only else {"untrained": build_encoder(recipe.encoder)}
    encoders["trained"] = load_encoder(given.out / "run")
    level: PairLevel = "panel"
    result: dict[str, Any] = {
        "half": given.half, "seconds of training": round(seconds), "sources learned": sorted(learned_sources),
        "units": {part: len(side.units[level]) for part, side in zip(("train", "validation"), sides, strict=True)},
        "test pictures": len(test),
    }  # fmt: skip
    for name, encoder in encoders.items():
        numbers = retrieval(encoder, given.release, given.out / f"{name}.parquet")
        numbers |= classified(encoder, [*learn, *made, *learn_others], test)  # type: ignore[arg-type]
        result[name] = {key: None if value is None else round(value, 3) for key, value in numbers.items()}
    print(json.dumps(result, indent=1))
    (given.out / "result.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
