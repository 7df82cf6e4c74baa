"""What evaluating embeddings costs: retrieval in both directions, and MMD with its permutation test.

    python benchmarks/encoder_evaluation.py [--rows N …] [--dimensions D] [--sample M] [--permutations P]

Pictures are random float32 rows, texts the same with noise. Seconds are processor time of all threads, over both
directions; memory is the process's highest, the arrays included. MMD is between M pictures and M texts.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from pmo_assets.encoders.evaluation.distances import PERMUTATIONS, discrepancy
from pmo_assets.encoders.evaluation.embeddings import Embeddings
from pmo_assets.encoders.evaluation.evaluate import evaluate_retrieval

NOISE = 4.0
"""Noise of texts by pictures: of 100,000 about nine in ten find each other."""


def pairs(rows: int, dimensions: int) -> tuple[Embeddings, Embeddings]:
    """Return pictures and texts: (rows, dimensions) float32 each."""
    random = np.random.default_rng(0)
    images = random.standard_normal((rows, dimensions), dtype=np.float32)
    return Embeddings(images), Embeddings(images + np.float32(NOISE) * random.standard_normal(images.shape, np.float32))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--dimensions", type=int, default=512)
    parser.add_argument("--sample", type=int, default=1_000)
    parser.add_argument("--permutations", type=int, default=PERMUTATIONS)
    arguments = parser.parse_args()
    for rows in arguments.rows:
        images, texts = pairs(rows, arguments.dimensions)
        start = time.process_time()
        found, _ = evaluate_retrieval(images, texts)
        seconds = time.process_time() - start
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        size = f"{rows:,} x {arguments.dimensions}"
        print(f"retrieval {size}: {seconds:.1f} s, {memory:,.0f} MB, recall@1 {found.recall_at_1:.3f}")
    images, texts = pairs(arguments.sample, arguments.dimensions)
    start = time.process_time()
    distance = discrepancy(images, texts, permutations=arguments.permutations)
    seconds = time.process_time() - start
    sizes = f"2 x {arguments.sample:,} x {arguments.dimensions}, {distance.permutations:,} permutations"
    print(f"MMD {sizes}: {seconds:.1f} s, p = {distance.p_value:.2g}")


if __name__ == "__main__":
    main()
