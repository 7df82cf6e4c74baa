"""Interface of all detectors of this package, whatever their architecture: learn from boxes, return `OUTPUTS`.

Training, evaluation and export call this class alone. Add here: a method that all of them need. Keep out: anything of
one architecture.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from pmo_assets.pipeline.detection.networks.network_boxes import network_boxes
from pmo_assets.pipeline.detection.protocols import NetworkBoxes
from pmo_assets.training.architectures.recipes import Architecture

Target = tuple[Tensor, Tensor]
"""Boxes (k, 4) of a figure in input pixels, float32, and their indices (k,) into `coco.CATEGORIES`, int64."""


class FigureDetector(nn.Module):
    """A network that finds panels, identifiers and images; pictures are (n, 3, h, w) float32 0..1 RGB."""

    architecture: ClassVar[Architecture]
    channels_last: ClassVar[bool] = True
    """True if the channels of a pixel may lie together in memory (channels last), which is faster for convolutions."""

    def settings(self) -> dict[str, Any]:
        """Return the options that the network was built from, as plain values, which a checkpoint records."""
        raise NotImplementedError

    def loss(self, pictures: Tensor, targets: list[Target]) -> tuple[Tensor, dict[str, float]]:
        """Return the loss of a batch and its parts; on CUDA the network may run in mixed precision."""
        raise NotImplementedError

    def outputs(self, pictures: Tensor) -> tuple[Tensor, ...]:
        """Return scores (n, places, classes) and boxes (n, places, 4), see `network_boxes.OUTPUTS`."""
        raise NotImplementedError

    def as_pictures(self, pixels: Tensor) -> Tensor:
        """Return pixels (n, 3, h, w) uint8 as pictures on the network's device."""
        moved = pixels.to(next(self.parameters()).device)
        return (moved.to(memory_format=torch.channels_last) if self.channels_last else moved).float() / 255

    def detected(self, pixels: Tensor) -> list[NetworkBoxes]:
        """Return the boxes of figures (n, 3, h, w) uint8, normalised to 0..1."""
        with torch.no_grad():
            arrays = [t.float().cpu().numpy() for t in self.outputs(self.as_pictures(pixels))]
        return network_boxes(arrays, (pixels.shape[2], pixels.shape[3]))


def mixed_precision(pictures: Tensor) -> AbstractContextManager[Any]:
    """Return the context a network runs in: bfloat16 on CUDA, whose range needs no scaling of the loss."""
    return torch.autocast("cuda", dtype=torch.bfloat16, enabled=pictures.device.type == "cuda")


def group_outputs(probabilities: Tensor, boxes: Tensor) -> tuple[Tensor, ...]:
    """Return `OUTPUTS` of a network whose boxes belong to no group: each stands for every group at once.

    Args:
        probabilities: (n, places, 6) 0..1 per category, each on its own.
        boxes: (n, places, 4) in input pixels.

    The score of an image is that of its best type; the types share it.
    """
    types = probabilities[..., 2:]
    images = types / types.sum(dim=2, keepdim=True).clamp(min=1e-9) * types.amax(dim=2, keepdim=True)
    return probabilities[..., :1], boxes, probabilities[..., 1:2], boxes, images, boxes


def sides_of(pictures: Tensor) -> Tensor:
    """Return (4,) width, height, width, height; counted in the graph, so that an exported network knows its input's."""
    height = torch.ones_like(pictures[0, 0, :, 0]).sum()
    width = torch.ones_like(pictures[0, 0, 0, :]).sum()
    return torch.stack([width, height, width, height])


def solid(targets: list[Target]) -> list[Target]:
    """Return the targets without boxes thinner than half a pixel: anchors and IoU have no use for them."""
    result = []
    for boxes, categories in targets:
        kept = (boxes[:, 2:] - boxes[:, :2] > 0.5).all(dim=1)
        result.append((boxes[kept], categories[kept]))
    return result


def take_over(model: nn.Module, weights: Mapping[str, Any]) -> list[str]:
    """Copy the tensors whose name and shape agree into a module and return their names."""
    own = model.state_dict()
    taken = [name for name, value in weights.items() if name in own and own[name].shape == value.shape]
    model.load_state_dict(own | {name: weights[name] for name in taken})
    return taken
