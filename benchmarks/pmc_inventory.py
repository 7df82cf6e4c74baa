"""Measure how long the inventory of PubMed Central's bucket takes, and how much memory.

    python benchmarks/pmc_inventory.py [--rows 8000000] [--files 12] [--followed 25000]

Makes two inventories as S3 writes them (gzipped CSV, rows in random order) in a temporary folder, the second with 1 %
of the versions changed, 0.1 % removed and 0.2 % new; writes both as Parquet, and compares them. Each line is a process
of its own; the last ones do what a day brings: write the new inventory and compare it with the one before.
Temporary files (TMPDIR) need about 0.25 GB for each million rows.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import resource
import shutil
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

from pmo_assets.records.packages import FileMissing, FileTooLarge
from pmo_assets.sources.pmc_inventory import changed_versions, write_inventory
from pmo_assets.sources.pmc_inventory_files import INVENTORY_FOLDER

STAMPS = ("2026-01-08T01-00Z", "2026-01-09T01-00Z")
CHANGED, REMOVED, NEW = 0.01, 0.001, 0.002


@dataclass(frozen=True)
class FolderBucket:
    """A bucket whose objects are the files of a folder."""

    folder: Path
    name: str = "pmc-oa-opendata"

    def folders(self, prefix: str) -> list[str]:
        """Return the folders directly below a prefix."""
        return sorted(f"{prefix}{place.name}/" for place in (self.folder / prefix).iterdir() if place.is_dir())

    def read(self, key: str, max_bytes: int | None = None) -> bytes:
        """Return a file's bytes."""
        place = self.folder / key
        if not place.is_file():
            raise FileMissing(f"{key} is not there")
        if max_bytes is not None and place.stat().st_size > max_bytes:
            raise FileTooLarge(f"{key} has more than {max_bytes} bytes")
        return place.read_bytes()

    def download(self, key: str, target: Path, max_bytes: int | None = None) -> None:
        """Copy a file."""
        if not (self.folder / key).is_file():
            raise FileMissing(f"{key} is not there")
        shutil.copyfile(self.folder / key, target)


def etags(count: int, random: np.random.Generator) -> pl.Series:
    """Return random MD5s as S3 writes them."""
    digests = pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), count, [None, pa.py_buffer(random.bytes(16 * count))])
    return pl.Series("etag", pl.from_arrow(digests.cast(pa.binary())), dtype=pl.Binary).bin.encode("hex")


def versions(articles: pl.Series, version: int, random: np.random.Generator) -> pl.DataFrame:
    """Return one row for each article, with random date and ETag."""
    modified = random.integers(1_700_000_000_000, 1_767_000_000_000, len(articles))
    return pl.DataFrame(
        {
            "article_id": articles,
            "version": pl.Series([version]).new_from_index(0, len(articles)),
            "etag": etags(len(articles), random),
            "last_modified": pl.Series(modified).cast(pl.Datetime("ms")),
        }
    )


