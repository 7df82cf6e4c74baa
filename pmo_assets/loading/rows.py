"""Rows of a config as a sequence of records: nothing is read before it is asked for."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Generic, Protocol, SupportsIndex, TypeVar, overload

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pmo_assets.loading.named_filters import named_conditions
from pmo_assets.loading.shards import KEPT_PICTURE_BYTES, ShardedTable

Record = TypeVar("Record", covariant=True)


class RecordMaker(Protocol[Record]):
    """Maker of a record from a row."""

    def __call__(self, row: int, facts: dict[str, Any], /) -> Record:
        """Return the record of a row's facts."""
        ...


class Rows(Sequence[Record], Generic[Record]):
    """Records of one config, read as they are asked for; also a map-style dataset of PyTorch.

    An index reads one row group, and keeps the last few; a loop reads one row group after the other. Threads may share
    it, and it travels to workers of a data loader, forked or spawned.
    """

    def __init__(self, table: ShardedTable, make: RecordMaker[Record], rows: range | NDArray[np.int64]) -> None:
        self._table = table
        self._make = make
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Record: ...

    @overload
    def __getitem__(self, index: slice) -> Rows[Record]: ...

    def __getitem__(self, index: SupportsIndex | slice) -> Record | Rows[Record]:
        """Return one record; or some of them, without reading them, for a slice.

        Raises:
            IndexError: if there is no such row.
        """
        if isinstance(index, slice):
            return self._of(self._rows[index])
        place = operator.index(index)
        if not -len(self) <= place < len(self):
            raise IndexError(f"there is no row {place}: there are {len(self):,}")
        row = int(self._rows[place])
        return self._make(row, self._table.facts(row))

    def __iter__(self) -> Iterator[Record]:
        for row, facts in self._table.each_facts(self._numbers()):
            yield self._make(row, facts)

    def __repr__(self) -> str:
        return f"<Rows: {len(self):,} of {len(self._table):,}>"

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns besides the picture: what `filter` takes."""
        return self._table.columns

    def _numbers(self) -> NDArray[np.int64]:
        return np.asarray(self._rows, dtype=np.int64)

    def _of(self, rows: range | NDArray[np.int64]) -> Rows[Record]:
        return type(self)(self._table, self._make, rows)

    def filter(self, *conditions: pl.Expr | pc.Expression, **values: Any) -> Rows[Record]:
        """Return the rows that fulfil all conditions, in the same order; no picture is read.

        Args:
            conditions: Polars or PyArrow expressions over `columns`.
            values: what columns are equal to, by name; a list, tuple or set: one of these; None: null. Of panels, by
                words of the field (`named_filters`): `disease`, `finding` (any name or abbreviation; narrower ones are
                found, too; those that the text denies are not), `eye` ("OD", "right"), `modality` ("OCT", "FA",
                "Retinal Imaging", or a class: "V").

        Raises:
            ValueError: if there is no such column or word, or a condition does not say yes or no of every row.
        """
        named = named_conditions(values, self.columns)
        unknown = sorted(values.keys() - named.keys() - set(self.columns))
        if unknown:
            raise ValueError(f"there is no column {', '.join(unknown)}; there are {', '.join(self.columns)}")
        equal = [*named.values(), *(_equals(name, value) for name, value in values.items() if name not in named)]
        expressions = [*(item for item in conditions if isinstance(item, pl.Expr)), *equal]
        if not len(self):
            return self
        kept = np.ones(len(self._table), dtype=np.bool_)
        if expressions:
            names = {f"_{number}": expression for number, expression in enumerate(expressions)}
            held = self._table.scan(self.columns).select(**names).collect()
            for name in names:
                kept &= self._decided(held[name].to_arrow())
        for item in conditions:
            if not isinstance(item, pl.Expr):
                kept &= self._decided(self._table.dataset().to_table(columns={"kept": item}).column(0))
        numbers = self._numbers()
        return self._of(numbers[kept[numbers]])

    def _decided(self, answers: pa.Array | pa.ChunkedArray) -> NDArray[np.bool_]:
        if len(answers) != len(self._table) or not pa.types.is_boolean(answers.type):
            raise ValueError("a condition says yes or no of every row: pl.col('year') >= 2020")
        return np.asarray(pc.fill_null(answers, False))

    def where(self, condition: Callable[[Any], bool]) -> Rows[Record]:
        """Return the records for which a function says yes, e.g. `lambda panel: len(panel.images) > 2`; reads each."""
        kept = [bool(condition(record)) for record in self]
        return self._of(self._numbers()[np.array(kept, dtype=np.bool_)])

    def take(self, places: Collection[int]) -> Rows[Record]:
        """Return the rows at these places, in their order.

        Raises:
            IndexError: if there is no such row.
        """
        return self._of(self._numbers()[np.array(list(places), dtype=np.int64)])

    def shuffled(self, seed: int) -> Rows[Record]:
        """Return the rows in an order that is random but reads each row group about once: for training.

        Row groups come in random order; rows are mixed within as many of them as are kept in memory at once. With
        `DataLoader(…, shuffle=True)` instead, nearly every row reads a row group.
        """
        numbers = self._numbers()
        groups, sizes = self._pictures_read(numbers)
        return self._of(numbers[_mixed(groups, sizes, np.random.default_rng(seed))])

    def _pictures_read(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the row group that the picture of each row is read with, and the bytes of the pictures of each."""
        return self._table.group_of(numbers), self._table.picture_bytes()

    def to_arrow(self, columns: Sequence[str] | None = None, *, pictures: bool = False) -> pa.Table:
        """Return the rows as an Arrow table, all in memory.

        Args:
            columns: some of the columns; all besides the picture if not given.
            pictures: with the picture's column, {bytes, path}.
        """
        names = list(self.columns if columns is None else columns)
        if pictures and self._table.picture is not None and self._table.picture not in names:
            names.append(self._table.picture)
        empty = self._table.schema.empty_table().select(names)
        return pa.concat_tables([empty, *self._table.tables(self._numbers(), names)])

    def to_polars(self, columns: Sequence[str] | None = None, *, pictures: bool = False) -> pl.DataFrame:
        """Return the rows as a Polars table, all in memory; see `to_arrow`."""
        table = pl.from_arrow(self.to_arrow(columns, pictures=pictures))
        assert isinstance(table, pl.DataFrame)
        return table


def _mixed(groups: NDArray[np.int64], sizes: NDArray[np.int64], chance: np.random.Generator) -> NDArray[np.int64]:
    """Return an order of rows that is random, and reads about as many row groups at once as are kept.

    Args:
        groups: row group of each row.
        sizes: bytes of each row group.
        chance: to draw from.
    """
    present = chance.permutation(np.unique(groups))
    kept = sizes[present]
    # a window ends where what is kept would be exceeded, with half of it in reserve
    windows = (np.cumsum(kept) - kept) // (KEPT_PICTURE_BYTES // 2) if len(kept) else kept
    window_of = np.zeros(int(present.max(initial=0)) + 1, dtype=np.int64)
    window_of[present] = windows
    mixed = chance.permutation(len(groups))
    return mixed[np.argsort(window_of[groups[mixed]], kind="stable")]


def _equals(name: str, value: Any) -> pl.Expr:
    column = pl.col(name)
    if value is None:
        return column.is_null()
    if isinstance(value, list | tuple | set | frozenset):
        known = [item for item in value if item is not None]
        found = column.is_in(known)
        return found | column.is_null() if len(known) < len(value) else found
    equal: pl.Expr = column == value
    return equal
