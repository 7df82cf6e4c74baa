"""RetinaNet checkpoints of Detectron2, read without Detectron2, and an adapter to Detectron2 where it is installed.

Two formats are in use: `.pth` (PyTorch, `{"model": state dict, …}`) and `.pkl` (the model zoo's pickled dictionary of
NumPy arrays). Both can carry code; only tensors, arrays and plain containers are let through.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pmo_assets.pipeline.detection.memory_batches import Provider
from pmo_assets.pipeline.detection.retinanet import PIXEL_MEAN, RetinaNet, RetinaNetOptions
from pmo_assets.pipeline.detection.retinanet_detectors import ClassBoxes
from pmo_assets.pipeline.faults import is_out_of_memory
from pmo_assets.pipeline.stores import SystemicError

DERIVED = ("anchor_generator.", "pixel_mean", "pixel_std")
"""Entries that older versions of Detectron2 saved although they follow from the configuration."""


class CheckpointError(SystemicError):
    """A file that is no RetinaNet-R50-FPN checkpoint of the expected form; the message says what differs."""


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
            raise CheckpointError(f"the checkpoint wants to load {module}.{name}: only arrays are accepted")
        return super().find_class(module, name)


def checkpoint_tensors(path: Path) -> dict[str, Tensor]:
    """Return the weights in a checkpoint by name.

    Raises:
        CheckpointError: for a file that holds anything but weights, or none.
    """
    try:
        if path.suffix == ".pkl":
            with path.open("rb") as file:
                data = _ArraysOnly(file, encoding="latin1").load()
        else:
            data = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, EOFError, RuntimeError, UnicodeDecodeError) as error:
        if is_out_of_memory(error):
            raise
        raise CheckpointError(f"{path.name} cannot be read as weights: {error}") from error
    weights = data.get("model", data) if isinstance(data, Mapping) else None
    if not isinstance(weights, Mapping) or not weights:
        raise CheckpointError(f"{path.name} holds no weights")
    result = OrderedDict()
    for name, value in weights.items():
        if isinstance(value, Tensor):
            result[str(name)] = value.detach().float()
        elif isinstance(value, np.ndarray):
            result[str(name)] = torch.from_numpy(np.asarray(value, dtype=np.float32))
        else:
            raise CheckpointError(f"{name} in {path.name} is no tensor")
    return result


def retinanet_from_checkpoint(path: Path, classes: int) -> RetinaNet:
    """Return the network of a Detectron2 checkpoint, in evaluation mode.

    Args:
        path: `.pth` or `.pkl`.
        classes: 2 (Panel, Label) or 4 (CFP, OCT, Retinal Imaging, Other), in that order.

    Raises:
        CheckpointError: when names or shapes are not those of RetinaNet-R50-FPN with this number of classes, or when
            the input was normalised otherwise.
    """
    weights = checkpoint_tensors(path)
    mean = weights.get("pixel_mean")
    if mean is not None and not torch.allclose(mean.flatten(), torch.tensor(PIXEL_MEAN), atol=0.01):
        raise CheckpointError(f"pixel means {mean.flatten().tolist()} are not those of caffe-style BGR input")
    weights = {name: value for name, value in weights.items() if not name.startswith(DERIVED)}
    weights = {name: value for name, value in weights.items() if not name.endswith("num_batches_tracked")}
    model = RetinaNet(classes)
    expected = model.state_dict()
    missing, unknown = sorted(set(expected) - set(weights)), sorted(set(weights) - set(expected))
    if missing or unknown:
        raise CheckpointError(f"not a RetinaNet-R50-FPN: missing {missing[:3]}, unknown {unknown[:3]}")
    wrong = [n for n in expected if expected[n].shape != weights[n].shape]
    if wrong:
        name = wrong[0]
        raise CheckpointError(f"{name} has shape {tuple(weights[name].shape)}, not {tuple(expected[name].shape)}")
    model.load_state_dict(weights)
    return model.eval()


class Detectron2Network:
    """Detectron2's own RetinaNet on the same checkpoint, as a `retinanet_detectors.ClassNetwork`."""

    def __init__(
        self, path: Path, classes: int, options: RetinaNetOptions | None = None, provider: Provider = "cpu"
    ) -> None:
        """Build the network by Detectron2's configuration of RetinaNet-R50-FPN.

        Raises:
            SystemicError: without Detectron2.
            CheckpointError: when the file holds anything but weights.
        """
        if find_spec("detectron2") is None:
            raise SystemicError(
                "PMO_DETECTOR_RUNTIME=detectron2, but Detectron2 is not installed: install it from its sources "
                "(github.com/facebookresearch/detectron2), or use PMO_DETECTOR_RUNTIME=torch, which does not need it"
            )
        checkpoint_tensors(path)  # Detectron2 unpickles whatever a file names
        from detectron2.config import get_cfg  # type: ignore[import-not-found, unused-ignore]
        from detectron2.engine import DefaultPredictor  # type: ignore[import-not-found, unused-ignore]
        from detectron2.model_zoo import get_config_file  # type: ignore[import-not-found, unused-ignore]

        options = options or RetinaNetOptions()
        settings = get_cfg()
        settings.merge_from_file(get_config_file("COCO-Detection/retinanet_R_50_FPN_3x.yaml"))
        settings.MODEL.WEIGHTS, settings.MODEL.DEVICE = str(path), provider
        settings.MODEL.RETINANET.NUM_CLASSES = classes
        settings.MODEL.RETINANET.SCORE_THRESH_TEST = options.score_threshold
        settings.MODEL.RETINANET.NMS_THRESH_TEST = options.nms_iou
        settings.TEST.DETECTIONS_PER_IMAGE = options.detections
        self.predictor = DefaultPredictor(settings)

    def __call__(self, pictures: Sequence[NDArray[np.uint8]]) -> list[ClassBoxes]:
        """Return the boxes per picture, one after the other as Detectron2's predictor does."""
        return [self._boxes(pixels) for pixels in pictures]

    def _boxes(self, pixels: NDArray[np.uint8]) -> ClassBoxes:
        found = self.predictor(np.ascontiguousarray(pixels[:, :, ::-1]))["instances"].to("cpu")
        tall, wide = pixels.shape[:2]
        frame = np.asarray([wide, tall, wide, tall], dtype=np.float32)
        boxes = np.asarray(found.pred_boxes.tensor.numpy() / frame, dtype=np.float32)
        return ClassBoxes(
            boxes, np.asarray(found.scores.numpy(), np.float32), np.asarray(found.pred_classes.numpy(), np.int64)
        )


def names_and_shapes(classes: int) -> Sequence[tuple[str, tuple[int, ...]]]:
    """Return the names and shapes a checkpoint with this number of classes must hold."""
    return [(name, tuple(value.shape)) for name, value in RetinaNet(classes).state_dict().items()]
