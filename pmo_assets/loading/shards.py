"""Rows of one config, spread over Parquet files: random access by row group, without reading a file whole.

Facts and pictures of a row group are read apart from each other, and the last few of each are kept. Only PyArrow is
used on the way to a row: Polars' threads do not survive a fork, and a row is what workers of a data loader read.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pmo_assets.loading.errors import ReleaseError
from pmo_assets.storage.data_root import DataRoot

Entry = TypeVar("Entry")

KEPT_PICTURE_BYTES: Final = 256 << 20
"""Row groups of pictures that are kept take at most this, or one row group if that alone is larger."""

KEPT_FACT_BYTES: Final = 64 << 20
"""The same for what is not a picture."""

OPEN_FILES: Final = 8
"""Files of a config that are kept open."""


@dataclass(frozen=True)
class Shard:
    """A Parquet file of a config.

    Attributes:
        key: path below the release's folder.
        rows: of each row group.
        picture_bytes: uncompressed size of each row group's pictures.
    """

    key: str
    rows: tuple[int, ...]
    picture_bytes: tuple[int, ...]


class _Kept(Generic[Entry]):
    """Entries that were used last, up to a total size; at least one."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.size = 0
        self.entries: OrderedDict[Hashable, tuple[Entry, int]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], tuple[Entry, int]]) -> Entry:
        """Return the entry of a key, made (with its size) where it is not there."""
        found = self.entries.get(key)
        if found is None:
            while self.entries and self.size >= self.limit:
                self._drop_oldest()
            found = self.entries[key] = make()
            self.size += found[1]
            while len(self.entries) > 1 and self.size > self.limit:
                self._drop_oldest()
        self.entries.move_to_end(key)
        return found[0]

    def _drop_oldest(self) -> None:
        self.size -= self.entries.popitem(last=False)[1][1]


