"""How fast the embedded encoder loads, learns and embeds, and what kept features take of memory.

    OMP_NUM_THREADS=1 python benchmarks/encoder_throughput.py RUN_FOLDER [--features 1000000]

On drawn pictures with captions (`ablation_world.py`); seconds are processor time of one thread, so that other work on
the machine counts less:

* a training step of the recipe `embedded` with kept maps, and of that what making its batch takes;
* embedding pictures at 160 and 224 pixels, resizing included; with `--threads` also by the clock, in so many threads,
  with what of the machine's processors was busy meanwhile and of that this process (`/proc/stat`);
* with `--release`, its test articles' panels at 224 pixels from their files (WebP) on, and of that decoding;
* the most anonymous memory while a tenth of, and all generated pairs are read, divided, sampled and named;
* anonymous memory of a process that has written and looks up as many features of 384 numbers as there are pairs.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tarfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import torch
from ablation_world import add_pairs, shown, write_world

from pmo_assets.encoders.embedding import embed_pictures_and_texts, picture_rows
from pmo_assets.encoders.examples.example_sets import split_by_source
from pmo_assets.encoders.examples.reading import read_examples
from pmo_assets.encoders.examples.units import decoded
from pmo_assets.encoders.examples.units import shown as shown_unit
from pmo_assets.encoders.networks.building import build_encoder, load_encoder
from pmo_assets.encoders.networks.choice import EncoderChoice
from pmo_assets.encoders.networks.dual_encoder import DualEncoder
from pmo_assets.encoders.networks.saving import save_encoder
from pmo_assets.encoders.training.features import KEY_BYTES, FeatureCache
from pmo_assets.encoders.training.inputs import InputMaker, layout_of
from pmo_assets.encoders.training.losses import LossWeights, training_loss
from pmo_assets.encoders.training.recipes import read_recipe
from pmo_assets.encoders.training.sampling import Sampler
from pmo_assets.pictures import png_bytes
from pmo_assets.system.aside import folder_aside


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


def encoder_and_pictures(folder: Path, size: int, count: int) -> tuple[DualEncoder, Path, list[PIL.Image.Image]]:
    """Return the encoder for a size, its folder, and drawn pictures of 500 × 400 pixels."""
    choice = EncoderChoice(image_size=size, dimensions=256, image_projection="mlp")
    place = folder / f"encoder-{size}"
    if not (place / "model").exists():
        save_encoder(build_encoder(choice), place / "model", "for a measurement")
    chance = np.random.default_rng(0)
    pictures = [PIL.Image.fromarray(shown(chance).pixels).resize((500, 400)) for _ in range(count)]
    return load_encoder(place), place, pictures


def busy_seconds() -> float:
    """Return processor seconds that all programs of the machine have used."""
    user, nice, system, _, _, irq, soft, *_ = (
        int(n) for n in Path("/proc/stat").read_text().split("\n")[0].split()[1:]
    )
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")


def by_the_clock(folder: Path, size: int, count: int, threads: int, rounds: int = 5) -> dict[str, float]:
    """Return panels a second by the clock, in so many threads: the best round, and how busy the machine was in it."""
    torch.set_num_threads(threads)
    encoder, _, pictures = encoder_and_pictures(folder, size, count)
    embed_pictures_and_texts(encoder, pictures[:8], [])
    found = []
    for _ in range(rounds):
        clock, own, all_programs = time.monotonic(), time.process_time(), busy_seconds()
        embed_pictures_and_texts(encoder, pictures, [])
        seconds = time.monotonic() - clock
        found.append(
            (count / seconds, (time.process_time() - own) / seconds, (busy_seconds() - all_programs) / seconds)
        )
    torch.set_num_threads(1)
    rate, own, busy = max(found)
    name = f"at {size}, {threads} threads, by the clock"
    return {
        f"panels a second {name}": rate, f"median round {name}": float(np.median([item[0] for item in found])),
        f"processors of this process {name}": own, f"processors of all programs {name}": busy,
    }  # fmt: skip


def embedding(folder: Path, size: int, count: int, rounds: int = 3) -> dict[str, float]:
    """Return panels a second of processor time at a size, by PyTorch and by ONNX Runtime in turn: the best round."""
    encoder, place, pictures = encoder_and_pictures(folder, size, count)
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, at in (("PyTorch", None), ("ONNX Runtime", place / "model")):
            encoder.folder = at
            embed_pictures_and_texts(encoder, pictures[:2], [])
            start = time.process_time()
            embed_pictures_and_texts(encoder, pictures, [])
            key = f"panels a second at {size}, {name}"
            best[key] = max(best.get(key, 0.0), count / (time.process_time() - start))
    return best


def of_release(folder: Path, release: Path, count: int, rounds: int = 3) -> dict[str, float]:
    """Return milliseconds of processor time a panel of a release's test articles: decoded; decoded and embedded."""
    encoder, place, pictures = encoder_and_pictures(folder, 224, 2)
    encoder.folder = place / "model"
    embed_pictures_and_texts(encoder, pictures, [])
    units = read_examples([release], "test", ["panel"]).units["panel"][:count]
    pixels = [float(np.prod(decoded(unit.picture.read()).size)) for unit in units]
    decoding, whole = [], []
    for _ in range(rounds):
        start = time.process_time()
        for unit in units:
            decoded(unit.picture.read())
        middle = time.process_time()
        list(picture_rows(encoder, map(shown_unit, units)))
        decoding.append((middle - start) / len(units) * 1e3)
        whole.append((time.process_time() - middle) / len(units) * 1e3)
    return {
        "panels of the release": len(units), "median pixels": float(np.median(pixels)),
        "ms to decode a panel": min(decoding), "ms to decode and embed a panel at 224": min(whole),
    }  # fmt: skip


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


