"""The tables of a release as Parquet files: row groups for streaming, shards of a size that hubs like.

Where a group or a shard ends depends on the rows and on the size of their pictures, also of withheld ones: who
restores these gets the files that a release without withheld rows would have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import ParquetStream, WrittenFile

GROUP_BYTES = 32 * 2**20
"""Pictures of a row group: what a reader of one row loads, and what a writer holds per table and split."""

GROUP_ROWS = 1000
"""Rows of a row group at most."""

SHARD_BYTES = 480 * 10**6
"""Pictures and facts of a shard: some room below the 500 MB that hubs show and readers share out well."""

ROW_BYTES = 4096
"""What the facts of a row count beside its picture; compressed they are about half of it."""


def with_pictures(
    facts: pa.Table, column: str, names: Sequence[str], pictures: Sequence[bytes | None], schema: pa.Schema
) -> pa.Table:
    """Return a table with its picture column, columns in the order of the schema.

    Args:
        facts: all other columns.
        column: of the pictures: binary, or a struct {bytes, path} as the hub's feature Image has it.
        names: of each picture, for the struct's path.
        pictures: encoded; None for null.
        schema: of the whole table.
    """
    content = pa.array(pictures, pa.binary())
    if pa.types.is_struct(schema.field(column).type):
        files = pa.array([_file_name(*item) for item in zip(names, pictures, strict=True)], pa.string())
        content = pa.StructArray.from_arrays([content, files], ["bytes", "path"], mask=content.is_null())
    return facts.append_column(column, content).select(schema.names).cast(schema)


def _file_name(name: str, encoded: bytes | None) -> str | None:
    if encoded is None:
        return None
    return f"{name}.png" if encoded.startswith(b"\x89PNG") else f"{name}.webp"


class ShardWriter:
    """Writes one table, or one split of it, as one shard after another."""

    def __init__(
        self,
        data_root: DataRoot,
        name: str,
        schema: pa.Schema,
        metadata: Mapping[bytes, bytes],
        *,
        pictures: str | None = None,
        shard_bytes: int | None = SHARD_BYTES,
    ) -> None:
        """Prepare; the first file is made when the first row comes.

        Args:
            data_root: where the files go.
            name: their key, with "{}" for the shard's number where `shard_bytes` is given.
            schema: Arrow schema.
            metadata: key-value metadata of each file.
            pictures: path of the column with encoded pictures; None without one.
            shard_bytes: about how large a shard may get; None for one file.
        """
        self._root, self._name, self._schema, self._metadata = data_root, name, schema, metadata
        self._pictures, self._shard_bytes = pictures, shard_bytes
        self._waiting: list[pa.Table] = []
        self._waiting_rows = self._waiting_bytes = self._shard_size = 0
        self._stream: ParquetStream | None = None
        self._written: list[WrittenFile] = []

    def add(self, rows: pa.Table, sizes: Sequence[int]) -> None:
        """Append rows.

        Args:
            rows: with the writer's schema.
            sizes: bytes of each row's picture, also of one that is withheld.
        """
        start = 0
        for place, size in enumerate(sizes, start=1):
            self._waiting_rows += 1
            self._waiting_bytes += size + ROW_BYTES
            if self._waiting_rows >= GROUP_ROWS or self._waiting_bytes >= GROUP_BYTES:
                self._waiting.append(rows.slice(start, place - start))
                self._flush()
                start = place
        if start < rows.num_rows:
            self._waiting.append(rows.slice(start))

    def _flush(self) -> None:
        if not self._waiting:
            return
        full = self._shard_bytes is not None and self._shard_size + self._waiting_bytes > self._shard_bytes
        if self._stream is not None and full:
            self._written.append(self._stream.finish())
            self._stream, self._shard_size = None, 0
        self._open().write(pa.concat_tables(self._waiting))
        self._shard_size += self._waiting_bytes
        self._waiting, self._waiting_rows, self._waiting_bytes = [], 0, 0

    def _open(self) -> ParquetStream:
        if self._stream is None:
            key = self._name if self._shard_bytes is None else self._name.format(f"{len(self._written):05d}")
            self._stream = ParquetStream(self._root, key, self._schema, self._metadata, self._pictures)
        return self._stream

    def finish(self) -> list[WrittenFile]:
        """Write what waits, and return all files; one without rows where there is to be one file."""
        self._flush()
        if self._stream is None and self._shard_bytes is None:
            self._open()
        if self._stream is not None:
            self._written.append(self._stream.finish())
            self._stream = None
        return self._written

    def abandon(self) -> None:
        """Leave the file that is being written undone."""
        if self._stream is not None:
            self._stream.abandon()
            self._stream = None
