"""The marks networks through ONNX Runtime: box, kind and tip of each mark that is seen in a picture's pixels.

The detector sees the picture at one size. Every fourth pixel is a place that may be a mark's middle; the network says
for each how likely that is, and the mark's box. Places that are surer than their neighbours are marks. The reader, a
second network, sees each of their boxes by itself and says what it shows and where that points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.fitted import fitted_numbers
from pmo_assets.pipeline.detection.fusion.mark_fusion import log_odds
from pmo_assets.pipeline.detection.networks.memory_batches import MemoryBatches, Provider, batch_size_for
from pmo_assets.pipeline.detection.networks.named_weights import shipped_weights
from pmo_assets.pipeline.detection.networks.onnx_detectors import onnx_session
from pmo_assets.pipeline.detection.reducing import resized
from pmo_assets.pipeline.regions.ink_profiles import InkProfile, has_like_ends, ink_profile, tip_of_profile
from pmo_assets.pipeline.regions.ink_shapes import has_corners, ink_mask
from pmo_assets.records.geometry import Box, Point, crop_box, denormalise, non_maximum_suppression
from pmo_assets.records.regions import MARK_KINDS, MarkKind

DETECTOR_FILE: Final = "marks_detector.onnx"
"""File of the detector's weights in `pmo_assets/weights`."""

READER_FILE: Final = "marks_reader.onnx"
"""File of the reader's weights there."""

CALIBRATION_FILE: Final = "marks_detector.json"
"""File of what scores are worth, written by `benchmarks/score_marks.py --fit`."""

PACKAGE_DATA = ("weights/marks_detector.onnx", "weights/marks_reader.onnx", "weights/marks_detector.json")
"""Files of the package that this module reads."""

OUTPUTS: Final = ("scores", "boxes")
"""Outputs of the detector, maps of places: score 0..1 that a mark's middle is there (n, height / 4, width / 4); box in
pixels of the input (n, 4, height / 4, width / 4)."""

READ_OUTPUTS: Final = ("kinds", "tips")
"""Outputs of the reader: shares of `READ_KINDS` (n, 8), and of the places where a mark may point, row by row, the last
that it points nowhere (n, 257)."""

READ_KINDS: Final[tuple[MarkKind | None, ...]] = (*MARK_KINDS, None)
"""Kinds that the reader tells apart; None: no mark."""

AS_USED: Final = (2.2, 0.9, 1.0, 1.2, 0.4, 0.3, 0.9)
"""How much more often authors use each kind than the reader's examples show it: `drawn_marks.MARK_KINDS` against
`mark_examples.EVEN_ODDS`, counted in 900 and 250 pictures."""

ARROW_OR_LINE: Final = 1.2
"""Share of "arrow" relative to that of "line", before `AS_USED`, up to which a mark without a head is a line."""

LEAST_NONE: Final = 0.03
"""Share of "no mark" that the reader can tell from none: it was trained with smoothed labels."""

READ_SIDE: Final = 64
"""Pixels along each side of the reader's input."""

TIP_PLACES: Final = 16
"""Places along each side of the reader's input that a tip may be at."""

AROUND: Final = 1.5
"""Side of the square that the reader sees, relative to the larger side of the mark's box."""

LEAST_READ: Final = 10.0
"""Pixels of the picture that the reader sees at least along each side."""

SIDE: Final = 416
"""Pictures are scaled to 416 pixels on the long side: a mark of 2 % is then 8 pixels, two places wide."""

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
class FoundBox:
    """A box that the detector finds: normalised [l, t, r, b] in the picture, and its score 0..1."""

    box: Box
    score: float


@dataclass(frozen=True, slots=True)
class SeenMark:
    """A mark that is seen in a picture.

    Attributes:
        kind: the most likely one.
        box: normalised [l, t, r, b] in the picture.
        tip: normalised (x, y) in the picture; None where the reader sees none.
        score: 0..1, the detector's; not calibrated.
        none: share of "no mark" among the reader's answers, 0..1.
    """

    kind: MarkKind
    box: Box
    tip: Point | None
    score: float
    none: float = 0.5


