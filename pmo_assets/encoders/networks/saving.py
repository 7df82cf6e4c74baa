"""Saving an encoder so that open_clip loads it: configuration, weights without code in them, tokenizer, card."""

from __future__ import annotations

import json
from pathlib import Path

from pmo_assets.encoders.networks.building import CONFIG_FILE, WEIGHTS_FILE
from pmo_assets.encoders.networks.dual_encoder import DualEncoder
from pmo_assets.system.aside import place_aside, replace_folder


def save_encoder(encoder: DualEncoder, folder: Path, card: str, recipe: str = "") -> None:
    """Write an encoder in the place of what is there, whole or not at all.

    Args:
        encoder: to be saved.
        folder: `open_clip_config.json`, `open_clip_model.safetensors`, the text encoder's `config.json` and tokenizer,
            `README.md`.
        card: its README.
        recipe: TOML text that it was trained by; none if empty.
    """
    from safetensors.torch import save_file

    with place_aside(folder) as partial:
        partial.mkdir()
        tensors = {name: value.detach().cpu().contiguous() for name, value in encoder.model.state_dict().items()}
        save_file(tensors, partial / WEIGHTS_FILE, metadata={"format": "pt"})
        config = {"model_cfg": encoder.config, "preprocess_cfg": encoder.preprocess, "name": encoder.name}
        (partial / CONFIG_FILE).write_text(json.dumps(config, indent=1) + "\n", "utf-8")
        if (inner := getattr(encoder.model.text, "config", None)) is not None:
            inner.save_pretrained(partial)
        if hasattr(encoder.tokenizer, "save_pretrained"):
            encoder.tokenizer.save_pretrained(partial)
        (partial / "README.md").write_text(card, "utf-8")
        if recipe:
            (partial / "recipe.toml").write_text(recipe, "utf-8")
        replace_folder(partial, folder)
