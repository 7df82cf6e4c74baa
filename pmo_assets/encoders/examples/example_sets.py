"""Units of all levels together: what is trained on, validated by, and divided by article and lecture."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pmo_assets.encoders.examples.unit_rows import Keys, UnitRows, facts_of, name_key, taken
from pmo_assets.encoders.examples.units import ExamplesError, Unit
from pmo_assets.records.pairs import PairLevel

NO_KEYS: Final = np.zeros(0, np.uint64)


@dataclass(frozen=True, eq=False)
class Examples:
    """Units by level, and what was left out while they were read.

    Attributes:
        units: of each level, in the order of their pictures.
        left_out: what was left out, in words.
    """

    units: Mapping[PairLevel, Sequence[Unit]]
    left_out: tuple[str, ...] = ()

    def sources(self) -> set[str]:
        """Return the names of the articles and lectures."""
        return {
            units[row].source
            for units in self.units.values()
            for row in np.unique(facts_of(units).sources, return_index=True)[1].tolist()
        }

    def source_keys(self) -> Keys:
        """Return the keys of the articles and lectures, sorted, each once."""
        return np.unique(np.concatenate([NO_KEYS, *(facts_of(units).sources for units in self.units.values())]))

    def __len__(self) -> int:
        """Return the number of units of all levels."""
        return sum(map(len, self.units.values()))

    def digest(self) -> str:
        """Return what stands for all units: names, boxes, groups of duplicates and texts; pictures are not read."""
        found = hashlib.sha256()
        for level, own in self.units.items():
            found.update(f"{level} {len(own)}\n".encode())
            for unit in own:
                texts = sorted((kind, *map(tuple, said)) for kind, said in unit.texts.items())
                found.update(repr((unit.name, unit.source, unit.looks, unit.box, texts)).encode())
        return found.hexdigest()[:24]

    def of(self, sources: Collection[str]) -> Examples:
        """Return the units of some articles and lectures."""
        return self.of_keys(np.array([name_key(name) for name in sources], dtype=np.uint64))

    def of_keys(self, keys: Keys) -> Examples:
        """Return the units of some articles and lectures, by their keys."""
        kept = {
            level: taken(own, np.flatnonzero(np.isin(facts_of(own).sources, keys))) for level, own in self.units.items()
        }
        return Examples(kept, self.left_out)


def joined(examples: Iterable[Examples]) -> Examples:
    """Return the units of several places, each as it was read; a unit's `place` is the number of its part."""
    listed = list(examples)
    parts: dict[PairLevel, list[UnitRows]] = {}
    for item in listed:
        for level, own in item.units.items():
            assert isinstance(own, UnitRows)
            parts.setdefault(level, []).append(own)
    units = {level: UnitRows.joined(own) for level, own in parts.items()}
    return Examples(units, tuple(note for item in listed for note in item.left_out))


def split_by_source(train: Examples, share: float = 0.1) -> tuple[Examples, Examples]:
    """Return training and validation where there is no validation split: whole articles and lectures, by their digest.

    Args:
        train: all units.
        share: of the articles and lectures that validate; at least one does.

    Raises:
        ExamplesError: if there is only one article or lecture.
    """
    sources = train.source_keys()  # their order is that of the digests
    if len(sources) < 2:
        raise ExamplesError(
            "the pairs are of one article or lecture: training needs a second one, by which weights are chosen (none "
            "is on both sides)"
        )
    count = max(1, round(len(sources) * share))
    return train.of_keys(sources[count:]), train.of_keys(sources[:count])
