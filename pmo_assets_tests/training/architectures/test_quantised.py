"""A network that computes in integers says what it said before, is smaller, and is not made twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

torch = pytest.importorskip("torch", reason="the extra `models` (PyTorch) is not installed: make test-models")
pytest.importorskip("onnxscript", reason="ONNX export needs onnx and onnxscript: make test-models")

from pmo_assets.pipeline.regions.marks_network import MarksNetwork, marks_input  # noqa: E402
from pmo_assets.training.architectures import quantised  # noqa: E402
from pmo_assets.training.architectures.export import export_marks_detector  # noqa: E402
from pmo_assets.training.architectures.marks_detector import MarksDetector  # noqa: E402
from pmo_assets.training.architectures.quantised import write_quantised  # noqa: E402


def pictures() -> list[NDArray[np.uint8]]:
    """Patches of colours."""
    rng = np.random.default_rng(3)
    return [rng.integers(0, 256, (6, 8, 3), dtype=np.uint8).repeat(16, axis=0).repeat(16, axis=1) for _ in range(3)]


def exported(target: Path) -> Path:
    """A detector with random weights, unsure everywhere."""
    torch.manual_seed(5)
    model = MarksDetector()
    with torch.no_grad():
        model.out.bias[0] = 0.0
    checkpoint = target.with_suffix(".pt")
    torch.save({"model": model.state_dict()}, checkpoint)
    export_marks_detector(checkpoint, target)
    return target


def test_a_quantised_network_says_what_it_said_in_fewer_bytes(tmp_path: Path) -> None:
    source, target = exported(tmp_path / "marks.onnx"), tmp_path / "small.onnx"
    assert write_quantised(source, target, [marks_input(picture)[0] for picture in pictures()]) < 0.02
    assert target.stat().st_size < 0.7 * source.stat().st_size
    whole, small = (MarksNetwork(path).boxes(pictures()) for path in (source, target))
    for one, other in zip(whole, small, strict=True):
        assert other[0].score == pytest.approx(one[0].score, abs=0.03)
    with pytest.raises(ValueError, match="in integers already"):
        write_quantised(target, target, [marks_input(pictures()[0])[0]])


def test_a_network_whose_answers_change_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = exported(tmp_path / "marks.onnx")
    before = source.read_bytes()
    monkeypatch.setattr(quantised, "TOLERANCE", 0.0)
    with pytest.raises(ArithmeticError, match="differ by"):
        write_quantised(source, source, [marks_input(pictures()[0])[0]])
    assert source.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["marks.onnx", "marks.pt"]
