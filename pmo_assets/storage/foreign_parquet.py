"""Parquet files that others made: read with bounds, because a few kilobytes can stand for gigabytes.

A dictionary keeps a text once and repeats it by number, so that 20 kB may decode to 8 GB, and a footer may state what
it likes. So what the footer states is checked before anything is decoded; texts and bytes are read as they are stored,
each once, with numbers that point to them; and what they are as rows is counted before they are made. Pages say their
sizes in 32 bits: one that lies about itself costs two gigabytes at most.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pmo_assets.records.stores import StorageError

_MAGIC: Final = b"PAR1"

_PROBED: Final = 1 << 20
"""Bytes that are read of a column to see whether its description is sound."""

_ROWS: Final = 10_000
"""Rows that are decoded at once where a row group is read whole."""


@dataclass(frozen=True, slots=True)
class ForeignLimits:
    """Bounds of a file; the defaults are many times the needs of any release of this project or of BIOMEDICA.

    Attributes:
        footer: bytes of the footer as it is stored.
        columns: leaves of the schema.
        row_groups: of the file.
        rows: of the file.
        chunk_values: values of a column in a row group, repeated ones counted.
        chunk_bytes: of a column in a row group, uncompressed, as the footer states.
        decoded: bytes that are handed on at once when a row group, or a row, is read whole.
        batch: bytes that `iter_batches` hands on at once; rows that take more come in smaller parts.
    """

    footer: int = 64 << 20
    columns: int = 4_096
    row_groups: int = 100_000
    rows: int = 1_000_000_000
    chunk_values: int = 1 << 27
    chunk_bytes: int = 4 << 30
    decoded: int = 2 << 30
    batch: int = 64 << 20


class TooLarge(StorageError):
    """A file asks for more than the limits allow."""


class ForeignParquet:
    """A Parquet file of unknown origin, read within limits; methods as of `pyarrow.parquet.ParquetFile`."""

    def __init__(
        self,
        source: str | Path | IO[bytes] | pa.NativeFile,
        place: str | None = None,
        *,
        limits: ForeignLimits = ForeignLimits(),
        buffer_size: int = 0,
    ) -> None:
        """Open a file; its footer is read and checked.

        Args:
            source: path or stream.
            place: its name in errors; the path if not given.
            limits: bounds of the file.
            buffer_size: bytes that are read of a column at once; 0 for a whole column chunk.

        Raises:
            TooLarge: if the footer is too long, or states more than the limits.
            pyarrow.ArrowInvalid: if it is no Parquet file.
            OSError: if it cannot be read.
        """
        self.place = place or str(source)
        self.limits = limits
        with contextlib.ExitStack() as stack:
            stream: Any = source
            if isinstance(source, (str, Path)):
                stream = stack.enter_context(pa.OSFile(str(source)))
            self._check_footer(stream)
            options = {"pre_buffer": False, "buffer_size": buffer_size}
            self._plain = pq.ParquetFile(stream, **options)
            self.metadata: pq.FileMetaData = self._plain.metadata
            self.schema_arrow: pa.Schema = self._plain.schema_arrow
            self._check_metadata()
            stored = [
                self.metadata.schema.column(number).path
                for number in range(self.metadata.num_columns)
                if self.metadata.schema.column(number).physical_type == "BYTE_ARRAY"
            ]
            self._file = pq.ParquetFile(stream, read_dictionary=stored, metadata=self.metadata, **options)
            options["buffer_size"] = _PROBED
            self._probe = pq.ParquetFile(stream, read_dictionary=stored, metadata=self.metadata, **options)
            self._kept = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file that was opened by its path; a stream is its owner's."""
        self._kept.close()

    @property
    def num_row_groups(self) -> int:
        """Number of row groups."""
        return int(self.metadata.num_row_groups)

    def iter_batches(
        self, batch_size: int, row_groups: Sequence[int] | None = None, columns: Sequence[str] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield rows; those that are too much together come in smaller parts.

        Args:
            batch_size: rows at once, at most.
            row_groups: of these; of all if None.
            columns: these, in the order of the file; all if None.

        Raises:
            TooLarge: if a column, or a row alone, asks for more than the limits.
        """
        groups = range(self.num_row_groups) if row_groups is None else row_groups
        self._check_chunks(groups, columns)
        for number in groups:  # one by one: what lies in two has two dictionaries
            yield from self._batches(batch_size, number, columns)

    def read_row_group(self, number: int, columns: Sequence[str] | None = None) -> pa.Table:
        """Return a row group.

        Raises:
            TooLarge: if it asks for more than the limits.
        """
        return self._whole([number], columns)

    def read(self) -> pa.Table:
        """Return all rows.

        Raises:
            TooLarge: if they ask for more than the limits.
        """
        return self._whole(range(self.num_row_groups), None)

    def _whole(self, groups: Sequence[int], columns: Sequence[str] | None) -> pa.Table:
        self._check_chunks(groups, columns)
        batches: list[pa.RecordBatch] = []
        size = 0
        for number in groups:
            for batch in self._batches(_ROWS, number, columns):
                size += batch.nbytes
                if size > self.limits.decoded:
                    raise self._too_large("what is read at once", size, self.limits.decoded, "bytes")
                batches.append(batch)
        return pa.Table.from_batches(batches, schema=self._schema(columns))

    def _schema(self, columns: Sequence[str] | None) -> pa.Schema:
        """Return the schema of some columns, or parts of structs; all if None."""
        if columns is None:
            return self.schema_arrow
        kept = self._plain.schema_arrow.empty_table() if not self.num_row_groups else self._first(columns)
        return pa.schema([kept.schema.field(name) for name in kept.schema.names], metadata=self.schema_arrow.metadata)

    def _first(self, columns: Sequence[str]) -> pa.Table:
        for batch in self._plain.iter_batches(1, row_groups=[0], columns=list(columns), use_threads=False):
            return pa.Table.from_batches([batch.slice(0, 0)])
        return self.schema_arrow.empty_table().select([name.split(".")[0] for name in columns])

    def _batches(self, rows: int, group: int, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        chosen = None if columns is None else list(columns)
        options: dict[str, Any] = {"row_groups": [group], "columns": chosen, "use_threads": False}
        done = 0
        try:
            for batch in self._file.iter_batches(rows, **options):
                yield from self._parts(batch)
                done += batch.num_rows
        except pa.ArrowNotImplementedError:
            # The writer gave a dictionary up in the middle of a list's texts. What is left of it is small, and so are
            # the parts that are read of the rest.
            few = max(1, min(rows, self.limits.batch // max(1, self._largest_chunk(group, columns))))
            place = 0
            for batch in self._plain.iter_batches(few, **options):
                if place + batch.num_rows > done:
                    yield from self._parts(batch.slice(max(0, done - place)))
                place += batch.num_rows

    def _largest_chunk(self, group: int, columns: Sequence[str] | None) -> int:
        return max((chunk.total_uncompressed_size for chunk in self._chunks(group, columns)), default=0)

    def _chunks(self, number: int, columns: Sequence[str] | None) -> Iterator[pq.ColumnChunkMetaData]:
        group = self.metadata.row_group(number)
        for place in range(group.num_columns):
            path = self.metadata.schema.column(place).path
            if columns is None or any(path == name or path.startswith(f"{name}.") for name in columns):
                yield group.column(place)

    def _parts(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        size = sum(_decoded_bytes(column) for column in batch.columns)
        if size <= self.limits.batch or (batch.num_rows == 1 and size <= self.limits.decoded):
            fields = [self._plain_field(name, batch.schema.field(name).type) for name in batch.schema.names]
            yield _plain_batch(batch, pa.schema(fields))
        elif batch.num_rows > 1:
            half = batch.num_rows // 2
            yield from self._parts(batch.slice(0, half))
            yield from self._parts(batch.slice(half))
        else:
            raise self._too_large("a row", size, self.limits.decoded, "bytes")

    def _plain_field(self, name: str, kind: pa.DataType) -> pa.Field:
        """Return a field as the file's own schema has it: a part of a struct may be read alone."""
        own = self.schema_arrow.field(name)
        return own.with_type(_plain_type(kind))

    def _check_footer(self, stream: Any) -> None:
        stream.seek(0, 2)
        size = stream.tell()
        if size >= 12:
            stream.seek(size - 8)
            end = stream.read(8)
            length = int.from_bytes(end[:4], "little")
            if end[4:] == _MAGIC and length > self.limits.footer:
                raise self._too_large("its footer", length, self.limits.footer, "bytes")
        stream.seek(0)

    def _check_metadata(self) -> None:
        stated = {"columns": self.metadata.num_columns, "row_groups": self.metadata.num_row_groups,
                  "rows": self.metadata.num_rows}  # fmt: skip
        for name, count in stated.items():
            if not 0 <= count <= getattr(self.limits, name):
                raise self._too_large("the file", count, getattr(self.limits, name), name.replace("_", " "))

    def _check_chunks(self, groups: Sequence[int], columns: Sequence[str] | None) -> None:
        chosen = None if columns is None else list(columns)
        for number in groups:
            # What a damaged footer says of a column ends the process where pyarrow looks at it, and is an error where a
            # row is read: so one is read first, from the first page alone.
            with contextlib.suppress(pa.ArrowNotImplementedError):
                next(self._probe.iter_batches(1, row_groups=[number], columns=chosen, use_threads=False), None)
            for chunk in self._chunks(number, columns):
                where = f"column {chunk.path_in_schema}"
                if not 0 <= chunk.num_values <= self.limits.chunk_values:
                    raise self._too_large(where, chunk.num_values, self.limits.chunk_values, "values")
                size = chunk.total_uncompressed_size
                if not 0 <= size <= self.limits.chunk_bytes:
                    raise self._too_large(where, size, self.limits.chunk_bytes, "bytes")

    def _too_large(self, what: str, found: int, limit: int, unit: str) -> TooLarge:
        return TooLarge(
            f"{self.place} is refused: {what} takes {found:,} {unit}, more than the {limit:,} of any release; it is "
            "damaged, or made to fill memory"
        )


def _leaves(array: pa.Array) -> Iterator[pa.Array]:
    """Yield the arrays without children that an array is made of, only what its slice shows."""
    kind = array.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        yield array
        yield from _leaves(_entries(array))
    elif pa.types.is_struct(kind):
        for number in range(kind.num_fields):
            yield from _leaves(array.field(number))
    else:
        yield array


def _entries(array: pa.Array) -> pa.Array:
    if pa.types.is_map(array.type):
        offsets = array.offsets
        first, last = offsets[0].as_py(), offsets[-1].as_py()
        keys, items = array.keys.slice(first, last - first), array.items.slice(first, last - first)
        return pa.StructArray.from_arrays([keys, items], names=["key", "value"])
    return array.flatten()


def _decoded_bytes(array: pa.Array) -> int:
    """Return how many bytes an array takes without dictionaries."""
    total = 0
    for leaf in _leaves(array):
        if pa.types.is_dictionary(leaf.type):
            lengths = pc.binary_length(leaf.dictionary).cast(pa.int64())
            total += (pc.sum(lengths.take(leaf.indices)).as_py() or 0) + 8 * len(leaf)
        else:
            total += leaf.nbytes
    return total


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_plain_type(kind.value_type)))
    if pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_plain_type(kind.value_type)))
    if pa.types.is_map(kind):
        return pa.map_(_plain_type(kind.key_type), _plain_type(kind.item_type))
    if pa.types.is_struct(kind):
        parts = (kind.field(number) for number in range(kind.num_fields))
        return pa.struct([part.with_type(_plain_type(part.type)) for part in parts])
    return kind


def _plain_batch(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [_plain(column).cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _plain(array: pa.Array) -> pa.Array:
    """Return an array without dictionaries in it."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return array.dictionary_decode()
    if _plain_type(kind) == kind:
        return array
    if pa.types.is_struct(kind):
        parts = [_plain(array.field(number)) for number in range(kind.num_fields)]
        names = [kind.field(number).name for number in range(kind.num_fields)]
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(parts, names=names, mask=mask)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        lengths = pc.fill_null(pc.list_value_length(array), 0).cast(pa.int64())
        ends = pc.cumulative_sum(lengths)
        wide = pa.concat_arrays([pa.array([0], pa.int64()), ends])
        made = pa.ListArray if pa.types.is_list(kind) else pa.LargeListArray
        offsets = wide.cast(pa.int32() if pa.types.is_list(kind) else pa.int64())
        mask = array.is_null() if array.null_count else None
        return made.from_arrays(offsets, _plain(array.flatten()), mask=mask)
    return array.cast(_plain_type(kind))
