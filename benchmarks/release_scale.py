"""How a release of many rows fares: rows per second, peak memory, and against a plain PyArrow write of the same tables.

    python benchmarks/release_scale.py DEMO_DATA WORK [--rows 1000000]

DEMO_DATA is a processed data root (`pmo demo` makes one: `demo/data`), whose articles are repeated under new numbers,
with pictures scaled to 48 pixels, so that what is measured is the release and not the disk. WORK is made, and kept for
a second run. Times are processor seconds, of all threads. Peak memory (resident) is that of the process that makes the
release, as the kernel counts it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import secrets
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.dataset.rows import Entry
from pmo_assets.pipeline.dataset.splits import SplitOptions
from pmo_assets.pipeline.figures.pictures import compact_bytes, decoded_bytes, png_bytes
from pmo_assets.records.stores import Picture
from pmo_assets.release.keys import HUB, RELEASE_KEY
from pmo_assets.release.making import Origin, make_release
from pmo_assets.release.panel_duplicates import find_panel_duplicates
from pmo_assets.release.selection import Selection, select_articles
from pmo_assets.release.statistics import release_statistics
from pmo_assets.release.writing import ReleaseOptions
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import parquet_bytes
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.quality import Annotations
from pmo_assets.tables.schemas import empty_table

ARTICLES_PER_BATCH = 200
TABLES = ("article_packages", "articles", "figures", "dataset_rows")


def _small(picture: Picture) -> Picture:
    pixels = np.asarray(Image.fromarray(decoded_bytes(picture.png)).resize((48, 48)))
    return Picture(picture.key, 48, 48, png_bytes(pixels), compact_bytes(pixels))


def generate(demo: DataRoot, work: DataRoot, rows: int) -> None:
    """Repeat the demo's articles under new numbers until there are so many rows."""
    source, target = Tables(demo), Tables(work)
    batch = source.batches("dataset_rows")[0]
    tables = {name: source.read(name, batch) for name in TABLES}
    templates = tables["dataset_rows"]["article_id"].unique().sort().to_list()
    counts = dict(tables["dataset_rows"].group_by("article_id").len().iter_rows())
    stores = {
        store: {i: ParquetPixels(demo, store, batch).read(i) for i in templates} for store in ("panels", "figures")
    }
    small = {
        (store, i): [_small(picture) for picture in pictures.values()]
        for store, found in stores.items()
        for i, pictures in found.items()
    }
    done, number, sequence = 0, 10_000_000, 0
    while done < rows:
        sequence += 1
        key = f"{sequence:04d}-{sequence:08x}"
        parts: dict[str, list[pl.DataFrame]] = {name: [] for name in TABLES}
        for _ in range(ARTICLES_PER_BATCH):
            template = templates[number % len(templates)]
            number += 1
            for name, table in tables.items():
                parts[name].append(_renumbered(table.filter(pl.col("article_id") == template), template, number))
            for store in stores:
                pictures = [
                    Picture(item.key.replace(str(template), str(number), 1), 48, 48, item.png, item.compact)
                    for item in small[store, template]
                ]
                path = Path(work.root) / f"pixels/{store}/{key}/{number}.parquet"
                path.parent.mkdir(parents=True, exist_ok=True)
                frame = pl.DataFrame(
                    [{"key": p.key, "width": 48, "height": 48, "png": p.png, "compact": p.compact} for p in pictures]
                )
                path.write_bytes(parquet_bytes(frame, compress=False))
            done += counts[template]
        for name, found in parts.items():
            (Path(work.root) / f"tables/{name}").mkdir(parents=True, exist_ok=True)
            (Path(work.root) / target.key(name, key)).write_bytes(parquet_bytes(pl.concat(found)))
        print(f"generated {done} rows", end="\r", flush=True)
    print()


def _renumbered(table: pl.DataFrame, template: int, number: int) -> pl.DataFrame:
    """Return an article's rows under another number; its panels look like no others."""
    changed: dict[str, Any] = {"article_id": pl.lit(number, dtype=pl.Int64)}
    if "panel_id" in table.columns:
        changed["panel_id"] = pl.col("panel_id").str.replace(str(template), str(number))
        changed["perceptual_hash"] = pl.Series([secrets.token_hex(32) for _ in range(table.height)])
        changed["picture_sha256"] = pl.Series([secrets.token_hex(32) for _ in range(table.height)])
    for name in ("doi", "pmcid", "pdf", "name"):
        if name in table.columns:
            dtype = table.schema[name]
            changed[name] = pl.lit(None, dtype=dtype) if dtype != pl.String else pl.lit(f"{number}")
    if "pmcid" in table.columns:
        changed["pmcid"] = pl.lit(number, dtype=pl.Int64)
    return table.with_columns(**changed)


