"""The marks detector through ONNX Runtime: kind, box, tip and colour of each mark that is seen in a picture's pixels.

Every fourth pixel of the scaled picture is a place that may be a mark's middle; the network says for each how likely
that is, and what the mark would be. A mark is a place that is surer than its neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.fitted import fitted_numbers
from pmo_assets.pipeline.detection.networks.memory_batches import MemoryBatches, Provider, batch_size_for
from pmo_assets.pipeline.detection.networks.onnx_detectors import onnx_session, shipped_weights
from pmo_assets.pipeline.detection.reducing import resized
from pmo_assets.records.geometry import Box, non_maximum_suppression
from pmo_assets.records.regions import MARK_KINDS, MarkKind, Point

DETECTOR_FILE: Final = "marks_detector.onnx"
"""File of the shipped weights in `pmo_assets/weights`."""

CALIBRATION_FILE: Final = "marks_detector.json"
"""File of what scores are worth, written by `benchmarks/score_marks.py --fit`."""

PACKAGE_DATA = ("weights/marks_detector.onnx", "weights/marks_detector.json")
"""Files of the package that this module reads."""

OUTPUTS: Final = ("scores", "kinds", "boxes", "tips", "colours")
"""Outputs of the network, maps of places (n, …, height / 4, width / 4): score 0..1 that a mark's middle is there;
shares of `MARK_KINDS` (7); box in pixels of the input (4); tip as fractions of the box, and probability that there is
one (3); red, green and blue 0..1 (3)."""

SIDE: Final = 352
"""Pictures are scaled to 352 pixels on the long side: a mark of 2 % is then 7 pixels, nearly two places wide."""

STRIDE: Final = 4
"""Pixels from one place to the next."""

MULTIPLE: Final = 16
"""Sides of the input are multiples of the coarsest map's stride."""

MARGIN: Final = 128
"""Grey value where a picture does not fill the input."""

LEAST_SCORE: Final = 0.05
"""Score from which a place is looked at."""

MOST: Final = 100
"""Marks of a picture that are kept: more are texture."""

SAME: Final = 0.6
"""IoU from which two boxes are one mark seen twice."""

CROP_BYTES: Final = 24 * 2**20
"""Memory to reckon with for one more picture in a batch; see `onnx_detectors.FIGURE_BYTES`."""


@dataclass(frozen=True, slots=True)
class SeenMark:
    """A mark that the network sees in a picture.

    Attributes:
        kind: the most likely one.
        box: normalised [l, t, r, b] in the picture.
        tip: normalised (x, y) in the picture; None where it sees none.
        colour: RGB 0..255 as the network sees it; pixels say it more exactly.
        score: 0..1, not calibrated.
    """

    kind: MarkKind
    box: Box
    tip: Point | None
    colour: tuple[float, float, float]
    score: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """What the network's scores are worth, and from which probability its marks count.

    Attributes:
        slope: probability is the logistic function of slope × log odds of the score + offset.
        offset: see there.
        threshold: probability from which a mark counts.
    """

    slope: float
    offset: float
    threshold: float

    def probability(self, score: float) -> float:
        """Return the share of marks with this score that are marks."""
        score = min(max(score, 1e-6), 1 - 1e-6)
        return 1 / (1 + math.exp(-self.slope * math.log(score / (1 - score)) - self.offset))


@lru_cache(maxsize=1)
def shipped_calibration() -> Calibration:
    """Return what the shipped network's scores are worth.

    Raises:
        SystemicError: when it cannot be read.
    """
    values = fitted_numbers(CALIBRATION_FILE, ("slope", "offset", "threshold"))
    return Calibration(values["slope"], values["offset"], values["threshold"])


