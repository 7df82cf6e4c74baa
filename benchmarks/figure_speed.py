"""Time and memory of figure extraction, measured against the floor.

    python benchmarks/figure_speed.py [--shared ../shared] [--samples N] [--every K] [--rounds 3]

The floor is one pass of PyMuPDF over the same pages: text without image bytes, image info, drawings. Floor, extraction
without rendering and extraction with rendering take turns article by article in one process, so that whatever else the
machine does hits all three alike; the table gives medians over the rounds. Peak memory is that of a fresh worker
process that extracts and encodes all figures; the speed-up compares one worker with two on the same articles. Without
a corpus, N copies of the sample set are typeset and measured instead.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pymupdf
from numpy.typing import NDArray

from pmo_assets.pictures import png_bytes
from pmo_assets.pipeline.articles.jats import parse_jats
from pmo_assets.pipeline.figures.extraction import FigureOptions, extract_figures
from pmo_assets.pipeline.figures.page import TEXT_FLAGS
from pmo_assets.records.article import PackageFigure
from pmo_assets.records.figure import PdfFigure
from pmo_assets.records.rejections import ArticleError
from pmo_assets.samples import sample_articles

Job = tuple[bytes, tuple[PackageFigure, ...]]


def _known(xml: bytes | None) -> tuple[PackageFigure, ...]:
    try:
        return parse_jats(xml).figures if xml is not None else ()
    except ArticleError:
        return ()


def corpus_jobs(shared: Path) -> list[Job]:
    """Return PDF and `<fig>` entries of each article of the corpus; empty without one."""
    jobs = []
    for path in sorted((shared / "corpus").glob("*/article.pdf")):
        xml = path.with_name("article.xml")
        jobs.append((path.read_bytes(), _known(xml.read_bytes() if xml.exists() else None)))
    return jobs


def sample_jobs(copies: int) -> list[Job]:
    """Return PDF and `<fig>` entries of the readable sample articles."""
    return [
        (article.pdf, _known(article.xml))
        for article in sample_articles(copies=copies)
        if article.pdf is not None and article.expected.pdf_readable
    ]


def read_floor(job: Job) -> int:
    """Read all pages once, as the yardstick says; returns their number."""
    document = pymupdf.open(stream=job[0], filetype="pdf")
    count = int(document.page_count)
    for page in document:
        page.get_text("dict", flags=TEXT_FLAGS)
        page.get_image_info()
        page.get_cdrawings()
    document.close()
    pymupdf.TOOLS.store_shrink(100)
    return count


def locate(job: Job) -> None:
    """Extract without rendering."""
    extract_figures(*job, FigureOptions(render=False))


def render(job: Job) -> None:
    """Extract with rendering; pixels are dropped."""
    extract_figures(*job, FigureOptions(), lambda figure, pixels: None)


def encode(job: Job) -> None:
    """Extract with rendering and encode each figure, as a worker does."""

    def receive(figure: PdfFigure, pixels: NDArray[np.uint8]) -> None:
        png_bytes(pixels)

    extract_figures(*job, FigureOptions(), receive)


def seconds(task: Callable[[Job], object], job: Job) -> float:
    """Return how long a task takes."""
    start = time.perf_counter()
    task(job)
    return time.perf_counter() - start


def _peak_megabytes() -> float:
    """Return the peak resident memory of this process."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would count what the parent process had when it started this one
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1e3
    # Linux counts in kilobytes, macOS in bytes.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def peak_memory(job: Job) -> float:
    """Extract and encode one article; returns the peak resident memory (MB) of this process so far."""
    encode(job)
    return _peak_megabytes()


def pool_seconds(jobs: Sequence[Job], workers: int) -> float:
    """Return how long worker processes take for all articles, without starting them."""
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        list(pool.map(locate, jobs[:workers]))
        start = time.perf_counter()
        list(pool.map(encode, jobs))
        return time.perf_counter() - start


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--samples", type=int, metavar="N", help="N copies of the sample set instead of the corpus")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="take every K-th article")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    jobs = [] if arguments.samples else corpus_jobs(arguments.shared)
    jobs = (jobs or sample_jobs(arguments.samples or 1))[:: arguments.every]
    pages = sum(read_floor(job) for job in jobs)
    tasks: tuple[Callable[[Job], object], ...] = (read_floor, locate, render)
    rounds = []
    for _ in range(arguments.rounds):
        times = [[seconds(task, job) for task in tasks] for job in jobs]
        rounds.append([sum(column) for column in zip(*times, strict=True)])
    floor, located, rendered = (statistics.median(column) for column in zip(*rounds, strict=True))
    ratio = statistics.median(row[1] / row[0] for row in rounds)
    print(f"articles                               {len(jobs)}")
    print(f"pages                                  {pages}")
    print(f"floor, ms a page                       {1000 * floor / pages:.1f}")
    print(f"extraction without rendering           {1000 * located / pages:.1f}")
    print(f"  ... pages a second                   {pages / located:.1f}")
    print(f"  ... times the floor                  {ratio:.2f}")
    print(f"extraction with rendering, ms a page   {1000 * rendered / pages:.1f}")
    print(f"  ... times the floor                  {rendered / floor:.2f}")
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        before = pool.submit(_peak_megabytes).result()
        peak = max(pool.map(peak_memory, jobs))
    print(f"peak memory of a worker, MB            {peak:.0f} ({before:.0f} before the first article)")
    jobs.sort(key=lambda job: -len(job[0]))  # large ones first, so that no worker is left with one at the end
    one, two = pool_seconds(jobs, 1), pool_seconds(jobs, 2)
    print(f"one worker with encoding, s            {one:.1f}")
    print(f"two workers, s                         {two:.1f} ({one / two:.2f} x one)")


if __name__ == "__main__":
    main()
