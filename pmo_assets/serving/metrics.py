"""Metrics of a data root for Prometheus, from listings and Parquet footers.

Metrics that only Dagster's instance knows (runs, seconds of the stages) are handed in as a function.

`prometheus_client` has no memory of what a scrape cost; this has one of files, which never change once they are
written. Of 1,000 batches on a local disk the first answer takes 0.45 s of one core and the next ones 0.04 s; from a
bucket the first reads 5,000 footers, some ten milliseconds each.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

import pyarrow.parquet as pq
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from pmo_assets.release.versions import VERSIONS, released_versions
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.removed import removed_batches

Families = Iterable[GaugeMetricFamily]
Value = TypeVar("Value")

COUNTED_TABLES: Final = ("articles", "figures", "panels", "dataset_rows")

FINISHED: Final = "rejections"
"""The table that a batch has when all of its assets are made."""

FRESH_SECONDS: Final = 15.0
"""Seconds for which an answer is reused: Prometheus asks every 15 to 60 seconds, several instances perhaps at once."""

_READERS: Final = 16
"""Files that are read at once; on S3 each takes some ten milliseconds."""


class _Remembered:
    """Values read from files, by file; a file is read again when its size or time of change differ."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, float], object]] = {}

    def read(
        self, root: DataRoot, folder: str, reader: Callable[[DataRoot, str], Value], gone: Collection[str]
    ) -> dict[str, Value]:
        """Return the value that `reader` reads from every Parquet file directly below a folder, by the file's name.

        Files named in `gone` are passed over.
        """
        files = [file for file in root.folder_facts(folder, ".parquet") if file.name not in gone]
        states = {file.name: (file.size, file.changed.timestamp()) for file in files}
        keys = {name: f"{folder}/{name}" for name in states}
        changed = [name for name, state in states.items() if self._known.get(keys[name], (None,))[0] != state]
        if changed:
            with ThreadPoolExecutor(_READERS) as threads:
                values = threads.map(lambda name: reader(root, keys[name]), changed)
                for name, value in zip(changed, values, strict=True):
                    self._known[keys[name]] = (states[name], value)
        return {name: self._known[keys[name]][1] for name in states}  # type: ignore[misc]


def _rows(root: DataRoot, key: str) -> int:
    with root.open_random(key) as stream:
        return int(pq.ParquetFile(stream).metadata.num_rows)


def _stages(root: DataRoot, key: str) -> Counter[str]:
    with root.open_random(key) as stream:
        return Counter(pq.ParquetFile(stream).read(["stage"], use_threads=False).column(0).to_pylist())


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, value=value)


def labelled(name: str, text: str, label: str, values: Iterable[tuple[str, float]]) -> GaugeMetricFamily:
    """Return a gauge with one value per label."""
    family = GaugeMetricFamily(name, text, labels=[label])
    for key, value in values:
        family.add_metric([key], value)
    return family


def data_root_families(root: DataRoot, remembered: _Remembered) -> Iterator[GaugeMetricFamily]:
    """Yield the metrics of a data root: batches, rows, rejections, age and version of the newest release.

    Raises:
        StorageError: if the root cannot be read.
    """
    gone = {f"{batch}.parquet" for batch in removed_batches(root)}
    rejected = remembered.read(root, f"tables/{FINISHED}", _stages, gone)
    registered = set(root.keys("manifests", ".parquet")) - gone
    yield labelled(
        "pmo_batches", "Article batches", "state", [("registered", len(registered)), ("finished", len(rejected))]
    )
    rows = [(table, sum(remembered.read(root, f"tables/{table}", _rows, gone).values())) for table in COUNTED_TABLES]
    yield labelled("pmo_rows", "Rows of the tables over all batches", "table", rows)
    total: Counter[str] = sum(rejected.values(), Counter())
    yield labelled("pmo_rejections", "Rejections of the finished batches", "stage", sorted(total.items()))
    if versions := released_versions(root):
        manifest = root.facts(f"{VERSIONS}/{versions[-1]}/manifest.json")
        if manifest is not None:
            age = time.time() - manifest.changed.timestamp()
            yield _gauge("pmo_release_age_seconds", "Seconds since the newest release was made", max(0.0, age))
        yield labelled("pmo_release_info", "The newest release", "version", [(versions[-1], 1)])


class _Collected(Collector):
    def __init__(self, families: list[GaugeMetricFamily]) -> None:
        self._families = families

    def collect(self) -> Families:
        return self._families


class Metrics:
    """The answer to `/metrics`; one call computes it, those that come meanwhile and shortly after get the same."""

    def __init__(self, root: DataRoot, instance: Callable[[], Families] | None = None) -> None:
        """Keep the data root, and the function that returns the metrics of Dagster's instance."""
        self._root, self._instance = root, instance
        self._remembered = _Remembered()
        self._lock = threading.Lock()
        self._answer: tuple[float, bytes] | None = None

    def __call__(self) -> bytes:
        """Return the numbers in Prometheus' text format.

        Raises:
            StorageError: if the data root cannot be read.
        """
        with self._lock:
            if self._answer is None or time.monotonic() - self._answer[0] > FRESH_SECONDS:
                started = time.perf_counter()
                families = list(data_root_families(self._root, self._remembered))
                families += self._instance() if self._instance else ()
                took = _gauge("pmo_metrics_seconds", "What these numbers took", time.perf_counter() - started)
                self._answer = (time.monotonic(), generate_latest(_Collected([*families, took])))
            return self._answer[1]
