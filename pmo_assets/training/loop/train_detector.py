"""Training of the detectors on COCO data, synthetic and annotated, and their scores."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from pmo_assets.pipeline.detection.networks.input_size import bucket_of, network_input
from pmo_assets.pipeline.detection.networks.network_boxes import CLASSES
from pmo_assets.records.average_precision import average_precision, ranked_boxes
from pmo_assets.records.geometry import Box
from pmo_assets.system.aside import write_text
from pmo_assets.training.architectures.compact_detector import GROUPS
from pmo_assets.training.architectures.detectors import detector_of_checkpoint, new_detector
from pmo_assets.training.architectures.figure_detector import FigureDetector
from pmo_assets.training.architectures.recipes import RECIPES, Architecture, Size, architecture_of
from pmo_assets.training.architectures.restored import with_statistics
from pmo_assets.training.data.coco import CATEGORIES, articles_of, read_coco, shards
from pmo_assets.training.loop.training_run import Batch, last_state, train_network
from pmo_assets.training.options import TrainingOptions
from pmo_assets.training.synthetic.layouts import Split

_LOG = logging.getLogger(__name__)


STATISTICS_BATCHES = 24
"""Batches that give a network without statistics of its own (`restored`) those of the training figures."""

Row = tuple[Path, tuple[int, int], np.ndarray, np.ndarray]
"""Picture file, (width, height), boxes (k, 4) in its pixels, category indices (k,)."""


def coco_rows(folders: Sequence[Path], split: Split | None = None, *, panels_only: bool = False) -> list[Row]:
    """Return every figure of several data sets; with a split, those whose article belongs to it.

    Args:
        folders: data sets.
        split: a part of the data.
        panels_only: without identifiers and images.
    """
    rows: list[Row] = []
    for folder in folders:
        for path, size, every in read_coco(folder, split):
            marked = [a for a in every if a["category"] == 0] if panels_only else every
            boxes = np.asarray([a["bbox"] for a in marked], dtype=np.float32).reshape(-1, 4)
            boxes[:, 2:] += boxes[:, :2]
            rows.append((path, size, boxes, np.asarray([a["category"] for a in marked], dtype=np.int64)))
    return rows


class FigureBatches(Dataset[tuple[Tensor, list[tuple[Tensor, Tensor]]]]):
    """Batches of figures of one input size: uint8 pixels (n, 3, h, w), and boxes in input pixels with categories."""

    def __init__(
        self, rows: Sequence[Row], batches: Sequence[Sequence[int]], seed: int, *, augment: bool, side: int = 0
    ) -> None:
        """Keep the rows and which of them make up each batch; `side`: see `TrainingOptions.input_side`."""
        self.rows, self.batches, self.seed, self.augment, self.side = rows, batches, seed, augment, side

    def __len__(self) -> int:
        return len(self.batches)

    def __getitem__(self, number: int) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        cv2.setNumThreads(1)
        members = self.batches[number]
        width, height = self.rows[members[0]][1]
        bucket = bucket_of(width, height, self.side)
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
    """Return a figure with a margin, mirrored, darker or brighter, at random; boxes move along."""
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


def batches_of(rows: Sequence[Row], size: int, seed: int | None, side: int = 0) -> list[list[int]]:
    """Return batches of rows of one input size; shuffled by a seed, or in order when it is None."""
    by_bucket: dict[tuple[int, int], list[int]] = {}
    order = np.arange(len(rows)) if seed is None else np.random.default_rng(seed).permutation(len(rows))
    for index in order.tolist():
        width, height = rows[index][1]
        by_bucket.setdefault(bucket_of(width, height, side), []).append(index)
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


def evaluated(model: FigureDetector, rows: Sequence[Row], options: TrainingOptions) -> dict[str, float]:
    """Return AP@.5 per category, their mean, the mean AP@.75, and class-agnostic image AP@.5."""
    model.eval()
    side = options.input_side
    data = FigureBatches(rows, batches_of(rows, options.batch_size, None, side), 0, augment=False, side=side)
    found: dict[str, list[list[tuple[Box, float]]]] = {c: [] for c in (*CATEGORIES, "image")}
    truth: dict[str, list[list[Box]]] = {c: [] for c in found}
    for pictures, targets in loader(data, options.workers):
        scale = np.asarray([pictures.shape[3], pictures.shape[2]] * 2, dtype=np.float64)
        for result, (boxes, categories) in zip(model.detected(pictures), targets, strict=True):
            true, kinds = boxes.numpy().astype(np.float64) / scale, categories.numpy()
            for group in GROUPS:
                for k, name in enumerate(CLASSES[group]):
                    own = result.class_scores[group].argmax(axis=1) == k if len(result.scores[group]) else []
                    found[name].append(_scored(result.boxes[group][own], result.scores[group][own]))
                    truth[name].append(_boxes(true[kinds == CATEGORIES.index(name)]))
            found["image"].append(_scored(result.boxes["image"], result.scores["image"]))
            truth["image"].append(_boxes(true[kinds >= 2]))
    rankings = {name: ranked_boxes([*zip(range(len(rows)), found[name], truth[name], strict=True)]) for name in found}
    values = {name: average_precision(ranking, 0.5) for name, ranking in rankings.items()}
    summary = {
        "mAP": _mean_of_known([values[name] for name in CATEGORIES]),
        "mAP75": _mean_of_known([average_precision(rankings[name], 0.75) for name in CATEGORIES]),
    }
    return summary | {name: round(value, 4) for name, value in values.items() if value is not None}


def _boxes(rows: np.ndarray) -> list[Box]:
    return [(left, top, right, bottom) for left, top, right, bottom in rows.tolist()]


def _scored(boxes: np.ndarray, scores: np.ndarray) -> list[tuple[Box, float]]:
    return [*zip(_boxes(boxes), scores.tolist(), strict=True)]


def _mean_of_known(values: Sequence[float | None]) -> float:
    """Return the mean over the classes that occur; 0 when none does."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else 0.0


