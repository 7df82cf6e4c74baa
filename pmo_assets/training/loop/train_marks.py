"""Training of the mark classifier on pictures of the pool with marks drawn on half of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

from pmo_assets.pipeline.detection.networks.mark_input import mark_input
from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.training.architectures.figure_detector import mixed_precision
from pmo_assets.training.architectures.mark_network import MarkNetwork
from pmo_assets.training.loop.training_run import Batch, train_network
from pmo_assets.training.options import MarkOptions
from pmo_assets.training.synthetic.drawings import PAPER_KINDS, drawn
from pmo_assets.training.synthetic.drawn_marks import draw_device_print, draw_marks
from pmo_assets.training.synthetic.filled_pictures import heat_map, segmentation, spots
from pmo_assets.training.synthetic.letters import Pixels, print_text
from pmo_assets.training.synthetic.pools import PicturePool
from pmo_assets.training.synthetic.worn_pictures import worn

Crop = tuple[Pixels, bool]
"""A picture and whether it is marked."""

DrawnCrop = tuple[Pixels, bool, Pixels]
"""A picture, whether it is marked, and where marks were drawn on it: (height, width) uint8, not 0 there."""

MAP_SIDE = 14
"""Places along each side of the network's map of votes."""


def mark_example(seed: int, pool: PicturePool) -> DrawnCrop:
    """Return a picture, half of them marked, as they come out of figures: with labels, print and compression."""
    rng = np.random.default_rng(seed)
    side, aspect = float(np.exp(rng.uniform(np.log(110), np.log(420)))), float(np.exp(rng.normal(0.1, 0.35)))
    width, height = max(40, round(side * aspect**0.5)), max(40, round(side / aspect**0.5))
    kind = rng.random()
    if kind < 0.12:
        pixels = np.ascontiguousarray(drawn(rng, PAPER_KINDS, width, height))
    elif kind < 0.22:
        pixels = (heat_map, spots, segmentation, segmentation)[int(rng.integers(4))](rng, width, height)
    else:
        image_type = IMAGE_TYPES[int(rng.choice(4, p=[0.22, 0.22, 0.16, 0.4]))]
        pixels = np.ascontiguousarray(pool.picture(rng, image_type, width, height))
    marked = bool(rng.random() < (0.15 if kind < 0.22 else 0.57))
    if rng.random() < 0.45:
        draw_device_print(rng, pixels)
    if rng.random() < 0.35:  # an identifier in a corner, perhaps on a patch
        size = max(8, round(side * rng.uniform(0.06, 0.15)))
        name, air = str(rng.choice(list("ABCDEFGHabcdefgh12"))), max(2, size // 3)
        x = air if rng.random() < 0.85 else pixels.shape[1] - air - size
        y = air if rng.random() < 0.7 else pixels.shape[0] - air - size
        light = bool(pixels[y : y + size, x : x + size].mean() > 128) if y >= 0 and x >= 0 else True
        if rng.random() < 0.3:
            cv2.rectangle(pixels, (x - 2, y - 2), (x + size, y + size), (255, 255, 255), -1)
            light = True
        print_text(
            pixels, x, y, name, str(rng.choice(["hebo", "helv", "tibo"])), size, (0, 0, 0) if light else (255, 255, 255)
        )
    places = draw_and_locate_marks(rng, pixels) if marked else np.zeros(pixels.shape[:2], np.uint8)
    return worn(rng, pixels), marked, places


def draw_and_locate_marks(rng: np.random.Generator, pixels: Pixels) -> Pixels:
    """Draw marks onto a picture, in place, and return the pixels they changed as (height, width) uint8, 255 there."""
    before = pixels.copy()
    draw_marks(rng, pixels)
    return np.asarray((pixels != before).any(axis=2) * 255, dtype=np.uint8)


def varied_crop(rng: np.random.Generator, crop: Crop) -> Crop:
    """Return an annotated picture turned, mirrored and re-coloured; whether it is marked does not change."""
    pixels, marked = crop
    pixels = np.rot90(pixels, int(rng.integers(4))) if rng.random() < 0.5 else pixels
    pixels = pixels[:, ::-1] if rng.random() < 0.5 else pixels
    levels = np.clip(255 * (np.arange(256) / 255) ** np.exp(rng.normal(0, 0.2)), 0, 255).astype(np.uint8)
    pixels = np.asarray(cv2.LUT(np.ascontiguousarray(pixels), levels), dtype=np.uint8)
    return worn(rng, pixels), marked


class MarkExamples(Dataset[tuple[Tensor, float, Tensor, float]]):
    """Training examples by number: drawn ones, and annotated pictures mixed in, marked and unmarked alike often.

    An example is (pixels (3, 224, 224) uint8, marked 0 or 1, places of marks (14, 14) 0 or 1, whether they are known).
    """

    def __init__(self, first: int, count: int, pool: PicturePool, crops: Sequence[Crop], share: float) -> None:
        """Number the examples from `first`."""
        self.first, self.count, self.pool, self.share = first, count, pool, share if crops else 0.0
        self.by_mark = [[c for c in crops if c[1] == marked] for marked in (False, True)]

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> tuple[Tensor, float, Tensor, float]:
        cv2.setNumThreads(1)
        seed = self.first + number
        rng = np.random.default_rng((seed, 1))
        group = self.by_mark[int(rng.random() < 0.5)]
        if group and rng.random() < self.share:
            pixels, marked = varied_crop(rng, group[int(rng.integers(len(group)))])
            places, known = np.zeros((MAP_SIDE, MAP_SIDE), np.float32), not marked
        else:
            pixels, marked, drawn_at = mark_example(seed, self.pool)
            frame = mark_input(np.repeat(drawn_at[:, :, None], 3, axis=2))[:, :, 0]
            # The margin of `mark_input` is grey (128) and holds no mark; a place counts when 1 % of it is drawn on.
            cell = frame.shape[0] // MAP_SIDE
            inside = mark_input(np.full_like(pixels, 255))[:, :, 0] == 255
            share = ((frame > 100) & inside).reshape(MAP_SIDE, cell, MAP_SIDE, cell).mean(axis=(1, 3))
            places, known = (share > 0.01).astype(np.float32), True
        return (
            torch.from_numpy(mark_input(pixels)).permute(2, 0, 1),
            float(marked),
            torch.from_numpy(places),
            float(known),
        )


def mark_probabilities(model: nn.Module, crops: Sequence[Pixels]) -> np.ndarray:
    """Return the probability that each picture is marked, shape (n,)."""
    model.eval()
    result = []
    with torch.no_grad():
        for k in range(0, len(crops), 32):
            batch = torch.stack([torch.from_numpy(mark_input(c)).permute(2, 0, 1) for c in crops[k : k + 32]])
            device = next(model.parameters()).device
            result.append(torch.sigmoid(model(batch.to(device).float() / 255)).cpu().numpy())
    return np.concatenate(result) if result else np.zeros(0)


def train_marks(
    folder: Path,
    pool: PicturePool,
    validation_pool: PicturePool,
    options: MarkOptions | None = None,
    annotated: Sequence[Crop] = (),
    held_out: Sequence[Crop] = (),
) -> Iterator[dict[str, Any]]:
    """Train, or go on with a run, yielding one record per evaluation.

    Args:
        folder: run folder, see `training_run.train_network`.
        pool: pictures to draw marks on.
        validation_pool: pictures of the validation part.
        options: see there.
        annotated: pictures with known mark status, mixed into the training.
        held_out: pictures with known mark status, only measured (`real_accuracy` at a threshold of one half).
    """
    options = options or MarkOptions()
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    model = MarkNetwork().to(options.device).to(memory_format=torch.channels_last)
    optimiser = torch.optim.AdamW(model.parameters(), lr=options.learning_rate, weight_decay=0.02)
    checks = [mark_example(10**9 + k, validation_pool)[:2] for k in range(options.validation_crops)]

    def batches(state: dict[str, Any]) -> Iterator[tuple[Batch, dict[str, Any]]]:
        first = state["step"] * options.batch_size
        count = options.steps * options.batch_size - first
        examples = MarkExamples(first, count, pool, annotated, options.annotated_share)
        loaded: DataLoader[Any] = DataLoader(
            examples, options.batch_size, shuffle=False, num_workers=options.workers,
            prefetch_factor=4 if options.workers else None,
            multiprocessing_context="spawn" if options.workers else None,
        )  # fmt: skip
        for batch in loaded:
            yield tuple(batch), {}

    def loss(batch: Batch) -> tuple[Tensor, dict[str, float]]:
        pictures, marked, places, known = (column.to(options.device) for column in batch)
        with mixed_precision(pictures):
            votes = model.votes(pictures.to(memory_format=torch.channels_last).float() / 255)
        votes, goal = votes.float(), marked.float() * 0.96 + 0.02  # a few labels are wrong
        answer = functional.binary_cross_entropy_with_logits(model.pooled(votes), goal)
        by_place = functional.binary_cross_entropy_with_logits(votes, places, reduction="none")
        # One place in thirty holds part of a mark: they count ten times.
        by_place = (by_place * (1 + 9 * places) * known.float()[:, None, None]).mean()
        return answer + 4.0 * by_place, {"answer": float(answer.detach()), "place": float(by_place.detach())}

    def measured(averaged: nn.Module, at_once: int) -> dict[str, float]:
        result = {"accuracy": _accuracy(averaged, checks)}
        return result | ({"real_accuracy": _accuracy(averaged, held_out)} if held_out else {})

    yield from train_network(
        folder, model, optimiser, options, batches=batches, loss=loss, measured=measured,
        score=lambda result: result["accuracy"], clip=5.0, described={"annotated": len(annotated)},
    )  # fmt: skip


def _accuracy(model: nn.Module, crops: Sequence[Crop]) -> float:
    guess = mark_probabilities(model, [pixels for pixels, _ in crops]) >= 0.5
    return round(float((guess == np.asarray([marked for _, marked in crops])).mean()), 4)
