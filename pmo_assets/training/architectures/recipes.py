"""The architectures that can be trained, by name, and how each is usually trained. A leaf: nothing here needs PyTorch.

`compact` is this package's own (`compact_detector.py`); `retinanet`, `fcos` and `ssdlite` are torchvision's;
`dab_detr` (the architecture of Open-PMC-18M), `rtdetr_v2` and `d_fine` are those of transformers.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal, get_args

Architecture = Literal["compact", "retinanet", "fcos", "ssdlite", "dab_detr", "rtdetr_v2", "d_fine"]
ARCHITECTURES: tuple[Architecture, ...] = get_args(Architecture)

Size = Literal["tiny", "full"]
"""`full` is the published size; `tiny` learns a handful of figures within seconds, to see whether everything runs."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Usual options to train an architecture with AdamW.

    Attributes:
        package: name of the package that it needs beside PyTorch.
        learning_rate: on the plateau, for eight figures a step.
        clip: largest norm of the gradients.
        text: description of the architecture, for people.
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
