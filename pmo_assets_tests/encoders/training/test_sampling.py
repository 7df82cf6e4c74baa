"""Batches are a function of seed and number; each pass shows each unit once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from pmo_assets.encoders.examples.example_sets import Examples
from pmo_assets.encoders.examples.reading import read_examples
from pmo_assets.encoders.examples.units import ExamplesError
from pmo_assets.encoders.training.recipes import Recipe, read_recipe
from pmo_assets.encoders.training.sampling import BLOCK, WINDOW, Sampler, mixed_order
from pmo_assets_tests.encoders.tiny import recipe_toml
from pmo_assets_tests.loading.small_release import write_release


def recipe(tmp_path: Path, **changes: str) -> Recipe:
    (tmp_path / "r.toml").write_text(recipe_toml(tmp_path, **changes))
    return read_recipe(str(tmp_path / "r.toml"))


@pytest.fixture(scope="module")
def examples(pairs_release: Path) -> Examples:
    return read_examples([pairs_release], "train")


@pytest.mark.parametrize("count", [1, 63, 64, 65, 1000, 3 * BLOCK * WINDOW + 5])
def test_an_order_has_each_once_and_keeps_neighbours_near(count: int) -> None:
    order = mixed_order(count, (0, 1))
    assert sorted(order.tolist()) == list(range(count))
    assert (order != mixed_order(count, (0, 2))).any() or count == 1
    blocks = order // BLOCK
    for start in range(0, count, BLOCK * WINDOW):
        assert len(set(blocks[start : start + BLOCK * WINDOW].tolist())) <= 2 * WINDOW  # a slice may lie in two windows


def test_levels_take_turns(examples: Examples, tmp_path: Path) -> None:
    sampler = Sampler(examples, recipe(tmp_path))
    for number, level in enumerate(("figure", "panel", "region") * 2):
        counted = [entry.unit.level for entry in sampler.batch(number) if entry.counted]
        assert set(counted) == {level}


def test_a_mixed_batch_has_all_levels(examples: Examples, tmp_path: Path) -> None:
    sampler = Sampler(examples, recipe(tmp_path, kind='"mixed"', batch_size="9"))
    for number in range(3):
        counts = Counter(entry.unit.level for entry in sampler.batch(number) if entry.counted)
        assert sum(counts.values()) <= 9
        assert set(counts) == {"figure", "panel", "region"}


def test_parts_stand_behind_their_wholes(examples: Examples, tmp_path: Path) -> None:
    sampler = Sampler(examples, recipe(tmp_path))
    entries = sampler.batch(0)
    parts = [entry for entry in entries if entry.parent >= 0]
    assert parts
    assert all(entries[entry.parent].unit.name == entry.unit.parent for entry in parts)
    assert all(not entry.counted for entry in parts)
    assert max(Counter(entry.parent for entry in parts).values()) <= 2


def test_each_pass_shows_each_unit_once(examples: Examples, tmp_path: Path) -> None:
    sampler = Sampler(examples, recipe(tmp_path))
    total = len(sampler.units["panel"])
    shown = [
        entry.unit.name for number in range(1, 1 + 3 * 2 * total, 3) for entry in sampler.batch(number) if entry.counted
    ]
    assert Counter(shown[:total]).most_common(1)[0][1] == 1
    assert set(shown[:total]) == {unit.name for unit in sampler.units["panel"]}


def test_a_batch_is_a_function_of_its_number(examples: Examples, tmp_path: Path) -> None:
    one, other = (Sampler(examples, recipe(tmp_path)) for _ in range(2))
    for number in range(20):
        one.batch(number)
    for number in (19, 3, 7):
        pairs = zip(one.batch(number), other.batch(number), strict=True)
        assert all((a.unit.name, a.text, a.view, a.parent) == (b.unit.name, b.text, b.view, b.parent) for a, b in pairs)


def test_texts_and_views_are_drawn_anew_in_each_pass(examples: Examples, tmp_path: Path) -> None:
    sampler = Sampler(examples, recipe(tmp_path, views="5"))
    views = {entry.view for number in range(12) for entry in sampler.batch(number)}
    assert views == set(range(5))
    texts: dict[str, set[str]] = {}
    for number in range(1, 60, 3):
        for entry in sampler.batch(number):
            texts.setdefault(entry.unit.name, set()).add(entry.text)
    assert np.max([len(own) for own in texts.values()]) == 2  # subcaption, or the figure's caption


def test_nothing_to_train_on_is_said(examples: Examples, tmp_path: Path) -> None:
    with pytest.raises(ExamplesError, match="no two units"):
        Sampler(Examples({"panel": examples.units["panel"][:1]}), recipe(tmp_path))


def test_places_get_their_shares_however_many_units_they_have(pairs_release: Path, tmp_path: Path) -> None:
    write_release(tmp_path / "small", articles=4, seed=1)
    both = read_examples([pairs_release, tmp_path / "small"], "train")
    counts = Counter(unit.place for unit in both.units["panel"])
    assert counts[0] > 2 * counts[1] > 2
    made = recipe(tmp_path, batch_size="8").model_copy(deep=True)
    shared = made.model_copy(update={"data": made.data.model_copy(update={"shares": (1.0, 3.0)})})
    one, other = Sampler(both, shared), Sampler(both, shared)
    seen: Counter[tuple[int, str]] = Counter()
    for number in range(1, 91, 3):  # batches of panels
        counted = [entry.unit for entry in one.batch(number) if entry.counted]
        assert sum(unit.place == 0 for unit in counted) == 2
        seen.update((unit.place, unit.name) for unit in counted)
    times = {place: [count for (own, _), count in seen.items() if own == place] for place in (0, 1)}
    assert min(times[1]) > 2 * max(times[0])
    assert len(times[1]) == counts[1]
    assert [entry.unit.name for entry in one.batch(40)] == [entry.unit.name for entry in other.batch(40)]
    with pytest.raises(ExamplesError, match="needs one for each"):
        Sampler(both, made.model_copy(update={"data": made.data.model_copy(update={"shares": (1.0,)})}))


def test_balance_lies_between_units_and_places(pairs_release: Path, tmp_path: Path) -> None:
    write_release(tmp_path / "small", articles=4, seed=1)
    both = read_examples([pairs_release, tmp_path / "small"], "train")
    counts = Counter(unit.place for unit in both.units["panel"])
    made = recipe(tmp_path, batch_size="8")

    def of_small(balance: float) -> float:
        changed = made.model_copy(update={"data": made.data.model_copy(update={"balance": balance})})
        sampler = Sampler(both, changed)
        seen = [entry.unit.place for number in range(1, 91, 3) for entry in sampler.batch(number) if entry.counted]
        return seen.count(1) / len(seen)

    root = counts[1] ** 0.5 / (counts[0] ** 0.5 + counts[1] ** 0.5)
    for balance, share in ((0.0, 0.5), (0.5, root)):  # of a batch of eight, whole units, each of them once
        assert abs(of_small(balance) - share) <= 0.5 / 8
    assert abs(of_small(1.0) - counts[1] / counts.total()) < 0.05
