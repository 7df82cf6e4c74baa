"""Losses of dual encoders: InfoNCE in a level, between levels, and of regions pooled from their panel's feature map.

Sources: InfoNCE as OPEN-PMC-18M (section 3) and CLIP (Radford et al. 2021, figure 3) have it; levels and the losses
between them as Panel2Patch (sections 3.2 and 3.3). Everything here takes embeddings, whatever made them, and works in
the dtype of its input.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional

LEVEL_NUMBERS: Final[Mapping[str, int]] = {"figure": 0, "panel": 1, "region": 2, "video": 3}
"""Levels M, P and R of Panel2Patch, and V, pictures of lectures, as tensors hold them."""


@dataclass(frozen=True)
class BatchLayout:
    """What stands in a batch of n entries, each a picture with a text.

    Attributes:
        levels: (n,) int64, numbers of `LEVEL_NUMBERS`.
        looks: (n,) int64; entries of one number show the same (a panel, a duplicate group): no negatives.
        wordings: (n,) int64; entries of one number say the same: no negatives.
        parents: (n,) int64: the entry that this one is a part of (panel of a figure, region of a panel); -1 for none.
        counted: (n,) bool: entries of the active levels; the others stand there as parts of these.
        regions: (r,) int64: entries of level region whose panel's feature map is there to pool from.
    """

    levels: Tensor
    looks: Tensor
    wordings: Tensor
    parents: Tensor
    counted: Tensor
    regions: Tensor

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self.levels)

    def without_regions(self) -> BatchLayout:
        """Return the same without feature maps to pool from."""
        return replace(self, regions=self.regions[:0])


@dataclass(frozen=True)
class LossWeights:
    """Weights of the terms; a term of weight 0 is not computed.

    Attributes:
        figure, panel, region, video: InfoNCE in a level (L_intra of M, P, R; V alike).
        figure_panel, panel_region: InfoNCE between a level and the mean of its parts (L_inter of M↔P, P↔R).
        roi: InfoNCE between what is pooled from the panel's feature map and the region's text.
        consistency: 1 - cosine between that and the embedding of the region cut out.
    """

    figure: float = 1.0
    panel: float = 1.0
    region: float = 1.0
    video: float = 1.0
    figure_panel: float = 0.0
    panel_region: float = 0.0
    roi: float = 0.0
    consistency: float = 0.0


def same_as(layout: BatchLayout) -> Tensor:
    """Return (n, n) bool: which entries are no negatives of each other, because they show or say the same."""
    looks, wordings = layout.looks, layout.wordings
    same: Tensor = (looks[:, None] == looks[None, :]) | (wordings[:, None] == wordings[None, :])
    return same


def info_nce(one: Tensor, other: Tensor, scale: Tensor, same: Tensor | None = None) -> Tensor:
    """Return the symmetric InfoNCE: the mean over rows and both directions.

    OPEN-PMC-18M writes the sum of the directions, which is twice this; CLIP takes the mean.

    Args:
        one: (n, d), n at least 1, of any length: rows are made unit rows.
        other: (n, d); row i belongs to row i.
        scale: () multiplies the cosines (1 / temperature).
        same: (n, n) bool; where it is true off the diagonal, the pair is left out of the denominators.
    """
    logits = scale * functional.normalize(one, dim=1) @ functional.normalize(other, dim=1).T
    if same is not None:
        apart = same & ~torch.eye(len(one), dtype=torch.bool, device=one.device)
        logits = logits.masked_fill(apart, -torch.inf)
    target = torch.arange(len(one), device=one.device)
    return (functional.cross_entropy(logits, target) + functional.cross_entropy(logits.T, target)) / 2


def mean_of_parts(parts: Tensor, parents: Tensor, wholes: int) -> tuple[Tensor, Tensor]:
    """Return the mean unit row of each whole's parts, and which wholes have any.

    Args:
        parts: (m, d).
        parents: (m,) number of each part's whole.
        wholes: how many there are.

    Returns:
        (wholes, d), zero where there is no part, and (wholes,) bool.
    """
    units = functional.normalize(parts, dim=1)
    total = units.new_zeros((wholes, units.shape[1])).index_add(0, parents, units)
    counts = torch.bincount(parents, minlength=wholes)
    return total / counts.clamp(min=1)[:, None].to(units.dtype), counts > 0


def between_levels(embeddings: Tensor, layout: BatchLayout, whole: int, part: int, scale: Tensor) -> Tensor | None:
    """Return InfoNCE between the entries of a level and the mean of their parts; None if fewer than two have parts.

    Args:
        embeddings: (n, d) of all entries: pictures, or texts.
        layout: of the batch.
        whole: number of the level above.
        part: number of the level below.
        scale: ().
    """
    parts = (layout.levels == part) & (layout.parents >= 0)
    parts &= layout.levels[layout.parents.clamp(min=0)] == whole
    means, present = mean_of_parts(embeddings[parts], layout.parents[parts], len(layout))
    present = present & layout.counted
    if int(present.sum()) < 2:
        return None
    return info_nce(embeddings[present], means[present], scale, same_as(layout)[present][:, present])


def region_features(feature_map: Tensor, boxes: Tensor, owners: Tensor) -> Tensor:
    """Return the mean of a feature map in each box, (r, c): RoIAlign (He et al. 2017) to one cell.

    Args:
        feature_map: (n, c, h, w).
        boxes: (r, 4) of fractions of the picture: left, top, right, bottom.
        owners: (r,) int64: the picture of each box.
    """
    from torchvision.ops import roi_align

    height, width = feature_map.shape[-2:]
    size = boxes.new_tensor([width, height, width, height])
    placed = torch.cat([owners[:, None].to(boxes.dtype), boxes * size], dim=1).to(feature_map.dtype)
    pooled: Tensor = roi_align(feature_map, placed, output_size=1, sampling_ratio=ROI_SAMPLES, aligned=True)
    return pooled[:, :, 0, 0]


ROI_SAMPLES: Final = 4
"""Points a side at which a box is sampled: a feature map has 5 to 16 cells a side, and a region few of them."""


def training_loss(
    images: Tensor, texts: Tensor, rois: Tensor, layout: BatchLayout, scale: Tensor, weights: LossWeights
) -> tuple[Tensor, dict[str, float]]:
    """Return the weighted sum of the terms that a batch has, and each of them.

    Args:
        images: (n, d) of the entries' pictures; a region's is cut out.
        texts: (n, d).
        rois: (r, d) of `layout.regions`, pooled from their panels' feature maps.
        layout: of the batch.
        scale: ().
        weights: of the terms.

    Returns:
        () and the value of each term by its name (`LossWeights`), unweighted.
    """
    same = same_as(layout)
    terms: dict[str, Tensor | None] = {}
    for name, number in LEVEL_NUMBERS.items():
        if getattr(weights, name):
            own = (layout.levels == number) & layout.counted
            terms[name] = info_nce(images[own], texts[own], scale, same[own][:, own]) if own.any() else None
    for name, whole, part in (("figure_panel", 0, 1), ("panel_region", 1, 2)):
        if getattr(weights, name):
            found = [between_levels(side, layout, whole, part, scale) for side in (images, texts)]
            terms[name] = None if found[0] is None or found[1] is None else found[0] + found[1]
    regions = layout.regions[layout.counted[layout.regions]]
    pooled = rois[layout.counted[layout.regions]]
    if weights.roi and len(regions):
        terms["roi"] = info_nce(pooled, texts[regions], scale, same[regions][:, regions])
    if weights.consistency and len(regions):
        terms["consistency"] = (1 - functional.cosine_similarity(pooled, images[regions], dim=1)).mean()
    present = {name: value for name, value in terms.items() if value is not None}
    total = sum((getattr(weights, name) * value for name, value in present.items()), images.sum() * 0)
    return total, {name: float(value.detach()) for name, value in present.items()}
