"""Every architecture learns from the same boxes, goes through the same loop, and comes out with the same outputs."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra `models` (PyTorch) is not installed: make test-models")
pytest.importorskip("onnxscript", reason="ONNX export needs onnx and onnxscript: make test-models")

from torch import Tensor  # noqa: E402

from pmo_assets.pipeline.detection.networks.onnx_detectors import FigureNetwork  # noqa: E402
from pmo_assets.records.detections import FigureView  # noqa: E402
from pmo_assets.training.architectures.detectors import detector_of_checkpoint, new_detector  # noqa: E402
from pmo_assets.training.architectures.export import export_detector, load_detector  # noqa: E402
from pmo_assets.training.architectures.figure_detector import group_outputs, solid  # noqa: E402
from pmo_assets.training.architectures.recipes import ARCHITECTURES, RECIPES, Architecture, architecture_of  # noqa: E402
from pmo_assets.training.data.coco import CATEGORIES, shards  # noqa: E402
from pmo_assets.training.loop.model_card import detector_card  # noqa: E402
from pmo_assets.training.loop.train_detector import (  # noqa: E402
    coco_rows,
    evaluated,
    train_detector,
)
from pmo_assets.training.options import TrainingOptions  # noqa: E402

SHORT = TrainingOptions(
    steps=2, batch_size=2, evaluate_every=2, validation_figures=2, workers=0, threads=1, warm_up=1, save_seconds=1e9
)


def missing(package: str) -> str | None:
    """Why a package cannot be used here; None when it can."""
    module = {"torchvision": "torchvision_detectors", "transformers": "detr_detectors", "torch": "compact_detector"}[
        package
    ]
    try:
        import_module(f"pmo_assets.training.architectures.{module}")
    except (ImportError, RuntimeError) as error:  # a torchvision built for another PyTorch says RuntimeError
        return f"{package} does not load here ({str(error).splitlines()[0]}): make test-models"
    return None


REASONS = {package: missing(package) for package in sorted({recipe.package for recipe in RECIPES.values()})}
EVERY = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(
            REASONS[RECIPES[name].package] is not None, reason=str(REASONS[RECIPES[name].package])
        ),
    )
    for name in ARCHITECTURES
]


def two_figures() -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
    """Two figures (128 × 192): two panels with a black letter and a coloured image each; a panel with a grey one."""
    pixels = torch.full((2, 3, 128, 192), 255, dtype=torch.uint8)
    targets: list[tuple[Tensor, Tensor]] = []
    boxes, kinds = [], []
    for left, colour, kind in ((4, (200, 90, 30), "CFP"), (100, (40, 40, 160), "Other")):
        pixels[0, :, 30:120, left + 4 : left + 84] = torch.tensor(colour, dtype=torch.uint8)[:, None, None]
        pixels[0, :, 8:20, left + 4 : left + 14] = 0
        boxes += [(left, 4, left + 88, 124), (left + 4, 8, left + 14, 20), (left + 4, 30, left + 84, 120)]
        kinds += ["Panel", "Label", kind]
    targets.append((torch.tensor(boxes, dtype=torch.float32), torch.tensor([CATEGORIES.index(k) for k in kinds])))
    pixels[1, :, 10:118, 10:182] = 128
    whole = torch.tensor([(10.0, 10, 182, 118), (10, 10, 182, 118)])
    targets.append((whole, torch.tensor([0, CATEGORIES.index("OCT")])))
    return pixels, targets


@pytest.mark.parametrize("name", EVERY)
def test_the_loss_falls_and_the_weights_come_back(name: Architecture) -> None:
    torch.manual_seed(0)
    model = new_detector(name, "tiny")
    pixels, targets = two_figures()
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3)
    losses = []
    for _ in range(24):
        torch.manual_seed(1)  # the DETR family adds noise to the boxes
        loss, parts = model.loss(model.as_pictures(pixels), targets)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        losses.append(float(loss.detach()))
    assert np.isfinite(losses).all()
    assert np.mean(losses[-3:]) < 0.9 * np.mean(losses[:3])
    assert parts
    model.eval()
    saved = {"architecture": name, "config": model.settings(), "model": model.state_dict()}
    again = detector_of_checkpoint(json_and_back(saved)).eval()
    with torch.no_grad():
        for one, other in zip(
            model.outputs(model.as_pictures(pixels)), again.outputs(pixels.float() / 255), strict=True
        ):
            assert torch.allclose(one, other, atol=1e-4)


def json_and_back(saved: dict[str, Any]) -> dict[str, Any]:
    """A checkpoint's settings are plain values."""
    return saved | {"config": json.loads(json.dumps(saved["config"]))}


