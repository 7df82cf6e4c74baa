"""RetinaNet with a ResNet-50 feature pyramid (arXiv 1708.02002), the paper's detector, in plain PyTorch.

Layer for layer the network of Detectron2's `RetinaNet_R_50_FPN` with caffe-style weights: stride in the first 1x1
convolution of a stage, frozen batch normalisation, BGR input without scaling, P6 from the last residual stage, nine
anchors per place. Modules carry Detectron2's names, so a state dict of one is a state dict of the other
(`d2_checkpoint.py`). Needs the extra `models`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn
from torch.nn import functional

from pmo_assets.pipeline.detection.networks.memory_batches import MemoryBatches, Provider, batch_size_for
from pmo_assets.pipeline.detection.networks.network_boxes import ClassBoxes, suppressed
from pmo_assets.pipeline.detection.networks.retinanet_config import (
    ANCHOR_SIZES,
    ASPECT_RATIOS,
    CheckpointError,
    RetinaNetOptions,
)
from pmo_assets.records.stores import SystemicError

STRIDES = (8, 16, 32, 64, 128)

FIGURE_BYTES = 768 * 2**20
"""Memory to reckon with for one more figure of 800 x 1,333 pixels in a batch: twice what it takes on the CPU
(`benchmarks/detection_speed.py`), because cuDNN works with larger buffers."""


class FrozenBatchNorm2d(nn.Module):
    """Batch normalisation with fixed statistics and scale."""

    weight: Tensor
    bias: Tensor
    running_mean: Tensor
    running_var: Tensor

    def __init__(self, width: int) -> None:
        """Start as the identity."""
        super().__init__()
        for name, value in (("weight", 1.0), ("bias", 0.0), ("running_mean", 0.0), ("running_var", 1.0)):
            self.register_buffer(name, torch.full((width,), value))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise (n, width, h, w)."""
        scale = self.weight * (self.running_var + 1e-5).rsqrt()
        shift = self.bias - self.running_mean * scale
        return x * scale[None, :, None, None] + shift[None, :, None, None]


