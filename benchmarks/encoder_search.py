"""What a search among panels costs, and how many of the exact answers the approximate one gives.

    OMP_NUM_THREADS=1 python benchmarks/encoder_search.py [--rows N] [--dimensions D] [--queries Q] [--expansion E …]

Panels are generated: float32 rows around cluster centres, whose sizes fall as 1 / rank^0.7, noise 0.7 of the centres'
spread. Queries like panels are of the same clusters with the same noise, queries like texts with noise 1.5; none is in
the index. Milliseconds are processor time of one thread for one answer of ten; recall@10 is the share of the exact ten.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pmo_assets.encoders.evaluation.embedding_files import EmbeddingTable
from pmo_assets.encoders.evaluation.embeddings import Embeddings
from pmo_assets.encoders.search.index import EXPANSION_SEARCH, Nearest, open_index, write_index

PANEL_NOISE, TEXT_NOISE = 0.7, 1.5
CLUSTER_ROWS = 50
"""Panels a cluster, on average."""

_K = 10
_BLOCK = 8192


class Mixture:
    """Clusters, from which rows are drawn."""

    def __init__(self, clusters: int, dimensions: int) -> None:
        """Draw the centres."""
        self.random = np.random.default_rng(0)
        self.centres = self.random.standard_normal((clusters, dimensions), dtype=np.float32)
        sizes = np.arange(1, clusters + 1) ** -0.7
        self.shares = sizes / sizes.sum()

    def rows(self, count: int, noise: float) -> NDArray[np.float32]:
        """Return (count, dimensions) rows."""
        found = np.empty((count, self.centres.shape[1]), dtype=np.float32)
        owners = self.random.choice(len(self.centres), count, p=self.shares)
        for start in range(0, count, _BLOCK):
            part = found[start : start + _BLOCK]
            self.random.standard_normal(out=part, dtype=np.float32)
            part *= np.float32(noise)
            part += self.centres[owners[start : start + _BLOCK]]
        return found


def answered(
    ask: Callable[[NDArray[np.float32]], Nearest], queries: NDArray[np.float32]
) -> tuple[list[set[int]], float, float]:
    """Return the answers, and mean and highest milliseconds of one, after one that does not count."""
    ask(queries[0])
    answers, costs = [], []
    for query in queries:
        start = time.process_time()
        found = ask(query)
        costs.append(1000 * (time.process_time() - start))
        answers.append(set(found.rows.tolist()))
    return answers, float(np.mean(costs)), max(costs)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--dimensions", type=int, default=512)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--expansion", type=int, nargs="+", default=[EXPANSION_SEARCH])
    arguments = parser.parse_args()
    mixture = Mixture(max(1, arguments.rows // CLUSTER_ROWS), arguments.dimensions)
    table = EmbeddingTable(
        tuple(f"p{row}" for row in range(arguments.rows)),
        Embeddings(mixture.rows(arguments.rows, PANEL_NOISE), "generated"),
    )
    queries = {
        "like panels": mixture.rows(arguments.queries, PANEL_NOISE),
        "like texts": mixture.rows(arguments.queries, TEXT_NOISE),
    }
    with tempfile.TemporaryDirectory() as place:
        folder, start = Path(place) / "index", time.process_time()
        write_index(folder, table, encoder="", encoder_name="generated", release="", version="generated")
        size = sum(file.stat().st_size for file in folder.iterdir()) / 2**20
        took = time.process_time() - start
        print(f"index of {arguments.rows:,} x {arguments.dimensions}: {took:.0f} s, {size:,.0f} MB", flush=True)
        start = time.process_time()
        index = open_index(folder)
        print(f"opening: {1000 * (time.process_time() - start):.0f} ms", flush=True)
        tenth = np.sort(mixture.random.choice(arguments.rows, arguments.rows // 10, replace=False))
        for name, rows in queries.items():
            exact, mean, most = answered(lambda query: index.nearest(query, _K, exact=True), rows)
            print(f"{name}: exact {mean:.1f} ms (at most {most:.1f})", flush=True)
            _, mean, most = answered(lambda query: index.nearest(query, _K, among=tenth), rows)
            print(f"{name}: exact over a filtered tenth {mean:.1f} ms (at most {most:.1f})", flush=True)
            for expansion in arguments.expansion:
                index.graph.expansion_search = expansion
                found, mean, most = answered(lambda query: index.nearest(query, _K), rows)
                recall = np.mean([len(one & other) / _K for one, other in zip(exact, found, strict=True)])
                print(
                    f"{name}: approximate, expansion {expansion}: {mean:.1f} ms (at most {most:.1f}), "
                    f"recall@{_K} {recall:.4f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
