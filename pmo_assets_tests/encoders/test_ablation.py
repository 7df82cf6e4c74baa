"""Ablations: variants differ in one thing, see equally many examples, and are measured on the same panels."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from pmo_assets.encoders.ablation import (
    ABLATIONS,
    MEASURES,
    Score,
    ablation_page,
    ablation_plot,
    ablation_tables,
    common_batch_size,
    interval,
    run_ablations,
    some_articles,
)
from pmo_assets.encoders.examples.reading import read_examples
from pmo_assets.encoders.training.recipes import read_recipe
from pmo_assets_tests.encoders.tiny import recipe_toml
from pmo_assets_tests.loading.small_release import write_release


def test_every_variant_is_a_recipe() -> None:
    for variants in ABLATIONS.values():
        recipes = [read_recipe("embedded", variant.changes) for variant in variants]
        described = {
            f"{recipe.model_dump_json()} {item.articles}" for recipe, item in zip(recipes, variants, strict=True)
        }
        assert len(described) == len(variants) > 1


def test_batches_are_of_a_size_that_every_variant_fills(pairs_release: Path) -> None:
    recipes = [(read_recipe("embedded", item.changes), item.articles) for item in ABLATIONS["figures"]]
    figures = len(read_examples([pairs_release], "train", ["figure"]))
    assert common_batch_size(recipes, [pairs_release]) == figures


def test_a_smaller_share_of_articles_is_part_of_a_larger_one(pairs_release: Path) -> None:
    learn = read_examples([pairs_release], None, ["panel"])
    few, many = (some_articles(learn, share).sources() for share in (0.3, 0.6))
    assert few < many < learn.sources()
    assert some_articles(learn, 1.0).sources() == learn.sources()


def test_an_interval_over_seeds() -> None:
    mean, low, high = interval([1.0, 2.0, 3.0])
    assert (mean, low, high) == pytest.approx((2.0, 2 - 4.30265 / 3**0.5, 2 + 4.30265 / 3**0.5), abs=1e-4)
    assert math.isnan(interval([1.0])[1])


def scores() -> list[Score]:
    return [
        Score("captions", variant, seed, 1000, 50, dict.fromkeys(MEASURES, base + 0.01 * seed))
        for variant, base in (("compound captions", 0.2), ("subcaptions", 0.3))
        for seed in range(3)
    ]


def test_differences_are_taken_seed_by_seed() -> None:
    (table,) = ablation_tables(scores())
    assert table.rows[0][-1] == ""
    assert table.rows[1][-1] == "+0.100 [+0.100, +0.100]"
    assert "1,000 examples each, 3 seeds" in table.note
    assert ablation_plot(scores()).startswith(b"\x89PNG")
    page = ablation_page(scores(), "embedded")
    assert "compound captions" in page
    assert "data:image/png" in page


def test_variants_are_trained_once(
    pairs_release: Path, tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = tmp_path / "tiny.toml"
    recipe.write_text(recipe_toml(tiny_encoder, trained_image_blocks="0", trained_text_blocks="0"))
    asked: list[str] = []
    given = {"recipe": str(recipe), "steps": 2, "seeds": [0, 1], "tell": asked.append}
    found = list(run_ablations(["captions", "size"], [pairs_release], tmp_path / "out", **given))  # type: ignore[arg-type]
    assert len(found) == 2 * 2 + 3 * 2
    assert len(asked) == 2 * 2 + 2 * 2, "all articles and subcaptions are one run"
    assert {score.examples for score in found} == {found[0].examples}
    again = list(run_ablations(["captions", "size"], [pairs_release], tmp_path / "out", **given))  # type: ignore[arg-type]
    assert again == found
    assert len(asked) == 2 * 2 + 2 * 2
    write_release(tmp_path / "other", articles=10, seed=1)
    one = given | {"seeds": [0]}
    list(run_ablations(["captions"], [tmp_path / "other"], tmp_path / "out", **one))  # type: ignore[arg-type]
    assert len(asked) == 2 * 2 + 2 * 2 + 2, "scores of another release are not believed"
    assert not list((tmp_path / "out").glob("runs/*/model")), "frozen bodies are not kept with every run"