def marks_input(pixels: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], tuple[int, int]]:
    """Return a (height, width, 3) picture as the network's input, and the (width, height) that it fills there.

    It lies at the top left; both sides of the input are multiples of `MULTIPLE`, `SIDE` at most.
    """
    tall, wide = pixels.shape[:2]
    scale = SIDE / max(tall, wide)
    size = (max(1, round(wide * scale)), max(1, round(tall * scale)))
    frame = np.full((*(-(-side // MULTIPLE) * MULTIPLE for side in size[::-1]), 3), MARGIN, np.uint8)
    frame[: size[1], : size[0]] = resized(pixels, size)
    return frame, size


def marks_of_maps(maps: Sequence[NDArray[np.float32]], size: tuple[int, int]) -> list[SeenMark]:
    """Return the marks that the network's maps of one picture show, best first.

    Args:
        maps: `OUTPUTS` of one picture, without the axis of the batch.
        size: (width, height) in pixels that the picture fills in the input.
    """
    scores, kinds, boxes, tips, colours = maps
    tall, wide = scores.shape
    padded = np.pad(scores, 1, constant_values=-1.0)
    around = np.max([padded[y : y + tall, x : x + wide] for y in range(3) for x in range(3)], axis=0)
    rows, columns = np.nonzero((scores >= around) & (scores >= LEAST_SCORE))
    order = np.argsort(-scores[rows, columns], kind="stable")[:MOST]
    frame = np.asarray([*size, *size], dtype=np.float64)
    found: list[SeenMark] = []
    for row, column in zip(rows[order].tolist(), columns[order].tolist(), strict=True):
        edges = np.clip(boxes[:, row, column].astype(np.float64) / frame, 0.0, 1.0)
        left, top, right, bottom = edges.tolist()
        if right <= left or bottom <= top:
            continue  # in the margin
        across, down, pointed = tips[:, row, column].tolist()
        kind = MARK_KINDS[int(np.argmax(kinds[:, row, column]))]
        has_tip = kind in ("arrow", "arrowhead") and pointed >= 0.5
        tip = (left + across * (right - left), top + down * (bottom - top)) if has_tip else None
        red, green, blue = (255 * colours[:, row, column]).tolist()
        found.append(SeenMark(kind, (left, top, right, bottom), tip, (red, green, blue), float(scores[row, column])))
    kept = non_maximum_suppression([mark.box for mark in found], [mark.score for mark in found], SAME)
    return [found[k] for k in kept]


class MarksNetwork:
    """The marks detector; see the module's text."""

    def __init__(self, path: Path | None = None, provider: Provider = "cpu", *, threads: int = 1) -> None:
        """Use a file of weights (None: the shipped ones); the session is made at the first call."""
        self.path, self.provider, self.threads = path, provider, threads
        self.batches = MemoryBatches(lambda: batch_size_for(provider, CROP_BYTES, 1), provider)

    def load(self) -> Any:
        """Return the session, made at the first call; see `onnx_session` for its errors."""
        return onnx_session(self.path or shipped_weights(DETECTOR_FILE), OUTPUTS, self.provider, self.threads)

    def __call__(self, pictures: Sequence[NDArray[np.uint8]]) -> list[list[SeenMark]]:
        """Return the marks of each (height, width, 3) uint8 RGB picture, best first; pictures need a pixel at least."""
        if not pictures:
            return []
        return self.batches(list(pictures), partial(_seen, self.load()))


def _seen(session: Any, pictures: Sequence[NDArray[np.uint8]]) -> list[list[SeenMark]]:
    """Return the marks of pictures, which lie together at the top left of one input."""
    inputs = [marks_input(picture) for picture in pictures]
    tall, wide = (max(frame.shape[axis] for frame, _ in inputs) for axis in (0, 1))
    together = np.full((len(inputs), tall, wide, 3), MARGIN, np.uint8)
    for place, (frame, _) in zip(together, inputs, strict=True):
        place[: frame.shape[0], : frame.shape[1]] = frame
    maps = session.run(list(OUTPUTS), {"pixels": together})
    return [marks_of_maps([values[k] for values in maps], size) for k, (_, size) in enumerate(inputs)]
