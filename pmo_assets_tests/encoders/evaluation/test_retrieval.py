"""Numbers of retrieval, their intervals, and the papers' averages."""

from __future__ import annotations

import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmo_assets.encoders.evaluation.bootstrap import cluster_weights
from pmo_assets.encoders.evaluation.embeddings import Embeddings, EmbeddingsError
from pmo_assets.encoders.evaluation.evaluate import evaluate_retrieval
from pmo_assets.encoders.evaluation.ranks import RightAnswers
from pmo_assets.encoders.evaluation.retrieval import (
    RECALL_AT,
    _weighted_median,
    average_recall,
    model_reciprocal_ranks,
    retrieval_intervals,
    retrieval_numbers,
)


def _naive(queries, answers, groups):
    """Count one query at a time, cosines by plain Python."""
    unit = [[value / sum(x * x for x in row) ** 0.5 for value in row] for row in queries.tolist()]
    others = [[value / sum(x * x for x in row) ** 0.5 for value in row] for row in answers.tolist()]
    ranks = []
    for row, group in zip(unit, groups, strict=True):
        cosines = [sum(a * b for a, b in zip(row, other, strict=True)) for other in others]
        best = max(c for c, g in zip(cosines, groups, strict=True) if g == group)
        ranks.append(1 + sum(c >= best for c, g in zip(cosines, groups, strict=True) if g != group))
    found = {f"recall@{k}": sum(rank <= k for rank in ranks) / len(ranks) for k in RECALL_AT}
    mrr = sum(1 / rank for rank in ranks) / len(ranks)
    return {**found, "mrr": mrr, "median_rank": statistics.median(ranks)}


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 40), st.sampled_from([np.float32, np.float64]))
def test_numbers_are_those_of_a_naive_count(seed, rows, groups, kind) -> None:
    random = np.random.default_rng(seed)
    images, texts = random.standard_normal((2, rows, 16)).astype(kind)
    copies = random.integers(0, rows, rows)
    images[: rows // 3], texts[: rows // 2] = images[copies[: rows // 3]], texts[copies[: rows // 2]]
    ids = random.integers(0, groups, rows)
    one, other = evaluate_retrieval(Embeddings(images), Embeddings(texts), RightAnswers.of_groups(ids))
    assert one.numbers() == pytest.approx(_naive(images, texts, ids), abs=1e-9)
    assert other.numbers() == pytest.approx(_naive(texts, images, ids), abs=1e-9)


def test_numbers_of_ranks() -> None:
    numbers = retrieval_numbers(np.array([1, 2, 6, 300]))
    expected = {"recall@1": 0.25, "recall@5": 0.5, "recall@10": 0.75, "recall@50": 0.75, "recall@200": 0.75}
    assert numbers == {**expected, "mrr": pytest.approx((1 + 1 / 2 + 1 / 6 + 1 / 300) / 4), "median_rank": 4.0}


def test_with_fewer_candidates_than_k_every_answer_is_found() -> None:
    texts = Embeddings(np.eye(3)[[1, 2, 0]])
    one, _ = evaluate_retrieval(Embeddings(np.eye(3)), texts)
    assert (one.recall_at_1, one.recall_at_5, one.recall_at_200, one.candidates) == (0, 1, 1, 3)


def test_queries_without_a_right_answer_are_counted_apart() -> None:
    right = RightAnswers(np.array([0, 1, 2]), np.array([0, 0]))
    one, other = evaluate_retrieval(Embeddings(np.eye(3)), Embeddings(np.eye(3)[:2]), right)
    assert (one.queries, one.unanswerable, one.recall_at_1) == (1, 2, 1.0)
    assert (other.queries, other.unanswerable, other.candidates) == (2, 0, 3)
    with pytest.raises(EmbeddingsError, match="nothing to find"):
        evaluate_retrieval(Embeddings(np.eye(2)), Embeddings(np.eye(2)), RightAnswers(np.arange(2), np.arange(2, 4)))


def test_rows_must_correspond() -> None:
    with pytest.raises(EmbeddingsError, match="3 rows, texts 2"):
        evaluate_retrieval(Embeddings(np.eye(3)), Embeddings(np.eye(3)[:2], "texts"))


def test_clusters_are_drawn_whole() -> None:
    clusters = np.array([4, 4, 9, 9, 9, 1])
    for weights in cluster_weights(clusters, 50, seed=3):
        assert weights[0] == weights[1]
        assert weights[2] == weights[3] == weights[4]
        assert weights[0] + weights[2] + weights[5] == 3


def test_intervals_widen_when_answers_of_an_article_go_together() -> None:
    random = np.random.default_rng(0)
    ranks = np.where(random.random(40) < 0.5, 1, 100).repeat(10)
    alone = retrieval_intervals(ranks, np.arange(400), replicates=300, seed=1)["recall@1"]
    together = retrieval_intervals(ranks, np.arange(40).repeat(10), replicates=300, seed=1)["recall@1"]
    assert together[1] - together[0] > 2 * (alone[1] - alone[0])
    assert alone[0] < retrieval_numbers(ranks)["recall@1"] < alone[1]


def test_intervals_follow_the_seed_and_not_the_order_of_rows() -> None:
    ranks, clusters = np.arange(1, 31), np.arange(30) // 3
    one = retrieval_intervals(ranks, clusters, replicates=50, seed=1)
    assert one == retrieval_intervals(ranks[::-1], clusters[::-1], replicates=50, seed=1)
    assert one != retrieval_intervals(ranks, clusters, replicates=50, seed=2)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 3)), min_size=1, max_size=8))
def test_a_drawn_median_is_that_of_the_repeated_ranks(rows) -> None:
    rows = sorted(rows)
    repeated = [rank for rank, times in rows for _ in range(times)]
    if repeated:
        ranks, weights = (np.array(column) for column in zip(*rows, strict=True))
        assert _weighted_median(ranks, weights.astype(float)) == statistics.median(repeated)


PAPER = {
    "ROCO": (0.080, 0.024, 0.079, 0.084, 0.023, 0.108),
    "PMC-OA": (0.139, 0.142, 0.152, 0.152, 0.149, 0.157),
    "PMC-15M": (0.162, 0.186, 0.147, 0.185, 0.166, 0.162),
    "BIOMEDICA": (0.094, 0.195, 0.145, 0.076, 0.169, 0.155),
    "OPEN-PMC": (0.170, 0.166, 0.183, 0.189, 0.162, 0.147),
}
"""Recall@200 of OPEN-PMC's table 2."""


def test_averages_over_tasks_are_those_of_open_pmc() -> None:
    averages = [average_recall(recalls) for recalls in PAPER.values()]
    assert averages == pytest.approx([0.066, 0.149, 0.168, 0.139, 0.170], abs=0.0006)
    printed = {"ROCO": 0.208, "PMC-OA": 0.361, "PMC-15M": 0.556, "BIOMEDICA": 0.506, "OPEN-PMC": 0.653}
    assert model_reciprocal_ranks(PAPER) == pytest.approx(printed, abs=0.0006)


def test_models_that_are_equally_good_share_the_better_place() -> None:
    assert model_reciprocal_ranks({"a": [0.5], "b": [0.5], "c": [0.1]}) == {"a": 1, "b": 1, "c": pytest.approx(1 / 3)}
