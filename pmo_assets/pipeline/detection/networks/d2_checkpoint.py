"""RetinaNet checkpoints of Detectron2, read without Detectron2, and an adapter to Detectron2 where it is installed.

Two formats are in use: `.pth` (PyTorch, `{"model": state dict, …}`) and `.pkl` (the model zoo's pickled dictionary of
NumPy arrays). Both can carry code; only tensors, arrays and plain containers are let through.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pmo_assets.pipeline.detection.networks.memory_batches import MemoryBatches, Provider, loading
from pmo_assets.pipeline.detection.networks.network_boxes import ClassBoxes
from pmo_assets.pipeline.detection.networks.retinanet import RetinaNet, require_cuda
from pmo_assets.pipeline.detection.networks.retinanet_config import (
    ANCHOR_SIZES,
    ASPECT_RATIOS,
    PIXEL_STD,
    CheckpointError,
    RetinaNetOptions,
)
from pmo_assets.records.faults import is_out_of_memory
from pmo_assets.records.stores import SystemicError

DERIVED = ("anchor_generator.", "pixel_mean", "pixel_std")
"""Entries that older versions of Detectron2 saved although they follow from the configuration."""

DETECTRON2_HELP = (
    "see that `python -c 'import detectron2.engine'` works where the workers run (it takes a build for the PyTorch "
    "that is installed, and pip install 'setuptools<81' 'omegaconf>=2.4'), or use PMO_DETECTOR_RUNTIME=torch, which "
    "does not need it"
)
"""Advice when Detectron2 is there but does not work: its model zoo imports `pkg_resources`, gone from setuptools 81,
and omegaconf before 2.4 wants another ANTLR than Dagster."""


class _ArraysOnly(pickle.Unpickler):
    """Unpickles containers, numbers, strings and NumPy arrays; refuses everything else."""

    allowed = frozenset(
        {
            ("numpy.core.multiarray", "_reconstruct"), ("numpy._core.multiarray", "_reconstruct"),
            ("numpy.core.multiarray", "scalar"), ("numpy._core.multiarray", "scalar"),
            ("numpy", "ndarray"), ("numpy", "dtype"), ("collections", "OrderedDict"), ("_codecs", "encode"),
        }
    )  # fmt: skip

    def find_class(self, module: str, name: str) -> Any:
        """Return an allowed global."""
        if (module, name) not in self.allowed:
            raise CheckpointError(_code_refused(f"{module}.{name}"))
        return super().find_class(module, name)


def _code_refused(name: str) -> str:
    return f"the checkpoint wants to load {name}: only weights are accepted, and a file with code is not trustworthy"


def checkpoint_tensors(path: Path) -> dict[str, Tensor]:
    """Return the weights in a checkpoint by name.

    Raises:
        CheckpointError: for a file that holds anything but weights, or none.
    """
    data, failure = None, ""
    try:
        if path.suffix == ".pkl":
            with path.open("rb") as file:
                data = _ArraysOnly(file, encoding="latin1").load()
        else:
            data = torch.load(path, map_location="cpu", weights_only=True)
    except CheckpointError:
        raise
    except Exception as error:  # unpickling something else fails in any way: KeyError for a text, IndexError …
        if is_out_of_memory(error):
            raise
        failure = _why_unreadable(error)
    if failure:
        # Raised here, without the error as its cause: PyTorch's advice is to load the file with its code all the same.
        raise CheckpointError(f"{path}: {failure}")
    weights = data.get("model", data) if isinstance(data, Mapping) else None
    if not isinstance(weights, Mapping) or not weights:
        raise CheckpointError(f"{path} holds no weights")
    return {str(name): _float_tensor(value, f"{name} in {path}") for name, value in weights.items()}


def _why_unreadable(error: Exception) -> str:
    """Return the reason why a file does not load, in own words where PyTorch's advice is dangerous."""
    if named := re.search(r"GLOBAL ([\w.]+)", str(error)):
        return _code_refused(named.group(1))
    if isinstance(error, pickle.UnpicklingError | KeyError | IndexError | EOFError | UnicodeDecodeError):
        return f"this is no file of weights, or a damaged one ({type(error).__name__}): copy it again"
    return f"cannot be read as weights: {' '.join(str(error).split())[:300]}"


