"""Panels of a release behind the rows of an index: filters, and what is told of a panel that was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pmo_assets.encoders.encoder_mark import release_of
from pmo_assets.encoders.evaluation.embedding_files import EmbeddingTable, read_embedding_table
from pmo_assets.encoders.search.index import Nearest, SearchError, SearchIndex
from pmo_assets.loading.release import Release
from pmo_assets.loading.typed_rows import Panel

WITHHELD = "withheld"
"""Told in place of a subcaption that the licence does not let the release pass on."""

FILTERS: Final = {"modality": "modality", "disease": "diseases", "eye": "eye"}
"""Filters of a search, and the column of panels that each looks at."""


@dataclass(frozen=True)
class FoundPanel:
    """A panel with what it may be shown with.

    Attributes:
        panel_id, article_id, image_cluster_id, panel_name: its keys, and its name in the caption.
        subcaption: as the release has it, or "withheld".
        license, attribution, article_url: whose it is.
        split: of the release.
        modality, diseases, eye: what it was filtered by; None or empty where the release says nothing.
    """

    panel_id: str
    article_id: int
    image_cluster_id: str
    panel_name: str | None
    subcaption: str
    license: str | None
    attribution: str
    article_url: str | None
    split: str
    modality: str | None
    diseases: tuple[str, ...]
    eye: str | None

    @classmethod
    def of(cls, panel: Panel) -> FoundPanel:
        """Return what is told of a panel."""
        return cls(
            panel.panel_id, panel.article_id, panel.image_cluster_id, panel.panel_name,
            WITHHELD if panel.subcaption is None else panel.subcaption, panel.license, panel.attribution,
            panel.article_url, panel.split, getattr(panel, "modality", None),
            tuple(getattr(panel, "diseases", None) or ()), getattr(panel, "eye", None),
        )  # fmt: skip


@dataclass(frozen=True)
class Hit:
    """A panel that was found: `score` is the cosine with the query, −1 … 1."""

    score: float
    panel: FoundPanel


def panel_embeddings(path: Path, release: Release) -> EmbeddingTable:
    """Return the embeddings of a release's panels.

    Raises:
        SearchError: if the file says that it is of another release, or has a panel that this one has not.
        EmbeddingsError: if the file has no pictures of panels, or cannot be used.
    """
    said = release_of(path)
    if said is not None and said != release.digest:
        raise SearchError(
            f"{path} is of another release ({said[:12]}) than {release.folder} ({release.digest[:12]}): embed this one "
            "(`pmo encode embed`)"
        )
    table = read_embedding_table(path, "image", "panel")
    known = set(release.panels.to_arrow(["panel_id"]).column(0).to_pylist())
    if strange := [name for name in table.ids if name not in known]:
        raise SearchError(
            f"{path} has {len(strange):,} panels that release {release.version} has not, first {strange[0]!r}: it is "
            "of another release; embed this one (`pmo encode embed`)"
        )
    return table


def check_release(index: SearchIndex, release: Release) -> None:
    """Raise if an index is of another release.

    Raises:
        SearchError: naming both.
    """
    if index.facts.release != release.digest:
        raise SearchError(
            f"{index.folder} is of release {index.facts.version} ({index.facts.release[:12]}), and {release.folder} is "
            f"{release.version} ({release.digest[:12]}): embed and index this one (`pmo encode embed`, `index`)"
        )


def rows_among(index: SearchIndex, release: Release, filters: Mapping[str, Sequence[str]]) -> NDArray[np.intp] | None:
    """Return the rows of panels that fulfil named filters; None if nothing is filtered.

    Args:
        index: of the release.
        release: whose panels say it.
        filters: by name (modality, disease, eye): words, one of which is to fit; empty: any.

    Raises:
        SearchError: if no panel of the index fulfils them.
        ValueError: if a word is unknown, with similar ones.
    """
    given = {name: list(words) for name, words in filters.items() if words}
    if not given:
        return None
    kept = set(release.panels.filter(**given).to_arrow(["panel_id"]).column(0).to_pylist())
    rows = np.array([row for row, name in enumerate(index.panel_ids) if name in kept], dtype=np.intp)
    if not len(rows):
        said = ", ".join(f"{name} {' or '.join(map(repr, words))}" for name, words in given.items())
        raise SearchError(f"no panel with an embedding has {said} ({len(kept):,} panels of the release have)")
    return rows


def hits(index: SearchIndex, release: Release, found: Nearest) -> list[Hit]:
    """Return the panels that were found, nearest first."""
    names = [index.panel_ids[row] for row in found.rows.tolist()]
    panels = panels_by_id(release, names)
    return [Hit(float(score), FoundPanel.of(panels[name])) for name, score in zip(names, found.scores, strict=True)]


def panels_by_id(release: Release, names: Sequence[str]) -> dict[str, Panel]:
    """Return panels by their ids.

    Raises:
        SearchError: if the release has one of them not.
    """
    found = {panel.panel_id: panel for panel in release.panels.filter(panel_id=list(names))}
    if missing := [name for name in names if name not in found]:
        raise SearchError(f"{release.folder} has no panel {missing[0]!r}: the index is damaged, make it again")
    return found
