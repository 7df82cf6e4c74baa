"""Training of the compact detector on COCO data: seeded, resumable, with early stopping and curves.

The learning rate warms up, stays, and falls to nothing over the last quarter of the steps, so that a run can be made
longer later: the plateau does not depend on where it ends. What is evaluated and exported is the moving average of the
weights.
"""

from __future__ import annotations

import copy
import csv
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from pmo_assets.pipeline.detection.input_size import bucket_of, network_input
from pmo_assets.pipeline.detection.network_boxes import CLASSES, NetworkBoxes, network_boxes
from pmo_assets.pipeline.training.average_precision import average_precision, mean_average_precision
from pmo_assets.pipeline.training.coco import CATEGORIES, read_coco, shards
from pmo_assets.pipeline.training.detector import (
    GROUPS,
    CompactConfig,
    CompactDetector,
    detection_loss,
    scores_and_boxes,
)


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """How to train.

    Attributes:
        steps: optimiser steps in all; a finished run goes on when it is larger than before.
        batch_size: figures per step.
        learning_rate: of AdamW, on the plateau.
        weight_decay: of AdamW; not for biases and normalisation.
        warm_up: steps until the plateau.
        fall: part of the steps, at the end, over which the rate falls to zero.
        average: decay of the moving average of the weights.
        evaluate_every: steps between evaluations on the validation part.
        validation_figures: how many figures are evaluated.
        patience: evaluations without a better mAP after which training stops.
        save_seconds: time between checkpoints.
        workers: processes that read and scale figures.
        threads: CPU threads of the network; 0 leaves PyTorch's choice.
        seed: of weights, order and augmentation.
        device: "cpu" or "cuda"; on CUDA mixed precision is used.
    """

    steps: int = 12000
    batch_size: int = 8
    learning_rate: float = 1.5e-3
    weight_decay: float = 0.02
    warm_up: int = 300
    fall: float = 0.25
    average: float = 0.999
    evaluate_every: int = 500
    validation_figures: int = 300
    patience: int = 12
    save_seconds: float = 120.0
    workers: int = 1
    threads: int = 0
    seed: int = 7
    device: str = "cpu"


Row = tuple[Path, tuple[int, int], np.ndarray, np.ndarray]
"""Picture file, (width, height), boxes (k, 4) in its pixels, category indices (k,)."""


def coco_rows(folders: Sequence[Path]) -> list[Row]:
    """Return every figure of several data sets."""
    rows: list[Row] = []
    for folder in folders:
        for path, size, marked in read_coco(folder):
            boxes = np.asarray([a["bbox"] for a in marked], dtype=np.float32).reshape(-1, 4)
            boxes[:, 2:] += boxes[:, :2]
            rows.append((path, size, boxes, np.asarray([a["category"] for a in marked], dtype=np.int64)))
    return rows


class FigureBatches(Dataset[tuple[Tensor, list[tuple[Tensor, Tensor]]]]):
    """Batches of figures of one input size: uint8 pixels (n, 3, h, w), and boxes in input pixels with categories."""

    def __init__(self, rows: Sequence[Row], batches: Sequence[Sequence[int]], seed: int, *, augment: bool) -> None:
        """Keep the rows and which of them make up each batch."""
        self.rows, self.batches, self.seed, self.augment = rows, batches, seed, augment

    def __len__(self) -> int:
        return len(self.batches)

    def __getitem__(self, number: int) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        cv2.setNumThreads(1)
        members = self.batches[number]
        bucket = bucket_of(*self.rows[members[0]][1])
        pictures, targets = [], []
        for index in members:
            path, (wide, tall), boxes, categories = self.rows[index]
            read = cv2.imread(str(path))
            if read is None:
                raise FileNotFoundError(path)
            pixels, boxes = np.asarray(read[:, :, ::-1], dtype=np.uint8), boxes.copy()
            if self.augment:
                pixels, boxes = augmented(np.random.default_rng((self.seed, number, index)), pixels, boxes)
                tall, wide = pixels.shape[:2]
            scale = np.asarray([bucket[1] / wide, bucket[0] / tall] * 2, dtype=np.float32)
            pictures.append(torch.from_numpy(network_input(pixels, bucket)).permute(2, 0, 1))
            targets.append((torch.from_numpy(boxes * scale), torch.from_numpy(categories)))
        return torch.stack(pictures), targets


