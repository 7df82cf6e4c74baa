"""The trained networks behind the protocols, through ONNX Runtime on the CPU or a CUDA device.

One pass of one network gives panels, identifiers and images, so that the panel and the image detector of a figure share
it: a process keeps what the network said of each figure that it saw, by its pixels. Sessions are made once per process
and used by one thread each: parallelism comes from worker processes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pictures import pixels_digest
from pmo_assets.pipeline.detection.networks.input_size import bucket_of, network_input
from pmo_assets.pipeline.detection.networks.memory_batches import MemoryBatches, Provider, batch_size_for, loading
from pmo_assets.pipeline.detection.networks.named_weights import shipped_weights
from pmo_assets.pipeline.detection.networks.network_boxes import OUTPUTS, network_boxes
from pmo_assets.pipeline.detection.networks.second_look import joined, tiles_to_see
from pmo_assets.pipeline.detection.protocols import BoxNetwork, NetworkBoxes
from pmo_assets.records.detections import FigureView, ImageDetection, PanelDetection
from pmo_assets.records.geometry import Box
from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.records.stores import SystemicError

DETECTOR_FILE = "figure_detector.onnx"
"""File of the shipped weights in `pmo_assets/weights`."""

PACKAGE_DATA = ("weights/figure_detector.onnx",)
"""Files of the package that this module reads."""

FIGURE_BYTES = 32 * 2**20
"""Memory to reckon with for one more figure in a batch: twice what it takes on the CPU
(`benchmarks/detection_speed.py`), because cuDNN works with larger buffers."""

INPUT_SIDE = "input_side"
"""Metadata of a file: the side of the squares that figures are scaled to; without it `input_size.BUCKETS` hold."""

REMEMBERED = 5000
"""Figures whose boxes are kept, some kilobytes each: more than a worker sees of a batch of articles."""


@lru_cache(maxsize=8)
def onnx_session(path: Path, outputs: tuple[str, ...], provider: Provider = "cpu", threads: int = 1) -> Any:
    """Return the ONNX Runtime session of a network, made once per process.

    Args:
        path: ONNX file with the uint8 input "pixels" (n, height, width, 3).
        outputs: names of the outputs that it must have.
        provider: device that the network runs on.
        threads: on the CPU.

    Raises:
        SystemicError: when the file is no such network, or when ONNX Runtime or CUDA does not work here.
        MemoryError: when the network does not fit into the CPU's memory.
    """
    mend = "see that `python -c 'import onnxruntime'` works where the workers run"
    with loading("ONNX Runtime", provider, mend):
        import onnxruntime  # a quarter of a second: only for processes that detect

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # What goes wrong is raised; the warnings and errors that are logged besides would repeat it for every figure.
    options.log_severity_level = 4
    providers: list[Any] = ["CPUExecutionProvider"]
    if provider == "cuda":
        if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
            raise SystemicError(
                "PMO_DETECTOR_DEVICE=cuda: this ONNX Runtime has no CUDA provider; "
                "pip uninstall onnxruntime and pip install 'onnxruntime-gpu[cuda,cudnn]'"
            )
        if hasattr(onnxruntime, "preload_dlls"):  # from 1.21 on
            with loading("CUDA", provider):
                onnxruntime.preload_dlls()  # CUDA's libraries where pip has put them
        # Every new shape of a batch would start a search among all of cuDNN's algorithms, and the arena would double.
        cuda = {"cudnn_conv_algo_search": "HEURISTIC", "arena_extend_strategy": "kSameAsRequested"}
        providers.insert(0, ("CUDAExecutionProvider", cuda))
    with loading(str(path), provider, "give an ONNX file that `pmo train export` wrote"):
        session = onnxruntime.InferenceSession(str(path), options, providers=providers)
    if provider == "cuda" and "CUDAExecutionProvider" not in session.get_providers():
        # ONNX Runtime would go on without a word, on the CPU.
        raise SystemicError(
            "PMO_DETECTOR_DEVICE=cuda: ONNX Runtime cannot use CUDA here; "
            "see that nvidia-smi works and pip install 'onnxruntime-gpu[cuda,cudnn]'"
        )
    inputs = {item.name: item.type for item in session.get_inputs()}
    missing = sorted(set(outputs) - {item.name for item in session.get_outputs()})
    if inputs != {"pixels": "tensor(uint8)"} or missing:
        raise SystemicError(
            f"{path} is not the expected network (`pmo train export` writes it): inputs {inputs}, "
            f"missing outputs {missing}"
        )
    return session


class FigureNetwork:
    """The compact detector: boxes of panels, identifiers and images of figures, one pass per figure."""

    def __init__(
        self,
        path: Path | None = None,
        provider: Provider = "cpu",
        *,
        batch_size: int | None = None,
        threads: int = 1,
    ) -> None:
        """Use a file of weights (None: the shipped ones); the session is made at the first call.

        Args:
            path: ONNX file.
            provider: device that the network runs on.
            batch_size: figures per pass at most; None for 8 on the CPU, on a GPU what fits into its free memory.
            threads: on the CPU.
        """
        self.path, self.provider, self.threads = path, provider, threads
        self.batches = MemoryBatches(lambda: batch_size or batch_size_for(provider, FIGURE_BYTES, 8), provider)
        # A figure's panels and images are asked for in two steps: its boxes are kept for the second question.
        self._recent: OrderedDict[str, NetworkBoxes] = OrderedDict()

    def load(self) -> Any:
        """Return the session, made at the first call; see `onnx_session` for its errors."""
        return onnx_session(self.path or shipped_weights(DETECTOR_FILE), OUTPUTS, self.provider, self.threads)

    def __call__(self, views: Sequence[FigureView]) -> list[NetworkBoxes]:
        """Return the boxes per figure, same order; figures of one input size share batches."""
        keys = [f"{view.pixels.shape} {pixels_digest(view.pixels)}" for view in views]
        result: list[NetworkBoxes | None] = [self._recent.get(key) for key in keys]
        unseen = [k for k, boxes in enumerate(result) if boxes is None]
        if not unseen:
            return [boxes for boxes in result if boxes is not None]
        # Loaded before any batch: memory that does not suffice for the network is not a matter of the batch.
        session = self.load()
        side = int(session.get_modelmeta().custom_metadata_map.get(INPUT_SIDE, 0))
        groups: dict[tuple[int, int], list[int]] = {}
        for k in unseen:
            groups.setdefault(bucket_of(views[k].pixels.shape[1], views[k].pixels.shape[0], side), []).append(k)
        for bucket, members in groups.items():
            found = self.batches([views[k].pixels for k in members], partial(self._run, session, bucket))
            for k, boxes in zip(members, found, strict=True):
                seen = self._looked_again(session, views[k].pixels, boxes)
                result[k] = seen
                self._recent[keys[k]] = seen
        while len(self._recent) > REMEMBERED:
            self._recent.popitem(last=False)
        return [boxes for boxes in result if boxes is not None]

    def _looked_again(self, session: Any, pixels: NDArray[np.uint8], first: NetworkBoxes) -> NetworkBoxes:
        """Return the boxes of a figure after a second look at pictures too small for the first; see `second_look`."""
        tall, wide = pixels.shape[:2]
        tiles = tiles_to_see(first, wide, tall)
        if not tiles:
            return first
        bucket = bucket_of(tiles[0][2] - tiles[0][0], tiles[0][3] - tiles[0][1])
        parts = [np.ascontiguousarray(pixels[top:bottom, left:right]) for left, top, right, bottom in tiles]
        return joined(first, tiles, self.batches(parts, partial(self._run, session, bucket)), wide, tall)

    def _run(self, session: Any, bucket: tuple[int, int], pictures: Sequence[NDArray[np.uint8]]) -> list[NetworkBoxes]:
        pixels = np.stack([network_input(picture, bucket) for picture in pictures])
        return network_boxes(session.run(list(OUTPUTS), {"pixels": pixels}), bucket)


def as_box(row: NDArray[np.float32]) -> Box:
    """Return a row of four numbers as a box."""
    return (float(row[0]), float(row[1]), float(row[2]), float(row[3]))


class OnnxPanelDetector:
    """Panels and identifiers by the network alone, as a `protocols.PanelDetector`."""

    def __init__(self, network: BoxNetwork | None = None) -> None:
        """Use a network (None: the shipped one)."""
        self.network: BoxNetwork = network or FigureNetwork()

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

    def __init__(self, network: BoxNetwork | None = None) -> None:
        """Use a network (None: the shipped one)."""
        self.network: BoxNetwork = network or FigureNetwork()

    def __call__(
        self, views: Sequence[FigureView], panels: Sequence[Sequence[PanelDetection]]
    ) -> list[list[ImageDetection]]:
        """Return the images per figure; the panels are not looked at."""
        return [network_images(boxes) for boxes in self.network(views)]


def network_images(boxes: NetworkBoxes) -> list[ImageDetection]:
    """Return the images among a network's boxes; their types are decided by `detect_images`, with what it says."""
    return [
        ImageDetection(as_box(box), float(score), "network", None, 0.0, seen_types=type_shares(kinds))
        for box, score, kinds in zip(
            boxes.boxes["image"], boxes.scores["image"], boxes.class_scores["image"], strict=True
        )
    ]


def type_shares(class_scores: NDArray[np.float32]) -> dict[str, float]:
    """Return the network's scores per type (4,) as shares that sum to 1."""
    total = float(class_scores.sum()) or 1.0
    return {name: float(value) / total for name, value in zip(IMAGE_TYPES, class_scores, strict=True)}
