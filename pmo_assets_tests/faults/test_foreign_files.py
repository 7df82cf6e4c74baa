"""Parquet files that were made to fill the memory, given to the commands that read what others made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pmo_assets.tables.release import PublishedPanels
from pmo_assets.tables.schemas import empty_table
from pmo_assets_tests.loading.small_release import write_release

pytestmark = [pytest.mark.faults, pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for peak memory")]

ROWS = 8_000

RUN = """
import resource, subprocess, sys
told = subprocess.run(sys.argv[1:], capture_output=True, text=True, timeout=100)
print(told.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
print(told.stderr[-2000:])
"""


@pytest.fixture
def bomb(tmp_path: Path) -> Path:
    """A file of a few kilobytes in the published form of which each column of texts would be 8 GB."""
    text = pa.DictionaryArray.from_arrays(pa.array([0] * ROWS, pa.int32()), pa.array(["x" * 1_000_000]))
    kinds = empty_table(PublishedPanels).to_arrow().schema
    columns = {
        field.name: text for field in kinds if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
    }
    table = pa.table({**columns, "article_id": pa.array(range(1, ROWS + 1), pa.int64())})
    pq.write_table(table, tmp_path / "bomb.parquet", compression="zstd", store_schema=False)
    assert (tmp_path / "bomb.parquet").stat().st_size < 100_000
    return tmp_path / "bomb.parquet"


@pytest.mark.parametrize("command", [("compare",), ("fill-null", "--out", "filled.parquet")])
def test_a_command_refuses_it_in_little_memory(bomb: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    write_release(tmp_path / "data")
    name, *options = command
    told = subprocess.run(
        [sys.executable, "-c", RUN, sys.executable, "-m", "pmo_assets.cli", "release", name, str(bomb), *options],
        env={**os.environ, "PMO_DATA_ROOT": str(tmp_path / "data")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    status, peak = told.split()[:2]
    assert status == "1"
    assert int(peak) < 1_500, "MiB"
    assert "error: " in told
    assert "Traceback" not in told
