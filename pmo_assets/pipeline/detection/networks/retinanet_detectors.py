"""The paper's detectors: two RetinaNets of Detectron2, one for panels and identifiers, one for images by type.

Each is a checkpoint file, run by the PyTorch network of `retinanet.py` or by Detectron2 itself. Both give boxes with a
class; here these become detections (a network alone) or boxes by group (beside structure). Nothing here needs PyTorch
until the first figure is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pmo_assets.pipeline.detection.networks.memory_batches import Provider, loading
from pmo_assets.pipeline.detection.networks.network_boxes import CLASSES, ClassBoxes, ClassNetwork, suppressed
from pmo_assets.pipeline.detection.networks.onnx_detectors import as_box, type_shares
from pmo_assets.pipeline.detection.networks.retinanet_config import retinanet_options
from pmo_assets.pipeline.detection.protocols import Floats, NetworkBoxes
from pmo_assets.records.detections import FigureView, ImageDetection, PanelDetection
from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.records.stores import SystemicError

Runtime = Literal["torch", "detectron2"]
"""The implementation that runs a checkpoint: this package's network, or Detectron2 where it is installed."""

PANEL_CLASSES, IMAGE_CLASSES = ("Panel", "Label"), tuple(IMAGE_TYPES)
"""Classes of the two checkpoints in the order of their numbers (paper, Methods)."""

SAME_IOU = 0.5
"""Boxes of different types that overlap more show one image: Detectron2 suppresses within each class only."""


@lru_cache(maxsize=8)
def loaded_network(path: Path, classes: int, provider: Provider = "cpu", runtime: Runtime = "torch") -> ClassNetwork:
    """Return the network of a checkpoint, made once per process.

    It is run as the configuration beside the checkpoint says (`retinanet_config.py`).

    Raises:
        SystemicError: when the file is missing or is no such checkpoint, or when what runs it is not installed or does
            not work here.
        MemoryError: when the network does not fit into the CPU's memory.
    """
    if not path.is_file():
        raise SystemicError(f"there is no checkpoint at {path}")
    if find_spec("torch") is None:
        raise SystemicError("RetinaNet checkpoints need PyTorch: pip install 'pmo-assets[models]'")
    options = retinanet_options(path, classes)
    with loading("PyTorch", provider, "see that `python -c 'import torch'` works where the workers run"):
        from pmo_assets.pipeline.detection.networks.d2_checkpoint import Detectron2Network, retinanet_from_checkpoint
        from pmo_assets.pipeline.detection.networks.retinanet import TorchNetwork

    with loading(str(path), provider):
        if runtime == "detectron2":
            return Detectron2Network(path, classes, options, provider)
        return TorchNetwork(retinanet_from_checkpoint(path, classes, options), provider, options=options)


@dataclass(frozen=True, slots=True)
class CheckpointNetwork:
    """A checkpoint as a `ClassNetwork` that is loaded at its first use, in the process that uses it.

    Attributes:
        path: `.pth` or `.pkl` of Detectron2.
        classes: 2 (`PANEL_CLASSES`) or 4 (`IMAGE_CLASSES`).
        provider: device that the network runs on.
        runtime: implementation that runs it.
    """

    path: Path
    classes: int
    provider: Provider = "cpu"
    runtime: Runtime = "torch"

    def load(self) -> ClassNetwork:
        """Return the network, loaded at the first call; see `loaded_network` for its errors."""
        return loaded_network(self.path, self.classes, self.provider, self.runtime)

    def __call__(self, pictures: Sequence[NDArray[np.uint8]]) -> list[ClassBoxes]:
        """Return the boxes per picture."""
        return self.load()(pictures)


