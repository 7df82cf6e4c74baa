"""Train the embedded dual encoder and see what it learned: retrieval on held-out articles, types of held-out sources.

    python benchmarks/train_encoder.py --release DATA --images IMAGES --articles ARTICLES --annotations ANNOTATIONS
        --out WORK [--half 1] [--seeds 0 1 2]

Trained on the release's training split, and on pairs that are made here: pictures of half of the sources (a source is
a data set or repository) and drawn stand-ins, as figures show them (parts, thumbnails, print, marks), with captions
that say the modality in many wordings (`data/modality_wordings.toml`), as authors do. Measured beside the same encoder
untrained (random projections):

* retrieval of panels and subcaptions on the release's test articles, both ways, and what chance gives;
* zero-shot image type and modality, and a linear probe of the image type, on pictures of the other half of the sources
  and, as type Other, of articles that were not trained on.

Intervals are bootstraps over test articles, and over test sources; with several seeds, which learn from the same made
panels, also Student's over seeds. With `--alike` all seeds start from the same weights, and the mean of their weights
is measured, too, as it is of several runs that `--trained` names. `--half 1` exchanges the halves. Settings are chosen
with `--inner 0` and `--inner 1`, which divide the learned half again, measure on its other part and on validation
articles, and do not look at what is held out. `--set encoder.trained_image_blocks=0` is the frozen encoder.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import tarfile
import time
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import PIL.Image
import torch
from ablation_world import add_pairs

import pmo_assets
from pmo_assets.encoders.ablation import interval
from pmo_assets.encoders.embedding import embed_examples, embed_pictures_and_texts
from pmo_assets.encoders.evaluation.classification import Predicted, linear_probe, zero_shot_by_prompts
from pmo_assets.encoders.evaluation.embedding_files import read_embedding_table
from pmo_assets.encoders.evaluation.embeddings import Embeddings
from pmo_assets.encoders.evaluation.evaluate import evaluate_classification, evaluate_retrieval
from pmo_assets.encoders.evaluation.labels import label_set
from pmo_assets.encoders.evaluation.pairs import paired, read_pairs
from pmo_assets.encoders.examples.reading import read_examples, read_training_examples
from pmo_assets.encoders.networks.averaging import average_encoders
from pmo_assets.encoders.networks.building import build_encoder, load_encoder
from pmo_assets.encoders.networks.dual_encoder import DualEncoder
from pmo_assets.encoders.training.recipes import read_recipe, recipe_text
from pmo_assets.encoders.training.run import RunOptions, train_encoder
from pmo_assets.loading.typed_rows import Split
from pmo_assets.pictures import png_bytes
from pmo_assets.records.image_types import IMAGE_TYPES, ImageType
from pmo_assets.records.modalities import MODALITIES, TYPE_OF_MODALITY, Modality
from pmo_assets.samples.drawing import Pixels
from pmo_assets.system.aside import folder_aside
from pmo_assets.training.data.typed_pictures import (
    TypedPicture,
    annotated_pictures,
    other_pictures,
    pictures_by_modality,
    stand_ins,
)
from pmo_assets.training.loop.train_image_type import TypeExamples
from pmo_assets.training.synthetic.picture_folders import no_larger

WORDINGS: dict[str, Any] = tomllib.loads((Path(__file__).parent / "data" / "modality_wordings.toml").read_text("utf-8"))

LARGEST = 300
"""Side in pixels of the made panels: the encoder sees fewer."""

REPLICATES = 1000


def other_camera(chance: np.random.Generator, pixels: Pixels) -> Pixels:
    """Return a picture as another camera would take it: white balance, saturation, fall-off of light, focus.

    Data sets of photographs are of one camera and one population each, and half of the sources have few of them: fundi
    are pale pink to dark brown, and cameras give them from nearly grey to glaring orange.

    Args:
        chance: decides everything.
        pixels: (height, width, 3) uint8 RGB.
    """
    seen = pixels.astype(np.float32) / 255
    if float(np.ptp(pixels.mean(axis=(0, 1)))) > 4:  # a grey picture stays grey
        grey = seen.mean(axis=2, keepdims=True)
        seen = grey + (seen - grey) * float(np.exp(chance.uniform(np.log(0.25), np.log(2.0))))
        seen = seen * np.exp(chance.normal(0, 0.3, 3)).astype(np.float32)
    seen = np.clip(seen, 0, 1) ** float(np.exp(chance.normal(0, 0.25))) * float(np.exp(chance.normal(0, 0.2)))
    if chance.random() < 0.4:
        y, x = (np.linspace(-1, 1, side, dtype=np.float32) for side in pixels.shape[:2])
        centre = chance.uniform(-0.4, 0.4, 2)
        far = (y[:, None] - centre[0]) ** 2 + (x[None, :] - centre[1]) ** 2
        seen = seen * np.exp(-float(chance.uniform(0.1, 0.8)) * far)[..., None]
    made = np.clip(seen * 255, 0, 255).astype(np.uint8)
    if chance.random() < 0.3:
        made = np.asarray(cv2.GaussianBlur(made, (0, 0), float(chance.uniform(0.4, 2.0))), dtype=np.uint8)
    return made


def caption_of(chance: np.random.Generator, group: Sequence[Modality]) -> str:
    """Return a caption that names a modality: of several, any."""
    modality = group[int(chance.integers(len(group)))]
    opening, words, ending = (
        str(options[int(chance.integers(len(options)))])
        for options in (WORDINGS["openings"], WORDINGS["wordings"][modality], WORDINGS["endings"])
    )
    return f"{opening}{words}{ending}."


def write_pairs(pictures: Sequence[TypedPicture], count: int, folder: Path, seed: int) -> None:
    """Write panels with captions as tar shards of pairs, one to four in an article; pictures of an eighth validate.

    Args:
        pictures: of one modality each, or of type Other where no more is known.
        count: panels to train on; an eighth as many validate.
        folder: empty.
        seed: of everything.
    """
    chance = np.random.default_rng(seed)
    article = 8_000_000_000
    parts = {
        "train": ([item for k, item in enumerate(pictures) if k % 8 != 7], count),
        "validation": (list(pictures[7::8]), count // 8),
    }
    for split, (part, most) in parts.items():
        examples = TypeExamples(seed, 0, most, part)
        with tarfile.open(folder / f"{split}-000000.tar", "w") as tar:
            place = 0
            while place < most:
                article += 1
                end = min(most, place + int(chance.integers(1, 5)))
                _add_article(tar, chance, [examples.shown(number) for number in range(place, end)], article, split)
                place = end


def _add_article(
    tar: tarfile.TarFile,
    chance: np.random.Generator,
    panels: Sequence[tuple[Pixels, tuple[Modality, ...]]],
    article: int,
    split: str,
) -> None:
    figure = f"{article}_fig1"
    shared = {
        "article_id": article, "image_cluster_id": "fig1", "figure_id": figure, "video_id": None, "split": split,
        "license": "none",
        "figure_panels": len(panels), "picture_row": 0, "region_id": None, "box": [0.0, 0.0, 1.0, 1.0],
        "figure_box": [0.0, 0.0, 1.0, 1.0], "generated": False,
    }  # fmt: skip
    texts = [[caption_of(chance, group) for _ in range(6)] for _, group in panels]
    panels = [(other_camera(chance, pixels) if chance.random() < 0.8 else pixels, group) for pixels, group in panels]
    side = PIL.Image.new("RGB", (260 * len(panels), 260), "white")
    for k, (pixels, _) in enumerate(panels):
        side.paste(PIL.Image.fromarray(pixels).resize((250, 250)), (260 * k + 5, 5))
    whole = " ".join(f"({'ABCDEF'[k]}) {own[0]}" for k, own in enumerate(texts))
    caption = {
        **shared, "pair_id": f"{figure}-c", "level": "figure", "text_kind": "caption", "text": whole,
        "panel_id": None, "confidence": None, "picture_config": "figures",
    }  # fmt: skip
    add_pairs(tar, [caption], figure, png_bytes(np.asarray(side)))
    for k, (pixels, group) in enumerate(panels):
        panel = f"p_{figure}_{k}"
        own_pairs = [
            {
                **shared, "pair_id": f"{panel}-{n}", "level": "panel", "text_kind": "subcaption", "text": text,
                "panel_id": panel, "confidence": 1.0, "picture_config": "panels",
                # two angiograms of which nothing else is said are no wrong answers to each other
                "duplicate_group": f"made: {group[0] if len(group) == 1 else TYPE_OF_MODALITY[group[0]]}",
            }
            for n, text in enumerate(dict.fromkeys(texts[k]))
        ]  # fmt: skip
        add_pairs(tar, own_pairs, panel, png_bytes(np.ascontiguousarray(no_larger(pixels, LARGEST))))


def half_of(sources: Sequence[str], modality_of: Mapping[str, set[ImageType]], half: int) -> set[str]:
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


def without_retinas(articles: Path, annotations: Path) -> list[TypedPicture]:
    """Return the bitmaps of articles in PubMed Central, but for those in which people marked a retinal picture."""
    marked = annotated_pictures(annotations, articles)
    retinal = {item.source for item in marked if TYPE_OF_MODALITY[item.modalities[0]] != "Other"}
    return [item for item in other_pictures(articles) if article_number(item.source) and item.source not in retinal]


def article_number(name: str) -> int:
    """Return the PMC number that an article's folder names; 0 for none."""
    found = re.fullmatch(r"PMC(\d+)", name)
    return int(found[1]) if found else 0


