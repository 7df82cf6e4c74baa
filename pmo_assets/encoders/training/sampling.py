"""Which examples a step sees: a function of seed and step alone, so that a resumed run goes on as if never stopped.

Units of a level come in an order that is mixed anew in every pass: blocks of neighbours come in random order, and are
mixed within windows, so that a release's row groups are read about once a pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.encoders.examples.example_sets import Examples
from pmo_assets.encoders.examples.texts import Texts
from pmo_assets.encoders.examples.unit_rows import facts_of, name_key, taken
from pmo_assets.encoders.examples.units import ExamplesError, Unit
from pmo_assets.encoders.training.recipes import Recipe
from pmo_assets.records.pairs import PAIR_LEVELS, PairLevel

BLOCK: Final = 64
"""Neighbours that stay together until a window is mixed: about the rows of a row group."""

WINDOW: Final = 64
"""Blocks of a window."""


@dataclass(frozen=True, eq=False)
class Entry:
    """A unit in a batch.

    Attributes:
        unit: what is shown.
        text: what is said of it.
        parent: place of what it is a part of in the batch; -1 for none.
        counted: it is of an active level, not a part of one that is.
        view: of its picture: 0 the whole one.
    """

    unit: Unit
    text: str
    parent: int
    counted: bool
    view: int


def mixed_order(count: int, seed: Sequence[int]) -> NDArray[np.int64]:
    """Return 0 … count - 1 in a random order in which neighbours stay near each other."""
    chance = np.random.default_rng(list(seed))
    places = np.arange(count)
    blocks = chance.permutation(-(-count // BLOCK))
    place_of_block = np.empty(len(blocks), dtype=np.int64)
    place_of_block[blocks] = np.arange(len(blocks))
    windows = place_of_block[places // BLOCK] // WINDOW
    shuffled = chance.permutation(count)
    return shuffled[np.argsort(windows[shuffled], kind="stable")]


@dataclass(frozen=True, eq=False)
class Stratum:
    """Units of a level that are gone through together: those of one place, or all.

    Attributes:
        place: its number; 0 for all.
        share: of the units of a level in a batch.
        rows: (n,) numbers of units.
        shared: the recipe gives places shares.
    """

    place: int
    share: float
    rows: NDArray[np.int64]
    shared: bool


class _Parts:
    """Units by the name of what they are a part of."""

    def __init__(self, level: PairLevel, units: Sequence[Unit]) -> None:
        parents = facts_of(units).parents(level)
        self._units, self._rows = units, np.argsort(parents, kind="stable")
        self._parents = parents[self._rows]

    def of(self, unit: Unit) -> Sequence[Unit]:
        key = np.uint64(name_key(unit.name))
        first, end = (int(np.searchsorted(self._parents, key, side)) for side in ("left", "right"))
        return taken(self._units, self._rows[first:end])


def _strata(places: NDArray[np.int16], shares: Sequence[float], balance: float) -> list[Stratum]:
    """Return the units of each place that has some, all as one where places have no shares.

    Args:
        places: (n,) of the units of a level.
        shares: of the places; empty: by their sizes to the power of `balance`.
        balance: 1: every unit is seen as often.

    Raises:
        ExamplesError: if a place has no share.
    """
    if not shares and balance == 1:
        return [Stratum(0, 1.0, np.arange(len(places)), False)]
    if not shares:
        shares = [float(count) ** balance for count in np.bincount(places)]
    if int(places.max()) >= len(shares):
        raise ExamplesError(
            f"data.shares has {len(shares)} shares, but units come from {int(places.max()) + 1} places: it needs one "
            "for each"
        )
    return [Stratum(k, shares[k], np.flatnonzero(places == k), True) for k in np.unique(places).tolist()]


def _parts(strata: Sequence[Stratum], size: int) -> list[int]:
    """Return how many of `size` units come from each stratum."""
    ends = np.cumsum([stratum.share for stratum in strata])
    return [int(count) for count in np.diff([0, *np.round(ends / ends[-1] * size).astype(int)])]


class Sampler:
    """Batches of a run."""

    def __init__(self, examples: Examples, recipe: Recipe) -> None:
        """Take the units that have a text, and what is a part of what.

        Raises:
            ExamplesError: if no level has two units to tell apart.
        """
        self.recipe = recipe
        self.texts = self.texts_of(examples, recipe)
        with_text = {level: self.texts.able(level, examples.units.get(level, ())) for level in recipe.data.texts}
        self.units: dict[PairLevel, Sequence[Unit]] = {
            level: with_text[level] for level in recipe.levels if len(with_text[level]) > 1
        }
        if not self.units:
            raise ExamplesError(
                f"there are no two units of level {' or '.join(recipe.levels)} with a text "
                f"({', '.join(name for texts in recipe.data.texts.values() for name in texts)}) to train on"
            )
        self.cycle = [level for level in recipe.schedule.cycle if level in self.units]
        kinds: tuple[tuple[PairLevel, PairLevel, float], ...] = (
            ("figure", "panel", recipe.loss.figure_panel), ("panel", "region", recipe.loss.panel_region),
        )  # fmt: skip
        self._parts = {above: _Parts(level, with_text.get(level, ())) for above, level, weight in kinds if weight}
        self._strata = {
            level: _strata(facts_of(own).places, recipe.data.shares, recipe.data.balance)
            for level, own in self.units.items()
        }
        self._orders: dict[tuple[PairLevel, int], tuple[int, NDArray[np.int64]]] = {}

    @staticmethod
    def texts_of(examples: Examples, recipe: Recipe) -> Texts:
        """Return the texts of units by a recipe's weights."""
        return Texts(recipe.data.texts, examples.units)

    @property
    def batches_an_epoch(self) -> int:
        """Batches in which each unit is seen about once."""
        return max(1, round(sum(map(len, self.units.values())) / self.recipe.optimiser.batch_size))

    def steps(self) -> int:
        """Return how many steps the recipe asks for."""
        optimiser = self.recipe.optimiser
        return optimiser.steps or max(1, round(optimiser.epochs * self.batches_an_epoch / optimiser.accumulate))

    def sizes(self, batch: int) -> Mapping[PairLevel, int]:
        """Return how many units of each level a batch (counted from 0) has."""
        size, schedule = self.recipe.optimiser.batch_size, self.recipe.schedule
        if schedule.kind == "alternating":
            return {self.cycle[batch % len(self.cycle)]: size}
        shares = np.array([schedule.shares.get(level, 1.0 if not schedule.shares else 0.0) for level in self.cycle])
        if not shares.sum():
            shares = np.ones(len(self.cycle))
        ends = np.round(np.cumsum(shares) / shares.sum() * size).astype(int)
        return dict(zip(self.cycle, np.diff([0, *ends]).tolist(), strict=True))

    def _turns(self, level: PairLevel, batch: int) -> int:
        """Return how many batches before this one had units of a level."""
        if self.recipe.schedule.kind == "mixed":
            return batch
        whole, rest = divmod(batch, len(self.cycle))
        return whole * self.cycle.count(level) + self.cycle[:rest].count(level)

    def _chosen(self, level: PairLevel, batch: int, size: int) -> list[Unit]:
        """Return the units of a level in a batch, each once: of every place its share."""
        units, turns = self.units[level], self._turns(level, batch)
        numbers: dict[int, None] = {}
        for stratum, count in zip(self._strata[level], _parts(self._strata[level], size), strict=True):
            own = (self._row(level, stratum, turns * count + k) for k in range(count))
            numbers |= dict.fromkeys(own)
        return [units[number] for number in numbers]

    def _row(self, level: PairLevel, stratum: Stratum, number: int) -> int:
        epoch, place = divmod(number, len(stratum.rows))
        key = (level, stratum.place)
        if key not in self._orders or self._orders[key][0] != epoch:
            seed = (self.recipe.run.seed, 1, PAIR_LEVELS.index(level), epoch, *((stratum.place,) * stratum.shared))
            self._orders[key] = epoch, mixed_order(len(stratum.rows), seed)
        return int(stratum.rows[int(self._orders[key][1][place])])

    def batch(self, number: int) -> list[Entry]:
        """Return the entries of a batch, counted from 0; a unit stands in it once."""
        chance = np.random.default_rng([self.recipe.run.seed, 2, number])
        entries: list[Entry] = []
        for level, size in self.sizes(number).items():
            for unit in self._chosen(level, number, size):
                place = len(entries)
                entries.append(self._entry(unit, -1, True, chance))
                parts = self._parts[level].of(unit) if level in self._parts else ()
                if len(parts):
                    chosen = chance.permutation(len(parts))[: self.recipe.schedule.children]
                    entries += [self._entry(parts[k], place, False, chance) for k in sorted(chosen.tolist())]
        return entries

    def _entry(self, unit: Unit, parent: int, counted: bool, chance: np.random.Generator) -> Entry:
        text = self.texts.drawn(unit, chance)
        return Entry(unit, text, parent, counted, int(chance.integers(self.recipe.data.views)))
