"""Measure how fast articles are fetched from PubMed Central's bucket, and whether the memory that takes stays the same.

    python benchmarks/pmc_throughput.py [--parts fetch memory find] [--servers moto nginx line] [--runs 5]

* fetch: the step that makes `article_packages`, with `PmcCloud` and an object store, against a bare boto3 loop with the
  same concurrency that gets the same files and writes them, and against one that also does what a store by content
  must: verify the MD5 and name the file by its SHA-256. By turns, with an empty folder each; printed are medians of
  the ratios loop / step: 1 is as fast as the loop.
* memory: 5,000 small articles in batches of 200 through the same step in one process: resident memory after each batch.
* find: what a refresh does with 5,000 articles of which nothing is known, and then with nothing new.

Servers are processes of their own on loopback. `moto` is the S3 server of the tests; `nginx` (Debian's `nginx-light`)
sends files as fast as they are read, so that what the client does shows; `line` is nginx with 2 MB a second for each
connection, 130 Mbit/s in all, as a network has it. Files have the sizes of real articles: PDF 1 to 5 MB, XML 100 kB, 8
JPEGs of 50 to 200 kB, random bytes. TMPDIR names the disk.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import functools
import gc
import hashlib
import multiprocessing
import os
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import boto3
import numpy as np
import psutil
from botocore import UNSIGNED
from botocore.config import Config

from pmo_assets.defs.stage_table import THREADS_PER_REQUEST
from pmo_assets.pipeline.articles.fetching import FetchLimits
from pmo_assets.pipeline.articles.steps import fetch_article
from pmo_assets.refresh.finding import Inventoried, find
from pmo_assets.sources.opening import SourceOpener
from pmo_assets.sources.pmc_bucket import PmcBucket, PmcOptions, md5_of
from pmo_assets.sources.pmc_cloud import ArticleVersion, PmcCloud, listing_from_metadata
from pmo_assets.sources.pmc_inventory import write_inventory
from pmo_assets.storage.batches import manifest_rows
from pmo_assets.storage.candidates import Candidates
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.objects import ContentStore
from pmo_assets.workers.threads import map_in_threads
from pmo_assets_tests.loopback import CloudArticle, LoopbackPmc
from pmo_assets_tests.loopback.layout import BUCKET, objects_of

BATCH = 200
"""Articles of a batch, as `PMO_BATCH_SIZE` has it by default."""

FLAT_MB = 0.5
"""Memory counts as flat if it grows by less than this per 1,000 articles after the first fifth of the batches."""

Row = dict[str, Any]


# what is served


def article(number: int, small: bool) -> CloudArticle:
    """Return an article of random bytes, the same for the same number."""
    random = np.random.default_rng(number)
    size = (lambda low, high: int(random.integers(low, high) // 100)) if small else random.integers
    return CloudArticle(
        number,
        xml=random.bytes(int(size(80_000, 120_000))),
        pdf=random.bytes(int(size(1_000_000, 5_000_000))),
        media={f"f{n}.jpg": random.bytes(int(size(50_000, 200_000))) for n in range(2 if small else 8)},
        facts={"title": f"Article {number}", "doi": f"10.1000/{number}"},
    )


def rows_of(numbers: Sequence[int], small: bool) -> list[Row]:
    """Return the manifest of articles, from their metadata."""
    listings = []
    for number in numbers:
        item = article(number, small)
        content = objects_of(item)[item.metadata_key]
        version = ArticleVersion(number, 1, md5_of(content), datetime.datetime.now(datetime.UTC))
        listings.append(listing_from_metadata(content, version, BUCKET))
    return manifest_rows(listings, PmcCloud.uri_of(BUCKET))


def serve_moto(numbers: Sequence[int], small: bool, only_metadata: bool, pipe: Any) -> None:
    """Serve articles by moto; answers any message with (requests since the last one), the first with the endpoint."""
    articles = (article(number, small) for number in numbers)
    with LoopbackPmc(() if only_metadata else articles) as pmc:
        if only_metadata:
            for item in articles:
                pmc.put_object(item.metadata_key, objects_of(item)[item.metadata_key])
            pmc.write_inventory(datetime.datetime.now(datetime.UTC))
        pipe.send(pmc.endpoint)
        while pipe.recv():
            asked = [request.method + (" list" if request.query else " object") for request in pmc.requests]
            pipe.send({kind: asked.count(kind) for kind in sorted(set(asked))})
            pmc.forget_requests()


class Served:
    """An endpoint; `asked` returns how many requests came since the last time, for moto only."""

    def __init__(self, endpoint: str, pipe: Any = None) -> None:
        self.endpoint = endpoint
        self._pipe = pipe

    def asked(self) -> dict[str, int]:
        """Return the number of requests by kind since this was last called."""
        self._pipe.send(True)
        return dict(self._pipe.recv())


@contextlib.contextmanager
def moto(numbers: Sequence[int], small: bool, only_metadata: bool = False) -> Iterator[Served]:
    """Serve articles by moto in another process."""
    processes = multiprocessing.get_context("spawn")
    pipe, other = processes.Pipe()
    process = processes.Process(target=serve_moto, args=(numbers, small, only_metadata, other), daemon=True)
    process.start()
    try:
        yield Served(pipe.recv(), pipe)
    finally:
        pipe.send(False)
        process.join()


NGINX = """
daemon off; pid {folder}/pid; error_log {folder}/errors; worker_processes 1; {user}
events {{ worker_connections 256; }}
http {{
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000;
  {temporary}
  server {{ listen 127.0.0.1:{port}; root {folder}/bucket; limit_rate {rate}; }}
}}
"""


@contextlib.contextmanager
def nginx(numbers: Sequence[int], small: bool, rate: str = "0") -> Iterator[Served]:
    """Serve articles by nginx, each connection at `rate`: a bucket whose objects are got by path is a folder."""
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    with tempfile.TemporaryDirectory() as name, socket.socket() as free:
        folder = Path(name)
        for number in numbers:
            for key, content in objects_of(article(number, small)).items():
                place = folder / "bucket" / BUCKET / key
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        temporary = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
        user = "user root;" if os.geteuid() == 0 else ""
        configuration = folder / "nginx.conf"
        values = {"folder": folder, "port": port, "temporary": temporary, "user": user, "rate": rate}
        configuration.write_text(NGINX.format(**values))
        process = subprocess.Popen([program, "-e", f"{folder}/errors", "-p", name, "-c", str(configuration)])
        try:
            for _ in range(100):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield Served(f"http://127.0.0.1:{port}")
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


SERVERS: dict[str, Callable[[Sequence[int], bool], Any]] = {
    "moto": moto,
    "nginx": nginx,
    "line": functools.partial(nginx, rate="2m"),
}


# what is measured


def _silent(stage: str, done: int, total: int) -> None:
    """Ignore progress."""


def fetched(rows: Sequence[Row], endpoint: str, concurrency: int, folder: Path) -> None:
    """Fetch articles as the asset `article_packages` does."""
    source = SourceOpener(PmcOptions(endpoint=endpoint, concurrency=concurrency))
    objects, limits = ContentStore(DataRoot(str(folder))), FetchLimits()
    tasks = [(row["article_id"], (row, source, objects, limits)) for row in rows]
    outputs = map_in_threads("article_packages", fetch_article, tasks, THREADS_PER_REQUEST * concurrency, _silent)
    assert not any(output.rejections for output in outputs)
    assert sum(len(output.rows) for output in outputs) == len(rows)


def bare(rows: Sequence[Row], endpoint: str, concurrency: int, folder: Path, verified: bool = False) -> None:
    """Get the same files with nothing but boto3; `verified` with MD5 and SHA-256, as a store by content needs them."""
    config = Config(signature_version=UNSIGNED, max_pool_connections=concurrency, s3={"addressing_style": "path"})
    client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", config=config)

    def got(file: Row) -> None:
        content = client.get_object(Bucket=BUCKET, Key=file["path"])["Body"].read()
        name = file["path"].replace("/", "_")
        if verified:
            assert md5_of(content) == file["md5"]
            name = hashlib.sha256(content).hexdigest()
        (folder / name).write_bytes(content)

    with ThreadPoolExecutor(concurrency) as pool:
        list(pool.map(got, [file for row in rows for file in row["files"]]))


verifying = functools.partial(bare, verified=True)


def seconds_of(way: Callable[..., None], rows: Sequence[Row], endpoint: str, concurrency: int) -> tuple[float, float]:
    """Return how long a way of fetching takes, into a folder of its own, and how long processors work for it here."""
    with tempfile.TemporaryDirectory() as name:
        for number in range(256):  # a store that is in use has its folders
            (Path(name) / f"data/objects/{number:02x}").mkdir(parents=True)
            (Path(name) / f"data/objects/md5/{number:02x}").mkdir(parents=True)
        os.sync()
        started, processors = time.perf_counter(), time.process_time()
        way(rows, endpoint, concurrency, Path(name) / "data")
        return time.perf_counter() - started, time.process_time() - processors


def compare(server: str, articles: int, concurrency: int, runs: int) -> None:
    """Print how long the step and the bare loop take, and their ratio."""
    numbers = range(1, articles + 1)
    rows = rows_of(numbers, small=False)
    keys = sum(len(row["files"]) for row in rows)
    with SERVERS[server](numbers, False) as served:
        ways = (fetched, bare, verifying)
        times: dict[Callable[..., None], list[tuple[float, float]]] = {way: [] for way in ways}
        for run in range(runs + 1):
            for way in ways if run % 2 else reversed(ways):
                took = seconds_of(way, rows, served.endpoint, concurrency)
                if run:  # the first round warms up
                    times[way].append(took)
    told = [f"fetch, {server:6s} {articles} articles, {keys} files: step {middle(times[fetched], 0):.2f} s"]
    for name, way in (("bare", bare), ("verifying", verifying)):
        ratios = [loop[0] / step[0] for step, loop in zip(times[fetched], times[way], strict=True)]
        spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        told.append(f"{name} {middle(times[way], 0):.2f} s, ratio {spread}")
    cpu = ", ".join(f"{middle(times[way], 1) / keys * 1000:.1f}" for way in ways)
    print("; ".join([*told, f"processor ms a file {cpu}; load {os.getloadavg()[0]:.1f}"]), flush=True)


def middle(times: Sequence[tuple[float, float]], column: int) -> float:
    """Return the median of the seconds (0) or of the processor's seconds (1)."""
    return statistics.median(item[column] for item in times)


