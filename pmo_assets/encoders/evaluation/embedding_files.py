"""Parquet files of embeddings: `id`, `kind`, `level`, `embedding`, a row for each picture or text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pmo_assets.encoders.evaluation.embeddings import Embeddings, EmbeddingsError
from pmo_assets.records.pairs import PAIR_LEVELS, PairLevel
from pmo_assets.storage.foreign_parquet import ForeignParquet
from pmo_assets.system.aside import path_aside

Kind = Literal["image", "text"]
Level = PairLevel
LEVELS: Final = PAIR_LEVELS

_BATCH_ROWS: Final = 8192


@dataclass(frozen=True)
class EmbeddingTable:
    """Embeddings with the ids of what they were made of.

    Attributes:
        ids: (n) each once.
        embeddings: (n, d), float32 or as the file has them.
    """

    ids: tuple[str, ...]
    embeddings: Embeddings

    def chosen(self, rows: Sequence[int]) -> EmbeddingTable:
        """Return these rows in this order.

        Raises:
            EmbeddingsError: if there is none.
        """
        values = self.embeddings.values[np.asarray(rows, dtype=np.intp)]
        return EmbeddingTable(tuple(self.ids[row] for row in rows), Embeddings(values, self.embeddings.name))


def write_embedding_table(
    path: Path, ids: Sequence[str], kind: Kind, level: Level, embeddings: NDArray[np.floating[Any]]
) -> None:
    """Write embeddings as float32, whole or not at all.

    Args:
        path: of the file.
        ids: (n) of pictures or texts; of a release's pairs: `figure_id`, `panel_id` or `region_id` of a picture (of a
            lecture `pair_id`), and `pair_id` of a text.
        kind: pictures or texts.
        level: of all rows.
        embeddings: (n, d).
    """
    count, dimensions = embeddings.shape
    values = pa.array(np.ascontiguousarray(embeddings, dtype=np.float32).reshape(-1))
    table = pa.table(
        {
            "id": pa.array(ids, pa.string()),
            "kind": pa.array([kind] * count, pa.string()),
            "level": pa.array([level] * count, pa.string()),
            "embedding": pa.FixedSizeListArray.from_arrays(values, dimensions),
        }
    )
    with path_aside(path) as aside:
        pq.write_table(table, aside, compression="zstd", use_dictionary=["kind", "level"])


def read_embedding_table(path: Path, kind: Kind, level: Level) -> EmbeddingTable:
    """Return the embeddings of a kind and a level.

    Raises:
        EmbeddingsError: if the file has other columns, an id twice, rows of different lengths or with nulls, or no such
            rows.
        StorageError: if it asks for more than the limits of foreign Parquet.
        OSError: if it cannot be read.
    """
    ids: list[str] = []
    blocks: list[NDArray[Any]] = []
    try:
        with ForeignParquet(path) as file:
            _check_columns(path, file.schema_arrow)
            columns = ["id", "kind", "level", "embedding"]
            for batch in file.iter_batches(_BATCH_ROWS, columns=columns):
                wanted = [
                    row
                    for row, found in enumerate(
                        zip(batch.column("kind").to_pylist(), batch.column("level").to_pylist(), strict=True)
                    )
                    if found == (kind, level)
                ]
                if wanted:
                    rows = batch.take(pa.array(wanted))
                    ids += map(str, rows.column("id").to_pylist())
                    blocks.append(_values(path, rows.column("embedding")))
    except pa.ArrowInvalid as error:
        raise EmbeddingsError(f"{path} is no whole Parquet file: {error}") from error
    if not ids:
        raise EmbeddingsError(f"{path} has no embeddings of kind {kind!r} and level {level!r}")
    if len({block.shape[1] for block in blocks}) > 1:
        raise EmbeddingsError(f"{path} holds embeddings of several lengths")
    if len(set(ids)) < len(ids):
        twice = next(name for name in ids if ids.count(name) > 1)
        raise EmbeddingsError(f"{path} has the id {twice!r} more than once among its {kind}s of level {level!r}")
    return EmbeddingTable(tuple(ids), Embeddings(np.concatenate(blocks), path.name))


def _check_columns(path: Path, schema: pa.Schema) -> None:
    missing = {"id", "kind", "level", "embedding"} - set(schema.names)
    if missing:
        raise EmbeddingsError(f"{path} has no column {', '.join(sorted(missing))}: id, kind, level, embedding are read")
    lists = schema.field("embedding").type
    listed = pa.types.is_list(lists) or pa.types.is_large_list(lists) or pa.types.is_fixed_size_list(lists)
    if not listed or not (pa.types.is_floating(lists.value_type) or pa.types.is_integer(lists.value_type)):
        raise EmbeddingsError(f"column embedding of {path} is {lists}, not a list of numbers")


def _values(path: Path, column: pa.Array) -> NDArray[Any]:
    if column.null_count:
        raise EmbeddingsError(f"{path} has rows without an embedding")
    flat = column.flatten()
    if flat.null_count or len(flat) % len(column):
        raise EmbeddingsError(f"{path} holds embeddings of several lengths, or with nulls")
    if not pa.types.is_fixed_size_list(column.type) and len(set(column.value_lengths().to_pylist())) > 1:
        raise EmbeddingsError(f"{path} holds embeddings of several lengths")
    return np.asarray(flat.to_numpy(zero_copy_only=False)).reshape(len(column), -1)