@pytest.mark.parametrize("name", EVERY)
def test_figures_without_boxes_and_with_thin_ones_are_learnt_from(name: Architecture) -> None:
    torch.manual_seed(0)
    model = new_detector(name, "tiny")
    pixels, targets = two_figures()
    nothing = (torch.zeros(0, 4), torch.zeros(0, dtype=torch.long))
    thin = (torch.tensor([[20.0, 20, 20.2, 90]]), torch.tensor([0]))
    for case in ([nothing, nothing], [targets[0], nothing], [thin, targets[1]]):
        loss, _ = model.loss(model.as_pictures(pixels), case)
        loss.backward()
        assert bool(torch.isfinite(loss))


@pytest.mark.parametrize("name", EVERY)
def test_one_loop_trains_measures_and_exports_all(name: Architecture, data: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    (record,) = train_detector(run, data / "train", data / "validation", SHORT, architecture=name, size="tiny")
    assert record["step"] == 2
    assert record["loss"] > 0
    model, info = load_detector(run / "best.pt")
    assert info["architecture"] == name
    again = evaluated(model, coco_rows(shards(data / "validation"))[:2], SHORT)
    assert again["mAP"] == pytest.approx(record["mAP"], abs=1e-4)
    assert f"{'compact_detector.py' if name == 'compact' else name}" in detector_card(info, None, 1)
    target = tmp_path / "detector.onnx"
    assert export_detector(run / "best.pt", target) < 1e-3
    rng = np.random.default_rng(0)
    views = [FigureView(rng.integers(0, 256, size, dtype=np.uint8)) for size in ((300, 300, 3), (90, 700, 3))]
    for found in FigureNetwork(target)(views):
        for group in ("panel", "label", "image"):
            boxes, scores = found.boxes[group], found.scores[group]
            assert boxes.shape == (len(scores), 4)
            assert bool(((boxes >= 0) & (boxes <= 1)).all())
            assert bool(((scores >= 0) & (scores <= 1)).all())
            assert np.allclose(found.class_scores[group].sum(axis=1), scores, atol=1e-5)


@pytest.mark.parametrize("name", EVERY)
def test_a_run_starts_from_the_weights_of_another(name: Architecture, tmp_path: Path) -> None:
    torch.manual_seed(0)
    first = new_detector(name, "tiny")
    saved = {"architecture": name, "config": first.settings(), "model": first.state_dict()}
    torch.save(saved, tmp_path / "best.pt")
    torch.manual_seed(1)
    second = new_detector(name, "tiny", tmp_path / "best.pt")
    for one, other in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.skipif(REASONS["torchvision"] is not None, reason=str(REASONS["torchvision"]))
def test_weights_of_torchvision_are_taken_where_they_fit(tmp_path: Path) -> None:
    from torchvision.models.detection import retinanet_resnet50_fpn

    theirs = retinanet_resnet50_fpn(weights=None, weights_backbone=None, num_classes=91)
    torch.save(theirs.state_dict(), tmp_path / "retinanet.pth")
    ours = new_detector("retinanet", "full", tmp_path / "retinanet.pth")
    state = theirs.state_dict()
    different = [n for n, v in ours.network.state_dict().items() if n not in state or not torch.equal(v, state[n])]
    assert different == ["head.classification_head.cls_logits.weight", "head.classification_head.cls_logits.bias"]


@pytest.mark.skipif(REASONS["transformers"] is not None, reason=str(REASONS["transformers"]))
def test_a_folder_of_transformers_gives_configuration_and_weights(tmp_path: Path) -> None:
    from transformers import RTDetrV2ForObjectDetection

    torch.manual_seed(0)
    config = new_detector("rtdetr_v2", "tiny").network.config
    config.num_labels = 80
    theirs = RTDetrV2ForObjectDetection(config)
    theirs.save_pretrained(tmp_path)
    ours = new_detector("rtdetr_v2", "full", tmp_path)
    assert ours.network.config.num_labels == len(CATEGORIES)
    name = "model.encoder_input_proj.0.0.weight"
    assert torch.equal(ours.network.state_dict()[name], theirs.state_dict()[name])
    with pytest.raises(ValueError, match="rt_detr_v2"):
        new_detector("d_fine", "tiny", tmp_path)
    with pytest.raises(ValueError, match="starts from a file"):
        new_detector("compact", "tiny", tmp_path)


def test_weights_that_fit_nothing_and_weights_that_are_not_there(tmp_path: Path) -> None:
    torch.save({"weight": torch.zeros(3)}, tmp_path / "other.pth")
    with pytest.raises(ValueError, match="another network"):
        new_detector("compact", "tiny", tmp_path / "other.pth")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        new_detector("compact", "tiny", tmp_path / "nowhere.pt")
    with pytest.raises(ValueError, match="there are compact, retinanet"):
        architecture_of("yolo")


@pytest.mark.parametrize(("name", "package"), [("fcos", "torchvision"), ("d_fine", "transformers")])
def test_a_package_that_does_not_load_is_named(
    name: Architecture, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = {"fcos": "torchvision_detectors", "d_fine": "detr_detectors"}[name]
    monkeypatch.delitem(sys.modules, f"pmo_assets.training.architectures.{module}", raising=False)
    for broken in (package, f"{package}.models"):
        monkeypatch.setitem(sys.modules, broken, None)
    with pytest.raises(ValueError, match=f"{package} does not load beside this PyTorch"):
        new_detector(name, "tiny")


def test_a_run_keeps_its_architecture(data: Path, tmp_path: Path) -> None:
    list(train_detector(tmp_path, data / "train", data / "validation", SHORT, size="tiny"))
    with pytest.raises(ValueError, match="is a run of compact"):
        list(train_detector(tmp_path, data / "train", data / "validation", SHORT, architecture="fcos"))


def test_checkpoints_that_name_no_architecture_are_compact(tmp_path: Path) -> None:
    model = new_detector("compact", "tiny")
    saved = {"model": model.state_dict(), "config": model.settings(), "step": 7, "validation": {"mAP": 0.5}}
    torch.save(saved, tmp_path / "best.pt")
    loaded, info = load_detector(tmp_path / "best.pt")
    assert (info["architecture"], info["step"]) == ("compact", 7)
    assert loaded.settings() == model.settings()


def test_image_types_share_the_score_of_the_best() -> None:
    probabilities = torch.tensor([[[0.9, 0.1, 0.6, 0.2, 0.0, 0.0], [0.0] * 6]])
    panel, boxes, label, _, image, _ = group_outputs(probabilities, torch.zeros(1, 2, 4))
    assert panel[0, 0].tolist() == pytest.approx([0.9])
    assert label[0, 0].tolist() == pytest.approx([0.1])
    assert image[0, 0].tolist() == pytest.approx([0.45, 0.15, 0, 0])
    assert image[0, 1].tolist() == [0, 0, 0, 0]
    assert boxes.shape == (1, 2, 4)


def test_boxes_without_an_area_are_no_targets() -> None:
    boxes = torch.tensor([[0.0, 0, 10, 10], [0, 0, 0.1, 10], [5, 5, 5, 5]])
    ((kept, kinds),) = solid([(boxes, torch.tensor([0, 1, 2]))])
    assert kept.tolist() == [[0, 0, 10, 10]]
    assert kinds.tolist() == [0]
