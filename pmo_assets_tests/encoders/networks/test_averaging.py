"""The mean of encoders' weights is an encoder where training began from the same weights."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

torch = pytest.importorskip("torch", reason="PyTorch is in the extra `models` (make test-models)")
pytest.importorskip("open_clip", reason="open_clip is in the extra `encoders` (make test-models)")

from pmo_assets.cli.main import app  # noqa: E402
from pmo_assets.encoders.networks.averaging import average_encoders  # noqa: E402
from pmo_assets.encoders.networks.building import build_encoder, load_encoder  # noqa: E402
from pmo_assets.encoders.networks.choice import EncoderChoice, EncoderError  # noqa: E402
from pmo_assets.encoders.networks.dual_encoder import DualEncoder  # noqa: E402
from pmo_assets.encoders.networks.saving import save_encoder  # noqa: E402
from pmo_assets_tests.encoders.tiny import write_tiny_bert  # noqa: E402


def started(tmp_path: Path, seed: int, size: int = 64) -> DualEncoder:
    """An encoder with the projections of a seed."""
    bert = tmp_path / "bert"
    if not bert.exists():
        write_tiny_bert(bert)
    torch.manual_seed(seed)
    name = f"test_efficientnet + {bert.as_posix()}"
    return build_encoder(EncoderChoice(name=name, pretrained=False, dimensions=12, context=16, image_size=size))


def moved(encoder: DualEncoder, by: float) -> DualEncoder:
    """The encoder with each number of its weights moved by as much."""
    with torch.no_grad():
        for value in encoder.model.parameters():
            value.add_(by)
    return encoder


def test_each_weight_is_the_mean_and_counts_stay(tmp_path: Path) -> None:
    before = {name: value.clone() for name, value in started(tmp_path, 0).model.state_dict().items()}
    ends = [moved(started(tmp_path, 0), by) for by in (0.001, 0.002, -0.006)]
    learned = dict(ends[0].model.named_parameters())
    for name, value in average_encoders(ends).model.state_dict().items():
        wanted = before[name] - 0.001 if name in learned else before[name]
        assert torch.allclose(value.double(), wanted.double(), atol=1e-7), name
        assert value.dtype == before[name].dtype


def test_what_started_elsewhere_or_is_built_otherwise_has_no_mean(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match=r"encoder 2 was trained from other weights .* run\.weights_seed"):
        average_encoders([started(tmp_path, 0), started(tmp_path, 1)])
    with pytest.raises(EncoderError, match="encoder 3 is built otherwise"):
        average_encoders([started(tmp_path, 0), started(tmp_path, 0), started(tmp_path, 0, size=96)])


def test_the_command_writes_an_encoder_that_is_used_as_a_run_is(tmp_path: Path) -> None:
    for name, by in (("a", 0.001), ("b", 0.003)):
        save_encoder(moved(started(tmp_path, 0), by), tmp_path / name / "model", "")
    out = tmp_path / "mean"
    given = ["encode", "average", str(tmp_path / "a"), str(tmp_path / "b"), "--out", str(out)]
    result = CliRunner().invoke(app, given, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    wanted = moved(started(tmp_path, 0), 0.002).model.state_dict()
    for name, value in load_encoder(out).model.state_dict().items():
        assert torch.allclose(value.double(), wanted[name].double(), atol=1e-7), name
    assert str(tmp_path / "b") in (out / "model" / "README.md").read_text("utf-8")
