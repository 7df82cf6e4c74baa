"""Classification by embeddings: zero-shot by prompts, a linear probe, nearest neighbours, and how good that is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.encoders.evaluation.bootstrap import Interval, cluster_weights, percentile_interval
from pmo_assets.encoders.evaluation.embeddings import Embeddings, EmbeddingsError
from pmo_assets.encoders.evaluation.labels import LabelSet

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

PROBE_STRENGTHS: Final = tuple(float(10.0**power) for power in range(-3, 4))
"""Values of C that a linear probe chooses from."""

_SCALE: Final = 100.0
"""Cosines are multiplied by it before the softmax: the largest logit scale of CLIP (Radford et al. 2021, 2.5)."""

_FOLDS: Final = 5


@dataclass(frozen=True)
class Predicted:
    """Predictions of some pictures.

    Attributes:
        labels: (n,) number of the predicted class.
        scores: (n, classes) that sum to 1 in each row.
        chosen: what was chosen by validation, in words; empty if nothing was.
    """

    labels: Ints
    scores: Floats
    chosen: str = ""


def class_embeddings(prompts: Embeddings, classes: Sequence[str], names: Sequence[str]) -> Floats:
    """Return a unit row for each class: the mean of its prompts' unit rows, normalised again (CLIP's prompt ensemble).

    Args:
        prompts: (p, d) of sentences.
        classes: (p) class of each sentence.
        names: of the classes, in the order wanted.

    Raises:
        EmbeddingsError: if numbers do not fit, a class has no prompt, or its prompts cancel each other.
    """
    if len(prompts) != len(classes):
        raise EmbeddingsError(f"{prompts.name} has {len(prompts)} rows, but there are {len(classes)} prompts")
    rows = prompts.unit_rows()
    means = []
    for name in names:
        own = [row for row, found in enumerate(classes) if found == name]
        if not own:
            raise EmbeddingsError(f"class {name!r} has no prompt")
        mean = rows[own].mean(axis=0)
        length = np.linalg.norm(mean)
        if length < 1e-9:
            raise EmbeddingsError(f"the prompts of class {name!r} cancel each other")
        means.append(mean / length)
    return np.array(means)


def zero_shot(images: Embeddings, kinds: Floats, classes: Sequence[int] | None = None) -> Predicted:
    """Return the class of the most similar row; of equally similar ones the first.

    Args:
        images: (n, d).
        kinds: (k, d) unit rows that speak for classes.
        classes: (k) class of each row, every class at least once; row i speaks for class i, if not given.
    """
    if images.dimensions != kinds.shape[1]:
        raise EmbeddingsError(f"{images.name} has {images.dimensions} dimensions, the prompts {kinds.shape[1]}")
    cosines = images.unit_rows() @ kinds.T
    if classes is not None:
        owners = np.asarray(classes)
        cosines = np.stack([cosines[:, owners == number].max(axis=1) for number in range(owners.max() + 1)], axis=1)
    return Predicted(cosines.argmax(axis=1), _softmax(cosines * _SCALE))


def zero_shot_by_prompts(images: Embeddings, prompts: Embeddings, labels: LabelSet) -> Predicted:
    """Return the zero-shot class of each picture.

    Args:
        images: (n, d).
        prompts: (p, d) of the sentences of `labels.prompts()`.
        labels: whose classes.

    Raises:
        EmbeddingsError: if numbers do not fit, or the prompts of a kind cancel each other.
    """
    told = labels.kind_of_each_prompt()
    class_of_kind = dict(told)
    rows = class_embeddings(prompts, [kind for kind, _ in told], list(class_of_kind))
    return zero_shot(images, rows, list(class_of_kind.values()))


def _softmax(values: Floats) -> Floats:
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def linear_probe(
    train: Embeddings, labels: Ints, articles: Ints, test: Embeddings, classes: int, *, seed: int = 0
) -> Predicted:
    """Return the predictions of a logistic regression on frozen unit rows.

    Rows weigh so that classes count alike, and within a class its articles (`balanced_weights`): the data set with the
    most pictures does not decide where a class ends. C is the smallest whose balanced accuracy, a mean over folds in
    which no article is in training and validation, is within one standard error of the best (Breiman et al. 1984,
    section 3.4.3): folds of a few data sets hardly tell values of C apart, and a weaker model is told by less of what
    is a camera's own. Then all training rows are fitted.

    Args:
        train: (n, d).
        labels: (n,) number of each row's class.
        articles: (n,) article of each row.
        test: (m, d).
        classes: how many there are.
        seed: of the folds.

    Raises:
        EmbeddingsError: if training has only one class, or one article.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import recall_score

    if len(np.unique(labels)) < 2 or len(np.unique(articles)) < 2:
        raise EmbeddingsError("a linear probe needs two classes and two articles to learn from")
    rows = train.unit_rows()
    found: dict[float, list[float]] = {strength: [] for strength in PROBE_STRENGTHS}
    for fitted, held_out in article_folds(labels, articles, seed):
        weights, truth = balanced_weights(labels[fitted], articles[fitted]), labels[held_out]
        counted = {"labels": np.unique(truth), "sample_weight": balanced_weights(truth, articles[held_out])}
        for strength, scores in found.items():
            model = LogisticRegression(C=strength, max_iter=1000).fit(rows[fitted], labels[fitted], weights)
            scores.append(recall_score(truth, model.predict(rows[held_out]), average="macro", **counted))
    strength = _weakest_as_good(found) if found[PROBE_STRENGTHS[0]] else 1.0
    model = LogisticRegression(C=strength, max_iter=1000).fit(rows, labels, balanced_weights(labels, articles))
    return _predicted(model, test, classes, f"C = {strength:g}")


