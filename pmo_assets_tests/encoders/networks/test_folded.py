"""Towers with folded normalisation embed as they did before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import PIL.Image
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is in the extra `models` (make test-models)")
pytest.importorskip("open_clip", reason="open_clip is in the extra `encoders` (make test-models)")

from pmo_assets.encoders.embedding import AT_ONCE, picture_rows  # noqa: E402
from pmo_assets.encoders.networks.building import build_encoder, load_encoder  # noqa: E402
from pmo_assets.encoders.networks.choice import EncoderChoice  # noqa: E402
from pmo_assets.encoders.networks.dual_encoder import DualEncoder  # noqa: E402
from pmo_assets.encoders.networks.folded import embedding_form, fold_normalisation  # noqa: E402
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
    form, at_once = embedding_form(encoder)
    assert at_once is not None
    assert isinstance(form, torch.nn.Module)
    assert not [module for module in form.modules() if isinstance(module, torch.nn.BatchNorm2d)]


def test_nothing_else_is_folded(tiny_encoder: Path) -> None:
    encoder = load_encoder(tiny_encoder)
    pictures, before = seen_by(encoder, 3)
    assert embedding_form(encoder)[1] is None
    assert np.allclose(next(picture_rows(encoder, pictures)), before, atol=1e-6)


def test_a_normalisation_without_a_convolution_before_it_stays() -> None:
    network = torch.nn.Sequential(torch.nn.BatchNorm2d(3), torch.nn.Conv2d(3, 2, 1), torch.nn.ReLU())
    assert fold_normalisation(network) == 0
    assert isinstance(network[0], torch.nn.BatchNorm2d)