def _float_tensor(value: object, what: str) -> Tensor:
    if isinstance(value, Tensor) and value.layout == torch.strided and not value.is_quantized:
        return value.detach().float()
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiu":
        return torch.from_numpy(np.array(value, dtype=np.float32))
    raise CheckpointError(f"{what} is no tensor")


def retinanet_weights(path: Path, classes: int, options: RetinaNetOptions) -> dict[str, Tensor]:
    """Return the weights of a Detectron2 checkpoint that are those of the network, whatever is to run it.

    Args:
        path: `.pth` or `.pkl`.
        classes: 2 (Panel, Label) or 4 (CFP, OCT, Retinal Imaging, Other), in that order.
        options: how the network is run.

    Raises:
        CheckpointError: when names or shapes are not those of RetinaNet-R50-FPN with this number of classes, when the
            input was normalised otherwise, or when weights are not finite.
    """
    weights = checkpoint_tensors(path)
    for name, expected in (("pixel_mean", options.pixel_mean), ("pixel_std", PIXEL_STD)):
        stored = weights[name].flatten() if name in weights else torch.tensor(expected)
        if len(stored) != len(expected) or not torch.allclose(stored, torch.tensor(expected), atol=0.01):
            raise CheckpointError(
                f"{path}: trained with {name} {[round(x, 3) for x in stored.tolist()]}, run with {list(expected)}"
            )
    weights = {name: value for name, value in weights.items() if not name.startswith(DERIVED)}
    weights = {name: value for name, value in weights.items() if not name.endswith("num_batches_tracked")}
    shapes = dict(names_and_shapes(classes))
    missing, unknown = sorted(set(shapes) - set(weights)), sorted(set(weights) - set(shapes))
    if missing or unknown:
        raise CheckpointError(f"{path}: not a RetinaNet-R50-FPN: missing {missing[:3]}, unknown {unknown[:3]}")
    for name, shape in shapes.items():
        value = weights[name]
        if tuple(value.shape) != shape:
            raise CheckpointError(f"{path}: {name} has shape {tuple(value.shape)}, not {shape}")
        if not torch.isfinite(value).all():
            raise CheckpointError(f"{path}: {name} is not finite: the training diverged, or the file is damaged")
        if name.endswith("running_var") and value.min() < 0:
            raise CheckpointError(f"{path}: {name} is negative: the file is damaged")
    return weights


def retinanet_from_checkpoint(path: Path, classes: int, options: RetinaNetOptions | None = None) -> RetinaNet:
    """Return the network of a Detectron2 checkpoint, in evaluation mode; see `retinanet_weights`."""
    weights = retinanet_weights(path, classes, options or RetinaNetOptions())
    model = RetinaNet(classes)
    model.load_state_dict(weights)
    return model.eval()


