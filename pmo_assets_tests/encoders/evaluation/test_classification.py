"""Classification: held against scikit-learn's own numbers, and against what must come out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from pmo_assets.encoders.evaluation.classification import (
    Predicted,
    _weakest_as_good,
    article_folds,
    balanced_weights,
    class_embeddings,
    classification_intervals,
    classification_numbers,
    linear_probe,
    nearest_neighbours,
    zero_shot,
    zero_shot_by_prompts,
)
from pmo_assets.encoders.evaluation.embeddings import Embeddings, EmbeddingsError
from pmo_assets.encoders.evaluation.labels import LabelClass, LabelSet


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(2, 60), st.integers(2, 5))
def test_numbers_are_scikit_learns(seed, rows, classes) -> None:
    random = np.random.default_rng(seed)
    truth, scores = random.integers(0, classes, rows), random.dirichlet(np.ones(classes), rows)
    predicted = Predicted(scores.argmax(axis=1), scores)
    found = classification_numbers(truth, predicted)
    assert found["macro_f1"] == pytest.approx(metrics.f1_score(truth, predicted.labels, average="macro"))
    recall = metrics.recall_score(truth, predicted.labels, labels=np.unique(truth), average="macro", zero_division=0)
    assert found["balanced_accuracy"] == pytest.approx(recall)
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(truth, predicted.labels))
    if len(np.unique(truth)) == classes > 2:
        assert found["auroc"] == pytest.approx(metrics.roc_auc_score(truth, scores, multi_class="ovr"))


def test_without_two_classes_there_is_no_auroc() -> None:
    assert classification_numbers(np.zeros(3, int), Predicted(np.zeros(3, int), np.eye(2)[[0, 0, 1]]))["auroc"] is None


def test_prompts_of_a_class_are_averaged_as_directions() -> None:
    prompts = Embeddings(np.array([[100.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]))
    found = class_embeddings(prompts, ["a", "a", "b"], ["b", "a"])
    np.testing.assert_allclose(found, [[-1, 0], [np.sqrt(0.5), np.sqrt(0.5)]])
    with pytest.raises(EmbeddingsError, match="class 'c' has no prompt"):
        class_embeddings(prompts, ["a", "a", "b"], ["a", "c"])
    with pytest.raises(EmbeddingsError, match="cancel each other"):
        class_embeddings(prompts, ["a", "b", "a"], ["a", "b"])
    with pytest.raises(EmbeddingsError, match="3 rows, but there are 2 prompts"):
        class_embeddings(prompts, ["a", "b"], ["a", "b"])


def test_zero_shot_takes_the_most_similar_class() -> None:
    found = zero_shot(Embeddings(np.array([[3.0, 1.0], [-1.0, 2.0]])), np.eye(2))
    assert found.labels.tolist() == [0, 1]
    np.testing.assert_allclose(found.scores.sum(axis=1), 1)
    with pytest.raises(EmbeddingsError, match="2 dimensions, the prompts 3"):
        zero_shot(Embeddings(np.ones((1, 2))), np.eye(3))


def test_the_nearest_kind_decides_where_a_class_has_several() -> None:
    """The mean of two kinds that are opposites says nothing; each of them does."""
    classes = {"bright": LabelClass(prompts=("white", "yellow")), "dark": LabelClass(prompts=("black",))}
    prompts = Embeddings(np.array([[1.0, 0.0], [-0.9, 0.1], [0.2, 1.0]]))
    images = Embeddings(np.array([[-1.0, 0.0], [1.0, 0.2], [0.1, 1.0]]))

    def told(kinds: bool) -> list[int]:
        labels = LabelSet(title="t", source="s", templates=("{}",), kinds=kinds, classes=classes)
        return [int(number) for number in zero_shot_by_prompts(images, prompts, labels).labels]

    assert told(kinds=True) == [0, 0, 1]
    averaged = told(kinds=False)
    assert averaged == zero_shot(images, class_embeddings(prompts, ["b", "b", "d"], ["b", "d"])).labels.tolist()
    assert averaged != [0, 0, 1]


def _blobs(rows: int, seed: int):
    """Three directions in 16 dimensions; the articles of a class share a direction of their own."""
    random = np.random.default_rng(seed)
    labels = np.arange(rows) % 3
    return Embeddings(4 * np.eye(16)[labels] + random.standard_normal((rows, 16))), labels


def test_probe_and_neighbours_find_classes_that_lie_apart() -> None:
    train, labels = _blobs(150, 0)
    test, truth = _blobs(60, 1)
    probe = linear_probe(train, labels, np.arange(150) // 2, test, classes=4)
    assert (probe.labels == truth).mean() > 0.9
    assert probe.scores.shape == (60, 4)
    assert (probe.scores[:, 3] == 0).all()
    near = nearest_neighbours(train, labels, test, classes=4)
    assert (near.labels == truth).mean() > 0.9
    assert near.chosen == "k = 20"
    assert (
        nearest_neighbours(train, labels, Embeddings(train.values[:5]), 4, k=1).labels.tolist() == labels[:5].tolist()
    )


@given(st.integers(0, 2**32 - 1), st.integers(2, 30))
def test_no_article_is_fitted_and_validated_by(seed, articles) -> None:
    random = np.random.default_rng(seed)
    ids, labels = random.integers(0, articles, 60), random.integers(0, 2, 60)
    ids[:2] = 0, 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with fewer articles than folds
        for fitted, held_out in article_folds(labels, ids, seed):
            assert not set(ids[fitted]) & set(ids[held_out])
            assert len(fitted) + len(held_out) == 60


@pytest.mark.slow
def test_the_strength_is_the_smallest_that_validates_as_well_as_the_best() -> None:
    train, labels = _blobs(90, 0)
    assert linear_probe(train, labels, np.arange(90), train, 3).chosen == "C = 0.001"  # the classes' means tell them
    along, side = np.random.default_rng(0).uniform(-1, 1, 90), np.arange(90) % 2
    rows = np.stack([along, along + 0.2 * side - 0.1, np.ones(90)], axis=1)  # the means hardly differ, a line divides
    probe = linear_probe(Embeddings(rows), side, np.arange(90), Embeddings(rows), 2)
    assert probe.chosen in ("C = 10", "C = 100", "C = 1000")
    assert (probe.labels == side).mean() > 0.95


def test_a_probe_does_not_let_the_largest_article_decide() -> None:
    """One article shows class 1 in sixty copies that lie beside class 0; three others show what class 1 is."""
    one, other = np.array([1.0, 0.0, 0.2]), np.array([0.0, 1.0, 0.2])
    odd = np.array([1.0, 0.1, 0.2])
    rows = np.array([one] * 40 + [odd] * 60 + [other] * 3)
    labels = np.array([0] * 40 + [1] * 63)
    articles = np.array([0, 1, 2, 3] * 10 + [4] * 60 + [5, 6, 7])
    weights = balanced_weights(labels, articles)
    sums = [weights[(labels == label) & (articles == article)].sum() for label, article in ((0, 0), (1, 4), (1, 7))]
    assert sums == pytest.approx([103 / 8] * 3)
    assert weights.mean() == pytest.approx(1)
    found = linear_probe(Embeddings(rows), labels, articles, Embeddings(np.array([one, other])), 2)
    assert found.labels.tolist() == [0, 1]


def test_of_strengths_that_folds_hardly_tell_apart_the_weakest_is_taken() -> None:
    assert _weakest_as_good({0.1: [0.5, 0.5], 1.0: [0.6, 0.9], 10.0: [0.7, 0.9]}) == 1.0  # 0.8 ± 0.1
    assert _weakest_as_good({0.1: [0.6], 1.0: [0.7]}) == 1.0  # one fold says nothing of the error


def test_a_probe_needs_classes_and_articles() -> None:
    rows = Embeddings(np.eye(4))
    for labels, articles in (([0, 0, 0, 0], [0, 1, 2, 3]), ([0, 1, 0, 1], [0, 0, 0, 0])):
        with pytest.raises(EmbeddingsError, match="two classes and two articles"):
            linear_probe(rows, np.array(labels), np.array(articles), rows, 2)


def test_intervals_hold_the_number_and_narrow_with_articles() -> None:
    random = np.random.default_rng(0)
    truth = random.integers(0, 2, 400)
    labels = np.where(random.random(400) < 0.8, truth, 1 - truth)
    predicted = Predicted(labels, np.eye(2)[labels])
    low, high = classification_intervals(truth, predicted, np.arange(400) // 2, replicates=200, seed=0)["macro_f1"]
    found = classification_numbers(truth, predicted)["macro_f1"]
    assert found is not None
    assert low < found < high
    few = classification_intervals(truth[:40], Predicted(labels[:40], np.eye(2)[labels[:40]]), np.arange(40) // 2,
                                   replicates=200, seed=0)["macro_f1"]  # fmt: skip
    assert few[1] - few[0] > high - low
