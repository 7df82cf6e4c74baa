"""Recipes: those of the papers say what their sheets say; a wrong one says where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pmo_assets.encoders.training.recipes import RecipeError, read_recipe, recipe_text, shipped_recipes


def test_the_papers_recipes_come_with_the_package() -> None:
    assert shipped_recipes() == ("embedded", "open-pmc", "open-pmc-18m", "panel2patch")
    for name in shipped_recipes():
        recipe = read_recipe(name)
        assert recipe.source
        assert name == "embedded" or recipe.unknown
        for place in recipe.unknown:  # each names a part of the recipe, or a number in it
            found: Any = recipe.model_dump()
            for key in place.split("."):
                found = found[key]


def test_numbers_of_open_pmc_18m() -> None:
    recipe = read_recipe("open-pmc-18m")
    optimiser = recipe.optimiser
    assert (optimiser.epochs, optimiser.batch_size, optimiser.accumulate) == (64, 2048, 4)
    assert (optimiser.learning_rate, optimiser.betas, optimiser.weight_decay) == (5e-4, (0.9, 0.98), 0.2)
    assert dict(recipe.data.texts["panel"]) == {"caption": 1.0}  # the caption of the whole figure
    assert recipe.read_levels == ("figure", "panel")
    assert recipe.levels == ("panel",)


def test_numbers_of_open_pmc() -> None:
    recipe = read_recipe("open-pmc")
    assert (recipe.optimiser.epochs, recipe.optimiser.warm_up, recipe.run.patience) == (64, 2000, 5)
    assert recipe.encoder.towers() == (
        "vit_base_patch16_224",
        "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract-fulltext",
    )


def test_numbers_of_panel2patch() -> None:
    recipe = read_recipe("panel2patch")
    assert recipe.schedule.cycle == ("figure", "panel", "region")
    assert (recipe.encoder.trained_image_blocks, recipe.encoder.trained_text_blocks) == (5, 0)
    assert (recipe.optimiser.epochs, recipe.optimiser.learning_rate, recipe.optimiser.betas) == (20, 1e-5, (0.9, 0.95))
    assert recipe.loss.figure_panel == recipe.loss.panel_region == recipe.loss.roi == 1.0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"optimiser.steps": "many"}, "optimiser.steps"),
        ({"optimiser.speed": 1}, "optimiser.speed"),
        ({"encoder.resize": "shortest"}, "squash"),
        ({"optimiser.epochs": 0}, "neither epochs nor steps"),
        ({"data.texts.panel": {"poem": 1.0}}, "poem"),
        ({"data.texts.panel": {"subcaption": -1.0}}, "negative"),
        ({"optimiser.heads_first": 0, "optimiser.tuned_share": 0.5}, "weights to lie between"),
        ({"data.shares": [1, 2], "data.balance": 0.5}, "give one"),
        ({"data.texts": {"figure": {"caption": 1.0}}}, "no texts for it"),
    ],
)
def test_a_wrong_recipe_says_where(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(RecipeError, match=words):
        read_recipe("embedded", changes)


def test_a_recipe_of_ones_own_is_given_by_its_path(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(recipe_text("embedded").replace("batch_size = 96", "batch_size = 64"))
    assert read_recipe(str(own)).optimiser.batch_size == 64
    own.write_text("title = ")
    with pytest.raises(RecipeError, match="no TOML"):
        read_recipe(str(own))
    with pytest.raises(RecipeError, match="there is no recipe"):
        read_recipe("nothing")