def retrieval(encoder: DualEncoder, release: Path, split: Split, out: Path) -> dict[str, Any]:
    """Return recall@10 of panels and subcaptions of a split's articles, both ways, its interval and its chance."""
    examples = read_examples([release], split, ["panel"])
    embed_examples(encoder, examples, out)
    pairs = read_pairs(release, "panel", split=split, text_kinds=["subcaption"])
    task = paired(read_embedding_table(out, "image", "panel"), read_embedding_table(out, "text", "panel"), pairs)
    clusters = (task.image_articles, task.text_articles)
    found = evaluate_retrieval(
        task.images.embeddings, task.texts.embeddings, task.right, clusters=clusters, replicates=REPLICATES
    )
    chance = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rows = [Embeddings(rng.normal(size=(len(side.ids), 32))) for side in (task.images, task.texts)]
        chance.append([item.recall_at_10 for item in evaluate_retrieval(rows[0], rows[1], task.right)])
    numbers: dict[str, Any] = {"panels": len(task.images.ids), "articles": len(np.unique(task.image_articles))}
    for name, side, by_chance in zip(
        ("image_to_text", "text_to_image"), found, np.mean(chance, axis=0).tolist(), strict=True
    ):
        low_and_high = (side.intervals or {})["recall@10"]
        numbers |= {
            f"{name} recall@10": (side.recall_at_10, *low_and_high), f"{name} chance@10": by_chance,
            f"{name} mrr": side.mrr,
        }  # fmt: skip
    return numbers


