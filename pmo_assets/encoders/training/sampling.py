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

from pmo_assets.encoders.examples.texts import Texts
from pmo_assets.encoders.examples.units import Examples, ExamplesError, Unit
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


class Sampler:
    """Batches of a run."""

    def __init__(self, examples: Examples, recipe: Recipe) -> None:
        """Take the units that have a text, and what is a part of what.

        Raises:
            ExamplesError: if no level has two units to tell apart.
        """
        self.recipe = recipe
        self.texts = self.texts_of(examples, recipe)
        with_text = {
            level: [unit for unit in examples.units.get(level, ()) if self.texts.has_any(unit)]
            for level in recipe.data.texts
        }
        self.units: dict[PairLevel, list[Unit]] = {
            level: with_text[level] for level in recipe.levels if len(with_text[level]) > 1
        }
        if not self.units:
            raise ExamplesError(
                f"there are no two units of level {' or '.join(recipe.levels)} with a text "
                f"({', '.join(name for texts in recipe.data.texts.values() for name in texts)}) to train on"
            )
        self.cycle = [level for level in recipe.schedule.cycle if level in self.units]
        self.parts: dict[str, list[Unit]] = {}
        for level, weight in (("panel", recipe.loss.figure_panel), ("region", recipe.loss.panel_region)):
            for unit in with_text.get(level, ()) if weight else ():  # type: ignore[call-overload]
                self.parts.setdefault(unit.parent or "", []).append(unit)
        self._orders: dict[tuple[PairLevel, int], NDArray[np.int64]] = {}

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

    def _before(self, level: PairLevel, batch: int) -> int:
        """Return how many units of a level the batches before this one had."""
        if self.recipe.schedule.kind == "mixed":
            return batch * self.sizes(0).get(level, 0)
        whole, rest = divmod(batch, len(self.cycle))
        turns = whole * self.cycle.count(level) + self.cycle[:rest].count(level)
        return turns * self.recipe.optimiser.batch_size

    def _unit(self, level: PairLevel, number: int) -> Unit:
        units = self.units[level]
        epoch, place = divmod(number, len(units))
        key = (level, epoch)
        if key not in self._orders:
            self._orders = {old: order for old, order in self._orders.items() if old[1] >= epoch - 1}
            seed = (self.recipe.run.seed, 1, PAIR_LEVELS.index(level), epoch)
            self._orders[key] = mixed_order(len(units), seed)
        return units[int(self._orders[key][place])]

    def batch(self, number: int) -> list[Entry]:
        """Return the entries of a batch, counted from 0; a unit stands in it once."""
        chance = np.random.default_rng([self.recipe.run.seed, 2, number])
        entries: list[Entry] = []
        for level, size in self.sizes(number).items():
            first = self._before(level, number)
            own = {id(unit): unit for unit in (self._unit(level, first + k) for k in range(size))}
            for unit in own.values():
                place = len(entries)
                entries.append(self._entry(unit, -1, True, chance))
                parts = self.parts.get(unit.name, ())
                if parts:
                    chosen = chance.permutation(len(parts))[: self.recipe.schedule.children]
                    entries += [self._entry(parts[k], place, False, chance) for k in sorted(chosen)]
        return entries

    def _entry(self, unit: Unit, parent: int, counted: bool, chance: np.random.Generator) -> Entry:
        text = self.texts.drawn(unit, chance)
        return Entry(unit, text, parent, counted, int(chance.integers(self.recipe.data.views)))
