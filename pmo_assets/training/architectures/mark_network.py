"""The mark classifier: a small network that says whether an arrow, circle, box or the like points at a region.

Evidence is local and one mark is enough: every place of the last map votes whether it holds part of a mark, and the
votes are pooled by log-sum-exp, a soft maximum. Where marks were drawn is known in training, so the votes are taught
directly; taught by the picture's label alone the network finds small marks very late.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn

from pmo_assets.training.architectures.compact_detector import _conv, _Residual
from pmo_assets.training.architectures.onnx_graphs import graph_and_arrays


class MarkNetwork(nn.Module):
    """Input (n, 3, 224, 224) float32 0..1 RGB; output (n,) logits that the picture is marked."""

    def __init__(self, widths: tuple[int, int, int, int] = (24, 48, 80, 112)) -> None:
        """Build the network with random weights."""
        super().__init__()
        a, b, c, d = widths
        self.trunk = nn.Sequential(
            _conv(3, 16, 5, 2), _conv(16, a, 3, 2), _Residual(a), _conv(a, b, 3, 2), _Residual(b),
            _conv(b, c, 3, 2), _Residual(c), _conv(c, d, 3, 1), _Residual(d),
        )  # fmt: skip
        self.vote = nn.Conv2d(d, 1, 1)
        nn.init.constant_(self.vote.bias, -3.0)
        self.scale, self.bias = nn.Parameter(torch.tensor(1.0)), nn.Parameter(torch.tensor(0.0))

    def votes(self, x: Tensor) -> Tensor:
        """Return the logits (n, 14, 14) that a place holds part of a mark."""
        votes: Tensor = self.vote(self.trunk((x - 0.5) * 4)).squeeze(1)
        return votes

    def pooled(self, votes: Tensor) -> Tensor:
        """Return the logits (n,) that a picture is marked."""
        return self.scale * torch.logsumexp(votes.flatten(1), dim=1) + self.bias

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits."""
        return self.pooled(self.votes(x))


def network_of_onnx(path: Path, samples: Tensor) -> MarkNetwork:
    """Return a network to train on from an exported one: an ONNX file holds no batch statistics, which are found anew.

    Args:
        path: file that `export.export_marks` wrote.
        samples: (n, 3, 224, 224) float32 0..1, some hundred pictures like those it will be trained on.

    Raises:
        ValueError: when the file holds another network, or none, or the package onnx is not installed.
    """
    graph, arrays = graph_and_arrays(path)
    values = {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
    convolutions = [node.input[1:3] for node in graph.node if node.op_type == "Conv"]
    # Of other networks some weights have no name there, or convolutions no bias.
    known = all(len(names) == 2 and names[0] in values and names[1] in values for names in convolutions)
    saved = [(values[weight], values[bias]) for weight, bias in convolutions] if known else []
    model = MarkNetwork().eval()
    layers = [module for module in model.modules() if isinstance(module, nn.Conv2d)]
    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    if [tuple(layer.weight.shape) for layer in layers] != [tuple(weight.shape) for weight, _ in saved]:
        raise ValueError(f"{path} is not an exported mark classifier")
    with torch.no_grad():
        for layer, (weight, bias) in zip(layers, saved, strict=True):
            layer.weight.copy_(weight)
            if layer.bias is not None:
                layer.bias.copy_(bias)
        for name in ("scale", "bias"):
            getattr(model, name).copy_(values[f"network.{name}"])
        handles = [
            norm.register_forward_pre_hook(_found_statistics(bias))
            for norm, (_, bias) in zip(norms, saved, strict=False)
        ]
        model(samples)
    for handle in handles:
        handle.remove()
    return model


def _found_statistics(bias: Tensor) -> Callable[[nn.Module, tuple[Tensor, ...]], None]:
    """Return a hook that makes a normalisation add `bias` and nothing else, whatever its statistics are."""

    def found(norm: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        assert isinstance(norm, nn.BatchNorm2d)
        assert norm.running_mean is not None
        assert norm.running_var is not None
        mean, variance = inputs[0].mean(dim=(0, 2, 3)), inputs[0].var(dim=(0, 2, 3))
        norm.running_mean.copy_(mean)
        norm.running_var.copy_(variance)
        norm.weight.copy_(torch.sqrt(variance + norm.eps))
        norm.bias.copy_(bias + mean)

    return found
