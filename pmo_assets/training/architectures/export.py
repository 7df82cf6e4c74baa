"""Export of trained networks to ONNX, checked against PyTorch before the file counts as written."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch
from torch import Tensor, nn

from pmo_assets.pipeline.detection.networks.input_size import BUCKETS
from pmo_assets.pipeline.detection.networks.mark_input import MARK_SIDE
from pmo_assets.pipeline.detection.networks.network_boxes import OUTPUTS
from pmo_assets.pipeline.detection.networks.onnx_detectors import INPUT_SIDE
from pmo_assets.pipeline.detection.networks.onnx_marks import MARKS_OUTPUTS
from pmo_assets.pipeline.detection.networks.type_input import TYPE_SIDE
from pmo_assets.pipeline.detection.networks.type_network import TYPES_OUTPUTS
from pmo_assets.pipeline.regions.marks_network import OUTPUTS as DETECTED
from pmo_assets.pipeline.regions.marks_network import READ_OUTPUTS, READ_SIDE, SIDE
from pmo_assets.system.aside import path_aside
from pmo_assets.training.architectures.detectors import detector_of_checkpoint
from pmo_assets.training.architectures.figure_detector import FigureDetector
from pmo_assets.training.architectures.image_type_network import ImageTypeNetwork
from pmo_assets.training.architectures.mark_network import MarkNetwork
from pmo_assets.training.architectures.marks_detector import (
    MarksDetector,
    MarksDetectorForExport,
    MarksReader,
    MarksReaderForExport,
)

OPSET = 17
"""ONNX operator set: understood by every ONNX Runtime since 1.12."""

TOLERANCE = 2e-3
"""Largest difference allowed between ONNX Runtime and PyTorch: of scores, and of boxes relative to the input's side."""


HALF_TOLERANCE = 2e-2
"""The same of shares by a network whose weights are stored in half precision: less than decides any type."""


class DetectorForExport(nn.Module):
    """The detector with uint8 input (n, h, w, 3) and `OUTPUTS` as outputs: nothing to get wrong on the other side."""

    def __init__(self, detector: FigureDetector) -> None:
        """Wrap a trained detector."""
        super().__init__()
        self.detector = detector

    def forward(self, pixels: Tensor) -> tuple[Tensor, ...]:
        """Return scores and boxes per group."""
        return self.detector.outputs(pixels.permute(0, 3, 1, 2).float() / 255)


class TypesForExport(nn.Module):
    """The image type network with uint8 input (n, 160, 160, 3) and shares (n, modalities) that sum to 1 as output."""

    def __init__(self, network: ImageTypeNetwork) -> None:
        """Wrap a trained network."""
        super().__init__()
        self.network = network

    def forward(self, pixels: Tensor) -> Tensor:
        """Return the share of each modality per picture."""
        return torch.softmax(self.network(pixels.permute(0, 3, 1, 2).float() / 255), dim=1)


class MarksForExport(nn.Module):
    """The mark classifier with uint8 input (n, 224, 224, 3), probabilities (n,) and votes (n, 14, 14) as output."""

    def __init__(self, network: MarkNetwork) -> None:
        """Wrap a trained classifier."""
        super().__init__()
        self.network = network

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Return the probability that each picture is marked, and the logits that its places hold part of a mark."""
        votes = self.network.votes(pixels.permute(0, 3, 1, 2).float() / 255)
        return torch.sigmoid(self.network.pooled(votes)), votes


def load_detector(path: Path) -> tuple[FigureDetector, dict[str, Any]]:
    """Return a trained detector of any architecture in evaluation mode, and its checkpoint's facts of the run.

    Raises:
        ValueError: when the package that its architecture needs is not installed.
    """
    saved = torch.load(path, map_location="cpu", weights_only=True)
    info = {"architecture": "compact"} | {key: value for key, value in saved.items() if key != "model"}
    return detector_of_checkpoint(saved).eval(), info


def load_marks(path: Path) -> tuple[MarkNetwork, dict[str, Any]]:
    """Return a trained mark classifier in evaluation mode, and its checkpoint's facts of the run."""
    saved = torch.load(path, map_location="cpu", weights_only=True)
    model = MarkNetwork()
    model.load_state_dict(saved["model"])
    return model.eval(), {key: value for key, value in saved.items() if key != "model"}


def load_marks_detector(path: Path) -> tuple[MarksDetector, dict[str, Any]]:
    """Return a trained marks detector in evaluation mode, and its checkpoint's facts of the run."""
    saved = torch.load(path, map_location="cpu", weights_only=True)
    model = MarksDetector()
    model.load_state_dict(saved["model"])
    return model.eval(), {key: value for key, value in saved.items() if key != "model"}


def load_marks_reader(path: Path) -> tuple[MarksReader, dict[str, Any]]:
    """Return a trained marks reader in evaluation mode, and its checkpoint's facts of the run."""
    saved = torch.load(path, map_location="cpu", weights_only=True)
    model = MarksReader()
    model.load_state_dict(saved["model"])
    return model.eval(), {key: value for key, value in saved.items() if key != "model"}