class RetinaNetPanelDetector:
    """Panels (class 0) and identifiers (class 1) by a RetinaNet alone, as a `protocols.PanelDetector`."""

    def __init__(self, network: ClassNetwork) -> None:
        """Use a network with the classes `PANEL_CLASSES`."""
        self.network = network

    def __call__(self, views: Sequence[FigureView]) -> list[list[PanelDetection]]:
        """Return panels and unread identifiers per figure."""
        return [
            [
                PanelDetection("panel" if kind == 0 else "identifier", as_box(box), float(score), "network")
                for box, score, kind in zip(found.boxes, found.scores, found.classes, strict=True)
            ]
            for found in self.network([view.pixels for view in views])
        ]


class RetinaNetImageDetector:
    """Images with the paper's four types by a RetinaNet alone, as a `protocols.ImageDetector`."""

    def __init__(self, network: ClassNetwork) -> None:
        """Use a network with the classes `IMAGE_CLASSES`."""
        self.network = network

    def __call__(
        self, views: Sequence[FigureView], panels: Sequence[Sequence[PanelDetection]]
    ) -> list[list[ImageDetection]]:
        """Return the images per figure, typed by their class; the panels are not looked at."""
        result = []
        for found in self.network([view.pixels for view in views]):
            images = []
            for box, score, kind, row in zip(
                found.boxes, found.scores, found.classes, class_scores(found, len(IMAGE_TYPES)), strict=True
            ):
                name, shares = IMAGE_TYPES[int(kind)], type_shares(row)
                images.append(
                    ImageDetection(as_box(box), float(score), "network", name, shares[name], shares, "network")
                )
            result.append(images)
        return result


class RetinaNetBoxes:
    """A RetinaNet beside structure, as a `protocols.BoxNetwork`."""

    def __init__(self, network: ClassNetwork, classes: int) -> None:
        """Use a network with `classes` classes: 2 gives the groups panel and label, 4 the group image."""
        self.network, self.classes = network, classes

    def __call__(self, views: Sequence[FigureView]) -> list[NetworkBoxes]:
        """Return the boxes per figure; groups of the other checkpoint are empty."""
        return [boxes_by_group(found, self.classes) for found in self.network([view.pixels for view in views])]


def class_scores(found: ClassBoxes, classes: int) -> Floats:
    """Return a score per box and class (k, classes).

    The score of the box's own class is its own; that of another class is the best weaker box's of it in the same place.
    """
    scores = np.zeros((len(found.boxes), classes), dtype=np.float32)
    overlap = _overlaps(found.boxes)
    for k, kind in enumerate(found.classes):
        for j in np.flatnonzero((overlap[k] >= SAME_IOU) & (found.scores <= found.scores[k])):
            scores[k, found.classes[j]] = max(scores[k, found.classes[j]], found.scores[j])
        scores[k, kind] = found.scores[k]
    return scores


def _overlaps(boxes: Floats) -> Floats:
    """Return the IoU of every two boxes (k, k)."""
    low, high = np.maximum(boxes[:, None, :2], boxes[None, :, :2]), np.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
    common = np.clip(high - low, 0, None).prod(axis=2)
    sizes = (boxes[:, 2:] - boxes[:, :2]).prod(axis=1)
    return np.asarray(common / np.maximum(sizes[:, None] + sizes[None, :] - common, 1e-9), dtype=np.float32)


def boxes_by_group(found: ClassBoxes, classes: int) -> NetworkBoxes:
    """Return the boxes of a RetinaNet by group, best first; image types are one group."""
    none = np.zeros(0, dtype=np.int64)
    if classes == len(PANEL_CLASSES):
        of_group = {"panel": np.flatnonzero(found.classes == 0), "label": np.flatnonzero(found.classes == 1)}
        scores = found.scores[:, None]
    else:
        of_group = {"image": suppressed(found.boxes, found.scores, SAME_IOU)}
        scores = class_scores(found, classes)
    chosen = {group: of_group.get(group, none) for group in CLASSES}
    return NetworkBoxes(
        {group: found.boxes[k] for group, k in chosen.items()},
        {group: found.scores[k] for group, k in chosen.items()},
        {group: scores[k] for group, k in chosen.items()},
    )
