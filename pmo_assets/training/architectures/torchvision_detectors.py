"""RetinaNet, FCOS and SSDlite of torchvision, as detectors of this package.

Their backbones, heads, anchors and losses are torchvision's. What is left out is what torchvision does around them:
figures come in their input size already, and suppression is that of `network_boxes`, so that every place is an output
and the networks can be exported. SSDlite gives a place one class: of a panel and an image with nearly the same box it
may find only one. Anchors are half as large as for photographs of 800 pixels: printed identifiers are
8 to 20 pixels high here.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torchvision.models import resnet
from torchvision.models.detection import FCOS, RetinaNet, ssdlite320_mobilenet_v3_large
from torchvision.models.detection.anchor_utils import AnchorGenerator, DefaultBoxGenerator
from torchvision.models.detection.backbone_utils import BackboneWithFPN
from torchvision.models.detection.fcos import FCOSHead
from torchvision.models.detection.image_list import ImageList
from torchvision.models.detection.retinanet import RetinaNetHead
from torchvision.ops import box_iou
from torchvision.ops.feature_pyramid_network import LastLevelP6P7

from pmo_assets.training.architectures.figure_detector import (
    FigureDetector,
    Target,
    group_outputs,
    mixed_precision,
    sides_of,
    solid,
)
from pmo_assets.training.architectures.recipes import Architecture, Size
from pmo_assets.training.data.coco import CATEGORIES

ANCHOR_SIZES = tuple(tuple(round(x * 2 ** (k / 3)) for k in range(3)) for x in (16, 32, 64, 128, 256))
"""Sides of RetinaNet's anchors on the five levels, in input pixels."""

SSD_SCALES = (0.05, 0.15, 0.3, 0.45, 0.6, 0.8, 1.0)
"""Sides of SSDlite's boxes on the six levels, as parts of the input's sides; the last one closes the row."""


def torchvision_detector(name: Architecture, size: Size, settings: dict[str, Any] | None = None) -> TorchvisionDetector:
    """Return a network with random weights; `settings` are those of a checkpoint and go before `size`.

    SSDlite has one size: it is small and its width is fixed in torchvision.
    """
    size = settings["size"] if settings is not None else size
    if name == "retinanet":
        return RetinaNetDetector(_retinanet(size), size)
    if name == "fcos":
        return FcosDetector(_fcos(size), size)
    return SsdliteDetector(_ssdlite(), size)


def _pyramid(size: Size) -> BackboneWithFPN:
    """Return a backbone whose tensors have the names of torchvision's `*_resnet50_fpn` weights."""
    if size == "full":
        body, widths, after = resnet.resnet50(weights=None), [512, 1024, 2048], 256
    else:
        body, widths, after = resnet.ResNet(resnet.BasicBlock, [1, 1, 1, 1]), [128, 256, 512], 32
    levels = {f"layer{k}": str(k - 2) for k in (2, 3, 4)}
    return BackboneWithFPN(body, levels, widths, after, extra_blocks=LastLevelP6P7(after, after))


def _retinanet(size: Size) -> RetinaNet:
    backbone = _pyramid(size)
    anchors = AnchorGenerator(ANCHOR_SIZES, ((0.5, 1.0, 2.0),) * len(ANCHOR_SIZES))
    head = RetinaNetHead(backbone.out_channels, anchors.num_anchors_per_location()[0], len(CATEGORIES))
    return RetinaNet(backbone, len(CATEGORIES), anchor_generator=anchors, head=head)


def _fcos(size: Size) -> FCOS:
    backbone = _pyramid(size)
    head = FCOSHead(backbone.out_channels, 1, len(CATEGORIES), num_convs=4 if size == "full" else 1)
    return FCOS(backbone, len(CATEGORIES), head=head)


def _ssdlite() -> nn.Module:
    # Class 0 is torchvision's background.
    network = ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=1 + len(CATEGORIES))
    network.anchor_generator = DefaultBoxGenerator([[2, 3] for _ in range(6)], scales=list(SSD_SCALES))
    return network