@dataclass(frozen=True, slots=True)
class Calibration:
    """What the network's scores are worth, and from which probability its marks count.

    Attributes:
        slope: probability is the logistic function of slope × log odds of the score + status × log odds that the image
            is marked − none × log odds of the reader's share of "no mark" + offset.
        status: see there; 0: what is known of the image counts nothing.
        none: see there; 0: the reader's answer counts nothing.
        offset: see there.
        threshold: probability from which a mark counts.
    """

    slope: float
    status: float
    none: float
    offset: float
    threshold: float

    def probability(self, score: float, marked: float = 0.5, none: float = 0.5) -> float:
        """Return the share of marks among boxes with this score and this answer, on images so likely to be marked."""
        score = min(max(score, 1e-6), 1 - 1e-6)
        odds = self.slope * math.log(score / (1 - score)) + self.status * log_odds(marked) + self.offset
        return 1 / (1 + math.exp(self.none * log_odds(max(none, LEAST_NONE)) - odds))

    def least_score(self, marked: float = 0.5) -> float:
        """Return the score from which a box may be a mark, whatever the reader answers, on images so likely marked."""
        odds = math.log(self.threshold / (1 - self.threshold)) - self.offset - self.status * log_odds(marked)
        return 1 / (1 + math.exp(-(odds + self.none * log_odds(LEAST_NONE)) / self.slope))


@lru_cache(maxsize=1)
def shipped_calibration() -> Calibration:
    """Return what the shipped network's scores are worth.

    Raises:
        SystemicError: when it cannot be read.
    """
    return Calibration(**fitted_numbers(CALIBRATION_FILE, ("slope", "status", "none", "offset", "threshold")))


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


def boxes_of_maps(scores: NDArray[np.float32], boxes: NDArray[np.float32], size: tuple[int, int]) -> list[FoundBox]:
    """Return the boxes that the detector's maps of one picture show, best first.

    Args:
        scores: (rows, columns).
        boxes: (4, rows, columns), pixels of the input.
        size: (width, height) in pixels that the picture fills in the input.
    """
    tall, wide = scores.shape
    padded = np.pad(scores, 1, constant_values=-1.0)
    around = np.max([padded[y : y + tall, x : x + wide] for y in range(3) for x in range(3)], axis=0)
    rows, columns = np.nonzero((scores >= around) & (scores >= LEAST_SCORE))
    order = np.argsort(-scores[rows, columns], kind="stable")[:MOST]
    frame = np.asarray([*size, *size], dtype=np.float64)
    found: list[FoundBox] = []
    for row, column in zip(rows[order].tolist(), columns[order].tolist(), strict=True):
        left, top, right, bottom = np.clip(boxes[:, row, column].astype(np.float64) / frame, 0.0, 1.0).tolist()
        if right > left and bottom > top:  # else it lies in the margin
            found.append(FoundBox((left, top, right, bottom), float(scores[row, column])))
    kept = non_maximum_suppression([one.box for one in found], [one.score for one in found], SAME)
    return [found[k] for k in kept]


def read_frame(box: Box, wide: int, tall: int) -> Box:
    """Return the square, in pixels of a picture, that the reader sees of a normalised box."""
    left, top, right, bottom = denormalise(box, (0.0, 0.0, float(wide), float(tall)))
    half = max(AROUND * max(right - left, bottom - top), LEAST_READ) / 2
    x, y = (left + right) / 2, (top + bottom) / 2
    return (x - half, y - half, x + half, y + half)


