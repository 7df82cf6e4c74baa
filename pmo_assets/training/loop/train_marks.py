"""Training of the mark classifier on pictures of the pool with marks drawn on half of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.data import Dataset

from pmo_assets.pipeline.detection.networks.mark_input import (
    WINDOW,
    mark_input,
    scaled,
    second_look,
    second_scale,
    windows_in_square,
)
from pmo_assets.samples.drawing import Pixels
from pmo_assets.training.architectures.figure_detector import mixed_precision
from pmo_assets.training.architectures.mark_network import MarkNetwork, network_of_onnx
from pmo_assets.training.loop.training_run import Batch, numbered_batches, train_network
from pmo_assets.training.options import MarkOptions
from pmo_assets.training.synthetic.mark_examples import Crop, mark_example, varied_crop
from pmo_assets.training.synthetic.pools import PicturePool

MAP_SIDE = 14
"""Places along each side of the network's map of votes."""

MARKED_SHARE = 0.003
"""Part of a place that must be drawn on to hold part of a mark: a pixel of the 256."""


SECOND_SHARE = 0.5
"""Part of the examples, of those large enough, that are shown as the second look shows them."""

SEEN_IN_LOOK, SEEN_LEVELS = 10, 16
"""Pixels that marks must change in a look, by so many levels, for it to count as marked."""

TRACE = 3
"""Pixels changed so much up to which a look counts as unmarked; between both nobody says what it shows."""

Look = tuple[Pixels, Pixels]
"""Input of the network (224, 224, 3) and how much marks changed its pixels, in levels (224, 224)."""


def whole_look(pixels: Pixels, drawn_at: Pixels) -> Look:
    """Return the first look at an example."""
    frame = mark_input(np.repeat(drawn_at[:, :, None], 3, axis=2))[:, :, 0]
    # The margin of `mark_input` is grey and holds no mark.
    inside = mark_input(np.full_like(pixels, 255))[:, :, 0] == 255
    return mark_input(pixels), np.where(inside, frame, 0).astype(np.uint8)


def windows_look(rng: np.random.Generator, pixels: Pixels, drawn_at: Pixels, scale: float) -> Look:
    """Return a second look at an example: windows at marks, where there are some, and at random."""
    larger, where = scaled(pixels, scale), scaled(drawn_at, scale)
    tall, wide = larger.shape[:2]
    rows, columns = np.nonzero(where >= SEEN_LEVELS)
    aimed = int(rng.integers(1, 3)) if rows.size and rng.random() < 0.85 else 0
    corners = []
    for number in range(4):
        x, y = int(rng.integers(0, max(1, wide - WINDOW + 1))), int(rng.integers(0, max(1, tall - WINDOW + 1)))
        if number < aimed:
            k = int(rng.integers(rows.size))
            x, y = (int(v[k] - WINDOW / 2 + rng.uniform(-0.35, 0.35) * WINDOW) for v in (columns, rows))
        corners.append((min(max(0, x), max(0, wide - WINDOW)), min(max(0, y), max(0, tall - WINDOW))))
    rng.shuffle(corners)
    order = [(int(x), int(y)) for x, y in corners]
    seen = windows_in_square(where[:, :, None], order)[:, :, 0]
    # Where a picture is smaller than a window, the margin is no mark.
    inside = windows_in_square(np.full_like(where, 255)[:, :, None], order)[:, :, 0] == 255
    return windows_in_square(larger, order), np.where(inside, seen, 0).astype(np.uint8)


class MarkExamples(Dataset[tuple[Tensor, float, float, Tensor, float]]):
    """Training examples by number: drawn ones, and annotated pictures mixed in, marked and unmarked alike often.

    An example is (pixels (3, 224, 224) uint8, marked 0 or 1, whether that can be told, places of marks (14, 14) 0 or 1,
    whether they are known).
    """

    def __init__(self, first: int, count: int, pool: PicturePool, crops: Sequence[Crop], share: float) -> None:
        """Number the examples from `first`."""
        self.first, self.count, self.pool, self.share = first, count, pool, share if crops else 0.0
        self.by_mark = [[c for c in crops if c[1] == marked] for marked in (False, True)]

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> tuple[Tensor, float, float, Tensor, float]:
        cv2.setNumThreads(1)
        seed = self.first + number
        rng = np.random.default_rng((seed, 1))
        group = self.by_mark[int(rng.random() < 0.5)]
        if group and rng.random() < self.share:
            pixels, marked = varied_crop(rng, group[int(rng.integers(len(group)))])
            shown, places, known = mark_input(pixels), np.zeros((MAP_SIDE, MAP_SIDE), np.float32), not marked
            told = True
        else:
            pixels, marked, drawn_at = mark_example(seed, self.pool)
            scale = second_scale(*pixels.shape[:2])
            if scale is not None and rng.random() < SECOND_SHARE:
                shown, seen = windows_look(rng, pixels, drawn_at, scale)
            else:
                shown, seen = whole_look(pixels, drawn_at)
            changed = seen >= SEEN_LEVELS
            marked = int(changed.sum()) >= SEEN_IN_LOOK
            told = marked or int(changed.sum()) <= TRACE
            cell = seen.shape[0] // MAP_SIDE
            share = changed.reshape(MAP_SIDE, cell, MAP_SIDE, cell).mean(axis=(1, 3))
            places, known = (share > MARKED_SHARE).astype(np.float32) * marked, told
        return (
            torch.from_numpy(shown).permute(2, 0, 1),
            float(marked),
            float(told),
            torch.from_numpy(places),
            float(known),
        )