def classified(encoder: DualEncoder, learn: Sequence[TypedPicture], test: Sequence[TypedPicture]) -> dict[str, Any]:
    """Return macro F1 of zero-shot image type and modality, and of a linear probe of the image type, with intervals."""
    numbers: dict[str, Any] = {}

    def types(pictures: Sequence[TypedPicture]) -> Any:
        return np.array([IMAGE_TYPES.index(TYPE_OF_MODALITY[picture.modalities[0]]) for picture in pictures])

    sources = np.unique([picture.source for picture in test], return_inverse=True)[1]
    learned, seen = (
        Embeddings(embed_pictures_and_texts(encoder, [PIL.Image.fromarray(item.pixels) for item in side], [])[0])
        for side in (learn, test)
    )
    one_modality = np.flatnonzero([len(picture.modalities) == 1 for picture in test])
    everything = np.arange(len(test))
    told = [("image_type", everything, types(test))]
    told.append(
        ("modality", one_modality, np.array([MODALITIES.index(test[k].modalities[0]) for k in one_modality.tolist()]))
    )
    for name, kept, truth in told:
        labels = label_set(name)
        sentences = [text for _, text in labels.prompts()]
        prompts = Embeddings(embed_pictures_and_texts(encoder, [], sentences)[1])
        found = zero_shot_by_prompts(Embeddings(seen.values[kept]), prompts, labels)
        numbers |= _numbers("zero-shot", name, truth, found, labels.names, sources[kept])
    groups = np.unique([picture.source for picture in learn], return_inverse=True)[1]
    probe = linear_probe(learned, types(learn), groups, seen, len(IMAGE_TYPES))
    return numbers | _numbers("linear probe", "image_type", types(test), probe, IMAGE_TYPES, sources)