def resident_mb() -> float:
    """Return the resident memory of this process, in MB."""
    gc.collect()
    return float(psutil.Process().memory_info().rss) / 1e6


def slope_mb(samples: Sequence[float]) -> float:
    """Return by how much memory grows per 1,000 articles, after the first fifth of the batches."""
    later = samples[len(samples) // 5 :]
    return float(np.polyfit(np.arange(len(later)), later, 1)[0]) * 1000 / BATCH


def memory(server: str, articles: int, concurrency: int) -> None:
    """Print resident memory and seconds over batches of small articles."""
    numbers = range(1, articles + 1)
    with SERVERS[server](numbers, True) as served, tempfile.TemporaryDirectory() as name:
        samples, seconds = [resident_mb()], []
        for start in range(0, articles, BATCH):
            rows = rows_of(numbers[start : start + BATCH], small=True)
            started = time.perf_counter()
            fetched(rows, served.endpoint, concurrency, Path(name))
            seconds.append(time.perf_counter() - started)
            samples.append(resident_mb())
    slope = slope_mb(samples[1:])
    fifth = max(len(seconds) // 5, 1)
    print(
        f"memory, {server} {articles} articles: start {samples[0]:.0f} MB, after one batch {samples[1]:.0f} MB, "
        f"maximum {max(samples):.0f} MB, slope {slope:+.2f} MB per 1,000 articles "
        f"({'flat' if slope < FLAT_MB else 'NOT FLAT'}); a batch: "
        f"{statistics.median(seconds[:fifth]):.1f} s at first, {statistics.median(seconds[-fifth:]):.1f} s at last",
        flush=True,
    )


class AllOf:
    """A search that finds some articles."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = numbers

    def article_numbers(self, *_: object, **__: object) -> list[int]:
        """Return the numbers."""
        return list(self.numbers)


def find_twice(articles: int, concurrency: int) -> None:
    """Print what a first refresh and one with nothing new ask for, and what they take."""
    numbers = range(1, articles + 1)
    with moto(numbers, True, only_metadata=True) as served, tempfile.TemporaryDirectory() as name:
        bucket = PmcBucket(PmcOptions(endpoint=served.endpoint, concurrency=concurrency))
        file = Path(name) / "inventory.parquet"
        assert write_inventory(bucket, file) is not None
        now = datetime.datetime.now(datetime.UTC)
        cloud = PmcCloud(bucket, ContentStore(DataRoot(name)))
        known = Candidates()
        served.asked()
        for what in ("first", "nothing new"):
            started, before = time.perf_counter(), resident_mb()
            found = find(
                known, AllOf(numbers), cloud, query="eye", inventory=Inventoried(file, now), registered={},
                limit=articles, now=now,
            )  # fmt: skip
            seconds = time.perf_counter() - started
            known = found.candidates
            requests = ", ".join(f"{count} {kind}" for kind, count in served.asked().items()) or "none"
            print(
                f"find, {what:11s} {articles} articles: {seconds:.1f} s, requests: {requests}, looked at "
                f"{len(found.looked_at)}, memory {before:.0f} MB before, {resident_mb():.0f} MB after",
                flush=True,
            )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=("fetch", "memory", "find"), default=["fetch", "memory", "find"])
    parser.add_argument("--servers", nargs="+", choices=tuple(SERVERS), default=list(SERVERS))
    parser.add_argument("--articles", type=int, default=40, help="of the part fetch")
    parser.add_argument("--many", type=int, default=5000, help="articles of the parts memory and find")
    parser.add_argument("--concurrency", type=int, default=PmcOptions().concurrency)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    if "fetch" in options.parts:
        for server in options.servers:
            compare(server, options.articles, options.concurrency, options.runs)
    if "memory" in options.parts:
        memory("nginx" if "nginx" in options.servers else options.servers[0], options.many, options.concurrency)
    if "find" in options.parts:
        find_twice(options.many, options.concurrency)


if __name__ == "__main__":
    main()
