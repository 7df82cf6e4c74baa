"""DAB-DETR, RT-DETRv2 and D-FINE of transformers, as detectors of this package.

They are built from their configuration alone; `detr_of_folder` takes weights and configuration of a folder on this
machine. A query has one box and a score per category, so that its box stands for every group (`group_outputs`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import (
    DabDetrConfig,
    DabDetrForObjectDetection,
    DFineConfig,
    DFineForObjectDetection,
    HGNetV2Config,
    PreTrainedConfig,
    ResNetConfig,
    RTDetrResNetConfig,
    RTDetrV2Config,
    RTDetrV2ForObjectDetection,
)

from pmo_assets.training.architectures.figure_detector import (
    FigureDetector,
    Target,
    group_outputs,
    sides_of,
    solid,
    take_over,
)
from pmo_assets.training.architectures.recipes import Architecture, Size
from pmo_assets.training.data.coco import CATEGORIES

DETR_CLASSES: dict[Architecture, tuple[type[PreTrainedConfig], type[nn.Module]]] = {
    "dab_detr": (DabDetrConfig, DabDetrForObjectDetection),
    "rtdetr_v2": (RTDetrV2Config, RTDetrV2ForObjectDetection),
    "d_fine": (DFineConfig, DFineForObjectDetection),
}

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Mean and deviation of ImageNet, for DAB-DETR's pictures; RT-DETR and D-FINE take 0..1 as it is."""


def detr_detector(name: Architecture, size: Size, settings: dict[str, Any] | None = None) -> DetrDetector:
    """Return a network with random weights; `settings` are those of a checkpoint and go before `size`."""
    config_class, _ = DETR_CLASSES[name]
    config = _CONFIGS[name](size) if settings is None else config_class.from_dict(settings)
    return _DETECTORS[name](config)


def detr_of_folder(name: Architecture, folder: Path, categories: int = len(CATEGORIES)) -> DetrDetector:
    """Return a network with the configuration and weights of a folder that `save_pretrained` wrote.

    Tensors of other categories than the first so many of `coco.CATEGORIES` have another shape and stay random.

    Raises:
        ValueError: when the folder holds another architecture or no weights.
    """
    config_class, network_class = DETR_CLASSES[name]
    kind = json.loads((folder / "config.json").read_text("utf-8")).get("model_type")
    if kind != config_class.model_type:
        raise ValueError(f"{folder} holds a network of type {kind}, {name} is of type {config_class.model_type}")
    config = config_class.from_pretrained(folder, local_files_only=True, num_labels=categories)
    weights = network_class.from_pretrained(folder, local_files_only=True).state_dict()
    detector = _DETECTORS[name](config)
    if not take_over(detector.network, weights):
        raise ValueError(f"no tensor of {folder} fits {name}")
    return detector


def _dab_detr(size: Size) -> DabDetrConfig:
    if size == "full":
        backbone = ResNetConfig(out_features=["stage4"])
        return DabDetrConfig(backbone_config=backbone, num_labels=len(CATEGORIES), auxiliary_loss=True)
    backbone = ResNetConfig(
        embedding_size=16, hidden_sizes=[16, 32, 48, 64], depths=[1, 1, 1, 1], layer_type="basic",
        out_features=["stage4"],
    )  # fmt: skip
    return DabDetrConfig(
        backbone_config=backbone, num_labels=len(CATEGORIES), hidden_size=64, encoder_layers=1, decoder_layers=2,
        encoder_ffn_dim=64, decoder_ffn_dim=64, encoder_attention_heads=4, decoder_attention_heads=4, num_queries=30,
        dropout=0.0,
    )  # fmt: skip


_TINY_DECODER: dict[str, Any] = {
    "d_model": 32, "encoder_hidden_dim": 32, "decoder_in_channels": [32, 32, 32], "encoder_in_channels": [16, 24, 32],
    "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
    "decoder_layers": 2, "num_queries": 30, "num_denoising": 10, "hidden_expansion": 0.5,
}  # fmt: skip


def _rtdetr_v2(size: Size) -> RTDetrV2Config:
    # Frozen normalisation is for pretrained backbones: with random weights it would normalise nothing.
    shared = {"num_labels": len(CATEGORIES), "freeze_backbone_batch_norms": False}
    if size == "full":
        return RTDetrV2Config(backbone_config=RTDetrResNetConfig(out_indices=[2, 3, 4]), **shared)
    backbone = RTDetrResNetConfig(
        embedding_size=16, hidden_sizes=[16, 16, 24, 32], depths=[1, 1, 1, 1], layer_type="basic",
        out_indices=[2, 3, 4],
    )  # fmt: skip
    return RTDetrV2Config(backbone_config=backbone, **shared, **_TINY_DECODER)


