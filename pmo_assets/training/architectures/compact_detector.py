"""The compact detector: panels, identifiers and images with their type in one pass, without anchors.

A residual trunk with a feature pyramid; every place of the pyramid predicts up to three boxes, one per group: a panel,
an image and, on the two finest levels, an identifier. Groups have their own boxes because a panel and the only image
in it share their middle. Boxes are distances to the four sides (FCOS, arXiv 1904.01355); a score is trained to equal
the IoU of its box (varifocal loss, arXiv 2008.13367), so no extra centre score is needed. The type of an image is a
question of its own, answered by a softmax over the four types at places that stand for an image: with one score per
type, "is there an image" and "which one" are learnt by the same numbers, and the second starts late.

Where a panel ends depends on the whole figure (are there identifiers at all, on which side are they, how many rows), so
attention lets the places of the coarsest stage see each other (as in RT-DETR's encoder, arXiv 2304.08069) before the
pyramid hands what they know down to the finer levels.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from pmo_assets.records.image_types import IMAGE_TYPES
from pmo_assets.training.architectures.figure_detector import FigureDetector, Target, mixed_precision
from pmo_assets.training.architectures.recipes import Size

GROUPS = ("panel", "label", "image")
"""Groups of classes, each with boxes of its own."""

GROUP_CLASSES = {"panel": 1, "label": 1, "image": len(IMAGE_TYPES)}
"""Number of categories per group; together they are `coco.CATEGORIES` in order."""


@dataclass(frozen=True, slots=True)
class CompactConfig:
    """Architecture of the compact detector.

    Attributes:
        widths: channels at strides 4, 8, 16 and 32.
        blocks: residual blocks there.
        attention: layers of attention at stride 32.
        pyramid: channels of the pyramid at strides 8 to 64.
        fine: channels at stride 4, where small identifiers are found.
    """

    widths: tuple[int, int, int, int] = (24, 56, 96, 144)
    blocks: tuple[int, int, int, int] = (1, 2, 2, 2)
    attention: int = 2
    pyramid: int = 48
    fine: int = 24


def _conv(before: int, after: int, size: int = 3, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(before, after, size, stride, size // 2, bias=False), nn.BatchNorm2d(after), nn.ReLU(inplace=True)
    )


class _Residual(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = _conv(width, width)
        self.second = nn.Sequential(nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(x + self.second(self.first(x)))


class _Surroundings(nn.Module):
    """Scale channels by weights from their means over the whole figure (squeeze and excitation)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.down, self.up = nn.Conv2d(width, width // 4, 1), nn.Conv2d(width // 4, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        mean = x.mean(dim=(2, 3), keepdim=True)
        return x * torch.sigmoid(self.up(functional.relu(self.down(mean))))


def _place_code(height: int, width: int, channels: int, like: Tensor) -> Tensor:
    """Return sines and cosines (1, height * width, channels) that say where on a map a place is."""
    speeds = 100.0 ** -(torch.arange(channels // 4, device=like.device, dtype=torch.float32) / (channels // 4))
    y = torch.arange(height, device=like.device, dtype=torch.float32)[:, None] * speeds
    x = torch.arange(width, device=like.device, dtype=torch.float32)[:, None] * speeds
    rows = torch.cat([y.sin(), y.cos()], dim=1)[:, None].expand(height, width, channels // 2)
    columns = torch.cat([x.sin(), x.cos()], dim=1)[None].expand(height, width, channels // 2)
    return torch.cat([rows, columns], dim=2).reshape(1, -1, channels)


class _Attention(nn.Module):
    """A layer of self-attention over all places of a map, and a small perceptron; begins as the identity."""

    def __init__(self, width: int, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.first_norm, self.second_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.queries_keys, self.values = nn.Linear(width, 2 * width), nn.Linear(width, width)
        self.out = nn.Linear(width, width)
        self.perceptron = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        for last in (self.out, self.perceptron[2]):
            nn.init.zeros_(last.weight)
            nn.init.zeros_(last.bias)

    def forward(self, x: Tensor, code: Tensor) -> Tensor:
        """Return places (n, p, width) that have seen each other; `code` (1, p, width) says where they are."""
        n, p, width = x.shape
        seen = self.first_norm(x)
        queries, keys = self.queries_keys(seen + code).reshape(n, p, 2, self.heads, -1).permute(2, 0, 3, 1, 4)
        values = self.values(seen).reshape(n, p, self.heads, -1).transpose(1, 2)
        weights = torch.softmax(queries @ keys.transpose(2, 3) * (width / self.heads) ** -0.5, dim=3)
        x = x + self.out((weights @ values).transpose(1, 2).reshape(n, p, width))
        return x + self.perceptron(self.second_norm(x))


class CompactDetector(FigureDetector):
    """See the module's text. Input (n, 3, h, w) float32 0..1 RGB, h and w multiples of 64."""

    architecture = "compact"
    strides: ClassVar[dict[str, tuple[int, ...]]] = {
        "panel": (8, 16, 32, 64),
        "image": (8, 16, 32, 64),
        "label": (4, 8),
    }

    def __init__(self, config: CompactConfig | None = None) -> None:
        """Build the network with random weights."""
        super().__init__()
        config = config or CompactConfig()
        self.config = config
        a, b, c, d = config.widths
        # One large step to stride 4: on a CPU the first layers at full size would take most of the time.
        self.stem = _conv(3, a, 7, 4)
        previous = a
        stages = []
        for level, (width, count) in enumerate(zip(config.widths, config.blocks, strict=True)):
            down = [] if level == 0 else [_conv(previous, width, 3, 2)]
            stages.append(nn.Sequential(*down, *[_Residual(width) for _ in range(count)]))
            previous = width
        self.stages = nn.ModuleList(stages)
        self.surroundings = _Surroundings(d)
        self.attention = nn.ModuleList([_Attention(d) for _ in range(config.attention)])
        p, f = config.pyramid, config.fine
        self.lateral = nn.ModuleList([nn.Conv2d(width, p, 1) for width in (b, c, d)])
        self.smooth = nn.ModuleList([_conv(p, p) for _ in range(3)])
        self.coarse = _conv(p, p, 3, 2)
        self.tower = nn.Sequential(_conv(p, p), _conv(p, p))
        self.fine_lateral, self.fine_top = nn.Conv2d(a, f, 1), nn.Conv2d(p, f, 1)
        self.fine_tower = _conv(f, f)
        self.scores = nn.ModuleDict({g: nn.Conv2d(p, 1, 3, 1, 1) for g in GROUPS})
        self.types = nn.Sequential(_conv(p, p), nn.Conv2d(p, GROUP_CLASSES["image"], 1))
        self.sides = nn.ModuleDict({g: nn.Conv2d(p, 4, 3, 1, 1) for g in GROUPS})
        self.fine_score, self.fine_sides = nn.Conv2d(f, 1, 3, 1, 1), nn.Conv2d(f, 4, 3, 1, 1)
        for module in [*self.scores.values(), self.fine_score]:
            nn.init.normal_(module.weight, std=0.01)
            nn.init.constant_(module.bias, -4.6)  # prior 1 %
        for module in [*self.sides.values(), self.fine_sides]:
            nn.init.normal_(module.weight, std=0.01)
            nn.init.constant_(module.bias, 1.0)

    def levels(self, x: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return the feature map at stride 4 and the pyramid at strides 8, 16, 32, 64."""
        x = self.stem((x - 0.5) * 4)
        maps = []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        maps[3] = self._related(self.surroundings(maps[3]))
        top = self.lateral[2](maps[3])
        pyramid = [self.smooth[2](top)]
        for k in (1, 0):
            top = self.lateral[k](maps[k + 1]) + functional.interpolate(top, scale_factor=2.0, mode="nearest")
            pyramid.insert(0, self.smooth[k](top))
        pyramid.append(self.coarse(pyramid[-1]))
        fine = self.fine_lateral(maps[0]) + functional.interpolate(
            self.fine_top(pyramid[0]), scale_factor=2.0, mode="nearest"
        )
        return self.fine_tower(functional.relu(fine)), pyramid

    def _related(self, x: Tensor) -> Tensor:
        """Let all places of a map (n, c, h, w) see each other."""
        n, c, h, w = x.shape
        places_first = x.flatten(2).transpose(1, 2)
        code = _place_code(h, w, c, x)
        for layer in self.attention:
            places_first = layer(places_first, code)
        return places_first.transpose(1, 2).reshape(n, c, h, w).contiguous(memory_format=torch.channels_last)

    def forward(self, x: Tensor) -> dict[str, tuple[Tensor, ...]]:
        """Return per group score logits (n, places, 1), boxes (n, places, 4) in pixels; for images type logits."""
        fine, pyramid = self.levels(x)
        towers = [self.tower(level) for level in pyramid]
        result: dict[str, tuple[Tensor, ...]] = {}
        for group in GROUPS:
            logits, boxes = [], []
            if group == "label":
                logits.append(self.fine_score(fine))
                boxes.append(_boxes(self.fine_sides(fine), 4))
            used = towers[:1] if group == "label" else towers
            for tower, stride in zip(used, (8, 16, 32, 64), strict=False):
                logits.append(self.scores[group](tower))
                boxes.append(_boxes(self.sides[group](tower), stride))
            result[group] = (_by_place(logits), _by_place(boxes))
        result["image"] = (*result["image"], _by_place([self.types(tower) for tower in towers]))
        return result

    def settings(self) -> dict[str, Any]:
        """See `FigureDetector`."""
        return asdict(self.config)

    def loss(self, pictures: Tensor, targets: list[Target]) -> tuple[Tensor, dict[str, float]]:
        """See `FigureDetector`."""
        with mixed_precision(pictures):
            output = self(pictures)
        return detection_loss(output, targets, (pictures.shape[2], pictures.shape[3]))

    def outputs(self, pictures: Tensor) -> tuple[Tensor, ...]:
        """See `FigureDetector`."""
        return scores_and_boxes(self(pictures))


def compact_detector(size: Size, settings: dict[str, Any] | None = None) -> CompactDetector:
    """Return a network with random weights; `settings` are those of a checkpoint and go before `size`."""
    if settings is not None:
        # Checkpoints from before there was attention do not mention it.
        values: dict[str, Any] = {"attention": 0} | {
            k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()
        }
        return CompactDetector(CompactConfig(**values))
    return CompactDetector(TINY if size == "tiny" else None)


TINY = CompactConfig(widths=(8, 8, 16, 16), blocks=(1, 1, 1, 1), pyramid=8, fine=8)
"""Learns a handful of figures within seconds."""


def _by_place(maps: list[Tensor]) -> Tensor:
    """Join maps (n, c, h, w) to (n, places, c)."""
    return torch.cat([t.flatten(2).transpose(1, 2) for t in maps], dim=1)


def scores_and_boxes(output: dict[str, tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
    """Return the outputs that are exported: per group scores 0..1 per category, and boxes.

    An image's score is shared by its types: their sum says how sure it is that there is an image.
    """
    result = []
    for group in GROUPS:
        scores = torch.sigmoid(output[group][0].float())
        if group == "image":
            scores = scores * torch.softmax(output[group][2].float(), dim=2)
        result += [scores, output[group][1].float()]
    return tuple(result)


def _boxes(raw: Tensor, stride: int) -> Tensor:
    """Turn raw outputs (n, 4, h, w) into boxes in input pixels: exponentials are distances to the sides in strides."""
    height, width = raw.shape[2], raw.shape[3]
    x = (torch.arange(width, device=raw.device, dtype=torch.float32) + 0.5) * stride
    y = (torch.arange(height, device=raw.device, dtype=torch.float32) + 0.5) * stride
    left, top, right, bottom = (torch.exp(raw.float().clamp(-4, 6)) * stride).unbind(1)
    return torch.stack([x - left, y[:, None] - top, x + right, y[:, None] + bottom], dim=1)


def places(group: str, height: int, width: int, device: torch.device | None = None) -> tuple[Tensor, Tensor]:
    """Return the places (p, 2) x, y where a group predicts, and their strides (p,), in the order of `forward`."""
    points, strides = [], []
    for stride in CompactDetector.strides[group]:
        y, x = torch.meshgrid(
            (torch.arange(height // stride, device=device) + 0.5) * stride,
            (torch.arange(width // stride, device=device) + 0.5) * stride,
            indexing="ij",
        )
        points.append(torch.stack([x.flatten(), y.flatten()], dim=1))
        strides.append(torch.full((points[-1].shape[0],), float(stride), device=device))
    return torch.cat(points), torch.cat(strides)


_RANGES: dict[str, dict[int, tuple[float, float]]] = {
    "panel": {8: (0, 72), 16: (56, 150), 32: (120, 300), 64: (240, 1e9)},
    "image": {8: (0, 72), 16: (56, 150), 32: (120, 300), 64: (240, 1e9)},
    "label": {4: (0, 30), 8: (20, 1e9)},
}
"""Long side of the boxes (input pixels) that places of each stride are responsible for; neighbours overlap."""

CENTRE_RADIUS = 1.5
"""Places within this many strides of a box's middle, and inside it, stand for it (FCOS centre sampling)."""


def assigned(group: str, points: Tensor, strides: Tensor, boxes: Tensor) -> Tensor:
    """Return for each place the index of the box it stands for, -1 for none; the smallest box wins."""
    if boxes.shape[0] == 0:
        return torch.full((points.shape[0],), -1, dtype=torch.long, device=points.device)
    middle, size = (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]
    away = (points[:, None] - middle[None]).abs()
    radius = torch.minimum(strides[:, None, None] * CENTRE_RADIUS, size[None] / 2)
    # A box thinner than the stride still gets the place nearest to its middle.
    radius = torch.maximum(radius, strides[:, None, None] * 0.51)
    near = (away <= radius).all(dim=2)
    # Strips go to a finer level than their length asks for: places of a coarse one would lie beside them.
    long = torch.minimum(size.max(dim=1).values, 4 * size.min(dim=1).values)[None]
    low = torch.zeros_like(strides)
    high = torch.zeros_like(strides)
    for stride, (a, b) in _RANGES[group].items():
        low[strides == stride], high[strides == stride] = a, b
    near &= (long > low[:, None]) & (long <= high[:, None])
    cost = torch.where(near, (size[:, 0] * size[:, 1])[None].expand_as(near), torch.inf)
    best, index = cost.min(dim=1)
    return torch.where(torch.isfinite(best), index, -1)


def overlap(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Return IoU and generalised IoU (arXiv 1902.09630) of paired boxes (n, 4)."""
    common = (torch.minimum(a[:, 2:], b[:, 2:]) - torch.maximum(a[:, :2], b[:, :2])).clamp(min=0).prod(dim=1)
    union = (a[:, 2:] - a[:, :2]).clamp(min=0).prod(dim=1) + (b[:, 2:] - b[:, :2]).prod(dim=1) - common
    hull = (torch.maximum(a[:, 2:], b[:, 2:]) - torch.minimum(a[:, :2], b[:, :2])).prod(dim=1)
    iou = common / union.clamp(min=1e-6)
    return iou, iou - (hull - union) / hull.clamp(min=1e-6)


def detection_loss(
    output: dict[str, tuple[Tensor, ...]], targets: list[tuple[Tensor, Tensor]], size: tuple[int, int]
) -> tuple[Tensor, dict[str, float]]:
    """Return the loss of a batch and its parts.

    Args:
        output: of `CompactDetector.forward`.
        targets: per figure (boxes (k, 4) in input pixels, category indices (k,) into `coco.CATEGORIES`).
        size: (height, width) of the input.
    """
    total = output["panel"][1].new_zeros(())
    parts: dict[str, float] = {}
    first = 0
    for group in GROUPS:
        logits, boxes = output[group][0].float().squeeze(2), output[group][1]
        points, strides = places(group, *size, device=boxes.device)
        count = GROUP_CLASSES[group]
        wanted = torch.zeros_like(logits)
        predicted, true, types, kinds = [], [], [], []
        for k, (target_boxes, categories) in enumerate(targets):
            own = (categories >= first) & (categories < first + count)
            index = assigned(group, points, strides, target_boxes[own])
            chosen = torch.nonzero(index >= 0).squeeze(1)
            if chosen.numel() == 0:
                continue
            truth = target_boxes[own][index[chosen]]
            with torch.no_grad():
                iou, _ = overlap(boxes[k, chosen], truth)
                # A floor keeps the signal alive while boxes are still poor.
                wanted[k, chosen] = iou.clamp(min=0.15)
            predicted.append(boxes[k, chosen])
            true.append(truth)
            if count > 1:
                types.append(output[group][2][k, chosen].float())
                kinds.append(categories[own][index[chosen]] - first)
        positives = max(1, sum(len(t) for t in true))
        weight = torch.where(wanted > 0, wanted, 0.75 * torch.sigmoid(logits.detach()) ** 2)
        score_loss = (weight * functional.binary_cross_entropy_with_logits(logits, wanted, reduction="none")).sum()
        score_loss = score_loss / positives
        box_loss = type_loss = total.new_zeros(())
        if true:
            _, giou = overlap(torch.cat(predicted), torch.cat(true))
            box_loss = (1 - giou).sum() / positives
        if types:
            type_loss = functional.cross_entropy(torch.cat(types), torch.cat(kinds))
        total = total + score_loss + 2.0 * box_loss + type_loss
        parts |= {f"{group}_score": float(score_loss.detach()), f"{group}_box": float(box_loss.detach())}
        if count > 1:
            parts[f"{group}_type"] = float(type_loss.detach())
        first += count
    return total, parts