def first_and_second(rows: int, random: np.random.Generator) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows of two inventories, in random order."""
    again = rows // 20
    articles = pl.Series(random.choice(rows * 8 // 5, rows - again, replace=False) + 1)
    before = pl.concat([versions(articles, 1, random), versions(articles[:again], 2, random)])
    after = before[int(rows * REMOVED) :]
    changed = versions(pl.Series(range(int(rows * CHANGED))), 1, random).select("etag", "last_modified")
    head = after[: changed.height].with_columns(changed)
    fresh = versions(pl.Series(range(rows * 8 // 5 + 1, rows * 8 // 5 + 1 + int(rows * NEW))), 1, random)
    after = pl.concat([head, after[changed.height :], fresh])
    return tuple(frame[random.permutation(frame.height)] for frame in (before, after))  # type: ignore[return-value]


def write_csv_gz(rows: pl.DataFrame, place: Path) -> dict[str, object]:
    """Write a data file; return its entry in the manifest."""
    content = rows.select(
        pl.lit("pmc-oa-opendata"),
        pl.format("metadata/PMC{}.{}.json", "article_id", "version"),
        pl.col("last_modified").dt.strftime("%Y-%m-%dT%H:%M:%S%.3fZ"),
        pl.col("etag"),
    ).write_csv(None, include_header=False, quote_style="always")
    packer = zlib.compressobj(1, wbits=31)
    packed = packer.compress(content.encode()) + packer.flush()
    place.write_bytes(packed)
    md5 = hashlib.md5(packed, usedforsecurity=False).hexdigest()
    return {"key": f"{INVENTORY_FOLDER}data/{place.name}", "size": len(packed), "MD5checksum": md5}


def make_inventories(folder: Path, rows: int, files: int) -> None:
    """Make both inventories below a folder."""
    data = folder / INVENTORY_FOLDER / "data"
    data.mkdir(parents=True)
    for stamp, frame in zip(STAMPS, first_and_second(rows, np.random.default_rng(7)), strict=True):
        step = -(-frame.height // files)
        parts = [(frame[at : at + step], data / f"{stamp}-{at}.csv.gz") for at in range(0, frame.height, step)]
        with ThreadPoolExecutor(2) as threads:
            entries = list(threads.map(lambda part: write_csv_gz(*part), parts))
        manifest = {"fileFormat": "CSV", "fileSchema": "Bucket, Key, LastModifiedDate, ETag", "files": entries}
        (folder / INVENTORY_FOLDER / stamp).mkdir()
        (folder / INVENTORY_FOLDER / stamp / "manifest.json").write_text(json.dumps(manifest))


def write(folder: Path, stamp: str) -> str:
    """Write an inventory as Parquet."""
    target = folder / f"{stamp}.parquet"
    made = write_inventory(FolderBucket(folder), target, newest=stamp)
    assert made is not None
    assert made.stamp == stamp
    assert not made.notes
    return f"{made.rows:,} rows, {target.stat().st_size / 1e6:.0f} MB"


def compare(folder: Path, followed: int | None) -> str:
    """Compare the inventories."""
    before, after = (folder / f"{stamp}.parquet" for stamp in STAMPS)
    articles = None
    if followed is not None:
        articles = pl.scan_parquet(before).select("article_id").collect().to_series().unique().sample(followed, seed=1)
    found = dict(changed_versions(before, after, articles)["change"].value_counts().sort("change").iter_rows())
    return ", ".join(f"{count:,} {change}" for change, count in found.items())


def a_day(folder: Path, followed: int) -> str:
    """Write the second inventory and compare it with the first."""
    return f"{write(folder, STAMPS[1])}; {compare(folder, followed)}"


def measured(action: Callable[..., str | None], arguments: tuple[object, ...], answers: object) -> None:
    """Run an action; answer with what it says, seconds, and the process's peak of resident memory in bytes."""
    started = time.perf_counter()
    said = action(*arguments)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    answers.put((said, seconds, peak))  # type: ignore[attr-defined]


def in_a_process(name: str, action: Callable[..., str | None], *arguments: object) -> None:
    """Run an action in a process of its own and print a line."""
    processes = multiprocessing.get_context("spawn")
    answers = processes.SimpleQueue()
    process = processes.Process(target=measured, args=(action, arguments, answers))
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(f"{name}: the process ended with {process.exitcode}")
    said, seconds, peak = answers.get()
    print(f"{name:32s} {seconds:8.1f} {peak / 1e9:10.2f}   {said or ''}", flush=True)


def main() -> None:
    """Make the inventories, measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=8_000_000)
    parser.add_argument("--files", type=int, default=12)
    parser.add_argument("--followed", type=int, default=25_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"{'':32s} {'seconds':>8s} {'peak (GB)':>10s}")
        in_a_process("(making two inventories)", make_inventories, folder, options.rows, options.files)
        in_a_process("write the first", write, folder, STAMPS[0])
        in_a_process("write the second", write, folder, STAMPS[1])
        in_a_process(f"compare {options.followed:,} articles", compare, folder, options.followed)
        in_a_process("compare all", compare, folder, None)
        in_a_process("a day: write and compare", a_day, folder, options.followed)
        in_a_process("a day: write and compare all", a_day, folder, None)


if __name__ == "__main__":
    main()
