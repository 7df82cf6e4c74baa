"""Networks come out of ONNX as they went in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra `models` (PyTorch) is not installed: make test-models")
pytest.importorskip("onnxscript", reason="ONNX export needs onnx and onnxscript: make test-models")

from pmo_assets.pipeline.detection.networks.onnx_detectors import FigureNetwork  # noqa: E402
from pmo_assets.records.detections import FigureView  # noqa: E402
from pmo_assets.training.architectures.compact_detector import CompactDetector  # noqa: E402
from pmo_assets.training.architectures.detectors import new_detector  # noqa: E402
from pmo_assets.training.architectures.export import export_detector  # noqa: E402
from pmo_assets.training.loop.train_detector import train_detector  # noqa: E402
from pmo_assets.training.options import TrainingOptions  # noqa: E402

SHORT = TrainingOptions(
    steps=4, batch_size=2, evaluate_every=4, validation_figures=2, workers=0, threads=1, warm_up=2, save_seconds=0.0
)


def test_an_export_that_differs_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = new_detector("compact", "tiny")
    torch.save({"config": model.settings(), "model": model.state_dict()}, tmp_path / "best.pt")
    whole = CompactDetector.outputs

    def sized_while_traced(self: CompactDetector, pictures: Any) -> tuple[Any, ...]:
        found = whole(self, pictures)
        return (*found[:5], found[5] * float(pictures.shape[2]))  # the height becomes a constant of the graph

    monkeypatch.setattr(CompactDetector, "outputs", sized_while_traced)
    with pytest.raises(ArithmeticError, match="differs from PyTorch"):
        export_detector(tmp_path / "best.pt", tmp_path / "detector.onnx")

    def not_in_onnx(self: CompactDetector, pictures: Any) -> tuple[Any, ...]:
        found = whole(self, pictures)
        return (*found[:5], found[5] + torch.linalg.svdvals(found[5])[..., :1, None])

    monkeypatch.setattr(CompactDetector, "outputs", not_in_onnx)
    with pytest.raises(ValueError, match="compact cannot be written as ONNX"):
        export_detector(tmp_path / "best.pt", tmp_path / "detector.onnx")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["best.pt"]


def test_onnx_gives_what_pytorch_gives(data: Path, tmp_path: Path) -> None:
    list(train_detector(tmp_path / "run", data / "train", data / "validation", SHORT, size="tiny"))
    target = tmp_path / "detector.onnx"
    assert export_detector(tmp_path / "run" / "best.pt", target) < 1e-3
    rng = np.random.default_rng(0)
    sizes = ((300, 300, 3), (90, 700, 3), (300, 310, 3), (800, 200, 3))
    views = [FigureView(rng.integers(0, 256, size, dtype=np.uint8)) for size in sizes]
    network = FigureNetwork(target, batch_size=2)
    together, alone = network(views), [FigureNetwork(target)([view])[0] for view in views]
    for a, b in zip(together, alone, strict=True):
        assert a.boxes["image"].shape == b.boxes["image"].shape
        assert np.allclose(a.scores["panel"], b.scores["panel"], atol=1e-5)
    assert network([views[1]])[0] is together[1]
