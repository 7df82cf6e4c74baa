"""Training of the marks reader on boxes that the detector finds in pictures with drawn marks, and on others there."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional
from torch.utils.data import Dataset

from pmo_assets.pipeline.regions.marks_network import (
    MARGIN,
    READ_KINDS,
    READ_OUTPUTS,
    READ_SIDE,
    TIP_PLACES,
    MarksNetwork,
    read_frame,
    reader_input,
    tip_of_places,
)
from pmo_assets.records.geometry import Box, iou, normalise
from pmo_assets.samples.drawing import Pixels
from pmo_assets.training.architectures.mark_network import network_of_onnx
from pmo_assets.training.architectures.marks_detector import MarksReader
from pmo_assets.training.architectures.onnx_graphs import graph_and_arrays
from pmo_assets.training.architectures.restored import restored_reader, with_statistics
from pmo_assets.training.loop.train_marks import sample_pictures
from pmo_assets.training.loop.training_run import Batch, numbered_batches, train_network
from pmo_assets.training.options import MarksReaderOptions
from pmo_assets.training.synthetic.drawn_marks import DrawnMark
from pmo_assets.training.synthetic.mark_examples import marks_example
from pmo_assets.training.synthetic.pools import PicturePool

BOXES: Final = 12
"""Boxes of a picture that are learnt from at a time."""

VIEWS, BLOCK = 4, 256
"""A picture is seen four times, each time by other boxes in other colours, with 256 others between: to draw one, and to
find boxes in it, takes as long as to learn from it twice."""

NEGATIVES: Final = 5
"""Of these at least so many that are no mark's own box."""

RIGHT, WRONG = 0.5, 0.2
"""IoU with a mark from which a box shows it, and up to which it shows none; between them it is not learnt from."""

BEND: Final = 0.15
"""Spread of the bend of views, as a part of their half side: shafts and outlines are bent in many styles."""

WIDER: Final = 1.5
"""Side of what is turned, relative to what the reader sees of it."""

MORE: Final = 6
"""Times that further marks are drawn on a picture: the reader needs many, and to make the picture takes the time."""

NEAR_TIP: Final = 0.7
"""Places: spread of the shares around a tip."""

UNUSED: Final = -1
"""Kind of a place among `BOXES` without a box."""

STATISTICS: Final = 40
"""Pictures, of seeds that are not trained on, by whose boxes the statistics of exported weights are found."""

NONE: Final = READ_KINDS.index(None)

Floats = NDArray[np.float64]

Labelled = tuple[Box, DrawnMark | None]
"""A normalised box of a picture, and the mark that it shows."""

Example = tuple[Pixels, list[DrawnMark], list[Box]]
"""A picture, its marks, and the boxes that the detector finds in it."""


def labelled_boxes(rng: np.random.Generator, example: Example) -> list[Labelled]:
    """Return boxes of a picture with what they show: its marks, what the detector finds, and places at random."""
    pixels, marks, found = example
    frame = (0.0, 0.0, float(pixels.shape[1]), float(pixels.shape[0]))
    true = [normalise(mark.box, frame) for mark in marks]
    chosen = rng.permutation(len(true)).tolist()[: BOXES - NEGATIVES]
    result: list[Labelled] = [(_shaken(rng, true[k]), marks[k]) for k in chosen]
    other: list[Labelled] = []
    for box in [*found, *(_random_box(rng) for _ in range(3))]:
        overlaps = [iou(box, other) for other in true]
        best = int(np.argmax(overlaps)) if overlaps else -1
        if best >= 0 and overlaps[best] >= RIGHT:
            other.append((box, marks[best]))
        elif best < 0 or overlaps[best] <= WRONG:
            other.append((box, None))
    order = rng.permutation(len(other)).tolist()[: BOXES - len(result)]
    return [*result, *(other[k] for k in order)]


def _shaken(rng: np.random.Generator, box: Box) -> Box:
    """Return a box as a detector would find it: moved and sized by some of its sides."""
    left, top, right, bottom = box
    wide, tall = right - left, bottom - top
    near = rng.normal(0, 0.09, 4)
    edges = (left + near[0] * wide, top + near[1] * tall, right + near[2] * wide, bottom + near[3] * tall)
    return (min(edges[0], edges[2]), min(edges[1], edges[3]), max(edges[0], edges[2]), max(edges[1], edges[3]))


