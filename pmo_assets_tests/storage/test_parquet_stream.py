"""Parquet files written row group by row group."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import ParquetStream

SCHEMA = pa.schema(
    [("text", pa.string()), ("picture", pa.struct([("bytes", pa.binary()), ("path", pa.string())]))]
)  # fmt: skip


def test_the_same_rows_give_the_same_bytes_however_they_lie_in_memory(tmp_path: Path) -> None:
    """Written as they came in, and read and written again: Arrow alone begins pages where chunks end."""
    random = np.random.default_rng(0)
    rows = [
        {"text": random.bytes(1000).hex(), "picture": {"bytes": random.bytes(300_000), "path": f"{number}.png"}}
        for number in range(60)
    ]
    whole = pa.Table.from_pylist(rows, SCHEMA)
    pieces = pa.concat_tables([whole.slice(0, 7), whole.slice(7, 50), whole.slice(57)])
    written = []
    for name, table in (("whole", whole), ("pieces", pieces)):
        stream = ParquetStream(DataRoot(str(tmp_path)), name, SCHEMA, {}, "picture")
        stream.write(table)
        written.append(stream.finish())
    assert written[0].sha256 == written[1].sha256
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "pieces").read_bytes()
