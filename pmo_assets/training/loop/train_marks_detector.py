"""Training of the marks detector on pictures of the pool with marks whose boxes are known."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset

from pmo_assets.pipeline.regions.marks_network import MARGIN, SIDE, STRIDE, FoundBox, boxes_of_maps, marks_input
from pmo_assets.records.average_precision import average_precision, ranked_boxes
from pmo_assets.records.geometry import Box, area, as_box, intersection, normalise
from pmo_assets.samples.drawing import Pixels
from pmo_assets.training.architectures.mark_network import MarkNetwork, network_of_onnx
from pmo_assets.training.architectures.marks_detector import MarksDetector, MarksDetectorForExport, boxes_of_sides
from pmo_assets.training.loop.train_marks import sample_pictures
from pmo_assets.training.loop.training_run import Batch, numbered_batches, train_network
from pmo_assets.training.options import MarksDetectorOptions
from pmo_assets.training.synthetic.drawn_marks import DrawnMark
from pmo_assets.training.synthetic.mark_examples import marks_example
from pmo_assets.training.synthetic.pools import PicturePool

WINDOW: Final = 320
"""Pixels along each side of what the network sees of an example: most pictures fill that, few fill their square."""

PLACES: Final = WINDOW // STRIDE

SCALES: Final = (0.75, 1.35)
"""Sizes of examples relative to those that pictures are looked at in."""

VIEWS, BLOCK = 4, 256
"""An example is seen four times, each time another part in other colours, with 256 others between: to draw one takes as
long as to learn from one."""

SEEN: Final = 0.6
"""Part of a mark's box that a window must show for it to count as a mark; what shows less is neither one nor none."""

Floats = NDArray[np.float32]


def varied_window(
    rng: np.random.Generator, pixels: Pixels, marks: Sequence[DrawnMark]
) -> tuple[Pixels, list[DrawnMark], list[Box]]:
    """Return a window (`WINDOW`, `WINDOW`, 3) of a picture, scaled, turned, mirrored and in other colours.

    Returns:
        The window, the marks in it, and the boxes of those of which it shows too little.
    """
    tall, wide = pixels.shape[:2]
    scale = SIDE / max(tall, wide) * float(np.exp(rng.uniform(*np.log(SCALES))))
    size = (max(1, round(wide * scale)), max(1, round(tall * scale)))
    method = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    shown = np.asarray(cv2.resize(pixels, size, interpolation=method), dtype=np.uint8)
    x, y = (int(rng.integers(min(0, n - WINDOW), max(0, n - WINDOW) + 1)) for n in size)
    window = np.full((WINDOW, WINDOW, 3), MARGIN, np.uint8)
    part = shown[max(0, y) : y + WINDOW, max(0, x) : x + WINDOW]
    window[max(0, -y) : max(0, -y) + part.shape[0], max(0, -x) : max(0, -x) + part.shape[1]] = part
    turn = np.asarray([[size[0] / wide, 0.0, -x], [0.0, size[1] / tall, -y]])
    if rng.random() < 0.5:
        window, turn = window[:, ::-1], np.asarray([[-1.0, 0, WINDOW], [0, 1, 0]]) @ np.vstack([turn, (0, 0, 1)])
    if rng.random() < 0.5:
        window, turn = window.transpose(1, 0, 2), turn[::-1]
    if rng.random() < 0.5:
        window, turn = window[::-1], np.asarray([[1.0, 0, 0], [0, -1, WINDOW]]) @ np.vstack([turn, (0, 0, 1)])
    window, table = _recoloured(rng, window)
    inside, cut = [], []
    for mark in marks:
        corners = np.asarray([(*mark.box[:2], 1.0), (*mark.box[2:], 1.0)]) @ turn.T
        whole = as_box([*corners[0], *corners[1]])
        seen = intersection(whole, (0.0, 0.0, float(WINDOW), float(WINDOW)))
        share = area(seen) / max(area(whole), 1e-9)
        if share < SEEN or min(seen[2] - seen[0], seen[3] - seen[1]) < 1.0:
            cut += [seen] if share > 0 else []
            continue
        tip = None
        if mark.tip is not None:
            at = turn @ np.asarray((*mark.tip, 1.0))
            tip = (float(at[0]), float(at[1])) if 0 <= at[0] <= WINDOW and 0 <= at[1] <= WINDOW else None
        red, green, blue = (int(table[c, v]) for c, v in enumerate(mark.colour))
        inside.append(DrawnMark(mark.kind, seen, tip, (red, green, blue)))
    return window, inside, cut