def _random_box(rng: np.random.Generator) -> Box:
    wide, tall = np.exp(rng.uniform(np.log(0.02), np.log(0.3), 2)).tolist()
    left, top = float(rng.uniform(0, 1 - wide)), float(rng.uniform(0, 1 - tall))
    return (left, top, left + wide, top + tall)


def read_example(
    rng: np.random.Generator, pixels: Pixels, box: Box, mark: DrawnMark | None
) -> tuple[Pixels, int, tuple[float, float, float]]:
    """Return the reader's view of a box, turned, stretched and recoloured, with the kind and tip that it shows."""
    tall, wide = pixels.shape[:2]
    left, top, right, bottom = read_frame(box, wide, tall)
    side, x, y = right - left, (left + right) / 2, (top + bottom) / 2
    half = side / 2 * WIDER
    frame = (x - half, y - half, x + half, y + half)
    larger = reader_input(pixels, frame, round(READ_SIDE * WIDER))
    # From pixels of the larger view to those of the reader's: about the middle, a little nearer, farther or beside it.
    angle = float(rng.uniform(0, 2 * np.pi)) if rng.random() < 0.6 else int(rng.integers(4)) * np.pi / 2
    stretch = np.exp(rng.normal(0, 0.1, 2)) * float(rng.choice([-1, 1]))
    stretch[1] = abs(stretch[1])
    turn = np.asarray([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ np.diag(stretch)
    middle = READ_SIDE / 2 + rng.normal(0, 0.03 * READ_SIDE, 2)
    shift = middle - turn @ np.full(2, larger.shape[0] / 2)
    bend = rng.normal(0, BEND) if rng.random() < 0.5 and (mark is None or mark.kind != "box") else 0.0
    way = float(rng.uniform(0, 2 * np.pi))
    seen = _bent_view(larger, turn, shift, bend, way)
    tip = (0.5, 0.5, 0.0)
    if mark is not None and mark.tip is not None:
        inside = [(mark.tip[a] - frame[a]) / (2 * half) * larger.shape[0] for a in (0, 1)]
        u, v = (_bent_point(turn @ inside + shift, bend, way) / READ_SIDE).tolist()
        tip = (u, v, 1.0) if 0 <= u <= 1 and 0 <= v <= 1 else tip
    if rng.random() < 0.4:
        seen = seen[:, :, rng.permutation(3)]
    if rng.random() < 0.15:
        seen = 255 - seen
    kind = NONE if mark is None else READ_KINDS.index(mark.kind)
    return _other_levels(rng, np.ascontiguousarray(seen, dtype=np.uint8)), kind, tip


def _bent_view(pixels: Pixels, turn: Floats, shift: Floats, bend: float, way: float) -> Pixels:
    """Return the reader's view of pixels under a linear map, bent like a bow along a way (radians)."""
    places = np.stack(np.meshgrid(np.arange(READ_SIDE), np.arange(READ_SIDE)), axis=2).astype(np.float64)
    along, across = np.asarray([np.cos(way), np.sin(way)]), np.asarray([-np.sin(way), np.cos(way)])
    off = (places - READ_SIDE / 2) @ along / (READ_SIDE / 2)
    straight = places + bend * READ_SIDE / 2 * (off**2)[:, :, None] * across
    source = ((straight - shift) @ np.linalg.inv(turn).T).astype(np.float32)
    return np.asarray(
        cv2.remap(
            pixels, source[:, :, 0], source[:, :, 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT,
            borderValue=(MARGIN,) * 3,
        ),
        dtype=np.uint8,
    )  # fmt: skip


def _bent_point(straight: Floats, bend: float, way: float) -> Floats:
    """Return where `_bent_view` shows a point that lies at `straight` without the bend, in pixels of the view."""
    along, across = np.asarray([np.cos(way), np.sin(way)]), np.asarray([-np.sin(way), np.cos(way)])
    point = straight
    for _ in range(8):  # the bend is small: each step comes nearer by its factor
        off = float((point - READ_SIDE / 2) @ along) / (READ_SIDE / 2)
        point = straight - bend * READ_SIDE / 2 * off**2 * across
    return point


def _other_levels(rng: np.random.Generator, pixels: Pixels) -> Pixels:
    levels = np.arange(256) / 255
    gain, gamma = np.exp(rng.normal(0, 0.1, 3)), float(np.exp(rng.normal(0, 0.2)))
    table = np.stack([np.clip(255 * g * levels**gamma, 0, 255) for g in gain], axis=1).astype(np.uint8)
    return np.asarray(cv2.LUT(pixels, table[None]), dtype=np.uint8)


class ReaderExamples(Dataset[tuple[Tensor, Tensor, Tensor]]):
    """Examples by number: (views (`BOXES`, 3, 64, 64) uint8, kinds (`BOXES`,), tips (`BOXES`, 3)) of a picture."""

    def __init__(self, first: int, count: int, pool: PicturePool, detector: Path | None) -> None:
        """Number the examples from `first`; the detector is opened where it is used, in a process of its own."""
        self.first, self.count, self.pool, self.detector = first, count, pool, detector
        self._drawn: OrderedDict[int, Example] = OrderedDict()

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> tuple[Tensor, Tensor, Tensor]:
        cv2.setNumThreads(1)
        at = self.first + number
        seed = at // (VIEWS * BLOCK) * BLOCK + at % BLOCK
        if seed not in self._drawn:
            self._drawn[seed] = self._example(seed)
            while len(self._drawn) > BLOCK:
                self._drawn.popitem(last=False)
        rng = np.random.default_rng((at, 5))
        pixels = self._drawn[seed][0]
        views = np.zeros((BOXES, READ_SIDE, READ_SIDE, 3), np.uint8)
        kinds, tips = np.full(BOXES, UNUSED, np.int64), np.zeros((BOXES, 3), np.float32)
        for k, (box, mark) in enumerate(labelled_boxes(rng, self._drawn[seed])):
            views[k], kinds[k], tips[k] = read_example(rng, pixels, box, mark)
        return torch.from_numpy(views).permute(0, 3, 1, 2), torch.from_numpy(kinds), torch.from_numpy(tips)

    def _example(self, seed: int) -> Example:
        # Other pictures than the detector has learnt from: there it finds less that is none.
        pixels, marks = marks_example(FIRST_SEED + seed, self.pool, MORE)
        found = [] if self.detector is None else MarksNetwork(self.detector).boxes([pixels])[0]
        return pixels, marks, [one.box for one in found[:8]]


FIRST_SEED: Final = 10**8
"""Behind the seeds of the detector's examples."""


def tip_goals(tip: Tensor) -> Tensor:
    """Return the shares (n, 257) that the reader's places should have for tips (n, 3); those around a tip have some."""
    places = torch.arange(TIP_PLACES, device=tip.device, dtype=tip.dtype) + 0.5
    x, y = (torch.exp(-((TIP_PLACES * tip[:, k : k + 1] - places) ** 2) / (2 * NEAR_TIP**2)) for k in (0, 1))
    near = (y[:, :, None] * x[:, None, :]).flatten(1)
    near = near / near.sum(dim=1, keepdim=True)
    return torch.cat([near * tip[:, 2:], 1 - tip[:, 2:]], dim=1)


def reading_loss(kinds: Tensor, tips: Tensor, goal: Tensor, tip: Tensor) -> tuple[Tensor, dict[str, float]]:
    """Return the loss of answers (n, 8) and (n, 257) for kinds (n,) and tips (n, 3), and its parts."""
    parts = {"kind": functional.cross_entropy(kinds, goal, label_smoothing=0.02)}
    of_arrows = (goal <= 1).float()
    off = functional.cross_entropy(tips, tip_goals(tip), reduction="none")
    parts["tip"] = 0.5 * (off * of_arrows).sum() / of_arrows.sum().clamp(min=1)
    return torch.stack(list(parts.values())).sum(), {name: float(value.detach()) for name, value in parts.items()}


def measured_readings(kinds: NDArray[np.float32], tips: NDArray[np.float32], goal: Any, tip: Any) -> dict[str, float]:
    """Return the share of right kinds of marks, of boxes without one that are known, and of tips within a tenth."""
    marks = goal != NONE
    right = kinds[:, :-1].argmax(axis=1) == goal
    has = tip[:, 2] > 0
    said = [tip_of_places(places) or (math.inf, math.inf) for places in tips]
    off = np.asarray([math.dist(one, true) for one, true in zip(said, tip[:, :2].tolist(), strict=True)])
    return {
        "kinds": float(right[marks].mean()) if marks.any() else 0.0,
        "none": float(((kinds[:, -1] > 0.5) == ~marks).mean()),
        "tips": float((off[has] <= 0.1).mean()) if has.any() else 0.0,
    }


def train_marks_reader(
    folder: Path,
    pool: PicturePool,
    validation_pool: PicturePool,
    options: MarksReaderOptions | None = None,
    detector: Path | None = None,
    initial: Path | None = None,
) -> Iterator[dict[str, Any]]:
    """Train, or go on with a run, yielding one record per evaluation.

    Args:
        folder: run folder, see `training_run.train_network`.
        pool: pictures to draw marks on.
        validation_pool: pictures of the validation part.
        options: see there.
        detector: exported detector (ONNX) whose boxes are learnt from besides those of the marks; None for none.
        initial: exported marks reader (ONNX) that a new run trains on, or mark classifier whose trunk it starts from;
            random weights without.
    """
    options = options or MarksReaderOptions()
    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    model = _initial_reader(initial, pool, detector).to(options.device).to(memory_format=torch.channels_last)
    optimiser = torch.optim.AdamW(model.parameters(), lr=options.learning_rate, weight_decay=0.02)
    checks = ReaderExamples(10**9, options.validation_pictures, validation_pool, detector)
    views, goal, tip = (torch.cat(column) for column in zip(*(checks[k] for k in range(len(checks))), strict=True))

    batches = numbered_batches(lambda first, count: ReaderExamples(first, count, pool, detector), options)

    def loss(batch: Batch) -> tuple[Tensor, dict[str, float]]:
        seen, kinds, tips = (column.flatten(0, 1).to(options.device) for column in batch)
        used = kinds != UNUSED
        with torch.autocast(seen.device.type, dtype=torch.bfloat16):
            said, pointed = model(seen[used].to(memory_format=torch.channels_last).float() / 255)
        return reading_loss(said.float(), pointed.float(), kinds[used], tips[used])

    def measured(averaged: MarksReader, at_once: int) -> dict[str, float]:
        used = goal != UNUSED
        with torch.no_grad():
            answers = [averaged(part.to(options.device).float() / 255) for part in views[used].split(64)]
        kinds = torch.cat([torch.softmax(one, dim=1) for one, _ in answers]).cpu().numpy()
        tips = torch.cat([torch.softmax(two, dim=1) for _, two in answers]).cpu().numpy()
        return measured_readings(kinds, tips, goal[used].numpy(), tip[used].numpy())

    yield from train_network(
        folder, model, optimiser, options, batches=batches, loss=loss, measured=measured,
        score=lambda result: result["kinds"] + result["tips"] + result["none"], clip=5.0,
        described={
            "reads": "marks", "detector": detector.name if detector is not None else "",
            "initial": initial.name if initial is not None else "",
        },
    )  # fmt: skip


def _initial_reader(initial: Path | None, pool: PicturePool, detector: Path | None) -> MarksReader:
    """Return the network that a new run starts from, see `train_marks_reader`."""
    if initial is None:
        return MarksReader()
    graph, _ = graph_and_arrays(initial)
    if [output.name for output in graph.output] != list(READ_OUTPUTS):
        return MarksReader(network_of_onnx(initial, sample_pictures(pool)))
    model = restored_reader(initial)
    examples = ReaderExamples(2 * 10**9, STATISTICS, pool, detector)
    views = (examples[k] for k in range(STATISTICS))
    with_statistics(model, [torch.cat([seen[kinds != UNUSED] for seen, kinds, _ in views]).float() / 255])
    return model