def _d_fine(size: Size) -> DFineConfig:
    shared = {"num_labels": len(CATEGORIES), "freeze_backbone_batch_norms": False}
    if size == "full":
        return DFineConfig(backbone_config=HGNetV2Config(out_indices=[2, 3, 4]), **shared)
    backbone = HGNetV2Config(
        stem_channels=[3, 8, 8], stage_in_channels=[8, 16, 16, 24], stage_mid_channels=[8, 8, 16, 16],
        stage_out_channels=[16, 16, 24, 32], hidden_sizes=[16, 16, 24, 32], stage_num_blocks=[1, 1, 1, 1],
        stage_numb_of_layers=[1, 1, 1, 1], out_indices=[2, 3, 4],
    )  # fmt: skip
    return DFineConfig(backbone_config=backbone, **shared, **_TINY_DECODER, depth_mult=0.34)


_CONFIGS = {"dab_detr": _dab_detr, "rtdetr_v2": _rtdetr_v2, "d_fine": _d_fine}


class DetrDetector(FigureDetector):
    """Base of the three detectors. In full precision on CUDA too: matching and refined boxes need it."""

    channels_last = False

    def __init__(self, config: PreTrainedConfig) -> None:
        """Build the network with random weights."""
        super().__init__()
        self.network = DETR_CLASSES[self.architecture][1](config)

    def settings(self) -> dict[str, Any]:
        """See `FigureDetector`."""
        # Through JSON: what is left are plain values that `torch.load` reads without running code.
        return json.loads(self.network.config.to_json_string(use_diff=False))

    def _input(self, pictures: Tensor) -> Tensor:
        return pictures

    def loss(self, pictures: Tensor, targets: list[Target]) -> tuple[Tensor, dict[str, float]]:
        """See `FigureDetector`; the parts are those of the last layer of the decoder."""
        sides = sides_of(pictures)
        labels = []
        for boxes, categories in solid(targets):
            normal = (boxes / sides).clamp(0, 1)
            middle, size = (normal[:, :2] + normal[:, 2:]) / 2, normal[:, 2:] - normal[:, :2]
            labels.append({"boxes": torch.cat([middle, size], dim=1), "class_labels": categories})
        found = self.network(self._input(pictures), labels=labels)
        parts = {name: float(value.detach()) for name, value in found.loss_dict.items() if name in _PARTS}
        return found.loss, parts

    def outputs(self, pictures: Tensor) -> tuple[Tensor, ...]:
        """See `FigureDetector`."""
        found = self.network(self._input(pictures))
        middle, size = found.pred_boxes[..., :2], found.pred_boxes[..., 2:]
        boxes = torch.cat([middle - size / 2, middle + size / 2], dim=2) * sides_of(pictures)
        return group_outputs(_all_categories(torch.sigmoid(found.logits)), boxes)


def _all_categories(probabilities: Tensor) -> Tensor:
    """Return probabilities (n, queries, 6) of a network that knows the first categories alone: 0 for the others."""
    missing = len(CATEGORIES) - probabilities.shape[2]
    return nn.functional.pad(probabilities, (0, missing)) if missing > 0 else probabilities


_PARTS = ("loss_ce", "loss_vfl", "loss_bbox", "loss_giou", "loss_fgl")


class DabDetrDetector(DetrDetector):
    """See the module's text."""

    architecture = "dab_detr"

    def __init__(self, config: PreTrainedConfig) -> None:
        """Build the network; its normalisation layers learn, which transformers' do not."""
        super().__init__(config)
        _trainable_norms(self.network)

    def _input(self, pictures: Tensor) -> Tensor:
        mean, deviation = (torch.tensor(v, device=pictures.device)[:, None, None] for v in (MEAN, DEVIATION))
        return (pictures - mean) / deviation


class RtDetrV2Detector(DetrDetector):
    """See the module's text."""

    architecture = "rtdetr_v2"


class DFineDetector(DetrDetector):
    """See the module's text."""

    architecture = "d_fine"


_DETECTORS: dict[Architecture, type[DetrDetector]] = {
    "dab_detr": DabDetrDetector,
    "rtdetr_v2": RtDetrV2Detector,
    "d_fine": DFineDetector,
}


def _trainable_norms(module: nn.Module) -> None:
    """Replace frozen batch normalisation, in place: with random weights it would normalise nothing."""
    for name, child in module.named_children():
        if type(child).__name__.endswith("FrozenBatchNorm2d"):
            norm = nn.BatchNorm2d(child.weight.shape[0])
            take_over(norm, child.state_dict())
            setattr(module, name, norm)
        else:
            _trainable_norms(child)
