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
import shutil
import statistics
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from pmo_assets.pictures import compact_bytes, decoded_bytes, png_bytes
from pmo_assets.pipeline.articles.relevance import load_specialty
from pmo_assets.pipeline.dataset.rows import Entry
from pmo_assets.pipeline.dataset.splits import SplitOptions
from pmo_assets.records.stores import Picture
from pmo_assets.release.keys import HUB, RELEASE_KEY
from pmo_assets.release.making import Origin, make_release
from pmo_assets.release.pair_checks import pair_faults
from pmo_assets.release.panel_duplicates import find_panel_duplicates
from pmo_assets.release.selection import Selection, select_articles
from pmo_assets.release.shards import GROUP_BYTES
from pmo_assets.release.statistics.counting import release_statistics
from pmo_assets.release.writing import ReleaseOptions
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.parquet import ParquetStream, parquet_bytes
from pmo_assets.storage.pixels import ParquetPixels
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.storage.tables import Tables
from pmo_assets.tables.quality import Annotations
from pmo_assets.tables.release import joined_names
from pmo_assets.tables.schemas import empty_table

ARTICLES_PER_BATCH = 200
FIRST_NUMBER = 1_000_000_000
PICTURES = ("panel_image_bytes", "panel_image", "figure_image")
PICTURE_BYTES = 100_000
STORES = ("panels", "figures")
ASKED = ("cues", "instructions", "verdicts")
TABLES = ("article_packages", "articles", "figures", "dataset_rows", *ASKED, *joined_names())


def _small(picture: Picture) -> Picture:
    pixels = np.asarray(Image.fromarray(decoded_bytes(picture.png)).resize((48, 48)))
    return Picture(picture.key, 48, 48, png_bytes(pixels), compact_bytes(pixels))


def generate(demo: DataRoot, work: DataRoot, rows: int) -> None:
    """Repeat the demo's articles under new numbers until there are so many rows."""
    source = Tables(demo)
    batch = source.batches("dataset_rows")[0]
    tables = {name: source.read(name, batch) for name in TABLES}
    manifest = BatchRegistry(demo).manifest(batch)
    templates = tables["dataset_rows"]["article_id"].unique().sort().to_list()
    per_article = tables["dataset_rows"].height / len(templates)
    files = {(store, number): _file(demo, store, batch, number) for store in STORES for number in templates}
    done, sequence, number = 0, 0, FIRST_NUMBER
    while done < rows:
        sequence += 1
        key = f"{sequence:04d}-{sequence:08x}"
        numbers = range(number, number := number + ARTICLES_PER_BATCH)
        made = pl.DataFrame(
            {"new_article": numbers, "article_id": [templates[item % len(templates)] for item in numbers]}
        )
        for name, table in tables.items():
            _written(work, f"tables/{name}/{key}.parquet", parquet_bytes(_renumbered(table, made)))
        _written(work, f"manifests/{key}.parquet", parquet_bytes(_renumbered(manifest, made)))
        for new, template in made.iter_rows():
            for store in STORES:
                # numbers have as many digits as the templates', and the files are not compressed
                content = files[store, template].replace(f"p_{template}".encode(), f"p_{new}".encode())
                _written(work, f"pixels/{store}/{key}/{new}.parquet", content)
        done += int(per_article * ARTICLES_PER_BATCH)
        if sequence % 50 == 0:
            print(f"generated about {done} rows", flush=True)


def _file(demo: DataRoot, store: str, batch: str, number: int) -> bytes:
    """Return the pictures of an article, made small, as a file of a pixel store."""
    small = [_small(picture) for picture in ParquetPixels(demo, store, batch).read(number).values()]
    return parquet_bytes(pl.DataFrame([asdict(picture) for picture in small]), compress=False)