class TorchvisionDetector(FigureDetector):
    """Base of the three detectors: a network of torchvision with its heads, anchors and losses."""

    first_label = 0
    """Label of the first category."""

    def __init__(self, network: nn.Module, size: Size) -> None:
        """Wrap a network of torchvision."""
        super().__init__()
        self.network, self.size = network, size

    def settings(self) -> dict[str, Any]:
        """See `FigureDetector`."""
        return {"size": self.size}

    def _seen(self, pictures: Tensor) -> tuple[dict[str, Tensor], Tensor, list[int]]:
        """Return the heads' outputs (float32), the anchors (places, 4) in pixels and the cells of each level."""
        transform = self.network.transform
        mean, deviation = (torch.tensor(v, device=pictures.device) for v in (transform.image_mean, transform.image_std))
        normal = (pictures - mean[:, None, None]) / deviation[:, None, None]
        with mixed_precision(pictures):
            features = list(self.network.backbone(normal).values())
            found = self.network.head(features)
        # Anchors follow the maps' type, and bfloat16 cannot hold their coordinates.
        maps = [x.float() for x in features]
        anchors = self._anchors(normal, maps)
        cells = [x.shape[2] * x.shape[3] for x in features]
        return {name: value.float() for name, value in found.items()}, anchors, cells

    def _anchors(self, pictures: Tensor, maps: list[Tensor]) -> Tensor:
        return self.network.anchor_generator(ImageList(pictures, [(pictures.shape[2], pictures.shape[3])]), maps)[0]

    def _losses(
        self, targets: list[dict[str, Tensor]], found: dict[str, Tensor], anchors: list[Tensor], cells: list[int]
    ) -> dict[str, Tensor]:
        return self.network.compute_loss(targets, found, anchors)

    def loss(self, pictures: Tensor, targets: list[Target]) -> tuple[Tensor, dict[str, float]]:
        """See `FigureDetector`."""
        found, anchors, cells = self._seen(pictures)
        named = [{"boxes": boxes, "labels": kinds + self.first_label} for boxes, kinds in solid(targets)]
        losses = self._losses(named, found, [anchors] * len(named), cells)
        return torch.stack(list(losses.values())).sum(), {k: float(v.detach()) for k, v in losses.items()}

    def _boxes(self, found: dict[str, Tensor], anchors: Tensor) -> Tensor:
        """Return the boxes (n, places, 4) that offsets to anchors stand for."""
        offsets = found["bbox_regression"]
        n, places = offsets.shape[:2]
        moved = self.network.box_coder.decode_single(offsets.reshape(-1, 4), anchors.repeat(n, 1))
        return moved.reshape(n, places, 4)


class RetinaNetDetector(TorchvisionDetector):
    """See the module's text."""

    architecture = "retinanet"

    def outputs(self, pictures: Tensor) -> tuple[Tensor, ...]:
        """See `FigureDetector`."""
        found, anchors, _ = self._seen(pictures)
        return group_outputs(torch.sigmoid(found["cls_logits"]), self._boxes(found, anchors))


class FcosDetector(TorchvisionDetector):
    """See the module's text."""

    architecture = "fcos"

    def _losses(
        self, targets: list[dict[str, Tensor]], found: dict[str, Tensor], anchors: list[Tensor], cells: list[int]
    ) -> dict[str, Tensor]:
        return self.network.compute_loss(targets, found, anchors, cells)

    def outputs(self, pictures: Tensor) -> tuple[Tensor, ...]:
        """See `FigureDetector`; a score is the geometric mean of class and centre score, as in torchvision."""
        found, anchors, _ = self._seen(pictures)
        scores = torch.sqrt(torch.sigmoid(found["cls_logits"]) * torch.sigmoid(found["bbox_ctrness"]))
        n = found["bbox_regression"].shape[0]
        repeated = anchors[None].expand(n, -1, -1)
        return group_outputs(scores, self.network.box_coder.decode(found["bbox_regression"], repeated))


class SsdliteDetector(TorchvisionDetector):
    """See the module's text."""

    architecture = "ssdlite"
    first_label = 1

    def _anchors(self, pictures: Tensor, maps: list[Tensor]) -> Tensor:
        # Of a picture of one pixel, then scaled: torchvision would write the sides into an exported graph.
        return self.network.anchor_generator(ImageList(pictures[:, :, :1, :1], [(1, 1)]), maps)[0] * sides_of(pictures)

    def loss(self, pictures: Tensor, targets: list[Target]) -> tuple[Tensor, dict[str, float]]:
        """See `FigureDetector`; a figure alone is taken twice: its last map is one place, which has no variance."""
        if len(targets) == 1:
            pictures, targets = torch.cat([pictures, pictures]), targets * 2
        return super().loss(pictures, targets)

    def _losses(
        self, targets: list[dict[str, Tensor]], found: dict[str, Tensor], anchors: list[Tensor], cells: list[int]
    ) -> dict[str, Tensor]:
        matched = []
        for target, places in zip(targets, anchors, strict=True):
            if len(target["boxes"]):
                matched.append(self.network.proposal_matcher(box_iou(target["boxes"], places)))
            else:
                matched.append(torch.full((len(places),), -1, dtype=torch.long, device=places.device))
        return self.network.compute_loss(targets, found, anchors, matched)

    def outputs(self, pictures: Tensor) -> tuple[Tensor, ...]:
        """See `FigureDetector`."""
        found, anchors, _ = self._seen(pictures)
        scores = torch.softmax(found["cls_logits"], dim=2)[..., 1:]
        return group_outputs(scores, self._boxes(found, anchors))