class Detectron2Network:
    """Detectron2's own RetinaNet on the same checkpoint, as a `retinanet_detectors.ClassNetwork`."""

    def __init__(
        self, path: Path, classes: int, options: RetinaNetOptions | None = None, provider: Provider = "cpu"
    ) -> None:
        """Build the network by Detectron2's configuration of RetinaNet-R50-FPN.

        Detectron2 is not given the file: it would run what a pickle names, and go on with random weights where names
        or shapes are others.

        Raises:
            SystemicError: when Detectron2 is not installed or does not work here.
            CheckpointError: as from `retinanet_weights`.
        """
        if find_spec("detectron2") is None:
            raise SystemicError(
                "PMO_DETECTOR_RUNTIME=detectron2, but Detectron2 is not installed: install it from its sources "
                "(github.com/facebookresearch/detectron2), or use PMO_DETECTOR_RUNTIME=torch, which does not need it"
            )
        require_cuda(provider)
        options = options or RetinaNetOptions()
        weights = retinanet_weights(path, classes, options)
        with loading("Detectron2", provider, DETECTRON2_HELP):
            from detectron2.config import get_cfg  # type: ignore[import-not-found, unused-ignore]
            from detectron2.engine import DefaultPredictor  # type: ignore[import-not-found, unused-ignore]

        with loading("Detectron2's RetinaNet", provider, DETECTRON2_HELP):
            self.predictor = DefaultPredictor(_detectron2_settings(get_cfg(), classes, options, provider))
            self.predictor.model.load_state_dict(weights, strict=True)
            # A device or an extension that does not work fails here, not with every figure.
            with torch.inference_mode():
                self.predictor.model([{"image": torch.zeros(3, 64, 64), "height": 64, "width": 64}])
        self.batches = MemoryBatches(lambda: 1, provider)

    def __call__(self, pictures: Sequence[NDArray[np.uint8]]) -> list[ClassBoxes]:
        """Return the boxes per picture, one after the other as Detectron2's predictor does."""
        return self.batches(pictures, lambda chosen: [self._boxes(pixels) for pixels in chosen])

    def _boxes(self, pixels: NDArray[np.uint8]) -> ClassBoxes:
        found = self.predictor(np.ascontiguousarray(pixels[:, :, ::-1]))["instances"].to("cpu")
        tall, wide = pixels.shape[:2]
        frame = np.asarray([wide, tall, wide, tall], dtype=np.float32)
        boxes = np.asarray(found.pred_boxes.tensor.numpy() / frame, dtype=np.float32)
        return ClassBoxes(
            boxes, np.asarray(found.scores.numpy(), np.float32), np.asarray(found.pred_classes.numpy(), np.int64)
        )


def _detectron2_settings(settings: Any, classes: int, options: RetinaNetOptions, provider: Provider) -> Any:
    """Fill Detectron2's settings with RetinaNet-R50-FPN as its model zoo has it; what is not named here is default.

    Written down instead of read from the model zoo, which needs `pkg_resources`, gone from setuptools 81.
    """
    net = settings.MODEL
    net.META_ARCHITECTURE, net.BACKBONE.NAME = "RetinaNet", "build_retinanet_resnet_fpn_backbone"
    net.RESNETS.OUT_FEATURES = net.FPN.IN_FEATURES = ["res3", "res4", "res5"]
    net.ANCHOR_GENERATOR.SIZES = [list(sizes) for sizes in ANCHOR_SIZES]
    net.ANCHOR_GENERATOR.ASPECT_RATIOS = [list(ASPECT_RATIOS)]
    net.WEIGHTS, net.DEVICE = "", provider
    net.PIXEL_MEAN, net.PIXEL_STD = list(options.pixel_mean), list(PIXEL_STD)
    net.RETINANET.NUM_CLASSES = classes
    net.RETINANET.SCORE_THRESH_TEST = options.score_threshold
    net.RETINANET.TOPK_CANDIDATES_TEST = options.candidates
    net.RETINANET.NMS_THRESH_TEST = options.nms_iou
    settings.TEST.DETECTIONS_PER_IMAGE = options.detections
    settings.INPUT.FORMAT = options.channels
    settings.INPUT.MIN_SIZE_TEST, settings.INPUT.MAX_SIZE_TEST = options.short_side, options.long_side
    return settings


def names_and_shapes(classes: int) -> Sequence[tuple[str, tuple[int, ...]]]:
    """Return the names and shapes a checkpoint with this number of classes must hold."""
    with torch.device("meta"):  # shapes alone, no memory
        model = RetinaNet(classes)
    return [(name, tuple(value.shape)) for name, value in model.state_dict().items()]
