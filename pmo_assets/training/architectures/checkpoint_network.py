"""A run's checkpoint, of any architecture, as a network of the pipeline: it can be scored without an export."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from pmo_assets.pipeline.detection.networks.input_size import bucket_of, network_input
from pmo_assets.pipeline.detection.protocols import NetworkBoxes
from pmo_assets.records.detections import FigureView
from pmo_assets.training.architectures.export import load_detector


class CheckpointFigureNetwork:
    """A trained detector as a `protocols.BoxNetwork`, in PyTorch on the CPU, a figure at a time."""

    def __init__(self, path: Path) -> None:
        """Load a checkpoint (`best.pt`); see `load_detector` for its errors."""
        self.model, info = load_detector(path)
        self.side = int(info.get("input_side", 0))

    def __call__(self, views: Sequence[FigureView]) -> list[NetworkBoxes]:
        """Return the boxes per figure, same order."""
        result = []
        for view in views:
            pixels = network_input(view.pixels, bucket_of(view.pixels.shape[1], view.pixels.shape[0], self.side))
            result += self.model.detected(torch.from_numpy(pixels).permute(2, 0, 1)[None])
        return result
