"""Exported networks come back as they were, and can be trained on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra `models` (PyTorch) is not installed: make test-models")
pytest.importorskip("onnx", reason="ONNX export needs onnx and onnxscript: make test-models")

from pmo_assets.pipeline.detection.networks.named_weights import shipped_weights  # noqa: E402
from pmo_assets.pipeline.detection.networks.network_boxes import OUTPUTS  # noqa: E402
from pmo_assets.pipeline.detection.networks.onnx_detectors import onnx_session  # noqa: E402
from pmo_assets.pipeline.regions.marks_network import READ_OUTPUTS, READER_FILE  # noqa: E402
from pmo_assets.training.architectures.detectors import new_detector  # noqa: E402
from pmo_assets.training.architectures.export import export_detector  # noqa: E402
from pmo_assets.training.architectures.restored import (  # noqa: E402
    module_of_node,
    restored_detector,
    restored_reader,
    with_statistics,
)

SHIPPED = shipped_weights("figure_detector.onnx")


def pictures(seed: int) -> Any:
    patches = torch.rand((2, 3, 5, 7), generator=torch.Generator().manual_seed(seed))
    return (torch.nn.functional.interpolate(patches, size=(320, 448), mode="bilinear") * 255).to(torch.uint8)


def test_the_shipped_network_answers_as_its_file_does() -> None:
    model = new_detector("compact", "full", SHIPPED).eval()
    pixels = pictures(0)
    expected = onnx_session(SHIPPED, OUTPUTS).run(list(OUTPUTS), {"pixels": pixels.permute(0, 2, 3, 1).numpy()})
    with torch.no_grad():
        found = model.outputs(pixels.float() / 255)
    for name, want, got in zip(OUTPUTS, expected, found, strict=True):
        assert np.abs(want - got.numpy()).max() < (0.5 if name.endswith("boxes") else 1e-3), name


def test_statistics_leave_the_answers_and_normalise_in_training() -> None:
    model = restored_detector(SHIPPED).eval()
    seen = pictures(1).float() / 255
    with torch.no_grad():
        before = model.outputs(seen)
        without = model.train().outputs(seen)
    model = restored_detector(SHIPPED).eval()
    with_statistics(model, [seen])
    with torch.no_grad():
        after = model.outputs(seen)
        trained = model.train().outputs(seen)
    for old, new in zip(before, after, strict=True):
        assert torch.allclose(old, new, atol=0.05 if old.shape[2:] == (4,) else 1e-3)
    # With statistics of the batch itself little changes; without them the network is another one.
    assert (before[4] - trained[4]).abs().mean() < 0.25 * (before[4] - without[4]).abs().mean()


def test_a_restored_network_can_be_exported_again(tmp_path: Path) -> None:
    model = restored_detector(SHIPPED)
    torch.save({"config": model.settings(), "model": model.state_dict()}, tmp_path / "best.pt")
    assert export_detector(tmp_path / "best.pt", tmp_path / "again.onnx") < 1e-3
    again = restored_detector(tmp_path / "again.onnx").state_dict()
    assert all(torch.allclose(value, again[name], atol=1e-4) for name, value in model.state_dict().items())


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text.onnx").write_bytes(b"no network")
    with pytest.raises(ValueError, match=r"text\.onnx is no"):
        restored_detector(tmp_path / "text.onnx")
    with pytest.raises(ValueError, match="is no compact detector"):
        restored_detector(shipped_weights("mark_classifier.onnx"))
    with pytest.raises(ValueError, match="only the compact detector"):
        new_detector("compact", "tiny", SHIPPED)


def test_nodes_are_named_after_their_modules() -> None:
    assert module_of_node("/detector/stages.0/stages.0.0/first/first.0/Conv") == "stages.0.0.first.0"
    assert module_of_node("/detector/tower/tower.0/tower.0.0_2/Conv") == "tower.0.0"
    assert module_of_node("/detector/attention.1/perceptron/perceptron.2/MatMul") == "attention.1.perceptron.2"


def test_the_shipped_marks_reader_answers_as_its_file_does() -> None:
    path = shipped_weights(READER_FILE)
    pixels = np.random.default_rng(0).integers(0, 256, (3, 64, 64, 3), dtype=np.uint8)
    expected = onnx_session(path, READ_OUTPUTS).run(list(READ_OUTPUTS), {"pixels": pixels})
    with torch.no_grad():
        found = restored_reader(path).eval()(torch.from_numpy(pixels).permute(0, 3, 1, 2).float() / 255)
    for want, got in zip(expected, found, strict=True):
        assert np.abs(want - torch.softmax(got, dim=1).numpy()).max() < 1e-4
    with pytest.raises(ValueError, match="no marks reader"):
        restored_reader(SHIPPED)
