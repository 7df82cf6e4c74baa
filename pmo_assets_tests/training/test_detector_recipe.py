"""Recipes of detectors: every number has a source, and what a person chooses goes before them."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from pmo_assets.cli.declared_options import given_options, with_declared_options
from pmo_assets.cli.train import train_app
from pmo_assets.training.detector_recipe import SOURCES, detector_recipe, recipe_names
from pmo_assets.training.options import TrainingOptions


def test_the_package_has_the_papers_recipe_and_one_for_a_cpu() -> None:
    assert recipe_names() == ("open-pmc-18m", "open-pmc-18m-small")
    for name in recipe_names():
        recipe = detector_recipe(name)
        assert recipe.architecture == "dab_detr"
        assert recipe.network["num_labels"] == 1
        assert all(entry["source"] in SOURCES for entry in recipe.table.values() if "value" in entry)


def test_the_papers_numbers_go_before_its_codes_which_stand_beside_them() -> None:
    recipe = detector_recipe("open-pmc-18m")
    by_source = {
        source: {key: entry["value"] for key, entry in recipe.table.items() if entry.get("source") == source}
        for source in SOURCES
    }
    assert by_source["paper"] == {
        "figures": 500_000, "validation_figures": 20_000, "architecture": "dab_detr", "panels_only": True,
        "epochs": 40, "batch_size": 64, "learning_rate": 1e-5,
    }  # fmt: skip
    assert (recipe.table["epochs"]["code"], recipe.table["learning_rate"]["code"]) == (100, 1e-4)
    coded = {"schedule": "cosine", "warm_up": 500, "clip": 0.1, "input_side": 480, "at_once": 16, "seed": 42}
    assert coded.items() <= by_source["code"].items()
    assert "value" not in recipe.table["devices"]
    options = recipe.options(figures=500_000)
    assert options.steps == 40 * 7813
    assert (options.learning_rate, options.batch_size, options.at_once) == (1e-5, 64, 16)


def test_what_a_person_chooses_goes_before_the_recipe() -> None:
    recipe = detector_recipe("open-pmc-18m")
    chosen = recipe.options(500_000, {"steps": 10, "learning_rate": 3e-4, "threads": 2, "seed": TrainingOptions().seed})
    assert (chosen.steps, chosen.learning_rate, chosen.threads) == (10, 3e-4, 2)
    assert (chosen.batch_size, chosen.seed, chosen.augment) == (64, TrainingOptions().seed, False)


def test_an_option_is_given_also_when_it_says_the_default() -> None:
    app, seen = typer.Typer(), []

    @app.command()
    @with_declared_options
    def train(context: typer.Context, options: TrainingOptions) -> None:
        seen.append(given_options(context, options))

    seed = TrainingOptions().seed
    CliRunner().invoke(app, ["--seed", str(seed), "--steps", "10"], catch_exceptions=False)
    assert seen == [{"seed": seed, "steps": 10}]


SMALLEST = """
text = "smallest"
[architecture]
value = "dab_detr"
source = "own"
[figures]
value = 6
source = "own"
[epochs]
value = 1
source = "own"
[batch_size]
value = 2
source = "own"
"""


def test_a_file_of_ones_own_is_a_recipe_and_what_is_none_is_said(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(SMALLEST)
    assert (detector_recipe(str(path)).name, detector_recipe(str(path)).options(6).steps) == ("mine", 3)
    with pytest.raises(ValueError, match=r"no recipe another: there are open-pmc-18m, open-pmc-18m-small"):
        detector_recipe("another")
    for addition, problem in (
        ("[colour]\nvalue = 1\nsource = 'own'", "no options colour"),
        ("[seed]\nvalue = 1", "seed needs a source, one of paper, code, library, own"),
        ("[schedule]\nvalue = 'steps'\nsource = 'own'", "plateau, cosine"),
        ("[seed", "no recipe of a detector"),
    ):
        path.write_text(SMALLEST + addition)
        with pytest.raises(ValueError, match=problem):
            detector_recipe(str(path))
    path.write_text(SMALLEST.replace("[epochs]", "[other]"))
    with pytest.raises(ValueError, match="no options other"):
        detector_recipe(str(path))


def test_every_number_is_shown_with_its_source() -> None:
    listed = CliRunner().invoke(train_app, ["recipe"]).output
    assert listed.startswith("open-pmc-18m: DAB-DETR of Open-PMC-18M")
    shown = CliRunner().invoke(train_app, ["recipe", "open-pmc-18m"]).output.splitlines()
    assert "epochs = 40  (paper; code: 100)" in shown
    assert "learning_rate = 1e-05  (paper; code: 0.0001)" in shown
    assert any(line.startswith("devices = unknown") for line in shown)