def _release(root: str, results: Any) -> None:
    work = DataRoot(root)
    tables = Tables(work)
    started = time.process_time()
    selection = select_articles(tables)
    selected = time.process_time()
    options = ReleaseOptions()
    groups = find_panel_duplicates(tables, selection, options, SplitOptions())
    grouped = time.process_time()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    release = make_release(
        work, tables, selection, groups=groups, specialty=load_specialty("ophthalmology"), options=options,
        origin=Origin(), statistics=release_statistics(tables, Selection({}), Entry((), 0.0, 0.0)),
        annotations=empty_table(Annotations), say=lambda _: None,
    )  # fmt: skip
    ended = time.process_time()
    results.put(
        {
            "rows": release.facts.panels,
            "select": selected - started,
            "duplicates": grouped - selected,
            "memory after duplicates (MB)": memory / 1024,
            "write": ended - grouped,
            "memory (MB)": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
    )


def _plain_write(paths: list[Path], folder: Path) -> float:
    """Return the seconds that PyArrow takes for the row groups of files, with its defaults and zstd."""
    seconds = 0.0
    for number, path in enumerate(paths):
        file = pq.ParquetFile(path)
        with pq.ParquetWriter(folder / f"{number}.parquet", file.schema_arrow, compression="zstd") as writer:
            for group in range(file.num_row_groups):
                table = file.read_row_group(group)
                start = time.process_time()
                writer.write_table(table)
                seconds += time.process_time() - start
        start = time.process_time()
        (folder / f"{number}.parquet").unlink()
    return seconds


def _streamed_write(paths: list[Path], folder: Path) -> float:
    """Return the seconds that the release's own writer takes for the same row groups, checksums included."""
    from pmo_assets.storage.parquet import ParquetStream

    seconds = 0.0
    root = DataRoot(str(folder))
    for number, path in enumerate(paths):
        file = pq.ParquetFile(path)
        schema = file.schema_arrow.remove_metadata()
        pictures = next((name for name in ("panel_image", "figure_image") if name in schema.names), None)
        pictures = "panel_image_bytes" if "panel_image_bytes" in schema.names else pictures
        start = time.process_time()
        stream = ParquetStream(root, f"{number}.parquet", schema, {}, pictures)
        seconds += time.process_time() - start
        for group in range(file.num_row_groups):
            table = pa.table(file.read_row_group(group).columns, schema=schema)
            start = time.process_time()
            stream.write(table)
            seconds += time.process_time() - start
        start = time.process_time()
        stream.finish()
        seconds += time.process_time() - start
        (folder / f"{number}.parquet").unlink()
    return seconds


def main() -> None:
    """Generate if needed, make the release in a process of its own, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("demo", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    arguments = parser.parse_args()
    if not (arguments.work / "tables").exists():
        arguments.work.mkdir(parents=True, exist_ok=True)
        generate(DataRoot(str(arguments.demo)), DataRoot(str(arguments.work)), arguments.rows)
    context = multiprocessing.get_context("spawn")
    results: Any = context.Queue()
    process = context.Process(target=_release, args=(str(arguments.work), results))
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit("the release failed")
    found = results.get()
    for name, value in found.items():
        print(f"{name:32s} {value:12.1f}")
    print(
        f"{'rows per second, all':32s} {found['rows'] / (found['select'] + found['duplicates'] + found['write']):12.0f}"
    )
    paths = [arguments.work / RELEASE_KEY, *sorted((arguments.work / HUB / "data").rglob("*.parquet"))]
    folder = arguments.work / "plain"
    folder.mkdir(exist_ok=True)
    runs: dict[str, Callable[[list[Path], Path], float]] = {"plain": _plain_write, "streamed": _streamed_write}
    taken = {name: statistics.median(run(paths, folder) for _ in range(3)) for name, run in runs.items()}
    print(f"{'plain PyArrow write (s)':32s} {taken['plain']:12.1f}")
    print(
        f"{'the same by our writer (s)':32s} {taken['streamed']:12.1f}   ratio {taken['streamed'] / taken['plain']:.2f}"
    )
    print(f"{'whole release / plain write':32s} {found['write'] / taken['plain']:12.2f}")
    size = sum(path.stat().st_size for path in paths)
    print(f"{'bytes of the tables':32s} {size / 1e6:12.1f} MB")


if __name__ == "__main__":
    main()
