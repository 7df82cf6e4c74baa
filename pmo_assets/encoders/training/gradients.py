"""Gradients of a contrastive batch: in parts that fit into memory, and over several processes, as of one batch.

Every example is a negative of every other one, so a batch cannot be cut in pieces whose losses add up. Gradient caching
(Gao et al. 2021, "Scaling Deep Contrastive Learning Batch Size under Memory Limited Setup") embeds the parts without a
graph, takes the loss of all embeddings, and then embeds each part again to hand its embeddings' gradients on. Several
processes do the same: each embeds its share, all see all embeddings and take the same loss, and the gradients of the
shares are added up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch import distributed as dist

Embed = Callable[[int], tuple[Tensor, ...]]
"""Gives the embeddings of a part by its number, each (rows of the part, d); noise depends on the number alone."""

Loss = Callable[[tuple[Tensor, ...], Tensor], tuple[Tensor, dict[str, float]]]
"""Gives the loss of all embeddings and the logit scale, and its terms."""


def processes() -> tuple[int, int]:
    """Return the number of this process and how many train together; 0 and 1 without `torchrun`."""
    if dist.is_available() and dist.is_initialized():
        return dist.get_rank(), dist.get_world_size()
    return 0, 1


def add_gradients(
    embed: Embed, parts: int, loss: Loss, scale: Tensor, parameters: Sequence[Tensor], share: float = 1.0
) -> tuple[float, dict[str, float]]:
    """Add the gradients of a batch to those of the parameters, and return its loss and terms.

    Args:
        embed: of this process's parts.
        parts: their number, at least 1.
        loss: of the embeddings of all parts of all processes, process by process.
        scale: () with its graph from the parameters.
        parameters: that are trained, the one of the scale among them.
        share: the gradients are multiplied by it: of several batches that make one step.

    Returns:
        the loss and its terms, the same in every process.
    """
    rank, world = processes()
    if parts == 1 and world == 1:
        value, terms = loss(embed(0), scale)
        (value * share).backward()
        return float(value.detach()), terms
    with torch.no_grad():
        found = [embed(number) for number in range(parts)]
    own = [torch.cat(column) for column in zip(*found, strict=True)]
    gathered = [_gathered(column) for column in own]
    leaves = tuple(torch.cat(column).requires_grad_() for column in gathered)
    constant = scale.detach().requires_grad_()
    value, terms = loss(leaves, constant)
    gradients = torch.autograd.grad(value * share, (*leaves, constant), allow_unused=True)
    before = [None if item.grad is None else item.grad.clone() for item in parameters]
    for item in parameters:
        item.grad = None
    for number in range(parts):
        outputs, backwards = [], []
        for column, (output, gradient) in enumerate(zip(embed(number), gradients, strict=False)):
            if gradient is None or not output.requires_grad:
                continue
            first = sum(len(piece) for piece in gathered[column][:rank])
            first += sum(len(pieces[column]) for pieces in found[:number])
            outputs.append(output)
            backwards.append(gradient[first : first + len(output)])
        if outputs:
            torch.autograd.backward(outputs, backwards)
    if rank == 0 and gradients[-1] is not None and scale.requires_grad:
        torch.autograd.backward(scale, gradients[-1])  # every process has the same one: it counts once
    _add_up(parameters)
    for item, old in zip(parameters, before, strict=True):
        if old is not None:
            item.grad = old if item.grad is None else item.grad + old
    return float(value.detach()), terms


def _gathered(column: Tensor) -> list[Tensor]:
    """Return the rows of every process, in their order; they may have different numbers of rows."""
    rank, world = processes()
    if world == 1:
        return [column]
    counts = [torch.zeros(1, dtype=torch.int64, device=column.device) for _ in range(world)]
    dist.all_gather(counts, torch.tensor([len(column)], device=column.device))
    most = max(int(count) for count in counts)
    padded = column.new_zeros((most, *column.shape[1:]))
    padded[: len(column)] = column
    received = [torch.empty_like(padded) for _ in range(world)]
    dist.all_gather(received, padded)
    received[rank] = padded
    return [rows[: int(count)] for rows, count in zip(received, counts, strict=True)]


def _add_up(parameters: Sequence[Any]) -> None:
    """Add the gradients of all processes; every one has the sum then."""
    _, world = processes()
    if world == 1:
        return
    for item in parameters:
        if item.grad is None:
            item.grad = torch.zeros_like(item)
        dist.all_reduce(item.grad)
