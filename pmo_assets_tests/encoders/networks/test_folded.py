"""Towers with folded normalisation embed as they did before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import PIL.Image
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is in the extra `models` (make test-models)")
pytest.importorskip("open_clip", reason="open_clip is in the extra `encoders` (make test-models)")

from pmo_assets.encoders.embedding import AT_ONCE, picture_rows  # noqa: E402
from pmo_assets.encoders.networks import onnx_form  # noqa: E402
from pmo_assets.encoders.networks.building import build_encoder, load_encoder  # noqa: E402
from pmo_assets.encoders.networks.choice import EncoderChoice  # noqa: E402
from pmo_assets.encoders.networks.dual_encoder import DualEncoder  # noqa: E402
from pmo_assets.encoders.networks.folded import embedding_form, fold_normalisation  # noqa: E402
from pmo_assets.encoders.networks.onnx_form import TOLERANCE  # noqa: E402
from pmo_assets.encoders.networks.saving import save_encoder  # noqa: E402
from pmo_assets_tests.encoders.tiny import write_tiny_bert  # noqa: E402


def seen_by(encoder: DualEncoder, count: int) -> tuple[list[PIL.Image.Image], np.ndarray]:
    """Return pictures, and their embeddings by the tower as it is."""
    chance = np.random.default_rng(0)
    pictures = [PIL.Image.fromarray(chance.integers(0, 255, (40, 60, 3), dtype=np.uint8)) for _ in range(count)]
    encoder.set_training(False)
    with torch.no_grad():
        return pictures, encoder.model.encode_image(encoder.pixel_batch(pictures)).numpy()


def test_a_chain_of_convolutions_embeds_alike_without_its_normalisations(tmp_path: Path) -> None:
    bert = write_tiny_bert(tmp_path / "bert")
    torch.manual_seed(0)
    name = f"test_efficientnet + {bert.as_posix()}"
    encoder = build_encoder(EncoderChoice(name=name, pretrained=False, dimensions=12, context=16, image_size=64))
    for module in encoder.model.visual.modules():
        if isinstance(module, torch.nn.BatchNorm2d):  # statistics of a trained network, not 0 and 1
            module.running_mean.normal_(0, 0.5)
            module.running_var.uniform_(0.3, 3)
            torch.nn.init.uniform_(module.weight, 0.5, 2)
            torch.nn.init.normal_(module.bias)
    pictures, before = seen_by(encoder, AT_ONCE + 3)
    state = {key: value.clone() for key, value in encoder.model.state_dict().items()}
    folded = np.concatenate(list(picture_rows(encoder, pictures)))
    assert folded.shape == before.shape
    assert np.abs(folded - before).max() <= 1e-5 * np.linalg.norm(before, axis=1).max()
    assert all(torch.equal(value, state[key]) for key, value in encoder.model.state_dict().items())
    assert embedding_form(encoder).at_once is not None
    assert fold_normalisation(encoder.model.visual) > 0
    assert not [module for module in encoder.model.visual.modules() if isinstance(module, torch.nn.BatchNorm2d)]


def convolutions_in_a_folder(tmp_path: Path) -> Path:
    bert = write_tiny_bert(tmp_path / "bert")
    torch.manual_seed(0)
    name = f"test_efficientnet + {bert.as_posix()}"
    encoder = build_encoder(EncoderChoice(name=name, pretrained=False, dimensions=12, context=16, image_size=64))
    save_encoder(encoder, tmp_path / "run" / "model", "a card")
    return tmp_path / "run"


def test_onnx_runtime_embeds_as_pytorch_does_and_its_file_is_kept_by_the_weights(tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="ONNX is in the extra `models` (make test-models)")
    run = convolutions_in_a_folder(tmp_path)
    encoder = load_encoder(run)
    pictures, before = seen_by(encoder, AT_ONCE + 3)
    form = embedding_form(encoder)
    found = np.concatenate(list(picture_rows(encoder, pictures)))
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (found, before)]
    assert np.abs(unit[0] - unit[1]).max() <= TOLERANCE
    (file,) = (run / "model-onnx").iterdir()
    written = file.stat().st_mtime_ns
    embedding_form(load_encoder(run))
    assert file.stat().st_mtime_ns == written  # found, not made again
    assert embedding_form(encoder) is form  # kept: the search embeds one picture at a time
    with torch.no_grad():
        next(encoder.model.visual.head.parameters()).mul_(-2)  # other weights
    changed, now = next(picture_rows(encoder, pictures[:3])), seen_by(encoder, 3)[1]
    assert np.allclose(changed, now, atol=1e-3)
    assert len(list((run / "model-onnx").iterdir())) == 2


def test_threads_side_by_side_give_the_numbers_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnx", reason="ONNX is in the extra `models` (make test-models)")
    encoder = load_encoder(convolutions_in_a_folder(tmp_path))
    pictures, _ = seen_by(encoder, 2 * AT_ONCE + 3)
    blocks = {}
    for threads in (1, 3):
        monkeypatch.setattr(torch, "get_num_threads", lambda threads=threads: threads)
        encoder.kept_form = None
        assert embedding_form(encoder).workers == threads
        blocks[threads] = list(picture_rows(encoder, iter(pictures)))
    assert [len(rows) for rows in blocks[3]] == [AT_ONCE, AT_ONCE, 3]
    assert np.array_equal(np.concatenate(blocks[1]), np.concatenate(blocks[3]))


@pytest.mark.parametrize("fault", ["missing", "damaged"])
def test_without_a_file_for_onnx_runtime_pytorch_embeds_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, fault: str
) -> None:
    encoder = load_encoder(convolutions_in_a_folder(tmp_path))
    if fault == "missing":
        monkeypatch.setattr(onnx_form, "find_spec", lambda name: None)
    else:
        (tmp_path / "run" / "model-onnx").write_bytes(b"a file where the folder should be")
    pictures, before = seen_by(encoder, 3)
    assert np.allclose(next(picture_rows(encoder, pictures)), before, atol=1e-4)
    assert "PyTorch" in caplog.text


def test_nothing_else_is_folded(tiny_encoder: Path) -> None:
    encoder = load_encoder(tiny_encoder)
    pictures, before = seen_by(encoder, 3)
    assert embedding_form(encoder).at_once is None
    assert np.allclose(next(picture_rows(encoder, pictures)), before, atol=1e-6)


def test_a_normalisation_without_a_convolution_before_it_stays() -> None:
    network = torch.nn.Sequential(torch.nn.BatchNorm2d(3), torch.nn.Conv2d(3, 2, 1), torch.nn.ReLU())
    assert fold_normalisation(network) == 0
    assert isinstance(network[0], torch.nn.BatchNorm2d)