def mixed(synthetic: Sequence[Row], annotated: Sequence[Row], share: float, seed: int) -> list[Row]:
    """Return the figures of an epoch: all synthetic ones, and annotated ones, repeated, as `share` of the whole."""
    if not annotated or share <= 0:
        return list(synthetic)
    if not synthetic or share >= 1:
        return list(annotated)
    rng = np.random.default_rng((seed, 2))
    chosen: list[int] = []
    while len(chosen) < round(len(synthetic) * share / (1 - share)):
        chosen += rng.permutation(len(annotated)).tolist()
    return [*synthetic, *(annotated[k] for k in chosen[: round(len(synthetic) * share / (1 - share))])]


def _optimiser(model: nn.Module, options: TrainingOptions) -> torch.optim.Optimizer:
    decayed = [p for p in model.parameters() if p.ndim > 1]
    others = [p for p in model.parameters() if p.ndim <= 1]
    groups = [{"params": decayed, "weight_decay": options.weight_decay}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=options.learning_rate)  # betas 0.9 and 0.999, epsilon 1e-8


def _score(result: dict[str, float], annotated_share: float) -> float:
    """Return the mAP by which the best weights are chosen: annotated figures count as much as they do in training."""
    if "annotated_mAP" not in result:
        return result["mAP"]
    return (1 - annotated_share) * result["mAP"] + annotated_share * result["annotated_mAP"]


