"""Measure what one batch leaves in the Dagster home: events by kind, databases, what steps printed.

    python benchmarks/event_log_size.py [--home demo/dagster] [--articles-per-batch 8]

Takes the sample articles through the graph in a temporary folder, unless a home is given, and divides what lies in its
SQLite files and compute logs by the batches that were processed. An event of the run's own log stands in the run's
database; materialisations, checks and plans stand in the index, too. With PostgreSQL each stands once.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from pmo_assets.definitions import build_defs
from pmo_assets.defs.instance import open_instance
from pmo_assets.defs.partitions import register_partitions
from pmo_assets.defs.runner import run_job
from pmo_assets.logs import set_level
from pmo_assets.samples import write_sample_articles
from pmo_assets.settings import Settings
from pmo_assets.sources.local import LocalFolder
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.registry import BatchRegistry

MANY = 10_000


@contextmanager
def processed_samples(per_batch: int) -> Iterator[Path]:
    """Give the home of an instance that processed the sample articles in batches."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        settings = Settings(data_root=str(folder / "data"), dagster_home=folder / "home")
        set_level(settings.log_level)
        write_sample_articles(folder)
        registry = BatchRegistry(DataRoot(settings.data_root))
        registry.add(LocalFolder(folder / "articles"), per_batch)
        with open_instance(settings) as instance:
            register_partitions(instance, registry.batches())
            for batch in registry.batches():
                run_job(build_defs(settings), instance, "process_batch", batch=batch)
        yield folder / "home"


def events(database: Path, runs: set[str]) -> tuple[Counter[str], Counter[str]]:
    """Return how many events of these runs of each kind there are, and their bytes."""
    counts, sizes = Counter[str](), Counter[str]()
    with closing(sqlite3.connect(database)) as connection:
        for run, kind, size in connection.execute("SELECT run_id, dagster_event_type, length(event) FROM event_logs"):
            if run in runs:
                counts[kind or "lines of the log"] += 1
                sizes[kind or "lines of the log"] += size
    return counts, sizes


def batch_runs(home: Path) -> set[str]:
    """Return the runs that took a batch through the graph."""
    with closing(sqlite3.connect(home / "history" / "runs.db")) as connection:
        rows = connection.execute(
            "SELECT run_id FROM runs WHERE pipeline_name = 'process_batch' AND status = 'SUCCESS'"
        )
        return {row[0] for row in rows}


def report(home: Path) -> None:
    """Print the table."""
    runs = batch_runs(home)
    _, index_sizes = events(home / "history" / "runs" / "index.db", runs)
    counts, sizes = Counter[str](), Counter[str]()
    for run in runs:
        more, larger = events(home / "history" / "runs" / f"{run}.db", {run})
        counts, sizes = counts + more, sizes + larger
    number = len(runs)
    print(f"per batch, mean of {number}:")
    print(f"{'event':34s}{'rows':>8s}{'bytes':>10s}{'in the index':>14s}")
    for kind, size in sizes.most_common():
        print(f"{kind:34s}{counts[kind] / number:8.1f}{size / number:10,.0f}{index_sizes[kind] / number:14,.0f}")
    own = sum((home / "history" / "runs" / f"{run}.db").stat().st_size for run in runs) / number
    printed = sum(file.stat().st_size for run in runs for file in (home / "storage" / run).rglob("*") if file.is_file())
    index = sum(index_sizes.values()) / number
    print(f"run's database {own:,.0f} bytes, index {index:,.0f}, compute logs {printed / number:,.0f}")
    whole = own + index + printed / number
    print(
        f"{MANY:,} batches, SQLite: {whole * MANY / 1e9:.1f} GB, without the runs' own logs {index * MANY / 1e9:.1f} GB"
    )
    once = sum(sizes.values()) / number
    print(f"{MANY:,} batches, events once (PostgreSQL): {once * MANY / 1e9:.1f} GB before its own compression")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--articles-per-batch", type=int, default=8)
    arguments = parser.parse_args()
    if arguments.home is not None:
        report(arguments.home)
        return
    with processed_samples(arguments.articles_per_batch) as home:
        report(home)


if __name__ == "__main__":
    main()
