"""The compact detector: its places, its loss, and that it learns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra `models` (PyTorch) is not installed: make test-models")

from pmo_assets.pipeline.detection.networks.input_size import BUCKETS  # noqa: E402
from pmo_assets.training.architectures.compact_detector import (  # noqa: E402
    TINY,
    CompactDetector,
    assigned,
    detection_loss,
    overlap,
    places,
    scores_and_boxes,
)
from pmo_assets.training.data.coco import CATEGORIES, shards  # noqa: E402
from pmo_assets.training.loop.train_detector import FigureBatches, batches_of, coco_rows  # noqa: E402


@pytest.mark.parametrize("bucket", BUCKETS)
def test_every_place_has_a_score_and_a_box(bucket: tuple[int, int]) -> None:
    model = CompactDetector(TINY).eval()
    with torch.no_grad():
        arrays = scores_and_boxes(model(torch.rand(1, 3, *bucket)))
    for group, classes, k in (("panel", 1, 0), ("label", 1, 2), ("image", 4, 4)):
        points, strides = places(group, *bucket)
        assert arrays[k].shape == (1, len(points), classes)
        assert arrays[k + 1].shape == (1, len(points), 4)
        inside = (arrays[k + 1][0, :, 0] < points[:, 0]) & (arrays[k + 1][0, :, 3] > points[:, 1])
        assert bool(inside.all())
        assert len(strides) == len(points)


def test_every_box_is_stood_for_by_a_place_in_it() -> None:
    rng = np.random.default_rng(0)
    for group, low, high in (("panel", 20, 380), ("image", 12, 380), ("label", 6, 40)):
        points, strides = places(group, 384, 384)
        for _ in range(60):
            w, h = rng.uniform(low, high, 2)
            x, y = rng.uniform(0, 384 - w), rng.uniform(0, 384 - h)
            box = torch.tensor([[x, y, x + w, y + h]], dtype=torch.float32)
            index = assigned(group, points, strides, box)
            chosen = points[index == 0]
            assert len(chosen) > 0, (group, w, h)
            if min(w, h) > 16:
                assert bool(((chosen > box[:, :2]) & (chosen < box[:, 2:])).all())


def test_overlap_of_equal_and_of_separate_boxes() -> None:
    a = torch.tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 1.0, 1.0]])
    b = torch.tensor([[0.0, 0.0, 2.0, 2.0], [3.0, 0.0, 4.0, 1.0]])
    iou, giou = overlap(a, b)
    assert iou.tolist() == pytest.approx([1.0, 0.0])
    assert giou.tolist() == pytest.approx([1.0, -0.5])


def test_a_perfect_answer_costs_next_to_nothing() -> None:
    box = torch.tensor([[40.0, 40.0, 140.0, 140.0]])
    output = {}
    for group, classes in (("panel", 1), ("label", 1), ("image", 4)):
        points, strides = places(group, 384, 384)
        index = assigned(group, points, strides, box) if group == "image" else torch.full((len(points),), -1)
        logits = torch.where(index[None, :, None] >= 0, 9.0, -9.0)
        kinds = torch.zeros(1, len(points), classes)
        kinds[..., -1] = 12.0
        output[group] = (logits, box.expand(1, len(points), 4).clone(), kinds)
    loss, parts = detection_loss(output, [(box, torch.tensor([CATEGORIES.index("Other")]))], (384, 384))
    assert float(loss) < 0.01
    wrong, _ = detection_loss(output, [(box, torch.tensor([CATEGORIES.index("CFP")]))], (384, 384))
    assert float(wrong) > 5
    assert set(parts) >= {"image_type", "image_box", "panel_score"}


def test_a_small_network_learns_the_figures_it_sees(data: Path) -> None:
    torch.manual_seed(0)
    rows = coco_rows(shards(data / "train"))
    batches = batches_of(rows, 3, None)
    figures = FigureBatches(rows, batches, 0, augment=False)
    model = CompactDetector(TINY)
    optimiser = torch.optim.AdamW(model.parameters(), lr=5e-3)
    pictures, targets = figures[0]
    losses = []
    for _ in range(60):
        loss, _ = detection_loss(model(pictures.float() / 255), targets, (pictures.shape[2], pictures.shape[3]))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.55 * losses[0]
