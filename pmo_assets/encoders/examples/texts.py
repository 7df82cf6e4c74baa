"""Texts of units: which kinds, drawn by weights, put together, and cut where an encoder reads no further."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.encoders.examples.unit_rows import Keys, facts_of, name_key, taken
from pmo_assets.encoders.examples.units import ExamplesError, Unit
from pmo_assets.records.pairs import TEXT_KINDS, PairLevel, TextKind

TextWeights = Mapping[str, float]
"""Weights of texts by their kinds, joined by " + ": {"subcaption": 1, "subcaption + summary": 2}."""


def kinds_of(composition: str) -> tuple[TextKind, ...]:
    """Return the kinds of text of a composition, e.g. "subcaption + summary".

    Raises:
        ExamplesError: if one is no kind of text.
    """
    parts = tuple(part.strip() for part in composition.split("+"))
    unknown = [part for part in parts if part not in TEXT_KINDS]
    if unknown:
        raise ExamplesError(f"there is no kind of text {unknown[0]!r}: {', '.join(TEXT_KINDS)}, joined by +")
    return parts  # type: ignore[return-value]


_WHOLES: Final[Mapping[TextKind, PairLevel]] = {"caption": "figure", "subcaption": "panel"}
"""Texts that parts are also said to have, and the level that they are of."""

_FROM_ABOVE: Final = frozenset({
    ("caption", "panel"), ("caption", "region"), ("caption", "video"), ("subcaption", "region"),
})  # fmt: skip


class _Above:
    """Texts of a kind by the names of their units; in memory are only the keys of the names."""

    def __init__(self, units: Sequence[Unit], kind: TextKind) -> None:
        facts = facts_of(units)
        rows = np.flatnonzero(facts.has(kind))
        order = np.argsort(facts.names[rows], kind="stable")
        self._units, self._kind = units, kind
        self._keys, self._rows = facts.names[rows][order], rows[order]

    def has(self, keys: Keys) -> NDArray[np.bool_]:
        """Return which names have one, (n,)."""
        return np.isin(keys, self._keys)

    def texts(self, name: str) -> Sequence[tuple[str, str]]:
        key = np.uint64(name_key(name))
        place = int(np.searchsorted(self._keys, key))
        if place == len(self._keys) or self._keys[place] != key:
            return ()
        return self._units[int(self._rows[place])].texts[self._kind]


class Texts:
    """Texts of units by the weights of their level.

    A composition can be drawn if its first kind is there; the other kinds are added where they are. A panel's `caption`
    is that of its figure (OPEN-PMC-18M trains on it), and a region's `subcaption` that of its panel.
    """

    def __init__(self, weights: Mapping[PairLevel, TextWeights], units: Mapping[PairLevel, Sequence[Unit]]) -> None:
        """Check the weights, and look up the texts of figures and panels.

        Raises:
            ExamplesError: if a weight is negative, all are zero, or one names no kind of text.
        """
        self._choices = {
            level: [(kinds_of(name), weight) for name, weight in own.items() if weight]
            for level, own in weights.items()
        }
        for level, own in weights.items():
            if any(weight < 0 for weight in own.values()) or not self._choices[level]:
                raise ExamplesError(f"the weights of the texts of level {level} are negative, or all zero")
        self._above: dict[TextKind, _Above] = {
            kind: _Above(units.get(level, ()), kind) for kind, level in _WHOLES.items() if len(units.get(level, ()))
        }

    def _of_kind(self, unit: Unit, kind: TextKind) -> Sequence[tuple[str, str]]:
        if kind in unit.texts:
            return unit.texts[kind]
        above = unit.figure_id if kind == "caption" and unit.level != "figure" else None
        above = unit.panel_id if kind == "subcaption" and unit.level == "region" else above
        return self._above[kind].texts(above) if above is not None and kind in self._above else ()

    def _possible(self, unit: Unit) -> list[tuple[tuple[TextKind, ...], float]]:
        return [(kinds, weight) for kinds, weight in self._choices.get(unit.level, ()) if self._of_kind(unit, kinds[0])]

    def has_any(self, unit: Unit) -> bool:
        """Say whether a text can be drawn for a unit."""
        return bool(self._possible(unit))

    def able(self, level: PairLevel, units: Sequence[Unit]) -> Sequence[Unit]:
        """Return the units of a level of which a text can be drawn (`has_any`); none is looked at."""
        facts = facts_of(units)
        found = np.zeros(len(units), dtype=bool)
        for kinds, _ in self._choices.get(level, ()):
            kind = kinds[0]
            found |= facts.has(kind)
            if kind in self._above and (kind, level) in _FROM_ABOVE:
                found |= self._above[kind].has(facts.figures if kind == "caption" else facts.panels)
        return taken(units, np.flatnonzero(found))

    def drawn(self, unit: Unit, chance: np.random.Generator) -> str:
        """Return a text of a unit, drawn by weight; of several texts of a kind one."""
        possible = self._possible(unit)
        weights = np.array([weight for _, weight in possible])
        kinds = possible[int(chance.choice(len(possible), p=weights / weights.sum()))][0]
        found = [texts[int(chance.integers(len(texts)))][1] for kind in kinds if (texts := self._of_kind(unit, kind))]
        return " ".join(dict.fromkeys(found))

    def first(self, unit: Unit) -> str:
        """Return the text of greatest weight, the first of each kind: what validates."""
        kinds = max(self._possible(unit), key=lambda item: item[1])[0]
        return " ".join(dict.fromkeys(texts[0][1] for kind in kinds if (texts := self._of_kind(unit, kind))))


def cut_at_word(text: str, fits: Callable[[str], bool]) -> tuple[str, bool]:
    """Return a text, or as many of its first words as fit, and whether it was cut.

    Args:
        text: white space in it counts as single spaces where it is cut.
        fits: whether an encoder reads a text to its end; true of any beginning of a text that fits.
    """
    if fits(text):
        return text, False
    words = text.split()
    low, high = 0, len(words)  # `low` words fit, `high` do not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(" ".join(words[:middle])) else (low, middle)
    return " ".join(words[: max(low, 1)]), True
