"""Measure how fast `pmo_assets.load` gives rows, beside plain PyArrow on the same files, and what memory it takes.

    python benchmarks/loading_speed.py [--folder DATA_ROOT] [--rows 4000] [--group 50] [--kilobytes 200]

Without `--folder` a release is generated in a temporary folder: PNGs of noise of about the given size, in row groups
of the given number of rows. Every way runs in a process of its own, on files that are in the disk's cache; memory is
the process' peak above what it had when the release was open.
"""

from __future__ import annotations

import argparse
import io
import multiprocessing
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import PIL.Image
import pyarrow as pa
import pyarrow.parquet as pq

import pmo_assets
from pmo_assets.tables.release import arrow_schema, hub_table
from pmo_assets_tests.loading.small_release import release_rows, write_release, write_sums

RANDOM_ROWS = 300
"""Rows that random access asks for: more would be the same per row."""


def generated(folder: Path, rows: int, group: int, kilobytes: int) -> None:
    """Write a release whose config `panels` has so many rows."""
    write_release(folder)
    hub = folder / "release" / "hub"
    for path in (hub / "data" / "panels").iterdir():
        path.unlink()
    rng = np.random.default_rng(0)
    side = round((kilobytes * 1024 / 3) ** 0.5)
    pattern = next(row for row in release_rows(1)["panels"] if row["panel_image"] is not None)
    with pq.ParquetWriter(
        hub / "data/panels/train-00000.parquet", arrow_schema(hub_table("panels")), compression="zstd"
    ) as writer:
        for first in range(0, rows, group):
            part = []
            for number in range(first, min(first + group, rows)):
                stream = io.BytesIO()
                PIL.Image.fromarray(rng.integers(0, 255, (side, side, 3), dtype=np.uint8)).save(
                    stream, "PNG", compress_level=0
                )
                picture = {"bytes": stream.getvalue(), "path": f"{number}.png"}
                part.append({**pattern, "panel_id": f"p_{number}", "split": "train", "panel_image": picture})
            writer.write_table(pa.Table.from_pylist(part, schema=arrow_schema(hub_table("panels"))))
    write_sums(hub)


def _files(folder: str) -> list[Path]:
    return sorted(Path(pmo_assets.load(folder).folder).glob("data/panels/*.parquet"))


def plain_batches(folder: str) -> int:
    """Plain PyArrow: all columns, row group by row group, as Arrow."""
    count = 0
    for path in _files(folder):
        file = pq.ParquetFile(path)
        for group in range(file.num_row_groups):
            count += len(file.read_row_group(group, use_threads=False))
    return count


def plain_rows(folder: str) -> int:
    """Plain PyArrow: all columns, every row as a dictionary with its picture's bytes."""
    count = 0
    for path in _files(folder):
        for batch in pq.ParquetFile(path).iter_batches(batch_size=64):
            count += sum(row["panel_image"] is not None for row in batch.to_pylist())
    return count


def plain_random(folder: str) -> int:
    """Plain PyArrow: the row group of each of some random rows, all columns."""
    (path,) = _files(folder)[:1]
    file = pq.ParquetFile(path)
    ends = np.cumsum([file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)])
    for row in np.random.default_rng(0).integers(0, ends[-1], RANDOM_ROWS):
        group = int(np.searchsorted(ends, row, side="right"))
        table = file.read_row_group(group, use_threads=False)
        table.slice(int(row - (ends[group] - table.num_rows)), 1).to_pylist()
    return RANDOM_ROWS


def facts(folder: str) -> int:
    """`for panel in ds.panels`, without pictures."""
    return sum(1 for _ in pmo_assets.load(folder).panels)


def pictures(folder: str) -> int:
    """`for panel in ds.panels`, with the picture's bytes."""
    return sum(panel.picture() is not None for panel in pmo_assets.load(folder).panels)


def random_rows(folder: str) -> int:
    """`ds.panels[i].picture()` at random: what `shuffle=True` does."""
    panels = pmo_assets.load(folder).panels
    for row in np.random.default_rng(0).integers(0, len(panels), RANDOM_ROWS):
        panels[row].picture()
    return RANDOM_ROWS


def shuffled(folder: str) -> int:
    """`for panel in ds.panels.shuffled(0)`, by index, with the picture's bytes."""
    panels = pmo_assets.load(folder).panels.shuffled(0)
    return sum(panels[place].picture() is not None for place in range(len(panels)))


def filtered(folder: str) -> int:
    """`ds.panels.filter(year=2020)`: all rows looked at, no record made."""
    panels = pmo_assets.load(folder).panels
    panels.filter(year=2020)
    return len(panels)


def _peak_mb() -> float:
    """Return the peak of resident memory in MiB (Linux); `ru_maxrss` would begin with that of the parent process."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def measure(way: Callable[[str], int], folder: str) -> tuple[float, float]:
    """Return rows per second and MiB at the peak above an open release."""
    len(pmo_assets.load(folder).panels)
    before, start = _peak_mb(), time.perf_counter()
    rows = way(folder)
    return rows / (time.perf_counter() - start), _peak_mb() - before


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder")
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--group", type=int, default=50)
    parser.add_argument("--kilobytes", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        if options.folder is None:
            generated(Path(made), options.rows, options.group, options.kilobytes)
        folder = options.folder or made
        for path in _files(folder):
            path.read_bytes()
        print("| way | rows/s | MiB |\n| --- | ---: | ---: |")
        for way in (plain_batches, plain_rows, pictures, facts, plain_random, random_rows, shuffled, filtered):
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                speed, memory = pool.apply(measure, (way, folder))
            print(f"| {' '.join((way.__doc__ or '').split())} | {speed:,.0f} | {memory:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
