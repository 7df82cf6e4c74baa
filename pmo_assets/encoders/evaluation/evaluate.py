"""Whole evaluations: embeddings in, the sections of a result out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pmo_assets.encoders.evaluation.embeddings import Embeddings, EmbeddingsError
from pmo_assets.encoders.evaluation.ranks import RightAnswers, Tell, best_ranks
from pmo_assets.encoders.evaluation.results import Direction
from pmo_assets.encoders.evaluation.retrieval import retrieval_intervals, retrieval_numbers


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