def load_types(path: Path) -> tuple[ImageTypeNetwork, dict[str, Any]]:
    """Return a trained image type network in evaluation mode, and its checkpoint's facts of the run."""
    saved = torch.load(path, map_location="cpu", weights_only=True)
    model = ImageTypeNetwork()
    model.load_state_dict(saved["model"])
    return model.eval(), {key: value for key, value in saved.items() if key != "model"}


def export_detector(checkpoint: Path, target: Path) -> float:
    """Write a detector as ONNX and return the largest difference from PyTorch over all input sizes.

    Every architecture comes out with the same input and `OUTPUTS`: those of torchvision with all their places before
    any suppression, the DETR family with its queries, whose boxes stand for panels, identifiers and images alike.
    Sizes of the input stay free; a network of one size says which (`INPUT_SIDE` of the file's metadata).

    RT-DETRv2 and D-FINE choose their queries by score. Where two places score alike, rounding decides which of them
    becomes a query and in which order, in PyTorch as well (its own answer moves as much when pixels change by a
    millionth). Queries are therefore compared as sets, and the median of their differences counts. A network that has
    hardly been trained may not even pass that.

    Raises:
        ValueError: when PyTorch cannot write this network as ONNX.
        ArithmeticError: when the difference exceeds `TOLERANCE`; no file is left then.
    """
    model, info = load_detector(checkpoint)
    wrapped = DetectorForExport(model).eval()
    side = int(info.get("input_side", 0))
    sizes = ((side, side),) if side else BUCKETS
    sample = torch.zeros((1, *sizes[0], 3), dtype=torch.uint8)
    axes: dict[str, dict[int, str]] = {"pixels": {0: "figures", 1: "height", 2: "width"}}
    axes |= {name: {0: "figures", 1: f"{name}_places"} for name in OUTPUTS}
    inputs = [_patches(size) for size in sizes]
    facts = {INPUT_SIDE: str(side)} if side else {}
    try:
        return _write_onnx(
            wrapped, sample, target, list(OUTPUTS), axes, inputs, as_sets=not model.channels_last, facts=facts
        )
    except (torch.onnx.errors.OnnxExporterError, TypeError, NotImplementedError) as error:
        raise ValueError(
            f"{info['architecture']} cannot be written as ONNX by PyTorch {torch.__version__}: {error}. "
            "Export it with the versions in constraints.txt, or train the architecture compact"
        ) from error