def train_detector(
    folder: Path,
    training: Path,
    validation: Path,
    options: TrainingOptions | None = None,
    *,
    architecture: Architecture = "compact",
    size: Size = "full",
    initial: Path | None = None,
    annotated: Sequence[Path] = (),
    network: Mapping[str, Any] | None = None,
) -> Iterator[dict[str, Any]]:
    """Train, or go on with a run, yielding one record per evaluation.

    Args:
        folder: run folder, see `training_run.train_network`; `options.json` says how it was started.
        training: COCO data, a folder or a folder of shards; shards that appear later join at the next epoch.
        validation: COCO data.
        options: see there.
        architecture: name of the network; a run that goes on keeps its own.
        size: of the network; a run that goes on keeps its own.
        initial: weights a new run starts from (fine-tuning), see `detectors.new_detector`.
        annotated: folders of COCO data with annotated figures. They are divided by article (`layouts.split_of`):
            the training part is mixed with the synthetic figures; the validation part is measured
            (`annotated_mAP`) and counts as much in the choice of the best weights as such figures do in training;
            the test part is left alone.
        network: configuration of a new network of the DETR family (a recipe's), in place of `size`'s.

    Raises:
        ValueError: when the run in the folder has another architecture or size, what it needs is not installed, or no
            annotated figure falls into the training part.
        FileNotFoundError: without complete data.
    """
    options = options or TrainingOptions()
    recipe = RECIPES[architecture_of(architecture)]
    options = replace(options, learning_rate=options.learning_rate or recipe.learning_rate)
    held_out = coco_rows(shards(validation), panels_only=options.panels_only)[: options.validation_figures]
    if not held_out:
        raise FileNotFoundError(f"no complete COCO data to validate on in {validation}")
    real_rows, real_held_out = _annotated_rows(annotated)
    folder.mkdir(parents=True, exist_ok=True)
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    model, origin = _detector_of_run(folder, architecture, size, initial, network)
    model = model.to(options.device)
    if model.channels_last:
        model = model.to(memory_format=torch.channels_last)
    if last_state(folder, "cpu") is None and initial is not None and initial.suffix == ".onnx":
        with_statistics(model, some_pictures(model, coco_rows(shards(training)), options))
    described = {
        "architecture": architecture, "size": size, "config": model.settings(), "initial": origin,
        "annotated": len(real_rows),
        "batch_size": options.batch_size, "input_side": options.input_side,
    }  # fmt: skip
    write_text(folder / "options.json", json.dumps({"options": asdict(options), **described}, indent=1))
    share = options.annotated_share

    def batches(state: dict[str, Any]) -> Iterator[tuple[Batch, dict[str, Any]]]:
        epoch, start = state.get("epoch", 0), state.get("batch", 0)
        while True:
            synthetic = coco_rows(shards(training), panels_only=options.panels_only)
            rows = mixed(synthetic, real_rows, share, options.seed + epoch)
            if not rows:
                raise FileNotFoundError(f"no complete COCO data in {training}")
            side = options.input_side
            members = batches_of(rows, options.batch_size, options.seed + 1000 * epoch, side)
            data = FigureBatches(rows, members, options.seed + epoch, augment=options.augment, side=side)
            for number, batch in enumerate(loader(data, options.workers, start), start=start + 1):
                yield batch, {"epoch": epoch, "batch": number}
            epoch, start = epoch + 1, 0

    def loss(batch: Batch) -> tuple[Tensor, dict[str, float]]:
        pixels, targets = batch
        on_device = [(boxes.to(options.device), kinds.to(options.device)) for boxes, kinds in targets]
        return model.loss(model.as_pictures(pixels), on_device)

    def measured(averaged: Any, at_once: int) -> dict[str, float]:
        fitting = replace(options, batch_size=at_once)
        result = evaluated(averaged, held_out, fitting)
        if real_held_out:
            found = evaluated(averaged, real_held_out, fitting)
            result |= {f"annotated_{name}": found[name] for name in ("mAP", "mAP75")}
        return result

    yield from train_network(
        folder, model, _optimiser(model, options), options, batches=batches, loss=loss, measured=measured,
        score=partial(_score, annotated_share=share),
        clip=options.clip or recipe.clip, described=described,
    )  # fmt: skip


def some_pictures(model: FigureDetector, rows: Sequence[Row], options: TrainingOptions) -> Iterator[Tensor]:
    """Yield the pictures of the first `STATISTICS_BATCHES` batches of an epoch."""
    members = batches_of(rows, options.batch_size, options.seed)[:STATISTICS_BATCHES]
    for pixels, _ in loader(FigureBatches(rows, members, options.seed, augment=True), 0):
        yield model.as_pictures(pixels)


def _annotated_rows(annotated: Sequence[Path]) -> tuple[list[Row], list[Row]]:
    """Return the annotated figures of the training and of the validation part.

    Raises:
        ValueError: when there is annotated data, but none of it in the training part.
    """
    folders = [shard for data in annotated for shard in shards(data)]
    rows, held_out = coco_rows(folders, "train"), coco_rows(folders, "validation")
    if annotated and not rows:
        articles = sorted({article for folder in folders for article in articles_of(folder)})
        named = ", ".join([*articles[:8], *(["…"] if len(articles) > 8 else [])]) or "none"
        raise ValueError(
            f"no annotated figure falls into the training part. Articles: {named}. They are divided by a hash of their "
            "id, eight of ten into training, so at least some articles (ten or more, better) are needed"
        )
    if annotated and not held_out:
        _LOG.warning(
            "no annotated figure falls into the validation part: the best weights are chosen by synthetic figures"
        )
    return rows, held_out


def _detector_of_run(
    folder: Path, architecture: Architecture, size: Size, initial: Path | None, network: Mapping[str, Any] | None
) -> tuple[FigureDetector, str | None]:
    """Return the network of a run, new or going on, and the name of the weights it started from."""
    saved = last_state(folder, "cpu")
    if saved is None:
        return new_detector(architecture, size, initial, network), initial.name if initial is not None else None
    started = saved.get("architecture", "compact")
    if started != architecture:
        raise ValueError(f"{folder} is a run of {started}, not of {architecture}: take another folder")
    of_size = saved.get("size", "full")
    if of_size != size:
        raise ValueError(f"{folder} is a run of size {of_size}, not {size}: take another folder")
    # Runs of the compact detector that recorded no architecture all have its full size.
    model = detector_of_checkpoint(saved) if "config" in saved else new_detector(architecture, "full")
    return model, saved.get("initial")
