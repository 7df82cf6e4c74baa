"""Units as columns: pairs lie in a mapped Arrow file, and a unit is made of them when it is looked at.

What is in memory of a pair are some numbers (`UnitRows`); texts, names and places of pictures stay in the file, which
has no name any more and goes with the last rows that are of it.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pmo_assets.encoders.examples.units import Picture, Unit
from pmo_assets.records.geometry import as_box
from pmo_assets.records.pairs import PAIR_LEVELS, TEXT_KINDS, PairLevel, TextKind

Keys = NDArray[np.uint64]
Ints = NDArray[np.int64]

BLOCK_ROWS: Final = 4096
"""Pairs of a record batch of the file."""

SCHEMA: Final = pa.schema(
    [
        ("pair_id", pa.string()), ("text_kind", pa.string()), ("text", pa.string()), ("confidence", pa.float64()),
        ("name", pa.string()), ("source", pa.string()), ("figure_id", pa.string()), ("panel_id", pa.string()),
        ("looks", pa.string()), ("left", pa.float64()), ("top", pa.float64()), ("right", pa.float64()),
        ("bottom", pa.float64()), ("picture", pa.list_(pa.int64(), 3)),
    ]
)  # fmt: skip
"""Of the file: a pair, and the unit that it is of."""

PictureAt = Callable[[int, int, int], Picture]
"""Gives a picture by the three numbers that a reader wrote for it."""


def name_key(name: str | None) -> int:
    """Return a number that stands for a name: the first 8 bytes of its SHA-256; 0 for none."""
    return 0 if name is None else int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")


@dataclass(frozen=True, eq=False)
class UnitFacts:
    """What is known of units without looking at them; all (n,).

    Attributes:
        names, sources, figures, panels: keys (`name_key`).
        kinds: bit i is set where there is a text of `TEXT_KINDS[i]`.
        places: see `Unit.place`.
    """

    names: Keys
    sources: Keys
    figures: Keys
    panels: Keys
    kinds: NDArray[np.uint8]
    places: NDArray[np.int16]

    def has(self, kind: TextKind) -> NDArray[np.bool_]:
        """Return which units have a text of a kind, (n,)."""
        return np.asarray((self.kinds >> TEXT_KINDS.index(kind)) & 1 == 1)

    def parents(self, level: PairLevel) -> Keys:
        """Return the keys of what units of a level are parts of; 0 for nothing."""
        empty = np.zeros_like(self.names)
        return {"panel": self.figures, "region": self.panels}.get(level, empty)

    def take(self, rows: Ints) -> UnitFacts:
        """Return what is known of some."""
        return UnitFacts(*(getattr(self, item.name)[rows] for item in fields(self)))

    @staticmethod
    def joined(parts: Sequence[UnitFacts]) -> UnitFacts:
        """Return what is known of the units of all parts."""
        return UnitFacts(*(np.concatenate([getattr(part, item.name) for part in parts]) for item in fields(UnitFacts)))


class UnitRows(Sequence[Unit]):
    """Units of one level, of one file or several."""

    def __init__(
        self, level: PairLevel, files: Sequence[PairFile], pairs: Ints, starts: Ints, counts: Ints, facts: UnitFacts
    ) -> None:
        """Take the pairs of each unit: `pairs[starts[i] : starts[i] + counts[i]]` of the file of its place."""
        self.level, self.facts = level, facts
        self._files, self._pairs, self._starts, self._counts = files, pairs, starts, counts

    def __len__(self) -> int:
        """Return the number of units."""
        return len(self._starts)

    @overload
    def __getitem__(self, place: int) -> Unit: ...

    @overload
    def __getitem__(self, place: slice) -> UnitRows: ...

    def __getitem__(self, place: int | slice) -> Unit | UnitRows:
        """Return a unit, made anew each time, or those of a slice."""
        if isinstance(place, slice):
            return self.take(np.arange(len(self))[place])
        start, number = int(self._starts[range(len(self))[place]]), int(self.facts.places[place])
        rows = self._pairs[start : start + int(self._counts[place])].tolist()
        return self._files[number].unit(self.level, rows, number)

    def take(self, rows: Ints) -> UnitRows:
        """Return some of the units, in the order given; of their pairs nothing is copied."""
        facts = self.facts.take(rows)
        return UnitRows(self.level, self._files, self._pairs, self._starts[rows], self._counts[rows], facts)

    @staticmethod
    def joined(parts: Sequence[UnitRows]) -> UnitRows:
        """Return the units of several places, one after the other; each part is a place, and has one file."""
        offsets = np.cumsum([0, *(len(part._pairs) for part in parts)])
        starts = [part._starts + offset for part, offset in zip(parts, offsets[:-1], strict=True)]
        counts, pairs = ([getattr(part, name) for part in parts] for name in ("_counts", "_pairs"))
        facts = [replace(part.facts, places=np.full(len(part), k, np.int16)) for k, part in enumerate(parts)]
        return UnitRows(
            parts[0].level, [part._files[0] for part in parts], np.concatenate(pairs), np.concatenate(starts),
            np.concatenate(counts), UnitFacts.joined(facts),
        )  # fmt: skip


def facts_of(units: Sequence[Unit]) -> UnitFacts:
    """Return what is known of units: of `UnitRows` without looking at them."""
    if isinstance(units, UnitRows):
        return units.facts

    def keys(names: Iterable[str | None]) -> Keys:
        return np.array([name_key(name) for name in names], dtype=np.uint64)

    return UnitFacts(
        keys(unit.name for unit in units), keys(unit.source for unit in units), keys(unit.figure_id for unit in units),
        keys(unit.panel_id for unit in units),
        np.array([sum(1 << TEXT_KINDS.index(kind) for kind in unit.texts) for unit in units], dtype=np.uint8),
        np.array([unit.place for unit in units], dtype=np.int16),
    )  # fmt: skip


def taken(units: Sequence[Unit], rows: Ints) -> Sequence[Unit]:
    """Return some units, in the order given."""
    return units.take(rows) if isinstance(units, UnitRows) else [units[row] for row in rows.tolist()]


class PairFile:
    """Pairs in a mapped file."""

    def __init__(self, blocks: Iterable[pa.RecordBatch], picture_at: PictureAt) -> None:
        """Write the blocks, all but the last of `BLOCK_ROWS`, and map them.

        Raises:
            OSError: if there is no room for them in the folder of temporary files (`TMPDIR`).
        """
        descriptor, name = tempfile.mkstemp(prefix="pmo-pairs-", suffix=".arrow")
        os.close(descriptor)
        try:
            with pa.OSFile(name, "wb") as stream, pa.ipc.new_file(stream, SCHEMA) as writer:
                for block in blocks:
                    writer.write_batch(block)
            self._reader = pa.ipc.open_file(pa.memory_map(name))
        finally:
            Path(name).unlink()
        self._picture_at = picture_at

    def unit(self, level: PairLevel, rows: Sequence[int], place: int) -> Unit:
        """Return the unit that some pairs are of."""
        said = [self._values(row, ("text_kind", "pair_id", "text")) for row in rows]
        texts: dict[TextKind, list[tuple[str, str]]] = {}
        for kind, pair_id, text in said:
            texts.setdefault(kind, []).append((pair_id, text))
        name, source, figure, panel, looks, confidence, picture, *box = self._values(rows[0], _OF_UNIT)
        return Unit(
            level, name, source, figure, panel, looks, self._picture_at(*picture), as_box(box), texts, confidence, place
        )

    def _values(self, row: int, names: Sequence[str]) -> list[Any]:
        number, within = divmod(row, BLOCK_ROWS)
        block = self._reader.get_batch(number)
        return [block.column(_COLUMN[name])[within].as_py() for name in names]


_COLUMN: Final = {name: place for place, name in enumerate(SCHEMA.names)}

_OF_UNIT: Final = (
    "name", "source", "figure_id", "panel_id", "looks", "confidence", "picture", "left", "top", "right", "bottom",
)  # fmt: skip


def unit_rows(
    pairs: Iterable[tuple[PairLevel, dict[str, Any]]],
    levels: Iterable[PairLevel],
    picture_at: PictureAt,
    min_confidence: float = 0.0,
) -> tuple[dict[PairLevel, UnitRows], int]:
    """Return units with all their texts, in the order in which they first occur, and how many were not sure enough.

    Args:
        pairs: level, and the columns of `SCHEMA`; those of a unit need not be neighbours.
        levels: that are wanted; pairs of others are left out.
        picture_at: gives the picture of what stands in the column `picture`.
        min_confidence: units whose first pair has less are left out.

    Raises:
        OSError: if there is no room for the file.
    """
    wanted = tuple(levels)
    notes = _Notes()
    file = PairFile(_blocks(((level, row) for level, row in pairs if level in wanted), notes), picture_at)
    found = notes.arrays()
    units: dict[PairLevel, UnitRows] = {}
    unsure = 0
    for level in wanted:
        rows = np.flatnonzero(found["level"] == PAIR_LEVELS.index(level))
        order = rows[np.argsort(found["name"][rows], kind="stable")]  # a unit's pairs together, in their order
        names = found["name"][order]
        starts = np.flatnonzero(np.r_[True, names[1:] != names[:-1]]) if len(order) else rows
        counts = np.diff(np.r_[starts, len(order)])
        kinds = np.bitwise_or.reduceat(found["kind"][order], starts) if len(order) else found["kind"][:0]
        by_occurrence = np.argsort(order[starts], kind="stable")
        first = order[starts]
        confidence = found["confidence"][first]
        by_occurrence = by_occurrence[~(confidence[by_occurrence] < min_confidence)]
        unsure += len(starts) - len(by_occurrence)
        keys = [found[name][first] for name in ("name", "source", "figure", "panel")]
        facts = UnitFacts(keys[0], keys[1], keys[2], keys[3], kinds, np.zeros(len(starts), np.int16))
        facts = facts.take(by_occurrence)
        units[level] = UnitRows(level, [file], order, starts[by_occurrence], counts[by_occurrence], facts)
    return units, unsure


class _Notes:
    """Numbers of pairs as they are written."""

    TYPES: Final[Mapping[str, Any]] = {
        "level": np.uint8, "kind": np.uint8, "confidence": np.float64, "name": np.uint64, "source": np.uint64,
        "figure": np.uint64, "panel": np.uint64,
    }  # fmt: skip

    def __init__(self) -> None:
        self._blocks: dict[str, list[NDArray[Any]]] = {name: [] for name in self.TYPES}

    def add(self, rows: Sequence[tuple[PairLevel, dict[str, Any]]]) -> None:
        none = float("nan")
        columns: dict[str, list[Any]] = {
            "level": [PAIR_LEVELS.index(level) for level, _ in rows],
            "kind": [1 << TEXT_KINDS.index(row["text_kind"]) for _, row in rows],
            "confidence": [none if row["confidence"] is None else row["confidence"] for _, row in rows],
            "name": [name_key(row["name"]) for _, row in rows],
            "source": [name_key(row["source"]) for _, row in rows],
            "figure": [name_key(row["figure_id"]) for _, row in rows],
            "panel": [name_key(row["panel_id"]) for _, row in rows],
        }
        for name, values in columns.items():
            self._blocks[name].append(np.array(values, dtype=self.TYPES[name]))

    def arrays(self) -> dict[str, NDArray[Any]]:
        empty = {name: np.zeros(0, dtype) for name, dtype in self.TYPES.items()}
        return {name: np.concatenate([empty[name], *self._blocks.pop(name)]) for name in list(self._blocks)}


def _blocks(pairs: Iterable[tuple[PairLevel, dict[str, Any]]], notes: _Notes) -> Iterator[pa.RecordBatch]:
    waiting: list[tuple[PairLevel, dict[str, Any]]] = []
    for item in pairs:
        waiting.append(item)
        if len(waiting) == BLOCK_ROWS:
            notes.add(waiting)
            yield pa.RecordBatch.from_pylist([row for _, row in waiting], schema=SCHEMA)
            waiting = []
    if waiting:
        notes.add(waiting)
        yield pa.RecordBatch.from_pylist([row for _, row in waiting], schema=SCHEMA)