def reader_input(pixels: NDArray[np.uint8], frame: Box, side: int = READ_SIDE) -> NDArray[np.uint8]:
    """Return a square of a picture (`read_frame`) as the reader's input (side, side, 3); grey beyond its edges."""
    left, top, right, bottom = (round(v) for v in frame)
    right, bottom = max(right, left + 1), max(bottom, top + 1)
    tall, wide = pixels.shape[:2]
    square = np.full((bottom - top, right - left, 3), MARGIN, np.uint8)
    part = pixels[max(0, top) : max(0, min(tall, bottom)), max(0, left) : max(0, min(wide, right))]
    y, x = max(0, -top), max(0, -left)
    square[y : y + part.shape[0], x : x + part.shape[1]] = part
    return resized(square, (side, side))


def tip_of_places(places: NDArray[np.float32]) -> Point | None:
    """Return the tip as fractions of the reader's input: the mean over the likeliest place and those around it.

    Args:
        places: (257,) shares, see `READ_OUTPUTS`.
    """
    if places[-1] >= 0.5:
        return None
    shares = np.pad(places[:-1].reshape(TIP_PLACES, TIP_PLACES).astype(np.float64), 1)
    row, column = divmod(int(np.argmax(places[:-1])), TIP_PLACES)
    near = shares[row : row + 3, column : column + 3]
    off = np.arange(-1, 2)
    x, y = (float((near.sum(axis=axis) * off).sum() / near.sum()) for axis in (0, 1))
    return ((column + 0.5 + x) / TIP_PLACES, (row + 0.5 + y) / TIP_PLACES)


def mark_of_answers(
    found: FoundBox, kinds: NDArray[np.float32], places: NDArray[np.float32], pixels: NDArray[np.uint8]
) -> SeenMark:
    """Return a mark from the reader's answers about its box, `READ_OUTPUTS` of one box.

    What goes round but has corners is a box: the reader takes many boxes for circles. Of thin marks the widths of the
    ink tell whether there is a head, and at which end: it takes many lines for arrows, and the thicker end for the tip.
    """
    tall, wide = pixels.shape[:2]
    kind = MARK_KINDS[int(np.argmax(kinds[:-1] * np.asarray(AS_USED)))]
    if kind == "circle":
        inside = crop_box(found.box, wide, tall)
        kind = "box" if has_corners(ink_mask(pixels[inside[1] : inside[3], inside[0] : inside[2]])) else kind
    profile = ink_profile(pixels, found.box) if kind == "arrow" else None
    if profile is not None and has_like_ends(profile) and kinds[_ARROW] <= ARROW_OR_LINE * kinds[_LINE]:
        kind = "line"
    left, top, right, bottom = read_frame(found.box, wide, tall)
    point = None
    tip = tip_of_places(places) if kind in ("arrow", "arrowhead") else None
    if tip is not None:
        x, y = (left + tip[0] * (right - left)) / wide, (top + tip[1] * (bottom - top)) / tall
        point = (min(max(x, 0.0), 1.0), min(max(y, 0.0), 1.0))
    if profile is not None and kind == "arrow":
        point = _tip_of_ink(profile, point, wide, tall)
    return SeenMark(kind, found.box, point, found.score, float(kinds[-1]))


_ARROW, _LINE = MARK_KINDS.index("arrow"), MARK_KINDS.index("line")


def _tip_of_ink(profile: InkProfile, point: Point | None, wide: int, tall: int) -> Point | None:
    """Return the end at which the ink has its head where the reader's point is nearer to the other; else that point."""
    tip = tip_of_profile(profile)
    if tip is None or point is None:
        return tip or point
    other = profile.ends[1] if tip is profile.ends[0] else profile.ends[0]
    gaps = [math.hypot((point[0] - x) * wide, (point[1] - y) * tall) for x, y in (tip, other)]
    return tip if gaps[1] < gaps[0] else point