def _numbers(
    method: str, task: str, truth: Any, found: Predicted, classes: Sequence[str], sources: Any
) -> dict[str, Any]:
    told = evaluate_classification(method, truth, found, classes, clusters=sources, replicates=REPLICATES)
    name = f"{method} {task}"
    wrong = Counter((classes[true], classes[said]) for true, said in zip(truth, found.labels, strict=True))
    return {
        f"{name} macro F1": (told.macro_f1, *(told.intervals or {})["macro_f1"]),
        f"{name} balanced accuracy": told.balanced_accuracy,
        f"{name} chosen": found.chosen,
        f"{name} right, mean over sources": _mean_over_sources(truth == found.labels, sources),
        f"{name} told as": {f"{true} as {said}": count for (true, said), count in wrong.most_common()},
    }


def _mean_over_sources(right: Any, sources: Any) -> float:
    return float(np.mean([right[sources == source].mean() for source in np.unique(sources)]))


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 3)
    return [_rounded(item) for item in value] if isinstance(value, tuple) else value


@dataclass(frozen=True)
class Material:
    """What is learned from and told.

    Attributes:
        learn, made, others: pictures of learned sources, drawn stand-ins, and bitmaps of type Other, to learn from.
        test: pictures of the other sources, and of articles that were not trained on.
        split: of the articles that are told.
        sources: that are learned.
    """

    learn: list[TypedPicture]
    made: list[TypedPicture]
    others: list[TypedPicture]
    test: list[TypedPicture]
    split: Split
    sources: list[str]

    @property
    def probe(self) -> list[TypedPicture]:
        """What the linear probe learns from."""
        return [*self.learn, *(item for item in self.made if len(item.modalities) == 1), *self.others]


def material(given: argparse.Namespace) -> Material:
    """Return the pictures of a half, or of a part of it."""
    pictures = list(pictures_by_modality(given.images))
    type_of: dict[str, set[ImageType]] = {}
    for picture in pictures:
        type_of.setdefault(picture.source, set()).add(TYPE_OF_MODALITY[picture.modalities[0]])
    learned_sources = half_of(sorted(type_of), type_of, given.half)
    tested_sources = set(type_of) - learned_sources
    told_by: Split = "test"
    held_out = ["test"]
    if given.inner is not None:
        tested_sources = learned_sources
        learned_sources = half_of(sorted(learned_sources), type_of, given.inner)
        tested_sources = tested_sources - learned_sources
        told_by, held_out = "validation", ["test", "validation"]
    learn = [picture for picture in pictures if picture.source in learned_sources]
    test = [picture for picture in pictures if picture.source in tested_sources]
    photographs = [item.pixels for item in learn if item.modalities == ("fundus photograph",)]
    made = stand_ins(np.random.default_rng(7), photographs, given.stand_ins)
    split_of = {article.article_id: article.split for article in pmo_assets.load(given.release).articles}
    others = without_retinas(given.articles, given.annotations)
    learn_others = [item for item in others if split_of.get(article_number(item.source), "test") not in held_out][:150]
    test += [item for item in others if split_of.get(article_number(item.source), "test") == told_by][:120]
    return Material(learn, made, learn_others, test, told_by, sorted(learned_sources))


def trained(given: argparse.Namespace, run: Path, seed: int) -> dict[str, Any]:
    """Train in a folder, or go on; return seconds."""
    changes = {place: json.loads(value) for place, _, value in (item.partition("=") for item in given.set)}
    alike = {"run.weights_seed": given.seeds[0]} if given.alike else {}
    recipe = read_recipe(given.recipe, {**changes, "run.seed": seed, **alike})
    started, processor_started = time.monotonic(), time.process_time()
    pairs = given.pairs or given.out / "pairs"
    learned, choose = read_training_examples([given.release, pairs], recipe.read_levels)
    for record in train_encoder(
        run, learned, choose, recipe, recipe_text(given.recipe), RunOptions(cache=given.features)
    ):
        told = {k: v for k, v in record.items() if k in ("step", "loss", "score", "panel mrr", "scale")}
        print(json.dumps(told), flush=True)
    return {
        "seconds of training": round(time.monotonic() - started),
        "processor seconds of training": round(time.process_time() - processor_started),
    }