class _Reading:
    """Open files, row groups and lock of a process that reads; never travels to another process."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.lock = threading.RLock()
        self.files: _Kept[pq.ParquetFile] = _Kept(OPEN_FILES)
        self.facts: _Kept[pa.Table] = _Kept(KEPT_FACT_BYTES)
        self.pictures: _Kept[pa.Array] = _Kept(KEPT_PICTURE_BYTES)
        self.by_article: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None


class ShardedTable:
    """The rows of one config in the order of its files, numbered from 0.

    Threads may share it; it travels to other processes by pickle, and through a fork when it is local.

    Attributes:
        root: the release's folder.
        shards: its files.
        schema: Arrow schema of the files.
        picture: the column with the picture; None for a config without one.
        columns: columns that are no picture.
        starts: number of the first row of each row group over all files, and at the end the number of rows.
    """

    def __init__(self, root: DataRoot, shards: Sequence[Shard], schema: pa.Schema, picture: str | None) -> None:
        self.root = root
        self.shards = tuple(shards)
        self.schema = schema
        self.picture = picture
        self.columns = tuple(name for name in schema.names if name != picture)
        self._groups = [(shard, group) for shard in self.shards for group in range(len(shard.rows))]
        self.starts: NDArray[np.int64] = np.cumsum([0, *(rows for shard in self.shards for rows in shard.rows)])
        self._held = _Reading()

    def __len__(self) -> int:
        return int(self.starts[-1])

    def __getstate__(self) -> dict[str, Any]:
        return {"root": self.root, "shards": self.shards, "schema": self.schema, "picture": self.picture}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    @property
    def _reading(self) -> _Reading:
        """Reading state of this process; new after a fork, because a lost thread may have held the lock.

        Raises:
            ReleaseError: in a forked process on S3, whose connections hang there.
        """
        if self._held.process != os.getpid():
            if not self.root.is_local:
                raise ReleaseError(
                    f"{self.root.root} cannot be read in a forked process: let the processes be spawned "
                    '(DataLoader(…, multiprocessing_context="spawn"))'
                )
            self._held = _Reading()
        return self._held

    def _file(self, key: str) -> pq.ParquetFile:
        def opened() -> tuple[pq.ParquetFile, int]:
            return pq.ParquetFile(self.root.open_random(key), pre_buffer=not self.root.is_local), 1

        return self._reading.files.get(key, opened)

    def _read(self, group: int, columns: Sequence[str]) -> pa.Table:
        """Return columns of a row group (numbered over all files), in one piece."""
        shard, number = self._groups[group]
        try:
            return self._file(shard.key).read_row_group(number, columns=list(columns), use_threads=False)
        except (OSError, pa.ArrowException) as error:
            raise ReleaseError(
                f"{self.root.uri(shard.key)} cannot be read: {' '.join(str(error).split())} "
                "(pmo_assets.load(…, verify=True) says which files are damaged; fetch or release them again)"
            ) from error

    def group_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row group (numbered over all files) of each row."""
        return np.searchsorted(self.starts, rows, side="right") - 1

    def rows_of_split(self, split: str) -> tuple[int, int]:
        """Return the first row of a split and the one after its last."""
        before = found = 0
        for shard in self.shards:
            if shard.key.rpartition("/")[2].startswith(f"{split}-"):
                found += sum(shard.rows)
            elif not found:
                before += sum(shard.rows)
        return before, before + found

    def picture_bytes(self) -> NDArray[np.int64]:
        """Return the uncompressed size of the pictures of each row group."""
        return np.array([size for shard in self.shards for size in shard.picture_bytes], dtype=np.int64)

    def _facts(self, group: int) -> pa.Table:
        reading = self._reading

        def read() -> tuple[pa.Table, int]:
            table = self._read(group, self.columns)
            return table, table.nbytes

        with reading.lock:
            return reading.facts.get(group, read)

    def facts(self, row: int) -> dict[str, Any]:
        """Return a row without its picture."""
        group = int(self.group_of(np.array([row]))[0])
        return self._facts(group).slice(row - int(self.starts[group]), 1).to_pylist()[0]  # type: ignore[no-any-return]

    def picture_of(self, row: int) -> bytes | None:
        """Return a row's picture as a file (PNG); None where it is withheld."""
        if self.picture is None:
            return None
        reading = self._reading
        group = int(self.group_of(np.array([row]))[0])

        def read() -> tuple[pa.ChunkedArray, int]:
            pictures = self._read(group, [f"{self.picture}.bytes"]).column(0)
            return pictures, pictures.nbytes

        with reading.lock:
            pictures = reading.pictures.get(group, read)
        stored = pictures[row - int(self.starts[group])].as_py()
        return None if stored is None else stored["bytes"]

    def runs(self, rows: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield (row group, rows) for rows that follow each other in the same row group, in the order given."""
        if not len(rows):
            return
        groups = self.group_of(rows)
        for run in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(groups)) + 1):
            yield int(groups[run[0]]), rows[run]

    def each_facts(self, rows: NDArray[np.int64], at_once: int = 256) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield (row, its facts) in the order given, one row group after the other."""
        for group, run in self.runs(rows):
            table, start = self._facts(group), self.starts[group]
            for first in range(0, len(run), at_once):
                part = run[first : first + at_once]
                yield from zip(part.tolist(), table.take(part - start).to_pylist(), strict=True)

    def tables(self, rows: NDArray[np.int64], columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield columns of rows in the order given, a table for each run of rows of one row group."""
        for group, run in self.runs(rows):
            with self._reading.lock:
                table = self._read(group, columns)
            yield (
                table if len(run) == len(table) and (np.diff(run) == 1).all() else table.take(run - self.starts[group])
            )

    def rows_of_article(self, article_id: int) -> NDArray[np.int64]:
        """Return the rows of an article in their order; 16 bytes a row are kept for it."""
        reading = self._reading
        with reading.lock:
            if reading.by_article is None:
                numbers = [self._read(group, ["article_id"]).column(0).to_numpy() for group in range(len(self._groups))]
                ids = np.concatenate([np.empty(0, dtype=np.int64), *numbers])
                order = np.argsort(ids, kind="stable")
                reading.by_article = ids[order], order
        ids, order = reading.by_article
        first, last = np.searchsorted(ids, [article_id, article_id + 1])
        return order[first:last]

    def scan(self, columns: Sequence[str]) -> pl.LazyFrame:
        """Return columns as a lazy table, in the order of the rows."""
        if not self.shards:
            return pl.LazyFrame(pl.from_arrow(self.schema.empty_table().select(list(columns))))
        if self.root.is_local:
            paths = [self.root.uri(shard.key) for shard in self.shards]
            return pl.scan_parquet(paths, glob=False, hive_partitioning=False).select(columns)
        # by PyArrow, so that endpoint, region and keys are found as everywhere in the project
        return pl.scan_pyarrow_dataset(self.dataset()).select(columns)

    def dataset(self) -> pads.Dataset:
        """Return the files as a PyArrow dataset, in the order of the rows."""
        filesystem, folder = self.root.filesystem()
        paths = [f"{folder}/{shard.key}" for shard in self.shards]
        return pads.dataset(paths, schema=self.schema, filesystem=filesystem, format="parquet", partitioning=None)
