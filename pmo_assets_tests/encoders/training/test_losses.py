"""Losses against plain loops over pairs, in float64, values and gradients."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is in the extra `models` (make test-models)")

from pmo_assets.encoders.training.losses import (  # noqa: E402
    BatchLayout,
    LossWeights,
    between_levels,
    info_nce,
    mean_of_parts,
    region_features,
    same_as,
    training_loss,
)

if TYPE_CHECKING:
    from torch import Tensor

ALL_TERMS = LossWeights(figure=0.7, panel=1.0, region=0.5, figure_panel=0.3, panel_region=0.2, roi=0.9, consistency=0.4)


def ragged(seed: int, *, twins: bool = True) -> tuple[BatchLayout, list[int]]:
    """Return a batch of figures with 0 to 3 panels with 0 to 2 regions; some look alike, some say the same."""
    rng = np.random.default_rng(seed)
    levels: list[int] = []
    parents: list[int] = []
    for _ in range(int(rng.integers(2, 5))):
        figure = len(levels)
        levels.append(0)
        parents.append(-1)
        for _ in range(int(rng.integers(0, 4))):
            panel = len(levels)
            levels.append(1)
            parents.append(figure if rng.random() < 0.9 else -1)
            for _ in range(int(rng.integers(0, 3))):
                levels.append(2)
                parents.append(panel)
    count = len(levels)
    looks = rng.integers(0, 2 * count, count) if twins else np.arange(count)
    wordings = rng.integers(0, 2 * count, count) if twins else np.arange(count)
    regions = [place for place, level in enumerate(levels) if level == 2]
    layout = BatchLayout(
        torch.as_tensor(levels),
        torch.as_tensor(looks),
        torch.as_tensor(wordings),
        torch.as_tensor(parents),
        torch.as_tensor(rng.random(count) < 0.85),
        torch.as_tensor(regions, dtype=torch.int64),
    )
    return layout, regions


def embeddings(seed: int, rows: int, width: int = 5) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(rows, width, dtype=torch.float64, generator=generator).requires_grad_()


def cosine(one: Tensor, other: Tensor) -> Tensor:
    return (one * other).sum() / (one * one).sum().sqrt() / (other * other).sum().sqrt()


def slow_info_nce(one: list[Tensor], other: list[Tensor], scale: Tensor, apart: Any) -> Tensor:
    """Formula of OPEN-PMC-18M, section 3, halved; `apart(i, k)`: k is no negative of i."""
    total = torch.zeros((), dtype=torch.float64)
    for left, right in ((one, other), (other, one)):
        for i in range(len(left)):
            others = [k for k in range(len(left)) if k == i or not apart(i, k)]
            exponents = [torch.exp(scale * cosine(left[i], right[k])) for k in others]
            right_one = torch.exp(scale * cosine(left[i], right[i]))
            total = total - torch.log(right_one / torch.stack(exponents).sum())
    return total / (2 * len(one))


def unit(vector: Tensor) -> Tensor:
    return vector / (vector * vector).sum().sqrt()


def slow_loss(images: Tensor, texts: Tensor, rois: Tensor, layout: BatchLayout, scale: Tensor) -> Tensor:
    levels, looks, wordings, parents = (
        column.tolist() for column in (layout.levels, layout.looks, layout.wordings, layout.parents)
    )
    counted = layout.counted.tolist()

    def nce(left: list[Tensor], right: list[Tensor], places: list[int]) -> Tensor:
        def apart(i: int, k: int) -> bool:
            a, b = places[i], places[k]
            return looks[a] == looks[b] or wordings[a] == wordings[b]

        return slow_info_nce(left, right, scale, apart)

    total = torch.zeros((), dtype=torch.float64)
    for level, weight in enumerate((ALL_TERMS.figure, ALL_TERMS.panel, ALL_TERMS.region)):
        places = [i for i in range(len(levels)) if levels[i] == level and counted[i]]
        if places:
            total = total + weight * nce([images[i] for i in places], [texts[i] for i in places], places)
    for whole, weight in ((0, ALL_TERMS.figure_panel), (1, ALL_TERMS.panel_region)):
        children = {
            i: [k for k in range(len(levels)) if parents[k] == i and levels[k] == whole + 1]
            for i in range(len(levels))
            if levels[i] == whole and counted[i]
        }
        places = [i for i, found in children.items() if found]
        if len(places) >= 2:
            for side in (images, texts):
                means = [torch.stack([unit(side[k]) for k in children[i]]).mean(dim=0) for i in places]
                total = total + weight * nce([side[i] for i in places], means, places)
    order = layout.regions.tolist()
    pooled = [(rois[number], place) for number, place in enumerate(order) if counted[place]]
    if pooled:
        places = [place for _, place in pooled]
        total = total + ALL_TERMS.roi * nce([roi for roi, _ in pooled], [texts[i] for i in places], places)
        distances = [1 - cosine(roi, images[place]) for roi, place in pooled]
        total = total + ALL_TERMS.consistency * torch.stack(distances).mean()
    return total


@pytest.mark.parametrize("seed", range(12))
def test_the_loss_and_its_gradients_are_those_of_plain_loops(seed: int) -> None:
    layout, regions = ragged(seed)
    images, texts, rois = (
        embeddings(3 * seed + k, rows) for k, rows in enumerate((len(layout), len(layout), len(regions)))
    )
    scale = torch.tensor(7.0, dtype=torch.float64, requires_grad=True)
    fast, _ = training_loss(images, texts, rois, layout, scale, ALL_TERMS)
    slow = slow_loss(images, texts, rois, layout, scale)
    assert float(fast.detach()) == pytest.approx(float(slow.detach()), abs=1e-12)
    if slow.requires_grad:
        variables = (images, texts, rois, scale)
        for one, other in zip(
            torch.autograd.grad(fast, variables, allow_unused=True),
            torch.autograd.grad(slow, variables, allow_unused=True),
            strict=True,
        ):
            absent = [item is None or not item.abs().max() for item in (one, other) if item is None or len(item.shape)]
            if one is None or other is None:
                assert all(absent)
            else:
                assert torch.allclose(one, other, atol=1e-12)


def test_one_pair_of_each_kind_in_numbers() -> None:
    """Two pairs at right angles, scale 1: -log(e / (e + 1)) in every row."""
    rows = torch.eye(2, dtype=torch.float64)
    expected = -math.log(math.e / (math.e + 1))
    assert float(info_nce(rows, rows, torch.tensor(1.0))) == pytest.approx(expected, abs=1e-12)


def test_pairs_that_show_or_say_the_same_are_no_negatives() -> None:
    names = torch.tensor([0, 0, 1])
    other = torch.tensor([0, 1, 2])
    for looks, wordings in ((names, other), (other, names)):
        layout = BatchLayout(torch.ones(3), looks, wordings, -torch.ones(3), names >= 0, names)
        assert same_as(layout).tolist() == [[True, True, False], [True, True, False], [False, False, True]]
    twins = embeddings(1, 2), embeddings(2, 2)
    scale = torch.tensor(5.0, dtype=torch.float64)
    assert float(info_nce(*twins, scale, torch.ones(2, 2, dtype=torch.bool)).detach()) == 0
    assert float(info_nce(*twins, scale).detach()) > 0


def test_parts_count_equally_whatever_their_length() -> None:
    parts = torch.tensor([[3.0, 0.0], [0.0, 1.0], [2.0, 2.0]], dtype=torch.float64)
    means, present = mean_of_parts(parts, torch.tensor([1, 1, 2]), 4)
    assert present.tolist() == [False, True, True, False]
    assert torch.allclose(means[1], torch.tensor([0.5, 0.5], dtype=torch.float64))
    assert torch.allclose(means[2], torch.full((2,), 0.5**0.5, dtype=torch.float64))
    assert not means[0].any()


def test_a_single_whole_with_parts_says_nothing() -> None:
    layout, _ = ragged(0, twins=False)
    lonely = BatchLayout(
        layout.levels, layout.looks, layout.wordings, -torch.ones_like(layout.parents), layout.counted, layout.regions
    )
    assert between_levels(embeddings(1, len(layout)), lonely, 0, 1, torch.tensor(1.0)) is None


def slow_region(feature_map: Tensor, box: list[float], samples: int = 4) -> Tensor:
    """Mean of bilinear samples in a box, cell centres at half numbers (He et al. 2017, aligned)."""
    _, height, width = feature_map.shape
    left, top, right, bottom = (
        value * size - 0.5 for value, size in zip(box, (width, height, width, height), strict=True)
    )
    found = []
    for row in range(samples):
        for column in range(samples):
            y = min(max(top + (row + 0.5) * (bottom - top) / samples, 0.0), height - 1.0)
            x = min(max(left + (column + 0.5) * (right - left) / samples, 0.0), width - 1.0)
            y0, x0 = int(y), int(x)
            y1, x1 = min(y0 + 1, height - 1), min(x0 + 1, width - 1)
            dy, dx = y - y0, x - x0
            found.append(
                feature_map[:, y0, x0] * (1 - dy) * (1 - dx)
                + feature_map[:, y0, x1] * (1 - dy) * dx
                + feature_map[:, y1, x0] * dy * (1 - dx)
                + feature_map[:, y1, x1] * dy * dx
            )
    return torch.stack(found).mean(dim=0)


@pytest.mark.parametrize("seed", range(5))
def test_regions_are_pooled_as_by_hand(seed: int) -> None:
    rng = np.random.default_rng(seed)
    maps = torch.as_tensor(rng.normal(size=(3, 4, 5, 7))).requires_grad_()
    low = rng.uniform(0, 0.6, (6, 2))
    boxes = torch.as_tensor(np.concatenate([low, low + rng.uniform(0.05, 0.4, (6, 2))], axis=1))
    owners = torch.as_tensor(rng.integers(0, 3, 6))
    fast = region_features(maps, boxes, owners)
    slow = torch.stack(
        [slow_region(maps[owner], box) for owner, box in zip(owners.tolist(), boxes.tolist(), strict=True)]
    )
    assert torch.allclose(fast, slow, atol=1e-10)
    weight = torch.as_tensor(rng.normal(size=fast.shape))
    one, other = (torch.autograd.grad((side * weight).sum(), maps)[0] for side in (fast, slow))
    assert torch.allclose(one, other, atol=1e-10)


def test_a_whole_picture_is_pooled_to_the_mean_of_its_map() -> None:
    maps = torch.arange(16, dtype=torch.float64).reshape(1, 1, 4, 4)
    pooled = region_features(maps, torch.tensor([[0.0, 0.0, 1.0, 1.0]], dtype=torch.float64), torch.tensor([0]))
    assert float(pooled) == pytest.approx(float(maps.mean()))
