"""Encoders with random weights that need no network: small enough to train in a test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TINY_CONFIG: dict[str, Any] = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 32, "layers": 3, "width": 32, "head_width": 16, "patch_size": 8},
    "text_cfg": {"context_length": 24, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 2},
    "custom_text": True,
}


def write_tiny_encoder(folder: Path) -> Path:
    """Write a folder as open_clip has them: a vision transformer of 4 × 4 cells and a text transformer."""
    import torch
    from open_clip.model import CustomTextCLIP
    from safetensors.torch import save_file

    torch.manual_seed(5)
    model = CustomTextCLIP(**{key: value for key, value in TINY_CONFIG.items() if key != "custom_text"})
    folder.mkdir(parents=True)
    save_file(model.state_dict(), folder / "open_clip_model.safetensors")
    preprocess = {"size": 32, "mean": [0.5] * 3, "std": [0.5] * 3, "interpolation": "bicubic", "resize_mode": "squash"}
    config = {"model_cfg": TINY_CONFIG, "preprocess_cfg": preprocess}
    (folder / "open_clip_config.json").write_text(json.dumps(config))
    return folder


def write_tiny_bert(folder: Path) -> Path:
    """Write a folder as Hugging Face has them: BERT of two layers with random weights, and a tokenizer."""
    from transformers import BertConfig, BertModel, BertTokenizer

    folder.mkdir(parents=True)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "oct", "scan", "of", "the", "retina", "fundus", "panel", "a"]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(words), hidden_size=24, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=32,
    )  # fmt: skip
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder


def recipe_toml(encoder: Path, **changes: str) -> str:
    """Return a recipe of all levels and terms for a tiny encoder; `changes` replace lines by the name of the number."""
    numbers = {
        "trained_image_blocks": "1", "trained_text_blocks": '"all"', "kind": '"alternating"', "steps": "9",
        "batch_size": "8", "evaluate_every": "3", "learning_rate": "1e-3", "patience": "0", "accumulate": "1",
        "warm_up": "2", "precision": '"float32"', "views": "1", "heads_first": "0", "tuned_share": "1",
        "name": f'"{encoder.as_posix()}"', "more": "",
    } | changes  # fmt: skip
    return f"""
title = "tiny"
source = "a test"
[encoder]
name = {numbers["name"]}
{numbers["more"]}
trained_image_blocks = {numbers["trained_image_blocks"]}
trained_text_blocks = {numbers["trained_text_blocks"]}
[data]
crop = 0.8
views = {numbers["views"]}
[data.texts.figure]
"caption" = 1.0
[data.texts.panel]
"subcaption" = 1.0
"caption" = 0.5
[data.texts.region]
"fragment" = 1.0
[loss]
figure_panel = 0.5
panel_region = 0.5
roi = 0.5
consistency = 0.1
[schedule]
kind = {numbers["kind"]}
cycle = ["figure", "panel", "region"]
children = 2
[optimiser]
learning_rate = {numbers["learning_rate"]}
warm_up = {numbers["warm_up"]}
heads_first = {numbers["heads_first"]}
tuned_share = {numbers["tuned_share"]}
steps = {numbers["steps"]}
batch_size = {numbers["batch_size"]}
accumulate = {numbers["accumulate"]}
precision = {numbers["precision"]}
[run]
evaluate_every = {numbers["evaluate_every"]}
patience = {numbers["patience"]}
"""
