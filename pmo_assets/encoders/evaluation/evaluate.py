"""Whole evaluations: embeddings in, the sections of a result out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np
from numpy.typing import NDArray

from pmo_assets.encoders.evaluation.classification import (
    Predicted,
    classification_intervals,
    classification_numbers,
)
from pmo_assets.encoders.evaluation.distances import Discrepancy
from pmo_assets.encoders.evaluation.embeddings import Embeddings, EmbeddingsError
from pmo_assets.encoders.evaluation.ranks import RightAnswers, Tell, best_ranks
from pmo_assets.encoders.evaluation.results import Classified, Direction, Distance, Perturbed
from pmo_assets.encoders.evaluation.retrieval import retrieval_intervals, retrieval_numbers
from pmo_assets.encoders.evaluation.robustness import kept


def evaluate_retrieval(
    images: Embeddings,
    texts: Embeddings,
    right: RightAnswers | None = None,
    *,
    clusters: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None,
    replicates: int = 0,
    seed: int = 0,
    tell: Tell | None = None,
) -> tuple[Direction, Direction]:
    """Return retrieval from image to text, and from text to image.

    Args:
        images: (n, d).
        texts: (m, d).
        right: which answers are right; row i of the one for row i of the other, if not given.
        clusters: of images (n,) and texts (m,) for the intervals; classes of the right answers, if not given.
        replicates: of the bootstrap; 0 for no intervals.
        seed: of the bootstrap.
        tell: called as blocks are done.

    Raises:
        EmbeddingsError: if numbers of rows or dimensions do not fit, or no query has a right answer.
    """
    if right is None:
        if len(images) != len(texts):
            raise EmbeddingsError(
                f"{images.name} has {len(images)} rows, {texts.name} {len(texts)}: row i belongs to row i"
            )
        right = RightAnswers.of_rows(len(images))
    own = clusters or (right.image_classes, right.text_classes)
    ranks = best_ranks(images, texts, right, tell)
    one, other = (
        _direction(found, cluster, candidates, replicates, seed)
        for found, cluster, candidates in zip(ranks, own, (len(texts), len(images)), strict=True)
    )
    return one, other


def _direction(
    ranks: NDArray[np.intp], clusters: NDArray[np.intp], candidates: int, replicates: int, seed: int
) -> Direction:
    counted = ranks > 0
    if not counted.any():
        raise EmbeddingsError("no image and text belong together: there is nothing to find")
    ranks, clusters = ranks[counted], clusters[counted]
    intervals = retrieval_intervals(ranks, clusters, replicates=replicates, seed=seed) if replicates else None
    return Direction.model_validate(
        {
            **retrieval_numbers(ranks),
            "queries": len(ranks),
            "candidates": candidates,
            "unanswerable": int(np.count_nonzero(~counted)),
            "intervals": intervals,
        }
    )


def evaluate_classification(
    method: str,
    truth: NDArray[np.intp],
    predicted: Predicted,
    names: Sequence[str],
    *,
    clusters: NDArray[np.intp] | None = None,
    replicates: int = 0,
    seed: int = 0,
) -> Classified:
    """Return how good predictions are.

    Args:
        method: zero-shot, linear probe or nearest neighbours.
        truth: (n,) number of each picture's class.
        predicted: of the same pictures.
        names: of the classes.
        clusters: (n,) articles for the intervals; pictures if None.
        replicates: of the bootstrap; 0 for no intervals.
        seed: of the bootstrap.
    """
    own = np.arange(len(truth)) if clusters is None else clusters
    counts = np.bincount(truth, minlength=len(names))
    intervals = (
        classification_intervals(truth, predicted, own, replicates=replicates, seed=seed) if replicates else None
    )
    return Classified.model_validate(
        {
            "method": method,
            "classes": dict(zip(names, counts.tolist(), strict=True)),
            "chosen": predicted.chosen,
            **classification_numbers(truth, predicted),
            "intervals": intervals,
        }
    )


def evaluate_robustness(
    images: Embeddings,
    perturbed: Mapping[str, Embeddings],
    texts: Embeddings,
    right: RightAnswers,
    clusters: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None,
) -> tuple[Perturbed, ...]:
    """Return what each perturbation leaves of retrieval.

    Args:
        images: (n, d) of the clean pictures.
        perturbed: by name, (n, d) of the same pictures in the same order.
        texts: (m, d).
        right: which answers are right; queries without one are left out.
        clusters: articles of images and texts, for the test.

    Raises:
        EmbeddingsError: if numbers of rows or dimensions do not fit.
    """
    clean = best_ranks(images, texts, right)
    found = []
    for name, changed in perturbed.items():
        if len(changed) != len(images):
            raise EmbeddingsError(f"{changed.name} has {len(changed)} rows, {images.name} {len(images)}")
        parts = []
        for side, (before, after) in enumerate(zip(clean, best_ranks(changed, texts, right), strict=True)):
            counted = before > 0
            parts.append(kept(before[counted], after[counted], None if clusters is None else clusters[side][counted]))
        found.append(
            Perturbed(
                perturbation=name,
                image_to_text=parts[0].ratios,
                image_to_text_p=parts[0].p_value,
                text_to_image=parts[1].ratios,
                text_to_image_p=parts[1].p_value,
            )
        )
    return tuple(found)


def distance_result(one: str, other: str, found: Discrepancy) -> Distance:
    """Return a distance with the names of what it lies between."""
    return Distance(one=one, other=other, **asdict(found))
