"""Tables as Parquet files: the same rows give the same bytes."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from pmo_assets.records.stores import StorageError
from pmo_assets.storage.data_root import DataRoot

_COMPRESSION: Literal["zstd"] = "zstd"


def parquet_bytes(table: pl.DataFrame, *, compress: bool = True, metadata: Mapping[str, str] | None = None) -> bytes:
    """Return the table as a Parquet file; the same rows give the same bytes (PNG columns gain nothing from zstd)."""
    buffer = io.BytesIO()
    table.write_parquet(
        buffer,
        compression=_COMPRESSION if compress else "uncompressed",
        statistics=compress,
        metadata=dict(metadata) if metadata is not None else None,
    )
    return buffer.getvalue()


def read_parquet(data_root: DataRoot, key: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return a Parquet file as a table, or some of its columns.

    Raises:
        StorageError: if it is missing or damaged.
    """
    try:
        return pl.read_parquet(io.BytesIO(data_root.read(key)), columns=list(columns) if columns is not None else None)
    except pl.exceptions.ComputeError as error:
        raise StorageError(f"{data_root.uri(key)} is damaged ({error}): materialise it again") from error


def stream_release(
    data_root: DataRoot, key: str, schema: pa.Schema, tables: Iterator[pa.Table], metadata: dict[bytes, bytes]
) -> int:
    """Write a Parquet file row group by row group, whole or not at all; return the number of rows.

    Args:
        data_root: where it goes.
        key: path below the root.
        schema: Arrow schema of the file.
        tables: one table per row group; empty ones are passed over.
        metadata: key-value metadata of the file.
    """
    rows = 0
    with (
        data_root.writing(key) as stream,
        pq.ParquetWriter(stream, schema.with_metadata(metadata), compression=_COMPRESSION) as writer,
    ):
        for table in tables:
            if table.num_rows:
                writer.write_table(table.cast(schema))
                rows += table.num_rows
    return rows
