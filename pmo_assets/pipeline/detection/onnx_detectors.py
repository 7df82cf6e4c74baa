"""The trained networks behind the protocols, through ONNX Runtime on the CPU or a CUDA device.

One pass of one network gives panels, identifiers and images, so that the panel and the image detector of a figure share
it. Sessions are made once per process and used by one thread each: parallelism comes from worker processes.
"""

from __future__ import annotations

import math
import re
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.detections import IMAGE_TYPES, FigureView, ImageDetection, PanelDetection
from pmo_assets.pipeline.detection.input_size import bucket_of, network_input
from pmo_assets.pipeline.detection.mark_input import mark_input
from pmo_assets.pipeline.detection.marks import MARK_WORDS, is_plot
from pmo_assets.pipeline.detection.network_boxes import OUTPUTS, NetworkBoxes, network_boxes
from pmo_assets.pipeline.geometry import Box

Provider = Literal["cpu", "cuda"]

DETECTOR_FILE, MARKS_FILE = "figure_detector.onnx", "mark_classifier.onnx"
"""Files of the shipped weights in `pmo_assets/weights`."""


def shipped_weights(name: str) -> Path:
    """Return the path of a file in the package's folder of weights.

    Raises:
        FileNotFoundError: when the package was built without it.
    """
    path = Path(str(files("pmo_assets").joinpath("weights", name)))
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: `pmo train` makes it, a release of the package has it")
    return path


@lru_cache(maxsize=8)
def onnx_session(path: Path, provider: Provider = "cpu", threads: int = 1) -> Any:
    """Return the ONNX Runtime session of a file, made once per process.

    Raises:
        RuntimeError: when CUDA is asked for and this ONNX Runtime has no CUDA provider.
    """
    import onnxruntime  # a quarter of a second: only for processes that detect

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    providers = ["CPUExecutionProvider"]
    if provider == "cuda":
        if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
            raise RuntimeError("ONNX Runtime has no CUDA provider here: install onnxruntime-gpu in its place")
        providers = ["CUDAExecutionProvider", *providers]
    return onnxruntime.InferenceSession(str(path), options, providers=providers)


class FigureNetwork:
    """The compact detector: boxes of panels, identifiers and images of figures, one pass per figure."""

    def __init__(
        self, path: Path | None = None, provider: Provider = "cpu", *, batch_size: int = 8, threads: int = 1
    ) -> None:
        """Use a file of weights (None: the shipped ones); the session is made at the first call."""
        self.path, self.provider, self.batch_size, self.threads = path, provider, batch_size, threads
        # A figure's panels and images are asked for one after the other: its boxes are kept for the second question.
        self._recent: OrderedDict[int, tuple[weakref.ref[Any], NetworkBoxes]] = OrderedDict()

    def __call__(self, views: Sequence[FigureView]) -> list[NetworkBoxes]:
        """Return the boxes per figure, same order; figures of one input size share batches."""
        result: list[NetworkBoxes | None] = [self._remembered(view) for view in views]
        groups: dict[tuple[int, int], list[int]] = {}
        for k, view in enumerate(views):
            if result[k] is None:
                groups.setdefault(bucket_of(view.pixels.shape[1], view.pixels.shape[0]), []).append(k)
        for bucket, members in groups.items():
            for start in range(0, len(members), self.batch_size):
                chosen = members[start : start + self.batch_size]
                pixels = np.stack([network_input(views[k].pixels, bucket) for k in chosen])
                for k, boxes in zip(chosen, network_boxes(self._run(pixels), bucket), strict=True):
                    result[k] = boxes
                    self._remember(views[k], boxes)
        return [boxes for boxes in result if boxes is not None]

    def _run(self, pixels: NDArray[np.uint8]) -> list[NDArray[np.float32]]:
        session = onnx_session(self.path or shipped_weights(DETECTOR_FILE), self.provider, self.threads)
        return list(session.run(list(OUTPUTS), {"pixels": pixels}))

    def _remembered(self, view: FigureView) -> NetworkBoxes | None:
        entry = self._recent.get(id(view.pixels))
        return entry[1] if entry is not None and entry[0]() is view.pixels else None

    def _remember(self, view: FigureView, boxes: NetworkBoxes) -> None:
        self._recent[id(view.pixels)] = (weakref.ref(view.pixels), boxes)
        while len(self._recent) > 4 * self.batch_size:
            self._recent.popitem(last=False)


def as_box(row: NDArray[np.float32]) -> Box:
    """Return a row of four numbers as a box."""
    return (float(row[0]), float(row[1]), float(row[2]), float(row[3]))


