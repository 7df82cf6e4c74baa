"""The mark classifier: a small network that says whether an arrow, circle, box or the like points at a region.

Evidence is local and one mark is enough: every place of the last map votes whether it holds part of a mark, and the
votes are pooled by log-sum-exp, a soft maximum. Where marks were drawn is known in training, so the votes are taught
directly; taught by the picture's label alone the network finds small marks very late.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from pmo_assets.training.architectures.compact_detector import _conv, _Residual


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