def _written(work: DataRoot, key: str, content: bytes) -> None:
    path = Path(work.root) / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _renumbered(table: pl.DataFrame, made: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the templates' articles under their new numbers; their panels look like no others."""
    joined = made.join(table, on="article_id", how="inner", maintain_order="left")
    new = pl.col("new_article").cast(pl.String)
    random = np.random.default_rng()
    changed: dict[str, Any] = {}
    if "panel_id" in table.columns:
        changed["panel_id"] = pl.concat_str(pl.lit("p_"), new, pl.col("panel_id").str.slice(2 + 10))
        for name in ("perceptual_hash", "picture_sha256"):
            changed[name] = pl.Series([random.bytes(32).hex() for _ in range(joined.height)])
    changed.update({name: new for name in ("doi", "name") if name in table.columns})
    if "pdf" in table.columns:
        changed["pdf"] = pl.concat_str(pl.lit("objects/aa/"), new, pl.lit(".pdf"))
    if "pmcid" in table.columns:
        changed["pmcid"] = pl.lit(None, dtype=pl.Int64)
    return joined.with_columns(**changed).with_columns(article_id="new_article").select(table.columns)


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
        origin=Origin(), statistics=release_statistics(tables, Selection({}), Entry((), 0.0)),
        annotations=empty_table(Annotations), say=lambda _: None,
    )  # fmt: skip
    ended = time.process_time()
    memory_written = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if any(faults := pair_faults(work, HUB).values()):
        raise SystemExit(f"pairs are wrong: {faults}")
    results.put(
        {
            "rows": release.facts.panels,
            "pairs": sum(release.facts.pairs.pairs.values()),
            "select": selected - started,
            "duplicates": grouped - selected,
            "memory after duplicates (MB)": memory / 1024,
            "write": ended - grouped,
            "memory after writing (MB)": memory_written / 1024,
            "check of pairs": time.process_time() - ended,
            "memory (MB)": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
    )


def _realistic(path: Path, size: int, limit: int) -> tuple[pa.Schema, list[pa.Table], str | None]:
    """Return the first row groups of a file with pictures of noise, which nothing compresses, as PNGs are."""
    file = pq.ParquetFile(path)
    schema = file.schema_arrow.remove_metadata()
    column = next((name for name in PICTURES if name in schema.names), None)
    random = np.random.default_rng(0)
    groups = []
    for number in range(min(limit, file.num_row_groups)):
        table = pa.table(file.read_row_group(number).columns, schema=schema)
        if column is not None:
            content = pa.array([random.bytes(size) for _ in range(table.num_rows)], pa.binary())
            if pa.types.is_struct(schema.field(column).type):
                names = pa.array([None] * table.num_rows, pa.string())
                content = pa.StructArray.from_arrays([content, names], ["bytes", "path"])
            table = table.set_column(schema.names.index(column), schema.field(column), content)
        # as many rows as a group of such pictures has
        step = max(1, GROUP_BYTES // size) if column is not None else table.num_rows
        groups += [table.slice(start, step).combine_chunks() for start in range(0, table.num_rows, step)]
    return schema, groups, column


def _plain_write(schema: pa.Schema, groups: list[pa.Table], column: str | None, folder: Path) -> float:
    """Return the seconds that PyArrow takes to write row groups, with its defaults and zstd."""
    start = time.process_time()
    with pq.ParquetWriter(folder / "plain.parquet", schema, compression="zstd") as writer:
        for group in groups:
            writer.write_table(group, row_group_size=group.num_rows)
    return time.process_time() - start


def _streamed_write(schema: pa.Schema, groups: list[pa.Table], column: str | None, folder: Path) -> float:
    """Return the seconds that the release's own writer takes for the same row groups, checksums included."""
    start = time.process_time()
    stream = ParquetStream(DataRoot(str(folder)), "streamed.parquet", schema, {}, column)
    for group in groups:
        stream.write(group)
    stream.finish()
    return time.process_time() - start


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
    paths = [arguments.work / RELEASE_KEY, *sorted((arguments.work / HUB / "data").rglob("train-00000.parquet"))]
    folder = arguments.work / "compared"
    folder.mkdir(exist_ok=True)
    print(f"\nthe first row groups with pictures of {PICTURE_BYTES // 1000} kB each, CPU seconds, median of 5")
    for path in paths:
        schema, groups, column = _realistic(path, PICTURE_BYTES, limit=2)
        plain, ours = (
            statistics.median(write(schema, groups, column, folder) for _ in range(5))
            for write in (_plain_write, _streamed_write)
        )
        name = path.name if path.parent.name == "release" else path.parent.name
        print(f"{name:24s} {sum(group.num_rows for group in groups):6d} rows  plain {plain:.3f}  ours {ours:.3f}"
              f"  ratio {ours / plain:.2f}")  # fmt: skip
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
