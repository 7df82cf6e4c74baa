"""The marks detector, which finds the boxes of marks in a picture, and the marks reader, which says what a box shows.

The detector's trunk is the mark classifier's, whose weights it starts from: it knows marks at stride 16 already. Two
steps of a pyramid bring that to stride 4, where the smallest marks are two places wide. Every place says whether it is
a mark's middle (CenterNet, arXiv 1904.07850), and the distances to the sides of the mark's box.

The reader sees each box by itself, at one size: the kind of a mark, whether it is one, and where it points. Asked of
the detector's places these are learnt very late: after 2,000 steps it had no idea where an arrow points.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from pmo_assets.pipeline.regions.marks_network import READ_KINDS, STRIDE
from pmo_assets.training.architectures.compact_detector import _conv
from pmo_assets.training.architectures.mark_network import MarkNetwork

PARTS: dict[str, int] = {"score": 1, "sides": 4}
"""Numbers that each place says, and how many they are."""


class MarksDetector(nn.Module):
    """Input (n, 3, h, w) float32 0..1 RGB, h and w multiples of 16; output of `PARTS` at every fourth pixel."""

    def __init__(self, trunk: MarkNetwork | None = None, widths: tuple[int, int] = (48, 32)) -> None:
        """Build the network, its trunk that of a classifier, or with random weights."""
        super().__init__()
        self.trunk = (trunk or MarkNetwork()).trunk
        middle, fine = widths
        self.from_16, self.from_8 = nn.Conv2d(112, middle, 1), nn.Conv2d(48, middle, 1)
        self.at_8 = _conv(middle, middle)
        self.to_4, self.from_4 = nn.Conv2d(middle, fine, 1), nn.Conv2d(24, fine, 1)
        self.at_4 = _conv(fine, fine)
        self.hidden = nn.Conv2d(fine, 64, 1)
        self.out = nn.Conv2d(64, sum(PARTS.values()), 1)
        with torch.no_grad():
            self.out.weight.mul_(0.3)
            self.out.bias.zero_()
            self.out.bias[0] = -4.0
            self.out.bias[1:] = 1.0  # boxes of 22 pixels

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        """Return `PARTS` as maps (n, …, h / 4, w / 4), before any sigmoid."""
        trunk = self.trunk
        four = trunk[:3]((x - 0.5) * 4)
        eight = trunk[3:5](four)
        sixteen = trunk[5:](eight)
        eight = self.at_8(functional.relu(_doubled(self.from_16(sixteen)) + self.from_8(eight)))
        four = self.at_4(functional.relu(_doubled(self.to_4(eight)) + self.from_4(four)))
        maps = self.out(functional.relu(self.hidden(four)))
        return dict(zip(PARTS, maps.split(list(PARTS.values()), dim=1), strict=True))


def _doubled(maps: Tensor) -> Tensor:
    return functional.interpolate(maps, scale_factor=2.0, mode="nearest")


def boxes_of_sides(sides: Tensor) -> Tensor:
    """Return boxes (n, 4, h, w) in pixels of the input from the logarithms of distances, in places, to their sides."""
    tall, wide = sides.shape[2:]
    x = (torch.arange(wide, device=sides.device, dtype=sides.dtype) + 0.5).expand(tall, wide)
    y = (torch.arange(tall, device=sides.device, dtype=sides.dtype) + 0.5)[:, None].expand(tall, wide)
    far = torch.exp(sides.clamp(-4.0, 5.0))
    return STRIDE * torch.stack([x - far[:, 0], y - far[:, 1], x + far[:, 2], y + far[:, 3]], dim=1)


class MarksReader(nn.Module):
    """Input (n, 3, 64, 64) float32 0..1 RGB, boxes of marks with what surrounds them; output of what they show.

    The trunk is the mark classifier's, too: from random weights it learns several times as long. Where a mark points is
    a choice among 16 × 16 places, and none: of an arrow's two ends, the mean of both is no answer.
    """

    def __init__(self, trunk: MarkNetwork | None = None, width: int = 48) -> None:
        """Build the network, its trunk that of a classifier, or with random weights."""
        super().__init__()
        self.trunk = (trunk or MarkNetwork()).trunk
        self.from_16, self.from_8, self.from_4 = (nn.Conv2d(n, width, 1) for n in (112, 48, 24))
        self.at_8, self.at_4 = _conv(width, width), _conv(width, 32)
        self.place = nn.Conv2d(32, 1, 1)
        self.hidden = nn.Linear(2 * 112 + 2 * 32, 128)
        self.kind = nn.Linear(128, len(READ_KINDS))
        self.nowhere = nn.Linear(128, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits of `READ_KINDS` (n, 8), and of the places of the tip, the last: none (n, 257)."""
        four = self.trunk[:3]((x - 0.5) * 4)
        eight = self.trunk[3:5](four)
        sixteen = self.trunk[5:](eight)
        eight = self.at_8(functional.relu(_doubled(self.from_16(sixteen)) + self.from_8(eight)))
        four = self.at_4(functional.relu(_doubled(eight) + self.from_4(four)))
        pooled = [value for maps in (sixteen, four) for value in (maps.mean(dim=(2, 3)), maps.amax(dim=(2, 3)))]
        seen = functional.relu(self.hidden(torch.cat(pooled, dim=1)))
        seen = functional.dropout(seen, 0.1, self.training)
        return self.kind(seen), torch.cat([self.place(four).flatten(1), self.nowhere(seen)], dim=1)


class MarksReaderForExport(nn.Module):
    """The reader with uint8 input (n, 64, 64, 3) and `marks_network.READ_OUTPUTS` as outputs."""

    def __init__(self, network: MarksReader) -> None:
        """Wrap a trained reader."""
        super().__init__()
        self.network = network

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Return shares of the kinds, and of the tip's places."""
        kinds, tips = self.network(pixels.permute(0, 3, 1, 2).float() / 255)
        return torch.softmax(kinds, dim=1), torch.softmax(tips, dim=1)


class MarksDetectorForExport(nn.Module):
    """The detector with uint8 input (n, h, w, 3) and `marks_network.OUTPUTS` as outputs."""

    def __init__(self, network: MarksDetector) -> None:
        """Wrap a trained detector."""
        super().__init__()
        self.network = network

    def forward(self, pixels: Tensor) -> tuple[Tensor, ...]:
        """Return scores and boxes."""
        maps = self.network(pixels.permute(0, 3, 1, 2).float() / 255)
        return torch.sigmoid(maps["score"]).squeeze(1), boxes_of_sides(maps["sides"])
