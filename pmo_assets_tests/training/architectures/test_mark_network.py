"""The mark classifier's votes."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the extra `models` (PyTorch) is not installed: make test-models")

from pmo_assets.pipeline.detection.networks.named_weights import shipped_weights  # noqa: E402
from pmo_assets.training.architectures.export import export_marks  # noqa: E402
from pmo_assets.training.architectures.mark_network import MarkNetwork, network_of_onnx  # noqa: E402


def test_votes_pool_to_one_answer_per_picture() -> None:
    network = MarkNetwork().eval()
    with torch.no_grad():
        assert network(torch.rand(2, 3, 224, 224)).shape == (2,)
        assert network.votes(torch.rand(1, 3, 224, 224)).shape == (1, 14, 14)
    low, high = torch.full((1, 14, 14), -8.0), torch.full((1, 14, 14), -8.0)
    high[0, 3, 3] = 6.0
    assert float(network.pooled(high)) > float(network.pooled(low)) + 5


def test_an_exported_network_is_trained_on_from_where_it_was(tmp_path: Path) -> None:
    pytest.importorskip("onnxscript", reason="ONNX export needs onnx and onnxscript: make test-models")
    torch.manual_seed(3)
    samples, trained = torch.rand(6, 3, 224, 224), MarkNetwork()
    trained.train()(samples)  # statistics that are not those of a new network
    torch.save({"model": trained.eval().state_dict()}, tmp_path / "best.pt")
    export_marks(tmp_path / "best.pt", tmp_path / "marks.onnx")
    again = network_of_onnx(tmp_path / "marks.onnx", samples)
    with torch.no_grad():
        assert again(samples[:2]).numpy() == pytest.approx(trained(samples[:2]).numpy(), abs=1e-3)
        # With the statistics of such pictures, training begins where evaluation stands.
        assert again.train()(samples).numpy() == pytest.approx(trained(samples).numpy(), abs=0.5)


@pytest.mark.parametrize("name", ["figure_detector.onnx", "image_type_network.onnx"])
def test_weights_of_another_network_are_refused(name: str) -> None:
    pytest.importorskip("onnx", reason="weights are read back by onnx: make test-models")
    with pytest.raises(ValueError, match=rf"{name} is not an exported mark classifier"):
        network_of_onnx(shipped_weights(name), torch.rand(1, 3, 224, 224))


def test_what_is_no_onnx_file_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="weights are read back by onnx: make test-models")
    (tmp_path / "best.pt").write_bytes(b"junk")
    with pytest.raises(ValueError, match=r"best\.pt is no ONNX file"):
        network_of_onnx(tmp_path / "best.pt", torch.rand(1, 3, 224, 224))