def mark_probabilities(model: MarkNetwork, crops: Sequence[Pixels]) -> np.ndarray:
    """Return the larger of both looks' probabilities that each picture is marked, shape (n,)."""
    model.eval()
    first, votes = _looked(model, [mark_input(crop) for crop in crops])
    second = [second_look(crop, vote) for crop, vote in zip(crops, votes, strict=True)]
    large = [k for k, look in enumerate(second) if look is not None]
    again, _ = _looked(model, [look for look in second if look is not None])
    first[large] = np.maximum(first[large], again)
    return first


def _looked(model: MarkNetwork, squares: Sequence[Pixels]) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities (n,) and votes (n, 14, 14) for squares of 224 pixels."""
    answers, maps = [np.zeros(0, np.float32)], [np.zeros((0, MAP_SIDE, MAP_SIDE), np.float32)]
    device = next(model.parameters()).device
    with torch.no_grad():
        for k in range(0, len(squares), 32):
            batch = torch.stack([torch.from_numpy(square).permute(2, 0, 1) for square in squares[k : k + 32]])
            votes = model.votes(batch.to(device).float() / 255)
            maps.append(votes.cpu().numpy())
            answers.append(torch.sigmoid(model.pooled(votes)).cpu().numpy())
    return np.concatenate(answers), np.concatenate(maps)


def train_marks(
    folder: Path,
    pool: PicturePool,
    validation_pool: PicturePool,
    options: MarkOptions | None = None,
    annotated: Sequence[Crop] = (),
    held_out: Sequence[Crop] = (),
    initial: Path | None = None,
) -> Iterator[dict[str, Any]]:
    """Train, or go on with a run, yielding one record per evaluation.

    Args:
        folder: run folder, see `training_run.train_network`.
        pool: pictures to draw marks on.
        validation_pool: pictures of the validation part.
        options: see there.
        annotated: pictures with known mark status, mixed into the training.
        held_out: pictures with known mark status, only measured (`real_accuracy` at a threshold of one half).
        initial: exported weights (ONNX) that a new run starts from; random ones without.
    """
    options = options or MarkOptions()
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    model = MarkNetwork() if initial is None else network_of_onnx(initial, sample_pictures(pool))
    model = model.to(options.device).to(memory_format=torch.channels_last)
    optimiser = torch.optim.AdamW(model.parameters(), lr=options.learning_rate, weight_decay=0.02)
    checks = [mark_example(10**9 + k, validation_pool)[:2] for k in range(options.validation_crops)]

    def examples(first: int, count: int) -> MarkExamples:
        return MarkExamples(first, count, pool, annotated, options.annotated_share)

    def loss(batch: Batch) -> tuple[Tensor, dict[str, float]]:
        pictures, marked, told, places, known = (column.to(options.device) for column in batch)
        with mixed_precision(pictures):
            votes = model.votes(pictures.to(memory_format=torch.channels_last).float() / 255)
        votes, goal = votes.float(), marked.float() * 0.96 + 0.02  # a few labels are wrong
        answer = functional.binary_cross_entropy_with_logits(model.pooled(votes), goal, reduction="none")
        answer = (answer * told.float()).mean()
        by_place = functional.binary_cross_entropy_with_logits(votes, places, reduction="none")
        # One place in thirty holds part of a mark: they count ten times.
        by_place = (by_place * (1 + 9 * places) * known.float()[:, None, None]).mean()
        return answer + 4.0 * by_place, {"answer": float(answer.detach()), "place": float(by_place.detach())}

    def measured(averaged: MarkNetwork, at_once: int) -> dict[str, float]:
        result = {"accuracy": _accuracy(averaged, checks)}
        return result | ({"real_accuracy": _accuracy(averaged, held_out)} if held_out else {})

    yield from train_network(
        folder, model, optimiser, options, batches=numbered_batches(examples, options), loss=loss, measured=measured,
        score=lambda result: result["accuracy"], clip=5.0,
        described={"annotated": len(annotated), "initial": initial.name if initial is not None else ""},
    )  # fmt: skip


def sample_pictures(pool: PicturePool, count: int = 192) -> Tensor:
    """Return pictures to find the statistics of exported weights on, of seeds that are not trained on."""
    examples = MarkExamples(2 * 10**9, count, pool, (), 0.0)
    return torch.stack([examples[k][0] for k in range(count)]).float() / 255


def _accuracy(model: MarkNetwork, crops: Sequence[Crop]) -> float:
    guess = mark_probabilities(model, [pixels for pixels, _ in crops]) >= 0.5
    return round(float((guess == np.asarray([marked for _, marked in crops])).mean()), 4)