def write_pairs(place: Path, count: int) -> None:
    """Write generated pairs as tar shards: panels with a text of 100 letters, twenty to an article."""
    place.mkdir(parents=True, exist_ok=True)
    picture = png_bytes(np.zeros((2, 2, 3), np.uint8))
    shared = {
        "image_cluster_id": "fig1", "video_id": None, "split": "train", "license": "none", "figure_panels": 1,
        "picture_row": 0, "region_id": None, "box": [0.0, 0.0, 1.0, 1.0], "figure_box": [0.0, 0.0, 1.0, 1.0],
        "generated": False, "level": "panel", "text_kind": "subcaption", "confidence": 1.0, "picture_config": "panels",
    }  # fmt: skip
    for shard in range(-(-count // 50_000)):
        with tarfile.open(place / f"train-{shard:06d}.tar", "w") as tar:
            for number in range(shard * 50_000, min(count, (shard + 1) * 50_000)):
                figure, text = f"{number}_fig1", f"{number} " + "scan of the retina " * 5
                own = {"article_id": number // 20, "figure_id": figure, "panel_id": f"p{figure}", "pair_id": figure}
                add_pairs(tar, [{**shared, **own, "text": text}], f"p{figure}", picture)
                tar.members = []  # type: ignore[attr-defined]  # else every header stays in memory


def peak_of_units(place: Path, batches: int) -> dict[str, float]:
    """Return the most anonymous memory, beyond what the imports take, while pairs are read, divided and sampled.

    Meant for a process of its own. What is mapped from files is not counted: it is given back where memory is short.
    """
    peak, stop = [anonymous_mb()], threading.Event()
    before = peak[0]

    def watch() -> None:
        while not stop.wait(0.02):
            peak[0] = max(peak[0], anonymous_mb())

    watcher = threading.Thread(target=watch)
    watcher.start()
    started = time.process_time()
    learn, choose = split_by_source(read_examples([place], "train"))
    read = time.process_time() - started
    recipe = read_recipe("embedded", {"schedule.cycle": ["panel"], "optimiser.batch_size": 64})
    sampler = Sampler(learn, recipe)
    middle = time.process_time()
    for number in range(batches):
        sampler.batch(number)
    seconds = (time.process_time() - middle) / batches / 64
    learn.digest()
    stop.set()
    watcher.join()
    return {
        "pairs": len(learn) + len(choose), "peak MB": peak[0] - before, "MB that stay": anonymous_mb() - before,
        "seconds to read": read, "ms to draw an example": seconds * 1e3,
    }  # fmt: skip


def memory_of_units(folder: Path, count: int) -> dict[str, float]:
    """Return what generated pairs take of a process that reads, divides, samples and names them."""
    place = folder / f"pairs-{count}"
    if not place.exists():
        with folder_aside(place) as aside:
            write_pairs(aside, count)
    made = subprocess.run(
        [sys.executable, __file__, str(place), "--peak-of-units"], check=True, capture_output=True, text=True
    )
    return {f"{name}, of {count:,} pairs": value for name, value in json.loads(made.stdout).items()}


def main() -> None:
    """Measure; prints JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="For the world and features.")
    parser.add_argument("--steps", type=int, default=8, help="0: training is not measured.")
    parser.add_argument("--pictures", type=int, default=96)
    parser.add_argument("--features", type=int, default=1_000_000, help="0: memory is not measured.")
    parser.add_argument("--units", type=int, default=1_000_000, help="Pairs; 0: their memory is not measured.")
    parser.add_argument("--threads", type=int, default=0, help="Embed by the clock, too, in so many threads.")
    parser.add_argument("--release", type=Path, help="Whose test articles' panels are embedded, too.")
    parser.add_argument("--peak-of-units", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    torch.set_num_threads(1)
    if given.peak_of_units:
        print(json.dumps(peak_of_units(given.folder, 100)))
        return
    numbers: dict[str, Any] = {}
    if given.features:
        numbers |= memory(given.folder, given.features // 10) | memory(given.folder, given.features)
    if given.units:
        numbers |= memory_of_units(given.folder, given.units // 10) | memory_of_units(given.folder, given.units)
    if given.steps:
        numbers |= training(given.folder, given.steps)
    for size in (160, 224):
        numbers |= embedding(given.folder, size, given.pictures)
        if given.threads:
            numbers |= by_the_clock(given.folder, size, given.pictures, given.threads)
    if given.release is not None:
        numbers |= of_release(given.folder, given.release, given.pictures)
    print(json.dumps({name: round(value, 2) for name, value in numbers.items()}, indent=1))


if __name__ == "__main__":
    main()
