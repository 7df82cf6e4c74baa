"""The detectors that can be trained, by name. Nothing here needs PyTorch until a network is built.

`compact` is this package's own (`detector.py`); `retinanet`, `fcos` and `ssdlite` are torchvision's; `dab_detr` (the
architecture of Open-PMC-18M), `rtdetr_v2` and `d_fine` are those of transformers. All are built from their
configuration with random weights: nothing is downloaded. Weights on this machine are taken by `initial`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from pmo_assets.training.architectures.figure_detector import FigureDetector

Architecture = Literal["compact", "retinanet", "fcos", "ssdlite", "dab_detr", "rtdetr_v2", "d_fine"]
ARCHITECTURES: tuple[Architecture, ...] = get_args(Architecture)

Size = Literal["tiny", "full"]
"""`full` is the published size; `tiny` learns a handful of figures within seconds, to see whether everything runs."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How an architecture is usually trained with AdamW.

    Attributes:
        package: what must be installed beside PyTorch.
        learning_rate: on the plateau, for eight figures a step.
        clip: largest norm of the gradients.
        text: what it is, for people.
    """

    package: str
    learning_rate: float
    clip: float
    text: str


RECIPES: dict[Architecture, Recipe] = {
    "compact": Recipe("torch", 1.5e-3, 10.0, "the compact detector of this package"),
    "retinanet": Recipe("torchvision", 2e-4, 10.0, "RetinaNet with ResNet-50 and a feature pyramid"),
    "fcos": Recipe("torchvision", 2e-4, 10.0, "FCOS with ResNet-50 and a feature pyramid"),
    "ssdlite": Recipe("torchvision", 1e-3, 10.0, "SSDlite with MobileNetV3"),
    "dab_detr": Recipe("transformers", 1e-4, 0.1, "DAB-DETR with ResNet-50"),
    "rtdetr_v2": Recipe("transformers", 2e-4, 0.1, "RT-DETRv2 with ResNet-50"),
    "d_fine": Recipe("transformers", 2e-4, 0.1, "D-FINE with HGNetv2"),
}
"""Rates and clipping of the DETR family are those of the papers (arXiv 2201.12329, 2407.17140, 2410.13842)."""


LEAST_TAKEN = 0.1
"""Part of a network's numbers that initial weights must give: with less they are those of another network."""


def architecture_of(name: str) -> Architecture:
    """Return a name as an architecture.

    Raises:
        ValueError: when there is none of this name, or what it needs is not installed.
    """
    if name not in RECIPES:
        raise ValueError(f"no architecture {name!r}: there are {', '.join(ARCHITECTURES)}")
    package = RECIPES[name].package
    if find_spec(package) is None:
        raise ValueError(f"the architecture {name} needs {package}: pip install 'pmo-assets[models]'")
    return name


def new_detector(architecture: Architecture, size: Size = "full", initial: Path | None = None) -> FigureDetector:
    """Return a network with random weights, or with those of `initial` where name and shape of a tensor agree.

    Args:
        architecture: which network.
        size: see `Size`.
        initial: a checkpoint of a run (`best.pt`); a file with a state dict, as torchvision's weights are; or, for the
            DETR family, a folder as `save_pretrained` of transformers writes it. The DETR family takes the
            configuration of a checkpoint or folder as well, whatever `size` says.

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

        return detr_of_folder(architecture, initial)
    if initial is None:
        return _built(architecture, size, None)
    import torch

    saved = torch.load(initial, map_location="cpu", weights_only=True)
    weights = saved.get("model", saved)
    own = "config" in saved and saved.get("architecture", "compact") == architecture
    # Of the DETR family a configuration, perhaps of a folder, goes with the weights; the others have few sizes.
    settings = dict(saved["config"]) if own and RECIPES[architecture].package == "transformers" else None
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


def take_over(model: Any, weights: Mapping[str, Any]) -> list[str]:
    """Copy the tensors whose name and shape agree into a module and return their names."""
    own = model.state_dict()
    taken = [name for name, value in weights.items() if name in own and own[name].shape == value.shape]
    model.load_state_dict(own | {name: weights[name] for name in taken})
    return taken


def _built(architecture: Architecture, size: Size, settings: dict[str, Any] | None) -> FigureDetector:
    builder: Callable[[Architecture, Size, dict[str, Any] | None], FigureDetector]
    if architecture == "compact":
        from pmo_assets.training.architectures.detector import compact_detector

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
