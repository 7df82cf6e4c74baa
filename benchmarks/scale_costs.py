"""From what one batch cost to hours, storage and money for many articles: the tables of `docs/measurements.md`.

    python benchmarks/run_batch.py                        # gives processor seconds of a batch
    python benchmarks/scale_costs.py DATA --processor-seconds 150 [--articles 25000 --articles 8000000]

DATA is a data root with that batch and its release: its sizes are what an article takes. Hours are processor seconds
divided by the cores of a place, times the share of their time that cores worked in the batch that was measured
(`--busy`); where fetching from PMC, or the release, takes longer, that is the bottleneck and decides. Both are measured
elsewhere (`benchmarks/pmc_throughput.py`, `benchmarks/release_scale.py`) and given here as rates.

Prices are list prices of a large cloud, rounded, as of 2026; give your own. A laptop costs its electricity.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

GB: Final = 1e9


@dataclass(frozen=True, slots=True)
class Place:
    """Where batches are processed.

    Attributes:
        name: as it is called in the table.
        cores: of all machines.
        price: of an hour of all of it, in dollars.
        megabits: of the line to PMC, a second.
    """

    name: str
    cores: int
    price: float
    megabits: float


PLACES: Final = (
    Place("laptop, 8 cores", 8, 0.02, 100),
    Place("GPU node, 32 cores", 32, 4.0, 2_000),
    Place("cluster, 512 cores", 512, 20.0, 20_000),
)


@dataclass(frozen=True, slots=True)
class Batch:
    """What a batch was and took; bytes are those of files as they lie in the data root.

    Attributes:
        articles: how many.
        panels: of these articles, in the dataset.
        fetched: bytes of the articles' files.
        kept: bytes of pictures, tables and all else that processing makes.
        released: bytes of the release, in both forms, with its gallery.
        processor_seconds: of all processes.
    """

    articles: int
    panels: int
    fetched: int
    kept: int
    released: int
    processor_seconds: float


def bytes_below(folder: Path) -> int:
    """Return the bytes of all files below a folder; 0 without it."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measured_batch(data: Path, processor_seconds: float) -> Batch:
    """Return what a data root with one or more batches says about them.

    Raises:
        SystemExit: if nothing was processed or released there.
    """
    articles = sorted(data.glob("tables/articles/*.parquet"))
    panels = data / "release" / "pubmed_ophtha.parquet"
    if not articles or not panels.is_file():
        raise SystemExit(f"{data} holds no processed batch with a release: `pmo run` makes both")
    fetched, released = bytes_below(data / "objects"), bytes_below(data / "release")
    return Batch(
        sum(pl.scan_parquet(path).select(pl.len()).collect().item() for path in articles),
        pl.scan_parquet(panels).select(pl.len()).collect().item(),
        fetched,
        bytes_below(data) - fetched - released,
        released,
        processor_seconds,
    )


def hours_of(articles: int, batch: Batch, place: Place, busy: float, rows_per_second: float) -> dict[str, float]:
    """Return the hours that each part takes by itself; fetching goes on beside processing, the release comes after."""
    share = articles / batch.articles
    return {
        "processing": share * batch.processor_seconds / (place.cores * busy) / 3600,
        "fetching": share * batch.fetched * 8 / (place.megabits * 1e6) / 3600,
        "release": share * batch.panels / rows_per_second / 3600,
    }


def table_rows(
    counts: list[int], batch: Batch, busy: float, rows_per_second: float, storage_price: float
) -> Iterator[tuple[str, ...]]:
    """Yield articles, place, hours of the parts, hours in all, what decides, terabytes, dollars of work and storage."""
    for articles in counts:
        for place in PLACES:
            hours = hours_of(articles, batch, place, busy, rows_per_second)
            whole = max(hours["processing"], hours["fetching"]) + hours["release"]
            stored = articles / batch.articles * (batch.fetched + batch.kept + batch.released)
            yield (
                f"{articles:,}",
                place.name,
                *(f"{hours[part]:,.1f}" for part in ("fetching", "processing", "release")),
                f"{whole:,.1f}",
                max(hours, key=lambda part: hours[part]),
                f"{stored / GB / 1000:,.2f}",
                f"{whole * place.price:,.0f}",
                f"{stored / GB * storage_price:,.0f}",
            )


def main() -> None:
    """Print what an article takes, and the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="data root with a processed batch and its release")
    parser.add_argument("--processor-seconds", type=float, required=True, help="of the batch, all processes together")
    parser.add_argument("--articles", type=int, action="append", help="25,000 and 8,000,000 unless given")
    parser.add_argument("--busy", type=float, default=0.85, help="share of their time that cores work")
    parser.add_argument("--release-rows", type=float, default=1535, help="rows that a release writes a second")
    parser.add_argument("--storage-price", type=float, default=0.023, help="dollars a gigabyte and month")
    given = parser.parse_args()
    batch = measured_batch(given.data, given.processor_seconds)
    each = [batch.fetched, batch.kept, batch.released]
    print(
        f"{batch.articles} articles, {batch.panels} panels; of each article "
        f"{batch.processor_seconds / batch.articles:.2f} s of a processor; MB fetched, kept, released: "
        + ", ".join(f"{value / batch.articles / 1e6:.2f}" for value in each)
    )
    head = (
        "articles",
        "where",
        "fetching, h",
        "processing, h",
        "release, h",
        "in all, h",
        "longest",
        "TB",
        "$",
        "$/month",
    )
    print("| " + " | ".join(head) + " |")
    print("| " + " | ".join(["---"] * len(head)) + " |")
    for row in table_rows(
        given.articles or [25_000, 8_000_000], batch, given.busy, given.release_rows, given.storage_price
    ):
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
