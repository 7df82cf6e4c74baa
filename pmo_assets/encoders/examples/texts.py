"""Texts of units: which kinds, drawn by weights, put together, and cut where an encoder reads no further."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

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
        self._above: dict[tuple[str, TextKind], Sequence[tuple[str, str]]] = {}
        wholes: tuple[tuple[PairLevel, TextKind], ...] = (("figure", "caption"), ("panel", "subcaption"))
        for level, kind in wholes:
            for unit in units.get(level, ()):
                if kind in unit.texts:
                    self._above[unit.name, kind] = unit.texts[kind]

    def _of_kind(self, unit: Unit, kind: TextKind) -> Sequence[tuple[str, str]]:
        if kind in unit.texts:
            return unit.texts[kind]
        if kind == "caption" and unit.level != "figure" and unit.figure_id is not None:
            return self._above.get((unit.figure_id, kind), ())
        if kind == "subcaption" and unit.level == "region" and unit.panel_id is not None:
            return self._above.get((unit.panel_id, kind), ())
        return ()

    def _possible(self, unit: Unit) -> list[tuple[tuple[TextKind, ...], float]]:
        return [(kinds, weight) for kinds, weight in self._choices.get(unit.level, ()) if self._of_kind(unit, kinds[0])]

    def has_any(self, unit: Unit) -> bool:
        """Say whether a text can be drawn for a unit."""
        return bool(self._possible(unit))

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
