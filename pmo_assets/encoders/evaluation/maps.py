"""Embeddings in two dimensions: principal components, or t-SNE as OPEN-PMC and OPEN-PMC-18M show them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pmo_assets.encoders.evaluation.embedding_files import EmbeddingTable
from pmo_assets.encoders.evaluation.embeddings import Embeddings, EmbeddingsError
from pmo_assets.encoders.evaluation.release_labels import image_type_of, modality_of
from pmo_assets.loading.opening import load
from pmo_assets.loading.typed_rows import Panel
from pmo_assets.records.modalities import TYPE_OF_MODALITY
from pmo_assets.viewing.maps import MapPoint
from pmo_assets.viewing.overlays import thumbnail
from pmo_assets.viewing.palette import image_type_colour

Method = Literal["tsne", "pca"]
Colouring = Literal["image_type", "modality", "split"]

MOST_POINTS: Final = 2_000
"""More are too many for a page with pictures; so many are drawn at random then."""

PERPLEXITY: Final = 30.0
_FIRST: Final = 50
"""Principal components that t-SNE is given (van der Maaten & Hinton 2008, section 4.2: 30)."""

_THUMBNAIL: Final = 160
_TEXT: Final = 280
"""Pixels of a picture's longer side, and characters of a text, on the page."""

UNKNOWN: Final = "unknown"
"""The class of a panel that has none, or several."""


def sampled(count: int, most: int = MOST_POINTS, seed: int = 0) -> NDArray[np.intp]:
    """Return the rows that a map shows: all, or `most` at random, in order."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, most, replace=False)).astype(np.intp)


def in_two_dimensions(embeddings: Embeddings, method: Method = "tsne", seed: int = 0) -> NDArray[np.float64]:
    """Return a place for each row: (n, 2).

    Args:
        embeddings: (n, d).
        method: t-SNE of unit rows from their first 50 principal components, begun at the first two; or these two.
        seed: of t-SNE.

    Raises:
        EmbeddingsError: if there are fewer than three rows.
    """
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    count = len(embeddings)
    if count < 3:
        raise EmbeddingsError(f"{embeddings.name} has {count} rows: a map needs three")
    rows = embeddings.unit_rows()
    if not np.ptp(rows, axis=0).any():
        return np.zeros((count, 2))
    components = PCA(min(_FIRST, count, embeddings.dimensions), svd_solver="full").fit_transform(rows)
    first = np.zeros((count, 2))
    first[:, : min(2, components.shape[1])] = components[:, :2]
    if method == "pca":
        return first
    perplexity = min(PERPLEXITY, (count - 1) / 3)
    model = TSNE(perplexity=perplexity, init=first / first[:, 0].std() * 1e-4, random_state=seed, n_jobs=1)
    return np.asarray(model.fit_transform(components), dtype=np.float64)


def class_colour(label: str) -> str:
    """Return the colour of an image type, or of a modality: that of its type."""
    modalities: dict[Any, Any] = dict(TYPE_OF_MODALITY)
    return image_type_colour(None if label in (UNKNOWN, "") else modalities.get(label, label))


def array_points(places: NDArray[np.float64], labels: Sequence[str]) -> list[MapPoint]:
    """Return points of rows that only have a class."""
    return [
        MapPoint(float(x), float(y), label, f"row {row}")
        for row, ((x, y), label) in enumerate(zip(places, labels, strict=True))
    ]


def panel_points(
    table: EmbeddingTable, places: NDArray[np.float64], release: Path, colouring: Colouring = "modality"
) -> list[MapPoint]:
    """Return points with subcaption, credit and a small picture, as the release has them: null where withheld.

    Args:
        table: embeddings whose ids are the `panel_id` of panels; others are left out.
        places: (n, 2) of its rows.
        release: data root or release.
        colouring: what the classes are.

    Raises:
        ReleaseError: if there is no release.
        EmbeddingsError: if it has none of the panels.
    """
    wanted = {name: row for row, name in enumerate(table.ids)}
    points: dict[int, MapPoint] = {}
    for panel in load(release).panels:
        row = wanted.get(panel.panel_id)
        if row is None:
            continue
        picture, text = panel.picture(), panel.subcaption or ""
        points[row] = MapPoint(
            float(places[row, 0]),
            float(places[row, 1]),
            _class_of(panel, colouring),
            panel.panel_id,
            text if len(text) <= _TEXT else text[: _TEXT - 1] + "…",
            f"{panel.attribution} ({panel.license or 'no licence is stated'})",
            thumbnail(picture, _THUMBNAIL) if picture else None,
        )
    if not points:
        raise EmbeddingsError(f"the release in {release} has none of the panels of {table.embeddings.name}")
    return [points[row] for row in sorted(points)]


def _class_of(panel: Panel, colouring: Colouring) -> str:
    if colouring == "split":
        return panel.split
    if colouring == "modality":
        return modality_of(panel) or UNKNOWN
    return image_type_of(panel) or UNKNOWN