def _patches(bucket: tuple[int, int]) -> Tensor:
    """Return two pictures of coloured patches with some noise: on noise alone all places of a network score alike."""
    generator = torch.Generator().manual_seed(bucket[0])
    patches = torch.rand((2, 3, bucket[0] // 64, bucket[1] // 64), generator=generator)
    pixels = nn.functional.interpolate(patches, size=bucket, mode="nearest").permute(0, 2, 3, 1)
    noise = torch.rand((2, *bucket, 3), generator=generator)
    return ((0.8 * pixels + 0.2 * noise) * 255).to(torch.uint8)


def export_marks(checkpoint: Path, target: Path) -> float:
    """Write a mark classifier as ONNX; see `export_detector`."""
    model, _ = load_marks(checkpoint)
    wrapped = MarksForExport(model).eval()
    shape = (MARK_SIDE, MARK_SIDE, 3)
    inputs = [torch.randint(0, 256, (n, *shape), dtype=torch.uint8) for n in (1, 3)]
    axes = {name: {0: "pictures"} for name in ("pixels", *MARKS_OUTPUTS)}
    return _write_onnx(wrapped, torch.zeros((1, *shape), dtype=torch.uint8), target, list(MARKS_OUTPUTS), axes, inputs)


def export_marks_detector(checkpoint: Path, target: Path) -> float:
    """Write a marks detector as ONNX, its weights in half precision; see `export_detector`. Sizes stay free."""
    model, _ = load_marks_detector(checkpoint)
    wrapped = MarksDetectorForExport(model).eval()
    inputs = [_patches((SIDE, SIDE)), _patches((SIDE // 2, SIDE))]
    free = {0: "pictures", 1: "height", 2: "width"}
    axes = {"pixels": free, "scores": {0: "pictures", 1: "rows", 2: "columns"}}
    axes["boxes"] = {0: "pictures", 2: "rows", 3: "columns"}
    sample = torch.zeros((1, SIDE, SIDE, 3), dtype=torch.uint8)
    return _write_onnx(wrapped, sample, target, list(DETECTED), axes, inputs, half=True)


def export_marks_reader(checkpoint: Path, target: Path) -> float:
    """Write a marks reader as ONNX, its weights in half precision; see `export_detector`."""
    model, _ = load_marks_reader(checkpoint)
    wrapped = MarksReaderForExport(model).eval()
    inputs = [torch.randint(0, 256, (n, READ_SIDE, READ_SIDE, 3), dtype=torch.uint8) for n in (1, 3)]
    axes = {name: {0: "boxes"} for name in ("pixels", *READ_OUTPUTS)}
    sample = torch.zeros((1, READ_SIDE, READ_SIDE, 3), dtype=torch.uint8)
    return _write_onnx(wrapped, sample, target, list(READ_OUTPUTS), axes, inputs, half=True)


def export_types(checkpoint: Path, target: Path) -> float:
    """Write an image type network as ONNX, its weights in half precision; see `export_detector`."""
    model, _ = load_types(checkpoint)
    wrapped = TypesForExport(model).eval()
    shape = (TYPE_SIDE, TYPE_SIDE, 3)
    inputs = [_patches((TYPE_SIDE, TYPE_SIDE)), torch.randint(0, 256, (3, *shape), dtype=torch.uint8)]
    axes: dict[str, dict[int, str]] = {"pixels": {0: "pictures"}, "shares": {0: "pictures"}}
    sample = torch.zeros((1, *shape), dtype=torch.uint8)
    return _write_onnx(wrapped, sample, target, list(TYPES_OUTPUTS), axes, inputs, half=True)


HALVED = 1000
"""Numbers from which a tensor of weights is stored in half precision: biases stay as they are."""


def store_weights_in_half_precision(path: Path) -> None:
    """Store the large weights of an ONNX file in half precision, in place; it computes in single precision as before.

    ONNX Runtime turns them back when it loads the file: half the bytes to ship for a relative error of 2^-11.
    """
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    model = onnx.load(str(path))
    casts = []
    for tensor in model.graph.initializer:
        if tensor.data_type != TensorProto.FLOAT or np.prod(tensor.dims) < HALVED:
            continue
        name = tensor.name
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), f"{name}_half"))
        casts.append(helper.make_node("Cast", [f"{name}_half"], [name], to=TensorProto.FLOAT))
    for place, node in enumerate(casts):
        model.graph.node.insert(place, node)
    onnx.save(model, str(path))


def _write_onnx(
    module: nn.Module,
    sample: Tensor,
    target: Path,
    names: list[str],
    axes: dict[str, dict[int, str]],
    inputs: list[Tensor],
    *,
    as_sets: bool = False,
    half: bool = False,
    facts: Mapping[str, str] | None = None,
) -> float:
    """Write a module as ONNX and return its largest difference from PyTorch; no file is left when that is large.

    `facts` become metadata of the file.
    """
    with path_aside(target) as partial:
        difference = _checked_onnx(module, sample, partial, names, axes, inputs, as_sets=as_sets, half=half)
        if facts:
            _add_metadata(partial, facts)
        return difference


def _add_metadata(path: Path, facts: Mapping[str, str]) -> None:
    import onnx

    model = onnx.load(str(path))
    onnx.helper.set_model_props(model, dict(facts))
    onnx.save(model, str(path))


def _checked_onnx(
    module: nn.Module,
    sample: Tensor,
    partial: Path,
    names: list[str],
    axes: dict[str, dict[int, str]],
    inputs: list[Tensor],
    *,
    as_sets: bool,
    half: bool,
) -> float:
    """Write a module as ONNX and return its largest difference from PyTorch.

    Raises:
        ArithmeticError: when that is large.
    """
    with warnings.catch_warnings():
        # Of what is fixed while tracing; that nothing is which must not be, the comparison below shows.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module, (sample,), str(partial), input_names=["pixels"], output_names=names, dynamic_axes=axes,
            opset_version=OPSET, dynamo=False,
        )  # fmt: skip
    if half:
        store_weights_in_half_precision(partial)
    difference = 0.0
    session = onnxruntime.InferenceSession(str(partial), providers=["CPUExecutionProvider"])
    for value in inputs:
        with torch.no_grad():
            expected = module(value)
        expected = expected if isinstance(expected, tuple) else (expected,)
        scales = [float(max(value.shape[1:3])) if name.endswith("boxes") else 1.0 for name in names]
        wanted = [want.numpy() / scale for want, scale in zip(expected, scales, strict=True)]
        got = [array / scale for array, scale in zip(session.run(None, {"pixels": value.numpy()}), scales, strict=True)]
        difference = max(difference, _set_difference(wanted, got) if as_sets else _difference(wanted, got))
    if not difference <= (HALF_TOLERANCE if half else TOLERANCE):
        advice = ": has the network been trained? With random weights rounding decides its queries" if as_sets else ""
        raise ArithmeticError(f"ONNX Runtime differs from PyTorch by {difference:.2g}{advice}")
    return difference


def _difference(wanted: list[np.ndarray], got: list[np.ndarray]) -> float:
    if [a.shape for a in wanted] != [a.shape for a in got]:
        return float("inf")
    return max(float(np.abs(a - b).max()) for a, b in zip(wanted, got, strict=True))


def _set_difference(wanted: list[np.ndarray], got: list[np.ndarray]) -> float:
    """Return how far a query (its scores and boxes) is from the nearest one of the other side: their median."""
    worst = 0.0
    for one, other in zip(np.concatenate(wanted, axis=2), np.concatenate(got, axis=2), strict=True):
        apart = np.abs(one[:, None] - other[None]).max(axis=2)
        worst = max(worst, float(np.median(apart.min(axis=0))), float(np.median(apart.min(axis=1))))
    return worst