def _recoloured(rng: np.random.Generator, pixels: Pixels) -> tuple[Pixels, NDArray[np.uint8]]:
    """Return a picture with other levels, sometimes its channels exchanged, and the table (3, 256) by which it was."""
    levels = np.arange(256) / 255
    gains = np.exp(rng.normal(0, 0.06, 3))
    gamma = float(np.exp(rng.normal(0, 0.15)))
    table = np.stack([np.clip(255 * gain * levels**gamma, 0, 255) for gain in gains]).astype(np.uint8)
    return np.asarray(cv2.LUT(np.ascontiguousarray(pixels), np.ascontiguousarray(table.T[None]))), table


def goals(marks: Sequence[DrawnMark], cut: Sequence[Box] = ()) -> Floats:
    """Return what the places of a window should say, (7, `PLACES`, `PLACES`): heat, known, weight, box.

    Heat is 1 at a mark's middle and falls off around it, within an eighth of its sides; known is 0 where a part of a
    mark is shown. The places around a middle learn its box, with the weight that heat has there.
    """
    result = np.zeros((7, PLACES, PLACES), np.float32)
    result[1] = 1.0
    x = np.arange(PLACES) + 0.5
    for box in cut:
        first = [int(v // STRIDE) for v in box]
        result[1, first[1] : first[3] + 1, first[0] : first[2] + 1] = 0.0
    # Large ones first: where several meet, the smallest is learnt.
    for mark in sorted(marks, key=lambda m: -area(m.box)):
        left, top, right, bottom = mark.box
        column, row = (min(PLACES - 1, int(v / 2 / STRIDE)) for v in (left + right, top + bottom))
        wide, tall = (min(4.0, max(0.75, v / STRIDE / 12)) for v in (right - left, bottom - top))
        near = np.exp(-((x[None] - column - 0.5) ** 2 / (2 * wide**2) + (x[:, None] - row - 0.5) ** 2 / (2 * tall**2)))
        result[0] = np.maximum(result[0], near)
        chosen = near >= max(0.4, float(near[row, column]) * 0.4)
        result[2, chosen] = near[chosen]
        result[3:7, chosen] = np.asarray(mark.box, np.float32)[:, None]
        result[0, row, column] = 1.0
    return result


class MarksExamples(Dataset[tuple[Tensor, Tensor]]):
    """Training examples by number: (pixels (3, `WINDOW`, `WINDOW`) uint8, `goals`)."""

    def __init__(self, first: int, count: int, pool: PicturePool) -> None:
        """Number the examples from `first`."""
        self.first, self.count, self.pool = first, count, pool
        self._drawn: OrderedDict[int, tuple[Pixels, list[DrawnMark]]] = OrderedDict()

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> tuple[Tensor, Tensor]:
        cv2.setNumThreads(1)
        at = self.first + number
        seed = at // (VIEWS * BLOCK) * BLOCK + at % BLOCK
        if seed not in self._drawn:
            self._drawn[seed] = marks_example(seed, self.pool)
            while len(self._drawn) > BLOCK:
                self._drawn.popitem(last=False)
        window, marks, cut = varied_window(np.random.default_rng((at, 3)), *self._drawn[seed])
        return torch.from_numpy(np.ascontiguousarray(window.transpose(2, 0, 1))), torch.from_numpy(goals(marks, cut))


def detection_loss(maps: dict[str, Tensor], goal: Tensor) -> tuple[Tensor, dict[str, float]]:
    """Return the loss of maps for goals, and its parts; all are means over marks."""
    heat, known, weight, box = goal.split([1, 1, 1, 4], dim=1)
    score = torch.sigmoid(maps["score"]).clamp(1e-5, 1 - 1e-5)
    middle = heat == 1.0
    count = middle.sum().clamp(min=1)
    # CenterNet's focal loss: near a middle, places count little as none.
    found = -(((1 - score) ** 2 * torch.log(score))[middle]).sum()
    none = -(score**2 * torch.log(1 - score) * (1 - heat) ** 4 * known)[~middle].sum()
    at = (weight > 0).squeeze(1)
    share = weight.squeeze(1)[at]
    total = share.sum().clamp(min=1e-6)

    def picked(values: Tensor) -> Tensor:
        return values.movedim(1, -1)[at]

    def mean(values: Tensor) -> Tensor:
        return (values * share).sum() / total

    parts = {"score": (found + none) / count}
    parts["box"] = 2.0 * mean(_box_loss(picked(boxes_of_sides(maps["sides"])), picked(box)))
    loss = torch.stack(list(parts.values())).sum()
    return loss, {name: float(value.detach()) for name, value in parts.items()}


def _box_loss(found: Tensor, true: Tensor) -> Tensor:
    """Return 1 - the generalised IoU of boxes (k, 4), both grown by half a pixel: a thin line has a surface, too."""
    found = found + torch.tensor([-0.5, -0.5, 0.5, 0.5], device=found.device)
    true = true + torch.tensor([-0.5, -0.5, 0.5, 0.5], device=true.device)
    least, most = torch.maximum(found[:, :2], true[:, :2]), torch.minimum(found[:, 2:], true[:, 2:])
    common = (most - least).clamp(min=0).prod(dim=1)
    union = (found[:, 2:] - found[:, :2]).prod(dim=1) + (true[:, 2:] - true[:, :2]).prod(dim=1) - common
    around = (torch.maximum(found[:, 2:], true[:, 2:]) - torch.minimum(found[:, :2], true[:, :2])).prod(dim=1)
    return 1 - common / union + (around - union) / around


def found_boxes(model: MarksDetector, pictures: Sequence[Pixels]) -> list[list[FoundBox]]:
    """Return the boxes that a network finds in pictures, one picture at a time."""
    wrapped, device = MarksDetectorForExport(model).eval(), next(model.parameters()).device
    result = []
    with torch.no_grad():
        for picture in pictures:
            frame, size = marks_input(picture)
            scores, boxes = wrapped(torch.from_numpy(frame)[None].to(device))
            result.append(boxes_of_maps(scores[0].cpu().numpy(), boxes[0].cpu().numpy(), size))
    return result


def measured_boxes(
    pictures: Sequence[tuple[Pixels, Sequence[DrawnMark]]], found: Sequence[Sequence[FoundBox]]
) -> dict[str, float]:
    """Return average precision at IoU 0.5 of boxes found in pictures with known marks."""
    figures = []
    for number, ((pixels, marks), boxes) in enumerate(zip(pictures, found, strict=True)):
        frame = (0.0, 0.0, float(pixels.shape[1]), float(pixels.shape[0]))
        true = [normalise(mark.box, frame) for mark in marks]
        figures.append((number, [(one.box, one.score) for one in boxes], true))
    return {"AP": average_precision(ranked_boxes(figures), 0.5) or 0.0}


def train_marks_detector(
    folder: Path,
    pool: PicturePool,
    validation_pool: PicturePool,
    options: MarksDetectorOptions | None = None,
    initial: Path | None = None,
) -> Iterator[dict[str, Any]]:
    """Train, or go on with a run, yielding one record per evaluation.

    Args:
        folder: run folder, see `training_run.train_network`.
        pool: pictures to draw marks on.
        validation_pool: pictures of the validation part.
        options: see there.
        initial: what a new run starts from: an exported mark classifier (ONNX), whose trunk is taken, or `best.pt` of
            another run; random weights without.
    """
    options = options or MarksDetectorOptions()
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    model = _first_network(initial, pool).to(options.device).to(memory_format=torch.channels_last)
    optimiser = torch.optim.AdamW(model.parameters(), lr=options.learning_rate, weight_decay=0.02)
    checks = [marks_example(10**9 + k, validation_pool) for k in range(options.validation_pictures)]

    batches = numbered_batches(lambda first, count: MarksExamples(first, count, pool), options)

    def loss(batch: Batch) -> tuple[Tensor, dict[str, float]]:
        pictures, goal = (column.to(options.device) for column in batch)
        # bfloat16 also on the CPU: half the time where it has instructions for it.
        with torch.autocast(pictures.device.type, dtype=torch.bfloat16):
            maps = model(pictures.to(memory_format=torch.channels_last).float() / 255)
        return detection_loss({name: values.float() for name, values in maps.items()}, goal)

    def measured(averaged: MarksDetector, at_once: int) -> dict[str, float]:
        return measured_boxes(checks, found_boxes(averaged, [pixels for pixels, _ in checks]))

    yield from train_network(
        folder, model, optimiser, options, batches=batches, loss=loss, measured=measured,
        score=lambda result: result["AP"], clip=10.0,
        described={"parts": "marks detector", "initial": initial.name if initial is not None else ""},
    )  # fmt: skip


def _first_network(initial: Path | None, pool: PicturePool) -> MarksDetector:
    if initial is None or initial.suffix == ".onnx":
        return MarksDetector(MarkNetwork() if initial is None else network_of_onnx(initial, sample_pictures(pool)))
    model = MarksDetector()
    model.load_state_dict(torch.load(initial, map_location="cpu", weights_only=True)["model"])
    return model
