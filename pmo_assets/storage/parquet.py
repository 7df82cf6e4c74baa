"""Tables as Parquet files: the same rows give the same bytes."""

from __future__ import annotations

import contextlib
import hashlib
import io
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO, Literal

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


def read_metadata(data_root: DataRoot, files: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the key-value metadata of Parquet files by what the files are called; of their content nothing is read.

    A thousand take a tenth of a second on a disk. A file that cannot be read as Parquet has no metadata.

    Args:
        data_root: where they lie.
        files: their keys, by what they are called in the answer.

    Raises:
        StorageError: if one is missing.
    """

    def read(key: str) -> dict[str, str]:
        try:
            if data_root.is_local:
                return pl.read_parquet_metadata(data_root.uri(key))
            with data_root.open_random(key) as stream:
                raw = pq.read_metadata(stream).metadata or {}
            return {name.decode(errors="replace"): value.decode(errors="replace") for name, value in raw.items()}
        except (pl.exceptions.PolarsError, pa.ArrowException) as error:
            if not data_root.exists(key):
                raise StorageError(f"{data_root.uri(key)} is not there: materialise it again") from error
            return {}
        except OSError as error:
            raise StorageError(f"cannot read {data_root.uri(key)}: {' '.join(str(error).split())}") from error

    if data_root.is_local:
        return {name: read(key) for name, key in files.items()}
    with ThreadPoolExecutor(_READERS) as pool:
        return dict(zip(files, pool.map(read, files.values()), strict=True))


_READERS = 16
"""Files of a bucket that are read at once."""


def read_columns(data_root: DataRoot, files: Mapping[str, str], columns: Sequence[str]) -> pl.DataFrame:
    """Return columns of many Parquet files as one table; column `file` says which one a row is from.

    Nothing else of the files is read: of a thousand on a disk, that takes a fraction of a second.

    Args:
        data_root: where they lie.
        files: their keys, by what column `file` calls them; one at least.
        columns: that each of them has, of the same types; without any, `file` alone counts rows.

    Raises:
        StorageError: if a file is missing or damaged, or has other columns.
    """
    names = pl.Series("file", list(files), dtype=pl.Enum(list(files)))
    places = [data_root.uri(key) for key in files.values()]
    try:
        if data_root.is_local:
            scan = pl.scan_parquet(places, glob=False, hive_partitioning=False, include_file_paths="file")
            table = scan.select(pl.col("file").cast(pl.Enum(places)).to_physical(), *columns).collect()
        else:
            with ThreadPoolExecutor(_READERS) as pool:
                parts = list(pool.map(lambda key: _read_by_ranges(data_root, key, columns), files.values()))
            table = pl.concat([part.with_columns(file=pl.lit(n, pl.UInt32)) for n, part in enumerate(parts)])
        return table.select(names.gather(table["file"]), *columns)
    except (pl.exceptions.PolarsError, pa.ArrowException, KeyError, OSError) as error:
        text = " ".join(str(error).split())
        raise StorageError(f"cannot read {', '.join(columns) or 'rows'} below {data_root.uri('')}: {text}") from error


def _read_by_ranges(data_root: DataRoot, key: str, columns: Sequence[str]) -> pl.DataFrame:
    """Return columns of an object, and `file` for as many rows; nothing else of it is fetched but its footer."""
    filesystem, folder = data_root.filesystem()
    with filesystem.open_input_file(f"{folder}/{key}") as stream, pq.ParquetFile(stream, pre_buffer=True) as file:
        read = {name: pl.Series(file.read([name]).column(name)) for name in columns}
        return pl.DataFrame({"file": pl.repeat(0, file.metadata.num_rows, dtype=pl.UInt32, eager=True), **read})


class _HashingStream:
    """A stream that knows the SHA-256 and the size of the bytes written to it; it can only be written to, in order."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._checksum = hashlib.sha256()
        self.size = 0
        self.closed = False
        self.discards = False

    def write(self, data: bytes) -> int:
        if self.discards:
            return len(data)
        self._checksum.update(data)
        self.size += len(data)
        self._stream.write(data)
        return len(data)

    def flush(self) -> None:
        self._stream.flush()

    def tell(self) -> int:
        return self.size

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        self.closed = True

    @property
    def sha256(self) -> str:
        return self._checksum.hexdigest()


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file as it was written.

    Attributes:
        key: below the data root.
        sha256: hexadecimal.
        size: in bytes.
        rows: how many.
        arrow_bytes: of the rows in memory, as Arrow holds them.
    """

    key: str
    sha256: str
    size: int
    rows: int
    arrow_bytes: int


class ParquetStream:
    """A Parquet file that is written row group by row group and appears whole when it is finished.

    Facts are compressed with Zstandard. Pictures are not: they are compressed already, and uncompressed columns let
    storage that knows chunks by content find the same picture again. They get neither dictionaries nor statistics.
    """

    def __init__(
        self, data_root: DataRoot, key: str, schema: pa.Schema, metadata: Mapping[bytes, bytes], pictures: str | None
    ) -> None:
        """Open the file.

        Args:
            data_root: where it goes.
            key: path below the root.
            schema: Arrow schema of the file.
            metadata: key-value metadata of the file.
            pictures: column with encoded pictures, binary or a struct that holds them as `bytes`; None without one.
        """
        leaves = _leaf_paths(schema)
        facts = [path for path in leaves if path not in (pictures, f"{pictures}.bytes")]
        self._exit = contextlib.ExitStack()
        self._stream = _HashingStream(self._exit.enter_context(data_root.writing(key)))
        self._schema, self._key, self._rows, self._arrow_bytes = schema, key, 0, 0
        self._writer = pq.ParquetWriter(
            self._stream,
            schema.with_metadata(dict(metadata)),
            compression={path: _COMPRESSION if path in facts else "none" for path in leaves},
            use_dictionary=facts,
            write_statistics=facts,
            write_page_index=True,
        )

    def write(self, group: pa.Table) -> None:
        """Append a row group; how its columns lie in memory makes no difference to the bytes."""
        table = group.cast(self._schema).combine_chunks()  # where a chunk ends, Arrow may begin another page
        self._writer.write_table(table, row_group_size=max(1, table.num_rows))
        self._rows += table.num_rows
        self._arrow_bytes += table.nbytes

    def finish(self) -> WrittenFile:
        """Make the file appear, and return what was written."""
        self._writer.close()
        self._exit.close()
        return WrittenFile(self._key, self._stream.sha256, self._stream.size, self._rows, self._arrow_bytes)

    def abandon(self) -> None:
        """Leave no trace of the file; nothing happens when it is finished."""
        # A writer that is dropped while it is open writes the end of its file, wherever its stream is by then.
        self._stream.discards = True
        with contextlib.suppress(pa.ArrowException, OSError):
            self._writer.close()
        error = InterruptedError("abandoned")
        with contextlib.suppress(InterruptedError, StorageError):
            self._exit.__exit__(type(error), error, None)


def _leaf_paths(schema: pa.Schema) -> list[str]:
    """Return the paths of a schema's Parquet columns: "title", "panel_image.bytes", "authors.list.element", …"""

    def below(path: str, kind: pa.DataType) -> list[str]:
        if pa.types.is_struct(kind):
            return [leaf for field in kind for leaf in below(f"{path}.{field.name}", field.type)]
        if pa.types.is_list(kind) or pa.types.is_large_list(kind):
            return below(f"{path}.list.element", kind.value_type)
        return [path]

    return [leaf for field in schema for leaf in below(field.name, field.type)]
