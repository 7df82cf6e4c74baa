"""Between two networks of one line lies one that has something of both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra `models` (PyTorch) is not installed: make test-models")
pytest.importorskip("onnx", reason="ONNX export needs onnx and onnxscript: make test-models")

from pmo_assets.pipeline.detection.networks.named_weights import shipped_weights  # noqa: E402
from pmo_assets.training.architectures.detectors import new_detector  # noqa: E402
from pmo_assets.training.architectures.restored import restored_detector  # noqa: E402
from pmo_assets.training.data.training_data import write_synthetic_shards  # noqa: E402
from pmo_assets.training.loop.averaging import averaged_detector  # noqa: E402

SHIPPED = shipped_weights("figure_detector.onnx")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    list(write_synthetic_shards(folder, "train", 16, [], None))
    list(write_synthetic_shards(folder, "validation", 3, [], None))
    return folder


def checkpoint(folder: Path, model: Any) -> Path:
    described = {"architecture": "compact", "size": "full", "config": model.settings(), "step": 1, "validation": {}}
    torch.save({"model": model.state_dict()} | described, folder / "best.pt")
    return folder / "best.pt"


def test_half_of_each_lies_between_both(data: Path, tmp_path: Path) -> None:
    moved = restored_detector(SHIPPED)
    for parameter in moved.parameters():
        parameter.data += 0.01
    path = checkpoint(tmp_path, moved)
    first, half, last = (averaged_detector(path, SHIPPED, data, share, 7)["model"] for share in (0.0, 0.5, 1.0))
    for name, value in moved.state_dict().items():
        assert torch.allclose(last[name], value)
        if value.is_floating_point():
            assert torch.allclose(half[name], (first[name] + last[name]) / 2, atol=1e-6)


def test_it_is_measured_and_says_where_it_is_from(data: Path, tmp_path: Path) -> None:
    result = averaged_detector(checkpoint(tmp_path, restored_detector(SHIPPED)), SHIPPED, data, 0.5, 7)
    assert result["initial"] == "figure_detector.onnx"
    assert 0 <= result["validation"]["image"] <= 1


def test_networks_of_different_sizes_have_no_mean(data: Path, tmp_path: Path) -> None:
    small = checkpoint(tmp_path, new_detector("compact", "tiny"))
    with pytest.raises(ValueError, match="different architectures or sizes"):
        averaged_detector(small, SHIPPED, data, 0.5, 7)
