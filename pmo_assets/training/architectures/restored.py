"""The compact detector and the marks reader back from exported ONNX files, so that shipped weights can be trained on.

The export folds every batch normalisation into the convolution before it and names what it has folded after the graph's
nodes. Folded weights give the same answers, but nothing is normalised with them; `with_statistics` gives each
normalisation the statistics of pictures, and factors that leave the answers as they are. Neither is possible for
networks whose graph is not that of `export.export_detector`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import torch
from torch import Tensor, nn

from pmo_assets.training.architectures.compact_detector import CompactConfig, CompactDetector
from pmo_assets.training.architectures.marks_detector import MarksReader
from pmo_assets.training.architectures.onnx_graphs import graph_and_arrays

_NAMED, _FOLDED, _HALF = "detector.", "onnx::", "_half"
"""Prefixes of the names of weights: of those that kept their name, of those that were folded or transposed; and what is
behind the name of one that is stored in half precision."""

_READER: Final = "network."
"""Prefix of the names of the marks reader's weights."""


def restored_detector(path: Path) -> CompactDetector:
    """Return the compact detector of an ONNX file that `export_detector` wrote; its normalisations do nothing.

    Raises:
        ValueError: when the file is no compact detector of full size.
    """
    model = CompactDetector(CompactConfig())
    if wrong := _filled(model, weights_of_onnx(path)):
        raise ValueError(f"{path} is no compact detector of full size as `pmo train export` writes it: {wrong[:3]}")
    return model


def restored_reader(path: Path) -> MarksReader:
    """Return the marks reader of an ONNX file that `export_marks_reader` wrote; its normalisations do nothing.

    Raises:
        ValueError: when the file is no marks reader.
    """
    model = MarksReader()
    if wrong := _filled(model, weights_of_onnx(path, _READER)):
        raise ValueError(f"{path} is no marks reader as `pmo train export` writes it: {wrong[:3]}")
    return model


def _filled(model: nn.Module, weights: dict[str, Tensor]) -> list[str]:
    """Give a model weights, and normalisations that do nothing; return the names that do not fit, then nothing is."""
    own = model.state_dict()
    for name, module in model.named_modules():
        if isinstance(module, nn.BatchNorm2d) and f"{name}.bias" in weights:
            weights[f"{name}.weight"] = torch.full_like(own[f"{name}.weight"], (1 + module.eps) ** 0.5)
            weights |= {f"{name}.running_mean": torch.zeros_like(own[f"{name}.running_mean"])}
            weights |= {f"{name}.running_var": torch.ones_like(own[f"{name}.running_var"])}
            weights |= {f"{name}.num_batches_tracked": torch.zeros_like(own[f"{name}.num_batches_tracked"])}
    wrong = sorted(name for name in own.keys() | weights.keys()
                   if name not in own or name not in weights or own[name].shape != weights[name].shape)  # fmt: skip
    if not wrong:
        model.load_state_dict(weights)
    return wrong


def weights_of_onnx(path: Path, named: str = _NAMED) -> dict[str, Tensor]:
    """Return the weights of an exported network by the names of its modules; folded biases as those of normalisations.

    Args:
        path: of the file.
        named: prefix of the names of its weights.

    Raises:
        ValueError: when the file is no ONNX file, or the package onnx is not installed.
    """
    graph, stored = graph_and_arrays(path)
    arrays = {
        name.removesuffix(_HALF): a.astype("float32") if name.endswith(_HALF) else a for name, a in stored.items()
    }
    found = {name.removeprefix(named): torch.tensor(a) for name, a in arrays.items() if name.startswith(named)}
    for node in graph.node:
        for place, name in enumerate(node.input):
            if name in arrays and name.startswith(_FOLDED):
                found |= _folded(node.op_type, module_of_node(node.name), place, torch.tensor(arrays[name]))
    return found


def _folded(kind: str, module: str, place: int, value: Tensor) -> dict[str, Tensor]:
    if kind == "MatMul":
        return {f"{module}.weight": value.T.contiguous()}
    if kind == "Conv" and place == 1:
        return {f"{module}.weight": value}
    # The normalisation stands behind its convolution.
    before, _, number = module.rpartition(".")
    return {f"{before}.{int(number) + 1}.bias": value} if kind == "Conv" and number.isdigit() else {}


def module_of_node(name: str) -> str:
    """Return the module of a graph's node: "/detector/stem/stem.0/Conv" is that of "stem.0"."""
    parts: list[str] = []
    path = name.split("/")[2:-1]
    for index, whole in enumerate(path):
        named = any(inner.startswith(f"{whole}.") for inner in path[index + 1 : index + 2])
        part = whole if named else re.sub(r"_\d+$", "", whole)  # what is used several times
        if parts and part.startswith(f"{parts[-1]}."):
            parts[-1] = part
        else:
            parts.append(part)
    return ".".join(parts)


def with_statistics(model: nn.Module, pictures: Iterable[Tensor]) -> None:
    """Set mean and variance of every batch normalisation to those of its inputs from pictures; answers stay the same.

    Where a module is used several times in a pass, the mean over its uses counts, as it does in training.

    Args:
        model: answers in evaluation mode are the same before and after.
        pictures: batches (n, 3, h, w) as the model takes them.
    """
    sums: dict[nn.BatchNorm2d, list[Tensor]] = {}

    def note(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        assert isinstance(module, nn.BatchNorm2d)
        variance, mean = torch.var_mean(inputs[0].float(), dim=(0, 2, 3))
        seen = sums.setdefault(module, [torch.zeros(()), torch.zeros_like(mean), torch.zeros_like(mean)])
        seen[0], seen[1], seen[2] = seen[0] + 1, seen[1] + mean, seen[2] + variance

    layers = [m for m in model.modules() if isinstance(m, nn.BatchNorm2d)]
    hooks = [layer.register_forward_pre_hook(note) for layer in layers]
    trained = model.training
    model.eval()
    with torch.no_grad():
        for batch in pictures:
            model(batch)
        for layer, (count, mean, variance) in sums.items():
            assert layer.running_mean is not None
            assert layer.running_var is not None
            mean, variance = mean / count, variance / count
            factor = layer.weight / torch.sqrt(layer.running_var + layer.eps)
            layer.bias += factor * (mean - layer.running_mean)
            layer.weight.copy_(factor * torch.sqrt(variance + layer.eps))
            layer.running_mean.copy_(mean)
            layer.running_var.copy_(variance)
    for hook in hooks:
        hook.remove()
    model.train(trained)
