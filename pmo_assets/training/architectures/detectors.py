"""A detector by the name of its architecture, new or from a checkpoint.

All are built from their configuration with random weights: nothing is downloaded. Weights on this machine are taken by
`initial`. What only some architectures need (torchvision, transformers) is imported when one of them is built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from pmo_assets.training.architectures.compact_detector import compact_detector
from pmo_assets.training.architectures.figure_detector import FigureDetector, take_over
from pmo_assets.training.architectures.recipes import RECIPES, Architecture, Size, architecture_of
from pmo_assets.training.architectures.restored import restored_detector
from pmo_assets.training.data.coco import CATEGORIES

LEAST_TAKEN = 0.1
"""Part of a network's numbers that initial weights must give: with less they are those of another network."""


def new_detector(
    architecture: Architecture,
    size: Size = "full",
    initial: Path | None = None,
    network: Mapping[str, Any] | None = None,
) -> FigureDetector:
    """Return a network with random weights, or with those of `initial` where name and shape of a tensor agree.

    Args:
        architecture: name of the network.
        size: see `recipes.Size`.
        initial: a checkpoint of a run (`best.pt`); a file with a state dict, as torchvision's weights are; for the
            compact detector its export (`figure_detector.onnx`, see `restored`); or, for the DETR family, a folder as
            `save_pretrained` of transformers writes it. The DETR family takes the configuration of a checkpoint or
            folder as well, whatever `size` says.
        network: configuration of the DETR family's transformers class, in place of `size`'s; a folder, or a checkpoint
            of the architecture, has its own, of which only `num_labels` is replaced.

    Raises:
        ValueError: when the weights do not fit at all, or the architecture cannot be built.
        FileNotFoundError: without `initial`.
    """
    if initial is not None and not initial.exists():
        raise FileNotFoundError(f"no weights at {initial}")
    if initial is not None and initial.is_dir():
        if RECIPES[architecture].package != "transformers":
            raise ValueError(
                f"{architecture} starts from a file (best.pt or a state dict), not from a folder: {initial}"
            )
        from pmo_assets.training.architectures.detr_detectors import detr_of_folder

        return detr_of_folder(architecture, initial, int((network or {}).get("num_labels", len(CATEGORIES))))
    if initial is not None and initial.suffix == ".onnx":
        if architecture != "compact" or size != "full":
            raise ValueError(
                f"only the compact detector of full size is read back from ONNX, not {architecture} ({size})"
            )
        return restored_detector(initial)
    if initial is None:
        return _built(architecture, size, dict(network) if network else None)
    saved = torch.load(initial, map_location="cpu", weights_only=True)
    weights = saved.get("model", saved)
    own = "config" in saved and saved.get("architecture", "compact") == architecture
    # Of the DETR family a configuration, perhaps of a folder, goes with the weights; the others have few sizes.
    settings = dict(saved["config"]) if own and RECIPES[architecture].package == "transformers" else None
    settings = settings or (dict(network) if network else None)
    detector = _built(architecture, size, settings)
    named = {name: value for name, value in weights.items() if hasattr(value, "shape")}
    # Weights of torchvision lie one module deeper here.
    taken = take_over(detector, named | {f"network.{name}": value for name, value in named.items()})
    own = detector.state_dict()
    share = sum(own[name].numel() for name in taken) / sum(value.numel() for value in own.values())
    if share < LEAST_TAKEN:
        raise ValueError(f"{initial} has only {share:.1%} of the weights of {architecture} ({size}): another network?")
    return detector


def detector_of_checkpoint(saved: Mapping[str, Any]) -> FigureDetector:
    """Return the network of a checkpoint; those that name no architecture are compact detectors."""
    detector = _built(architecture_of(saved.get("architecture", "compact")), "full", dict(saved["config"]))
    detector.load_state_dict(saved["model"])
    return detector


def _built(architecture: Architecture, size: Size, settings: dict[str, Any] | None) -> FigureDetector:
    builder: Callable[[Architecture, Size, dict[str, Any] | None], FigureDetector]
    if architecture == "compact":
        return compact_detector(size, settings)
    try:
        if architecture in ("retinanet", "fcos", "ssdlite"):
            from pmo_assets.training.architectures.torchvision_detectors import torchvision_detector as builder
        else:
            from pmo_assets.training.architectures.detr_detectors import detr_detector as builder
    # A torchvision made for another PyTorch raises RuntimeError when it is imported.
    except (ImportError, RuntimeError) as error:
        package = RECIPES[architecture].package
        raise ValueError(
            f"{package} does not load beside this PyTorch ({error}): install both in the versions of constraints.txt"
        ) from error
    return builder(architecture, size, settings)
