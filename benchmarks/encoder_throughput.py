"""How fast the embedded encoder loads, learns and embeds, and what kept features take of memory.

    OMP_NUM_THREADS=1 python benchmarks/encoder_throughput.py RUN_FOLDER [--features 1000000]

On drawn pictures with captions (`ablation_world.py`); seconds are processor time of one thread, so that other work on
the machine counts less:

* a training step of the recipe `embedded` with kept maps, and of that what making its batch takes;
* embedding pictures at 160 and 224 pixels, decoding and resizing included;
* anonymous memory that units of generated pairs take, with their texts;
* anonymous memory of a process that has written and looks up as many features of 384 numbers as there are pairs.
"""

from __future__ import annotations

import argparse
import json
import re
import tarfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import torch
from ablation_world import add_pairs, shown, write_world

from pmo_assets.encoders.embedding import embed_pictures_and_texts
from pmo_assets.encoders.examples.reading import read_examples
from pmo_assets.encoders.networks.building import build_encoder
from pmo_assets.encoders.networks.choice import EncoderChoice
from pmo_assets.encoders.training.features import KEY_BYTES, FeatureCache
from pmo_assets.encoders.training.inputs import InputMaker, layout_of
from pmo_assets.encoders.training.losses import LossWeights, training_loss
from pmo_assets.encoders.training.recipes import read_recipe
from pmo_assets.encoders.training.sampling import Sampler
from pmo_assets.pictures import png_bytes


def training(folder: Path, steps: int) -> dict[str, float]:
    """Return processor seconds of a step and of making its batch, after a first pass that fills the features."""
    if not (folder / "world").exists():
        write_world(folder / "world", articles={"train": 60, "validation": 2, "test": 2})
    recipe = read_recipe("embedded", {"schedule.cycle": ["panel"], "optimiser.batch_size": 64, "data.views": 1})
    encoder = build_encoder(recipe.encoder)
    encoder.train_blocks(recipe.encoder.trained_image_blocks, 0)
    sampler = Sampler(read_examples([folder / "world"], "train", recipe.read_levels), recipe)
    maker = InputMaker(encoder, folder / "features")
    batches = max(1, len(sampler.units["panel"]) // 64)
    for number in range(batches + 1):
        maker.inputs(sampler.batch(number))
    maker.flush()
    maker = InputMaker(encoder, folder / "features")  # as a run that goes on: nothing is computed, files are mapped
    for number in range(batches):
        maker.inputs(sampler.batch(number))
    weights = LossWeights()
    encoder.set_training(True)
    loading, learning = [], []
    for number in range(steps):
        start = time.process_time()
        entries = sampler.batch(number % batches)
        made = maker.inputs(entries)
        layout = layout_of(entries)
        middle = time.process_time()
        images, texts, rois = maker.embed(made)
        training_loss(images, texts, rois, layout, encoder.scale, weights)[0].backward()
        loading.append(middle - start)
        learning.append(time.process_time() - middle)
    load, learn = float(np.median(loading)), float(np.median(learning))
    return {"load ms an example": load / 64 * 1e3, "learn ms an example": learn / 64 * 1e3, "ratio": learn / load}


def embedding(size: int, count: int) -> dict[str, float]:
    """Return panels a second of processor time at a size."""
    choice = EncoderChoice(image_size=size, dimensions=256, image_projection="mlp")
    encoder = build_encoder(choice)
    chance = np.random.default_rng(0)
    pictures = [PIL.Image.fromarray(shown(chance).pixels).resize((500, 400)) for _ in range(count)]
    embed_pictures_and_texts(encoder, pictures[:2], [])
    start = time.process_time()
    embed_pictures_and_texts(encoder, pictures, [])
    return {f"panels a second at {size}": count / (time.process_time() - start)}


def anonymous_mb() -> float:
    """Return the anonymous memory of this process."""
    found = re.search(r"RssAnon:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def memory(folder: Path, count: int) -> dict[str, float]:
    """Return what the keys of some generated features take, and looking up 100,000 of them."""
    cache = FeatureCache(folder / "generated", f"d{count}")
    feature = np.zeros(384, dtype=np.float32)
    for number in range(count):
        cache.put(number.to_bytes(KEY_BYTES, "little"), feature)
    cache.flush()
    del cache
    before = anonymous_mb()
    cache = FeatureCache(folder / "generated", f"d{count}")
    keys = anonymous_mb() - before
    for number in np.random.default_rng(0).integers(count, size=100_000).tolist():
        cache.get(number.to_bytes(KEY_BYTES, "little"))
    return {f"MB of keys of {count:,}": keys, f"MB after looking up in {count:,}": anonymous_mb() - before}


def memory_of_units(folder: Path, count: int) -> dict[str, float]:
    """Return what the units of generated pairs take, each a panel with a text of 100 letters, in tar shards."""
    place = folder / f"units-{count}"
    place.mkdir(parents=True, exist_ok=True)
    picture = png_bytes(np.zeros((2, 2, 3), np.uint8))
    shared = {
        "image_cluster_id": "fig1", "video_id": None, "split": "train", "license": "none", "figure_panels": 1,
        "picture_row": 0, "region_id": None, "box": [0.0, 0.0, 1.0, 1.0], "figure_box": [0.0, 0.0, 1.0, 1.0],
        "generated": False, "level": "panel", "text_kind": "subcaption", "confidence": 1.0, "picture_config": "panels",
    }  # fmt: skip
    with tarfile.open(place / "train-000000.tar", "w") as tar:
        for number in range(count):
            figure, text = f"{number}_fig1", f"{number} " + "scan of the retina " * 5
            own = {"article_id": number, "figure_id": figure, "panel_id": f"p{figure}", "pair_id": figure, "text": text}
            add_pairs(tar, [{**shared, **own}], f"p{figure}", picture)
    before = anonymous_mb()
    examples = read_examples([place], "train")
    return {f"MB of {len(examples):,} units with their texts": anonymous_mb() - before}


def main() -> None:
    """Measure; prints JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="For the world and features.")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--pictures", type=int, default=96)
    parser.add_argument("--features", type=int, default=1_000_000, help="0: memory is not measured.")
    parser.add_argument("--units", type=int, default=100_000, help="0: memory of units is not measured.")
    given = parser.parse_args()
    torch.set_num_threads(1)
    numbers: dict[str, Any] = {}
    if given.features:
        numbers |= memory(given.folder, given.features // 10) | memory(given.folder, given.features)
    if given.units:
        numbers |= memory_of_units(given.folder, given.units)
    numbers |= training(given.folder, given.steps) | embedding(160, given.pictures) | embedding(224, given.pictures)
    print(json.dumps({name: round(value, 2) for name, value in numbers.items()}, indent=1))


if __name__ == "__main__":
    main()
