"""What is kept under perturbation, and whether the difference is one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pmo_assets.encoders.evaluation.robustness import kept, paired_p_value


def test_ratios_are_perturbed_by_clean() -> None:
    found = kept(np.array([1, 1, 2, 7]), np.array([1, 2, 2, 300]))
    assert found.ratios["recall@1"] == 0.5
    assert found.ratios["recall@10"] == 0.75
    assert found.ratios["mrr"] == pytest.approx((1 + 1 / 2 + 1 / 2 + 1 / 300) / (1 + 1 + 1 / 2 + 1 / 7))
    assert kept(np.array([2]), np.array([1])).ratios["recall@1"] is None


def test_nothing_changed_is_no_difference() -> None:
    assert kept(np.array([1, 5]), np.array([1, 5])).p_value == 1


def test_a_loss_everywhere_is_significant_and_one_by_chance_is_not() -> None:
    random = np.random.default_rng(0)
    clean = random.integers(1, 10, 100)
    assert kept(clean, clean + 5).p_value < 0.001
    assert kept(clean, random.permutation(clean)).p_value > 0.05


def test_queries_of_one_article_count_as_one_observation() -> None:
    clean, worse = np.ones(100, int), np.arange(100) % 7 + 2
    assert kept(clean, worse).p_value < 1e-10
    assert kept(clean, worse, np.arange(100) // 25).p_value == pytest.approx(0.125)  # 2 / 2**4


def test_the_test_is_scipys() -> None:
    differences = np.random.default_rng(3).standard_normal(30)
    assert paired_p_value(differences) == pytest.approx(stats.wilcoxon(differences).pvalue)
    assert paired_p_value([*differences, 0.0, 0.0]) == paired_p_value(differences)
