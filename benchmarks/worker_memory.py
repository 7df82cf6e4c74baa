"""Measure how much memory articles add to their worker processes, step by step: what PMO_WORKER_MEMORY_MB limits.

    python benchmarks/worker_memory.py [--source ../shared/corpus] [--workers 2]

Takes a folder of article packages through the whole graph, in a temporary data root, and prints for every step the
resident memory of a worker when it is ready, and the median and the largest of what articles added to it, sampled ten
times a second. What a worker does not give back between two articles counts for the second one, too.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import dagster as dg

from pmo_assets.definitions import build_defs
from pmo_assets.defs.graph import batch_graph
from pmo_assets.defs.loading import group_assets
from pmo_assets.defs.partitions import register_partitions
from pmo_assets.defs.runner import run_job
from pmo_assets.settings import Settings
from pmo_assets.sources.local import LocalFolder
from pmo_assets.storage.data_root import DataRoot
from pmo_assets.storage.registry import BatchRegistry
from pmo_assets.workers.pool import WorkerPool, _Job
from pmo_assets.workers.process import Worker

MIB = 2**20


@dataclass
class MeasuringPool(WorkerPool):
    """A pool that notes what its workers hold whenever it looks at their limits."""

    added: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    own: dict[str, int] = field(default_factory=dict)

    def _enforce_limits(self, worker: Worker, job: _Job) -> None:
        if worker.begun and worker.task is not None and worker.own_bytes is not None:
            seen = self.added[job.stage]
            seen[worker.task] = max(worker.added_bytes(), seen.get(worker.task, 0))
            self.own[job.stage] = max(worker.own_bytes, self.own.get(job.stage, 0))
        super()._enforce_limits(worker, job)


def main() -> None:
    """Run the batch and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "corpus")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    pool = MeasuringPool(arguments.workers, timeout=600, memory_mb=0)

    @dg.resource
    def workers() -> Iterator[WorkerPool]:
        yield pool
        pool.close()

    with tempfile.TemporaryDirectory() as folder, dg.DagsterInstance.ephemeral() as instance:
        settings = Settings(data_root=folder, specialty="everything", worker_memory_mb=0)
        registry = BatchRegistry(DataRoot(folder))
        registry.add(LocalFolder(arguments.source), 10_000)
        register_partitions(instance, registry.batches())
        defs = build_defs(settings, resource_overrides={"workers": workers})
        for batch in registry.batches():
            run_job(defs, instance, "process_batch", batch=batch)
    print(f"{'step':20s} {'worker itself':>14s} {'median':>8s} {'largest':>8s}   (MiB)")
    for stage in (name for name in batch_graph(group_assets()).stages if name in pool.added):
        values = [value / MIB for value in pool.added[stage].values()]
        print(f"{stage:20s} {pool.own[stage] / MIB:14.0f} {statistics.median(values):8.0f} {max(values):8.0f}")


if __name__ == "__main__":
    main()