def augmented(rng: np.random.Generator, pixels: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a figure with a margin, mirrored, inverted, darker or in grey, at random; boxes move along."""
    if rng.random() < 0.25:
        above, below, left, right = (int(v) for v in rng.integers(0, 1 + round(0.06 * max(pixels.shape[:2])), 4))
        ground = [int(v) for v in np.median(pixels[:2].reshape(-1, 3), axis=0)]
        pixels = cv2.copyMakeBorder(
            np.ascontiguousarray(pixels), above, below, left, right, cv2.BORDER_CONSTANT, value=ground
        )
        boxes = boxes + np.asarray([left, above, left, above], dtype=np.float32)
    if rng.random() < 0.15:
        pixels, wide = pixels[:, ::-1], pixels.shape[1]
        boxes = np.stack([wide - boxes[:, 2], boxes[:, 1], wide - boxes[:, 0], boxes[:, 3]], axis=1)
    if rng.random() < 0.3:
        levels = np.clip(255 * (np.arange(256) / 255) ** np.exp(rng.normal(0, 0.25)), 0, 255).astype(np.uint8)
        pixels = np.asarray(cv2.LUT(np.ascontiguousarray(pixels), levels))
    return np.ascontiguousarray(pixels), boxes


def batches_of(rows: Sequence[Row], size: int, seed: int | None) -> list[list[int]]:
    """Return batches of rows of one input size; shuffled by a seed, or in order when it is None."""
    by_bucket: dict[tuple[int, int], list[int]] = {}
    order = np.arange(len(rows)) if seed is None else np.random.default_rng(seed).permutation(len(rows))
    for index in order.tolist():
        by_bucket.setdefault(bucket_of(*rows[index][1]), []).append(index)
    batches = [group[k : k + size] for group in by_bucket.values() for k in range(0, len(group), size)]
    if seed is None:
        return batches
    return [batches[k] for k in np.random.default_rng(seed + 1).permutation(len(batches)).tolist()]


def first_item(items: list[Any]) -> Any:
    """Return the only item of a list: batches are made in the data set."""
    return items[0]


def loader(dataset: FigureBatches, workers: int, start: int = 0) -> DataLoader[Any]:
    """Return a loader that gives the batches in order from `start`."""
    # Spawned, not forked: OpenCV's threads do not survive a fork and the worker would hang.
    return DataLoader(
        dataset, batch_size=1, sampler=range(start, len(dataset)), num_workers=workers, collate_fn=first_item,
        prefetch_factor=4 if workers else None, multiprocessing_context="spawn" if workers else None,
    )  # fmt: skip


def detected(model: nn.Module, pictures: Tensor, device: str) -> list[NetworkBoxes]:
    """Return the boxes of a batch of uint8 pictures (n, 3, h, w)."""
    with torch.no_grad():
        output = model(pictures.to(device).float() / 255)
    arrays = [t.cpu().numpy() for t in scores_and_boxes(output)]
    return network_boxes(arrays, (pictures.shape[2], pictures.shape[3]))


def evaluated(model: nn.Module, rows: Sequence[Row], options: TrainingOptions) -> dict[str, float]:
    """Return AP@.5 per category, their mean, the mean AP@.75, and class-agnostic image AP@.5."""
    model.eval()
    data = FigureBatches(rows, batches_of(rows, options.batch_size, None), 0, augment=False)
    found: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {c: [] for c in (*CATEGORIES, "image")}
    truth: dict[str, list[np.ndarray]] = {c: [] for c in found}
    for pictures, targets in loader(data, options.workers):
        scale = np.asarray([pictures.shape[3], pictures.shape[2]] * 2, dtype=np.float64)
        for result, (boxes, categories) in zip(detected(model, pictures, options.device), targets, strict=True):
            true, kinds = boxes.numpy().astype(np.float64) / scale, categories.numpy()
            for group in GROUPS:
                for k, name in enumerate(CLASSES[group]):
                    own = result.class_scores[group].argmax(axis=1) == k if len(result.scores[group]) else []
                    found[name].append((result.boxes[group][own].astype(np.float64), result.scores[group][own]))
                    truth[name].append(true[kinds == CATEGORIES.index(name)])
            found["image"].append((result.boxes["image"].astype(np.float64), result.scores["image"]))
            truth["image"].append(true[kinds >= 2])
    values = {name: average_precision(found[name], truth[name]) for name in found}
    strict = {name: average_precision(found[name], truth[name], 0.75) for name in CATEGORIES}
    summary = {
        "mAP": mean_average_precision({c: values[c] for c in CATEGORIES}),
        "mAP75": mean_average_precision(strict),
    }
    return summary | {name: round(value, 4) for name, value in values.items() if value is not None}


def rate_factor(step: int, options: TrainingOptions) -> float:
    """Return the learning rate at a step as a factor of the plateau's."""
    falling = options.steps * options.fall
    return min(1.0, (step + 1) / options.warm_up, max(0.0, (options.steps - step) / max(1.0, falling)))


def _optimiser(model: nn.Module, options: TrainingOptions) -> torch.optim.Optimizer:
    decayed = [p for p in model.parameters() if p.ndim > 1]
    others = [p for p in model.parameters() if p.ndim <= 1]
    groups = [{"params": decayed, "weight_decay": options.weight_decay}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=options.learning_rate)


def train_detector(
    folder: Path,
    training: Path,
    validation: Path,
    options: TrainingOptions | None = None,
    config: CompactConfig | None = None,
    initial: Path | None = None,
) -> Iterator[dict[str, Any]]:
    """Train, or go on with a run, yielding one record per evaluation.

    Args:
        folder: run folder: `last.pt` (everything to resume), `best.pt` (averaged weights), `curves.csv` and
            `options.json`.
        training: COCO data, a folder or a folder of shards; shards that appear later join at the next epoch.
        validation: COCO data.
        options: see there.
        config: architecture; must be the same when a run goes on.
        initial: checkpoint of another run; a new run takes its tensors where name and shape agree (fine-tuning).
    """
    options, config = options or TrainingOptions(), config or CompactConfig()
    folder.mkdir(parents=True, exist_ok=True)
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    model = CompactDetector(config).to(options.device).to(memory_format=torch.channels_last)
    if initial is not None:
        take_over(model, torch.load(initial, map_location=options.device, weights_only=True)["model"])
    averaged = copy.deepcopy(model)
    optimiser = _optimiser(model, options)
    state: dict[str, Any] = {"step": 0, "epoch": 0, "batch": 0, "best": -1.0, "waited": 0}
    if (folder / "last.pt").exists():
        saved = torch.load(folder / "last.pt", map_location=options.device, weights_only=True)
        model.load_state_dict(saved["model"])
        averaged.load_state_dict(saved["averaged"])
        optimiser.load_state_dict(saved["optimiser"])
        state = saved["state"]
    (folder / "options.json").write_text(json.dumps({"options": asdict(options), "config": asdict(config)}, indent=1))
    held_out = coco_rows(shards(validation))[: options.validation_figures]
    saved_at, started, seen = time.monotonic(), time.monotonic(), 0
    losses: dict[str, float] = {}

    def save() -> None:
        nonlocal saved_at
        saved_at = time.monotonic()
        everything = {
            "model": model.state_dict(), "averaged": averaged.state_dict(),
            "optimiser": optimiser.state_dict(), "state": state,
        }  # fmt: skip
        torch.save(everything, folder / "last.pt.part")
        (folder / "last.pt.part").replace(folder / "last.pt")

    while state["step"] < options.steps:
        rows = coco_rows(shards(training))
        if not rows:
            raise FileNotFoundError(f"no complete COCO data in {training}")
        batches = batches_of(rows, options.batch_size, options.seed + 1000 * state["epoch"])
        data = FigureBatches(rows, batches, options.seed + state["epoch"], augment=True)
        for pictures, targets in loader(data, options.workers, state["batch"]):
            model.train()
            for group in optimiser.param_groups:
                group["lr"] = options.learning_rate * rate_factor(state["step"], options)
            batch = pictures.to(options.device).to(memory_format=torch.channels_last).float() / 255
            on_device = [(boxes.to(options.device), kinds.to(options.device)) for boxes, kinds in targets]
            with torch.autocast("cuda", enabled=options.device == "cuda"):
                output = model(batch)
            loss, parts = detection_loss(output, on_device, (batch.shape[2], batch.shape[3]))
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 10.0)
            optimiser.step()
            state["step"] += 1
            state["batch"] += 1
            seen += len(targets)
            decay = min(options.average, (1 + state["step"]) / (10 + state["step"]))
            with torch.no_grad():
                for mean, value in zip(averaged.state_dict().values(), model.state_dict().values(), strict=True):
                    if mean.dtype.is_floating_point:
                        mean.lerp_(value, 1 - decay)
                    else:
                        mean.copy_(value)
            for key, value in parts.items():
                losses[key] = 0.98 * losses.get(key, value) + 0.02 * value
            if state["step"] % options.evaluate_every == 0 or state["step"] >= options.steps:
                result = evaluated(averaged, held_out, options)
                state["waited"] = 0 if result["mAP"] > state["best"] else state["waited"] + 1
                if result["mAP"] > state["best"]:
                    state["best"] = result["mAP"]
                    torch.save({"model": averaged.state_dict(), "config": asdict(config), "step": state["step"],
                                "validation": result}, folder / "best.pt")  # fmt: skip
                record = {
                    "step": state["step"],
                    "figures": len(rows),
                    "per_second": round(seen / (time.monotonic() - started), 2),
                }
                record |= {k: round(v, 4) for k, v in losses.items()} | {k: round(v, 4) for k, v in result.items()}
                add_to_curves(folder / "curves.csv", record)
                yield record
                started, seen = time.monotonic(), 0
            if time.monotonic() - saved_at > options.save_seconds or state["step"] >= options.steps:
                save()
            if state["step"] >= options.steps or state["waited"] >= options.patience:
                save()
                return
        state["epoch"] += 1
        state["batch"] = 0


def take_over(model: nn.Module, weights: dict[str, Tensor]) -> list[str]:
    """Copy the tensors whose name and shape agree into a model and return their names."""
    own = model.state_dict()
    taken = [name for name, value in weights.items() if name in own and own[name].shape == value.shape]
    model.load_state_dict(own | {name: weights[name] for name in taken})
    return taken


def add_to_curves(path: Path, record: dict[str, Any]) -> None:
    """Append a record; columns are those of the first one."""
    new = not path.exists()
    columns = list(record) if new else path.read_text("utf-8").splitlines()[0].split(",")
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", restval="")
        if new:
            writer.writeheader()
        writer.writerow(record)