def over_seeds(found: Sequence[Mapping[str, Any]]) -> dict[str, list[float]]:
    """Return mean and 95 % interval over seeds of every number that all runs have."""
    told = {}
    for name, value in found[0].items():
        if isinstance(value, float | tuple):
            values = [item[name][0] if isinstance(item[name], tuple) else item[name] for item in found]
            told[name] = [round(number, 3) for number in interval(values)]
    return told


def main() -> None:
    """Train and measure; prints JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", type=Path, required=True)
    parser.add_argument("--images", type=Path, required=True)
    parser.add_argument("--articles", type=Path, required=True)
    parser.add_argument("--annotations", type=Path, required=True, help="Of articles: what shows a retina.")
    parser.add_argument("--out", type=Path, required=True, help="Folder; an interrupted call goes on.")
    parser.add_argument("--recipe", default="embedded")
    parser.add_argument("--half", type=int, choices=(0, 1), default=0)
    parser.add_argument("--inner", type=int, choices=(0, 1), help="Divide the learned half; look at nothing else.")
    parser.add_argument("--panels", type=int, default=2400, help="Panels that are made to train on.")
    parser.add_argument("--stand-ins", type=int, default=24, help="Of each modality that is drawn.")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="Of weights and order: a run each.")
    parser.add_argument("--pairs", type=Path, help="Folder of pairs that a call of this half made; else OUT/pairs.")
    parser.add_argument("--features", type=Path, help="Folder of features that several calls share.")
    parser.add_argument("--trained-only", action="store_true", help="Leave out the untrained encoder.")
    parser.add_argument(
        "--trained", type=Path, nargs="+", help="Runs of the same half: they are measured, and nothing is trained."
    )
    parser.add_argument("--alike", action="store_true", help="All seeds start from the weights of the first.")
    parser.add_argument("--set", action="append", default=[], help="PLACE=VALUE of the recipe, JSON.")
    given = parser.parse_args()
    torch.set_num_threads(max(1, torch.get_num_threads() // 2))
    told = material(given)
    given.out.mkdir(parents=True, exist_ok=True)
    if given.trained is None and given.pairs is None and not (given.out / "pairs").exists():
        with folder_aside(given.out / "pairs") as aside:
            write_pairs([*told.learn, *told.made, *told.others], given.panels, aside, 0)
    result: dict[str, Any] = {
        "half": given.half, "inner": given.inner, "sources learned": told.sources,
        "sources tested": len({picture.source for picture in told.test}), "test pictures": len(told.test),
    }  # fmt: skip

    def measured(encoder: DualEncoder, name: str) -> dict[str, Any]:
        numbers = retrieval(encoder, given.release, told.split, given.out / f"{name}.parquet")
        return numbers | classified(encoder, told.probe, told.test)

    if not given.trained_only:
        torch.manual_seed(given.seeds[0])
        untrained = measured(build_encoder(read_recipe(given.recipe).encoder), "untrained")
        result["untrained"] = {key: _rounded(value) for key, value in untrained.items()}
    found = []
    runs = given.trained or [given.out / f"run-{seed}" for seed in given.seeds]
    for number, run in enumerate(runs):
        name = f"run {run}" if given.trained else f"seed {given.seeds[number]}"
        seconds = {} if given.trained else trained(given, run, given.seeds[number])
        found.append(measured(load_encoder(run), f"trained-{number}"))
        result[name] = seconds | {key: _rounded(value) for key, value in found[-1].items()}
        print(json.dumps(result[name]), flush=True)
    if len(runs) > 1 and (given.trained or given.alike):
        mean = measured(average_encoders([load_encoder(run) for run in runs]), "average")
        result["mean of the weights"] = {key: _rounded(value) for key, value in mean.items()}
        print(json.dumps(result["mean of the weights"]), flush=True)
    result["over seeds"] = over_seeds(found)
    print(json.dumps(result, indent=1))
    (given.out / "result.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
