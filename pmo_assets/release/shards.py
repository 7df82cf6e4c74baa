"""The tables of a release as Parquet files: row groups for streaming, shards of a size that hubs like.

Where a group or a shard ends depends on the rows and on the size of their pictures, also of withheld ones: who
restores these gets the files that a release without withheld rows would have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
"""Bytes that the facts of a row count beside its picture; compressed they are about half of it."""


def _file_name(name: str, encoded: bytes | None) -> str | None:
    if encoded is None:
        return None
    return f"{name}.png" if encoded.startswith(b"\x89PNG") else f"{name}.webp"


def picture_array(names: Sequence[str], encoded: Sequence[bytes | None], kind: pa.DataType) -> pa.Array:
    """Return a column of pictures.

    Args:
        names: of each picture, without ending.
        encoded: each as PNG or WebP; None for null.
        kind: binary, or a struct {bytes, path} as the hub's feature Image has it.
    """
    content = pa.array(encoded, pa.binary())
    if not pa.types.is_struct(kind):
        return content
    files = pa.array(map(_file_name, names, encoded), pa.string())
    return pa.StructArray.from_arrays([content, files], ["bytes", "path"], mask=content.is_null())


@dataclass(frozen=True, slots=True)
class Pictures:
    """The pictures of some rows.

    Attributes:
        names: of each picture, without ending; what the hub's tables call the file.
        encoded: each as PNG or WebP; None where it is withheld.
        sizes: bytes of each, also of one that is withheld.
    """

    names: Sequence[str]
    encoded: Sequence[bytes | None]
    sizes: Sequence[int]


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
            data_root: root to write to.
            name: their key, with "{}" for the shard's number where `shard_bytes` is given.
            schema: Arrow schema.
            metadata: key-value metadata of each file.
            pictures: column with encoded pictures: binary, or a struct {bytes, path} as the hub's feature Image has it;
                None without one.
            shard_bytes: about how large a shard may get; None for one file.
        """
        self._root, self._name, self._schema, self._metadata = data_root, name, schema, metadata
        self._pictures, self._shard_bytes = pictures, shard_bytes
        self._facts: list[pa.Table] = []
        self._names: list[str] = []
        self._encoded: list[bytes | None] = []
        self._rows = self._bytes = self._shard_size = 0
        self._stream: ParquetStream | None = None
        self._written: list[WrittenFile] = []

    def add(self, facts: pa.Table, pictures: Pictures | None = None) -> None:
        """Append rows.

        Args:
            facts: all columns but the pictures', in any order and with types that can be cast.
            pictures: of these rows; None without a column for them.
        """
        start = 0
        for place in range(facts.num_rows):
            self._rows += 1
            self._bytes += ROW_BYTES + (pictures.sizes[place] if pictures is not None else 0)
            if self._rows >= GROUP_ROWS or self._bytes >= GROUP_BYTES:
                self._take(facts, pictures, start, place + 1)
                self._flush()
                start = place + 1
        self._take(facts, pictures, start, facts.num_rows)

    def _take(self, facts: pa.Table, pictures: Pictures | None, start: int, end: int) -> None:
        if start == end:
            return
        self._facts.append(facts.slice(start, end - start))
        if pictures is not None:
            self._names += pictures.names[start:end]
            self._encoded += pictures.encoded[start:end]

    def _group(self) -> pa.Table:
        """Return the waiting rows as one table: articles are a few rows each, so columns are joined once per group."""
        table = pa.concat_tables(self._facts).combine_chunks()
        if self._pictures is None:
            return table.select(self._schema.names)
        content = picture_array(self._names, self._encoded, self._schema.field(self._pictures).type)
        return table.append_column(self._pictures, content).select(self._schema.names)

    def _flush(self) -> None:
        if not self._facts:
            return
        full = self._shard_bytes is not None and self._shard_size + self._bytes > self._shard_bytes
        if self._stream is not None and full:
            self._written.append(self._stream.finish())
            self._stream, self._shard_size = None, 0
        self._open().write(self._group())
        self._shard_size += self._bytes
        self._facts, self._names, self._encoded, self._rows, self._bytes = [], [], [], 0, 0

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
