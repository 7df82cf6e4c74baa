"""Units of a small release, from Parquet and from tar shards."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import PIL.Image
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pmo_assets.encoders.examples.example_sets import Examples, split_by_source
from pmo_assets.encoders.examples.reading import read_examples
from pmo_assets.encoders.examples.texts import Texts, cut_at_word, kinds_of
from pmo_assets.encoders.examples.units import (
    BrokenPicture,
    ExamplesError,
    Unit,
    decoded,
    picture_digest,
)
from pmo_assets.encoders.training.recipes import read_recipe
from pmo_assets.encoders.training.sampling import Sampler
from pmo_assets.records.pairs import PAIR_LEVELS
from pmo_assets.release.hub.webdataset import write_webdataset
from pmo_assets_tests.loading.small_release import write_release, write_sums

WEIGHTS = {"figure": {"caption": 1.0}, "panel": {"subcaption": 1.0}, "region": {"fragment": 1.0}}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("data")
    write_release(root, lectures=5)
    return root


def shown(examples: Examples) -> dict[str, list[tuple[object, ...]]]:
    return {
        level: [
            (unit.name, unit.source, unit.parent, unit.looks, unit.box, dict(unit.texts), unit.picture.read())
            for unit in sorted(units, key=lambda unit: unit.name)
        ]
        for level, units in examples.units.items()
    }


@pytest.mark.parametrize("split", ["train", None])
def test_tar_shards_hold_what_the_release_holds(release: Path, tmp_path: Path, split: str | None) -> None:
    tars = tmp_path / "tars"
    write_webdataset(release / "release" / "hub", tars, config="pairs", shard_size=30_000)
    assert len(list(tars.glob("train-*.tar"))) > 1
    one, other = (read_examples([place], split) for place in (release, tars))  # type: ignore[arg-type]
    assert shown(one) == shown(other)
    assert {level: bool(units) for level, units in one.units.items()} == dict.fromkeys(PAIR_LEVELS, True)


def test_panels_that_look_the_same_are_told_by_tar_shards_too(tmp_path: Path) -> None:
    root, tars = tmp_path / "data", tmp_path / "tars"
    write_release(root)
    file = min((root / "release" / "hub" / "data" / "panels").glob("train-*.parquet"))
    panels = pq.read_table(file)
    place = panels.column_names.index("duplicate_group")
    groups = pa.array(["twins", "twins", *[None] * (len(panels) - 2)], pa.string())
    pq.write_table(panels.set_column(place, panels.schema.field(place), groups), file)
    write_sums(root / "release" / "hub")
    write_webdataset(root / "release" / "hub", tars, config="pairs", shard_size=1 << 20)
    one, other = (shown(read_examples([given], "train")) for given in (root, tars))
    assert one == other
    assert [unit[3] for unit in other["panel"]].count("twins") == 2
    assert "twins" not in [unit[3] for unit in other["region"]]


def test_a_unit_has_all_its_texts_and_leads_to_what_it_is_part_of(release: Path) -> None:
    examples = read_examples([release], "train")
    figures = {unit.name for unit in examples.units["figure"]}
    panels = {unit.name: unit for unit in examples.units["panel"]}
    assert all(unit.parent in figures for unit in panels.values())
    region = examples.units["region"][0]
    assert region.parent in panels
    assert decoded(region.picture.read(), region.box).width < decoded(region.picture.read()).width
    texts = Texts({**WEIGHTS, "panel": {"caption": 1.0}}, examples.units)  # type: ignore[dict-item]
    assert texts.first(next(iter(panels.values()))) == "Panels side by side."


def test_pictures_of_lectures_are_units_of_their_own_source(release: Path) -> None:
    examples = read_examples([release], "train", min_confidence=0.9)
    lectures = examples.units["video"]
    assert {unit.source for unit in lectures} == {"video 1", "video 2", "video 3"}
    assert all(unit.parent is None and unit.figure_id is None for unit in lectures)
    texts = Texts({"video": {"transcript": 1.0}}, examples.units)
    assert texts.first(lectures[0]) == "what is <b>said</b> in 0, 0"
    assert decoded(lectures[0].picture.read(), lectures[0].box).size == (40, 30)


def test_a_recipe_weighs_lectures_and_trains_without_them(release: Path) -> None:
    recipe = read_recipe("embedded")
    sampler = Sampler(read_examples([release], "train", recipe.read_levels), recipe)
    assert 0 < sampler.sizes(0)["video"] < sampler.sizes(0)["panel"]
    assert {entry.unit.level for entry in sampler.batch(0)} == set(PAIR_LEVELS)
    without = Sampler(read_examples([release], "train", ["figure", "panel", "region"]), recipe)
    assert "video" not in without.sizes(0)


def test_levels_and_confidence_choose(release: Path) -> None:
    examples = read_examples([release], None, ["panel", "region"], min_confidence=0.9)
    assert set(examples.units) == {"panel", "region"}
    assert not examples.units["region"]
    assert all(unit.confidence == 0.95 for unit in examples.units["panel"])
    assert "have a confidence below 0.9" in examples.left_out[0]


def test_a_release_without_pairs_is_refused(tmp_path: Path) -> None:
    write_release(tmp_path, articles=3)
    hub = tmp_path / "release" / "hub"
    for file in (hub / "data" / "pairs").iterdir():
        file.unlink()
    write_sums(hub)
    with pytest.raises(ExamplesError, match="no pairs to train on"):
        read_examples([tmp_path], "train")


def test_a_tar_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "train-000000.tar").write_bytes(b"nothing" * 300)
    with pytest.raises(ExamplesError, match="no whole tar of pairs"):
        read_examples([tmp_path], "train")


def test_no_article_is_on_both_sides(release: Path) -> None:
    whole = read_examples([release], "train")
    train, validation = split_by_source(whole)
    assert train.sources().isdisjoint(validation.sources())
    assert train.sources() | validation.sources() == whole.sources()
    with pytest.raises(ExamplesError, match="one article"):
        split_by_source(whole.of({min(whole.sources())}))


def unit(**texts: list[str]) -> Unit:
    listed = {kind: [(f"{kind}-{n}", text) for n, text in enumerate(own)] for kind, own in texts.items()}
    return Unit("panel", "p", "1", "f", "p", "p", None, (0, 0, 1, 1), listed, 0.9)  # type: ignore[arg-type]


def test_texts_are_drawn_by_weight_and_put_together() -> None:
    one = unit(subcaption=["An OCT scan."], summary=["It shows fluid."])
    texts = Texts({"panel": {"subcaption": 1.0, "subcaption + summary": 3.0, "mention": 5.0}}, {"panel": [one]})
    chance = np.random.default_rng(0)
    drawn = [texts.drawn(one, chance) for _ in range(2000)]
    assert set(drawn) == {"An OCT scan.", "An OCT scan. It shows fluid."}
    assert 0.72 < np.mean([len(text) > 15 for text in drawn]) < 0.78
    assert texts.first(one) == "An OCT scan. It shows fluid."


def test_a_text_that_is_not_there_is_not_drawn() -> None:
    one = unit(subcaption=["An OCT scan."])
    texts = Texts({"panel": {"summary": 1.0, "subcaption + summary": 1.0}}, {"panel": [one]})
    assert texts.drawn(one, np.random.default_rng(0)) == "An OCT scan."
    assert not Texts({"panel": {"summary": 1.0}}, {"panel": [one]}).has_any(one)


@pytest.mark.parametrize("weights", [{}, {"subcaption": 0.0}, {"subcaption": -1.0, "summary": 2.0}, {"words": 1.0}])
def test_weights_that_draw_nothing_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(ExamplesError):
        Texts({"panel": weights}, {})


def test_kinds_are_joined_by_plus() -> None:
    assert kinds_of("subcaption + summary+mention") == ("subcaption", "summary", "mention")


@pytest.mark.parametrize("limit", [1, 2, 5, 8, 9, 100])
def test_a_text_is_cut_at_a_word(limit: int) -> None:
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    cut, was_cut = cut_at_word(" ".join(words), lambda text: len(text.split()) <= limit)
    assert cut.split() == words[:limit]
    assert was_cut == (limit < 9)


def test_a_first_word_that_is_too_long_stays() -> None:
    assert cut_at_word("immunohistochemically stained", lambda _: False) == ("immunohistochemically", True)


def test_a_broken_picture_is_told() -> None:
    stream = io.BytesIO()
    PIL.Image.new("L", (8, 6)).save(stream, "PNG")
    assert decoded(stream.getvalue()).mode == "RGB"
    for content in (b"", b"\x89PNG\r\n\x1a\n", stream.getvalue()[:40]):
        with pytest.raises(BrokenPicture):
            decoded(content)


def test_a_digest_tells_pictures_and_boxes_apart() -> None:
    seen = {picture_digest(content, box) for content in (b"a", b"b") for box in ((0, 0, 1, 1), (0, 0, 0.5, 1))}
    assert len(seen) == 4


def test_a_digest_of_units_tells_texts_and_names_apart() -> None:
    one, other, longer = unit(summary=["a"]), unit(summary=["b"]), unit(summary=["a"], mention=["a"])
    seen = {Examples({"panel": own}).digest() for own in ([one], [other], [longer], [one, one], [])}
    assert len(seen) == 5
    assert Examples({"panel": [one]}).digest() == Examples({"panel": [unit(summary=["a"])]}).digest()