class OnnxPanelDetector:
    """Panels and identifiers by the network alone, as a `protocols.PanelDetector`."""

    def __init__(self, network: FigureNetwork | None = None) -> None:
        """Use a network (None: the shipped one)."""
        self.network = network or FigureNetwork()

    def __call__(self, views: Sequence[FigureView]) -> list[list[PanelDetection]]:
        """Return panels and identifiers (unread: `text` None) per figure."""
        return [network_panels(boxes) for boxes in self.network(views)]


def network_panels(boxes: NetworkBoxes) -> list[PanelDetection]:
    """Return the panels and identifiers among a network's boxes."""
    return [
        PanelDetection("panel" if group == "panel" else "identifier", as_box(box), float(score), "network")
        for group in ("panel", "label")
        for box, score in zip(boxes.boxes[group], boxes.scores[group], strict=True)
    ]


class OnnxImageDetector:
    """Images with their type by the network alone, as a `protocols.ImageDetector`."""

    def __init__(self, network: FigureNetwork | None = None) -> None:
        """Use a network (None: the shipped one)."""
        self.network = network or FigureNetwork()

    def __call__(
        self, views: Sequence[FigureView], panels: Sequence[Sequence[PanelDetection]]
    ) -> list[list[ImageDetection]]:
        """Return the images per figure; the panels are not looked at."""
        return [network_images(boxes) for boxes in self.network(views)]


def network_images(boxes: NetworkBoxes) -> list[ImageDetection]:
    """Return the images among a network's boxes; their types are left to `detect_images`."""
    return [
        ImageDetection(as_box(box), float(score), "network", None, 0.0)
        for box, score in zip(boxes.boxes["image"], boxes.scores["image"], strict=True)
    ]


def type_shares(class_scores: NDArray[np.float32]) -> dict[str, float]:
    """Return the network's scores per type (4,) as shares that sum to 1."""
    total = float(class_scores.sum()) or 1.0
    return {name: float(value) / total for name, value in zip(IMAGE_TYPES, class_scores, strict=True)}


class OnnxMarkClassifier:
    """Mark status by the network and the caption's words, as a `protocols.MarkClassifier`."""

    def __init__(
        self, path: Path | None = None, provider: Provider = "cpu", *, batch_size: int = 16, threads: int = 1
    ) -> None:
        """Use a file of weights (None: the shipped ones); the session is made at the first call."""
        self.path, self.provider, self.batch_size, self.threads = path, provider, batch_size, threads

    def probabilities(self, crops: Sequence[NDArray[np.uint8]]) -> list[float]:
        """Return the network's probability that each picture is marked."""
        found: list[float] = []
        for start in range(0, len(crops), self.batch_size):
            pixels = np.stack([mark_input(crop) for crop in crops[start : start + self.batch_size]])
            session = onnx_session(self.path or shipped_weights(MARKS_FILE), self.provider, self.threads)
            found += [float(v) for v in session.run(None, {"pixels": pixels})[0]]
        return found

    def __call__(self, crops: Sequence[NDArray[np.uint8]], words: Sequence[str]) -> list[tuple[bool | None, float]]:
        """Return (marked, score) per crop; None when the crop is too small to see a mark and no word names one."""
        large = [min(crop.shape[:2], default=0) >= 12 for crop in crops]
        seen = iter(self.probabilities([crop for crop, ok in zip(crops, large, strict=True) if ok]))
        result: list[tuple[bool | None, float]] = []
        for crop, ok, text in zip(crops, large, words, strict=True):
            if not ok:
                result.append((True, 0.8) if MARK_WORDS.search(text) else (None, 0.3))
                continue
            score = with_words(next(seen), text, plot=is_plot(crop))
            result.append((score >= 0.5, round(score, 6)))
        return result


NAMED, ARROW, PLOT, PLAIN = 1.0, 1.5, -0.5, -0.25
"""Log odds that are added to the network's: when the caption names marks, when it names arrows (both count), when the
picture is a plot, always. Accuracy on the annotated images is the same within 1 % for all values near these."""


def with_words(probability: float, words: str, *, plot: bool) -> float:
    """Return the probability that a picture is marked.

    Args:
        probability: the network's.
        words: what the caption says about the picture; "" when unknown.
        plot: whether most of the picture is paper.
    """
    odds = math.log(max(probability, 1e-6) / max(1 - probability, 1e-6)) + PLAIN + PLOT * plot
    odds += NAMED * bool(MARK_WORDS.search(words)) + ARROW * bool(re.search(r"\barrow", words, re.IGNORECASE))
    return 1 / (1 + math.exp(-odds))
