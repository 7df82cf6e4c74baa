"""Export of trained networks to ONNX, checked against PyTorch before the file counts as written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch
from torch import Tensor, nn

from pmo_assets.pipeline.detection.input_size import BUCKETS
from pmo_assets.pipeline.detection.mark_input import MARK_SIDE
from pmo_assets.pipeline.detection.network_boxes import OUTPUTS
from pmo_assets.pipeline.training.detector import CompactConfig, CompactDetector, scores_and_boxes
from pmo_assets.pipeline.training.mark_network import MarkNetwork

OPSET = 17
"""ONNX operator set: understood by every ONNX Runtime since 1.12."""

TOLERANCE = 2e-3
"""Largest difference allowed between ONNX Runtime and PyTorch: of scores, and of boxes relative to the input's side."""


class DetectorForExport(nn.Module):
    """The detector with uint8 input (n, h, w, 3) and `OUTPUTS` as outputs: nothing to get wrong on the other side."""

    def __init__(self, detector: CompactDetector) -> None:
        """Wrap a trained detector."""
        super().__init__()
        self.detector = detector

    def forward(self, pixels: Tensor) -> tuple[Tensor, ...]:
        """Return scores and boxes per group."""
        return scores_and_boxes(self.detector(pixels.permute(0, 3, 1, 2).float() / 255))


class MarksForExport(nn.Module):
    """The mark classifier with uint8 input (n, 224, 224, 3) and probabilities (n,) as output."""

    def __init__(self, network: MarkNetwork) -> None:
        """Wrap a trained classifier."""
        super().__init__()
        self.network = network

    def forward(self, pixels: Tensor) -> Tensor:
        """Return the probability that each picture is marked."""
        return torch.sigmoid(self.network(pixels.permute(0, 3, 1, 2).float() / 255))


def load_detector(path: Path) -> tuple[CompactDetector, dict[str, Any]]:
    """Return a trained detector in evaluation mode and what its checkpoint says of the run."""
    saved = torch.load(path, map_location="cpu", weights_only=True)
    config: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in saved["config"].items()}
    model = CompactDetector(CompactConfig(**config))
    model.load_state_dict(saved["model"])
    return model.eval(), {key: value for key, value in saved.items() if key != "model"}


def load_marks(path: Path) -> tuple[MarkNetwork, dict[str, Any]]:
    """Return a trained mark classifier in evaluation mode and what its checkpoint says of the run."""
    saved = torch.load(path, map_location="cpu", weights_only=True)
    model = MarkNetwork()
    model.load_state_dict(saved["model"])
    return model.eval(), {key: value for key, value in saved.items() if key != "model"}


def export_detector(checkpoint: Path, target: Path) -> float:
    """Write a detector as ONNX and return the largest difference from PyTorch over all input sizes.

    Raises:
        ArithmeticError: when it exceeds `TOLERANCE`; no file is left then.
    """
    model, _ = load_detector(checkpoint)
    wrapped = DetectorForExport(model).eval()
    sample = torch.zeros((1, *BUCKETS[0], 3), dtype=torch.uint8)
    axes: dict[str, dict[int, str]] = {"pixels": {0: "figures", 1: "height", 2: "width"}}
    axes |= {name: {0: "figures", 1: f"{name}_places"} for name in OUTPUTS}
    inputs = [torch.randint(0, 256, (2, *bucket, 3), dtype=torch.uint8) for bucket in BUCKETS]
    return _exported(wrapped, sample, target, list(OUTPUTS), axes, inputs)


def export_marks(checkpoint: Path, target: Path) -> float:
    """Write a mark classifier as ONNX; see `export_detector`."""
    model, _ = load_marks(checkpoint)
    wrapped = MarksForExport(model).eval()
    shape = (MARK_SIDE, MARK_SIDE, 3)
    inputs = [torch.randint(0, 256, (n, *shape), dtype=torch.uint8) for n in (1, 3)]
    axes: dict[str, dict[int, str]] = {"pixels": {0: "pictures"}, "probability": {0: "pictures"}}
    return _exported(wrapped, torch.zeros((1, *shape), dtype=torch.uint8), target, ["probability"], axes, inputs)


def _exported(
    module: nn.Module,
    sample: Tensor,
    target: Path,
    names: list[str],
    axes: dict[str, dict[int, str]],
    inputs: list[Tensor],
) -> float:
    partial = target.with_suffix(".part")
    target.parent.mkdir(parents=True, exist_ok=True)
    torch.onnx.export(
        module, (sample,), str(partial), input_names=["pixels"], output_names=names, dynamic_axes=axes,
        opset_version=OPSET, dynamo=False,
    )  # fmt: skip
    difference = 0.0
    session = onnxruntime.InferenceSession(str(partial), providers=["CPUExecutionProvider"])
    for value in inputs:
        with torch.no_grad():
            expected = module(value)
        expected = expected if isinstance(expected, tuple) else (expected,)
        for name, want, got in zip(names, expected, session.run(None, {"pixels": value.numpy()}), strict=True):
            scale = float(max(value.shape[1:3])) if name.endswith("boxes") else 1.0
            difference = max(difference, float(np.abs(want.numpy() - got).max()) / scale)
    if difference > TOLERANCE:
        partial.unlink()
        raise ArithmeticError(f"ONNX Runtime differs from PyTorch by {difference:.2g}")
    partial.replace(target)
    return difference
