"""Retrieval: recall at k, reciprocal ranks, median rank; averages over tasks as the papers take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.encoders.evaluation.bootstrap import Interval, cluster_weights, percentile_interval

RECALL_AT: Final = (1, 5, 10, 50, 200)
"""k of recall@k: 1, 5, 10 as Panel2Patch, 10, 50, 200 as OPEN-PMC and OPEN-PMC-18M."""

Numbers = dict[str, float]


def retrieval_numbers(ranks: NDArray[np.intp]) -> Numbers:
    """Return `recall@k` for each k, `mrr` and `median_rank`.

    Args:
        ranks: (n,), n at least 1, of the best right answer of each query, from 1. Where there are fewer candidates than
            k, every rank is within k.
    """
    recalls = {f"recall@{k}": float(np.mean(ranks <= k)) for k in RECALL_AT}
    return {**recalls, "mrr": float(np.mean(1 / ranks)), "median_rank": float(np.median(ranks))}


def retrieval_intervals(
    ranks: NDArray[np.intp], clusters: NDArray[np.intp], *, replicates: int, seed: int
) -> dict[str, Interval]:
    """Return the 95 % interval of each number, by drawing queries in clusters (articles) again.

    The candidates stay all: the interval is that of another sample of queries, not of another size of the task.
    """
    order = np.argsort(ranks, kind="stable")
    ranks, clusters = ranks[order], clusters[order]
    columns = np.stack([*(ranks <= k for k in RECALL_AT), 1 / ranks], axis=1).astype(np.float64)
    means, medians = [], []
    for weights in cluster_weights(clusters, replicates, seed):
        means.append(weights @ columns / weights.sum())
        medians.append(_weighted_median(ranks, weights))
    drawn = np.column_stack([np.array(means), np.array(medians)])
    names = [*(f"recall@{k}" for k in RECALL_AT), "mrr", "median_rank"]
    return {name: percentile_interval(drawn[:, number]) for number, name in enumerate(names)}


def _weighted_median(ascending: NDArray[np.intp], weights: NDArray[np.float64]) -> float:
    """Return the median of values that are each repeated `weights` times."""
    until = np.cumsum(weights)
    middle = until[-1] / 2
    low = ascending[np.searchsorted(until, middle, side="left")]
    high = ascending[np.searchsorted(until, middle, side="right")]
    return float(low + high) / 2


def average_recall(recalls: Sequence[float]) -> float:
    """Return AR: the mean of a model's recalls over tasks, each a data set in a direction (OPEN-PMC, table 2)."""
    return float(np.mean(recalls))


def model_reciprocal_ranks(recalls: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return what OPEN-PMC calls the MRR of a model: the mean over tasks of 1 / the model's place among the models.

    It says nothing of ranks of answers. Models that are equally good share the better place.

    Args:
        recalls: per model its recall in each task, the tasks in one order.

    Raises:
        ValueError: if models have different numbers of tasks.
    """
    table = np.array([list(values) for values in recalls.values()], dtype=np.float64)  # (models, tasks)
    places = 1 + (table[None, :, :] > table[:, None, :]).sum(axis=1)
    return dict(zip(recalls, (1 / places).mean(axis=1).tolist(), strict=True))