class MarksNetwork:
    """Detector and reader together; see the module's text."""

    def __init__(
        self, path: Path | None = None, reader: Path | None = None, provider: Provider = "cpu", *, threads: int = 1
    ) -> None:
        """Use files of weights; None: the shipped ones."""
        self.path, self.reader, self.provider, self.threads = path, reader, provider, threads
        self.batches = MemoryBatches(lambda: batch_size_for(provider, CROP_BYTES, 1), provider)

    def boxes(self, pictures: Sequence[NDArray[np.uint8]]) -> list[list[FoundBox]]:
        """Return the boxes that the detector alone finds in each picture, best first."""
        return self.batches(list(pictures), partial(_found, self._detector())) if pictures else []

    def load(self) -> None:
        """Make both sessions, so that the first call need not; see `onnx_session` for the errors."""
        self._detector()
        self._reader()

    def _detector(self) -> Any:
        return onnx_session(self.path or shipped_weights(DETECTOR_FILE), OUTPUTS, self.provider, self.threads)

    def _reader(self) -> Any:
        return onnx_session(self.reader or shipped_weights(READER_FILE), READ_OUTPUTS, self.provider, self.threads)

    def __call__(self, pictures: Sequence[NDArray[np.uint8]], least: float = LEAST_SCORE) -> list[list[SeenMark]]:
        """Return the marks of each picture, best first.

        Args:
            pictures: (height, width, 3) uint8 RGB, a pixel at least.
            least: score of the detector below which boxes are left alone: to read one makes it no surer.
        """
        if not pictures:
            return []
        found = [[one for one in boxes if one.score >= least] for boxes in self.boxes(pictures)]
        return [_read(self._reader(), picture, boxes) for picture, boxes in zip(pictures, found, strict=True)]


def _found(session: Any, pictures: Sequence[NDArray[np.uint8]]) -> list[list[FoundBox]]:
    """Return the boxes of pictures, which lie together at the top left of one input."""
    inputs = [marks_input(picture) for picture in pictures]
    tall, wide = (max(frame.shape[axis] for frame, _ in inputs) for axis in (0, 1))
    together = np.full((len(inputs), tall, wide, 3), MARGIN, np.uint8)
    for place, (frame, _) in zip(together, inputs, strict=True):
        place[: frame.shape[0], : frame.shape[1]] = frame
    scores, boxes = session.run(list(OUTPUTS), {"pixels": together})
    return [boxes_of_maps(scores[k], boxes[k], size) for k, (_, size) in enumerate(inputs)]


def _read(session: Any, pixels: NDArray[np.uint8], found: Sequence[FoundBox]) -> list[SeenMark]:
    if not found:
        return []
    tall, wide = pixels.shape[:2]
    seen = np.stack([reader_input(pixels, read_frame(one.box, wide, tall)) for one in found])
    kinds, tips = turned_answers(lambda views: session.run(list(READ_OUTPUTS), {"pixels": views}), seen)
    return [mark_of_answers(one, kinds[k], tips[k], pixels) for k, one in enumerate(found)]


def turned_answers(
    read: Callable[[NDArray[np.uint8]], Sequence[NDArray[np.float32]]], seen: NDArray[np.uint8]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the reader's mean answers (see `READ_OUTPUTS`) about boxes that it sees in all four directions.

    Args:
        read: the reader: views (n, 64, 64, 3) to kinds (n, 8) and places (n, 257).
        seen: views of the boxes.
    """
    count, turns = len(seen), range(4)
    kinds, tips = read(np.concatenate([np.rot90(seen, turn, axes=(1, 2)) for turn in turns]))
    places = tips[:, :-1].reshape(-1, TIP_PLACES, TIP_PLACES)
    back = [np.rot90(places[turn * count : (turn + 1) * count], -turn, axes=(1, 2)) for turn in turns]
    pointed = np.mean(back, axis=0).reshape(count, -1)
    nowhere = tips[:, -1:].reshape(len(turns), count, 1).mean(axis=0)
    return kinds.reshape(len(turns), count, -1).mean(axis=0), np.concatenate([pointed, nowhere], axis=1)
