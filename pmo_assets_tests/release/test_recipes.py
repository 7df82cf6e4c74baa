"""Recipes of training: read by the packages' own classes of arguments, with the paper's numbers."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml

from pmo_assets.release.hub.instruction_files import RECIPES, write_instructions
from pmo_assets_tests.release.hub_folder import write_hub_folder

FOLDER = Path(str(resources.files("pmo_assets"))) / "release" / "recipes"

PAPER = {
    "learning_rate": 2e-4, "lr_scheduler_type": "cosine", "num_train_epochs": 2, "per_device_train_batch_size": 4,
    "max_length": 4096,
}  # fmt: skip
"""Numbers of OphIn-VL that both packages call the same."""


def recipe(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_has_the_papers_numbers(name: str) -> None:
    own = recipe(name)
    assert {key: own[key] for key in PAPER} == PAPER
    assert (own.get("lora_r", own.get("lora_rank")), own["lora_alpha"]) == (32, 64)


def test_recipes_go_with_the_files_that_they_name(tmp_path: Path) -> None:
    write_hub_folder(tmp_path / "hub")
    write_instructions(tmp_path / "hub", tmp_path / "out", form="messages")
    for name in RECIPES:
        assert (tmp_path / "out" / name).read_bytes() == (FOLDER / name).read_bytes()
    named = recipe("ms_swift_sft.yaml")
    for file in (*named["dataset"], *named["val_dataset"]):
        assert (tmp_path / "out" / file).is_file()
    write_instructions(tmp_path / "hub", tmp_path / "llava", form="llava")
    assert not (tmp_path / "llava" / RECIPES[0]).exists()


def test_lora_is_in_projector_and_language_model_and_not_in_the_vision_encoder() -> None:
    (pattern,) = recipe("trl_sft.yaml")["lora_target_modules"]
    chosen = [
        "model.visual.merger.linear_fc1", "model.visual.deepstack_merger_list.0.linear_fc2",
        "model.language_model.layers.3.self_attn.q_proj", "model.language_model.layers.0.linear_attn.in_proj_qkv",
        "model.language_model.layers.0.mlp.down_proj",
    ]  # fmt: skip
    left = ["model.visual.blocks.0.attn.qkv", "model.visual.blocks.0.attn.proj", "model.visual.blocks.0.mlp.linear_fc1",
            "lm_head"]  # fmt: skip
    assert [name for name in (*chosen, *left) if re.fullmatch(pattern, name)] == chosen


def test_the_pattern_fits_the_base_models_own_modules() -> None:
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    config = transformers.Qwen3_5Config()
    config.text_config.num_hidden_layers, config.vision_config.depth = 4, 1
    with torch.device("meta"):
        model = transformers.AutoModelForImageTextToText.from_config(config)
    linear = {name for name, module in model.named_modules() if isinstance(module, torch.nn.Linear)}
    (pattern,) = recipe("trl_sft.yaml")["lora_target_modules"]
    wanted = {name for name in linear if ".language_model." in name or ".merger." in name}
    assert {name for name in linear if re.fullmatch(pattern, name)} == wanted
    assert any(".visual.blocks." in name for name in linear - wanted)


def test_trl_reads_its_recipe(tmp_path: Path) -> None:
    trl = pytest.importorskip("trl", reason="TRL is in no extra: pip install trl peft")
    pytest.importorskip("peft")
    parser = trl.TrlParser((trl.ScriptArguments, trl.SFTConfig, trl.ModelConfig))
    script, training, model = parser.parse_args_and_config(
        ["--config", str(FOLDER / "trl_sft.yaml"), "--output_dir", str(tmp_path), "--bf16", "false"]
    )
    assert script.dataset_name == "."
    assert (training.learning_rate, training.max_length, training.assistant_only_loss) == (2e-4, 4096, True)
    assert str(training.lr_scheduler_type.value) == "cosine"
    assert trl.get_peft_config(model).r == 32


def test_ms_swift_knows_every_field_of_its_recipe() -> None:
    arguments = pytest.importorskip("swift.arguments", reason="ms-swift is in no extra: pip install ms-swift")
    transformers = pytest.importorskip("transformers")
    parser = transformers.HfArgumentParser(arguments.SftArguments)
    known = {option.removeprefix("--") for action in parser._actions for option in action.option_strings}
    own = recipe("ms_swift_sft.yaml")
    assert set(own) <= known
    choices = {action.dest: action.choices for action in parser._actions if action.choices}
    assert all(own[name] in allowed for name, allowed in choices.items() if name in own and name != "target_modules")