class _NormedConv(nn.Conv2d):
    """Convolution without bias, followed by `norm`."""

    def __init__(self, before: int, after: int, size: int, stride: int = 1) -> None:
        super().__init__(before, after, size, stride, size // 2, bias=False)
        self.norm = FrozenBatchNorm2d(after)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.norm(super().forward(x))
        return result


class _Bottleneck(nn.Module):
    def __init__(self, before: int, inner: int, after: int, stride: int) -> None:
        super().__init__()
        self.shortcut = _NormedConv(before, after, 1, stride) if before != after else None
        self.conv1 = _NormedConv(before, inner, 1, stride)
        self.conv2 = _NormedConv(inner, inner, 3)
        self.conv3 = _NormedConv(inner, after, 1)

    def forward(self, x: Tensor) -> Tensor:
        inner = self.conv3(functional.relu(self.conv2(functional.relu(self.conv1(x)))))
        return functional.relu(inner + (x if self.shortcut is None else self.shortcut(x)))


class _Stem(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = _NormedConv(3, 64, 7, 2)

    def forward(self, x: Tensor) -> Tensor:
        return functional.max_pool2d(functional.relu(self.conv1(x)), 3, 2, 1)


class _ResNet50(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = _Stem()
        before = 64
        for stage, (blocks, inner, stride) in enumerate(((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2)), start=2):
            layers = []
            for k in range(blocks):
                layers.append(_Bottleneck(before, inner, inner * 4, stride if k == 0 else 1))
                before = inner * 4
            self.add_module(f"res{stage}", nn.Sequential(*layers))

    def forward(self, x: Tensor) -> list[Tensor]:
        """Return the maps of res3, res4 and res5."""
        x = self.get_submodule("res2")(self.stem(x))
        maps = []
        for name in ("res3", "res4", "res5"):
            x = self.get_submodule(name)(x)
            maps.append(x)
        return maps


class _TopBlock(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.p6, self.p7 = nn.Conv2d(2048, 256, 3, 2, 1), nn.Conv2d(256, 256, 3, 2, 1)


class _Pyramid(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bottom_up = _ResNet50()
        for level, width in ((3, 512), (4, 1024), (5, 2048)):
            self.add_module(f"fpn_lateral{level}", nn.Conv2d(width, 256, 1))
            self.add_module(f"fpn_output{level}", nn.Conv2d(256, 256, 3, 1, 1))
        self.top_block = _TopBlock()

    def forward(self, x: Tensor) -> list[Tensor]:
        """Return P3 to P7."""
        maps = self.bottom_up(x)
        top = self.get_submodule("fpn_lateral5")(maps[2])
        result = [self.get_submodule("fpn_output5")(top)]
        for level in (4, 3):
            lateral = self.get_submodule(f"fpn_lateral{level}")(maps[level - 3])
            top = lateral + functional.interpolate(top, scale_factor=2.0, mode="nearest")
            result.insert(0, self.get_submodule(f"fpn_output{level}")(top))
        p6 = self.top_block.p6(maps[2])
        return [*result, p6, self.top_block.p7(functional.relu(p6))]


class _Head(nn.Module):
    def __init__(self, classes: int, anchors: int) -> None:
        super().__init__()

        def subnet() -> nn.Sequential:
            return nn.Sequential(*[m for _ in range(4) for m in (nn.Conv2d(256, 256, 3, 1, 1), nn.ReLU())])

        self.cls_subnet, self.bbox_subnet = subnet(), subnet()
        self.cls_score = nn.Conv2d(256, anchors * classes, 3, 1, 1)
        self.bbox_pred = nn.Conv2d(256, anchors * 4, 3, 1, 1)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.normal_(module.weight, std=0.01)
                nn.init.zeros_(module.bias)
        nn.init.constant_(self.cls_score.bias, -math.log(99))

    def forward(self, levels: list[Tensor]) -> list[tuple[Tensor, Tensor]]:
        return [(self.cls_score(self.cls_subnet(x)), self.bbox_pred(self.bbox_subnet(x))) for x in levels]


class RetinaNet(nn.Module):
    """Input (n, 3, h, w) float32: colours 0..255 less their means, sides multiples of 32, zero where padded."""

    def __init__(self, classes: int) -> None:
        """Build the network with random weights.

        Args:
            classes: 2 for panels and identifiers, 4 for image types.
        """
        super().__init__()
        self.classes = classes
        self.backbone = _Pyramid()
        self.head = _Head(classes, len(ASPECT_RATIOS) * len(ANCHOR_SIZES[0]))

    def forward(self, x: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Return per level class logits (n, places * 9, classes) and box offsets (n, places * 9, 4)."""
        return [(_by_anchor(a, self.classes), _by_anchor(b, 4)) for a, b in self.head(self.backbone(x))]


def _by_anchor(x: Tensor, width: int) -> Tensor:
    """Turn (n, anchors * width, h, w) into (n, h * w * anchors, width)."""
    n, _, h, w = x.shape
    return x.view(n, -1, width, h, w).permute(0, 3, 4, 1, 2).reshape(n, -1, width)


def level_anchors(level: int, height: int, width: int) -> Tensor:
    """Return the anchors (height * width * 9, 4) of a pyramid level (0 is P3) in input pixels.

    Anchors of place (x, y) are centred on (x, y) times the stride; sizes outside, ratios (height / width) inside.
    """
    shapes = []
    for size in ANCHOR_SIZES[level]:
        for ratio in ASPECT_RATIOS:
            w = math.sqrt(size * size / ratio)
            shapes.append((-w / 2, -w * ratio / 2, w / 2, w * ratio / 2))
    x = torch.arange(width, dtype=torch.float32) * STRIDES[level]
    y = torch.arange(height, dtype=torch.float32) * STRIDES[level]
    rows, columns = torch.meshgrid(y, x, indexing="ij")
    shifts = torch.stack([columns, rows, columns, rows], dim=-1).reshape(-1, 1, 4)
    return (shifts + torch.tensor(shapes)[None]).reshape(-1, 4)


def moved_anchors(anchors: Tensor, offsets: Tensor) -> Tensor:
    """Apply offsets (dx, dy, dw, dh) to anchors, both (n, 4); sizes grow by a factor of at most 1000 / 16."""
    size = anchors[:, 2:] - anchors[:, :2]
    middle = anchors[:, :2] + size / 2
    middle = middle + offsets[:, :2] * size
    size = size * torch.exp(offsets[:, 2:].clamp(max=math.log(1000 / 16)))
    return torch.cat([middle - size / 2, middle + size / 2], dim=1)


def input_size(
    wide: int, tall: int, options: RetinaNetOptions | None = None
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the (width, height) to which a figure is scaled, and that of its input, padded to multiples of 32."""
    options = options or RetinaNetOptions()
    # One factor for the short side, then one for the long side: with both in one, 302 x 604 becomes a pixel taller
    # than in Detectron2, because of the rounding in between.
    short = float(options.short_side)
    factor = short / min(wide, tall)
    width, height = (factor * wide, short) if tall < wide else (short, factor * tall)
    if max(width, height) > options.long_side:
        factor = options.long_side / max(width, height)
        width, height = width * factor, height * factor
    # Detectron2 fails where a side would vanish.
    size = (max(1, int(width + 0.5)), max(1, int(height + 0.5)))
    return size, (size[0] + -size[0] % 32, size[1] + -size[1] % 32)


def retinanet_input(
    pixels: NDArray[np.uint8], options: RetinaNetOptions | None = None
) -> tuple[Tensor, tuple[int, int]]:
    """Return a figure as input (1, 3, h, w), and its (width, height) within the input."""
    options = options or RetinaNetOptions()
    size, padded = input_size(pixels.shape[1], pixels.shape[0], options)
    ordered = pixels if options.channels == "RGB" else np.ascontiguousarray(pixels[:, :, ::-1])
    # Pillow's filter, as in Detectron2: it averages when it shrinks, OpenCV's does not.
    scaled = Image.fromarray(ordered).resize(size, Image.Resampling.BILINEAR)
    mean = torch.tensor(options.pixel_mean)[:, None, None]
    normal = torch.from_numpy(np.array(scaled)).permute(2, 0, 1).float() - mean
    return functional.pad(normal, (0, padded[0] - size[0], 0, padded[1] - size[1]))[None], size


def folded(model: RetinaNet) -> RetinaNet:
    """Return a network for inference: normalisation is part of the convolutions, which saves a pass over every map.

    The result equals `model`'s up to rounding; `model` itself is used up.
    """
    for module in list(model.modules()):
        if isinstance(module, _NormedConv):
            norm = module.norm
            scale = norm.weight * (norm.running_var + 1e-5).rsqrt()
            module.weight = nn.Parameter(module.weight.detach() * scale[:, None, None, None])
            module.bias = nn.Parameter(norm.bias - norm.running_mean * scale)
            module.norm = nn.Identity()
    return model.eval().to(memory_format=torch.channels_last)


def retinanet_boxes(
    model: RetinaNet, pictures: Sequence[NDArray[np.uint8]], options: RetinaNetOptions | None = None
) -> list[ClassBoxes]:
    """Return a network's detections in pictures (height, width, 3) uint8 RGB of one input size, in one pass.

    Raises:
        ValueError: when the pictures' inputs have different sizes.
    """
    options = options or RetinaNetOptions()
    inputs = [retinanet_input(pixels, options) for pixels in pictures]
    if len({tuple(batch.shape) for batch, _ in inputs}) != 1:
        raise ValueError("pictures of one pass have inputs of one size")
    batch = torch.cat([batch for batch, _ in inputs]).to(next(model.parameters()).device)
    with torch.inference_mode():
        levels = model(batch.contiguous(memory_format=torch.channels_last))
        anchors = [
            level_anchors(level, -(-batch.shape[2] // stride), -(-batch.shape[3] // stride)).to(batch.device)
            for level, stride in enumerate(STRIDES)
        ]
        return [
            _picture_boxes([(a[k], b[k]) for a, b in levels], anchors, model.classes, size, options)
            for k, (_, size) in enumerate(inputs)
        ]


def _picture_boxes(
    levels: Sequence[tuple[Tensor, Tensor]],
    anchors: Sequence[Tensor],
    classes: int,
    size: tuple[int, int],
    options: RetinaNetOptions,
) -> ClassBoxes:
    boxes, scores, kinds = [], [], []
    for (logits, offsets), places in zip(levels, anchors, strict=True):
        flat = torch.sigmoid(logits.float()).flatten()
        chosen = torch.nonzero(flat > options.score_threshold).squeeze(1)
        chosen = chosen[torch.argsort(-flat[chosen], stable=True)][: options.candidates]
        place = chosen // classes
        boxes.append(moved_anchors(places[place], offsets.float()[place]).cpu().numpy())
        scores.append(flat[chosen].cpu().numpy())
        kinds.append((chosen % classes).cpu().numpy())
    all_boxes, all_scores, all_kinds = np.concatenate(boxes), np.concatenate(scores), np.concatenate(kinds)
    kept = [
        members[suppressed(all_boxes[members], all_scores[members], options.nms_iou)]
        for members in (np.flatnonzero(all_kinds == kind) for kind in range(classes))
    ]
    order = np.sort(np.concatenate(kept))
    order = order[np.argsort(-all_scores[order], kind="stable")][: options.detections]
    # Only now cut to the figure, as in Detectron2: boxes that reach beyond it overlap less before than after, and
    # those that lie beside it take places among the best.
    frame = np.asarray([*size, *size], dtype=np.float32)
    shown = np.clip(all_boxes[order] / frame, 0, 1).astype(np.float32)
    inside = (shown[:, 2:] > shown[:, :2]).all(axis=1)
    return ClassBoxes(shown[inside], all_scores[order][inside], all_kinds[order][inside])


def require_cuda(provider: Provider) -> None:
    """Refuse to run networks on a GPU that PyTorch cannot use.

    Raises:
        SystemicError: when CUDA is asked for and PyTorch sees none.
    """
    if provider == "cuda" and not torch.cuda.is_available():
        raise SystemicError(
            "PMO_DETECTOR_DEVICE=cuda: PyTorch sees no CUDA device; see that nvidia-smi works and that torch is a "
            "build with CUDA"
        )


class TorchNetwork:
    """A RetinaNet as a `retinanet_detectors.ClassNetwork`; pictures whose inputs have one size share batches."""

    def __init__(
        self,
        model: RetinaNet,
        provider: Provider = "cpu",
        *,
        batch_size: int | None = None,
        options: RetinaNetOptions | None = None,
    ) -> None:
        """Take over a network (see `folded`).

        Args:
            model: with its weights.
            provider: device that the network runs on.
            batch_size: pictures per pass at most; None for 1 on the CPU, where more gain nothing, and on a GPU for what
                fits into its free memory.
            options: None for the paper's.

        Raises:
            SystemicError: when CUDA is asked for and PyTorch cannot use it.
            CheckpointError: when the weights give no numbers.
        """
        require_cuda(provider)
        self.model, self.options = folded(model).to(provider), options or RetinaNetOptions()
        self._try()
        release = torch.cuda.empty_cache if provider == "cuda" else None
        item_bytes = FIGURE_BYTES * self.options.short_side * self.options.long_side // (800 * 1333)
        size = partial(batch_size_for, provider, max(1, item_bytes), 1)
        self.batches = MemoryBatches(lambda: batch_size or size(), provider, release)

    def _try(self) -> None:
        """Run a small picture: a device or a network that does not work fails here, not with every figure."""
        picture = torch.linspace(-128, 128, 3 * 64 * 64, device=next(self.model.parameters()).device)
        with torch.inference_mode():
            levels = self.model(picture.view(1, 3, 64, 64).contiguous(memory_format=torch.channels_last))
        if not all(torch.isfinite(x).all() for pair in levels for x in pair):
            raise CheckpointError("the network's answers are no finite numbers: its weights are damaged")

    def __call__(self, pictures: Sequence[NDArray[np.uint8]]) -> list[ClassBoxes]:
        """Return the boxes per picture, same order."""
        groups: dict[tuple[int, int], list[int]] = {}
        for k, pixels in enumerate(pictures):
            groups.setdefault(input_size(pixels.shape[1], pixels.shape[0], self.options)[1], []).append(k)
        result: dict[int, ClassBoxes] = {}
        for members in groups.values():
            result.update(zip(members, self.batches([pictures[k] for k in members], self._run), strict=True))
        return [result[k] for k in range(len(pictures))]

    def _run(self, pictures: Sequence[NDArray[np.uint8]]) -> list[ClassBoxes]:
        return retinanet_boxes(self.model, pictures, self.options)