def balanced_weights(labels: Ints, articles: Ints) -> Floats:
    """Return a weight for each row, of mean 1: the same sum for each class, and in a class for each of its articles."""
    _, pair, rows = np.unique(np.stack([labels, articles]), axis=1, return_inverse=True, return_counts=True)
    kind = np.unique(labels, return_inverse=True)[1]
    articles_of_class = np.bincount(np.unique(np.stack([kind, pair.ravel()]), axis=1)[0])
    weights = 1 / (rows[pair.ravel()] * articles_of_class[kind])
    return np.asarray(weights * (len(labels) / weights.sum()))


def _weakest_as_good(scores: Mapping[float, Sequence[float]]) -> float:
    """Return the smallest strength whose mean is within one standard error of the best mean."""
    means = {strength: float(np.mean(own)) for strength, own in scores.items()}
    best = max(means, key=lambda strength: (means[strength], -strength))
    folds = len(scores[best])
    error = float(np.std(scores[best], ddof=1)) / folds**0.5 if folds > 1 else 0.0
    return min(strength for strength, mean in means.items() if mean >= means[best] - error)


def article_folds(labels: Ints, articles: Ints, seed: int) -> Iterator[tuple[Ints, Ints]]:
    """Yield rows to fit and rows to validate by, of different articles; folds that fit only one class are left out."""
    from sklearn.model_selection import StratifiedGroupKFold

    folds = StratifiedGroupKFold(min(_FOLDS, len(np.unique(articles))), shuffle=True, random_state=seed)
    for fitted, held_out in folds.split(np.zeros(len(labels)), labels, articles):
        if len(np.unique(labels[fitted])) > 1 and len(held_out):
            yield fitted, held_out


def nearest_neighbours(train: Embeddings, labels: Ints, test: Embeddings, classes: int, *, k: int = 20) -> Predicted:
    """Return the vote of the k nearest training rows by cosine; of all if there are fewer."""
    from sklearn.neighbors import KNeighborsClassifier

    model = KNeighborsClassifier(min(k, len(train)), metric="cosine", algorithm="brute")
    return _predicted(model.fit(train.unit_rows(), labels), test, classes, f"k = {min(k, len(train))}")


def _predicted(model: Any, test: Embeddings, classes: int, chosen: str) -> Predicted:
    scores = np.zeros((len(test), classes))
    scores[:, model.classes_] = model.predict_proba(test.unit_rows())
    return Predicted(scores.argmax(axis=1), scores, chosen)


def classification_numbers(truth: Ints, predicted: Predicted) -> dict[str, float | None]:
    """Return `accuracy`, `balanced_accuracy`, `macro_f1` and `auroc`.

    Macro F1 is the mean over classes that occur in truth or predictions, balanced accuracy the mean recall of those in
    truth, AUROC the mean over classes of one against the rest; None where truth has only one class.
    """
    from sklearn.metrics import roc_auc_score

    counts = _confusion(truth, predicted.labels, predicted.scores.shape[1], np.ones(len(truth)))
    present = [
        number for number in range(predicted.scores.shape[1]) if 0 < np.count_nonzero(truth == number) < len(truth)
    ]
    areas = [roc_auc_score(truth == number, predicted.scores[:, number]) for number in present]
    return {**_of_confusion(counts), "auroc": float(np.mean(areas)) if areas else None}


def classification_intervals(
    truth: Ints, predicted: Predicted, clusters: Ints, *, replicates: int, seed: int
) -> dict[str, Interval]:
    """Return 95 % intervals of accuracy, balanced accuracy and macro F1, by drawing articles again."""
    drawn = [
        _of_confusion(_confusion(truth, predicted.labels, predicted.scores.shape[1], weights))
        for weights in cluster_weights(clusters, replicates, seed)
    ]
    return {name: percentile_interval(np.array([numbers[name] for numbers in drawn])) for name in drawn[0]}


def _confusion(truth: Ints, labels: Ints, classes: int, weights: Floats) -> Floats:
    """Return (classes, classes): rows are truth, columns predictions."""
    flat = np.bincount(truth * classes + labels, weights=weights, minlength=classes * classes)
    return flat.astype(np.float64).reshape(classes, classes)


def _of_confusion(counts: Floats) -> dict[str, float]:
    right, true, said = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
    occurring, present = true + said > 0, true > 0
    f1 = 2 * right[occurring] / (true + said)[occurring]
    return {
        "accuracy": float(right.sum() / true.sum()),
        "balanced_accuracy": float((right[present] / true[present]).mean()),
        "macro_f1": float(f1.mean()),
    }
